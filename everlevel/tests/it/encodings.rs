//! The encodings of other libraries, read with everlevel (tests/data/README.md says where they are
//! from).

use everlevel::{GaloisElement, OptIn, Params, ParamsSpec, Plaintext, SlotShape};
use serde_json::Value;

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|x| x.as_u64().unwrap()).collect()
}

/// The ring of degree n modulo t. Nothing is encrypted here.
fn ring(n: u64, t: u64) -> Params {
    let spec = ParamsSpec { words: 1, ..ParamsSpec::new("insecure_encodings", 2 * n, t) };
    Params::new(spec, OptIn::InsecureResearch).unwrap()
}

/// Where everlevel keeps the evaluation at its root to the power e: (-1)^r 5^i = e.
fn slot_of_exponent(shape: &SlotShape) -> Vec<usize> {
    let order = shape.ring_index();
    let mut slots = vec![0; order as usize];
    let mut e = 1;
    for i in 0..shape.columns() {
        slots[e as usize] = i;
        slots[(order - e) as usize] = shape.columns() + i;
        e = e * 5 % order;
    }
    slots
}

fn check(text: &str) {
    let data: Value = serde_json::from_str(text).unwrap();
    let generator = data["galois_generator"].as_u64().unwrap();
    for case in data["cases"].as_array().unwrap() {
        let (n, t) = (case["n"].as_u64().unwrap(), case["t"].as_u64().unwrap());
        let params = ring(n, t);
        let (shape, order) = (params.slot_shape(), 2 * n);
        let values: Vec<u64> = (0..n).map(|i| (i * i + 3 * i + 7) % t).collect();
        let coefficients = numbers(&case["coefficients"]);
        let ours = params.plaintext_ring().decode(&coefficients, 1).unwrap();
        let place = slot_of_exponent(shape);

        // The library's root is an odd power of ours: the one under which its slots hold the
        // values.
        let half = (n / 2) as usize;
        let read = |slots: &[u64], unit: u64| -> Vec<u64> {
            let mut e = unit;
            let mut out = vec![0; n as usize];
            for i in 0..half {
                out[i] = slots[place[e as usize]];
                out[half + i] = slots[place[(order - e) as usize]];
                e = e * generator % order;
            }
            out
        };
        let unit = (1..order).step_by(2).find(|&u| read(&ours, u) == values);
        let unit =
            unit.unwrap_or_else(|| panic!("n = {n}, t = {t}: no root explains the encoding"));

        // Encoding the permuted values gives the library's polynomial back.
        assert_eq!(params.plaintext_ring().encode(&ours, 1).unwrap(), coefficients);
        let mut cube = 1;
        (0..3).for_each(|_| cube = cube * generator % order);
        for (key, g) in [("rotate_3_first_slots", cube), ("swap_rows_first_slots", order - 1)] {
            let g = GaloisElement::new(order, g).unwrap();
            let moved = params.plaintext_ring().galois(&coefficients, g, 1);
            let slots = read(&params.plaintext_ring().decode(&moved, 1).unwrap(), unit);
            let expected = numbers(&case[key]);
            assert_eq!(slots[..expected.len()], expected, "n = {n}, t = {t}, {key}");
        }
    }
}

#[test]
fn seal() {
    check(include_str!("../data/seal-batch-encoding.json"));
}

#[test]
fn lattigo() {
    check(include_str!("../data/lattigo-batch-encoding.json"));
}

/// Signed values up to half of the modulus, and none beyond, whatever their size.
#[test]
fn signed_values_have_their_range() {
    let params = ring(16, 97);
    let within = [0, 1, -1, 48, -48];
    let plain = Plaintext::encode_signed(&params, &within).unwrap();
    assert_eq!(plain.decode_signed(&params).unwrap()[..5], within);
    for outside in [49, -49, 97, i64::MAX, i64::MIN, i64::MIN + 1] {
        let refused = Plaintext::encode_signed(&params, &[0, outside]).unwrap_err();
        assert_eq!(refused.code(), "scheme.bad-argument", "{outside}");
        assert!(refused.to_string().contains(&format!("{outside} at position 1")), "{refused}");
    }
}
