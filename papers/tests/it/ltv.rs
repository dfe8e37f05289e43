//! `papers ltv`: the paper's digits where it is right, the corrected ones where it slips, and
//! the records in papers/results.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::common::{SOURCES, json, papers, papers_in, read_records, success};
use serde_json::Value;

fn figures(table: usize) -> Vec<Value> {
    let chapter = json(&["ltv", &format!("table-{table}")]);
    chapter["figures"].as_array().expect("figures").clone()
}

fn figure<'a>(figures: &'a [Value], what: &str) -> &'a Value {
    figures.iter().find(|f| f["what"] == what).unwrap_or_else(|| panic!("no figure {what}"))
}

fn value(figure: &Value, column: &str) -> f64 {
    figure[column].as_f64().unwrap_or_else(|| panic!("{figure} has no {column}"))
}

fn count(figures: &[Value], agreement: &str) -> usize {
    figures.iter().filter(|f| f["agreement"] == agreement).count()
}

#[test]
fn table_1_has_the_digits_of_the_paper() {
    let figures = figures(1);
    assert_eq!(
        (figures.len(), count(&figures, "agrees"), count(&figures, "last-digit")),
        (15, 11, 4)
    );
}

#[test]
fn table_2_is_broken_by_lll_today() {
    let figures = figures(2);
    for (n, paper) in [(28340, 70.0), (28940, 80.0), (30140, 100.0), (31300, 120.0), (32768, 144.0)]
    {
        let figure = figure(&figures, &format!("bits at n = {n}, log q = 1024"));
        assert!(value(figure, "paper") == paper && value(figure, "today") < 45.0, "{figure}");
        assert!(figure["note"].as_str().unwrap().starts_with("β = 2 "), "{figure}");
    }
}

#[test]
fn table_3_is_met_by_the_simulator() {
    let figures = figures(3);
    assert_eq!(figures.len(), 30);
    for figure in &figures {
        // For 64 bits the table of nodes ends above the block sizes that are best.
        let tolerance =
            if figure["what"].as_str().unwrap().ends_with("2^64 nodes") { 6e-4 } else { 1e-4 };
        assert!((value(figure, "formula") - value(figure, "paper")).abs() < tolerance, "{figure}");
    }
}

#[test]
fn table_4_is_corrected() {
    let figures = figures(4);
    let rows = [
        (12, 159.5, 36.2),
        (13, 315.0, 37.4),
        (14, 626.0, 38.8),
        (15, 1247.9, 40.4),
        (16, 2491.9, 42.2),
        (17, 4979.8, 44.1),
    ];
    for (log_n, log_q, as_printed) in rows {
        let at = |what: &str| figure(&figures, &format!("n = 2^{log_n}: {what}"));
        let modulus = at("log q at δ = 1.0066");
        assert!(
            (value(modulus, "formula") - log_q).abs() < 0.06 && modulus["agreement"] == "differs",
            "{modulus}"
        );
        let cut = at("bits to cut, worst case");
        assert!(
            cut["note"].as_str().unwrap().starts_with(&format!("{as_printed} "))
                && cut["agreement"] == "differs",
            "{cut}"
        );
        assert_eq!(f64::round(as_printed), value(cut, "paper"));
        // The levels follow from what is printed.
        assert!(
            ["worst", "average"]
                .iter()
                .all(|case| at(&format!("levels, {case} case"))["agreement"] == "agrees")
        );
    }
    let failure = figure(&figures, "log2 of failure at α = 7, n = 2^14");
    assert!((value(failure, "formula") + 24.5).abs() < 0.05 && failure["agreement"] == "differs");
}

#[test]
fn table_5_says_what_its_sets_are_worth() {
    let figures = figures(5);
    for (n, noise, failure, bits) in [(27000, 12.7, -34.8, 50.6), (32768, 12.8, -34.5, 76.8)] {
        let at = |what: &str| figure(&figures, &format!("n = {n}: {what}"));
        assert!(
            (value(at("log2 of the stable noise times α = 8"), "corrected") - noise).abs() < 0.05
        );
        assert!((value(at("log2 of failure at α = 8"), "formula") - failure).abs() < 0.05);
        assert!((value(at("bits of security"), "formula") - bits).abs() < 0.05);
        assert!(value(at("bits of security"), "today") < 45.0);
        assert_eq!(value(at("block size that breaks it"), "today"), 2.0);
        assert!(
            ["bits cut by a level", "slots", "seconds a block"]
                .iter()
                .all(|what| at(what)["agreement"] == "agrees")
        );
    }
}

#[test]
fn table_6_has_the_sizes_of_the_paper() {
    let figures = figures(6);
    for (n, original, optimized) in [(27000, 67.4, 4.755), (32768, 87.3, 6.162)] {
        let at = |what: &str| figure(&figures, &format!("n = {n}: GiB {what}"));
        assert!(
            (value(at("with a key for each level, polynomials"), "formula") - original).abs()
                < 0.05
        );
        assert!((value(at("with one key, polynomials"), "formula") - optimized).abs() < 0.001);
        assert_eq!(at("with a key for each level, polynomials")["agreement"], "agrees");
        let transformed = at("with one key, transformed");
        assert!((value(transformed, "formula") / value(transformed, "paper") - 1.0).abs() < 0.05);
    }
}

#[test]
fn table_7_has_its_columns_in_place() {
    let figures = figures(7);
    for (what, printed, corrected) in
        [("products, YASHE", 6.0, 216.0), ("products, YASHE'", 216.0, 6.0)]
    {
        let figure = figure(&figures, what);
        assert_eq!((value(figure, "formula"), value(figure, "corrected")), (printed, corrected));
    }
}

/// Tables 2, 5 and 6 show the records of a checkout; table 7 is measured when it is made.
#[test]
fn times_are_recorded_or_measured() {
    for (table, row, kept, other) in [
        (2, "7", "recorded", "measured"),
        (5, "1", "recorded", "measured"),
        (6, "1", "recorded", "measured"),
        (7, "3", "measured", "recorded"),
    ] {
        let table = format!("table-{table}");
        let options = ["ltv", &table, "--row", row];
        let run = papers_in(Path::new(SOURCES), &[&options[..], &["--json"]].concat());
        let chapter: Value = serde_json::from_slice(&run.stdout).expect("JSON");
        let figures = chapter["figures"].as_array().expect("figures");
        let has = |column: &str| figures.iter().any(|f| f[column].is_number());
        assert!(has(kept) && !has(other), "{chapter}");
        let run = papers_in(Path::new(SOURCES), &options);
        let text = String::from_utf8(run.stdout).expect("UTF-8");
        assert!(text.contains(&format!("* {kept}: by ")) && !text.contains(other), "{text}");
    }
}

#[test]
fn rows_are_chosen_and_refused() {
    let all = figures(6);
    let second = json(&["ltv", "table-6", "--row", "2"]);
    let expected: Vec<Value> = all.into_iter().filter(|f| f["row"] == 2).collect();
    assert_eq!(second["figures"], Value::from(expected));
    let text = success(&["ltv", "table-1", "--row", "3"]);
    assert!(text.contains("1.0027") && !text.contains("1.0441"), "{text}");
    let refused = papers(&["ltv", "table-1", "--row", "6"]);
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(2) && message.contains("rows 1 to 5"), "{message}");
}

fn records() -> BTreeMap<String, Value> {
    read_records(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/results")))
}

/// A table as it is in the root of the source tree, where the recorded runs are found.
fn figures_with_runs(table: usize) -> Vec<Value> {
    let run = Command::new(env!("CARGO_BIN_EXE_papers"))
        .args(["ltv", &format!("table-{table}"), "--json"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .output()
        .expect("the program starts");
    let chapter: Value = serde_json::from_slice(&run.stdout).expect("one JSON value");
    chapter["figures"].as_array().expect("figures").clone()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// The paper's method has a digit for each bit; other digits are shown by their names.
#[test]
fn times_of_aes_are_those_of_the_papers_method_and_of_the_best() {
    let (records, table_5, table_6) = (records(), figures_with_runs(5), figures_with_runs(6));
    let seconds = |name: &str| value(&records[name], "seconds_total");
    for (n, blocks) in [(27000, 1800.0), (32768, 2048.0)] {
        let name = |digits: &str| format!("aes-ltv-{n}{digits}-prime-power-bit-sliced-2");
        let (bits, windows) = (seconds(&name("-binary")), seconds(&name("-windows-16")));
        let best = records
            .iter()
            .filter(|(name, _)| name.starts_with(&format!("aes-ltv-{n}")))
            .map(|(_, run)| value(run, "seconds_total"))
            .fold(f64::INFINITY, f64::min);
        for (what, seconds) in [
            ("hours in all, the paper's method", bits * blocks / 3600.0),
            ("hours in all, the best here", best * blocks / 3600.0),
            ("seconds a block, the paper's method", bits),
            ("seconds a block, the paper's method with windows", windows),
            ("seconds a block, the best here", best),
        ] {
            let figure = figure(&table_5, &format!("n = {n}: {what}"));
            assert!(close(value(figure, "recorded"), seconds / blocks), "{figure}");
        }
        let method = figure(&table_5, &format!("n = {n}: hours in all, the paper's method"));
        let note = "prime-power, bit-sliced, a digit for each bit, 2 threads";
        assert_eq!(method["note"], note);
        // Transformed keys are compared with polynomials for the same digits.
        let faster = |digits: &str| {
            let what = "times that AES is faster with transformed keys";
            figure(&table_6, &format!("n = {n}: {what}, {digits}"))
        };
        let expected = seconds(&format!("{}-polynomials", name(""))) / seconds(&name(""));
        assert!(close(value(faster("digits to base p^6"), "recorded"), expected));
        assert_eq!(
            faster("a digit for each bit")["recorded"].is_null(),
            !records.contains_key(&format!("{}-polynomials", name("-binary")))
        );
    }
}

/// Beside the records of the source tree, those that were just made.
#[test]
fn times_of_aes_are_also_taken_from_new_records() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("records");
    std::fs::create_dir(&out).unwrap();
    let run = serde_json::json!({
        "scheme": "ltv",
        "params": "ltv-32768-binary",
        "chain": "prime-power",
        "method": "bit-sliced",
        "threads": 2,
        "rounds": 10,
        "seconds_total": 900.0,
        "seconds_per_block": 0.5,
        "wrong_blocks": 0,
    });
    let name = "aes-ltv-32768-binary-prime-power-bit-sliced-2";
    let line = serde_json::json!({ "name": name, "record": run }).to_string();
    std::fs::write(out.join("aes.jsonl"), line).unwrap();
    for directory in [place.path(), Path::new(SOURCES)] {
        let options = ["ltv", "table-5", "--json", "--out", out.to_str().unwrap()];
        let run = papers_in(directory, &options);
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let chapter: Value = serde_json::from_slice(&run.stdout).expect("JSON");
        let figures = chapter["figures"].as_array().expect("figures");
        let block = figure(figures, "n = 32768: seconds a block, the paper's method");
        assert_eq!(value(block, "recorded"), 0.5, "{}", directory.display());
    }
}

/// What is recorded in papers/results is what is computed now, but for what was measured; times of
/// AES are those of the recorded runs.
#[test]
fn the_records_are_current() {
    let records = records();
    for table in 1..=7 {
        let name = format!("ltv-table-{table}");
        let recorded = records[&name]["figures"].as_array().expect("figures");
        let of_aes = [5, 6].contains(&table);
        let now = if of_aes { figures_with_runs(table) } else { figures(table) };
        let columns = ["paper", "formula", "corrected", "today", "recorded"];
        for now in now {
            let then = figure(recorded, now["what"].as_str().unwrap());
            for column in columns.into_iter().filter(|column| of_aes || *column != "recorded") {
                let same = match (now[column].as_f64(), then[column].as_f64()) {
                    (Some(a), Some(b)) => close(a, b),
                    (a, b) => a == b,
                };
                assert!(
                    same,
                    "{name}: {column} of {now} was {then}: run papers ltv \
                     table-{table} --out papers/results"
                );
            }
        }
    }
}
