//! Polynomials that stay as files have them until they are multiplied.

use std::ops::Range;
use std::sync::Arc;

use everlevel_arith::residue_bytes;
use rayon::prelude::*;

use super::processor::Cpu;
use crate::basis::Basis;
use crate::poly::{Eval, Poly};
use crate::ring::Ring;

/// Bytes that stay where they are and have several owners, such as a part of a file that was read.
pub type SharedBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Places whose residues take whole bytes together, whatever their width.
const GROUP: usize = 8;

/// A polynomial in evaluations with as many bits for each residue as its prime has: limb by limb in
/// the order of the basis, each from a byte on, places in their order. It takes two thirds to four
/// fifths of the memory of a [`Poly`], and products unpack it where they need it
/// ([`Cpu::sums_of_seeded_products`]), so that no word of it is written to memory. Copies share
/// their bytes.
#[derive(Clone)]
pub struct StoredPoly {
    basis: Basis,
    degree: usize,
    bytes: SharedBytes,
    /// Which bytes the limbs are, in the order of the basis.
    limbs: Vec<Range<usize>>,
}

impl StoredPoly {
    /// The polynomial over a basis whose bytes these are, from `start` on. Residues have to be
    /// canonical: whoever reads them from somewhere checks them before. None if there are fewer
    /// bytes.
    pub fn new(ring: &Ring, basis: Basis, bytes: SharedBytes, start: usize) -> Option<Self> {
        let (degree, mut end) = (ring.degree(), start);
        let mut limbs = Vec::with_capacity(basis.len());
        for i in basis.iter() {
            let first = end;
            end = first.checked_add(residue_bytes(ring.modulus(i), degree))?;
            limbs.push(first..end);
        }
        let there = AsRef::<[u8]>::as_ref(&*bytes).len();
        (end <= there).then_some(StoredPoly { basis, degree, bytes, limbs })
    }

    /// The primes.
    pub fn basis(&self) -> Basis {
        self.basis
    }

    /// n.
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// All its bytes.
    pub fn bytes(&self) -> &[u8] {
        match (self.limbs.first(), self.limbs.last()) {
            (Some(first), Some(last)) => self.within(first.start..last.end),
            _ => &[],
        }
    }

    fn within(&self, range: Range<usize>) -> &[u8] {
        &AsRef::<[u8]>::as_ref(&*self.bytes)[range]
    }

    /// The polynomial: n words for each prime.
    pub fn expanded(&self, cpu: &Cpu) -> Poly<Eval> {
        let positions: Vec<usize> = self.basis.iter().collect();
        let limb = |i: usize| {
            let mut limb = cpu.limb();
            self.unpack(cpu, i, 0, &mut limb);
            limb
        };
        cpu.poly(self.basis, positions.into_par_iter().map(limb).collect())
    }

    /// The residues modulo the prime at `position` from a place on, a multiple of [`GROUP`].
    ///
    /// # Panics
    /// If the basis lacks the prime, or there are fewer places.
    pub(super) fn unpack(&self, cpu: &Cpu, position: usize, place: usize, out: &mut [u64]) {
        assert!(place.is_multiple_of(GROUP) && place + out.len() <= self.degree);
        let limb = &self.limbs[self.basis.limb_of(position).expect("the basis holds the prime")];
        let q = cpu.ring().modulus(position);
        let rest = self.within(limb.start + residue_bytes(q, place)..limb.end);
        let canonical = cpu.kernels().unpack_residues(q, out, rest);
        debug_assert!(canonical, "residues that were checked");
    }
}
