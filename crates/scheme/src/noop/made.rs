//! Ciphertexts of a no-op scheme with the memory that they take.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use everlevel_ring::Basis;

use super::held::{Held, bytes_of};
use super::{NoOp, NoOpCiphertext, NoOpExtended};
use crate::noise::{ExtendedMeta, Meta};

impl NoOp {
    /// The memory in bytes that ciphertexts of this scheme would take now, with a word for each
    /// residue.
    ///
    /// Products that are not relinearized count with all of their polynomials, and ciphertexts over
    /// the extended modulus with all of its primes. Clones share their memory. What an operation of
    /// the scheme takes on its way, such as operands at a common level, digits and transforms, is
    /// not counted, nor are plaintexts, diagonals and keys. A ciphertext that shares one of two
    /// polynomials with another, as after the addition of a constant, counts as a whole.
    pub fn live_bytes(&self) -> u64 {
        self.memory.live.load(Relaxed)
    }

    /// The most that [`NoOp::live_bytes`] was, since the scheme was made or
    /// [`NoOp::forget_peak`] was called. Which ciphertexts are there at the same time depends on
    /// the number of threads that compute.
    pub fn peak_bytes(&self) -> u64 {
        self.memory.peak.load(Relaxed)
    }

    /// Lets the peak begin with what is there now. Not while other threads compute.
    pub fn forget_peak(&self) {
        self.memory.peak.store(self.live_bytes(), Relaxed);
    }

    pub(super) fn taken(&self, polynomials: usize, basis: Basis) -> Arc<Held> {
        Held::new(&self.memory, bytes_of(&self.params, polynomials, basis))
    }

    /// A ciphertext with memory of its own.
    pub(super) fn made(&self, meta: Meta, value: Vec<u64>) -> NoOpCiphertext {
        let basis = self.params.chain().basis(meta.level);
        let held = Some(self.taken(self.params.components(), basis));
        NoOpCiphertext { meta, value, held }
    }

    /// A product that is not relinearized, with memory of its own.
    pub(super) fn kept_product(&self, x: NoOpCiphertext) -> NoOpCiphertext {
        let basis = self.params.chain().basis(x.meta.level);
        let held = Some(self.taken(2 * self.params.components() - 1, basis));
        NoOpCiphertext { held, ..x }
    }

    /// A ciphertext that has the residues of another one, or a multiple of them.
    pub(super) fn of_residues(
        &self,
        of: &NoOpCiphertext,
        same: bool,
        (meta, value): (Meta, Vec<u64>),
    ) -> NoOpCiphertext {
        let held = if same { of.held.clone() } else { None };
        self.kept(NoOpCiphertext { meta, value, held })
    }

    /// The result of an operation: with memory of its own, unless it shares that of an operand.
    pub(super) fn kept(&self, x: NoOpCiphertext) -> NoOpCiphertext {
        if x.held.is_some() { x } else { self.made(x.meta, x.value) }
    }

    /// A ciphertext over the extended modulus.
    pub(super) fn made_extended(&self, meta: ExtendedMeta, value: Vec<u64>) -> NoOpExtended {
        let basis = self.params.chain().extended(meta.meta.level);
        let _held = self.taken(self.params.components(), basis);
        NoOpExtended { meta, value, _held }
    }
}

impl NoOpCiphertext {
    /// What an operation computes on its way, without memory of its own.
    pub(super) fn passing(meta: Meta, value: Vec<u64>) -> Self {
        NoOpCiphertext { meta, value, held: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noop::memory_of_ciphertext;
    use crate::ops::{Arithmetic, Automorphisms, LinearMaps};
    use crate::params::{OptIn, Params};
    use crate::plaintext::Plaintext;
    use crate::spec::{Level, NextUse};
    use everlevel_ring::GaloisElement;

    #[test]
    fn bytes_are_there_as_long_as_ciphertexts() {
        let params = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap();
        let zero = Plaintext::encode(&params, &[]).unwrap();
        for scheme in [NoOp::new(&params, 1), NoOp::blank(&params)] {
            let top = params.chain().top();
            // Two polynomials of eight bytes for each coefficient and prime.
            let words = |level: Level| (params.degree() * params.chain().basis(level).len()) as u64;
            let of = |level: Level| 2 * 8 * words(level);
            assert_eq!(memory_of_ciphertext(&params, top), of(top));
            assert_eq!((scheme.live_bytes(), scheme.peak_bytes()), (0, 0));
            let x = scheme.encrypt(&zero).unwrap();
            let y = x.clone();
            assert_eq!(scheme.live_bytes(), of(top));
            // A lower level takes fewer primes; the same one is shared.
            let lower = scheme.mod_switch_to(&x, Level(1)).unwrap();
            let same = scheme.mod_switch_to(&x, top).unwrap();
            assert!(of(Level(1)) < of(top));
            assert_eq!(scheme.live_bytes(), of(top) + of(Level(1)));
            drop((x, same));
            assert_eq!(scheme.live_bytes(), of(top) + of(Level(1)));
            drop(lower);
            // Three polynomials before relinearization, at the level of the product.
            let product = scheme.mul_lazy(&y, &y).unwrap();
            let level = product.meta.level;
            assert_eq!(scheme.live_bytes(), of(top) + 3 * 8 * words(level));
            let done = scheme.relinearize(&product, NextUse::Keep).unwrap();
            let all = of(top) + 3 * 8 * words(level) + of(done.meta.level);
            assert_eq!((scheme.live_bytes(), scheme.peak_bytes()), (all, all));
            drop((product, done));
            assert_eq!((scheme.live_bytes(), scheme.peak_bytes()), (of(top), all));
            scheme.forget_peak();
            // Images over the extended modulus, and not on the way of a rotation.
            let step = GaloisElement::IDENTITY;
            let moved = scheme.apply_galois(&y, step).unwrap();
            assert_eq!(scheme.peak_bytes(), of(top));
            let images = scheme.hoist(&y, &[step, step]).unwrap();
            let extended = params.chain().extended(top).len() * params.degree() * 2 * 8;
            assert_eq!(scheme.live_bytes(), of(top) + 2 * extended as u64);
            drop((images, moved, y));
            assert_eq!(scheme.live_bytes(), 0);
        }
    }

    #[test]
    fn what_is_made_on_the_way_is_not_counted() {
        let params = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap();
        let zero = Plaintext::encode(&params, &[]).unwrap();
        let scheme = NoOp::blank(&params);
        let (x, y) = (scheme.encrypt(&zero).unwrap(), scheme.encrypt_at(&zero, Level(1)).unwrap());
        let given = scheme.live_bytes();
        // The sum lies at the lower level, to which x is switched on the way.
        let sum = scheme.add(&x, &y).unwrap();
        let own = memory_of_ciphertext(&params, sum.meta.level);
        assert_eq!((scheme.live_bytes(), scheme.peak_bytes()), (given + own, given + own));
        drop(sum);
        scheme.forget_peak();
        let sum = scheme.linear_combination(&[(&x, 2), (&y, 3)], 1).unwrap();
        let own = memory_of_ciphertext(&params, sum.meta.level);
        assert_eq!((scheme.live_bytes(), scheme.peak_bytes()), (given + own, given + own));
    }
}
