//! Indexes: columns whose codes are also stored in unary, by which conditions are decided.
//!
//! Queries name columns and codes. Where a query is laid out for a server, sets of codes of a
//! column with an index, and comparisons of two such columns, become conditions on the columns of
//! the indexes on which they depend.

use std::collections::BTreeSet;

use crate::condition::Condition;
use crate::decided::deciding;
use crate::error::TablesError;
use crate::field::{Field, problem};
use crate::infer::Inferred;
use crate::schema::Schema;

impl Condition {
    /// The same condition, where sets of codes of columns with an index are decided by the index,
    /// and comparisons of two such columns by both.
    #[must_use]
    pub(crate) fn by_index(self, schema: &Schema) -> Condition {
        self.replaced(&|c| match deciding(&c, schema) {
            Some(by) => Condition::Indexed(Box::new(c), by),
            None => c,
        })
    }

    /// The same condition, where nothing is decided by an index.
    #[must_use]
    pub(crate) fn by_digits(self) -> Condition {
        self.replaced(&|c| match c {
            Condition::Indexed(asked, _) => *asked,
            c => c,
        })
    }

    /// The same condition with other ones in the place of those that have no parts.
    fn replaced(self, other: &dyn Fn(Condition) -> Condition) -> Condition {
        let all = |all: Vec<Condition>| all.into_iter().map(|c| c.replaced(other)).collect();
        match self {
            Condition::And(parts) => Condition::And(all(parts)),
            Condition::Or(parts) => Condition::Or(all(parts)),
            Condition::Not(c) => Condition::Not(Box::new(c.replaced(other))),
            c => other(c),
        }
    }

    /// Adds the columns of indexes that decide about its parts.
    pub(crate) fn index_columns(&self, schema: &Schema, out: &mut BTreeSet<usize>) {
        self.each(&mut |c| {
            if let Some(by) = deciding(c, schema) {
                by.reads(out);
            }
        });
    }

    /// Adds the columns that decide about it: of what is decided by an index, not the columns
    /// that the index is of.
    pub(crate) fn reads(&self, out: &mut BTreeSet<usize>) {
        self.each(&mut |c| match c {
            Condition::Indexed(_, by) => by.reads(out),
            c => c.columns(out),
        });
    }

    /// Whether any part of it is decided by an index.
    pub(crate) fn has_indexes(&self) -> bool {
        let mut found = false;
        self.each(&mut |c| found |= matches!(c, Condition::Indexed(..)));
        found
    }

    /// Looks at those of its parts that have no parts.
    fn each(&self, look: &mut dyn FnMut(&Condition)) {
        match self {
            Condition::And(parts) | Condition::Or(parts) => parts.iter().for_each(|c| c.each(look)),
            Condition::Not(c) => c.each(look),
            c => look(c),
        }
    }
}

impl Schema {
    /// The same columns, with an index on those of these names; the case of letters does not
    /// matter.
    ///
    /// # Errors
    /// [`TablesError::Name`] for a name that the schema does not have; those of
    /// [`Field::indexed`] and [`Schema::of`].
    pub fn with_indexes<S: AsRef<str>>(&self, names: &[S]) -> Result<Self, TablesError> {
        let places = names.iter().map(|name| self.place(name.as_ref()));
        let places = places.collect::<Result<BTreeSet<_>, TablesError>>()?;
        let field = |(place, field): (usize, &Field)| match places.contains(&place) {
            true => field.clone().indexed(),
            false => Ok(field.clone()),
        };
        let fields = self.fields().iter().enumerate().map(field);
        let fields = fields.collect::<Result<Vec<_>, TablesError>>()?;
        Self::of(fields)?.with_foreign_keys(self.foreign_keys())
    }

    /// The same for a schema that was inferred, of whose columns `told` tells: it then also says
    /// which ones have an index.
    ///
    /// # Errors
    /// As [`Schema::with_indexes`]; [`TablesError::Schema`] for a column that was left out.
    pub fn with_inferred_indexes<S: AsRef<str>>(
        &self,
        told: &mut [Inferred],
        names: &[S],
    ) -> Result<Self, TablesError> {
        let named = |column: &str| names.iter().any(|n| n.as_ref().eq_ignore_ascii_case(column));
        if let Some(out) = told.iter().find(|i| !i.kept && named(&i.column)) {
            return Err(problem(&out.column, format!("no index is possible: {}", out.told)));
        }
        let schema = self.with_indexes(names)?;
        let indexed = told.iter_mut().filter(|i| i.kept && named(&i.column));
        indexed.for_each(|i| i.told += ", with an index");
        Ok(schema)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranges::Ranges;

    #[test]
    fn sets_are_decided_by_an_index_that_is_there() {
        let schema = Schema::from_json(
            r#"{"columns": [
                {"name": "x", "type": "integer", "low": -5, "high": 40, "index": true}]}"#,
        );
        let schema = schema.unwrap();
        let within = |column: usize, codes: Ranges| Condition::Within { column, codes };
        let set = within(0, Ranges::between(3, 20));
        let indexed = set.clone().by_index(&schema);
        assert!(matches!(indexed, Condition::Indexed(..)));
        for code in -5..=40 {
            assert_eq!(indexed.holds(&|_| code), set.holds(&|_| code), "{code}");
        }
        // What is read is the index, or the column.
        let reads = |condition: &Condition| {
            let mut out = BTreeSet::new();
            condition.reads(&mut out);
            out
        };
        assert!(!reads(&indexed).is_empty() && !reads(&indexed).contains(&0));
        assert!(indexed.has_indexes() && !set.has_indexes());
        assert_eq!(indexed.clone().by_digits(), set);
        assert_eq!(reads(&set), BTreeSet::from([0]));
        let not = |c: Condition| Condition::Not(Box::new(Condition::And(vec![c.clone(), c])));
        assert_eq!(not(set.clone()).by_index(&schema), not(indexed.clone()));
        assert_eq!(not(indexed).by_digits(), not(set.clone()));
        // All codes or none depend on nothing.
        for codes in [Ranges::of([]), Ranges::between(-5, 40), Ranges::between(-90, 90)] {
            let all = within(0, codes);
            assert_eq!(all.clone().by_index(&schema), all);
        }
        assert_eq!(set.clone().by_index(&schema.at([0])), set);
        let behind = within(99, Ranges::of([1]));
        assert_eq!(behind.clone().by_index(&schema), behind);
    }
}
