//! Truncation, rounding and comparison of integers in slots: digit removal as an application.
//!
//! Slots hold integers modulo p^r; Chen and Han 2018 (ia.cr/2018/067, section 1.2) propose their
//! digit removal for truncating fixed-point numbers in encrypted machine learning. Everything here
//! is exact on the ranges it states, and works on any scheme.

use everlevel_scheme::{Arithmetic, NextUse, PlainModulus};

use crate::digits::{
    DigitKind, DigitMethod, DigitProblem, DigitRemoval, SENSIBLE_POINTS, digit_polynomial,
};
use crate::error::CircuitError;
use crate::modular::PrimePower;
use crate::poly::{DepthGoal, Polynomial, PolynomialPlan};
use crate::range::ValueRange;
use crate::straight_line::CircuitCosts;

/// Division of integers modulo p^r by p^v: to the nearest, or down.
///
/// One digit removal of v digits of r: its depth and products. The result is modulo p^(r-v).
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
    /// The division by p^v of numbers modulo p^r.
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

    /// Depth and counts, of either division.
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

    /// The modulus p^r of what is divided.
    pub fn modulus(&self) -> PrimePower {
        self.modulus
    }

    /// The range of [`Truncation::round`] for integers of this one.
    pub(crate) fn rounded(
        &self,
        range: Option<ValueRange>,
    ) -> Result<Option<ValueRange>, CircuitError> {
        self.quotients(range, i128::from(self.divisor() / 2))
    }

    /// The range of [`Truncation::floor`] for integers of this one.
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
        let t = self.modulus.value();
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
/// Only the lowest: x less its two lowest digits is no polynomial in x modulo p^r, and a ciphertext
/// that was divided cannot be multiplied back to the larger modulus. One odd polynomial of degree
/// (r - 1)(p - 1) + 1, for p = 2 an even one.
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

/// Comparison of integers modulo p^r, p odd: the sign of a number, and which of two is less, as 0
/// and 1 (or -1) modulo p.
///
/// Numbers x with -T <= x < T for T = p^(r-1) (p - 1)/2 are understood: all residues but those of
/// p^(r-1) consecutive integers. The r - 1 low digits are removed, rounding down, which leaves an
/// integer d with -(p - 1)/2 <= d < (p - 1)/2 of the sign of x; 2d + 1 is symmetric and not zero,
/// so its sign is an odd polynomial of degree p - 2 modulo p. One digit removal, and one
/// polynomial; for r = 1 the polynomial only.
///
/// Here nothing is known of the numbers but their residues: others than those are answered, too,
/// and wrongly. [`Session::is_negative`](crate::Session::is_negative) and its like go by the ranges
/// of values and refuse them.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    range: i64,
    prime: PrimePower,
    truncation: Option<Truncation>,
    /// In d: 1 for d >= 0, else 0, as (1 + s(2d + 1))/2.
    step: PolynomialPlan,
}

impl Comparison {
    /// For numbers modulo p^r.
    ///
    /// # Errors
    /// [`CircuitError::DigitProblem`] for p = 2 and for p above 8192, where the polynomial has no
    /// sensible circuit; [`CircuitError::Ring`] if p is no prime; as [`Truncation::new`] for v =
    /// r - 1 (a `method` that does not remove r - 1 digits of r).
    pub fn new(p: u64, r: u32, method: DigitMethod) -> Result<Self, CircuitError> {
        let (modulus, prime) = (PrimePower::new(p, r)?, PrimePower::new(p, 1)?);
        if p == 2 || p > SENSIBLE_POINTS {
            let reason = "signs are told for odd p below 8192";
            return Err(CircuitError::DigitProblem { p, e: r, v: r - 1, bound: p / 2, reason });
        }
        let truncation = if r == 1 { None } else { Some(Truncation::new(p, r, r - 1, method)?) };
        let range = (modulus.value() / p * ((p - 1) / 2)) as i64;
        Ok(Comparison {
            range,
            prime,
            truncation,
            step: PolynomialPlan::new(&[half_sign(prime)?], DepthGoal::Least)?,
        })
    }

    /// T: numbers from -T on and below T are compared with zero.
    pub fn range(&self) -> i64 {
        self.range
    }

    /// Passes a range of numbers x with -T <= x < T.
    ///
    /// # Errors
    /// [`CircuitError::Range`] for one that is unknown or larger.
    pub fn check(&self, range: Option<ValueRange>) -> Result<(), CircuitError> {
        let (low, high) = (-i128::from(self.range), i128::from(self.range) - 1);
        match range {
            Some(range) if low <= range.low() && range.high() <= high => Ok(()),
            _ => Err(CircuitError::Range {
                operation: "comparison",
                found: found(range),
                allowed: format!("a range, of a difference for two operands, within {low}..{high}"),
            }),
        }
    }

    /// Depth and counts of [`Comparison::is_negative`] and [`Comparison::less_than`].
    /// [`Comparison::sign`] takes twice the products.
    pub fn costs(&self) -> CircuitCosts {
        let (first, second) = (
            self.truncation.as_ref().map(Truncation::costs).unwrap_or_default(),
            self.step.costs(),
        );
        CircuitCosts {
            depth: first.depth + second.depth,
            products: first.products + second.products,
            relinearizations: first.relinearizations + second.relinearizations,
            scalar_products: first.scalar_products + second.scalar_products,
        }
    }

    /// 1 modulo p where x < 0, else 0, for -T <= x < T.
    ///
    /// # Errors
    /// As [`DigitRemoval::remove`].
    pub fn is_negative<S: Arithmetic + PlainModulus>(
        &self,
        scheme: &S,
        x: &S::Ciphertext,
    ) -> Result<S::Ciphertext, CircuitError> {
        // (1 - s)/2
        let half = self.prime.centered(self.prime.value().div_ceil(2));
        Ok(scheme.add_scalar(&scheme.neg(&self.half_sign_of(scheme, x)?)?, half)?)
    }

    /// 1 modulo p where a < b, else 0, for -T <= a - b < T: as when both are from 0 to T, T not
    /// included.
    ///
    /// # Errors
    /// As [`DigitRemoval::remove`].
    pub fn less_than<S: Arithmetic + PlainModulus>(
        &self,
        scheme: &S,
        a: &S::Ciphertext,
        b: &S::Ciphertext,
    ) -> Result<S::Ciphertext, CircuitError> {
        self.is_negative(scheme, &scheme.sub(a, b)?)
    }

    /// -1, 0 or 1 modulo p: the sign of x, for -T < x < T. Two evaluations: at x and at x - 1.
    ///
    /// # Errors
    /// As [`DigitRemoval::remove`].
    pub fn sign<S: Arithmetic + PlainModulus>(
        &self,
        scheme: &S,
        x: &S::Ciphertext,
    ) -> Result<S::Ciphertext, CircuitError> {
        let below = scheme.add_scalar(x, -1)?;
        Ok(scheme.add(&self.half_sign_of(scheme, x)?, &self.half_sign_of(scheme, &below)?)?)
    }

    /// 1/2 modulo p for 0 <= x < T, -1/2 for -T <= x < 0.
    fn half_sign_of<S: Arithmetic + PlainModulus>(
        &self,
        scheme: &S,
        x: &S::Ciphertext,
    ) -> Result<S::Ciphertext, CircuitError> {
        let digit = match &self.truncation {
            Some(truncation) => truncation.floor(scheme, x, NextUse::Product)?,
            None => x.clone(),
        };
        let odd = scheme.linear_combination(&[(&digit, 2)], 1)?;
        self.step
            .evaluate(scheme, &odd, NextUse::Keep)?
            .pop()
            .ok_or(CircuitError::Empty { what: "the list of outputs" })
    }
}

/// What is known of a range.
fn found(range: Option<ValueRange>) -> String {
    range.map_or_else(|| "that is not known".into(), |range| range.to_string())
}

/// The odd polynomial of degree p - 2 that is 1/2 at 1, 3, .., p - 2 and -1/2 at their negatives.
fn half_sign(t: PrimePower) -> Result<Polynomial, CircuitError> {
    let half = t.inv(2)?;
    let mut points = Vec::new();
    let mut values = Vec::new();
    for x in (1..t.value()).step_by(2) {
        points.push(t.mul(x, x));
        values.push(t.mul(half, t.inv(x)?));
    }
    let in_squares = Polynomial::interpolate(t, &points, &values)?;
    Ok(Polynomial::new(t, in_squares.coefficients().iter().flat_map(|c| [0, *c])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use everlevel_testing::{ResidueScheme, ResidueVector};

    const CHEN_HAN: DigitMethod = DigitMethod::new(DigitKind::ChenHan);
    const GEELEN: DigitMethod = DigitMethod::new(DigitKind::Geelen);
    const CLOSED: DigitMethod = DigitMethod::new(DigitKind::PatersonStockmeyer);

    /// All integers from `first` on, once each modulo p^r.
    fn integers(p: u64, r: u32, first: i64) -> Vec<i64> {
        (first..first + p.pow(r) as i64).collect()
    }

    fn encrypt(scheme: &ResidueScheme, p: u64, r: u32, xs: &[i64]) -> ResidueVector {
        let t = PrimePower::new(p, r).unwrap();
        scheme.encrypt(xs.iter().map(|x| t.reduce_i64(*x)).collect(), r)
    }

    fn centered(y: &ResidueVector) -> Vec<i64> {
        y.values.iter().map(|x| y.modulus.centered(*x)).collect()
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
                truncation.round(&scheme, &encrypt(&scheme, p, r, &xs), NextUse::Keep).unwrap();
            assert_eq!(rounded.modulus, PrimePower::new(p, r - v).unwrap());
            for (x, y) in xs.iter().zip(centered(&rounded)) {
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
                truncation.floor(&scheme, &encrypt(&scheme, p, r, &xs), NextUse::Keep).unwrap();
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
            let x = encrypt(&scheme, p, r, &xs);
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

    #[test]
    fn signs_and_comparisons_are_exact_on_their_range() {
        for (p, r, method) in [
            (3, 1, CHEN_HAN),
            (3, 2, CLOSED),
            (3, 3, CHEN_HAN),
            (3, 4, GEELEN),
            (5, 2, GEELEN),
            (5, 4, CHEN_HAN),
            (7, 1, GEELEN),
            (17, 2, CLOSED),
            (17, 3, GEELEN),
            (17, 4, CHEN_HAN),
        ] {
            let scheme = ResidueScheme::new(p);
            let comparison = Comparison::new(p, r, method).unwrap();
            let range = comparison.range();
            assert_eq!(range, p.pow(r - 1) as i64 * (p as i64 - 1) / 2);
            let xs: Vec<i64> = (-range..range).collect();
            let x = encrypt(&scheme, p, r, &xs);
            scheme.take_counts();
            let negative = comparison.is_negative(&scheme, &x).unwrap();
            let (costs, counts) = (comparison.costs(), scheme.take_counts());
            assert_eq!(
                (counts, negative.depth),
                ((costs.products, costs.relinearizations), costs.depth)
            );
            assert!(
                xs.iter().zip(&negative.values).all(|(x, y)| *y == u64::from(*x < 0)),
                "p = {p}, r = {r}"
            );
            assert_eq!(negative.modulus.exponent(), 1);
            let signs = centered(&comparison.sign(&scheme, &x).unwrap());
            assert!(xs.iter().zip(signs).skip(1).all(|(x, y)| y == x.signum()), "p = {p}, r = {r}");
            // Pairs from 0 to T, all of them if there are few.
            let step = (range / 150).max(1) as usize;
            let pairs = (0..range)
                .step_by(step)
                .flat_map(|a| (0..range).step_by(step).map(move |b| (a, b)));
            let (a, b): (Vec<i64>, Vec<i64>) =
                pairs.chain((0..range).map(|a| (a, range - 1 - a))).unzip();
            let less = comparison
                .less_than(&scheme, &encrypt(&scheme, p, r, &a), &encrypt(&scheme, p, r, &b))
                .unwrap();
            assert!(
                a.iter().zip(&b).zip(&less.values).all(|((a, b), y)| *y == u64::from(a < b)),
                "p = {p}, r = {r}"
            );
        }
        for (p, r) in [(2, 4), (65537, 1), (65537, 2), (5, 0)] {
            assert!(Comparison::new(p, r, CHEN_HAN).is_err());
        }
    }

    #[test]
    fn depths_and_products_of_the_applications() {
        let comparison = |p, r, method| {
            let costs = Comparison::new(p, r, method).unwrap().costs();
            (costs.depth, costs.products)
        };
        let found = [
            comparison(3, 1, CHEN_HAN),
            comparison(17, 1, CHEN_HAN),
            comparison(17, 2, CLOSED),
            comparison(17, 4, GEELEN),
        ];
        assert_eq!(found, [(0, 0), (4, 7), (9, 13), (19, 39)]);
    }
}
