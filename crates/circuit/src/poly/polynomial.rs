//! Polynomials as their coefficients.

use crate::error::CircuitError;
use crate::modular::PrimePower;

/// A polynomial with coefficients modulo p^e, lowest first, without leading zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Polynomial {
    modulus: PrimePower,
    coefficients: Vec<u64>,
}

/// Which coefficients of a polynomial are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parity {
    /// Only even powers: Q(x^2).
    Even,
    /// Only odd powers: x Q(x^2).
    Odd,
    /// Both.
    Mixed,
}

impl Polynomial {
    /// The polynomial with these coefficients, lowest first; they are reduced.
    pub fn new(modulus: PrimePower, coefficients: impl IntoIterator<Item = u64>) -> Self {
        let mut coefficients: Vec<u64> =
            coefficients.into_iter().map(|c| modulus.reduce_u64(c)).collect();
        while coefficients.last() == Some(&0) {
            coefficients.pop();
        }
        Polynomial { modulus, coefficients }
    }

    /// Π (x - a) over the given roots: O(n^2).
    pub fn from_roots(modulus: PrimePower, roots: impl IntoIterator<Item = u64>) -> Self {
        let one = Polynomial::new(modulus, [1]);
        roots.into_iter().fold(one, |f, a| f.times_linear(modulus.sub(0, a)))
    }

    /// The polynomial of least degree with the given values at the given points: O(n^2), Newton's
    /// form.
    ///
    /// # Errors
    /// [`CircuitError::Ring`] if two points agree modulo p; [`CircuitError::SlotCount`] if there
    /// are not as many values as points.
    pub fn interpolate(
        modulus: PrimePower,
        points: &[u64],
        values: &[u64],
    ) -> Result<Self, CircuitError> {
        let (n, t) = (points.len(), modulus);
        if values.len() != n {
            return Err(CircuitError::SlotCount { expected: n, found: values.len() });
        }
        // Of the points that are left: what the form so far lacks of the value, and the product of
        // the differences from all points before.
        let mut rest: Vec<u64> = values.iter().map(|v| t.reduce_u64(*v)).collect();
        let mut products = vec![1; n];
        for k in 0..n {
            let inverse = t.inv(products[k]).map_err(|error| {
                // Report the difference without an inverse, not the product.
                let before = &points[..k];
                before.iter().find_map(|x| t.inv(t.sub(points[k], *x)).err()).unwrap_or(error)
            })?;
            let (found, left) = rest[k..].split_first_mut().expect("k is below n");
            *found = t.mul(*found, inverse);
            let next = left.iter_mut().zip(&mut products[k + 1..]).zip(&points[k + 1..]);
            for ((rest, product), x) in next {
                *rest = t.sub(*rest, t.mul(*found, *product));
                *product = t.mul(*product, t.sub(*x, points[k]));
            }
        }
        Ok(Polynomial::from_newton(t, points, &rest))
    }

    /// (x + c) times the polynomial.
    fn times_linear(&self, c: u64) -> Self {
        let t = self.modulus;
        let shifted = std::iter::once(0).chain(self.coefficients.iter().copied());
        let scaled = self.coefficients.iter().map(|a| t.mul(*a, c)).chain(std::iter::once(0));
        Polynomial::new(t, shifted.zip(scaled).map(|(a, b)| t.add(a, b)))
    }

    /// The plaintext modulus.
    pub fn modulus(&self) -> PrimePower {
        self.modulus
    }

    /// The coefficients, lowest first; empty for the zero polynomial.
    pub fn coefficients(&self) -> &[u64] {
        &self.coefficients
    }

    /// The degree; 0 for constants, the zero polynomial among them.
    pub fn degree(&self) -> usize {
        self.coefficients.len().saturating_sub(1)
    }

    /// The same coefficients, centered, modulo another power of p: what was exact modulo p^k is so
    /// still, with constants no larger.
    pub(crate) fn with_modulus(&self, modulus: PrimePower) -> Self {
        Polynomial::new(
            modulus,
            self.coefficients.iter().map(|c| modulus.reduce_i64(self.modulus.centered(*c))),
        )
    }

    /// Which coefficients are zero. Constants are even.
    pub fn parity(&self) -> Parity {
        let zero = |rest: usize| self.coefficients.iter().skip(rest).step_by(2).all(|c| *c == 0);
        match (zero(1), zero(0)) {
            (true, _) => Parity::Even,
            (false, true) => Parity::Odd,
            _ => Parity::Mixed,
        }
    }

    /// Whether it is c x + x^3 Q(x^4), as are the polynomials with f(i x) = x - i f(x) for a square
    /// root i of -1.
    pub fn has_order_four(&self) -> bool {
        self.coefficients.iter().enumerate().all(|(k, c)| *c == 0 || k == 1 || k % 4 == 3)
    }

    /// The value at `x`, by Horner's rule.
    pub fn evaluate(&self, x: u64) -> u64 {
        let t = self.modulus;
        self.coefficients.iter().rev().fold(0, |acc, c| t.add(t.mul(acc, x), *c))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use everlevel_testing::SplitMix;

    #[test]
    fn interpolation_meets_its_values() {
        let mut rng = SplitMix(3);
        for (p, e) in [(257, 1), (257, 2), (786433, 2)] {
            let t = PrimePower::new(p, e).unwrap();
            let points: Vec<u64> = (0..40).map(|i| t.reduce_i64(i * 3 - 50)).collect();
            let values: Vec<u64> = (0..40).map(|_| rng.below(t.value())).collect();
            let f = Polynomial::interpolate(t, &points, &values).unwrap();
            assert!(f.degree() < 40);
            assert!(points.iter().zip(&values).all(|(x, y)| f.evaluate(*x) == *y));
            let doubled = [points.clone(), vec![points[0] + p]].concat();
            assert!(matches!(
                Polynomial::interpolate(t, &doubled, &[0; 41]),
                Err(CircuitError::Ring(_))
            ));
            assert!(Polynomial::interpolate(t, &points, &[0]).is_err());
        }
    }

    #[test]
    fn parity_and_roots() {
        let t = PrimePower::new(257, 1).unwrap();
        let roots = |b: i64| Polynomial::from_roots(t, (-b..=b).map(|l| t.reduce_i64(l)));
        assert_eq!((roots(4).parity(), roots(4).degree()), (Parity::Odd, 9));
        assert_eq!(Polynomial::new(t, [3, 0, 1, 0, 0]).parity(), Parity::Even);
        assert_eq!(Polynomial::new(t, [3, 1]).parity(), Parity::Mixed);
        assert_eq!(Polynomial::new(t, []).parity(), Parity::Even);
        assert!((-4..=4).all(|l| roots(4).evaluate(t.reduce_i64(l)) == 0));
    }
}
