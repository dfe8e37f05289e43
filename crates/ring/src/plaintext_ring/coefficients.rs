//! Arithmetic with coefficients.

use super::{Factor, PlaintextRing};
use crate::exponents::{constant, map_exponents};
use crate::galois::GaloisElement;
use crate::product::{forward, sum_split};

impl PlaintextRing {
    /// The product of two plaintexts modulo p^e: 3 transforms of length n where there are n slots
    /// in a power of two, at most 12 elsewhere.
    ///
    /// # Panics
    /// As [`PlaintextRing::modulus`], or if an operand has not n coefficients.
    pub fn mul(&self, a: &[u64], b: &[u64], e: u32) -> Vec<u64> {
        let [a, b] = [a, b].map(|x| self.factor(x, e));
        self.sum_of_products([(&a, &b)].into_iter(), e)
    }

    /// A plaintext for several products modulo p^e: one transform where there are n slots in a
    /// power of two.
    ///
    /// # Panics
    /// As [`PlaintextRing::mul`].
    pub fn factor(&self, a: &[u64], e: u32) -> Factor {
        assert_eq!(a.len(), self.degree(), "expected a coefficient for each power");
        Factor(self.split(e).map_or_else(|| a.to_vec(), |table| forward(table, a)))
    }

    /// Σ a b modulo p^e, of factors for that exponent: one transform where there are n slots in a
    /// power of two, at most 12 a product elsewhere.
    ///
    /// # Panics
    /// As [`PlaintextRing::modulus`].
    pub fn sum_of_products<'a>(
        &self,
        terms: impl Iterator<Item = (&'a Factor, &'a Factor)>,
        e: u32,
    ) -> Vec<u64> {
        let (t, terms) = (self.modulus(e), terms.map(|(a, b)| (&a.0[..], &b.0[..])));
        if let Some(table) = self.split(e) {
            return sum_split(table, self.kernels, terms);
        }
        let products = terms.map(|(a, b)| self.product.mul(a, b, t));
        products.fold(vec![0; self.degree()], |mut sum, product| {
            sum.iter_mut().zip(product).for_each(|(x, y)| *x = t.add(*x, y));
            sum
        })
    }

    /// The product with X^k, for any integer k: coefficients moved, with their signs. O(n), where
    /// there are axes for each of them.
    ///
    /// # Panics
    /// As [`PlaintextRing::modulus`].
    pub fn mul_monomial(&self, a: &[u64], k: i64, e: u32) -> Vec<u64> {
        let (n, q) = (a.len(), self.modulus(e));
        if let Some(axes) = self.shape.axes() {
            let k = k.rem_euclid(axes.index() as i64) as u64;
            return map_exponents(axes, a, q, |_, exponent| exponent + k);
        }
        let mut out = vec![0; n];
        for (c, &x) in a.iter().enumerate() {
            let target = (c as i64 + k.rem_euclid(2 * n as i64)) as usize % (2 * n);
            out[target % n] = if target >= n { q.neg(x) } else { x };
        }
        out
    }

    /// X -> X^g on n coefficients modulo p^e. O(n), where there are axes for each of them.
    ///
    /// # Panics
    /// As [`PlaintextRing::modulus`].
    pub fn galois(&self, a: &[u64], g: GaloisElement, e: u32) -> Vec<u64> {
        let (n, m, q) = (a.len(), self.shape.ring_index() as usize, self.modulus(e));
        if let Some(axes) = self.shape.axes() {
            return map_exponents(axes, a, q, |_, exponent| exponent * g.exponent());
        }
        // n and m = 2n are powers of two.
        let mut out = vec![0; n];
        let mut target = 0;
        for &x in a {
            out[target & (n - 1)] = if target >= n { q.neg(x) } else { x };
            target = (target + g.exponent() as usize) & (m - 1);
        }
        out
    }

    /// The coefficients of the constant `c`, reduced modulo p^e.
    ///
    /// # Panics
    /// As [`PlaintextRing::modulus`].
    pub fn constant(&self, c: u64, e: u32) -> Vec<u64> {
        let t = self.modulus(e);
        match self.shape.axes() {
            Some(axes) => constant(axes, t.reduce_u64(c), t),
            None => std::iter::once(t.reduce_u64(c))
                .chain(std::iter::repeat_n(0, self.degree() - 1))
                .collect(),
        }
    }

    /// The coefficients as centered integers, in their order.
    ///
    /// # Panics
    /// As [`PlaintextRing::modulus`].
    pub fn centered(&self, a: &[u64], e: u32) -> Vec<i64> {
        let q = self.modulus(e);
        a.iter().map(|&x| q.centered(x)).collect()
    }
}
