//! The trait for computation on polynomials, and the descriptions of composite operations.
//!
//! The units of work are whole polynomials and batches of them. A sequence of products, additions,
//! automorphisms and divisions is not one call for each step but a description ([`Sum`],
//! [`Hoist`]), so that an engine need not store intermediate polynomials.
//!
//! **Contract.** Residues are canonical on input and output, so that results have one
//! representation and sums may be computed in any order. There is one exception: an exact lift
//! rounds a quotient that it computes in doubles, see [`Engine::convert`]. Callers ensure the
//! preconditions (equal bases, subsets, polynomials of the ring of the engine); the methods of
//! [`Poly`] check them.

use std::sync::Arc;

use crate::basis::Basis;
use crate::error::RingError;
use crate::gadget::{Gadget, KeyDigit};
use crate::galois::GaloisElement;
use crate::integers::IntegerDigits;
use crate::memory::Memory;
use crate::poly::{Coeff, Eval, Poly, Representation};
use crate::ring::Ring;

/// An engine computes on polynomials of one ring; [`Cpu`](crate::Cpu) is the one for the processor.
/// Schemes are generic over it.
///
/// Calls may return before their work is done. [`Engine::download`] and [`Engine::to_signed`] wait
/// for it, and fail after any fault of the engine, so that no wrong value is returned.
pub trait Engine: Memory + Send + Sync + Sized {
    /// Whether keys have to be copied into the memory of this engine, so that it pays to keep them
    /// there.
    const RESIDENT: bool;
    /// One polynomial decomposed into digits, as evaluations modulo the primes of the polynomial
    /// and the special primes of the gadget.
    type Digits: Send + Sync;
    /// A switching key in this engine's memory.
    type Key: Clone + Send + Sync;
    /// A plaintext whose evaluations are periodic.
    type Diagonal: Send + Sync;

    /// The ring.
    fn ring(&self) -> &Arc<Ring>;

    /// The name of the hardware or backend, for reports, such as `avx512`.
    fn name(&self) -> &str;

    /// The fault of the engine, if any. A fault is permanent.
    fn status(&self) -> Result<(), RingError>;

    /// The number of transforms of one limb so far.
    fn transform_count(&self) -> u64;

    /// A copy of a polynomial in this engine's memory.
    fn upload<R: Representation>(&self, x: &Poly<R>) -> Poly<R, Self>;

    /// A copy of a polynomial in the processor's memory.
    ///
    /// # Errors
    /// A fault of the engine, now or before.
    fn download<R: Representation>(&self, x: &Poly<R, Self>) -> Result<Poly<R>, RingError>;

    /// The zero polynomial.
    fn zero<R: Representation>(&self, basis: Basis) -> Poly<R, Self>;

    /// Signed coefficients in natural order, modulo the primes of a basis.
    fn reduce_signed(&self, basis: Basis, natural: &[i64]) -> Poly<Coeff, Self>;

    /// The centered coefficients in natural order, of a polynomial whose modulus is below 2^126.
    ///
    /// # Errors
    /// A fault of the engine, now or before.
    fn to_signed(&self, x: &Poly<Coeff, Self>) -> Result<Vec<i128>, RingError>;

    /// Integers made of the centered coefficients of a polynomial, whose modulus is below 2^126,
    /// cut into digits, each of them modulo the primes of `to`. Digits from some place on that are
    /// all 0 may be left out.
    ///
    /// # Errors
    /// A fault of the engine, now or before.
    fn integer_digits(
        &self,
        x: &Poly<Coeff, Self>,
        digits: &IntegerDigits,
        to: Basis,
    ) -> Result<Vec<Poly<Coeff, Self>>, RingError> {
        let q = x.basis().iter().map(|i| i128::from(self.ring().modulus(i).value())).product();
        let made = digits.of(&self.to_signed(x)?, q);
        Ok(made.iter().map(|digit| self.reduce_signed(to, digit)).collect())
    }

    /// A switching key in this engine's memory.
    fn key(&self, digits: &Arc<[KeyDigit]>) -> Self::Key;

    /// A plaintext whose evaluations repeat, by its few coefficients in natural order: those of a
    /// polynomial in X^(n / length) where the index is a power of two, the length being one as
    /// well, from 16 to n; else of one in the X_a of the last axes.
    ///
    /// # Errors
    /// A number of coefficients that makes no such polynomial.
    fn diagonal(&self, coefficients: &[i64], basis: Basis) -> Result<Self::Diagonal, RingError>;

    /// The bytes of a diagonal in memory.
    fn diagonal_bytes(diagonal: &Self::Diagonal) -> u64;

    /// To evaluations.
    fn ntt(&self, x: Poly<Coeff, Self>) -> Poly<Eval, Self>;

    /// To coefficients.
    fn intt(&self, x: Poly<Eval, Self>) -> Poly<Coeff, Self>;

    /// x += y.
    fn add<R: Representation>(&self, x: &mut Poly<R, Self>, y: &Poly<R, Self>);

    /// x -= y.
    fn sub<R: Representation>(&self, x: &mut Poly<R, Self>, y: &Poly<R, Self>);

    /// x = -x.
    fn neg<R: Representation>(&self, x: &mut Poly<R, Self>);

    /// x *= c.
    fn scale<R: Representation>(&self, x: &mut Poly<R, Self>, c: Constant);

    /// x += c y.
    fn scale_add<R: Representation>(&self, x: &mut Poly<R, Self>, y: &Poly<R, Self>, c: Constant);

    /// x += c.
    fn add_constant(&self, x: &mut Poly<Eval, Self>, c: Constant);

    /// x y.
    fn mul(&self, x: &Poly<Eval, Self>, y: &Poly<Eval, Self>) -> Poly<Eval, Self>;

    /// acc += x y.
    fn mul_add(&self, acc: &mut Poly<Eval, Self>, x: &Poly<Eval, Self>, y: &Poly<Eval, Self>);

    /// Sums of products over one basis: Σ x y over the pairs of each list, 0 for an empty one. The
    /// sums are requested together, so that the engine can read shared operands once.
    fn sums_of_products(
        &self,
        basis: Basis,
        sums: &[Vec<Pair<'_, Self>>],
    ) -> Vec<Poly<Eval, Self>> {
        let sum = |pairs: &Vec<Pair<'_, Self>>| {
            let mut sum = self.zero(basis);
            pairs.iter().for_each(|(x, y)| self.mul_add(&mut sum, x, y));
            sum
        };
        sums.iter().map(sum).collect()
    }

    /// Linear combinations with constants: for each row Σ_j c_j x_j over the inputs, component by
    /// component. Inputs have equally many components over one basis; a row has a constant for each
    /// input. The rows are requested together, so that the engine can read shared inputs once.
    fn linear_combinations(
        &self,
        inputs: &[&[Poly<Eval, Self>]],
        rows: &[&[i64]],
    ) -> Vec<Vec<Poly<Eval, Self>>> {
        let Some(first) = inputs.first() else { return rows.iter().map(|_| Vec::new()).collect() };
        let component = |row: &&[i64], k: usize| {
            let mut sum = self.zero(first[k].basis());
            let terms = inputs.iter().zip(*row);
            terms.for_each(|(x, &c)| self.scale_add(&mut sum, &x[k], c.into()));
            sum
        };
        rows.iter().map(|row| (0..first.len()).map(|k| component(row, k)).collect()).collect()
    }

    /// X^k, for any integer k.
    fn monomial(&self, basis: Basis, k: i64) -> Poly<Eval, Self>;

    /// Polynomials over one basis, product D, lifted to centered integers v, modulo the primes of
    /// another basis.
    ///
    /// With y_i = v (D/d_i)^-1 modulo d_i, v = Σ y_i (D/d_i) - k D, where k = round(Σ y_i / d_i),
    /// the sum being taken in doubles: y_i times the double nearest to 1/d_i, every product and
    /// every sum rounded, in the order of the basis, ties to even, without contraction. So the
    /// lift is always correct modulo D, centered up to |v| within 2^-45 D of D/2, and the same
    /// everywhere.
    fn convert(&self, xs: Vec<Poly<Coeff, Self>>, to: Basis) -> Vec<Poly<Coeff, Self>>;

    /// Polynomials over one basis, modulo the primes of `to` as well, which they do not have:
    /// lifted as by [`Engine::convert`].
    fn extend(&self, xs: &[Poly<Eval, Self>], to: Basis) -> Vec<Poly<Eval, Self>>;

    /// Decomposes a polynomial into the digits of `gadget`: the lifts ([`Engine::convert`]) of its
    /// residues modulo the primes of each group.
    fn decompose(&self, gadget: &Gadget, source: Source<'_, Self>) -> Self::Digits;

    /// Automorphisms of some ciphertexts before the division by P: for each ciphertext its images,
    /// each as its components. The ciphertexts are given together, so that the engine can read the
    /// keys once for all of them.
    fn hoist(&self, hoist: Hoist<'_, Self>) -> Vec<Vec<Vec<Poly<Eval, Self>>>>;

    /// Adds a sum to each accumulator, component by component. None of the rests may be in
    /// coefficients. Sums with the same key are given together, so that the engine can read it
    /// once.
    fn accumulate(&self, sums: Vec<Accumulation<'_, Self>>);

    /// Divides a sum with rounding, component by component: from its basis S to `to` T, with A the
    /// product of T \ S and D that of S \ T, (gamma A x - beta v) / D, where v is alpha A x modulo
    /// D, lifted as by [`Engine::convert`]. Exact over the integers for the constants that
    /// [`RoundingScale`] makes. The rounding error beta v / D is at most beta/2 in each
    /// coefficient.
    fn divide(&self, sum: Sum<'_, Self>, to: Basis, scale: RoundingScale) -> Vec<Poly<Eval, Self>>;

    /// [`Engine::divide`] with a result in coefficients. None of the rests of the sum may be in
    /// coefficients.
    fn divide_to_coeff(
        &self,
        sum: Sum<'_, Self>,
        to: Basis,
        scale: RoundingScale,
    ) -> Vec<Poly<Coeff, Self>>;

    /// [`Engine::divide`] of one polynomial in coefficients.
    fn divide_coeff(
        &self,
        x: &Poly<Coeff, Self>,
        to: Basis,
        scale: RoundingScale,
    ) -> Poly<Coeff, Self>;

    /// Linear combinations with plaintexts: for each row Σ_j d_j x_j over the inputs with a
    /// diagonal in the row, component by component. Inputs have equally many components over one
    /// basis, which all diagonals cover; a row has an entry for each input.
    fn combine(
        &self,
        inputs: &[&[Poly<Eval, Self>]],
        rows: &[Vec<Option<&Self::Diagonal>>],
    ) -> Vec<Vec<Poly<Eval, Self>>>;
}

/// A description of polynomials that are computed where they are consumed. Component k is
///
/// g( Σ_j digit_j key_jk + P c rest_k )
///
/// for the automorphism g, P the product of the primes of `raise` and c the factor; the rests have
/// the primes of `basis` but for those, modulo which they vanish here. There are as many components
/// as rests.
pub struct Sum<'a, E: Engine> {
    /// The primes of the sum.
    pub basis: Basis,
    /// Digits with the key that they are multiplied by.
    pub switched: Option<(Use<'a, E::Digits>, &'a E::Key)>,
    /// The rest that is added to each component.
    pub rest: Vec<Rest<'a, E>>,
    /// The primes whose product the rests are multiplied by.
    pub raise: Basis,
    /// The constant that the rests are multiplied by.
    pub factor: Constant,
    /// The automorphism g.
    pub automorphism: GaloisElement,
}

impl<'a, E: Engine> Sum<'a, E> {
    /// One polynomial.
    pub fn of(x: &'a Poly<Eval, E>) -> Self {
        Self::of_rests(x.basis(), vec![Rest::Poly(x)])
    }

    /// Some rests over `basis`, as they are.
    pub fn of_rests(basis: Basis, rest: Vec<Rest<'a, E>>) -> Self {
        Sum {
            basis,
            switched: None,
            rest,
            raise: Basis::EMPTY,
            factor: Constant::ONE,
            automorphism: GaloisElement::IDENTITY,
        }
    }
}

/// Accumulators, one for each component, and what is added to them.
pub type Accumulation<'a, E> = (&'a mut [Poly<Eval, E>], Sum<'a, E>);

/// The same automorphisms g of some ciphertexts, each from one decomposition: component k of the
/// result for g and its key is g( Σ_j digit_j key_jk + P c rest_k ), rest_k being component k of
/// the ciphertext for all but the last component, which the digits are of. Without a key it is P c
/// times the ciphertext.
pub struct Hoist<'a, E: Engine> {
    /// The primes of the results.
    pub basis: Basis,
    /// The automorphisms with their keys; only the identity has none.
    pub images: Vec<(GaloisElement, Option<&'a E::Key>)>,
    /// The ciphertexts, all of them with equally many components.
    pub sources: Vec<Hoisted<'a, E>>,
    /// The primes of P.
    pub raise: Basis,
    /// c.
    pub factor: Constant,
}

/// A ciphertext of which images are made.
pub struct Hoisted<'a, E: Engine> {
    /// The digits of the last component, if there is a key.
    pub digits: Option<E::Digits>,
    /// The components, over the primes of the results but for those of P.
    pub components: &'a [Poly<Eval, E>],
}

/// Digits in a sum.
pub enum Use<'a, D> {
    /// The digits are used for the only time, so that an engine may free them during the sum.
    Once(D),
    /// The digits will be needed again.
    Shared(&'a D),
}

impl<D> Use<'_, D> {
    /// The digits.
    pub fn get(&self) -> &D {
        match self {
            Use::Once(digits) => digits,
            Use::Shared(digits) => digits,
        }
    }
}

/// The factors of a product.
pub type Pair<'a, E> = (&'a Poly<Eval, E>, &'a Poly<Eval, E>);

/// The rest of a component of a sum, in addition to digits times keys.
pub enum Rest<'a, E: Engine> {
    /// Nothing.
    None,
    /// A polynomial.
    Poly(&'a Poly<Eval, E>),
    /// Σ x y: a tensor product, computed where it is consumed.
    Products(Vec<Pair<'a, E>>),
    /// A polynomial in coefficients, which shares the transforms of the remainder;
    /// [`Engine::divide`] alone takes it, and only without an automorphism.
    Coefficients(&'a Poly<Coeff, E>),
}

/// The polynomial that is decomposed into digits.
pub enum Source<'a, E: Engine> {
    /// The quotient of a polynomial by an integer, modulo the polynomial's primes.
    Eval(&'a Poly<Eval, E>, u128),
    /// The same from coefficients.
    Coeff(&'a Poly<Coeff, E>, u128),
    /// round(x / P) over these primes, P the product of the special ones: x has both.
    Quotient(Poly<Eval, E>, Basis),
}

/// A rational number that can be reduced modulo every prime of the ring, as the denominator is
/// invertible modulo each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constant {
    /// The numerator.
    pub numerator: i128,
    /// The denominator: a plaintext modulus may be 2^64.
    pub denominator: u128,
}

impl Constant {
    /// 1.
    pub const ONE: Self = Constant { numerator: 1, denominator: 1 };

    /// 1 / `denominator`.
    pub const fn inverse(denominator: u128) -> Self {
        Constant { numerator: 1, denominator }
    }

    /// The residue modulo the prime at `position`.
    pub fn modulo(self, ring: &Ring, position: usize) -> u64 {
        let q = ring.modulus(position);
        let numerator = q.reduce_i128(self.numerator);
        if self.denominator == 1 {
            return numerator;
        }
        q.mul(numerator, ring.inverse_of(self.denominator, position))
    }
}

impl From<i128> for Constant {
    fn from(numerator: i128) -> Self {
        Constant { numerator, denominator: 1 }
    }
}

impl From<i64> for Constant {
    fn from(numerator: i64) -> Self {
        i128::from(numerator).into()
    }
}

impl From<i32> for Constant {
    fn from(numerator: i32) -> Self {
        i128::from(numerator).into()
    }
}

impl From<u64> for Constant {
    fn from(numerator: u64) -> Self {
        i128::from(numerator).into()
    }
}

/// The three constants of a division with rounding, see [`Engine::divide`]: exact where beta alpha
/// is gamma modulo D.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundingScale {
    /// alpha.
    pub alpha: Constant,
    /// beta.
    pub beta: u128,
    /// gamma.
    pub gamma: u128,
}

impl RoundingScale {
    /// Plain division: round(x / D).
    pub const PLAIN: Self = RoundingScale { alpha: Constant::ONE, beta: 1, gamma: 1 };

    /// BGV's modulus switching for plaintext modulus t: x/D up to a rounding error that is a
    /// multiple of t.
    pub fn plain_multiple(t: u128) -> Self {
        RoundingScale { alpha: Constant::inverse(t), beta: t, gamma: 1 }
    }

    /// The same for an input that was divided by t before: t * round(x / D).
    pub fn times_plain(t: u128) -> Self {
        RoundingScale { alpha: Constant::ONE, beta: t, gamma: t }
    }

    /// round(t x / D).
    pub fn scaled(t: u128) -> Self {
        RoundingScale { alpha: (t as i128).into(), beta: 1, gamma: t }
    }
}
