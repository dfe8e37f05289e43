//! Stages of `ml-inference` refuse files and models that are not as they should be, with exit code
//! 1 and a code.

use std::fs;

use everlevel_suite::ml::{HIDDEN, INPUTS, Model};

use crate::ml::{encrypted, images, model_text, stand_in, text};
use crate::stand_in::failure;
use crate::zn;

/// An image with one pixel in other words.
fn with_pixel(pixel: &str) -> String {
    let line = text(&images(1));
    line.replacen("0.000000", pixel, 1)
}

#[test]
fn images_that_are_none() {
    let harness = stand_in("single", 0, &images(1));
    let line = text(&images(1));
    let long = with_pixel(&"0".repeat(40_000));
    for wrong in [
        with_pixel("nan"),
        with_pixel("inf"),
        with_pixel("-0.1"),
        with_pixel("1.000001"),
        with_pixel("1e300"),
        with_pixel("0x1"),
        with_pixel("one"),
        with_pixel("0.0 0.0"),
        with_pixel(""),
        line.replace(' ', ","),
        line.repeat(2),
        line.clone() + "\n",
        String::new(),
        "\n".into(),
        long,
    ] {
        harness.write_data("intermediate/test_pixels.txt", &wrong);
        let found = failure(&harness.stage("client_preprocess_input"));
        assert_eq!(found, "suite.numbers", "{:?}", &wrong[..wrong.len().min(40)]);
        assert_eq!(fs::read_dir(harness.io("preprocessed")).unwrap().count(), 0);
    }
    for right in [line.trim_end().into(), line.replace('\n', "\r\n"), with_pixel("1")] {
        harness.write_data("intermediate/test_pixels.txt", &right);
        assert!(harness.stage("client_preprocess_input").status.success());
    }
    // Fewer images than the instance has.
    let small = stand_in("small", 1, &images(14));
    assert_eq!(failure(&small.stage("client_preprocess_input")), "suite.numbers");
    fs::remove_dir_all(harness.root().join("datasets")).unwrap();
    assert_eq!(failure(&harness.stage("client_preprocess_input")), "suite.io");
}

#[test]
fn arguments_that_stages_do_not_have() {
    let harness = stand_in("single", 0, &images(1));
    let code = |stage: &str, arguments: &[&str]| failure(&harness.start(stage, arguments));
    for stage in [
        "client_key_generation",
        "client_preprocess_input",
        "client_encode_encrypt_input",
        "server_encrypted_compute",
        "client_decrypt_decode",
        "client_postprocess",
    ] {
        assert_eq!(code(stage, &[]), "suite.usage", "{stage}");
        assert_eq!(code(stage, &["0", "0"]), "suite.usage", "{stage}");
        for size in ["4", "-1", "00", "+0", "single", "../single", ""] {
            assert_eq!(code(stage, &[size]), "suite.instance", "{stage} {size:?}");
        }
    }
    assert_eq!(code("server_preprocess_model", &["a", "b"]), "suite.usage");
    assert_eq!(code("server_preprocess_model", &["missing.json"]), "suite.io");
}

/// Layers of zeros, and one constant that is not.
fn one_constant(layer: usize, form: usize, place: usize, constant: i64) -> Vec<Vec<Vec<i64>>> {
    let mut layers = vec![vec![vec![0; INPUTS + 1]; HIDDEN], vec![vec![0; HIDDEN + 1]; 10]];
    layers[layer][form][place] = constant;
    layers
}

fn model_code(text: &str) -> Result<Model, &'static str> {
    Model::from_json(text.as_bytes()).map_err(|e| e.code())
}

#[test]
fn models_that_could_answer_wrongly() {
    let half = (68_719_230_977i64 - 1) / 2;
    // The largest that fit, and one more: what is added, and one square.
    for (largest, more) in [(half, half + 1), (-half, -half - 1)] {
        assert!(model_code(&model_text(&one_constant(1, 0, 0, largest))).is_ok());
        let found = model_code(&model_text(&one_constant(1, 0, 0, more)));
        assert_eq!(found, Err("suite.model"), "{more}");
    }
    let square = |w: i64, b: i64, v: i64| {
        let mut layers = one_constant(0, 0, 1, w);
        layers[0][0][0] = b;
        layers[1][9][1] = v;
        model_code(&model_text(&layers))
    };
    // (15 w + b)² v is at most half of the modulus in magnitude.
    assert!(square(0, 185_362, 1).is_ok() && square(0, -185_362, -1).is_ok());
    for (w, b, v) in [(0, 185_364, 1), (-1, -185_350, 1), (1, 185_350, -1), (0, 13_108, 200)] {
        assert_eq!(square(w, b, v), Err("suite.model"), "{w} {b} {v}");
    }
    // Results that fit on every image, and noise that does not: weights that cancel.
    let cancelling = |v: i64| {
        let mut layers = one_constant(1, 0, 1, v);
        layers[1][0][2] = -v;
        for form in &mut layers[0][..2] {
            form[1..].iter_mut().enumerate().for_each(|(i, w)| *w = [7, -7][i % 2]);
        }
        model_code(&model_text(&layers))
    };
    assert!(cancelling(20).is_ok());
    assert_eq!(cancelling(35), Err("suite.model"));
    for large in [1 << 15, -(1 << 15), i64::MAX, i64::MIN] {
        for layer in [0, 1] {
            let layers = one_constant(layer, 3, 5, large);
            assert_eq!(model_code(&model_text(&layers)), Err("suite.model"), "{large}");
        }
        let added = one_constant(0, 3, 0, large);
        assert_eq!(model_code(&model_text(&added)).is_ok(), large.unsigned_abs() < 1 << 17);
    }
}

#[test]
fn models_that_are_none() {
    let good = one_constant(0, 0, 0, 1);
    assert!(model_code(&model_text(&good)).is_ok());
    let text = model_text(&good);
    let mut few = good.clone();
    few[0].pop();
    let mut short = good.clone();
    short[1][9].pop();
    for wrong in [
        String::new(),
        "[]".into(),
        "{}".into(),
        text[..text.len() / 2].into(),
        text.replacen(":[[", ":[[0.5,", 1),
        text.replacen(":[[", ":[[NaN,", 1),
        text.replacen(":[[", ":[[null,", 1),
        text.replacen(":[[", ":[[1e999,", 1),
        text.replacen(":[[", ":[[99999999999999999999,", 1),
        text.replacen(":[[", ":[[],[", 1),
        text.replacen("hidden", "other", 1),
        "[".repeat(100_000),
        model_text(&few),
        model_text(&short),
    ] {
        let found = model_code(&wrong);
        assert_eq!(found, Err("suite.model"), "{:?}", &wrong[..wrong.len().min(40)]);
    }
}

/// A model's bounds are those of one plaintext modulus: below that of digits its results wrap.
#[test]
fn parameters_of_another_workload() {
    let harness = encrypted();
    let other = zn::stand_in("single", &[(1, 1)]);
    other.run_until("client_key_generation");
    for file in ["public_keys/parameters", "secret_key/secret.key"] {
        fs::copy(other.io(file), harness.io(file)).unwrap();
    }
    for stage in
        ["server_encrypted_compute", "client_encode_encrypt_input", "client_decrypt_decode"]
    {
        assert_eq!(failure(&harness.stage(stage)), "suite.instance", "{stage}");
    }
}

/// From the last stage to the first: each finds a broken file, and what it made before is gone.
#[test]
fn stages_that_fail_leave_nothing_of_an_earlier_run() {
    let harness = encrypted();
    harness.run_between("server_encrypted_compute", "client_postprocess");
    for (stage, input, output) in [
        ("client_postprocess", "decrypted/results.bin", "encrypted_model_predictions.txt"),
        ("client_decrypt_decode", "secret_key/secret.key", "decrypted/results.bin"),
        ("server_encrypted_compute", "public_keys/parameters", "ciphertexts_download/results.ct"),
        ("client_encode_encrypt_input", "preprocessed/levels.bin", "ciphertexts_upload/pixels.ct"),
    ] {
        let (input, output) = (harness.io(input), harness.io(output));
        assert!(output.exists(), "{stage}");
        let kept = fs::read(&input).unwrap();
        fs::write(&input, &kept[1..]).unwrap();
        let code = failure(&harness.stage(stage));
        assert!(["suite.numbers", "wire.not-ours"].contains(&code.as_str()), "{stage}: {code}");
        assert!(!output.exists(), "{stage}");
        fs::write(&input, kept).unwrap();
    }
    let levels = harness.io("preprocessed/levels.bin");
    harness.write_data("intermediate/test_pixels.txt", "0.5\n");
    assert_eq!(failure(&harness.stage("client_preprocess_input")), "suite.numbers");
    assert!(!levels.exists());
    // A model that is refused, and one without an end.
    let kept = harness.root().join("io/server_model/model.bin");
    fs::write(harness.root().join("empty.json"), "{}").unwrap();
    let endless: &[&str] = if cfg!(unix) { &["/dev/zero"] } else { &[] };
    for file in [&["empty.json"][..], endless].concat() {
        assert!(harness.stage("server_preprocess_model").status.success());
        assert!(kept.exists());
        let refused = harness.start("server_preprocess_model", &[file]);
        assert_eq!(failure(&refused), "suite.model", "{file}");
        assert!(!kept.exists(), "{file}");
    }
}

#[test]
fn uploads_results_and_models_that_are_cut_changed_or_of_another_instance() {
    let harness = encrypted();
    harness.run_between("server_encrypted_compute", "server_encrypted_compute");
    let (upload, download) =
        (harness.io("ciphertexts_upload/pixels.ct"), harness.io("ciphertexts_download/results.ct"));
    let result = fs::read(&download).unwrap();
    let code = |stage: &str, path: &std::path::Path, bytes: &[u8]| {
        fs::write(path, bytes).unwrap();
        failure(&harness.stage(stage))
    };
    // The model that the server keeps is checked when it is read, too.
    let model = harness.root().join("io/server_model/model.bin");
    let words = fs::read(&model).unwrap();
    let mut huge = words.clone();
    huge[8..16].copy_from_slice(&(1i64 << 15).to_le_bytes());
    assert_eq!(code("server_encrypted_compute", &model, &huge), "suite.model");
    let short = &words[..words.len() - 1];
    assert_eq!(code("server_encrypted_compute", &model, short), "suite.numbers");
    fs::remove_file(&model).unwrap();
    assert_eq!(failure(&harness.stage("server_encrypted_compute")), "suite.io");
    fs::write(&model, &words).unwrap();

    let bytes = fs::read(&upload).unwrap();
    let compute = |bytes: &[u8]| code("server_encrypted_compute", &upload, bytes);
    // The stages that failed have removed the result of an earlier run.
    assert!(!download.exists());
    for length in [0, 63, bytes.len() / 2, bytes.len() - 1] {
        assert_eq!(compute(&bytes[..length]), "wire.truncated", "{length} bytes");
    }
    assert_eq!(compute(&[&bytes[..], &[0]].concat()), "wire.trailing");
    let mut changed = bytes.clone();
    changed[bytes.len() - 10_000] ^= 4;
    assert_eq!(compute(&changed), "wire.checksum");
    drop(changed);
    assert!(!download.exists());
    // As many ciphertexts, of an instance whose images are others.
    let other = stand_in("small", 1, &images(15));
    other.run_until("client_encode_encrypt_input");
    let foreign = fs::read(other.io("ciphertexts_upload/pixels.ct")).unwrap();
    assert_eq!(compute(&foreign), "suite.instance");

    let decrypt = |bytes: &[u8]| code("client_decrypt_decode", &download, bytes);
    assert_eq!(decrypt(&result[..result.len() - 1]), "wire.truncated");
    assert_eq!(decrypt(&bytes), "wire.wrong-kind");
    fs::write(&download, &result).unwrap();
    assert!(harness.stage("client_key_generation").status.success());
    assert_eq!(failure(&harness.stage("client_decrypt_decode")), "scheme.wrong-key");
    fs::create_dir_all(harness.io("decrypted")).unwrap();
    fs::write(harness.io("decrypted/results.bin"), [0; 79]).unwrap();
    assert_eq!(failure(&harness.stage("client_postprocess")), "suite.numbers");
    let levels = harness.io("preprocessed/levels.bin");
    for wrong in [vec![16; INPUTS], vec![15; INPUTS - 1], vec![0; INPUTS + 1]] {
        assert_eq!(code("client_encode_encrypt_input", &levels, &wrong), "suite.numbers");
    }
}
