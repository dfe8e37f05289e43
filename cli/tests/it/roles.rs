//! Whole private computations on the command line: every role a process of its own, in a directory
//! with only the files that it may have.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use aes::Aes128;
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use serde_json::Value;

/// The program, run in a directory.
fn run(directory: &Path, args: &[&str]) -> Output {
    let insecure = ["--insecure-research"];
    Command::new(env!("CARGO_BIN_EXE_everlevel"))
        .args(args)
        .args(insecure)
        .current_dir(directory)
        .output()
        .unwrap()
}

/// Runs the program, which has to succeed, and returns what it prints as JSON.
fn told(directory: &Path, args: &[&str]) -> Value {
    let out = run(directory, &[args, &["--json"]].concat());
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

/// Runs the program, which has to refuse with exit code 2, and returns why.
fn refused(directory: &Path, args: &[&str]) -> String {
    let out = run(directory, args);
    let why = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(2), "{args:?}: {why}");
    assert!(why.starts_with("everlevel: "), "{why}");
    why
}

/// Directories of the roles.
struct Places(tempfile::TempDir);

impl Places {
    fn new() -> Self {
        let places = Places(tempfile::tempdir().unwrap());
        ["owner", "data", "server", "reader"]
            .iter()
            .for_each(|role| fs::create_dir(places.of(role)).unwrap());
        places
    }

    fn of(&self, role: &str) -> PathBuf {
        self.0.path().join(role)
    }

    /// Sends a file from one role to another.
    fn send(&self, file: &str, from: &str, to: &str) {
        fs::copy(self.of(from).join(file), self.of(to).join(Path::new(file).file_name().unwrap()))
            .unwrap();
    }
}

fn column(path: &Path) -> Vec<i64> {
    fs::read_to_string(path).unwrap().lines().skip(1).map(|line| line.parse().unwrap()).collect()
}

#[test]
fn four_processes_share_files_only() {
    let places = Places::new();
    let (owner, data, server, reader) =
        (places.of("owner"), places.of("data"), places.of("server"), places.of("reader"));
    let made = told(&owner, &["keygen", "--params", "insecure_bgv-257-n8", "--out", "keys"]);
    assert_eq!(made["files"].as_array().unwrap().len(), 4);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(
            fs::metadata(owner.join("keys/secret.key")).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
    assert_eq!(fs::read_dir(owner.join("keys")).unwrap().count(), 4, "nothing is left behind");
    places.send("keys/public.key", "owner", "data");
    places.send("keys/server.keys", "owner", "server");
    places.send("keys/secret.key", "owner", "reader");

    // A full column, and a short one.
    let slots = 128;
    let x: Vec<i64> = (0..slots).map(|i| (i * 91 + 17) % 257).collect();
    let w: Vec<i64> = (0..10).map(|i| (i * i) % 257).collect();
    let csv = |v: &[i64]| v.iter().fold("v\n".to_string(), |text, v| text + &format!("{v}\n"));
    fs::write(data.join("x.csv"), csv(&x)).unwrap();
    fs::write(data.join("w.json"), serde_json::to_string(&w).unwrap()).unwrap();
    told(&data, &["encrypt", "--key", "public.key", "--in", "x.csv", "--out", "x.ct"]);
    told(&data, &["encrypt", "--key", "public.key", "--in", "w.json", "--out", "w.ct"]);
    places.send("x.ct", "data", "server");
    places.send("w.ct", "data", "server");

    // Depth 60, and slots that move.
    let steps: String = (0..60).map(|i| format!("_x{} = 3*_x{i}*(1 - _x{i}); ", i + 1)).collect();
    let program = format!("_x0 = x; {steps} y = _x60; z = rotate(w, -3) + x^5; s = sum(w)");
    let done = told(
        &server,
        &[
            "eval",
            "--server-keys",
            "server.keys",
            &program,
            "x=x.ct",
            "w=w.ct",
            "--out",
            "out",
            "--pad",
        ],
    );
    assert!(done["bootstraps"].as_u64().unwrap() > 3);
    let fresh = told(
        &server,
        &["bootstrap", "--server-keys", "server.keys", "--in", "out/y.ct", "--out", "y2.ct"],
    );
    assert!(fresh["outputs"][0]["capacity_bits"].as_f64().unwrap() > 50.0);
    for file in ["out/y.ct", "out/z.ct", "out/s.ct", "y2.ct"] {
        places.send(file, "server", "reader");
    }
    for (from, to) in [("y.ct", "y.csv"), ("y2.ct", "y2.csv"), ("z.ct", "z.csv"), ("s.ct", "s.csv")]
    {
        let decrypt = ["decrypt", "--key", "secret.key", "--in", from, "--out", to];
        assert!(refused(&reader, &decrypt).contains("circuit.range"), "it may have wrapped");
        told(&reader, &[&decrypt[..], &["--wrapping"]].concat());
    }
    let logistic = |x: i64| (0..60).fold(x, |x, _| (3 * x * (1 - x)).rem_euclid(257));
    let expected: Vec<i64> = x.iter().map(|&x| logistic(x)).collect();
    assert_eq!(column(&reader.join("y.csv")), expected);
    assert_eq!(column(&reader.join("y2.csv")), expected);
    let columns = slots as usize / 2;
    let rotated = |i: usize| {
        let from = i / columns * columns + (i % columns + columns - 3) % columns;
        w.get(from).copied().unwrap_or(0)
    };
    let z: Vec<i64> = x
        .iter()
        .enumerate()
        .map(|(i, &x)| (rotated(i) + (0..5).fold(1, |p, _| p * x % 257)) % 257)
        .collect();
    assert_eq!(column(&reader.join("z.csv")), z);
    let total = w.iter().sum::<i64>() % 257;
    assert_eq!(column(&reader.join("s.csv")), vec![total; slots as usize]);

    // Cut to what decryption needs: 2 log2 p + 13 bits a coefficient.
    let cut = told(&server, &["compact", "--in", "out/z.ct", "--out", "z.small"]);
    let bits = cut["bytes"].as_f64().unwrap() * 8.0 / 256.0;
    assert!(
        bits < 2.0 * (257f64.log2() + 13.0) + 20.0
            && cut["bytes_before"].as_u64() > cut["bytes"].as_u64(),
        "{bits} bits a coefficient"
    );
    places.send("z.small", "server", "reader");
    let decrypt = ["decrypt", "--key", "secret.key", "--in", "z.small", "--out", "z.json"];
    told(&reader, &[&decrypt[..], &["--wrapping"]].concat());
    let small: Vec<i64> =
        serde_json::from_slice(&fs::read(reader.join("z.json")).unwrap()).unwrap();
    assert_eq!(small, z);

    // What a file is, nobody needs a key to see.
    let seen = told(&server, &["inspect", "out/z.ct"]);
    assert_eq!(
        (&seen["kind"], &seen["params"]),
        (&Value::from("ciphertexts"), &Value::from("insecure_bgv-257-n8"))
    );
    assert_eq!(told(&reader, &["inspect", "secret.key"])["kind"], "a secret key");
    let sizes = told(&server, &["keys", "size-report", "--server-keys", "server.keys"]);
    assert_eq!(sizes["keys"], made["server_keys"]);
    // The server's files decrypt nothing.
    assert!(
        refused(&server, &["decrypt", "--key", "server.keys", "--in", "out/z.ct"])
            .contains("wire.wrong-kind")
    );
}

#[test]
fn keys_for_one_program_are_fewer_and_enough() {
    let places = Places::new();
    let owner = places.of("owner");
    let program = "y = rotate(x*x, 3)";
    // Without bootstrapping, whose keys rotate as well.
    let mut spec = told(&owner, &["params", "show", "insecure_bgv-257-n8"]);
    spec["name"] = "insecure_leveled".into();
    spec.as_object_mut().unwrap().remove("bootstrap");
    fs::write(owner.join("set.json"), spec.to_string()).unwrap();
    let all = told(&owner, &["keygen", "--params", "set.json", "--out", "all"]);
    let few =
        told(&owner, &["keygen", "--params", "set.json", "--out", "few", "--program", program]);
    assert!(few["server_keys"].as_u64() < all["server_keys"].as_u64());
    fs::write(owner.join("x.csv"), "1\n2\n3\n4\n5\n").unwrap();
    told(&owner, &["encrypt", "--key", "few/secret.key", "--in", "x.csv", "--out", "x.ct"]);
    told(&owner, &["eval", "--server-keys", "few/server.keys", program, "x=x.ct", "--out", "out"]);
    let out =
        told(&owner, &["decrypt", "--key", "few/secret.key", "--in", "out/y.ct", "--wrapping"]);
    assert_eq!(out["values"].as_array().unwrap()[..2], [16, 25].map(Value::from));
    for other in ["y = swap_rows(x)", "y = rotate(x, 7)"] {
        let why = refused(
            &owner,
            &["eval", "--server-keys", "few/server.keys", other, "x=x.ct", "--out", "no"],
        );
        assert!(why.contains("key plan"), "{why}");
    }
}

#[test]
fn ciphertexts_move_to_a_new_key() {
    let places = Places::new();
    let owner = places.of("owner");
    for keys in ["old", "new"] {
        told(&owner, &["keygen", "--params", "insecure_bgv-257-n8", "--out", keys]);
    }
    fs::write(owner.join("x.csv"), "1\n2\n3\n").unwrap();
    told(&owner, &["encrypt", "--key", "old/public.key", "--in", "x.csv", "--out", "x.ct"]);
    told(
        &owner,
        &[
            "keys",
            "change",
            "--old-key",
            "old/secret.key",
            "--new-key",
            "new/secret.key",
            "--out",
            "change.keys",
        ],
    );
    let server = places.of("server");
    ["x.ct", "change.keys", "new/server.keys"]
        .iter()
        .for_each(|file| places.send(file, "owner", "server"));
    told(&server, &["change-key", "--keys", "change.keys", "--in", "x.ct", "--out", "y.ct"]);
    told(&server, &["eval", "--server-keys", "server.keys", "z = y*y", "y=y.ct", "--out", "out"]);
    places.send("out/z.ct", "server", "owner");
    let out = told(&owner, &["decrypt", "--key", "new/secret.key", "--in", "z.ct", "--wrapping"]);
    assert_eq!(out["values"].as_array().unwrap()[..], [1, 4, 9].map(Value::from));
    assert!(
        refused(&server, &["change-key", "--keys", "server.keys", "--in", "x.ct", "--out", "n.ct"])
            .contains("new one")
    );
}

#[test]
fn mistakes_lose_nothing() {
    let places = Places::new();
    let owner = places.of("owner");
    let set = "insecure_bgv-257-n8";
    told(&owner, &["keygen", "--params", set, "--out", "keys"]);
    let before = fs::read(owner.join("keys/secret.key")).unwrap();
    assert!(refused(&owner, &["keygen", "--params", set, "--out", "keys"]).contains("--force"));
    assert_eq!(fs::read(owner.join("keys/secret.key")).unwrap(), before);
    fs::write(owner.join("x.csv"), "1\n2\n").unwrap();
    let encrypt = ["encrypt", "--key", "keys/public.key", "--in", "x.csv", "--out", "x.ct"];
    told(&owner, &encrypt);
    assert!(refused(&owner, &encrypt).contains("wire.exists"));
    told(&owner, &[&encrypt[..], &["--force"]].concat());

    let eval = |program: &str, rest: &[&str]| {
        refused(
            &owner,
            &[&["eval", "--server-keys", "keys/server.keys", program, "--out", "out"], rest]
                .concat(),
        )
    };
    let why = eval("y = 2*turn(x)", &["x=x.ct"]);
    assert!(why.contains("column 7") && why.contains("\n      ^"), "{why}");
    assert!(eval("y = 2*x", &[]).contains("reads x"));
    assert!(eval("y = 2*x", &["x=x.ct", "w=x.ct"]).contains("does not read w"));
    assert!(eval("y = 2*x", &["x=x.ct", "x=x.ct"]).contains("twice"));
    assert!(eval("y = 2*x", &["x"]).contains("NAME=FILE"));
    assert!(eval("y = 2*x", &["x=keys/public.key"]).contains("wire.wrong-kind"));
    assert!(eval("y = 2*x", &["x=none.ct"]).contains("wire.io"));
    assert!(eval("y = 2*x", &["x=x.csv"]).contains("wire.not-ours"));
    assert!(!owner.join("out").exists(), "nothing is written for what was refused");

    // Keys of other parameters, damaged and cut files.
    told(&owner, &["keygen", "--params", "insecure_bgv-127-n8", "--out", "other"]);
    assert!(
        refused(&owner, &["decrypt", "--key", "other/secret.key", "--in", "x.ct"])
            .contains("wire.other-params")
    );
    let mut bytes = fs::read(owner.join("x.ct")).unwrap();
    fs::write(owner.join("cut.ct"), &bytes[..bytes.len() / 2]).unwrap();
    assert!(eval("y = 2*x", &["x=cut.ct"]).contains("wire.truncated"));
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(owner.join("damaged.ct"), &bytes).unwrap();
    assert!(eval("y = 2*x", &["x=damaged.ct"]).contains("wire.checksum"));
    // What is not trusted is not computed on.
    let out = run(
        &owner,
        &[
            "eval",
            "--server-keys",
            "keys/server.keys",
            "y = x*x",
            "x=x.ct",
            "--out",
            "out",
            "--bounds",
            "untrusted",
        ],
    );
    assert_eq!(out.status.code(), Some(1), "{}", String::from_utf8_lossy(&out.stderr));
    // Columns.
    fs::write(owner.join("large.csv"), "257\n").unwrap();
    let large = ["encrypt", "--key", "keys/public.key", "--in", "large.csv", "--out", "l.ct"];
    assert!(refused(&owner, &large).contains("0 to 256"));
    assert!(
        refused(&owner, &["encrypt", "--key", "keys/public.key", "--in", "x.txt", "--out", "l.ct"])
            .contains(".npy")
    );
}

#[test]
fn numpy_columns_and_sets_of_ones_own() {
    let places = Places::new();
    let owner = places.of("owner");
    // A set without a name that is known: its file travels along.
    let mut spec = told(&owner, &["params", "show", "insecure_bgv-257-n8"]);
    spec["name"] = "insecure_of-my-own".into();
    fs::write(owner.join("set.json"), spec.to_string()).unwrap();
    told(&owner, &["keygen", "--params", "set.json", "--out", "keys"]);
    let shown: Value =
        serde_json::from_slice(&fs::read(owner.join("keys/params.json")).unwrap()).unwrap();
    assert_eq!(shown, spec);
    let header = format!("{:<117}\n", "{'descr': '<i2', 'fortran_order': False, 'shape': (3,), }");
    let values: Vec<u8> = [-1i16, 0, 128].iter().flat_map(|v| v.to_le_bytes()).collect();
    fs::write(
        owner.join("x.npy"),
        [b"\x93NUMPY\x01\x00\x76\x00".as_slice(), header.as_bytes(), &values].concat(),
    )
    .unwrap();
    let encrypt =
        ["encrypt", "--key", "keys/public.key", "--in", "x.npy", "--out", "x.ct", "--signed"];
    told(&owner, &encrypt);
    told(
        &owner,
        &["decrypt", "--key", "keys/secret.key", "--in", "x.ct", "--out", "y.npy", "--signed"],
    );
    let bytes = fs::read(owner.join("y.npy")).unwrap();
    let data: Vec<i64> = bytes[bytes.len() - 24..]
        .as_chunks::<8>()
        .0
        .iter()
        .map(|b| i64::from_le_bytes(*b))
        .collect();
    assert_eq!(data, [-1, 0, 128]);
    // Away from its keys the set has to be given.
    fs::copy(owner.join("keys/secret.key"), places.of("reader").join("secret.key")).unwrap();
    fs::copy(owner.join("x.ct"), places.of("reader").join("x.ct")).unwrap();
    fs::copy(owner.join("set.json"), places.of("reader").join("set.json")).unwrap();
    let decrypt = ["decrypt", "--key", "secret.key", "--in", "x.ct"];
    assert!(refused(&places.of("reader"), &decrypt).contains("--params"));
    told(&places.of("reader"), &[&decrypt[..], &["--params", "set.json"]].concat());
}

#[test]
fn shells_and_manuals_know_the_commands() {
    let places = Places::new();
    let owner = places.of("owner");
    for shell in ["bash", "zsh", "fish"] {
        let out = run(&owner, &["completions", shell]);
        assert!(
            out.status.success() && String::from_utf8_lossy(&out.stdout).contains("transcipher"),
            "{shell}"
        );
    }
    assert!(run(&owner, &["man", "--out", "man"]).status.success());
    let page = fs::read_to_string(owner.join("man/everlevel-aes-transcipher.1")).unwrap();
    assert!(page.contains("first counter block"), "{page}");
}

/// AES-128 in counter mode by OpenSSL's program where there is one, else by the `aes` crate.
fn encrypt_file(directory: &Path, key: &str, iv: &str) {
    let openssl = ["enc", "-aes-128-ctr", "-K", key, "-iv", iv, "-in", "plain", "-out", "data.aes"];
    match Command::new("openssl").args(openssl).current_dir(directory).output() {
        Ok(out) => assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr)),
        Err(_) => {
            println!("no openssl here: the data are encrypted with the aes crate");
            let bytes = |digits: &str| u128::from_str_radix(digits, 16).unwrap();
            let cipher = Aes128::new(&bytes(key).to_be_bytes().into());
            let plain = fs::read(directory.join("plain")).unwrap();
            let block = |(i, block): (usize, &[u8])| {
                let mut pad = bytes(iv).wrapping_add(i as u128).to_be_bytes().into();
                cipher.encrypt_block(&mut pad);
                block.iter().zip(pad).map(|(x, p)| x ^ p).collect::<Vec<_>>()
            };
            let data: Vec<u8> = plain.chunks(16).enumerate().flat_map(block).collect();
            fs::write(directory.join("data.aes"), data).unwrap();
        }
    }
}

#[test]
fn aes_data_become_ciphertexts() {
    let places = Places::new();
    let (owner, data, server, reader) =
        (places.of("owner"), places.of("data"), places.of("server"), places.of("reader"));
    told(&owner, &["aes", "keygen", "--params", "insecure_aes-m4947", "--out", "keys"]);
    places.send("keys/public.key", "owner", "data");
    places.send("keys/server.keys", "owner", "server");
    places.send("keys/secret.key", "owner", "reader");

    let (key, iv) = ("2b7e151628aed2a6abf7158809cf4f3c", "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
    fs::write(data.join("key.hex"), format!("{key}\n")).unwrap();
    let plain: Vec<u8> = (0..77u8).map(|i| i.wrapping_mul(29) ^ 0xa5).collect();
    fs::write(data.join("plain"), &plain).unwrap();
    encrypt_file(&data, key, iv);
    let uploaded = told(
        &data,
        &[
            "aes",
            "encrypt-key",
            "--key",
            "public.key",
            "--aes-key-file",
            "key.hex",
            "--out",
            "key.ct",
        ],
    );
    assert_eq!((uploaded["aes"].as_u64(), uploaded["round_keys"].as_u64()), (Some(128), Some(11)));
    let id = uploaded["aes_key_id"].as_str().unwrap();
    let upload = ["aes", "upload", "--key", "public.key", "--aes-key-file", "key.hex"];
    let labeled = ["--data", "data.aes", "--iv", iv, "--out", "data.upload"];
    let report = told(&data, &[&upload[..], &labeled].concat());
    assert_eq!((report["aes_key_id"].as_str(), report["iv"].as_str()), (Some(id), Some(iv)));
    // Whoever has the id needs no AES key to label data; and encryption here draws a counter block.
    let by_id = ["aes", "upload", "--key", "public.key", "--aes-key-id", id];
    told(&data, &[&by_id[..], &labeled[..4], &["--out", "same.upload"]].concat());
    assert_eq!(
        fs::read(data.join("same.upload")).unwrap(),
        fs::read(data.join("data.upload")).unwrap()
    );
    // An output in the directory of an input is not in the place of one.
    let again = ["--data", "./data.aes", "--iv", iv, "--out", "same.upload", "--force"];
    told(&data, &[&by_id[..], &again].concat());
    told(&data, &[&upload[..], &["--in", "plain", "--out", "own.upload"]].concat());
    let own = told(&data, &["inspect", "own.upload"]);
    let kind = own["kind"].as_str().unwrap();
    assert_eq!((kind, &own["key_id"]), ("an upload under AES", &report["key_id"]));
    assert_eq!(
        (own["upload"]["aes_key_id"].as_str(), &own["upload"]["data_bytes"]),
        (Some(id), &77.into())
    );
    for name in ["key.ct", "data.aes", "data.upload", "own.upload"] {
        places.send(name, "data", "server");
    }

    let raw = ["--in", "data.aes", "--raw", "--iv", iv, "--method", "packed"];
    for (name, args, checked) in [
        ("packed", &["--in", "data.upload", "--method", "packed"][..], true),
        ("byte-sliced", &["--in", "own.upload", "--method", "byte-sliced"][..], true),
        ("raw", &raw[..], false),
    ] {
        let out = format!("{name}.ct");
        let base = ["aes", "transcipher", "--server-keys", "server.keys", "--aes-key", "key.ct"];
        let done = run(&server, &[&base[..], args, &["--out", &out, "--json"]].concat());
        let told_apart = |stderr: &[u8]| {
            let told = String::from_utf8_lossy(stderr);
            assert_eq!(told.contains("were not checked"), !checked, "{name}: {told}");
        };
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        told_apart(&done.stderr);
        let report: Value = serde_json::from_slice(&done.stdout).unwrap();
        assert_eq!((&report["data_bytes"], &report["mode"]), (&77.into(), &"ctr".into()));
        assert_eq!(report["aes_key_id"].as_str(), checked.then_some(id), "{name}");
        assert!(report["least_capacity_bits"].as_f64().unwrap() > 100.0);
        places.send(&out, "server", "reader");
        let decrypt = ["aes", "decrypt", "--key", "secret.key", "--in", &out, "--out", name];
        let done = run(&reader, &[&decrypt[..], &["--json"]].concat());
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        told_apart(&done.stderr);
        assert_eq!(fs::read(reader.join(name)).unwrap(), plain, "{name}");
    }

    told(&owner, &["aes", "keygen", "--params", "insecure_aes-m4947", "--out", "other"]);
    let other = owner.join("other/secret.key").display().to_string();
    let decrypt = ["aes", "decrypt", "--key", &other, "--in", "packed.ct", "--out", "no"];
    let why = refused(&reader, &decrypt);
    assert!(why.contains("packed.ct: ") && why.contains("[scheme.wrong-key]"), "{why}");

    // What is wrong is said before anything is computed.
    let wrong = |args: &[&str], part: &str| {
        let base = ["aes", "transcipher", "--server-keys", "server.keys", "--out", "no.ct"];
        let why = refused(&server, &[&base[..], args].concat());
        assert!(why.contains(part), "{args:?}: {why}");
        assert!(!server.join("no.ct").exists());
    };
    let with_key = ["--aes-key", "key.ct", "--in", "data.aes", "--raw"];
    wrong(&with_key, "--iv");
    wrong(&[&with_key[..], &["--iv", "00"]].concat(), "16");
    wrong(&[&with_key[..], &["--iv", "zz"]].concat(), "hexadecimal");
    wrong(&[&with_key[..], &["--iv", "ffffffffffffffffffffffffffffffff"]].concat(), "counter");
    wrong(&[&with_key[..], &["--mode", "cbc", "--iv", iv]].concat(), "multiple of 16");
    wrong(&[&with_key[..], &["--mode", "gcm", "--iv", iv]].concat(), "12");
    wrong(&[&with_key[..], &["--mode", "ecb", "--iv", iv]].concat(), "no --iv");
    wrong(&with_key[..4], "aes upload");
    wrong(&["--aes-key", "key.ct", "--in", "data.upload", "--raw", "--iv", iv], "--raw");
    wrong(&["--aes-key", "key.ct", "--in", "data.upload", "--mode", "cbc"], "aes.contradiction");
    wrong(&["--aes-key", "packed.ct", "--in", "data.upload"], "aes encrypt-key");
    wrong(&["--aes-key", "key.ct", "--in", "none.aes"], "none.aes");
    // The encryption of another AES key, and one whose file does not say which it is.
    fs::write(data.join("other.hex"), "00112233445566778899aabbccddeeff").unwrap();
    let encrypt = ["aes", "encrypt-key", "--key", "public.key", "--aes-key-file", "other.hex"];
    let other = told(&data, &[&encrypt[..], &["--out", "other.ct"]].concat());
    places.send("other.ct", "data", "server");
    let both = ["--aes-key", "other.ct", "--in", "data.upload"];
    wrong(&both, "aes.wrong-key");
    wrong(&both, &id[..8]);
    wrong(&both, &other["aes_key_id"].as_str().unwrap()[..8]);
    // Labels that contradict themselves.
    let label = |args: &[&str], part: &str| {
        let why = refused(&data, &[&upload[..], args, &["--out", "no.upload"]].concat());
        assert!(why.contains(part), "{args:?}: {why}");
        assert!(!data.join("no.upload").exists());
    };
    label(&["--in", "plain", "--iv", iv], "--iv");
    label(&["--in", "plain", "--data", "data.aes"], "--data");
    label(&["--data", "data.aes"], "--iv");
    label(&["--data", "data.aes", "--mode", "cbc", "--iv", iv], "multiple of 16");
    label(&["--data", "data.aes", "--iv", iv, "--aes-key-id", id], "--aes-key-id");
    for (digits, part) in [
        ("00", "16, 24 or 32"),
        ("2b7e", "16, 24 or 32"),
        ("0", "even number"),
        ("zz", "other characters"),
    ] {
        fs::write(data.join("bad.hex"), digits).unwrap();
        let why = refused(
            &data,
            &[
                "aes",
                "encrypt-key",
                "--key",
                "public.key",
                "--aes-key-file",
                "bad.hex",
                "--out",
                "no.ct",
            ],
        );
        assert!(why.contains(part), "{why}");
    }
    assert!(
        refused(
            &reader,
            &["aes", "decrypt", "--key", "secret.key", "--in", "secret.key", "--out", "no"]
        )
        .contains("wrong-kind")
    );
}

/// What every operation does to the noise, without a key and with one, and along a bootstrapping.
#[test]
fn explanations() {
    let places = Places::new();
    let owner = places.of("owner");
    told(&owner, &["keygen", "--params", "insecure_bgv-257-n8", "--out", "keys"]);
    fs::write(owner.join("x.csv"), "v\n3\n5\n").unwrap();
    told(&owner, &["encrypt", "--key", "keys/public.key", "--in", "x.csv", "--out", "x.ct"]);

    let program = "y = 3*x*(1-x); z = rotate(y, 1) + x^2";
    let explain = ["explain", "--server-keys", "keys/server.keys", program, "x=x.ct"];
    let public = told(&owner, &explain);
    let steps = public["steps"].as_array().unwrap();
    assert_eq!(steps[0]["operation"], "input");
    assert_eq!(steps[0]["detail"], "x");
    assert!(
        steps.iter().all(|step| step.get("measured_bits").is_none()),
        "nothing that depends on the key"
    );
    assert!(
        steps.iter().any(|step| step["operation"] == "product")
            && public.get("least_slack_bits").is_none()
    );
    let number = |step: &Value, name: &str| step[name].as_f64().unwrap();
    assert!(
        steps.iter().all(
            |step| number(step, "failure_log2") < -150.0 && number(step, "capacity_bits") > 0.0
        )
    );
    assert!((-170.0..-140.0).contains(&public["failure_log2"].as_f64().unwrap()));
    // The rows of the results, the later one made of the other.
    let (y, z) =
        (public["outputs"]["y"].as_u64().unwrap(), public["outputs"]["z"].as_u64().unwrap());
    assert!(0 < y && y < z && z as usize == steps.len());

    let measured =
        told(&owner, &[&explain[..], &["--key", "keys/secret.key", "--svg", "x.svg"]].concat());
    for step in measured["steps"].as_array().unwrap() {
        assert!(number(step, "measured_bits") <= number(step, "bound_bits"), "{step}");
        assert!(
            (number(step, "estimate_bits") - number(step, "measured_bits")).abs() < 4.0,
            "{step}"
        );
    }
    assert!(measured["least_slack_bits"].as_f64().unwrap() > 0.0);
    let svg = fs::read_to_string(owner.join("x.svg")).unwrap();
    assert!(
        svg.starts_with("<svg")
            && svg.contains("measured noise")
            && svg.trim_end().ends_with("</svg>")
    );
    assert!(refused(&owner, &[&explain[..], &["--svg", "x.svg"]].concat()).contains("--force"));
    assert!(
        refused(&owner, &["explain", "--server-keys", "keys/server.keys", "y = x", "w=x.ct"])
            .contains("does not read w")
    );
    assert!(refused(&owner, &["explain"]).starts_with("everlevel: "));

    let cycle = told(
        &owner,
        &["explain", "bootstrap", "--params", "insecure_bgv-257-n8", "--svg", "b.svg"],
    );
    let stages: Vec<&str> = cycle["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["stage"].as_str().unwrap())
        .collect();
    assert!(stages.contains(&"digit_removal") && stages.last() == Some(&"assemble"), "{stages:?}");
    assert!(cycle["least_slack_bits"].as_f64().unwrap() > 0.0);
    assert!(fs::read_to_string(owner.join("b.svg")).unwrap().contains("digit_removal"));
    let table = String::from_utf8(
        run(&owner, &["explain", "bootstrap", "--params", "insecure_bgv-257-n8"]).stdout,
    )
    .unwrap();
    assert!(table.contains("-- digit_removal") && table.contains("do not share"), "{table}");
}

/// Values for others to see take room for a flood of noise.
#[test]
fn decryption_for_sharing() {
    let places = Places::new();
    let owner = places.of("owner");
    told(&owner, &["keygen", "--params", "insecure_bgv-257-n8", "--out", "keys"]);
    fs::write(owner.join("x.csv"), "v\n3\n5\n").unwrap();
    told(&owner, &["encrypt", "--key", "keys/public.key", "--in", "x.csv", "--out", "x.ct"]);
    let decrypt = ["decrypt", "--key", "keys/secret.key", "--for-sharing", "--in"];
    assert_eq!(
        told(&owner, &[&decrypt[..], &["x.ct"]].concat())["values"],
        serde_json::json!([3, 5])
    );
    // Squared until the ciphertext has too little room, which plain decryption does not need.
    told(
        &owner,
        &["eval", "--server-keys", "keys/server.keys", "y = x^262144", "x=x.ct", "--out", "."],
    );
    let plain = ["decrypt", "--key", "keys/secret.key", "--in", "y.ct", "--wrapping"];
    assert_eq!(told(&owner, &plain)["values"], serde_json::json!([1, 1]));
    assert!(
        refused(&owner, &[&decrypt[..], &["y.ct"]].concat()).contains("decryption for sharing")
    );
    told(&owner, &["compact", "--in", "x.ct", "--out", "c.ct"]);
    assert!(refused(&owner, &[&decrypt[..], &["c.ct"]].concat()).contains("compact"));
}

/// Noise bounds that parties with a shared key state to each other, across carriers who change what
/// they carry.
#[test]
fn bounds_of_manifests() {
    let places = Places::new();
    let (owner, server) = (places.of("owner"), places.of("server"));
    told(&owner, &["keygen", "--params", "insecure_bgv-257-n8", "--out", "keys"]);
    told(&owner, &["keys", "manifest-key", "--out", "shared.key"]);
    told(&owner, &["keys", "manifest-key", "--out", "other.key"]);
    assert!(
        refused(&owner, &["keys", "manifest-key", "--out", "shared.key"]).contains("wire.exists")
    );
    assert_eq!(fs::read(owner.join("shared.key")).unwrap().len(), 32);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(
            fs::metadata(owner.join("shared.key")).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
    fs::write(owner.join("x.csv"), "v\n3\n5\n").unwrap();
    let encrypt = |name: &str| {
        let (ct, manifest) = (format!("{name}.ct"), format!("{name}.manifest"));
        let args = [
            "encrypt",
            "--key",
            "keys/public.key",
            "--in",
            "x.csv",
            "--out",
            &ct,
            "--write-manifest",
            &manifest,
        ];
        told(&owner, &[&args[..], &["--manifest-key", "shared.key"]].concat());
        [ct, manifest].iter().for_each(|file| places.send(file, "owner", "server"));
    };
    ["x", "w"].iter().for_each(|name| encrypt(name));
    ["keys/server.keys", "shared.key", "other.key"]
        .iter()
        .for_each(|file| places.send(file, "owner", "server"));
    assert_eq!(told(&server, &["inspect", "x.manifest"])["kind"], "a manifest of noise bounds");

    // Two inputs, a manifest each; both results in one.
    let eval = ["eval", "--server-keys", "server.keys", "y = x*w; z = x + w", "x=x.ct", "w=w.ct"];
    let believed = ["--bounds", "manifest", "--manifest", "x.manifest", "--manifest-key"];
    let both = [&eval[..], &believed, &["shared.key", "--manifest", "w.manifest"]].concat();
    told(&server, &[&both[..], &["--out", "out", "--write-manifest", "out.manifest"]].concat());
    assert!(
        refused(
            &server,
            &[&both[..], &["--out", "no", "--write-manifest", "out.manifest"]].concat()
        )
        .contains("wire.exists")
    );
    let not_listed =
        refused(&server, &[&eval[..], &believed, &["shared.key", "--out", "no"]].concat());
    assert!(
        not_listed.contains("w.ct") && not_listed.contains("wire.not-in-manifest"),
        "{not_listed}"
    );
    let other = refused(&server, &[&eval[..], &believed, &["other.key", "--out", "no"]].concat());
    assert!(other.contains("x.manifest") && other.contains("wire.not-authentic"), "{other}");
    assert!(
        refused(&server, &[&eval[..], &["--out", "no", "--bounds", "manifest"]].concat())
            .contains("--manifest FILE")
    );
    let unused = ["--out", "no", "--manifest", "x.manifest", "--manifest-key", "shared.key"];
    assert!(refused(&server, &[&eval[..], &unused].concat()).contains("--bounds manifest"));
    let keyless = ["--out", "no", "--write-manifest", "no.manifest"];
    assert!(refused(&server, &[&eval[..], &keyless].concat()).contains("--manifest-key"));
    assert!(
        !server.join("no").exists() && !server.join("no.manifest").exists(),
        "nothing is written for what was refused"
    );

    // A bootstrapping of what the same server lists, and decryption of nothing but what is listed.
    let listed =
        ["--bounds", "manifest", "--manifest", "out.manifest", "--manifest-key", "shared.key"];
    let bootstrap =
        ["bootstrap", "--server-keys", "server.keys", "--in", "out/y.ct", "--out", "y2.ct"];
    told(&server, &[&bootstrap[..], &listed, &["--write-manifest", "y2.manifest"]].concat());
    ["out/y.ct", "out/z.ct", "out.manifest", "y2.ct", "y2.manifest"]
        .iter()
        .for_each(|file| places.send(file, "server", "owner"));
    let decrypt = |file: &str, manifest: &str, rest: &[&str]| {
        let args = [
            "decrypt",
            "--wrapping",
            "--key",
            "keys/secret.key",
            "--in",
            file,
            "--bounds",
            "manifest",
            "--manifest",
            manifest,
        ];
        run(&owner, &[&args[..], &["--manifest-key", "shared.key"], rest].concat())
    };
    for (file, manifest, values) in [
        ("y.ct", "out.manifest", "9\n25"),
        ("z.ct", "out.manifest", "6\n10"),
        ("y2.ct", "y2.manifest", "9\n25"),
    ] {
        for rest in [&[][..], &["--for-sharing"]] {
            let out = decrypt(file, manifest, rest);
            assert!(out.status.success(), "{file}: {}", String::from_utf8_lossy(&out.stderr));
            assert!(String::from_utf8_lossy(&out.stdout).contains(values), "{file}");
        }
    }
    let out = decrypt("y2.ct", "out.manifest", &[]);
    assert!(
        !out.status.success()
            && String::from_utf8_lossy(&out.stderr).contains("wire.not-in-manifest")
    );
    // A ciphertext whose carrier put another one in its place.
    fs::copy(owner.join("x.ct"), owner.join("y.ct")).unwrap();
    let out = decrypt("y.ct", "out.manifest", &[]);
    assert!(
        !out.status.success()
            && String::from_utf8_lossy(&out.stderr).contains("wire.not-in-manifest")
    );
}
