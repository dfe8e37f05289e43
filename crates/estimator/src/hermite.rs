//! Root Hermite factors, by which Doröz–Hu–Sunar (2014) chose parameters: the estimates of that
//! time.
//!
//! The module has the factor δ of the vector that an attacker needs, and the cost of reaching δ by
//! the experiments of Lindner–Peikert (2011). These formulas of the paper are kept to reproduce its
//! figures; [`crate::ntru`] estimates the actual security of its parameters.

/// log2 of δ with δ^(2n) = ‖b₁‖/√q for the longest useful vector, ‖b₁‖ = q/4 (Coppersmith–Shamir
/// 1997): δ = (√q/4)^(1/2n).
pub fn log2_delta(degree: usize, log2_q: f64) -> f64 {
    (log2_q / 2.0 - 2.0) / (2.0 * degree as f64)
}

/// δ = (√q/4)^(1/2n), [`log2_delta`].
///
/// ```
/// use everlevel_estimator::hermite::delta;
///
/// assert!((delta(1 << 15, 1271.0) - 1.0067).abs() < 5e-5);
/// ```
pub fn delta(degree: usize, log2_q: f64) -> f64 {
    log2_delta(degree, log2_q).exp2()
}

/// log2 of the q of degree n and factor δ, the inverse of [`delta`]: 2 (2n log δ + 2).
pub fn log2_q(degree: usize, delta: f64) -> f64 {
    2.0 * (2.0 * degree as f64 * delta.log2() + 2.0)
}

/// The security k that Lindner–Peikert's experiments give δ: t(δ) = 1.8/log2 δ − 110, the log2 of
/// seconds on their machine.
pub fn lindner_peikert_bits(delta: f64) -> f64 {
    1.8 / delta.log2() - 110.0
}

/// The degree that k bits of security require at a modulus if noise is neglected, n = log q (k +
/// 110)/7.2 (Gentry–Halevi–Smart 2012).
pub fn least_degree(log2_q: f64, bits: f64) -> f64 {
    log2_q * (bits + 110.0) / 7.2
}

/// log2 of the least deviation of the error that keeps a short dual vector from distinguishing, r'
/// ≥ 1.5 q · max(1/q, 2^(−2 √(n log q log δ))) (Micciancio–Regev 2009, section 5.4). Never below
/// log2 1.5.
pub fn log2_least_deviation(degree: usize, log2_q: f64, delta: f64) -> f64 {
    1.5f64.log2() + (log2_q - 2.0 * (degree as f64 * log2_q * delta.log2()).sqrt()).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formulas_give_the_figures_of_the_text() {
        assert_eq!(least_degree(256.0, 80.0).ceil(), 6756.0);
        assert!((delta(28940, 1024.0) - 1.0061).abs() < 5e-5);
        assert!((lindner_peikert_bits(1.0066) - 79.7).abs() < 0.05);
        assert!((lindner_peikert_bits(1.0067) - 76.8).abs() < 0.05);
        assert!((lindner_peikert_bits(1.0078) - 50.6).abs() < 0.05);
        assert!((log2_q(1 << 12, delta(1 << 12, 159.5)) - 159.5).abs() < 1e-9);
    }

    /// The vector that distinguishes is as long as the error is wide: n log q log δ is (log q / 2)²
    /// where the two terms meet.
    #[test]
    fn the_criterion_of_micciancio_and_regev_has_its_two_branches() {
        let (n, log2_q) = (1 << 15, 1271.0);
        assert_eq!(
            log2_least_deviation(n, log2_q, 1.0067),
            1.5f64.log2() + (1271.0 - 2.0 * (32768.0 * 1271.0 * 1.0067f64.log2()).sqrt())
        );
        let meeting = (log2_q / (4.0 * n as f64)).exp2();
        assert_eq!(log2_least_deviation(n, log2_q, meeting * 1.001), 1.5f64.log2());
        assert!(log2_least_deviation(n, log2_q, (meeting - 1.0) * 0.9 + 1.0) > 10.0);
    }
}
