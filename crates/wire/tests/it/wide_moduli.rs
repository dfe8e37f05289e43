//! Objects of a set whose plaintext modulus is 2^64: from the JSON of the set to words that come
//! back.

use everlevel_bgv::Evaluator;
use everlevel_scheme::{Arithmetic, OptIn, Params, ParamsSpec, Plaintext};
use everlevel_wire::{
    BoundPolicy, Metadata, ReadOptions, canonical_json, ciphertexts, params, plaintexts,
};

use crate::common::Party;

const JSON: &str = concat!(
    r#"{"name":"insecure_words-m127","index":127,"plain_prime":2,"plain_exponent":64,"#,
    r#""base_bits":50,"word_bits":50,"words":8,"fine_bits":[44,38],"special":2,"digit_size":2,"#,
    r#""secret":"uniform_ternary"}"#,
);

fn words() -> Params {
    let spec: ParamsSpec = serde_json::from_str(JSON).unwrap();
    assert_eq!(canonical_json(&spec), JSON);
    Params::new(spec, OptIn::InsecureResearch).unwrap()
}

#[test]
fn words_come_back_from_files() {
    let mut party = Party::of(words(), 64);
    let (set, none) = (party.params.clone(), Metadata::new());
    let bytes = params::to_bytes(&set, &none).unwrap();
    let options = ReadOptions::default();
    assert!(params::from_bytes(&bytes, OptIn::InsecureResearch, &options).unwrap().0.same(&set));

    let values: Vec<u64> = [u64::MAX, 0, 1 << 63, 1, (1 << 63) - 1]
        .into_iter()
        .chain((5..set.slots() as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
        .collect();
    let plain = Plaintext::encode(&set, &values).unwrap();
    let bytes = plaintexts::to_bytes(&set, std::slice::from_ref(&plain), &none).unwrap();
    let (back, _) = plaintexts::from_bytes(&set, &bytes, &options).unwrap();
    assert_eq!(back, std::slice::from_ref(&plain));
    assert_eq!(back[0].decode(&set).unwrap(), values);

    let x = party.secret.encrypt(&plain, &mut party.rng).unwrap();
    let sum = Evaluator::new(party.server_keys()).add(&x, &x).unwrap();
    let bytes = ciphertexts::to_bytes(&set, &[x, sum], &none).unwrap();
    let stated = ReadOptions::with_bounds(BoundPolicy::Stated);
    let (back, _) = ciphertexts::from_bytes(&set, &bytes, &stated).unwrap();
    let opened = |i: usize| party.secret.decrypt(&back[i]).unwrap().decode(&set).unwrap();
    assert_eq!(opened(0), values);
    assert_eq!(opened(1), values.iter().map(|x| x.wrapping_add(*x)).collect::<Vec<u64>>());
}

/// Modulo 2^63 the words of a plaintext have 63 bits, and a larger one is refused as for any other
/// modulus.
#[test]
fn words_of_63_bits_are_packed() {
    let spec = ParamsSpec { plain_exponent: 63, ..words().spec().clone() };
    let set = Params::new(spec, OptIn::InsecureResearch).unwrap();
    let (none, options) = (Metadata::new(), ReadOptions::default());
    let of = |exponent, last| {
        let coefficients = vec![last; set.degree()];
        Plaintext::from_coefficients(&set, coefficients, exponent)
    };
    let plain = of(63, u64::MAX >> 1).unwrap();
    let bytes = plaintexts::to_bytes(&set, std::slice::from_ref(&plain), &none).unwrap();
    assert_eq!(plaintexts::from_bytes(&set, &bytes, &options).unwrap().0, [plain]);
    assert!(of(63, 1 << 63).is_err() && of(64, 0).is_err());
    assert!(plaintexts::from_bytes(&words(), &bytes, &options).is_err(), "of another set");
}
