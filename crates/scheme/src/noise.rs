//! Levels and noise: the one model that every scheme follows.
//!
//! **Norm.** A ciphertext carries a bound on the canonical norm ‖v‖ = max over complex primitive m-th roots ζ of |v(ζ)| of
//! its phase v = c0 + c1 s = κ m + t ε (an integer polynomial once reduced to be centered). The norm is sub-additive and
//! sub-multiplicative and bounds every coefficient, so decryption is exact as long as the bound is below half the modulus.
//!
//! **Fresh randomness.** A polynomial with independent, strictly sub-Gaussian coefficients of variance σ² (uniform,
//! ternary and centered binomial ones are) has |v(ζ)| > K σ √n with probability at most 2^-170 at one ζ: each of 16
//! directions of the plane exceeds K cos(π/16) σ √n with probability at most exp(-K² cos²(π/16)), so K = √((170 + 4) ln 2) / cos(π/16) = 11.20.
//! The union over all embeddings and all events of a bootstrap (about 2^25) stays below 2^-128. Events are:
//! * rounding in modulus switching: τ0 + τ1 s with τ uniform in ±t/2; ‖·‖ <= t K √(n/12) √(1 + ‖s‖²). This is the *floor*.
//! * key switching: Σ_i D_i e_i / P over the digits D_i, uniform in ± half the digit: t K √(n/12) ‖e‖ √(Σ (D_i/P)²).
//! * encryption: t e, or t (e v + e0 + e1 s) under a public key.
//!
//! **Fixed randomness.** The secret and the errors inside keys are drawn once and re-drawn until ‖s‖ <= 3.5 √(2n/3) (3.5 √h for a sparse one) and ‖e‖ <= 4 σ √n, so
//! those enter as bounds, not as tails. Rounding errors and digits are modelled as uniform and independent of the keys,
//! as they are for uniform c1. Everything after that (sums, products, automorphisms, plaintext constants) is deterministic.
//!
//! **Coefficient law.** For decryption and for the entry of bootstrapping only the coefficients count; there the last
//! rounding is bounded by the law of its coefficients (15.4 standard deviations: two-sided 2^-170), which is 8 bits
//! smaller than the floor.
//!
//! All bounds are log2 of magnitudes ("bits").

use everlevel_ring::{Basis, PrimePower, Ring, sample};

use crate::error::SchemeError;
use crate::form::Form;
use crate::params::{BootstrapSpec, Chain, Level, Params, ParamsSpec, SecretKind};
use crate::verbs::NextUse;

/// log2 of the probability that one modelled event exceeds its bound.
pub const EVENT_LOG2: f64 = -170.0;
/// K: the canonical tail factor.
const TAIL: f64 = 11.20;
/// The two-sided tail factor of one real coefficient.
const COEFFICIENT_TAIL: f64 = 15.40;

/// How far above its ideal level, in bits, the operand of a linear map may stay for cheaper key switches.
const LINEAR_MAP_WINDOW: f64 = 30.0;
/// How many levels beside the ideal one are considered for a product.
const PRODUCT_WINDOW: usize = 4;
/// What one transform is worth in bits of capacity: a bootstrapping of some 4000 transforms gains some 200 bits.
const BITS_PER_TRANSFORM: f64 = 0.02;

/// w: the base of the two digits that raised polynomials are cut into, about √p.
///
/// The product of a raised polynomial with the encrypted sparse secret is the first thing a bootstrapping pays noise for; digits of half
/// the length save log2(p)/2 - 1 bits of modulus for one more plaintext product.
pub fn raise_digit(p: u64) -> u64 {
    p.isqrt() + 1
}

/// The ranges of the digits to base w of integers in ±range/2: w for all but the last one.
pub(crate) fn raise_digit_ranges(p: u64, range: u64) -> Vec<f64> {
    let w = raise_digit(p) as f64;
    let (mut ranges, mut rest) = (Vec::new(), range as f64);
    while rest > w {
        ranges.push(w);
        rest = rest / w + 1.0;
    }
    ranges.push(rest);
    ranges
}

/// log2(2^a + 2^b).
pub fn log_add(a: f64, b: f64) -> f64 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp2().ln_1p() / std::f64::consts::LN_2 }
}

/// What is public about a ciphertext beside its polynomials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Meta {
    /// Its level.
    pub level: Level,
    /// The exponent e of its plaintext modulus p^e.
    pub exponent: u32,
    /// Where it keeps its message.
    pub form: Form,
    /// The unit κ modulo p^e that its message is multiplied by.
    pub factor: u64,
    /// log2 of the bound on the canonical norm of its phase w = κ m + t ε (in BFV form: of t times its phase modulo q).
    pub noise: f64,
}

/// The constants of a parameter set, in bits unless said otherwise.
#[derive(Clone, Debug)]
pub struct NoiseModel {
    degree: f64,
    key_norm: f64,
    key_square: f64,
    error_norm: f64,
    error_square: f64,
    floor: f64,
    base_bits: f64,
    base_digits: Vec<f64>,
    encapsulation_bits: f64,
    sparse_weight: f64,
    under_main_key: bool,
    removed_bits: f64,
    moduli_bits: Vec<f64>,
}

impl NoiseModel {
    pub(crate) fn new(spec: &ParamsSpec, ring: &Ring, chain: &Chain) -> Self {
        let n = ring.degree() as f64;
        let (key_norm, key_square) = match spec.secret {
            SecretKind::UniformTernary => (3.5 * (2.0 * n / 3.0).sqrt(), (2.0 * n / 3.0 + 4.0 * (2.0 * n / 9.0).sqrt()).min(n)),
            SecretKind::Sparse(weight) => ((3.5 * (weight as f64).sqrt()).min(weight as f64), weight as f64),
        };
        let bits = |i: usize| (ring.modulus(i).value() as f64).log2();
        NoiseModel {
            degree: n,
            key_norm,
            key_square,
            error_norm: 4.0 * (sample::ERROR_VARIANCE * n).sqrt(),
            error_square: 1.2 * sample::ERROR_VARIANCE * n,
            floor: (TAIL * (n / 12.0).sqrt() * (1.0 + key_norm * key_norm).sqrt()).log2(),
            base_bits: chain.bits(Level(0)),
            base_digits: chain.encapsulation().digits(chain.basis(Level(0))).map(|(_, g)| ring.log2(g)).collect(),
            encapsulation_bits: ring.log2(chain.encapsulation().special()),
            sparse_weight: spec.bootstrap.as_ref().map_or(0.0, |b| b.sparse_weight as f64),
            under_main_key: spec.bootstrap.as_ref().is_some_and(|b| b.under_main_key),
            removed_bits: spec.bootstrap.as_ref().map_or(0, |b| b.removed_digits()) as f64 * (spec.plain_prime as f64).log2(),
            moduli_bits: (0..ring.prime_count()).map(bits).collect(),
        }
    }

    /// The largest ‖s‖ of a main secret.
    pub fn key_norm_limit(&self) -> f64 {
        self.key_norm
    }
    /// The largest Σ s_i² of a main secret.
    pub fn key_square_limit(&self) -> f64 {
        self.key_square
    }
    /// The largest ‖e‖ of an error inside a key.
    pub fn error_norm_limit(&self) -> f64 {
        self.error_norm
    }
    /// The largest Σ e_i² of an error inside the encapsulation key.
    pub fn error_square_limit(&self) -> f64 {
        self.error_square
    }
    /// The floor of modulus switching for plaintext modulus t: noise cannot be below it after a switch.
    pub fn floor(&self, t: u64) -> f64 {
        (t as f64).log2() + self.floor
    }
    /// The noise that one key switch at `level` adds, without the rounding at its end.
    pub fn key_switch(&self, chain: &Chain, level: Level, t: u64) -> f64 {
        let bits = |basis: Basis| basis.iter().map(|i| self.moduli_bits[i]).sum::<f64>();
        let special = bits(chain.gadget(level).special());
        let digits = chain.gadget(level).digits(chain.basis(level));
        let squares: f64 = digits.map(|(_, digit)| (2.0 * (bits(digit) - special)).exp2()).sum();
        (t as f64).log2() + (TAIL * (self.degree / 12.0).sqrt() * self.error_norm * squares.sqrt()).log2()
    }
    /// The bound on any message polynomial: n t / 2, whatever the values.
    pub fn message(&self, t: u64) -> f64 {
        (t as f64 * self.degree / 2.0).log2()
    }
    /// A fresh encryption under the secret key, with an error that is drawn anew.
    pub fn fresh_secret(&self, t: u64) -> f64 {
        let error = TAIL * (sample::ERROR_VARIANCE * self.degree).sqrt();
        log_add(self.message(t), (t as f64).log2() + error.log2())
    }
    /// A fresh encryption under the public key.
    pub fn fresh_public(&self, t: u64) -> f64 {
        let n = self.degree;
        let error = TAIL * (sample::ERROR_VARIANCE * n).sqrt();
        let total = self.error_norm * TAIL * (2.0 * n / 3.0).sqrt() + error + error * self.key_norm;
        log_add(self.message(t), (t as f64).log2() + total.log2())
    }
    /// Encryptions of s0, w s0, w² s0, .. (w about √p) modulo t = p^e, times the digits in base w of a polynomial with coefficients uniform in
    /// ±range/2.
    pub fn raised(&self, form: Form, p: u64, t: u64, range: u64) -> f64 {
        let t = t as f64;
        let unit = TAIL * (self.degree / 12.0).sqrt();
        let digits: f64 = raise_digit_ranges(p, range).iter().sum();
        // A message that is multiplied by κ is as large as t allows.
        let message = match form {
            Form::Bgv => range as f64 * (1.0 + self.sparse_weight),
            Form::Bfv => t * (1.0 + digits * self.sparse_weight / 2.0),
        };
        (unit * (digits * t * self.error_norm + message)).log2()
    }
    /// The bound, in bits, on the coefficients of the phase modulo q0 under the sparse key when the noise that comes
    /// from the ciphertext, scaled to q0, is `prior` bits (coefficient law); t = p^r.
    pub fn encapsulated(&self, t: u64, prior: f64) -> f64 {
        let t = t as f64;
        let switch = t * COEFFICIENT_TAIL * ((1.0 + self.key_square) / 12.0).sqrt();
        if self.under_main_key {
            return log_add(prior, switch.log2());
        }
        let squares: f64 = self.base_digits.iter().map(|d| (2.0 * (d - self.encapsulation_bits)).exp2()).sum();
        let key = t * COEFFICIENT_TAIL * (self.error_square / 12.0 * squares).sqrt();
        let round = t * (1.0 + self.sparse_weight) / 2.0;
        log_add(prior, (switch + key + round).log2())
    }
    /// The largest `prior` for which bootstrapping is exact: p^v |phase| < q0 / 2 in every coefficient.
    pub fn encapsulation_limit(&self, t: u64) -> f64 {
        let room = (self.base_bits - 1.0 - self.removed_bits).exp2();
        let rest = self.encapsulated(t, f64::NEG_INFINITY).exp2();
        if rest < room { (room - rest).log2() - 0.01 } else { f64::NEG_INFINITY }
    }
    /// The capacity that a ciphertext must have to be bootstrapped.
    pub fn minimum_capacity(&self, t: u64) -> f64 {
        self.base_bits - self.encapsulation_limit(t) - 1.0
    }
    /// log2 of the probability that one coefficient of the overflow exceeds `bound`: a sum of h + 1 independent uniforms on (-1/2, 1/2), by
    /// Chernoff's bound min over λ of e^(-λ (B + 1/2)) (sinh(λ/2) / (λ/2))^(h+1), on both sides. Minus infinity where it cannot happen.
    pub fn overflow_tail(&self, bound: u64) -> f64 {
        let terms = self.sparse_weight + 1.0;
        let x = bound as f64 + 0.5;
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
    pub(crate) fn check_base_modulus(&self, params: &Params) -> Result<(), SchemeError> {
        let t = params.plain_modulus();
        let limit = self.encapsulation_limit(t);
        if params.spec().bootstrap.is_some() && limit < (t as f64).log2() {
            return Err(SchemeError::BadParams {
                name: params.name().into(),
                problem: format!(
                    "base_bits = {} leaves too little room to bootstrap: the phase under the sparse key needs more than {:.0} bits",
                    params.spec().base_bits,
                    self.encapsulated(t, f64::NEG_INFINITY) + 1.0 + self.removed_bits
                ),
            });
        }
        Ok(())
    }
}

/// Transitions: what every operation does to [`Meta`], shared by all schemes.
impl Params {
    /// Arithmetic modulo the plaintext modulus of `m`.
    pub fn plain_arithmetic(&self, m: &Meta) -> PrimePower {
        self.plain().modulus(m.exponent)
    }
    /// What the polynomials of a ciphertext like `m` are divided by so that rounding errors become multiples of t.
    pub(crate) fn divisor(&self, m: &Meta) -> u64 {
        m.form.divisor(self.t(m))
    }
    /// A fresh encryption with this noise, in the form of the set.
    pub fn fresh(&self, level: Level, exponent: u32, noise: f64) -> Meta {
        let form = self.spec().form;
        Meta { level, exponent, form, factor: self.fresh_factor(form, level, exponent), noise }
    }
    /// The factor of a fresh encryption: 1, or -q modulo t in BFV form, where the textbook's ⌊q/t m⌉ is what that stands for.
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
    /// log2(modulus / (2 noise bound)).
    pub fn capacity(&self, m: &Meta) -> f64 {
        self.modulus_bits(m.level) - m.noise - 1.0
    }
    /// Passes `m` if decryption is exact, with a hair to spare for floating point.
    pub fn checked(&self, m: Meta, operation: &'static str) -> Result<Meta, SchemeError> {
        if self.capacity(&m) >= 1e-6 {
            return Ok(m);
        }
        Err(SchemeError::NoiseOverflow {
            operation,
            noise_bits: m.noise,
            modulus_bits: self.modulus_bits(m.level),
            level: m.level,
        })
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
                // Staying above costs no capacity, so the level with the cheapest key switches wins.
                let near = self.chain().at_least(ideal).min(m.level);
                let reach = self.chain().at_least(ideal + LINEAR_MAP_WINDOW).min(m.level);
                (near.0..=reach.0).map(Level).min_by_key(|&level| self.chain().switch_cost(level)).unwrap_or(near)
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
        let ratio = self.switch_factor(self.chain().basis(m.level), self.chain().basis(to), m.exponent);
        Meta {
            level: to,
            noise: log_add(m.noise - drop, self.noise().floor(self.t(m))),
            factor: self.plain_arithmetic(m).mul(m.factor, ratio),
            ..*m
        }
    }
    /// A key switch at the same level: what it adds before the division by P.
    pub fn with_key_switch(&self, m: &Meta) -> Meta {
        let key = self.noise().key_switch(self.chain(), m.level, self.t(m));
        Meta { noise: log_add(m.noise, key), ..*m }
    }
    /// The division by P and the switch for `next`, in one rounding.
    pub fn after_reduction(&self, m: &Meta, next: NextUse) -> Meta {
        let to = self.target(m, next);
        let floor = self.noise().floor(self.t(m));
        let switched = self.after_switch(m, to);
        let drop = self.modulus_bits(m.level) - self.modulus_bits(to);
        Meta { noise: log_add(m.noise - drop, floor), ..switched }
    }
    /// The sum of two aligned ciphertexts.
    pub fn after_add(&self, a: &Meta, b: &Meta) -> Result<Meta, SchemeError> {
        self.checked(Meta { noise: log_add(a.noise, b.noise), ..*a }, "addition")
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
        self.checked(
            Meta { noise: self.product_noise(a.form, t.value(), a.level, a.noise, b.noise), factor, ..*a },
            "multiplication",
        )
    }
    /// Whose product ciphertexts of a form are multiplied by: BGV's for BFV too if the set says so.
    pub(crate) fn product_form(&self, form: Form) -> Form {
        let scaled = form == Form::Bfv && !self.chain().auxiliary(Level(0)).is_empty();
        if scaled { Form::Bfv } else { Form::Bgv }
    }
    /// The noise of a product of phases with bounds `a` and `b`.
    ///
    /// BGV: their product. BFV: over the integers the phases are (w + q K) / t, where K is t (c0 + c1 s) / q up to rounding and so within the
    /// floor of modulus switching; t/q times their product is, modulo q and times t, K w' + K' w + w w' / q; the rounding is that of
    /// three polynomials.
    fn product_noise(&self, form: Form, t: u64, level: Level, a: f64, b: f64) -> f64 {
        if self.product_form(form) == Form::Bgv {
            return a + b;
        }
        let floor = log_add(self.noise().floor(t), 0.0);
        let rounding = floor + self.noise().key_norm_limit().log2();
        log_add(log_add(floor + log_add(a, b), a + b - self.modulus_bits(level)), rounding)
    }
    /// The product with a constant that is `magnitude` in absolute value.
    pub fn after_scale(&self, m: &Meta, magnitude: u64) -> Result<Meta, SchemeError> {
        let noise = if magnitude == 0 { 0.0 } else { m.noise + (magnitude as f64).log2() };
        self.checked(Meta { noise, ..*m }, "multiplication by a constant")
    }
    /// For `a` and `b` of one plaintext modulus: the constant (centered) by which to multiply one of them so that both
    /// carry the same factor at the lower of their levels, and which one (`true`: the first). None if they agree.
    pub fn alignment(&self, a: &Meta, b: &Meta) -> Option<(bool, i64)> {
        let t = self.plain_arithmetic(a);
        let low = a.level.min(b.level);
        let at = |m: &Meta| t.mul(m.factor, self.switch_factor(self.chain().basis(m.level), self.chain().basis(low), m.exponent));
        let (fa, fb) = (at(a), at(b));
        if fa == fb {
            return None;
        }
        let ratio = |from, to| t.centered(t.mul(to, t.inv(from).expect("factors are units")));
        let (ca, cb) = (ratio(fa, fb), ratio(fb, fa));
        // The one that is switched down anyway absorbs the constant; at one level the smaller constant wins.
        let first = match a.level.cmp(&b.level) {
            std::cmp::Ordering::Greater => true,
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => ca.unsigned_abs() <= cb.unsigned_abs(),
        };
        Some(if first { (true, ca) } else { (false, cb) })
    }
    /// How to form Σ k_i x_i: for each term (from the highest level down) its position, the centered constant to multiply it by and
    /// the factor that it carries then. All meet at the lowest level with the factor of the term that is there.
    pub fn combination(&self, terms: &[(&Meta, i64)]) -> Result<Vec<(usize, i64, u64)>, SchemeError> {
        let lowest = terms.iter().min_by_key(|(m, _)| m.level).ok_or_else(|| SchemeError::BadArgument {
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
                let constant = t.mul(t.reduce_i64(k), t.mul(wanted, t.inv(m.factor).expect("factors are units")));
                Ok((i, t.centered(constant), wanted))
            })
            .collect()
    }
    /// Where two factors of a product meet: the level that leaves their product the most capacity for the work. That is where the
    /// noise of the worse one, scaled down, equals the floor, or one of the levels beside. If no product fits any more, they stay.
    pub fn product_level(&self, a: &Meta, b: &Meta) -> Level {
        let floor = self.noise().floor(self.t(a));
        let ideal = |m: &Meta| self.modulus_bits(m.level) - (m.noise - floor);
        let highest = a.level.min(b.level);
        let near = self.chain().at_least(ideal(a).min(ideal(b))).min(highest);
        let noise = |m: &Meta, level: Level| {
            let drop = self.modulus_bits(m.level) - self.modulus_bits(level);
            if level == m.level { m.noise } else { log_add(m.noise - drop, floor) }
        };
        let capacity = |level: &Level| {
            self.modulus_bits(*level) - self.product_noise(a.form, self.t(a), *level, noise(a, *level), noise(b, *level))
        };
        let score = |level: &Level| capacity(level) - self.chain().switch_cost(*level) as f64 * BITS_PER_TRANSFORM;
        (near.0.saturating_sub(PRODUCT_WINDOW)..=(near.0 + PRODUCT_WINDOW).min(highest.0))
            .map(Level)
            .filter(|level| capacity(level) > 1.0)
            .max_by(|x, y| score(x).total_cmp(&score(y)))
            .unwrap_or(highest)
    }
}

/// Public data of a ciphertext over the extended modulus: at the embedding ζ^(5^i) its phase (divided by P) is bounded by
/// 2^(meta.noise) * profile\[i mod len\].
///
/// Sums of products with plaintext diagonals are bounded embedding by embedding, because max Σ |λ_i(ζ)| is what the noise
/// grows by, a third of what Σ max |λ_i(ζ)| would say.
#[derive(Clone, Debug)]
pub struct ExtendedMeta {
    /// Level, exponent, factor, and the noise that the profile scales.
    pub meta: Meta,
    /// Multipliers along a row, periodic.
    pub profile: Vec<f64>,
}

impl ExtendedMeta {
    /// One ciphertext, bounded alike at all embeddings.
    pub fn flat(meta: Meta) -> Self {
        ExtendedMeta { meta, profile: vec![1.0] }
    }
    /// Σ diagonal_j * input_j over the pairs given; None if there is none.
    pub fn combine<'a>(pairs: impl Iterator<Item = (&'a ExtendedMeta, &'a [f64])> + Clone) -> Option<Self> {
        let top = pairs.clone().map(|(m, _)| m.meta.noise).fold(f64::NEG_INFINITY, f64::max);
        let first = pairs.clone().next()?.0.meta;
        let len = pairs.clone().map(|(m, d)| m.profile.len().max(d.len())).max().unwrap_or(1);
        let mut profile = vec![0.0; len];
        for (m, diagonal) in pairs {
            let scale = (m.meta.noise - top).exp2();
            for (i, x) in profile.iter_mut().enumerate() {
                *x += scale * m.profile[i % m.profile.len()] * diagonal[i % diagonal.len()];
            }
        }
        Some(ExtendedMeta { meta: Meta { noise: top, ..first }, profile })
    }
    /// Σ g(part), each part with the shift of its automorphism along a row; None if there is none.
    pub fn sum<'a>(parts: impl Iterator<Item = (usize, &'a ExtendedMeta)> + Clone) -> Option<Self> {
        let top = parts.clone().map(|(_, m)| m.meta.noise).fold(f64::NEG_INFINITY, f64::max);
        let first = parts.clone().next()?.1.meta;
        let len = parts.clone().map(|(_, m)| m.profile.len()).max().unwrap_or(1);
        let mut profile = vec![0.0; len];
        for (shift, m) in parts {
            let scale = (m.meta.noise - top).exp2();
            for (i, x) in profile.iter_mut().enumerate() {
                *x += scale * m.profile[(i + shift) % m.profile.len()];
            }
        }
        Some(ExtendedMeta { meta: Meta { noise: top, ..first }, profile })
    }
    /// The bound at all embeddings.
    pub fn flatten(&self) -> Meta {
        let gain = self.profile.iter().copied().fold(0.0, f64::max);
        Meta { noise: self.meta.noise + gain.max(f64::MIN_POSITIVE).log2(), ..self.meta }
    }
}

/// |a(ζ^(5^i))| for i below `coefficients.len() / 2`, ζ = exp(iπ / len): the profile of a polynomial in natural order.
pub fn embedding_profile(norm: &everlevel_ring::CanonicalNorm, coefficients: &[f64]) -> Vec<f64> {
    let n = coefficients.len();
    let values = norm.embeddings(coefficients);
    let mut exponent = 1usize;
    (0..n / 2)
        .map(|_| {
            // The transform's entry j is the embedding at 1 - 2j; conjugates have equal absolute values.
            let j = (n + n - (exponent - 1) / 2) % n;
            exponent = exponent * 5 % (2 * n);
            values[j] * (1.0 + 1e-9)
        })
        .collect()
}

/// Transitions of ciphertexts over the extended modulus.
impl Params {
    /// Σ g(part) after the key switches of the `switched` parts that are not under the identity, and the reduction.
    pub fn after_galois_sum(&self, sum: &ExtendedMeta, switched: usize, next: NextUse) -> Result<Meta, SchemeError> {
        let mut meta = sum.flatten();
        if switched > 0 {
            // Each of them is rounded before its key switch.
            let t = self.slot_shape().plain_modulus(meta.exponent);
            let key = self.noise().key_switch(self.chain(), meta.level, t);
            let each = log_add(key, self.noise().floor(t));
            meta.noise = log_add(meta.noise, each + (switched as f64).log2());
        }
        self.checked(self.after_reduction(&meta, next), "linear map")
    }
}

/// Transitions between plaintext moduli, and those of bootstrapping.
impl Params {
    /// x mod p^e to x mod p^k.
    pub fn after_reducing_plain(&self, m: &Meta, k: u32) -> Result<Meta, SchemeError> {
        if k == 0 || k > m.exponent {
            return Err(SchemeError::BadArgument {
                what: "plaintext exponent",
                expected: format!("1 to {}", m.exponent),
                found: k.to_string(),
            });
        }
        Ok(Meta { exponent: k, factor: self.plain().modulus(k).reduce_u64(m.factor), ..*m })
    }
    /// p x mod p^e to x mod p^(e-1): the phase is divided by p.
    pub fn after_dividing_plain(&self, m: &Meta) -> Result<Meta, SchemeError> {
        let reduced = self.after_reducing_plain(m, m.exponent.saturating_sub(1))?;
        Ok(Meta { noise: m.noise - (self.spec().plain_prime as f64).log2(), ..reduced })
    }
    /// B: the largest overflow in absolute value, h/2 (the sum of h + 1 roundings of uniforms, the phase being small) or what the set says.
    pub fn overflow_bound(&self) -> u64 {
        self.spec().bootstrap.as_ref().map_or(0, BootstrapSpec::bound)
    }
    /// Passes a ciphertext that can be bootstrapped exactly.
    pub fn check_raise(&self, m: &Meta) -> Result<(), SchemeError> {
        if self.spec().bootstrap.is_none() {
            return Err(SchemeError::BadParams {
                name: self.name().into(),
                problem: "the set has no bootstrapping section".into(),
            });
        }
        if m.exponent != self.plain_exponent() {
            return Err(SchemeError::PlainModulusMismatch {
                operation: "bootstrapping",
                left: m.exponent,
                right: self.plain_exponent(),
            });
        }
        let prior = m.noise - (self.modulus_bits(m.level) - self.modulus_bits(Level(0)));
        if prior > self.noise().encapsulation_limit(self.plain_modulus()) {
            return Err(SchemeError::NoiseOverflow {
                operation: "bootstrapping",
                noise_bits: m.noise,
                modulus_bits: self.modulus_bits(m.level),
                level: m.level,
            });
        }
        Ok(())
    }
    /// What the product of the sparse encryptions with integer polynomials of coefficients in ±range/2 gives, at the top, modulo the largest
    /// power of p.
    pub(crate) fn raised(&self, range: u64) -> Meta {
        let exponent = self.slot_shape().max_exponent();
        let t = self.slot_shape().plain_modulus(exponent);
        self.fresh(self.chain().top(), exponent, self.noise().raised(self.spec().form, self.spec().plain_prime, t, range))
    }
    /// What [`crate::Raise::enter`] leaves of a ciphertext.
    pub(crate) fn entrance(&self, capacity: f64) -> Meta {
        let level = self.chain().at_least(self.noise().floor(self.plain_modulus()) + 2.0 + capacity);
        self.fresh(level, self.plain_exponent(), self.modulus_bits(level) - 1.0 - capacity)
    }
    /// `m` at the level and with the noise bound of [`Params::entrance`].
    pub(crate) fn entered(&self, m: &Meta, capacity: f64) -> Result<Meta, SchemeError> {
        let entrance = self.entrance(capacity);
        let refused = SchemeError::NoiseOverflow {
            operation: "bootstrapping",
            noise_bits: m.noise,
            modulus_bits: self.modulus_bits(m.level),
            level: m.level,
        };
        if m.level < entrance.level {
            return Err(refused);
        }
        let switched = self.after_switch(m, entrance.level);
        if switched.noise > entrance.noise {
            return Err(refused);
        }
        Ok(Meta { noise: entrance.noise, ..switched })
    }
    /// u = I' - Δ I at the top: modulo p^(r+1) for Δ = p, modulo p^r otherwise.
    pub fn raised_overflow(&self, delta: u64) -> Result<Meta, SchemeError> {
        let p = self.spec().plain_prime;
        if delta == 0 || delta > p {
            return Err(SchemeError::BadArgument {
                what: "overflow multiplier",
                expected: format!("1 to p = {p}"),
                found: delta.to_string(),
            });
        }
        let raised = self.raised(delta);
        if delta == p { Ok(raised) } else { self.after_reducing_plain(&raised, self.plain_exponent()) }
    }
    /// p^v m + I at the top, modulo p^(r+v).
    pub fn raised_scaled(&self) -> Meta {
        self.raised(self.slot_shape().plain_modulus(self.slot_shape().max_exponent()))
    }
    /// The factor of what came through the digit removal as u m, u = κ/q0 being the unit of a message that was raised with factor κ: it is put
    /// into the factor.
    pub fn raised_unit(&self, raised: u64, m: &Meta) -> u64 {
        let t = self.plain_arithmetic(m);
        let q0 = t.inv(t.reduce_i128(self.base_modulus())).expect("q0 is coprime to p");
        t.mul(m.factor, t.mul(t.reduce_u64(raised), q0))
    }
    /// m + q0 I modulo p^r, at a level from which the switch to `like`'s level hides its noise.
    pub fn raised_message(&self, like: &Meta) -> Result<Meta, SchemeError> {
        let raised = self.after_reducing_plain(&self.raised(self.plain_modulus()), self.plain_exponent())?;
        let floor = self.noise().floor(self.plain_modulus());
        let level = self.chain().at_least(self.modulus_bits(like.level) + (raised.noise - floor).max(0.0));
        Ok(Meta { level, ..raised })
    }
}
