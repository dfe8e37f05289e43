//! LWE keys under lattice reduction: samples b = a s + e modulo q, of which a scheme publishes one
//! for each key and ciphertext.
//!
//! A ring-LWE key of degree n is estimated as LWE of dimension n with samples without limit, as is
//! standard: no attack is known that uses the ring except one. In Z\[X\]/(X^n + 1) the rotations
//! X^i s of a sparse secret are as sparse as it is, and each solves a rotated problem, so an attack
//! that guesses coordinates has n correct guesses instead of one ("rotation gain", ia.cr/2026/279
//! and 2026/366). This reduces the security of sparse keys by up to 15 bits.
//!
//! Nine attacks, each at its best parameters: [`AttackName`](crate::AttackName). Formulas and
//! conventions are those of the public lattice estimator (GSA, success with 99 %, memory without
//! cost), so that figures can be compared with it; attacks by representations follow
//! Hhan–Kim–Lee–Son 2023. The least cost of an attack is known to a tenth of a bit: the search over
//! guesses and block sizes bounds the cost of the parameters that it omits, and if it has to end
//! earlier, the possible error is subtracted from the result.

mod basis;
mod dual;
mod guess;
mod key;
mod primal;
mod regions;
mod representations;
#[cfg(test)]
mod search_tests;
mod tiny;
mod usvp;

use crate::attack::{Attack, Estimate};
use crate::error::SecurityError;
use crate::reduction::CostModel;

use primal::Trial;

pub use key::{Lwe, MAX_DIMENSION, Secret};

/// log2 of the cost above which attacks are not counted.
const BEYOND: f64 = 4096.0;
/// The number of bits by which an attack by representations may exceed the cheapest attack and
/// still be reported.
const NEARLY: f64 = 2.0;

/// The security of an LWE key against classical attacks, in this cost model.
///
/// ```
/// use everlevel_estimator::{CostModel, lwe::{Lwe, Secret, estimate}};
///
/// // The outer limit of the guidelines of 2024 at n = 2^15.
/// let dense = estimate(&Lwe::ring(1 << 15, 868.0, Secret::Ternary), CostModel::Matzov)?;
/// assert!((dense.bits() - 128.0).abs() < 0.5);
/// // A sparse key: rotations count.
/// let sparse = Lwe::ring(1 << 15, 65.0, Secret::Sparse(24));
/// let bits = estimate(&sparse, CostModel::Matzov)?.bits();
/// let gain = estimate(&sparse.without_rotations(), CostModel::Matzov)?.bits() - bits;
/// assert!(gain > 5.0);
/// # Ok::<(), everlevel_estimator::SecurityError>(())
/// ```
///
/// # Errors
/// A number out of range: dimension 16 to 2^20, log2 q 2 to 100000, deviations 0.1 to 10^6, a
/// weight from 1 to the dimension.
pub fn estimate(key: &Lwe, model: CostModel) -> Result<Estimate<Lwe>, SecurityError> {
    key.check()?;
    let cheaper = |a: &Attack, b: &Attack| a.bits.total_cmp(&b.bits);
    let by = |trial: Trial| primal::best(key, model, trial, BEYOND);
    let babai = [Trial::Planes, Trial::PlanesMeeting].into_iter().filter_map(by).min_by(cheaper);
    let mut attacks: Vec<Attack> = [
        usvp::usvp(key, model),
        by(Trial::Search),
        babai,
        by(Trial::SearchMeeting),
        dual::plain(key, model),
        dual::hybrid(key, model, BEYOND),
        usvp::enumeration(key),
        Some(tiny::exhaustive(key)),
    ]
    .into_iter()
    .flatten()
    .filter(|attack| attack.bits < BEYOND)
    .collect();
    let least = attacks.iter().map(|attack| attack.bits).fold(BEYOND, f64::min);
    // Lists are many to look at: only where they may count.
    attacks.extend(primal::best(key, model, Trial::Representations, least + NEARLY));
    if attacks.is_empty() {
        attacks.push(usvp::whole_lattice(key, model));
    }
    Ok(Estimate::new(*key, attacks))
}

/// Whether every attack that [`estimate`] knows is sure to cost at least `bits` bits. It takes less
/// time, as the best parameters of attacks that cost more are not looked for. `false` for a key
/// whose cheapest attack is so near to `bits` that the search does not tell them apart.
///
/// ```
/// use everlevel_estimator::{CostModel, lwe::{Lwe, Secret, holds}};
///
/// let key = |log2_q| Lwe::ring(1 << 15, log2_q, Secret::Ternary);
/// assert!(holds(&key(860.0), CostModel::Matzov, 128.0)?);
/// assert!(!holds(&key(880.0), CostModel::Matzov, 128.0)?);
/// # Ok::<(), everlevel_estimator::SecurityError>(())
/// ```
///
/// # Errors
/// As [`estimate`].
pub fn holds(key: &Lwe, model: CostModel, bits: f64) -> Result<bool, SecurityError> {
    key.check()?;
    let direct = [
        usvp::usvp(key, model),
        dual::plain(key, model),
        usvp::enumeration(key),
        Some(tiny::exhaustive(key)),
    ];
    if direct.iter().flatten().any(|attack| attack.bits < bits) {
        return Ok(false);
    }
    let trials = [
        Trial::Search,
        Trial::Planes,
        Trial::PlanesMeeting,
        Trial::SearchMeeting,
        Trial::Representations,
    ];
    Ok(trials.into_iter().all(|trial| primal::costs_at_least(key, model, trial, bits))
        && dual::hybrid_costs_at_least(key, model, bits))
}

/// log2 of the largest modulus at which a key of this dimension has `bits` bits of security, to a
/// tenth;
/// `None` if none below 2^100000 or above 4 does.
///
/// Dense secrets are judged by unique SVP and bounded distance decoding alone, which are their
/// cheapest attacks: a few milliseconds. Sparse ones take a second or two.
pub fn largest_log2_q(dimension: usize, secret: Secret, bits: f64) -> Option<f64> {
    let holds = |tenths: usize| {
        let key = Lwe::ring(dimension, tenths as f64 / 10.0, secret);
        let worth = match secret {
            Secret::Sparse(_) => estimate(&key, CostModel::Matzov).ok().map(|e| e.bits()),
            _ => key.check().ok().map(|()| {
                let primal = [
                    usvp::usvp(&key, CostModel::Matzov),
                    primal::best(&key, CostModel::Matzov, Trial::Search, BEYOND),
                ];
                let whole = usvp::whole_lattice(&key, CostModel::Matzov);
                primal
                    .into_iter()
                    .flatten()
                    .chain([whole])
                    .map(|attack| attack.bits)
                    .fold(f64::INFINITY, f64::min)
            }),
        };
        worth.is_some_and(|worth| worth >= bits)
    };
    // A dimension of 2^20 holds 2^15 bits.
    let first_too_large = crate::search::least(21, 400_000, |tenths| !holds(tenths))?;
    let largest = first_too_large - 1;
    holds(largest).then_some(largest as f64 / 10.0)
}
