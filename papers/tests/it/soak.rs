//! `papers soak`: nothing wrong, equal seeds give equal counts, and a run goes on where it ended.

use crate::common::{json, read_records, usage};
use serde_json::Value;

const FAMILY: &str = "insecure_bfv-257-n8";

/// The counts, without when and how long.
fn counts(mut record: Value) -> Value {
    let fields = record.as_object_mut().unwrap();
    fields.remove("seconds").unwrap();
    fields.remove("circumstances").unwrap();
    record
}

/// Runs a few key pairs of one family; returns the record that was written.
fn soak(out: &str, keys: &str, seed: &str) -> Value {
    let printed =
        json(&["soak", FAMILY, "--keys", keys, "--runs", "4", "--seed", seed, "--out", out]);
    let record = read_records(out.as_ref()).remove(&format!("soak-{FAMILY}")).unwrap();
    assert_eq!(counts(printed), counts(record.clone()));
    record
}

#[test]
fn a_run_goes_on_where_it_ended_and_counts_the_same() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (first, second) = (first.path().to_str().unwrap(), second.path().to_str().unwrap());
    let begun = soak(first, "1", "7");
    assert_eq!((begun["key_pairs"].as_u64(), begun["bootstrappings"].as_u64()), (Some(1), Some(4)));
    let ended = counts(soak(first, "3", "7"));
    assert_eq!(ended, counts(soak(second, "3", "7")));
    // Another seed begins anew.
    let other = counts(soak(second, "3", "8"));
    assert_eq!(other["bootstrappings"], 12);
    assert_ne!(other["largest_noise_bits"], ended["largest_noise_bits"]);
}

/// The quick version of all families under one key pair: every way of bootstrapping, all messages,
/// all noises.
#[test]
fn nothing_is_wrong_and_the_crafted_noise_fills_the_bound() {
    let all = json(&["soak", "--quick", "--keys", "1"]);
    let all = all.as_array().unwrap();
    assert_eq!(all.len(), 13);
    for record in all {
        let family = &record["plan"]["family"];
        assert_eq!(record["bootstrappings"], 7, "{family}");
        assert_eq!((&record["wrong_slots"], &record["above_bound"]), (&0.into(), &0.into()));
        let counted: u64 =
            record["gaps"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).sum();
        assert_eq!(counted, 7, "{family}");
        let number = |key: &str| record[key].as_f64().unwrap();
        // Within a hundredth of a bit of the bound, and never above.
        assert!((0.0..0.01).contains(&number("least_input_gap_bits")), "{family}");
        assert!(number("least_gap_bits") > 0.0, "{family}");
        assert!(number("failure_log2") < -128.0, "{family}");
        let kinds = |key: &str| record[key].as_object().unwrap().len();
        assert_eq!((kinds("least_by_message"), kinds("least_by_noise")), (7, 4), "{family}");
    }
}

#[test]
fn families_that_there_are_not_are_refused() {
    let told = usage(&["soak", "bgv-65537-n14"]);
    assert!(told.contains("bgv-65537-n15") && told.contains("odd-8191-m301"), "{told}");
}
