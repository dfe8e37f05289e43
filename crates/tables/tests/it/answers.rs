//! Answers that were worked out by hand.

use everlevel::{Client, KeyPlanner, OptIn, Params, general_keys};
use everlevel_tables::{Answer, Data, EncryptedTable, Plan, Query, Schema, TableKey};

use crate::roles::quiet;
use crate::{Bench, shop};

#[test]
fn answers_are_those_of_sql() {
    let bench = Bench::new("bgv-65537-n15");
    let (schema, data) = shop();
    for (sql, expected) in [
        ("select count(*) from shop", "7"),
        ("select sum(price) from shop where kind = 'tea'", "255.04"),
        ("select sum(count), avg(count) from shop where count < 0", "-3|-3.000000"),
        ("select sum(price * count) from shop where kind = 'jam' or count >= 500", "499995.00"),
        (
            "select sum(price * discount) as revenue from shop where sold >= date '1994-01-01' \
             and sold < date '1994-01-01' + interval '1' year and discount between 0.05 and 0.07 \
             and count < 24",
            "0.9100",
        ),
        ("select sum(price * (1 - discount)) from shop where not paid and count <> 0", "917.5833"),
        (
            "select kind, count(*) as n, sum(count), avg(price) from shop group by kind order by \
             n desc, kind",
            "tea|3|268|85.01333333\ncake|2|756|508.88000000\nPROMO tea|1|7|12.50000000\n\
             jam|1|0|3.20000000",
        ),
        (
            "select kind, paid, sum(count) from shop where sold <= '1994-12-31' group by kind, \
             paid order by 3 desc limit 2",
            "tea|true|252\nPROMO tea|true|7",
        ),
        (
            "select 100.00 * sum(case when kind like 'PROMO%' then price else 0 end) / sum(price) \
             from shop where price < 20",
            "32.45910153",
        ),
        ("select sum(price) from shop where kind in ('jam', 'salt') and kind > 'cake'", "3.20"),
        ("select sum(price), count(*) from shop where price > 1000", "NULL|0"),
        ("select sum(price) / sum(count) from shop where count = 0", "NULL"),
        ("select count(*) from shop where price > 3.199 and price <= 12.504", "3"),
        ("select sum(5 - count) from shop where -count > 2", "8"),
        (
            "select sum(case when paid then 1 when count > 300 then 10 else 100 end) from shop",
            "214",
        ),
        // More decimal places than any factor has: shown in full, not rounded.
        (
            "select sum(price * discount * discount) * sum(price * discount * discount) * \
             sum(price * discount * discount) * sum(price * discount * discount) from shop where \
             count = 256",
            "0.000000000009971252437441",
        ),
        ("select count(*) from shop where kind is null or sold is null", "0"),
        ("select count(*) from shop where count between 300 and 200", "0"),
        // A sum of nothing is no value, whatever is added up, and whether or not there are rows.
        ("select sum(price) filter (where price > 1000), count(*) from shop", "NULL|7"),
        ("select sum(1), sum(0), avg(0) from shop where price > 1000", "NULL|NULL|NULL"),
        ("select sum(case when paid then 1 else 0 end) from shop where count > 900", "NULL"),
        (
            "select sum(case when paid then count end), avg(case when paid then count end) \
             from shop",
            "275|68.750000",
        ),
        (
            "select kind, count(*) from shop group by kind order by kind",
            "PROMO tea|1\ncake|2\njam|1\ntea|3",
        ),
    ] {
        let answer = bench.ask(sql, &schema, &data);
        let rows = answer
            .rows
            .iter()
            .map(|row| row.iter().map(ToString::to_string).collect::<Vec<_>>().join("|"));
        assert_eq!(rows.collect::<Vec<_>>().join("\n"), expected, "{sql}");
        let query = everlevel_tables::Query::parse(sql, &schema).unwrap();
        let plain = everlevel_tables::Answer::plain(&query, &schema, &data).unwrap();
        assert_eq!(answer, plain, "{sql}");
    }
}

#[test]
fn quotients_are_ordered_as_they_are_and_not_as_they_are_shown() {
    let schema = Schema::from_json(
        r#"{"columns": [{"name": "g", "type": "category", "values": ["a", "b"]},
                        {"name": "x", "type": "integer", "low": 0, "high": 1}]}"#,
    )
    .unwrap();
    // One of 1,500, and one of 1,499: both averages are shown as 0.000667.
    let rows = (0..2_999).map(|i| (i128::from(i >= 1_500), i128::from(i == 0 || i == 1_500)));
    let (g, x): (Vec<i128>, Vec<i128>) = rows.unzip();
    let data = Data::from_columns(vec![g, x], &schema).unwrap();
    for (order, first) in [("desc", "b"), ("asc", "a")] {
        let text = format!("select g, avg(x) as y from t group by g order by y {order} limit 1");
        let query = Query::parse(&text, &schema).unwrap();
        let answer = Answer::plain(&query, &schema, &data).unwrap();
        assert_eq!(answer.to_csv().unwrap(), format!("g,y\n{first},0.000667\n"), "{text}");
    }
}

const REVENUE: &str = "select sum(price * discount) as revenue, count(*) from t \
                       where discount between 0.05 and 0.07 and quantity < 24 and sold < 400";

/// Items in `blocks` blocks of 32,768 rows, of which the last one has 7.
fn items(blocks: usize) -> (Schema, Data) {
    let schema = Schema::from_json(
        r#"{"columns": [
            {"name": "price", "type": "decimal", "scale": 2, "low": "0", "high": "104949.50"},
            {"name": "discount", "type": "decimal", "scale": 2, "low": "0", "high": "0.10"},
            {"name": "quantity", "type": "integer", "low": 1, "high": 50},
            {"name": "sold", "type": "integer", "low": 0, "high": 2525}]}"#,
    )
    .unwrap();
    let column = |low: i128, high: i128| -> Vec<i128> {
        let entry = |i: usize| low + (i as i128 * 7_919) % (high - low + 1);
        (0..((blocks - 1) << 15) + 7).map(entry).collect()
    };
    let columns = vec![column(0, 10_494_950), column(0, 10), column(1, 50), column(0, 2525)];
    let data = Data::from_columns(columns, &schema).unwrap();
    (schema, data)
}

#[test]
fn sums_over_many_blocks() {
    let bench = Bench::new("bgv-65537-n15");
    for blocks in [4, 5, 33] {
        let (schema, data) = items(blocks);
        let query = Query::parse(REVENUE, &schema).unwrap();
        let expected = Answer::plain(&query, &schema, &data).unwrap();
        assert_eq!(bench.ask(REVENUE, &schema, &data), expected, "{blocks} blocks");
    }
}

/// A sum over five blocks has more noise than each of them, and is packed at a level with keys all
/// the same: on the no-op scheme every level has some.
#[test]
#[ignore = "half a minute, and four gigabytes of memory"]
fn sums_over_five_blocks_with_the_keys_of_the_default_set() {
    let params = Params::named("bgv-65537-n15", OptIn::SecureOnly).unwrap();
    let mut rng = everlevel::system_rng().unwrap();
    let client = Client::new(&params, &mut rng);
    let (keys, planner) = (general_keys(&params).unwrap(), KeyPlanner::new(&params).unwrap());
    let server = client.server_for(&keys, planner.bootstrap_plan(), &mut rng, |_, _| ()).unwrap();
    let (schema, data) = items(5);
    let key = TableKey::Secret(client.secret());
    let table = EncryptedTable::encrypt(key, &schema, &data, &mut rng, quiet).unwrap();
    let plan = Plan::new(REVENUE, &schema).unwrap();
    let answer = table.run(&server, &plan, None, quiet).unwrap().read(client.secret()).unwrap();
    assert_eq!(answer, Answer::plain(plan.query(), &schema, &data).unwrap());
}
