//! Stages of `Zn-multiplication` refuse files that are not as they should be, with exit code 1 and
//! a code.

use std::fs;

use crate::stand_in::{StandIn, failure};
use crate::zn::{pairs, stand_in};

/// Ciphertexts of one instance that was encrypted.
fn encrypted(instance: &'static str, count: usize) -> StandIn {
    let harness = stand_in(instance, &pairs(count));
    harness.run_until("client_encode_encrypt_input");
    harness
}

#[test]
fn numbers_that_are_none() {
    let harness = stand_in("single", &[(1, 1)]);
    for text in [
        "18446744073709551616\n",
        "184467440737095516150\n",
        "1844674407370955161500000\n",
        "-1\n",
        "+1\n",
        "1.5\n",
        "1e3\n",
        "0x10\n",
        " 1\n",
        "\n",
        "",
        "1\n2\n",
        "1\n\n",
        "one\n",
        "\u{0661}\n",
    ] {
        harness.write_data("rhs.txt", text);
        let found = failure(&harness.stage("client_preprocess_input"));
        assert_eq!(found, "suite.numbers", "{text:?}");
        assert_eq!(fs::read_dir(harness.io("preprocessed")).unwrap().count(), 0, "{text:?}");
    }
    // Whatever programs end lines with.
    for text in ["18446744073709551615\n", "18446744073709551615", "18446744073709551615\r\n"] {
        harness.write_data("rhs.txt", text);
        assert!(harness.stage("client_preprocess_input").status.success(), "{text:?}");
    }
    fs::remove_dir_all(harness.root().join("datasets")).unwrap();
    assert_eq!(failure(&harness.stage("client_preprocess_input")), "suite.io");
}

#[test]
fn arguments_that_stages_do_not_have() {
    let harness = encrypted("single", 1);
    let code = |stage: &str, arguments: &[&str]| failure(&harness.start(stage, arguments));
    assert_eq!(code("client_preprocess_input", &[]), "suite.usage");
    assert_eq!(code("client_preprocess_input", &["2"]), "suite.instance");
    assert_eq!(code("client_preprocess_input", &["single"]), "suite.instance");
    assert_eq!(code("client_key_generation", &["../single"]), "suite.instance");
    assert_eq!(code("client_key_generation", &["single", "1"]), "suite.usage");
    assert_eq!(code("client_encode_encrypt_input", &["tiny"]), "suite.instance");
    let last = ["server_encrypted_compute", "client_decrypt_decode", "client_postprocess"];
    for stage in last {
        assert_eq!(code(stage, &["single"]), "suite.usage", "{stage}");
        assert_eq!(code(stage, &["single", "1000"]), "suite.instance", "{stage}");
        assert_eq!(code(stage, &["single", "-1"]), "suite.instance", "{stage}");
        assert_eq!(code(stage, &["single", "99999999999999999999"]), "suite.instance", "{stage}");
    }
}

#[test]
fn uploads_that_are_cut_changed_or_of_another_instance() {
    let harness = encrypted("single", 1);
    let path = harness.io("ciphertexts_upload/operands.ct");
    let bytes = fs::read(&path).unwrap();
    let download = harness.io("ciphertexts_download/products.ct");
    let compute = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        // What an earlier run left is not taken for the result of this one.
        fs::create_dir_all(download.parent().unwrap()).unwrap();
        fs::write(&download, "a result").unwrap();
        let found = failure(&harness.stage("server_encrypted_compute"));
        assert!(!download.exists());
        found
    };
    for length in [0, 7, 63, 64, 500, bytes.len() / 2, bytes.len() - 1] {
        assert_eq!(compute(&bytes[..length]), "wire.truncated", "{length} bytes");
    }
    assert_eq!(compute(&[&bytes[..], &[0]].concat()), "wire.trailing");
    let mut changed = bytes.clone();
    changed[bytes.len() - 10_000] ^= 4;
    assert_eq!(compute(&changed), "wire.checksum");
    assert_eq!(compute(b"ciphertexts"), "wire.not-ours");
    fs::remove_file(&path).unwrap();
    assert_eq!(failure(&harness.stage("server_encrypted_compute")), "wire.io");
    // As many ciphertexts, but of pairs that another instance has.
    let other = encrypted("small", 1_000);
    let foreign = fs::read(other.io("ciphertexts_upload/operands.ct")).unwrap();
    assert_eq!(compute(&foreign), "suite.instance");
}

#[test]
fn results_that_are_anothers_or_no_results() {
    let harness = encrypted("single", 1);
    assert!(harness.stage("server_encrypted_compute").status.success());
    let (upload, download) = (
        harness.io("ciphertexts_upload/operands.ct"),
        harness.io("ciphertexts_download/products.ct"),
    );
    let bytes = fs::read(&download).unwrap();
    fs::write(&download, &bytes[..bytes.len() - 1]).unwrap();
    assert_eq!(failure(&harness.stage("client_decrypt_decode")), "wire.truncated");
    fs::copy(&upload, &download).unwrap();
    assert_eq!(failure(&harness.stage("client_decrypt_decode")), "wire.wrong-kind");
    // A new key does not open what was encrypted under the one before.
    fs::write(&download, &bytes).unwrap();
    assert!(harness.stage("client_key_generation").status.success());
    assert_eq!(failure(&harness.stage("client_decrypt_decode")), "scheme.wrong-key");
    assert_eq!(fs::read_dir(harness.io("decrypted")).unwrap().count(), 0);
    // A file of words of another length.
    fs::create_dir_all(harness.io("decrypted")).unwrap();
    fs::write(harness.io("decrypted/products.bin"), [0; 9]).unwrap();
    assert_eq!(failure(&harness.stage("client_postprocess")), "suite.numbers");
    fs::write(harness.io("preprocessed/operands.bin"), [0; 15]).unwrap();
    assert_eq!(failure(&harness.stage("client_encode_encrypt_input")), "suite.numbers");
}
