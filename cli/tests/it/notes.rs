//! What commands tell beside their results, and what the header of a file is enough to refuse.

use std::fs::File;
use std::process::{Command, Output};

use serde_json::Value;

use crate::common::{Place, keys_in, run_in};

const SET: &str = "insecure_bgv-65537-n11";
const SCHEMA: &str = r#"{"columns": [
    {"name": "weight", "type": "integer", "low": 0, "high": 15},
    {"name": "zone", "type": "category", "values": ["north", "south"]}
]}"#;
const QUERY: &str = "select count(*) as n from parcels where zone = 'nrth'";
const NOTE: &str =
    "zone = 'nrth' holds for no row: zone is one of north, south: did you mean north?";

/// A directory with a table and its schema.
fn parcels() -> Place {
    let place = Place::empty();
    place.write("parcels.csv", "weight,zone\n3,north\n14,south\n2,north\n");
    place.write("schema.json", SCHEMA);
    place
}

fn run(place: &Place, args: &[&str]) -> Output {
    let out = run_in(place.path(), args);
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    out
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn queries_tell_their_notes_and_times() {
    let place = parcels();
    let query = ["table", "query", "--params", SET, "--schema", "schema.json"];
    let query = [&query[..], &["--in", "parcels.csv", QUERY]].concat();
    let out = run(&place, &query);
    assert_eq!(text(out.stdout), "n\n0\n");
    assert_eq!(text(out.stderr), format!("note: {NOTE}\n"));

    let words: Vec<String> = query.iter().map(|word| word.to_string()).collect();
    let (told, progress) = place.told_with_progress(&words);
    assert_eq!((&told["notes"], &told["answer"]), (&[NOTE].into(), &[["0"]].into()));
    assert!(progress.lines().any(is_times), "{progress}");
}

/// Whether a line states the seconds of the three parts of a query.
fn is_times(line: &str) -> bool {
    let names: Vec<&str> = line.split(", ").filter_map(|part| part.split(' ').next()).collect();
    let seconds = |part: &str| part.split(' ').nth(1).is_some_and(|s| s.parse::<f64>().is_ok());
    names == ["keys", "encryption", "query"]
        && line.split(", ").all(|part| part.ends_with(" s") && seconds(part))
}

#[test]
fn plans_and_changes_tell_their_notes() {
    let place = parcels();
    let ask = ["table", "ask", "--schema", "schema.json", QUERY, "--out", "q.plan"];
    assert_eq!(text(run(&place, &ask).stderr), format!("note: {NOTE}\n"));
    let explain = ["table", "explain", "--plan", "q.plan", "--params", SET];
    let told = text(run(&place, &explain).stdout);
    let assumed = "note: the number of rows is not known: this is for one block of 2048 rows; \
                   --rows N explains the plan for a table of N rows\n";
    assert!(told.contains(assumed) && told.contains(&format!("note: {NOTE}\n")), "{told}");
    let known = text(run(&place, &[&explain[..], &["--rows", "3"]].concat()).stdout);
    assert!(!known.contains("not known") && known.contains(NOTE), "{known}");
    let json = text(run(&place, &[&explain[..], &["--rows", "3", "--json"]].concat()).stdout);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["notes"], Value::from([NOTE]));

    keys_in(place.path(), SET, "keys");
    let encrypt = ["table", "encrypt", "--schema", "schema.json", "--in", "parcels.csv"];
    run(&place, &[&encrypt[..], &["--key", "keys/secret.key", "--out", "t"]].concat());
    let change = ["table", "change", "--table", "t", "--key", "keys/secret.key"];
    let out = run(&place, &[&change[..], &["delete from t where zone = 'nrth'"]].concat());
    assert_eq!(text(out.stderr), format!("note: {NOTE}\n"));
}

/// Nobody may read them any more, or the disk may be full that they are written to.
#[cfg(target_os = "linux")]
#[test]
fn notes_that_cannot_be_written_end_no_command() {
    let place = parcels();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let ask = ["table", "ask", "--schema", "schema.json", QUERY, "--out", "q.plan"];
    let program = Command::new(env!("CARGO_BIN_EXE_everlevel"))
        .args(ask)
        .current_dir(place.path())
        .stderr(full)
        .output();
    let out = program.unwrap();
    assert_eq!(out.status.code(), Some(0));
    assert!(text(out.stdout).starts_with("plan "));
}

/// Indexes that a schema gets, and those from which a query would gain.
#[test]
fn indexes_are_inferred_and_advised() {
    let place = Place::empty();
    place.write("parcels.csv", "load,zone\n3,north\n1400,south\n2,north\n");
    let told = |words: &[&str]| text(run(&place, words).stdout);
    let infer = ["table", "schema", "infer", "--in", "parcels.csv", "--out"];
    let plain = told(&[&infer[..], &["plain.json"]].concat());
    assert!(plain.starts_with("load: an integer from 0 to 4095\nzone: "), "{plain}");
    let indexed = told(&[&infer[..], &["indexed.json", "--index", "Load"]].concat());
    let line = "load: an integer from 0 to 4095, with an index\n";
    assert!(indexed.starts_with(line), "{indexed}");
    for (column, code, why) in [
        ("laod", "table.name", "did you mean load?"),
        ("zone", "table.schema", "columns of 3 to 2^32 values"),
    ] {
        let infer = format!("table schema infer --in parcels.csv --out no.json --index {column}");
        let found = place.refused(&infer, code);
        assert!(found.contains(why), "{found}");
    }

    let query = "select count(*) as n from parcels where load between 3 and 900";
    let explained = ["plain", "indexed"].map(|name| {
        let (schema, plan) = (format!("{name}.json"), format!("{name}.plan"));
        told(&["table", "ask", "--schema", &schema, query, "--out", &plan]);
        let explain = ["table", "explain", "--plan", plan.as_str(), "--params", SET, "--rows", "3"];
        let json = told(&[&explain[..], &["--json"]].concat());
        (told(&explain), serde_json::from_str::<Value>(&json).unwrap())
    });
    let [(plain, plain_json), (indexed, indexed_json)] = explained;
    let switches = |found: &Value| found["cost"]["key_switches"].as_u64().unwrap();
    let note = format!(
        "with an index on load (\"index\": true in the schema) the query takes {} key switches \
         instead of {}, and the table about ",
        switches(&indexed_json),
        switches(&plain_json)
    );
    assert!(plain_json["notes"][0].as_str().unwrap().starts_with(&note), "{plain_json}");
    assert!(plain.contains(&format!("\nnote: {note}")), "{plain}");
    assert!(plain.contains("\nit reads the columns: load\n"), "{plain}");
    assert!(indexed.contains("\nit reads the columns: load with its index\n"), "{indexed}");
    assert_eq!(indexed_json["notes"], Value::Array(Vec::new()));
    assert_eq!(indexed_json["columns_read"], Value::from(["load"]));
    assert_eq!(indexed_json["indexes_read"], Value::from(["load"]));
    let shown = told(&["table", "inspect", "indexed.plan"]);
    let line = "column load: an integer from 0 to 4095, with an index of 45 ciphertexts for each \
                block\n";
    assert!(shown.contains(line), "{shown}");
}

/// A key of another parameter set is not just another key.
#[test]
fn results_of_another_set_name_both() {
    let place = parcels();
    keys_in(place.path(), SET, "keys");
    keys_in(place.path(), "insecure_bgv-257-n8", "other");
    let encrypt = ["table", "encrypt", "--schema", "schema.json", "--in", "parcels.csv"];
    run(&place, &[&encrypt[..], &["--key", "keys/secret.key", "--out", "t"]].concat());
    run(&place, &["table", "ask", "--schema", "schema.json", QUERY, "--out", "q.plan"]);
    let compute = ["table", "run", "--table", "t", "--server-keys", "keys/server.keys"];
    run(&place, &[&compute[..], &["--plan", "q.plan", "--out", "r"]].concat());
    let why = place.refused("table read --key other/secret.key --in r", "wire.other-params");
    for name in [SET, "insecure_bgv-257-n8"] {
        assert!(why.contains(name), "{why}");
    }
    assert_eq!(
        text(run(&place, &["table", "read", "--key", "keys/secret.key", "--in", "r"]).stdout),
        "n\n0\n"
    );
}

/// What the file holds behind its header is not read before it is refused.
#[test]
fn headers_are_enough_to_refuse_a_file() {
    let place = Place::with_keys("insecure_bgv-257-n8");
    place.told("keygen --params insecure_bgv-257-n8 --out others");
    place.write("v.csv", "v\n3\n");
    place.told("encrypt --key keys/public.key --in v.csv --out v.ct");
    // Longer than any file that is read, and no key.
    File::create(place.path().join("large")).unwrap().set_len(9 << 30).unwrap();
    for command in [
        "decrypt --key large --in v.ct",
        "encrypt --key large --in v.csv --out w.ct",
        "encrypt --key large --in v.csv --types v=u8 --out w.ct",
    ] {
        place.refused(command, "wire.not-ours");
    }
    place.refused("decrypt --key keys/server.keys --in v.ct", "wire.wrong-kind");
    place.refused("encrypt --key keys/server.keys --in v.csv --out w.ct", "wire.wrong-kind");
    // Of another owner, and damaged at its end.
    let mut bytes = place.read("v.ct");
    *bytes.last_mut().unwrap() ^= 1;
    place.write("v.ct", bytes);
    place.refused("decrypt --key others/secret.key --in v.ct", "scheme.wrong-key");
    place.refused("decrypt --key keys/secret.key --in v.ct", "wire.checksum");
}
