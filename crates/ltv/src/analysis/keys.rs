//! Sizes of evaluation keys, in bits, and products of polynomials for one relinearization: LTV with
//! a key for each level, with one key for all, and YASHE.

/// Bits of the evaluation keys of LTV with a key for each of t levels, q_i = p^(t−i): Σ n (log
/// q_i)² over i = 0…t−2.
pub fn of_every_level(degree: usize, log2_p: f64, levels: u32) -> f64 {
    (2..=levels).map(|k| degree as f64 * (f64::from(k) * log2_p).powi(2)).sum()
}

/// Bits of the one evaluation key that is reduced to every level: n (log q)², one polynomial for
/// each binary digit.
pub fn reduced_by_level(degree: usize, log2_q: f64) -> f64 {
    degree as f64 * log2_q * log2_q
}

/// How many digits to base 2^w relinearization takes, ⌈log q / w⌉ (Öztürk et al. 2015; w = 1 is the
/// paper).
pub fn digits(log2_q: f64, window: u32) -> f64 {
    (log2_q / f64::from(window)).ceil()
}

/// Bits of the same key with windows: ⌈log q / w⌉ polynomials.
pub fn windowed(degree: usize, log2_q: f64, window: u32) -> f64 {
    degree as f64 * log2_q * digits(log2_q, window)
}

/// How many times larger a polynomial is in the paper's transform: products have up to 2n
/// coefficients, hence transforms the next power of two, of exact sums of n products with binary
/// digits, hence log q + log n bits in primes of 60 bits, in words of 64.
pub fn transform_growth(degree: usize, log2_q: f64) -> f64 {
    let points = (2 * degree).next_power_of_two() as f64;
    let words = ((log2_q + (degree as f64).log2()) / 60.0).ceil();
    points * words * 64.0 / (degree as f64 * log2_q)
}

/// ℓ = ⌈log_w q⌉ + 2 of YASHE, for words of `word_bits` bits (Bos et al. 2013): its evaluation key
/// is in R^(ℓ³), that of YASHE' in R^ℓ.
pub fn yashe_digits(log2_q: f64, word_bits: u32) -> f64 {
    digits(log2_q, word_bits) + 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: f64 = (8u64 << 30) as f64;

    #[test]
    fn table_6_follows_from_the_formulas() {
        // 41 moduli of 30 and 31 bits: the paper's 67, 87, 4.75 and 6.15 (6.13 in the table).
        assert_eq!((of_every_level(27000, 30.0, 41) / GIB).floor(), 67.0);
        assert_eq!((of_every_level(32768, 31.0, 41) / GIB).floor(), 87.0);
        assert!((reduced_by_level(27000, 1230.0) / GIB - 4.75).abs() < 0.01);
        assert!((reduced_by_level(32768, 1271.0) / GIB - 6.16).abs() < 0.01);
        // In the transform domain 12.2 and 13.1, within a word of the primes.
        assert!(
            (reduced_by_level(27000, 1230.0) * transform_growth(27000, 1230.0) / GIB / 12.2 - 1.0)
                .abs()
                < 0.05
        );
        assert!(
            (reduced_by_level(32768, 1271.0) * transform_growth(32768, 1271.0) / GIB / 13.1 - 1.0)
                .abs()
                < 0.05
        );
    }

    #[test]
    fn windows_divide_and_yashe_counts_two_more() {
        assert_eq!(windowed(4096, 127.0, 1), reduced_by_level(4096, 127.0));
        assert_eq!((digits(127.0, 32), yashe_digits(127.0, 32)), (4.0, 6.0));
        assert_eq!(windowed(4096, 127.0, 32), 4096.0 * 127.0 * 4.0);
    }
}
