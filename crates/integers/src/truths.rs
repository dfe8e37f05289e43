//! Which results of text programs are integers even where they can only be 0 and 1, such as places
//! and counts, and no truth values.

use std::collections::BTreeMap;

use everlevel_circuit::expression::{Kind, NamedFunction, Node, Operator, Program, TypedFunction};

use crate::types::Type;

/// The values of a program by name, those of its inputs included, each with whether its entries are
/// integers even where they can only be 0 and 1: places, counts and sums, and what is computed of
/// them, but for comparisons and tables. `inputs` says it of inputs; others are as their range
/// tells.
///
/// It follows from the text alone, and says nothing of how anything is computed. Cost: one pass
/// over the program.
pub fn integers_of(program: &Program, inputs: &BTreeMap<String, bool>) -> BTreeMap<String, bool> {
    let mut known = inputs.clone();
    for statement in program.statements() {
        let found = are_integers(&statement.value, &known);
        known.insert(statement.name.clone(), found);
    }
    known
}

/// The same of a part of a program.
fn are_integers(node: &Node, known: &BTreeMap<String, bool>) -> bool {
    let any = |parts: &[Node]| parts.iter().any(|part| are_integers(part, known));
    match &node.kind {
        Kind::Constant(_) | Kind::Not(_) | Kind::Power(_, 0) => false,
        Kind::Name(name) => known.get(name).copied().unwrap_or(false),
        Kind::Negative(x) | Kind::Power(x, _) => are_integers(x, known),
        Kind::Sum(terms) => terms.iter().any(|(_, term)| are_integers(term, known)),
        Kind::Product(factors) => any(factors),
        // Sums of columns can only be decrypted.
        Kind::Call(..) => true,
        Kind::Binary(operator, a, b) => {
            !is_comparison(*operator) && (are_integers(a, known) || are_integers(b, known))
        }
        // A condition chooses only.
        Kind::Typed(TypedFunction::If, arguments) => any(arguments.get(1..).unwrap_or_default()),
        Kind::Typed(function, arguments) => counts(*function) || any(arguments),
        Kind::Named(function, arguments, name) => match function {
            NamedFunction::Table | NamedFunction::Isin => false,
            NamedFunction::Searchsorted | NamedFunction::Dot => true,
            NamedFunction::Cast | NamedFunction::Wrap => {
                name.parse::<Type>() != Ok(Type::Bool) && any(arguments)
            }
        },
    }
}

fn is_comparison(operator: Operator) -> bool {
    match operator {
        Operator::Less
        | Operator::LessOrEqual
        | Operator::Greater
        | Operator::GreaterOrEqual
        | Operator::Equal
        | Operator::NotEqual => true,
        Operator::And
        | Operator::Or
        | Operator::ShiftLeft
        | Operator::ShiftRight
        | Operator::Divide
        | Operator::Remainder => false,
    }
}

/// Whether results of a function are places, counts or sums.
fn counts(function: TypedFunction) -> bool {
    match function {
        TypedFunction::Count
        | TypedFunction::Mean
        | TypedFunction::Argmax
        | TypedFunction::Argmin
        | TypedFunction::Argsort
        | TypedFunction::Argnth
        | TypedFunction::Cumsum
        | TypedFunction::Popcount
        | TypedFunction::Ranks
        | TypedFunction::Total => true,
        TypedFunction::If
        | TypedFunction::Min
        | TypedFunction::Max
        | TypedFunction::Abs
        | TypedFunction::Clip
        | TypedFunction::Xor
        | TypedFunction::Median
        | TypedFunction::Sort
        | TypedFunction::Sign
        | TypedFunction::Maximum
        | TypedFunction::Minimum
        | TypedFunction::Nth
        | TypedFunction::Quantile
        | TypedFunction::WithoutIndex => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_counts_are_no_truth_values() {
        let inputs = BTreeMap::from([("x".into(), false), ("n".into(), true)]);
        let text = "p = argmax(x); s = argsort(x); q = p % 2; r = p == 1; c = x < 3; \
                    m = maximum(x); k = if(p == 0, n, x); l = if(n == 0, x, c); \
                    b = cast(n, bool); w = wrap(n, u8); i = isin(n, t); o = searchsorted(x, t); \
                    e = table(n, t); v = !n; y = 2*n + x; d = n & x; f = total(x); \
                    g = nth(n, 1); h = nth(x, 1); j = -n";
        let program = Program::parse(text).unwrap();
        let found = integers_of(&program, &inputs);
        let integers: Vec<&str> = found
            .iter()
            .filter(|(_, integers)| **integers)
            .map(|(name, _)| name.as_str())
            .collect();
        let expected = ["d", "f", "g", "j", "k", "n", "o", "p", "q", "s", "w", "y"];
        assert_eq!(integers, expected);
        assert_eq!(found.len(), inputs.len() + 20);
    }
}
