//! Conditions of SQL with three truth values: a comparison with an empty cell is neither true nor
//! false.

use std::collections::BTreeSet;

use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator};

use crate::bind::Binder;
use crate::condition::{Comparison, Condition};
use crate::error::TablesError;
use crate::kind::Kind;
use crate::literal::{Value, mistyped};
use crate::ranges::Ranges;

/// The rows for which an expression is true, and those for which it is false; with `None`, these
/// are all other rows.
struct Truth {
    yes: Condition,
    no: Option<Condition>,
}

impl Truth {
    fn known(yes: Condition) -> Self {
        Truth { yes, no: None }
    }

    /// The truth value of a condition `yes` that is known in the rows `there`, and unknown in
    /// others.
    fn there(there: Condition, yes: Condition) -> Self {
        if there == Condition::Constant(true) {
            return Truth::known(yes);
        }
        let no = Condition::Not(Box::new(yes.clone()));
        Truth {
            yes: Condition::And(vec![there.clone(), yes]),
            no: Some(Condition::And(vec![there, no])),
        }
    }

    fn negated(self, negated: bool) -> Self {
        match (negated, self.no) {
            (false, no) => Truth { yes: self.yes, no },
            (true, None) => Truth::known(Condition::Not(Box::new(self.yes))),
            (true, Some(no)) => Truth { yes: no, no: Some(self.yes) },
        }
    }

    /// The conjunction or the disjunction of these.
    fn joined(all: Vec<Truth>, conjunction: bool) -> Self {
        let join = |parts, and| if and { Condition::And(parts) } else { Condition::Or(parts) };
        let opposite =
            |t: &Truth| t.no.clone().unwrap_or_else(|| Condition::Not(Box::new(t.yes.clone())));
        let no = all.iter().any(|t| t.no.is_some());
        let no = no.then(|| join(all.iter().map(opposite).collect(), !conjunction));
        Truth { yes: join(all.into_iter().map(|t| t.yes).collect(), conjunction), no }
    }
}

impl Binder<'_> {
    /// The rows for which an expression is true.
    pub(crate) fn condition(&self, e: &Expr) -> Result<Condition, TablesError> {
        self.truth(e).map(|truth| truth.yes)
    }

    /// The rows in which an expression has a value.
    pub(crate) fn there(&self, e: &Expr) -> Result<Condition, TablesError> {
        let mut columns = BTreeSet::new();
        match self.value(e)? {
            Value::Number(x, _) => x.columns(&mut columns),
            Value::Coded(column) => drop(columns.insert(column)),
            Value::Date(_) | Value::Timestamp(_) | Value::Text(_) | Value::Parameter(_) => {}
            Value::Condition(_) => {
                let truth = self.truth(e)?;
                return Ok(match truth.no {
                    None => Condition::Constant(true),
                    Some(no) => Condition::Or(vec![truth.yes, no]),
                });
            }
        }
        let fields = self.schema.fields();
        let nullable = columns.into_iter().filter(|c| fields[*c].null().is_some());
        let mut there: Vec<_> = nullable
            .map(|column| {
                let (low, high) = fields[column].values();
                Condition::Within { column, codes: Ranges::between(low, high) }
            })
            .collect();
        Ok(match there.len() {
            0 => Condition::Constant(true),
            1 => there.remove(0),
            _ => Condition::And(there),
        })
    }

    fn comparison(
        &self,
        e: &Expr,
        comparison: Comparison,
        left: &Expr,
        right: &Expr,
    ) -> Result<Truth, TablesError> {
        let yes = self.compared(e, comparison, left, right)?;
        let (a, b) = (self.there(left)?, self.there(right)?);
        let there = match (a, b) {
            (Condition::Constant(true), x) | (x, Condition::Constant(true)) => x,
            (a, b) => Condition::And(vec![a, b]),
        };
        Ok(Truth::there(there, yes))
    }

    fn truth(&self, e: &Expr) -> Result<Truth, TablesError> {
        use BinaryOperator as Op;
        match e {
            Expr::Nested(inner) => self.truth(inner),
            Expr::UnaryOp { op: UnaryOperator::Not, expr } => Ok(self.truth(expr)?.negated(true)),
            Expr::BinaryOp { left, op: op @ (Op::And | Op::Or), right } => {
                let both = vec![self.truth(left)?, self.truth(right)?];
                Ok(Truth::joined(both, *op == Op::And))
            }
            Expr::BinaryOp { left, op, right } => {
                let compare = |op, a, b| self.comparison(e, op, a, b);
                match op {
                    Op::Lt => compare(Comparison::Less, left, right),
                    Op::LtEq => compare(Comparison::LessOrEqual, left, right),
                    Op::Gt => compare(Comparison::Less, right, left),
                    Op::GtEq => compare(Comparison::LessOrEqual, right, left),
                    Op::Eq => compare(Comparison::Equal, left, right),
                    Op::NotEq => Ok(compare(Comparison::Equal, left, right)?.negated(true)),
                    _ => {
                        Err(TablesError::unsupported(&e.to_string(), "compare with = <> < <= > >="))
                    }
                }
            }
            Expr::Between { expr, negated, low, high } => {
                let low = self.comparison(e, Comparison::LessOrEqual, low, expr)?;
                let high = self.comparison(e, Comparison::LessOrEqual, expr, high)?;
                Ok(Truth::joined(vec![low, high], true).negated(*negated))
            }
            Expr::InList { expr, list, negated } => {
                let constant = |x| Ok(self.there(x)? == Condition::Constant(true));
                let constants = list.iter().map(constant).collect::<Result<Vec<_>, TablesError>>();
                let truth = if constants?.iter().all(|c| *c) {
                    // The cell is tested once for all of the list.
                    let equal = |x| self.compared(e, Comparison::Equal, expr, x);
                    let any = list.iter().map(equal).collect::<Result<_, _>>()?;
                    Truth::there(self.there(expr)?, Condition::Or(any))
                } else {
                    let equal = |x| self.comparison(e, Comparison::Equal, expr, x);
                    Truth::joined(list.iter().map(equal).collect::<Result<_, _>>()?, false)
                };
                Ok(truth.negated(*negated))
            }
            Expr::Like { negated, any: false, expr, pattern, escape_char: None } => {
                let yes = self.like(e, expr, pattern)?;
                self.notes.impossible(self.schema, &yes, (expr, "like", pattern));
                Ok(Truth::there(self.there(expr)?, yes).negated(*negated))
            }
            Expr::IsNull(x) => Ok(Truth::known(self.there(x)?).negated(true)),
            Expr::IsNotNull(x) => Ok(Truth::known(self.there(x)?)),
            _ => match self.value(e)? {
                Value::Condition(c) => Ok(Truth::known(c)),
                Value::Coded(column) if self.schema.fields()[column].kind() == &Kind::Boolean => {
                    let yes = Condition::Within { column, codes: Ranges::of([1]) };
                    Ok(Truth::there(self.there(e)?, yes))
                }
                _ => {
                    let problem = "expected a condition, found a value: compare it, as in x = 1 or \
                                   x = 'yes'";
                    Err(mistyped(e, problem))
                }
            },
        }
    }
}
