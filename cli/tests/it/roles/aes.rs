//! Data under AES become ciphertexts.

use std::fs;
use std::path::Path;
use std::process::Command;

use aes::Aes128;
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use everlevel::files::{AES_KEY, CONTENT, UNCHECKED};
use everlevel::{AesMethod, OptIn, Params};
use everlevel_wire::container::{Planned, encode};
use everlevel_wire::{Metadata, ObjectKind, ParamsId};
use serde_json::Value;

use super::{Places, refused, run, told};

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
    let sliced = ["--in", "own.upload", "--method", "byte-sliced", "--seeded-keys"];
    for (name, args, checked) in [
        ("packed", &["--in", "data.upload", "--method", "packed"][..], true),
        ("byte-sliced", &sliced[..], true),
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

    let keygen = ["keygen", "--params", "insecure_aes-m4947", "--program", "y=x+x"];
    told(&owner, &[&keygen[..], &["--out", "other"]].concat());
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

/// An index of ciphertexts without bytes states data for which memory would be reserved.
#[test]
fn ciphertexts_of_no_bytes_hold_no_data() {
    let places = Places::new();
    let reader = places.of("reader");
    let set = "insecure_aes-m4947";
    told(&reader, &["keygen", "--params", set, "--program", "y=x+x", "--out", "keys"]);
    let params = Params::named(set, OptIn::InsecureResearch).unwrap();
    let method = AesMethod::Packed;
    let layout = method.layout(params.slot_shape()).unwrap();
    let states = 4000;
    let length = (states * layout.capacity()).to_string();
    let metadata = Metadata::from(
        [
            (CONTENT, "aes-bytes"),
            ("method", method.name()),
            ("length", &length),
            (AES_KEY, UNCHECKED),
        ]
        .map(|(name, value)| (name.to_string(), value.to_string())),
    );
    let record = |_| Planned { descriptor: Vec::new(), length: 0 };
    let records: Vec<Planned> = (0..states * layout.width()).map(record).collect();
    let id = ParamsId::of(&params);
    let kind = ObjectKind::CIPHERTEXTS;
    let bytes = encode(kind, id, &metadata, &records, |_, _| {}).unwrap();
    fs::write(reader.join("empty.ct"), bytes).unwrap();
    let decrypt = ["aes", "decrypt", "--key", "keys/secret.key", "--in", "empty.ct"];
    let more = ["--out", "no", "--allow-unknown-owner"];
    let why = refused(&reader, &[&decrypt[..], &more].concat());
    assert!(why.contains("more bytes of data than it has itself"), "{why}");
}
