//! Queries on a table, bound to its schema.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::condition::{Condition, Number};
use crate::error::TablesError;
use crate::field::Field;
use crate::formula::{Formula, Having};
use crate::parameter::{Meaning, Parameter, with_parameters};
use crate::quantile::Quantile;
use crate::schema::Schema;

/// The function by which the numbers of the rows of a group are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fold {
    /// Their sum.
    Sum,
    /// The least value; for a column of categories, the first text.
    Least,
    /// The greatest value; for a column of categories, the last text.
    Greatest,
    /// A quantile, times its denominator: for the median, the sum of the two middle values.
    Quantile(Quantile),
    /// The number of distinct values.
    Distinct,
}

/// An aggregate of the rows of a group; 0 for no rows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Aggregate {
    /// A sum, or another function, which the reader computes from listed rows.
    pub fold: Fold,
    /// Its number in each row: 1 for a count.
    pub value: Number,
    /// The rows that it covers, among those of the query.
    pub when: Condition,
}

/// A column of the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Formula,
}

/// A key by which the rows of an answer are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OrderKey {
    /// The index of an output.
    pub output: usize,
    /// Whether the greatest value comes first.
    pub descending: bool,
    /// Whether missing values come before all values, and not after them.
    pub nulls_first: bool,
}

/// The party that orders rows for `min`, `max`, `median` and `order by … limit`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderedBy {
    /// The reader, of all rows that meet the condition: the server lists them, without
    /// bootstrapping, and the answer has as many ciphertexts as the table has blocks.
    #[default]
    Reader,
    /// The server, which has to bootstrap: the reader learns the answer and no other rows.
    Server,
}

impl OrderedBy {
    pub(crate) fn is_reader(&self) -> bool {
        *self == OrderedBy::Reader
    }
}

/// A query: sums over groups of the rows that meet a condition, or these rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The condition on rows.
    pub filter: Condition,
    /// The columns whose entries the server lists for each row that meets the condition, and from
    /// which the reader computes the answer; `None` if the server adds up the aggregates of all
    /// groups.
    pub listed: Option<Vec<usize>>,
    /// The columns by which rows are grouped; without aggregates, the columns of the answer.
    pub groups: Vec<usize>,
    /// The aggregates of each group, of which the first counts its rows; empty if the query asks
    /// for the rows themselves.
    pub aggregates: Vec<Aggregate>,
    /// The condition on groups, by their aggregates; `None` for all groups that have rows.
    pub having: Option<Having>,
    /// The columns of the answer.
    pub outputs: Vec<Output>,
    /// The order of its rows, the most significant key first.
    pub order: Vec<OrderKey>,
    /// The largest number of its rows.
    pub limit: Option<usize>,
    /// The party that orders rows.
    pub ordered_by: OrderedBy,
    /// The encrypted constants. They are additional columns of each row, after those of the table:
    /// see [`Query::rows`].
    pub parameters: Vec<Parameter>,
}

/// The largest number of groups of a query; each group has the same cost.
pub const MOST_GROUPS: i128 = 256;

impl Query {
    /// The same query on a table that has only these columns, in this order; they must include
    /// those that it uses.
    #[must_use]
    pub(crate) fn of_columns(&self, columns: &BTreeSet<usize>) -> Query {
        let place = |column: usize| columns.range(..column).count();
        let aggregate = |a: &Aggregate| Aggregate {
            fold: a.fold,
            value: a.value.moved(&place),
            when: a.when.moved(&place),
        };
        Query {
            filter: self.filter.moved(&place),
            listed: self.listed.as_ref().map(|all| all.iter().map(|c| place(*c)).collect()),
            groups: self.groups.iter().map(|column| place(*column)).collect(),
            aggregates: self.aggregates.iter().map(aggregate).collect(),
            ..self.clone()
        }
    }

    /// The columns of a row of a table with this schema: those of the table, and then one for each
    /// encrypted constant, named as in the query.
    ///
    /// # Errors
    /// [`TablesError::Schema`] for too many columns, or if the table has columns with these names.
    pub fn rows(&self, schema: &Schema) -> Result<Schema, TablesError> {
        with_parameters(schema, &self.parameters)
    }

    /// The query for all rows, with all their columns, including those that they carry from other
    /// tables.
    pub fn of_all(schema: &Schema) -> Query {
        let groups: Vec<usize> = schema.heads(0..schema.fields().len()).collect();
        let output = |(i, place): (usize, &usize)| Output {
            name: schema.fields()[*place].name().into(),
            value: Formula::Group(i),
        };
        Query {
            filter: Condition::Constant(true),
            listed: Some(schema.values().collect()),
            outputs: groups.iter().enumerate().map(output).collect(),
            groups,
            aggregates: Vec::new(),
            having: None,
            order: Vec::new(),
            limit: None,
            ordered_by: OrderedBy::Reader,
            parameters: Vec::new(),
        }
    }

    /// The indices of the columns from which its answer is computed.
    pub fn columns(&self) -> BTreeSet<usize> {
        let mut out: BTreeSet<usize> = self.groups.iter().copied().collect();
        out.extend(self.listed.iter().flatten());
        self.filter.columns(&mut out);
        for aggregate in &self.aggregates {
            aggregate.value.columns(&mut out);
            aggregate.when.columns(&mut out);
        }
        out
    }

    /// The indices of the columns of indexes by which the server decides conditions and tells
    /// groups apart. Conditions on one column are joined, about which their columns decide, too.
    pub(crate) fn index_columns(&self, schema: &Schema) -> BTreeSet<usize> {
        let mut out = BTreeSet::new();
        self.filter.index_columns(schema, &mut out);
        // Listed rows are grouped by the reader.
        if self.listed.is_none() {
            self.aggregates.iter().for_each(|a| a.when.index_columns(schema, &mut out));
            let groups = self.groups.iter().filter_map(|place| schema.index(*place));
            out.extend(groups.flat_map(|index| index.columns().collect::<Vec<_>>()));
        }
        out
    }

    /// The encrypted constants that the asker gives, each of which has a name of its own.
    pub fn constants(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().filter(|p| p.meaning != Meaning::Last)
    }

    /// Whether a column of a row is for an encrypted constant.
    pub(crate) fn is_constant(&self, field: &Field) -> bool {
        let name = field.name().strip_prefix(':');
        name.is_some_and(|name| self.parameters.iter().any(|p| p.label() == name))
    }

    /// Checks that there is a code for each encrypted constant.
    pub(crate) fn check_constants(&self, constants: &[i128]) -> Result<(), TablesError> {
        let (found, count) = (constants.len(), self.parameters.len());
        if found == count {
            return Ok(());
        }
        let problem = format!("{found} constants, and the query has {count}");
        Err(TablesError::Constants { problem })
    }

    /// The column whose values a column of the answer shows; `None` for computed numbers.
    pub(crate) fn column_of(&self, formula: &Formula) -> Option<usize> {
        match formula {
            Formula::Group(place) => self.groups.get(*place).copied(),
            Formula::Code { column, .. } => Some(*column),
            Formula::Over(_, inner) => self.column_of(inner),
            _ => None,
        }
    }

    /// Whether there are aggregates of groups other than sums.
    pub(crate) fn orders_groups(&self) -> bool {
        self.aggregates.iter().any(|a| a.fold != Fold::Sum)
    }

    /// The aggregates whose values the answer uses. Of the others, which count the rows of a group
    /// or those of a least value, it only uses whether they are 0.
    pub(crate) fn valued(&self) -> BTreeSet<usize> {
        let mut out = BTreeSet::new();
        let ordered = |place: usize| self.aggregates[place].fold != Fold::Sum;
        self.outputs.iter().for_each(|o| o.value.valued(&ordered, &mut out));
        if let Some(having) = &self.having {
            having.valued(&ordered, &mut out);
        }
        out
    }

    /// The codes of the columns of every group, whether or not it has rows; empty if rows are
    /// listed.
    pub fn group_codes(&self, schema: &Schema) -> Vec<Vec<i128>> {
        if self.listed.is_some() {
            return Vec::new();
        }
        let mut groups = vec![Vec::new()];
        for place in &self.groups {
            let (low, high) = schema.fields()[*place].bounds();
            groups = groups
                .into_iter()
                .flat_map(|g| (low..=high).map(move |code| [&g[..], &[code]].concat()))
                .collect();
        }
        groups
    }
}
