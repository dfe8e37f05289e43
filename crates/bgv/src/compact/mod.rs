//! Compact ciphertexts and products: reduced to the bits that decryption needs.
//!
//! In BFV form the phase is (q/t) m' + w/t modulo q. Its components times 2^k / q, rounded, have
//! the phase (2^k/t) m' + 2^k w / (q t) + τ modulo 2^k, where τ comes from the roundings: m' = ⌊t
//! phase / 2^k⌉ as long as |w| / q + t |τ| / 2^k < 1/2 in every coefficient. What the highest power
//! of s multiplies is rounded to k bits; c0, whose rounding nothing multiplies, to the fewest
//! ([`widths`]).
//!
//! Source: dimension-modulus reduction of what is only decrypted, Brakerski and Vaikuntanathan 2011
//! (ia.cr/2011/344), here without the reduction of the dimension, and to a power of two.

mod decryption;
mod widths;

use everlevel_ring::{Coeff, Constant, Poly};

use crate::ciphertext::Ciphertext;
use crate::evaluator::product::Product;
use everlevel_scheme::KeyId;
use everlevel_scheme::Params;
use everlevel_scheme::SchemeError;
use everlevel_scheme::noise::Meta;
use everlevel_scheme::spec::{Form, SetId};
use widths::{WIDEST, component_count};

/// One half, in units of 2^-32: no number is farther from the nearest integer.
const LARGEST_DISTANCE: u32 = 1 << 31;

/// A ciphertext, or a product before relinearization, whose components are cut to a few bits, for
/// decryption and nothing else ([`SecretKey::decrypt_compact`](crate::SecretKey::decrypt_compact)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactCiphertext {
    /// The power of the secret that the last component is multiplied by.
    degree: u32,
    exponent: u32,
    unit: u64,
    widths: Vec<u32>,
    components: Vec<Vec<u64>>,
    /// How far t times the phase may lie from an integer, in units of 2^-32.
    distance: u32,
    owner: Option<KeyId>,
    set: SetId,
}

impl CompactCiphertext {
    /// From the exponent e of the plaintext modulus p^e, the unit modulo p^e that the rounded phase
    /// has to be multiplied by, and for each component its width in bits and its coefficients in
    /// natural order.
    ///
    /// # Errors
    /// An exponent that the set does not provide, no unit, another number of components or
    /// coefficients, widths outside of 1 to 56 or one above the next, coefficients that do not fit
    /// them.
    pub fn from_parts(
        params: &Params,
        exponent: u32,
        unit: u64,
        widths: Vec<u32>,
        components: Vec<Vec<u64>>,
    ) -> Result<Self, SchemeError> {
        Self::of_degree(1, params, exponent, unit, widths, components)
    }

    /// [`CompactCiphertext::from_parts`] for a product, which has 3 components, and over NTRU 1.
    ///
    /// # Errors
    /// As [`CompactCiphertext::from_parts`].
    pub fn product_from_parts(
        params: &Params,
        exponent: u32,
        unit: u64,
        widths: Vec<u32>,
        components: Vec<Vec<u64>>,
    ) -> Result<Self, SchemeError> {
        Self::of_degree(2, params, exponent, unit, widths, components)
    }

    fn of_degree(
        degree: u32,
        params: &Params,
        exponent: u32,
        unit: u64,
        widths: Vec<u32>,
        components: Vec<Vec<u64>>,
    ) -> Result<Self, SchemeError> {
        let (distance, owner, set) = (LARGEST_DISTANCE, None, params.set_id());
        let out =
            CompactCiphertext { degree, exponent, unit, widths, components, distance, owner, set };
        out.check(params)?;
        Ok(out)
    }

    /// Refuses what [`CompactCiphertext::from_parts`] of these parameters refuses, and what is of
    /// other ones.
    ///
    /// # Errors
    /// As [`CompactCiphertext::from_parts`]; [`SchemeError::WrongParams`].
    pub fn check(&self, params: &Params) -> Result<(), SchemeError> {
        params.noise().check_origin_of(Some(self.set), "the compact ciphertext")?;
        let (exponent, unit, widths) = (self.exponent, self.unit, &self.widths);
        let highest = params.slot_shape().max_exponent();
        let bad = |what, expected: String, found: String| {
            Err(SchemeError::BadArgument { what, expected, found })
        };
        if !(1..=highest).contains(&exponent) {
            return bad("plaintext exponent", format!("1 to {highest}"), exponent.to_string());
        }
        let t = params.plaintext_ring().modulus(exponent);
        if unit > t.last() || unit.is_multiple_of(t.prime()) {
            return bad("unit", format!("a unit below {}", t.wide()), unit.to_string());
        }
        let count = component_count(params, self.degree);
        let shape = widths.len() == count
            && self.components.len() == count
            && self.components.iter().all(|c| c.len() == params.degree());
        if !shape || widths.iter().any(|w| !(1..=WIDEST).contains(w)) || !widths.is_sorted() {
            return bad(
                "compact ciphertext",
                format!(
                    "{count} components of {} coefficients, ascending widths of 1 to {WIDEST} bits",
                    params.degree()
                ),
                format!("widths {widths:?}, or other components"),
            );
        }
        // The roundings are small only if 2^width is above t; and any key passes with less.
        if widths.first().is_some_and(|w| 1u128 << w <= t.wide()) {
            return bad(
                "compact ciphertext",
                format!("widths whose power of 2 is above {}", t.wide()),
                format!("widths {widths:?}"),
            );
        }
        // All bits of a component together, which takes no branch for each coefficient.
        let bits = |c: &Vec<u64>| c.iter().fold(0u64, |bits, &x| bits | x);
        if self.components.iter().zip(widths).any(|(c, w)| bits(c) >> w != 0) {
            return bad(
                "compact ciphertext",
                format!("coefficients of {widths:?} bits"),
                "more bits".into(),
            );
        }
        Ok(())
    }

    /// The same with a bound on how far t times the phase, divided by 2 to the last width, lies
    /// from integers, in units of 2^-32: what decryption checks. [`CompactCiphertext::from_parts`]
    /// knows none, which is one half, 2^31.
    ///
    /// # Errors
    /// 0, or more than one half.
    pub fn within(mut self, distance: u32) -> Result<Self, SchemeError> {
        if !(1..=LARGEST_DISTANCE).contains(&distance) {
            return Err(SchemeError::BadArgument {
                what: "bound of a compact ciphertext",
                expected: format!("1 to {LARGEST_DISTANCE}"),
                found: distance.to_string(),
            });
        }
        self.distance = distance;
        Ok(self)
    }

    /// The bound of [`CompactCiphertext::within`].
    pub fn distance(&self) -> u32 {
        self.distance
    }

    /// The same under this secret key, or under one that is not known, which is what
    /// [`CompactCiphertext::from_parts`] makes.
    #[must_use]
    pub fn owned_by(mut self, owner: Option<KeyId>) -> Self {
        self.owner = owner;
        self
    }

    /// The secret key that it decrypts under, if that is known.
    pub fn owner(&self) -> Option<KeyId> {
        self.owner
    }

    /// The power of the secret that the last component is multiplied by: 1, or 2 of a product.
    pub fn degree(&self) -> u32 {
        self.degree
    }

    /// The exponent e of its plaintext modulus p^e.
    pub fn exponent(&self) -> u32 {
        self.exponent
    }

    /// What the rounded phase is multiplied by, modulo p^e.
    pub fn unit(&self) -> u64 {
        self.unit
    }

    /// Bits of each coefficient, component by component.
    pub fn widths(&self) -> &[u32] {
        &self.widths
    }

    /// The coefficients of the components in natural order.
    pub fn components(&self) -> &[Vec<u64>] {
        &self.components
    }
}

impl Ciphertext {
    /// Cuts a ciphertext of these parameters to what decryption needs: about 2 log2 t + 13 bits a
    /// coefficient instead of 2 log2 q, whatever its level. One inverse transform a limb.
    ///
    /// The result has n coefficients of [`CompactCiphertext::widths`] bits for each component, and
    /// nothing can be computed on it. It is as exact as the ciphertext: the roundings are part of
    /// the distance from a message that it states, and widths are chosen so that this is less than
    /// one half by the noise bound (docs/noise.md).
    ///
    /// # Errors
    /// A ciphertext of other parameters, too noisy, or of a plaintext modulus so large (above some
    /// 2^40) that 56 bits do not hold the phase.
    pub fn compact_for_decryption(
        &self,
        params: &Params,
    ) -> Result<CompactCiphertext, SchemeError> {
        let meta = sound(params, self.meta, "the ciphertext", self.check(params))?;
        let components = self.components.iter().map(|c| c.clone().into_coeff(params.cpu()));
        compact(params, &meta, 1, components)
    }
}

impl Product {
    /// [`Ciphertext::compact_for_decryption`] of a product, or a sum of products, that was not
    /// relinearized: about 3 log2 t + 1.5 log2 n + 15 bits a coefficient instead of 3 log2 q for a
    /// ternary secret. One inverse transform a limb for products that BGV made.
    ///
    /// # Errors
    /// A product of other parameters, too noisy, of a plaintext modulus so large that 56 bits do
    /// not hold the phase, or of a set with so small a modulus that decryption could not compute
    /// it.
    pub fn compact_for_decryption(
        &self,
        params: &Params,
    ) -> Result<CompactCiphertext, SchemeError> {
        self.clone().into_compact(params)
    }

    /// [`Product::compact_for_decryption`] of a product that is not needed any more, which is
    /// transformed where it is.
    ///
    /// # Errors
    /// As [`Product::compact_for_decryption`].
    pub fn into_compact(self, params: &Params) -> Result<CompactCiphertext, SchemeError> {
        let meta = sound(params, self.meta, "the product", self.check(params))?;
        compact(params, &meta, 2, self.tensor.into_coefficients(params.cpu()).into_iter())
    }
}

/// The public data of an object that is not too noisy, and that passed the check for these
/// parameters.
fn sound(
    params: &Params,
    meta: Meta,
    object: &'static str,
    checked: Result<(), SchemeError>,
) -> Result<Meta, SchemeError> {
    params.noise().check_origin(&meta, object)?;
    let meta = params.noise().checked(meta, "compaction")?;
    // That it is too noisy was told just now: what is left is that it is of another set.
    checked.map_err(|_| SchemeError::WrongParams { object, name: params.name().into() })?;
    Ok(meta)
}

/// Components whose last one is multiplied by this power of the secret, cut.
fn compact(
    params: &Params,
    meta: &Meta,
    degree: u32,
    components: impl Iterator<Item = Poly<Coeff>>,
) -> Result<CompactCiphertext, SchemeError> {
    let basis = params.chain().basis(meta.level);
    let t = params.plaintext_ring().modulus(meta.exponent);
    let capacity = params.noise().capacity(meta);
    let found = widths::least(params, t.wide(), -capacity - 1.0, basis.len(), degree)
        .filter(|(widths, _)| widths::basis(params, widths).is_some());
    let (widths, distance) = found.ok_or_else(|| SchemeError::BadArgument {
        what: "compaction",
        expected: format!(
            "a plaintext modulus whose phase fits {WIDEST} bits and the primes of the set, and a \
             little capacity; what cannot be cut can be decrypted as it is"
        ),
        found: format!("modulus {}, {capacity:.1} bits of capacity", t.wide()),
    })?;
    // m' = -w / q, w = κ m.
    let q = params.ring().product_mod(basis, t);
    let unit = t.neg(t.mul(q, t.inv(meta.factor).expect("factors are units")));
    let scale = match meta.form {
        Form::Bgv => Constant::inverse(t.wide()),
        Form::Bfv => Constant::ONE,
    };
    let cut = |(c, &width): (Poly<Coeff>, &u32)| params.cpu().fractions(&c, scale, width);
    let components = components.zip(&widths).map(cut).collect();
    // Rounded up.
    let distance = (distance * 32f64.exp2()) as u32 + 1;
    let (exponent, owner, set) = (meta.exponent, meta.owner, params.set_id());
    Ok(CompactCiphertext { degree, exponent, unit, widths, components, distance, owner, set })
}
