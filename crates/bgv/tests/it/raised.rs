//! Ciphertexts whose modulus was raised for bootstrapping: what was added has the promised shape.

use everlevel_scheme::{Arithmetic, Bootstrappable};

use crate::rlwe::{SETS, fixture};

#[test]
fn the_overflow_has_the_promised_shape() {
    for name in SETS {
        let mut f = fixture(name, 6);
        let params = f.bgv.params().clone();
        let x = f.values();
        let a = f.encrypt(&x);
        let exhausted = f.bgv.mod_switch_to(&a, everlevel_scheme::Level(1)).unwrap();
        let raised = f.bgv.to_base_modulus(&exhausted).unwrap();
        let u = f.bgv.mod_raise_overflow(&raised, params.spec().plain_prime).unwrap();
        let p = params.spec().plain_prime as i64;
        let bound = params.spec().overflow_bound() as i64;
        let overflow = f.secret.decrypt(&u).unwrap();
        assert!(f.secret.measure_noise(&u).unwrap() <= u.noise_bound_bits());
        let q = params.plaintext_ring().modulus(2);
        let inner: Vec<i64> = overflow
            .coefficients()
            .iter()
            .map(|&c| {
                // u = I' - p I with |I|, |I'| <= B determines both
                let c = q.centered(c);
                let low = c - p * (c as f64 / p as f64).round() as i64;
                let high = (low - c) / p;
                assert!(low.abs() <= bound && high.abs() <= bound, "{name}: {low} {high}");
                high
            })
            .collect();
        let message = f.bgv.mod_raise_message(&raised, &u).unwrap();
        assert!(f.secret.measure_noise(&message).unwrap() <= message.noise_bound_bits());
        let raw = f.secret.decrypt(&message).unwrap();
        let t = params.plaintext_ring().modulus(1);
        let unit = t.reduce_i64(f.bgv.base_modulus_mod_t(&raised));
        let recovered: Vec<u64> = raw
            .coefficients()
            .iter()
            .zip(&inner)
            .map(|(&m, &i)| t.sub(m, t.mul(unit, t.reduce_i64(i))))
            .collect();
        assert_eq!(params.plaintext_ring().decode(&recovered, 1).unwrap(), x, "{name}");
    }
}

/// In every mode: sets that bypass the digit removal can be raised for those that use it
/// as well.
#[test]
fn the_scaled_phase_has_the_promised_shape() {
    for name in SETS.into_iter().chain(["insecure_bgv-127-n8", "insecure_bfv-127e2-n8"]) {
        let mut f = fixture(name, 11);
        let params = f.bgv.params().clone();
        let x = f.values();
        let a = f.encrypt(&x);
        let exhausted = f.bgv.mod_switch_to(&a, everlevel_scheme::Level(1)).unwrap();
        let raised = f.bgv.to_base_modulus(&exhausted).unwrap();
        let y = f.bgv.mod_raise_scaled(&raised).unwrap();
        let (measured, bound) = (f.secret.measure_noise(&y).unwrap(), y.noise_bound_bits());
        assert!(
            measured <= bound,
            "{name}: measured noise 2^{measured:.2} above the bound 2^{bound:.2}"
        );
        let t = params.plaintext_ring().modulus(params.raised_exponent());
        let (p, overflow) =
            (params.spec().plain_prime as i64, params.spec().overflow_bound() as i64);
        for &c in f.secret.decrypt(&y).unwrap().coefficients() {
            let c = t.centered(c);
            let low = c - p * (c as f64 / p as f64).round() as i64;
            assert!(low.abs() <= overflow, "{name}: overflow {low} above {overflow}");
        }
    }
}
