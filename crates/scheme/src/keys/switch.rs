//! Switching keys: hybrid key switching (Gentry–Halevi–Smart 2012) with RNS digits and a special modulus P.

use everlevel_arith::kernels;
use everlevel_ring::{Basis, Eval, Poly, sample};
use rand_core::CryptoRng;

use super::secret::MainSecret;
use crate::params::{Gadget, Params};

/// One digit of a switching key, over the primes of the key and P: (b, a) with b + a s' = e + P δ s, where δ is 1 modulo the digit's primes and
/// 0 modulo the others. Over NTRU: ζ with ζ s' = g s_i + s' e_i + P δ s for small s_i and e_i.
pub(crate) struct SwitchDigit {
    pub(crate) group: usize,
    pub(crate) components: Vec<Poly<Eval>>,
}

/// A key from a secret s to a secret s', for one gadget and over some of the primes.
///
/// Its errors are not multiplied by the plaintext modulus (ciphertexts are divided by t before the decomposition and multiplied
/// after), so one key serves every plaintext modulus, and BGV and BFV alike. δ depends on no level, so the key serves every
/// level whose primes it holds.
pub struct SwitchKey {
    basis: Basis,
    seed: Option<sample::Seed>,
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
        destination: &MainSecret,
        rng: &mut impl CryptoRng,
    ) -> Self {
        let ring = params.ring();
        let special = gadget.special();
        let full = basis.union(special);
        let seed = sample::seed(rng);
        let hidden = destination.quotient_of(ring, source);
        let digits = gadget
            .digits(basis)
            .map(|(group, primes)| {
                let mut components = destination.zero(params, full, (&seed, group as u32), rng);
                components[0].for_each(|i, limb| {
                    let q = ring.modulus(i);
                    if primes.contains(i) {
                        kernels::scalar_mul_add_assign(q, limb, hidden.limb(i), ring.product_mod(special, q));
                    }
                });
                SwitchDigit { group, components }
            })
            .collect();
        let seed = (params.components() > 1).then_some(seed);
        SwitchKey { basis, seed, digits }
    }
    /// The primes that ciphertexts to be switched may have.
    pub fn basis(&self) -> Basis {
        self.basis
    }
    /// The seed of the uniform halves; NTRU has none.
    pub fn seed(&self) -> Option<&sample::Seed> {
        self.seed.as_ref()
    }
    /// The digit for a group of primes.
    pub(crate) fn digit(&self, group: usize) -> Option<&SwitchDigit> {
        self.digits.iter().find(|d| d.group == group)
    }
    /// Bytes in memory, both halves expanded.
    pub fn memory_bytes(&self) -> u64 {
        self.digits.iter().flat_map(|d| &d.components).flat_map(|c| c.limbs()).map(|l| l.len() as u64 * 8).sum()
    }
}
