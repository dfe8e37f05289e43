//! What the commands print.

use std::collections::BTreeSet;

use crate::common::{file, json, shared_json, success, usage};
use serde_json::Value;

const TOY: &str = "insecure_bgv-257-n8";

/// The keys of an object.
pub fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

/// A number that an object has.
pub fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} is a finite number in {value}"))
}

#[test]
fn demo() {
    let report = json(&["demo", "--params", TOY, "--insecure-research", "--threads", "1"]);
    let expected = "params slots multiplications bootstraps correct_slots wrong_slots \
                    security_bits failure_log2 seconds_total seconds_per_bootstrap";
    assert_eq!(keys(&report), expected.split(' ').collect());
    assert_eq!(report["params"], TOY);
    assert_eq!((number(&report, "correct_slots"), number(&report, "wrong_slots")), (128.0, 0.0));
    assert_eq!(number(&report, "multiplications"), 100.0);
    assert!(number(&report, "bootstraps") >= 5.0);
    assert!(number(&report, "failure_log2") <= -128.0);

    let text = success(&["demo", "--params", TOY, "--insecure-research", "--steps", "12"]);
    for part in [
        "(estimated;",
        "step",
        "noise bound",
        "bootstraps",
        "seconds",
        "128 of 128 slots are correct",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

/// Toy rings with 65537 have the levels of the set that this is for.
const TOY_INTEGERS: &str = "insecure_bgv-65537-n11";

#[test]
fn demo_integers() {
    let report = shared_json("demo integers --params insecure_bgv-65537-n11");
    let expected = "wrong_values security_bits failure_log2 seconds_total";
    assert_eq!(keys(report), expected.split(' ').collect());
    assert_eq!(number(report, "wrong_values"), 0.0);
    let text = success(&["demo", "integers", "--params", TOY_INTEGERS, "--insecure-research"]);
    assert!(text.contains("2048 people") && text.contains("0 values are wrong"), "{text}");
}

#[test]
fn demo_with_a_column_of_ones_own() {
    for (name, text, flags) in [
        ("own.csv", "reading\n0\n1\n256\n", &[][..]),
        ("own-signed.csv", "-128\n128\n0\n", &["--signed"][..]),
        ("own-reduced.csv", "1000000\n-7\n", &["--reduce"][..]),
    ] {
        let path = file(name, text);
        let mut args =
            vec!["demo", "--params", TOY, "--insecure-research", "--steps", "15", "--in", &path];
        args.extend(flags);
        assert_eq!(number(&json(&args), "wrong_slots"), 0.0);
    }
}

#[test]
fn bench_bootstrap() {
    let report = json(&[
        "bench",
        "bootstrap",
        "--params",
        "insecure_bgv-65537-n11",
        "--insecure-research",
        "--threads",
        "1",
        "--runs",
        "2",
        "--bootstrapping",
        "full",
        "--batch",
        "2",
    ]);
    let expected = "params slots threads batch backend security_bits security_model failure_log2 \
                    seconds_median seconds_min stages key_switches non_scalar_products \
                    capacity_bits_before capacity_bits_after multiplications_after \
                    server_key_bytes peak_memory_bytes ntt_count ntt_us bytes_moved \
                    bandwidth_gb_s floor_seconds floor_parts noise_bound_bits \
                    noise_measured_bits verified_slots wrong_slots";
    assert_eq!(keys(&report), expected.split_whitespace().collect());
    let n = |key| number(&report, key);
    assert_eq!(
        (n("slots"), n("threads"), n("verified_slots"), n("wrong_slots")),
        (2048.0, 1.0, 8192.0, 0.0)
    );
    assert!(n("seconds_min") > 0.0 && n("seconds_min") <= n("seconds_median"));
    assert!(n("noise_measured_bits") <= n("noise_bound_bits"));
    assert!(n("failure_log2") <= -128.0 && n("failure_log2") > -1024.0);
    assert!(
        n("capacity_bits_after") > n("capacity_bits_before") && n("multiplications_after") >= 1.0
    );
    crate::floor::is_the_sum_of_its_parts(&report, 2048);
    assert!(
        keys(&report["stages"]).is_superset(
            &["encapsulate", "coeff_to_slot", "digit_removal", "slot_to_coeff"].into()
        )
    );
    assert!(n("peak_memory_bytes") > 1e6 && n("server_key_bytes") > 1e6);
}

#[test]
fn bench_primitives() {
    let report = shared_json("bench primitives --params insecure_bgv-257-n8 --runs 3");
    assert_eq!(keys(report), ["threads", "backend", "cpu_flags", "runs", "results"].into());
    let results = report["results"].as_array().unwrap();
    let names: BTreeSet<&str> = results.iter().map(|r| r["name"].as_str().unwrap()).collect();
    for name in "ntt_forward ntt_inverse encode encrypt_public decrypt_decode add multiply_plain \
                 multiply_factor multiply_relinearize rotate hoisted_rotate modulus_switch"
        .split(' ')
    {
        assert!(names.contains(name), "{name}");
    }
    assert!(results.iter().all(|r| number(r, "ms") > 0.0));
}

#[test]
fn a_printed_set_is_a_parameter_file() {
    for name in [TOY, "bgv-65537-n15"] {
        let printed = success(&["params", "show", name, "--json"]);
        let path = file(&format!("{name}.json"), &printed);
        assert_eq!(success(&["params", "show", &path, "--json"]), printed);
        assert_eq!(json(&["params", "datasheet", &path]), json(&["params", "datasheet", name]));
    }
    let path = file("run.json", success(&["params", "show", TOY, "--json"]));
    assert_eq!(
        number(
            &json(&["demo", "--params", &path, "--insecure-research", "--steps", "3"]),
            "wrong_slots"
        ),
        0.0
    );
}

#[test]
fn a_searched_plan_is_a_parameter_file() {
    let path = file("plan.json", success(&["params", "plan", TOY, "--json"]));
    assert!(json(&["params", "show", &path])["bootstrap"]["coeff_to_slot"].is_array());
    assert_eq!(
        number(
            &json(&["demo", "--params", &path, "--insecure-research", "--steps", "30"]),
            "wrong_slots"
        ),
        0.0
    );
    assert!(success(&["params", "plan", TOY, "--by", "latency"]).contains("key switches"));
}

#[test]
fn listed_sets_are_secure_or_say_that_they_are_not() {
    let sets = shared_json("params list");
    for set in sets.as_array().unwrap() {
        let name = set["name"].as_str().unwrap();
        assert_eq!(number(set, "security_bits") < 128.0, name.starts_with("insecure_"), "{name}");
    }
    assert!(sets[0]["name"] == "bgv-65537-n15");
}

#[test]
fn version() {
    assert!(success(&["version"]).starts_with("everlevel 0."));
    assert!(success(&["version", "--verbose"]).contains("backend"));
    assert!(keys(&json(&["version"])).contains("cpu_flags"));
    assert!(success(&["--help"]).contains("Usage"));
}

#[test]
fn selftest() {
    let report = shared_json("selftest");
    assert_eq!(report["passed"], true);
    assert!(report["checks"].as_array().unwrap().len() >= 6);
    assert!(success(&["selftest"]).contains("checks passed"));
}

/// The table of docs/parameters.md; EVERLEVEL_UPDATE_DOCS=1 rewrites it.
#[test]
fn documented_sets_are_the_real_ones() {
    const MARK: &str = "<!-- table -->\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/parameters.md");
    let text = std::fs::read_to_string(path).expect("docs/parameters.md");
    let (head, table) = text.split_once(MARK).expect("the mark of the table");
    let printed = success(&["params", "list", "--markdown"]);
    if std::env::var_os("EVERLEVEL_UPDATE_DOCS").is_some() {
        std::fs::write(path, format!("{head}{MARK}{printed}"))
            .expect("docs/parameters.md can be written");
    } else {
        assert_eq!(
            table, printed,
            "docs/parameters.md is out of date: run this test with EVERLEVEL_UPDATE_DOCS=1"
        );
    }
}

/// The datasheets of all sets that are secure, as in docs/datasheets.md; EVERLEVEL_UPDATE_DOCS=1
/// rewrites them.
#[test]
fn documented_datasheets_are_the_real_ones() {
    const MARK: &str = "<!-- datasheets -->\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/datasheets.md");
    let text = std::fs::read_to_string(path).expect("docs/datasheets.md");
    let (head, sheets) = text.split_once(MARK).expect("the mark of the datasheets");
    let mut printed = String::new();
    for set in shared_json("params list").as_array().unwrap() {
        let name = set["name"].as_str().unwrap();
        if !name.starts_with("insecure_") {
            printed +=
                &format!("\n## {name}\n```text\n{}```\n", success(&["params", "datasheet", name]));
        }
    }
    if std::env::var_os("EVERLEVEL_UPDATE_DOCS").is_some() {
        std::fs::write(path, format!("{head}{MARK}{printed}"))
            .expect("docs/datasheets.md can be written");
    } else {
        assert_eq!(
            sheets, printed,
            "docs/datasheets.md is out of date: run this test with EVERLEVEL_UPDATE_DOCS=1"
        );
    }
}

#[test]
fn rings_are_searched() {
    let found = json(
        &"params rings --prime 2 --slots 1000 --degree-of 8 --index-below 30000"
            .split(' ')
            .collect::<Vec<_>>(),
    );
    let rings = found.as_array().unwrap();
    assert_eq!(rings.len(), 1);
    assert_eq!((rings[0]["m"].as_u64(), rings[0]["slots"].as_u64()), (Some(21845), Some(1024)));
    assert!((430.0..433.0).contains(&number(&rings[0], "log_qp")));
    let text = success(&[
        "params",
        "rings",
        "--prime",
        "2",
        "--slots",
        "50",
        "--index-below",
        "10000",
        "--max-rows",
        "3",
    ]);
    assert!(text.contains("3 of ") && text.lines().count() == 6, "{text}");
}

#[test]
fn bootstrapping_of_fewer_slots_is_benched() {
    let args = |slots: &str| -> Vec<String> {
        let args = format!("bench bootstrap --params {TOY} --slots {slots} --runs 1");
        args.split(' ').chain(["--insecure-research"]).map(String::from).collect()
    };
    let words = args("16");
    let report = json(&words.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(report["params"], format!("{TOY}-s16"));
    let numbers = ["slots", "verified_slots", "wrong_slots"].map(|key| report[key].as_u64());
    assert_eq!(numbers, [Some(16), Some(16), Some(0)]);
    assert!(number(&report, "noise_measured_bits") <= number(&report, "noise_bound_bits"));
    assert!(keys(&report["stages"]).contains("trace"));
    for slots in ["3", "256"] {
        let words = args(slots);
        let refused = usage(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(refused.contains("a power of two from 4 to the 128 slots"), "{refused}");
    }
}

#[test]
fn bootstrapping_of_whole_slots_is_benched() {
    let args = "bench bootstrap --params insecure_bfv-127e2-n8 --bootstrapping full \
                --insecure-research --runs 1";
    let report = json(&args.split(' ').collect::<Vec<_>>());
    let thin = shared_json("bench bootstrap --params insecure_bgv-257-n8 --runs 1");
    let keys = |v: &Value| v.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&report), keys(thin));
    assert_eq!(
        (report["wrong_slots"].as_u64(), report["verified_slots"].as_u64()),
        (Some(0), report["slots"].as_u64())
    );
    assert!(report["noise_measured_bits"].as_f64() <= report["noise_bound_bits"].as_f64());
    let stages = keys(&report["stages"]);
    assert!(
        ["encapsulate", "raise", "coeff_to_slot", "digit_removal", "slot_to_coeff"]
            .iter()
            .all(|s| stages.iter().any(|t| t == s))
    );
}
