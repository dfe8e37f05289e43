//! Patterns of `like`.

use std::str::Chars;

use sqlparser::ast::Expr;

use crate::bind::{Binder, STEPS};
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
                let mut steps = self.steps.get();
                let mut codes = Vec::new();
                for (code, value) in (0i128..).zip(values) {
                    match matches(value, &pattern, &mut steps) {
                        Some(true) => codes.push(code),
                        Some(false) => {}
                        None => return Err(self.too_many_steps(column)),
                    }
                }
                self.steps.set(steps);
                Ok(Condition::Within { column, codes: Ranges::of(codes) })
            }
            (Kind::Category { values }, Value::Parameter(name)) => {
                self.begins(e, column, values, &name)
            }
            _ => Err(mistyped(e, "like compares a column of categories with a text")),
        }
    }

    /// The error for patterns that take more comparisons of characters than the limit.
    fn too_many_steps(&self, column: usize) -> TablesError {
        TablesError::unsupported(
            &format!(
                "like on {:?} with more than {STEPS} comparisons of characters in all patterns of \
                 the query",
                self.schema.fields()[column].name()
            ),
            "shorten the patterns, or list the categories that are meant with in",
        )
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

/// Whether a text matches a pattern in which `%` stands for any text and `_` for any character;
/// `None` if this takes more than the number of steps that are left, from which the steps taken are
/// subtracted.
///
/// What follows a `%` is looked for from left to right, and the first place that fits is kept until
/// the next `%`: a later place would leave less text for what follows.
fn matches(text: &str, pattern: &[char], steps: &mut u64) -> Option<bool> {
    let (mut rest, mut place) = (text.chars(), 0);
    // The place after the last `%`, and the text that begins where what follows it was tried.
    let mut last: Option<(usize, Chars<'_>)> = None;
    loop {
        *steps = steps.checked_sub(1)?;
        if pattern.get(place) == Some(&'%') {
            place += 1;
            if place == pattern.len() {
                return Some(true);
            }
            last = Some((place, rest.clone()));
            continue;
        }
        let Some(letter) = rest.next() else {
            // At a later place, there would be even less text.
            return Some(place == pattern.len());
        };
        if pattern.get(place).is_some_and(|p| *p == '_' || *p == letter) {
            place += 1;
            continue;
        }
        let Some((after, tried)) = &mut last else { return Some(false) };
        tried.next();
        (place, rest) = (*after, tried.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Query;
    use crate::schema::Schema;

    /// By the definition of patterns.
    fn plainly(text: &[char], pattern: &[char]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some(('%', rest)) => (0..=text.len()).any(|i| plainly(&text[i..], rest)),
            Some((p, rest)) => {
                text.first().is_some_and(|t| *p == '_' || p == t) && plainly(&text[1..], rest)
            }
        }
    }

    /// All texts of at most this many of some letters.
    fn texts(letters: &[char], most: usize) -> Vec<Vec<char>> {
        let (mut all, mut longest) = (vec![Vec::new()], vec![Vec::new()]);
        for _ in 0..most {
            let longer = |text: &Vec<char>| {
                letters.iter().map(|c| [&text[..], &[*c]].concat()).collect::<Vec<_>>()
            };
            longest = longest.iter().flat_map(longer).collect();
            all.extend(longest.iter().cloned());
        }
        all
    }

    #[test]
    fn patterns() {
        let matches = |text: &str, pattern: &str| {
            let pattern: Vec<char> = pattern.chars().collect();
            matches(text, &pattern, &mut 1_000).unwrap()
        };
        assert!(matches("PROMO BRUSHED", "PROMO%"));
        assert!(matches("abc", "%b%") && matches("abc", "a_c") && matches("", "%"));
        assert!(matches("abab", "%ab") && matches("aXbXc", "a%b%c"));
        assert!(!matches("abc", "b%") && !matches("abc", "ab") && !matches("", "_"));
    }

    #[test]
    fn all_short_texts_match_as_defined() {
        // A character of two bytes is one for `_`, and a backslash is a character like others.
        let patterns = texts(&['a', 'é', '\\', '%', '_'], 5);
        for text in texts(&['a', 'é', '\\'], 4).into_iter().chain(texts(&['a', 'é'], 6)) {
            let whole: String = text.iter().collect();
            for pattern in &patterns {
                // One for each character, `%` and end, at each place where the text may begin.
                let most = (text.len() + 1) * (pattern.len() + 1);
                let found = matches(&whole, pattern, &mut (most as u64));
                assert_eq!(found, Some(plainly(&text, pattern)), "{whole:?} like {pattern:?}");
            }
        }
    }

    fn schema(values: &[String]) -> Schema {
        let kind = Kind::Category { values: values.to_vec() };
        Schema::new([("kind".to_string(), kind)]).unwrap()
    }

    /// The longest categories and patterns: a product of both lengths would be 2^36.
    #[test]
    fn long_patterns_are_bound_in_bounded_time() {
        let schema = schema(&["a".repeat(1_000_000), "b".into()]);
        let asked = |pattern: &str| {
            let text = format!("select count(*) from t where kind like '{pattern}'");
            Query::parse(&text, &schema)
        };
        for pattern in [
            "a".repeat(60_000),
            "_".repeat(60_000),
            "%".repeat(60_000),
            "%a".repeat(30_000),
            format!("{}%", "a".repeat(60_000)),
            format!("%b{}", "a".repeat(60_000)),
        ] {
            asked(&pattern).unwrap();
        }
        // A pattern that matches at every place but for its end is refused, not tried for hours.
        let error = asked(&format!("%{}b%", "a".repeat(60_000))).unwrap_err();
        assert_eq!(error.code(), "table.unsupported");
        assert!(error.to_string().len() < 300, "{error}");
    }

    #[test]
    fn the_limit_is_of_all_patterns_of_a_query() {
        let schema = schema(&["a".repeat(1_000_000), "b".into()]);
        let asked = |patterns: usize| {
            let all: Vec<String> = (0..patterns).map(|i| format!("kind like '%b{i}'")).collect();
            let text = format!("select count(*) from t where {}", all.join(" or "));
            Query::parse(&text, &schema)
        };
        // Each takes a step for each character, so that 134 of them are within the limit.
        asked(60).unwrap();
        assert_eq!(asked(200).unwrap_err().code(), "table.unsupported");
    }
}
