//! Replacement of parts of expressions of SQL.

use sqlparser::ast::{CaseWhen, Expr, FunctionArg, FunctionArgExpr, FunctionArguments};

use crate::error::TablesError;

/// The replacement of an expression; `None` to keep the expression and replace its own parts.
pub(crate) type Change<'a> = dyn FnMut(&Expr) -> Result<Option<Expr>, TablesError> + 'a;

/// An expression whose parts are replaced from the outside to the inside. Kinds of expressions that
/// queries do not support stay as they are, so that they are refused by name.
pub(crate) fn rewritten(e: &Expr, change: &mut Change<'_>) -> Result<Expr, TablesError> {
    if let Some(other) = change(e)? {
        return Ok(other);
    }
    let mut out = e.clone();
    for part in parts(&mut out) {
        let other = rewritten(part, change)?;
        *part = other;
    }
    Ok(out)
}

/// The parts of an expression.
fn parts(e: &mut Expr) -> Vec<&mut Expr> {
    match e {
        Expr::Nested(x)
        | Expr::UnaryOp { expr: x, .. }
        | Expr::IsNull(x)
        | Expr::IsNotNull(x)
        | Expr::Cast { expr: x, .. } => vec![x],
        Expr::BinaryOp { left, right, .. } => vec![left, right],
        Expr::Between { expr, low, high, .. } => vec![expr, low, high],
        Expr::Like { expr, pattern, .. } => vec![expr, pattern],
        Expr::InList { expr, list, .. } => {
            let mut all: Vec<&mut Expr> = vec![expr];
            all.extend(list);
            all
        }
        Expr::Case { operand, conditions, else_result, .. } => {
            let mut all: Vec<&mut Expr> = operand.iter_mut().map(|x| &mut **x).collect();
            for CaseWhen { condition, result } in conditions {
                all.extend([condition, result]);
            }
            all.extend(else_result.iter_mut().map(|x| &mut **x));
            all
        }
        Expr::Function(function) => {
            let mut all: Vec<&mut Expr> = function.filter.iter_mut().map(|x| &mut **x).collect();
            if let FunctionArguments::List(list) = &mut function.args {
                all.extend(list.args.iter_mut().filter_map(|argument| match argument {
                    FunctionArg::Unnamed(FunctionArgExpr::Expr(x)) => Some(x),
                    _ => None,
                }));
            }
            all
        }
        _ => Vec::new(),
    }
}
