//! Expressions of SQL as numbers, conditions and sums over the columns of a schema.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};

use sqlparser::ast::{BinaryOperator, CaseWhen, Expr, UnaryOperator};

use crate::condition::{Condition, Number};
use crate::error::TablesError;
use crate::formula::{Formula, Operator};
use crate::literal::{Value, mistyped, moment};
use crate::notes::Notes;
use crate::parameter::{Meaning, Parameter};
use crate::query::{Aggregate, Fold};
use crate::schema::Schema;
use crate::scope::Scope;

/// The largest number of decimal places of an expression.
const PLACES: u32 = 18;
/// The largest number of comparisons of characters for all patterns of a query. Two for each
/// character of the categories are usual; only patterns that nearly match at many places take more.
pub(crate) const STEPS: u64 = 1 << 27;

/// Reads expressions, and collects the sums among them.
pub(crate) struct Binder<'a> {
    pub(crate) schema: &'a Schema,
    /// The columns that names refer to.
    pub(crate) scope: Scope<'a>,
    /// What there is to be told of comparisons.
    pub(crate) notes: &'a Notes,
    /// The encrypted constants whose columns end the schema.
    bound: &'a [Parameter],
    /// The encrypted constants that were found.
    met: RefCell<Vec<Parameter>>,
    /// The comparisons of characters that are left for patterns.
    pub(crate) steps: Cell<u64>,
    /// The codes of the categories that are compared with texts, by column.
    categories: RefCell<BTreeMap<usize, HashMap<&'a str, i128>>>,
    aggregates: Vec<Aggregate>,
}

impl<'a> Binder<'a> {
    pub(crate) fn new(
        schema: &'a Schema,
        scope: Scope<'a>,
        bound: &'a [Parameter],
        notes: &'a Notes,
    ) -> Self {
        let (met, steps, aggregates) = (RefCell::default(), Cell::new(STEPS), Vec::new());
        let categories = RefCell::default();
        Binder { schema, scope, notes, bound, met, steps, categories, aggregates }
    }

    /// The code of a text among the categories of a column, which are read once for all texts.
    pub(crate) fn category(&self, column: usize, values: &'a [String], text: &str) -> Option<i128> {
        let mut all = self.categories.borrow_mut();
        let codes = all
            .entry(column)
            .or_insert_with(|| values.iter().map(String::as_str).zip(0i128..).collect());
        codes.get(text).copied()
    }

    /// The index of a sum among those collected.
    pub(crate) fn aggregate(&mut self, aggregate: Aggregate) -> usize {
        let known = self.aggregates.iter().position(|a| *a == aggregate);
        known.unwrap_or_else(|| {
            self.aggregates.push(aggregate);
            self.aggregates.len() - 1
        })
    }

    /// The index of the column for an encrypted constant, which has the type of the column that it
    /// is compared with; `None` while such constants are being collected.
    pub(crate) fn parameter(
        &self,
        e: &Expr,
        name: &str,
        column: usize,
        meaning: Meaning,
    ) -> Result<Option<usize>, TablesError> {
        let fields = self.schema.fields();
        let mut met = self.met.borrow_mut();
        let known = met.iter().find(|p| p.name == name).map(|p| (p.column, p.meaning));
        match known {
            Some((other, _)) if fields[other].kind() != fields[column].kind() => {
                let (a, b) = (fields[other].name(), fields[column].name());
                let told = format!(
                    ":{name} is compared with {a} and with {b}, which hold different values: use \
                     two constants"
                );
                return Err(mistyped(e, &told));
            }
            Some((_, other)) if (other == Meaning::Value) != (meaning == Meaning::Value) => {
                let told = format!(":{name} is a value and a prefix: use two constants");
                return Err(mistyped(e, &told));
            }
            _ => {}
        }
        let same = |p: &Parameter| p.name == name && p.meaning == meaning;
        if !met.iter().any(same) {
            met.push(Parameter { name: name.into(), column, meaning });
        }
        let place = self.bound.iter().position(same);
        Ok(place.map(|i| self.width() + i))
    }

    /// The number of columns of the table.
    pub(crate) fn width(&self) -> usize {
        self.schema.fields().len() - self.bound.len()
    }

    /// The encrypted constants that were found, in the order of the query.
    pub(crate) fn parameters(&self) -> Vec<Parameter> {
        self.met.borrow().clone()
    }

    /// The aggregates that were found, in the order of the query.
    pub(crate) fn aggregates(&self) -> Vec<Aggregate> {
        self.aggregates.clone()
    }

    /// Refuses every computation on a text other than equality with a constant.
    pub(crate) fn check_text(&self, e: impl ToString, column: usize) -> Result<(), TablesError> {
        let field = &self.schema.fields()[column];
        if !field.is_text() {
            return Ok(());
        }
        Err(TablesError::unsupported(
            &e.to_string(),
            &format!(
                "{:?} is a column of texts, which are compared by = <> and in with constants of \
                 the query and nothing else: if it has few values, state it as a category",
                field.name()
            ),
        ))
    }

    /// Refuses groups by texts.
    pub(crate) fn check_groups(&self, groups: &[usize]) -> Result<(), TablesError> {
        let name = |place: usize| self.schema.fields()[place].name();
        groups.iter().try_for_each(|g| self.check_text(format!("a group by {}", name(*g)), *g))
    }

    /// The column that an expression names.
    pub(crate) fn column(&self, e: &Expr) -> Result<usize, TablesError> {
        self.scope.place(e)
    }

    pub(crate) fn value(&self, e: &Expr) -> Result<Value, TablesError> {
        match e {
            Expr::Nested(inner) => self.value(inner),
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => {
                let place = self.column(e)?;
                Ok(match self.schema.fields()[place].scale() {
                    Some(scale) => Value::Number(Number::Column(place), scale),
                    None => Value::Coded(place),
                })
            }
            Expr::Value(literal) => Value::literal(e, &literal.value),
            Expr::TypedString(_) => moment(e),
            Expr::UnaryOp { op: UnaryOperator::Minus, expr } => {
                let (x, scale) = self.number(expr)?;
                Ok(Value::Number(subtracted(Number::Constant(0), x), scale))
            }
            Expr::UnaryOp { op: UnaryOperator::Plus, expr } => {
                let (x, scale) = self.number(expr)?;
                Ok(Value::Number(x, scale))
            }
            Expr::BinaryOp { left, op, right } if arithmetic(op).is_some() => {
                self.computed(e, left, op, right)
            }
            Expr::BinaryOp { .. }
            | Expr::UnaryOp { op: UnaryOperator::Not, .. }
            | Expr::Between { .. }
            | Expr::InList { .. }
            | Expr::Like { any: false, escape_char: None, .. }
            | Expr::IsNull(_)
            | Expr::IsNotNull(_) => Ok(Value::Condition(self.condition(e)?)),
            Expr::Function(_) => Err(TablesError::unsupported(
                &e.to_string(),
                "inside of expressions there are + - * and comparisons; sum, count and avg stand \
                 in the select",
            )),
            _ => Err(TablesError::unsupported(
                &e.to_string(),
                "write it with + - *, comparisons, and, or, not",
            )),
        }
    }

    /// A number and its decimal places, within bounds.
    pub(crate) fn number(&self, e: &Expr) -> Result<(Number, u32), TablesError> {
        match self.value(e)? {
            Value::Number(x, scale) if scale <= PLACES => {
                x.interval(self.schema, &e.to_string())?;
                Ok((x, scale))
            }
            Value::Number(..) => Err(mistyped(e, "it has more than 18 decimal places")),
            Value::Condition(_) => {
                Err(mistyped(e, "a condition is not a number: use case when … then 1 else 0 end"))
            }
            Value::Parameter(_) => Err(mistyped(e, "compare an encrypted constant with a column")),
            _ => Err(mistyped(e, "expected a number")),
        }
    }

    fn computed(
        &self,
        e: &Expr,
        left: &Expr,
        op: &BinaryOperator,
        right: &Expr,
    ) -> Result<Value, TablesError> {
        if let Some(moved) = self.moved_by(left, op, right)? {
            return Ok(moved);
        }
        let ((a, i), (b, j)) = (self.number(left)?, self.number(right)?);
        let (x, scale) = match op {
            BinaryOperator::Multiply => (multiplied(a, b), i + j),
            BinaryOperator::Divide => {
                return Err(TablesError::unsupported(
                    &e.to_string(),
                    "divide sums by each other, or by numbers, in the select",
                ));
            }
            _ => {
                let scale = i.max(j);
                let (a, b) = (scaled(a, scale - i), scaled(b, scale - j));
                let sum = if *op == BinaryOperator::Plus { added(a, b) } else { subtracted(a, b) };
                (sum, scale)
            }
        };
        x.interval(self.schema, &e.to_string())?;
        Ok(Value::Number(x, scale))
    }

    /// A column of the answer.
    pub(crate) fn formula(&mut self, e: &Expr, groups: &[usize]) -> Result<Formula, TablesError> {
        match e {
            Expr::Nested(inner) => self.formula(inner, groups),
            Expr::Function(function) => self.call(e, function),
            Expr::BinaryOp { left, op, right } if arithmetic(op).is_some() => {
                let (a, b) = (self.formula(left, groups)?, self.formula(right, groups)?);
                let operator = arithmetic(op).unwrap_or(Operator::Add);
                match a.is_shown() || b.is_shown() {
                    true => Err(mistyped(e, "values of columns are shown as they are")),
                    false => Ok(Formula::Of(operator, Box::new(a), Box::new(b))),
                }
            }
            Expr::UnaryOp { op: UnaryOperator::Minus, expr } => {
                match self.formula(expr, groups)? {
                    x if x.is_shown() => {
                        Err(mistyped(e, "values of columns are shown as they are"))
                    }
                    Formula::Constant { units, scale } => {
                        Ok(Formula::Constant { units: -units, scale })
                    }
                    x => {
                        let zero = Formula::Constant { units: 0, scale: 0 };
                        Ok(Formula::Of(Operator::Subtract, Box::new(zero), Box::new(x)))
                    }
                }
            }
            Expr::Value(_) => match self.number(e)? {
                (Number::Constant(units), scale) => Ok(Formula::Constant { units, scale }),
                _ => Err(mistyped(e, "expected a number")),
            },
            _ => {
                let place = self.column(e)?;
                let found = groups.iter().position(|g| *g == place);
                found.map(Formula::Group).ok_or_else(|| {
                    TablesError::unsupported(
                        &format!("the rows of {e}"),
                        "an answer has columns of rows and nothing else, or sums, counts and \
                         averages, and columns of group by: name the column in group by, or \
                         leave it out",
                    )
                })
            }
        }
    }

    /// The sum over the rows that meet `when` and have a value, its parts for a case; and the
    /// number of these rows.
    pub(crate) fn sum(
        &mut self,
        e: &Expr,
        when: &Condition,
    ) -> Result<(Formula, Formula), TablesError> {
        let mut parts = Vec::new();
        let whole = self.parts(e, when, &mut parts)?;
        let zero = Formula::Constant { units: 0, scale: 0 };
        let add = |a, b| Formula::Of(Operator::Add, Box::new(a), Box::new(b));
        let count = if whole {
            self.count(when.clone())
        } else {
            let counts: Vec<_> = parts.iter().map(|(when, ..)| self.count(when.clone())).collect();
            counts.into_iter().reduce(add).unwrap_or(zero.clone())
        };
        let mut sums = Vec::new();
        for (when, value, scale) in parts {
            if value != Number::Constant(0) {
                let when = when.simplified(self.schema);
                let place = self.aggregate(Aggregate { fold: Fold::Sum, value, when });
                sums.push(Formula::Aggregate { place, scale });
            }
        }
        Ok((sums.into_iter().reduce(add).unwrap_or(zero), count))
    }

    /// Disjoint sets of rows with the number that is added up in each, and whether they are all
    /// rows that meet `when`.
    fn parts(
        &self,
        e: &Expr,
        when: &Condition,
        out: &mut Vec<(Condition, Number, u32)>,
    ) -> Result<bool, TablesError> {
        if let Expr::Nested(inner) = e {
            return self.parts(inner, when, out);
        }
        let Expr::Case { operand: None, conditions, else_result, .. } = e else {
            let (value, scale) = self.number(e)?;
            let there = self.there(e)?;
            let whole = there == Condition::Constant(true);
            let when = if whole { when.clone() } else { Condition::And(vec![when.clone(), there]) };
            out.push((when, value, scale));
            return Ok(whole);
        };
        let (mut rest, mut whole) = (when.clone(), else_result.is_some());
        for CaseWhen { condition, result } in conditions {
            let condition = self.condition(condition)?;
            let here = Condition::And(vec![rest.clone(), condition.clone()]);
            whole &= self.parts(result, &here, out)?;
            rest = Condition::And(vec![rest, Condition::Not(Box::new(condition))]);
        }
        if let Some(otherwise) = else_result {
            whole &= self.parts(otherwise, &rest, out)?;
        }
        Ok(whole)
    }
}

/// The operation on numbers of an operator of SQL.
fn arithmetic(op: &BinaryOperator) -> Option<Operator> {
    Some(match op {
        BinaryOperator::Plus => Operator::Add,
        BinaryOperator::Minus => Operator::Subtract,
        BinaryOperator::Multiply => Operator::Multiply,
        BinaryOperator::Divide => Operator::Divide,
        _ => return None,
    })
}

/// x times a power of ten.
pub(crate) fn scaled(x: Number, places: u32) -> Number {
    if places == 0 { x } else { multiplied(x, Number::Constant(10i128.pow(places))) }
}

fn added(a: Number, b: Number) -> Number {
    match (a, b) {
        (Number::Constant(a), Number::Constant(b)) => Number::Constant(a + b),
        (Number::Constant(0), x) | (x, Number::Constant(0)) => x,
        (a, b) => Number::Add(Box::new(a), Box::new(b)),
    }
}

fn subtracted(a: Number, b: Number) -> Number {
    match (a, b) {
        (Number::Constant(a), Number::Constant(b)) => Number::Constant(a - b),
        (x, Number::Constant(0)) => x,
        (a, b) => Number::Subtract(Box::new(a), Box::new(b)),
    }
}

fn multiplied(a: Number, b: Number) -> Number {
    match (a, b) {
        (Number::Constant(a), Number::Constant(b)) => a.checked_mul(b).map_or_else(
            || Number::Multiply(Box::new(Number::Constant(a)), Box::new(Number::Constant(b))),
            Number::Constant,
        ),
        (Number::Constant(1), x) | (x, Number::Constant(1)) => x,
        (a, b) => Number::Multiply(Box::new(a), Box::new(b)),
    }
}
