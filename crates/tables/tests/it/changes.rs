//! Changes by the owner of a table, in memory and in directories, and what becomes of files from
//! before and after them that were mixed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use everlevel::files::Existing;
use everlevel_tables::{
    Answer, Change, Changes, Data, EncryptedTable, Plan, Schema, TableKey, TablesError,
};
use proptest::prelude::*;

use crate::roles::{OTHERS, PARTIES, code, encrypted, open, quiet, rows, run};
use crate::shop;

/// Rows in the clear, as they are in a file.
type Cells = Vec<Vec<String>>;

fn cells(schema: &Schema, data: &Data) -> Cells {
    let text = data.to_csv(schema).unwrap();
    let row = |line: &str| line.split(',').map(String::from).collect();
    text.lines().skip(1).map(row).collect()
}

fn data(schema: &Schema, cells: &Cells) -> Data {
    let names: Vec<_> = schema.fields().iter().map(|f| f.name().to_string()).collect();
    let lines = std::iter::once(&names).chain(cells).map(|row| row.join(",") + "\n");
    Data::from_csv(lines.collect::<String>().as_bytes(), schema).unwrap()
}

pub(crate) fn changed(
    table: &EncryptedTable,
    change: &Change,
) -> Result<(EncryptedTable, Changes), TablesError> {
    let mut rng = everlevel::system_rng().unwrap();
    table.changed(PARTIES.client.secret(), change, &mut rng, quiet)
}

fn stored(schema: &Schema, data: &Data) -> EncryptedTable {
    let mut rng = everlevel::system_rng().unwrap();
    let key = TableKey::Secret(PARTIES.client.secret());
    EncryptedTable::encrypt(key, schema, data, &mut rng, quiet).unwrap()
}

fn read(table: &EncryptedTable) -> Cells {
    let data: Data = table.decrypt(PARTIES.client.secret(), quiet).unwrap();
    cells(table.schema(), &data)
}

/// Every file of a directory.
fn contents(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let file = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry.unwrap();
        (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())
    };
    fs::read_dir(directory).unwrap().map(file).collect()
}

const CHANGES: [&str; 6] = [
    "delete from shop where count > 250",
    "update shop set count = count - 1, paid = true where count > 0 and kind like '%tea'",
    "delete from shop where sold < date '1993-01-01' or not paid",
    "update shop set discount = 0.05, kind = 'jam', sold = date '1998-12-31' where price < 1",
    "update shop as s set count = -3 where s.count = 500",
    "update shop set price = count + 3.5 where count between 0 and 990",
];

/// The same in the clear, by the cells of a row.
fn apply(number: usize, rows: &mut Cells) {
    let count = |row: &[String]| row[2].parse::<i64>().unwrap();
    let price = |row: &[String]| row[1].parse::<f64>().unwrap();
    match number {
        0 => rows.retain(|row| count(row) <= 250),
        1 => {
            for row in rows.iter_mut().filter(|r| count(r) > 0 && r[0].ends_with("tea")) {
                row[2] = (count(row) - 1).to_string();
                row[4] = "true".into();
            }
        }
        2 => rows.retain(|row| row[3][..] >= *"1993-01-01" && row[4] == "true"),
        3 => {
            for row in rows.iter_mut().filter(|row| price(row) < 1.0) {
                row[5] = "0.05".into();
                row[0] = "jam".into();
                row[3] = "1998-12-31".into();
            }
        }
        4 => rows.iter_mut().filter(|r| count(r) == 500).for_each(|row| row[2] = "-3".into()),
        _ => {
            for row in rows.iter_mut().filter(|row| (0..=990).contains(&count(row))) {
                row[1] = format!("{:.2}", count(row) as f64 + 3.5);
            }
        }
    }
}

/// Rows around a block of 2,048, and changes one after the other.
fn programs() -> impl Strategy<Value = (usize, Vec<(usize, usize)>)> {
    let length = prop_oneof![1..40usize, 2030..2060usize, 4090..4100usize];
    let step = (0..CHANGES.len() + 2, prop_oneof![1..30usize, Just(2048), 2040..2060usize]);
    (length, proptest::collection::vec(step, 1..5))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases(6)))]

    #[test]
    fn tables_are_what_they_would_be_in_the_clear((length, steps) in programs()) {
        let (schema, start) = rows(length);
        let temporary = tempfile::tempdir().unwrap();
        let directory = temporary.path().join("shop");
        let mut expected = cells(&schema, &start);
        let mut table = stored(&schema, &start);
        table.save(&directory, Existing::Keep).unwrap();
        for (number, count) in steps {
            let mut after = expected.clone();
            let change = match CHANGES.get(number) {
                Some(text) => {
                    apply(number, &mut after);
                    Change::parse(text, &schema).unwrap()
                }
                None => {
                    let (_, more) = rows(count);
                    after.extend(cells(&schema, &more));
                    Change::insert(&schema, more)
                }
            };
            let there = open(&directory).unwrap();
            let (here, stored) = (changed(&table, &change), changed(&there, &change));
            if after.is_empty() {
                prop_assert_eq!((code(here), code(stored)), ("table.data", "table.data"));
                continue;
            }
            let (here, stored) = (here.unwrap(), stored.unwrap());
            prop_assert_eq!(here.1.rows, stored.1.rows);
            prop_assert_eq!(&here.1.removed, &stored.1.removed);
            expected = after;
            prop_assert_eq!(read(&here.0), expected.clone());
            prop_assert_eq!(read(&stored.0), expected.clone());
            prop_assert_eq!(read(&open(&directory).unwrap()), expected.clone());
            table = here.0;
        }
        // What was changed in memory is stored as well.
        let copy = temporary.path().join("copy");
        table.save(&copy, Existing::Keep).unwrap();
        prop_assert_eq!(read(&open(&copy).unwrap()), expected);
    }
}

#[test]
fn queries_are_answered_after_changes() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("shop");
    let (schema, data_before) = encrypted(&directory, 3_000);
    let plan = Plan::new("select kind, count(*), sum(price) from shop group by kind", &schema);
    let plan = plan.unwrap();
    let table = open(&directory).unwrap();
    let before = table.id();
    let (_, more) = rows(1_500);
    let (table, first) = changed(&table, &Change::insert(&schema, more.clone())).unwrap();
    assert_eq!((first.rows, table.rows(), table.blocks()), (1_500, 4_500, 3));
    let names = |files: &[String]| files.iter().filter(|f| f.ends_with("columns")).count();
    assert_eq!(names(&first.written), 2 * schema.fields().len(), "a full block stays");
    let update = Change::parse("update shop set price = 2 where kind = 'jam'", &schema).unwrap();
    let (table, second) = changed(&table, &update).unwrap();
    assert_eq!(names(&second.written), 3, "one column of each block");
    assert_ne!(table.id(), before);

    let mut all = cells(&schema, &data_before);
    all.extend(cells(&schema, &more));
    all.iter_mut().filter(|row| row[0] == "jam").for_each(|row| row[1] = "2".into());
    let expected = Answer::plain(plan.query(), &schema, &data(&schema, &all)).unwrap();
    let result = run(&open(&directory).unwrap(), &plan).unwrap();
    result.check(Some(&plan), Some(table.id()), None).unwrap();
    assert_eq!(result.read(PARTIES.client.secret()).unwrap(), expected);
    assert_eq!(code(result.check(None, Some(before), None)), "table.other-result");
}

#[test]
fn files_from_before_and_after_a_change_are_not_mixed() {
    let temporary = tempfile::tempdir().unwrap();
    let (directory, old) = (temporary.path().join("shop"), temporary.path().join("old"));
    let (schema, _) = encrypted(&directory, 3_000);
    let table = open(&directory).unwrap();
    table.save(&old, Existing::Keep).unwrap();
    let before = contents(&directory);
    let change = Change::parse("update shop set count = 4 where count = 500", &schema).unwrap();
    let (new, changes) = changed(&table, &change).unwrap();
    let after = contents(&directory);
    let mut differ: Vec<_> = after.keys().filter(|k| before.get(*k) != after.get(*k)).collect();
    let mut told: Vec<_> = changes.written.iter().collect();
    differ.sort();
    told.sort();
    assert_eq!(differ, told);
    assert!(changes.written.contains(&"files.json".to_string()) && changes.removed.is_empty());

    // One file that was forgotten, in either direction, and the listing.
    for name in &changes.written {
        let path = directory.join(name);
        match before.get(name) {
            Some(bytes) => fs::write(&path, bytes).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        let found = open(&directory);
        assert_eq!(code(found), "table.block", "{name}");
        fs::write(&path, &after[name]).unwrap();
        let there = fs::read(old.join(name)).ok();
        fs::write(old.join(name), &after[name]).unwrap();
        assert!(open(&old).is_err(), "{name}");
        match there {
            Some(bytes) => fs::write(old.join(name), bytes).unwrap(),
            None => fs::remove_file(old.join(name)).unwrap(),
        }
    }
    assert_eq!(read(&open(&directory).unwrap()), read(&new));
    // A table that was opened before reads nothing of what came after, and changes nothing.
    let plan = Plan::new("select sum(count) from shop", &schema).unwrap();
    assert_eq!(code(run(&table, &plan)), "table.block");
    assert_eq!(code(changed(&table, &change)), "table.block");
    let (_, more) = rows(100);
    assert!(changed(&table, &Change::insert(&schema, more)).is_err());
    assert_eq!(contents(&directory), after);
}

#[test]
fn what_is_refused_changes_nothing() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("shop");
    let (schema, _) = encrypted(&directory, 2_100);
    let table = open(&directory).unwrap();
    let before = contents(&directory);
    let refused = |text: &str| code(changed(&table, &Change::parse(text, &schema).unwrap()));
    assert_eq!(refused("update shop set count = count + 1"), "table.change");
    assert_eq!(refused("update shop set price = price * 1 - 1000"), "table.change");
    assert_eq!(refused("delete from shop where count <= 500"), "table.data");
    assert_eq!(refused("delete from shop"), "table.data");
    let told = Change::parse("update shop set count = count + 1", &schema).unwrap();
    let told = changed(&table, &told).err().unwrap().to_string();
    assert!(told.contains("\"count\": it would be 501") && told.contains("-3 to 500"), "{told}");
    // Another key, and tables of another schema.
    let mut rng = everlevel::system_rng().unwrap();
    let change = Change::parse("delete from shop where paid", &schema).unwrap();
    let other = table.changed(OTHERS.client.secret(), &change, &mut rng, quiet);
    assert_eq!(code(other), "scheme.wrong-key");
    let read: Result<Data, TablesError> = table.decrypt(OTHERS.client.secret(), quiet);
    assert_eq!(code(read), "scheme.wrong-key");
    let narrow =
        Schema::from_json(r#"{"columns": [{"name": "paid", "type": "boolean"}]}"#).unwrap();
    let foreign = Change::parse("delete from shop where paid", &narrow).unwrap();
    assert_eq!(code(changed(&table, &foreign)), "table.other-schema");
    // An error of whoever waits.
    let stop = |_, _| Err(TablesError::Data { problem: "enough".into() });
    let stopped = table.changed(PARTIES.client.secret(), &change, &mut rng, stop);
    assert_eq!(code(stopped), "table.data");
    // Nothing that matches is no change.
    let none = Change::parse("delete from shop where count < -3", &schema).unwrap();
    let (same, changes) = changed(&table, &none).unwrap();
    assert_eq!((same.id(), changes.rows, changes.written), (table.id(), 0, vec![]));
    assert_eq!(contents(&directory), before);
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 1, "nothing is left beside it");
}

/// All rows of the last block go, and no other one: no file is written but the listing.
#[test]
fn a_last_block_that_loses_all_of_its_rows_is_removed() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("shop");
    let (schema, data) = rows(2_055);
    let last: Vec<i128> = (0..2_055).map(|i| i128::from(i >= 2_048)).collect();
    let mut columns: Vec<Vec<i128>> =
        (0..schema.fields().len()).map(|place| data.column(place).to_vec()).collect();
    let paid = schema.place("paid").unwrap();
    columns[paid] = last;
    let data = Data::from_columns(columns, &schema).unwrap();
    let table = stored(&schema, &data);
    table.save(&directory, Existing::Keep).unwrap();
    let change = Change::parse("delete from shop where paid", &schema).unwrap();
    let expected = cells(&schema, &data)[..2_048].to_vec();
    for (before, in_memory) in [(table, true), (open(&directory).unwrap(), false)] {
        let (after, changes) = changed(&before, &change).unwrap();
        assert_eq!((changes.rows, after.rows(), after.blocks()), (7, 2_048, 1));
        assert_ne!(after.id(), before.id());
        assert_eq!(changes.removed.len(), schema.fields().len());
        assert!(changes.written.iter().all(|name| !in_memory && name == "files.json"));
        assert_eq!(read(&after), expected);
    }
    assert_eq!(read(&open(&directory).unwrap()), expected);
}

#[test]
fn statements_that_are_no_change() {
    let (schema, _) = shop();
    for (text, expected) in [
        ("select count from shop", "table.unsupported"),
        ("", "table.unsupported"),
        ("insert into shop values (1)", "table.unsupported"),
        ("delete from shop; delete from shop", "table.unsupported"),
        ("delete from shop where count = :x", "table.unsupported"),
        ("delete from shop, other", "table.unsupported"),
        ("delete from shop using other where paid", "table.unsupported"),
        ("delete from shop where paid returning count", "table.unsupported"),
        ("delete from shop where color = 'red'", "table.name"),
        ("delete from shop where count + 1", "table.unsupported"),
        ("update shop set count = 1 from other", "table.unsupported"),
        ("update shop set count = 1 returning count", "table.unsupported"),
        ("update shop set (count, price) = (1, 2)", "table.unsupported"),
        ("update shop set shop.count = 1", "table.unsupported"),
        ("update shop join other on true set count = 1", "table.unsupported"),
        ("update shop set color = 1", "table.name"),
        ("update shop set count = 1, count = 2", "table.type"),
        ("update shop set count = 501", "table.type"),
        ("update shop set count = 1.5", "table.type"),
        ("update shop set count = price", "table.type"),
        ("update shop set price = 0.125", "table.type"),
        ("update shop set count = null", "table.type"),
        ("update shop set kind = 'coffee'", "table.type"),
        ("update shop set kind = 1", "table.type"),
        ("update shop set paid = 1", "table.type"),
        ("update shop set paid = count > 3", "table.type"),
        ("update shop set kind = true", "table.type"),
        ("update shop set sold = 'yesterday'", "table.type"),
        ("update shop set sold = date '1999-01-01'", "table.type"),
        ("update shop set sold = paid", "table.type"),
        ("update shop set count = count / 2", "table.unsupported"),
        ("update shop set count = sum(count)", "table.unsupported"),
        ("update shop set", "table.syntax"),
        ("delete shop paid", "table.syntax"),
    ] {
        let error = Change::parse(text, &schema).expect_err(text);
        assert_eq!(error.code(), expected, "{text}: {error}");
    }
    for text in ["update shop set count = 1.0", "update shop set sold = '1998-12-31' where paid"] {
        Change::parse(text, &schema).unwrap();
    }
}

#[test]
fn empty_cells_are_set_and_met_as_in_sql() {
    let schema = Schema::from_json(
        r#"{"columns": [
            {"name": "k", "type": "integer", "low": 0, "high": 9},
            {"name": "x", "type": "integer", "low": -5, "high": 9, "nullable": true},
            {"name": "y", "type": "integer", "low": 0, "high": 99, "nullable": true}]}"#,
    )
    .unwrap();
    let start = "k,x,y\n1,5,\n2,,7\n3,-5,0\n4,,\n";
    let table = stored(&schema, &Data::from_csv(start.as_bytes(), &schema).unwrap());
    let after = |text: &str| {
        let change = Change::parse(text, &schema).unwrap();
        changed(&table, &change).map(|(table, _)| {
            read(&table).iter().map(|row| row.join(",")).collect::<Vec<_>>().join(" ")
        })
    };
    assert_eq!(after("update t set y = x * 2 where k < 3").unwrap(), "1,5,10 2,, 3,-5,0 4,,");
    assert_eq!(after("update t set x = null where y >= 0").unwrap(), "1,5, 2,,7 3,,0 4,,");
    assert_eq!(after("update t set y = x + y").unwrap_err().code(), "table.change");
    assert_eq!(after("update t set k = x where k = 1").unwrap(), "5,5, 2,,7 3,-5,0 4,,");
    let told = after("update t set k = x where k = 2").unwrap_err().to_string();
    assert!(told.contains("row 1") && told.contains("no value"), "{told}");
    assert_eq!(after("delete from t where x <> 5").unwrap(), "1,5, 2,,7 4,,");
    assert_eq!(after("delete from t where x is null and y is null").unwrap(), "1,5, 2,,7 3,-5,0");
}

#[test]
fn listings_that_are_none() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("shop");
    let (schema, _) = encrypted(&directory, 2_100);
    let change = Change::parse("delete from shop where count = 500", &schema).unwrap();
    changed(&open(&directory).unwrap(), &change).unwrap();
    let path = directory.join("files.json");
    let text = fs::read_to_string(&path).unwrap();
    let mut wrong: Vec<String> = (0..text.len() - 1).step_by(7).map(|i| text[..i].into()).collect();
    let id = text.split('"').nth(3).unwrap();
    for (from, to) in [
        ("\"rows\":", "\"rows\":0,\"rows\":"),
        ("\"rows\":", "\"more\":0,\"rows\":"),
        ("\"rows\":", "\"rows\":1"),
        ("\"rows\":", "\"rows\":18446744073709551615,\"old\":"),
        ("\"rows\":", "\"rows\":-"),
        ("\"files\":[", "\"files\":[[],"),
        (id, &id[1..]),
        (id, &id.to_uppercase()),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        wrong.push(changed);
    }
    wrong.push("[".repeat(100_000));
    wrong.push(text.replace(id, "00000000000000000000000000000000"));
    for wrong in wrong {
        fs::write(&path, &wrong).unwrap();
        let found = code(open(&directory));
        assert!(["table.files", "table.block"].contains(&found), "{found}: {wrong:.80}");
    }
    fs::write(&path, &text).unwrap();
    open(&directory).unwrap();
}
