//! Encrypted tables on the command line: every role a process of its own.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{keys_in, run_in as run, success_in as success};

const SET: &str = "insecure_bgv-65537-n11";

pub(crate) fn json(directory: &Path, args: &[&str]) -> Value {
    serde_json::from_str(&success(directory, &[args, &["--json"]].concat())).unwrap()
}

/// What the program refuses with exit code 2.
pub(crate) fn refused(directory: &Path, args: &[&str], code: &str) -> String {
    let out = run(directory, args);
    let why = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(2), "{args:?}: {why}");
    assert!(why.contains(&format!("[{code}]")), "{args:?}: {why}");
    assert_eq!(why.trim_end().lines().count(), 1, "{why}");
    why
}

const STAYS: &str = "ward,days,cost,admitted,surgery,name
north,3,1200.50,2025-01-30,true,Ada
south,14,9034.00,2025-03-01,false,Bob
north,1,310.25,2025-03-02,false,Cid
west,7,4400.00,2024-12-31,true,Dan
south,2,99.99,2025-02-28,true,Eve
";
const QUERY: &str = "select ward, count(*) as stays, sum(cost) as cost, avg(days) as days \
                        from stays where admitted >= date '2025-01-01' group by ward order by ward";
const ANSWER: &str = "ward,stays,cost,days\nnorth,2,1510.75,2.000000\nsouth,2,9133.99,8.000000\n";

#[test]
fn a_hospital_a_cloud_and_an_analyst() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    fs::write(here.join("stays.csv"), STAYS).unwrap();
    success(here, &["keygen", "--params", SET, "--out", "keys"]);
    keys_in(here, SET, "others");

    // The hospital.
    let infer = ["table", "schema", "infer", "--in", "stays.csv", "--out", "stays.json"];
    let told = success(here, &infer);
    assert!(told.contains("public"), "{told}");
    assert!(told.contains("cost: a number from 0.00 to 10485.75"), "{told}");
    refused(here, &infer, "wire.exists");
    let encrypt = ["table", "encrypt", "--schema", "stays.json", "--in", "stays.csv"];
    let encrypt = |key: &'static str, out: &'static str| {
        [&encrypt[..], &["--key", key, "--out", out]].concat()
    };
    let made = json(here, &encrypt("keys/public.key", "stays"));
    assert_eq!((&made["rows"], &made["blocks"]), (&5.into(), &1.into()));
    refused(here, &encrypt("keys/public.key", "stays"), "wire.exists");
    success(here, &[&encrypt("keys/secret.key", "again")[..], &["--force"]].concat());
    success(here, &[&encrypt("keys/secret.key", "again")[..], &["--force"]].concat());
    let looked = json(here, &["table", "inspect", "stays"]);
    assert_eq!(looked["table"], made["table"]);

    // The analyst, who has no key.
    let ask = ["table", "ask", "--schema", "stays/schema.json"];
    success(here, &[&ask[..], &[QUERY, "--out", "q.plan"]].concat());
    let no = [&ask[..], &["select stddev(cost) from stays", "--out", "no.plan"]].concat();
    refused(here, &no, "table.unsupported");
    let mistyped = [&ask[..], &["select sum(cots) from stays", "--out", "no.plan"]].concat();
    let why = refused(here, &mistyped, "table.name");
    assert!(why.contains(": did you mean cost?"), "{why}");
    assert!(!here.join("no.plan").exists());
    let explained = json(
        here,
        &[
            "table",
            "explain",
            "--plan",
            "q.plan",
            "--params",
            "insecure_bgv-65537-n11",
            "--rows",
            "5000",
        ],
    );
    assert_eq!(explained["blocks"], 3);
    let read: Vec<_> = ["ward", "days", "cost", "admitted"].map(Value::from).to_vec();
    assert_eq!(explained["columns_read"], Value::from(read));
    assert!(explained["cost"]["products"].as_u64().unwrap() > 20, "{explained}");

    // The cloud.
    let serve = |table: &'static str, keys: &'static str, out: &'static str| {
        let run = ["table", "run", "--table", table, "--server-keys", keys];
        [&run[..], &["--plan", "q.plan", "--out", out]].concat()
    };
    success(here, &serve("stays", "keys/server.keys", "q.result"));
    refused(here, &serve("stays", "others/server.keys", "no.result"), "scheme.wrong-key");
    refused(here, &serve("nowhere", "keys/server.keys", "no.result"), "table.files");
    assert!(!here.join("no.result").exists());

    // Who has the secret key.
    let read = |key: &'static str| ["table", "read", "--key", key, "--in", "q.result"];
    let id = made["table"].as_str().unwrap();
    let all = ["--plan", "q.plan", "--table-id", id, "--out", "answer.csv"];
    success(here, &[&read("keys/secret.key")[..], &all].concat());
    assert_eq!(fs::read_to_string(here.join("answer.csv")).unwrap(), ANSWER);
    assert_eq!(success(here, &read("keys/secret.key")), ANSWER);
    let answer = json(here, &read("keys/secret.key"));
    assert_eq!(answer["rows"][1][2], "9133.99");
    assert_eq!(answer["types"][2]["scale"], 2);
    refused(here, &read("others/secret.key"), "scheme.wrong-key");

    // Another table of the schema has plans of the same bytes, but another id.
    let other = ["table", "ask", "--schema", "again/schema.json", QUERY, "--out", "again.plan"];
    success(here, &other);
    let plan = |name: &str| fs::read(here.join(name)).unwrap();
    assert_eq!(plan("again.plan"), plan("q.plan"));
    let again = json(here, &["table", "inspect", "again"]);
    let again = again["table"].as_str().unwrap();
    let other = ["--table-id", again];
    refused(here, &[&read("keys/secret.key")[..], &other].concat(), "table.other-result");
    let query = "select count(*) from stays";
    success(here, &[&ask[..], &[query, "--out", "other.plan"]].concat());
    let other = ["--plan", "other.plan"];
    refused(here, &[&read("keys/secret.key")[..], &other].concat(), "table.other-result");

    // A schema with one more day is another one.
    let text = fs::read_to_string(here.join("stays.json")).unwrap();
    fs::write(here.join("wider.json"), text.replace("\"high\":15", "\"high\":16")).unwrap();
    let wider = ["table", "ask", "--schema", "wider.json", QUERY, "--out", "q.plan", "--force"];
    success(here, &wider);
    refused(here, &serve("stays", "keys/server.keys", "no.result"), "table.other-schema");

    // Files of other kinds.
    refused(here, &["table", "inspect", "stays.csv"], "table.plan");
    refused(here, &["table", "inspect", "keys/server.keys"], "table.result");
    refused(
        here,
        &["table", "read", "--key", "keys/secret.key", "--in", "q.plan"],
        "wire.not-ours",
    );
    let cell = STAYS.replace("14", "3000");
    fs::write(here.join("stays.csv"), cell).unwrap();
    refused(here, &encrypt("keys/public.key", "new"), "table.value");
    assert!(!here.join("new").exists());
}

/// The asker has the keys, the server the table, and neither sees the other's.
#[test]
fn a_query_on_a_table_that_the_server_knows() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    fs::write(here.join("stays.csv"), STAYS).unwrap();
    success(here, &["table", "schema", "infer", "--in", "stays.csv", "--out", "stays.json"]);
    let ask = |query: &'static str, out: &'static str| {
        success(here, &["table", "ask", "--schema", "stays.json", query, "--out", out]);
    };
    ask("select ward, days from stays where cost = :cost", "q.plan");
    ask("select count(*) from stays", "open.plan");
    let keygen = ["keygen", "--params", "insecure_bgv-65537-n11", "--out", "keys"];
    success(here, &[&keygen[..], &["--plan", "q.plan", "--rows", "5"]].concat());
    let bind = ["table", "bind", "--key", "keys/public.key", "--plan", "q.plan", "cost=9034.00"];
    success(here, &[&bind[..], &["--out", "q.constants"]].concat());
    let run = |more: &[&'static str]| {
        let run = ["table", "run", "--server-keys", "keys/server.keys", "--out", "q.result"];
        [&run[..], more].concat()
    };
    let asked = ["--plan", "q.plan", "--constants", "q.constants", "--plain", "stays.csv"];
    let told = json(here, &run(&asked));
    assert_eq!((&told["rows"], &told["refreshes"]), (&5.into(), &0.into()));
    let read = ["table", "read", "--key", "keys/secret.key", "--in", "q.result"];
    let read = [&read[..], &["--plan", "q.plan", "--constants", "q.constants"]].concat();
    assert_eq!(success(here, &read), "ward,days\nsouth,14\n");

    // Another schema than what was published, nothing that is hidden, no table or two.
    fs::remove_file(here.join("q.result")).unwrap();
    let text = fs::read_to_string(here.join("stays.json")).unwrap();
    fs::write(here.join("wider.json"), text.replace("\"high\":15", "\"high\":16")).unwrap();
    let published = ["--schema", "wider.json"];
    refused(here, &run(&[&asked[..], &published].concat()), "table.other-schema");
    refused(here, &run(&["--plan", "open.plan", "--plain", "stays.csv"]), "table.constants");
    refused(here, &run(&["--plan", "q.plan", "--plain", "stays.csv"]), "table.constants");
    refused(here, &run(&["--plan", "q.plan", "--constants", "q.constants"]), "cli.usage");
    refused(here, &run(&[&asked[..], &["--table", "stays"]].concat()), "cli.usage");
    let short = STAYS.replace("4400.00", "");
    fs::write(here.join("stays.csv"), short).unwrap();
    refused(here, &run(&asked), "table.value");
    assert!(!here.join("q.result").exists());
}

/// The owner changes a table; a copy of it needs all files that were written.
#[test]
fn a_table_that_is_changed() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    fs::write(here.join("stays.csv"), STAYS).unwrap();
    keys_in(here, SET, "keys");
    keys_in(here, SET, "others");
    success(here, &["table", "schema", "infer", "--in", "stays.csv", "--out", "stays.json"]);
    let encrypt = ["table", "encrypt", "--schema", "stays.json", "--in", "stays.csv"];
    success(here, &[&encrypt[..], &["--key", "keys/public.key", "--out", "stays"]].concat());
    let old = json(here, &["table", "inspect", "stays"]);
    let change = |more: &[&'static str]| {
        let change = ["table", "change", "--table", "stays", "--key", "keys/secret.key"];
        [&change[..], more].concat()
    };
    let more = "admitted,ward,surgery,cost,days,name\n2025-04-01,west,true,1,2,Eve\n";
    fs::write(here.join("more.csv"), more).unwrap();
    let told = json(here, &change(&["--insert", "more.csv"]));
    assert_eq!((&told["rows_changed"], &told["rows"]), (&1.into(), &6.into()));
    assert_ne!(told["table"], old["table"]);
    let told = json(here, &change(&["update stays set cost = cost + 0.50 where days = 2"]));
    assert_eq!(told["rows_changed"], 2);
    let written: Vec<_> = told["written"].as_array().unwrap().iter().collect();
    assert_eq!(written, ["000000-0002.columns", "files.json"]);
    let told = success(here, &change(&["delete from stays where ward = 'north'"]));
    assert!(told.contains("2 rows changed; 4 rows in 1 block"), "{told}");

    let decrypt = ["table", "decrypt", "--table", "stays", "--out", "clear.csv", "--key"];
    refused(here, &[&decrypt[..], &["others/secret.key"]].concat(), "scheme.wrong-key");
    success(here, &[&decrypt[..], &["keys/secret.key"]].concat());
    let clear = "ward,days,cost,admitted,surgery,name\nsouth,14,9034.00,2025-03-01,false,Bob\n\
                 west,7,4400.00,2024-12-31,true,Dan\nsouth,2,100.49,2025-02-28,true,Eve\n\
                 west,2,1.50,2025-04-01,true,Eve\n";
    assert_eq!(fs::read_to_string(here.join("clear.csv")).unwrap(), clear);
    refused(here, &[&decrypt[..], &["keys/secret.key"]].concat(), "wire.exists");

    // The cloud has the changed table, and answers from it.
    success(here, &["table", "ask", "--schema", "stays/schema.json", QUERY, "--out", "q.plan"]);
    let run = ["table", "run", "--table", "stays", "--server-keys", "keys/server.keys"];
    success(here, &[&run[..], &["--plan", "q.plan", "--out", "q.result"]].concat());
    let read = ["table", "read", "--key", "keys/secret.key", "--in", "q.result"];
    let answer = "ward,stays,cost,days\nsouth,2,9134.49,8.000000\nwest,1,1.50,2.000000\n";
    assert_eq!(success(here, &read), answer);
    let id = old["table"].as_str().unwrap();
    refused(here, &[&read[..], &["--table-id", id]].concat(), "table.other-result");

    refused(here, &change(&["update stays set days = days + 10"]), "table.change");
    refused(here, &change(&["delete from stays"]), "table.data");
    refused(here, &change(&["drop table stays"]), "table.unsupported");
    refused(here, &change(&[]), "cli.usage");
    refused(
        here,
        &change(&["delete from stays where days = 2", "--insert", "more.csv"]),
        "cli.usage",
    );
    let other = ["table", "change", "--table", "stays", "--key", "others/secret.key"];
    let other = [&other[..], &["delete from stays where days = 2"]].concat();
    refused(here, &other, "scheme.wrong-key");
}

const DAYS: &str = r#"{"columns": [
    {"name": "ward", "type": "category", "values": ["north", "south", "west"]},
    {"name": "days", "type": "integer", "low": 0, "high": 14, "nullable": true},
    {"name": "name", "type": "text", "bytes": 20}
]}"#;

/// A file that PyArrow wrote, and an answer as one, if the program was built for it.
#[test]
fn parquet_files() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parquet/none.parquet");
    let file = file.to_str().unwrap();
    fs::write(here.join("days.json"), DAYS).unwrap();
    keys_in(here, SET, "keys");
    let key = ["--key", "keys/secret.key"];
    let encrypt = ["table", "encrypt", "--schema", "days.json", "--in", file, "--out", "t"];
    let encrypt = [&encrypt[..], &key].concat();
    if cfg!(not(feature = "parquet")) {
        let why = refused(here, &encrypt, "table.unsupported");
        assert!(why.contains("CSV") && !here.join("t").exists(), "{why}");
        let read = ["table", "read", "--in", "q.result", "--out", "answer.parquet"];
        refused(here, &[&read[..], &key].concat(), "table.unsupported");
        let decrypt = ["table", "decrypt", "--table", "t", "--out", "t.parquet"];
        refused(here, &[&decrypt[..], &key].concat(), "table.unsupported");
        return;
    }
    assert_eq!(json(here, &encrypt)["rows"], 300);
    let decrypt = ["table", "decrypt", "--table", "t", "--out", "t.csv"];
    success(here, &[&decrypt[..], &key].concat());
    let found = fs::read_to_string(here.join("t.csv")).unwrap();
    let line = |i: usize| {
        let days = if i % 7 == 3 { String::new() } else { (i % 15).to_string() };
        format!("{},{days},name {i} é\n", ["north", "south", "west"][i % 3])
    };
    let expected = "ward,days,name\n".to_string() + &(0..300).map(line).collect::<String>();
    assert_eq!(found, expected);
    let decrypt = ["table", "decrypt", "--table", "t", "--out", "t.parquet"];
    success(here, &[&decrypt[..], &key].concat());
    let again = ["table", "encrypt", "--schema", "days.json", "--in", "t.parquet", "--out", "u"];
    success(here, &[&again[..], &key].concat());
    let decrypt = ["table", "decrypt", "--table", "u", "--out", "u.csv"];
    success(here, &[&decrypt[..], &key].concat());
    assert_eq!(fs::read_to_string(here.join("u.csv")).unwrap(), expected);
    let infer = ["table", "schema", "infer", "--in", file, "--out", "all.json"];
    let columns = json(here, &infer)["columns"].as_array().unwrap().len();
    assert_eq!(columns, 11);

    let query = "select ward, days from t where days < 4";
    let ask = ["table", "ask", "--schema", "t/schema.json", query, "--out", "q.plan"];
    success(here, &ask);
    let run = ["table", "run", "--table", "t", "--server-keys", "keys/server.keys"];
    success(here, &[&run[..], &["--plan", "q.plan", "--out", "q.result"]].concat());
    let read = [&["table", "read", "--in", "q.result"][..], &key].concat();
    refused(here, &[&read[..], &["--format", "parquet"]].concat(), "cli.usage");
    success(here, &[&read[..], &["--out", "answer.parquet"]].concat());
    let infer = ["table", "schema", "infer", "--in", "answer.parquet", "--out", "answer.json"];
    success(here, &infer);
    let encrypt = ["table", "encrypt", "--schema", "answer.json", "--in", "answer.parquet"];
    success(here, &[&encrypt[..], &["--out", "answer"], &key].concat());
    let decrypt = ["table", "decrypt", "--table", "answer", "--out", "answer.csv"];
    success(here, &[&decrypt[..], &key].concat());
    assert_eq!(fs::read_to_string(here.join("answer.csv")).unwrap(), success(here, &read));
}

/// Texts on the command line, and a table that is read twice.
#[test]
fn texts_and_files_that_are_wrong_at_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    fs::write(here.join("days.json"), DAYS).unwrap();
    keys_in(here, SET, "keys");
    let line = |i: usize| format!("{},{},name {i}\n", ["north", "west"][i % 2], i % 15);
    let rows: String = (0..2_100).map(line).collect();
    fs::write(here.join("t.csv"), format!("ward,days,name\n{rows}")).unwrap();
    fs::write(here.join("u.csv"), format!("ward,days,name\n{rows}east,3,x\n")).unwrap();
    let key = ["--key", "keys/secret.key", "--schema", "days.json"];
    let encrypt = |from: &'static str, to: &'static str| {
        [&["table", "encrypt", "--in", from, "--out", to][..], &key].concat()
    };
    let why = refused(here, &encrypt("u.csv", "u"), "table.value");
    assert!(why.contains("line 2102") && why.contains("u.csv"), "{why}");
    assert!(!here.join("u").exists());
    refused(here, &encrypt("none.csv", "u"), "wire.io");
    assert_eq!(json(here, &encrypt("t.csv", "t"))["columns"], 3);
    let query = "select ward, name from t where name in ('name 7', 'name 2099')";
    let ask = ["table", "ask", "--schema", "t/schema.json", query, "--out", "q.plan"];
    success(here, &ask);
    let keys = ["keys", "server", "--key", "keys/secret.key", "--plan", "q.plan"];
    success(here, &[&keys[..], &["--rows", "2100", "--out", "few.keys"]].concat());
    let run = ["table", "run", "--table", "t", "--server-keys", "few.keys", "--plan", "q.plan"];
    success(here, &[&run[..], &["--out", "q.result"]].concat());
    let read = ["table", "read", "--key", "keys/secret.key", "--in", "q.result"];
    assert_eq!(success(here, &read), "ward,name\nwest,name 7\nwest,name 2099\n");
}

/// Keys, and the table of stays encrypted with the secret one.
pub(crate) fn encrypted_stays(here: &Path) {
    fs::write(here.join("stays.csv"), STAYS).unwrap();
    keys_in(here, SET, "keys");
    success(here, &["table", "schema", "infer", "--in", "stays.csv", "--out", "stays.json"]);
    let encrypt = ["table", "encrypt", "--schema", "stays.json", "--in", "stays.csv"];
    success(here, &[&encrypt[..], &["--key", "keys/secret.key", "--out", "stays"]].concat());
}

/// A value in rounds: the asker keeps the search in a directory, into which results are put.
#[test]
fn a_value_that_is_searched_for() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    encrypted_stays(here);

    let query = "select max(days) as most from stays where ward = :ward";
    let start = ["table", "search", "start", "--schema", "stays/schema.json", query];
    let start = [&start[..], &["--out", "search"]].concat();
    refused(here, &start, "table.constants");
    refused(here, &[&start[..], &["ward=east"]].concat(), "table.constants");
    assert!(!here.join("search").exists());
    // 16 values are two digits to the base 4.
    assert_eq!(json(here, &[&start[..], &["ward=north"]].concat())["rounds"], 2);
    refused(here, &[&start[..], &["ward=north"]].concat(), "wire.exists");

    let next = ["table", "search", "next", "--key", "keys/secret.key", "search"];
    let told = json(here, &next);
    assert_eq!((&told["round"], &told["rounds"]), (&1.into(), &2.into()));
    assert_eq!(json(here, &next), told, "until the result is there");
    let run = |constants: &'static str, out: &'static str| {
        let run = ["table", "run", "--table", "stays", "--server-keys", "keys/server.keys"];
        let run = [&run[..], &["--plan", "search/rounds.plan", "--constants", constants]].concat();
        success(here, &[&run[..], &["--out", out]].concat());
    };
    run("search/1.constants", "search/1.result");
    assert_eq!(json(here, &next)["round"], 2);
    // The result of the round before.
    fs::copy(here.join("search/1.result"), here.join("search/2.result")).unwrap();
    refused(here, &next, "table.other-result");
    fs::remove_file(here.join("search/2.result")).unwrap();
    run("search/2.constants", "search/2.result");
    assert_eq!(success(here, &next), "most\n3\n");
    assert_eq!(json(here, &next)["rows"][0][0], "3");
    let other = ["--table-id", "00112233445566778899aabbccddeeff"];
    refused(here, &[&next[..], &other].concat(), "table.other-result");

    // Constants of the second round that do not follow from the first one.
    let state = here.join("search/search.json");
    let text = fs::read_to_string(&state).unwrap();
    let mut forged: Value = serde_json::from_str(&text).unwrap();
    forged["sent"][1] = forged["sent"][0].clone();
    fs::write(&state, forged.to_string()).unwrap();
    refused(here, &next, "table.result");
    refused(here, &["table", "search", "next", "--key", "keys/secret.key", "keys"], "cli.usage");
}
