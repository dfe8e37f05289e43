//! Sets over indices with square factors, of 2^k times an odd number, and where several axes carry
//! Frobenius: keys, data, bootstrapping and results by files.

use serde_json::{Value, json};

use crate::common::Place;

#[test]
fn sets_over_any_index_bootstrap() {
    // (m, p, digits, B). Below half of the terms of an overflow of weight 2 and a half.
    for (index, p, digits, bound) in
        [(1025, 2, 4, 7), (45, 19, 1, 8), (104, 31, 1, 8), (420, 11, 2, 16)]
    {
        let place = Place::empty();
        let mut set = place.told("params show insecure_bgv-257-n8");
        let changes = [
            ("name", json!(format!("insecure_any-{p}-m{index}"))),
            ("index", json!(index)),
            ("plain_prime", json!(p)),
            ("base_bits", json!(50)),
            ("words", json!(26)),
            ("special", json!(4)),
            ("digit_size", json!(4)),
            (
                "bootstrap",
                json!({"sparse_weight": 2, "overflow_bound": bound, "digits": digits,
                       "mode": "thin"}),
            ),
        ];
        for (field, value) in changes {
            set[field] = value;
        }
        place.write("set.json", set.to_string());
        place.told("keygen --params set.json --allow-failures --out keys");
        let values: Vec<u64> = (0..7).map(|i| (i * i + 1) % p).collect();
        place.write("x.json", json!(values).to_string());
        place.told("encrypt --key keys/public.key --in x.json --out x.ct");
        let words = ["eval", "--server-keys", "keys/server.keys", "y = refresh(x*x) + x"];
        let rest = ["x=x.ct", "--out", "out"];
        place.told_words(&words.iter().chain(&rest).map(|word| (*word).into()).collect::<Vec<_>>());
        place.told("decrypt --key keys/secret.key --in out/y.ct --wrapping --out y.json");
        let found: Value = serde_json::from_slice(&place.read("y.json")).unwrap();
        let want: Vec<u64> = values.iter().map(|v| (v * v + v) % p).collect();
        assert_eq!(found, json!(want), "{index}, {p}");
    }
}
