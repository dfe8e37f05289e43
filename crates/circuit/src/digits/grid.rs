//! Digit removal by interpolation on a grid, at the plaintext modulus p throughout: "type B".
//!
//! For Δ = 2B + 1 the values l + Δ h with |l|, |h| <= B are the integers of absolute value up to
//! (Δ^2 - 1)/2, each once, so a polynomial of degree Δ^2 - 2 through (l + Δ h, h) exists as soon as
//! Δ^2 <= p; it is odd. From Ma–Huang–Wang–Wang 2024 (ia.cr/2024/115), after Kim et al. 2024
//! (ia.cr/2024/109).
//!
//! For Δ = i with i^2 = -1 modulo p the grid is closed under the multiplication by i, which takes
//! l + i h to -h + i l. So f(i u) = l = u - i f(u), and the coefficients of f vanish but for u
//! (where it is 1/(2i)) and u^3, u^7, u^11, ..: a quarter of all, of the same degree.

use std::collections::HashSet;

use crate::error::CircuitError;
use crate::modular::PrimePower;
use crate::poly::{DepthGoal, Polynomial, PowerTable, best, candidates};
use crate::straight_line::{Circuit, CircuitBuilder};

/// The polynomial that takes u = l + Δ h to h modulo p, for |l|, |h| <= B, and its Δ.
#[derive(Clone, Debug, PartialEq)]
pub struct GridPolynomial {
    multiplier: u64,
    polynomial: Polynomial,
}

impl GridPolynomial {
    /// The polynomial for the best Δ: a square root of -1 if there is one that keeps all values
    /// apart (four times fewer coefficients), else 2B + 1. O(B^4) operations.
    ///
    /// # Errors
    /// [`CircuitError::OverflowBound`] unless 1 <= B <= 64 and (2B + 1)^2 <= p;
    /// [`CircuitError::Ring`].
    pub fn new(prime: u64, bound: u64) -> Result<Self, CircuitError> {
        let t = PrimePower::new(prime, 1)?;
        check(prime, bound)?;
        match root_of_minus_one(&t).filter(|i| is_injective(&t, bound as i64, *i)) {
            Some(i) => Self::of_order_four(t, bound as i64, i),
            None => Self::with_integers(prime, bound),
        }
    }

    /// Whether p has room for the grid: the rule of [`GridPolynomial::new`], without its tables.
    pub(crate) fn holds(prime: u64, bound: u64) -> bool {
        check(prime, bound).is_ok()
    }

    /// The polynomial for Δ = 2B + 1.
    ///
    /// # Errors
    /// As [`GridPolynomial::new`].
    pub fn with_integers(prime: u64, bound: u64) -> Result<Self, CircuitError> {
        let t = PrimePower::new(prime, 1)?;
        check(prime, bound)?;
        let (bound, step) = (bound as i64, 2 * bound as i64 + 1);
        // f(u) = u Q(u^2)
        let points = (1..=(step * step - 1) / 2).map(|u| (u, (u + bound).div_euclid(step)));
        let points = points.map(|(u, h)| {
            Ok((t.reduce_i64(u * u), t.mul(t.reduce_i64(h), t.inv(t.reduce_i64(u))?)))
        });
        let in_squares = interpolate(t, points)?;
        let polynomial = Polynomial::new(t, in_squares.coefficients().iter().flat_map(|c| [0, *c]));
        Ok(GridPolynomial { multiplier: step as u64, polynomial })
    }

    fn of_order_four(t: PrimePower, bound: i64, i: u64) -> Result<Self, CircuitError> {
        // f(u) = u / (2i) + u^3 Q(u^4): one value of each orbit, h > 0 and l >= 0, determines Q.
        let linear = t.inv(t.mul(2, i))?;
        let orbits = (1..=bound).flat_map(|h| (0..=bound).map(move |l| (l, h)));
        let points = orbits.map(|(l, h)| {
            let u = t.add(t.reduce_i64(l), t.mul(i, t.reduce_i64(h)));
            let rest = t.sub(t.reduce_i64(h), t.mul(linear, u));
            Ok((t.pow(u, 4), t.mul(rest, t.inv(t.pow(u, 3))?)))
        });
        let in_fourths = interpolate(t, points)?;
        let mut coefficients: Vec<u64> =
            in_fourths.coefficients().iter().flat_map(|c| [0, 0, 0, *c]).collect();
        coefficients.resize(coefficients.len().max(2), 0);
        coefficients[1] = linear;
        Ok(GridPolynomial { multiplier: i, polynomial: Polynomial::new(t, coefficients) })
    }

    /// Δ.
    pub fn multiplier(&self) -> u64 {
        self.multiplier
    }

    /// The polynomial, odd, of degree (2B + 1)^2 - 2 at most.
    pub fn polynomial(&self) -> &Polynomial {
        &self.polynomial
    }

    /// Its evaluation by baby and giant powers.
    pub(crate) fn program(&self, goal: DepthGoal) -> Result<Circuit, CircuitError> {
        let mut builder = CircuitBuilder::new();
        let powers = PowerTable::new(builder.input(1));
        let programs = candidates(&builder, &powers, std::slice::from_ref(&self.polynomial))
            .map(|candidate| candidate.and_then(|c| c.builder.finish(&c.outputs)));
        best(programs, goal)
    }
}

fn check(p: u64, bound: u64) -> Result<(), CircuitError> {
    let refuse = |reason| Err(CircuitError::OverflowBound { bound, p, reason });
    match bound {
        0 => refuse("it must be at least 1"),
        65.. => refuse("bounds above 64 have no sensible circuit on the grid"),
        _ if (2 * bound + 1).pow(2) > p => {
            refuse("the (2B + 1)^2 values of the grid must differ modulo p")
        }
        _ => Ok(()),
    }
}

fn interpolate(
    t: PrimePower,
    pairs: impl Iterator<Item = Result<(u64, u64), CircuitError>>,
) -> Result<Polynomial, CircuitError> {
    let (points, values): (Vec<u64>, Vec<u64>) =
        pairs.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
    Polynomial::interpolate(t, &points, &values)
}

/// The smaller square root of -1 modulo a prime, if there is one.
fn root_of_minus_one(t: &PrimePower) -> Option<u64> {
    let p = t.value();
    if p % 4 != 1 {
        return None;
    }
    // Half of all residues give a root if p is prime; a composite p may have none.
    let root = (2..100).map(|a| t.pow(a, (p - 1) / 4)).find(|i| t.mul(*i, *i) == p - 1)?;
    Some(root.min(p - root))
}

fn is_injective(t: &PrimePower, bound: i64, multiplier: u64) -> bool {
    let mut seen = HashSet::new();
    (-bound..=bound).all(|h| {
        let shift = t.mul(multiplier, t.reduce_i64(h));
        (-bound..=bound).all(|l| seen.insert(t.add(t.reduce_i64(l), shift)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::poly::Parity;

    #[test]
    fn all_values_of_the_grid_are_exact() {
        let sets_iv_and_v = [(8191, 22), (8191, 23), (65537, 22), (65537, 23)];
        let others = [
            (257, 1i64),
            (257, 2),
            (257, 7),
            (8191, 12),
            (12289, 12),
            (65537, 4),
            (65537, 14),
            (786433, 8),
        ];
        for (p, bound) in others.into_iter().chain(sets_iv_and_v) {
            let t = PrimePower::new(p, 1).unwrap();
            let step = 2 * bound + 1;
            for grid in [
                GridPolynomial::new(p, bound as u64).unwrap(),
                GridPolynomial::with_integers(p, bound as u64).unwrap(),
            ] {
                let f = grid.polynomial();
                assert_eq!(
                    (f.parity(), f.has_order_four()),
                    (Parity::Odd, t.pow(grid.multiplier(), 2) == p - 1),
                    "p = {p}, B = {bound}"
                );
                assert!(f.degree() as i64 <= step * step - 2);
                for (l, h) in (-bound..=bound).flat_map(|l| (-bound..=bound).map(move |h| (l, h))) {
                    assert_eq!(
                        f.evaluate(t.reduce_i64(l + grid.multiplier() as i64 * h)),
                        t.reduce_i64(h),
                        "p = {p}, B = {bound}"
                    );
                }
            }
        }
    }

    #[test]
    fn multipliers_are_roots_of_minus_one_where_possible() {
        let multiplier = |p, bound| GridPolynomial::new(p, bound).unwrap().multiplier();
        assert_eq!(
            (multiplier(257, 7), multiplier(65537, 14), multiplier(8191, 12)),
            (16, 256, 25)
        );
    }

    #[test]
    fn a_grid_larger_than_the_modulus_is_refused() {
        for bound in [0, 8, 100] {
            assert!(matches!(
                GridPolynomial::new(257, bound),
                Err(CircuitError::OverflowBound { .. })
            ));
        }
    }
}
