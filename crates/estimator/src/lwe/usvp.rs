//! The primal attack without guesses, on the whole lattice: unique SVP.

use super::basis::{MAX_BLOCK, MIN_BLOCK};
use super::key::Lwe;
use crate::attack::{Attack, AttackName};
use crate::reduction::{CostModel, root_hermite};
use crate::search::least;

/// The least dimension in which block size β reveals the shortest vector (σ√β ≤ δ^(2β−d−1)
/// vol^(1/d), the embedding factor being σ): a quadratic inequality in d.
fn usvp_dimension(key: &Lwe, beta: usize) -> Option<usize> {
    let (n, sigma) = (key.dimension as f64, key.error_deviation);
    let ln_delta = root_hermite(beta as u32).ln();
    let length = 0.5 * (sigma * sigma * beta as f64).ln();
    let a = -ln_delta;
    let b = ln_delta * (2.0 * beta as f64 - 1.0) + key.ln_q() - length;
    let c = sigma.ln() + n * key.scale().ln() - (n + 1.0) * key.ln_q();
    let holds = |d: f64| (a * d + b) * d + c >= 0.0;
    if holds(n) {
        return Some(key.dimension);
    }
    let discriminant = b * b - 4.0 * a * c;
    let root = (-b + discriminant.sqrt()) / (2.0 * a);
    (discriminant >= 0.0 && root >= n).then(|| root.ceil() as usize)
}

/// Unique SVP.
pub(super) fn usvp(key: &Lwe, model: CostModel) -> Option<Attack> {
    let first = least(MIN_BLOCK, MAX_BLOCK, |beta| usvp_dimension(key, beta).is_some())?;
    // A larger block size needs fewer dimensions.
    let attacks = (first..(first + 24).min(MAX_BLOCK)).filter_map(|beta| {
        let dimension = usvp_dimension(key, beta)?.max(beta + 1);
        Some(Attack::reduction(AttackName::Usvp, model, key.dimension, dimension, beta as u32))
    });
    attacks.min_by(|a, b| a.bits.total_cmp(&b.bits))
}

/// Unique SVP with enumeration for searches instead of sieves, LLL included: for lattices that are
/// so easy that the constants of sieves count.
pub(super) fn enumeration(key: &Lwe) -> Option<Attack> {
    let first = least(2, MAX_BLOCK, |beta| usvp_dimension(key, beta).is_some())?;
    let dimension = usvp_dimension(key, first)?.max(first + 1);
    let bits = CostModel::log2_enumeration(first as u32, dimension);
    Some(Attack {
        bits,
        ..Attack::reduction(
            AttackName::Enumeration,
            CostModel::CoreSvp,
            key.dimension,
            dimension,
            first as u32,
        )
    })
}

/// A search of the whole lattice, whatever it costs: for keys beyond all attacks that are bounded.
pub(super) fn whole_lattice(key: &Lwe, model: CostModel) -> Attack {
    let dimension = 2 * key.dimension;
    Attack::reduction(AttackName::Usvp, model, key.dimension, dimension, dimension as u32)
}
