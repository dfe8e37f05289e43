//! Paths that are not UTF-8 text: what was written is reported, whatever its name.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::process::Command;

use serde_json::Value;

use crate::common::Place;

#[test]
fn outputs_may_have_names_that_are_no_text() {
    let place = Place::new();
    let named = |end: &str| {
        let mut bytes = vec![b'f', 0xff, 0xfe];
        bytes.extend(end.as_bytes());
        OsString::from_vec(bytes)
    };
    let run = |command: &str, end: &str| {
        let out = Command::new(env!("CARGO_BIN_EXE_everlevel"))
            .args(command.split(' '))
            .arg("--out")
            .arg(named(end))
            .args(["--json", "--insecure-research"])
            .current_dir(place.path())
            .output()
            .unwrap();
        assert!(out.status.success(), "{command}: {out:?}");
        assert!(place.path().join(named(end)).exists(), "{command}");
        let told: Value = serde_json::from_slice(&out.stdout).unwrap();
        assert!(told.is_object(), "{command}: {told}");
    };
    place.write("x.csv", "x\n1\n2\n");
    place.told("encrypt --key keys/public.key --in x.csv --types x=u8 --out typed.ct");
    place.told("encrypt --key keys/public.key --in x.csv --column x --out x.ct");
    run("keygen --params insecure_bgv-257-n8", ".keys");
    run("keys change --old-key keys/secret.key --new-key keys/secret.key", ".change");
    run("encrypt --key keys/public.key --in x.csv --column x", ".ct");
    run("decrypt --key keys/secret.key --in x.ct", ".x.csv");
    run("decrypt --key keys/secret.key --in typed.ct", ".typed.csv");
    run("table schema infer --in x.csv", ".json");
}
