//! Whole private computations on the command line: every role a process of its own, in a directory
//! with only the files that it may have.

mod aes;
mod explanations;
mod manifests;
mod mistakes;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::run_in as run;

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
