//! Queries on a table, bound to its schema.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::condition::{Condition, Number};
use crate::error::TablesError;
use crate::field::Field;
use crate::formula::{Formula, Having};
use crate::schema::Schema;

/// The function by which the numbers of the rows of a group are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fold {
    /// Their sum.
    Sum,
    /// The least; of a column of categories the first text.
    Least,
    /// The greatest; of a column of categories the last text.
    Greatest,
    /// Twice the median: the sum of the two middle values.
    Middle,
    /// The number of distinct values.
    Distinct,
}

/// An aggregate of the rows of a group; 0 for no rows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Aggregate {
    /// A sum, or what a reader makes of rows that are listed.
    pub fold: Fold,
    /// Its number in each row: 1 for a count.
    pub value: Number,
    /// The rows among those that the query asks for.
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

/// What the rows of an answer are ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OrderKey {
    /// The place of an output.
    pub output: usize,
    /// Whether the greatest comes first.
    pub descending: bool,
    /// Whether what is missing comes before all values, and not behind them.
    pub nulls_first: bool,
}

/// A constant of a query that is encrypted: `:name` in its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name, without the colon.
    pub name: String,
    /// The place of a column that it is compared with, whose values it can have.
    pub column: usize,
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
    /// The columns whose entries the server lists, for each row that is meant, and of which the
    /// reader makes the answer; none: the server adds up the aggregates of all groups.
    pub listed: Option<Vec<usize>>,
    /// The columns that they are grouped by; without aggregates the columns of the answer.
    pub groups: Vec<usize>,
    /// What is made of each group. The first one counts its rows. None: the rows themselves are
    /// asked for.
    pub aggregates: Vec<Aggregate>,
    /// Which groups, by their aggregates; none: all that have rows.
    pub having: Option<Having>,
    /// The columns of the answer.
    pub outputs: Vec<Output>,
    /// The order of its rows, the most significant key first.
    pub order: Vec<OrderKey>,
    /// How many of its rows there are at most.
    pub limit: Option<usize>,
    /// Who orders rows.
    pub ordered_by: OrderedBy,
    /// The constants that are encrypted. They are columns of each row, behind those of the table:
    /// see [`Query::rows`].
    pub parameters: Vec<Parameter>,
}

/// The largest number of groups of a query; each group has the same cost.
pub const MOST_GROUPS: i128 = 256;

/// The columns of a table and those for encrypted constants.
pub(crate) fn with_parameters(
    schema: &Schema,
    parameters: &[Parameter],
) -> Result<Schema, TablesError> {
    let constant = |p: &Parameter| {
        Field::new(format!(":{}", p.name), schema.fields()[p.column].kind().clone(), false)
    };
    schema.followed_by(parameters.iter().map(constant).collect::<Result<Vec<_>, _>>()?)
}

impl Query {
    /// The same query on a table that has these columns alone, in this order; those that it is
    /// computed of have to be among them.
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

    /// The columns of a row, of a table of this schema: those of the table, then one for each
    /// encrypted constant, named as in the query.
    ///
    /// # Errors
    /// [`TablesError::Schema`] past the most columns, or if the table has columns of such names.
    pub fn rows(&self, schema: &Schema) -> Result<Schema, TablesError> {
        with_parameters(schema, &self.parameters)
    }

    /// The query for all rows, with all that they hold themselves and carry of others.
    pub fn of_all(schema: &Schema) -> Query {
        let groups: Vec<usize> = schema.heads(0..schema.fields().len()).collect();
        let output = |(i, place): (usize, &usize)| Output {
            name: schema.fields()[*place].name().into(),
            value: Formula::Group(i),
        };
        Query {
            filter: Condition::Constant(true),
            listed: Some((0..schema.fields().len()).collect()),
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

    /// The places of the columns that its answer is computed of.
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

    /// Passes a code for each encrypted constant.
    pub(crate) fn check_constants(&self, constants: &[i128]) -> Result<(), TablesError> {
        let (found, count) = (constants.len(), self.parameters.len());
        if found == count {
            return Ok(());
        }
        let problem = format!("{found} constants, and the query has {count}");
        Err(TablesError::Constants { problem })
    }

    /// The column whose values a column of the answer shows; none for numbers that are computed.
    pub(crate) fn column_of(&self, formula: &Formula) -> Option<usize> {
        match formula {
            Formula::Group(place) => self.groups.get(*place).copied(),
            Formula::Code { column, .. } => Some(*column),
            Formula::Over(_, inner) => self.column_of(inner),
            _ => None,
        }
    }

    /// Whether anything but sums is made of the rows of groups.
    pub(crate) fn orders_groups(&self) -> bool {
        self.aggregates.iter().any(|a| a.fold != Fold::Sum)
    }

    /// The aggregates whose values the answer takes. Of others, which count the rows of a group or
    /// those that a least value is of, it takes no more than whether they are 0.
    pub(crate) fn valued(&self) -> BTreeSet<usize> {
        let mut out = BTreeSet::new();
        let ordered = |place: usize| self.aggregates[place].fold != Fold::Sum;
        self.outputs.iter().for_each(|o| o.value.valued(&ordered, &mut out));
        if let Some(having) = &self.having {
            having.valued(&ordered, &mut out);
        }
        out
    }

    /// The codes of the columns of every group, whether or not it has rows; none where rows are
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
