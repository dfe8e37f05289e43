//! Random queries, computed on encrypted columns and in the clear.

use everlevel_tables::{Answer, Data, Query, Schema};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::{Bench, shop};

fn condition() -> impl Strategy<Value = String> {
    let simple = prop_oneof![
        (any::<prop::sample::Index>(), 0..600i32).prop_map(|(op, v)| {
            format!("count {} {v}", op.get(&["<", "<=", ">", ">=", "=", "<>"]))
        }),
        (any::<prop::sample::Index>(), 0..110_000i32).prop_map(|(op, v)| {
            format!("price {} {}.{:03}", op.get(&["<", "<=", ">", ">="]), v / 100, v % 1000)
        }),
        (0..12u32, 0..12u32).prop_map(|(a, b)| format!("discount between 0.{a:02} and 0.{b:02}")),
        (1991..2000i32, 1..13i32).prop_map(|(y, m)| format!("sold < date '{y}-{m:02}-01'")),
        prop::sample::subsequence(vec!["'tea'", "'cake'", "'jam'", "'none'"], 1..4)
            .prop_map(|v| format!("kind in ({})", v.join(", "))),
        Just("paid".to_string()),
        Just("kind like '%tea'".to_string()),
        (1..40i32).prop_map(|k| format!("count * {k} > price")),
        (any::<prop::sample::Index>(), 0..12u32).prop_map(|(op, v)| {
            format!("price {} discount + 0.{v:02}", op.get(&["<", "<=", ">", ">=", "=", "<>"]))
        }),
        Just("price * discount <= 1.5 + discount".to_string()),
    ];
    simple.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} and {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} or {b})")),
            inner.prop_map(|a| format!("not {a}")),
        ]
    })
}

fn query() -> impl Strategy<Value = String> {
    let value = prop::sample::select(vec![
        "count",
        "price",
        "discount",
        "price * 3 - count",
        "2 - discount",
        "case when paid then count else 1 end",
        "price * (1 - discount)",
    ]);
    let groups = prop::sample::select(vec!["", "kind", "paid", "kind, paid"]);
    (value, groups, condition()).prop_map(|(value, groups, condition)| {
        let (names, by) = match groups {
            "" => (String::new(), String::new()),
            g => (format!("{g}, "), format!(" group by {g}")),
        };
        format!(
            "select {names}count(*), sum({value}), avg({value}) from shop where {condition}{by}"
        )
    })
}

/// Rows of codes within the bounds, the ends among them.
fn table(schema: &Schema, rows: usize, runner: &mut TestRunner) -> Data {
    let columns = schema.columns().map(|field| {
        let (low, high) = field.bounds();
        let code = prop_oneof![6 => low..=high, 1 => Just(low), 1 => Just(high)];
        let column = prop::collection::vec(code, rows).new_tree(runner).unwrap();
        prop::strategy::ValueTree::current(&column)
    });
    Data::from_columns(columns.collect(), schema).unwrap()
}

/// Short rows of slots, so that 5,000 rows are several blocks, the last one not full.
#[test]
fn random_queries_are_answered_as_in_the_clear() {
    asked("insecure_bgv-65537-n11", (24, 8), 5_000);
}

/// The same on the set that everything here is for, on which a query takes seconds.
#[test]
fn random_queries_on_the_usual_set() {
    asked("bgv-65537-n15", (2, 2), 70_000);
}

#[test]
#[ignore = "most of a minute: more queries on the usual set"]
fn many_random_queries_in_full() {
    asked("bgv-65537-n15", (24, 8), 70_000);
}

/// As many queries on the rows of the shop, or on `rows` rows each `every`th of them, and on rows
/// with an index.
fn asked(set: &str, (count, every): (u32, u32), rows: usize) {
    let bench = Bench::new(set);
    let (schema, small) = shop();
    let mut runner = TestRunner::new_with_rng(
        Config::with_cases(count),
        TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]),
    );
    let large = table(&schema, rows, &mut runner);
    let (indexed, few) = (crate::indexed(&schema), small.to_csv(&schema).unwrap());
    let few = Data::from_csv(few.as_bytes(), &indexed).unwrap();
    let cases = std::cell::Cell::new(0u32);
    let result = runner.run(&query(), |text| {
        cases.set(cases.get() + 1);
        let data = if cases.get().is_multiple_of(every) { &large } else { &small };
        let query = Query::parse(&text, &schema).unwrap();
        let expected = Answer::plain(&query, &schema, data).unwrap();
        prop_assert_eq!(bench.ask(&text, &schema, data), expected, "{}", text);
        let query = Query::parse(&text, &indexed).unwrap();
        let expected = Answer::plain(&query, &indexed, &few).unwrap();
        prop_assert_eq!(bench.ask(&text, &indexed, &few), expected, "with indexes: {}", text);
        Ok(())
    });
    result.unwrap();
    assert!(cases.get() >= count);
}
