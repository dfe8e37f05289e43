//! Security estimates of the papers' keys.

use serde_json::Value;

use crate::common::{json, success};

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} is a finite number in {value}"))
}

#[test]
fn the_papers_keys_are_shown_beside_their_claims() {
    let keys = json(&["security"]);
    let find = |part: &str| {
        keys.as_array()
            .unwrap()
            .iter()
            .find(|k| k["key"].as_str().unwrap().contains(part))
            .unwrap()
            .clone()
    };
    let main = find("main");
    assert_eq!((number(&main, "claimed_bits"), number(&main, "n")), (92.9, 16384.0));
    for key in keys.as_array().unwrap() {
        assert!(number(key, "bits") < number(key, "claimed_bits") + 12.0, "{key}");
    }
    assert_eq!(find("ltv-32768")["block_size"], 2);
    let markdown = success(&["security", "--markdown"]);
    let stored = include_str!("../../../docs/security.md");
    assert!(
        stored.contains(markdown.trim()),
        "docs/security.md is out of date: paste what `papers security --markdown` prints"
    );
}
