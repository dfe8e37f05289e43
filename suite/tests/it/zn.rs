//! `Zn-multiplication` from text to text.

use std::fs;

use crate::stand_in::{MEASURED, STAGES, StandIn};

/// Pairs with the ends of the range among them, then numbers of a fixed sequence.
pub fn pairs(count: usize) -> Vec<(u64, u64)> {
    let ends = [(u64::MAX, u64::MAX), (0, u64::MAX), (1 << 63, 2), (u64::MAX, 1), (0xffff, 0xffff)];
    let word = |k: u64| {
        let z = k.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) ^ z >> 31
    };
    let random = (1..).map(|k| (word(2 * k), word(2 * k + 1)));
    ends.into_iter().chain(random).take(count).collect()
}

fn products(pairs: &[(u64, u64)]) -> Vec<u64> {
    pairs.iter().map(|(x, y)| x.wrapping_mul(*y)).collect()
}

/// One pair, part of a block, and several blocks in two batches, of which the last is not full.
#[test]
fn products_are_those_of_the_numbers() {
    for (instance, count) in [("single", 1), ("small", 1_000), ("medium", 100_000)] {
        let pairs = pairs(count);
        let harness = StandIn::new(instance, &pairs);
        harness.run_until("client_postprocess");
        assert!(harness.result() == products(&pairs), "{instance}");
        for measured in MEASURED {
            let files = fs::read_dir(harness.io(measured)).unwrap();
            let lengths = files.map(|file| file.unwrap().metadata().unwrap().len());
            assert!(lengths.sum::<u64>() > 0, "{instance}: {measured}");
        }
    }
}

/// A server has no key and needs none: with the client's files gone it computes the same.
#[test]
fn the_server_needs_the_upload_and_the_parameters_only() {
    let pairs = pairs(1_000);
    let harness = StandIn::new("small", &pairs);
    harness.run_until("client_encode_encrypt_input");
    let (kept, away) = (harness.io("secret_key"), harness.root().join("away"));
    fs::rename(&kept, &away).unwrap();
    fs::remove_dir_all(harness.io("preprocessed")).unwrap();
    // Runs are repeated over the files of the one before.
    for _ in 0..2 {
        assert!(harness.stage("server_encrypted_compute").status.success());
    }
    let steps = fs::read_to_string(harness.io("server_reported_steps.json")).unwrap();
    let steps: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&steps).unwrap();
    let names = ["Encrypted computation", "Load keys", "Read inputs", "Total", "Write outputs"];
    assert!(steps.keys().eq(names), "{steps:?}");
    let seconds = |name: &str| steps[name].as_f64().unwrap();
    assert!(names.iter().all(|name| seconds(name) <= seconds("Total") && seconds(name) > 0.0));
    fs::rename(&away, &kept).unwrap();
    for stage in ["client_decrypt_decode", "client_postprocess"] {
        assert!(harness.stage(stage).status.success(), "{stage}");
    }
    assert!(harness.result() == products(&pairs));
}

/// `pins.json` says which stages there are; the runner and this stand-in go by it.
#[test]
fn pins_name_the_stages() {
    let text = include_str!("../../pins.json");
    let pins: serde_json::Value = serde_json::from_str(text).unwrap();
    let workload = &pins["zn-multiplication"];
    let stages: Vec<(&str, Vec<&str>)> = workload["stages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|stage| {
            let words = stage.as_array().unwrap().iter().map(|word| word.as_str().unwrap());
            let words: Vec<&str> = words.collect();
            (words[0], words[1..].to_vec())
        })
        .collect();
    assert!(stages.iter().map(|(name, words)| (*name, &words[..])).eq(STAGES));
    let instances: Vec<(&str, u64)> = everlevel_suite::zn::INSTANCES
        .iter()
        .map(|instance| (instance.name, instance.count))
        .collect();
    let pinned = workload["instances"].as_array().unwrap().iter();
    let pinned: Vec<(&str, u64)> =
        pinned.map(|it| (it["name"].as_str().unwrap(), it["count"].as_u64().unwrap())).collect();
    assert_eq!(pinned, instances);
    assert_eq!(workload["commit"].as_str().unwrap().len(), 40);
}
