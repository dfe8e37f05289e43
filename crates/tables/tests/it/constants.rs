//! Queries with constants that the server does not see.

use everlevel::files::Existing;
use everlevel_tables::{Answer, Constants, EncryptedTable, Plan, Query, TableKey, TableResult};

use crate::roles::{OTHERS, PARTIES, code, open, quiet, rows};
use crate::{Bench, shop};

type Named<'a> = [(&'a str, &'a str)];

fn bind(plan: &Plan, values: &Named<'_>) -> Constants {
    let mut rng = everlevel::system_rng().unwrap();
    let key = PARTIES.client.public_key(&mut rng);
    Constants::encrypt(TableKey::Public(&key), plan, values, &mut rng).unwrap()
}

/// Every comparison of every kind of column, with values at and between its bounds, as with a
/// constant that is public.
#[test]
fn comparisons_are_those_with_public_constants() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let (schema, data) = shop();
    let blocks = bench.encrypt(&schema, &data);
    let mut asked = 0;
    for (column, values, ordered) in [
        ("kind", &["tea", "cake", "jam", "PROMO tea"][..], false),
        ("price", &["0.05", "12.50", "12.51", "999.99"], true),
        ("count", &["-3", "0", "255", "256", "500"], true),
        ("sold", &["1992-01-01", "1994-06-30", "1998-12-31"], true),
        ("paid", &["true", "false"], false),
        ("discount", &["0", "0.05", "0.10"], true),
    ] {
        let all = ["=", "<>", "<", "<=", ">", ">="];
        for operator in if ordered { &all[..] } else { &all[..2] } {
            for value in values {
                let literal = match column {
                    "kind" | "sold" => format!("'{value}'"),
                    _ => (*value).to_string(),
                };
                let text = |side: &str| {
                    format!(
                        "select count(*), sum(price) from shop where {column} {operator} {side}"
                    )
                };
                let public = Query::parse(&text(&literal), &schema).unwrap();
                let expected = Answer::plain(&public, &schema, &data).unwrap();
                let plan = Plan::new(&text(":it"), &schema).unwrap();
                let codes = plan.codes(&[("it", value)]).unwrap();
                let clear = Answer::plain_with(plan.query(), &schema, &data, &codes).unwrap();
                assert_eq!(clear.rows, expected.rows, "{} of {value}", plan.sql());
                let found = bench.try_ask_with(plan.sql(), &schema, data.rows(), &blocks, &codes);
                assert_eq!(found.unwrap().rows, expected.rows, "{} of {value}", plan.sql());
                asked += 1;
            }
        }
    }
    assert!(asked > 100);
}

/// Over blocks of which the last one is not full, under encryption.
#[test]
fn constants_are_files() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("shop");
    let (schema, data) = rows(5_000);
    let mut rng = everlevel::system_rng().unwrap();
    let key = TableKey::Secret(PARTIES.client.secret());
    let created =
        EncryptedTable::create(&directory, Existing::Keep, key, (&schema, &data), &mut rng, quiet);
    created.unwrap();
    let table = open(&directory).unwrap();
    for (sql, values) in [
        (
            "select kind, count(*), sum(price * count) from shop where discount between :lo and \
             :hi and sold >= :day group by kind order by kind",
            &[("hi", "0.07"), ("lo", "0.05"), ("day", "1994-01-01")][..],
        ),
        ("select count(*) from shop where kind in (:a, 'jam', :b)", &[("a", "tea"), ("b", "cake")]),
        ("select sum(case when :low <= price then count else 1 end) from shop", &[("low", "4.99")]),
        (
            "select count(*) filter (where not paid = :p) from shop where count <> :n",
            &[("p", "true"), ("n", "-3")],
        ),
        ("select count(*) from shop where count < :n or count > :n", &[("n", "16")]),
    ] {
        let plan = Plan::new(sql, &schema).unwrap();
        let constants = bind(&plan, values);
        let sent = Constants::from_bytes(constants.as_bytes().to_vec()).unwrap();
        assert_eq!(sent, constants);
        assert_eq!(sent.owner(), Some(PARTIES.client.secret().id()));
        let result = table.run(&PARTIES.server, &plan, Some(&sent), quiet).unwrap();
        result.check(Some(&plan), Some(table.id()), Some(constants.id())).unwrap();
        let answer = result.read(PARTIES.client.secret()).unwrap();
        let codes = plan.codes(values).unwrap();
        let expected = Answer::plain_with(plan.query(), &schema, &data, &codes).unwrap();
        assert_eq!(answer, expected, "{sql}");
        let others = bind(&plan, values);
        assert_eq!(code(result.check(None, None, Some(others.id()))), "table.other-result");
    }
}

#[test]
fn constants_that_are_refused() {
    let (schema, _) = shop();
    for sql in [
        "select count(*) from shop where kind < :a",
        "select count(*) from shop where kind like :a",
        "select count(*) from shop where price * 2 > :a",
        // The digits are those of the column, and the number is another one.
        "select count(*) from shop where 0.1 * price > :a",
        "select count(*) from shop where :a = count * 0.01",
        "select count(*) from (select price * 0.1 as p from shop) u where p in (:a)",
        "select count(*) from shop where :a = :b",
        "select sum(price * :a) from shop",
        "select count(*) from shop where price > :a and count < :a",
        "select count(*) from shop where sold > :a + interval '3' month",
        "select count(*) from shop where price > $1",
        "select count(*) from shop where price > ?",
        "select :a from shop",
    ] {
        let found = code(Plan::new(sql, &schema));
        let codes = ["table.type", "table.unsupported", "table.syntax"];
        assert!(codes.contains(&found), "{sql}: {found}");
    }
    assert_eq!(
        code(Plan::new("select count(*) from shop where \":a\" = 1", &schema)),
        "table.name"
    );

    for sql in [
        "select count(*) from shop where 1 * price > :a",
        "select count(*) from shop where (price) + 0.0 > :a",
    ] {
        Plan::new(sql, &schema).unwrap();
    }
    let plan = Plan::new("select count(*) from shop where price > :a and price < :b", &schema);
    let plan = plan.unwrap();
    for values in [
        &[("a", "1")][..],
        &[("a", "1"), ("b", "2"), ("c", "3")],
        &[("a", "1"), ("b", "2"), ("a", "1")],
        &[("a", "1"), ("b", "1000")],
        &[("a", "1"), ("b", "0.001")],
        &[("a", "1"), ("b", "tea")],
        &[("a", "1"), ("b", "")],
        &[],
    ] {
        assert_eq!(code(plan.codes(values)), "table.constants", "{values:?}");
    }

    // Of another plan, of another owner, none at all, for a query without any.
    let (schema, data) = rows(9);
    let mut rng = everlevel::system_rng().unwrap();
    let key = TableKey::Secret(PARTIES.client.secret());
    let table = EncryptedTable::encrypt(key, &schema, &data, &mut rng, quiet).unwrap();
    let run = |plan: &Plan, constants: Option<&Constants>| {
        table.run(&PARTIES.server, plan, constants, quiet)
    };
    let other = Plan::new("select count(*) from shop where price > :a and count < :b", &schema);
    let other = other.unwrap();
    let constants = bind(&plan, &[("a", "1"), ("b", "2")]);
    assert!(run(&plan, Some(&constants)).is_ok());
    assert_eq!(code(run(&other, Some(&constants))), "table.constants");
    assert_eq!(code(run(&plan, None)), "table.constants");
    let none = Plan::new("select count(*) from shop", &schema).unwrap();
    assert_eq!(code(run(&none, Some(&constants))), "table.constants");
    let theirs = TableKey::Secret(OTHERS.client.secret());
    let values = [("a", "1"), ("b", "2")];
    let theirs = Constants::encrypt(theirs, &plan, &values, &mut rng).unwrap();
    assert_eq!(code(run(&plan, Some(&theirs))), "scheme.wrong-key");

    // Objects in the place of others, and damaged ones.
    let result = run(&plan, Some(&constants)).unwrap();
    assert_eq!(code(Constants::from_bytes(result.as_bytes().to_vec())), "table.constants");
    assert_eq!(code(TableResult::from_bytes(constants.as_bytes().to_vec())), "table.result");
    let bytes = constants.as_bytes();
    for place in [40, bytes.len() / 2, bytes.len() - 1] {
        let mut damaged = bytes.to_vec();
        damaged[place] ^= 1;
        let found = Constants::from_bytes(damaged);
        let found = found.and_then(|c| run(&plan, Some(&c)));
        assert!(found.is_err(), "{place}");
    }
}
