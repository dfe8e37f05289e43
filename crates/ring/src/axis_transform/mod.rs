//! The transform between coefficients and slots of rings with axes, axis by axis.

mod carrier;
mod other;
mod sums;

use everlevel_arith::kernels::Kernels;
use zeroize::Zeroizing;

use crate::error::RingError;
use crate::galois_ring::GaloisRing;
use crate::odd_slots::OddSlots;

use carrier::Carrier;
use other::OtherAxis;
use sums::Sums;

/// All axes modulo one p^e. With C the number of coefficients along the carrier: n C word products,
/// and n d_a (N_a + d) for every other axis a, d_a the degree of its root; fewer where matrices
/// have zeros.
#[derive(Debug)]
pub(crate) struct SlotTransform {
    last: Carrier,
    /// The other axes with the lengths of what lies between neighbors along them, in elements of
    /// slots.
    others: Vec<(OtherAxis, usize)>,
    ring: GaloisRing,
    sums: Sums,
}

impl SlotTransform {
    /// The tables of `odd` in `ring`, GR(p^e, d); `representatives` are those of the slots of the
    /// carrier modulo N.
    pub(crate) fn new(
        odd: &OddSlots,
        ring: GaloisRing,
        representatives: Vec<usize>,
        kernels: &'static Kernels,
    ) -> Result<Self, RingError> {
        let axes = odd.axes.all();
        let mut inner = representatives.len();
        let mut others = Vec::new();
        for place in (0..odd.first).rev() {
            others.push((OtherAxis::new(odd, place, &ring)?, inner));
            inner *= axes[place].degree;
        }
        let last = Carrier::new(odd, &ring, representatives)?;
        let sums = Sums::new(ring.modulus(), kernels);
        Ok(SlotTransform { last, others, ring, sums })
    }

    /// n coefficients to elements, slot by slot; or as many as a polynomial in the X_a of the last
    /// axes alone has, to elements along the dimensions of these.
    pub(crate) fn decode(&self, coefficients: &[u64]) -> Vec<u64> {
        let mut elements = vec![0; coefficients.len()];
        let length = self.last.exponents.len();
        for (line, out) in coefficients.chunks_exact(length).zip(elements.chunks_exact_mut(length))
        {
            self.last.decode(&self.sums, line, out);
        }
        for (axis, inner) in self.others_within(coefficients.len()) {
            axis.apply(&self.sums, &mut elements, *inner, &axis.forward);
        }
        elements
    }

    /// The inverse of [`SlotTransform::decode`].
    pub(crate) fn encode(&self, elements: &[u64]) -> Vec<u64> {
        let mut elements = Zeroizing::new(elements.to_vec());
        for (axis, inner) in self.others_within(elements.len()) {
            axis.apply(&self.sums, &mut elements, *inner, &axis.inverse);
        }
        let mut out = vec![0; elements.len()];
        let length = self.last.exponents.len();
        for (line, out) in elements.chunks_exact(length).zip(out.chunks_exact_mut(length)) {
            self.last.encode(&self.sums, line, out);
        }
        out
    }

    /// The axes but the last one that a polynomial of `words` coefficients has, from the last one
    /// down.
    fn others_within(&self, words: usize) -> impl Iterator<Item = &(OtherAxis, usize)> {
        self.others.iter().take_while(move |(_, inner)| inner * self.ring.degree() < words)
    }
}
