//! `transciphering` from data under AES to their bytes, and to their maximum or an inner product,
//! on a small ring.

use std::fs;

use aes::Aes128;
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use everlevel_suite::Instance;
use everlevel_suite::transciphering::{INSTANCES, STAND_INS, TASK_VARIABLE};

use crate::stand_in::{StandIn, Workload};

pub static TRANSCIPHERING: Workload = Workload {
    name: "transciphering",
    stages: &[
        ("client_preprocess", &["SIZE"]),
        ("client_key_generation", &["SIZE"]),
        ("client_encode_encrypt", &["SIZE"]),
        ("server_preprocess_dataset", &["SIZE"]),
        ("server_encrypted_aes_decryption", &["SIZE"]),
        ("server_encrypted_compute", &["SIZE"]),
        ("client_decrypt_decode_aes_decryption", &["SIZE"]),
        ("client_postprocess_aes_decryption", &["SIZE"]),
        ("client_decrypt_decode", &["SIZE"]),
        ("client_postprocess", &["SIZE"]),
    ],
    program,
    measured: &[
        "public_keys",
        "ciphertexts_upload",
        "ciphertext_aes_download",
        "ciphertexts_download",
    ],
};

fn program(stage: &str) -> &'static str {
    match stage {
        "client_preprocess" => env!("CARGO_BIN_EXE_transciphering_client_preprocess"),
        "client_key_generation" => env!("CARGO_BIN_EXE_transciphering_client_key_generation"),
        "client_encode_encrypt" => env!("CARGO_BIN_EXE_transciphering_client_encode_encrypt"),
        "server_preprocess_dataset" => {
            env!("CARGO_BIN_EXE_transciphering_server_preprocess_dataset")
        }
        "server_encrypted_aes_decryption" => {
            env!("CARGO_BIN_EXE_transciphering_server_encrypted_aes_decryption")
        }
        "server_encrypted_compute" => env!("CARGO_BIN_EXE_transciphering_server_encrypted_compute"),
        "client_decrypt_decode_aes_decryption" => {
            env!("CARGO_BIN_EXE_transciphering_client_decrypt_decode_aes_decryption")
        }
        "client_postprocess_aes_decryption" => {
            env!("CARGO_BIN_EXE_transciphering_client_postprocess_aes_decryption")
        }
        "client_decrypt_decode" => env!("CARGO_BIN_EXE_transciphering_client_decrypt_decode"),
        "client_postprocess" => env!("CARGO_BIN_EXE_transciphering_client_postprocess"),
        other => panic!("no stage: {other}"),
    }
}

pub const KEY: [u8; 16] = *b"a key of 16 byte";
/// So that the counter carries over all of its bytes.
pub const IV: u128 = u128::MAX / 256 - 3;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What a harness asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    Maximum,
    InnerProduct,
}

pub const TASKS: [Task; 2] = [Task::Maximum, Task::InnerProduct];

impl Task {
    /// The harness's number of it.
    pub fn number(self) -> &'static str {
        match self {
            Task::Maximum => "0",
            Task::InnerProduct => "1",
        }
    }

    /// What its steps begin with.
    fn name(self) -> &'static str {
        match self {
            Task::Maximum => "Maximum",
            Task::InnerProduct => "Inner product",
        }
    }

    /// What the harness compares the result with.
    fn expected(self, numbers: &[u16]) -> u16 {
        match self {
            Task::Maximum => *numbers.iter().max().unwrap(),
            Task::InnerProduct => inner_product(numbers),
        }
    }
}

/// A harness with these numbers under AES: in counter mode, or a block by itself as it is.
pub fn stand_in(instance: Instance, size: &str, task: Task, numbers: &[u16]) -> StandIn {
    let mut out = StandIn::new(&TRANSCIPHERING, instance.name, vec![("SIZE", size.into())]);
    out.set_variable(TASK_VARIABLE, Some(task.number()));
    let cipher = Aes128::new(&KEY.into());
    let mut data: Vec<u8> = numbers.iter().flat_map(|x| x.to_be_bytes()).collect();
    if data.len() == 16 {
        let mut block = <[u8; 16]>::try_from(&data[..]).unwrap().into();
        cipher.encrypt_block(&mut block);
        data = block.to_vec();
    } else {
        for (block, counter) in data.chunks_mut(16).zip(IV..) {
            let mut stream = counter.to_be_bytes().into();
            cipher.encrypt_block(&mut stream);
            block.iter_mut().zip(stream).for_each(|(x, k)| *x ^= k);
        }
        out.write_data("aes_iv.hex", hex(&IV.to_be_bytes()));
    }
    out.write_data("db.hex", hex(&data));
    out.write_data("aes_key.hex", hex(&KEY));
    out
}

/// Numbers that look random, all kinds of bytes among them.
pub fn numbers(instance: Instance) -> Vec<u16> {
    let number = |i: u64| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 43) as u16;
    let mut out: Vec<u16> = (0..instance.count).map(number).collect();
    out[0] = u16::MAX;
    out[1] = 0;
    out
}

fn inner_product(numbers: &[u16]) -> u16 {
    let (first, second) = numbers.split_at(numbers.len() / 2);
    let products = first.iter().zip(second).map(|(x, y)| x.wrapping_mul(*y));
    products.fold(0, u16::wrapping_add)
}

/// Runs all stages, the last ones more than once as a harness does.
fn check(instance: Instance, size: &str, task: Task, numbers: &[u16], runs: usize) {
    let harness = stand_in(instance, size, task, numbers);
    harness.run_until("client_postprocess");
    harness.assert_measured();
    for run in 0..runs {
        if run > 0 {
            for (stage, _) in &TRANSCIPHERING.stages[4..] {
                assert!(harness.stage(stage).status.success(), "{stage}");
            }
        }
        assert_eq!(harness.lines::<u16>("result_aes.txt"), numbers, "{size}");
        assert_eq!(harness.lines::<u16>("result.txt"), [task.expected(numbers)], "{size}");
    }
    let steps = fs::read_to_string(harness.io("server_reported_steps.json")).unwrap();
    let steps: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&steps).unwrap();
    let names = ["Encrypted computation", "Load keys", "Plan", "Read inputs", "Total"];
    for step in names.into_iter().chain(["Write outputs"]) {
        for stage in ["AES", task.name()] {
            let seconds = steps[&format!("{stage}: {step}")].as_f64().unwrap();
            assert!(seconds >= 0.0, "{steps:?}");
        }
    }
    assert_eq!(steps.len(), 13, "{steps:?}");
    let report = |name: &str| fs::metadata(harness.io(name)).unwrap().len();
    println!(
        "{size} {task:?}: {steps:?}; bytes: keys {}, upload {}, states {}, result {}",
        report("public_keys/server.keys"),
        report("ciphertexts_upload/round_keys.ct"),
        report("ciphertext_aes_download/states.bin"),
        report("ciphertexts_download/result.bin")
    );
}

#[test]
fn a_block_by_itself() {
    let instance = STAND_INS[0];
    for task in TASKS {
        check(instance, instance.name, task, &numbers(instance), 1);
    }
}

#[test]
fn blocks_of_two_states() {
    let instance = STAND_INS[1];
    for task in TASKS {
        check(instance, instance.name, task, &numbers(instance), 2);
    }
}

/// Zeros only, and then a number that is larger than all others by its last bit, in the last place.
#[test]
fn maxima_that_are_nearly_missed() {
    let instance = STAND_INS[1];
    let mut numbers = vec![0; instance.count as usize];
    check(instance, instance.name, Task::Maximum, &numbers, 1);
    numbers.fill(0x7ffe);
    numbers[instance.count as usize - 1] = 0x7fff;
    check(instance, instance.name, Task::Maximum, &numbers, 1);
}

/// What the harness runs, at 128 bits.
#[test]
#[ignore = "minutes and gigabytes: the secure set"]
fn toy_at_128_bits() {
    at_128_bits(0);
}

#[test]
#[ignore = "minutes and gigabytes: the secure set"]
fn small_at_128_bits() {
    at_128_bits(1);
}

#[test]
#[ignore = "minutes and gigabytes: the secure set"]
fn medium_at_128_bits() {
    at_128_bits(2);
}

#[test]
#[ignore = "minutes and gigabytes: the secure set"]
fn large_at_128_bits() {
    at_128_bits(3);
}

/// Both tasks, or the one whose number [`TASK_VARIABLE`] is.
fn at_128_bits(size: usize) {
    let wanted = std::env::var(TASK_VARIABLE).ok();
    for task in TASKS {
        if wanted.as_deref().is_none_or(|number| number == task.number()) {
            let instance = INSTANCES[size];
            let mut numbers = numbers(instance);
            if task == Task::Maximum {
                // Of the many numbers of a large instance the maximum is 5a3b or a little less.
                numbers.iter_mut().for_each(|x| *x %= 0x5a3c);
            }
            check(instance, &size.to_string(), task, &numbers, 1);
        }
    }
}
