//! Conditions on groups, which the reader applies to the sums of each.

use std::cmp::Ordering;

use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator};

use crate::answer::value;
use crate::bind::Binder;
use crate::error::TablesError;
use crate::literal::mistyped;
use crate::query::{Comparison, Formula};

/// Which groups are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Having {
    /// Those for which a comparison holds.
    Compare(Comparison, Formula, Formula),
    /// Those that meet both.
    And(Box<Having>, Box<Having>),
    /// Those that meet one at least.
    Or(Box<Having>, Box<Having>),
    /// All others but those for which it is unknown.
    Not(Box<Having>),
}

impl Having {
    /// Whether a group with these aggregates is meant; unknown where a number has no value.
    ///
    /// # Errors
    /// [`TablesError::Range`] if a number leaves 127 bits.
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

impl Binder<'_> {
    /// A condition on the sums of a group.
    pub(crate) fn having(&mut self, e: &Expr, groups: &[usize]) -> Result<Having, TablesError> {
        let not = |x| Having::Not(Box::new(x));
        match e {
            Expr::Nested(inner) => self.having(inner, groups),
            Expr::UnaryOp { op: UnaryOperator::Not, expr } => Ok(not(self.having(expr, groups)?)),
            Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
                let (a, b) = (self.having(left, groups)?, self.having(right, groups)?);
                Ok(Having::And(Box::new(a), Box::new(b)))
            }
            Expr::BinaryOp { left, op: BinaryOperator::Or, right } => {
                let (a, b) = (self.having(left, groups)?, self.having(right, groups)?);
                Ok(Having::Or(Box::new(a), Box::new(b)))
            }
            Expr::BinaryOp { left, op, right } => {
                let (a, b) = (self.compares(left, groups)?, self.compares(right, groups)?);
                Ok(match op {
                    BinaryOperator::Lt => Having::Compare(Comparison::Less, a, b),
                    BinaryOperator::LtEq => Having::Compare(Comparison::LessOrEqual, a, b),
                    BinaryOperator::Gt => Having::Compare(Comparison::Less, b, a),
                    BinaryOperator::GtEq => Having::Compare(Comparison::LessOrEqual, b, a),
                    BinaryOperator::Eq => Having::Compare(Comparison::Equal, a, b),
                    BinaryOperator::NotEq => not(Having::Compare(Comparison::Equal, a, b)),
                    _ => return Err(unsupported(e)),
                })
            }
            Expr::Between { expr, negated, low, high } => {
                let x = self.compares(expr, groups)?;
                let (low, high) = (self.compares(low, groups)?, self.compares(high, groups)?);
                let low = Having::Compare(Comparison::LessOrEqual, low, x.clone());
                let high = Having::Compare(Comparison::LessOrEqual, x, high);
                let both = Having::And(Box::new(low), Box::new(high));
                Ok(if *negated { not(both) } else { both })
            }
            _ => Err(unsupported(e)),
        }
    }

    /// A side of a comparison.
    fn compares(&mut self, e: &Expr, groups: &[usize]) -> Result<Formula, TablesError> {
        let found = self.formula(e, groups)?;
        match found.is_shown() {
            true => Err(mistyped(
                e,
                "having compares numbers that are made of groups; a condition on a column stands \
                 in where",
            )),
            false => Ok(found),
        }
    }
}

fn unsupported(e: &Expr) -> TablesError {
    TablesError::unsupported(
        &format!("having {e}"),
        "compare sums, counts, averages and numbers, with and, or, not, between",
    )
}
