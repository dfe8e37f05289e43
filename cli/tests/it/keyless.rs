//! `params plan --keyless`: the set of a server without keys, and what it is not for.

use crate::common::{Place, json, success, usage};

fn plan<'a>(rest: &[&'a str]) -> Vec<&'a str> {
    ["params", "plan", "--keyless"].into_iter().chain(rest.iter().copied()).collect()
}

#[test]
fn a_set_is_found_by_values_and_by_modulus() {
    let values = json(&plan(&["--max-value", "65_535", "--terms", "4", "--slots", "4000"]));
    assert_eq!((&values["n"], &values["slots"]), (&4096.into(), &4096.into()));
    assert_eq!((&values["terms"], &values["weight"]), (&4.into(), &1.into()));
    assert_eq!(values["spec"]["special"], 0);
    let number = |key: &str| values[key].as_f64().unwrap();
    assert!(number("plain_modulus") > 4.0 * 65535.0 * 65535.0);
    assert!(number("security_bits") >= 129.0 && number("failure_log2") < -128.0);
    assert!(number("capacity_bits") > 0.0 && number("log_q") <= 96.0);
    assert!(number("compact_bytes") < number("result_bytes"));
    assert!((2.9..3.0).contains(&(number("result_bytes") / number("fresh_bytes"))));
    // By the prime that was chosen it is the same set, and signs and constants take more.
    let prime = values["plain_modulus"].to_string();
    assert_eq!(json(&plan(&["--plain-modulus", &prime, "--terms", "4", "--depth", "1"])), values);
    let more = ["--max-value", "65535", "--terms", "4", "--weight", "3", "--signed"];
    assert!(json(&plan(&more))["plain_modulus"].as_f64().unwrap() > 24.0 * 65535.0 * 65535.0);
    let text = success(&plan(&["--plain-modulus", "257", "--terms", "9", "--weight", "5"]));
    assert!(text.contains("bgv-257-") && text.contains("up to 9 products"), "{text}");
    assert!(text.contains("a constant of up to 5"), "{text}");
}

#[test]
fn the_set_is_a_file_that_other_commands_read() {
    let place = Place::empty();
    let found = place.told("params plan --keyless --plain-modulus 257 --terms 2 --out set.json");
    assert_eq!(place.told("params show set.json"), found["spec"]);
}

#[test]
fn what_takes_keys_is_refused_with_a_way_out() {
    let place = Place::empty();
    for (rest, code, way) in [
        ("--plain-modulus 257 --depth 2", "scheme.bad-params", "choose depth 1"),
        ("--plain-modulus 257 --depth unlimited", "scheme.bad-params", "leave out --keyless"),
        ("--max-value 9 --ops compare", "workload.unsupported", "--terms"),
        ("--max-value 9 --rows 5", "workload.unsupported", "leave out --keyless"),
        ("--max-value 0", "workload.value", "1 to 2^64 - 1"),
        ("--max-value 1e9", "scheme.bad-params", "split values into digits"),
        ("--plain-modulus 6", "scheme.bad-params", "power of a prime"),
        ("--plain-modulus 257 --terms 0", "scheme.bad-params", "at least one"),
    ] {
        let told = place.refused(&format!("params plan --keyless {rest}"), code);
        assert!(told.contains(way), "{rest}: {told}");
    }
    for other in [&["--repeat", "--slots", "9"][..], &["--minimize", "memory"], &["--measure", "1"]]
    {
        let err = usage(&plan(&[&["--plain-modulus", "257"][..], other].concat()));
        assert!(err.contains("cannot be used with") && err.contains("--keyless"), "{err}");
    }
    assert!(usage(&plan(&[])).contains("--plain-modulus"));
    let alone = ["params", "plan", "--plain-modulus", "257", "--depth", "1", "--terms", "2"];
    assert!(usage(&alone).contains("--keyless"));
}
