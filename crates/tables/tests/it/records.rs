//! Tables that are read and encrypted a block at a time.

use everlevel::files::Existing;
use everlevel_tables::{
    CsvRecords, Data, EncryptedTable, Partner, Records, Rows, Schema, TableKey, TablesError,
};

use crate::roles::{PARTIES, code, open, quiet, rows};

/// Rows with cells that may be none, and empty texts.
struct Cells {
    rows: Vec<Vec<Option<&'static str>>>,
    next: usize,
}

impl Records for Cells {
    fn head(&self) -> &'static str {
        "the list"
    }

    fn empty_is_none(&self) -> bool {
        false
    }

    fn names(&self) -> Vec<String> {
        vec!["N".into(), "name".into()]
    }

    fn advance(&mut self) -> Result<bool, TablesError> {
        self.next += 1;
        Ok(self.next <= self.rows.len())
    }

    fn cell(&self, place: usize) -> Option<&str> {
        self.rows[self.next - 1][place]
    }

    fn line(&self) -> u64 {
        self.next as u64
    }
}

#[test]
fn blocks_are_those_of_the_whole() {
    let (schema, data) = rows(100);
    let text = data.to_csv(&schema).unwrap();
    for most in [1, 7, 99, 100, 101, usize::MAX] {
        let mut reading =
            Rows::new(CsvRecords::new(text.as_bytes()).unwrap(), &schema, &[]).unwrap();
        let mut found = vec![Vec::new(); schema.fields().len()];
        while let Some(block) = reading.next(most).unwrap() {
            assert!(block.rows() <= most);
            for (column, all) in found.iter_mut().enumerate() {
                all.extend_from_slice(block.column(column));
            }
        }
        assert_eq!(Data::from_columns(found, &schema).unwrap(), data);
        assert!(reading.next(most).unwrap().is_none());
    }
}

#[test]
fn tables_are_encrypted_as_they_are_read() {
    let temporary = tempfile::tempdir().unwrap();
    let (schema, data) = rows(2 * 2048 + 3);
    let text = data.to_csv(&schema).unwrap();
    let mut rng = everlevel::system_rng().unwrap();
    let secret = PARTIES.client.secret();
    let mut encrypt = |name: &str, texts: Vec<&str>| {
        let mut texts = texts.into_iter();
        EncryptedTable::create_from(
            &temporary.path().join(name),
            Existing::Keep,
            TableKey::Secret(secret),
            (&schema, &[]),
            || CsvRecords::new(texts.next().unwrap().as_bytes()),
            &mut rng,
            |_, _| Ok::<_, TablesError>(()),
        )
    };
    encrypt("t", vec![&text, &text]).unwrap();
    let table = open(&temporary.path().join("t")).unwrap();
    assert_eq!(table.decrypt::<TablesError>(secret, quiet).unwrap(), data);
    // A file that grows, shrinks or breaks meanwhile leaves nothing.
    let longer = format!("{text}tea,0.05,-3,1992-01-01,true,0\n");
    let shorter = &text[..text.len() - text.lines().last().unwrap().len() - 1];
    let broken = text.replacen("999.99", "9999.99", 1);
    let torn = format!("{text}tea,0.05");
    let header = text.lines().next().unwrap();
    for (texts, expected) in [
        (vec![&text[..], &longer], "table.data"),
        (vec![&text, shorter], "table.data"),
        (vec![&text, header], "table.data"),
        (vec![header, header], "table.data"),
        (vec![&text, &broken], "table.value"),
        (vec![&broken, &text], "table.value"),
        (vec![&torn, &text], "table.data"),
    ] {
        assert_eq!(code(encrypt("u", texts)), expected);
        assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 1);
    }
}

/// Rows of one partner carry the same, in whichever block they are.
#[test]
fn partners_are_those_of_all_blocks() {
    let schema = Schema::from_json(
        r#"{"columns": [{"name": "k", "type": "integer", "low": 0, "high": 9},
                        {"name": "v", "type": "integer", "low": 0, "high": 9}],
            "foreign_keys": [{"column": "k", "table": "p", "key": "id", "include": ["v"]}]}"#,
    )
    .unwrap();
    let partners = [Partner::from_csv("id,v\n1,5\n2,6\n".as_bytes(), &schema, "p").unwrap()];
    let records = CsvRecords::new("k\n1\n2\n1\n3\n".as_bytes()).unwrap();
    let mut reading = Rows::new(records, &schema, &partners).unwrap();
    let block = reading.next(3).unwrap().unwrap();
    assert_eq!((block.column(0), block.column(1)), (&[1, 2, 1][..], &[5, 6, 5][..]));
    match reading.next(3) {
        Err(TablesError::Partner { row, .. }) => assert_eq!(row, 3),
        other => panic!("{other:?}"),
    }
    let records = CsvRecords::new("k,v\n1,5\n2,6\n1,5\n1,6\n".as_bytes()).unwrap();
    let mut reading = Rows::new(records, &schema, &[]).unwrap();
    assert!(reading.next(2).unwrap().is_some());
    match reading.next(2) {
        Err(TablesError::Partner { row, problem, .. }) => {
            assert_eq!((row, problem.starts_with("row 0 ")), (3, true));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn none_and_empty_are_told_apart() {
    let schema = |nullable: bool| {
        let text = format!(
            r#"{{"columns": [
                {{"name": "n", "type": "integer", "low": 0, "high": 9, "nullable": {nullable}}},
                {{"name": "name", "type": "text", "bytes": 4, "nullable": {nullable}}}]}}"#
        );
        Schema::from_json(&text).unwrap()
    };
    let read = |rows: Vec<Vec<Option<&'static str>>>, nullable| {
        Data::from_records(Cells { rows, next: 0 }, &schema(nullable), &[])
    };
    let data = read(vec![vec![None, None], vec![Some("3"), Some("a")]], true).unwrap();
    assert_eq!(data.to_csv(&schema(true)).unwrap(), "n,name\n,\n3,a\n");
    let data = read(vec![vec![Some("3"), Some("")]], false).unwrap();
    assert_eq!(data.to_csv(&schema(false)).unwrap(), "n,name\n3,\n");
    for (row, nullable, what) in [
        (vec![None, Some("a")], false, "nothing"),
        (vec![Some("1"), None], false, "nothing"),
        (vec![Some(""), Some("a")], true, ""),
        (vec![Some("1"), Some("")], true, ""),
    ] {
        match read(vec![vec![Some("1"), Some("b")], row], nullable) {
            Err(TablesError::Value { line: 2, found, .. }) => assert_eq!(found, what),
            other => panic!("{other:?}"),
        }
    }
}
