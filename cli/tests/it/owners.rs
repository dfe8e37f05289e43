//! Files of two owners, of nobody, and of other keys: refused with exit code 2 and both ids, and
//! nothing is written.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::run_in;

const SET: &str = "insecure_bgv-257-n8";
/// Objects of version 1 of the format.
const OLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/wire/tests/golden/v1");

/// A directory with the keys of two owners, x.ct and y.ct of the first and z.ct of the second one.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Place(tempfile::tempdir().unwrap());
        for owner in ["a", "b"] {
            place.told(&["keygen", "--params", SET, "--program", "y = x*x", "--out", owner]);
        }
        fs::write(place.path("v.csv"), "v\n3\n5\n").unwrap();
        for (owner, kind, out) in
            [("a", "secret", "x.ct"), ("a", "public", "y.ct"), ("b", "public", "z.ct")]
        {
            let key = format!("{owner}/{kind}.key");
            place.told(&["encrypt", "--key", &key, "--in", "v.csv", "--out", out]);
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, args: &[&str]) -> (Option<i32>, String, Value) {
        let out = run_in(self.0.path(), &[args, &["--json"]].concat());
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        let bytes = if out.status.success() { &out.stdout } else { &out.stderr };
        (out.status.code(), text, serde_json::from_slice(bytes).unwrap_or_default())
    }

    fn told(&self, args: &[&str]) -> Value {
        let (status, text, told) = self.run(args);
        assert_eq!(status, Some(0), "{args:?}: {text}");
        told
    }

    /// Refused with exit code 2 and this code; what is said.
    fn refused(&self, args: &[&str], code: &str) -> String {
        let before = listed(self.0.path());
        let (status, text, told) = self.run(args);
        assert_eq!((status, told["error"]["code"].as_str()), (Some(2), Some(code)), "{text}");
        assert_eq!(listed(self.0.path()), before, "{args:?} left something behind");
        told["error"]["message"].as_str().unwrap().into()
    }

    /// The short form of the id that `inspect` prints.
    fn id(&self, file: &str) -> String {
        self.told(&["inspect", file])["key_id"].as_str().unwrap()[..8].into()
    }
}

fn listed(directory: &Path) -> Vec<PathBuf> {
    let mut out: Vec<_> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    out.sort();
    out
}

#[test]
fn keys_and_files_of_two_owners_do_not_go_together() {
    let place = Place::new();
    let (a, b) = (place.id("a/secret.key"), place.id("b/secret.key"));
    assert_ne!(a, b);
    for (owner, id) in [("a", &a), ("b", &b)] {
        for file in ["public.key", "server.keys"] {
            assert_eq!(place.id(&format!("{owner}/{file}")), *id);
        }
    }
    assert_eq!(
        [place.id("x.ct"), place.id("y.ct"), place.id("z.ct")],
        [&a, &a, &b].map(Clone::clone)
    );
    place.told(&["compact", "--in", "x.ct", "--out", "x.small"]);
    assert_eq!(place.id("x.small"), a);
    let change = ["keys", "change", "--old-key", "a/secret.key", "--new-key", "b/secret.key"];
    place.told(&[&change[..], &["--out", "ab.keys"]].concat());
    let shown = place.told(&["inspect", "ab.keys"]);
    assert!(shown["key_id"].as_str().unwrap().starts_with(&b));
    assert!(shown["changes_from"].as_str().unwrap().starts_with(&a));

    let eval = |owner: &'static str, inputs: &[&'static str]| {
        let keys = if owner == "a" { "a/server.keys" } else { "b/server.keys" };
        let program = if inputs.len() == 1 { "y = x + 1" } else { "y = x*z" };
        let command = ["eval", "--server-keys", keys, program];
        [&command[..], inputs, &["--out", "out"]].concat()
    };
    for args in [
        vec!["decrypt", "--key", "b/secret.key", "--in", "x.ct", "--out", "x.csv"],
        vec!["decrypt", "--key", "b/secret.key", "--in", "x.ct", "--for-sharing"],
        vec!["decrypt", "--key", "b/secret.key", "--in", "x.small", "--out", "x.csv"],
        eval("b", &["x=x.ct"]),
        eval("a", &["x=x.ct", "z=z.ct"]),
        eval("b", &["x=x.ct", "z=z.ct"]),
        vec!["bootstrap", "--server-keys", "b/server.keys", "--in", "x.ct", "--out", "y2.ct"],
        vec!["change-key", "--keys", "ab.keys", "--in", "z.ct", "--out", "moved.ct"],
        vec!["explain", "--server-keys", "b/server.keys", "y = x*x", "x=x.ct"],
    ] {
        let why = place.refused(&args, "scheme.wrong-key");
        assert!(why.contains(&a) && why.contains(&b), "{args:?}: {why}");
    }
    place.told(&eval("a", &["x=x.ct", "z=y.ct"]));
    let decrypt = ["decrypt", "--key", "a/secret.key", "--in", "out/y.ct", "--wrapping"];
    let shown = place.told(&decrypt);
    assert_eq!(shown["values"], serde_json::json!([9, 25]));
    place.told(&["change-key", "--keys", "ab.keys", "--in", "x.ct", "--out", "moved.ct"]);
    assert_eq!(place.id("moved.ct"), b);
    place.refused(&["decrypt", "--key", "a/secret.key", "--in", "moved.ct"], "scheme.wrong-key");
    let shown = place.told(&["decrypt", "--key", "b/secret.key", "--in", "moved.ct"]);
    assert_eq!(shown["values"], serde_json::json!([3, 5]));
}

#[test]
fn older_files_are_read_on_request() {
    let place = Place::new();
    let older = |kind: &str| format!("{OLDER}/{SET}.{kind}");
    let (public, server, result) = (older("public_key"), older("server_keys"), older("results"));
    let allow = "--allow-unknown-owner";
    let encrypt = ["encrypt", "--key", &public, "--in", "v.csv", "--out", "old.ct"];
    let why = place.refused(&encrypt, "wire.unknown-owner");
    assert!(why.contains(allow), "{why}");
    place.told(&[&encrypt[..], &[allow]].concat());
    let shown = place.told(&["inspect", &public]);
    assert_eq!((shown["format_version"].as_u64(), &shown["key_id"]), (Some(1), &Value::Null));

    // The secret key has its id, whatever its file says; a ciphertext of nobody is refused by
    // default, and by other keys for its phase.
    let secret = older("secret_key");
    let decrypt = |key: &str, file: &str, more: &[&str]| -> Vec<String> {
        let all = [&["decrypt", "--key", key, "--in", file][..], more].concat();
        all.into_iter().map(String::from).collect()
    };
    let of = |args: &[String]| -> Vec<&'static str> {
        args.iter().map(|arg| &*String::leak(arg.clone())).collect()
    };
    place.refused(&of(&decrypt(&secret, "old.ct", &[])), "wire.unknown-owner");
    let shown = place.told(&of(&decrypt(&secret, "old.ct", &[allow])));
    assert_eq!(shown["values"], serde_json::json!([3, 5]));
    place.refused(
        &of(&decrypt("a/secret.key", "old.ct", &[allow, "--out", "old.csv"])),
        "scheme.not-decryptable",
    );
    place.refused(&of(&decrypt(&secret, &result, &["--all"])), "wire.unknown-owner");
    // With no bound believed nothing would tell the keys apart, nor for a result in so small a
    // ring.
    let untrusted = [allow, "--bounds", "untrusted"];
    for key in ["a/secret.key", &secret] {
        let why = place.refused(&of(&decrypt(key, "old.ct", &untrusted)), "scheme.unknown-owner");
        assert!(why.contains("old.ct") && why.contains("--bounds stated"), "{why}");
        place.refused(&of(&decrypt(key, &result, &["--wrapping", allow])), "scheme.unknown-owner");
    }
    // Ciphertexts of version 1 that hold polynomials, which are no columns of integers.
    let older = older("ciphertexts");
    let (status, _, told) = place.run(&of(&decrypt(&secret, &older, &["--wrapping", allow])));
    assert_eq!(told["error"]["code"], "scheme.not-decryptable", "whole elements");
    assert_eq!(status, Some(2));
    // Columns of typed integers, likewise.
    let types = ["encrypt", "--types", "v=u8", "--key", &public, "--in", "v.csv", "--out", "typed"];
    place.told(&[&types[..], &[allow]].concat());
    let shown = place.told(&of(&decrypt(&secret, "typed", &[allow])));
    assert_eq!(shown["v"], serde_json::json!([3, 5]));
    place.refused(&of(&decrypt("a/secret.key", "typed", &[allow])), "scheme.not-decryptable");
    for key in ["a/secret.key", &secret] {
        place.refused(&of(&decrypt(key, "typed", &untrusted)), "scheme.unknown-owner");
    }
    let eval = ["eval", "--server-keys", &server, "y = x + 1", "x=x.ct", "--out", "out"];
    place.refused(&eval, "wire.unknown-owner");
    place.told(&[&eval[..], &[allow]].concat());
}
