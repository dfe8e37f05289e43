//! The automorphisms of slots: rotations along dimensions, Frobenius, the exchange of rows, and how
//! they compose.

use crate::galois::GaloisElement;
use crate::odd_slots::OddSlots;
use crate::slot_shape::SlotShape;

impl SlotShape {
    /// The automorphism that moves slots by `k` to the left along a dimension (to the right for
    /// negative k): the k-th power of its generator.
    ///
    /// # Panics
    /// If there is no such dimension.
    pub fn rotation_along(&self, dimension: usize, k: i64) -> GaloisElement {
        let m = i128::from(self.ring_index());
        let generator = self.dimensions()[dimension].generator.0;
        // The order of the group of units is a multiple of that of the generator.
        let mut k = k.rem_euclid((self.slots() * self.degree_of_slot()) as i64) as u64;
        let (mut g, mut square) = (1, i128::from(generator));
        while k > 0 {
            if k & 1 == 1 {
                g = g * square % m;
            }
            square = square * square % m;
            k >>= 1;
        }
        GaloisElement(g as u64)
    }

    /// The automorphism that moves the columns by `k` to the left (to the right for negative k). In
    /// a ring whose index is a power of two, k counts modulo the number of columns, whether these
    /// are a good dimension or not.
    pub fn rotation(&self, k: i64) -> GaloisElement {
        let k = if self.odd().is_some() { k } else { k.rem_euclid(self.columns() as i64) };
        self.rotation_along(self.dimensions().len() - 1, k)
    }

    /// s in 0..d with 5^columns = p^s modulo m: what a rotation all the way round does to whole
    /// slots is Frobenius to the power s. With s = 0 the columns are a good dimension of the
    /// hypercube of slots. For an index with axes it is the last generator that has this power
    /// modulo N, the product of the carrier. 0 where slots repeat, as thin ones do not see it.
    /// O(d + columns).
    pub fn column_wrap(&self) -> usize {
        self.wrap(self.dimensions().len() - 1)
    }

    /// The same for any dimension, its generator and its size; for an index with axes it is 0 ahead
    /// of the carrier. O(d + size).
    ///
    /// # Panics
    /// If there is no such dimension.
    pub fn wrap(&self, dimension: usize) -> usize {
        let n = self.odd().map_or(self.ring_index(), OddSlots::carrier_index);
        let size = self.dimensions()[dimension].size as i64;
        let round = self.rotation_along(dimension, size).0 % n;
        let p = self.plain_prime() % n;
        std::iter::successors(Some(1), |g| Some(g * p % n))
            .take(self.degree_of_slot())
            .position(|g| g == round)
            .unwrap_or(0)
    }

    /// The automorphism that exchanges the rows, X -> 1/X; the identity where there is one row, and
    /// for indices with axes.
    pub fn swap_rows(&self) -> GaloisElement {
        if self.rows() == 2 && self.odd().is_none() {
            GaloisElement(self.ring_index() - 1)
        } else {
            GaloisElement::IDENTITY
        }
    }

    /// The automorphism that conjugates i in every column of the base ring: the exchange of two
    /// rows, Frobenius on one; the identity for indices with axes.
    pub fn conjugation(&self) -> GaloisElement {
        if self.base_degree() == 1 { self.swap_rows() } else { self.frobenius() }
    }

    /// X -> X^p: the identity on thin plaintexts, of order d.
    pub fn frobenius(&self) -> GaloisElement {
        GaloisElement(self.plain_prime() % self.ring_index())
    }

    /// The log2 d automorphisms φ_i: X -> X^(1 + n/2^i), i = 0, 1, .., that send X^(2^i) to its
    /// negative. In this order, a <- a + φ_i(a) makes of a polynomial a d times its part in
    /// Z\[X^d\]. With two rows that do not repeat they generate the same group as Frobenius.
    /// Source: Chen–Han 2018, appendix A (whose range ends one step too late). None for indices
    /// with axes.
    pub fn projection(&self) -> Vec<GaloisElement> {
        let count = if self.odd().is_some() { 0 } else { self.degree_of_slot().trailing_zeros() };
        self.sign_changes(count)
    }

    /// The automorphisms φ_i of [`SlotShape::projection`] for i below `count`, which may exceed
    /// log2 d but not log2 n: there are no more. For indices that are powers of two.
    pub fn sign_changes(&self, count: u32) -> Vec<GaloisElement> {
        let half = self.ring_index() / 2;
        let count = count.min(half.checked_ilog2().unwrap_or(0));
        (0..count).map(|i| GaloisElement(1 + (half >> i))).collect()
    }

    /// Whether Frobenius permutes the coefficients along the carrier: these are those of a normal
    /// basis if no axis of the carrier has a square factor. False for powers of two.
    pub fn has_normal_carrier(&self) -> bool {
        self.carrier().is_some_and(|axes| axes.iter().all(|axis| axis.index == axis.prime))
    }

    /// The identity.
    pub fn identity(&self) -> GaloisElement {
        GaloisElement::IDENTITY
    }

    /// Whether `g` is the identity.
    pub fn is_identity(&self, g: GaloisElement) -> bool {
        g.is_identity()
    }

    /// The composition: X -> X^(g h).
    pub fn compose(&self, g: GaloisElement, h: GaloisElement) -> GaloisElement {
        GaloisElement((g.0 as u128 * h.0 as u128 % self.ring_index() as u128) as u64)
    }
}
