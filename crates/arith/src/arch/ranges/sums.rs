//! Sums of products, which are reduced once: their largest values fit.

use super::bounds::{EXACT, Q};
use super::float::{float_product, float_reduced};
use crate::arch::avx2::{FEW, ROOM, START};
use crate::arch::vector::SMALL;
use crate::kernels::{MAX_DIGITS, MAX_TERMS};
use crate::modulus::Modulus;

/// The largest word of a residue or a term, and log2 of it, rounded up.
const WORD: u128 = (1 << Modulus::MAX_BITS) - 1;

#[test]
fn kernels_of_one_operation_are_exact() {
    // A difference of two words, and of two products.
    assert!(float_product(0.5 * Q) < 1.0);
    assert!(2.0 * float_product(0.5 * Q) < 2.0);
    // A word below 2^52, and the parts of a signed word: 2^32 and 3/2 q.
    assert!(float_reduced((1u64 << 52) as f64 / 3.0, (1u64 << 52) as f64) < 1.0);
    let parts = (1u64 << 32) as f64 + 1.5 * Q;
    assert!(float_reduced(parts / 3.0, parts) < 1.0);
}

#[test]
fn small_sums_are_small() {
    let limit = (1 << 104) - (1 << 64);
    assert!((SMALL - 1) as u128 * WORD * WORD < limit);
    assert!(MAX_DIGITS as u128 * u128::from(u32::MAX) * WORD + WORD < limit);
}

#[test]
fn sums_in_doubles_have_room() {
    // From START to its double the unit is 2^51, and rounding a product leaves half of it.
    let (start, half) = (START as u128, 1u128 << 50);
    assert!(start == 1 << 103 && ROOM as u128 * (WORD * WORD + half) <= start);
    assert!(ROOM as u128 * half <= EXACT as u128 && FEW as u128 * half <= EXACT as u128 / 2);
    for q in [Q, (1u64 << 49) as f64, 65537.0, 5.0, 3.0] {
        // Words below 2^50 times residues, and the quotient of their sum: two roundings by 2^-53
        // of it, and one to an integer.
        let left = |high: f64| (0.5 + 2.0 * high / EXACT) * q;
        let quotient = |terms: usize| terms as f64 * (1u64 << 50) as f64;
        let (high, few) = (left(quotient(ROOM)), left(quotient(FEW)));
        assert!(high <= 2.5 * q && few <= 1.5 * q);
        // The low part by itself, or as it is.
        let sum = high + left(EXACT / q);
        let few = few + EXACT / 2.0;
        for sum in [sum, few] {
            assert!(sum < EXACT && sum / q < (1u64 << 51) as f64);
            assert!(float_reduced(sum / q, sum) < 1.0);
        }
        // A settled sum leaves room for one product less.
        let settled = float_reduced(sum / q, sum) * q;
        assert!(settled + (ROOM - 1) as f64 * half as f64 <= EXACT);
    }
}

#[test]
fn sums_in_words_have_room() {
    use crate::arch::avx512::lanes::MIDDLE;
    let terms = MAX_TERMS as u128;
    let (low, high) = (terms << 52, terms * (WORD * WORD).div_ceil(1 << 52));
    assert!(low <= 1 << 63 && high + (low >> 52) < 1 << 61);
    let top = (high + (low >> 52)) >> MIDDLE;
    assert!(top < 1 << 12);
    let unit = (1u128 << 52) as f64;
    for q in [3, 5, (1 << 49) - 1, (1 << 49) + 1, (1 << 52) / 9 * 2, (1 << 52) / 5 + 1, WORD as u64]
    {
        // f q for f = 2^52/q - floor(2^52/q).
        let lost = ((1u64 << 52) % q) as f64;
        let q = q as f64;
        // Three quotients lose 1 each, the constants of top and middle what they are multiplied by.
        let remainder = q * (3.0 + top as f64 / unit + (1u64 << MIDDLE) as f64 / unit) + lost;
        assert!(remainder < unit && remainder <= 5.0 * q, "a remainder of {} q", remainder / q);
        // Small sums have two quotients, and a middle part below 2^52.
        let remainder = q * 3.0 + lost;
        assert!(remainder < unit && remainder <= 4.0 * q, "a remainder of {} q", remainder / q);
    }
}
