//! Sums at the largest number of rows that they are computed for, and what two tables of one schema
//! have in common.

use std::fs;
use std::sync::Arc;

use everlevel::files::Existing;
use everlevel_circuit::Session;
use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper};
use everlevel_integers::{Encoded, Integers};
use everlevel_ring::SlotShape;
use everlevel_scheme::{NoOp, OptIn, Params, Plaintext, Recorded, SchemeError};
use everlevel_tables::{
    Answer, Data, EncryptedTable, Field, Layout, Plan, Query, Runner, Schema, TableKey,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::roles::{PARTIES, quiet};
use crate::{Bench, indexed, shop};

fn layout(query: &Query, schema: &Schema, shape: &SlotShape, rows: usize) -> Result<(), String> {
    Layout::new(query, schema, shape, rows).map(drop).map_err(|e| e.code().to_string())
}

/// The largest number of rows up to `most` that a query is answered for.
fn largest(query: &Query, schema: &Schema, shape: &SlotShape, most: usize) -> usize {
    let fits = |rows: usize| layout(query, schema, shape, rows).is_ok();
    let (mut low, mut high) = (1, most + 1);
    while low + 1 < high {
        let middle = low.midpoint(high);
        if fits(middle) { low = middle } else { high = middle }
    }
    low
}

/// Columns of these bounds, and a sum of their products.
fn asked(bounds: &[(i64, i64)], factors: &[usize]) -> (Schema, Query) {
    let column = |(i, (low, high)): (usize, &(i64, i64))| {
        format!(r#"{{"name": "c{i}", "type": "integer", "low": {low}, "high": {high}}}"#)
    };
    let columns: Vec<String> = bounds.iter().enumerate().map(column).collect();
    let schema = format!(r#"{{"columns": [{}]}}"#, columns.join(","));
    let schema = Schema::from_json(&schema).unwrap();
    let query = Query::parse(&sum_of(factors, bounds.len()), &schema).unwrap();
    (schema, query)
}

/// For any bounds and products, at the largest number of rows: tables in which every cell is at a
/// bound, so that every accumulator is as large as it can be, are answered exactly.
#[test]
fn sums_are_exact_at_the_bounds_of_any_schema() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
    let bound = prop_oneof![
        (0..4i64, 1..16i64).prop_map(|(low, more)| (low, low + more)),
        (-8..1i64, 1..16i64).prop_map(|(low, more)| (low, low + more)),
        (-300..300i64, 1..600i64).prop_map(|(low, more)| (low, low + more)),
    ];
    let strategy = (prop::collection::vec(bound, 1..4), prop::collection::vec(0..3usize, 1..6));
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::with_cases(12), rng);
    runner
        .run(&(strategy, 0..3usize), |((bounds, factors), pattern)| {
            let (schema, query) = asked(&bounds, &factors);
            let rows = largest(&query, &schema, params.slot_shape(), 3 * params.slots());
            let high = |place: usize, row: usize| match pattern {
                0 => true,
                1 => place.is_multiple_of(2),
                _ => (row + place).is_multiple_of(2),
            };
            let code = |place: usize, row: usize| {
                let (low, top) = schema.fields()[place].bounds();
                if high(place, row) { top } else { low }
            };
            let columns = (0..bounds.len()).map(|p| (0..rows).map(|r| code(p, r)).collect());
            let data = Data::from_columns(columns.collect(), &schema).unwrap();
            let blocks = bench.encrypt(&schema, &data);
            let sql = sum_of(&factors, bounds.len());
            let found = bench.try_ask(&sql, &schema, rows, &blocks).unwrap();
            let plain = Answer::plain(&query, &schema, &data).unwrap();
            prop_assert_eq!(found.rows, plain.rows);
            Ok(())
        })
        .unwrap();
}

fn sum_of(factors: &[usize], columns: usize) -> String {
    let product: Vec<String> = factors.iter().map(|i| format!("c{}", i % columns)).collect();
    format!("select sum({0}), sum(c0 - {0}) from t", product.join(" * "))
}

#[test]
fn one_row_more_than_fits_is_refused() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
    // A product of six columns of a digit, about its middle: 8^6 is 2^18, and p^2/2 2^31.
    let (schema, query) = asked(&[(0, 15); 6], &[0, 1, 2, 3, 4, 5]);
    let rows = largest(&query, &schema, params.slot_shape(), 1 << 20);
    assert!((2048..=32_768).contains(&rows), "{rows}");
    let refused = layout(&query, &schema, params.slot_shape(), rows + 1);
    assert_eq!(refused, Err("integers.range".to_string()));
    for code in [0, 15] {
        let data = Data::from_columns(vec![vec![code; rows]; 6], &schema).unwrap();
        let blocks = bench.encrypt(&schema, &data);
        let sql = sum_of(&[0, 1, 2, 3, 4, 5], 6);
        let found = bench.try_ask(&sql, &schema, rows, &blocks).unwrap();
        assert_eq!(found, Answer::plain(&query, &schema, &data).unwrap());
    }
}

/// What a server does to answer a query: operation by operation, with levels and bounds.
fn operations(sql: &str, schema: &Schema, data: &Data) -> Vec<String> {
    let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
    let scheme = Arc::new(Recorded::new(Arc::new(NoOp::new(&params, 1)), &params));
    let plan = BootstrapPlan::for_set(&params).unwrap();
    let bootstrapper = Arc::new(Bootstrapper::new(&*scheme, plan).unwrap());
    let session = Session::new(scheme.clone(), bootstrapper);
    let ints = Integers::new(&session, &params).unwrap();
    let query = Query::parse(sql, schema).unwrap();
    let layout = Layout::new(&query, schema, params.slot_shape(), data.rows()).unwrap();
    let mut runner = Runner::new(&ints, schema, &layout, 0);
    let columns = schema.fields().iter().enumerate().map(|(place, field)| {
        let encoded =
            Encoded::new(data.column(place), field.integer_type().unwrap(), params.slots());
        let encrypted: Result<_, SchemeError> = encoded.unwrap().encrypt(|slots| {
            let plain = Plaintext::encode_modulo(&params, slots, 2)?;
            Ok(scheme.input(scheme.inner().encrypt(&plain)?, field.name()))
        });
        encrypted.unwrap()
    });
    runner.add(&columns.collect::<Vec<_>>()).unwrap();
    let answer = runner.finish().unwrap();
    let mut all: Vec<String> = answer
        .iter()
        .flat_map(|x| scheme.explain(x).steps)
        .map(|s| {
            format!("{} {} {} {} {}", s.operation, s.detail, s.level, s.exponent, s.bound_bits)
        })
        .collect();
    // Threads end their operations in any order.
    all.sort();
    all
}

#[test]
fn two_tables_of_one_schema_are_treated_alike() {
    let (schema, data) = shop();
    // The same rows, and those with the least value of each column.
    let of = |schema: &Schema| {
        let text = data.to_csv(&shop().0).unwrap();
        let lowest = |field: &Field| vec![field.bounds().0; data.rows()];
        let other = schema.columns().map(lowest).collect();
        let other = Data::from_columns(other, schema).unwrap();
        (Data::from_csv(text.as_bytes(), schema).unwrap(), other)
    };
    for schema in [&schema, &indexed(&schema)] {
        let (data, other) = of(schema);
        assert_ne!(data, other);
        for sql in [
            "select kind, count(*), sum(price * count) from t where discount <= 0.06 group by kind",
            "select price, sold from t where count > 7 and kind like '%tea'",
            "select max(price) from t where paid",
        ] {
            let (a, b) = (operations(sql, schema, &data), operations(sql, schema, &other));
            assert!(a.len() >= 10 && a == b, "{sql}: {} and {} operations", a.len(), b.len());
            let plan = || Plan::new(sql, schema).unwrap().to_json().unwrap();
            assert_eq!(plan(), plan());
        }
    }
    let other = of(&schema).1;
    let temporary = tempfile::tempdir().unwrap();
    let sizes = |name: &str, data: &Data| {
        let (directory, mut rng) = (temporary.path().join(name), everlevel::system_rng().unwrap());
        let key = TableKey::Secret(PARTIES.client.secret());
        EncryptedTable::create(&directory, Existing::Keep, key, (&schema, data), &mut rng, quiet)
            .unwrap();
        let entries = fs::read_dir(&directory).unwrap().map(Result::unwrap);
        let mut sizes: Vec<_> =
            entries.map(|e| (e.file_name(), e.metadata().unwrap().len())).collect();
        sizes.sort();
        sizes
    };
    assert_eq!(sizes("a", &data), sizes("b", &other));
}

/// Which cells are empty and how long texts are is not seen either.
#[test]
fn empty_cells_and_texts_are_treated_as_others() {
    let schema = Schema::from_json(
        r#"{"columns": [
            {"name": "n", "type": "integer", "low": -2, "high": 300, "nullable": true},
            {"name": "word", "type": "category", "values": ["b", "a"], "nullable": true},
            {"name": "name", "type": "text", "bytes": 6, "nullable": true},
            {"name": "k", "type": "integer", "low": 0, "high": 99}]}"#,
    );
    let schema = schema.unwrap();
    let data = |rows: &str| Data::from_csv(rows.as_bytes(), &schema).unwrap();
    let full = data("n,word,name,k\n300,a,Ada,1\n-2,b,Robert,2\n7,a,Cid,99\n");
    let empty = data("n,word,name,k\n,,,0\n,,,0\n,,,0\n");
    for sql in [
        "select word, count(*), sum(n), avg(n) from t where n > 5 or n is null group by word",
        "select n, name from t where word = 'a' and k < 50",
        "select count(name) from t where name = 'Ada' or not n < 7",
    ] {
        let (a, b) = (operations(sql, &schema, &full), operations(sql, &schema, &empty));
        assert!(!a.is_empty() && a == b, "{sql}: {} and {} operations", a.len(), b.len());
    }
}

/// Sides of 63 bits with decimal places that differ by 18: the widest that are compared.
#[test]
fn comparisons_are_exact_at_the_ends_of_the_widest_sides() {
    compared(&[
        "a < b",
        "a = c",
        "c < a",
        "a < b * b",
        "c = b * b",
        "0 - a <> c",
        "not a <= b * b",
        "b * b between a and c",
    ]);
}

#[test]
#[ignore = "some seconds: more comparisons of the same sides"]
fn many_comparisons_at_the_ends_of_the_widest_sides_in_full() {
    compared(&[
        "a <= c",
        "a = b * b",
        "b * b <= a",
        "-a < b * b",
        "c between b and a",
        "9223372036854775807 > b * b",
        "a > 0.000000000000000001",
    ]);
}

fn compared(conditions: &[&str]) {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let schema = Schema::from_json(
        r#"{"columns": [
            {"name": "a", "type": "integer",
             "low": -9223372036854775807, "high": 9223372036854775807},
            {"name": "c", "type": "decimal", "scale": 9,
             "low": "-9223372036.854775807", "high": "9223372036.854775807"},
            {"name": "b", "type": "decimal", "scale": 9, "low": "-2", "high": "3"}]}"#,
    );
    let schema = schema.unwrap();
    let rows = "a,c,b\n\
                9223372036854775807,9223372036.854775807,3\n\
                -9223372036854775807,-9223372036.854775807,-2\n\
                9223372036854775807,-9223372036.854775807,-2\n\
                -9223372036854775807,9223372036.854775807,3\n\
                4,4,-2\n4,4,1.999999999\n9,9,3\n0,0,0\n0,0.000000001,-0.000000001\n";
    let data = Data::from_csv(rows.as_bytes(), &schema).unwrap();
    let blocks = bench.encrypt(&schema, &data);
    for condition in conditions {
        let sql = format!("select count(*) from t where {condition}");
        let query = Query::parse(&sql, &schema).unwrap();
        let found = bench.try_ask(&sql, &schema, data.rows(), &blocks).unwrap();
        assert_eq!(found, Answer::plain(&query, &schema, &data).unwrap(), "{condition}");
    }
}

/// Keys of 64 bits: all of them in two columns, and all but one in one column.
#[test]
fn keys_of_64_bits_are_looked_up() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let schema = Schema::from_json(
        r#"{"columns": [
            {"name": "upper", "type": "integer", "low": 0, "high": 4294967295},
            {"name": "lower", "type": "integer", "low": 0, "high": 4294967295},
            {"name": "key", "type": "integer",
             "low": -9223372036854775807, "high": 9223372036854775807},
            {"name": "n", "type": "integer", "low": 0, "high": 9}]}"#,
    );
    let schema = schema.unwrap();
    let hashes = [1, 2, u64::MAX / 2, u64::MAX / 2 + 1, u64::MAX / 2 + 2, u64::MAX - 1, u64::MAX];
    let key = |hash: u64| i128::from(hash) - (1 << 63);
    let halves = |hash: u64| [hash >> 32, hash % (1 << 32)];
    let line = |(n, hash): (usize, &u64)| {
        let [upper, lower] = halves(*hash);
        format!("{upper},{lower},{},{n}\n", key(*hash))
    };
    let rows: String = hashes.iter().enumerate().map(line).collect();
    let data = Data::from_csv(format!("upper,lower,key,n\n{rows}").as_bytes(), &schema).unwrap();
    let blocks = bench.encrypt(&schema, &data);
    for (n, hash) in hashes.into_iter().enumerate() {
        let ([upper, lower], key) = (halves(hash).map(|half| half.to_string()), key(hash));
        let expected = [[upper.clone(), lower.clone(), key.to_string(), n.to_string()]];
        for (condition, constants) in [
            ("upper = :u and lower = :l", vec![("u", upper), ("l", lower)]),
            ("key = :key", vec![("key", key.to_string())]),
            (format!("key = {key}").as_str(), Vec::new()),
        ] {
            let sql = format!("select upper, lower, key, n from t where {condition}");
            let codes = Plan::new(&sql, &schema).unwrap().codes(&constants).unwrap();
            let found = bench.try_ask_with(&sql, &schema, data.rows(), &blocks, &codes).unwrap();
            let shown = found.rows.iter().map(|row| row.iter().map(ToString::to_string));
            let shown: Vec<Vec<String>> = shown.map(Iterator::collect).collect();
            assert_eq!(shown, expected, "{hash}: {condition}");
        }
    }
    // The key of hash 0 is -2^63, which no column holds.
    let none = format!("upper,lower,key,n\n0,0,{},0\n", key(0));
    assert_eq!(Data::from_csv(none.as_bytes(), &schema).unwrap_err().code(), "table.value");
}
