//! NTRU keys under lattice reduction: h = g/f modulo q, f and g with small coefficients, in a ring
//! of degree n.
//!
//! The lattice {(a, b) : a h = b modulo q} of dimension 2n has (f, g) and its multiples, a
//! sublattice of rank n and small volume. Three ways to break it, of which the cheapest counts:
//!
//! * *secret key*: (f, g) is unusually short (unique SVP, as for LWE);
//! * *dense sublattice*: for large q its volume is so small that block reduction meets *some* short
//!   vector of it before (f, g) itself (Kirchner–Fouque 2017; predicted as by Ducas–van Woerden
//!   2021, ia.cr/2021/999). q is *overstretched* where this is cheaper: beyond the fatigue point,
//!   which is about 2^29 at n = 2^15. A scheme with levels is always beyond it;
//! * *subfields*: the norm of h to a subfield of degree n' is the quotient of the norms of f and g,
//!   which are small enough where q is large (Albrecht–Bai–Ducas 2016, Cheon–Jeong–Lee 2016): the
//!   same lattice with dimension 2n'. A cyclotomic field has a subfield of every degree that
//!   divides n, since its group is abelian.

use serde::Serialize;

use crate::attack::{Attack, AttackName, Estimate};
use crate::error::{SecurityError, in_range};
use crate::reduction::{CostModel, ln_gaussian_heuristic, root_hermite, z_shape};
use crate::search::least;
use crate::special::{EULER, digamma};

/// The largest degree that is estimated.
pub const MAX_DEGREE: usize = 1 << 21;

/// An NTRU key h = g/f.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ntru {
    /// n.
    pub degree: usize,
    /// log2 q.
    pub log2_q: f64,
    /// The variance of the coefficients of f and g.
    pub variance: f64,
}

impl Ntru {
    /// log2 of the modulus from which on the dense sublattice is cheaper than the secret key.
    pub fn fatigue_log2_q(&self) -> f64 {
        fatigue_log2_q(self.degree, self.variance)
    }

    /// Whether the modulus is beyond the fatigue point.
    pub fn is_overstretched(&self) -> bool {
        self.log2_q > self.fatigue_log2_q()
    }
}

/// The security today of an NTRU key in a cyclotomic ring of degree n, modulo q, against classical
/// attacks.
///
/// `variance` is that of the coefficients of f and g: 2/3 for uniform ternary ones. Where they
/// differ (f = 2u + 1 against g), scaling one half of the lattice makes both the geometric mean:
/// twice the variance of u there. Keys under a power of p, or of a product of primes, are worth
/// what q is, not what its factors are. Takes a few hundredths of a second at n = 2^16.
///
/// Hybrid attacks that guess coefficients are not counted: they matter for sparse keys only.
///
/// ```
/// use everlevel_estimator::{AttackName, ntru::estimate};
///
/// // Doröz–Hu–Sunar 2014: n = 32768, 1271 bits. LLL is enough.
/// let today = estimate(32768, 1271.0, 2.0 / 3.0)?;
/// assert_eq!(today.best().block_size, 2);
/// // What n = 32768 can hold at 128 bits.
/// assert!(estimate(32768, 150.0, 2.0 / 3.0)?.bits() >= 128.0);
/// # Ok::<(), everlevel_estimator::SecurityError>(())
/// ```
///
/// # Errors
/// A degree outside 16 to 2^21, log2 q outside 1 to 100000, or a variance outside 2^-20 to 2^1000.
pub fn estimate(
    degree: usize,
    log2_q: f64,
    variance: f64,
) -> Result<Estimate<Ntru>, SecurityError> {
    in_range("degree", degree as f64, 16.0..=MAX_DEGREE as f64, "16 to 2^21")?;
    in_range("log2_q", log2_q, 1.0..=1e5, "1 to 100000")?;
    in_range("variance", variance, (-20f64).exp2()..=1000f64.exp2(), "2^-20 to 2^1000")?;
    let ln_q = log2_q * std::f64::consts::LN_2;
    let reduction = |name, degree, dimension, beta| {
        Attack::reduction(name, CostModel::Matzov, degree, dimension, beta)
    };
    let (beta, dimension) = secret_key(degree, ln_q, variance);
    let mut attacks = vec![reduction(AttackName::SecretKey, degree, dimension, beta)];
    for subdegree in divisors(degree) {
        let name =
            if subdegree == degree { AttackName::DenseSublattice } else { AttackName::Subfield };
        let lattice = DenseSublattice::new(subdegree, norm_log_volume(degree, subdegree, variance));
        attacks.extend(
            lattice.block_size(ln_q).map(|beta| reduction(name, subdegree, 2 * subdegree, beta)),
        );
    }
    attacks.sort_by(|a, b| a.bits.total_cmp(&b.bits));
    // Of the subfields the cheapest is enough.
    let mut subfields = 0;
    attacks.retain(|a| {
        subfields += usize::from(a.name == AttackName::Subfield);
        a.name != AttackName::Subfield || subfields == 1
    });
    Ok(Estimate::new(Ntru { degree, log2_q, variance }, attacks))
}

/// log2 of the modulus beyond which the dense sublattice is cheaper to find than the secret key: q
/// = 0.0058 σ² n^2.484 (Ducas–van Woerden 2021; the constant by Hough, Sandsbråten, Silde 2023, eq.
/// 3).
pub fn fatigue_log2_q(degree: usize, variance: f64) -> f64 {
    (0.0058 * variance).log2() + 2.484 * (degree as f64).log2()
}

/// The degree up to which LLL finds the dense sublattice: the volume of the whole slope's last half
/// against that of the sublattice, n = (ln q)² / (4α (ln n σ² − 0.963)) with α = 2 ln δ of LLL; the
/// estimate in closed form, within ten percent of it from log q = 20 on; reduced keys at log q = 8
/// to 11 (papers/ltv) stay about a quarter below. It grows as log² q, where LWE needs log q.
pub fn degree_broken_by_lll(log2_q: f64, variance: f64) -> f64 {
    let alpha = 2.0 * root_hermite(2).ln();
    let ln_q = log2_q * std::f64::consts::LN_2;
    // ln n changes slowly: a few steps settle.
    (0..20)
        .fold(1e3, |n: f64, _| ln_q * ln_q / (4.0 * alpha * ((n * variance).ln() - 0.963).max(1.0)))
}

/// The divisors of n from 8 on: below, nothing about lattices is asymptotic.
fn divisors(n: usize) -> impl Iterator<Item = usize> {
    (1..=n / 8).filter(move |k| n.is_multiple_of(*k)).map(move |k| n / k)
}

/// ln of the expected volume of the multiples of (N f, N g) in the subfield of degree n', in the
/// canonical embedding divided by that of the ring.
///
/// The embeddings of f and g are complex Gaussian of variance n σ², those of their norms products
/// of k = n/n'. Over both, E ln (|N f|² + |N g|²) = k (ln n σ² − γ) + c, with c = 1 for k = 1 and
/// √(kπ/6) for many factors: c = √(1 + (k−1)π/6) is within 0.03.
fn norm_log_volume(degree: usize, subdegree: usize, variance: f64) -> f64 {
    let factors = (degree / subdegree) as f64;
    let larger = (1.0 + (factors - 1.0) * std::f64::consts::PI / 6.0).sqrt();
    subdegree as f64 / 2.0 * (factors * ((degree as f64 * variance).ln() - EULER) + larger)
}

/// The sublattice of rank n in a lattice of dimension 2n, as far as it does not depend on the
/// reduction.
struct DenseSublattice {
    degree: usize,
    log_volume: f64,
    /// What intersecting with the span of the first n + k vectors loses by projection, k = 1…n.
    losses: Vec<f64>,
    /// ln of the Gaussian heuristic in dimension k, k = 1…n.
    heuristic: Vec<f64>,
}

impl DenseSublattice {
    fn new(degree: usize, log_volume: f64) -> Self {
        // The dual vector that cuts dimension s + 1 down to s is projected away from n dimensions.
        let mut losses = vec![0.0; degree];
        for k in (1..degree).rev() {
            let (s, rest) = ((degree + k + 1) as f64, (k + 1) as f64);
            losses[k - 1] = losses[k] + 0.5 * (digamma(rest / 2.0) - digamma(s / 2.0));
        }
        DenseSublattice {
            degree,
            log_volume,
            losses,
            heuristic: (1..=degree).map(ln_gaussian_heuristic).collect(),
        }
    }

    /// Whether block reduction of this shape is expected to insert a vector of the sublattice: for
    /// some k, the shortest vector of its intersection with the span of the first n + k vectors,
    /// projected to the last block, is shorter than what stands there (Ducas–van Woerden 2021,
    /// section 4).
    fn is_found(&self, shape: &[f64], block_size: u32) -> bool {
        let (n, beta) = (self.degree, block_size as usize);
        let mut volume = self.log_volume;
        for k in (1..=n).rev() {
            let s = n + k;
            if s < beta {
                break;
            }
            let length = self.heuristic[k - 1] + (volume + self.losses[k - 1]) / k as f64;
            if length + 0.5 * (beta as f64 / s as f64).ln() <= shape[s - beta] {
                return true;
            }
            volume -= shape[s - 1];
        }
        false
    }

    /// The least block size that finds it, if one below n does.
    fn block_size(&self, ln_q: f64) -> Option<u32> {
        let found =
            |beta: usize| self.is_found(&z_shape(self.degree, ln_q, beta as u32), beta as u32);
        least(2, self.degree - 1, found).map(|beta| beta as u32)
    }
}

/// Block size and dimension to find (f, g) itself: unique SVP under the GSA (Alkim et al. 2016) in
/// the best dimension d up to 2n, by σ √β ≤ δ^(2β−d−1) q^((d−n)/d). At the latest the shortest
/// vector of the whole lattice.
fn secret_key(degree: usize, ln_q: f64, variance: f64) -> (u32, usize) {
    let n = degree as f64;
    let dimension = |beta: usize| {
        let best = (n * ln_q / root_hermite(beta as u32).ln()).sqrt();
        (best as usize).clamp((degree + 1).max(beta), 2 * degree)
    };
    let found = |beta: usize| {
        let d = dimension(beta) as f64;
        let right =
            root_hermite(beta as u32).ln() * (2.0 * beta as f64 - d - 1.0) + ln_q * (d - n) / d;
        0.5 * (variance * beta as f64).ln() <= right
    };
    let whole = 2 * degree;
    let beta = least(2, whole, found).unwrap_or(whole);
    (beta as u32, dimension(beta))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reduction::geometric_shape;
    use std::f64::consts::LN_2;

    const TERNARY: f64 = 2.0 / 3.0;

    fn attack(degree: usize, log2_q: f64, name: AttackName) -> Attack {
        let estimate = estimate(degree, log2_q, TERNARY).unwrap();
        estimate.attacks().iter().find(|a| a.name == name).cloned().unwrap()
    }

    #[test]
    fn secret_keys_cost_what_the_public_estimator_says() {
        let rows = [
            (1024, 20.0, 460, 160.14),
            (1024, 30.0, 271, 107.89),
            (2048, 30.0, 689, 225.04),
            (4096, 46.0, 996, 312.07),
        ];
        for (n, log2_q, beta, bits) in rows.into_iter().chain([(8192, 60.0, 1730, 519.43)]) {
            let a = attack(n, log2_q, AttackName::SecretKey);
            assert!(a.block_size.abs_diff(beta) <= 1, "n = {n}: {}", a.block_size);
            assert!((a.bits - bits).abs() < 0.4 && a.bits < bits + 0.1, "n = {n}: {}", a.bits);
        }
    }

    /// The reference values were taken with the estimator's default shape, the GSA, which spends
    /// effort on q-vectors that nobody has to touch.
    #[test]
    fn dense_sublattices_cost_what_the_public_estimator_says_in_its_shape() {
        let rows = [
            (1024, 20.0, 377.97),
            (1024, 30.0, 149.08),
            (2048, 30.0, 465.72),
            (4096, 46.0, 584.0),
            (8192, 60.0, 981.0),
        ];
        for (n, log2_q, beta) in rows {
            let lattice = DenseSublattice::new(n, norm_log_volume(n, n, TERNARY));
            let found =
                |b: usize| lattice.is_found(&geometric_shape(n, log2_q * LN_2, b as u32), b as u32);
            let ours = least(2, n - 1, found).unwrap() as f64;
            assert!((ours - beta).abs() <= 3.1, "n = {n}: {ours}");
            // With q-vectors in place it is cheaper, and that is what counts.
            assert!(f64::from(attack(n, log2_q, AttackName::DenseSublattice).block_size) < ours);
        }
    }

    #[test]
    fn the_published_example_of_fatigue_is_met() {
        // Ducas–van Woerden's simulator and experiments: 42 and 41.
        assert_eq!(attack(113, 9.0, AttackName::DenseSublattice).block_size, 41);
    }

    #[test]
    fn moduli_for_128_bits() {
        for (log_n, log2_q) in [(12, 46.0), (13, 68.6), (14, 101.7), (15, 150.3), (16, 221.3)] {
            let at = |log2_q: f64| estimate(1 << log_n, log2_q, TERNARY).unwrap();
            let here = at(log2_q);
            assert!((here.bits() - 128.0).abs() < 0.3, "n = 2^{log_n}: {}", here.bits());
            assert_eq!(here.best().name, AttackName::DenseSublattice);
            assert!(at(log2_q * 0.98).bits() > 128.0 && at(log2_q * 1.02).bits() < 128.0);
        }
    }

    #[test]
    fn the_parameters_of_2014_fall_to_lll() {
        for (n, log2_q) in [(27000, 1230.0), (32768, 1271.0), (28340, 1024.0), (16384, 575.0)] {
            for variance in [TERNARY, 2.4] {
                let estimate = estimate(n, log2_q, variance).unwrap();
                let found = |name| estimate.attacks().iter().find(|a| a.name == name).unwrap();
                assert_eq!(found(AttackName::DenseSublattice).block_size, 2, "n = {n}");
                assert_eq!(estimate.best().block_size, 2);
                assert!(estimate.key.is_overstretched() && estimate.bits() < 45.0);
            }
        }
        assert_eq!(attack(32768, 1271.0, AttackName::SecretKey).block_size, 179);
        assert!((fatigue_log2_q(32768, TERNARY) - 29.3).abs() < 0.1);
    }

    /// The norm to the field of the 771st roots of unity, of degree 512, is broken by LLL in
    /// dimension 1024; that to degree 256 is not small enough.
    #[test]
    fn subfields_help_down_to_degree_512() {
        let by_lll = |degree: usize| {
            let lattice = DenseSublattice::new(degree, norm_log_volume(32768, degree, TERNARY));
            lattice.is_found(&z_shape(degree, 1271.0 * LN_2, 2), 2)
        };
        assert!(by_lll(4096) && by_lll(1024) && by_lll(512) && !by_lll(256));
        let best = attack(32768, 1271.0, AttackName::Subfield);
        assert!(best.degree <= 512 && best.block_size <= 40, "{best:?}");
        // Where q is not stretched no subfield is of use.
        assert_eq!(estimate(1024, 13.0, TERNARY).unwrap().best().name, AttackName::SecretKey);
    }

    /// The mean over random ternary keys in Z[X]/(X^64 + 1), embedding by embedding.
    #[test]
    fn volumes_of_norms_are_those_of_random_keys() {
        let (n, keys) = (64usize, 400);
        let mut state = 1u64;
        let mut ternary = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % 3) as f64 - 1.0
        };
        let square = |f: &[f64], i: usize| {
            let angle = |j: usize| std::f64::consts::PI * (i * j % (2 * n)) as f64 / n as f64;
            let sum = |part: fn(f64) -> f64| {
                f.iter().enumerate().map(|(j, c)| c * part(angle(j))).sum::<f64>()
            };
            sum(f64::cos).powi(2) + sum(f64::sin).powi(2)
        };
        let mut means = [(64usize, 0.0), (16, 0.0), (8, 0.0)];
        for _ in 0..keys {
            let (f, g): (Vec<f64>, Vec<f64>) = (0..n).map(|_| (ternary(), ternary())).unzip();
            let squares: Vec<(f64, f64)> =
                (0..n).map(|i| (square(&f, 2 * i + 1), square(&g, 2 * i + 1))).collect();
            for (degree, mean) in &mut means {
                // Embeddings that agree on the subfield are 2n' apart among the odd exponents.
                let norm = |k: usize| {
                    squares
                        .iter()
                        .skip(k)
                        .step_by(*degree)
                        .fold((1.0, 1.0), |(a, b), (x, y)| (a * x, b * y))
                };
                *mean += (0..*degree).map(norm).map(|(a, b)| 0.5 * (a + b).ln()).sum::<f64>()
                    / f64::from(keys);
            }
        }
        for (degree, mean) in means {
            assert!(
                (mean - norm_log_volume(n, degree, TERNARY)).abs() < 1.0,
                "degree {degree}: {mean}"
            );
        }
    }

    #[test]
    fn bisection_finds_the_first_block_size() {
        for (n, log2_q) in [(256, 14.0), (512, 20.0), (512, 40.0)] {
            let lattice = DenseSublattice::new(n, norm_log_volume(n, n, TERNARY));
            let found = |b: u32| lattice.is_found(&z_shape(n, log2_q * LN_2, b), b);
            assert_eq!(
                lattice.block_size(log2_q * LN_2),
                (2..n as u32).find(|b| found(*b)),
                "n = {n}"
            );
        }
    }

    #[test]
    fn the_closed_form_for_lll_is_near_the_estimate() {
        for log2_q in [20.0, 60.0, 200.0] {
            let limit = degree_broken_by_lll(log2_q, TERNARY);
            let block_size = |factor: f64| {
                attack((limit * factor) as usize, log2_q, AttackName::DenseSublattice).block_size
            };
            assert!(block_size(0.9) == 2 && block_size(1.1) > 2, "log q = {log2_q}: {limit}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for (n, log2_q, variance) in [
            (8, 10.0, 1.0),
            (1 << 22, 10.0, 1.0),
            (64, f64::NAN, 1.0),
            (64, 0.5, 1.0),
            (64, 10.0, 0.0),
            (64, 10.0, f64::INFINITY),
        ] {
            assert!(estimate(n, log2_q, variance).is_err(), "{n} {log2_q} {variance}");
        }
        // A key as wide as q hides nothing in particular: the whole lattice has to be searched.
        assert_eq!(estimate(64, 10.0, 1e9).unwrap().best().block_size, 128);
    }
}
