//! Owner, server and reader, who share nothing but files; and what becomes of files that were
//! mixed, cut or made up.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use everlevel::files::{Existing, OpenOptions};
use everlevel::{Client, KeyPlanner, OptIn, Params, PublicKey, Server};
use everlevel_tables::{
    Answer, Data, EncryptedTable, Plan, Schema, TableKey, TableResult, TablesError,
};

use crate::shop;

const QUERY: &str = "select kind, count(*) as n, sum(price * count) as value, avg(price) \
                        from shop where sold >= date '1994-01-01' and discount <= 0.06 \
                        group by kind order by kind";

pub(crate) struct Parties {
    pub(crate) client: Client,
    pub(crate) server: Server,
}

fn parties() -> Parties {
    let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
    let mut rng = everlevel::system_rng().unwrap();
    let client = Client::new(&params, &mut rng);
    let planner = KeyPlanner::new(&params).unwrap();
    let keys = everlevel::general_keys(&params).unwrap();
    let server = client.server_for(&keys, planner.bootstrap_plan(), &mut rng, |_, _| ()).unwrap();
    Parties { client, server }
}

pub(crate) static PARTIES: LazyLock<Parties> = LazyLock::new(parties);
pub(crate) static OTHERS: LazyLock<Parties> = LazyLock::new(parties);

fn options() -> OpenOptions {
    OpenOptions::default().accepting(OptIn::InsecureResearch)
}

pub(crate) fn quiet(_: usize, _: usize) -> Result<(), TablesError> {
    Ok(())
}

/// Rows of the shop, again and again: 5,000 are three blocks.
pub(crate) fn rows(count: usize) -> (Schema, Data) {
    let (schema, data) = shop();
    let columns = (0..schema.fields().len())
        .map(|place| (0..count).map(|i| data.column(place)[i % data.rows()]).collect());
    let data = Data::from_columns(columns.collect(), &schema).unwrap();
    (schema, data)
}

pub(crate) fn encrypted(directory: &Path, count: usize) -> (Schema, Data) {
    let (schema, data) = rows(count);
    let mut rng = everlevel::system_rng().unwrap();
    let key = TableKey::Secret(PARTIES.client.secret());
    EncryptedTable::create(directory, Existing::Keep, key, (&schema, &data), &mut rng, quiet)
        .unwrap();
    (schema, data)
}

pub(crate) fn open(directory: &Path) -> Result<EncryptedTable, TablesError> {
    EncryptedTable::open(directory, &options())
}

pub(crate) fn run(table: &EncryptedTable, plan: &Plan) -> Result<TableResult, TablesError> {
    table.run(&PARTIES.server, plan, None, quiet)
}

/// The code of what was refused.
pub(crate) fn code<T>(result: Result<T, TablesError>) -> &'static str {
    result.err().expect("it is refused").code()
}

fn copied(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// The column `paid` of a block.
fn block(directory: &Path, number: usize) -> PathBuf {
    directory.join(format!("{number:06}-0004.columns"))
}

#[test]
fn three_parties_share_files() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("shop");
    let (schema, data) = encrypted(&directory, 5_000);

    // The analyst has the schema.
    let told = fs::read_to_string(directory.join("schema.json")).unwrap();
    let plan = Plan::new(QUERY, &Schema::from_json(&told).unwrap()).unwrap();
    let sent = plan.to_json().unwrap();

    // The server has the table, its keys and the plan.
    let table = open(&directory).unwrap();
    assert_eq!((table.rows(), table.blocks()), (5_000, 3));
    assert_eq!(table.owner(), Some(PARTIES.client.secret().id()));
    let received = Plan::from_json(&sent).unwrap();
    let mut steps = Vec::new();
    let step = |done, of| {
        steps.push((done, of));
        Ok::<_, TablesError>(())
    };
    let result = table.run(&PARTIES.server, &received, None, step).unwrap();
    assert_eq!(steps, [(1, 3), (2, 3), (3, 3)]);

    // The reader has the secret key.
    let back = TableResult::from_bytes(result.as_bytes().to_vec()).unwrap();
    back.check(Some(&plan), Some(table.id()), None).unwrap();
    let answer = back.read(PARTIES.client.secret()).unwrap();
    let expected = Answer::plain(plan.query(), &schema, &data).unwrap();
    assert_eq!(answer, expected);
    assert!(answer.rows.len() > 2, "{answer:?}");
}

#[test]
fn sums_that_are_zero_whatever_the_data_have_their_place() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("shop");
    let (schema, data) = encrypted(&directory, 9);
    let table = open(&directory).unwrap();
    for sql in [
        "select count(*), sum(count) from shop where count > 500",
        "select count(*) as n, count(*) filter (where price < 0) as none from shop",
        "select count(*) from shop where not (paid or not paid)",
    ] {
        let plan = Plan::new(sql, &schema).unwrap();
        let answer = run(&table, &plan).unwrap().read(PARTIES.client.secret()).unwrap();
        assert_eq!(answer, Answer::plain(plan.query(), &schema, &data).unwrap(), "{sql}");
    }
}

#[test]
fn whoever_has_the_public_key_encrypts() {
    let (schema, data) = rows(7);
    let mut rng = everlevel::system_rng().unwrap();
    let public = PublicKey::generate(PARTIES.client.secret(), &mut rng);
    let key = TableKey::Public(&public);
    let table = EncryptedTable::encrypt(key, &schema, &data, &mut rng, quiet).unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("shop");
    table.save(&directory, Existing::Keep).unwrap();
    let plan = Plan::new("select sum(price) from shop where paid", &schema).unwrap();
    for table in [table, open(&directory).unwrap()] {
        let answer = run(&table, &plan).unwrap().read(PARTIES.client.secret()).unwrap();
        assert_eq!(answer.to_csv().unwrap(), "sum(price)\n267.54\n");
    }
}

#[test]
fn what_others_see_does_not_depend_on_the_data() {
    let temporary = tempfile::tempdir().unwrap();
    let (schema, data) = rows(300);
    let low = |place: usize| vec![schema.fields()[place].bounds().0; 300];
    let lowest = (0..schema.fields().len()).map(low).collect();
    let lowest = Data::from_columns(lowest, &schema).unwrap();
    let key = TableKey::Secret(PARTIES.client.secret());
    let mut sizes = Vec::new();
    for (name, data) in [("a", &data), ("b", &lowest)] {
        let directory = temporary.path().join(name);
        let mut rng = everlevel::system_rng().unwrap();
        let keep = Existing::Keep;
        EncryptedTable::create(&directory, keep, key, (&schema, data), &mut rng, quiet).unwrap();
        let table = open(&directory).unwrap();
        let plan = Plan::new(QUERY, table.schema()).unwrap();
        let result = run(&table, &plan).unwrap();
        let mut files: Vec<_> = fs::read_dir(&directory)
            .unwrap()
            .map(|e| e.unwrap())
            .map(|e| (e.file_name(), e.metadata().unwrap().len()))
            .collect();
        files.sort();
        sizes.push((files, plan.to_json().unwrap(), result.as_bytes().len()));
    }
    assert_eq!(sizes[0], sizes[1]);
}

#[test]
fn files_of_two_tables_are_not_mixed() {
    let temporary = tempfile::tempdir().unwrap();
    let at = |name: &str| temporary.path().join(name);
    let (schema, _) = encrypted(&at("a"), 5_000);
    encrypted(&at("b"), 5_000);
    let plan = Plan::new("select count(*) from shop where paid", &schema).unwrap();

    // A block of another table, one in the place of another, one too few, one too many.
    let changed = |name: &str, change: &dyn Fn(&Path)| {
        copied(&at("a"), &at(name));
        change(&at(name));
        open(&at(name)).and_then(|table| run(&table, &plan))
    };
    let other = changed("c", &|d| {
        fs::copy(block(&at("b"), 1), block(d, 1)).unwrap();
    });
    assert_eq!(code(other), "table.block");
    let exchanged = changed("d", &|d| {
        fs::copy(block(&at("a"), 0), block(d, 1)).unwrap();
    });
    assert_eq!(code(exchanged), "table.block");
    assert_eq!(code(changed("e", &|d| fs::remove_file(block(d, 2)).unwrap())), "wire.io");
    assert_eq!(code(changed("f", &|d| fs::remove_file(block(d, 0)).unwrap())), "wire.io");
    for more in ["000003-0000.columns", "000000-0006.columns"] {
        let more = changed(more, &|d| {
            fs::copy(block(&at("a"), 2), d.join(more)).unwrap();
        });
        assert_eq!(code(more), "table.files");
    }
    let column = changed("g", &|d| {
        fs::copy(d.join("000001-0000.columns"), block(d, 1)).unwrap();
    });
    assert_eq!(code(column), "table.block");
    // A schema that is not the one that it was encrypted with.
    let narrower = changed("h", &|d| {
        let text = fs::read_to_string(d.join("schema.json")).unwrap();
        fs::write(d.join("schema.json"), text.replace("999.99", "999.98")).unwrap();
    });
    assert_eq!(code(narrower), "table.block");
    assert_eq!(code(changed("i", &|d| fs::remove_file(d.join("schema.json")).unwrap())), "wire.io");
    // What is exchanged after the table was opened is noticed as well.
    copied(&at("a"), &at("j"));
    let table = open(&at("j")).unwrap();
    fs::copy(block(&at("b"), 2), block(&at("j"), 2)).unwrap();
    assert_eq!(code(run(&table, &plan)), "table.block");
    // Another object of the format.
    let result = changed("k", &|d| {
        let result = run(&open(&at("a")).unwrap(), &plan).unwrap();
        fs::write(block(d, 0), result.as_bytes()).unwrap();
    });
    assert_eq!(code(result), "table.block");
    assert_eq!(code(open(&at("nowhere"))), "table.files");
}

#[test]
fn blocks_that_are_cut_or_changed() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("shop");
    let (schema, _) = encrypted(&directory, 20);
    let plan = Plan::new("select count(*) from shop where paid", &schema).unwrap();
    let whole = fs::read(block(&directory, 0)).unwrap();
    for length in [0, 1, 60, 200, 700, whole.len() / 2, whole.len() - 1] {
        fs::write(block(&directory, 0), &whole[..length]).unwrap();
        let found = code(open(&directory).and_then(|table| run(&table, &plan)));
        assert!(found.starts_with("wire."), "{length} bytes: {found}");
    }
    for place in (0..whole.len()).step_by(whole.len() / 40) {
        let mut bytes = whole.clone();
        bytes[place] ^= 4;
        fs::write(block(&directory, 0), &bytes).unwrap();
        let found = code(open(&directory).and_then(|table| run(&table, &plan)));
        assert!(found.starts_with("wire."), "byte {place}: {found}");
    }
    fs::write(block(&directory, 0), &whole).unwrap();
    assert!(run(&open(&directory).unwrap(), &plan).is_ok());
}

#[test]
fn keys_of_others() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("shop");
    let (schema, _) = encrypted(&directory, 20);
    let plan = Plan::new("select count(*) from shop where paid", &schema).unwrap();
    let table = open(&directory).unwrap();
    let other = table.run(&OTHERS.server, &plan, None, quiet);
    assert_eq!(code(other), "scheme.wrong-key");
    let result = run(&table, &plan).unwrap();
    assert_eq!(code(result.read(OTHERS.client.secret())), "scheme.wrong-key");
    // A key of another set is not just another key.
    let set = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap();
    let client = Client::new(&set, &mut everlevel::system_rng().unwrap());
    for refused in [
        result.read(client.secret()).map(|_| ()),
        table.decrypt(client.secret(), quiet).map(|_| ()),
    ] {
        let error = refused.unwrap_err();
        let told = error.to_string();
        assert_eq!(error.code(), "wire.other-params", "{told}");
        assert!(told.contains(set.name()) && told.contains("insecure_bgv-65537-n11"), "{told}");
    }
}

#[test]
fn plans_and_results_that_belong_elsewhere() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("shop");
    let (schema, _) = encrypted(&directory, 20);
    let text = schema.to_json().unwrap();
    let asked = |schema: &Schema| Plan::new("select count(*) from t where paid", schema).unwrap();
    let table = open(&directory).unwrap();
    for (from, to) in [
        ("999.99", "999.98"),
        ("\"name\":\"sold\"", "\"name\":\"bought\""),
        ("\"cake\"", "\"pie\""),
        ("{\"name\":\"count\"", "{\"name\":\"new\",\"type\":\"boolean\"},\n{\"name\":\"count\""),
    ] {
        let other = Schema::from_json(&text.replacen(from, to, 1)).unwrap();
        assert_ne!(other, schema, "{from}");
        let error = run(&table, &asked(&other)).err().unwrap();
        assert_eq!(error.code(), "table.other-schema", "{error}");
    }
    let plan = asked(&schema);
    let result = run(&table, &plan).unwrap();
    let other = Plan::new("select count(*) from t where not paid", &schema).unwrap();
    assert_eq!(code(result.check(Some(&other), None, None)), "table.other-result");
    let id = "00112233445566778899aabbccddeeff".parse().unwrap();
    assert_eq!(code(result.check(Some(&plan), Some(id), None)), "table.other-result");
    result.check(Some(&plan), Some(table.id()), None).unwrap();
    for bad in ["", "00", "00112233445566778899AABBCCDDEEFF", "+0112233445566778899aabbccddeeff"] {
        assert_eq!(code(bad.parse::<everlevel_tables::TableId>()), "table.files");
    }

    // Bytes of a result that were cut, changed, or are something else.
    let whole = result.as_bytes();
    let read = |bytes: &[u8]| {
        TableResult::from_bytes(bytes.to_vec())
            .and_then(|result| result.read(PARTIES.client.secret()))
    };
    assert!(read(whole).is_ok());
    for length in [0, 10, 100, whole.len() / 2, whole.len() - 1] {
        assert!(code(read(&whole[..length])).starts_with("wire."), "{length}");
    }
    for place in (0..whole.len()).step_by(whole.len() / 40) {
        let mut bytes = whole.to_vec();
        bytes[place] ^= 1;
        assert!(code(read(&bytes)).starts_with("wire."), "{place}");
    }
    assert_eq!(code(read(&fs::read(block(&directory, 0)).unwrap())), "table.result");
}

#[test]
fn directories_that_hold_something_else_are_kept() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("shop");
    let (schema, data) = encrypted(&directory, 20);
    let key = TableKey::Secret(PARTIES.client.secret());
    let again = |existing| {
        let mut rng = everlevel::system_rng().unwrap();
        EncryptedTable::create(&directory, existing, key, (&schema, &data), &mut rng, quiet)
    };
    let before = open(&directory).unwrap().id();
    assert_eq!(code(again(Existing::Keep)), "wire.exists");
    assert_eq!(open(&directory).unwrap().id(), before);
    assert_ne!(again(Existing::Replace).unwrap().id(), before);
    for name in ["thesis.txt", "income.columns"] {
        fs::write(directory.join(name), "years of work").unwrap();
        assert_eq!(code(again(Existing::Replace)), "wire.exists");
        fs::remove_file(directory.join(name)).unwrap();
    }

    // An interrupted encryption leaves nothing.
    let before = open(&directory).unwrap().id();
    let stop = |_, _| Err(TablesError::Data { problem: "enough".into() });
    let mut rng = everlevel::system_rng().unwrap();
    let replace = Existing::Replace;
    let stopped =
        EncryptedTable::create(&directory, replace, key, (&schema, &data), &mut rng, stop);
    assert_eq!(code(stopped), "table.data");
    assert_eq!(open(&directory).unwrap().id(), before);
    let names: Vec<_> = fs::read_dir(temporary.path()).unwrap().map(|e| e.unwrap()).collect();
    assert_eq!(names.len(), 1, "{names:?}");
}

#[test]
fn costs_are_those_of_the_run() {
    // A server that no other test computes on.
    let (schema, data) = rows(2_050);
    let mut rng = everlevel::system_rng().unwrap();
    let key = TableKey::Secret(OTHERS.client.secret());
    let table = EncryptedTable::encrypt(key, &schema, &data, &mut rng, quiet).unwrap();
    for sql in [QUERY, "select sum(price * count * discount) from shop where count > 3"] {
        let plan = Plan::new(sql, &schema).unwrap();
        let cost = plan.cost(table.params(), table.rows()).unwrap();
        let before = (OTHERS.server.evaluator().cost(), OTHERS.server.bootstraps());
        table.run(&OTHERS.server, &plan, None, quiet).unwrap();
        let products = OTHERS.server.evaluator().cost().products - before.0.products;
        // With keys at few levels a lift may start higher, or filter and masks stay apart.
        assert!((cost.products..=cost.products * 3 / 2).contains(&products), "{sql}");
        assert_eq!(table.blocks(), 2);
        assert_eq!(OTHERS.server.bootstraps() - before.1, cost.refreshes, "{sql}");
    }
}
