//! Literals of SQL.

use sqlparser::ast::{DataType, Expr, Value as Literal};

use crate::cell::{parse_date, parse_decimal, places};
use crate::condition::{Condition, Number};
use crate::error::TablesError;

/// What an expression is.
pub(crate) enum Value {
    /// A number in units of 10^-scale.
    Number(Number, u32),
    /// A column of dates, truth values or categories.
    Coded(usize),
    /// A date, in days.
    Date(i128),
    /// A text.
    Text(String),
    /// A condition.
    Condition(Condition),
    /// A constant that is encrypted, by its name.
    Parameter(String),
}

impl Value {
    pub(crate) fn literal(e: &Expr, literal: &Literal) -> Result<Self, TablesError> {
        match literal {
            Literal::Number(text, _) => {
                let scale = places(text);
                let units = parse_decimal(text, scale).filter(|_| scale <= 18);
                let units = units.ok_or_else(|| mistyped(e, "expected digits and a point"))?;
                Ok(Value::Number(Number::Constant(units), scale))
            }
            Literal::Boolean(value) => Ok(Value::Condition(Condition::Constant(*value))),
            Literal::Placeholder(text) => match text.strip_prefix(':') {
                Some(name) => Ok(Value::Parameter(name.into())),
                None => Err(mistyped(e, "write an encrypted constant as :name")),
            },
            Literal::Null => Err(TablesError::unsupported("null", "write is null, or is not null")),
            literal => match text_of(literal) {
                Some(text) => Ok(Value::Text(text.into())),
                None => Err(TablesError::unsupported(
                    &e.to_string(),
                    "write numbers, 'texts' and dates",
                )),
            },
        }
    }
}

/// The days of `date 'YYYY-MM-DD'`.
pub(crate) fn date_of(e: &Expr) -> Result<i128, TablesError> {
    let days = match e {
        Expr::TypedString(s) if s.data_type == DataType::Date => {
            text_of(&s.value.value).and_then(parse_date)
        }
        _ => None,
    };
    days.ok_or_else(|| mistyped(e, "expected a date: date 'YYYY-MM-DD'"))
}

/// An expression that has no value.
pub(crate) fn mistyped(e: &Expr, problem: &str) -> TablesError {
    TablesError::Type { expression: e.to_string(), problem: problem.into() }
}

/// Whether a literal is a text.
pub(crate) fn text_of(literal: &Literal) -> Option<&str> {
    match literal {
        Literal::SingleQuotedString(text) => Some(text),
        _ => None,
    }
}
