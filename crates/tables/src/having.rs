//! Conditions on groups, bound to a query.

use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator};

use crate::bind::Binder;
use crate::condition::Comparison;
use crate::error::TablesError;
use crate::formula::{Formula, Having};
use crate::literal::mistyped;

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
