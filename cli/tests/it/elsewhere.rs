//! `encrypt`, `eval` and `table run` with `--remote`: what is sent, what comes back, and what is
//! refused.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

use crate::common::Place;
use crate::remote::Serving;

const SET: &str = "insecure_bgv-65537-n11";

/// Keys, columns, and a service with tokens of two tenants in files.
fn place() -> (Place, Serving) {
    let place = Place::with_keys(SET);
    place.write("p.csv", "age,pay\n29,7\n64,5\n");
    for tenant in ["acme", "other"] {
        let token = place.told(&format!("serve token add --dir s --tenant {tenant}"));
        place.write(tenant, token["token"].as_str().unwrap());
    }
    let serving = Serving::start(&place.path().join("s").display().to_string());
    (place, serving)
}

fn sent(told: &Value) -> BTreeMap<String, String> {
    serde_json::from_value(told["sent"].clone()).unwrap()
}

#[test]
fn what_is_encrypted_is_sent_and_computed_on() {
    let (place, serving) = place();
    let to = format!("--remote {} --token-file acme", serving.url);
    let encrypt = "encrypt --key keys/secret.key --in p.csv";
    // The server keys go with the first file, and not again.
    let first = sent(&place.told(&format!("{encrypt} --types age=u8,pay=u8 --out p.ct {to}")));
    assert_eq!(first.keys().collect::<Vec<_>>(), ["keys/server.keys", "p.ct"]);
    let columns = format!("{encrypt} --column age --column pay --range 0..99 --out both {to}");
    let both = sent(&place.told(&columns));
    assert_eq!(both.keys().collect::<Vec<_>>(), ["both/age.ct", "both/pay.ct"]);

    // On files, on ids, and on a result that stays there.
    let keys = &first["keys/server.keys"];
    let eval = format!("eval {to} --server-keys");
    place.told(&format!("{eval} keys/server.keys old=age>30;n=count(old) p.ct --out typed"));
    let done = place.told(&format!(
        "{eval} {keys} s=age+pay age={} pay={} --out out",
        both["both/age.ct"], both["both/pay.ct"]
    ));
    let result = done["results"]["s"].as_str().unwrap();
    place.told(&format!("{eval} {keys} t=2*s s={result} --out out"));
    let read = |file: &str| place.told(&format!("decrypt --key keys/secret.key --in {file}"));
    assert_eq!(read("typed/old.ct")["old"], serde_json::json!([0, 1]));
    assert_eq!(read("typed/n.ct")["n"], 1);
    assert_eq!(read("out/t.ct")["values"], serde_json::json!([72, 138]));
    // A result that is there is not replaced, which is told before anything is sent.
    let again = format!("{eval} none.keys t=2*s s={result} --out out");
    place.refused(&again, "wire.exists");

    // It is estimated, and a job has a name by which the same command comes back to it.
    let asked = format!("{eval} {keys} t=3*s s={result} --out named");
    assert_eq!(place.told(&format!("{asked} --estimate"))["refreshes"], 0);
    let [one, other] = ["", " --force"].map(|force| {
        let done = place.told(&format!("{asked} --job-name tripled{force}"));
        done["id"].as_str().unwrap().to_string()
    });
    assert_eq!(one, other);

    // The same for a table.
    let schema = "table schema infer --in p.csv --out schema.json";
    place.told(schema);
    place.told("table encrypt --schema schema.json --in p.csv --key keys/secret.key --out t");
    let words = ["table", "ask", "--schema", "schema.json", "select sum(pay) from t", "--out", "q"];
    place.told_words(&words.map(String::from));
    place.told(&format!("table run {to} --server-keys {keys} --table t --plan q --out r"));
    let answer = place.told("table read --key keys/secret.key --in r --plan q");
    assert_eq!(answer["rows"][0][0], "12", "{answer}");
    let listed = place.told(&format!("remote list --url {} --token-file acme", serving.url));
    let table = listed["tables"][0]["id"].as_str().unwrap();
    place.told(&format!("table run {to} --server-keys {keys} --table {table} --plan q --out r2"));
    let answer = place.told("table read --key keys/secret.key --in r2 --plan q");
    assert_eq!(answer["rows"][0][0], "12", "{answer}");
}

#[test]
fn keys_that_lie_elsewhere_are_asked_for() {
    let (place, serving) = place();
    std::fs::create_dir(place.path().join("alone")).unwrap();
    for name in ["secret.key", "params.json"] {
        place.write(&format!("alone/{name}"), place.read(&format!("keys/{name}")));
    }
    // Those of another owner are not taken for them.
    place.told(&format!("keygen --params {SET} --out others"));
    let encrypt = |out: &str| {
        let to = format!("--remote {} --token-file acme", serving.url);
        let words =
            format!("encrypt --key alone/secret.key --in p.csv --column age --out {out} {to}");
        place.told_with_progress(&words.split(' ').map(String::from).collect::<Vec<_>>())
    };
    let (told, note) = encrypt("x.ct");
    assert_eq!(sent(&told).keys().collect::<Vec<_>>(), ["x.ct"]);
    assert!(note.contains("note: ") && note.contains("everlevel remote push"), "{note}");
    place.write("alone/server.keys", place.read("others/server.keys"));
    let (told, note) = encrypt("y.ct");
    assert_eq!((sent(&told).len(), note.contains("note: ")), (1, true), "{note}");
    // And none are there of the owner to compute with.
    let eval =
        format!("eval --remote {} --token-file acme --server-keys others/server.keys", serving.url);
    place.refused(&format!("{eval} y=x+1 x=x.ct --out out"), "scheme.wrong-key");
    assert!(!place.path().join("out").exists());
}

#[test]
fn what_does_not_go_together_is_refused() {
    let (place, serving) = place();
    let to = format!("--remote {} --token-file", serving.url);
    let encrypt = "encrypt --key keys/secret.key --in p.csv --column age --out";
    let both = sent(&place.told(&format!("{encrypt} x.ct {to} acme")));
    let (keys, x) = (&both["keys/server.keys"], &both["x.ct"]);
    let eval = format!("eval y=x+1 --out out --server-keys {keys}");
    // Of another tenant, with a token of nobody, and with none.
    place.refused(&format!("{eval} x={x} {to} other"), "service.not-found");
    place.write("nobody", format!("everlevel_{}", "0".repeat(64)));
    place.refused(&format!("{eval} x={x} {to} nobody"), "service.unauthorized");
    place.write("wrong", "a password");
    let told = place.refused(&format!("{eval} x={x} {to} wrong"), "service.malformed");
    assert!(!told.contains("password"), "{told}");
    // Options that are for one way only.
    for option in [
        "--bounds fresh",
        "--cache 7",
        "--device cuda",
        "--seeded-keys",
        "--manifest-key m",
        "--params p",
        "--allow-unknown-owner",
    ] {
        let told = place.refused(&format!("{eval} x={x} {to} acme {option}"), "cli.usage");
        assert!(told.contains(option.split(' ').next().unwrap()), "{told}");
    }
    for option in ["--token-file acme", "--estimate", "--job-name n"] {
        place.refused(&format!("{eval} x={x} {option}"), "cli.usage");
    }
    place.refused(&format!("{encrypt} - {to} acme"), "cli.usage");
    let run = format!("table run --server-keys {keys} --plan q --out r {to} acme");
    for option in [
        "--plain p.csv",
        "--table t --cache 7",
        "--table t --device cuda:1",
        "--table t --seeded-keys",
    ] {
        let told = place.refused(&format!("{run} {option}"), "cli.usage");
        assert!(told.contains("--remote"), "{told}");
    }
    // No input is replaced, by whatever name.
    place.write("y.ct", place.read("x.ct"));
    place.write("q", "{}");
    for command in [
        format!("eval y=x+1 --out . --server-keys {keys} x=y.ct {to} acme"),
        format!("table run --server-keys {keys} --table t --plan q --out ./q {to} acme"),
    ] {
        let told = place.refused(&format!("{command} --force"), "wire.exists");
        assert!(told.contains("another name"), "{told}");
    }
    // Nor is the file with the token.
    place.write("token.ct", place.read("acme"));
    let url = &serving.url;
    for command in [
        format!("eval token=x+1 --out . --server-keys {keys} x={x} --remote {url}"),
        format!("table run --server-keys {keys} --table t --plan q --out token.ct --remote {url}"),
        format!("{encrypt} token.ct --remote {url}"),
        format!("remote pull {x} --out ./token.ct --url {url}"),
    ] {
        let asked = format!("{command} --token-file token.ct --force");
        let told = place.refused(&asked, "wire.exists");
        assert!(told.contains("another name"), "{asked}: {told}");
    }
    assert_eq!(place.read("token.ct"), place.read("acme"));
    // A service that is not there: the work failed, and what was encrypted stays.
    let url = serving.url.clone();
    drop(serving);
    let out = place.piped(&format!("{encrypt} late.ct --remote {url} --token-file acme"), b"");
    assert_eq!(out.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&out.stderr).contains("[service.unreachable]"));
    assert!(place.path().join("late.ct").exists());
}

/// Whoever reads no id, or closes the pipe after the first one, does not end what is to be sent.
#[test]
fn all_files_are_sent_whoever_reads_their_ids() {
    let (place, serving) = place();
    for column in ["age", "pay"] {
        let encrypt = "encrypt --key keys/secret.key --in p.csv --range 0..99";
        place.told(&format!("{encrypt} --column {column} --out {column}.ct"));
    }
    let who = format!("--url {} --token-file acme", serving.url);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = Command::new(env!("CARGO_BIN_EXE_everlevel"))
        .args(format!("remote push {who} age.ct pay.ct").split(' '))
        .current_dir(place.path())
        .stdout(writer)
        .status();
    assert!(status.unwrap().success());
    let there = place.told(&format!("remote list {who}"));
    assert_eq!(there["objects"].as_array().unwrap().len(), 2, "{there}");
}
