//! Whatever is wrong with the input: exit code 2, one line that says what was expected, what was
//! found and what to do.

use serde_json::{Value, json};

use crate::common::{file, success, usage};

/// Usage error, one line, mentioning every one of `parts`.
fn refused(args: &[&str], parts: &[&str]) {
    let err = usage(args);
    assert!(!err.contains("panicked"), "{err}");
    for part in parts {
        assert!(err.contains(part), "{args:?}: expected {part:?} in {err:?}");
    }
}

#[test]
fn tables() {
    let n = |extra: &str, parts: &[&str]| {
        let args: Vec<&str> = ["chen-han"].into_iter().chain(extra.split(' ')).collect();
        refused(&args, parts);
    };
    refused(
        &[],
        &["expected a command: all, chen-han, ma-et-al, ltv, aes, soak, security or sets;"],
    );
    refused(&["chen-han"], &["TABLE"]);
    n("table-6", &["table-6", "table-5"]);
    n("table-5 --quick --row 9", &["--row 9", "rows 1 to 6"]);
    n("table-1 --row 0", &["--row 0", "rows 1 to 11"]);
    n("table-5 --quick --row one", &["--row", "one"]);
    n("table-5 --quick --secret dense", &["dense", "main-128"]);
    for table in ["table-3 --row 5", "table-4 --row 1", "table-5 --row 1"] {
        n(&format!("{table} --quick --digit-removal magic"), &["magic", "product_tree"]);
    }
    // A closed form needs the 2B + 1 values of one digit.
    n("table-3 --row 4 --quick --digit-removal global", &["grid"]);
    n("table-5 --quick --own-modulus", &["--own-modulus", "table-3"]);
    refused(&["ma-et-al", "degrees", "--own-modulus"], &["--own-modulus", "table-3"]);
    refused(&["ltv", "table-1", "--own-modulus"], &["--own-modulus", "table-3"]);
    let path = file("occupied", "");
    n(&format!("table-5 --quick --row 1 --out {path}"), &["--out", "directory"]);
}

#[test]
fn aes() {
    let n = |extra: &str, parts: &[&str]| {
        let args: Vec<&str> =
            ["aes", "--insecure-research"].into_iter().chain(extra.split(' ')).collect();
        refused(&args, parts);
    };
    refused(&["aes", "--scheme", "ltv"], &["ltv-32768", "--insecure-research"]);
    refused(
        &["aes", "--scheme", "ltv", "--params", "aes-bgv-leveled"],
        &["aes-bgv-leveled", "--scheme bgv"],
    );
    n("--keys polynomials", &["--keys polynomials", "--chain prime-power"]);
    n("--params insecure_aes-m4947 --method packed --left 900", &["--left 900", "lower --left"]);
    n(
        "--chain prime-power --scheme ltv --params insecure_ltv-m255 --left 20",
        &["--left", "--chain rns"],
    );
    n("--keys seeds", &["seeds", "transformed", "polynomials"]);
    refused(
        &["aes", "--scheme", "ltv", "--params", "insecure_ltv-2-m255"],
        &["--insecure-research"],
    );
    let chain = ["--chain", "prime-power", "--scheme", "ltv", "--params", "insecure_ltv-m255"];
    refused(&[&["aes"], &chain[..]].concat(), &["--insecure-research"]);
    n("--params insecure_ltv-2-m255", &["--scheme ltv"]);
    n("--scheme ltv --params insecure_bgv-257-n8", &["--scheme bgv"]);
    n("--params insecure_bgv-257-n8", &["plaintext modulus 2"]);
    n("--chain prime-power --params insecure_ltv-m255", &["--chain prime-power", "--scheme ltv"]);
    n("--chain prime-power --scheme ltv --params ltv-0", &["ltv-0", "ltv-32768"]);
    n("--chain prime-power --scheme ltv --params insecure_ltv-n4096", &["slots"]);
    n(
        "--chain prime-power --scheme ltv --params insecure_ltv-m255",
        &["too little room for 10 rounds", "--rounds"],
    );
    n("--scheme ltv --params insecure_ltv-2-m255 --rounds 11", &["--rounds"]);
    n(
        "--scheme ltv --params insecure_ltv-2-m255 --method nibbles",
        &["nibbles", "bit-sliced", "byte-sliced", "packed"],
    );
    n("--scheme ltv --method packed --params insecure_ltv-2-m255", &["dimension of 16 slots"]);
    n(
        "--scheme ltv --chain prime-power --method packed --params insecure_ltv-m255",
        &["dimension of 16 slots"],
    );
    let mut spec: Value = serde_json::from_str(&success(&[
        "everlevel",
        "params",
        "show",
        "insecure_ltv-2-m255",
        "--json",
    ]))
    .unwrap();
    spec["words"] = json!(4);
    n(
        &format!("--scheme ltv --params {}", file("aes-words.json", spec.to_string())),
        &["too little room for 10 rounds"],
    );
    // Slots of degree 7.
    spec["index"] = json!(127);
    n(
        &format!(
            "--scheme ltv --method byte-sliced --params {}",
            file("aes-127.json", spec.to_string())
        ),
        &["degree 7", "bit-sliced"],
    );
}

#[test]
fn sets() {
    refused(&["sets", "bgv-65537-n15"], &["bgv-65537-n15", "papers sets"]);
    refused(&["aes", "--scheme", "ltv", "--params", "ltv-32768"], &["--insecure-research"]);
    refused(&["aes", "--params", "no-such-set"], &["no-such-set", ".json"]);
}
