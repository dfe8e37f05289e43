//! The lattice of primal attacks after block reduction, seen from its last vector.
//!
//! Without ζ coordinates of the secret it has a basis of d − n' vectors of length q and n' = n − ζ
//! of length ξ; its volume is q^(d−n') ξ^n'. Reduced with block size β its Gram–Schmidt lengths are
//! a geometric series of ratio δ⁻² (GSA), in the dimension d = √(n' ln(q/ξ) / ln δ) that makes the
//! last of them longest.
//!
//! **Order.** All lengths, counted from the last, grow as the last one and the ratio do; so do the
//! probabilities of nearest planes, while the dimensions of searches fall. The last length grows
//! with ζ and with β: it is q (ξ/q)^(n'/d) δ^(1−d), which at the best d is about q exp(−2 √(n'
//! ln(q/ξ) ln δ)). The ratio falls with β. [`Basis::longest`] and [`Basis::shortest`] use that to
//! bound everything over ranges of ζ and β.

use super::key::Lwe;
use crate::reduction::{ln_ball, root_hermite};
use crate::search::least;

/// Larger block sizes are beyond 2^512 by any model.
pub(super) const MAX_BLOCK: usize = 1754;
/// Below, root Hermite factors are steps of a table.
pub(super) const MIN_BLOCK: usize = 40;

/// What the rounding of dimensions to whole numbers changes in the logarithm of a length at most.
const ROUNDING: f64 = 1e-4;

/// A reduced basis: ln of the last Gram–Schmidt length, ln of the ratio of neighbors, and how many
/// there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Basis {
    pub dimension: usize,
    pub last: f64,
    pub step: f64,
    /// σ of the error.
    pub deviation: f64,
}

impl Basis {
    /// In the best dimension for the shortest vector, less `shrink` percent.
    pub(super) fn new(key: &Lwe, zeta: usize, beta: usize, shrink: usize) -> Self {
        let left = (key.dimension - zeta) as f64;
        let ln_delta = root_hermite(beta as u32).ln();
        let (ln_q, ln_scale) = (key.ln_q(), key.scale().ln());
        let best = (left * (ln_q - ln_scale).max(0.0) / ln_delta).sqrt().ceil() as usize;
        let dimension = (best - best * shrink / 100).max(beta).max(key.dimension - zeta + 1);
        let d = dimension as f64;
        let volume = (d - left) * ln_q + left * ln_scale;
        Basis {
            dimension,
            last: volume / d - (d - 1.0) * ln_delta,
            step: 2.0 * ln_delta,
            deviation: key.error_deviation,
        }
    }

    /// Lengths, from the last, that no basis with ζ and β in these ranges exceeds.
    pub(super) fn longest(key: &Lwe, zeta: (usize, usize), beta: (usize, usize)) -> Self {
        let ends = [beta.0, beta.1].map(|beta| Basis::new(key, zeta.1, beta, 0));
        Basis { last: ends[0].last.max(ends[1].last) + ROUNDING, step: ends[0].step, ..ends[1] }
    }

    /// Lengths that none of them is below.
    pub(super) fn shortest(key: &Lwe, zeta: (usize, usize), beta: (usize, usize)) -> Self {
        let ends = [beta.0, beta.1].map(|beta| Basis::new(key, zeta.0, beta, 0));
        Basis { last: ends[0].last.min(ends[1].last) - ROUNDING, step: ends[1].step, ..ends[0] }
    }

    /// ln of the length of the i-th vector from the last.
    fn ln_length(&self, from_last: f64) -> f64 {
        self.last + self.step * from_last
    }

    /// Whether the error, projected to the last k dimensions, is shorter than everything else
    /// there.
    fn reveals(&self, k: usize) -> bool {
        let (sigma, k) = (self.deviation, k as f64);
        let volume = k * self.last + self.step * k * (k - 1.0) / 2.0 + sigma.ln();
        (volume - ln_ball(k as usize + 1)) / (k + 1.0) >= 0.5 * (sigma * sigma * (k + 1.0)).ln()
    }

    /// The dimension of the search that finds the error: one more than the least that reveals it,
    /// with the embedding's own coordinate.
    pub(super) fn search_dimension(&self) -> Option<usize> {
        let revealing = least(1, self.dimension.min(MAX_BLOCK), |k| self.reveals(k))?;
        Some(revealing + 1)
    }

    /// Σ over all vectors but the last `skipped` of log2 `factor`, a function of the length in
    /// units of √2 σ that is 1 for long ones.
    fn log2_product(&self, skipped: usize, factor: impl Fn(f64) -> f64) -> f64 {
        // Neighbors differ by a hundredth: the middle one of eight stands for all.
        const STRIDE: usize = 8;
        let unit = (std::f64::consts::SQRT_2 * self.deviation).ln();
        // Less is never.
        const NEVER: f64 = -2000.0;
        let (mut product, mut start) = (0.0, skipped);
        while start < self.dimension && product > NEVER {
            let end = (start + STRIDE).min(self.dimension);
            let middle = self.ln_length((start + (end - start) / 2) as f64);
            let log2 = factor((middle - unit).exp()).log2();
            product += log2 * (end - start) as f64;
            if log2 > -1e-9 {
                break;
            }
            start = end;
        }
        product.max(NEVER)
    }

    /// log2 of the probability that nearest planes finds an error on all but the last `skipped`
    /// coordinates: each within half a length.
    pub(super) fn log2_planes(&self, skipped: usize) -> f64 {
        self.log2_product(skipped, |length| libm::erf(length / 2.0))
    }

    /// log2 of the probability that two halves of a guess, rounded one by one, meet (Son–Cheon
    /// 2019, lemma 4.2).
    pub(super) fn log2_admissible(&self) -> f64 {
        let factor = |x: f64| libm::erf(x) + (-x * x).exp_m1() / (x * std::f64::consts::PI.sqrt());
        self.log2_product(0, |x| factor(x).max(1e-300))
    }

    /// The least number k of last vectors, not rounded, for which Σ ln (length · `gain` / `side`)
    /// reaches `volume`: how many coordinates a box of this side has to restrict. None if vectors
    /// are shorter than the box.
    pub(super) fn restricted(&self, side: f64, gain: f64, volume: f64) -> Option<f64> {
        let first = self.last + gain.ln() - side.ln();
        if first <= 0.0 {
            return None;
        }
        let linear = first - self.step / 2.0;
        // step/2 k² + linear k = volume.
        let root = (linear * linear + 2.0 * self.step * volume.max(0.0)).sqrt();
        Some(2.0 * volume.max(0.0) / (linear + root))
    }
}
