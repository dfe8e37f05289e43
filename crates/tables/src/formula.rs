//! The formulas that the reader of an answer computes from the sums of a group, and the selection
//! of groups.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::condition::Comparison;
use crate::error::TablesError;

/// A formula that the reader of an answer computes from sums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula {
    /// The code of a column that the query groups by.
    Group(usize),
    /// An aggregate, in units of 10^-scale.
    Aggregate {
        /// Its index among the aggregates.
        place: usize,
        /// The number of decimal places.
        scale: u32,
    },
    /// An aggregate that is a value of a column.
    Code {
        /// Its index among the aggregates.
        place: usize,
        /// The column.
        column: usize,
    },
    /// A number, in units of 10^-scale.
    Constant {
        /// The number of units.
        units: i128,
        /// The number of decimal places.
        scale: u32,
    },
    /// The second formula if the first one, a count of values, is not 0; otherwise no value.
    Over(Box<Formula>, Box<Formula>),
    /// An operation on two formulas.
    Of(Operator, Box<Formula>, Box<Formula>),
}

impl Formula {
    /// Whether it is a value of a column, and not a number for further computation.
    pub(crate) fn is_shown(&self) -> bool {
        match self {
            Formula::Group(_) | Formula::Code { .. } => true,
            Formula::Over(_, inner) => inner.is_shown(),
            _ => false,
        }
    }

    /// The aggregates whose values it uses. `ordered` says which ones are not sums; for these, no
    /// count is needed to know whether there are rows.
    pub(crate) fn valued(&self, ordered: &dyn Fn(usize) -> bool, out: &mut BTreeSet<usize>) {
        match self {
            Formula::Group(_) | Formula::Constant { .. } => {}
            Formula::Aggregate { place, .. } | Formula::Code { place, .. } => {
                out.insert(*place);
            }
            Formula::Over(count, inner) => {
                let mut within = BTreeSet::new();
                inner.valued(ordered, &mut within);
                if !within.iter().any(|place| ordered(*place)) {
                    count.valued(ordered, out);
                }
                out.extend(within);
            }
            Formula::Of(_, a, b) => {
                a.valued(ordered, out);
                b.valued(ordered, out);
            }
        }
    }
}

/// An operation of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// +
    Add,
    /// -
    Subtract,
    /// *
    Multiply,
    /// /
    Divide,
}

/// A condition that selects groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Having {
    /// The groups for which a comparison holds.
    Compare(Comparison, Formula, Formula),
    /// The groups that meet both conditions.
    And(Box<Having>, Box<Having>),
    /// The groups that meet at least one of two conditions.
    Or(Box<Having>, Box<Having>),
    /// The groups that do not meet a condition, except those for which it is unknown.
    Not(Box<Having>),
}

impl Having {
    /// The aggregates whose values it uses, as [`Formula::valued`].
    pub(crate) fn valued(&self, ordered: &dyn Fn(usize) -> bool, out: &mut BTreeSet<usize>) {
        match self {
            Having::Compare(_, a, b) => {
                a.valued(ordered, out);
                b.valued(ordered, out);
            }
            Having::And(a, b) | Having::Or(a, b) => {
                a.valued(ordered, out);
                b.valued(ordered, out);
            }
            Having::Not(a) => a.valued(ordered, out),
        }
    }

    /// Whether a group with these aggregates meets the condition; `None`, that is unknown, if a
    /// number has no value.
    ///
    /// # Errors
    /// [`TablesError::Range`] if a number exceeds 127 bits.
    pub(crate) fn holds(&self, sums: &[i128]) -> Result<Option<bool>, TablesError> {
        let wide = || TablesError::Range { expression: "having".into(), bits: 127 };
        Ok(match self {
            Having::Compare(comparison, a, b) => {
                let (a, b) = (value(a, sums).ok_or_else(wide)?, value(b, sums).ok_or_else(wide)?);
                let (Some(a), Some(b)) = (a, b) else { return Ok(None) };
                let order = a.compared(b).ok_or_else(wide)?;
                Some(match comparison {
                    Comparison::Less => order == Ordering::Less,
                    Comparison::LessOrEqual => order != Ordering::Greater,
                    Comparison::Equal => order == Ordering::Equal,
                })
            }
            Having::And(a, b) => match (a.holds(sums)?, b.holds(sums)?) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Having::Or(a, b) => match (a.holds(sums)?, b.holds(sums)?) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            Having::Not(a) => a.holds(sums)?.map(|x| !x),
        })
    }
}

/// A fraction in lowest terms, with a positive denominator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fraction {
    pub(crate) numerator: i128,
    pub(crate) denominator: i128,
}

impl Fraction {
    pub(crate) fn new(numerator: i128, denominator: i128) -> Option<Self> {
        let (mut a, mut b) = (numerator.unsigned_abs(), denominator.unsigned_abs());
        while b > 0 {
            (a, b) = (b, a % b);
        }
        let common = i128::try_from(a).ok()?;
        let sign = denominator.signum();
        if sign == 0 {
            return None;
        }
        let reduced = |x: i128| (x / common).checked_mul(sign);
        Some(Fraction { numerator: reduced(numerator)?, denominator: reduced(denominator)? })
    }

    fn apply(self, operator: Operator, other: Fraction) -> Option<Self> {
        let (a, b, c, d) = (self.numerator, self.denominator, other.numerator, other.denominator);
        let crossed = |x: i128, y: i128| Some((x.checked_mul(d)?, y.checked_mul(b)?));
        match operator {
            Operator::Add => {
                let (x, y) = crossed(a, c)?;
                Fraction::new(x.checked_add(y)?, b.checked_mul(d)?)
            }
            Operator::Subtract => {
                let (x, y) = crossed(a, c)?;
                Fraction::new(x.checked_sub(y)?, b.checked_mul(d)?)
            }
            Operator::Multiply => Fraction::new(a.checked_mul(c)?, b.checked_mul(d)?),
            Operator::Divide => Fraction::new(a.checked_mul(d)?, b.checked_mul(c)?),
        }
    }

    /// The comparison with another fraction; `None` beyond 127 bits.
    pub(crate) fn compared(self, other: Fraction) -> Option<Ordering> {
        let difference = self.apply(Operator::Subtract, other)?;
        Some(difference.numerator.cmp(&0))
    }

    /// The comparison with another fraction of any size: by integer parts, and if these are equal,
    /// by the reciprocals of the fractional parts.
    pub(crate) fn order(self, other: Fraction) -> Ordering {
        let (mut a, mut b) = (self.numerator, self.denominator);
        let (mut c, mut d) = (other.numerator, other.denominator);
        let mut reversed = false;
        loop {
            let whole = a.div_euclid(b).cmp(&c.div_euclid(d));
            let (x, y) = (a.rem_euclid(b), c.rem_euclid(d));
            if whole != Ordering::Equal || x == 0 || y == 0 {
                let found = whole.then(x.cmp(&y));
                return if reversed { found.reverse() } else { found };
            }
            (a, b, c, d, reversed) = (b, x, d, y, !reversed);
        }
    }

    /// The value in units of 10^-scale, rounded to the nearest, and halves away from 0.
    pub(crate) fn units(self, scale: u32) -> Option<i128> {
        let power = 10u128.checked_pow(scale)?;
        let (absolute, denominator) =
            (self.numerator.unsigned_abs(), self.denominator.unsigned_abs());
        // The whole and the part by themselves, so that what fits is not lost on the way.
        let whole = (absolute / denominator).checked_mul(power)?;
        let part = (absolute % denominator).checked_mul(power)?;
        let (units, rest) = (part / denominator, part % denominator);
        // Twice the rest could be past 128 bits.
        let up = u128::from(rest >= denominator - rest);
        let rounded = whole.checked_add(units + up)?;
        i128::try_from(rounded).ok()?.checked_mul(self.numerator.signum())
    }
}

/// The value of a formula: `None` if it is too large, and `Some(None)` for a sum over no rows.
pub(crate) fn value(formula: &Formula, sums: &[i128]) -> Option<Option<Fraction>> {
    Some(match formula {
        Formula::Group(_) | Formula::Code { .. } => None,
        Formula::Constant { units, scale } => Some(Fraction::new(*units, 10i128.pow(*scale))?),
        Formula::Aggregate { place, scale } => {
            Some(Fraction::new(sums[*place], 10i128.pow(*scale))?)
        }
        Formula::Over(count, x) => match value(count, sums)? {
            Some(count) if count.numerator != 0 => value(x, sums)?,
            _ => None,
        },
        Formula::Of(operator, a, b) => {
            let (Some(a), Some(b)) = (value(a, sums)?, value(b, sums)?) else {
                return Some(None);
            };
            if *operator == Operator::Divide && b.numerator == 0 {
                return Some(None);
            }
            Some(a.apply(*operator, b)?)
        }
    })
}

/// The number of decimal places of a formula, and whether it contains a division.
pub(crate) fn display(formula: &Formula) -> (u32, bool) {
    match formula {
        Formula::Group(_) | Formula::Code { .. } => (0, false),
        Formula::Aggregate { scale, .. } | Formula::Constant { scale, .. } => (*scale, false),
        Formula::Over(_, x) => display(x),
        Formula::Of(operator, a, b) => {
            let ((i, x), (j, y)) = (display(a), display(b));
            let scale = match operator {
                Operator::Multiply => i + j,
                Operator::Divide => i,
                _ => i.max(j),
            };
            (scale, x || y || *operator == Operator::Divide)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_ordered_whatever_their_size() {
        let fraction = |a, b| Fraction::new(a, b).unwrap();
        for (a, c) in (-7..=7).flat_map(|a| (-7..=7).map(move |c| (a, c))) {
            for (b, d) in (1..=7).flat_map(|b| (1..=7).map(move |d| (b, d))) {
                let found = fraction(a, b).order(fraction(c, d));
                assert_eq!(found, (a * d).cmp(&(c * b)), "{a}/{b} {c}/{d}");
            }
        }
        let (x, y) = (i128::MAX, i128::MAX - 1);
        assert_eq!(fraction(x, y).order(fraction(y, y - 1)), Ordering::Less);
        assert_eq!(fraction(y, y - 1).order(fraction(x, y)), Ordering::Greater);
        assert_eq!(fraction(-x, y).order(fraction(-x, y)), Ordering::Equal);
    }

    #[test]
    fn fractions_are_rounded_whatever_their_size() {
        let units = |a, b, scale| Fraction::new(a, b).unwrap().units(scale);
        for (a, b, scale, expected) in [
            (5, 2, 0, 3),
            (-5, 2, 0, -3),
            (4, 3, 0, 1),
            (-5, 3, 0, -2),
            (1, 3, 2, 33),
            (2, 3, 2, 67),
            (1, -8, 2, -13),
            (0, 7, 6, 0),
        ] {
            assert_eq!(units(a, b, scale), Some(expected), "{a}/{b}");
        }
        // 2^127 - 1 is 1 more than a multiple of 3.
        let most = i128::MAX;
        assert_eq!(units(most, 2, 0), Some(1 << 126));
        assert_eq!(units(-most, 2, 0), Some(-(1 << 126)));
        assert_eq!(units(most, 3, 0), Some((most - 1) / 3));
        assert_eq!(units(most, 1, 0), Some(most));
        assert_eq!(units(most, 2, 1), None);
        // 10^15 times as much is past 127 bits, and 2^57 times 10^15 is not.
        assert_eq!(units(most, 1 << 70, 15), Some((1 << 57) * 10i128.pow(15)));
        assert_eq!(units(-most, 1 << 70, 15), Some(-(1 << 57) * 10i128.pow(15)));
        assert_eq!(Fraction::new(i128::MIN, -1), None);
        assert_eq!(Fraction::new(1, 0), None);
    }
}
