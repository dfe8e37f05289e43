//! Comparisons of two columns with an index, and the files of indexes.

use std::fs;
use std::ops::Range;

use everlevel::files::Existing;
use everlevel_tables::{Answer, Data, EncryptedTable, Plan, Schema, TableKey, TablesError};

use crate::roles::{PARTIES, code, open, quiet, run};

/// Letters that were sent, due and came; some are due on no day.
const LETTERS: &str = r#"{"columns": [
    {"name": "sent", "type": "date", "low": "1992-01-02", "high": "1998-12-31", "index": true},
    {"name": "due", "type": "date", "low": "1992-01-02", "high": "1998-12-31", "index": true,
     "nullable": true},
    {"name": "came", "type": "date", "low": "1992-01-02", "high": "1999-02-28", "index": true},
    {"name": "stamps", "type": "integer", "low": -3, "high": 60, "index": true},
    {"name": "pages", "type": "integer", "low": 0, "high": 40, "index": true},
    {"name": "n", "type": "integer", "low": 0, "high": 999}]}"#;

/// Rows of letters with an index, or without.
fn letters(index: bool, rows: Range<i128>) -> (Schema, Data) {
    let text = if index { LETTERS.to_string() } else { LETTERS.replace(", \"index\": true", "") };
    let schema = Schema::from_json(&text).unwrap();
    let column = |of: &dyn Fn(i128) -> i128| rows.clone().map(of).collect::<Vec<_>>();
    let (first, last) = schema.fields()[0].bounds();
    let sent = move |i: i128| first + i * 37 % (last - first + 1);
    let due = |i: i128| match i % 5 {
        0 => first - 1,
        _ => (sent(i) + i % 7 - 3).clamp(first, last),
    };
    let columns = vec![
        column(&sent),
        column(&due),
        column(&|i| sent(i) + i * i % 5 * 14),
        column(&|i| i * 11 % 64 - 3),
        column(&|i| i * 7 % 41),
        column(&|i| i * 13 % 1000),
    ];
    let data = Data::from_columns(columns, &schema).unwrap();
    (schema, data)
}

/// Comparisons of two columns, with empty cells, other bounds and a distance.
#[test]
fn comparisons_of_columns() {
    let params = PARTIES.client.params();
    let ((schema, data), (plain, _)) = (letters(true, 0..300), letters(false, 0..3));
    let (secret, mut rng) = (PARTIES.client.secret(), everlevel::system_rng().unwrap());
    let key = TableKey::Secret(secret);
    let table = EncryptedTable::encrypt(key, &schema, &data, &mut rng, quiet).unwrap();
    for (condition, run) in [
        ("sent < came", true),
        ("came <= sent", false),
        ("sent = came and stamps > 5", true),
        ("sent < due", true),
        ("not (due = sent)", false),
        ("due is null or due > came", false),
        ("stamps < pages", false),
        ("stamps + 3 <> pages", false),
        ("pages - stamps >= 10", true),
    ] {
        let sql = format!("select count(*), sum(n) from letters where {condition}");
        let plan = Plan::new(&sql, &schema).unwrap();
        let expected = Answer::plain(plan.query(), &schema, &data).unwrap();
        assert_eq!(plan.rehearse(params, &data, &[]).unwrap(), expected, "{sql}");
        if run {
            let result = table.run(&PARTIES.server, &plan, None, quiet).unwrap();
            assert_eq!(result.read(secret).unwrap(), expected, "{sql}");
        }
        let without = Plan::new(&sql, &plain).unwrap().cost(params, 300).unwrap();
        let with = plan.cost(params, 300).unwrap();
        assert!(with.key_switches + 5 < without.key_switches, "{sql}: {with:?}, {without:?}");
        assert_eq!((with.refreshes, without.refreshes), (0, 0), "{sql}");
    }
    // Both indexes are read, and advised where they are missing.
    let sql = "select sum(n) from letters where sent < came";
    let told = Plan::new(sql, &schema).unwrap().explain(params, 300).unwrap();
    assert_eq!(told.indexes_read, ["sent", "came"]);
    assert_eq!(told.columns_read, ["sent", "came", "n"]);
    let told = Plan::new(sql, &plain).unwrap().explain(params, 300).unwrap();
    let [note] = &told.notes[..] else { panic!("{:?}", told.notes) };
    assert!(note.starts_with("with an index on sent and came "), "{note}");
}

/// A distance of columns with one digit and with three, where an index alone decides about the
/// digits that the other column does not have.
#[test]
fn distances_of_columns_of_unequal_digits() {
    let params = PARTIES.client.params();
    let schema = Schema::from_json(
        r#"{"columns": [
            {"name": "x", "type": "integer", "low": 0, "high": 15, "index": true},
            {"name": "y", "type": "integer", "low": 0, "high": 300, "index": true}]}"#,
    );
    let schema = schema.unwrap();
    let column = |of: fn(i128) -> i128| (0..400).map(of).collect::<Vec<_>>();
    let columns = vec![column(|i| i % 16), column(|i| i % 16 + i / 16 % 18 * 16)];
    let data = Data::from_columns(columns, &schema).unwrap();
    for condition in ["y - x = 80", "x + 272 <> y"] {
        let sql = format!("select count(*), sum(y) from t where {condition}");
        let plan = Plan::new(&sql, &schema).unwrap();
        let expected = Answer::plain(plan.query(), &schema, &data).unwrap();
        assert_eq!(plan.rehearse(params, &data, &[]).unwrap(), expected, "{sql}");
    }
}

/// The keys that a plan asks for are enough, whichever key the table was encrypted with.
#[test]
fn keys_of_plans_are_enough() {
    let (schema, data) = letters(true, 0..2_050);
    let (secret, mut rng) = (PARTIES.client.secret(), everlevel::system_rng().unwrap());
    let public = PARTIES.client.public_key(&mut rng);
    let bootstrap = everlevel::bootstrap_plan(secret.params()).unwrap();
    let sql = "select sum(n) from letters where sent < came and due is not null and pages > 3";
    let plan = Plan::new(sql, &schema).unwrap();
    let keys = plan.keys(secret.params(), 2_050).unwrap();
    assert!(!keys.bootstrap);
    let server = PARTIES.client.server_for(&keys, &bootstrap, &mut rng, |_, _| ()).unwrap();
    let expected = Answer::plain(plan.query(), &schema, &data).unwrap();
    for key in [TableKey::Public(&public), TableKey::Secret(secret)] {
        let table = EncryptedTable::encrypt(key, &schema, &data, &mut rng, quiet).unwrap();
        let result = table.run(&server, &plan, None, quiet).unwrap();
        assert_eq!(result.read(secret).unwrap(), expected);
    }
}

/// Tables of one schema have files of equal sizes, those of indexes smaller ones.
#[test]
fn files_of_indexes_are_smaller() {
    let mut rng = everlevel::system_rng().unwrap();
    let key = TableKey::Secret(PARTIES.client.secret());
    let mut sizes = |rows: Range<i128>| {
        let ((schema, data), mut sizes) = (letters(true, rows), Vec::new());
        EncryptedTable::encrypt_each(key, (&schema, &data), &mut rng, |_, bytes| {
            sizes.push(bytes.len());
            Ok::<_, TablesError>(())
        })
        .unwrap();
        sizes
    };
    let (some, others) = (sizes(0..40), sizes(40..80));
    assert_eq!(some, others);
    // The digits of a date are in one file, and each truth value of its index in another.
    let bits = letters(true, 0..1).0.fields()[0].index_ciphertexts();
    assert_eq!(bits, 39);
    assert!(some[1..=bits].iter().all(|size| 4 * size < some[0]), "{some:?}");
}

/// Files of an index are read while a condition is computed. What became of them since the table
/// was opened is noticed then, in every block, and only by queries that need them.
#[test]
fn files_of_indexes_that_are_lost_or_damaged() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("letters");
    let (schema, data) = letters(true, 0..2_050);
    let (secret, mut rng) = (PARTIES.client.secret(), everlevel::system_rng().unwrap());
    let key = TableKey::Secret(secret);
    EncryptedTable::create(&directory, Existing::Keep, key, (&schema, &data), &mut rng, quiet)
        .unwrap();
    let table = open(&directory).unwrap();
    let plan = |condition: &str| {
        let sql = format!("select count(*), sum(n) from letters where {condition}");
        Plan::new(&sql, &schema).unwrap()
    };
    let (needs, others) = (plan("sent < came"), plan("pages > 7"));
    let answers = |plan: &Plan| {
        let answer = run(&table, plan).unwrap().read(secret).unwrap();
        assert_eq!(answer, Answer::plain(plan.query(), &schema, &data).unwrap(), "{}", plan.sql());
    };
    // The first truth value of the lowest digit of "sent", and the last one of the highest.
    let path = |block: usize, bit: usize| directory.join(format!("{block:06}-{bit:04}.columns"));
    for (block, bit, other) in [(0, 1, 2), (0, 39, 1), (1, 39, 38)] {
        let (path, other) = (path(block, bit), fs::read(path(block, other)).unwrap());
        let whole = fs::read(&path).unwrap();
        let mut damaged = whole.clone();
        *damaged.last_mut().unwrap() ^= 1;
        for (bytes, expected) in [
            (Some(&other[..]), "table.block"),
            (Some(&whole[..whole.len() / 2]), "wire.truncated"),
            (Some(&damaged[..]), "wire.checksum"),
            (None, "wire.io"),
        ] {
            match bytes {
                Some(bytes) => fs::write(&path, bytes).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            assert_eq!(code(run(&table, &needs)), expected, "{}", path.display());
        }
        answers(&others);
        fs::write(&path, whole).unwrap();
    }
    answers(&needs);
}
