//! Security estimates of keys, and sets for a computation.

use crate::common::{file, json, success, usage};
use serde_json::Value;

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} is a finite number in {value}"))
}

#[test]
fn estimates_list_every_attack_and_the_least_of_them() {
    let dense = json(&["security", "estimate", "--n", "32768", "--log-qp", "868"]);
    assert!((number(&dense, "security_bits") - 128.03).abs() < 0.1, "{dense}");
    let names: Vec<&str> = dense["attacks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|attack| attack["name"].as_str().unwrap())
        .collect();
    for name in ["usvp", "bdd", "primal-hybrid-babai", "primal-hybrid-mitm", "dual", "dual-hybrid"]
    {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    let bits = |value: &Value| {
        value["attacks"].as_array().unwrap().iter().map(|a| number(a, "bits")).collect::<Vec<_>>()
    };
    assert!(bits(&dense).is_sorted() && bits(&dense)[0] == number(&dense, "security_bits"));

    let sparse =
        ["security", "estimate", "--n", "32768", "--log-qp", "65", "--secret", "sparse:24"];
    let at = |flags: &[&str]| number(&json(&[&sparse, flags].concat()), "security_bits");
    let [with, without, general] =
        [at(&[]), at(&["--no-rotation-gain"]), at(&["--ring", "general"])];
    assert!(with + 5.0 < without && without == general, "{with} {without} {general}");
    assert!((without - 122.1).abs() < 0.5 && at(&["--core-svp"]) < with);
    let attacks = json(&[&sparse[..], &["--no-rotation-gain"]].concat())["attacks"].clone();
    let meeting = attacks.as_array().unwrap().iter().find(|a| a["name"] == "primal-hybrid-mitm");
    assert!((number(meeting.unwrap(), "bits") - 133.3).abs() < 0.5, "{attacks}");
    assert_eq!(attacks[0]["name"], "primal-hybrid-representations");

    let ntru =
        json(&["security", "estimate", "--n", "32768", "--log-qp", "1271", "--ring", "ntru"]);
    assert!(ntru["attacks"][0]["block_size"] == 2 && number(&ntru, "security_bits") < 50.0);
    let gaussian = json(&[
        "security",
        "estimate",
        "--n",
        "4096",
        "--log-qp",
        "109",
        "--secret",
        "gaussian:3.2",
    ]);
    assert!((number(&gaussian, "security_bits") - 127.5).abs() < 0.2);
    assert!(success(&sparse).contains("rotations of the secret counted"));
}

#[test]
fn nonsense_is_told() {
    for (args, part) in [
        (&["security", "estimate", "--n", "32768", "--log-qp=-1"][..], "log2_q"),
        (&["security", "estimate", "--n", "1000", "--log-qp", "30"], "power of two"),
        (&["security", "estimate", "--n", "8", "--log-qp", "30"], "dimension"),
        (
            &["security", "estimate", "--n", "1024", "--log-qp", "30", "--secret", "sparse:x"],
            "sparse:WEIGHT",
        ),
        (
            &["security", "estimate", "--n", "1024", "--log-qp", "30", "--secret", "sparse:2000"],
            "weight",
        ),
        (
            &[
                "security",
                "estimate",
                "--n",
                "1024",
                "--log-qp",
                "30",
                "--secret",
                "sparse:20",
                "--ring",
                "ntru",
            ],
            "not estimated",
        ),
        (
            &[
                "security",
                "estimate",
                "--n",
                "1024",
                "--log-qp",
                "30",
                "--ring",
                "ntru",
                "--sigma=8.25",
            ],
            "neither --sigma",
        ),
        (
            &[
                "security",
                "estimate",
                "--n",
                "1024",
                "--log-qp",
                "30",
                "--ring",
                "ntru",
                "--no-rotation-gain",
            ],
            "neither --sigma",
        ),
        (&["params", "plan", "--plain-modulus", "6", "--depth", "2"], "power of a prime"),
        (
            &["params", "plan", "--plain-modulus", "2", "--depth", "2", "--slots", "100000"],
            "params rings",
        ),
        (&["params", "plan", "--plain-modulus", "65537", "--depth", "many"], "unlimited"),
        (&["params", "plan", "--plain-modulus", "65537"], "depth"),
    ] {
        let told = usage(args);
        assert!(told.contains(part), "{args:?}: {told}");
    }
}

#[test]
fn a_plan_for_a_computation_is_a_set_that_computes_it() {
    let path = file("planned.json", String::new());
    std::fs::remove_file(&path).unwrap();
    let args = [
        "params",
        "plan",
        "--plain-modulus",
        "257",
        "--slots",
        "100",
        "--depth",
        "2",
        "--minimize",
        "memory",
    ];
    let plan = json(&[&args[..], &["--out", &path, "--measure", "1"]].concat());
    let best = &plan["candidates"][0];
    assert!(
        number(best, "security_bits") >= 128.0
            && number(best, "multiplications") >= 2.0
            && number(best, "slots") >= 100.0
    );
    assert!(number(best, "measured_seconds") > 0.0 && number(best, "failure_log2") <= -128.0);
    let rows = plan["candidates"].as_array().unwrap();
    assert!(rows.len() > 1 && rows.is_sorted_by_key(|row| row["bytes"].as_u64().unwrap()));
    assert_eq!(json(&["params", "show", &path]), best["spec"]);
}
