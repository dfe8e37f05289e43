//! The digits into which the polynomials of modulus raising are decomposed.

/// w: the base of these digits, about √p, and 32 for small p.
///
/// The product of a raised polynomial with the encrypted sparse secret causes the first noise of a
/// bootstrapping; digits of half the length save log2(p)/2 - 1 bits of modulus for one more
/// plaintext product.
pub fn raise_digit(p: u64) -> u64 {
    if p < SMALL_PRIME { 32 } else { p.isqrt() + 1 }
}

/// Below this prime there would be too many digits to the base √p.
const SMALL_PRIME: u64 = 64;

/// How many digits hold coefficients modulo p^e.
pub fn raise_digit_count(p: u64, e: u32) -> usize {
    if p < SMALL_PRIME { raise_digit_ranges(p, u128::from(p).pow(e)).len() } else { 2 * e as usize }
}

/// The ranges of the digits to base w of integers in ±range/2: w for all but the last one.
pub fn raise_digit_ranges(p: u64, range: u128) -> Vec<f64> {
    let w = raise_digit(p) as f64;
    let (mut ranges, mut rest) = (Vec::new(), range as f64);
    while rest > w {
        ranges.push(w);
        rest = rest / w + 1.0;
    }
    ranges.push(rest);
    ranges
}
