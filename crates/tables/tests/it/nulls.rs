//! Cells without a value, as in SQL.

use everlevel_tables::{Answer, Data, EncryptedTable, Plan, Schema, TableKey, TablesError};

use crate::Bench;
use crate::roles::{PARTIES, run};

fn table(rows: &str) -> (Schema, Data) {
    let schema = Schema::from_json(
        r#"{"columns": [
            {"name": "n", "nullable": true, "type": "integer", "low": -2, "high": 300},
            {"name": "ok", "nullable": true, "type": "boolean"},
            {"name": "word", "nullable": true, "type": "category", "values": ["b", "a"]},
            {"name": "day", "nullable": true, "type": "date",
             "low": "2020-01-01", "high": "2029-12-31"},
            {"name": "k", "type": "integer", "low": 0, "high": 9}
        ]}"#,
    )
    .unwrap();
    let data = Data::from_csv(rows.as_bytes(), &schema).unwrap();
    (schema, data)
}

fn asked(bench: &Bench, sql: &str, schema: &Schema, data: &Data) -> String {
    let answer = bench.ask(sql, schema, data);
    let row = |row: &Vec<_>| row.iter().map(ToString::to_string).collect::<Vec<_>>().join("|");
    answer.rows.iter().map(row).collect::<Vec<_>>().join("\n")
}

#[test]
fn cells_without_a_value() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let (schema, data) = table(
        "n,ok,word,day,k\n-2,true,a,2020-01-01,1\n,,,,2\n300,false,b,2029-12-31,3\n,true,b,,4\n",
    );
    for (sql, expected) in [
        ("select count(*), count(n), sum(n), avg(n), count(n + k) from t", "4|2|298|149.000000|2"),
        ("select count(*) from t where n < 1000", "2"),
        ("select count(*) from t where not n < 1000", "0"),
        ("select count(*) from t where n is null", "2"),
        ("select count(*) from t where n <> -2 or n = -2", "2"),
        ("select count(*) from t where (n > 0) is null and ok is not null", "1"),
        ("select count(*) from t where (n > 0) is null is null", "0"),
        ("select count(*) from t where not (n > 0 and ok)", "2"),
        ("select count(*) from t where n > 0 or k < 9", "4"),
        ("select count(*) from t where n not in (-2, 5)", "1"),
        ("select count(*) from t where k not in (n, 3)", "1"),
        ("select count(*) from t where n - n = 0", "2"),
        ("select count(*) from t where word not like 'a%'", "2"),
        ("select count(*) from t where day <= date '2030-01-01'", "2"),
        ("select sum(case when n > 0 then 10 else 1 end) from t", "13"),
        ("select sum(n) from t where n is null", "NULL"),
        ("select count(ok and n > 0) from t", "2"),
        ("select word, count(*) from t group by word order by word", "a|1\nb|2\nNULL|1"),
        ("select ok, sum(n) from t group by ok order by ok desc", "NULL|NULL\ntrue|-2\nfalse|300"),
    ] {
        assert_eq!(asked(&bench, sql, &schema, &data), expected, "{sql}");
    }
}

#[test]
fn nothing_but_empty_cells() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let (schema, data) = table("n,ok,word,day,k\n,,,,0\n");
    let sql = "select count(*), count(n), sum(n), avg(n) from t where not (ok and n > 0) or \
                    word is null";
    assert_eq!(asked(&bench, sql, &schema, &data), "1|0|NULL|NULL");
    assert_eq!(asked(&bench, "select count(*) from t where ok or not ok", &schema, &data), "0");
}

#[test]
fn empty_cells_come_where_the_query_says() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let (schema, data) = table(
        "n,ok,word,day,k\n-2,true,a,2020-01-01,1\n,,,,2\n300,false,b,2029-12-31,3\n,true,b,,4\n",
    );
    for (order, expected) in [
        ("n", "1 3 2 4"),
        ("n nulls last", "1 3 2 4"),
        ("n nulls first", "2 4 1 3"),
        ("n desc", "2 4 3 1"),
        ("n desc nulls first", "2 4 3 1"),
        // As in DuckDB, whatever the direction.
        ("n desc nulls last", "3 1 2 4"),
        ("word nulls first, n desc nulls last", "2 1 3 4"),
        ("word desc nulls last, n nulls first", "4 3 1 2"),
        ("ok desc nulls last, k desc", "4 1 3 2"),
    ] {
        let of = |sql: &str| asked(&bench, sql, &schema, &data).replace('\n', " ");
        let listed = of(&format!("select k, n, word, ok from t order by {order}"));
        let listed: Vec<&str> = listed.split(' ').map(|row| &row[..1]).collect();
        assert_eq!(listed.join(" "), expected, "{order}");
        let grouped =
            format!("select k, n, word, ok from t group by k, n, word, ok order by {order}");
        let grouped = of(&grouped);
        let grouped: Vec<&str> = grouped.split(' ').map(|row| &row[..1]).collect();
        assert_eq!(grouped.join(" "), expected, "{order}");
    }
    // A sum of no values, and a quotient.
    let sums = "select word, sum(n) as s from t group by word order by s desc nulls last";
    assert_eq!(asked(&bench, sums, &schema, &data), "b|300\na|-2\nNULL|NULL");
    let means = "select word, avg(n) as m from t group by word order by m nulls first limit 2";
    assert_eq!(asked(&bench, means, &schema, &data), "NULL|NULL\na|-2.000000");
}

/// A plan is made of the schema alone: which cells are empty is in none.
#[test]
fn which_cells_are_empty_is_in_no_plan() {
    let (schema, _) = table("n,ok,word,day,k\n,,,,0\n");
    let (other, _) = table("n,ok,word,day,k\n1,true,a,2020-01-01,0\n");
    let plan = |s: &Schema| Plan::new("select sum(n) from t", s).unwrap().to_json().unwrap();
    assert_eq!(plan(&schema), plan(&other));
    assert_eq!(Plan::from_json(&plan(&schema)).unwrap().schema(), &schema);
}

#[test]
fn empty_cells_that_are_refused() {
    let (schema, _) = table("n,ok,word,day,k\n,,,,0\n");
    let error = Data::from_csv("n,ok,word,day,k\n,,,,0\n1,,,,\n".as_bytes(), &schema).unwrap_err();
    assert_eq!(error.code(), "table.value");
    assert!(error.to_string().starts_with("line 3, "), "{error}");
    // The code of an empty cell is no value.
    let error = Data::from_csv("n,ok,word,day,k\n-3,,,,0\n".as_bytes(), &schema).unwrap_err();
    assert_eq!(error.code(), "table.value");
    let one = r#"{"columns": [{"name": "c", "nullable": true, "type": "TYPE"}]}"#;
    let blank = one.replace(r#""TYPE""#, r#""category", "values": ["", "a"]"#);
    assert_eq!(Schema::from_json(&blank).unwrap_err().code(), "table.data");
    // Empty lines would be passed over.
    let only = Schema::from_json(&one.replace("TYPE", "boolean")).unwrap();
    let error = Data::from_csv("c\ntrue\n\n".as_bytes(), &only).unwrap_err();
    assert_eq!(error.code(), "table.data");
    // And rows of a category that is an empty text.
    let text = r#"{"columns": [{"name": "c", "type": "category", "values": ["", "a"]}]}"#;
    let blank = Schema::from_json(text).unwrap();
    let error = Data::from_csv("c\na\n\n".as_bytes(), &blank).unwrap_err();
    assert_eq!(error.code(), "table.data");
    let data = Data::from_csv("c,rest\na,\n,\n".as_bytes(), &blank).unwrap();
    assert_eq!(data.column(0), [1, 0]);
}

/// Under encryption, by files as they travel; their sizes tell nothing of which cells are empty.
#[test]
fn empty_cells_are_encrypted() {
    let mut rng = everlevel::system_rng().unwrap();
    let mut sizes = Vec::new();
    for rows in [
        "n,ok,word,day,k\n-2,true,a,2020-01-01,1\n,,,,2\n300,false,b,2029-12-31,3\n,true,b,,4\n",
        "n,ok,word,day,k\n1,true,a,2021-01-01,1\n2,false,b,2022-01-01,2\n3,true,a,2023-01-01,3\n\
         4,true,b,2024-01-01,4\n",
    ] {
        let (schema, data) = table(rows);
        let key = TableKey::Secret(PARTIES.client.secret());
        let quiet = |_: usize, _: usize| Ok::<_, TablesError>(());
        let encrypted = EncryptedTable::encrypt(key, &schema, &data, &mut rng, quiet).unwrap();
        for sql in [
            "select count(*), count(n), sum(n), avg(n), count(n + k) from t",
            "select count(*) from t where not n < 100 or day is null",
            "select word, count(*) as c, sum(n) filter (where ok) as s from t group by word \
             order by word",
        ] {
            let plan = Plan::new(sql, &schema).unwrap();
            let result = run(&encrypted, &plan).unwrap();
            sizes.push(result.as_bytes().len());
            let answer = result.read(PARTIES.client.secret()).unwrap();
            let expected = Answer::plain(plan.query(), &schema, &data).unwrap();
            assert_eq!(answer, expected, "{sql}");
        }
    }
    assert_eq!(sizes[..3], sizes[3..]);
}
