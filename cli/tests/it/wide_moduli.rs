//! A set with the plaintext modulus 2^64, from its JSON to files of words: keys, values, a program,
//! results.

use serde_json::{Value, json};

use crate::common::Place;

fn words(place: &Place, exponent: u32) {
    let mut set = place.told("params show insecure_bgv-257-n8");
    let changes = [
        ("name", json!("insecure_words-m127")),
        ("index", json!(127)),
        ("plain_prime", json!(2)),
        ("plain_exponent", json!(exponent)),
    ];
    for (field, value) in changes {
        set[field] = value;
    }
    set.as_object_mut().unwrap().remove("bootstrap");
    place.write("set.json", set.to_string());
}

#[test]
fn words_wrap_on_the_command_line() {
    let place = Place::empty();
    words(&place, 64);
    place.told("keygen --params set.json --out keys");
    let x = [u64::MAX, 0, 1 << 63, 1, 0x0123_4567_89ab_cdef];
    let y = [u64::MAX, 5, 3, 1 << 63, 0xfedc_ba98_7654_3210];
    place.write("x.json", json!(x).to_string());
    place.write("y.csv", y.iter().fold("y\n".to_string(), |text, v| text + &format!("{v}\n")));
    place.told("encrypt --key keys/public.key --in x.json --out x.ct");
    place.told("encrypt --key keys/public.key --in y.csv --out y.ct");
    let seen = place.told("inspect x.ct --params set.json");
    assert_eq!(seen["ciphertexts"][0]["plain_modulus"].as_f64(), Some(2f64.powi(64)), "{seen}");
    let program = ["eval", "--server-keys", "keys/server.keys", "z = x*y - 3*x", "x=x.ct"];
    let rest = ["y=y.ct", "--out", "out"];
    let all = program.iter().chain(&rest).map(|word| (*word).into()).collect::<Vec<_>>();
    place.told_words(&all);

    let decrypt = "decrypt --key keys/secret.key --in";
    let read = |name: &str| -> Value { serde_json::from_slice(&place.read(name)).unwrap() };
    // Fresh values have a range that all words fit, whatever their sign.
    place.told(&format!("{decrypt} x.ct --out x2.json"));
    assert_eq!(read("x2.json"), json!(x));
    let z: Vec<u64> = x
        .iter()
        .zip(&y)
        .map(|(&x, &y)| x.wrapping_mul(y).wrapping_sub(x.wrapping_mul(3)))
        .collect();
    place.refused(&format!("{decrypt} out/z.ct --out z.json"), "circuit.range");
    place.told(&format!("{decrypt} out/z.ct --wrapping --out z.json"));
    assert_eq!(read("z.json"), json!(z));
    place.told(&format!("{decrypt} out/z.ct --wrapping --signed --out signed.json"));
    assert_eq!(read("signed.json"), json!(z.iter().map(|&z| z as i64).collect::<Vec<_>>()));
    place.told(&format!("{decrypt} out/z.ct --wrapping --out z.npy"));
    let npy = place.read("z.npy");
    assert!(String::from_utf8_lossy(&npy).contains("'<u8'"));
    let words: Vec<u8> = z.iter().flat_map(|z| z.to_le_bytes()).collect();
    assert!(npy.ends_with(&words));
    // What a word does not hold is refused, or reduced where that is asked for.
    place.write("wide.json", json!([-1]).to_string());
    place.refused("encrypt --key keys/public.key --in wide.json --out w.ct", "cli.usage");
    place.told("encrypt --key keys/public.key --in wide.json --reduce --out w.ct");
    place.told(&format!("{decrypt} w.ct --wrapping --out w.json"));
    assert_eq!(read("w.json"), json!([u64::MAX]));
}

#[test]
fn larger_moduli_are_refused() {
    let place = Place::empty();
    words(&place, 65);
    let told = place.refused("keygen --params set.json --out keys", "scheme.bad-params");
    assert!(told.contains("above 2^64"), "{told}");
}
