//! The levels to which operands are brought for an operation.

use everlevel_ring::Basis;

use super::meta::Meta;
use super::model::NoiseModel;
use super::tracker::NoiseTracker;
use crate::spec::{Form, Level, NextUse};

/// How far above its ideal level, in bits, the operand of a linear map may stay for cheaper key
/// switches.
const LINEAR_MAP_WINDOW: f64 = 30.0;
/// The number of levels that are considered for a product besides the ideal one.
const PRODUCT_WINDOW: usize = 4;
/// The value of one transform in bits of capacity: a bootstrapping of some 4000 transforms gains
/// some 200 bits.
const BITS_PER_TRANSFORM: f64 = 0.02;

impl NoiseTracker {
    /// The lowest level to which one of `metas` should be switched for `next`; the top for none.
    pub fn common_target<'m>(&self, metas: impl Iterator<Item = &'m Meta>, next: NextUse) -> Level {
        metas.map(|m| self.target(m, next)).min().unwrap_or(self.chain.top())
    }

    /// The level to which `m` should be switched for `next`.
    pub fn target(&self, m: &Meta, next: NextUse) -> Level {
        let t = self.t(m);
        match next {
            NextUse::Keep => m.level,
            NextUse::Product => self.product_level(m, m),
            NextUse::LinearMap => {
                let floor = self.bound.floor(t);
                let key = self.bound.key_switch(&self.chain, m.level, t);
                let headroom = (key - floor + 1.0).max(1.0);
                let ideal = self.chain.bits(m.level) - (m.noise - floor - headroom);
                // Staying above costs no capacity, so the level with the cheapest key switches is
                // chosen.
                let near = self.chain.at_least(ideal).min(m.level);
                let reach = self.chain.at_least(ideal + LINEAR_MAP_WINDOW).min(m.level);
                (near.0..=reach.0)
                    .map(Level)
                    .min_by_key(|&level| self.chain.switch_cost(level))
                    .unwrap_or(near)
            }
        }
    }

    /// Where two factors of a product meet: the level that leaves their product the most capacity
    /// for the work. That is where the noise of the worse one, scaled down, equals the floor, or
    /// one of the levels beside. If no product fits any more, they stay.
    pub fn product_level(&self, a: &Meta, b: &Meta) -> Level {
        let floor = self.bound.floor(self.t(a));
        let ideal = |m: &Meta| self.chain.bits(m.level) - (m.noise - floor);
        let highest = a.level.min(b.level);
        let near = self.chain.at_least(ideal(a).min(ideal(b))).min(highest);
        let noise = |m: &Meta, level: Level| {
            let drop = self.chain.bits(m.level) - self.chain.bits(level);
            if level == m.level { m.noise } else { self.bound.sum(m.noise - drop, floor) }
        };
        let capacity = |level: &Level| {
            let of = (a.form, self.t(a), *level);
            self.chain.bits(*level)
                - self.product_noise(&self.bound, of, noise(a, *level), noise(b, *level))
        };
        let score = |level: &Level| {
            capacity(level) - self.chain.switch_cost(*level) as f64 * BITS_PER_TRANSFORM
        };
        (near.0.saturating_sub(PRODUCT_WINDOW)..=(near.0 + PRODUCT_WINDOW).min(highest.0))
            .map(Level)
            .filter(|level| capacity(level) > 1.0)
            .max_by(|x, y| score(x).total_cmp(&score(y)))
            .unwrap_or(highest)
    }

    /// Whose product ciphertexts of a form are multiplied by: BGV's for BFV too if the set says so.
    pub fn product_form(&self, form: Form) -> Form {
        let scaled = form == Form::Bfv && !self.chain.auxiliary(Level(0)).is_empty();
        if scaled { Form::Bfv } else { Form::Bgv }
    }

    /// The noise of a product of phases with bounds `a` and `b`.
    ///
    /// BGV: their product. BFV: over the integers the phases are (w + q K) / t, where K is t (c0 +
    /// c1 s) / q up to rounding and so within the floor of modulus switching; t/q times their
    /// product is, modulo q and times t, K w' + K' w + w w' / q; the rounding is that of all
    /// polynomials of the product. Over NTRU the same with one polynomial, f for s.
    pub(super) fn product_noise(
        &self,
        model: &NoiseModel,
        (form, t, level): (Form, u128, Level),
        a: f64,
        b: f64,
    ) -> f64 {
        if self.product_form(form) == Form::Bgv {
            return a + b;
        }
        let floor = model.sum(model.floor(t), 0.0);
        let rounding = floor + model.key_norm_limit().log2();
        model.sum(model.sum(floor + model.sum(a, b), a + b - self.chain.bits(level)), rounding)
    }

    /// The unit by which a switch from `from` to `to` multiplies the message, modulo p^e.
    pub fn switch_factor(&self, from: Basis, to: Basis, exponent: u32) -> u64 {
        let t = self.plain.modulus(exponent);
        let up = self.ring.product_mod(to.minus(from), t);
        let down = self.ring.product_mod(from.minus(to), t);
        t.mul(up, t.inv(down).expect("the primes of the ring are coprime to p"))
    }
}
