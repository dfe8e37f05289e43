//! Gaussian integers modulo p^e, the values of the columns of slots.

use crate::error::RingError;
use crate::prime_power::PrimePower;

/// (Z/p^e)\[i\]/(i^2 + 1) for an odd p, in the representation by slots.
///
/// * p = 1 modulo 4 (*split*): two copies of Z/p^e. An element is its images under i -> ι and i ->
///   -ι, the values of the two rows of one column of slots; arithmetic is component by component
///   and conjugation exchanges the rows.
/// * p = 3 modulo 4 (*inert*): the Galois ring GR(p^e, 2). An element is its real and its imaginary
///   part, the value of one slot; conjugation is Frobenius.
///
/// Elements are pairs of residues. Operations take residues below p^e and cost four products at
/// most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GaussianRing {
    modulus: PrimePower,
    split: bool,
}

impl GaussianRing {
    /// Gaussian integers modulo an odd p^e.
    ///
    /// # Errors
    /// [`RingError::PlainModulus`] if p is 2, where i^2 + 1 is a square modulo p.
    pub fn new(modulus: PrimePower) -> Result<Self, RingError> {
        match modulus.prime() % 4 {
            1 => Ok(GaussianRing { modulus, split: true }),
            3 => Ok(GaussianRing { modulus, split: false }),
            _ => Err(RingError::PlainModulus { p: modulus.prime(), exponent: modulus.exponent() }),
        }
    }

    /// p^e.
    pub fn modulus(&self) -> PrimePower {
        self.modulus
    }

    /// Whether p is 1 modulo 4, so that a column has two slots instead of one of twice the degree.
    pub fn is_split(&self) -> bool {
        self.split
    }

    /// One.
    pub fn one(&self) -> [u64; 2] {
        self.scalar(1)
    }

    /// The element of Z/p^e.
    pub fn scalar(&self, x: u64) -> [u64; 2] {
        [x, if self.split { x } else { 0 }]
    }

    /// a + b.
    pub fn add(&self, a: [u64; 2], b: [u64; 2]) -> [u64; 2] {
        [self.modulus.add(a[0], b[0]), self.modulus.add(a[1], b[1])]
    }

    /// a - b.
    pub fn sub(&self, a: [u64; 2], b: [u64; 2]) -> [u64; 2] {
        [self.modulus.sub(a[0], b[0]), self.modulus.sub(a[1], b[1])]
    }

    /// a b.
    #[inline]
    pub fn mul(&self, a: [u64; 2], b: [u64; 2]) -> [u64; 2] {
        let t = &self.modulus;
        if self.split {
            return [t.mul(a[0], b[0]), t.mul(a[1], b[1])];
        }
        let wide = |a: u64, b: u64, c: u64, d: u64| {
            if t.last() >> 63 != 0 {
                return t.add(t.mul(a, b), t.mul(c, d));
            }
            // Two products below 2^126 each fit one reduction.
            t.reduce_u128(u128::from(a) * u128::from(b) + u128::from(c) * u128::from(d))
        };
        [wide(a[0], b[0], t.neg(a[1]), b[1]), wide(a[0], b[1], a[1], b[0])]
    }

    /// a^k; a^0 = 1.
    pub fn pow(&self, a: [u64; 2], mut k: u128) -> [u64; 2] {
        let (mut result, mut square) = (self.one(), a);
        while k > 0 {
            if k & 1 == 1 {
                result = self.mul(result, square);
            }
            square = self.mul(square, square);
            k >>= 1;
        }
        result
    }

    /// i -> -i: exchanges the components if split, negates the second one if inert.
    pub fn conjugate(&self, a: [u64; 2]) -> [u64; 2] {
        if self.split { [a[1], a[0]] } else { [a[0], self.modulus.neg(a[1])] }
    }

    /// 1 / a.
    ///
    /// # Errors
    /// [`RingError::NotInvertible`] if the norm of a is a multiple of p.
    pub fn inv(&self, a: [u64; 2]) -> Result<[u64; 2], RingError> {
        let t = &self.modulus;
        if self.split {
            return Ok([t.inv(a[0])?, t.inv(a[1])?]);
        }
        let conjugate = self.conjugate(a);
        let inverse = t.inv(self.mul(a, conjugate)[0])?;
        Ok(conjugate.map(|x| t.mul(x, inverse)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ring_axioms_conjugation_and_inverses() {
        for (p, e) in [(257, 1), (257, 7), (127, 2), (127, 8), (3, 39), (3, 40), (7, 1)] {
            let t = PrimePower::new(p, e).unwrap();
            let g = GaussianRing::new(t).unwrap();
            let x = |k: u64| t.reduce_u64(k.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let [a, b, c] = [[x(1), x(2)], [x(3), x(4)], [x(5), t.value() - 1]];
            assert_eq!(g.mul(g.mul(a, b), c), g.mul(a, g.mul(b, c)));
            assert_eq!(g.mul(a, g.add(b, c)), g.add(g.mul(a, b), g.mul(a, c)));
            assert_eq!(g.add(g.sub(a, b), b), a);
            assert_eq!(g.conjugate(g.mul(a, b)), g.mul(g.conjugate(a), g.conjugate(b)));
            assert_eq!(g.conjugate(g.scalar(x(1))), g.scalar(x(1)));
            assert_eq!(g.mul(g.scalar(x(1)), a), a.map(|y| t.mul(x(1), y)));
            assert_eq!(g.pow(a, 5), g.mul(a, g.pow(g.mul(a, a), 2)));
            // 2 + i has norm 5, a unit here.
            let unit = if g.is_split() { [2, 3] } else { [2, 1] };
            assert_eq!(g.mul(unit, g.inv(unit).unwrap()), g.one());
            assert!(g.inv([0, 0]).is_err());
            // Frobenius is conjugation where p is inert, the identity where it splits.
            if e == 1 {
                assert_eq!(g.pow(a, u128::from(p)), if g.is_split() { a } else { g.conjugate(a) });
            }
        }
        assert!(GaussianRing::new(PrimePower::new(2, 3).unwrap()).is_err());
    }
}
