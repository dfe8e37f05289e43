//! How often the overflow of bootstrapping, a sum of uniforms, is large.

use everlevel_ring::Ring;

use crate::error::SchemeError;

/// By how much the squared weights of the uniforms in a coefficient of the overflow may exceed
/// their number: twice the ring's overlap, 0 for indices that are powers of two.
pub(super) fn slack(overlap: f64) -> u64 {
    if overlap > 1.0 { 2 * overlap as u64 } else { 0 }
}

/// log2 of the probability that a sum of N = c h + 1 independent uniforms on (-1/2, 1/2), c being
/// the overlap of a ring and h a weight, exceeds `bound` + 1/2 on either side: by Chernoff's bound
/// min over λ of e^(-λ (B + 1/2)) (sinh(λ/2) / (λ/2))^N. Minus infinity where it cannot happen.
///
/// Where some of the terms coincide, with squared weights that exceed N by at most [`slack`], N
/// equal weights of the same total bound them all, as log(sinh(√y)/√y) is concave in y.
pub(super) fn tail(overlap: f64, weight: f64, bound: u64) -> f64 {
    let terms = overlap * weight + 1.0;
    let x = (bound as f64 + 0.5) / (1.0 + slack(overlap) as f64 / terms).sqrt();
    if 2.0 * x >= terms {
        return f64::NEG_INFINITY;
    }
    let log = |l: f64| -l * x + terms * ((l / 2.0).sinh() / (l / 2.0)).ln();
    // Convex in λ: a ternary search.
    let (mut low, mut high) = (1e-6, 600.0);
    for _ in 0..200 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if log(a) < log(b) { high = b } else { low = a }
    }
    (log(low) / std::f64::consts::LN_2 + 1.0).min(0.0)
}

/// The least B that the overflow exceeds with a probability of at most 2^`log2` in all
/// coefficients together, under a sparse secret of weight `weight` in the ring of this index.
/// Milliseconds.
///
/// # Errors
/// An index that [`Ring::new`] refuses.
///
/// ```
/// use everlevel_scheme::noise::least_overflow_bound;
///
/// // As the named sets over odd indices have it.
/// assert_eq!(least_overflow_bound(42799, 30, -135.0)?, 43);
/// # Ok::<(), everlevel_scheme::SchemeError>(())
/// ```
pub fn least_overflow_bound(index: u64, weight: usize, log2: f64) -> Result<u64, SchemeError> {
    let (overlap, degree) = (Ring::overlap_of(index)? as f64, Ring::degree_of(index)? as f64);
    let rare = |bound: &u64| tail(overlap, weight as f64, *bound) + degree.log2() <= log2;
    // No sum exceeds half of the number of terms.
    let worst = (overlap as u64).saturating_mul(weight as u64) + 1;
    Ok((1..worst).find(rare).unwrap_or(worst))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_bound_the_law_of_the_sum() {
        // Irwin–Hall: the sum of k uniforms on (0, 1) is below x with
        // Σ (-1)^i C(k, i) (x-i)^k / k!.
        let exact = |terms: u32, x: f64| {
            let (mut sum, mut binomial) = (0.0, 1.0);
            for i in 0..=terms {
                if x <= f64::from(i) {
                    break;
                }
                let term = binomial * (x - f64::from(i)).powi(terms as i32);
                sum += if i % 2 == 0 { term } else { -term };
                binomial *= f64::from(terms - i) / f64::from(i + 1);
            }
            sum / (1..=terms).map(f64::from).product::<f64>()
        };
        for (weight, bound) in [(8, 1), (8, 2), (8, 3), (10, 3), (10, 4)] {
            let terms = weight + 1;
            // P(|S| > B + 1/2), S of mean 0: twice the lower tail.
            let law = 2.0 * exact(terms, f64::from(terms) / 2.0 - bound as f64 - 0.5);
            let found = tail(1.0, f64::from(weight), bound);
            assert!(found >= law.log2() && found < law.log2() + 6.0, "{weight} {bound} {found}");
        }
    }

    #[test]
    fn bounds_are_the_least() {
        for (index, weight) in [(42799, 28), (42799, 32), (53261, 28), (31, 4), (1 << 16, 32)] {
            let bound = least_overflow_bound(index, weight, -130.0).unwrap();
            let overlap = Ring::overlap_of(index).unwrap() as f64;
            let all = |bound| {
                tail(overlap, weight as f64, bound)
                    + (Ring::degree_of(index).unwrap() as f64).log2()
            };
            assert!(all(bound) <= -130.0 && (bound == 1 || all(bound - 1) > -130.0), "{index}");
        }
        assert!(least_overflow_bound(1, 8, -130.0).is_err());
    }
}
