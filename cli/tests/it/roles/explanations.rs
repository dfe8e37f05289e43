//! `everlevel explain`.

use std::fs;

use serde_json::Value;

use super::{Places, refused, run, told};

/// What every operation does to the noise, without a key and with one, and along a bootstrapping.
#[test]
fn explanations() {
    let places = Places::new();
    let owner = places.of("owner");
    told(&owner, &["keygen", "--params", "insecure_bgv-257-n8", "--out", "keys"]);
    fs::write(owner.join("x.csv"), "v\n3\n5\n").unwrap();
    told(&owner, &["encrypt", "--key", "keys/public.key", "--in", "x.csv", "--out", "x.ct"]);

    let program = "y = 3*x*(1-x); z = rotate(y, 1) + x^2";
    let explain = ["explain", "--server-keys", "keys/server.keys", program, "x=x.ct"];
    let public = told(&owner, &explain);
    let steps = public["steps"].as_array().unwrap();
    assert_eq!(steps[0]["operation"], "input");
    assert_eq!(steps[0]["detail"], "x");
    assert!(
        steps.iter().all(|step| step.get("measured_bits").is_none()),
        "nothing that depends on the key"
    );
    assert!(
        steps.iter().any(|step| step["operation"] == "product")
            && public.get("least_slack_bits").is_none()
    );
    let number = |step: &Value, name: &str| step[name].as_f64().unwrap();
    assert!(
        steps.iter().all(
            |step| number(step, "failure_log2") < -150.0 && number(step, "capacity_bits") > 0.0
        )
    );
    assert!((-170.0..-140.0).contains(&public["failure_log2"].as_f64().unwrap()));
    // The rows of the results, the later one made of the other.
    let (y, z) =
        (public["outputs"]["y"].as_u64().unwrap(), public["outputs"]["z"].as_u64().unwrap());
    assert!(0 < y && y < z && z as usize == steps.len());

    let measured =
        told(&owner, &[&explain[..], &["--key", "keys/secret.key", "--svg", "x.svg"]].concat());
    for step in measured["steps"].as_array().unwrap() {
        assert!(number(step, "measured_bits") <= number(step, "bound_bits"), "{step}");
        assert!(
            (number(step, "estimate_bits") - number(step, "measured_bits")).abs() < 4.0,
            "{step}"
        );
    }
    assert!(measured["least_slack_bits"].as_f64().unwrap() > 0.0);
    let svg = fs::read_to_string(owner.join("x.svg")).unwrap();
    assert!(
        svg.starts_with("<svg")
            && svg.contains("measured noise")
            && svg.trim_end().ends_with("</svg>")
    );
    assert!(refused(&owner, &[&explain[..], &["--svg", "x.svg"]].concat()).contains("--force"));
    assert!(
        refused(&owner, &["explain", "--server-keys", "keys/server.keys", "y = x", "w=x.ct"])
            .contains("does not read w")
    );
    assert!(refused(&owner, &["explain"]).starts_with("everlevel: "));

    let cycle = told(
        &owner,
        &["explain", "bootstrap", "--params", "insecure_bgv-257-n8", "--svg", "b.svg"],
    );
    let stages: Vec<&str> = cycle["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["stage"].as_str().unwrap())
        .collect();
    assert!(stages.contains(&"digit_removal") && stages.last() == Some(&"assemble"), "{stages:?}");
    assert!(cycle["least_slack_bits"].as_f64().unwrap() > 0.0);
    assert!(fs::read_to_string(owner.join("b.svg")).unwrap().contains("digit_removal"));
    let table = String::from_utf8(
        run(&owner, &["explain", "bootstrap", "--params", "insecure_bgv-257-n8"]).stdout,
    )
    .unwrap();
    assert!(table.contains("-- digit_removal") && table.contains("do not share"), "{table}");
}
