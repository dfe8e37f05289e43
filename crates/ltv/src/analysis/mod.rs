//! The LTV scheme as Doröz–Hu–Sunar (2014) analyze it: noise level by level, failure, sizes of
//! keys.
//!
//! B bounds the coefficients that are sampled, n is the degree, ν how many ciphertexts are added
//! between two products, q_i = p^(t−i) the moduli. Where the paper's formula differs from what it
//! prints, both can be had.

pub mod keys;
pub mod noise;
mod special;

use special::log2_erfc;

/// log2 of the probability that one of n Gaussian coefficients exceeds α deviations, by the union
/// bound n · erfc(α/√2).
///
/// ```
/// use everlevel_ltv::analysis::log2_failure;
///
/// // The paper says 2^-60.
/// assert!((log2_failure(1 << 14, 7.0) + 24.5).abs() < 0.05);
/// ```
pub fn log2_failure(degree: usize, alpha: f64) -> f64 {
    ((degree as f64).log2() + log2_erfc(alpha / std::f64::consts::SQRT_2)).min(0.0)
}

/// log2 of the probability that a random polynomial of degree n is not invertible modulo a power of
/// the prime p: Φ_m has ℓ = n/w factors modulo p, each of which divides it with probability p^(−w),
/// w = ord_m(p). 1 − (1 − p^(−w))^ℓ.
///
/// The paper asks for p^w = 1 modulo φ(m), and gcd(n, p) = 1, where m must stand.
pub fn log2_not_invertible(degree: usize, order: u32, log2_p: f64) -> f64 {
    let factors = degree as f64 / f64::from(order);
    let log2_one = -f64::from(order) * log2_p;
    if log2_one < -50.0 {
        // The square of one probability is nothing beside it.
        return factors.log2() + log2_one;
    }
    (-(factors * (-log2_one.exp2()).ln_1p()).exp_m1()).log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_the_text_are_corrected() {
        assert!((log2_failure(1 << 14, 7.0) + 24.5).abs() < 0.05);
        assert!((log2_failure(1 << 15, 8.0) + 34.5).abs() < 0.05);
        // Far beyond what 1 - erf resolves.
        assert!((log2_failure(1 << 15, 40.0) + 1144.8).abs() < 0.05);
        assert_eq!(log2_failure(1 << 15, 0.1), 0.0);
    }

    /// Counted: units among all polynomials of degree below φ(m) modulo p, by the gcd with Φ_m.
    #[test]
    fn invertible_polynomials_are_as_many_as_counted() {
        // Φ_5 modulo 2, 3, 11 and 19 has orders 4, 4, 1, 2; Φ_7 modulo 2 order 3.
        for (m, p, order) in
            [(5usize, 2u64, 4), (5, 3, 4), (5, 11, 1), (5, 19, 2), (7, 2, 3), (7, 3, 6)]
        {
            let degree = m - 1;
            let total = p.pow(degree as u32);
            let phi = vec![1; m];
            let singular = (0..total)
                .filter(|code| gcd_degree(polynomial(*code, degree, p), phi.clone(), p) > 0)
                .count();
            let expected =
                log2_not_invertible(degree, order, (p as f64).log2()).exp2() * total as f64;
            assert!(
                (singular as f64 - expected).abs() < 1e-6 * total as f64,
                "m = {m}, p = {p}: {singular}, {expected}"
            );
        }
        assert!((log2_not_invertible(32768, 1, 31.0) + 16.0).abs() < 1e-4);
        assert!((log2_not_invertible(32768, 4, 31.0) + 111.0).abs() < 1e-9);
    }

    fn polynomial(code: u64, degree: usize, p: u64) -> Vec<u64> {
        (0..degree as u32).map(|i| code / p.pow(i) % p).collect()
    }

    /// The degree of the greatest common divisor over F_p.
    fn gcd_degree(mut a: Vec<u64>, mut b: Vec<u64>, p: u64) -> usize {
        let trim = |v: &mut Vec<u64>| {
            while v.last() == Some(&0) {
                v.pop();
            }
        };
        trim(&mut a);
        trim(&mut b);
        while !a.is_empty() {
            let inverse = (1..p).find(|x| x * a[a.len() - 1] % p == 1).unwrap();
            while b.len() >= a.len() {
                let (shift, factor) = (b.len() - a.len(), b[b.len() - 1] * inverse % p);
                for (i, x) in a.iter().enumerate() {
                    b[shift + i] = (b[shift + i] + (p - factor) * x) % p;
                }
                trim(&mut b);
            }
            std::mem::swap(&mut a, &mut b);
        }
        b.len() - 1
    }
}
