//! Public columns: stored in the clear, for conditions that the server evaluates in the clear.

use std::fs;

use everlevel::NamedIntegers;
use everlevel::files::{Bytes, Existing};
use everlevel_tables::{
    Answer, Change, Constants, Data, EncryptedTable, Plan, Schema, TableKey, TablesError,
};
use everlevel_wire::{ReadOptions, inspect};

use crate::roles::{PARTIES, code, open, quiet};

/// Three blocks: regions are those of the blocks, but for the last row of each.
fn table() -> (Schema, Data) {
    let schema = Schema::from_json(
        r#"{"columns": [
            {"name": "region", "type": "category", "values": ["north", "south", "west"],
             "public": true},
            {"name": "amount", "type": "decimal", "scale": 2, "low": "0", "high": "99.99"},
            {"name": "year", "type": "integer", "low": 2000, "high": 2031, "public": true,
             "nullable": true},
            {"name": "paid", "type": "boolean"}]}"#,
    )
    .unwrap();
    let rows = 2 * 2048 + 40;
    let entry = |place: usize, i: usize| match place {
        0 => (i / 2048) as i128,
        1 => (i * 7_919 % 10_000) as i128,
        2 => 1_999 + (i % 33) as i128,
        _ => i.is_multiple_of(3).into(),
    };
    let columns = (0..4).map(|place| (0..rows).map(|i| entry(place, i)).collect()).collect();
    let data = Data::from_columns(columns, &schema).unwrap();
    (schema, data)
}

fn stored() -> (EncryptedTable, Data) {
    let (schema, data) = table();
    let mut rng = everlevel::system_rng().unwrap();
    let key = TableKey::Secret(PARTIES.client.secret());
    (EncryptedTable::encrypt(key, &schema, &data, &mut rng, quiet).unwrap(), data)
}

#[test]
fn answers_are_those_in_the_clear() {
    let (table, data) = stored();
    for (sql, public, passes) in [
        // The last block has all that is meant, or some, or nothing.
        ("select sum(amount), count(*) from t where region = 'west'", 1, true),
        ("select sum(amount), count(*) from t where region = 'south' and paid", 1, true),
        ("select sum(amount) from t where region <> 'south' and year is null", 2, true),
        ("select count(*) from t where region = 'north' or paid", 1, false),
        ("select count(*) from t where not (region = 'north' or paid)", 1, true),
        ("select region, sum(amount), avg(amount) from t where paid group by region", 1, false),
        // Nothing that is asked for is encrypted.
        ("select region, count(*), sum(year) from t where year > 2029 group by region", 2, true),
        ("select count(year) from t", 1, false),
        ("select amount, region, year from t where region = 'south' and amount < 0.10", 2, true),
        ("select max(amount) from t where year = 2031 and region = 'north'", 2, true),
        // A row in which it is empty meets no condition.
        ("select year, amount from t where year = amount * 100", 1, true),
    ] {
        let plan = Plan::new(sql, table.schema()).unwrap();
        assert_eq!((plan.public_columns().len(), plan.passes_over()), (public, passes), "{sql}");
        let result = table.run(&PARTIES.server, &plan, None, quiet).unwrap();
        let mut answer = result.read(PARTIES.client.secret()).unwrap();
        let mut expected = Answer::plain(plan.query(), table.schema(), &data).unwrap();
        answer.rows.sort_by_key(|row| format!("{row:?}"));
        expected.rows.sort_by_key(|row| format!("{row:?}"));
        assert_eq!(answer, expected, "{sql}");
        assert!(plan.cost(PARTIES.client.params(), data.rows()).unwrap().result_ciphertexts > 0);
        plan.keys(PARTIES.client.params(), data.rows()).unwrap();
    }
    // A constant that the server does not see stays encrypted where the column is public.
    let plan = Plan::new("select sum(amount) from t where year = :year", table.schema()).unwrap();
    let mut rng = everlevel::system_rng().unwrap();
    let key = TableKey::Secret(PARTIES.client.secret());
    let constants = Constants::encrypt(key, &plan, &[("year", "2007")], &mut rng).unwrap();
    let result = table.run(&PARTIES.server, &plan, Some(&constants), quiet).unwrap();
    let expected = Answer::plain_with(plan.query(), table.schema(), &data, &[2007]).unwrap();
    assert_eq!(result.read(PARTIES.client.secret()).unwrap(), expected);
}

#[test]
fn answers_have_one_size_whatever_is_passed_over() {
    let (table, _) = stored();
    let size = |region: &str| {
        let sql = format!("select amount from t where region = '{region}' and paid");
        let plan = Plan::new(&sql, table.schema()).unwrap();
        let result = table.run(&PARTIES.server, &plan, None, quiet).unwrap();
        let summary = inspect(result.as_bytes(), &ReadOptions::default()).unwrap();
        assert_eq!(summary.owner, Some(PARTIES.client.secret().id()));
        summary.records
    };
    assert_eq!(size("north"), size("west"));
    assert_eq!(size("north"), 3 * 2);
}

#[test]
fn public_columns_change_as_others_do() {
    let (table, data) = stored();
    assert_eq!(table.decrypt(PARTIES.client.secret(), quiet).unwrap(), data);
    let mut rng = everlevel::system_rng().unwrap();
    let mut change = |table: &EncryptedTable, text: &str| {
        let change = Change::parse(text, table.schema()).unwrap();
        table.changed(PARTIES.client.secret(), &change, &mut rng, quiet).unwrap()
    };
    let (table, changes) = change(&table, "update t set year = 2001 where region = 'south'");
    assert_eq!(changes.written, ["000001-0002.columns"]);
    let (table, changes) = change(&table, "delete from t where region = 'west' and paid");
    assert_eq!((changes.rows, changes.written.len()), (13, 4));
    let plan = Plan::new("select count(*) from t where year = 2001", table.schema()).unwrap();
    let result = table.run(&PARTIES.server, &plan, None, quiet).unwrap();
    let read = table.decrypt(PARTIES.client.secret(), quiet).unwrap();
    let expected = Answer::plain(plan.query(), table.schema(), &read).unwrap();
    assert_eq!(result.read(PARTIES.client.secret()).unwrap(), expected);
}

#[test]
fn forged_files_of_public_columns_are_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("t");
    let ((schema, data), mut rng) = (table(), everlevel::system_rng().unwrap());
    let key = TableKey::Secret(PARTIES.client.secret());
    EncryptedTable::create(&directory, Existing::Keep, key, (&schema, &data), &mut rng, quiet)
        .unwrap();
    let path = directory.join("000002-0000.columns");
    let whole = fs::read(&path).unwrap();
    let stated = inspect(&whole, &ReadOptions::default()).unwrap().metadata;
    let plan = Plan::new("select sum(amount) from t where region = 'west'", &schema).unwrap();
    let ask = || {
        let table = open(&directory)?;
        table.run(&PARTIES.server, &plan, None, quiet)
    };
    assert!(ask().is_ok());
    let forged = |codes: Option<String>, columns: Vec<NamedIntegers>| {
        let mut stated = stated.clone();
        stated.remove("schema");
        stated.remove("codes");
        stated.extend(codes.map(|codes| ("codes".to_string(), codes)));
        fs::write(&path, columns.to_bytes_with(PARTIES.client.params(), &stated).unwrap()).unwrap();
        code(ask())
    };
    let codes = |last: &str| format!("{}{last}", "2 ".repeat(39));
    for text in [
        codes("3"),
        codes("-1"),
        codes("2 2"),
        codes(""),
        codes("x"),
        codes("99999999999999999999999999999999999999999999"),
        String::new(),
    ] {
        assert_eq!(forged(Some(text), Vec::new()), "table.block");
    }
    assert_eq!(forged(None, Vec::new()), "table.block");
    // Whether a column is public is in the schema, and the id of the schema in every file.
    let column = PARTIES.client.encrypt_integers(&[2; 40], everlevel::Type::U8, &mut rng).unwrap();
    let columns = vec![("region".to_string(), column.into())];
    assert_eq!(forged(Some(codes("2")), columns), "table.block");
    let mut damaged = whole.clone();
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    fs::write(&path, damaged).unwrap();
    assert!(ask().is_err());
    fs::write(&path, whole).unwrap();
    assert!(ask().is_ok());
    let text = fs::read_to_string(directory.join("schema.json")).unwrap();
    fs::write(directory.join("schema.json"), text.replacen("\"public\":true,", "", 1)).unwrap();
    assert_eq!(code(ask()), "table.block");
    // A plan for a table in which the column is encrypted is one for another schema.
    let other = Schema::from_json(&text.replacen("\"public\":true,", "", 1)).unwrap();
    let plan = Plan::new("select count(*) from t where region = 'west'", &other).unwrap();
    let refused = plan.check_schema(&schema);
    assert!(matches!(&refused, Err(TablesError::OtherSchema { .. })), "{refused:?}");
}
