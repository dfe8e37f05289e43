//! Whatever is wrong with the input: exit code 2, one line that says what was expected, what was
//! found and what to do.

use crate::common::{everlevel, file, run_in, success, usage};
use serde_json::{Value, json};

const TOY: &str = "insecure_bgv-257-n8";

/// Usage error, one line, mentioning every one of `parts`.
fn refused(args: &[&str], parts: &[&str]) {
    let err = usage(args);
    assert!(!err.contains("panicked"), "{err}");
    for part in parts {
        assert!(err.contains(part), "{args:?}: expected {part:?} in {err:?}");
    }
}

/// The toy set with some fields changed, in a file.
fn changed(file_name: &str, changes: &[(&str, Value)]) -> String {
    let mut spec: Value =
        serde_json::from_str(&success(&["params", "show", TOY, "--json"])).unwrap();
    for (key, value) in changes {
        match key.split_once('.') {
            Some((outer, inner)) => spec[outer][inner] = value.clone(),
            None => spec[*key] = value.clone(),
        }
    }
    file(file_name, spec.to_string())
}

/// The code, at the end of the line and in the object that --json gives instead, with the same
/// message.
#[test]
fn codes() {
    let path = file("codes.json", "{}");
    for (args, code) in [
        (vec!["frobnicate"], "cli.usage"),
        (vec!["params", "datasheet", &path], "cli.usage"),
        (vec!["params", "datasheet", "no-such-set"], "scheme.unknown-params"),
        (vec!["demo", "--params", TOY], "scheme.insecure"),
        (vec!["inspect", "no-such-file.ct"], "wire.io"),
        (vec!["inspect", &path], "wire.not-ours"),
        (
            vec![
                "keygen",
                "--params",
                TOY,
                "--insecure-research",
                "--program",
                "y = 2*",
                "--out",
                "none",
            ],
            "expression.syntax",
        ),
    ] {
        let plain = everlevel(&args);
        let line = String::from_utf8(plain.stderr).unwrap();
        let first = line.lines().next().unwrap();
        assert!(first.ends_with(&format!(" [{code}]")), "{args:?}: {line}");
        let object = everlevel(&[&args[..], &["--json"]].concat());
        assert_eq!(object.status.code(), plain.status.code());
        assert!(object.stdout.is_empty());
        let told: Value = serde_json::from_slice(&object.stderr).unwrap();
        assert_eq!(told["error"]["code"], code);
        assert_eq!(
            line.replacen(&format!(" [{code}]"), "", 1),
            format!("everlevel: {}\n", told["error"]["message"].as_str().unwrap())
        );
    }
}

#[test]
fn arguments() {
    refused(&[], &["expected a command"]);
    refused(&["params"], &["expected a command"]);
    refused(&["frobnicate"], &["frobnicate"]);
    refused(&["reproduce", "all"], &["reproduce"]);
    refused(&["aes"], &["expected a command"]);
    refused(&["aes", "bench"], &["bench"]);
    refused(&["demo", "--frobnicate"], &["--frobnicate"]);
    refused(&["version", "--threads", "0"], &["--threads", "1..=1024"]);
    refused(&["version", "--threads", "many"], &["--threads", "many"]);
    refused(&["demo", "--steps", "0"], &["--steps"]);
    refused(&["demo", "--steps", "-3"], &[]);
    refused(&["demo", "--signed", "--reduce"], &["--signed", "--reduce"]);
    refused(&["bench", "bootstrap", "--bootstrapping", "thick"], &["thick", "thin"]);
    refused(&["bench", "bootstrap", "--runs", "0"], &["--runs"]);
    refused(&["params", "show"], &[]);
    refused(&["params", "rings", "--prime", "15"], &["expected a prime", "15"]);
    refused(&["params", "rings", "--prime", "2", "--security", "0"], &["--security 0"]);
    refused(&["params", "rings", "--prime", "2", "--degree-of", "0"], &["--degree-of"]);
    refused(
        &["params", "rings", "--prime", "2", "--index-below", "300000"],
        &["--index-below", "262145"],
    );
}

#[test]
fn devices() {
    let bench = |device: &str, more: &[&str], parts: &[&str]| {
        refused(&[&["bench", "bootstrap", "--device", device][..], more].concat(), parts);
    };
    for device in ["gpu", "cpu:0", "cuda:", "cuda:x"] {
        bench(device, &[], &[device, "--device", "cuda:N"]);
    }
    if cfg!(feature = "cuda") {
        bench("cuda", &["--profile"], &["--profile", "--device cuda:0"]);
        bench("cuda:1", &["--record", "x.json"], &["--record", "--device cuda:1"]);
    } else {
        // Before anything else, such as a set that is refused.
        let args = ["--params", TOY];
        bench("cuda:1", &args, &["--device cuda:1", "--features cuda", "[cli.no-cuda]"]);
    }
}

#[test]
fn sets_by_name() {
    refused(&["demo", "--params", "no-such-set"], &["no-such-set", "bgv-65537-n15", ".json"]);
    refused(&["params", "show", ""], &["known sets"]);
    refused(&["demo", "--params", TOY], &["below 128", "--insecure-research"]);
    refused(&["bench", "bootstrap", "--params", TOY], &["--insecure-research"]);
    refused(&["bench", "primitives", "--params", TOY], &["--insecure-research"]);
}

/// A file that a measurement cannot be recorded in is refused before it is made.
#[test]
fn files_of_measurements() {
    let record = |path: &str, part: &str| {
        refused(&["bench", "bootstrap", "--record", path], &["--record", path, part]);
    };
    record(&file("measured.json", "[1, 2]"), "not a file of measurements");
    record(&file("nothing.json", ""), "not a file of measurements");
    record(env!("CARGO_TARGET_TMPDIR"), "cannot read");
    let none = format!("{}/none/measured.json", env!("CARGO_TARGET_TMPDIR"));
    record(&none, "cannot open");
    for (path, part) in [(&file("times.json", "7"), "not a file of"), (&none, "cannot open")] {
        refused(&["params", "datasheet", TOY, "--measured", path], &["--measured", path, part]);
    }
    // What is recorded is the time of one bootstrapping of a set.
    for other in ["--batch 2", "--seeded-keys", "--bootstrapping full"] {
        let args = ["bench", "bootstrap", "--record", "x.json"].into_iter().chain(other.split(' '));
        refused(&args.collect::<Vec<_>>(), &["--record", other.split(" 2").next().unwrap()]);
    }
}

#[test]
fn parameter_files() {
    refused(&["params", "show", "no-such-file.json"], &["cannot open", "no-such-file.json"]);
    refused(&["params", "datasheet", env!("CARGO_TARGET_TMPDIR")], &["no parameter set"]);
    for (name, text, part) in [
        ("empty.json", "", "not a parameter file"),
        ("list.json", "[1, 2]", "not a parameter file"),
        ("half.json", "{\"name\": \"insecure_x\"", "not a parameter file"),
        ("missing.json", "{\"name\": \"insecure_x\"}", "missing field"),
    ] {
        refused(&["params", "datasheet", &file(name, text)], &[part, "params show"]);
    }
    refused(&["params", "datasheet", &changed("unknown.json", &[("color", json!(1))])], &["color"]);
    refused(&["params", "datasheet", &file("binary.json", [0xff, 0xfe, 0x00])], &["UTF-8"]);
    refused(&["params", "datasheet", &file("huge.json", vec![b' '; 1 << 20])], &["larger than"]);
}

#[test]
fn parameter_combinations() {
    let n = |changes: &[(&str, Value)], file_name: &str, parts: &[&str]| {
        let path = changed(file_name, changes);
        refused(&["params", "datasheet", &path], parts);
        refused(&["demo", "--params", &path, "--insecure-research"], parts);
    };
    n(&[("plain_prime", json!(255))], "composite.json", &["prime"]);
    n(&[("plain_prime", json!(2))], "p2.json", &["plain_prime = 2"]);
    n(&[("plain_prime", json!(0))], "p0.json", &["plain_prime = 0"]);
    n(&[("plain_prime", json!(7))], "p7.json", &["p = 7"]);
    n(&[("plain_prime", json!(u64::MAX))], "pmax.json", &["prime"]);
    n(&[("plain_prime", json!(1125899906842597u64))], "p50.json", &[]);
    n(&[("plain_exponent", json!(7))], "r7.json", &["2^62"]);
    n(&[("plain_exponent", json!(0))], "r0.json", &["plain_exponent"]);
    n(&[("index", json!(514))], "divides.json", &[]);
    n(&[("index", json!(0))], "index0.json", &["index"]);
    n(&[("index", json!(4))], "index4.json", &[]);
    n(&[("index", json!(1000))], "index1000.json", &[]);
    // Odd, and below the limit, but a power of 3 above 4096.
    n(&[("index", json!(59049))], "index59049.json", &["59049", "prime powers", "4096"]);
    n(&[("index", json!(1u64 << 60))], "index60.json", &["index"]);
    n(&[("words", json!(1000))], "words.json", &["words"]);
    n(&[("special", json!(1)), ("digit_size", json!(16))], "digits.json", &["too little room"]);
    n(
        &[("words", json!(0)), ("fine_bits", json!([]))],
        "noroom.json",
        &["too little room", "words"],
    );
    n(&[("base_bits", json!(97))], "base97.json", &["base_bits"]);
    n(&[("base_bits", json!(20))], "base20.json", &["base_bits"]);
    n(&[("word_bits", json!(10))], "word10.json", &["word_bits"]);
    n(&[("fine_bits", json!(vec![40; 40]))], "fine.json", &["fine_bits"]);
    n(&[("special", json!(0))], "special0.json", &["special"]);
    n(&[("digit_size", json!(0))], "digit0.json", &["digit_size"]);
    n(&[("bootstrap.sparse_weight", json!(258))], "weight.json", &["sparse_weight"]);
    n(&[("bootstrap.sparse_weight", json!(7))], "odd.json", &["sparse_weight", "even"]);
    n(&[("bootstrap.sparse_weight", json!(0))], "weight0.json", &["sparse_weight"]);
    n(&[("bootstrap.coeff_to_slot", json!([100]))], "stages.json", &["stages"]);
    n(&[("bootstrap.coeff_to_slot", json!([]))], "nostages.json", &["stages"]);
    n(&[("bootstrap.digit_removal", json!("magic"))], "magic.json", &["magic", "product_tree"]);
    n(&[("name", json!("secure_looking"))], "name.json", &["secure_looking", "128"]);
    n(&[("name", json!("a b"))], "spaces.json", &["name"]);
    let none = changed("none.json", &[("bootstrap", Value::Null)]);
    refused(&["demo", "--params", &none, "--insecure-research"], &["bootstrapping section"]);
}

#[test]
fn columns() {
    let demo = |name: &str, text: &[u8], flags: &[&str], parts: &[&str]| {
        let path = file(name, text);
        let mut args = vec!["demo", "--params", TOY, "--insecure-research", "--in", &path];
        args.extend(flags);
        refused(&args, parts);
    };
    demo("empty.csv", b"", &[], &["no value"]);
    demo("header.csv", b"reading\n", &[], &["no value"]);
    demo("words.csv", b"reading\n1\ntwo\n", &[], &["line 3", "integer", "two"]);
    demo("float.csv", b"1.5\n", &[], &["line 1", "integer"]);
    demo("columns.csv", b"1,2\n3,4\n", &[], &["one column"]);
    demo("range.csv", b"1\n257\n", &[], &["line 2", "0 to 256", "257", "--reduce"]);
    demo("negative.csv", b"-1\n", &[], &["--signed"]);
    demo("signed.csv", b"129\n", &["--signed"], &["-128 to 128", "129"]);
    demo("long.csv", "1\n".repeat(1000).as_bytes(), &[], &["at most 128 values"]);
    demo("binary.csv", &[0xff, 0xfe, 0x31], &[], &["UTF-8"]);
    demo("vast.csv", &vec![b'\n'; (32 << 20) + 1], &[], &["larger than"]);
    refused(&["demo", "--in", "no-such-file.csv"], &["cannot open", "no-such-file.csv"]);
    refused(&["demo", "--in", env!("CARGO_TARGET_TMPDIR")], &["cannot read"]);
}

#[test]
fn backends() {
    let out = std::process::Command::new(env!("CARGO_BIN_EXE_everlevel"))
        .arg("version")
        .env("EVERLEVEL_BACKEND", "sse9")
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{err}");
    assert!(err.contains("sse9") && err.contains("portable"), "{err}");
}

/// What the system refuses to write is a failure; a place that cannot be is the user's mistake.
#[cfg(unix)]
#[test]
fn a_full_disk_is_a_failure_and_a_missing_directory_a_mistake() {
    let directory = tempfile::tempdir().unwrap();
    let run = |limit: &str, args: &str| {
        // A limit for the size of files stands for a disk that is full.
        let command = format!(
            "trap '' XFSZ; {limit}; exec {} {args} --insecure-research",
            env!("CARGO_BIN_EXE_everlevel")
        );
        let out = std::process::Command::new("sh")
            .args(["-c", &command])
            .current_dir(&directory)
            .output()
            .unwrap();
        (out.status.code(), String::from_utf8(out.stderr).unwrap())
    };
    let keygen = "keygen --params insecure_bgv-257-n8 --program y=x*x --out";
    let (status, told) = run("ulimit -f 8", &format!("{keygen} keys"));
    assert_eq!(status, Some(1), "{told}");
    assert!(told.contains("[wire.io]"), "{told}");
    assert_eq!(std::fs::read_dir(directory.path().join("keys")).unwrap().count(), 0);
    assert_eq!(run("true", &format!("{keygen} keys")).0, Some(0));
    std::fs::write(directory.path().join("x.csv"), "1\n2\n").unwrap();
    let encrypt = "encrypt --key keys/public.key --in x.csv --out";
    let (status, told) = run("ulimit -f 1", &format!("{encrypt} x.ct"));
    assert_eq!(status, Some(1), "{told}");
    assert!(told.contains("[wire.io]") && !directory.path().join("x.ct").exists(), "{told}");
    for place in ["nowhere/x.ct", "keys"] {
        let (status, told) = run("true", &format!("{encrypt} {place} --force"));
        assert_eq!(status, Some(2), "{told}");
    }
}

/// Damage that is found only when a key is needed is told as any other damage.
#[test]
fn damaged_server_keys_are_the_users_files() {
    let directory = tempfile::tempdir().unwrap();
    let run = |args: &str| {
        let out = run_in(directory.path(), &args.split(' ').collect::<Vec<_>>());
        (out.status.code(), String::from_utf8(out.stderr).unwrap())
    };
    assert_eq!(run("keygen --params insecure_bgv-257-n8 --program y=x*x --out k").0, Some(0));
    std::fs::write(directory.path().join("x.csv"), "1\n2\n").unwrap();
    assert_eq!(run("encrypt --key k/public.key --in x.csv --out x.ct").0, Some(0));
    let path = directory.path().join("k/server.keys");
    let whole = std::fs::read(&path).unwrap();
    // Every place is found by something: by the header's checksum, or by that of the key.
    for part in 0..8 {
        let mut bytes = whole.clone();
        let at = part * (bytes.len() - 1) / 7;
        bytes[at] ^= 4;
        std::fs::write(&path, bytes).unwrap();
        let eval = "eval --server-keys k/server.keys y=refresh(x*x) x=x.ct --out out --force";
        let (status, told) = run(eval);
        if status != Some(0) {
            assert_eq!(status, Some(2), "byte {at}: {told}");
        } else {
            // Damage in a key that is not needed: the result is right.
            let (status, told) = run("decrypt --key k/secret.key --in out/y.ct --wrapping");
            assert_eq!(status, Some(0), "{told}");
        }
        let checked = run("inspect k/server.keys");
        assert!(matches!(checked.0, Some(0 | 2)));
    }
}

/// Low security and wrong values are asked for by two flags, and wrong values are told of whenever
/// keys are made and results decrypted.
#[test]
fn frequent_failures_are_asked_for_and_told() {
    let changes = [("name", json!("insecure_often")), ("bootstrap.overflow_bound", json!(2))];
    let set = changed("often.json", &changes);
    let column = file("often.csv", "v\n1\n2\n");
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name).to_str().unwrap().to_string();
    let keygen = ["keygen", "--params", &set, "--out", &path("keys"), "--insecure-research"];
    refused(&keygen, &["2^-", "allow_failures", "[scheme.frequent-failures]"]);
    let (key, cipher, server) = (path("keys/secret.key"), path("x.ct"), path("more.keys"));
    for (command, told) in [
        (vec!["keygen", "--params", &set, "--out", &path("keys")], true),
        (vec!["encrypt", "--key", &key, "--in", &column, "--out", &cipher], false),
        (vec!["decrypt", "--key", &key, "--in", &cipher], true),
        (vec!["keys", "server", "--key", &key, "--program", "y = x*x", "--out", &server], true),
        (
            vec![
                "keys",
                "change",
                "--old-key",
                &key,
                "--new-key",
                &key,
                "--out",
                &path("change.keys"),
            ],
            true,
        ),
    ] {
        let flags = ["--insecure-research", "--allow-failures"];
        let out = everlevel(&command.iter().copied().chain(flags).collect::<Vec<_>>());
        let err = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(0), "{command:?}: {err}");
        let notice = err.contains("note: a bootstrapping of parameter set insecure_often");
        assert_eq!(notice, told, "{command:?}: {err}");
    }
    refused(&["decrypt", "--key", &key, "--in", &cipher, "--insecure-research"], &["2^-"]);
    let flags = ["--insecure-research", "--allow-failures"];
    let aes = ["aes", "decrypt", "--key", &key, "--in", &cipher, "--out", &path("data")];
    let told = String::from_utf8(everlevel(&[&aes[..], &flags].concat()).stderr).unwrap();
    assert!(told.contains("note: a bootstrapping") && told.contains("transcipher"), "{told}");
}
