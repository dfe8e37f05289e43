//! The formulas of Doröz–Hu–Sunar (2014), as functions. Sizes of polynomials are largest coefficients, all values log2.

use crate::noise::log_add;

/// B, the bound of χ in the paper.
pub const BOUND: f64 = 2.0;

/// 6B³ + 2B², what a digit of relinearization contributes to (2)–(4).
fn digit_noise() -> f64 {
    (6.0 * BOUND.powi(3) + 2.0 * BOUND.powi(2)).log2()
}

/// What one product without relinearization needs of q/2 in the worst case, section 5: n³ (64B⁴ + 48B³ + 9B²).
pub fn without_relinearization(degree: f64) -> f64 {
    3.0 * degree.log2() + (64.0 * BOUND.powi(4) + 48.0 * BOUND.powi(3) + 9.0 * BOUND.powi(2)).log2()
}

/// Recursion (3), with `additions` ν = 1 recursion (2): [ν² n B_(i-1)² + n² (6B³ + 2B²) log q] κ + n (2B + 1), κ = 2^-cut, for binary digits.
pub fn worst_case(degree: f64, log_q: f64, additions: f64, cut: f64, before: f64) -> f64 {
    let n = degree.log2();
    let product = 2.0 * additions.log2() + n + 2.0 * before;
    let keys = 2.0 * n + digit_noise() + log_q.log2();
    log_add(log_add(product, keys) - cut, n + (2.0 * BOUND + 1.0).log2())
}

/// Equation (4): [ν √n B_(i-1)² + n (6B³ + 2B²) log q] κ. `rounding` adds √n (2B + 1), which the paper leaves out, and which outweighs the rest.
pub fn average_case(degree: f64, log_q: f64, additions: f64, cut: f64, before: f64, rounding: bool) -> f64 {
    let n = degree.log2();
    let product = additions.log2() + n / 2.0 + 2.0 * before;
    let sum = log_add(product, n + digit_noise() + log_q.log2()) - cut;
    if rounding { log_add(sum, n / 2.0 + (2.0 * BOUND + 1.0).log2()) } else { sum }
}

/// log2 of n erfc(α/√2): the probability that one of n normal coefficients passes α deviations. By the asymptotic expansion, for α >= 3: an error below 2 %.
pub fn failure(alpha: f64, degree: f64) -> f64 {
    let x = alpha / std::f64::consts::SQRT_2;
    let series = 1.0 - 1.0 / (2.0 * x * x) + 3.0 / (4.0 * x.powi(4));
    degree.log2() - x * x / std::f64::consts::LN_2 + (series / (x * std::f64::consts::PI.sqrt())).log2()
}

/// Probability that a uniform polynomial modulo p (or a power of it) is invertible modulo Φ_m, p prime to m: (1 - p^-w)^(φ(m)/w), w being the
/// order of p modulo m. (The paper has w the order modulo φ(m).)
pub fn invertibility(index: u64, prime: u64) -> f64 {
    let degree = everlevel_arith::primes::factor(index).into_iter().fold(index, |n, (l, _)| n / l * (l - 1));
    let order = everlevel_arith::primes::order(prime % index, index, degree);
    (1.0 - (prime as f64).powi(-(order as i32))).powf((degree / order) as f64)
}

/// Sizes of evaluation keys of binary digits, in bytes: Table 6.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeySizes {
    /// Σ n (log q_i)², a key for each level.
    pub original: f64,
    /// n (log q_0)², one for all.
    pub modified: f64,
    /// The same in evaluations: each polynomial of a key takes as many words of 64 bits as the products' transform primes say.
    pub original_evaluations: f64,
    /// One key for all levels in evaluations.
    pub modified_evaluations: f64,
}

/// [`KeySizes`] for n, p of `prime_bits`, t levels; in evaluations modulo transform primes of `word_bits`, as many as products of binary digits with
/// residues modulo the level's q need.
pub fn key_sizes(degree: f64, prime_bits: f64, levels: usize, word_bits: f64) -> KeySizes {
    let log_q = |rows: usize| rows as f64 * prime_bits;
    let polynomial = |rows: usize| degree * log_q(rows).powi(2) / 8.0;
    let words = |rows: usize| ((log_q(rows) + degree.log2() + log_q(rows).log2() + 1.0) / word_bits).ceil();
    let evaluations = |rows: usize| degree * log_q(rows) * words(rows) * 8.0;
    // The paper sums over i = 0 .. t - 2, the moduli that relinearizations start from.
    let sum = |size: &dyn Fn(usize) -> f64| (2..=levels).map(size).sum();
    KeySizes {
        original: sum(&polynomial),
        modified: polynomial(levels),
        original_evaluations: sum(&evaluations),
        modified_evaluations: evaluations(levels),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_as_computed_elsewhere() {
        // erfc(7/√2) = 2.559625e-12 and erfc(8/√2) = 1.244192e-15, by tables.
        assert!((failure(7.0, 1.0) - 2.559_625e-12f64.log2()).abs() < 0.01);
        assert!((failure(8.0, 1.0) - 1.244_192e-15f64.log2()).abs() < 0.01);
        assert!((failure(7.0, 16384.0) + 24.5).abs() < 0.1 && (failure(8.0, 32768.0) + 34.5).abs() < 0.1);
    }

    #[test]
    fn table_6_follows_from_the_formula() {
        let gigabytes = |bytes: f64| bytes / 2f64.powi(30);
        // 67 and 4.75, 87 and 6.13 GBytes in the paper.
        let small = key_sizes(27000.0, 30.0, 41, 64.0);
        assert!((gigabytes(small.modified) - 4.75).abs() < 0.02 && (gigabytes(small.original) - 67.0).abs() < 1.5);
        let large = key_sizes(32768.0, 31.0, 41, 64.0);
        assert!((gigabytes(large.modified) - 6.16).abs() < 0.02 && (gigabytes(large.original) - 87.0).abs() < 1.5);
    }

    #[test]
    fn recursions_settle_or_not() {
        let settle = |step: &dyn Fn(f64) -> f64| (0..30).fold(1.0, |b, _| step(b));
        // The paper: 12.6 bits for n = 32768, 31 bits, ν = 100.
        let average = settle(&|b| average_case(32768.0, 1271.0, 100.0, 31.0, b, false));
        let rounded = settle(&|b| average_case(32768.0, 1271.0, 100.0, 31.0, b, true));
        assert!(average < rounded && (9.0..13.0).contains(&rounded), "{average} {rounded}");
        assert!(settle(&|b| worst_case(32768.0, 1271.0, 1.0, 31.0, b)) > 1000.0);
        assert!(settle(&|b| worst_case(32768.0, 1271.0, 1.0, 53.0, b)) < 25.0);
        assert!((without_relinearization(4096.0) - (36.0 + 1444f64.log2())).abs() < 1e-9);
    }

    #[test]
    fn invertible_polynomials_are_counted() {
        // Φ_5 and Φ_8 modulo 2, 3, 5, 7, 11, 17: all polynomials of degree below 4, against the determinant of multiplication.
        for (index, prime) in [(5u64, 2u64), (5, 3), (5, 11), (8, 3), (8, 5), (8, 7), (8, 17)] {
            let units = (0..prime.pow(4)).filter(|&k| determinant(index, prime, k) != 0).count();
            let share = units as f64 / prime.pow(4) as f64;
            assert!((share - invertibility(index, prime)).abs() < 1e-12, "{index} {prime}: {share}");
        }
    }

    /// The determinant modulo p of multiplication by the polynomial with digits `k` to the base p modulo Φ_5 or Φ_8.
    fn determinant(index: u64, prime: u64, k: u64) -> u64 {
        let q = |x: i64| x.rem_euclid(prime as i64);
        let mut row: Vec<i64> = (0..4).map(|i| (k / prime.pow(i) % prime) as i64).collect();
        let mut matrix = Vec::new();
        for _ in 0..4 {
            matrix.push(row.clone());
            // X^4 is -1 - X - X² - X³ or -1.
            let top = row.pop().unwrap();
            row.insert(0, 0);
            let reduction = if index == 5 { [1, 1, 1, 1] } else { [1, 0, 0, 0] };
            row.iter_mut().zip(reduction).for_each(|(x, r)| *x = q(*x - top * r));
        }
        let mut det = 1;
        for column in 0..4 {
            let Some(pivot) = (column..4).find(|&r| matrix[r][column] != 0) else { return 0 };
            if pivot != column {
                matrix.swap(pivot, column);
                det = q(-det);
            }
            det = q(det * matrix[column][column]);
            let inverse = (1..prime as i64).find(|x| q(x * matrix[column][column]) == 1).unwrap();
            let pivots = matrix[column].clone();
            for row in &mut matrix[column + 1..] {
                let factor = q(row[column] * inverse);
                row.iter_mut().zip(&pivots).for_each(|(x, pivot)| *x = q(*x - factor * pivot));
            }
        }
        det as u64
    }
}
