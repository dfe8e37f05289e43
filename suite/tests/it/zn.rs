//! `Zn-multiplication` from text to text.

use std::fs;

use crate::stand_in::{Stage, StandIn, Workload};

pub static ZN: Workload = workload(program);

/// The workload with these programs.
pub const fn workload(program: fn(&str) -> &'static str) -> Workload {
    let measured = &["public_keys", "ciphertexts_upload", "ciphertexts_download"];
    Workload { name: "zn-multiplication", stages: STAGES, program, measured }
}

const STAGES: &[Stage] = &[
    ("client_preprocess_input", &["COUNT"]),
    ("client_key_generation", &["INSTANCE"]),
    ("client_encode_encrypt_input", &["INSTANCE"]),
    ("server_encrypted_compute", &["INSTANCE", "COUNT"]),
    ("client_decrypt_decode", &["INSTANCE", "COUNT"]),
    ("client_postprocess", &["INSTANCE", "COUNT"]),
];

pub fn program(stage: &str) -> &'static str {
    match stage {
        "client_preprocess_input" => env!("CARGO_BIN_EXE_zn_client_preprocess_input"),
        "client_key_generation" => env!("CARGO_BIN_EXE_zn_client_key_generation"),
        "client_encode_encrypt_input" => env!("CARGO_BIN_EXE_zn_client_encode_encrypt_input"),
        "server_encrypted_compute" => env!("CARGO_BIN_EXE_zn_server_encrypted_compute"),
        "client_decrypt_decode" => env!("CARGO_BIN_EXE_zn_client_decrypt_decode"),
        "client_postprocess" => env!("CARGO_BIN_EXE_zn_client_postprocess"),
        other => panic!("no stage: {other}"),
    }
}

/// A data set of these pairs.
pub fn stand_in(instance: &'static str, pairs: &[(u64, u64)]) -> StandIn {
    stand_in_of(&ZN, instance, pairs)
}

/// The same for the programs of a variant.
pub fn stand_in_of(
    variant: &'static Workload,
    instance: &'static str,
    pairs: &[(u64, u64)],
) -> StandIn {
    let arguments = vec![("INSTANCE", instance.into()), ("COUNT", pairs.len().to_string())];
    let out = StandIn::new(variant, instance, arguments);
    let text = |of: fn(&(u64, u64)) -> u64| {
        pairs.iter().map(|pair| format!("{}\n", of(pair))).collect::<String>()
    };
    out.write_data("lhs.txt", text(|pair| pair.0));
    out.write_data("rhs.txt", text(|pair| pair.1));
    out
}

/// The products that the last stage wrote.
pub fn result(harness: &StandIn) -> Vec<u64> {
    harness.lines("cleartext_output/out.txt")
}

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

/// The products of pairs modulo 2^64.
pub fn products(pairs: &[(u64, u64)]) -> Vec<u64> {
    pairs.iter().map(|(x, y)| x.wrapping_mul(*y)).collect()
}

/// One pair and two blocks of values, and several blocks of digits in batches, of which the last is
/// not full.
#[test]
fn products_are_those_of_the_numbers() {
    for (instance, count) in [("single", 1), ("small", 1_000), ("medium", 100_000)] {
        let pairs = pairs(count);
        let harness = stand_in(instance, &pairs);
        harness.run_until("client_postprocess");
        assert!(result(&harness) == products(&pairs), "{instance}");
        harness.assert_measured();
    }
}

/// A server has no key and needs none: with the client's files gone it computes the same.
#[test]
fn the_server_needs_the_upload_and_the_parameters_only() {
    let pairs = pairs(1_000);
    let harness = stand_in("small", &pairs);
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
    let names = [
        "Compaction",
        "Encrypted computation",
        "Load keys",
        "Read inputs",
        "Total",
        "Write outputs",
    ];
    assert!(steps.keys().eq(names), "{steps:?}");
    let seconds = |name: &str| steps[name].as_f64().unwrap();
    assert!(names.iter().all(|name| seconds(name) <= seconds("Total") && seconds(name) > 0.0));
    fs::rename(&away, &kept).unwrap();
    for stage in ["client_decrypt_decode", "client_postprocess"] {
        assert!(harness.stage(stage).status.success(), "{stage}");
    }
    assert!(result(&harness) == products(&pairs));
    // Two blocks of 585 pairs: two ciphertexts of 12 bytes a slot each, and a result of less than
    // half of what the components of one take, 36 bytes a slot.
    for (file, most) in [("upload/operands.ct", 4 * 12), ("download/products.ct", 2 * 18)] {
        let bytes = fs::metadata(harness.io(&format!("ciphertexts_{file}"))).unwrap().len();
        assert!(bytes < most * 4096 + 4096, "{file}: {bytes} bytes");
    }
}
