//! `papers all --list`: the plan, and what of it has a record.

use std::collections::BTreeSet;
use std::path::Path;

use crate::common::{SOURCES, papers, papers_in, read_records};
use serde_json::{Value, json};

/// The list of jobs as it is printed in a directory, without a report there.
fn listed(directory: &Path, options: &[&str]) -> Value {
    let run =
        papers_in(directory, &[&["all", "--list", "--json", "--out", "none"], options].concat());
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    serde_json::from_slice(&run.stdout).unwrap()
}

fn names(list: &Value) -> BTreeSet<String> {
    let jobs = list["jobs"].as_array().unwrap();
    jobs.iter().map(|job| job["name"].as_str().unwrap().to_string()).collect()
}

/// What the program offers as tables of a paper, by its own help.
fn offered(paper: &str) -> Vec<String> {
    let help = papers(&[paper, "--help"]);
    let help = String::from_utf8(help.stdout).unwrap();
    let values = help
        .split("Possible values:")
        .nth(1)
        .expect("possible values")
        .split("Options:")
        .next()
        .unwrap();
    values
        .lines()
        .filter_map(|l| Some(l.trim().strip_prefix("- ")?.split(':').next()?.to_string()))
        .collect()
}

#[test]
fn the_plan_has_every_table_and_every_recorded_row() {
    let quick = names(&listed(Path::new(SOURCES), &[]));
    let full = names(&listed(Path::new(SOURCES), &["--full"]));
    let help = String::from_utf8(papers(&["--help"]).stdout).unwrap();
    let tables_of: Vec<&str> =
        ["chen-han", "ma-et-al", "ltv"].into_iter().filter(|p| help.contains(p)).collect();
    assert_eq!(tables_of.len(), 3, "{help}");
    let mut tables = 0;
    for paper in tables_of {
        for table in offered(paper) {
            let stem = format!("{paper}-{table}");
            for plan in [&quick, &full] {
                assert!(
                    plan.iter().any(|name| *name == stem || name.starts_with(&format!("{stem}-"))),
                    "{stem}"
                );
            }
            tables += 1;
        }
    }
    assert_eq!(tables, 5 + 4 + 7);
    // What is recorded is a job, but for what was tried beside the tables.
    let beside =
        ["chen-han-table-4-row-1-encapsulated-mixed-paterson_stockmeyer", "ltv-table-2-experiment"];
    for name in read_records(&Path::new(SOURCES).join("papers/results")).into_keys() {
        let plan = if name.ends_with("-quick") { &quick } else { &full };
        assert!(
            plan.contains(&name) || beside.contains(&name.as_str()) || name.starts_with("compare-"),
            "{name} is no job"
        );
    }
}

#[test]
fn every_job_of_the_full_plan_has_a_committed_record() {
    let full = listed(Path::new(SOURCES), &["--full"]);
    let jobs = full["jobs"].as_array().unwrap();
    let without: Vec<&Value> = jobs.iter().filter(|job| job["record"].is_null()).collect();
    assert!(full["missing"] == 0 && without.is_empty(), "without record: {without:?}");
    assert!(jobs.len() > 200 && jobs.iter().all(|job| job["record"] == "papers/results"));
    // Elsewhere, and beside other records, the committed ones do not count.
    let elsewhere = tempfile::tempdir().unwrap();
    let records = elsewhere.path().to_str().unwrap();
    for found in [
        listed(elsewhere.path(), &["--full"]),
        listed(Path::new(SOURCES), &["--full", "--records", records]),
    ] {
        assert_eq!(found["missing"], jobs.len(), "{}", found["missing"]);
        assert_eq!(found["jobs"].as_array().map(Vec::len), Some(jobs.len()));
    }
    // What is missing is counted among the jobs that are asked for.
    let line = json!({ "name": "ltv-table-1", "record": {} });
    std::fs::write(elsewhere.path().join("ltv.jsonl"), line.to_string()).unwrap();
    let some = listed(Path::new(SOURCES), &["--full", "--only", "ltv-table", "--records", records]);
    assert_eq!(some["missing"], 6);
    assert_eq!(some["jobs"].as_array().map(Vec::len), Some(7));
}

/// What is timed was timed at commits that the page beside the records names, and without
/// uncommitted changes, which a plus would tell; only counts, which are alike everywhere, may have
/// it.
#[test]
fn records_are_of_the_commits_that_their_page_names() {
    let full = listed(Path::new(SOURCES), &["--full"]);
    let page = Path::new(SOURCES).join("papers/results/README.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut timed = 0;
    for job in full["jobs"].as_array().unwrap() {
        let name = job["name"].as_str().unwrap();
        // Formulas and counts of circuits state no origin.
        let Some(commit) = job["commit"].as_str() else {
            assert!(job["cpu"].is_null() && job["threads"].is_null(), "{job}");
            continue;
        };
        timed += 1;
        assert!(job["date"].is_string() && job["cpu"].is_string(), "{job}");
        assert!(commit.get(..8).is_some_and(|c| page.contains(c)), "{name}: {commit}");
        assert!(!commit.ends_with('+') || name.starts_with("soak-"), "{name}: {commit}");
    }
    assert!(timed > 150, "{timed}");
    // The same, counted, below the list.
    let out = papers_in(Path::new(SOURCES), &["all", "--full", "--list", "--out", "none"]);
    let text = String::from_utf8(out.stdout).unwrap();
    let head = text.lines().next().unwrap_or_default();
    assert!(head.contains("commit") && head.ends_with("machine"), "{head}");
    let job = text.lines().find(|line| line.starts_with("chen-han-table-5-row-1-main-128-bfv "));
    let job = job.expect("a job of one thread");
    assert!(job.contains("1 thread of ") && job.contains("papers/results"), "{job}");
    let counted = |line: &str| line.split_once(" at ").and_then(|(n, _)| n.parse::<usize>().ok());
    assert_eq!(text.lines().filter_map(counted).sum::<usize>(), timed, "{text}");
}
