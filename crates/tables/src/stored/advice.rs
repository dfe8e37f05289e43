//! Indexes from which a query would gain.

use std::fmt;

use everlevel::Params;
use everlevel_integers::ciphertext_bytes;

use crate::plan::Plan;
use crate::stored::cost::PlanCost;
use crate::stored::explain::size;

/// An index is advised where the query then takes fewer key switches by this part of them.
const PART: u64 = 5;

/// Indexes on columns that have none, and what a query takes with them.
pub(crate) struct Advice {
    /// The columns, at least one.
    columns: Vec<String>,
    /// The key switches without the indexes.
    before: u64,
    /// The key switches with them.
    after: u64,
    /// The bytes of the indexes, if the table is encrypted with the secret key.
    bytes: u64,
}

impl Plan {
    /// The indexes that its conditions and groups could be decided by and that the schema does not
    /// have, if the query takes at least a fifth fewer key switches with them than it costs
    /// without. With them it is rehearsed once more, which takes about as long as
    /// [`Plan::cost`]; nothing is rehearsed if there are none.
    pub(crate) fn advice(&self, params: &Params, rows: usize, cost: &PlanCost) -> Option<Advice> {
        let (schema, query) = (self.schema(), self.query());
        let missing = |place: usize| {
            let field = schema.fields().get(place)?;
            let possible = field.index_ciphertexts() == 0 && field.clone().indexed().is_ok();
            possible.then(|| field.name())
        };
        let names: Vec<&str> = query.columns().into_iter().filter_map(missing).collect();
        // With them there may be more columns than a schema has room for.
        let indexed = schema.with_indexes(&names).ok()?;
        let plan = Plan::ordered(self.sql(), &indexed, query.ordered_by).ok()?;
        let fields = indexed.fields();
        let served = plan.query().index_columns(&indexed).into_iter();
        let served = served.map(|place| fields[place].name());
        let mut columns: Vec<&str> = served.filter(|name| names.contains(name)).collect();
        columns.dedup();
        if columns.is_empty() {
            return None;
        }
        let (before, after) = (cost.key_switches, plan.cost(params, rows).ok()?.key_switches);
        let saved = before.checked_sub(after)?;
        if saved == 0 || PART * saved < before {
            return None;
        }
        let added = fields.iter().filter(|f| f.is_of_index() && columns.contains(&f.name()));
        let bytes = added.map(|field| ciphertext_bytes(params, field.level(params)) / 2);
        let blocks = rows.div_ceil(params.slots());
        Some(Advice {
            before,
            after,
            bytes: bytes.sum::<u64>() * blocks as u64,
            columns: columns.into_iter().map(str::to_string).collect(),
        })
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Advice { columns, before, after, bytes } = self;
        let columns = match &columns[..] {
            [others @ .., last] if !others.is_empty() => {
                format!("{} and {last}", others.join(", "))
            }
            all => all.join(", "),
        };
        write!(
            f,
            "with an index on {columns} (\"index\": true in the schema) the query takes {after} \
             key switches instead of {before}, and the table about {} more",
            size(*bytes)
        )
    }
}
