//! Tables that the server knows, and queries whose constants it does not.

use everlevel::{KeyPlan, Server, bootstrap_plan};
use everlevel_tables::{Answer, Constants, Data, PlainTable, Plan, Schema, TableKey};

use crate::roles::{OTHERS, PARTIES, code, quiet, rows};
use crate::shop;

const QUERIES: [(&str, &[(&str, &str)]); 8] = [
    ("select kind, price, sold from shop where count = :n", &[("n", "255")]),
    ("select * from shop where price between :lo and :hi", &[("lo", "4.99"), ("hi", "17.77")]),
    ("select price from shop where kind = 'tea' and paid and count <> :n", &[("n", "-3")]),
    (
        "select kind, count(*), sum(price * count) from shop where sold >= :day and discount < \
         0.07 group by kind order by kind",
        &[("day", "1994-01-01")],
    ),
    ("select avg(price) from shop where kind = :kind or count > price", &[("kind", "jam")]),
    ("select count(*) filter (where paid = :p), sum(count) from shop", &[("p", "false")]),
    ("select sum(case when :low <= price then count else 1 end) from shop", &[("low", "4.99")]),
    ("select count(*) from shop where kind in (:a, 'jam', :b)", &[("a", "tea"), ("b", "cake")]),
];

/// The keys of a server.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Held {
    General,
    OfPlans,
    /// With fewer keys for products.
    Smaller,
}

/// The places of all queries.
const ALL: [usize; QUERIES.len()] = [0, 1, 2, 3, 4, 5, 6, 7];

/// The rows of a table, the keys that are tried, and the places of the queries.
type Case<'a> = (usize, &'a [Held], &'a [usize]);

/// One block that is not full, with general keys; one that is, for rows and for groups; several,
/// with the keys of the plans.
#[test]
fn answers_are_those_in_the_clear() {
    answered(&[
        (7, &[Held::General], &ALL),
        (2048, &[Held::General], &[0, 3]),
        (2_050, &[Held::OfPlans, Held::Smaller], &ALL),
    ]);
}

#[test]
#[ignore = "a quarter of a minute: all keys and queries for all tables"]
fn many_answers_are_those_in_the_clear_in_full() {
    let all = [Held::General, Held::OfPlans, Held::Smaller];
    answered(&[(7, &all[1..], &ALL), (2048, &all, &ALL), (4_100, &all, &ALL)]);
}

fn answered(tables: &[Case]) {
    let (secret, mut rng) = (PARTIES.client.secret(), everlevel::system_rng().unwrap());
    let public = PARTIES.client.public_key(&mut rng);
    let params = secret.params();
    let bootstrap = bootstrap_plan(params).unwrap();
    for &(count, held, asked) in tables {
        let key = if count == 2048 { TableKey::Secret(secret) } else { TableKey::Public(&public) };
        let (schema, data) = if count == 7 { shop() } else { rows(count) };
        let table = PlainTable::new(schema.clone(), data.clone(), &mut rng);
        assert_eq!((table.rows(), table.blocks(params)), (count, count.div_ceil(params.slots())));
        let plans = QUERIES.map(|(sql, _)| Plan::new(sql, &schema).unwrap());
        let mut keys = KeyPlan::default();
        if held.contains(&Held::OfPlans) {
            for plan in &plans {
                keys = keys.merge(&plan.keys(params, count).unwrap());
            }
        }
        let servers = held.iter().map(|one| {
            let keys = match one {
                Held::General => return None,
                Held::OfPlans => keys.clone(),
                Held::Smaller => keys.smaller(params),
            };
            Some(PARTIES.client.server_for(&keys, &bootstrap, &mut rng, |_, _| ()).unwrap())
        });
        let servers: Vec<Option<Server>> = servers.collect();
        for (plan, (sql, values)) in asked.iter().map(|&place| (&plans[place], QUERIES[place])) {
            let codes = plan.codes(values).unwrap();
            let expected = Answer::plain_with(plan.query(), &schema, &data, &codes).unwrap();
            for (one, server) in held.iter().zip(&servers) {
                let server = server.as_ref().unwrap_or(&PARTIES.server);
                let constants = Constants::encrypt(key, plan, values, &mut rng).unwrap();
                let result = table.run(server, plan, Some(&constants), quiet).unwrap();
                result.check(Some(plan), Some(table.id()), Some(constants.id())).unwrap();
                assert_eq!(result.owner(), Some(secret.id()));
                assert_eq!(result.read(secret).unwrap(), expected, "{sql}, {count} rows, {one:?}");
            }
        }
    }
}

/// Three truth values: an empty cell is neither equal to a constant nor different from it.
#[test]
fn empty_cells_of_a_table_in_the_clear() {
    let schema = Schema::from_json(
        r#"{"columns": [{"name": "n", "type": "integer", "low": 0, "high": 300, "nullable": true},
            {"name": "w", "type": "category", "values": ["a", "b"], "nullable": true},
            {"name": "x", "type": "integer", "low": -7, "high": 9}]}"#,
    )
    .unwrap();
    let csv = "n,w,x\n0,a,1\n,b,2\n300,,3\n17,b,-7\n,,9\n16,a,0\n";
    let data = Data::from_csv(csv.as_bytes(), &schema).unwrap();
    let (secret, mut rng) = (PARTIES.client.secret(), everlevel::system_rng().unwrap());
    let table = PlainTable::new(schema.clone(), data.clone(), &mut rng);
    for (sql, values) in [
        ("select x from t where n = :n", &[("n", "0")][..]),
        ("select x from t where n <> :n", &[("n", "0")]),
        ("select x, n from t where not (n < :n and w = 'b')", &[("n", "17")]),
        (
            "select sum(x), count(n), count(*) from t where n >= :n or w = :w",
            &[("n", "17"), ("w", "a")],
        ),
        ("select count(*) filter (where w <> :w), sum(n) from t", &[("w", "b")]),
        (
            "select w, min(n) as low, median(x) from t where x > :x group by w order by w",
            &[("x", "-7")],
        ),
        ("select x from t where n is null or n = :n", &[("n", "300")]),
    ] {
        let plan = Plan::new(sql, &schema).unwrap();
        let constants = Constants::encrypt(TableKey::Secret(secret), &plan, values, &mut rng);
        let result = table.run(&PARTIES.server, &plan, Some(&constants.unwrap()), quiet).unwrap();
        let codes = plan.codes(values).unwrap();
        let expected = Answer::plain_with(plan.query(), &schema, &data, &codes).unwrap();
        assert_eq!(result.read(secret).unwrap(), expected, "{sql}");
    }
}

#[test]
fn what_is_refused() {
    let (schema, data) = shop();
    let mut rng = everlevel::system_rng().unwrap();
    let table = PlainTable::new(schema.clone(), data, &mut rng);
    let run = |plan: &Plan, constants: Option<&Constants>| {
        table.run(&PARTIES.server, plan, constants, quiet)
    };
    // Nothing is hidden.
    let open = Plan::new("select count(*) from shop where price > 5", &schema).unwrap();
    assert_eq!(code(run(&open, None)), "table.constants");
    let plan = Plan::new("select count(*) from shop where price > :p", &schema).unwrap();
    assert_eq!(code(run(&plan, None)), "table.constants");
    // Keys of another owner.
    let theirs = TableKey::Secret(OTHERS.client.secret());
    let theirs = Constants::encrypt(theirs, &plan, &[("p", "5")], &mut rng).unwrap();
    assert_eq!(code(run(&plan, Some(&theirs))), "scheme.wrong-key");
    // Another plan, another schema.
    let key = TableKey::Secret(PARTIES.client.secret());
    let mine = Constants::encrypt(key, &plan, &[("p", "5")], &mut rng).unwrap();
    let other = Plan::new("select count(*) from shop where price < :p", &schema).unwrap();
    assert_eq!(code(run(&other, Some(&mine))), "table.constants");
    let json = schema.to_json().unwrap().replace("500", "501");
    let wider = everlevel_tables::Schema::from_json(&json).unwrap();
    let other = Plan::new("select count(*) from shop where price > :p", &wider).unwrap();
    assert_eq!(code(run(&other, Some(&mine))), "table.other-schema");
    assert!(run(&plan, Some(&mine)).is_ok());
}
