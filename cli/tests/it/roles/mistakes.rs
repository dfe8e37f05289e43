//! What is refused, and that nothing is lost by it.

use std::fs;

use super::{Places, refused, run, told};

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
