//! `papers aes`: counts, and what is printed.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::Value;

use crate::common::{file, json, success};

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} is a finite number in {value}"))
}

/// A small ring of packed states.
const PACKED: &str = "insecure_aes-m4947";

/// All rounds on packed states, with these options.
fn packed(options: &[&str]) -> Value {
    let args = ["aes", "--params", PACKED, "--method", "packed", "--threads", "2"];
    json(&[&args[..], &["--insecure-research"], options].concat())
}

/// Without options, for several tests.
static WHOLE: LazyLock<Value> = LazyLock::new(|| packed(&[]));

#[test]
fn runs_are_checked_and_counted() {
    let expected = "scheme params chain method blocks rounds products relinearizations \
                    key_switches depth seconds_total seconds_per_block latency_seconds \
                    floor_seconds floor_parts ntt_count ntt_us bytes_moved bandwidth_gb_s \
                    seconds_keygen seconds_round_keys key_bytes peak_memory_bytes \
                    noise_after_each_round bound_after_each_round modulus_bits_after_each_round \
                    capacity_bits_after wrong_blocks failure_log2 security_bits security date \
                    version commit cpu cpu_flags backend threads";
    for (scheme, chain, params, method, rounds, blocks, counts) in [
        // The whole cipher: 2,880 relinearizations at depth 40.
        (
            "ltv",
            "rns",
            "insecure_ltv-2-m255",
            "bit-sliced",
            10,
            16.0,
            [5760.0, 2880.0, 2880.0, 40.0],
        ),
        (
            "ltv",
            "rns",
            "insecure_ltv-2-m255",
            "byte-sliced",
            10,
            16.0,
            [640.0, 640.0, 1760.0, 30.0],
        ),
        (
            "ltv",
            "prime-power",
            "insecure_ltv-m255",
            "bit-sliced",
            2,
            16.0,
            [1152.0, 576.0, 576.0, 8.0],
        ),
        (
            "ltv",
            "prime-power",
            "insecure_ltv-m255",
            "byte-sliced",
            2,
            16.0,
            [128.0, 128.0, 352.0, 6.0],
        ),
        ("bgv", "rns", PACKED, "packed", 10, 4.0, [40.0, 40.0, 170.0, 30.0]),
    ] {
        let rounds_text = rounds.to_string();
        let report = if method == "packed" {
            WHOLE.clone()
        } else {
            json(&[
                "aes",
                "--scheme",
                scheme,
                "--chain",
                chain,
                "--params",
                params,
                "--method",
                method,
                "--rounds",
                &rounds_text,
                "--threads",
                "2",
                "--insecure-research",
            ])
        };
        assert_eq!(keys(&report), expected.split_whitespace().collect());
        assert_eq!((&report["chain"], &report["method"]), (&chain.into(), &method.into()));
        assert_eq!(
            ["products", "relinearizations", "key_switches", "depth"]
                .map(|key| number(&report, key)),
            counts
        );
        assert_eq!((number(&report, "blocks"), number(&report, "wrong_blocks")), (blocks, 0.0));
        // One state, whose time is the latency; averages of noise bound no failure.
        assert_eq!(number(&report, "latency_seconds"), number(&report, "seconds_total"));
        let n = |key| number(&report, key);
        let parts = ["butterfly_seconds", "term_seconds", "key_reading_seconds", "cache_seconds"];
        let floor: f64 = parts.iter().map(|part| number(&report["floor_parts"], part)).sum();
        assert!(n("ntt_count") > 0.0 && n("bytes_moved") > 0.0);
        assert!((n("floor_seconds") - floor).abs() < 1e-9 + 1e-6 * floor);
        match chain {
            "rns" => assert!(
                number(&report, "failure_log2") <= -128.0
                    && number(&report, "failure_log2") > -170.0
            ),
            _ => assert!(report["failure_log2"].is_null()),
        }
        assert!(number(&report, "capacity_bits_after") > 0.0);
        assert!(number(&report, "seconds_total") > 0.0 && number(&report, "key_bytes") > 0.0);
        assert!(number(&report, "security_bits") < 60.0);
        assert!(scheme == "bgv" || number(&report["security"]["attacks"][0], "block_size") == 2.0);
        let each = |key: &str| -> Vec<f64> {
            report[key]
                .as_array()
                .expect("an array")
                .iter()
                .map(|x| x.as_f64().expect("a number"))
                .collect()
        };
        let (noise, bound, modulus) = (
            each("noise_after_each_round"),
            each("bound_after_each_round"),
            each("modulus_bits_after_each_round"),
        );
        assert!(
            noise.len() == rounds + 1
                && bound.len() == rounds + 1
                && modulus.is_sorted_by(|a, b| a > b)
        );
        assert!(
            noise
                .iter()
                .zip(&bound)
                .zip(&modulus)
                .all(|((noise, bound), modulus)| noise <= bound && bound < modulus)
        );
    }
    let mut bgv: Value = serde_json::from_str(&success(&[
        "everlevel",
        "params",
        "show",
        "insecure_ltv-2-m255",
        "--json",
    ]))
    .unwrap();
    bgv["family"] = "rlwe".into();
    bgv["secret"] = "uniform_ternary".into();
    let path = file("insecure_aes.json", bgv.to_string());
    let text = success(&[
        "aes",
        "--params",
        &path,
        "--method",
        "bit-sliced",
        "--rounds",
        "1",
        "--insecure-research",
    ]);
    for part in [
        "bgv",
        "16 blocks, 1 rounds",
        "288 relinearizations",
        "depth 4",
        "peak memory",
        "16 blocks checked, 0 wrong",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn what_is_left_over_is_saved_at_the_start() {
    let (low, top) = (packed(&["--left", "20"]), &*WHOLE);
    let n = |report: &Value, key: &str| number(report, key);
    for key in ["products", "key_switches", "depth", "wrong_blocks"] {
        assert_eq!(n(&low, key), n(top, key), "{key}");
    }
    assert_eq!(n(&low, "wrong_blocks"), 0.0);
    assert!(n(&low, "capacity_bits_after") >= 20.0);
    assert!(n(&low, "capacity_bits_after") < n(top, "capacity_bits_after"));
    assert!(n(&low, "ntt_count") < 0.85 * n(top, "ntt_count"));
    assert!(n(&low, "key_bytes") < n(top, "key_bytes"));
}

#[test]
fn keys_as_polynomials_take_less_memory_and_give_the_same() {
    let run = |keys: &str| {
        let args = "aes --scheme ltv --chain prime-power --params insecure_ltv-m255 --rounds 1 \
                    --insecure-research --keys";
        json(&args.split(' ').chain([keys]).collect::<Vec<_>>())
    };
    let (polynomials, transformed) = (run("polynomials"), run("transformed"));
    assert_eq!((&polynomials["keys"], &transformed["keys"]), (&"polynomials".into(), &Value::Null));
    for key in ["blocks", "products", "key_switches", "depth", "wrong_blocks"] {
        assert_eq!(number(&polynomials, key), number(&transformed, key), "{key}");
    }
    assert_eq!(number(&polynomials, "wrong_blocks"), 0.0);
    assert!(number(&polynomials, "key_bytes") < number(&transformed, "key_bytes"));
}
