//! Literals of SQL.

use sqlparser::ast::{DataType, Expr, TimezoneInfo, Value as Literal};

use crate::cell::{parse_date, parse_decimal, places};
use crate::condition::{Condition, Number};
use crate::error::TablesError;
use crate::timestamp::Timestamp;

/// The value of an expression.
pub(crate) enum Value {
    /// A number in units of 10^-scale.
    Number(Number, u32),
    /// A column of dates, truth values or categories.
    Coded(usize),
    /// A date, in days.
    Date(i128),
    /// A point in time.
    Timestamp(Timestamp),
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

/// The value of `date 'YYYY-MM-DD'`, or of a date and time.
pub(crate) fn moment(e: &Expr) -> Result<Value, TablesError> {
    let Expr::TypedString(typed) = e else {
        return Err(mistyped(e, "expected a date, or a date and time"));
    };
    let text = text_of(&typed.value.value);
    let (found, expected) = match &typed.data_type {
        DataType::Date => {
            (text.and_then(parse_date).map(Value::Date), "expected a date: date 'YYYY-MM-DD'")
        }
        DataType::Timestamp(None, zone) => {
            // An offset is neither made up nor passed over.
            let utc = matches!(zone, TimezoneInfo::Tz | TimezoneInfo::WithTimeZone);
            let midnight = |text| parse_date(text).and_then(Timestamp::of_day);
            let at = text.and_then(|text| Timestamp::parse(text).or_else(|| midnight(text)));
            (
                at.filter(|at| at.utc == utc).map(Value::Timestamp),
                "expected a date and time: timestamp 'YYYY-MM-DD HH:MM:SS', or timestamptz \
                 'YYYY-MM-DD HH:MM:SSZ' with an offset such as Z or +02:00",
            )
        }
        _ => (None, "expected date, timestamp or timestamptz before the text"),
    };
    found.ok_or_else(|| mistyped(e, expected))
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
