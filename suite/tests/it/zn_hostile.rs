//! Stages of `Zn-multiplication` refuse files that are not as they should be, with exit code 1 and
//! a code.

use std::fs;

use everlevel_scheme::{OptIn, Params};
use everlevel_suite::zn::spec;
use everlevel_wire::file::Existing;
use everlevel_wire::{BoundPolicy, CiphertextReader, CiphertextWriter, Encryption, ReadOptions};

use crate::ml;
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

/// A line that is longer than any number is not two lines: 999 of them are not taken for 1,000.
#[test]
fn long_lines_are_not_several() {
    let harness = stand_in("small", &pairs(1_000));
    for zeros in [21, 22, 23, 44, 45, 1_000_000] {
        let lines = "1\n".repeat(998) + &"0".repeat(zeros) + "7\n";
        harness.write_data("rhs.txt", lines);
        let found = failure(&harness.stage("client_preprocess_input"));
        assert_eq!(found, "suite.numbers", "{zeros} zeros");
    }
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
fn uploads_of_other_counts() {
    let harness = encrypted("single", 1);
    let path = harness.io("ciphertexts_upload/operands.ct");
    let params = Params::new(spec(), OptIn::SecureOnly).unwrap();
    let fresh = ReadOptions::with_bounds(BoundPolicy::Fresh(Encryption::Secret));
    let mut reader = CiphertextReader::open(&params, &path, fresh).unwrap();
    let (known, count) = (reader.metadata().clone(), reader.len());
    let all = reader.read_range(0..count).unwrap();
    let twice = [&all[..], &all[..]].concat();
    for wrong in [0, 1, count - 1, count + 1, 2 * count] {
        let replace = Existing::Replace;
        let mut writer = CiphertextWriter::create(&params, &path, replace, wrong, &known).unwrap();
        if wrong > 0 {
            writer.push_all(&twice[..wrong]).unwrap();
        }
        writer.finish_without_sync().unwrap();
        let code = failure(&harness.stage("server_encrypted_compute"));
        // A file without ciphertexts is of no key, and may be refused for that.
        let of_no_key = wrong == 0 && code.starts_with("wire.");
        assert!(code == "suite.instance" || of_no_key, "{wrong} ciphertexts: {code}");
    }
}

/// Sums of digits' products wrap below a smaller plaintext modulus, and every stage would succeed.
#[test]
fn parameters_that_are_cut_or_of_another_workload() {
    let harness = encrypted("single", 1);
    let other = ml::stand_in("single", 0, &ml::images(1));
    other.run_until("client_key_generation");
    let parameters = harness.io("public_keys/parameters");
    let bytes = fs::read(&parameters).unwrap();
    let stages =
        ["client_encode_encrypt_input", "server_encrypted_compute", "client_decrypt_decode"];
    for length in [0, 63, bytes.len() / 2, bytes.len() - 1] {
        fs::write(&parameters, &bytes[..length]).unwrap();
        for stage in stages {
            let code = failure(&harness.stage(stage));
            assert_eq!(code, "wire.truncated", "{stage}: {length} bytes");
        }
    }
    // Nothing is read of a file that is too large to be right. It takes no place on the disk.
    fs::File::create(&parameters).unwrap().set_len((1 << 30) + 1).unwrap();
    for stage in stages {
        assert_eq!(failure(&harness.stage(stage)), "wire.limit", "{stage}");
    }
    // A stage that fails leaves no upload of an earlier run.
    assert!(!harness.io("ciphertexts_upload/operands.ct").exists());
    for file in ["public_keys/parameters", "secret_key/secret.key"] {
        fs::copy(other.io(file), harness.io(file)).unwrap();
    }
    for stage in stages {
        assert_eq!(failure(&harness.stage(stage)), "suite.instance", "{stage}");
    }
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
