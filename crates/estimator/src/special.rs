//! Special functions that the standard library does not have, and sums in the exponent.

use std::f64::consts::PI;

/// Euler's constant γ.
pub(crate) const EULER: f64 = 0.577_215_664_901_532_9;

/// Above this the asymptotic series below are exact to f64.
const ASYMPTOTIC: f64 = 16.0;

/// ln Γ(x) for x > 0, by Stirling's series (DLMF 5.11.1) after shifting the argument up.
pub(crate) fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut product) = (x, 1.0);
    while x < ASYMPTOTIC {
        product *= x;
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y / 1680.0))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * PI).ln() + series - product.ln()
}

/// The digamma function ψ(x) = Γ'(x)/Γ(x) for x > 0 (DLMF 5.11.2).
pub(crate) fn digamma(x: f64) -> f64 {
    let (mut x, mut sum) = (x, 0.0);
    while x < ASYMPTOTIC {
        sum -= 1.0 / x;
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    sum + x.ln() - 0.5 / x - y * (1.0 / 12.0 - y * (1.0 / 120.0 - y * (1.0 / 252.0 - y / 240.0)))
}

/// log2 (2^a + 2^b).
pub(crate) fn log2_sum(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if high.is_infinite() {
        high
    } else {
        high + (low - high).exp2().ln_1p() * std::f64::consts::LOG2_E
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_and_digamma_have_their_known_values() {
        let mut factorial = 1.0f64;
        for n in 1..100 {
            assert!(
                (ln_gamma(f64::from(n)) - factorial.ln()).abs() < 1e-12 * factorial.ln().max(1.0),
                "{n}"
            );
            factorial *= f64::from(n);
        }
        assert!((ln_gamma(0.5) - 0.5 * PI.ln()).abs() < 1e-13);
        assert!((digamma(1.0) + EULER).abs() < 1e-13);
        assert!((digamma(0.5) + EULER + 4f64.ln()).abs() < 1e-13);
        assert!((digamma(100.0) - 4.600_161_852_738_087).abs() < 1e-13);
    }

    #[test]
    fn sums_in_the_exponent() {
        assert_eq!(
            (log2_sum(3.0, 3.0), log2_sum(3.0, f64::NEG_INFINITY), log2_sum(f64::INFINITY, 3.0)),
            (4.0, 3.0, f64::INFINITY)
        );
        assert!((log2_sum(10.0, 5.0) - 1056f64.log2()).abs() < 1e-12);
    }
}
