//! What a server puts in order: least and greatest values, medians, rows that come first.

use everlevel::files::Existing;
use everlevel::{OptIn, Params, Server};
use everlevel_tables::{
    Answer, Cell, Data, EncryptedTable, OrderedBy, Plan, Query, Schema, TableKey,
};

use crate::ask_random::{Output, Random, Type};
use crate::roles::{PARTIES, code, open, quiet, rows};
use crate::{Bench, shop};

const SET: &str = "insecure_bgv-65537-n11";

fn parse(text: &str, schema: &Schema) -> Query {
    let query = Query::parse_ordered(text, schema, OrderedBy::Server);
    query.unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// By the server, compared with the reader's answer in the clear.
fn check(bench: &Bench, text: &str, schema: &Schema, data: &Data) -> Answer {
    let query = parse(text, schema);
    let listed = Query::parse(text, schema).unwrap();
    let expected = Answer::plain(&listed, schema, data).unwrap();
    assert_eq!(Answer::plain(&query, schema, data).unwrap(), expected, "{text}");
    let blocks = bench.encrypt(schema, data);
    let found = bench.answered(&query, schema, data.rows(), &blocks, &[]);
    let found = found.unwrap_or_else(|e| panic!("{text}: {e}"));
    assert_eq!(found, expected, "{text}");
    found
}

#[test]
fn least_and_greatest_values_are_found() {
    let bench = Bench::new(SET);
    let (schema, data) = shop();
    for text in [
        "select max(price) from shop where paid",
        "select min(price), max(price), min(count), max(count) from shop",
        "select min(sold), max(sold), max(paid), min(discount) from shop where kind <> 'jam'",
        // Categories that are not stated in the order of texts.
        "select min(kind), max(kind) from shop where count > 0",
        "select kind, max(price) as most, count(*) as n from shop group by kind order by most desc",
        "select paid, min(count), sum(count), max(price) from shop group by paid order by paid",
        "select kind, min(sold) from shop where count > 10 group by kind order by kind",
        "select kind from shop group by kind having max(price) > 100 order by kind",
        "select max(price * count - 3), min(count - 2) from shop where paid",
        "select max(count) filter (where paid), max(count) from shop where kind = 'jam'",
        "select max(price) - min(price) as spread from shop",
        // Of no rows, as the data or the bounds tell.
        "select max(price), min(sold) from shop where count = 17",
        "select max(price), count(*) from shop where count > 500",
    ] {
        check(&bench, text, &schema, &data);
    }
    let none = check(&bench, "select max(price) from shop where count = 17", &schema, &data);
    assert_eq!(none.rows, [[Cell::Null]]);
}

/// Values of every width, at both ends of their bounds, with empty cells and without.
#[test]
fn bounds_and_empty_cells() {
    let bench = Bench::new(SET);
    for (low, high) in [(0i64, 1), (0, 15), (5, 5), (-7, 8), (0, 255), (-32_768, 32_767)] {
        for nullable in [false, true] {
            let text = format!(
                r#"{{"columns": [{{"name": "x", "type": "integer", "low": {low}, "high": {high},
                                   "nullable": {nullable}}},
                                 {{"name": "on", "type": "boolean"}}]}}"#
            );
            let schema = Schema::from_json(&text).unwrap();
            let mut xs: Vec<i128> = [low, high, high, low, low].map(i128::from).to_vec();
            if nullable {
                (xs[2], xs[3]) = (i128::from(low) - 1, i128::from(low) - 1);
            }
            let data = Data::from_columns(vec![xs, vec![1, 1, 1, 1, 0]], &schema).unwrap();
            for text in [
                "select min(x), max(x), median(x) from t where on",
                "select min(x), max(x) from t where not on",
                "select max(x), min(x), median(x), count(x) from t where x is null",
                "select on, max(x), min(x) from t group by on order by on",
                "select x from t where on order by x limit 3",
                "select x, on from t order by on desc, x desc limit 3",
                "select x, on from t order by x nulls first limit 3",
                "select x, on from t order by x desc nulls last limit 3",
                "select x, on from t order by on, x desc nulls first limit 2",
            ] {
                check(&bench, text, &schema, &data);
            }
        }
    }
}

/// Categories in another order than that of the texts, with empty cells.
#[test]
fn empty_cells_among_texts() {
    let bench = Bench::new(SET);
    let schema = Schema::from_json(
        r#"{"columns": [
            {"name": "x", "type": "category", "values": ["b", "a", "c"], "nullable": true},
            {"name": "n", "type": "integer", "low": -3, "high": 4, "nullable": true}]}"#,
    );
    let schema = schema.unwrap();
    let data = Data::from_csv("x,n\nb,1\n,2\na,\n,\nc,-3\na,4\n".as_bytes(), &schema).unwrap();
    for first in ["", "nulls first", "nulls last"] {
        for (a, b) in [("", ""), ("desc", ""), ("", "desc"), ("desc", "desc")] {
            for limit in [1, 3, 5] {
                let order = format!("x {a} {first}, n {b} {first}");
                let text = format!("select x, n from t order by {order} limit {limit}");
                check(&bench, &text, &schema, &data);
            }
        }
    }
}

#[test]
fn first_rows_and_medians_are_found() {
    let bench = Bench::new(SET);
    let (schema, data) = shop();
    for text in [
        "select price, kind from shop where paid order by price desc limit 2",
        "select * from shop order by kind, sold desc limit 4",
        "select count from shop where price > 4 order by count limit 1",
        // As many as there are, more, none, and of no rows.
        "select count from shop where paid order by count limit 4",
        "select count from shop order by count desc limit 7",
        "select count from shop order by count desc limit 100",
        "select count from shop order by count desc limit 0",
        "select count from shop where count = 17 order by count limit 2",
        "select count from shop where count > 500 order by count limit 2",
        // Ties, and no order at all: the first rows of the table.
        "select kind, paid from shop order by paid limit 2",
        "select kind from shop where paid limit 2",
        "select median(price), median(count) from shop where kind = 'tea'",
        "select median(count) from shop where paid",
        "select median(count), max(count), sum(price), count(*) from shop",
        "select paid, median(price * 2 - count) as m from shop group by paid order by m",
        "select median(count) from shop where count = 17",
    ] {
        check(&bench, text, &schema, &data);
        let query = parse(text, &schema);
        if let (Some(limit), true) = (query.limit, query.aggregates.is_empty()) {
            let blocks = bench.encrypt(&schema, &data);
            let told = bench.told(&query, &schema, data.rows(), &blocks, &[]).unwrap();
            assert!(told.len() <= limit, "{text}: {} rows are told", told.len());
        }
    }
}

/// Three blocks of rows, the last one not full: their values are compared slot by slot first.
#[test]
fn blocks_are_joined() {
    let bench = Bench::new(SET);
    let (schema, data) = rows(5_000);
    check(&bench, "select max(price), min(count) from shop where kind <> 'cake'", &schema, &data);
    check(&bench, "select min(price) from shop", &schema, &data);
}

/// What no oracle shares with the library is compared in `oracle`; here its queries for least and
/// greatest values and medians are answered by a server.
#[test]
fn random_queries() {
    let bench = Bench::new(SET);
    let (mut answered, mut seed) = (0, 7_000);
    while answered < 24 {
        seed += 1;
        let mut random = Random(seed);
        let columns = random.columns();
        let schema = Schema::from_json(&Type::json(&columns)).unwrap();
        let count = [1, 3, 9, 20][random.below(4)];
        let rows: Vec<Vec<_>> =
            (0..count).map(|_| columns.iter().map(|c| random.cell(c)).collect()).collect();
        let data = crate::oracle::csv(&columns, &rows);
        let data = Data::from_csv(data.as_bytes(), &schema).unwrap();
        for _ in 0..40 {
            let asked = random.query(&columns);
            let folds = |o: &Output| matches!(o, Output::Fold(name, ..) if *name != "distinct");
            let distinct = |o: &Output| matches!(o, Output::Fold(name, ..) if *name == "distinct");
            if !asked.outputs.iter().any(folds) || asked.outputs.iter().any(distinct) {
                continue;
            }
            let text = asked.sql(&columns);
            match Query::parse_ordered(&text, &schema, OrderedBy::Server) {
                Err(e) if ["table.range", "table.unsupported"].contains(&e.code()) => continue,
                found => drop(found.unwrap()),
            }
            check(&bench, &text, &schema, &data);
            answered += 1;
            break;
        }
    }
}

#[test]
fn what_a_server_cannot_order_is_refused() {
    let (schema, _) = shop();
    let refused = |text: &str| {
        let found = Query::parse_ordered(text, &schema, OrderedBy::Server);
        let error = found.err().unwrap_or_else(|| panic!("{text} is answered"));
        assert_eq!(error.code(), "table.unsupported", "{text}: {error}");
        error.to_string()
    };
    for text in [
        "select count(distinct kind) from shop",
        "select price, max(count) from shop group by price",
        "select distinct price from shop",
        "select quantile_cont(price, 0.9) from shop",
    ] {
        assert!(refused(text).contains("ordered by the reader"), "{text}");
    }
    let texts = r#"{"columns": [{"name": "note", "type": "text", "bytes": 8},
                                {"name": "x", "type": "integer", "low": 0, "high": 9}]}"#;
    let texts = Schema::from_json(texts).unwrap();
    let text = "select note from t order by note limit 1";
    assert_eq!(code(Query::parse_ordered(text, &texts, OrderedBy::Server)), "table.unsupported");

    // Of how many rows that is known: all pairs of 128 are compared.
    let params = PARTIES.client.params();
    for (text, rows, fits) in [
        ("select price from shop order by price limit 3", 128, true),
        ("select price from shop order by price limit 3", 129, false),
        ("select price from shop order by price", 129, true),
        ("select median(price) from shop", 129, false),
        ("select max(price) from shop", 1_000_000, true),
    ] {
        let plan = Plan::ordered(text, &schema, OrderedBy::Server).unwrap();
        let found = plan.check_rows(params, rows);
        assert_eq!(found.is_ok(), fits, "{text} {rows}");
        if !fits {
            assert_eq!(code(found), "table.unsupported");
        }
    }
}

/// Rows of several blocks would be ranked block by block, and groups have a slot each.
#[test]
fn few_used_slots_hold_few_rows_in_order() {
    let [few, all] = [format!("{SET}-s64"), SET.into()]
        .map(|name: String| Params::named(&name, OptIn::InsecureResearch).unwrap());
    let schema = Schema::from_json(
        r#"{"columns": [{"name": "g", "type": "integer", "low": 0, "high": 64},
                        {"name": "x", "type": "integer", "low": 0, "high": 9}]}"#,
    );
    let schema = schema.unwrap();
    for (text, rows) in [
        ("select median(x) from t", 65),
        ("select x from t order by x limit 3", 65),
        ("select g, max(x) from t group by g", 9),
    ] {
        let plan = Plan::ordered(text, &schema, OrderedBy::Server).unwrap();
        assert_eq!(code(plan.check_rows(&few, rows)), "table.unsupported", "{text}");
        plan.check_rows(&all, rows).unwrap();
    }
    let plan = Plan::ordered("select median(x) from t", &schema, OrderedBy::Server).unwrap();
    plan.check_rows(&few, 64).unwrap();
}

#[test]
fn plans_say_who_orders() {
    let (schema, _) = shop();
    let text = "select max(price) from shop where paid";
    let (reader, server) = (
        Plan::new(text, &schema).unwrap(),
        Plan::ordered(text, &schema, OrderedBy::Server).unwrap(),
    );
    assert_ne!(reader.id().unwrap(), server.id().unwrap());
    assert!(!reader.to_json().unwrap().contains("ordered_by"));
    for plan in [&reader, &server] {
        assert_eq!(Plan::from_json(&plan.to_json().unwrap()).unwrap(), *plan);
    }
    let forged = server.to_json().unwrap().replace("\"server\"", "\"nobody\"");
    assert_eq!(code(Plan::from_json(&forged)), "table.plan");

    let params = PARTIES.client.params();
    let (listed, found) =
        (reader.explain(params, 5_000).unwrap(), server.explain(params, 5_000).unwrap());
    assert_eq!((listed.cost.extremes, listed.cost.refreshes), (0, 0));
    assert!(listed.reader_learns.contains("the rows that are meant"), "{listed}");
    assert_eq!((found.cost.extremes, found.cost.sums), (1, 0));
    assert!(found.cost.refreshes > 0 && !found.rows_listed, "{found}");
    assert!(found.reader_learns.contains("1 least or greatest values"), "{found}");
    assert!(found.cost.result_ciphertexts < listed.cost.result_ciphertexts);
    // Rows of three blocks, and of one.
    let one = reader.explain(params, 2_048).unwrap().cost;
    assert_eq!(listed.cost.result_bytes, 3 * one.result_bytes);
    // A block more is a comparison more.
    let longer = server.explain(params, 7_000).unwrap();
    assert!(longer.cost.products > found.cost.products);
    let first = "select kind, price from shop order by price limit 3";
    let first = Plan::ordered(first, &schema, OrderedBy::Server).unwrap();
    let told = first.explain(params, 100).unwrap().reader_learns;
    assert!(told.contains("as far as the first 3"), "{told}");
    // A ranking is no column of the table, and begins at no smaller modulus.
    let median = Plan::ordered("select median(price) from shop", &schema, OrderedBy::Server);
    let told = median.unwrap().explain(params, 20).unwrap();
    assert!(told.starts.is_empty() && told.reader_learns.contains("of a median"), "{told}");
}

/// Files of three parties, under encryption, with keys that the plan names.
#[test]
fn a_server_orders_what_it_cannot_read() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("shop");
    let (schema, data) = rows(40);
    let mut rng = everlevel::system_rng().unwrap();
    let key = TableKey::Secret(PARTIES.client.secret());
    let input = (&schema, &data);
    EncryptedTable::create(&directory, Existing::Keep, key, input, &mut rng, quiet).unwrap();
    let table = open(&directory).unwrap();
    for text in [
        "select max(count) from shop where count < 300 and paid",
        "select kind, count, discount from shop where paid order by count desc, discount limit 3",
    ] {
        let plan = Plan::ordered(text, &schema, OrderedBy::Server).unwrap();
        let result = table.run(&PARTIES.server, &plan, None, quiet).unwrap();
        let expected = Answer::plain(plan.query(), &schema, &data).unwrap();
        assert_eq!(result.read(PARTIES.client.secret()).unwrap(), expected, "{text}");
        // The same by numbers in place of ciphertexts.
        let rehearsed = plan.rehearse(PARTIES.client.params(), &data, &[]).unwrap();
        assert_eq!(rehearsed, expected, "{text}");
    }
    // Three blocks, of which parts are not joined.
    let (_, data) = rows(5_000);
    let longer = EncryptedTable::encrypt(key, &schema, &data, &mut rng, quiet).unwrap();
    let plan = Plan::ordered("select max(count) from shop where paid", &schema, OrderedBy::Server);
    let plan = plan.unwrap();
    let found = longer.run(&PARTIES.server, &plan, None, quiet).unwrap();
    let answer = found.read(PARTIES.client.secret()).unwrap();
    assert_eq!(answer.to_csv().unwrap(), "max(count)\n255\n");
    let part = |blocks| code(longer.run_part(&PARTIES.server, &plan, None, blocks, quiet));
    assert_eq!(part(0..1), "table.unsupported");
    // Keys that do not bootstrap.
    let plan = Plan::new("select count(*) from shop", &schema).unwrap();
    let keys = plan.keys(PARTIES.client.params(), 40).unwrap();
    let keys = PARTIES.client.server_keys(&keys, &mut rng).unwrap();
    let server = Server::leveled(keys);
    let plan = Plan::ordered("select max(price) from shop", &schema, OrderedBy::Server).unwrap();
    assert_eq!(code(table.run(&server, &plan, None, quiet)), "table.unsupported");
}
