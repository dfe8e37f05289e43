//! Newton's form, and interpolation in points that may agree modulo p.

use everlevel_ring::RingError;

use super::polynomial::Polynomial;
use crate::error::CircuitError;
use crate::modular::PrimePower;

impl Polynomial {
    /// Σ c_k Π_{j<k} (x - a_j): O(n^2) operations. There must be at least as many nodes a_j as
    /// coefficients, less one.
    pub(crate) fn from_newton(t: PrimePower, nodes: &[u64], coefficients: &[u64]) -> Self {
        let mut f: Vec<u64> = Vec::with_capacity(coefficients.len());
        for (k, c) in coefficients.iter().enumerate().rev() {
            // f (x - a) + c, from the top coefficient down.
            f.push(0);
            let minus_a = t.sub(0, nodes.get(k).copied().unwrap_or(0));
            for i in (0..f.len()).rev() {
                let below = if i == 0 { *c } else { f[i - 1] };
                f[i] = t.add(below, t.mul(f[i], minus_a));
            }
        }
        Polynomial::new(t, f)
    }

    /// The polynomial of least degree with f(a) = b for the pairs (a, b) and for every other point
    /// that they stand for.
    ///
    /// The points are to be a p-ordering of a set S (Bhargava 1997): each a_k makes the valuation
    /// ν_k of Π_{j<k} (a_k - a_j) least among all points of S. Then this product divides its values
    /// at all of S, the polynomials p^(e - ν_k) Π_{j<k} (x - a_j) generate the ideal of those that
    /// vanish on S, and Newton's coefficient c_k matters modulo p^(e - ν_k) only. Reading stops at
    /// the first ν_k >= e. O(n^2) operations for n points, and no linear algebra.
    ///
    /// The least residues of the c_k are taken, which makes the degree least.
    ///
    /// # Errors
    /// [`CircuitError::Ring`] if no polynomial has these values.
    pub(crate) fn interpolate_ordering(
        t: PrimePower,
        pairs: impl IntoIterator<Item = (u64, u64)>,
    ) -> Result<Self, CircuitError> {
        let (mut nodes, mut coefficients): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
        for (a, b) in pairs {
            // The value so far and Π (a - a_j), both modulo p^e.
            let (mut value, mut product) = (0, 1);
            for (node, c) in nodes.iter().zip(&coefficients) {
                if *c != 0 {
                    value = t.add(value, t.mul(*c, product));
                }
                product = t.mul(product, t.sub(a, *node));
            }
            if product == 0 {
                break;
            }
            let divisor = p_part(&t, product);
            let rest = t.sub(b, value);
            if !rest.is_multiple_of(divisor) {
                return Err(RingError::NotInvertible { value: product, modulus: t.wide() }.into());
            }
            let c = t.mul(rest / divisor, t.inv(product / divisor)?);
            nodes.push(a);
            coefficients.push((u128::from(c) % (t.wide() / u128::from(divisor))) as u64);
        }
        Ok(Polynomial::from_newton(t, &nodes, &coefficients))
    }
}

/// The largest power of p that divides x, 1 <= x < p^e.
pub(crate) fn p_part(t: &PrimePower, x: u64) -> u64 {
    let (mut divisor, mut rest) = (1, x);
    while rest.is_multiple_of(t.prime()) {
        (divisor, rest) = (divisor * t.prime(), rest / t.prime());
    }
    divisor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_vanishes_is_divided_out() {
        for (p, e) in [(5u64, 1), (5, 2), (5, 4), (3, 5), (2, 9)] {
            let t = PrimePower::new(p, e).unwrap();
            let power = |a: u64| t.pow(a, p.pow(e));
            let f = Polynomial::interpolate_ordering(t, (0..).map(|a| (a % t.value(), power(a))))
                .unwrap();
            assert!((0..t.value()).all(|a| f.evaluate(a) == power(a)), "{p}^{e}");
            // Below the first k with p^e | k!.
            let mut factorial = (1..).scan(1, |product, k| {
                *product = t.mul(*product, k);
                Some(*product)
            });
            assert!(f.degree() <= factorial.position(|x| x == 0).unwrap());
            assert_eq!(f.degree() == 1, e == 1, "x^p = x modulo p, and no further");
        }
    }

    #[test]
    fn functions_that_are_no_polynomials_are_refused() {
        // The upper bit of x modulo 4 depends on more than x modulo 2, by more than 2.
        let t = PrimePower::new(2, 2).unwrap();
        let upper = (0..4u64).map(|a| (a, a / 2));
        assert!(matches!(
            Polynomial::interpolate_ordering(t, upper),
            Err(CircuitError::Ring(everlevel_ring::RingError::NotInvertible { .. }))
        ));
    }
}
