//! Comparison of integers in slots: a digit removal, followed by the sign of the remaining digit.

use everlevel_scheme::{Arithmetic, NextUse, PlainModulus};

use crate::digits::{DigitMethod, SENSIBLE_POINTS};
use crate::error::CircuitError;
use crate::modular::PrimePower;
use crate::poly::{DepthGoal, Polynomial, PolynomialPlan};
use crate::range::ValueRange;
use crate::straight_line::CircuitCosts;
use crate::truncate::{Truncation, found};

/// Comparison of integers modulo p^r, p odd: the sign of a number, and whether one number is less
/// than another, as 0 and 1 (or -1) modulo p.
///
/// It applies to numbers x with -T <= x < T for T = p^(r-1) (p - 1)/2, that is to all residues
/// except those of p^(r-1) consecutive integers. The r - 1 low digits are removed, rounding down,
/// which leaves an integer d with -(p - 1)/2 <= d < (p - 1)/2 of the sign of x; 2d + 1 is symmetric
/// and not zero, so its sign is an odd polynomial of degree p - 2 modulo p. It costs one digit
/// removal and one polynomial; for r = 1 the polynomial only.
///
/// The functions here see only residues: for numbers outside of this range the result is wrong.
/// [`Session::is_negative`](crate::Session::is_negative) and the similar functions of a session
/// check the ranges of values and refuse such numbers.
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
            let reason = "signs are computed for odd p below 8192";
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

    /// T: numbers x with -T <= x < T can be compared with zero.
    pub fn range(&self) -> i64 {
        self.range
    }

    /// Checks that all numbers x of a range satisfy -T <= x < T.
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

    /// Depth and number of operations of [`Comparison::is_negative`] and [`Comparison::less_than`].
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
    /// As [`DigitRemoval::remove`](crate::digits::DigitRemoval::remove).
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
    /// As [`DigitRemoval::remove`](crate::digits::DigitRemoval::remove).
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
    /// As [`DigitRemoval::remove`](crate::digits::DigitRemoval::remove).
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
    use crate::digits::DigitKind;
    use everlevel_testing::ResidueScheme;

    const CHEN_HAN: DigitMethod = DigitMethod::new(DigitKind::ChenHan);
    const GEELEN: DigitMethod = DigitMethod::new(DigitKind::Geelen);
    const CLOSED: DigitMethod = DigitMethod::new(DigitKind::PatersonStockmeyer);

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
            let x = scheme.encrypt_signed(&xs, r);
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
            let signs = comparison.sign(&scheme, &x).unwrap().centered();
            assert!(xs.iter().zip(signs).skip(1).all(|(x, y)| y == x.signum()), "p = {p}, r = {r}");
            // Pairs from 0 to T, all of them if there are few.
            let step = (range / 150).max(1) as usize;
            let pairs = (0..range)
                .step_by(step)
                .flat_map(|a| (0..range).step_by(step).map(move |b| (a, b)));
            let (a, b): (Vec<i64>, Vec<i64>) =
                pairs.chain((0..range).map(|a| (a, range - 1 - a))).unzip();
            let less = comparison
                .less_than(&scheme, &scheme.encrypt_signed(&a, r), &scheme.encrypt_signed(&b, r))
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
