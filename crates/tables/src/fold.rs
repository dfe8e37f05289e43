//! Answers that a reader computes from listed rows: any number of groups, and functions other than
//! sums.

use std::collections::{BTreeMap, BTreeSet};

use crate::condition::Number;
use crate::kind::Kind;
use crate::query::{Aggregate, Fold, Query};
use crate::schema::Schema;

/// The codes of a group and the aggregates of its rows, in order.
type Group = (Vec<i128>, Vec<i128>);

/// The groups of listed rows. Without columns to group by, there is one group, even if there are no
/// rows.
pub(crate) fn folded(
    query: &Query,
    schema: &Schema,
    listed: &[usize],
    rows: &[Vec<i128>],
) -> Vec<Group> {
    let code = |row: &[i128], place: usize| {
        listed.iter().position(|p| *p == place).and_then(|i| row.get(i)).copied().unwrap_or(0)
    };
    let mut groups: BTreeMap<Vec<i128>, Vec<&[i128]>> = BTreeMap::new();
    if query.groups.is_empty() {
        groups.insert(Vec::new(), Vec::new());
    }
    for row in rows {
        let codes = query.groups.iter().map(|place| code(row, *place)).collect();
        groups.entry(codes).or_default().push(row);
    }
    let of = |aggregate: &Aggregate, rows: &[&[i128]]| {
        let meant = rows.iter().filter(|row| aggregate.when.holds(&|place| code(row, place)));
        let values = meant.map(|row| aggregate.value.value(&|place| code(row, place)));
        fold(aggregate, schema, values.collect())
    };
    let folds = |rows: &[&[i128]]| query.aggregates.iter().map(|a| of(a, rows)).collect();
    groups.iter().map(|(codes, rows)| (codes.clone(), folds(rows))).collect()
}

/// The aggregate of the values of a group; 0 for no values.
fn fold(aggregate: &Aggregate, schema: &Schema, mut values: Vec<i128>) -> i128 {
    // Texts stand in their own order, whatever the places of the categories.
    let texts = match &aggregate.value {
        Number::Column(place) => match schema.fields()[*place].kind() {
            Kind::Category { values } => Some(values),
            _ => None,
        },
        _ => None,
    };
    let text = |code: &i128| {
        texts.and_then(|texts| usize::try_from(*code).ok().and_then(|i| texts.get(i)))
    };
    match aggregate.fold {
        Fold::Sum => values.iter().sum(),
        Fold::Distinct => values.into_iter().collect::<BTreeSet<_>>().len() as i128,
        Fold::Least => values.into_iter().min_by_key(|v| (text(v), *v)).unwrap_or(0),
        Fold::Greatest => values.into_iter().max_by_key(|v| (text(v), *v)).unwrap_or(0),
        Fold::Quantile(quantile) => {
            values.sort_unstable();
            quantile.of(&values)
        }
    }
}
