//! What every operation does to the public data of a ciphertext.

use everlevel_ring::{Basis, PrimePower};

use super::{Meta, NoiseModel};
use crate::error::SchemeError;
use crate::form::Form;
use crate::params::{Level, Params};
use crate::verbs::NextUse;

/// How far above its ideal level, in bits, the operand of a linear map may stay for cheaper key
/// switches.
const LINEAR_MAP_WINDOW: f64 = 30.0;
/// How many levels beside the ideal one are considered for a product.
const PRODUCT_WINDOW: usize = 4;
/// Depths from outside stay below, so that counting on cannot overflow.
const DEPTH_LIMIT: u32 = 1 << 30;
/// What one transform is worth in bits of capacity: a bootstrapping of some 4000 transforms gains
/// some 200 bits.
const BITS_PER_TRANSFORM: f64 = 0.02;

/// Transitions: what every operation does to [`Meta`], shared by all schemes.
impl Params {
    /// Arithmetic modulo the plaintext modulus of `m`.
    pub fn plain_arithmetic(&self, m: &Meta) -> PrimePower {
        self.plain().modulus(m.exponent)
    }

    /// What the polynomials of a ciphertext like `m` are divided by so that rounding errors become
    /// multiples of t.
    pub(crate) fn divisor(&self, m: &Meta) -> u64 {
        m.form.divisor(self.t(m))
    }

    /// A fresh encryption with this bound on its noise, in the form of the set.
    pub fn fresh(&self, level: Level, exponent: u32, noise: f64) -> Meta {
        let form = self.spec().form;
        Meta {
            level,
            exponent,
            form,
            factor: self.fresh_factor(form, level, exponent),
            depth: 0,
            noise,
            estimate: noise,
        }
    }

    /// The same with the noise that the models give.
    pub fn modelled(
        &self,
        level: Level,
        exponent: u32,
        noise: impl Fn(&NoiseModel) -> f64,
    ) -> Meta {
        Meta {
            estimate: noise(self.average_noise()),
            ..self.fresh(level, exponent, noise(self.noise()))
        }
    }

    /// `m` after a change of its noise: of the bound by the one model, of the estimate by the
    /// other.
    pub(crate) fn changed(&self, m: &Meta, change: impl Fn(&NoiseModel, f64) -> f64) -> Meta {
        Meta {
            noise: change(self.noise(), m.noise),
            estimate: change(self.average_noise(), m.estimate),
            ..*m
        }
    }

    /// What two ciphertexts give, with the rest of `a`.
    fn merged(&self, a: &Meta, b: &Meta, merge: impl Fn(&NoiseModel, f64, f64) -> f64) -> Meta {
        let (noise, estimate) = (
            merge(self.noise(), a.noise, b.noise),
            merge(self.average_noise(), a.estimate, b.estimate),
        );
        Meta { noise, estimate, depth: a.depth.max(b.depth), ..*a }
    }

    /// log2 of the norm that is expected of a ciphertext like `m`: the largest of n/2 embeddings,
    /// taken for independent and normal.
    pub(crate) fn expected_norm(&self, m: &Meta) -> f64 {
        m.estimate + (self.degree() as f64).ln().log2() / 2.0
    }

    /// The factor of a fresh encryption: 1, or -q modulo t in BFV form, where the textbook's ⌊q/t
    /// m⌉ is what that stands for.
    pub fn fresh_factor(&self, form: Form, level: Level, exponent: u32) -> u64 {
        let t = self.plain().modulus(exponent);
        match form {
            Form::Bgv => 1,
            Form::Bfv => t.neg(self.ring().product_mod(self.chain().basis(level), t)),
        }
    }

    fn t(&self, m: &Meta) -> u64 {
        self.slot_shape().plain_modulus(m.exponent)
    }

    /// log2(modulus / (2 times the largest coefficient that the noise bound allows)).
    pub fn capacity(&self, m: &Meta) -> f64 {
        self.modulus_bits(m.level) - m.noise - 1.0 - self.ring().coefficient_bits()
    }

    /// The noise bound at `level` that leaves `capacity` bits.
    pub(crate) fn noise_at(&self, level: Level, capacity: f64) -> f64 {
        self.modulus_bits(level) - 1.0 - self.ring().coefficient_bits() - capacity
    }

    /// Passes `m` if decryption is exact, with a hair to spare for floating point.
    pub fn checked(&self, m: Meta, operation: &'static str) -> Result<Meta, SchemeError> {
        if self.capacity(&m) >= 1e-6 {
            return Ok(m);
        }
        Err(self.too_noisy(&m, operation))
    }

    /// Passes public data that a ciphertext of these parameters can have, wherever it came from.
    ///
    /// # Errors
    /// A level above the top, a plaintext exponent that the set does not provide, a factor that is
    /// no unit modulo p^e, a depth of 2^30 or more, a noise bound that is not finite or does not
    /// allow decryption.
    pub fn check_meta(&self, m: &Meta) -> Result<(), SchemeError> {
        if m.level > self.chain().top() {
            return Err(SchemeError::BadLevel { found: m.level, highest: self.chain().top() });
        }
        let highest = self.slot_shape().max_exponent();
        let bad = |what, expected: String, found: String| {
            Err(SchemeError::BadArgument { what, expected, found })
        };
        if !(1..=highest).contains(&m.exponent) {
            return bad("plaintext exponent", format!("1 to {highest}"), m.exponent.to_string());
        }
        let t = self.plain_arithmetic(m);
        if m.factor >= t.value() || m.factor.is_multiple_of(t.prime()) {
            return bad("factor", format!("a unit below {}", t.value()), m.factor.to_string());
        }
        if m.depth >= DEPTH_LIMIT {
            return bad("depth", format!("less than {DEPTH_LIMIT}"), m.depth.to_string());
        }
        if !m.noise.is_finite() {
            return bad("noise bound", "a finite number".into(), m.noise.to_string());
        }
        self.checked(*m, "reading a ciphertext").map(|_| ())
    }

    /// The largest noise bound at which a ciphertext at `level` decrypts.
    pub fn largest_noise(&self, level: Level) -> f64 {
        self.noise_at(level, 1e-5)
    }

    pub(super) fn too_noisy(&self, m: &Meta, operation: &'static str) -> SchemeError {
        let (noise_bits, modulus_bits) = (m.noise, self.modulus_bits(m.level));
        SchemeError::NoiseOverflow { operation, noise_bits, modulus_bits, level: m.level }
    }

    /// The lowest level to which one of `metas` should be switched for `next`; the top for none.
    pub fn common_target<'m>(&self, metas: impl Iterator<Item = &'m Meta>, next: NextUse) -> Level {
        metas.map(|m| self.target(m, next)).min().unwrap_or(self.chain().top())
    }

    /// The level to which `m` should be switched for `next`.
    pub fn target(&self, m: &Meta, next: NextUse) -> Level {
        let t = self.t(m);
        match next {
            NextUse::Keep => m.level,
            NextUse::Product => self.product_level(m, m),
            NextUse::LinearMap => {
                let floor = self.noise().floor(t);
                let key = self.noise().key_switch(self.chain(), m.level, t);
                let headroom = (key - floor + 1.0).max(1.0);
                let ideal = self.modulus_bits(m.level) - (m.noise - floor - headroom);
                // Staying above costs no capacity, so the level with the cheapest key switches
                // wins.
                let near = self.chain().at_least(ideal).min(m.level);
                let reach = self.chain().at_least(ideal + LINEAR_MAP_WINDOW).min(m.level);
                (near.0..=reach.0)
                    .map(Level)
                    .min_by_key(|&level| self.chain().switch_cost(level))
                    .unwrap_or(near)
            }
        }
    }

    /// The unit by which a switch from `from` to `to` multiplies the message, modulo p^e.
    pub fn switch_factor(&self, from: Basis, to: Basis, exponent: u32) -> u64 {
        let t = self.plain().modulus(exponent);
        let up = self.ring().product_mod(to.minus(from), t);
        let down = self.ring().product_mod(from.minus(to), t);
        t.mul(up, t.inv(down).expect("the primes of the ring are coprime to p"))
    }

    /// Modulus switching to a lower level.
    pub fn after_switch(&self, m: &Meta, to: Level) -> Meta {
        if to == m.level {
            return *m;
        }
        let drop = self.modulus_bits(m.level) - self.modulus_bits(to);
        let ratio =
            self.switch_factor(self.chain().basis(m.level), self.chain().basis(to), m.exponent);
        let factor = self.plain_arithmetic(m).mul(m.factor, ratio);
        Meta {
            level: to,
            factor,
            ..self.changed(m, |model, noise| model.sum(noise - drop, model.floor(self.t(m))))
        }
    }

    /// What the rounding of a product that was not relinearized adds to [`Params::after_switch`]:
    /// the term in s² is rounded too, which adds ‖s‖ times the floor.
    pub(crate) fn after_rounding_square(&self, m: &Meta) -> Meta {
        self.changed(m, |model, noise| {
            model.sum(noise, model.floor(self.t(m)) + model.key_norm_limit().log2())
        })
    }

    /// A key switch at the same level: what it adds before the division by P.
    pub fn with_key_switch(&self, m: &Meta) -> Meta {
        self.changed(m, |model, noise| {
            model.sum(noise, model.key_switch(self.chain(), m.level, self.t(m)))
        })
    }

    /// The division by P and the switch for `next`, in one rounding.
    pub fn after_reduction(&self, m: &Meta, next: NextUse) -> Meta {
        let to = self.target(m, next);
        let Meta { level, factor, .. } = self.after_switch(m, to);
        let drop = self.modulus_bits(m.level) - self.modulus_bits(to);
        Meta {
            level,
            factor,
            ..self.changed(m, |model, noise| model.sum(noise - drop, model.floor(self.t(m))))
        }
    }

    /// The sum of two aligned ciphertexts.
    pub fn after_add(&self, a: &Meta, b: &Meta) -> Result<Meta, SchemeError> {
        self.checked(self.merged(a, b, NoiseModel::sum), "addition")
    }

    /// The sum with a plaintext polynomial whose norm, its factor included, is 2^`bits` by each
    /// model.
    pub fn after_add_plain(
        &self,
        m: &Meta,
        bits: impl Fn(&NoiseModel) -> f64,
    ) -> Result<Meta, SchemeError> {
        self.checked(
            self.changed(m, |model, noise| model.sum(noise, model.added(bits(model)))),
            "addition of a plaintext",
        )
    }

    /// The product of two ciphertexts at one level, before relinearization.
    pub fn after_product(&self, a: &Meta, b: &Meta) -> Result<Meta, SchemeError> {
        let t = self.plain_arithmetic(a);
        let factor = t.mul(a.factor, b.factor);
        let factor = match self.product_form(a.form) {
            Form::Bgv => factor,
            Form::Bfv => {
                let q = self.ring().product_mod(self.chain().basis(a.level), t);
                t.neg(t.mul(factor, t.inv(q).expect("the primes of the ring are coprime to p")))
            }
        };
        let product = self.merged(a, b, |model, x, y| {
            self.product_noise(model, (a.form, t.value(), a.level), x, y)
        });
        self.checked(Meta { factor, depth: product.depth + 1, ..product }, "multiplication")
    }

    /// Whose product ciphertexts of a form are multiplied by: BGV's for BFV too if the set says so.
    pub(crate) fn product_form(&self, form: Form) -> Form {
        let scaled = form == Form::Bfv && !self.chain().auxiliary(Level(0)).is_empty();
        if scaled { Form::Bfv } else { Form::Bgv }
    }

    /// The noise of a product of phases with bounds `a` and `b`.
    ///
    /// BGV: their product. BFV: over the integers the phases are (w + q K) / t, where K is t (c0 +
    /// c1 s) / q up to rounding and so within the floor of modulus switching; t/q times their
    /// product is, modulo q and times t, K w' + K' w + w w' / q; the rounding is that of all
    /// polynomials of the product. Over NTRU the same with one polynomial, f for s.
    fn product_noise(
        &self,
        model: &NoiseModel,
        (form, t, level): (Form, u64, Level),
        a: f64,
        b: f64,
    ) -> f64 {
        if self.product_form(form) == Form::Bgv {
            return a + b;
        }
        let floor = model.sum(model.floor(t), 0.0);
        let rounding = floor + model.key_norm_limit().log2();
        model.sum(model.sum(floor + model.sum(a, b), a + b - self.modulus_bits(level)), rounding)
    }

    /// The product with a constant that is `magnitude` in absolute value.
    pub fn after_scale(&self, m: &Meta, magnitude: u64) -> Result<Meta, SchemeError> {
        let scaled = |noise| if magnitude == 0 { 0.0 } else { noise + (magnitude as f64).log2() };
        self.checked(self.changed(m, |_, noise| scaled(noise)), "multiplication by a constant")
    }

    /// For `a` and `b` of one plaintext modulus: the constant (centered) by which to multiply one
    /// of them so that both carry the same factor at the lower of their levels, and which one
    /// (`true`: the first). None if they agree.
    pub fn alignment(&self, a: &Meta, b: &Meta) -> Option<(bool, i64)> {
        let t = self.plain_arithmetic(a);
        let low = a.level.min(b.level);
        let at = |m: &Meta| {
            t.mul(
                m.factor,
                self.switch_factor(
                    self.chain().basis(m.level),
                    self.chain().basis(low),
                    m.exponent,
                ),
            )
        };
        let (fa, fb) = (at(a), at(b));
        if fa == fb {
            return None;
        }
        let ratio = |from, to| t.centered(t.mul(to, t.inv(from).expect("factors are units")));
        let (ca, cb) = (ratio(fa, fb), ratio(fb, fa));
        // The one that is switched down anyway absorbs the constant; at one level the smaller
        // constant wins.
        let first = match a.level.cmp(&b.level) {
            std::cmp::Ordering::Greater => true,
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => ca.unsigned_abs() <= cb.unsigned_abs(),
        };
        Some(if first { (true, ca) } else { (false, cb) })
    }

    /// How to form Σ k_i x_i: for each term (from the highest level down) its position, the
    /// centered constant to multiply it by and the factor that it carries then. All meet at the
    /// lowest level with the factor of the term that is there.
    pub fn combination(
        &self,
        terms: &[(&Meta, i64)],
    ) -> Result<Vec<(usize, i64, u64)>, SchemeError> {
        let lowest =
            terms.iter().min_by_key(|(m, _)| m.level).ok_or_else(|| SchemeError::BadArgument {
                what: "linear combination",
                expected: "at least one term".into(),
                found: "none".into(),
            })?;
        let t = self.plain_arithmetic(lowest.0);
        let low = self.chain().basis(lowest.0.level);
        let mut order: Vec<usize> = (0..terms.len()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(terms[i].0.level));
        order
            .into_iter()
            .map(|i| {
                let (m, k) = terms[i];
                if m.exponent != lowest.0.exponent {
                    return Err(SchemeError::PlainModulusMismatch {
                        operation: "linear combination",
                        left: m.exponent,
                        right: lowest.0.exponent,
                    });
                }
                let down = self.switch_factor(self.chain().basis(m.level), low, m.exponent);
                let wanted = t.mul(lowest.0.factor, t.inv(down).expect("factors are units"));
                let constant = t.mul(
                    t.reduce_i64(k),
                    t.mul(wanted, t.inv(m.factor).expect("factors are units")),
                );
                Ok((i, t.centered(constant), wanted))
            })
            .collect()
    }

    /// Where two factors of a product meet: the level that leaves their product the most capacity
    /// for the work. That is where the noise of the worse one, scaled down, equals the floor, or
    /// one of the levels beside. If no product fits any more, they stay.
    pub fn product_level(&self, a: &Meta, b: &Meta) -> Level {
        let floor = self.noise().floor(self.t(a));
        let ideal = |m: &Meta| self.modulus_bits(m.level) - (m.noise - floor);
        let highest = a.level.min(b.level);
        let near = self.chain().at_least(ideal(a).min(ideal(b))).min(highest);
        let noise = |m: &Meta, level: Level| {
            let drop = self.modulus_bits(m.level) - self.modulus_bits(level);
            if level == m.level { m.noise } else { self.noise().sum(m.noise - drop, floor) }
        };
        let capacity = |level: &Level| {
            let of = (a.form, self.t(a), *level);
            self.modulus_bits(*level)
                - self.product_noise(self.noise(), of, noise(a, *level), noise(b, *level))
        };
        let score = |level: &Level| {
            capacity(level) - self.chain().switch_cost(*level) as f64 * BITS_PER_TRANSFORM
        };
        (near.0.saturating_sub(PRODUCT_WINDOW)..=(near.0 + PRODUCT_WINDOW).min(highest.0))
            .map(Level)
            .filter(|level| capacity(level) > 1.0)
            .max_by(|x, y| score(x).total_cmp(&score(y)))
            .unwrap_or(highest)
    }
}
