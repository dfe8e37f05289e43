//! Rows as answers.

use everlevel::files::Existing;
use everlevel_tables::{Answer, Data, EncryptedTable, OutputType, Plan, Query, Schema, TableKey};

use crate::roles::{PARTIES, code, open, quiet, rows};
use crate::{Bench, shop};

const QUERIES: [&str; 14] = [
    "select * from shop where paid",
    "select price from shop where kind = 'tea'",
    "select kind, kind as again, count from shop where count between 0 and 256 order by count desc",
    "select sold, discount from shop where sold < date '1995-01-01' order by sold, 2 limit 2",
    "select price, count from shop where price * count > 1000",
    "select kind from shop where count > 500",
    "select kind from shop where count = 500 and not paid",
    "select paid from shop where kind in ('jam', 'cake')",
    "select * from shop",
    "select count from shop where count = -3",
    "select count from shop where true",
    "select count from shop where discount < 0",
    "select s.price from shop as s where s.discount = 0.05 limit 1",
    "select discount from shop where paid or not paid",
];

#[test]
fn rows_are_listed() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let (schema, data) = shop();
    for text in QUERIES {
        let query = Query::parse(text, &schema).unwrap();
        assert!(query.listed.is_some() && query.aggregates.is_empty(), "{text}");
        let expected = Answer::plain(&query, &schema, &data).unwrap();
        assert_eq!(bench.ask(text, &schema, &data), expected, "{text}");
    }
    let all = bench.ask("select * from shop where paid", &schema, &data);
    assert_eq!(all.names, ["kind", "price", "count", "sold", "paid", "discount"]);
    assert_eq!(all.rows.len(), 4);
    assert_eq!(all.rows[0][1].to_string(), "0.05");
    let types = Query::parse("select * from shop", &schema).unwrap().output_types(&schema);
    let decimal = OutputType::Decimal { scale: 2 };
    let expected = [OutputType::Text, decimal, OutputType::Integer, OutputType::Date];
    assert_eq!(types[..4], expected);
}

/// Values of every width, at the ends of their bounds, and empty cells.
#[test]
fn columns_of_every_width_are_listed() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    for (low, high) in [
        (0i64, 1),
        (0, 15),
        (5, 5),
        (-7, 9),
        (0, 65_535),
        (0, 65_536),
        (-40_000, 90_000),
        (1_000_000, 1_000_040),
        (0, 1 << 40),
        (-(1 << 62), (1 << 62) - 1),
    ] {
        for nullable in [false, true] {
            let text = format!(
                r#"{{"columns": [{{"name": "x", "type": "integer", "low": {low}, "high": {high},
                                   "nullable": {nullable}}},
                                 {{"name": "on", "type": "boolean"}}]}}"#
            );
            let schema = Schema::from_json(&text).unwrap();
            let middle = low.midpoint(high);
            let mut cells = vec![low, high, middle, high, low].into_iter().map(i128::from);
            let mut xs: Vec<i128> = cells.by_ref().collect();
            if nullable {
                xs[2] = i128::from(low) - 1;
            }
            let data = Data::from_columns(vec![xs, vec![1, 1, 1, 0, 0]], &schema).unwrap();
            for text in [
                "select x from t where on",
                "select x, on from t where x is not null and on = true",
            ] {
                let query = Query::parse(text, &schema).unwrap();
                let expected = Answer::plain(&query, &schema, &data).unwrap();
                let told = format!("{text}: {low} to {high}, {nullable}");
                assert_eq!(bench.ask(text, &schema, &data), expected, "{told}");
                assert!(expected.rows.len() >= 2, "{told}");
            }
        }
    }
}

/// Three blocks, the last one not full, under encryption, and with a key that the server does not
/// see.
#[test]
fn rows_are_files() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("shop");
    let (schema, data) = rows(5_000);
    let mut rng = everlevel::system_rng().unwrap();
    let key = TableKey::Secret(PARTIES.client.secret());
    let created =
        EncryptedTable::create(&directory, Existing::Keep, key, (&schema, &data), &mut rng, quiet);
    created.unwrap();
    let table = open(&directory).unwrap();
    for sql in [
        "select kind, price, sold from shop where count = 256 and discount = 0.01",
        "select price from shop where sold > date '1998-01-01' order by 1 limit 3",
        "select price from shop where price < 0",
    ] {
        let plan = Plan::new(sql, &schema).unwrap();
        let result = table.run(&PARTIES.server, &plan, None, quiet).unwrap();
        let expected = Answer::plain(plan.query(), &schema, &data).unwrap();
        assert_eq!(result.read(PARTIES.client.secret()).unwrap(), expected, "{sql}");
    }
    let sql = "select kind, sold from shop where price = :price";
    let plan = Plan::new(sql, &schema).unwrap();
    let values = [("price", "3.20")];
    let constants = everlevel_tables::Constants::encrypt(key, &plan, &values, &mut rng).unwrap();
    let result = table.run(&PARTIES.server, &plan, Some(&constants), quiet).unwrap();
    let codes = plan.codes(&values).unwrap();
    let expected = Answer::plain_with(plan.query(), &schema, &data, &codes).unwrap();
    assert_eq!(result.read(PARTIES.client.secret()).unwrap(), expected);
    assert_eq!(expected.rows.len(), 714);

    // A result of sums in the place of rows.
    let sums = Plan::new("select sum(price) from shop", &schema).unwrap();
    let result = table.run(&PARTIES.server, &sums, None, quiet).unwrap();
    assert_eq!(code(result.check(Some(&plan), None, None)), "table.other-result");
}
