//! Functions and their arguments.

use super::{Parser, Result, instead};
use crate::expression::error::ExpressionError;
use crate::expression::syntax::{Function, Kind, NamedFunction, TypedFunction};
use crate::expression::token::Token;

impl Parser {
    pub(super) fn call(&mut self, column: usize, name: &str) -> Result<Kind> {
        let counts: &[usize] = match name {
            "rotate" => &[1, 2],
            "swap_rows" | "sum" | "refresh" => &[0],
            _ => {
                let (typed, named) = (TypedFunction::ALL, NamedFunction::ALL);
                if let Some(function) = typed.iter().find(|f| f.word() == name) {
                    return self.typed(column, *function);
                }
                if let Some(function) = named.iter().find(|f| f.word() == name) {
                    return self.with_name(column, *function);
                }
                if let Some(way) = instead(name) {
                    let problem = format!("there is no function {name}: {way}");
                    return Err(ExpressionError::new(column, problem));
                }
                if let Some(problem) = several_results(name) {
                    return Err(ExpressionError::new(column, problem));
                }
                let typed = typed.iter().map(|f| f.word());
                let words: Vec<&str> = typed.chain(named.iter().map(|f| f.word())).collect();
                let problem = format!(
                    "there is no function {name}: there are rotate, sum, swap_rows and refresh, \
                     and of typed integers sum, {}",
                    words.join(", ")
                );
                return Err(ExpressionError::new(column, problem));
            }
        };
        self.expect("(")?;
        let operand = self.deeper(column)?;
        let mut numbers = Vec::new();
        while self.accept(",") {
            let at = self.column();
            let negative = self.accept("-");
            match self.next() {
                (_, Token::Integer(value)) => {
                    numbers.push((at, if negative { -(value as i64) } else { value as i64 }))
                }
                (at, found) => {
                    return Err(ExpressionError::new(
                        at,
                        format!("expected an integer, found {}", found.shown()),
                    ));
                }
            }
        }
        self.expect(")")?;
        if !counts.contains(&numbers.len()) {
            let usage = match name {
                "rotate" => "rotate(x, steps) or rotate(x, steps, dimension)".to_string(),
                _ => format!("{name}(x)"),
            };
            let problem = format!("expected {usage}, found {} arguments", 1 + numbers.len());
            return Err(ExpressionError::new(column, problem));
        }
        let function = match (name, numbers.as_slice()) {
            ("rotate", [(_, k), (at, dimension)]) => {
                let dimension = usize::try_from(*dimension).map_err(|_| {
                    ExpressionError::new(
                        *at,
                        format!("expected a dimension from 0, found {dimension}"),
                    )
                })?;
                Function::RotateAlong(dimension, *k)
            }
            ("rotate", [(_, k), ..]) => Function::Rotate(*k),
            ("swap_rows", _) => Function::SwapRows,
            ("sum", _) => Function::Sum,
            _ => Function::Refresh,
        };
        if !operand.has_name() {
            return Err(ExpressionError::new(
                operand.column,
                format!("{name} of a constant: nothing in it is encrypted"),
            ));
        }
        Ok(Kind::Call(function, Box::new(operand)))
    }

    /// A function of typed integers.
    fn typed(&mut self, column: usize, function: TypedFunction) -> Result<Kind> {
        self.expect("(")?;
        let mut arguments = vec![self.deeper(column)?];
        while self.accept(",") {
            arguments.push(self.deeper(column)?);
        }
        self.expect(")")?;
        let (name, expected) = (function.word(), function.arguments());
        if !expected.contains(&arguments.len()) {
            let (least, most, found) = (expected.start(), expected.end(), arguments.len());
            let expected =
                if least == most { least.to_string() } else { format!("{least} or {most}") };
            let problem = format!("expected {expected} arguments of {name}, found {found}");
            return Err(ExpressionError::new(column, problem));
        }
        Ok(Kind::Typed(function, arguments))
    }

    /// A function whose last argument is a name: `table(x, NAME)`.
    fn with_name(&mut self, column: usize, function: NamedFunction) -> Result<Kind> {
        self.expect("(")?;
        let mut arguments = vec![self.deeper(column)?];
        loop {
            self.expect(",")?;
            let last = arguments.len() == *function.arguments().end();
            if last || self.is_last_word() {
                break;
            }
            arguments.push(self.deeper(column)?);
        }
        let (at, token) = self.next();
        let Token::Name(name) = token else {
            let what = match function {
                NamedFunction::Cast | NamedFunction::Wrap => "type",
                _ => "table",
            };
            let problem = format!("expected the name of a {what}, found {}", token.shown());
            return Err(ExpressionError::new(at, problem));
        };
        self.expect(")")?;
        Ok(Kind::Named(function, arguments, name))
    }
}

/// What to write instead of functions with several results: a statement has one.
fn several_results(name: &str) -> Option<String> {
    let way = match name {
        "bincount" => {
            "n0 = count(x == 0); n1 = count(x == 1) and so on, a statement for each value"
        }
        "histogram" => {
            "n0 = count(x < 10); n1 = count(x >= 10 & x < 20) and so on, a statement for each range"
        }
        "divmod" => "q = x / y; r = x % y",
        _ => return None,
    };
    Some(format!("{name} would have several results, and a statement has one: write {way}"))
}
