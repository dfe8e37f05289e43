//! Sums packed into one ciphertext, on the no-op scheme and against sums in the clear.

use everlevel_circuit::{CircuitError, SumPacking};
use everlevel_scheme::{NoOp, OptIn, Params, Plaintext, Scheme};

fn toy(name: &str) -> (Params, NoOp) {
    let params = Params::named(name, OptIn::InsecureResearch).unwrap();
    let scheme = NoOp::new(&params, 1);
    (params, scheme)
}

#[test]
fn sums_of_any_number_of_ciphertexts_are_coefficients() {
    let (params, scheme) = toy("insecure_bgv-65537-n11");
    let (slots, t) = (params.slots() as u64, 65_537u64 * 65_537);
    for count in [1usize, 2, 3, 7, 8, 13] {
        let packing = SumPacking::new(params.slot_shape(), count).unwrap();
        assert_eq!(packing.galois_elements().len(), params.degree().ilog2() as usize);
        let entry = |j: u64, i: u64| (i * i * 977 + j * 131 + 5) % 60_000;
        let xs: Vec<_> = (0..count as u64)
            .map(|j| {
                let values: Vec<u64> = (0..slots).map(|i| entry(j, i)).collect();
                let plaintext = Plaintext::encode_modulo(&params, &values, 2).unwrap();
                scheme.encrypt(&plaintext).unwrap()
            })
            .collect();
        let before = scheme.capacity_bits(&xs[0]);
        let packed = packing.pack(&scheme, &xs).unwrap();
        let found = scheme.decrypt(&packed).unwrap();
        let mut expected = vec![0; params.degree()];
        for j in 0..count {
            let sum: u64 = (0..slots).map(|i| entry(j as u64, i)).sum();
            expected[packing.place(j)] = sum % t;
        }
        // All other coefficients are 0: the sums are all that can be learned.
        assert_eq!(found.coefficients(), expected, "{count} sums");
        let lost = before - scheme.capacity_bits(&packed);
        assert!(lost <= f64::from(packing.growth_bits()) + 8.0, "{count} sums: {lost} bits");
    }
}

#[test]
fn what_cannot_be_packed() {
    let (params, scheme) = toy("insecure_bgv-65537-n11");
    let packing = SumPacking::new(params.slot_shape(), 2).unwrap();
    let x = scheme.encrypt(&Plaintext::encode(&params, &[1]).unwrap()).unwrap();
    for count in [0, 3] {
        let error = packing.pack(&scheme, &vec![x.clone(); count]).unwrap_err();
        assert_eq!(error, CircuitError::InputCount { expected: 2, found: count });
    }
    assert_eq!(SumPacking::new(params.slot_shape(), 0), None);
    assert_eq!(SumPacking::new(params.slot_shape(), params.slots() + 1), None);
    // Slots that hold more than integers, and odd indices.
    for name in ["insecure_bgv-257-n8", "bgv-65537-m50731"] {
        let shape = Params::named(name, OptIn::InsecureResearch).unwrap();
        assert_eq!(SumPacking::new(shape.slot_shape(), 1), None, "{name}");
    }
}
