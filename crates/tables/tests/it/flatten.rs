//! Selects in the `from` of selects, and other spellings: each asks what one select does.

use everlevel_tables::{Answer, Query};

use crate::shop;

/// As Ibis writes filters, groups, sorts and computed columns, with what they stand for.
const EQUAL: [(&str, &str); 23] = [
    (
        r#"SELECT * FROM "shop" AS "t0" WHERE "t0"."sold" >= MAKE_DATE(1994, 1, 1)"#,
        "select * from shop where sold >= date '1994-01-01'",
    ),
    (
        r#"SELECT "t1"."kind", COUNT(*) AS "n", SUM("t1"."price") AS "price",
           AVG("t1"."count") AS "d"
           FROM (SELECT * FROM "shop" AS "t0" WHERE "t0"."sold" >= MAKE_DATE(1994, 1, 1)) AS "t1"
           GROUP BY 1"#,
        "select kind, count(*) as n, sum(price) as price, avg(count) as d from shop \
         where sold >= date '1994-01-01' group by kind",
    ),
    (
        r#"SELECT * FROM (
             SELECT "t1"."kind", SUM("t1"."price") AS "price" FROM (
               SELECT * FROM "shop" AS "t0" WHERE "t0"."price" > 100 AND "t0"."count" < 5
             ) AS "t1" GROUP BY 1
           ) AS "t2" ORDER BY "t2"."price" DESC LIMIT 3"#,
        "select kind, sum(price) as price from shop where price > 100 and count < 5 \
         group by kind order by price desc limit 3",
    ),
    (
        r#"SELECT * FROM (SELECT "t0"."kind", COUNT(*) AS "n" FROM "shop" AS "t0" GROUP BY 1)
           AS "t1" WHERE "t1"."n" > 2 ORDER BY "t1"."n" DESC, "t1"."kind" ASC"#,
        "select kind, count(*) as n from shop group by kind having count(*) > 2 \
         order by n desc, kind",
    ),
    (
        r#"SELECT "t1"."kind", "t1"."s" / "t1"."n" AS "q" FROM (SELECT "t0"."kind",
           SUM("t0"."price") AS "s", COUNT(*) AS "n" FROM "shop" AS "t0" GROUP BY 1) AS "t1""#,
        "select kind, sum(price) / count(*) as q from shop group by kind",
    ),
    (
        r#"SELECT "t1"."kind", SUM("t1"."x") AS "s" FROM (SELECT "t0"."kind", "t0"."price",
           "t0"."price" - "t0"."count" AS "x" FROM "shop" AS "t0") AS "t1" GROUP BY 1"#,
        "select kind, sum((price - count)) as s from shop group by kind",
    ),
    // Where an expression stands, it stands in parentheses.
    (
        "select sum(x * 2) as s from (select price - count as x from shop) as u",
        "select sum((price - count) * 2) as s from shop",
    ),
    (
        "select sum(price) as s from (select price from shop where paid or count < 5) as u \
         where price < 100",
        "select sum(price) as s from shop where (paid or count < 5) and (price < 100)",
    ),
    (
        "select sum(x) as s from (select *, price * 2 as x from shop) where count > x",
        "select sum(price * 2) as s from shop where count > (price * 2)",
    ),
    (
        "select a as b from (select price as a from shop where paid) u order by a",
        "select price as b from shop where paid order by 1",
    ),
    (
        "select * from (select distinct kind from shop) u order by kind limit 2",
        "select distinct kind from shop order by kind limit 2",
    ),
    (
        "select distinct k from (select kind as k from shop) u",
        "select distinct kind as k from shop",
    ),
    (
        "select * from (select kind from shop order by kind limit 2) u",
        "select kind from shop order by kind limit 2",
    ),
    (
        "select count(*) as n from (select * from (select * from shop) a) b",
        "select count(*) as n from shop",
    ),
    (
        "select count as price, p from (select price as p, count from shop) u order by u.p, price",
        "select count as price, price as p from shop order by 2, 1",
    ),
    (r#"select shop."kind", "price" from shop"#, "select kind, price from shop"),
    (r#"select * from shop as t order by t.price desc"#, "select * from shop order by price desc"),
    (
        "select sum(price) as s from shop where starts_with(kind, 'PRO')",
        "select sum(price) as s from shop where kind like 'PRO%'",
    ),
    (
        "select sum(price) as s from shop where contains(kind, 'ea')",
        "select sum(price) as s from shop where kind like '%ea%'",
    ),
    (
        "select quantile_cont(price, 0.5) filter (where paid) as m from shop",
        "select median(price) filter (where paid) as m from shop",
    ),
    (
        "select count(*) as n from shop where price > cast('10.50' as decimal(18, 3)) \
         and discount = cast(0.07 as double) and count <> cast(-3 as tinyint)",
        "select count(*) as n from shop where price > 10.5 and discount = 0.07 and count <> -3",
    ),
    (
        "select count(*) as n from shop where sold = '1994-06-30'::date",
        "select count(*) as n from shop where sold = date '1994-06-30'",
    ),
    (
        "select kind, paid, count(*) from shop group by 2, 1",
        "select kind, paid, count(*) from shop group by paid, kind",
    ),
];

#[test]
fn selects_in_from_ask_what_one_select_does() {
    let (schema, data) = shop();
    for (nested, flat) in EQUAL {
        let found = Query::parse(nested, &schema).unwrap_or_else(|e| panic!("{nested}: {e}"));
        let expected = Query::parse(flat, &schema).unwrap_or_else(|e| panic!("{flat}: {e}"));
        assert_eq!(found, expected, "{nested}");
        Answer::plain(&found, &schema, &data).unwrap();
    }
}

/// What would ask something else is refused, and no clause is passed over.
#[test]
fn other_selects_in_from_are_refused() {
    let (schema, _) = shop();
    for (sql, code) in [
        (
            "select sum(n) from (select kind, count(*) as n from shop group by kind) u",
            "table.unsupported",
        ),
        (
            "select n from (select kind, count(*) as n from shop group by kind) u group by n",
            "table.unsupported",
        ),
        (
            "select distinct n from (select count(*) as n from shop group by kind) u",
            "table.unsupported",
        ),
        ("select sum(price) from (select price from shop limit 3) u", "table.unsupported"),
        (
            "select * from (select price from shop order by price limit 3) u limit 2",
            "table.unsupported",
        ),
        ("select price from (select distinct price, kind from shop) u", "table.unsupported"),
        (
            "select * from (select kind from shop union select kind from shop) u",
            "table.unsupported",
        ),
        ("select * from (select * from shop) u join shop on true", "table.unsupported"),
        ("select * from (select * from shop) u tablesample (10 percent)", "table.unsupported"),
        ("select * from (select kind from shop fetch first 1 row only) u", "table.unsupported"),
        ("select * from (select kind from shop order by kind) u for update", "table.unsupported"),
        ("with u as (select * from shop) select * from u", "table.unsupported"),
        (
            "select * from (select kind, count(*) as n from shop group by kind) u \
             where count(*) > 2",
            "table.unsupported",
        ),
        ("select count from (select kind from shop) u", "table.name"),
        ("select sum(x) from (select price as x, count as x from shop) u", "table.type"),
        ("select sum(price) from (select *, count as price from shop) u", "table.type"),
        ("select sum(shop.price) from (select * from shop) u", "table.type"),
        ("select count(*) from shop where starts_with(kind, 'a%')", "table.unsupported"),
        (
            "select count(*) from shop where starts_with(kind, 'a') filter (where paid)",
            "table.unsupported",
        ),
        ("select quantile_cont(price, 1.25) from shop", "table.unsupported"),
        // A column of the answer that has the name of what is ordered by is another one.
        (
            "select count as price from (select price as p, count from shop) u order by p",
            "table.unsupported",
        ),
        (
            "select price as kind from (select kind, price from shop) u order by u.kind",
            "table.unsupported",
        ),
        ("select price as kind from shop order by shop.kind", "table.unsupported"),
        ("select count as price, * from shop order by shop.price", "table.unsupported"),
        // These would be rounded.
        (
            "select count(*) from shop where price > cast('10.555' as decimal(10, 2))",
            "table.unsupported",
        ),
        ("select count(*) from shop where price > cast(128 as tinyint)", "table.unsupported"),
        (
            "select count(*) from shop where price > cast('100.5' as decimal(3, 1))",
            "table.unsupported",
        ),
        ("select count(*) from shop where price > cast(count as double)", "table.unsupported"),
        ("select count(*) from shop where sold > make_date(1994, 2, 30)", "table.unsupported"),
        ("select kind, count(*) from shop group by 2", "table.unsupported"),
        ("select kind, count(*) from shop group by 3", "table.unsupported"),
        (
            "select kind, sum(price) as price from shop group by kind order by shop.price",
            "table.unsupported",
        ),
    ] {
        match Query::parse(sql, &schema) {
            Err(e) => assert_eq!(e.code(), code, "{sql}: {e}"),
            Ok(found) => panic!("{sql}: {found:?}"),
        }
    }
}

/// Each select doubles what the one inside stands for: refused before it fills the memory.
#[test]
fn doubled_expressions_are_bounded() {
    let (schema, _) = shop();
    let mut sql = "select price as x from shop".to_string();
    for depth in 0..12 {
        sql = format!("select x + x as x from ({sql}) as u{depth}");
    }
    let sql = format!("select sum(x) from ({sql}) as u");
    assert_eq!(Query::parse(&sql, &schema).unwrap_err().code(), "table.syntax");
    let long: Vec<String> = (0..3000).map(|i| i.to_string()).collect();
    let mut sql = format!("select count in ({}) as x from shop", long.join(", "));
    for depth in 0..12 {
        sql = format!("select (x or x) as x from ({sql}) as u{depth}");
    }
    let sql = format!("select count(*) from ({sql}) as u where x");
    assert_eq!(Query::parse(&sql, &schema).unwrap_err().code(), "table.syntax");
}
