//! Medians of groups by public columns in several blocks of 2,048 rows, on the no-op scheme with
//! the keys that plans name.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use everlevel::lab::{Arithmetic, NoOp};
use everlevel::{Integers, OptIn, Params};
use everlevel_integers::no_op_session;

use crate::answer::Answer;
use crate::data::Data;
use crate::error::TablesError;
use crate::plan::Plan;
use crate::query::OrderedBy;
use crate::schema::Schema;
use crate::stored::compute::{Cells, Rows, evaluate};
use crate::stored::rehearse::{Pretended, Rehearsed};

/// The number of rows of a block.
const BLOCK: usize = 2_048;

fn toy() -> Params {
    Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap()
}

fn schema() -> Schema {
    Schema::from_json(
        r#"{"columns": [
            {"name": "ward", "type": "integer", "low": 0, "high": 7, "public": true},
            {"name": "cost", "type": "integer", "low": 0, "high": 99999},
            {"name": "days", "type": "integer", "low": 1, "high": 60},
            {"name": "insured", "type": "boolean"}]}"#,
    )
    .unwrap()
}

/// A table with groups of rows, and all others in ward 0.
fn table(schema: &Schema, rows: usize, groups: &[(i128, Range<usize>)]) -> Data {
    let ward = |row: usize| groups.iter().find(|group| group.1.contains(&row)).map_or(0, |g| g.0);
    let column = |of: fn(i128) -> i128| (0..rows as i128).map(of).collect::<Vec<_>>();
    let columns = vec![
        (0..rows).map(ward).collect(),
        column(|i| i * 7_919 % 100_000),
        column(|i| 1 + i * 31 % 60),
        column(|i| i128::from(i * i % 7 < 4)),
    ];
    Data::from_columns(columns, schema).unwrap()
}

/// A table of which the server reads a column of a block this number of times.
struct Counting<'a> {
    table: Rehearsed<'a>,
    watched: (usize, usize),
    reads: AtomicUsize,
}

impl Rows<NoOp> for Counting<'_> {
    fn rows(&self) -> usize {
        Rows::<NoOp>::rows(&self.table)
    }

    fn knows(&self, place: usize) -> bool {
        Rows::<NoOp>::knows(&self.table, place)
    }

    fn cells(&self, block: usize, place: usize) -> Result<Cells<'_, Pretended>, TablesError> {
        if (block, place) == self.watched {
            self.reads.fetch_add(1, Ordering::Relaxed);
        }
        Rows::<NoOp>::cells(&self.table, block, place)
    }
}

/// The answer of servers that have the keys of the plan and no others, each for the blocks from one
/// of these to before the next, is right; how often they read the costs of block 1 in all.
fn check(text: &str, data: &Data, parts: &[usize]) -> usize {
    let params = toy();
    assert_eq!(params.slots(), BLOCK);
    let schema = schema();
    let plan = Plan::ordered(text, &schema, OrderedBy::Server).unwrap();
    let keys = plan.keys(&params, data.rows()).unwrap();
    let scheme = Arc::new(NoOp::new(&params, 1).holding(keys.clone()));
    let session = no_op_session(&params, scheme.clone(), true).unwrap();
    let ints = Integers::new(&session, &params).unwrap();
    let table = Rehearsed { scheme: &scheme, plan: &plan, data };
    let counting = Counting { table, watched: (1, 1), reads: AtomicUsize::new(0) };
    let mut sums: Vec<Pretended> = Vec::new();
    for ends in parts.windows(2) {
        let blocks = ends[0]..ends[1];
        let quiet = |_, _| Ok::<_, TablesError>(());
        let with = (&ints, Some(&keys), None);
        let found = evaluate(&counting, with, &params, &plan, &[], blocks.clone(), quiet)
            .unwrap_or_else(|e| panic!("{text}, blocks {blocks:?}: {e}"));
        sums = match sums.is_empty() {
            true => found,
            false => sums.iter().zip(&found).map(|(a, b)| scheme.add(a, b).unwrap()).collect(),
        };
    }
    let opened: Vec<_> = sums.iter().map(|x| scheme.decrypt(x).unwrap()).collect();
    let (_, layout) = plan.layout(&params, data.rows()).unwrap();
    let answer = Answer::new(plan.query(), &schema, &layout.read(&params, &opened).unwrap());
    let expected = Answer::plain(plan.query(), &schema, data).unwrap();
    assert_eq!(answer.unwrap(), expected, "{text}");
    counting.reads.into_inner()
}

/// Queries whose condition is one comparison, which is all that is left of the conditions of the
/// groups, too, and whose levels must not depend on which groups there are.
const QUERIES: [&str; 3] = [
    "select count(*), sum(cost), median(cost) filter (where ward = 1), \
     median(days) filter (where ward = 2) from t where cost < 90000",
    "select count(*), median(cost) filter (where ward = 1), \
     median(days) filter (where ward = 2) from t where cost * days < 2000000",
    "select count(*), median(cost * days) filter (where ward = 1) from t \
     where cost * days < 2000000",
];

#[test]
fn keys_are_enough_for_a_group_across_a_border_alone() {
    let data = table(&schema(), BLOCK + 40, &[(1, BLOCK - 4..BLOCK + 3)]);
    for text in QUERIES {
        check(text, &data, &[0, 2]);
    }
}

#[test]
fn keys_are_enough_for_a_last_block_without_groups() {
    let data = table(&schema(), BLOCK + 50, &[(1, 30..36), (2, 90..95)]);
    for text in QUERIES {
        check(text, &data, &[0, 2]);
    }
}

/// The block in the middle is not passed over: its rows meet the condition.
#[test]
fn keys_are_enough_for_a_block_in_the_middle_without_groups() {
    let rows = 2 * BLOCK + 50;
    let data = table(&schema(), rows, &[(1, 30..36), (2, 2 * BLOCK + 5..2 * BLOCK + 12)]);
    for text in QUERIES {
        check(text, &data, &[0, 3]);
    }
}

/// Of four blocks, in parts: the first one of them is passed over or has a group across the border
/// before it, and groups have one row on a side of a border.
#[test]
fn parts_begin_behind_blocks_that_are_passed_over() {
    let groups = [
        (1, 30..36),
        (2, 2 * BLOCK + 9..2 * BLOCK + 14),
        (3, 3 * BLOCK - 1..3 * BLOCK + 6),
        (4, 3 * BLOCK + 20..3 * BLOCK + 25),
    ];
    let data = table(&schema(), 3 * BLOCK + 40, &groups);
    let text = "select ward, median(cost) from t where ward > 0 and cost < 90000 group by ward \
                order by ward";
    for parts in [&[0, 4][..], &[0, 2, 4], &[0, 3, 4]] {
        check(text, &data, parts);
    }
}

/// What rows of the next block are ranked by is read once for all passes, beside its own answer.
#[test]
fn passes_share_what_they_read_of_the_next_block() {
    let data = table(&schema(), BLOCK + 40, &[(1, BLOCK - 3..BLOCK + 4)]);
    let text = "select insured, median(cost) from t where ward = 1 group by insured";
    assert_eq!(check(text, &data, &[0, 2]), 2);
}

/// Groups of a table of at most 128 rows: what the server does depends on the number of rows and on
/// the public columns, and neither on what is encrypted nor, as far as keys go, on which rows
/// groups have.
#[test]
fn groups_of_short_tables_take_the_keys_of_their_plan() {
    let (schema, params) = (schema(), toy());
    let texts = [
        "select ward, median(cost) from t group by ward order by ward",
        "select ward, count(*), sum(cost), median(cost) from t where cost < 90000 group by ward \
         order by ward",
    ];
    for (rows, groups) in [
        (97, vec![(1, 3..9), (2, 9..10), (3, 20..80)]),
        (40, vec![]),
        (8, vec![(1, 0..1), (2, 1..2), (3, 2..3), (4, 3..4), (5, 4..5), (6, 5..6), (7, 6..7)]),
        (2, vec![(4, 1..2)]),
    ] {
        let data = table(&schema, rows, &groups);
        let others = (0..schema.fields().len()).map(|place| match place {
            0 => data.column(0).to_vec(),
            _ => data.column(place).iter().rev().copied().collect(),
        });
        let others = Data::from_columns(others.collect(), &schema).unwrap();
        for text in texts {
            let plan = Plan::ordered(text, &schema, OrderedBy::Server).unwrap();
            assert_eq!(plan.layout(&params, rows).unwrap().1.passes.len(), 1, "{text} {rows}");
            let taken = |data: &Data| {
                check(text, data, &[0, 1]);
                let scheme = Arc::new(NoOp::new(&params, 1));
                let session = no_op_session(&params, scheme.clone(), true).unwrap();
                let ints = Integers::new(&session, &params).unwrap();
                let table = Rehearsed { scheme: &scheme, plan: &plan, data };
                let quiet = |_, _| Ok::<_, TablesError>(());
                evaluate(&table, (&ints, None, None), &params, &plan, &[], 0..1, quiet).unwrap();
                (scheme.cost(), scheme.key_plan(), session.bootstraps())
            };
            assert_eq!(taken(&data), taken(&others), "{text} {rows}");
        }
    }
}
