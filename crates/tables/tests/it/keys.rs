//! Server keys for queries that are known.

use everlevel::{KeyPlan, general_keys};
use everlevel_tables::{Answer, Constants, EncryptedTable, Plan, TableKey, TablesError};

use crate::roles::{PARTIES, code, quiet, rows};

const QUERIES: [(&str, &[(&str, &str)]); 4] = [
    (
        "select kind, count(*), sum(price * count), avg(price) from shop where discount <= 0.06 \
         group by kind order by kind",
        &[],
    ),
    ("select kind, price, sold from shop where count = 256", &[]),
    ("select sum(price) from shop where sold >= :day and count < 17", &[("day", "1994-01-01")]),
    ("select price, paid from shop where count = :n and kind = 'tea'", &[("n", "255")]),
];

/// The keys that a plan asks for are enough, for tables under either key, of one block or several,
/// and are fewer than general ones. So are the smaller ones of these.
#[test]
fn keys_of_plans_are_enough() {
    let (secret, mut rng) = (PARTIES.client.secret(), everlevel::system_rng().unwrap());
    let public = PARTIES.client.public_key(&mut rng);
    let params = secret.params();
    let bootstrap = everlevel::bootstrap_plan(params).unwrap();
    for (count, key) in [
        (70, TableKey::Public(&public)),
        (2048, TableKey::Secret(secret)),
        (9_000, TableKey::Public(&public)),
    ] {
        let (schema, data) = rows(count);
        let table = EncryptedTable::encrypt(key, &schema, &data, &mut rng, quiet).unwrap();
        let plans = QUERIES.map(|(sql, _)| Plan::new(sql, &schema).unwrap());
        let mut keys = KeyPlan::default();
        for plan in &plans {
            keys = keys.merge(&plan.keys(params, count).unwrap());
        }
        if count == 2048 {
            let all = keys.clone();
            keys = all.smaller(params);
            let bytes = [&keys, &all].map(|keys| keys.seeded_bytes(params));
            assert!(bytes[0] < bytes[1], "{bytes:?}");
        }
        let general = general_keys(params).unwrap();
        assert!(!keys.bootstrap && keys.len() < general.len(), "{} {}", keys.len(), general.len());
        let server = PARTIES.client.server_for(&keys, &bootstrap, &mut rng, |_, _| ()).unwrap();
        for (plan, (sql, values)) in plans.iter().zip(QUERIES) {
            let constants = Constants::encrypt(key, plan, values, &mut rng).unwrap();
            let constants = Some(&constants).filter(|_| !values.is_empty());
            let result = table.run(&server, plan, constants, quiet).unwrap();
            let codes = plan.codes(values).unwrap();
            let expected = Answer::plain_with(plan.query(), &schema, &data, &codes).unwrap();
            assert_eq!(result.read(secret).unwrap(), expected, "{sql}, {count} rows");
        }
        // What they are not for is refused.
        let other = Plan::new("select sum(price * count * price) from shop", &schema).unwrap();
        let few = plans[1].keys(params, count).unwrap();
        let server = PARTIES.client.server_for(&few, &bootstrap, &mut rng, |_, _| ()).unwrap();
        assert_eq!(code(table.run(&server, &other, None, quiet)), "table.keys");
    }
}

/// Keys of one query refuse another one before anything is computed, of a whole table or a part of
/// it, and for constants; what they suffice for is answered.
#[test]
fn keys_of_another_query_are_refused_first() {
    let (secret, mut rng) = (PARTIES.client.secret(), everlevel::system_rng().unwrap());
    let params = secret.params();
    let bootstrap = everlevel::bootstrap_plan(params).unwrap();
    let (schema, data) = rows(70);
    let key = TableKey::Secret(secret);
    let table = EncryptedTable::encrypt(key, &schema, &data, &mut rng, quiet).unwrap();
    let declared = Plan::new("select kind, price from shop where count = 256", &schema).unwrap();
    let keys = declared.keys(params, 70).unwrap();
    let server = PARTIES.client.server_for(&keys, &bootstrap, &mut rng, |_, _| ()).unwrap();
    // Transforms are counted for all that share the ring.
    let computed = || {
        let cost = server.evaluator().cost();
        (cost.products, cost.key_switches, cost.relinearizations)
    };
    let before = computed();
    for (text, values) in [
        ("select kind, sum(price), count(*) from shop group by kind", &[][..]),
        ("select sum(price * count) from shop where sold < date '1995-01-01'", &[]),
        ("select count(*) from shop where price > :price", &[("price", "12.50")]),
    ] {
        let plan = Plan::new(text, &schema).unwrap();
        let constants = Constants::encrypt(key, &plan, values, &mut rng).unwrap();
        let constants = Some(&constants).filter(|_| !values.is_empty());
        let mut steps = 0;
        let step = |_, _| {
            steps += 1;
            Ok::<_, TablesError>(())
        };
        let error = table.run(&server, &plan, constants, step).expect_err("it is refused");
        assert_eq!((error.code(), steps), ("table.keys", 0), "{text}: {error}");
        let told = error.to_string();
        assert!(told.contains("a table of 70 rows") && told.contains("declared"), "{told}");
        assert!(!told.contains("automorphism") && !told.contains("Galois"), "{told}");
        let part = table.run_part(&server, &plan, constants, 0..1, quiet);
        assert_eq!(code(part), "table.keys", "{text}");
    }
    assert_eq!(computed(), before);
    // The same keys, beside those of the other query, and general ones serve it.
    let plan = Plan::new("select sum(price), count(*) from shop where paid", &schema).unwrap();
    let both = keys.merge(&plan.keys(params, 70).unwrap());
    let both = PARTIES.client.server_for(&both, &bootstrap, &mut rng, |_, _| ()).unwrap();
    for (server, plan) in [(&server, &declared), (&both, &declared), (&both, &plan)] {
        let expected = Answer::plain(plan.query(), &schema, &data).unwrap();
        let result = table.run(server, plan, None, quiet).unwrap();
        assert_eq!(result.read(secret).unwrap(), expected, "{}", plan.sql());
    }
    // Nor do keys without bootstrapping suffice for what has to be bootstrapped.
    let deep = ["price * count", "price * count * count", "price * count * count * count"];
    let deep = deep.map(|x| format!("select count(*) from shop where {x} > 7 and {x} < price + 9"));
    let deep = deep.map(|text| Plan::new(&text, &schema).unwrap());
    let deep = deep.iter().find(|plan| plan.keys(params, 70).unwrap().bootstrap);
    let deep = deep.expect("one of them is too deep");
    assert_eq!(code(table.run(&both, deep, None, quiet)), "table.keys");
}

/// The same for comparisons with many digits.
#[test]
fn keys_of_comparisons_of_times_are_enough() {
    let (secret, mut rng) = (PARTIES.client.secret(), everlevel::system_rng().unwrap());
    let params = secret.params();
    let bootstrap = everlevel::bootstrap_plan(params).unwrap();
    let csv = "seen,n\n2026-01-31T12:00:00,5\n2026-01-31T12:00:01,6\n2026-02-01T00:00:00,7\n";
    let schema = everlevel_tables::Schema::from_json(
        r#"{"columns": [{"name": "seen", "type": "timestamp", "unit": "s",
            "low": "2026-01-31T12:00:00", "high": "2026-02-01T00:00:00"},
            {"name": "n", "type": "integer", "low": 5, "high": 7}]}"#,
    )
    .unwrap();
    let data = everlevel_tables::Data::from_csv(csv.as_bytes(), &schema).unwrap();
    let table =
        EncryptedTable::encrypt(TableKey::Secret(secret), &schema, &data, &mut rng, quiet).unwrap();
    let sql = "select count(*), sum(n) from t where seen > timestamp '2026-01-31 12:00:00'";
    let plan = Plan::new(sql, &schema).unwrap();
    let keys = plan.keys(params, 3).unwrap();
    let server = PARTIES.client.server_for(&keys, &bootstrap, &mut rng, |_, _| ()).unwrap();
    let result = table.run(&server, &plan, None, quiet).unwrap();
    let expected = Answer::plain(plan.query(), &schema, &data).unwrap();
    assert_eq!(result.read(secret).unwrap(), expected);
}
