//! Sets with fewer used slots, by their names: keys, columns and tables of more rows than slots.

use crate::common::{Place, json, usage};

const SET: &str = "insecure_bgv-65537-n11-s64";

/// Four ciphertexts, the last one not full.
const ROWS: i64 = 200;

fn x(i: i64) -> i64 {
    i % 250
}

fn y(i: i64) -> i64 {
    7 * i % 256
}

fn data(rows: i64) -> String {
    (0..rows).fold("x,y\n".into(), |text, i| format!("{text}{},{}\n", x(i), y(i)))
}

const EVAL: &str = "eval --server-keys keys/server.keys --out out --force";

#[test]
fn columns_in_used_slots() {
    let place = Place::with_keys(SET);
    // The set has a name, by which files of it are read alone.
    std::fs::remove_file(place.path().join("keys/params.json")).unwrap();
    place.write("d.csv", data(ROWS));
    let encrypt = "encrypt --key keys/public.key --in d.csv --types x=u8,y=u8 --out d.ct";
    let told = place.told(encrypt);
    assert_eq!((&told["params"], &told["slots"]), (&SET.into(), &64.into()));
    // Two digits for each column.
    assert_eq!((&told["values"], &told["ciphertexts"]), (&ROWS.into(), &16.into()));
    place.told(&format!("{EVAL} more=x>y;n=count(more);s=sum(x);m=max(min(x,y),x-y) d.ct"));
    let opened = |name: &str| {
        place.told(&format!("decrypt --key keys/secret.key --in out/{name}.ct"))[name].clone()
    };
    let more = (0..ROWS).filter(|&i| x(i) > y(i)).count();
    assert_eq!(opened("n"), more);
    assert_eq!(opened("s"), (0..ROWS).map(x).sum::<i64>());
    let expected: Vec<i64> = (0..ROWS).map(|i| x(i).min(y(i)).max(x(i) - y(i))).collect();
    assert_eq!(opened("m"), serde_json::Value::from(expected));

    place.write("one.csv", "one\n3\n255\n8\n");
    place.told("encrypt --key keys/public.key --in one.csv --types one=u8 --out one.ct");
    // Refreshed several times, and put in order in one ciphertext.
    let deep = "z=min(max(one,9),200)*one/3;w=xor(z,one)%100;o=sort(one)";
    let told = place.told(&format!("{EVAL} {deep} one.ct"));
    assert!(told["bootstraps"].as_u64().unwrap() > 0, "{told}");
    let z = |v: i64| v.clamp(9, 200) * v / 3;
    let w = [3, 255, 8].map(|v| (z(v) ^ v) % 100);
    assert_eq!(opened("w"), serde_json::Value::from(w.to_vec()));
    assert_eq!(opened("o"), serde_json::Value::from(vec![3, 8, 255]));
}

#[test]
fn residues_and_their_sums_in_used_slots() {
    let place = Place::with_keys("insecure_bgv-257-n8-s16");
    place.write("v.csv", "v\n1\n2\n3\n");
    place.told("encrypt --key keys/public.key --in v.csv --range 0..3 --out v.ct");
    place.told(&format!("{EVAL} a=refresh(v*v)+v;b=sum(v);c=rotate(v,1) v=v.ct"));
    let opened = |name: &str, more: &str| {
        let decrypt = format!("decrypt --key keys/secret.key --in out/{name}.ct {more}");
        place.told(decrypt.trim())["values"].clone()
    };
    assert_eq!(opened("a", ""), serde_json::json!([2, 6, 12]));
    assert_eq!(opened("b", "")[0], 6);
    // Cyclic in rows of 8.
    let rotated = [2, 3, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(opened("c", ""), serde_json::json!(rotated));
}

const SCHEMA: &str = r#"{"columns": [
    {"name": "x", "type": "integer", "low": 0, "high": 255},
    {"name": "y", "type": "integer", "low": 0, "high": 255}
]}"#;

#[test]
fn tables_in_used_slots() {
    let place = Place::empty();
    // Ten blocks.
    place.write("d.csv", data(600));
    place.write("schema.json", SCHEMA);
    for query in [
        "select count(*), sum(x), avg(x), sum(x * y) from t where x > 100 and y between 7 and 99",
        "select sum(x) from t where x > y",
        "select x, y from t where x < 3 and y > 128 order by y limit 4",
    ] {
        let words = ["table", "query", "--params", SET, "--schema", "schema.json", "--in", "d.csv"];
        let words: Vec<String> = words.into_iter().chain([query]).map(String::from).collect();
        let told = place.told_words(&words);
        assert_eq!((&told["exact"], &told["params"]), (&true.into(), &SET.into()), "{query}");
    }
}

#[test]
fn names_with_used_slots() {
    let shown = json(&["params", "show", "bgv-65537-n15-s1024"]);
    assert_eq!(shown["name"], "bgv-65537-n15-s1024");
    assert_eq!(shown["bootstrap"]["used_slots"], 1024);
    let sheet = json(&["params", "datasheet", "insecure_bgv-65537-n11-s64"]);
    assert_eq!((&sheet["slots"], &sheet["d"]), (&64.into(), &32.into()));
    for (name, code, told) in [
        ("bgv-65537-n15-s1000", "scheme.bad-params", "expected a power of two from 4"),
        ("bgv-127-n14-s4", "scheme.bad-params", "expected a power of two from 4"),
        ("aes-bgv-leveled-s64", "scheme.bad-params", "no bootstrapping section"),
        ("bgv-65537-n15-s01024", "scheme.unknown-params", "did you mean bgv-65537-n15?"),
    ] {
        let err = usage(&["keygen", "--params", name, "--out", "nowhere"]);
        assert!(err.contains(code) && err.contains(told), "{name}: {err}");
    }
}
