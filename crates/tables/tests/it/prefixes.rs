//! Prefixes of categories that the server does not see.

use everlevel_tables::{
    Answer, Constants, Data, EncryptedTable, PlainTable, Plan, Query, Schema, TableKey,
};

use crate::Bench;
use crate::roles::{PARTIES, code, quiet};

/// Categories in order, of which some cells are empty.
fn goods() -> (Schema, Data) {
    let schema = Schema::from_json(
        r#"{"columns": [
            {"name": "kind", "type": "category", "nullable": true,
             "values": ["PROMO cake", "PROMO tea", "cake", "jam", "tea", "tea, black"]},
            {"name": "price", "type": "integer", "low": 0, "high": 99}]}"#,
    );
    let schema = schema.unwrap();
    let rows = "kind,price\nPROMO cake,1\nPROMO tea,2\ncake,4\njam,8\ntea,16\n\"tea, black\",32\n\
                ,64\nPROMO tea,9\n";
    let data = Data::from_csv(rows.as_bytes(), &schema).unwrap();
    (schema, data)
}

const PATTERNS: [&str; 9] =
    ["PROMO%", "PROMO t%", "tea%", "tea,%", "jam%", "%", "P%", "coffee%", "zebra%"];

/// The queries with a literal or an encrypted pattern.
fn queries(pattern: &str) -> [String; 3] {
    [
        format!("select count(*), sum(price) from t where kind like {pattern}"),
        format!("select count(*), sum(price) from t where not kind like {pattern}"),
        format!("select sum(case when kind like {pattern} then price else 0 end) from t"),
    ]
}

/// As with a public pattern: an evaluation that knows no intervals.
#[test]
fn prefixes_are_those_with_public_patterns() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let (schema, data) = goods();
    let blocks = bench.encrypt(&schema, &data);
    for pattern in PATTERNS {
        for (public, hidden) in queries(&format!("'{pattern}'")).iter().zip(queries(":it")) {
            let public = Query::parse(public, &schema).unwrap();
            let expected = Answer::plain(&public, &schema, &data).unwrap();
            let plan = Plan::new(&hidden, &schema).unwrap();
            let codes = plan.codes(&[("it", pattern)]).unwrap();
            assert_eq!((codes.len(), plan.query().constants().count()), (2, 1));
            let clear = Answer::plain_with(plan.query(), &schema, &data, &codes).unwrap();
            assert_eq!(clear.rows, expected.rows, "{hidden} of {pattern}");
            let found = bench.try_ask_with(&hidden, &schema, data.rows(), &blocks, &codes);
            assert_eq!(found.unwrap().rows, expected.rows, "{hidden} of {pattern}");
        }
    }
}

/// Of an encrypted table, and of one that the server knows.
#[test]
fn prefixes_are_encrypted() {
    let (schema, data) = goods();
    let (secret, mut rng) = (PARTIES.client.secret(), everlevel::system_rng().unwrap());
    let key = TableKey::Secret(secret);
    let table = EncryptedTable::encrypt(key, &schema, &data, &mut rng, quiet).unwrap();
    let known = PlainTable::new(schema.clone(), data.clone(), &mut rng);
    for pattern in ["PROMO%", "coffee%"] {
        let [public, ..] = queries(&format!("'{pattern}'"));
        let public = Query::parse(&public, &schema).unwrap();
        let expected = Answer::plain(&public, &schema, &data).unwrap();
        let [hidden, ..] = queries(":it");
        let plan = Plan::new(&hidden, &schema).unwrap();
        let constants = Constants::encrypt(key, &plan, &[("it", pattern)], &mut rng).unwrap();
        let of_table = table.run(&PARTIES.server, &plan, Some(&constants), quiet).unwrap();
        let of_known = known.run(&PARTIES.server, &plan, Some(&constants), quiet).unwrap();
        for result in [of_table, of_known] {
            assert_eq!(result.read(secret).unwrap().rows, expected.rows, "{pattern}");
        }
    }
}

#[test]
fn prefixes_that_are_refused() {
    let (schema, _) = goods();
    let plan = Plan::new("select count(*) from t where kind like :it", &schema).unwrap();
    for pattern in ["PROMO", "", "%tea", "PROMO%%", "P_OMO%", "_%"] {
        assert_eq!(code(plan.codes(&[("it", pattern)])), "table.constants", "{pattern}");
    }
    for (sql, expected) in [
        ("select count(*) from t where kind like :it and kind = :it", "table.type"),
        ("select count(*) from t where kind = :it or kind like :it", "table.type"),
        ("select count(*) from t where price like :it", "table.type"),
        ("select count(*) from t where :it like 'PROMO%'", "table.type"),
    ] {
        assert_eq!(code(Plan::new(sql, &schema)), expected, "{sql}");
    }
    // Two of one pattern are one constant.
    let twice = "select count(*) from t where kind like :it or not kind like :it";
    assert_eq!(Plan::new(twice, &schema).unwrap().query().parameters.len(), 2);
    for values in [r#"["tea", "cake"]"#, r#"["tea"]"#] {
        let text = format!(
            r#"{{"columns": [{{"name": "kind", "type": "category", "values": {values}}}]}}"#
        );
        let schema = Schema::from_json(&text).unwrap();
        let found = Plan::new("select count(*) from t where kind like :it", &schema);
        assert_eq!(code(found), "table.unsupported", "{values}");
    }
}
