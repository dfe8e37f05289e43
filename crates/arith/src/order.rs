//! The two storage orders of a polynomial modulo X^n + 1, which no other module defines.
//!
//! Let n = 2^k, h = n/2 and zeta a primitive 2n-th root of unity. A buffer has two rows of length
//! h.
//!
//! **Evaluation order.** Index r h + i holds a(zeta^e) with e = 5^i if r = 0 and e = -5^i if r = 1,
//! modulo 2n. The automorphism X -> X^(5^s) is therefore a cyclic left shift of both rows by s, and
//! X -> X^-1 swaps the rows.
//!
//! **Coefficient order.** Coefficient c sits in row r = c / h, at the bit reversal i of c mod h in
//! k - 1 bits, except that for h >= 64 each aligned group of 64 places within a row is transposed
//! as an 8 x 8 matrix: place 8u + v of a group holds the coefficient that bit reversal would put at
//! 8v + u. The transform's first three stages then act between vectors of eight words. Additions,
//! scalings and reductions are the same in any order; only code that accesses single coefficients
//! depends on it.

/// Swaps the two halves of the low six bits: the 8 x 8 transposition inside a group of 64.
#[inline]
const fn transpose_in_group(i: usize) -> usize {
    (i & !63) | ((i & 7) << 3) | ((i >> 3) & 7)
}

/// Where coefficient c of a polynomial with 2^log_n coefficients is stored. Expects 1 <= log_n < 64
/// and c < 2^log_n.
#[inline]
pub const fn coefficient_position(log_n: u32, c: usize) -> usize {
    debug_assert!(log_n >= 1 && c >> log_n == 0);
    let half_bits = log_n - 1;
    if half_bits == 0 {
        return c;
    }
    let half = 1usize << half_bits;
    let place = (c & (half - 1)).reverse_bits() >> (usize::BITS - half_bits);
    (c & half) | if half >= 64 { transpose_in_group(place) } else { place }
}

/// Coefficients that differ in their low bits alone.
const GROUP: usize = 64;

/// Where the coefficients of a polynomial are stored, for passes over all of them: two tables,
/// which take fewer calls of [`coefficient_position`].
///
/// Positions permute the bits of c, so that those of the low bits and of the others are added.
pub struct NaturalOrder {
    low: [usize; GROUP],
    high: Vec<usize>,
}

impl NaturalOrder {
    /// Of polynomials with 2^log_n coefficients. Expects 1 <= log_n < 64.
    pub fn new(log_n: u32) -> Self {
        let n = 1usize << log_n;
        NaturalOrder {
            low: std::array::from_fn(|c| coefficient_position(log_n, c % n)),
            high: (0..n).step_by(GROUP).map(|c| coefficient_position(log_n, c)).collect(),
        }
    }

    /// Where coefficient c is stored.
    ///
    /// # Panics
    /// If c is far above the degree.
    #[inline]
    pub fn position(&self, c: usize) -> usize {
        self.high[c / GROUP] | self.low[c % GROUP]
    }
}

/// Copies a polynomial from coefficient order to natural order (c at index c). `stored` has 2^log_n
/// entries.
pub fn gather_natural<T: Copy>(log_n: u32, stored: &[T]) -> Vec<T> {
    assert_eq!(stored.len(), 1 << log_n, "expected 2^{log_n} coefficients");
    let order = NaturalOrder::new(log_n);
    (0..stored.len()).map(|c| stored[order.position(c)]).collect()
}

/// Copies a polynomial from natural order to coefficient order. Both slices have 2^log_n entries.
pub fn scatter_natural<T: Copy>(log_n: u32, natural: &[T], stored: &mut [T]) {
    assert_eq!(natural.len(), 1 << log_n, "expected 2^{log_n} coefficients");
    assert_eq!(stored.len(), natural.len(), "expected 2^{log_n} places");
    let order = NaturalOrder::new(log_n);
    natural.iter().enumerate().for_each(|(c, &value)| stored[order.position(c)] = value);
}

/// The exponent e, odd and below 2n = 2^(log_n + 1), such that `index` of the evaluation order
/// holds a(zeta^e). Expects 1 <= log_n < 63 and index < 2^log_n.
pub const fn evaluation_exponent(log_n: u32, index: usize) -> u64 {
    debug_assert!(log_n >= 1 && index >> log_n == 0);
    let half = 1usize << (log_n - 1);
    let mut exponent = 1u64;
    let mut power = 5u64;
    let mut rest = index & (half - 1);
    while rest != 0 {
        if rest & 1 == 1 {
            exponent = exponent.wrapping_mul(power);
        }
        power = power.wrapping_mul(power);
        rest >>= 1;
    }
    if index & half != 0 {
        exponent = exponent.wrapping_neg();
    }
    exponent & ((2u64 << log_n) - 1)
}

/// The index of the evaluation order that holds a(zeta^exponent): the inverse of
/// [`evaluation_exponent`]. The exponent is odd and taken modulo 2^(log_n + 1). O(log_n)
/// operations.
pub const fn evaluation_index(log_n: u32, exponent: u64) -> usize {
    debug_assert!(log_n >= 1 && exponent & 1 == 1);
    let half_bits = log_n - 1;
    // Powers of 5 are 1 modulo 4, their negatives are 3 modulo 4.
    let row = (exponent >> 1) & 1;
    let mut rest = if row == 1 { exponent.wrapping_neg() } else { exponent };
    // 5^(2^b) = 1 + 2^(b + 2) modulo 2^(b + 3): bit b + 2 of what is left tells bit b of the
    // logarithm. The inverse of 5 modulo 2^64 is 0xCCCC...CD.
    let mut inverse_power = 0xCCCC_CCCC_CCCC_CCCDu64;
    let mut logarithm = 0usize;
    let mut bit = 0;
    while bit < half_bits {
        if (rest >> (bit + 2)) & 1 == 1 {
            logarithm |= 1 << bit;
            rest = rest.wrapping_mul(inverse_power);
        }
        inverse_power = inverse_power.wrapping_mul(inverse_power);
        bit += 1;
    }
    ((row as usize) << half_bits) | logarithm
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "no memory is touched, and interpreted it takes hours")]
    fn evaluation_exponents_are_the_odd_numbers_and_invert() {
        for log_n in 1..=12 {
            let mut seen = vec![false; 2 << log_n];
            for index in 0..1usize << log_n {
                let exponent = evaluation_exponent(log_n, index);
                assert!(!std::mem::replace(&mut seen[exponent as usize], true));
                assert_eq!(evaluation_index(log_n, exponent), index);
            }
            assert!((0..2 << log_n).all(|e: usize| seen[e] == (e % 2 == 1)));
        }
    }

    #[test]
    fn automorphism_by_a_power_of_five_is_a_shift_of_both_rows() {
        let (log_n, half, modulus) = (6, 32, 128u64);
        for index in 0..2 * half {
            let (row, i) = (index / half, index % half);
            let moved = evaluation_exponent(log_n, index) * 5 % modulus;
            assert_eq!(evaluation_index(log_n, moved), row * half + (i + 1) % half);
            let negated = modulus - evaluation_exponent(log_n, index);
            assert_eq!(evaluation_index(log_n, negated), (1 - row) * half + i);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "no memory is touched, and interpreted it takes hours")]
    fn coefficient_positions_are_a_permutation_and_round_trip() {
        for log_n in 1..=13 {
            let natural: Vec<usize> = (0..1 << log_n).collect();
            let mut stored = vec![usize::MAX; natural.len()];
            scatter_natural(log_n, &natural, &mut stored);
            assert_eq!(gather_natural(log_n, &stored), natural);
            assert!(natural.iter().all(|&c| stored[coefficient_position(log_n, c)] == c));
            let order = NaturalOrder::new(log_n);
            assert!(natural.iter().all(|&c| order.position(c) == coefficient_position(log_n, c)));
        }
        assert_eq!(coefficient_position(4, 1), 4);
        assert_eq!(coefficient_position(4, 8), 8);
        // n = 128: coefficient 1 has place 32 = 8 * 4, transposed to 4.
        assert_eq!(coefficient_position(7, 1), 4);
    }
}
