//! Sets that bootstrap and are made for a plaintext modulus that no named set has.

use everlevel::{Candidate, Params, Requirements, TimeModel};
use everlevel_arith::primes;

/// The index of `bgv-2-m42799`.
const RING_OF_BITS: u64 = 42799;

fn typical(params: &Params) -> TimeModel {
    TimeModel::typical(params.degree())
}

/// Whether the only set that was made for p^r and a number of slots does what is asked of it.
fn assert_bootstraps(found: &[Candidate], r: u32, slots: usize, index: u64) {
    let [c] = found else { panic!("{found:?}") };
    let params = &c.params;
    assert!(c.multiplications >= 1 && c.failure_log2 < -128.0, "{c:?}");
    assert!(params.security().keys().iter().all(|key| key.bits >= 129.0), "{}", params.name());
    assert!(params.slots() >= slots && params.spec().bootstrap.is_some());
    assert_eq!((params.plain_exponent(), params.spec().index), (r, index));
}

/// A dozen products modulo 2^15, each of some 40 bits, fit the modulus of bgv-2-m42799, which has
/// 890, so that bytes have a set.
fn made_for_a_power_of_two(r: u32) {
    let wanted = Requirements::new(1 << r).slots(1000);
    let found = wanted.candidates_over(RING_OF_BITS, typical).unwrap();
    assert_bootstraps(&found, r, 1000, RING_OF_BITS);
}

#[test]
fn sets_that_bootstrap_are_made_for_bytes() {
    made_for_a_power_of_two(8);
}

#[test]
#[ignore = "some seconds: a smaller power than that of bytes"]
fn sets_that_bootstrap_are_made_for_two_bits_in_full() {
    made_for_a_power_of_two(2);
}

#[test]
fn sets_that_bootstrap_are_made_for_primes_of_31_bits() {
    // Of the rings over which sets are made, one has as many slots: p^2 is 1 modulo 2^17, p is not.
    let found = Requirements::new((1 << 31) - 1).slots(1 << 15).candidates(typical).unwrap();
    assert_bootstraps(&found, 1, 1 << 15, 1 << 17);
}

#[test]
fn where_no_set_is_made_the_error_names_an_exponent_that_has_one() {
    // 257^8, modulo which the overflow would be removed, is above 2^62.
    let wanted = |r| Requirements::new(257u128.pow(r)).slots(128);
    let index = 1 << 16;
    let error = wanted(7).candidates_over(index, typical).unwrap_err();
    assert_eq!(error.code(), "scheme.bad-params");
    let told = error.to_string();
    let named = told.split_once("for r = ").unwrap_or_else(|| panic!("{told}")).1;
    let largest: u32 = named.split(' ').next().unwrap().parse().unwrap();
    assert!((1..7).contains(&largest), "{told}");
    assert!(named.ends_with(&format!("over the ring of index {index}")), "{told}");
    let found = wanted(largest).candidates_over(index, typical).unwrap();
    assert_bootstraps(&found, largest, 128, index);
    // Where the prime itself is too large, no exponent is named.
    let p = (1u64..).map(|k| (1 << 48) + (k << 17) + 1).find(|p| primes::is_prime(*p)).unwrap();
    let wanted = Requirements::new(p.into()).slots(1 << 15);
    for refused in [wanted.candidates(typical), wanted.candidates_over(1 << 17, typical)] {
        let error = refused.unwrap_err();
        assert_eq!(error.code(), "scheme.bad-params");
        assert!(!error.to_string().contains("for r ="), "{error}");
        assert!(error.to_string().contains("could be made over"), "{error}");
    }
}

/// Of the rings with 2,048 slots for p = 2, the one whose index is the prime 65537: bootstrapping
/// would multiply by 4,095 diagonals of 65,536 words, and a dry run would take hours.
#[test]
fn rings_with_large_linear_maps_are_left_out() {
    let wanted = Requirements::new(1 << 20).slots(2048);
    assert!(wanted.rings().unwrap().contains(&65537));
    let found = wanted.candidates(typical).unwrap();
    // Fewer than are made at most, so that all rings were considered.
    assert!((1..3).contains(&found.len()), "{found:?}");
    for candidate in &found {
        let index = candidate.params.spec().index;
        assert_ne!(index, 65537);
        assert_bootstraps(std::slice::from_ref(candidate), 20, 2048, index);
    }
}
