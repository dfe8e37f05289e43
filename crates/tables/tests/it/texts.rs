//! Columns of texts, which come back with rows and are compared with constants alone.

use everlevel::files::Existing;
use everlevel_tables::{
    Answer, Change, Constants, Data, EncryptedTable, OutputType, Partner, Plan, Query, Schema,
    TableKey, TablesError,
};
use proptest::prelude::*;

use crate::Bench;
use crate::roles::{PARTIES, code, open, quiet, run};

/// A text of up to 20 bytes, which is two parts, and one of up to 14 that may be missing.
const SCHEMA: &str = r#"{"columns": [
    {"name": "id", "type": "integer", "low": 0, "high": 5000},
    {"name": "name", "type": "text", "bytes": 20},
    {"name": "note", "type": "text", "bytes": 14, "nullable": true},
    {"name": "paid", "type": "boolean"}
]}"#;

/// Texts at the ends of parts and of columns, with what CSV and UTF-8 have.
const ROWS: [(&str, Option<&str>); 12] = [
    ("Ada Lovelace", Some("x")),
    ("", None),
    ("fourteen bytes", Some("fourteen bytes")),
    ("fifteen bytes !", Some(" ")),
    ("twenty bytes to fill", Some("\u{7f}")),
    ("Zoë, \"Łódź\"", None),
    (" blanks stay ", Some("a\r\nb")),
    ("日本語日本語", Some("a")),
    ("\u{0}", Some("\u{0}a")),
    ("\u{10ffff}", Some("b")),
    ("Ada Lovelace", Some("NULL")),
    ("ada lovelace", None),
];

type Row = (usize, &'static str, Option<&'static str>, bool);

pub(crate) fn schema() -> Schema {
    Schema::from_json(SCHEMA).unwrap()
}

fn rows(count: usize) -> Vec<Row> {
    let row = |i: usize| (i, ROWS[i % ROWS.len()].0, ROWS[i % ROWS.len()].1, i.is_multiple_of(3));
    (0..count).map(row).collect()
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

fn data(rows: &[Row]) -> Data {
    let line = |(id, name, note, paid): &Row| {
        format!("{id},{},{},{paid}\n", quoted(name), note.map_or(String::new(), quoted))
    };
    let text = "id,name,note,paid\n".to_string() + &rows.iter().map(line).collect::<String>();
    Data::from_csv(text.as_bytes(), &schema()).unwrap()
}

/// Texts of cells.
fn shown(answer: &Answer) -> Vec<Vec<String>> {
    answer.rows.iter().map(|row| row.iter().map(ToString::to_string).collect()).collect()
}

fn note_of(row: &Row) -> String {
    row.2.unwrap_or("NULL").into()
}

/// A query, and its answer by the rows in the clear.
type Case = (&'static str, fn(&[Row]) -> Vec<Vec<String>>);

fn chosen(rows: &[Row], when: impl Fn(&Row) -> bool) -> Vec<Vec<String>> {
    let row = |r: &Row| vec![r.0.to_string(), r.1.into(), note_of(r)];
    rows.iter().filter(|r| when(r)).map(row).collect()
}

fn counted(rows: &[Row], when: impl Fn(&Row) -> bool) -> Vec<Vec<String>> {
    vec![vec![rows.iter().filter(|r| when(r)).count().to_string()]]
}

const CASES: [Case; 14] = [
    ("select id, name, note from t where paid", |all| chosen(all, |r| r.3)),
    ("select id, name, note from t where name = 'Ada Lovelace'", |all| {
        chosen(all, |r| r.1 == "Ada Lovelace")
    }),
    ("select id, name, note from t where name <> 'Ada Lovelace' and id < 9", |all| {
        chosen(all, |r| r.1 != "Ada Lovelace" && r.0 < 9)
    }),
    ("select id, name, note from t where 'fifteen bytes !' = name", |all| {
        chosen(all, |r| r.1 == "fifteen bytes !")
    }),
    ("select id, name, note from t where name = ''", |all| chosen(all, |r| r.1.is_empty())),
    ("select id, name, note from t where note = 'a'", |all| chosen(all, |r| r.2 == Some("a"))),
    // Nothing is known of a text that is not there.
    ("select id, name, note from t where note <> 'a'", |all| {
        chosen(all, |r| r.2.is_some_and(|note| note != "a"))
    }),
    ("select id, name, note from t where not (note in ('a', 'x', 'NULL'))", |all| {
        chosen(all, |r| r.2.is_some_and(|note| !["a", "x", "NULL"].contains(&note)))
    }),
    ("select id, name, note from t where note is null or name = 'Zoë'", |all| {
        chosen(all, |r| r.2.is_none())
    }),
    ("select id, name, note from t where name = 'a text of more bytes than it has'", |_| vec![]),
    ("select id, name, note from t where note = ''", |_| vec![]),
    ("select count(*) from t where name = 'twenty bytes to fill'", |all| {
        counted(all, |r| r.1 == "twenty bytes to fill")
    }),
    ("select count(note) from t", |all| counted(all, |r| r.2.is_some())),
    ("select count(*) filter (where note = 'fourteen bytes') from t", |all| {
        counted(all, |r| r.2 == Some("fourteen bytes"))
    }),
];

#[test]
fn texts_come_back_with_rows() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let (schema, all) = (schema(), rows(30));
    let data = data(&all);
    for (text, expected) in CASES {
        let expected = expected(&all);
        let query = Query::parse(text, &schema).unwrap();
        let plain = Answer::plain(&query, &schema, &data).unwrap();
        assert_eq!(shown(&plain), expected, "{text}");
        assert_eq!(bench.ask(text, &schema, &data), plain, "{text}");
    }
    let text = "select name, id from t where id < 12 order by name desc, id limit 5";
    let mut ordered: Vec<Row> = all.iter().filter(|r| r.0 < 12).copied().collect();
    ordered.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(&b.0)));
    let ordered = ordered.iter().take(5).map(|r| vec![r.1.to_string(), r.0.to_string()]);
    assert_eq!(shown(&bench.ask(text, &schema, &data)), ordered.collect::<Vec<_>>());

    let whole = Query::parse("select * from t", &schema).unwrap();
    assert_eq!(whole.outputs.len(), 4);
    assert_eq!(whole.output_types(&schema)[1..3], [OutputType::Text, OutputType::Text]);
    let plain = Answer::plain(&whole, &schema, &data).unwrap();
    assert_eq!(plain.to_csv().unwrap(), data.to_csv(&schema).unwrap());
    assert_eq!(Data::from_csv(plain.to_csv().unwrap().as_bytes(), &schema).unwrap(), data);
}

/// Three blocks under encryption, a lookup with a key that the server does not see, and a table
/// that the server knows.
#[test]
fn texts_are_files() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("t");
    let (schema, all) = (schema(), rows(4_200));
    let data = data(&all);
    let mut rng = everlevel::system_rng().unwrap();
    let key = TableKey::Secret(PARTIES.client.secret());
    let created =
        EncryptedTable::create(&directory, Existing::Keep, key, (&schema, &data), &mut rng, quiet);
    let created: Result<_, TablesError> = created;
    created.unwrap();
    let told = std::fs::read_to_string(directory.join("schema.json")).unwrap();
    assert_eq!(Schema::from_json(&told).unwrap(), schema);
    let table = open(&directory).unwrap();
    let back: Data = table.decrypt::<TablesError>(PARTIES.client.secret(), quiet).unwrap();
    assert_eq!(back, data);
    let plan = Plan::new("select id, name, note from t where note = 'b'", &schema).unwrap();
    assert_eq!(Plan::from_json(&plan.to_json().unwrap()).unwrap(), plan);
    let answer = run(&table, &plan).unwrap().read(PARTIES.client.secret()).unwrap();
    assert_eq!(shown(&answer), chosen(&all, |r| r.2 == Some("b")));
    let explained = plan.explain(table.params(), 4_200).unwrap();
    assert_eq!(explained.columns_read, ["id", "name", "note"]);
    assert_eq!(explained.reader_learns.matches("name").count(), 1);

    let plan = Plan::new("select name, note from t where id = :id", &schema).unwrap();
    let constants = Constants::encrypt(key, &plan, &[("id", "4101")], &mut rng).unwrap();
    let expected = chosen(&all, |r| r.0 == 4_101);
    let result = table.run::<TablesError>(&PARTIES.server, &plan, Some(&constants), quiet);
    let answer = result.unwrap().read(PARTIES.client.secret()).unwrap();
    assert_eq!(shown(&answer), [expected[0][1..].to_vec()]);
    let known = everlevel_tables::PlainTable::new(schema, data, &mut rng);
    let result = known.run::<TablesError>(&PARTIES.server, &plan, Some(&constants), quiet);
    let answer = result.unwrap().read(PARTIES.client.secret()).unwrap();
    assert_eq!(shown(&answer), [expected[0][1..].to_vec()]);
}

/// What a server sees does not depend on how long texts are, or which are missing.
#[test]
fn lengths_are_those_of_the_schema() {
    let schema = schema();
    let all = rows(12);
    let short: Vec<Row> = all.iter().map(|r| (r.0, "", None, r.3)).collect();
    let long: Vec<Row> =
        all.iter().map(|r| (r.0, "twenty bytes to fill", Some("fourteen bytes"), r.3)).collect();
    let mut rng = everlevel::system_rng().unwrap();
    let key = TableKey::Secret(PARTIES.client.secret());
    let mut sizes = |rows: &[Row]| {
        let mut sizes = Vec::new();
        let write = |name: &str, bytes: Vec<u8>| {
            sizes.push((name.to_string(), bytes.len()));
            Ok::<_, TablesError>(())
        };
        EncryptedTable::encrypt_each(key, (&schema, &data(rows)), &mut rng, write).unwrap();
        sizes
    };
    assert_eq!(sizes(&short), sizes(&long));
}

#[test]
fn texts_are_changed() {
    let (schema, mut all) = (schema(), rows(20));
    let mut rng = everlevel::system_rng().unwrap();
    let secret = PARTIES.client.secret();
    let mut table = EncryptedTable::encrypt::<TablesError>(
        TableKey::Secret(secret),
        &schema,
        &data(&all),
        &mut rng,
        quiet,
    )
    .unwrap();
    type Step = (&'static str, fn(&mut Vec<Row>));
    let steps: [Step; 4] = [
        ("update t set name = 'Grace', note = null where name = 'Ada Lovelace'", |all| {
            for row in all.iter_mut().filter(|r| r.1 == "Ada Lovelace") {
                (row.1, row.2) = ("Grace", None);
            }
        }),
        ("update t set note = 'some text' where id > 15 or note = 'b'", |all| {
            for row in all.iter_mut().filter(|r| r.0 > 15 || r.2 == Some("b")) {
                row.2 = Some("some text");
            }
        }),
        ("delete from t where note is null and not paid", |all| {
            all.retain(|r| r.2.is_some() || r.3);
        }),
        ("update t set name = name where paid", |_| ()),
    ];
    for (text, step) in steps {
        step(&mut all);
        let change = Change::parse(text, &schema).unwrap();
        table = table.changed::<TablesError>(secret, &change, &mut rng, quiet).unwrap().0;
        assert_eq!(table.decrypt::<TablesError>(secret, quiet).unwrap(), data(&all), "{text}");
    }
    all.push((4_000, "new", None, true));
    let insert = Change::insert(&schema, data(&all[all.len() - 1..]));
    table = table.changed::<TablesError>(secret, &insert, &mut rng, quiet).unwrap().0;
    assert_eq!(table.decrypt::<TablesError>(secret, quiet).unwrap(), data(&all));
    for text in [
        "update t set name = null",
        "update t set note = ''",
        "update t set name = 'twenty bytes to fill!'",
        "update t set name = note",
        "update t set name = id",
    ] {
        assert_eq!(code(Change::parse(text, &schema)), "table.type", "{text}");
    }
}

/// Rows carry texts of their partners, and texts may be public.
#[test]
fn texts_of_partners() {
    let schema = Schema::from_json(
        r#"{"columns": [
            {"name": "visit", "type": "integer", "low": 0, "high": 99},
            {"name": "patient", "type": "integer", "low": 0, "high": 9},
            {"name": "name", "type": "text", "bytes": 30},
            {"name": "ward", "type": "text", "bytes": 16, "public": true}
        ], "foreign_keys": [
            {"column": "patient", "table": "patients", "key": "id", "include": ["name"]}
        ]}"#,
    )
    .unwrap();
    assert_eq!(schema.foreign_keys()[0].include, ["name"]);
    assert_eq!(Schema::from_json(&schema.to_json().unwrap()).unwrap(), schema);
    let patients = "id,name\n3,Ada Lovelace of London\n4,Zoë\n";
    let partner = Partner::from_csv(patients.as_bytes(), &schema, "patients").unwrap();
    let visits = "visit,patient,ward\n1,3,first floor left\n2,4,cellar\n3,3,cellar\n";
    let data = Data::from_csv_with(visits.as_bytes(), &schema, &[partner]).unwrap();
    let bench = Bench::new("insecure_bgv-65537-n11");
    let text = "select visit, patients.name, ward from t join patients on patient = id \
                where ward = 'cellar' order by visit";
    let expected = [["2", "Zoë", "cellar"], ["3", "Ada Lovelace of London", "cellar"]];
    assert_eq!(shown(&bench.ask(text, &schema, &data)), expected);
    let text = "select * from t join patients on patient = id";
    assert_eq!(Query::parse(text, &schema).unwrap().outputs.len(), 4);
    assert_eq!(code(Query::parse("select name from t", &schema)), "table.type");
    let mut rng = everlevel::system_rng().unwrap();
    let secret = PARTIES.client.secret();
    let key = TableKey::Secret(secret);
    let table = EncryptedTable::encrypt::<TablesError>(key, &schema, &data, &mut rng, quiet);
    let table = table.unwrap();
    let change = "update patients set name = 'Ada King' where id = 3";
    let change = Change::parse(change, &schema).unwrap();
    let (table, changes) = table.changed::<TablesError>(secret, &change, &mut rng, quiet).unwrap();
    assert_eq!(changes.rows, 2);
    let plan = Plan::new("select visit, ward from t where ward <> 'cellar'", &schema).unwrap();
    assert_eq!((plan.public_columns(), plan.passes_over()), (vec!["ward"], true));
    let answer = run(&table, &plan).unwrap().read(secret).unwrap();
    assert_eq!(shown(&answer), [["1", "first floor left"]]);
    let data = table.decrypt::<TablesError>(secret, quiet).unwrap();
    let expected = "visit,patient,name,ward\n1,3,Ada King,first floor left\n2,4,Zoë,cellar\n\
                    3,3,Ada King,cellar\n";
    assert_eq!(data.to_csv(&schema).unwrap(), expected);
}

/// Long columns, of up to 74 parts.
#[test]
fn long_texts() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    for bytes in [1, 13, 15, 28, 100, 1024] {
        let schema = Schema::from_json(&format!(
            r#"{{"columns": [{{"name": "x", "type": "text", "bytes": {bytes}}},
                             {{"name": "on", "type": "boolean"}}]}}"#
        ))
        .unwrap();
        let texts = ["y".repeat(bytes), "z".repeat(bytes - 1), "é".repeat(bytes / 2)];
        let lines = texts.iter().map(|text| format!("{text},true\n")).collect::<String>();
        let data = Data::from_csv(format!("x,on\n{lines}").as_bytes(), &schema).unwrap();
        let text = "select x from t where on";
        let expected: Vec<Vec<String>> = texts.iter().map(|text| vec![text.clone()]).collect();
        assert_eq!(shown(&bench.ask(text, &schema, &data)), expected);
    }
}

proptest! {
    /// Any texts come back from CSV and from columns.
    #[test]
    fn tables_of_texts(
        cells in proptest::collection::vec(
            ("(\\PC|[ \0\t\r\n\"',;]){0,6}", proptest::option::of("\\PC{1,3}")), 1..8
        )
    ) {
        let schema = schema();
        let fits = |text: &str, bytes: usize| text.len() <= bytes;
        let lines = cells.iter().enumerate().map(|(i, (name, note))| {
            let note = note.as_deref().map_or(String::new(), quoted);
            format!("{i},{},{note},true\n", quoted(name))
        });
        let csv = "id,name,note,paid\n".to_string() + &lines.collect::<String>();
        let read = Data::from_csv(csv.as_bytes(), &schema);
        let all = cells.iter().all(|(name, note)| {
            fits(name, 20) && note.as_deref().is_none_or(|note| fits(note, 14))
        });
        prop_assert_eq!(read.is_ok(), all);
        if let Ok(data) = read {
            let query = Query::parse("select name, note from t", &schema).unwrap();
            let answer = Answer::plain(&query, &schema, &data).unwrap();
            let expected = cells.iter().map(|(name, note)| {
                vec![name.clone(), note.clone().unwrap_or("NULL".into())]
            });
            prop_assert_eq!(shown(&answer), expected.collect::<Vec<_>>());
            let written = data.to_csv(&schema).unwrap();
            prop_assert_eq!(Data::from_csv(written.as_bytes(), &schema).unwrap(), data);
        }
    }
}
