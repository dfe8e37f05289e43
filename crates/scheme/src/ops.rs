//! The verb set that circuits are written against.
//!
//! [`Scheme`] is what a circuit may ask of an exact scheme. BGV and BFV (one evaluator) and the
//! no-op scheme implement it; nothing in `everlevel-circuit` names a concrete scheme, so every
//! circuit is proved in milliseconds without cryptography and then run once with it. Every verb
//! takes ciphertexts at any levels and plaintext scales, aligns them, and refuses (with an error,
//! never a wrong value) what its noise bound cannot cover.

use std::borrow::Borrow;

use everlevel_ring::{GaloisElement, SlotShape};

use crate::error::SchemeError;
use crate::plaintext::Plaintext;
use crate::spec::{Form, Level, NextUse};

/// A vector of slot values in the base ring (see [`SlotShape`]) that repeats along the columns.
///
/// Shape: `2 * period` values, `period` dividing the number of columns. With two rows, slot (r, j)
/// holds `values[r * period + j % period]`; with one row, slot j holds the element of GR(p^e, 2)
/// with real part `values[j % period]` and imaginary part `values[period + j % period]`. The
/// diagonals of the factors of a homomorphic transform are of this kind, and a scheme that stores
/// evaluations in slot order stores them with the same period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeriodicSlots {
    /// The period along a row.
    pub period: usize,
    /// `2 * period` values, reduced modulo the plaintext modulus.
    pub values: Vec<u64>,
}

/// The values of a plaintext diagonal, by the kind of ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiagonalValues {
    /// Indices that are powers of two: values of the base ring that repeat along the columns.
    Periodic(PeriodicSlots),
    /// Indices with axes: elements of GR(p^e, d), d residues each, along the dimensions of the last
    /// axes, row-major, of as many axes as their number says; the same ones at all places of the
    /// other dimensions. D of them lie along the last dimension, D its size. These are the
    /// polynomials in the X_a of those axes alone, and their evaluations repeat along the others.
    LastDimensions(Vec<u64>),
}

/// An exact scheme, as seen by a circuit.
///
/// Values are vectors of integers modulo `p^e`, or of elements of GR(p^e, d), one per slot; `e` is
/// a property of the ciphertext (bootstrapping moves between `p^(r+v)` and `p^r`).
pub trait Scheme: Send + Sync {
    /// An encrypted vector, with its level and its noise bound.
    type Ciphertext: Clone + Send + Sync;
    /// A product that was not relinearized yet; sums of products need one relinearization only.
    type Product: Clone + Send + Sync;
    /// A ciphertext over the extended modulus, before the division by the special modulus: the
    /// currency of hoisting.
    type Extended: Send + Sync;
    /// A plaintext diagonal prepared for multiplication with [`Scheme::Extended`].
    type Diagonal: Send + Sync;

    /// Rows, columns and automorphisms of the slots.
    fn slot_shape(&self) -> &SlotShape;

    /// The prime p of the plaintext modulus p^e.
    fn plain_prime(&self) -> u64;

    /// The exponent e of the plaintext modulus p^e of `x`.
    fn plain_exponent(&self, x: &Self::Ciphertext) -> u32;

    /// The level of `x`: its place in the modulus chain, 0 being the lowest.
    fn level(&self, x: &Self::Ciphertext) -> Level;

    /// log2 of the bound on the canonical norm of the phase of `x` (in BFV form of t times that,
    /// see [`crate::Form`]).
    fn noise_bound_bits(&self, x: &Self::Ciphertext) -> f64;

    /// log2 of what the norm is expected to be on average, for information only; none where there
    /// is no model of it.
    fn noise_estimate_bits(&self, _x: &Self::Ciphertext) -> Option<f64> {
        None
    }

    /// log2(modulus / (2 * noise bound)): what is left to compute with.
    fn capacity_bits(&self, x: &Self::Ciphertext) -> f64;

    /// That `x` can be a ciphertext of these parameters, by its level, plaintext modulus and noise
    /// bound and by the number, the degree and the primes of its polynomials: for what comes from
    /// somewhere else. Other verbs take it for granted.
    ///
    /// # Errors
    /// [`SchemeError::WrongParams`], or what is wrong with the level or the bound.
    fn check_params(&self, x: &Self::Ciphertext) -> Result<(), SchemeError>;

    /// Whether `x` is a BGV or a BFV ciphertext.
    fn form(&self, x: &Self::Ciphertext) -> Form;

    /// The same message in the other form. Free: noise, level and factor stay. A converted
    /// ciphertext may need a constant to be aligned with others, where the primes are not 1 modulo
    /// the plaintext modulus.
    fn convert(&self, a: &Self::Ciphertext, form: Form) -> Self::Ciphertext;

    /// Sum, slot by slot. Both operands have the same plaintext modulus and form.
    fn add(
        &self,
        a: &Self::Ciphertext,
        b: &Self::Ciphertext,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// Difference, slot by slot.
    fn sub(
        &self,
        a: &Self::Ciphertext,
        b: &Self::Ciphertext,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// Negation.
    fn neg(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext, SchemeError>;

    /// A plaintext modulo p^r by its slots, whole elements of GR(p^r, d): see
    /// [`Plaintext::encode_elements`].
    ///
    /// # Errors
    /// Another number of values than slots times d, or one outside of 0..p^r.
    fn encode_elements(&self, values: &[u64]) -> Result<Plaintext, SchemeError>;

    /// Adds the plaintext's slots.
    ///
    /// # Errors
    /// A plaintext of another set or modulus, or too much noise.
    fn add_plain(
        &self,
        a: &Self::Ciphertext,
        b: &Plaintext,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// Adds the constant `k` in every slot. Free of noise.
    fn add_scalar(&self, a: &Self::Ciphertext, k: i64) -> Result<Self::Ciphertext, SchemeError>;

    /// Multiplies by the constant `k`; the noise grows by |k mod p^e| centered.
    fn mul_scalar(&self, a: &Self::Ciphertext, k: i64) -> Result<Self::Ciphertext, SchemeError>;

    /// Σ k_i x_i + `constant`, in one pass. Each k_i is merged with the alignment of its operand's
    /// factor, so a term costs one multiplication by a constant below p^e/2 and no more, and terms
    /// above the lowest level absorb theirs on the way down. Errors if there is no term.
    fn linear_combination(
        &self,
        terms: &[(&Self::Ciphertext, i64)],
        constant: i64,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// Product without relinearization. The operands are brought to a common level fit for a
    /// product first.
    fn mul_lazy(
        &self,
        a: &Self::Ciphertext,
        b: &Self::Ciphertext,
    ) -> Result<Self::Product, SchemeError>;

    /// Product without relinearization at the lower of the operands' levels, as
    /// [`Scheme::prepare_together`] leaves them: sums of products that share operands stay at one
    /// level and switch nothing more.
    fn mul_lazy_aligned(
        &self,
        a: &Self::Ciphertext,
        b: &Self::Ciphertext,
    ) -> Result<Self::Product, SchemeError> {
        self.mul_lazy(a, b)
    }

    /// Sum of two products.
    fn add_products(
        &self,
        a: &Self::Product,
        b: &Self::Product,
    ) -> Result<Self::Product, SchemeError>;

    /// Relinearizes and switches the modulus down in one pass: one key switch.
    fn relinearize(
        &self,
        a: &Self::Product,
        next: NextUse,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// Product with relinearization.
    fn mul(
        &self,
        a: &Self::Ciphertext,
        b: &Self::Ciphertext,
        next: NextUse,
    ) -> Result<Self::Ciphertext, SchemeError> {
        self.relinearize(&self.mul_lazy(a, b)?, next)
    }

    /// Switches `a` down to where `next` wants it.
    fn prepare(&self, a: &Self::Ciphertext, next: NextUse)
    -> Result<Self::Ciphertext, SchemeError>;

    /// Switches all of `xs` down to one level, the lowest that `next` wants one of them at: for
    /// operands that each meet several others.
    fn prepare_together(
        &self,
        xs: &[&Self::Ciphertext],
        next: NextUse,
    ) -> Result<Vec<Self::Ciphertext>, SchemeError> {
        xs.iter().map(|x| self.prepare(x, next)).collect()
    }

    /// Switches to a lower level (or stays).
    ///
    /// # Errors
    /// A level above the ciphertext's, or one whose modulus does not hold the noise.
    fn mod_switch_to(
        &self,
        a: &Self::Ciphertext,
        level: Level,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// The highest level, `from` or below, at which there is a key for the automorphism `g`; none
    /// if there is no such key. What plans keys has all of them.
    fn galois_level(&self, _g: GaloisElement, from: Level) -> Option<Level> {
        Some(from)
    }

    /// Forgets digits: x mod p^e to x mod p^k, k <= e. Free.
    fn reduce_plain_modulus(
        &self,
        a: &Self::Ciphertext,
        k: u32,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// Some y modulo p^e with y = x modulo p^k, for a ciphertext of x modulo p^k, k <= e: x + p^k
    /// g, g being *anything*, a whole polynomial that depends on the noise. What is done with y
    /// must not depend on g, or must remove it. Free, and the noise bound stays: the phase κ x +
    /// p^k ε, which is what decryption reduces modulo p^k, is taken modulo p^e. Only later
    /// operations pay for the larger modulus.
    ///
    /// # Errors
    /// An exponent below that of x, or above the largest one of the parameters
    /// ([`extended_exponent`](crate::ParamsSpec::extended_exponent)).
    fn extend_plain_modulus(
        &self,
        a: &Self::Ciphertext,
        e: u32,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// Exact division: p*x mod p^e to x mod p^(e-1). The caller knows that every slot is a multiple
    /// of p. Free, and the noise shrinks by p.
    fn divide_by_p(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext, SchemeError>;

    /// The way back: x mod p^(e-1) to p*x mod p^e, up to the largest exponent of the parameters.
    /// Free of key switches; the noise grows by p, as the modulus of the plaintext does.
    fn multiply_by_p(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext, SchemeError>;

    /// The product with X^k as a polynomial, for any integer k. Exact, without noise, key switch or
    /// level: one transform for each prime.
    fn mul_monomial(&self, a: &Self::Ciphertext, k: i64) -> Result<Self::Ciphertext, SchemeError>;

    /// The automorphism X to X^g: one key switch.
    fn apply_galois(
        &self,
        a: &Self::Ciphertext,
        g: GaloisElement,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// Several automorphisms of one ciphertext from one decomposition (hoisting): a key switch
    /// each, without its most expensive part.
    fn apply_galois_many(
        &self,
        a: &Self::Ciphertext,
        gs: &[GaloisElement],
    ) -> Result<Vec<Self::Ciphertext>, SchemeError>;

    /// Rotations of the columns by each of `ks`, hoisted.
    fn rotate_many(
        &self,
        a: &Self::Ciphertext,
        ks: &[i64],
    ) -> Result<Vec<Self::Ciphertext>, SchemeError> {
        let gs: Vec<GaloisElement> = ks.iter().map(|&k| self.slot_shape().rotation(k)).collect();
        self.apply_galois_many(a, &gs)
    }

    /// Rotates the columns of every row by `k` to the left (to the right for negative k),
    /// cyclically; whole slots up to Frobenius, see [`SlotShape`].
    ///
    /// Refused where an index with axes has a bad last dimension: what passes the end of a row
    /// would arrive in another row. Rotations along any dimension, by masks where need be, are in
    /// `everlevel-circuit`.
    fn rotate_columns(
        &self,
        a: &Self::Ciphertext,
        k: i64,
    ) -> Result<Self::Ciphertext, SchemeError> {
        let shape = self.slot_shape();
        let bad = shape.axes().is_some()
            && shape
                .dimensions()
                .last()
                .is_some_and(|d| !d.good && k.rem_euclid(d.size as i64) != 0);
        if bad {
            return Err(SchemeError::BadArgument {
                what: "rotation of the columns",
                expected: "slots whose last dimension is good".into(),
                found: format!(
                    "m = {}, where one automorphism does not rotate it: use rotate_along",
                    shape.ring_index()
                ),
            });
        }
        self.apply_galois(a, shape.rotation(k))
    }

    /// Exchanges the two rows; the identity where there is one row.
    fn swap_rows(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext, SchemeError> {
        self.apply_galois(a, self.slot_shape().swap_rows())
    }

    /// Prepares a plaintext diagonal modulo p^e for ciphertexts at `level` or below.
    fn diagonal(
        &self,
        values: &DiagonalValues,
        e: u32,
        level: Level,
    ) -> Result<Self::Diagonal, SchemeError>;

    /// All the automorphisms `gs` of `x`, from one decomposition (hoisting), left over the extended
    /// modulus.
    fn hoist(
        &self,
        x: &Self::Ciphertext,
        gs: &[GaloisElement],
    ) -> Result<Vec<Self::Extended>, SchemeError>;

    /// One output for each row: the sum over j of `rows[i][j] * inputs[j]` (absent entries are
    /// zero).
    fn combine(
        &self,
        inputs: &[impl Borrow<Self::Extended> + Sync],
        rows: &[Vec<Option<&Self::Diagonal>>],
    ) -> Result<Vec<Self::Extended>, SchemeError>;
    /// The sum of `g(part)` over all parts, then one division by the special modulus and the switch
    /// for `next` (double hoisting). Parts under the identity cost no key switch.
    fn galois_sum(
        &self,
        parts: Vec<(GaloisElement, Self::Extended)>,
        next: NextUse,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// The nested sum g_n(x_n + .. g_2(x_2 + g_1(x_1))) over the `parts` (g_1, x_1), (g_2, x_2), ..
    /// as they come, for the noise and the key switches of [`Scheme::galois_sum`]. Giant steps that
    /// are powers of one automorphism need a single key in this way, and no more than one part is
    /// alive at a time.
    fn galois_chain(
        &self,
        parts: impl Iterator<Item = Result<(GaloisElement, Self::Extended), SchemeError>>,
        next: NextUse,
    ) -> Result<Self::Ciphertext, SchemeError>;
}

/// The scheme-specific ends of bootstrapping.
///
/// An exhausted ciphertext modulo q0 under the sparse key s0 has phase w = κ m + p^r ε + q0 I over
/// the integers, |I| <= B. Two ways lead on:
/// * *through* the digit removal (Chen–Han 2018): [`Bootstrappable::mod_raise_scaled`] gives p^v m
///   + I, of which v digits are removed;
/// * *round* it (message bypass, docs/adr/0003): [`Bootstrappable::mod_raise_overflow`] gives the
///   overflow part u, whose removal gives h = -I modulo p^r, and q0 h is added to
///   [`Bootstrappable::mod_raise_message`].
pub trait Bootstrappable: Scheme + 'static {
    /// What the first step leaves for the others.
    type Base: Send + Sync;

    /// The exponent r of the plaintext modulus p^r that is bootstrapped.
    fn message_exponent(&self) -> u32;

    /// v: how many digits [`Bootstrappable::mod_raise_scaled`] puts below the message.
    fn overflow_digits(&self) -> u32;

    /// B: the bound on |I| and |I'|.
    fn overflow_bound(&self) -> u64;

    /// The capacity below which [`Bootstrappable::to_base_modulus`] refuses a ciphertext.
    fn minimum_capacity(&self) -> f64;

    /// Switches `x` to q0 and to the sparse key. Errors if the phase could be too large for an
    /// exact bootstrapping.
    fn to_base_modulus(&self, x: &Self::Ciphertext) -> Result<Self::Base, SchemeError>;

    /// u = I' - Δ*I at the top level, |I|, |I'| <= B in every coefficient: one plaintext product
    /// for each digit. For Δ = p^v (type A) modulo p^(r+v), for any other Δ below that (type B)
    /// modulo p^r.
    fn mod_raise_overflow(
        &self,
        r: &Self::Base,
        delta: u64,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// The message m + q0*I modulo p^r, ready to be added to a ciphertext like `like`: one
    /// plaintext product for each digit.
    fn mod_raise_message(
        &self,
        r: &Self::Base,
        like: &Self::Ciphertext,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// The constant by which h must be multiplied before it is added to the message: q0 mod p^r,
    /// centered, divided by the unit that the message carried. 1 for sets whose primes are 1 modulo
    /// p^r, in BGV form.
    fn base_modulus_mod_t(&self, r: &Self::Base) -> i64;

    /// p^v u m + I modulo p^(r+v) at the top level, |I| <= B in every coefficient, u being a unit
    /// that [`Bootstrappable::set_correction_factor`] takes away.
    fn mod_raise_scaled(&self, r: &Self::Base) -> Result<Self::Ciphertext, SchemeError>;

    /// A transparent encryption of zero as [`Bootstrappable::prepare_thin_input`] would leave a
    /// ciphertext: for rehearsals.
    fn encrypt_zero_at(&self, capacity: f64) -> Result<Self::Ciphertext, SchemeError>;

    /// Switches `x` to the lowest level where switching leaves `capacity` bits above twice the
    /// floor, and leaves it exactly those: the same level and noise bound for every ciphertext. Two
    /// bits more are enough for `x`; errors if it has too few.
    fn prepare_thin_input(
        &self,
        x: &Self::Ciphertext,
        capacity: f64,
    ) -> Result<Self::Ciphertext, SchemeError>;

    /// From u m to m. Free.
    fn set_correction_factor(&self, r: &Self::Base, x: Self::Ciphertext) -> Self::Ciphertext;
}
