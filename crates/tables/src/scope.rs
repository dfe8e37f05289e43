//! The columns of a row to which names in a statement refer.

use sqlparser::ast::Expr;

use crate::error::TablesError;
use crate::foreign::Carried;
use crate::literal::mistyped;
use crate::nearest::did_you_mean;
use crate::schema::Schema;

/// The tables that a statement names.
pub(crate) struct Scope<'a> {
    schema: &'a Schema,
    /// The name of the encrypted table; `None` if the statement is only about partners of its rows.
    own: Option<&'a str>,
    /// The tables that are joined, by their foreign keys, with their names.
    joined: Vec<(&'a Carried, &'a str)>,
    /// Whether carried columns count as columns of the table itself, for example if the whole table
    /// is in the clear.
    whole: bool,
}

/// A column as a statement names it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) place: usize,
    /// For a key, the joined table to which it belongs.
    pub(crate) key_of: Option<usize>,
}

impl<'a> Scope<'a> {
    /// The scope of a query on the table, and on others joined with it.
    pub(crate) fn new(
        schema: &'a Schema,
        own: &'a str,
        joined: Vec<(&'a Carried, &'a str)>,
    ) -> Self {
        Scope { schema, own: Some(own), joined, whole: false }
    }

    /// The scope of a change of the rows of the table, with all columns that they carry.
    pub(crate) fn of_rows(schema: &'a Schema, own: &'a str) -> Self {
        Scope { schema, own: Some(own), joined: Vec::new(), whole: true }
    }

    /// The scope of a change of the columns that rows carry from one table.
    pub(crate) fn of_partner(schema: &'a Schema, carried: &'a Carried, called: &'a str) -> Self {
        Scope { schema, own: None, joined: vec![(carried, called)], whole: false }
    }

    /// The columns that `*` stands for: those of a row, and of the joined tables.
    pub(crate) fn all(&self, width: usize) -> Vec<usize> {
        let own = (0..width).filter(|place| self.schema.carries(*place).is_none());
        let joined = self.joined.iter().flat_map(|(c, _)| c.include.iter().copied());
        self.schema.heads(own.chain(joined)).collect()
    }

    /// The index of the column that an expression names.
    pub(crate) fn place(&self, e: &Expr) -> Result<usize, TablesError> {
        self.find(e).map(|named| named.place)
    }

    /// The column that an expression names, with its table.
    pub(crate) fn find(&self, e: &Expr) -> Result<Named, TablesError> {
        let (table, name) = match e {
            Expr::Identifier(name) => (None, &name.value),
            Expr::CompoundIdentifier(names) => match &names[..] {
                [table, name] => (Some(&table.value[..]), &name.value),
                _ => return Err(mistyped(e, "expected the name of a column")),
            },
            Expr::Nested(inner) => return self.find(inner),
            _ => {
                return Err(TablesError::unsupported(&e.to_string(), "name a column of the table"));
            }
        };
        let is = |called: &str| table.is_none_or(|table| table.eq_ignore_ascii_case(called));
        let mut found: Vec<Named> = Vec::new();
        if self.own.is_some_and(is)
            && let Ok(place) = self.schema.place(name)
            && (self.whole || self.schema.carries(place).is_none())
        {
            found.push(Named { place, key_of: None });
        }
        for (i, (carried, _)) in self.joined.iter().enumerate().filter(|(_, (_, c))| is(c)) {
            let named =
                |place: &usize| self.schema.fields()[*place].name().eq_ignore_ascii_case(name);
            if carried.key.eq_ignore_ascii_case(name) {
                found.push(Named { place: carried.column, key_of: Some(i) });
            } else if let Some(place) = carried.include.iter().copied().find(named) {
                found.push(Named { place, key_of: None });
            }
        }
        match found.first() {
            // Of two columns that are equal in every row either one is meant.
            Some(first) if found.iter().all(|other| other.place == first.place) => Ok(*first),
            Some(_) => Err(mistyped(e, "several tables have this column: write TABLE.COLUMN")),
            None => Err(self.unknown(e, table, name)),
        }
    }

    /// The error for a name that is not the name of a column.
    fn unknown(&self, e: &Expr, table: Option<&str>, name: &str) -> TablesError {
        let called = || self.own.into_iter().chain(self.joined.iter().map(|(_, called)| *called));
        if table.is_some_and(|table| !called().any(|c| c.eq_ignore_ascii_case(table))) {
            let all = called().collect::<Vec<_>>().join(", ");
            return mistyped(e, &format!("the statement is about {all}"));
        }
        let carried = self.schema.place(name).ok().and_then(|place| self.schema.carries(place));
        if let (Some(carried), Some(own)) = (carried, self.own) {
            let told = format!(
                "it is a column of {}: write from {own} join {0} on {}",
                carried.table,
                on(self.schema, carried)
            );
            return mistyped(e, &told);
        }
        let own = (0..self.schema.fields().len()).filter(|place| {
            let own = self.own.is_some() && !self.schema.fields()[*place].is_rest();
            own && (self.whole || self.schema.carries(*place).is_none())
        });
        let fields = self.schema.fields();
        let joined = self.joined.iter().flat_map(|(c, _)| {
            let include = self.schema.heads(c.include.iter().copied());
            let include = include.map(|place| fields[place].name());
            [&c.key[..]].into_iter().chain(include)
        });
        let known: Vec<&str> = own.map(|place| fields[place].name()).chain(joined).collect();
        let mut meant = did_you_mean(name, known.iter().copied());
        if meant.is_empty() {
            meant = format!("; a text is in single quotation marks: '{name}'");
        }
        TablesError::Name { name: name.into(), known: known.join(", "), meant }
    }
}

/// The condition on which a table is joined.
pub(crate) fn on(schema: &Schema, carried: &Carried) -> String {
    format!("{} = {}", schema.fields()[carried.column].name(), carried.key)
}
