//! `params plan --max-value`: what it recommends, what it refuses, and that its lines run.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::common::{json, success, usage};

fn plan<'a>(rest: &[&'a str]) -> Vec<&'a str> {
    ["params", "plan", "--max-value"].into_iter().chain(rest.iter().copied()).collect()
}

#[test]
fn a_recommendation_says_everything() {
    let args = plan(&["1e6", "--signed", "--rows", "100000", "--ops", "compare,sum"]);
    let found = json(&args);
    let best = &found["recommended"];
    assert_eq!(best["way"], "tables");
    assert_eq!(best["set"], "bgv-65537-n15");
    assert_eq!((&best["low"], &best["high"]), (&"-1000000".into(), &"1000000".into()));
    assert_eq!((&best["slots"], &best["ciphertexts"]), (&32768.into(), &24.into()));
    assert_eq!(best["refreshes_automatically"], true);
    for key in ["security_bits", "ciphertext_bytes", "key_bytes", "seconds"] {
        assert!(best[key].as_f64().is_some_and(|v| v > 0.0), "{key}");
    }
    let keys: Vec<&str> = best["operations"][0].as_object().unwrap().keys().map(|k| &**k).collect();
    assert_eq!(keys, ["high", "low", "operation", "products", "refreshes", "rehearsed", "seconds"]);
    let ways: Vec<&Value> = found["others"].as_array().unwrap().iter().map(|o| &o["way"]).collect();
    assert_eq!(ways, ["modular", "integers"]);
    let again = plan(&["1_000_000", "--signed", "--rows", "1e5", "--ops", "COMPARE, sum"]);
    assert_eq!(json(&again), found);
    let long = success(&["params", "plan", "--help"]);
    assert!(long.contains("divide-columns") && long.contains("--ops compare,sum"), "{long}");
}

#[test]
fn few_rows_are_planned_for_fewer_slots() {
    let of = |rows, ops| plan(&["1e6", "--signed", "--rows", rows, "--ops", ops]);
    let found = json(&of("300", "compare,max"));
    let best = &found["recommended"];
    assert_eq!((&best["set"], &best["slots"]), (&"bgv-65537-n15-s512".into(), &512.into()));
    let costs = best["compared"].as_array().unwrap();
    let sets: Vec<&Value> = costs.iter().map(|cost| &cost["set"]).collect();
    assert_eq!(sets, ["bgv-65537-n15-s512", "bgv-65537-n15"]);
    for key in ["slots", "key_bytes", "memory_bytes", "refresh_seconds", "exhausted_seconds"] {
        let [less, most] = [0, 1].map(|i: usize| costs[i][key].as_f64().unwrap());
        assert!(0.0 < less && less < most, "{key}: {less}, {most}");
    }
    let command = best["commands"][0].as_str().unwrap();
    assert_eq!(command, "everlevel keygen --params bgv-65537-n15-s512 --out keys");
    let text = success(&of("300", "compare,max"));
    assert!(text.contains("s, a refresh") && text.contains("uses 512 of the 32768"), "{text}");
    // Too many rows, and a query that takes no bootstrapping.
    for (rows, ops) in [("8193", "compare,max"), ("300", "compare,sum")] {
        let best = &json(&of(rows, ops))["recommended"];
        assert_eq!(best["set"], "bgv-65537-n15", "{rows} {ops}");
        assert_eq!(best["compared"].as_array().unwrap().len(), 0);
    }
}

#[test]
fn mistakes_are_refused_by_code() {
    for (rest, code, told) in [
        (["0", "--rows", "1", "--ops", "add"], "workload.value", "1 to 2^64 - 1"),
        (["1.5", "--rows", "1", "--ops", "add"], "workload.value", "an integer"),
        (["-5", "--rows", "1", "--ops", "add"], "workload.value", "an integer"),
        (["1e20", "--rows", "1", "--ops", "add"], "workload.value", "an integer"),
        (["5", "--rows", "0", "--ops", "add"], "workload.rows", "expected 1 to"),
        (["5", "--rows", "-1", "--ops", "add"], "workload.rows", "expected 1 to"),
        (["5", "--rows", "1e13", "--ops", "add"], "workload.rows", "expected 1 to"),
        (["5", "--rows", "9", "--ops", "summ"], "workload.operation", "did you mean sum?"),
        (["5", "--rows", "9", "--ops", ","], "workload.no-operations", "some of add, sub"),
        (["70000", "--rows", "9", "--ops", "table"], "workload.unsupported", "at most 65535"),
    ] {
        let err = usage(&plan(&rest));
        assert!(err.contains(code) && err.contains(told), "{rest:?}: {err}");
    }
    let signed = plan(&["9223372036854775808", "--signed", "--rows", "1", "--ops", "add"]);
    assert!(usage(&signed).contains("workload.value"));
}

#[test]
fn the_two_kinds_of_options_do_not_mix() {
    let values = ["5", "--rows", "9", "--ops", "add"];
    for other in [
        ["--plain-modulus", "257"],
        ["--slots", "10"],
        ["--depth", "2"],
        ["--minimize", "memory"],
        ["--measure", "1"],
        ["--max-rows", "2"],
        ["--out", "plan.json"],
    ] {
        let mixed: Vec<&str> = values.into_iter().chain(other).collect();
        let err = usage(&plan(&mixed));
        assert!(err.contains("cannot be used with") && err.contains(other[0]), "{err}");
    }
    assert!(usage(&plan(&["5"])).contains("--rows"));
    let named =
        ["params", "plan", "bgv-65537-n15", "--max-value", "5", "--rows", "1", "--ops", "add"];
    assert!(usage(&named).contains("cannot be used with"));
    for alone in [["--signed", "--ops=add"], ["--rows=5", "--ops=add"]] {
        let args: Vec<&str> = ["params", "plan"].into_iter().chain(alone).collect();
        assert!(usage(&args).contains("--max-value"), "{alone:?}");
    }
}

/// Runs the lines of a recommendation in a directory of its own.
fn followed(name: &str, rest: &[&str], files: &[(&str, &str)]) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    for (file, text) in files {
        std::fs::write(directory.join(file), text).unwrap();
    }
    let args: Vec<&str> = plan(rest).into_iter().chain(["--insecure-research"]).collect();
    let found = json(&args);
    for line in found["recommended"]["commands"].as_array().unwrap() {
        let line = line.as_str().unwrap();
        let done = Command::new("sh")
            .arg("-c")
            .arg(line.replacen("everlevel ", concat!(env!("CARGO_BIN_EXE_everlevel"), " "), 1))
            .current_dir(&directory)
            .output()
            .unwrap();
        assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
    }
    directory
}

fn read(path: PathBuf) -> String {
    std::fs::read_to_string(path).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_lines_of_a_recommendation_run() {
    let data = ("data.csv", "x,y\n-900000,5\n1000000,1000000\n7,-7\n600000,600000\n");
    let rest = ["1e6", "--signed", "--rows", "4", "--ops", "compare,select,max"];
    let found = followed("values-typed", &rest, &[data]);
    assert_eq!(read(found.join("compare_result.csv")), "compare_result 0 0 1 0");

    let rest = ["1e6", "--signed", "--rows", "4", "--ops", "compare,sum,mean"];
    let found = followed("values-table", &rest, &[data]);
    assert_eq!(read(found.join("answer.csv")), "sum(x),avg(x) 1600000,800000.000000");

    let files = [("x.csv", "x\n-100\n100\n7\n"), ("y.csv", "y\n100\n100\n-6\n")];
    let rest = ["100", "--signed", "--rows", "3", "--ops", "mul,add,sub"];
    let found = followed("values-modular", &rest, &files);
    assert_eq!(read(found.join("mul_result.csv")), "mul_result -10000 10000 -42");
}

const MARK: &str = "<!-- recommendation -->\n```text\n";

/// The recommendation of docs/choose/planner.md; EVERLEVEL_UPDATE_DOCS=1 rewrites it.
#[test]
fn documented_recommendation_is_the_real_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/choose/planner.md");
    let text = std::fs::read_to_string(path).expect("docs/choose/planner.md");
    let (head, rest) = text.split_once(MARK).expect("the mark of the recommendation");
    let (shown, tail) = rest.split_once("```\n").expect("its end");
    let line = head.lines().rev().find_map(|line| line.split_once(" -- ")).expect("its command");
    let printed = success(&line.1.split(' ').collect::<Vec<_>>());
    if std::env::var_os("EVERLEVEL_UPDATE_DOCS").is_some() {
        std::fs::write(path, format!("{head}{MARK}{printed}```\n{tail}"))
            .expect("docs/choose/planner.md can be written");
    } else {
        assert_eq!(
            shown, printed,
            "docs/choose/planner.md is out of date: EVERLEVEL_UPDATE_DOCS=1"
        );
    }
}
