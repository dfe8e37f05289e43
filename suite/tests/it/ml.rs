//! `ml-inference` from text to labels.

use std::fs;
use std::sync::OnceLock;
use std::time::Instant;

use everlevel_suite::ml::{HIDDEN, INPUTS, Model};

use crate::stand_in::{Kept, StandIn, Workload};

pub static ML: Workload = Workload {
    name: "ml-inference",
    stages: &[
        ("client_key_generation", &["SIZE"]),
        ("server_preprocess_model", &[]),
        ("client_preprocess_input", &["SIZE"]),
        ("client_encode_encrypt_input", &["SIZE"]),
        ("server_encrypted_compute", &["SIZE"]),
        ("client_decrypt_decode", &["SIZE"]),
        ("client_postprocess", &["SIZE"]),
    ],
    program,
    measured: &["public_keys", "ciphertexts_upload", "ciphertexts_download"],
};

fn program(stage: &str) -> &'static str {
    match stage {
        "client_key_generation" => env!("CARGO_BIN_EXE_ml_client_key_generation"),
        "server_preprocess_model" => env!("CARGO_BIN_EXE_ml_server_preprocess_model"),
        "client_preprocess_input" => env!("CARGO_BIN_EXE_ml_client_preprocess_input"),
        "client_encode_encrypt_input" => env!("CARGO_BIN_EXE_ml_client_encode_encrypt_input"),
        "server_encrypted_compute" => env!("CARGO_BIN_EXE_ml_server_encrypted_compute"),
        "client_decrypt_decode" => env!("CARGO_BIN_EXE_ml_client_decrypt_decode"),
        "client_postprocess" => env!("CARGO_BIN_EXE_ml_client_postprocess"),
        other => panic!("no stage: {other}"),
    }
}

/// Words of a fixed sequence.
fn word(k: u64) -> u64 {
    let z = k.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) ^ z >> 31
}

/// Images as a harness has them, a byte a pixel: a white one, a black one, then random ones of
/// which most pixels are white, as in digits.
pub fn images(count: usize) -> Vec<Vec<u8>> {
    let pixel = |image: usize, at: usize| match (image, word((image << 16 | at) as u64)) {
        (0, _) => 0,
        (1, _) => 255,
        (_, word) if word % 5 > 0 => 0,
        (_, word) => (word >> 32) as u8,
    };
    (0..count).map(|image| (0..784).map(|at| pixel(image, at)).collect()).collect()
}

/// The lines of the data set.
pub fn text(images: &[Vec<u8>]) -> String {
    let line = |image: &Vec<u8>| {
        let pixels = image.iter().map(|&pixel| format!("{:.6}", f64::from(pixel) / 255.0));
        pixels.collect::<Vec<_>>().join(" ") + "\n"
    };
    images.iter().map(line).collect()
}

/// The levels of the pixels inside of the margin of three.
fn levels(image: &[u8]) -> Vec<u8> {
    let inside = |at: &usize| (3..25).contains(&(at / 28)) && (3..25).contains(&(at % 28));
    (0..784).filter(inside).map(|at| ((u32::from(image[at]) + 8) / 17) as u8).collect()
}

/// What the model says of each image in the clear: its results, and the first label with the
/// largest one.
fn expected(model: &Model, images: &[Vec<u8>]) -> Vec<(Vec<i128>, usize)> {
    let of = |image: &Vec<u8>| {
        let results = model.evaluate(&levels(image));
        let largest = results.iter().max().unwrap();
        let label = results.iter().position(|result| result == largest).unwrap();
        (results, label)
    };
    images.iter().map(of).collect()
}

/// A data set of these images, as an instance by its place.
pub fn stand_in(instance: &'static str, size: usize, images: &[Vec<u8>]) -> StandIn {
    let out = StandIn::new(&ML, instance, vec![("SIZE", size.to_string())]);
    out.write_data("intermediate/test_pixels.txt", text(images));
    out
}

/// An image by itself, encrypted: once for all tests that begin so.
pub fn encrypted() -> StandIn {
    static UPLOAD: OnceLock<Kept> = OnceLock::new();
    let harness = stand_in("single", 0, &images(1));
    harness.begin_with(UPLOAD.get_or_init(|| {
        harness.run_until("client_encode_encrypt_input");
        harness.kept()
    }));
    harness
}

/// The results that the client decrypted, image by image.
fn results(harness: &StandIn) -> Vec<Vec<i128>> {
    let bytes = fs::read(harness.io("decrypted/results.bin")).unwrap();
    let (words, rest) = bytes.as_chunks::<8>();
    assert!(rest.is_empty());
    let words: Vec<i128> = words.iter().map(|word| i64::from_le_bytes(*word).into()).collect();
    words.chunks(10).map(<[i128]>::to_vec).collect()
}

/// A model of constants up to these sizes.
fn random_model(pixel: i64, result: i64) -> Vec<Vec<Vec<i64>>> {
    let constant = |k: u64, size: i64| (word(k) % (2 * size as u64 + 1)) as i64 - size;
    let layer = |first: u64, forms: usize, values: usize, size: i64| -> Vec<Vec<i64>> {
        let at = |form: usize, value: usize| first + (form << 12 | value) as u64;
        let form = |form| (0..=values).map(|value| constant(at(form, value), size)).collect();
        (0..forms).map(form).collect()
    };
    vec![layer(1 << 40, HIDDEN, INPUTS, pixel), layer(2 << 40, 10, HIDDEN, result)]
}

/// The text of a model of these layers.
pub fn model_text(layers: &[Vec<Vec<i64>>]) -> String {
    serde_json::json!({ "hidden": layers[0], "results": layers[1] }).to_string()
}

/// Every result of every image is what the model says of integers in the clear; a model of our own,
/// by its file, and then the one that was trained.
#[test]
fn results_and_labels_are_those_in_the_clear() {
    let images = images(15);
    let harness = stand_in("small", 1, &images);
    harness.run_until("client_encode_encrypt_input");
    let text = model_text(&random_model(3, 9));
    fs::write(harness.root().join("model.json"), &text).unwrap();
    assert!(harness.start("server_preprocess_model", &["model.json"]).status.success());
    let models = [Model::from_json(text.as_bytes()).unwrap(), Model::trained().unwrap()];
    for (model, more) in models.iter().zip([true, false]) {
        for stage in ["server_encrypted_compute", "client_decrypt_decode", "client_postprocess"] {
            let out = harness.stage(stage);
            assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        }
        let (wanted, labels): (Vec<_>, Vec<usize>) = expected(model, &images).into_iter().unzip();
        assert!(results(&harness) == wanted);
        assert_eq!(harness.lines::<usize>("encrypted_model_predictions.txt"), labels);
        harness.assert_measured();
        if more {
            assert!(harness.stage("server_preprocess_model").status.success());
        }
    }
}

/// The seconds of the server's steps, by their names.
fn steps(harness: &StandIn) -> serde_json::Map<String, serde_json::Value> {
    let text = fs::read_to_string(harness.io("server_reported_steps.json")).unwrap();
    let steps: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text).unwrap();
    let names = ["Encrypted computation", "Load keys", "Read inputs", "Total", "Write outputs"];
    assert!(steps.keys().eq(names), "{steps:?}");
    assert!(steps.values().all(|seconds| seconds.as_f64().unwrap() >= 0.0), "{steps:?}");
    steps
}

/// Two blocks, of which the second is not full: every result of every image. They are 997 images
/// over and over, so that the blocks begin with different ones. Prints the times of the server's
/// steps, the whole stage with the start of its process, and bytes.
#[test]
fn blocks_of_images_are_in_their_order() {
    const COUNT: usize = 10_000;
    let images = images(997);
    let text = text(&images);
    let harness = StandIn::new(&ML, "large", vec![("SIZE", "3".into())]);
    let lines: String = text.split_inclusive('\n').cycle().take(COUNT).collect();
    harness.write_data("intermediate/test_pixels.txt", lines);
    harness.run_until("client_encode_encrypt_input");
    let start = Instant::now();
    assert!(harness.stage("server_encrypted_compute").status.success());
    let stage = start.elapsed().as_secs_f64();
    for stage in ["client_decrypt_decode", "client_postprocess"] {
        assert!(harness.stage(stage).status.success(), "{stage}");
    }
    let known = expected(&Model::trained().unwrap(), &images);
    let (wanted, labels): (Vec<_>, Vec<usize>) = known.iter().cycle().take(COUNT).cloned().unzip();
    assert!(results(&harness) == wanted);
    assert!(harness.lines::<usize>("encrypted_model_predictions.txt") == labels);
    let bytes = |name: &str| fs::metadata(harness.io(name)).unwrap().len();
    println!(
        "3: stage {stage}, {:?}; bytes: upload {}, download {}",
        steps(&harness),
        bytes("ciphertexts_upload/pixels.ct"),
        bytes("ciphertexts_download/results.ct")
    );
}

/// A server has no key and needs none: with the client's files gone it computes the same.
#[test]
fn the_server_needs_the_upload_the_parameters_and_the_model_only() {
    let (images, harness) = (images(1), encrypted());
    let (kept, away) = (harness.io("secret_key"), harness.root().join("away"));
    fs::rename(&kept, &away).unwrap();
    fs::remove_dir_all(harness.io("preprocessed")).unwrap();
    assert!(harness.stage("server_encrypted_compute").status.success());
    steps(&harness);
    fs::rename(&away, &kept).unwrap();
    for stage in ["client_decrypt_decode", "client_postprocess"] {
        assert!(harness.stage(stage).status.success(), "{stage}");
    }
    let labels = harness.lines::<usize>("encrypted_model_predictions.txt");
    assert_eq!(labels, [expected(&Model::trained().unwrap(), &images)[0].1]);
}
