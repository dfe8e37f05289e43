//! A scheme of residues: values that stand side by side, without ring, slots, levels or noise.
//!
//! [`NoOp`](everlevel_scheme::NoOp) is the scheme without cryptography that tests should take. It
//! follows a parameter set, though, with the slots and the capacity of that set. Straight-line
//! programs are proved on every value modulo p^e, for p = 2 up to 2^40 and at depths that no set
//! has levels for: they run here, and multiplicative depths are counted along.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use everlevel_ring::{PrimePower, SlotShape};
use everlevel_scheme::{
    Arithmetic, Form, Level, NextUse, PlainModulus, Plaintext, Scheme, SchemeError,
};

use crate::rng::SplitMix;

/// ResidueScheme modulo p^e, with the depth of the products that led to them.
#[derive(Clone, Debug, PartialEq)]
pub struct ResidueVector {
    /// p^e.
    pub modulus: PrimePower,
    /// How many products lie one above the other.
    pub depth: u32,
    /// The values, as many as were encrypted.
    pub values: Vec<u64>,
}

impl ResidueVector {
    /// The values as the integers of least absolute value.
    pub fn centered(&self) -> Vec<i64> {
        self.values.iter().map(|x| self.modulus.centered(*x)).collect()
    }
}

/// The scheme: products and changes of the modulus, value by value.
///
/// It panics where a circuit does what has no meaning here: mixes moduli, divides what is no
/// multiple of p, or asks for plaintexts of a ring.
pub struct ResidueScheme {
    prime: u64,
    shape: SlotShape,
    products: AtomicUsize,
    relinearizations: AtomicUsize,
}

impl ResidueScheme {
    /// For the powers of any prime p.
    ///
    /// # Panics
    /// If the shape that stands for slots is not one, which is a fault of this crate.
    pub fn new(prime: u64) -> Self {
        ResidueScheme {
            prime,
            // The trait wants some; nothing that runs here asks for it.
            shape: SlotShape::new(128, 257, 1).expect("a shape of slots"),
            products: AtomicUsize::new(0),
            relinearizations: AtomicUsize::new(0),
        }
    }

    /// Any number of values modulo p^e.
    ///
    /// # Panics
    /// If p is no prime, or p^e does not fit.
    pub fn encrypt(&self, values: Vec<u64>, e: u32) -> ResidueVector {
        let modulus = PrimePower::new(self.prime, e).expect("a power of a prime");
        ResidueVector { modulus, depth: 0, values }
    }

    /// The same for integers of either sign.
    ///
    /// # Panics
    /// As [`ResidueScheme::encrypt`].
    pub fn encrypt_signed(&self, values: &[i64], e: u32) -> ResidueVector {
        let modulus = PrimePower::new(self.prime, e).expect("a power of a prime");
        let values = values.iter().map(|x| modulus.reduce_i64(*x)).collect();
        ResidueVector { modulus, depth: 0, values }
    }

    /// Products and relinearizations since the last call.
    pub fn take_counts(&self) -> (usize, usize) {
        (self.products.swap(0, Relaxed), self.relinearizations.swap(0, Relaxed))
    }

    fn zip(
        a: &ResidueVector,
        b: &ResidueVector,
        f: impl Fn(&PrimePower, u64, u64) -> u64,
    ) -> ResidueVector {
        assert_eq!(a.modulus, b.modulus, "plaintext moduli");
        assert_eq!(a.values.len(), b.values.len(), "numbers of values");
        let values = a.values.iter().zip(&b.values).map(|(x, y)| f(&a.modulus, *x, *y)).collect();
        ResidueVector { modulus: a.modulus, depth: a.depth.max(b.depth), values }
    }

    fn map(a: &ResidueVector, f: impl Fn(u64) -> u64) -> ResidueVector {
        ResidueVector { values: a.values.iter().map(|x| f(*x)).collect(), ..a.clone() }
    }
}

impl Scheme for ResidueScheme {
    type Ciphertext = ResidueVector;

    fn slot_shape(&self) -> &SlotShape {
        &self.shape
    }

    fn plain_prime(&self) -> u64 {
        self.prime
    }

    fn plain_exponent(&self, x: &ResidueVector) -> u32 {
        x.modulus.exponent()
    }

    fn level(&self, _: &ResidueVector) -> Level {
        Level(0)
    }

    fn noise_bound_bits(&self, _: &ResidueVector) -> f64 {
        0.0
    }

    fn capacity_bits(&self, _: &ResidueVector) -> f64 {
        f64::INFINITY
    }

    fn check_params(&self, _: &ResidueVector) -> Result<(), SchemeError> {
        Ok(())
    }

    fn form(&self, _: &ResidueVector) -> Form {
        Form::Bgv
    }

    fn encode_elements(&self, _: &[u64]) -> Result<Plaintext, SchemeError> {
        unimplemented!("residues have no ring for plaintexts")
    }
}

impl Arithmetic for ResidueScheme {
    type Product = ResidueVector;

    fn add(&self, a: &ResidueVector, b: &ResidueVector) -> Result<ResidueVector, SchemeError> {
        Ok(Self::zip(a, b, PrimePower::add))
    }

    fn sub(&self, a: &ResidueVector, b: &ResidueVector) -> Result<ResidueVector, SchemeError> {
        Ok(Self::zip(a, b, PrimePower::sub))
    }

    fn neg(&self, a: &ResidueVector) -> Result<ResidueVector, SchemeError> {
        Ok(Self::map(a, |x| a.modulus.sub(0, x)))
    }

    fn add_plain(&self, _: &ResidueVector, _: &Plaintext) -> Result<ResidueVector, SchemeError> {
        unimplemented!("residues have no ring for plaintexts")
    }

    fn mul_plain(&self, _: &ResidueVector, _: &Plaintext) -> Result<ResidueVector, SchemeError> {
        unimplemented!("residues have no ring for plaintexts")
    }

    fn add_scalar(&self, a: &ResidueVector, k: i64) -> Result<ResidueVector, SchemeError> {
        let k = a.modulus.reduce_i64(k);
        Ok(Self::map(a, |x| a.modulus.add(x, k)))
    }

    fn mul_scalar(&self, a: &ResidueVector, k: i64) -> Result<ResidueVector, SchemeError> {
        let k = a.modulus.reduce_i64(k);
        Ok(Self::map(a, |x| a.modulus.mul(x, k)))
    }

    fn linear_combination(
        &self,
        terms: &[(&ResidueVector, i64)],
        constant: i64,
    ) -> Result<ResidueVector, SchemeError> {
        let constant = terms[0].0.modulus.reduce_i64(constant);
        let mut sum = Self::map(terms[0].0, |_| constant);
        for (x, k) in terms {
            let k = x.modulus.reduce_i64(*k);
            sum = Self::zip(&sum, x, |t, s, x| t.add(s, t.mul(x, k)));
        }
        Ok(sum)
    }

    fn mul_lazy(&self, a: &ResidueVector, b: &ResidueVector) -> Result<ResidueVector, SchemeError> {
        self.products.fetch_add(1, Relaxed);
        let product = Self::zip(a, b, PrimePower::mul);
        Ok(ResidueVector { depth: product.depth + 1, ..product })
    }

    fn add_products(
        &self,
        a: &ResidueVector,
        b: &ResidueVector,
    ) -> Result<ResidueVector, SchemeError> {
        self.add(a, b)
    }

    fn relinearize(&self, a: &ResidueVector, _: NextUse) -> Result<ResidueVector, SchemeError> {
        self.relinearizations.fetch_add(1, Relaxed);
        Ok(a.clone())
    }

    fn prepare(&self, a: &ResidueVector, _: NextUse) -> Result<ResidueVector, SchemeError> {
        Ok(a.clone())
    }

    fn mod_switch_to(&self, a: &ResidueVector, _: Level) -> Result<ResidueVector, SchemeError> {
        Ok(a.clone())
    }

    fn mul_monomial(&self, _: &ResidueVector, _: i64) -> Result<ResidueVector, SchemeError> {
        unimplemented!("residues have no ring for powers of X")
    }
}

impl PlainModulus for ResidueScheme {
    fn convert(&self, a: &ResidueVector, _: Form) -> ResidueVector {
        a.clone()
    }

    fn reduce_plain_modulus(
        &self,
        a: &ResidueVector,
        k: u32,
    ) -> Result<ResidueVector, SchemeError> {
        let modulus = a.modulus.reduced(k)?;
        Ok(ResidueVector { modulus, ..Self::map(a, |x| modulus.reduce_u64(x)) })
    }

    /// Above p^e stands anything, as in a real scheme.
    fn extend_plain_modulus(
        &self,
        a: &ResidueVector,
        e: u32,
    ) -> Result<ResidueVector, SchemeError> {
        let (modulus, step) = (PrimePower::new(self.prime, e)?, a.modulus.wide());
        let multiples = u64::try_from(modulus.wide() / step).expect("less than p^e");
        let mut rng = SplitMix(a.values.iter().fold(0, |sum, x| sum ^ x));
        let anything = |x: &u64| (u128::from(*x) + step * u128::from(rng.below(multiples))) as u64;
        let values = a.values.iter().map(anything).collect();
        Ok(ResidueVector { modulus, depth: a.depth, values })
    }

    fn divide_by_p(&self, a: &ResidueVector) -> Result<ResidueVector, SchemeError> {
        assert!(a.values.iter().all(|x| x % self.prime == 0), "multiples of p");
        let modulus = a.modulus.reduced(a.modulus.exponent() - 1)?;
        Ok(ResidueVector { modulus, ..Self::map(a, |x| x / self.prime) })
    }

    fn multiply_by_p(&self, a: &ResidueVector) -> Result<ResidueVector, SchemeError> {
        let modulus = PrimePower::new(self.prime, a.modulus.exponent() + 1)?;
        Ok(ResidueVector { modulus, ..Self::map(a, |x| x * self.prime) })
    }
}
