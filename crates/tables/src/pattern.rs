//! Patterns of `like`.

use sqlparser::ast::Expr;

use crate::bind::Binder;
use crate::condition::{Comparison, Condition, Number};
use crate::error::TablesError;
use crate::kind::Kind;
use crate::literal::{Value, mistyped};
use crate::parameter::Meaning;
use crate::ranges::Ranges;

impl Binder<'_> {
    /// The rows whose text matches a pattern, or has an encrypted prefix.
    pub(crate) fn like(
        &self,
        e: &Expr,
        expr: &Expr,
        pattern: &Expr,
    ) -> Result<Condition, TablesError> {
        let column = match self.value(expr)? {
            Value::Coded(column) => column,
            _ => return Err(mistyped(e, "like compares a column of categories")),
        };
        self.check_text(e, column)?;
        match (self.schema.fields()[column].kind(), self.value(pattern)?) {
            (Kind::Category { values }, Value::Text(pattern)) => {
                let pattern: Vec<char> = pattern.chars().collect();
                let matching = |v: &String| matches(&v.chars().collect::<Vec<_>>(), &pattern);
                let places = values.iter().enumerate().filter(|(_, v)| matching(v));
                Ok(Condition::Within { column, codes: Ranges::of(places.map(|(i, _)| i as i128)) })
            }
            (Kind::Category { values }, Value::Parameter(name)) => {
                self.begins(e, column, values, &name)
            }
            _ => Err(mistyped(e, "like compares a column of categories with a text")),
        }
    }

    /// The rows whose text begins with an encrypted prefix: the codes of these texts are an
    /// interval if the texts are in order, and both of its ends are encrypted.
    fn begins(
        &self,
        e: &Expr,
        column: usize,
        values: &[String],
        name: &str,
    ) -> Result<Condition, TablesError> {
        // One code leaves no room for an empty interval.
        if values.len() < 2 || !values.is_sorted() {
            let remedy = "an encrypted prefix takes a column of at least two categories, listed in \
                          the schema in the order of their bytes";
            return Err(TablesError::unsupported(&e.to_string(), remedy));
        }
        let end = |meaning| self.parameter(e, name, column, meaning);
        Ok(match (end(Meaning::First)?, end(Meaning::Last)?) {
            (Some(first), Some(last)) => {
                let [x, first, last] = [column, first, last].map(Number::Column);
                let at_most = |a, b| Condition::Compare(Comparison::LessOrEqual, a, b);
                Condition::And(vec![at_most(first, x.clone()), at_most(x, last)])
            }
            _ => Condition::Constant(true),
        })
    }
}

/// Whether a text matches a pattern in which `%` stands for any text and `_` for any character.
pub(crate) fn matches(text: &[char], pattern: &[char]) -> bool {
    if pattern.iter().filter(|p| **p != '%').count() > text.len() {
        return false;
    }
    // reached[i]: the first i letters are of the pattern so far.
    let mut reached = vec![false; text.len() + 1];
    reached[0] = true;
    for (k, p) in pattern.iter().enumerate() {
        if *p == '%' {
            if k > 0 && pattern[k - 1] == '%' {
                continue;
            }
            let first = reached.iter().position(|r| *r).unwrap_or(text.len() + 1);
            reached.iter_mut().enumerate().for_each(|(i, r)| *r = i >= first);
        } else {
            for i in (1..=text.len()).rev() {
                reached[i] = reached[i - 1] && (*p == '_' || *p == text[i - 1]);
            }
            reached[0] = false;
        }
    }
    reached[text.len()]
}

#[cfg(test)]
mod tests {
    #[test]
    fn patterns() {
        let matches = |text: &str, pattern: &str| {
            let chars = |s: &str| s.chars().collect::<Vec<_>>();
            super::matches(&chars(text), &chars(pattern))
        };
        assert!(matches("PROMO BRUSHED", "PROMO%"));
        assert!(matches("abc", "%b%") && matches("abc", "a_c") && matches("", "%"));
        assert!(matches("abab", "%ab") && matches("aXbXc", "a%b%c"));
        assert!(!matches("abc", "b%") && !matches("abc", "ab") && !matches("", "_"));
    }
}
