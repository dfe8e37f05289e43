//! Ciphertexts over the extended modulus: bounds embedding by embedding.

use everlevel_ring::EvaluationShift;

use super::logarithm::log_hypot;
use super::meta::Meta;
use super::profile::{Profile, combine_periodic};
use super::tracker::NoiseTracker;
use crate::error::SchemeError;
use crate::spec::NextUse;

/// Public data of a ciphertext over the extended modulus Q P: at the embedding ζ^(5^i) its phase,
/// divided by P, is bounded by 2^(meta.noise) * profile\[i mod len\]. For an index with axes, the
/// profile has one entry for each position along the last axes, in evaluation order.
///
/// Sums of products with plaintext diagonals λ_i are bounded embedding by embedding: the noise
/// grows by the maximum over ζ of Σ |λ_i(ζ)|, about a third of Σ max |λ_i(ζ)|.
#[derive(Clone, Debug)]
pub struct ExtendedMeta {
    /// Level, exponent, factor, and the noise that the profile scales.
    pub meta: Meta,
    /// Multipliers along a row, periodic, or along as many of the last axes as it takes.
    pub profile: Vec<f64>,
}

impl ExtendedMeta {
    /// One ciphertext, bounded alike at all embeddings.
    pub fn flat(meta: Meta) -> Self {
        ExtendedMeta { meta, profile: vec![1.0] }
    }

    /// Σ diagonal_j * input_j over the pairs given; None if there is none. Its owner is unknown if
    /// that of one of them is.
    pub fn combine<'a>(
        pairs: impl Iterator<Item = (&'a ExtendedMeta, &'a Profile)> + Clone,
    ) -> Option<Self> {
        let top = pairs.clone().map(|(m, _)| m.meta.noise).fold(f64::NEG_INFINITY, f64::max);
        let first = pairs.clone().next()?.0.meta;
        let depth = pairs.clone().map(|(m, _)| m.meta.depth).max()?;
        let owner = pairs.clone().map(|(m, _)| m.meta.owner).reduce(Option::and)?;
        let len = pairs.clone().map(|(m, d)| m.profile.len().max(d.values.len())).max()?;
        let mut profile = vec![0.0; len];
        for (m, diagonal) in pairs.clone() {
            let scale = (m.meta.noise - top).exp2();
            combine_periodic(&mut profile, &m.profile, &diagonal.values, |x, a, b| {
                *x += scale * a * b;
            });
        }
        let estimates = pairs.map(|(m, d)| m.meta.estimate + d.log_root_mean_square);
        let estimate = estimates.fold(f64::NEG_INFINITY, log_hypot);
        Some(ExtendedMeta { meta: Meta { noise: top, estimate, depth, owner, ..first }, profile })
    }

    /// Σ g(part), each part with what its automorphism does to evaluations; None if there is none.
    pub fn sum<'a>(
        parts: impl Iterator<Item = (EvaluationShift, &'a ExtendedMeta)>,
    ) -> Option<Self> {
        parts.map(|(shift, m)| m.shifted(shift)).reduce(|sum, m| sum.plus(&m))
    }

    /// The sum of two; of an unknown owner if one of them is.
    #[must_use]
    pub fn plus(&self, other: &ExtendedMeta) -> Self {
        let top = self.meta.noise.max(other.meta.noise);
        let scales = [(self.meta.noise - top).exp2(), (other.meta.noise - top).exp2()];
        let (a, b) = (&self.profile, &other.profile);
        let mut profile = vec![0.0; a.len().max(b.len())];
        combine_periodic(&mut profile, a, b, |x, a, b| *x = scales[0] * a + scales[1] * b);
        let depth = self.meta.depth.max(other.meta.depth);
        let estimate = log_hypot(self.meta.estimate, other.meta.estimate);
        let owner = self.meta.owner.and(other.meta.owner);
        ExtendedMeta { meta: Meta { noise: top, estimate, depth, owner, ..self.meta }, profile }
    }

    /// After an automorphism that moves evaluations by `shift`.
    #[must_use]
    pub fn shifted(&self, shift: EvaluationShift) -> Self {
        ExtendedMeta { meta: self.meta, profile: shift.applied_to_last(&self.profile) }
    }

    /// The bound at all embeddings.
    pub fn flatten(&self) -> Meta {
        let gain = self.profile.iter().copied().fold(0.0, f64::max);
        Meta { noise: self.meta.noise + gain.max(f64::MIN_POSITIVE).log2(), ..self.meta }
    }
}

impl NoiseTracker {
    /// Σ g(part) after the key switches of the `switched` parts that are not under the identity,
    /// and the reduction.
    pub fn galois_sum(
        &self,
        sum: &ExtendedMeta,
        switched: usize,
        next: NextUse,
    ) -> Result<Meta, SchemeError> {
        let mut meta = sum.flatten();
        if switched > 0 {
            // Each of them is rounded before its key switch.
            let t = self.t(&meta);
            meta = self.changed(&meta, |model, noise| {
                let each = model.sum(model.key_switch(&self.chain, meta.level, t), model.floor(t));
                model.sum(noise, model.sum_of(switched, each))
            });
        }
        self.checked(self.reduce(&meta, next), "linear map")
    }
}
