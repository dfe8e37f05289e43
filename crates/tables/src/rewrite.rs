//! Expressions of SQL with parts of them replaced.

use sqlparser::ast::{CaseWhen, Expr, FunctionArg, FunctionArgExpr, FunctionArguments};

use crate::error::TablesError;

/// What takes the place of an expression; none: the same with its own parts replaced.
pub(crate) type Change<'a> = dyn FnMut(&Expr) -> Result<Option<Expr>, TablesError> + 'a;

/// An expression whose parts, from the outside to the inside, are replaced. Expressions of kinds
/// that queries do not have stay as they are, to be refused by name.
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

/// What an expression is made of.
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
