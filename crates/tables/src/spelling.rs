//! Other spellings of supported expressions, which programs that write SQL use.

use sqlparser::ast::{
    CastKind, DataType, ExactNumberInfo, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArguments, Ident, ObjectName, TypedString, UnaryOperator, Value,
};

use crate::cell::{format_decimal, parse_date, parse_decimal, places};
use crate::error::TablesError;
use crate::literal::text_of;

/// The largest number of decimal places of a number.
const PLACES: u32 = 18;

/// The same expression in the spelling of queries, if it is written in another one:
/// `make_date(2026, 1, 31)`, `cast('2026-01-31' as date)` and casts of other literals,
/// `starts_with(x, 'a')`, `ends_with`, `contains`, `quantile_cont(x, 0.5)`.
///
/// # Errors
/// [`TablesError::Unsupported`] for a text with `%` or `_`, which would be wildcards in `like`.
pub(crate) fn spelled(e: &Expr) -> Result<Option<Expr>, TablesError> {
    match e {
        Expr::Function(function) => called(e, function),
        Expr::Cast {
            kind: CastKind::Cast | CastKind::DoubleColon,
            expr,
            data_type,
            format: None,
        } => Ok(cast(expr, data_type)),
        _ => Ok(None),
    }
}

fn called(e: &Expr, function: &Function) -> Result<Option<Expr>, TablesError> {
    let arguments = arguments(function);
    let texts: Vec<Option<String>> = arguments.iter().map(written).collect();
    let name = function.name.to_string().to_lowercase();
    let all_rows = function.filter.is_none();
    let around = match (&name[..], &texts[..]) {
        ("make_date", [Some(year), Some(month), Some(day)]) if all_rows => {
            let date = format!("{year:0>4}-{month:0>2}-{day:0>2}");
            return Ok(parse_date(&date).map(|_| date_literal(date)));
        }
        ("quantile_cont", [_, Some(half)]) if parse_decimal(half, 1) == Some(5) => {
            let mut median = function.clone();
            median.name = ObjectName::from(vec![Ident::new("median")]);
            if let FunctionArguments::List(list) = &mut median.args {
                list.args.truncate(1);
            }
            return Ok(Some(Expr::Function(median)));
        }
        ("starts_with" | "prefix", [_, Some(_)]) if all_rows => ("", "%"),
        ("ends_with" | "suffix", [_, Some(_)]) if all_rows => ("%", ""),
        ("contains", [_, Some(_)]) if all_rows => ("%", "%"),
        _ => return Ok(None),
    };
    let ([x, text], (before, after)) = (&arguments[..], around) else { return Ok(None) };
    let Expr::Value(value) = text else { return Ok(None) };
    let Some(text) = text_of(&value.value) else { return Ok(None) };
    if text.contains(['%', '_']) {
        return Err(TablesError::unsupported(
            &e.to_string(),
            "% and _ stand for other letters in like, which this becomes: list the texts with in",
        ));
    }
    let pattern = Value::SingleQuotedString(format!("{before}{text}{after}"));
    Ok(Some(Expr::Like {
        negated: false,
        any: false,
        expr: Box::new(x.clone()),
        pattern: Box::new(Expr::Value(pattern.into())),
        escape_char: None,
    }))
}

/// The arguments of a function that has only expressions, and possibly a filter.
fn arguments(function: &Function) -> Vec<Expr> {
    let FunctionArguments::List(list) = &function.args else { return Vec::new() };
    let plain = list.duplicate_treatment.is_none()
        && list.clauses.is_empty()
        && function.over.is_none()
        && function.within_group.is_empty()
        && function.null_treatment.is_none()
        && function.parameters == FunctionArguments::None;
    let of = |argument: &FunctionArg| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(x)) => Some(x.clone()),
        _ => None,
    };
    let all: Option<Vec<Expr>> = list.args.iter().map(of).collect();
    all.filter(|_| plain).unwrap_or_default()
}

/// The text of a number or of a text.
fn written(e: &Expr) -> Option<String> {
    match e {
        Expr::Value(value) => match &value.value {
            Value::Number(text, _) => Some(text.clone()),
            literal => text_of(literal).map(Into::into),
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match &**expr {
            Expr::Value(value) => match &value.value {
                Value::Number(text, _) => Some(format!("-{text}")),
                _ => None,
            },
            _ => None,
        },
        Expr::Nested(inner) => written(inner),
        _ => None,
    }
}

/// A literal that is cast to a type that holds it as it is.
fn cast(e: &Expr, to: &DataType) -> Option<Expr> {
    let text = written(e)?;
    let all = (i128::MIN, i128::MAX);
    let (scale, (least, most)) = match to {
        DataType::Date => return parse_date(&text).map(|_| date_literal(text)),
        DataType::Text | DataType::Varchar(None) if text_literal(e) => return Some(e.clone()),
        DataType::Decimal(ExactNumberInfo::PrecisionAndScale(precision, scale))
        | DataType::Numeric(ExactNumberInfo::PrecisionAndScale(precision, scale)) => {
            let most = 10i128.checked_pow(u32::try_from(*precision).ok()?)? - 1;
            (u32::try_from(*scale).ok()?, (-most, most))
        }
        DataType::TinyInt(None) => (0, (i8::MIN.into(), i8::MAX.into())),
        DataType::SmallInt(None) => (0, (i16::MIN.into(), i16::MAX.into())),
        DataType::Int(None) | DataType::Integer(None) => (0, (i32::MIN.into(), i32::MAX.into())),
        DataType::BigInt(None) => (0, (i64::MIN.into(), i64::MAX.into())),
        DataType::HugeInt => (0, all),
        // The decimal number that it is written as.
        DataType::Double(ExactNumberInfo::None)
        | DataType::DoublePrecision
        | DataType::Real
        | DataType::Float(ExactNumberInfo::None) => (places(&text), all),
        _ => return None,
    };
    if scale.max(places(&text)) > PLACES {
        return None;
    }
    // More places than the type has would be rounded, and what it does not hold is no number.
    let units = parse_decimal(&text, scale).filter(|units| (least..=most).contains(units))?;
    let absolute = format_decimal(units.checked_abs()?, scale);
    let number = Expr::Value(Value::Number(absolute, false).into());
    Some(match units < 0 {
        true => {
            let minus = Expr::UnaryOp { op: UnaryOperator::Minus, expr: Box::new(number) };
            Expr::Nested(Box::new(minus))
        }
        false => number,
    })
}

fn text_literal(e: &Expr) -> bool {
    matches!(e, Expr::Value(value) if text_of(&value.value).is_some())
}

fn date_literal(text: String) -> Expr {
    Expr::TypedString(TypedString {
        data_type: DataType::Date,
        value: Value::SingleQuotedString(text).into(),
        uses_odbc_syntax: false,
    })
}
