//! Tables: quick runs against what is recorded in papers/results, and what is printed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};

use crate::common::{json, read_records, success};

/// The papers' tables with their numbers of rows.
const TABLES: [(&str, &str, usize); 8] = [
    ("chen-han", "table-1", 11),
    ("chen-han", "table-2", 9),
    ("chen-han", "table-3", 6),
    ("chen-han", "table-4", 4),
    ("chen-han", "table-5", 6),
    ("ma-et-al", "degrees", 5),
    ("ma-et-al", "table-6", 12),
    ("ma-et-al", "thin", 12),
];

/// The sets of Ma et al. that are run, in the order of the rows.
const SETS: [&str; 12] =
    ["I", "I-A", "II", "II-A", "III", "III-A", "IV", "IV-A", "IV-B", "V", "V-A", "V-B"];

/// Rows that take several seconds, by their tables: they are compared with what is recorded at
/// night.
const LONG: [(&str, &str, &[usize]); 6] = [
    ("chen-han", "table-1", &[8, 10]),
    ("chen-han", "table-3", &[2, 6]),
    ("chen-han", "table-4", &[3]),
    ("ma-et-al", "degrees", &[5]),
    ("ma-et-al", "table-6", &[5, 7, 10]),
    ("ma-et-al", "thin", &[7, 10]),
];

/// The secrets that tables 4 and 5 are run with.
const SECRETS: [&str; 2] = ["main-128", "encapsulated"];

/// Tables whose rows are several lines, computed without encryption.
fn is_computed(table: &str) -> bool {
    matches!(table, "table-1" | "table-2" | "degrees")
}

/// Tables of which each row is run with both secrets.
fn has_secrets(table: &str) -> bool {
    matches!(table, "table-4" | "table-5")
}

/// What differs between runs and machines.
const VOLATILE: [&str; 17] = [
    "seconds",
    "seconds_median",
    "seconds_min",
    "seconds_linear",
    "seconds_digits",
    "seconds_total",
    "throughput",
    "speedup",
    "table_seconds",
    "key_seconds",
    "peak_memory_bytes",
    "ntt_us",
    "bandwidth_gb_s",
    "floor_seconds",
    "floor_parts",
    "seed",
    "circumstances",
];

/// A record without what differs between runs.
fn stable(record: &Value) -> Value {
    match record {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(key, _)| !VOLATILE.contains(&key.as_str()));
            Value::Object(
                kept.map(|(key, value)| (key.clone(), stable(value))).collect::<Map<_, _>>(),
            )
        }
        Value::Array(items) => Value::Array(items.iter().map(stable).collect()),
        other => other.clone(),
    }
}

/// Equal, numbers up to the last digits that a mathematical library may differ in.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(k, x)| b.get(k).is_some_and(|y| same(x, y)))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(x, y)| same(x, y))
        }
        (Value::Number(a), Value::Number(b)) => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()),
            _ => false,
        },
        _ => a == b,
    }
}

fn wrong_slots(record: &Value) -> u64 {
    let of = |r: &Value| r["wrong_slots"].as_u64().expect("wrong_slots");
    record["methods"].as_array().map_or_else(|| of(record), |methods| methods.iter().map(of).sum())
}

fn recorded_directory() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/results"))
}

/// The name that a record is kept under: `record` is one run, or all lines of a computed row.
fn record_name(paper: &str, table: &str, row: usize, record: &Value) -> String {
    match (record["variant"].as_str(), record["arithmetic"].as_str()) {
        (Some(variant), Some(arithmetic)) => {
            format!("{paper}-{table}-row-{row}-{variant}-{arithmetic}-quick")
        }
        _ if is_computed(table) => format!("{paper}-{table}-row-{row}"),
        _ if paper == "ma-et-al" => {
            format!("{paper}-{table}-{}-quick", record["set"].as_str().expect("a set"))
        }
        _ => format!("{paper}-{table}-row-{row}-quick"),
    }
}

/// A table with these options prints what was recorded, of `rows` rows from `first` on, with `runs`
/// records each.
fn check_recorded(
    kept: &BTreeMap<String, Value>,
    (paper, table): (&str, &str),
    options: &[&str],
    (first, rows, runs): (usize, usize, usize),
) {
    let report = json(&[&[paper, table, "--quick"], options].concat());
    let lines = report.as_array().expect("an array");
    let records: Vec<Value> = if is_computed(table) {
        let all = lines.chunk_by(|a, b| a["row"] == b["row"]);
        all.map(|row| Value::Array(row.to_vec())).collect()
    } else {
        lines.clone()
    };
    assert_eq!(records.len(), rows * runs, "{paper} {table} {options:?}");
    for (i, record) in records.iter().enumerate() {
        let name = record_name(paper, table, first + i / runs, record);
        let recorded = kept.get(&name).unwrap_or_else(|| panic!("no record {name}"));
        assert!(
            same(&stable(record), &stable(recorded)),
            "{name} is not what is computed now ({:#}): if it should change, run \
             all_quick_runs_give_what_was_recorded_in_full with EVERLEVEL_UPDATE_RESULTS=1",
            stable(record)
        );
        if record.is_object() {
            assert_eq!(wrong_slots(record), 0, "{name}");
        }
    }
}

/// One row of every table, chosen at random among those that do not take long, gives what was
/// recorded. EVERLEVEL_TEST_SEED repeats a choice.
#[test]
fn quick_runs_give_what_was_recorded() {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as usize;
    let seed = std::env::var("EVERLEVEL_TEST_SEED")
        .map_or_else(|_| now(), |s| s.parse().expect("a number"));
    println!("EVERLEVEL_TEST_SEED={seed}");
    let kept = read_records(&recorded_directory());
    for (i, (paper, table, rows)) in TABLES.into_iter().enumerate() {
        let long = LONG.iter().find(|long| (long.0, long.1) == (paper, table));
        let long = long.map_or(&[][..], |long| long.2);
        let rows: Vec<usize> = (1..=rows).filter(|row| !long.contains(row)).collect();
        let choice = seed.wrapping_mul(2 * i + 1) / 7;
        let row = rows[choice % rows.len()];
        let text = row.to_string();
        let mut options = vec!["--row", text.as_str()];
        if has_secrets(table) {
            options.extend(["--secret", SECRETS[choice / rows.len() % SECRETS.len()]]);
        }
        check_recorded(&kept, (paper, table), &options, (row, 1, 1));
    }
}

/// The same of every row, by both secrets. EVERLEVEL_UPDATE_RESULTS=1 records all of them anew
/// instead.
#[test]
#[ignore = "minutes: every row of every table"]
fn all_quick_runs_give_what_was_recorded_in_full() {
    let directory = recorded_directory();
    if std::env::var_os("EVERLEVEL_UPDATE_RESULTS").is_some() {
        for (paper, table, _) in TABLES {
            success(&[paper, table, "--quick", "--out", directory.to_str().unwrap()]);
        }
        return;
    }
    let kept = read_records(&directory);
    for (paper, table, rows) in TABLES {
        let runs = if has_secrets(table) { SECRETS.len() } else { 1 };
        check_recorded(&kept, (paper, table), &[], (1, rows, runs));
    }
}

/// The datasheet of one set, chosen at random, is what was recorded for the report.
#[test]
fn recorded_datasheets_are_those_of_the_sets() {
    let records = read_records(&recorded_directory());
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as usize;
    // Not from the list that is printed, for which the security of every set is estimated.
    let names = everlevel_scheme::params::names();
    let names: Vec<&str> = names.filter(|name| !name.starts_with("insecure_")).collect();
    for name in &names {
        assert!(records.contains_key(&format!("datasheet-{name}")), "no datasheet of {name}");
    }
    let name = names[seed / 1000 % names.len()];
    let recorded = &records[&format!("datasheet-{name}")];
    // What a bootstrapping took is entered elsewhere, and later.
    let untimed = |sheet: &Value| {
        let mut sheet = stable(sheet);
        if let Some(bootstrap) = sheet["bootstrap"].as_object_mut() {
            bootstrap.remove("measured");
        }
        sheet
    };
    assert!(
        same(&untimed(&json(&["everlevel", "params", "datasheet", name])), &untimed(recorded)),
        "{name}: the datasheet is another one now: run `papers all --full --only datasheet` \
         and enter its records in papers/results/sets.jsonl"
    );
}

#[test]
fn there_is_a_record_of_every_row() {
    let records = read_records(&recorded_directory());
    let of_small_rings = |name: &&String| {
        let computed = TABLES.iter().filter(|(_, table, _)| is_computed(table));
        let mut stems = computed.map(|(paper, table, _)| format!("{paper}-{table}-"));
        name.ends_with("-quick") || stems.any(|stem| name.starts_with(&stem))
    };
    let names: Vec<&String> = records.keys().filter(of_small_rings).collect();
    let mut expected = Vec::new();
    for (paper, table, rows) in TABLES {
        for row in 1..=rows {
            let stem = format!("{paper}-{table}-row-{row}");
            match table {
                _ if is_computed(table) => expected.push(stem),
                "table-6" | "thin" => {
                    expected.push(format!("{paper}-{table}-ma-{}-quick", SETS[row - 1]));
                }
                "table-3" => expected.push(format!("{stem}-quick")),
                _ => expected.extend(
                    ["main-128", "encapsulated"]
                        .map(|secret| format!("{stem}-{secret}-mixed-quick")),
                ),
            }
        }
    }
    expected.sort();
    assert_eq!(names, expected.iter().collect::<Vec<_>>());
    for name in names {
        let record = &records[name];
        assert!(!record.is_object() || wrong_slots(record) == 0, "{name}");
    }
}

/// Table 3 of Chen and Han counts levels as HElib did, 22 bits each: the recorded runs at the
/// paper's own moduli leave at least as many, by either of its methods.
#[test]
fn digits_leave_at_least_the_levels_of_the_paper() {
    let records = read_records(&recorded_directory());
    for row in 1..=6 {
        let name = format!("chen-han-table-3-row-{row}-own-modulus");
        let record = records.get(&name).unwrap_or_else(|| panic!("no record {name}"));
        assert_eq!(wrong_slots(record), 0, "{name}");
        for method in ["halevi_shoup", "chen_han"] {
            let of_paper = |i: usize| record["paper"][method][i].as_f64().expect("levels");
            let methods = record["methods"].as_array().expect("methods");
            let here = methods.iter().find(|m| m["method"] == method).expect("the method");
            let levels = |i: usize| here["base_bits"][i].as_f64().expect("bits") / 22.0;
            let log_q = record["log_q"].as_f64().expect("the modulus");
            assert!((log_q / 22.0 - of_paper(1)).abs() < 0.1, "{name}: {log_q}");
            assert!((levels(0) - of_paper(1)).abs() < 0.1, "{name}: {} levels", levels(0));
            assert!(levels(1) >= of_paper(2), "{name}, {method}: {} levels", levels(1));
        }
    }
}

/// In a small ring the option counts levels and says so; without it, records have no such count.
#[test]
fn levels_are_counted_at_the_papers_own_modulus() {
    let args = ["chen-han", "table-3", "--quick", "--row", "5", "--digit-removal", "chen_han"];
    let run = |extra: &[&str]| json(&[&args[..], extra].concat())[0].clone();
    let (usual, own) = (run(&[]), run(&["--own-modulus"]));
    assert!((own["log_q"].as_f64().unwrap() - 32.0 * 22.0).abs() < 1.0, "{own}");
    assert!((usual["log_q"].as_f64().unwrap() - 910.0).abs() < 1.0, "{usual}");
    let bits = own["methods"][0]["base_bits"].as_array().unwrap();
    let bits: Vec<f64> = bits.iter().map(|bits| bits.as_f64().unwrap()).collect();
    assert!(bits.len() == 2 && bits[0] > bits[1] && bits[1] >= 18.0 * 22.0, "{bits:?}");
    assert!(usual["methods"][0].get("base_bits").is_none(), "{usual}");
    assert_eq!((wrong_slots(&own), wrong_slots(&usual)), (0, 0));
    let text = success(&[&args[..], &["--own-modulus"]].concat());
    assert!(text.contains("levels of 22 bits: here") && text.contains("the paper's, 22"), "{text}");
}

#[test]
fn quick_runs_are_not_compared_in_seconds() {
    // Columns: the paper's 6.75 seconds, and the ratio, are those of row 1.
    let text =
        success(&["chen-han", "table-5", "--quick", "--row", "1", "--secret", "encapsulated"]);
    assert!(text.contains("23/10") && text.contains("quick: a smaller ring"), "{text}");
    assert!(!text.contains("6.75") && !text.contains("92.9"), "{text}");
    let text =
        success(&["chen-han", "table-3", "--quick", "--row", "5", "--digit-removal", "chen_han"]);
    assert!(text.contains("32/18") && !text.contains("12.13"), "{text}");
}

#[test]
fn long_degrees_are_shortened_in_text_only() {
    let args = ["chen-han", "table-1", "--row", "2"];
    assert!(success(&args).lines().all(|line| line.chars().count() < 200));
    let lines = json(&args);
    assert!(
        lines.as_array().unwrap().iter().any(|line| line["degrees"].as_str().unwrap().len() > 200)
    );
}

#[test]
fn records_of_single_rows_do_not_replace_others() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path();
    let run = |args: &str| {
        let mut args: Vec<&str> = args.split(' ').collect();
        args.extend(["--quick", "--out", directory.to_str().unwrap()]);
        success(&args);
    };
    run("chen-han table-1 --row 1");
    run("chen-han table-1 --row 6");
    run("chen-han table-3 --row 5 --digit-removal local");
    let expected =
        ["chen-han-table-1-row-1", "chen-han-table-1-row-6", "chen-han-table-3-row-5-local-quick"];
    assert_eq!(read_records(directory).into_keys().collect::<Vec<_>>(), expected);
}
