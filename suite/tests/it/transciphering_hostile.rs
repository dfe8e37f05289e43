//! Stages of `transciphering` refuse files and arguments that are not as they should be, with exit
//! code 1 and a code.

use std::fs;
use std::path::Path;

use everlevel_suite::transciphering::{STAND_INS, TASK_VARIABLE};

use crate::stand_in::{StandIn, failure};
use crate::transciphering::{TASKS, TRANSCIPHERING, Task, block, numbers, stand_in};

fn refused(harness: &StandIn, stage: &str) -> String {
    failure(&harness.stage(stage))
}

/// The code of a stage with other bytes in a file, which has its own again afterwards.
fn refused_with(harness: &StandIn, stage: &str, path: &Path, bytes: &[u8]) -> String {
    let kept = fs::read(path).unwrap();
    fs::write(path, bytes).unwrap();
    let code = refused(harness, stage);
    fs::write(path, kept).unwrap();
    code
}

#[test]
fn arguments_and_tasks_that_stages_do_not_have() {
    let instance = STAND_INS[0];
    let task = Task::InnerProduct;
    let mut harness = stand_in(instance, instance.name, task, &numbers(instance));
    for (stage, _) in TRANSCIPHERING.stages {
        let code = |arguments: &[&str]| failure(&harness.start(stage, arguments));
        assert_eq!(code(&[]), "suite.usage", "{stage}");
        assert_eq!(code(&["0", "1"]), "suite.usage", "{stage}");
        for size in ["4", "-1", "00", "toy", "../toy", "--mini_workload", ""] {
            assert_eq!(code(&[size]), "suite.instance", "{stage} {size:?}");
        }
    }
    // Stages are not told what the harness asks for, so that nothing is no answer.
    for task in [None, Some("2"), Some("01"), Some("-1"), Some("maximum"), Some("")] {
        harness.set_variable(TASK_VARIABLE, task);
        for (stage, _) in TRANSCIPHERING.stages {
            assert_eq!(refused(&harness, stage), "suite.mini-workload", "{stage} {task:?}");
        }
    }
}

#[test]
fn data_and_keys_that_are_none() {
    let instance = STAND_INS[1];
    let harness = stand_in(instance, instance.name, Task::Maximum, &numbers(instance));
    let data = |name: &str| harness.root().join("datasets").join(instance.name).join(name);
    for (name, stage) in [
        ("aes_key.hex", "client_preprocess"),
        ("db.hex", "server_preprocess_dataset"),
        ("aes_iv.hex", "server_preprocess_dataset"),
    ] {
        let path = data(name);
        let good = fs::read(&path).unwrap();
        let mut other = good.clone();
        other[7] = b'x';
        let longer = [&good[..], b"00"].concat();
        for wrong in [&[][..], &good[..good.len() - 1], &good[2..], &longer, &other] {
            assert_eq!(refused_with(&harness, stage, &path, wrong), "suite.numbers", "{name}");
        }
        fs::remove_file(&path).unwrap();
        assert_eq!(refused(&harness, stage), "suite.io", "{name}");
        fs::write(&path, good).unwrap();
    }
    for left in ["secret_key/round_keys.bin", "intermediate/blocks.bin"] {
        assert!(!harness.io(left).exists(), "{left}");
    }
    // Eight blocks from the last counter on.
    let last = "f".repeat(32);
    let path = data("aes_iv.hex");
    let code = refused_with(&harness, "server_preprocess_dataset", &path, last.as_bytes());
    assert_eq!(code, "aes.counter-overflow");
    // Nothing is encrypted without keys.
    assert_eq!(refused(&harness, "client_encode_encrypt"), "wire.io");
}

// A test for each task, so that they run at the same time: these are the longest here.
#[test]
fn files_of_a_maximum_that_are_cut_changed_or_of_another() {
    check_files(Task::Maximum);
}

#[test]
fn files_of_an_inner_product_that_are_cut_changed_or_of_another() {
    check_files(Task::InnerProduct);
}

/// What was made for one task is refused by the stages of the other one.
#[test]
fn files_of_another_task() {
    for (task, other) in [(0, 1), (1, 0)] {
        let mut harness = block(TASKS[task]);
        harness.set_variable(TASK_VARIABLE, Some(TASKS[other].number()));
        for stage in [
            "client_decrypt_decode",
            "client_decrypt_decode_aes_decryption",
            "server_encrypted_compute",
            "server_encrypted_aes_decryption",
            "client_encode_encrypt",
        ] {
            let code = refused(&harness, stage);
            assert!(code.starts_with("wire.") || code.starts_with("scheme."), "{stage}: {code}");
        }
    }
}

fn check_files(task: Task) {
    let harness = block(task);
    let known = ["wire.truncated", "wire.checksum", "wire.not-ours", "scheme.unreadable-key"];
    let all = [
        ("server_encrypted_aes_decryption", "public_keys/server.keys"),
        ("server_encrypted_aes_decryption", "ciphertexts_upload/round_keys.ct"),
        ("server_encrypted_compute", "intermediate/states.ct"),
        ("client_decrypt_decode_aes_decryption", "ciphertext_aes_download/states.bin"),
        ("client_decrypt_decode", "ciphertexts_download/result.bin"),
    ];
    let files = all.map(|(_, name)| {
        let path = harness.io(name);
        let bytes = fs::read(&path).unwrap();
        (path, bytes)
    });
    // A stage that fails removes what an earlier run left, which the next ones need again; what it
    // reads it leaves as it is, and keys are large.
    let restore = || {
        let removed = files.iter().filter(|(path, _)| !path.exists());
        removed.for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
    };
    let code_with = |i: usize, bytes: &[u8]| {
        restore();
        refused_with(&harness, all[i].0, &files[i].0, bytes)
    };
    for (i, (path, bytes)) in files.iter().enumerate() {
        let mut changed = bytes.clone();
        changed[bytes.len() - 100] ^= 4;
        let broken: &[&[u8]] = &[&[], &bytes[..100], &bytes[..bytes.len() - 1], b"ciphertexts"];
        // A key is read where it is used, and the last one may not be.
        let whole: &[&[u8]] = if i == 0 { &[] } else { &[&changed] };
        for wrong in broken.iter().chain(whole) {
            let code = code_with(i, wrong);
            assert!(known.contains(&code.as_str()), "{}: {code}", path.display());
        }
    }
    // Files in the places of others.
    for (i, other, wanted) in [
        (1, 2, "suite.instance"),
        (2, 1, "suite.instance"),
        (3, 4, "suite.instance"),
        (4, 3, "suite.instance"),
        (4, 1, "wire.wrong-kind"),
    ] {
        let code = code_with(i, &files[other].1);
        assert_eq!(code, wanted, "{}", files[i].0.display());
    }
    restore();
    // What is between the stages in the clear.
    for (stage, name) in [
        ("client_encode_encrypt", "secret_key/round_keys.bin"),
        ("server_encrypted_aes_decryption", "intermediate/blocks.bin"),
        ("server_encrypted_aes_decryption", "public_keys/levels.bin"),
    ] {
        let path = harness.io(name);
        let good = fs::read(&path).unwrap();
        for wrong in [&[][..], &good[1..]] {
            restore();
            assert_eq!(refused_with(&harness, stage, &path, wrong), "suite.numbers", "{name}");
        }
    }
    // Round keys at the lowest level have no room for a state.
    restore();
    let path = harness.io("public_keys/levels.bin");
    let code = refused_with(&harness, "server_encrypted_aes_decryption", &path, &[0; 88]);
    assert!(code.starts_with("aes.") || code.starts_with("scheme."), "{code}");
    // Slots that no server sends.
    restore();
    assert!(harness.stage("client_decrypt_decode").status.success());
    let slots = harness.io("decrypted/slots.bin");
    let good = fs::read(&slots).unwrap();
    for (at, value) in [(8, good[8] ^ 1), (2, 1)] {
        let mut changed = good.clone();
        changed[at] = value;
        assert_eq!(refused_with(&harness, "client_postprocess", &slots, &changed), "suite.result");
        assert!(!harness.io("result.txt").exists());
    }
    assert_eq!(refused_with(&harness, "client_postprocess", &slots, &good[8..]), "suite.numbers");
    // New keys do not go with what was encrypted under those before.
    assert!(harness.stage("client_key_generation").status.success());
    for (stage, _) in &all[1..] {
        files[1..].iter().for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
        assert_eq!(refused(&harness, stage), "scheme.wrong-key", "{stage}");
    }
}
