//! Columns with an index: the same answers with fewer products, also after changes.

use everlevel::files::Existing;
use everlevel_tables::{
    Answer, Change, Constants, Data, EncryptedTable, Field, Kind, Partner, PlainTable, Plan, Query,
    Schema, TableKey,
};

use crate::roles::{PARTIES, code, open, quiet, rows};
use crate::{Bench, indexed, shop};

/// The rows of the shop, again and again, with indexes.
fn indexed_rows(count: usize) -> (Schema, Data) {
    let (schema, data) = rows(count);
    let indexed = indexed(&schema);
    let text = data.to_csv(&schema).unwrap();
    let data = Data::from_csv(text.as_bytes(), &indexed).unwrap();
    assert_eq!(data.to_csv(&indexed).unwrap(), text);
    (indexed, data)
}

const QUERIES: [&str; 8] = [
    "select count(*), sum(price * count) from shop where sold >= date '1994-01-01' \
     and sold < date '1995-01-01' and discount between 0.05 and 0.07 and count < 250",
    "select kind, sum(price) from shop where not (count between 0 and 255) or paid group by kind",
    "select sum(case when kind in ('tea', 'jam') then price else 0 end), \
     sum(case when kind not in ('tea', 'jam') then price else 0 end) from shop where count > -3",
    "select count(*) from shop where count = 16",
    "select count(*) from shop where count <> 500 and price <> 0.05",
    "select price, sold from shop where kind like '%tea' and sold = date '1995-01-01'",
    "select min(price), max(count) from shop where sold > date '1994-06-30'",
    "select count(*) filter (where count in (0, 7, 255, 256)), avg(count) from shop",
];

/// Of one block and several, under encryption.
#[test]
fn answers_are_those_in_the_clear() {
    for count in [7, 4_100] {
        let (schema, data) = indexed_rows(count);
        let mut rng = everlevel::system_rng().unwrap();
        let key = TableKey::Secret(PARTIES.client.secret());
        let table = EncryptedTable::encrypt(key, &schema, &data, &mut rng, quiet).unwrap();
        for sql in QUERIES {
            let plan = Plan::new(sql, &schema).unwrap();
            let result = table.run(&PARTIES.server, &plan, None, quiet).unwrap();
            let answer = result.read(PARTIES.client.secret()).unwrap();
            let expected = Answer::plain(plan.query(), &schema, &data).unwrap();
            assert_eq!(answer, expected, "{sql}");
            let rehearsed = plan.rehearse(PARTIES.client.params(), &data, &[]).unwrap();
            assert_eq!(rehearsed, expected, "{sql}");
        }
    }
}

/// With fewer products and smaller keys, from the same text.
#[test]
fn an_index_saves_products_and_keys() {
    let (schema, _) = shop();
    let indexed = indexed(&schema);
    let params = PARTIES.client.params();
    for sql in [QUERIES[0], QUERIES[2], QUERIES[3]] {
        let plans = [&schema, &indexed].map(|schema| Plan::new(sql, schema).unwrap());
        let [before, after] = plans.each_ref().map(|plan| plan.cost(params, 2048).unwrap());
        assert!(2 * after.key_switches <= before.key_switches + 20, "{sql}: {before:?}, {after:?}");
        assert!(after.products < before.products, "{sql}: {before:?}, {after:?}");
        assert_eq!(after.refreshes, 0);
        let [before, after] = plans.map(|plan| plan.keys(params, 2048).unwrap());
        assert!(after.seeded_bytes(params) <= before.seeded_bytes(params), "{sql}");
    }
}

/// A list whose diagram would have 254 nodes in a layer: it is decided in parts, and takes hardly
/// more key switches than a single code.
#[test]
fn long_lists_of_codes() {
    let schema = Schema::from_json(
        r#"{"columns": [{"name": "x", "type": "integer", "low": 0, "high": 4095, "index": true}]}"#,
    );
    let schema = schema.unwrap();
    let data = Data::from_columns(vec![(0..4096).rev().collect()], &schema).unwrap();
    let listed: Vec<i128> = (0..4096i128).filter(|x| x.pow(3) % 4093 % 2 == 1).collect();
    let codes: Vec<String> = listed.iter().map(i128::to_string).collect();
    let sql = |set: &str| format!("select count(*) as n from t where x {set}");
    let (within, without) =
        (sql(&format!("in ({})", codes.join(","))), sql(&format!("not in ({})", codes.join(","))));
    let bench = Bench::new("insecure_bgv-65537-n11");
    for (sql, count) in [(&within, listed.len()), (&without, 4096 - listed.len())] {
        assert_eq!(bench.ask(sql, &schema, &data).to_csv().unwrap(), format!("n\n{count}\n"));
    }
    // Of each of two blocks: three diagrams of up to 16 + 64 + 1 nodes take no more than 24.
    let cost = |sql: &str| {
        let plan = Plan::new(sql, &schema).unwrap();
        plan.cost(PARTIES.client.params(), 4096).unwrap()
    };
    let (one, many) = (cost(&sql("in (1000)")), cost(&within));
    assert!(many.key_switches <= one.key_switches + 2 * 24, "{one:?}, {many:?}");
    assert_eq!((one.refreshes, many.refreshes), (0, 0));
}

/// Explanations tell which indexes are read, and which ones would save a fifth of the key switches.
#[test]
fn explanations_advise_indexes() {
    let params = PARTIES.client.params();
    let (schema, _) = shop();
    let explain = |sql: &str, schema: &Schema| {
        Plan::new(sql, schema).unwrap().explain(params, 5_000).unwrap()
    };
    let (without, with) = (explain(QUERIES[0], &schema), explain(QUERIES[0], &indexed(&schema)));
    assert_eq!(with.indexes_read, ["count", "sold", "discount"]);
    assert_eq!(without.indexes_read, [""; 0]);
    assert_eq!(with.columns_read, ["price", "count", "sold", "discount"]);
    assert_eq!(without.columns_read, with.columns_read);
    assert!(with.notes.is_empty(), "{:?}", with.notes);
    let note = format!(
        "with an index on count, sold and discount (\"index\": true in the schema) the query takes \
         {} key switches instead of {}, and the table about ",
        with.cost.key_switches, without.cost.key_switches
    );
    let [told] = &without.notes[..] else { panic!("{:?}", without.notes) };
    assert!(told.starts_with(&note), "{told}, not {note}");
    // Nor is one advised that is there, and the others still are.
    let some = schema.with_indexes(&["Sold"]).unwrap();
    let some = explain(QUERIES[0], &some);
    assert_eq!(some.indexes_read, ["sold"]);
    assert!(some.to_string().contains("price, count, sold with its index, discount\n"), "{some}");
    assert!(some.notes.iter().all(|told| told.starts_with("with an index on count and discount")));
    for sql in [
        "select sum(price) from shop",
        "select count(*) from shop where paid",
        "select count(*) from shop where count < :most and sold < :day",
        "select count(*) from shop where count > 500",
    ] {
        let told = explain(sql, &schema);
        assert!(told.notes.iter().all(|note| note.contains("no row")), "{sql}: {:?}", told.notes);
        assert!(told.indexes_read.is_empty(), "{sql}");
    }
}

/// Inferred schemas have the indexes that are asked for.
#[test]
fn inferred_schemas_have_indexes() {
    let names: String = (0..40).map(|i| format!("{i},name {i},2026-01-01,true\n")).collect();
    let infer = || Schema::infer(format!("n,name,day,paid\n{names}").as_bytes()).unwrap();
    let (schema, mut told) = infer();
    let plain = told.clone();
    let indexed = schema.with_inferred_indexes(&mut told, &["DAY", "n", "day"]).unwrap();
    let columns = |schema: &Schema| schema.columns().count();
    assert_eq!((columns(&indexed), columns(&schema)), (3, 3));
    for (before, after) in plain.iter().zip(&told) {
        let place = indexed.place(&before.column).ok();
        let many = place.map(|place| indexed.fields()[place].index_ciphertexts());
        let (expected, ciphertexts) = match before.column.as_str() {
            // 0 to 255, and the days of a year.
            "n" => (", with an index", Some(15 + 15)),
            "day" => (", with an index", Some(15 + 15 + 1)),
            "paid" => ("", Some(0)),
            _ => ("", None),
        };
        assert_eq!(after.told, format!("{}{expected}", before.told));
        assert_eq!(many, ciphertexts, "{}", before.column);
    }
    for (names, refused, why) in [
        (["n", "days"], "table.name", "did you mean day?"),
        (["n", "paid"], "table.schema", "columns of 3 to 2^32 values"),
        (["n", "Name"], "table.schema", "left out"),
    ] {
        let (schema, mut told) = infer();
        let found = schema.with_inferred_indexes(&mut told, &names).unwrap_err();
        assert_eq!(found.code(), refused);
        assert!(found.to_string().contains(why), "{found}");
        assert_eq!(told, plain);
    }
}

/// What is told of the levels at which conditions begin is told once, however many groups begin
/// there.
#[test]
fn starts_are_told_once() {
    let schema = indexed(&shop().0);
    let sql = "select kind, count(*) from shop where count < 250 group by kind";
    let plan = Plan::new(sql, &schema).unwrap();
    let starts = plan.explain(PARTIES.client.params(), 2048).unwrap().starts;
    assert!(!starts.is_empty());
    for (i, start) in starts.iter().enumerate() {
        assert!(!starts[..i].contains(start), "{starts:?}");
    }
}

/// Changes keep the index; what is decrypted has no trace of it.
#[test]
fn changes_keep_the_index() {
    // Queries about what has changed, and all after the last change.
    kept_by_changes([&[3, 7], &[0, 5], &[0, 1], &ALL]);
}

#[test]
#[ignore = "some seconds: all queries after every change"]
fn changes_keep_the_index_for_all_queries_in_full() {
    kept_by_changes([&ALL; 4]);
}

/// The places of all queries.
const ALL: [usize; QUERIES.len()] = [0, 1, 2, 3, 4, 5, 6, 7];

/// With the places of the queries after each change.
fn kept_by_changes(asked: [&[usize]; 4]) {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("shop");
    let (schema, data) = indexed_rows(2_050);
    let mut rng = everlevel::system_rng().unwrap();
    let (secret, key) = (PARTIES.client.secret(), TableKey::Secret(PARTIES.client.secret()));
    EncryptedTable::create(&directory, Existing::Keep, key, (&schema, &data), &mut rng, quiet)
        .unwrap();
    let more = data.to_csv(&schema).unwrap();
    let more: Vec<&str> = more.lines().take(4).collect();
    let more = Data::from_csv((more.join("\n") + "\n").as_bytes(), &schema).unwrap();
    let changes = [
        Change::parse("update shop set count = count - 1 where count > 100", &schema).unwrap(),
        Change::parse("update shop set sold = date '1994-03-01' where paid", &schema).unwrap(),
        Change::insert(&schema, more),
        Change::parse("delete from shop where kind = 'cake'", &schema).unwrap(),
    ];
    let mut table = open(&directory).unwrap();
    for (change, asked) in changes.iter().zip(asked) {
        table = table.changed(secret, change, &mut rng, quiet).unwrap().0;
        let now: Data = open(&directory).unwrap().decrypt(secret, quiet).unwrap();
        for sql in asked.iter().map(|&place| QUERIES[place]) {
            let plan = Plan::new(sql, &schema).unwrap();
            let answer = table.run(&PARTIES.server, &plan, None, quiet).unwrap();
            let expected = Answer::plain(plan.query(), &schema, &now).unwrap();
            assert_eq!(answer.read(secret).unwrap(), expected, "{sql}");
        }
    }
    let now: Data = table.decrypt(secret, quiet).unwrap();
    assert_eq!(now.to_csv(&schema).unwrap().lines().next().unwrap().split(',').count(), 6);
    assert_eq!(now.rows(), table.rows());
}

/// A table that the server knows, with an encrypted constant.
#[test]
fn a_table_in_the_clear() {
    let (schema, data) = indexed_rows(7);
    let mut rng = everlevel::system_rng().unwrap();
    let table = PlainTable::new(schema.clone(), data.clone(), &mut rng);
    for condition in [
        "count between 0 and 255",
        "not (count in (0, 7, 16))",
        "(kind in ('tea', 'jam') or sold > date '1995-12-31')",
    ] {
        let sql = format!("select count(*) from shop where price < :price and {condition}");
        let (plan, values) = (Plan::new(&sql, &schema).unwrap(), [("price", "17.77")]);
        let key = TableKey::Secret(PARTIES.client.secret());
        let constants = Constants::encrypt(key, &plan, &values, &mut rng).unwrap();
        let result = table.run(&PARTIES.server, &plan, Some(&constants), quiet).unwrap();
        let codes = plan.codes(&values).unwrap();
        let expected = Answer::plain_with(plan.query(), &schema, &data, &codes).unwrap();
        assert_eq!(result.read(PARTIES.client.secret()).unwrap(), expected, "{condition}");
    }
}

/// Categories are stated once, however many columns an index has.
#[test]
fn columns_of_an_index_are_truth_values() {
    let values = (0..40).map(|i| format!("k{i}")).collect();
    let field = Field::new("c", Kind::Category { values }, true).unwrap().indexed().unwrap();
    let schema = Schema::of(vec![field]).unwrap();
    let (head, bits) = schema.fields().split_first().unwrap();
    // 41 codes: a digit of 16 values, and one of 3.
    assert_eq!((head.bounds(), bits.len()), ((-1, 39), 15 + 2));
    assert!(bits.iter().all(|bit| bit.kind() == &Kind::Boolean && bit.bounds() == (0, 1)));
    assert_eq!(schema.columns().count(), 1);
    assert_eq!(Schema::from_json(&schema.to_json().unwrap()).unwrap(), schema);
    // 121 columns for each of 34.
    let wide = |i: usize| {
        let kind = Kind::Integer { low: 0, high: (1 << 32) - 1 };
        Field::new(format!("c{i}"), kind, false).unwrap().indexed().unwrap()
    };
    assert_eq!(Schema::of((0..33).map(wide).collect()).unwrap().fields().len(), 33 * 121);
    let found = Schema::of((0..34).map(wide).collect()).unwrap_err();
    assert!(found.to_string().contains("an index one for each of its ciphertexts"), "{found}");
}

/// A column that rows carry from another table.
#[test]
fn a_carried_column() {
    let schema = Schema::from_json(
        r#"{"columns": [{"name": "ward", "type": "integer", "low": 1, "high": 9},
            {"name": "floor", "type": "integer", "low": -2, "high": 40, "index": true,
             "nullable": true},
            {"name": "days", "type": "integer", "low": 0, "high": 99}],
            "foreign_keys": [{"column": "ward", "table": "wards", "key": "id",
                              "include": ["floor"]}]}"#,
    )
    .unwrap();
    assert_eq!(Schema::from_json(&schema.to_json().unwrap()).unwrap(), schema);
    let wards = "id,floor\n1,-2\n2,17\n3,\n9,40\n";
    let wards = Partner::from_csv(wards.as_bytes(), &schema, "wards").unwrap();
    let stays = "ward,days\n1,5\n2,7\n3,30\n9,99\n2,0\n";
    let data = Data::from_csv_with(stays.as_bytes(), &schema, &[wards]).unwrap();
    let bench = Bench::new("insecure_bgv-65537-n11");
    for (condition, days) in
        [("floor > 16", 106), ("floor is null", 30), ("not (floor = 17)", 104), ("floor < 0", 5)]
    {
        let sql = format!(
            "select sum(days) as days from stays join wards on ward = id where {condition}"
        );
        let query = Query::parse(&sql, &schema).unwrap();
        let expected = Answer::plain(&query, &schema, &data).unwrap();
        assert_eq!(expected.to_csv().unwrap(), format!("days\n{days}\n"), "{sql}");
        assert_eq!(bench.ask(&sql, &schema, &data), expected, "{sql}");
    }
    // The other table is changed, and rows of its rows are added.
    let (secret, mut rng) = (PARTIES.client.secret(), everlevel::system_rng().unwrap());
    let key = TableKey::Secret(secret);
    let table = EncryptedTable::encrypt(key, &schema, &data, &mut rng, quiet).unwrap();
    let change = Change::parse("update wards set floor = 39 where floor = 17", &schema).unwrap();
    let table = table.changed(secret, &change, &mut rng, quiet).unwrap().0;
    let row = |floor: i128| {
        let columns = vec![vec![2], vec![floor], vec![1]];
        Change::insert(&schema, Data::from_columns(columns, &schema).unwrap())
    };
    assert_eq!(code(table.changed(secret, &row(17), &mut rng, quiet)), "table.partner");
    let table = table.changed(secret, &row(39), &mut rng, quiet).unwrap().0;
    let sql = "select sum(days) as days from stays join wards on ward = id where floor > 38";
    let plan = Plan::new(sql, &schema).unwrap();
    let result = table.run(&PARTIES.server, &plan, None, quiet).unwrap();
    assert_eq!(result.read(secret).unwrap().to_csv().unwrap(), "days\n107\n");
    let now: Data = table.decrypt(secret, quiet).unwrap();
    let expected = "ward,floor,days\n1,-2,5\n2,39,7\n3,,30\n9,40,99\n2,39,0\n2,39,1\n";
    assert_eq!(now.to_csv(&schema).unwrap(), expected);
}

#[test]
fn what_is_refused() {
    for column in [
        r#"{"name": "c", "type": "boolean", "index": true}"#,
        r#"{"name": "c", "type": "text", "bytes": 9, "index": true}"#,
        r#"{"name": "c", "type": "integer", "low": 0, "high": 1, "index": true}"#,
        r#"{"name": "c", "type": "integer", "low": 0, "high": 4294967296, "index": true}"#,
        r#"{"name": "c", "type": "integer", "low": 0, "high": 99, "public": true, "index": true}"#,
    ] {
        let found = Schema::from_json(&format!(r#"{{"columns": [{column}]}}"#)).unwrap_err();
        assert!(found.to_string().contains("no index"), "{found}");
    }
    let (schema, data) = indexed_rows(7);
    // A wrong truth value of an index, and an index that is missing.
    let columns = |width: usize| (0..width).map(|i| data.column(i).to_vec()).collect::<Vec<_>>();
    let width = schema.fields().len();
    let mut forged = columns(width);
    let (_, bit) = forged.iter_mut().enumerate().rfind(|(i, _)| *i + 1 < width).unwrap();
    bit[3] = 1 - bit[3].clamp(0, 1);
    let found = Data::from_columns(forged, &schema).unwrap_err();
    assert_eq!(found.code(), "table.data", "{found}");
    assert_eq!(code(Data::from_columns(columns(width - 1), &schema)), "table.data");
    for far in [i128::MIN, i128::MAX] {
        let columns = vec![vec![far; 7]; schema.columns().count()];
        assert_eq!(code(Data::from_columns(columns, &schema)), "table.data");
    }
    // A plan for a table without indexes.
    let plan = Plan::new(QUERIES[0], &shop().0).unwrap();
    let found = plan.check_schema(&schema).unwrap_err();
    assert!(found.to_string().contains("with an index"), "{found}");
}
