//! What is refused, by its code and with the way out.

use everlevel_tables::{
    Answer, Change, Constants, Data, EncryptedTable, PlainTable, Plan, Query, Schema, TableKey,
};

use crate::roles::{PARTIES, code, quiet};
use crate::shop;

#[test]
fn queries_that_cannot_be_answered() {
    let (schema, _) = shop();
    for (sql, code) in [
        ("selec count(*) from shop", "table.syntax"),
        ("", "table.syntax"),
        ("delete from shop", "table.unsupported"),
        ("select count(*) from shop; select count(*) from shop", "table.unsupported"),
        ("select count(*) from shop union select count(*) from shop", "table.unsupported"),
        ("with x as (select 1) select count(*) from shop", "table.unsupported"),
        ("select kind, count(*) from shop", "table.unsupported"),
        ("select distinct kind, count(*) from shop", "table.unsupported"),
        ("select distinct kind from shop group by kind", "table.unsupported"),
        ("select distinct on (kind) kind from shop", "table.unsupported"),
        ("select sum(distinct price) from shop", "table.unsupported"),
        ("select count(distinct *) from shop", "table.unsupported"),
        ("select mode(price) from shop", "table.unsupported"),
        ("select max(price, count) from shop", "table.unsupported"),
        ("select median(sold) from shop", "table.type"),
        ("select max(sold) - min(sold) from shop", "table.type"),
        ("select max(paid and paid) from shop", "table.type"),
        ("select max(price) filter (where count > :n) from shop", "table.unsupported"),
        (
            "select sold, sum(case when count > :n then 1 end) from shop group by sold",
            "table.unsupported",
        ),
        ("select *, count(*) from shop", "table.unsupported"),
        ("select * except (kind) from shop", "table.syntax"),
        ("select shop.* from shop", "table.unsupported"),
        ("select kind from shop group by price", "table.unsupported"),
        (
            "select kind, count(*) from shop group by kind grouping sets ((kind), ())",
            "table.unsupported",
        ),
        ("select kind, count(*) from shop group by rollup (kind)", "table.unsupported"),
        ("select price * 2 from shop", "table.unsupported"),
        ("select 1 from shop", "table.unsupported"),
        ("select 1 + 1 as two, 3 from shop where paid", "table.unsupported"),
        ("select 1 as one from (select sum(price) as s from shop) as x", "table.unsupported"),
        ("select sum(price / count) from shop", "table.unsupported"),
        ("select sum(price) over () from shop", "table.unsupported"),
        ("select sum(price) from shop, other", "table.unsupported"),
        ("select sum(price) from shop join other on true", "table.unsupported"),
        ("select kind, count(*) from shop group by kind having kind = 'tea'", "table.type"),
        ("select kind, count(*) from shop group by kind having count(*)", "table.unsupported"),
        (
            "select kind, count(*) from shop group by kind having sum(price) > price",
            "table.unsupported",
        ),
        (
            "select kind, count(*) from shop group by kind having count(*) in (1, 2)",
            "table.unsupported",
        ),
        ("select kind, count(*) from shop group by kind having count(*) > :n", "table.type"),
        ("select kind from shop having count(*) > 1", "table.unsupported"),
        ("select count(*) from shop where price > (select 1)", "table.unsupported"),
        ("select count(*) from shop where kind like 'a%' escape '!'", "table.unsupported"),
        ("select count(*) from shop where kind not like 'a%' escape '!'", "table.unsupported"),
        ("select count(*) from shop where kind like any ('a%')", "table.unsupported"),
        ("select count(*) filter (where kind like 'a' escape '!') from shop", "table.unsupported"),
        (
            "select sum(case when kind like 'a' escape '!' then price else 0 end) from shop",
            "table.unsupported",
        ),
        ("select count(*) from shop order by price", "table.unsupported"),
        ("select count(*) from shop limit 1 offset 2", "table.unsupported"),
        // A name of different columns of the answer.
        ("select price as x, count as X from shop order by x", "table.type"),
        ("select price, count as price from shop order by price", "table.type"),
        ("select *, count as price from shop order by price desc", "table.type"),
        ("select kind, sum(price) as kind from shop group by kind order by kind", "table.type"),
        // Another text, whatever the case of its letters.
        (
            "select paid, count(*) filter (where kind = 'tea') from shop group by paid \
             order by count(*) filter (where kind = 'TEA')",
            "table.unsupported",
        ),
        // A name that reads as an expression.
        (
            "select kind as \"sum(price)\" from shop group by kind order by sum(price)",
            "table.unsupported",
        ),
        ("select count(*) from shop tablesample system (10)", "table.unsupported"),
        ("select sum(count) from shop as x (count, price)", "table.unsupported"),
        ("select count(*) from shop(3)", "table.unsupported"),
        ("select sum(other.price) from shop", "table.type"),
        ("select sum(shop.price) from shop as s", "table.type"),
        ("select sum(a.shop.price) from shop", "table.type"),
        ("select sum(prize) from shop", "table.name"),
        ("select sum(kind) from shop", "table.type"),
        ("select sum(paid) from shop", "table.type"),
        ("select count(*) from shop where kind > 3", "table.type"),
        ("select count(*) from shop where sold > '1994'", "table.type"),
        ("select count(*) from shop where price", "table.type"),
        ("select count(*) from shop where not +(price > 3)", "table.type"),
        ("select count(*) from shop where +paid", "table.type"),
        ("select sum(price * price * price * price * price) from shop", "table.range"),
        ("select sum(price) from shop where price < 99999999999999999999999999", "table.range"),
    ] {
        let error = Query::parse(sql, &schema).expect_err(sql);
        assert_eq!(error.code(), code, "{sql}: {error}");
    }
    for sql in [
        "select sum(shop.price) from shop",
        "select sum(Shop.price) from store.shop",
        "select sum(s.price) from shop s where s.count > 1",
        "select sum(s.price) from shop as s",
        "select sum(price) from \"shop\"",
        "select price as x, shop.price as X from shop order by x",
        "select price, count as price from shop order by 2",
        "select paid, COUNT(*) filter (where kind = 'tea') from shop group by paid \
         order by count(*) FILTER (where KIND = 'tea')",
        "select kind as \"sum(price)\" from shop group by kind order by \"sum(price)\"",
    ] {
        Query::parse(sql, &schema).unwrap();
    }
    let deep =
        format!("select count(*) from shop where {}paid{}", "(".repeat(500), ")".repeat(500));
    assert_eq!(Query::parse(&deep, &schema).unwrap_err().code(), "table.syntax");
}

#[test]
fn cells_that_their_column_cannot_hold() {
    let schema = Schema::from_json(
        r#"{"columns": [{"name": "n", "type": "integer", "low": 0, "high": 9},
                        {"name": "d", "type": "date",
                         "low": "2020-01-01", "high": "2020-12-31"}]}"#,
    )
    .unwrap();
    for (rows, line) in [
        ("n,d\n1,2020-02-02\n10,2020-02-02\n", 3),
        ("n,d\n1.5,2020-02-02\n", 2),
        ("n,d\n,2020-02-02\n", 2),
        ("n,d\n1,2019-12-31\n", 2),
        ("n,d\n1,2020-02-30\n", 2),
        ("n,d\nnan,2020-02-02\n", 2),
    ] {
        let error = Data::from_csv(rows.as_bytes(), &schema).unwrap_err();
        assert_eq!(error.code(), "table.value");
        assert!(error.to_string().starts_with(&format!("line {line}, ")), "{error}");
    }
    for rows in ["n\n1\n", "n,n,d\n1,1,2020-02-02\n", "n,d\n", "n,d\n1,2020-02-02,3\n", ""] {
        assert_eq!(Data::from_csv(rows.as_bytes(), &schema).unwrap_err().code(), "table.data");
    }
    // Rows keep their places.
    let n = Schema::from_json(
        r#"{"columns": [{"name": "n", "type": "integer", "low": 0, "high": 9}]}"#,
    )
    .unwrap();
    for (rows, schema, line) in [
        ("n\n3\n\n5\n", &n, 3),
        ("n\r\n3\r\n \r\n\r\n5", &n, 3),
        ("n\r3\r\r5\r", &n, 3),
        ("n,d\n1,2020-02-02\n\n\n2,2020-02-02\n", &schema, 3),
    ] {
        let error = Data::from_csv(rows.as_bytes(), schema).unwrap_err();
        assert!(["table.data", "table.value"].contains(&error.code()), "{error}");
        assert!(error.to_string().contains(&format!("line {line}")), "{error}");
    }
    // A file that was cut inside of quotation marks.
    let cut = Data::from_csv("n,c\n3,\"a\"\n5,\"b\nc".as_bytes(), &n).unwrap_err();
    assert_eq!(cut.code(), "table.data");
    assert_eq!(Schema::infer("n,c\n3,\"a\"\n5,\"b\n".as_bytes()).unwrap_err().code(), "table.data");
    // Quotation marks that would be lost, and others that are read as they are.
    for rows in ["n,c\n3,\"a\"b\n5,c\n", "n,c\n3,\"so \"to\" say\"\n", "n,c\n3,\"a\" \n"] {
        let error = Data::from_csv(rows.as_bytes(), &n).unwrap_err();
        assert_eq!(error.code(), "table.data", "{rows:?}");
        assert!(error.to_string().contains("line 2: "), "{error}");
    }
    for rows in [
        "n,c\n3,5\" of pipe\n",
        "\u{feff}\"n\",\"c,\"\n3,\"so \"\"to\"\" say\"\n",
        "n,c\r\n3,\"a\"\r\n",
    ] {
        assert_eq!(Data::from_csv(rows.as_bytes(), &n).unwrap().column(0), [3], "{rows:?}");
    }
    for rows in [
        "n\n3\n5\n\n\n",
        "n\n3\n5",
        "n\r3\r5\r\r",
        "n\r\r\n3\r\r\n5\r\r\n",
        "n,c\n3,\"a\n\nb\"\n5,\"\"\n",
    ] {
        assert_eq!(Data::from_csv(rows.as_bytes(), &n).unwrap().column(0), [3, 5], "{rows:?}");
    }
    // A category with blanks would be another one; numbers have none.
    let c = Schema::from_json(
        r#"{"columns": [{"name": "c", "type": "category", "values": ["a"], "nullable": true},
                        {"name": "n", "type": "integer", "low": 0, "high": 9}]}"#,
    )
    .unwrap();
    assert_eq!(Data::from_csv("c,n\na, 3 \n,4\n".as_bytes(), &c).unwrap().column(1), [3, 4]);
    for cell in [" a", "a ", " ", "\" a\""] {
        let rows = format!("c,n\n{cell},3\n");
        assert_eq!(Data::from_csv(rows.as_bytes(), &c).unwrap_err().code(), "table.value");
    }
    let (found, told) = Schema::infer("c,n\na,3\n a, 4\n".as_bytes()).unwrap();
    assert_eq!(found.columns().map(|f| f.name()).collect::<Vec<_>>(), ["n"]);
    assert!(told.iter().any(|t| t.column == "c" && t.told.contains("blanks")), "{told:?}");
}

/// Files of spreadsheets in other languages, in which numbers may have commas.
#[test]
fn cells_that_are_not_separated_by_commas() {
    for (text, separator) in [
        ("id;weight\n1;3.5\n2;4.0\n", "semicolons"),
        ("id;weight\n1;3,5\n2;4,0\n", "semicolons"),
        ("id\tweight\n1\t3\n", "tabs"),
    ] {
        let error = Schema::infer(text.as_bytes()).unwrap_err();
        let told = error.to_string();
        assert_eq!(error.code(), "table.data", "{told}");
        assert!(told.contains(separator) && told.contains("separated by commas"), "{told}");
    }
    // Names and texts with these characters are kept.
    for text in ["a;b\n3\n4\n", "a;b,c\n3;4,5\n", "a\n3;4\n5;6\n"] {
        Schema::infer(text.as_bytes()).unwrap_or_else(|e| panic!("{text}: {e}"));
    }
}

/// Rows that were read by another schema.
#[test]
fn rows_of_other_bounds_or_columns() {
    let schema =
        |columns: &str| Schema::from_json(&format!(r#"{{"columns": [{columns}]}}"#)).unwrap();
    let n = r#"{"name": "n", "type": "integer", "low": 0, "high": 9}"#;
    let m = n.replace("\"n\"", "\"m\"");
    let (narrow, wide) = (schema(n), schema(&format!("{n}, {m}")));
    let public = schema(&n.replace("9}", "4, \"public\": true}"));
    let one = Data::from_csv("n\n5\n".as_bytes(), &narrow).unwrap();
    let two = Data::from_csv("n,m\n1,2\n".as_bytes(), &wide).unwrap();
    let mut rng = everlevel::system_rng().unwrap();
    let key = TableKey::Secret(PARTIES.client.secret());
    let table = EncryptedTable::encrypt(key, &narrow, &one, &mut rng, quiet).unwrap();
    for (schema, data) in [(&narrow, &two), (&wide, &one), (&public, &one)] {
        let made = EncryptedTable::encrypt(key, schema, data, &mut rng, quiet);
        assert_eq!(code(made), "table.data");
    }
    let change = Change::insert(&narrow, two.clone());
    let changed = table.changed(PARTIES.client.secret(), &change, &mut rng, quiet);
    assert_eq!(code(changed), "table.data");
    let plan = Plan::new("select count(*) from t where n = :n", &public).unwrap();
    let constants = Constants::encrypt(key, &plan, &[("n", "3")], &mut rng).unwrap();
    let known = PlainTable::new(public, one.clone(), &mut rng);
    let found = known.run(&PARTIES.server, &plan, Some(&constants), quiet);
    assert_eq!(code(found), "table.data");

    // In the clear, too.
    let sum = |schema: &Schema| Query::parse("select sum(n) from t", schema).unwrap();
    let both = Query::parse("select sum(n + m) from t", &wide).unwrap();
    for (query, schema, data) in [
        (sum(&wide), &wide, &one),
        (sum(&narrow), &narrow, &two),
        (sum(known.schema()), known.schema(), &one),
        (both, &narrow, &one),
    ] {
        assert_eq!(code(Answer::plain(&query, schema, data)), "table.data");
    }
    assert!(Answer::plain(&sum(&narrow), &narrow, &one).is_ok());
}

#[test]
fn schemas_that_describe_no_table() {
    for columns in [
        "[]",
        r#"[{"name": "a", "type": "integer", "low": 1, "high": 0}]"#,
        r#"[{"name": "a", "type": "boolean"}, {"name": "A", "type": "boolean"}]"#,
        r#"[{"name": "a", "type": "decimal", "scale": 10, "low": "0", "high": "1"}]"#,
        r#"[{"name": "a", "type": "decimal", "scale": 1, "low": "0.05", "high": "1"}]"#,
        r#"[{"name": "a", "type": "date", "low": "2020-01-01", "high": "2020-13-01"}]"#,
        r#"[{"name": "a", "type": "category", "values": []}]"#,
        r#"[{"name": "a", "type": "category", "values": ["x", "x"]}]"#,
        r#"[{"name": "a", "type": "category", "values": ["x", "x "]}]"#,
        r#"[{"name": "a", "type": "category", "values": [" "]}]"#,
        r#"[{"name": "a", "type": "float"}]"#,
        r#"[{"name": "a", "type": "integer", "low": 0, "high": 1, "scale": 2}]"#,
        r#"[{"name": "a", "type": "boolean", "low": 0}]"#,
        r#"[{"name": "a", "type": "boolean", "nulable": true}]"#,
        r#"[{"name": "a", "nullable": true, "publik": true, "type": "boolean"}]"#,
    ] {
        let error = Schema::from_json(&format!(r#"{{"columns": {columns}}}"#)).unwrap_err();
        assert!(["table.data", "table.schema"].contains(&error.code()), "{columns}: {error}");
    }
}
