//! Sums of products, which are reduced once: their largest values fit.

use super::bounds::{EXACT, Q};
use super::float::{float_product, float_reduced};
use crate::arch::avx2::{HIGH, LIFT, PART};
use crate::arch::vector::{FEW, SMALL};
use crate::kernels::{MAX_DIGITS, MAX_TERMS};
use crate::modulus::Modulus;

/// The largest word of a residue or a term, and log2 of it, rounded up.
const WORD: u128 = (1 << Modulus::MAX_BITS) - 1;

#[test]
fn sums_of_few_products_are_exact() {
    // A residue or a word below 2^50 times a centered factor, and two residues that are not
    // centered.
    for product in [0.5 * Q, Q] {
        let sum = FEW as f64 * float_product(product);
        assert!(sum * Q <= EXACT, "{FEW} products are {sum} q");
        assert!(float_reduced(sum, sum * Q) < 1.0);
    }
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
    let terms = MAX_TERMS as u128;
    // 2^103 and a product stay below 2^104, where the unit is 2^51.
    const { assert!(WORD * WORD < 1 << 102 && HIGH == 103 - 52) };
    // What is left of a product is at most half of that unit.
    let low = terms << (HIGH - 1);
    assert!(low <= 1 << LIFT, "{MAX_TERMS} low parts");
    // Lifted, and with its carry, the sum fits signed words and, cut, doubles.
    let high = terms * (WORD * WORD).div_ceil(1 << HIGH);
    let middle = (high << (HIGH - PART)) + ((low + (1 << LIFT)) >> PART);
    assert!(low + (1 << LIFT) < 1 << 63 && middle < 1 << 63);
    assert!((middle >> PART) < 1 << 52 && PART <= 52);
    let part = (1u64 << PART) as f64;
    let (top, middle) = ((middle >> PART) as f64, part);
    let scaled = float_product(0.5 * middle) + float_product(0.5 * top);
    // In the unit 1, for the largest and the smallest modulus.
    for q in [Q, 3.0] {
        let sum = scaled * q + part;
        assert!(float_reduced(sum / q, sum) < 1.0);
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
