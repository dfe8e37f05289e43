//! Stages of `fetch-by-similarity` refuse files and arguments that are not as they should be, with
//! exit code 1 and a code.

use std::fs;
use std::path::Path;

use everlevel_suite::fetch::STAND_IN;

use crate::fetch::{
    DIMENSION, FETCH, KEYS, QUERY, ROWS, first, floats, payloads, run_with, stand_in,
};
use crate::stand_in::{StandIn, failure};

/// A database of one vector over and over.
fn database() -> Vec<f32> {
    first().repeat(ROWS)
}

fn refused(harness: &StandIn, stage: &str) -> String {
    failure(&harness.stage(stage))
}

#[test]
fn vectors_and_payloads_that_are_none() {
    let harness = stand_in(&database(), &first());
    let good = floats(&database());
    let with = |value: f32| {
        let mut rows = database();
        rows[1234 * DIMENSION] = value;
        floats(&rows)
    };
    for wrong in [
        Vec::new(),
        good[..good.len() - 1].to_vec(),
        [&good[..], &[0]].concat(),
        with(f32::NAN),
        with(f32::INFINITY),
        with(0.0),
        with(1.5),
    ] {
        harness.write_data("db.bin", &wrong);
        assert_eq!(refused(&harness, "client_preprocess_dataset"), "suite.numbers");
        assert!(!harness.io("preprocessed/rows.bin").exists());
    }
    assert_eq!(refused(&harness, "client_encode_encrypt_db"), "wire.io");
    harness.write_data("db.bin", &good);
    run_with(&KEYS, &harness, "client_encode_encrypt_db");
    let query = floats(&first());
    let double = floats(&first().iter().map(|x| 2.0 * x).collect::<Vec<_>>());
    for wrong in [Vec::new(), query[1..].to_vec(), query.repeat(2), double] {
        harness.write_data("query.bin", &wrong);
        assert_eq!(refused(&harness, "client_preprocess_query"), "suite.numbers");
        assert_eq!(refused(&harness, "client_encode_encrypt_query"), "suite.io");
    }
    harness.write_data("query.bin", &query);
    let mut negative = payloads();
    negative[7 * 2 * 999 + 5] = 0x80;
    for wrong in [negative, payloads()[2..].to_vec()] {
        harness.write_data("payloads.bin", &wrong);
        assert_eq!(refused(&harness, "client_encode_encrypt_db"), "suite.numbers");
        assert!(!harness.io("ciphertexts_upload/payloads.ct").exists());
    }
    // What the stages before left.
    let rows = harness.io("preprocessed/rows.bin");
    let rounded = fs::read(&rows).unwrap();
    let mut large = rounded.clone();
    large[77 * DIMENSION..][..2].copy_from_slice(&[32, 32]);
    for wrong in [large, rounded[1..].to_vec()] {
        fs::write(&rows, wrong).unwrap();
        assert_eq!(refused(&harness, "client_encode_encrypt_db"), "suite.numbers");
    }
    let rotation = harness.io("preprocessed/rotation.bin");
    for wrong in [vec![2; 64], vec![0; 63]] {
        fs::write(&rotation, wrong).unwrap();
        assert_eq!(refused(&harness, "client_preprocess_query"), "suite.numbers");
    }
    fs::write(harness.io("preprocessed/query.bin"), [128; DIMENSION]).unwrap();
    assert_eq!(refused(&harness, "client_encode_encrypt_query"), "suite.numbers");
    fs::remove_dir_all(harness.root().join("datasets")).unwrap();
    assert_eq!(refused(&harness, "client_preprocess_dataset"), "suite.io");
}

#[test]
fn arguments_that_stages_do_not_have() {
    let harness = stand_in(&first(), &first());
    let code = |stage: &str, arguments: &[&str]| failure(&harness.start(stage, arguments));
    for (stage, _) in FETCH.stages {
        assert_eq!(code(stage, &[]), "suite.usage", "{stage}");
        for more in [&["1"][..], &["--seed"], &["--seed", "x"], &["--seed", "-1"], &["--count"]] {
            let arguments = [&[STAND_IN.name], more].concat();
            assert_eq!(code(stage, &arguments), "suite.usage", "{stage} {more:?}");
        }
        for size in ["4", "-1", "00", "toy", "../toy", "--count_only", ""] {
            assert_eq!(code(stage, &[size]), "suite.instance", "{stage} {size:?}");
        }
    }
}

#[test]
fn uploads_and_results_that_are_cut_changed_or_of_another() {
    let mut harness = stand_in(&database(), &first());
    run_with(&KEYS, &harness, "server_encrypted_compute");
    let [rows, numbers, query] = ["rows.ct", "payloads.ct", "query.bin"]
        .map(|name| harness.io("ciphertexts_upload").join(name));
    let (keys, download) =
        (harness.io("keys/server.keys"), harness.io("ciphertexts_download/results.bin"));
    let code = |harness: &StandIn, stage: &str, path: &Path, bytes: &[u8]| {
        let kept = fs::read(path).unwrap();
        fs::write(path, bytes).unwrap();
        let code = refused(harness, stage);
        fs::write(path, kept).unwrap();
        code
    };
    let result = fs::read(&download).unwrap();
    for path in [&rows, &numbers, &query, &keys] {
        let bytes = fs::read(path).unwrap();
        let mut changed = bytes.clone();
        let last = bytes.len() - 100;
        changed[last] ^= 4;
        let broken: &[&[u8]] =
            &[&[], &bytes[..100], &bytes[..bytes.len() - 1], &changed, b"ciphertexts"];
        for wrong in broken {
            let code = code(&harness, "server_encrypted_compute", path, wrong);
            let known = ["wire.truncated", "wire.checksum", "wire.not-ours"];
            // A key is read where it is used.
            assert!(
                known.contains(&code.as_str()) || code == "scheme.unreadable-key",
                "{}: {code}",
                path.display()
            );
            assert!(!download.exists());
        }
    }
    let swapped = fs::read(&numbers).unwrap();
    let found = code(&harness, "server_encrypted_compute", &rows, &swapped);
    assert_eq!(found, "suite.instance");
    // The result.
    fs::write(&download, &result).unwrap();
    for (wrong, wanted) in [
        (&result[..result.len() - 1], "wire.truncated"),
        (&fs::read(&query).unwrap(), "wire.wrong-kind"),
    ] {
        assert_eq!(code(&harness, "client_decrypt_decode", &download, wrong), wanted);
        assert!(!harness.io("decrypted/sums.bin").exists());
    }
    assert!(harness.stage("client_decrypt_decode").status.success());
    // Sums that no server sends.
    let sums = harness.io("decrypted/sums.bin");
    let bytes = fs::read(&sums).unwrap();
    let mut changed = bytes.clone();
    changed[0] = 9;
    assert_eq!(code(&harness, "client_postprocess", &sums, &changed), "suite.result");
    assert_eq!(code(&harness, "client_postprocess", &sums, &bytes[8..]), "suite.numbers");
    // Words that are no residues, whose sums would not fit a word, in every field.
    for at in (0..bytes.len()).step_by(bytes.len() / 18) {
        let mut huge = bytes.clone();
        huge[at..at + 8].fill(0xff);
        assert_eq!(code(&harness, "client_postprocess", &sums, &huge), "suite.numbers", "{at}");
    }
    // Every row matches: more than can be told apart.
    assert_eq!(refused(&harness, "client_postprocess"), "suite.collision");
    // Payloads are not a count, and there are no keys for one.
    harness.set("OPTIONS", "--count_only");
    assert_eq!(refused(&harness, "client_decrypt_decode"), "suite.instance");
    assert_eq!(refused(&harness, "server_encrypted_compute"), "scheme.missing-key");
    harness.set("OPTIONS", "");
    // New keys do not go with what was encrypted under those before.
    fs::write(&download, &result).unwrap();
    assert!(harness.stage("client_key_generation").status.success());
    assert_eq!(refused(&harness, "client_decrypt_decode"), "scheme.wrong-key");
    assert_eq!(refused(&harness, QUERY[2]), "scheme.wrong-key");
    // A database that cannot be encrypted leaves none of an earlier run.
    fs::remove_file(harness.io("secret_key/secret.key")).unwrap();
    assert_eq!(refused(&harness, "client_encode_encrypt_db"), "wire.io");
    assert!(!rows.exists() && !numbers.exists());
}
