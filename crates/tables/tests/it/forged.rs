//! Files that are whole, and say what is not so.

use std::fs;
use std::path::Path;

use everlevel::files::{Bytes, Existing, Metadata};
use everlevel::{Ciphertext, IntegerColumn, Level, NamedIntegers, Plaintext, Type};
use everlevel_integers::Encoded;
use everlevel_scheme::SchemeError;
use everlevel_tables::{EncryptedTable, Plan, TableKey, TableResult, TablesError};
use everlevel_wire::{ReadOptions, inspect};

use crate::roles::{PARTIES, encrypted, open, run};

fn code<T>(result: Result<T, TablesError>) -> &'static str {
    result.err().expect("it is refused").code()
}

fn metadata(bytes: &[u8]) -> Metadata {
    let mut found = inspect(bytes, &ReadOptions::default()).unwrap().metadata;
    found.remove("schema");
    found
}

fn column(values: &[i128], (low, high): (i128, i128)) -> IntegerColumn {
    let mut rng = everlevel::system_rng().unwrap();
    let kind = Type::ranged(low, high).unwrap();
    PARTIES.client.encrypt_integers(values, kind, &mut rng).unwrap()
}

/// Writes columns in the place of the column `count`, with its metadata.
fn forge(directory: &Path, columns: Vec<NamedIntegers>, change: &[(&str, &str)]) -> TablesError {
    let path = directory.join("000000-0002.columns");
    let whole = fs::read(&path).unwrap();
    let mut stated = metadata(&whole);
    for (name, value) in change {
        stated.insert((*name).into(), (*value).into());
    }
    let params = PARTIES.client.params();
    fs::write(&path, columns.to_bytes_with(params, &stated).unwrap()).unwrap();
    let table = open(directory);
    let asked = table.and_then(|table| {
        let plan = Plan::new("select sum(count) from shop", table.schema()).unwrap();
        run(&table, &plan)
    });
    fs::write(&path, whole).unwrap();
    match asked {
        Ok(_) => panic!("it is answered"),
        Err(e) => e,
    }
}

#[test]
fn columns_that_are_not_those_of_the_schema() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("shop");
    encrypted(&directory, 20);
    let named = |x: IntegerColumn| vec![("count".to_string(), x.into())];
    let (values, bounds) = (vec![7; 20], (-3, 500));

    // With other bounds it would be compared and added up in another way.
    let error = forge(&directory, named(column(&values, (-4, 500))), &[]);
    assert_eq!(error.code(), "table.data", "{error}");
    for (columns, what) in [
        (named(column(&values[..19], bounds)), "another length"),
        (vec![("price".into(), column(&values, bounds).into())], "another name"),
        (vec![], "none"),
        (
            vec![
                ("count".into(), column(&values, bounds).into()),
                ("more".into(), column(&values, bounds).into()),
            ],
            "two",
        ),
    ] {
        assert_eq!(forge(&directory, columns, &[]).code(), "table.block", "{what}");
    }
    let (secret, mut rng) = (PARTIES.client.secret(), everlevel::system_rng().unwrap());
    let params = secret.params();
    let kind = Type::ranged(bounds.0, bounds.1).unwrap();
    // An index in the same file, which a table would be decrypted without.
    let indexed = PARTIES.client.encrypt_indexed(&values, kind, &mut rng).unwrap();
    let error = forge(&directory, named(indexed), &[]);
    assert!(error.code() == "table.block" && error.to_string().contains("index"), "{error}");
    // A smaller modulus than that of its column, at which queries are rehearsed.
    let lower = Encoded::new(&values, kind, params.slots()).unwrap();
    let level = Level(params.chain().top().0 / 2);
    let lower: Result<IntegerColumn, SchemeError> = lower.encrypt(|slots| {
        secret.encrypt_at(&Plaintext::encode_modulo(params, slots, 2)?, level, &mut rng)
    });
    let error = forge(&directory, named(lower.unwrap()), &[]);
    assert!(error.code() == "table.block" && error.to_string().contains("bits"), "{error}");
    // What was computed is no fresh encryption.
    let ints = PARTIES.server.integers().unwrap();
    let x = column(&[1; 20], (0, 1));
    let product = ints.and(&x, &column(&[1; 20], (0, 1))).unwrap();
    assert_eq!(forge(&directory, named(product), &[]).code(), "wire.malformed");
    // Metadata that are no numbers, or too large.
    let same = || named(column(&values, bounds));
    for (name, value) in [
        ("rows", "0"),
        ("rows", "-1"),
        ("rows", "21"),
        ("rows", "99999999999999999999999"),
        ("rows", "18446744073709551615"),
        ("block", "1"),
        ("column", "1"),
        ("table", "1"),
        ("table", "00112233445566778899aabbccddeeff"),
        ("table schema", ""),
        ("content", "table-result"),
    ] {
        let error = forge(&directory, same(), &[(name, value)]);
        assert_eq!(error.code(), "table.block", "{name} = {value}: {error}");
    }
    assert!(open(&directory).is_ok());
}

#[test]
fn rows_that_a_table_does_not_have() {
    // All files of a table agree on it.
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("shop");
    encrypted(&directory, 20);
    for entry in fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        if path.extension().is_none_or(|e| e != "columns") {
            continue;
        }
        let mut stated = metadata(&bytes);
        stated.insert("rows".into(), "18446744073709551615".into());
        let params = PARTIES.client.params();
        let options = ReadOptions::default();
        let (columns, _) = Vec::<NamedIntegers>::from_bytes_with(params, &bytes, &options).unwrap();
        fs::write(&path, columns.to_bytes_with(params, &stated).unwrap()).unwrap();
    }
    assert_eq!(code(open(&directory)), "table.files");
}

#[test]
fn results_that_say_something_else() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("shop");
    let (schema, _) = encrypted(&directory, 20);
    let plan = Plan::new("select paid, sum(count) from shop group by paid", &schema).unwrap();
    let result = run(&open(&directory).unwrap(), &plan).unwrap();
    let (params, options) = (PARTIES.client.params(), ReadOptions::default());
    let stated = metadata(result.as_bytes());
    let sums =
        || Vec::<Ciphertext>::from_bytes_with(params, result.as_bytes(), &options).unwrap().0;
    let read = |sums: Vec<Ciphertext>, stated: &Metadata| {
        TableResult::from_bytes(sums.to_bytes_with(params, stated).unwrap())
            .and_then(|result| result.read(PARTIES.client.secret()))
    };
    assert!(read(sums(), &stated).is_ok());
    // Ciphertexts that are missing, too many, fresh from the key, or modulo p.
    assert_eq!(code(read(sums()[1..].to_vec(), &stated)), "wire.unknown-owner");
    assert_eq!(code(read([sums(), sums()].concat(), &stated)), "table.result");
    let mut rng = everlevel::system_rng().unwrap();
    let most = params.plain_modulus().pow(2) - 1;
    let own = |exponent, value| {
        let value = vec![value; params.slots()];
        let plain = Plaintext::encode_modulo(params, &value, exponent).unwrap();
        vec![PARTIES.client.secret().encrypt(&plain, &mut rng).unwrap()]
    };
    let mut own = own;
    assert_eq!(code(read(own(1, 0), &stated)), "table.result");
    assert_eq!(code(read(own(2, most / 2), &stated)), "scheme.not-decryptable");
    // Other numbers of rows, other plans.
    let rows =
        [("0", "table.result"), ("x", "table.result"), ("18446744073709551615", "integers.range")];
    for (rows, expected) in rows {
        let mut stated = stated.clone();
        stated.insert("rows".into(), rows.into());
        assert_eq!(code(read(sums(), &stated)), expected, "{rows}");
    }
    // Whoever says which plan he means notices another one.
    let other = |sql| {
        let mut stated = stated.clone();
        let text = stated["plan"].replace(plan.sql(), sql);
        stated.insert("plan".into(), text);
        TableResult::from_bytes(sums().to_bytes_with(params, &stated).unwrap())
            .and_then(|result| result.check(Some(&plan), None, None))
    };
    assert!(other(plan.sql()).is_ok());
    assert_eq!(code(other("select sum(count) from shop")), "table.other-result");
    assert_eq!(code(other("select stddev(count) from shop")), "table.unsupported");
    let mut stated = stated.clone();
    stated.insert("plan".into(), "{}".into());
    assert_eq!(code(read(sums(), &stated)), "table.plan");
    // Of listed rows there are as many ciphertexts as blocks, however many that are.
    let listing = Plan::new("select kind from shop", &schema).unwrap();
    let listed = run(&open(&directory).unwrap(), &listing).unwrap();
    let mut stated = metadata(listed.as_bytes());
    let found = Vec::<Ciphertext>::from_bytes_with(params, listed.as_bytes(), &options).unwrap().0;
    for rows in ["3000", "18446744073709551615"] {
        stated.insert("rows".into(), rows.into());
        assert_eq!(code(read(found.clone(), &stated)), "table.result", "{rows}");
    }
}

#[test]
fn columns_of_one_value_are_public() {
    let schema = everlevel_tables::Schema::from_json(
        r#"{"columns": [{"name": "kind", "type": "category", "values": ["tea"]},
                        {"name": "n", "type": "integer", "low": 4, "high": 4}]}"#,
    )
    .unwrap();
    let csv = "kind,n\ntea,4\ntea,4\n";
    let data = everlevel_tables::Data::from_csv(csv.as_bytes(), &schema).unwrap();
    let mut rng = everlevel::system_rng().unwrap();
    let key = TableKey::Secret(PARTIES.client.secret());
    let quiet = |_, _| Ok::<_, TablesError>(());
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("shop");
    EncryptedTable::create(&directory, Existing::Keep, key, (&schema, &data), &mut rng, quiet)
        .unwrap();
    let table = open(&directory).unwrap();
    assert_eq!(table.owner(), None);
    let plan =
        Plan::new("select kind, sum(n) as n, count(*) from t group by kind", &schema).unwrap();
    let answer = run(&table, &plan).unwrap().read(PARTIES.client.secret()).unwrap();
    assert_eq!(answer.to_csv().unwrap(), "kind,n,count(*)\ntea,8,2\n");
}
