//! Formulas for lattice reduction: root Hermite factor, Gaussian heuristic, shape of a reduced
//! q-ary basis, cost.

use std::f64::consts::{E, PI};

use crate::special::{ln_gamma, log2_sum};

/// (β, δ) of small block sizes, from experiments, as the public lattice estimator has them; a block
/// size between two gets the δ of the smaller.
const SMALL: [(u32, f64); 8] = [
    (2, 1.0219),
    (5, 1.01862),
    (10, 1.01616),
    (15, 1.01485),
    (20, 1.0142),
    (25, 1.01342),
    (28, 1.01331),
    (40, 1.01295),
];

/// The root Hermite factor δ of BKZ with block size β: the first vector of a reduced basis of
/// dimension d has the length δ^d · vol^(1/d).
///
/// For β > 40: (β/(2πe) · (πβ)^(1/β))^(1/(2(β−1))) (Chen 2013); measured values below. β = 2 is
/// LLL; less is taken for 2.
pub fn root_hermite(block_size: u32) -> f64 {
    let beta = f64::from(block_size);
    match SMALL.iter().rev().find(|(b, _)| *b <= block_size) {
        Some(&(_, delta)) if block_size <= 40 => delta,
        Some(_) => (beta / (2.0 * PI * E) * (PI * beta).powf(1.0 / beta)).powf(0.5 / (beta - 1.0)),
        None => SMALL[0].1,
    }
}

/// The exponent and the constant of a nearest-neighbor sieve in memory without cost, in gates:
/// 2^(a β + b).
const SIEVE: (f64, f64) = (0.296_135_003_082_053_65, 20.387_885_985_467_914);

/// log2 of Σ 2^(−a i), i ≥ 0: progressive sieving, and progressive block sizes.
fn log2_series() -> f64 {
    -(1.0 - (-SIEVE.0).exp2()).log2()
}

/// The dimensions for free of a sieve (Ducas 2018). Asymptotic: between 20 and 30 there are more of
/// them than dimensions, which makes small searches cheap; below there are none.
fn dimensions_for_free(beta: f64) -> f64 {
    if beta >= 20.0 { beta * (4.0f64 / 3.0).ln() / (beta / (2.0 * PI * E)).ln() } else { 0.0 }
}

/// Models of the cost of block reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostModel {
    /// Sieving in progressive BKZ with dimensions for free, in gates (MATZOV 2022): the default of
    /// the public lattice estimator.
    Matzov,
    /// One call of a classical sieve, 2^(0.292 β), whatever the dimension: a lower bound (Alkim et
    /// al. 2016).
    CoreSvp,
}

impl CostModel {
    /// log2 of the cost of BKZ with block size β in a lattice of dimension d.
    pub fn log2_cost(self, block_size: u32, dimension: usize) -> f64 {
        let beta = f64::from(block_size);
        match self {
            CostModel::CoreSvp => 0.292 * beta,
            CostModel::Matzov => {
                // Sums of a geometric series, once for the block sizes on the way and once for the
                // calls inside a sieve.
                let calls = (dimension as f64 - beta).max(1.0);
                2.0 * log2_series()
                    + calls.log2()
                    + SIEVE.0 * (beta - dimensions_for_free(beta))
                    + SIEVE.1
            }
        }
    }

    /// log2 of the cost of BKZ with enumeration instead of sieves: LLL, d³, and 8 d enumerations of
    /// 2^(0.1873 β log2 β − 1.019 β + 16.1) nodes, the fit of the public estimator to Chen–Nguyen's
    /// table, of 100 operations each; none where LLL is enough.
    pub(crate) fn log2_enumeration(block_size: u32, dimension: usize) -> f64 {
        let (beta, d) = (f64::from(block_size), dimension as f64);
        let nodes = 0.270_188_776_350_190 * beta * beta.ln() - 1.019_205_045_131_841_7 * beta
            + 16.102_531_352_007_65;
        let enumerations = (8.0 * d).log2() + nodes + 100f64.log2();
        if block_size <= 2 { 3.0 * d.log2() } else { log2_sum(3.0 * d.log2(), enumerations) }
    }

    /// The dimension in which a sieve of the first vectors of a reduced basis costs about as much
    /// as the reduction did (Guo–Johansson 2021).
    pub(crate) fn sieve_dimension(self, block_size: u32, dimension: usize) -> u32 {
        let beta = f64::from(block_size);
        match self {
            CostModel::CoreSvp => block_size,
            CostModel::Matzov => {
                let free = (beta - dimensions_for_free(beta).floor()).max(0.0);
                let calls = (dimension as f64 - beta).max(1.0);
                let longer = (calls.log2() + log2_series()) / SIEVE.0;
                ((free + longer).floor() as u32).min(dimension as u32)
            }
        }
    }

    /// log2 of the cost of that sieve.
    pub(crate) fn log2_sieve(self, dimension: u32) -> f64 {
        match self {
            CostModel::CoreSvp => 0.292 * f64::from(dimension),
            CostModel::Matzov => log2_series() + SIEVE.0 * f64::from(dimension) + SIEVE.1,
        }
    }
}

/// ln of the volume of the unit ball in dimension k.
pub(crate) fn ln_ball(k: usize) -> f64 {
    let half = k as f64 / 2.0;
    half * PI.ln() - ln_gamma(half + 1.0)
}

/// The Gaussian heuristic: k ↦ the length that a shortest vector of a random lattice of dimension k
/// and volume 1 is expected to have, as ln. Below dimension 49, where volume and length disagree,
/// √(k/(2πe)), and 1 up to dimension 20.
pub fn ln_gaussian_heuristic(k: usize) -> f64 {
    match k {
        0..=20 => 0.0,
        21..=48 => 0.5 * (k as f64 / (2.0 * PI * E)).ln(),
        _ => -ln_ball(k) / k as f64,
    }
}

/// ln of the Gram–Schmidt lengths of an NTRU basis of degree n after BKZ (ZGSA, Ducas–van Woerden
/// 2021): q-vectors that are left, a slope of 2 ln δ through √q in the middle, and vectors of
/// length 1 that are left.
pub(crate) fn z_shape(degree: usize, ln_q: f64, block_size: u32) -> Vec<f64> {
    let step = 2.0 * root_hermite(block_size).ln();
    (0..2 * degree)
        .map(|i| (ln_q / 2.0 + step * (degree as f64 - 0.5 - i as f64)).clamp(0.0, ln_q))
        .collect()
}

/// The same without what is left of the first basis: a geometric series (GSA).
#[cfg(test)]
pub(crate) fn geometric_shape(degree: usize, ln_q: f64, block_size: u32) -> Vec<f64> {
    let step = 2.0 * root_hermite(block_size).ln();
    (0..2 * degree).map(|i| ln_q / 2.0 + step * (degree as f64 - 0.5 - i as f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_fall_with_the_block_size() {
        let factors: Vec<f64> = (2..1000).map(root_hermite).collect();
        assert!(factors.windows(2).all(|w| w[1] <= w[0]));
        assert_eq!((root_hermite(0), root_hermite(2), root_hermite(12)), (1.0219, 1.0219, 1.01616));
        // Chen–Nguyen 2011, table 2: block size 85, 106, 133, 168 for 1.01, 1.009, 1.008, 1.007.
        for (beta, delta) in [(85, 1.010), (106, 1.009), (133, 1.008), (168, 1.007)] {
            assert!((root_hermite(beta) - delta).abs() < 4e-4, "{beta}");
        }
    }

    #[test]
    fn costs_are_those_of_the_public_estimator() {
        // Reference rows: block size, dimension as far as known, bits.
        for (beta, d, bits) in
            [(460, 1984, 160.14), (271, 2030, 107.89), (689, 3975, 225.04), (996, 7987, 312.07)]
        {
            assert!((CostModel::Matzov.log2_cost(beta, d) - bits).abs() < 0.1, "{beta}");
        }
        assert_eq!(CostModel::CoreSvp.log2_cost(1000, 5), 292.0);
    }

    #[test]
    fn a_shape_has_the_volume_of_the_lattice() {
        for (n, ln_q, beta) in [(113, 6.24, 41), (1024, 20.0, 90), (512, 700.0, 2)] {
            let shape = z_shape(n, ln_q, beta);
            assert!((shape.iter().sum::<f64>() - n as f64 * ln_q).abs() < 1e-6 * n as f64 * ln_q);
            assert!(shape.windows(2).all(|w| w[1] <= w[0]));
        }
    }
}
