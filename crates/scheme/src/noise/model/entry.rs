//! The entry of bootstrapping: the phase that fits q0, and the bound on the overflow.

use super::{COEFFICIENT_TAIL, NoiseModel, SHARES};
use crate::error::SchemeError;
use crate::noise::logarithm::log_add;
use crate::noise::overflow;
use crate::spec::ParamsSpec;

/// log2 of the probability with which any coefficient of a bootstrapping may exceed B.
const OVERFLOW_LOG2: f64 = -128.0;

impl NoiseModel {
    /// The bound, in bits, on the coefficients of the phase modulo q0 under the sparse key when the
    /// noise that comes from the ciphertext, scaled to q0, is `prior` bits (coefficient law); t =
    /// p^r.
    pub fn encapsulated(&self, t: impl Into<u128>, prior: f64) -> f64 {
        let t: u128 = t.into();
        let t = t as f64;
        let [switch, key, round] = self.encapsulation_errors();
        let tails = t * COEFFICIENT_TAIL * switch + t * COEFFICIENT_TAIL * key + t * round;
        log_add(prior, tails.log2())
    }

    /// The errors, as multiples of t, that are added to the phase on its way to q0 and to the
    /// sparse key: the deviations of a coefficient by the rounding to q0 and by the key switch, and
    /// what the latter's rounding adds at most.
    fn encapsulation_errors(&self) -> [f64; 3] {
        let switch = ((1.0 + self.mixed(self.drawn_square)) / 12.0).sqrt();
        if self.under_main_key {
            return [switch, 0.0, 0.0];
        }
        let squares: f64 =
            self.base_digits.iter().map(|d| (2.0 * (d - self.encapsulation_bits)).exp2()).sum();
        let key = (self.mixed(self.error_square) / 12.0 * squares).sqrt();
        [switch, key, (1.0 + self.overlap * self.sparse_weight) / 2.0]
    }

    /// The largest `prior` for which bootstrapping is exact: p^v |phase| < q0 / 2 in every
    /// coefficient; and p^v times the part of it that is not random less than the share of q0 that
    /// makes B rarely exceeded, where that is smaller (see [`NoiseModel::overflow_tail`]).
    pub fn encapsulation_limit(&self, t: impl Into<u128>) -> f64 {
        let t: u128 = t.into();
        let room = |share: f64| (self.base_bits + share - self.removed_bits).exp2();
        let rest = self.encapsulated(t, f64::NEG_INFINITY).exp2();
        let mut left = room(SHARES[0]) - rest;
        if self.share_bits < SHARES[0] {
            left = left.min(room(self.share_bits) - t as f64 * self.encapsulation_errors()[2]);
        }
        if left > 0.0 { left.log2() - 0.01 } else { f64::NEG_INFINITY }
    }

    /// The capacity that a ciphertext must have to be bootstrapped.
    pub fn minimum_capacity(&self, t: impl Into<u128>) -> f64 {
        self.base_bits - self.encapsulation_limit(t) - 1.0
    }

    /// By how much the squared weights of the uniforms in a coefficient of the overflow may exceed
    /// their number: twice the ring's overlap, 0 for indices that are powers of two.
    pub fn overlap_slack(&self) -> u64 {
        overflow::slack(self.overlap)
    }

    /// log2 of the probability that one coefficient of the overflow exceeds `bound`: a sum of N = c
    /// h + 1 independent uniforms on (-1/2, 1/2), by Chernoff's bound, on both sides. Minus
    /// infinity where it cannot happen.
    ///
    /// c is the ring's overlap ([`Ring::overlap`](everlevel_ring::Ring::overlap)). In rings of odd
    /// index some of the terms coincide, depending on the sparse secret; it is drawn such that
    /// their squared weights exceed N by at most [`NoiseModel::overlap_slack`].
    ///
    /// One of the N uniforms stands for the scaled phase, which is below q0 / 2. If the set keeps
    /// what the ciphertext brings to it below a share φ < 1/2 of q0, the other h uniforms and what
    /// is random of the phase, X, have to reach B + 1/2 - φ (power-of-two index only). With
    /// δ = h/2 + φ - B - 1/2, what is missing from each of the uniforms to 1/2 sums to δ + X at
    /// most, which happens with probability (δ + X)^h / h! at most, the volume of a simplex. As
    /// (1 + x)^h <= e^(hx), the mean of that over X of deviation σ q0 is δ^h / h! · e^(h² σ² / 2δ²)
    /// at most: X is the sum of thousands of independent roundings and errors.
    pub fn overflow_tail(&self, bound: u64) -> f64 {
        self.overflow_tail_within(self.share_bits, bound)
    }

    /// The largest share of q0 for the scaled phase, as a logarithm, that makes `bound` hold in
    /// all coefficients but with probability 2^-128: 1/2 if that does, or if none does.
    pub(super) fn share_for(&self, bound: u64) -> f64 {
        let rare = |share: &f64| {
            self.overflow_tail_within(*share, bound) + self.degree.log2() <= OVERFLOW_LOG2
        };
        let shares = if self.overlap > 1.0 { &SHARES[..1] } else { &SHARES };
        shares.iter().copied().find(rare).unwrap_or(SHARES[0])
    }

    fn overflow_tail_within(&self, share_bits: f64, bound: u64) -> f64 {
        if share_bits < SHARES[0] {
            let h = self.sparse_weight;
            let missing = h / 2.0 - (bound as f64 + 0.5 - share_bits.exp2());
            if missing <= 0.0 {
                return f64::NEG_INFINITY;
            }
            let factorial: f64 = (1..=h as u64).map(|k| (k as f64).log2()).sum();
            let [switch, key, _] = self.encapsulation_errors();
            let unit = self.message_modulus * (self.removed_bits - self.base_bits).exp2();
            let deviation = switch.hypot(key) * unit;
            let random = (h * deviation / missing).powi(2) / 2.0 * std::f64::consts::LOG2_E;
            return (h * missing.log2() - factorial + random + 1.0).min(0.0);
        }
        overflow::tail(self.overlap, self.sparse_weight, bound)
    }

    /// Accepts a set without bootstrapping, and one whose q0 has room for the entry of
    /// bootstrapping; t = p^r.
    pub(in crate::noise) fn check_base_modulus(
        &self,
        spec: &ParamsSpec,
        t: u128,
    ) -> Result<(), SchemeError> {
        let limit = self.encapsulation_limit(t);
        if spec.bootstrap.is_some() && limit < (t as f64).log2() {
            return Err(SchemeError::BadParams {
                name: spec.name.clone(),
                problem: format!(
                    "base_bits = {} leaves too little room to bootstrap: the phase under the \
                     sparse key needs more than {:.0} bits",
                    spec.base_bits,
                    self.encapsulated(t, f64::NEG_INFINITY) + 1.0 + self.removed_bits
                ),
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{OptIn, Params};

    /// A bound below the worst case costs room at the entry, and no more of it than a probability
    /// of 2^-128 requires.
    #[test]
    fn rare_overflows_take_room_at_the_entry() {
        let params = Params::named("bgv-65537-n15", OptIn::SecureOnly).unwrap();
        let model = params.noise().bound();
        let all = |share, bound| model.overflow_tail_within(share, bound) + model.degree.log2();
        assert_eq!(model.share_bits, -4.0);
        assert!((all(-4.0, 15) + 128.21).abs() < 0.01 && all(-3.0, 15) > OVERFLOW_LOG2);
        assert_eq!(all(-1.0, 16), f64::NEG_INFINITY);
        let t = params.plain_modulus();
        let wide = NoiseModel { share_bits: -1.0, ..model.clone() };
        let paid = wide.encapsulation_limit(t) - model.encapsulation_limit(t);
        assert!((2.0..3.5).contains(&paid), "{paid}");
        // No share makes 12 hold.
        assert_eq!(model.share_for(12), -1.0);
    }

    /// The tail against sums of uniforms that were drawn, for a phase that is as large as may be.
    #[test]
    fn tails_bound_what_sums_of_uniforms_do() {
        let params = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap();
        // A q0 so large that nothing is random of the phase.
        let base_bits = 500.0;
        let model = NoiseModel { sparse_weight: 4.0, base_bits, ..params.noise().bound().clone() };
        let mut state = 1u64;
        let mut uniform = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        const RUNS: usize = 400_000;
        let sums: Vec<f64> = (0..RUNS).map(|_| (0..4).map(|_| uniform()).sum()).collect();
        for (share, exact) in [(-2.0f64, 0.75f64), (-4.0, 0.5625)] {
            let phase = share.exp2();
            let found = sums.iter().filter(|s| (s.abs() + phase).round() > 1.0).count() as f64;
            let bound = model.overflow_tail_within(share, 1).exp2();
            assert!((bound - exact.powi(4) / 12.0).abs() < 1e-12, "{bound}");
            let deviation = (bound / RUNS as f64).sqrt();
            assert!((found / RUNS as f64 - bound).abs() < 5.0 * deviation, "{found}, {bound}");
        }
    }
}
