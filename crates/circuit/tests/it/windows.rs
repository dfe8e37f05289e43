//! Sums of windows of slots, on the no-op scheme and against sums in the clear.

use everlevel_circuit::CircuitError;
use everlevel_circuit::sums::PowerSum;
use everlevel_ring::SlotShape;
use everlevel_scheme::{NoOp, OptIn, Params, Plaintext};

/// The slot that lies `k` further along a dimension, cyclically.
fn further(shape: &SlotShape, dimension: usize, slot: usize, k: usize) -> usize {
    let sizes: Vec<usize> = shape.dimensions().iter().map(|found| found.size).collect();
    let inner: usize = sizes[dimension + 1..].iter().product();
    let at = slot / inner % sizes[dimension];
    slot - at * inner + (at + k) % sizes[dimension] * inner
}

#[test]
fn windows_of_every_length_along_every_good_dimension() {
    let mut checked = 0;
    for name in ["insecure_aes-m4947", "insecure_bgv-2-m15709", "bgv-2-m42799"] {
        let params = Params::named(name, OptIn::InsecureResearch).unwrap();
        let (scheme, shape) = (NoOp::new(&params, 1), params.slot_shape());
        let t = params.plain_modulus();
        let values: Vec<u64> =
            (0..params.slots() as u64).map(|i| (i * i * 7 + i / 3) % t).collect();
        let x = scheme.encrypt(&Plaintext::encode(&params, &values).unwrap()).unwrap();
        for (dimension, found) in shape.dimensions().iter().enumerate() {
            if !found.good {
                let error = PowerSum::windows(shape, dimension, 1, 1).unwrap_err();
                assert!(matches!(error, CircuitError::UnknownDimension { .. }), "{error}");
                continue;
            }
            let steps = (1..=found.size).take(17).map(|count| (count, 1 + count % 3));
            for (count, step) in steps.chain([(found.size, 1)]) {
                let windows = PowerSum::windows(shape, dimension, count, step).unwrap();
                let sum = windows.apply(&scheme, &x).unwrap();
                let sum = scheme.decrypt(&sum).unwrap().decode(&params).unwrap();
                let value = |slot| -> u64 {
                    let of = |k| values[further(shape, dimension, slot, k * step)];
                    (0..count).map(of).sum()
                };
                let expected: Vec<u64> = (0..values.len()).map(|slot| value(slot) % t).collect();
                assert_eq!(sum, expected, "{name}: dimension {dimension}, {count} slots by {step}");
                checked += 1;
            }
            let error = PowerSum::windows(shape, dimension, 0, 1).unwrap_err();
            assert_eq!(error, CircuitError::Empty { what: "the window" });
        }
        let dimensions = shape.dimensions().len();
        assert!(PowerSum::windows(shape, dimensions, 1, 1).is_err());
    }
    assert!(checked > 30, "{checked}");
}

/// They are planned in as many steps as the number has bits.
#[test]
fn windows_of_any_number_of_slots() {
    let params = Params::named("insecure_aes-m4947", OptIn::InsecureResearch).unwrap();
    let shape = params.slot_shape();
    let dimension = shape.dimensions().iter().position(|found| found.good).unwrap();
    let windows = |count| PowerSum::windows(shape, dimension, count, 1).unwrap();
    // Every bit of the number below the highest is set.
    assert_eq!(windows(usize::MAX).key_switches(), 2 * (usize::BITS as usize - 1));
    // Once around the dimension is no rotation, and the sum over two rounds twice that over one.
    let size = shape.dimensions()[dimension].size;
    assert!(windows(2 * size).galois_elements().contains(&shape.identity()));
}
