//! Digit removal by interpolation on a grid, with the plaintext modulus staying p^r.
//!
//! For Δ = 2B + 1 the values l + Δ h with |l|, |h| <= B are the integers of absolute value up to (Δ^2 - 1)/2, each once, so
//! the polynomial of degree Δ^2 - 2 through (l + Δ h, h) exists as soon as Δ^2 <= p; it is odd. "Type B" of
//! Ma–Huang–Wang–Wang 2024 (ia.cr/2024/115), after Kim et al. 2024 (ia.cr/2024/109).

use everlevel_scheme::{NextUse, Scheme};

use crate::error::CircuitError;
use crate::modular::PrimePower;
use crate::poly::{DepthGoal, Polynomial, PolynomialPlan};
use crate::program::ProgramCosts;

/// Digit removal modulo p^r: u = l + (2B + 1) h to h, for |l|, |h| <= B.
#[derive(Clone, Debug, PartialEq)]
pub struct GridDigitRemoval {
    bound: u64,
    polynomial: Polynomial,
    plan: PolynomialPlan,
}

impl GridDigitRemoval {
    /// The polynomial and its plan: O(B^4) operations.
    ///
    /// # Errors
    /// [`CircuitError::OverflowBound`] unless 1 <= B and (2B + 1)^2 <= p; [`CircuitError::TooDeep`] if `goal` is out of reach.
    pub fn new(modulus: PrimePower, bound: u64, goal: DepthGoal) -> Result<Self, CircuitError> {
        let (p, t) = (modulus.prime(), modulus);
        let refuse = |reason| Err(CircuitError::OverflowBound { bound, p, reason });
        match bound {
            0 => return refuse("it must be at least 1"),
            65.. => return refuse("bounds above 64 have no sensible circuit of this kind"),
            _ if (2 * bound + 1).pow(2) > p => return refuse("the (2B + 1)^2 values of the grid must differ modulo p"),
            _ => {}
        }
        let step = 2 * bound as i64 + 1;
        let upper = |u: i64| (u + bound as i64).div_euclid(step);
        // f(u) = u Q(u^2): interpolate f(u)/u at the squares.
        let mut points = Vec::new();
        let mut values = Vec::new();
        for u in 1..=(step * step - 1) / 2 {
            points.push(t.residue(u * u));
            values.push(t.mul(t.residue(upper(u)), t.inv(t.residue(u))?));
        }
        let in_squares = Polynomial::interpolate(t, &points, &values)?;
        let polynomial = Polynomial::new(t, in_squares.coefficients().iter().flat_map(|c| [0, *c]));
        let plan = PolynomialPlan::new(std::slice::from_ref(&polynomial), goal)?;
        Ok(GridDigitRemoval { bound, polynomial, plan })
    }
    /// B.
    pub fn bound(&self) -> u64 {
        self.bound
    }
    /// Δ = 2B + 1.
    pub fn step(&self) -> u64 {
        2 * self.bound + 1
    }
    /// The polynomial, odd, of degree (2B + 1)^2 - 2 at most.
    pub fn polynomial(&self) -> &Polynomial {
        &self.polynomial
    }
    /// Depth and counts.
    pub fn costs(&self) -> ProgramCosts {
        self.plan.costs()
    }
    /// h from u = l + (2B + 1) h.
    ///
    /// # Errors
    /// Errors of the scheme, above all that the capacity does not suffice.
    pub fn remove<S: Scheme>(&self, scheme: &S, u: &S::Ciphertext, next: NextUse) -> Result<S::Ciphertext, CircuitError> {
        self.plan.evaluate(scheme, u, next)?.pop().ok_or(CircuitError::Empty { what: "the list of outputs" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clear::Clear;
    use crate::poly::Parity;

    #[test]
    fn all_values_of_the_grid_are_exact() {
        for (p, e, bound) in [(257, 1, 2i64), (257, 2, 7), (8191, 1, 12), (65537, 1, 14), (786433, 2, 8)] {
            let t = PrimePower::new(p, e).unwrap();
            let removal = GridDigitRemoval::new(t, bound as u64, DepthGoal::Least).unwrap();
            let step = 2 * bound + 1;
            assert_eq!(removal.polynomial().parity(), Parity::Odd);
            assert!(removal.polynomial().degree() as i64 <= step * step - 2);
            let grid: Vec<(i64, i64)> = (-bound..=bound).flat_map(|l| (-bound..=bound).map(move |h| (l, h))).collect();
            let scheme = Clear::with_prime(p);
            let u = scheme.encrypt(grid.iter().map(|(l, h)| t.residue(l + step * h)).collect(), e);
            let h = removal.remove(&scheme, &u, NextUse::LinearMap).unwrap();
            assert!(grid.iter().zip(&h.slots).all(|((_, want), got)| t.residue(*want) == *got), "p = {p}, B = {bound}");
            let (counts, costs) = (scheme.take_counts(), removal.costs());
            assert_eq!((counts.products, h.depth), (costs.products, costs.depth));
            assert!(costs.depth <= (removal.polynomial().degree() + 1).next_power_of_two().trailing_zeros());
        }
    }

    #[test]
    fn a_grid_larger_than_the_modulus_is_refused() {
        let t = PrimePower::new(257, 1).unwrap();
        for bound in [0, 8, 100] {
            assert!(matches!(GridDigitRemoval::new(t, bound, DepthGoal::Least), Err(CircuitError::OverflowBound { .. })));
        }
    }
}
