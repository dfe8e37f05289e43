//! Switching keys: hybrid key switching (Gentry–Halevi–Smart 2012) with RNS digits and a special modulus P.

use everlevel_arith::kernels;
use everlevel_ring::{Basis, Eval, Poly, sample};
use rand_core::CryptoRng;

use super::secret::SecretKey;
use crate::params::{Gadget, Params};

/// One digit of a switching key: (b, a) with b + a s' = e + P δ s over the primes of the key and P, where δ is 1 modulo the digit's
/// primes and 0 modulo the others.
pub(crate) struct SwitchDigit {
    pub(crate) group: usize,
    pub(crate) b: Poly<Eval>,
    pub(crate) a: Poly<Eval>,
}

/// A key from a secret s to a secret s', for one gadget and over some of the primes.
///
/// Its errors are not multiplied by the plaintext modulus (ciphertexts are divided by t before the decomposition and multiplied
/// after), so one key serves every plaintext modulus, and BGV and BFV alike. δ depends on no level, so the key serves every
/// level whose primes it holds.
pub struct SwitchKey {
    basis: Basis,
    seed: sample::Seed,
    pub(crate) digits: Vec<SwitchDigit>,
}

impl SwitchKey {
    /// Generates the key from `source` to `destination` (both in evaluations over all primes of the key) over `basis` and the
    /// special primes of `gadget`.
    pub(crate) fn generate(
        params: &Params,
        gadget: &Gadget,
        basis: Basis,
        source: &Poly<Eval>,
        destination: &Poly<Eval>,
        rng: &mut impl CryptoRng,
    ) -> Self {
        let ring = params.ring();
        let special = gadget.special();
        let full = basis.union(special);
        let seed = sample::seed(rng);
        let digits = gadget
            .digits(basis)
            .map(|(group, primes)| {
                let a = sample::expand(ring, &seed, group as u32, full);
                let e = SecretKey::key_error(params, rng);
                let mut b = sample::secret_poly(ring, full, &e);
                b.for_each(|i, limb| {
                    let q = ring.modulus(i);
                    if primes.contains(i) {
                        kernels::scalar_mul_add_assign(q, limb, source.limb(i), ring.product_mod(special, q));
                    }
                    let mut product = ring.limb();
                    product.wipe_on_drop();
                    kernels::mul(q, &mut product, a.limb(i), destination.limb(i));
                    kernels::sub_assign(q, limb, &product);
                });
                SwitchDigit { group, b, a }
            })
            .collect();
        SwitchKey { basis, seed, digits }
    }
    /// The primes that ciphertexts to be switched may have.
    pub fn basis(&self) -> Basis {
        self.basis
    }
    /// The seed of the uniform halves.
    pub fn seed(&self) -> &sample::Seed {
        &self.seed
    }
    /// The digit for a group of primes.
    pub(crate) fn digit(&self, group: usize) -> Option<&SwitchDigit> {
        self.digits.iter().find(|d| d.group == group)
    }
    /// Bytes in memory, both halves expanded.
    pub fn memory_bytes(&self) -> u64 {
        self.digits.iter().flat_map(|d| d.b.limbs().iter().chain(d.a.limbs())).map(|l| l.len() as u64 * 8).sum()
    }
}
