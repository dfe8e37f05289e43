//! The times of bootstrapping of a report: datasheets show those that were measured for it.

use std::path::Path;

use serde_json::{Value, json};

use crate::common::{papers, read_records};

/// Runs the jobs of the quick plan with this in their names.
fn only(out: &Path, pattern: &str) {
    let run = papers(&["all", "--out", out.to_str().unwrap(), "--only", pattern]);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

#[test]
fn datasheets_show_the_times_of_their_report() {
    let out = tempfile::tempdir().unwrap();
    let out = out.path();
    let sheet = |set: &str| {
        let mut records = read_records(&out.join("records"));
        records.remove(&format!("datasheet-{set}")).unwrap()["bootstrap"]["measured"].take()
    };
    // Before anything is measured, they show what comes with the library.
    only(out, "datasheet-bgv-127-n14");
    assert!(sheet("bgv-127-n14")["seconds"].as_f64().unwrap() > 0.0);
    // Bootstrapping on one thread is entered into a file.
    let name = "bootstrap-insecure_bgv-257-n8-threads-1";
    only(out, name);
    let file = out.join("measured.json");
    let mut times: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let records = read_records(&out.join("records"));
    let recorded = records[name]["seconds_median"].as_f64().unwrap();
    let entered = times["insecure_bgv-257-n8"]["seconds"].as_f64().unwrap();
    assert!((entered - recorded).abs() < 1e-9, "{times}");
    // Datasheets show the times of that file, and of other sets those of the library.
    let mut other = times["insecure_bgv-257-n8"].clone();
    other["seconds"] = json!(1234.5);
    times["bfv-127-n14"] = other;
    std::fs::write(&file, times.to_string()).unwrap();
    only(out, "datasheet-bfv-127-n14");
    only(out, "datasheet-bfv-257-n14");
    assert_eq!(sheet("bfv-127-n14"), times["bfv-127-n14"]);
    assert!(sheet("bfv-257-n14")["seconds"].as_f64().unwrap() < 1234.0);
}

#[test]
fn datasheets_come_after_bootstrapping() {
    for size in ["--quick", "--full"] {
        let list = papers(&["all", "--list", "--json", "--out", "none", size]);
        let list: Value = serde_json::from_slice(&list.stdout).unwrap();
        let jobs = list["jobs"].as_array().unwrap();
        let names: Vec<&str> = jobs.iter().map(|job| job["name"].as_str().unwrap()).collect();
        let last = names.iter().rposition(|name| name.starts_with("bootstrap-")).unwrap();
        let first = names.iter().position(|name| name.starts_with("datasheet-")).unwrap();
        assert!(last < first, "{size}: {names:?}");
    }
}
