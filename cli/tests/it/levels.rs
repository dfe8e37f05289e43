//! Columns that are encrypted at the levels of a plan.

use serde_json::{Value, json};

use crate::common::Place;

/// The option for the levels that `plan` has chosen.
pub fn levels(planned: &Value) -> String {
    let one = |x: &Value| format!("{}={}", x["name"].as_str().unwrap(), x["level"]);
    let all: Vec<String> = planned["arguments"].as_array().unwrap().iter().map(one).collect();
    format!("--levels {}", all.join(","))
}

/// Columns at the levels of a plan take fewer bytes, and smaller keys; those at other levels are
/// refused before anything is computed.
#[test]
fn columns_are_encrypted_at_the_levels_of_a_plan() {
    let place = Place::empty();
    place.write("p.csv", "age,pay\n29,7\n64,5\n3,200\n");
    let (program, set) = ("y=if(age<30,pay,9)", "--params insecure_bgv-65537-n11");
    let columns = "--types age=u8,pay=u8 --rows 3";
    let planned = place.told(&format!("plan {program} {columns} {set}"));
    assert_eq!((&planned["bootstraps"], &planned["refreshes"]), (&false.into(), &0.into()));
    let level = |i: usize| planned["arguments"][i]["level"].as_u64().unwrap();
    assert!(level(1) < level(0), "what is only selected is lower: {planned}");
    let levels = levels(&planned);
    assert_eq!(place.told(&format!("plan {program} {columns} {set} {levels}")), planned);
    let keygen = format!("keygen --program {program} {columns} {set}");
    place.told(&format!("{keygen} {levels} --out k"));
    let sizes = |more: &str| {
        let of = format!("keys size-report --program {program} {columns} {set} {more}");
        place.told(of.trim_end())["bytes"].as_u64().unwrap()
    };
    assert!(sizes(&levels) < sizes(""));
    let text = place.piped(&format!("plan {program} {columns} {set}"), b"").stdout;
    let text = String::from_utf8(text).unwrap();
    for part in ["levels of the arguments, of 0 to", &levels, "everlevel encrypt --key"] {
        assert!(text.contains(part), "{text}");
    }
    let encrypt = |key: &str, more: &str, out: &str| {
        let types = "--types age=u8,pay=u8";
        let of = format!("encrypt --key k/{key}.key --in p.csv {types} --out {out} {more}");
        place.told(of.trim_end())
    };
    let told = encrypt("public", &levels, "low.ct");
    assert_eq!(told["columns"][1]["level"], level(1));
    encrypt("secret", &levels, "own.ct");
    let whole = encrypt("public", "", "top.ct");
    assert!(4 * told["bytes"].as_u64().unwrap() < 3 * whole["bytes"].as_u64().unwrap());
    encrypt("public", "--levels age=1,pay=1", "less.ct");
    let eval = |file: &str, out: &str| {
        let keys = "--server-keys k/server.keys --json";
        place.piped(&format!("eval {keys} {program} {file} --out {out}"), b"")
    };
    for (file, out) in [("low.ct", "a"), ("own.ct", "b")] {
        let found = eval(file, out);
        assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
        let found = place.told(&format!("decrypt --key k/secret.key --in {out}/y.ct"));
        assert_eq!(found["y"], json!([7, 9, 200]));
    }
    let missing = ["scheme.missing-key", "scheme.key-too-short"];
    let deep = ["integers.depth", "circuit.not-enough-capacity", "scheme.noise-overflow"];
    for (file, codes) in [("top.ct", &missing[..]), ("less.ct", &deep)] {
        let found = eval(file, "none");
        let told: Value = serde_json::from_slice(&found.stderr).unwrap();
        assert!(codes.contains(&told["error"]["code"].as_str().unwrap()), "{file}: {told}");
        assert!(found.status.code() == Some(2) && !place.path().join("none").exists());
    }
    // Keys that are made without levels are for columns at the top.
    place.told(&format!("{keygen} --out all"));
    let types = "--types age=u8,pay=u8";
    place.told(&format!("encrypt --key all/public.key --in p.csv {types} --out all.ct"));
    place.told(&format!("eval --server-keys all/server.keys {program} all.ct --out c"));
    let found = place.told("decrypt --key all/secret.key --in c/y.ct");
    assert_eq!(found["y"], json!([7, 9, 200]));
    for (more, code) in [
        ("--levels pays=1", "cli.usage"),
        ("--levels age", "cli.usage"),
        ("--levels age=1,age=2", "cli.usage"),
        ("--levels age=100000", "scheme.bad-level"),
    ] {
        place.refused(&format!("plan {program} {columns} {set} {more}"), code);
        place.refused(&format!("{keygen} {more} --out no"), code);
        let key = "--key k/public.key --in p.csv";
        place.refused(&format!("encrypt {key} {types} {more} --out no.ct"), code);
    }
    // Levels are those of one set.
    place.refused(&format!("plan {program} {columns} --levels age=1"), "cli.usage");
    // A column of one possible value has no ciphertext, and no level.
    place.write("five.csv", "v,w\n5,1\n5,2\n");
    let types = "--types v=5..5,w=u8 --levels v=1,w=1";
    let told = place.told(&format!("encrypt --key k/public.key --in five.csv {types} --out f.ct"));
    let levels = |i: usize| told["columns"][i]["level"].clone();
    assert_eq!((levels(0), levels(1)), (Value::Null, 1.into()));
}
