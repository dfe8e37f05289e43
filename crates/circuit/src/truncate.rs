//! Truncation and rounding of integers in slots: digit removal as an application.
//!
//! Slots hold integers modulo p^r; Chen and Han 2018 (ia.cr/2018/067, section 1.2) propose their
//! digit removal for truncating fixed-point numbers in encrypted machine learning. All functions
//! are exact on the stated ranges, and work with any scheme.

use everlevel_scheme::{Arithmetic, NextUse, PlainModulus};

use crate::digits::{DigitKind, DigitMethod, DigitProblem, DigitRemoval, digit_polynomial};
use crate::error::CircuitError;
use crate::modular::PrimePower;
use crate::poly::{DepthGoal, PolynomialPlan};
use crate::range::ValueRange;
use crate::straight_line::CircuitCosts;

/// Division of integers modulo p^r by p^v, rounded to the nearest integer or down.
///
/// It costs one digit removal of v digits out of r, with its depth and products. The result is
/// modulo p^(r-v).
///
/// ```
/// use everlevel_circuit::Truncation;
/// use everlevel_circuit::digits::{DigitKind, DigitMethod};
///
/// // Fixed-point numbers with two digits to the base 17, and one after the point: one is to be
/// // dropped after a product.
/// let truncation = Truncation::new(17, 3, 1, DigitMethod::new(DigitKind::ChenHan))?;
/// assert_eq!((truncation.costs().depth, truncation.costs().products), (6, 11));
/// # Ok::<(), everlevel_circuit::CircuitError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Truncation {
    modulus: PrimePower,
    /// (p^v - 1)/2, or 2^(v-1): from the nearest multiple to the one below.
    half: i64,
    /// v.
    removed: u32,
    removal: DigitRemoval,
}

impl Truncation {
    /// The division of integers modulo p^r by p^v.
    ///
    /// # Errors
    /// As [`DigitRemoval::for_problem`] for all values of the v low digits; so closed forms are for
    /// v = 1 and odd p.
    pub fn new(p: u64, r: u32, v: u32, method: DigitMethod) -> Result<Self, CircuitError> {
        let problem = DigitProblem::all_digits(p, r, v);
        let removal = DigitRemoval::for_problem(problem, method)?;
        let (modulus, half) = (problem.modulus()?, problem.bound as i64);
        Ok(Truncation { modulus, half, removed: v, removal })
    }

    /// Depth and number of operations, the same for both roundings.
    pub fn costs(&self) -> CircuitCosts {
        self.removal.costs()
    }

    /// x / p^v to the nearest integer, modulo p^(r-v): (x - i)/p^v for the balanced v low digits i
    /// of x. A tie, possible for p = 2 only, goes up.
    ///
    /// The residue of least absolute value, -p^r/2 <= x < p^r/2, has the residue of least absolute
    /// value for result, except that for p = 2 the largest numbers round up to 2^(r-v-1), which is
    /// -2^(r-v-1).
    ///
    /// # Errors
    /// As [`DigitRemoval::remove`].
    pub fn round<S: Arithmetic + PlainModulus>(
        &self,
        scheme: &S,
        x: &S::Ciphertext,
        next: NextUse,
    ) -> Result<S::Ciphertext, CircuitError> {
        self.removal.remove(scheme, x, next)
    }

    /// The largest integer not above x / p^v, modulo p^(r-v): for 0 <= x < p^r the upper r - v
    /// digits in the usual notation.
    ///
    /// # Errors
    /// As [`DigitRemoval::remove`].
    pub fn floor<S: Arithmetic + PlainModulus>(
        &self,
        scheme: &S,
        x: &S::Ciphertext,
        next: NextUse,
    ) -> Result<S::Ciphertext, CircuitError> {
        let shifted = scheme.add_scalar(x, -self.half)?;
        self.removal.remove(scheme, &shifted, next)
    }

    /// The plaintext modulus p^r of the dividend.
    pub fn modulus(&self) -> PrimePower {
        self.modulus
    }

    /// The range of the results of [`Truncation::round`] for integers of this range.
    pub(crate) fn rounded(
        &self,
        range: Option<ValueRange>,
    ) -> Result<Option<ValueRange>, CircuitError> {
        self.quotients(range, i128::from(self.divisor() / 2))
    }

    /// The range of the results of [`Truncation::floor`] for integers of this range.
    pub(crate) fn floored(
        &self,
        range: Option<ValueRange>,
    ) -> Result<Option<ValueRange>, CircuitError> {
        self.quotients(range, 0)
    }

    fn divisor(&self) -> u64 {
        self.modulus.prime().pow(self.removed)
    }

    fn quotients(
        &self,
        range: Option<ValueRange>,
        shift: i128,
    ) -> Result<Option<ValueRange>, CircuitError> {
        let t = self.modulus.wide();
        match range.filter(|range| range.fits(t)) {
            Some(range) => Ok(Some(range.quotient(shift, self.divisor().into()))),
            None => Err(CircuitError::Range {
                operation: "truncation",
                found: found(range),
                allowed: format!("at most {t} integers"),
            }),
        }
    }
}

/// The lowest digit of integers modulo p^r set to zero in place: x - i for the balanced lowest
/// digit i (for p = 2 the lowest bit), still modulo p^r.
///
/// Only the lowest digit is possible in this way: x minus its two lowest digits is not a polynomial
/// in x modulo p^r, and a ciphertext that was divided cannot be multiplied back to the larger
/// modulus. One odd polynomial of degree (r - 1)(p - 1) + 1, for p = 2 an even one.
#[derive(Clone, Debug, PartialEq)]
pub struct ClearLowestDigit {
    digit: PolynomialPlan,
}

impl ClearLowestDigit {
    /// For numbers modulo p^r, r >= 2.
    ///
    /// # Errors
    /// [`CircuitError::Ring`], [`CircuitError::DigitProblem`] for r = 1 and where p r is above
    /// 8192, [`CircuitError::Ring`] if p is no prime.
    pub fn new(p: u64, r: u32) -> Result<Self, CircuitError> {
        DigitMethod::new(DigitKind::Geelen).check(&DigitProblem::all_digits(p, r, 1))?;
        let polynomial = digit_polynomial(PrimePower::new(p, r)?, 1, p / 2)?;
        Ok(ClearLowestDigit { digit: PolynomialPlan::new(&[polynomial], DepthGoal::Least)? })
    }

    /// Depth and counts.
    pub fn costs(&self) -> CircuitCosts {
        self.digit.costs()
    }

    /// x - i.
    ///
    /// # Errors
    /// As [`PolynomialPlan::evaluate`].
    pub fn apply<S: Arithmetic + PlainModulus>(
        &self,
        scheme: &S,
        x: &S::Ciphertext,
    ) -> Result<S::Ciphertext, CircuitError> {
        let digits = self.digit.evaluate(scheme, x, NextUse::Keep)?;
        let digit = digits.first().ok_or(CircuitError::Empty { what: "the list of outputs" })?;
        Ok(scheme.sub(x, digit)?)
    }
}

/// A range as messages show it.
pub(crate) fn found(range: Option<ValueRange>) -> String {
    range.map_or_else(|| "unknown".into(), |range| range.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use everlevel_testing::ResidueScheme;

    const CHEN_HAN: DigitMethod = DigitMethod::new(DigitKind::ChenHan);
    const GEELEN: DigitMethod = DigitMethod::new(DigitKind::Geelen);
    const CLOSED: DigitMethod = DigitMethod::new(DigitKind::PatersonStockmeyer);

    /// All integers from `first` on, once each modulo p^r.
    fn integers(p: u64, r: u32, first: i64) -> Vec<i64> {
        (first..first + p.pow(r) as i64).collect()
    }

    #[test]
    fn integers_are_divided_to_the_nearest_and_down() {
        for (p, r, v, method) in [
            (3, 2, 1, CLOSED),
            (3, 4, 2, CHEN_HAN),
            (3, 4, 3, GEELEN),
            (5, 3, 1, CLOSED),
            (5, 4, 3, CHEN_HAN),
            (7, 3, 2, GEELEN),
            (17, 4, 2, CHEN_HAN),
            (17, 4, 3, GEELEN),
            (2, 10, 4, CHEN_HAN),
            (2, 10, 7, GEELEN),
        ] {
            let scheme = ResidueScheme::new(p);
            let truncation = Truncation::new(p, r, v, method).unwrap();
            let step = p.pow(v) as i64;
            let half = p.pow(r) as i64 / 2;
            let xs = integers(p, r, -half);
            let rounded =
                truncation.round(&scheme, &scheme.encrypt_signed(&xs, r), NextUse::Keep).unwrap();
            assert_eq!(rounded.modulus, PrimePower::new(p, r - v).unwrap());
            for (x, y) in xs.iter().zip(rounded.centered()) {
                let nearest = (2 * x + step).div_euclid(2 * step);
                assert_eq!(
                    y,
                    rounded.modulus.centered(rounded.modulus.reduce_i64(nearest)),
                    "{x} / {p}^{v}"
                );
                assert!(p == 2 || y == nearest, "no overflow");
            }
            let xs = integers(p, r, 0);
            let floor =
                truncation.floor(&scheme, &scheme.encrypt_signed(&xs, r), NextUse::Keep).unwrap();
            assert!(
                xs.iter().zip(&floor.values).all(|(x, y)| *y as i64 == x / step),
                "p = {p}, r = {r}, v = {v}"
            );
            assert_eq!(floor.depth, truncation.costs().depth);
        }
        assert!(matches!(
            Truncation::new(5, 4, 3, CLOSED),
            Err(CircuitError::OverflowBound { .. })
        ));
        assert!(matches!(
            Truncation::new(5, 2, 2, CHEN_HAN),
            Err(CircuitError::DigitProblem { .. })
        ));
    }

    #[test]
    fn the_lowest_digit_is_cleared_in_place() {
        for (p, r) in [(2, 2), (2, 9), (3, 4), (5, 3), (17, 3)] {
            let scheme = ResidueScheme::new(p);
            let plan = ClearLowestDigit::new(p, r).unwrap();
            let xs = integers(p, r, -(p.pow(r) as i64) / 2);
            let x = scheme.encrypt_signed(&xs, r);
            let y = plan.apply(&scheme, &x).unwrap();
            for (x, y) in xs.iter().zip(&y.values) {
                let low = if p == 2 {
                    x.rem_euclid(2)
                } else {
                    (x + p as i64 / 2).rem_euclid(p as i64) - p as i64 / 2
                };
                assert_eq!(*y, PrimePower::new(p, r).unwrap().reduce_i64(x - low));
            }
            assert_eq!((y.modulus, y.depth), (x.modulus, plan.costs().depth));
        }
        for (p, r) in [(5, 1), (65537, 2), (5, 2000)] {
            assert!(ClearLowestDigit::new(p, r).is_err());
        }
    }
}
