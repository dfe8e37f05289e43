//! Fewer keys for products, on the command line.

use std::fs;

use serde_json::json as value;

use crate::common::success_in as success;
use crate::tables::{json, refused};

const SET: [&str; 2] = ["--params", "insecure_bgv-65537-n11"];

/// An asker with few keys, and a server that knows the table.
#[test]
fn a_private_question_with_fewer_keys() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    fs::write(here.join("stays.csv"), "ward,days\nnorth,3\nsouth,1400\nnorth,1\nwest,700\n")
        .unwrap();
    success(here, &["table", "schema", "infer", "--in", "stays.csv", "--out", "stays.json"]);
    let query = "select ward from stays where days = :days";
    success(here, &["table", "ask", "--schema", "stays.json", query, "--out", "q.plan"]);
    let (plan, rows) = (["--plan", "q.plan"], ["--rows", "4"]);
    let whole = [&plan[..], &rows].concat();
    let small = [&whole[..], &["--small-keys"]].concat();
    let bytes = |of: &[&str]| {
        let report = json(here, &[&["keys", "size-report"][..], &SET, of].concat());
        report["bytes"].as_u64().unwrap()
    };
    assert!(bytes(&small) < bytes(&whole));
    success(here, &[&["keygen", "--out", "keys"][..], &SET, &small[..]].concat());
    let made = json(here, &["keys", "size-report", "--server-keys", "keys/server.keys"]);
    assert_eq!(made["bytes"], bytes(&small));
    let bind = ["table", "bind", "--key", "keys/secret.key", "days=1400", "--out", "q.constants"];
    success(here, &[&bind[..], &plan].concat());
    let asked = [&plan[..], &["--constants", "q.constants"]].concat();
    let keys = ["--server-keys", "keys/server.keys"];
    let run = ["table", "run", "--plain", "stays.csv", "--out", "q.result"];
    success(here, &[&run[..], &keys, &asked[..]].concat());
    let read = ["table", "read", "--key", "keys/secret.key", "--in", "q.result"];
    assert_eq!(success(here, &[&read[..], &asked[..]].concat()), "ward\nsouth\n");
    // General keys stay as they are.
    refused(here, &["keygen", "--small-keys", "--out", "no"], "cli.usage");
}

#[test]
fn a_program_with_fewer_keys() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    fs::write(here.join("p.csv"), "age,pay\n20,7\n40,8\n29,200\n").unwrap();
    let (program, types) = ("y=if(age<30,pay,9)", ["--types", "age=u8,pay=u8"]);
    let of = [&["--program", program, "--rows", "3"][..], &types, &SET].concat();
    let keys = |more: &[&str]| {
        let report = json(here, &[&["keys", "size-report"][..], &of[..], more].concat());
        report["parts"][0]["keys"].as_u64().unwrap()
    };
    assert!(keys(&["--small-keys"]) < keys(&[]));
    success(here, &[&["keygen", "--out", "keys", "--small-keys"][..], &of[..]].concat());
    let encrypt = ["encrypt", "--key", "keys/public.key", "--in", "p.csv", "--out", "p.ct"];
    success(here, &[&encrypt[..], &types].concat());
    let eval = ["eval", "--server-keys", "keys/server.keys", program, "p.ct", "--out", "out"];
    success(here, &eval);
    let found = json(here, &["decrypt", "--key", "keys/secret.key", "--in", "out/y.ct"]);
    assert_eq!(found["y"], value!([7, 9, 200]));
}
