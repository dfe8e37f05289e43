//! Encrypted constants of queries: `:name` in their text.

use crate::error::TablesError;
use crate::field::Field;
use crate::kind::Kind;
use crate::schema::Schema;

/// The prefix of the names of the constants of a round of a search, which is followed by a number
/// from 1.
pub(crate) const NAME: &str = "search_";

/// A constant of a query that is encrypted. A prefix is two of them with one name, for the interval
/// of the codes of the texts that begin with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name, without the colon.
    pub name: String,
    /// The index of a column that it is compared with, and whose values it can have.
    pub column: usize,
    /// Which code it is.
    pub meaning: Meaning,
}

/// Which code of its column an encrypted constant is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// That of its value.
    Value,
    /// The first code of the texts with a prefix.
    First,
    /// The last code of these texts.
    Last,
}

impl Parameter {
    /// The name of its column, without the colon. No name in a query has a blank.
    pub(crate) fn label(&self) -> String {
        match self.meaning {
            Meaning::Value => self.name.clone(),
            Meaning::First => format!("{} first", self.name),
            Meaning::Last => format!("{} last", self.name),
        }
    }

    /// Its code for a value, as text, or for a prefix that is followed by `%`; `None` for other
    /// texts.
    pub fn code(&self, text: &str, schema: &Schema) -> Option<i128> {
        let field = &schema.fields()[self.column];
        let ends = match (self.meaning, field.kind()) {
            (Meaning::Value, _) => {
                let (low, high) = field.values();
                return field.code(text).filter(|code| (low..=high).contains(code));
            }
            (_, Kind::Category { values }) => prefixed(values, text)?,
            _ => return None,
        };
        Some(if self.meaning == Meaning::First { ends.0 } else { ends.1 })
    }

    /// A description of the texts that have a code.
    pub fn expected(&self, schema: &Schema) -> String {
        match self.meaning {
            Meaning::Value => schema.fields()[self.column].expected_value(),
            _ => "the beginning of texts and then %, with no other % or _".into(),
        }
    }
}

/// The first and the last code of the texts, in order, that match `prefix%`. If there are none, the
/// last one is below the first, so that no code is between them. `None` for other patterns.
fn prefixed(values: &[String], pattern: &str) -> Option<(i128, i128)> {
    let prefix = pattern.strip_suffix('%').filter(|prefix| !prefix.contains(['%', '_']))?;
    let first = values.partition_point(|value| value.as_str() < prefix);
    let count = values[first..].iter().take_while(|value| value.starts_with(prefix)).count();
    Some(match count {
        0 => (1, 0),
        count => (first as i128, (first + count - 1) as i128),
    })
}

/// The columns of a table and those for encrypted constants.
pub(crate) fn with_parameters(
    schema: &Schema,
    parameters: &[Parameter],
) -> Result<Schema, TablesError> {
    let constant = |p: &Parameter| {
        Field::new(format!(":{}", p.label()), schema.fields()[p.column].kind().clone(), false)
    };
    schema.followed_by(parameters.iter().map(constant).collect::<Result<Vec<_>, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::prefixed;

    #[test]
    fn prefixes_are_intervals_of_sorted_texts() {
        let values = ["", "a", "ab", "abc", "b", "ba", "é", "éa", "\u{10ffff}"].map(String::from);
        assert!(values.is_sorted());
        for prefix in ["", "a", "ab", "abc", "abcd", "aa", "b", "bb", "c", "é", "éb", "\u{10ffff}"]
        {
            let (first, last) = prefixed(&values, &format!("{prefix}%")).unwrap();
            for (code, value) in (0..).zip(&values) {
                assert_eq!((first..=last).contains(&code), value.starts_with(prefix), "{prefix}");
            }
            assert!(0 <= last && first < 9, "both are codes");
        }
        for other in ["a", "", "%a", "a%%", "%%", "a_%", "_"] {
            assert_eq!(prefixed(&values, other), None, "{other}");
        }
    }
}
