//! Properties of the arithmetic modulo one number, against wide integers.

use everlevel_arith::{ArithError, Modulus};
use proptest::prelude::*;

fn modulus() -> impl Strategy<Value = Modulus> {
    prop_oneof![
        (1u64..1 << 49).prop_map(|x| 2 * x + 1),
        (1u64..200).prop_map(|x| 2 * x + 1),
        (1u64..200).prop_map(|x| (1 << 50) + 1 - 2 * x),
        (2u32..50, 1u64..200).prop_map(|(bits, x)| ((1 << bits) + 2 * x - 1).min((1 << 50) - 1)),
    ]
    .prop_map(|q| Modulus::new(q).unwrap())
}

/// Fewer under Miri, which has no directory for failures either.
fn cases() -> ProptestConfig {
    if cfg!(miri) {
        return ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(10) };
    }
    ProptestConfig::with_cases(2000)
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn ring_operations(q in modulus(), a: u64, b: u64, c: u64) {
        let m = u128::from(q.value());
        let (a, b, c) = (a % q.value(), b % q.value(), c % q.value());
        let (wide_a, wide_b) = (u128::from(a), u128::from(b));
        prop_assert_eq!(u128::from(q.add(a, b)), (wide_a + wide_b) % m);
        prop_assert_eq!(u128::from(q.sub(a, b)), (wide_a + m - wide_b) % m);
        prop_assert_eq!(u128::from(q.neg(a)), (m - wide_a) % m);
        prop_assert_eq!(u128::from(q.mul(a, b)), wide_a * wide_b % m);
        prop_assert_eq!(u128::from(q.mul_add(a, b, c)), (wide_a * wide_b + u128::from(c)) % m);
    }

    #[test]
    fn reductions(q in modulus(), low: u64, high: u64, shift in 0u32..127) {
        let m = u128::from(q.value());
        let wide = (u128::from(high) << 64 | u128::from(low)) >> shift;
        prop_assert_eq!(u128::from(q.reduce_u64(low)), u128::from(low) % m);
        prop_assert_eq!(u128::from(q.reduce_u128(wide)), wide % m);
        let signed = i128::from(low as i64);
        prop_assert_eq!(q.reduce_i64(low as i64), signed.rem_euclid(m as i128) as u64);
        prop_assert_eq!(q.reduce_i128(wide as i128), (wide as i128).rem_euclid(m as i128) as u64);
        let signed = -(wide as i128 >> 1);
        prop_assert_eq!(q.reduce_i128(signed), signed.rem_euclid(m as i128) as u64);
    }

    #[test]
    fn shoup_products(q in modulus(), w: u64, x: u64) {
        let factor = q.shoup(w % q.value());
        let expected = u128::from(x) * u128::from(w % q.value()) % u128::from(q.value());
        let quotient = (u128::from(factor.value) << 64) / u128::from(q.value());
        prop_assert_eq!(u128::from(factor.quotient), quotient);
        prop_assert_eq!(u128::from(q.mul_shoup(x, factor)), expected);
        prop_assert!(q.mul_shoup_lazy(x, factor) < 2 * q.value());
    }

    #[test]
    fn inverses_and_powers(q in modulus(), a: u64, exponent in 0u64..40) {
        let a = a % q.value();
        if let Some(inverse) = q.inv(a) {
            prop_assert_eq!(q.mul(a, inverse), 1);
        }
        let expected = (0..exponent).fold(1, |power, _| q.mul(power, a));
        prop_assert_eq!(q.pow(a, exponent), expected);
    }

    #[test]
    fn centering(q in modulus(), a: u64) {
        let a = a % q.value();
        let centered = q.centered(a);
        prop_assert!(2 * centered.unsigned_abs() < q.value());
        prop_assert_eq!(q.reduce_i64(centered), a);
    }
}

#[test]
fn extremes() {
    for value in [3, 5, (1 << 49) - 1, (1 << 49) + 1, (1 << 50) - 1] {
        let q = Modulus::new(value).unwrap();
        let top = value - 1;
        assert_eq!(q.mul(top, top), 1);
        assert_eq!(q.reduce_u128(u128::MAX), (u128::MAX % u128::from(value)) as u64);
        assert_eq!(q.reduce_u64(u64::MAX), u64::MAX % value);
        assert_eq!(q.reduce_i64(i64::MIN), i128::from(i64::MIN).rem_euclid(value.into()) as u64);
        assert_eq!(q.reduce_i128(i128::MIN), i128::MIN.rem_euclid(value.into()) as u64);
        assert_eq!(q.centered(value / 2), (value / 2) as i64);
        assert_eq!(q.centered(value / 2 + 1), -((value / 2) as i64));
        assert_eq!(q.bits(), 64 - value.leading_zeros());
    }
}

#[test]
fn noninvertible_residues_and_bad_moduli_are_refused() {
    let q = Modulus::new(65537 * 65537).unwrap();
    assert_eq!(q.inv(65537), None);
    assert_eq!(q.inv(0), None);
    assert_eq!(q.mul(q.inv(2).unwrap(), 2), 1);
    for found in [0, 1, 2, 4, 1 << 50, (1 << 50) + 1, u64::MAX] {
        assert_eq!(Modulus::new(found), Err(ArithError::InvalidModulus { found }));
    }
}
