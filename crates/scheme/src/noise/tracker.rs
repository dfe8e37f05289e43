//! The effect of operations on the public data of ciphertexts.

use std::sync::Arc;

use everlevel_ring::{PlaintextRing, PrimePower, Ring};

use super::meta::Meta;
use super::model::{NoiseEstimate, NoiseModel};
use crate::error::SchemeError;
use crate::spec::{Form, Level, ModulusChain, ParamsSpec, SetId};

/// Depths that are read from files stay below this limit, so that counting cannot overflow.
const DEPTH_LIMIT: u32 = 1 << 30;

/// Levels and noise of a parameter set: the effect of each operation on [`Meta`], the public data
/// of a ciphertext. All schemes share it, so a circuit has the same levels and bounds on each of
/// them.
///
/// Methods have the names of the operations that they follow, from [`NoiseTracker::add`] to
/// [`NoiseTracker::raised_message`]. Those that return a `Result` return an error if the result
/// might not decrypt correctly.
#[derive(Clone)]
pub struct NoiseTracker {
    pub(super) spec: Arc<ParamsSpec>,
    pub(crate) set: SetId,
    pub(super) ring: Arc<Ring>,
    pub(super) plain: Arc<PlaintextRing>,
    pub(super) chain: Arc<ModulusChain>,
    pub(super) bound: NoiseModel,
    pub(super) average: NoiseModel,
}

impl NoiseTracker {
    /// The tracker of a set: the ring has the primes of the chain, which `ModulusChain::build` made
    /// from the specification.
    pub fn new(
        spec: Arc<ParamsSpec>,
        ring: Arc<Ring>,
        plain: Arc<PlaintextRing>,
        chain: Arc<ModulusChain>,
    ) -> Self {
        let [bound, average] = [NoiseEstimate::WorstCase, NoiseEstimate::AverageCase]
            .map(|a| NoiseModel::new(&spec, &ring, &chain, a));
        let set = SetId::of(&spec);
        NoiseTracker { spec, set, ring, plain, chain, bound, average }
    }

    /// The noise model: bounds.
    pub fn bound(&self) -> &NoiseModel {
        &self.bound
    }

    /// The same model on average: for information.
    pub fn average(&self) -> &NoiseModel {
        &self.average
    }

    /// Arithmetic modulo the plaintext modulus of `m`.
    pub(super) fn arithmetic(&self, m: &Meta) -> PrimePower {
        self.plain.modulus(m.exponent)
    }

    pub(super) fn t(&self, m: &Meta) -> u128 {
        self.arithmetic(m).wide()
    }

    /// What the polynomials of a ciphertext like `m` are divided by so that rounding errors become
    /// multiples of t.
    pub fn divisor(&self, m: &Meta) -> u128 {
        m.form.divisor(self.t(m))
    }

    /// A fresh encryption with this bound on its noise, in the form of the set and without an
    /// owner.
    pub fn fresh(&self, level: Level, exponent: u32, noise: f64) -> Meta {
        let form = self.spec.form;
        Meta {
            level,
            exponent,
            form,
            factor: self.fresh_factor(form, level, exponent),
            depth: 0,
            noise,
            estimate: noise,
            owner: None,
            set: Some(self.set),
        }
    }

    /// The same with the noise that the models give.
    pub fn modeled(&self, level: Level, exponent: u32, noise: impl Fn(&NoiseModel) -> f64) -> Meta {
        Meta { estimate: noise(&self.average), ..self.fresh(level, exponent, noise(&self.bound)) }
    }

    /// The factor of a fresh encryption: 1, or -q modulo t in BFV form, where the textbook's ⌊q/t
    /// m⌉ is what that stands for.
    pub fn fresh_factor(&self, form: Form, level: Level, exponent: u32) -> u64 {
        let t = self.plain.modulus(exponent);
        match form {
            Form::Bgv => 1,
            Form::Bfv => t.neg(self.ring.product_mod(self.chain.basis(level), t)),
        }
    }

    /// `m` after a change of its noise: of the bound by the one model, of the estimate by the
    /// other.
    pub(super) fn changed(&self, m: &Meta, change: impl Fn(&NoiseModel, f64) -> f64) -> Meta {
        Meta {
            noise: change(&self.bound, m.noise),
            estimate: change(&self.average, m.estimate),
            ..*m
        }
    }

    /// The public data of a result of two ciphertexts, otherwise those of `a`; its owner is unknown
    /// if one of theirs is.
    pub(super) fn merged(
        &self,
        a: &Meta,
        b: &Meta,
        merge: impl Fn(&NoiseModel, f64, f64) -> f64,
    ) -> Meta {
        let (noise, estimate) =
            (merge(&self.bound, a.noise, b.noise), merge(&self.average, a.estimate, b.estimate));
        let (depth, owner) = (a.depth.max(b.depth), a.owner.and(b.owner));
        Meta { noise, estimate, depth, owner, ..*a }
    }

    /// log2 of the expected norm of the phase of a ciphertext such as `m`: that of the largest of
    /// n/2 embeddings, which are assumed to be independent and normal.
    pub fn expected_norm(&self, m: &Meta) -> f64 {
        m.estimate + (self.ring.degree() as f64).ln().log2() / 2.0
    }

    /// log2(modulus / (2 times the largest coefficient that the noise bound allows)).
    pub fn capacity(&self, m: &Meta) -> f64 {
        self.chain.bits(m.level) - m.noise - 1.0 - self.ring.coefficient_bits()
    }

    /// log2 of the noise bound at `level` that leaves `capacity` bits.
    pub fn noise_at(&self, level: Level, capacity: f64) -> f64 {
        self.chain.bits(level) - 1.0 - self.ring.coefficient_bits() - capacity
    }

    /// log2 of the largest noise bound at which a ciphertext at `level` decrypts.
    pub fn largest_noise(&self, level: Level) -> f64 {
        self.noise_at(level, 1e-5)
    }

    /// Returns `m` if its bound guarantees exact decryption, with a small margin for rounding.
    pub fn checked(&self, m: Meta, operation: &'static str) -> Result<Meta, SchemeError> {
        if self.capacity(&m) >= 1e-6 {
            return Ok(m);
        }
        Err(self.too_noisy(&m, operation))
    }

    pub(super) fn too_noisy(&self, m: &Meta, operation: &'static str) -> SchemeError {
        let (noise_bits, modulus_bits) = (m.noise, self.chain.bits(m.level));
        SchemeError::NoiseOverflow { operation, noise_bits, modulus_bits, level: m.level }
    }

    /// Refuses the public data of an object of another set, before anything is computed with them.
    /// Where their set is not known they pass.
    ///
    /// # Errors
    /// [`SchemeError::WrongParams`].
    pub fn check_origin(&self, m: &Meta, object: &'static str) -> Result<(), SchemeError> {
        self.check_origin_of(m.set, object)
    }

    /// [`NoiseTracker::check_origin`] of an object without these public data.
    ///
    /// # Errors
    /// [`SchemeError::WrongParams`].
    pub fn check_origin_of(
        &self,
        set: Option<SetId>,
        object: &'static str,
    ) -> Result<(), SchemeError> {
        if set.is_none_or(|set| set == self.set) {
            return Ok(());
        }
        Err(SchemeError::WrongParams { object, name: self.spec.name.clone() })
    }

    /// Checks that a ciphertext of these parameters can have these public data.
    ///
    /// # Errors
    /// Public data of another set, a level above the top, a plaintext exponent that the set does
    /// not provide, a factor that is no unit modulo p^e, a depth of 2^30 or more, a noise bound
    /// that is not finite or does not allow decryption.
    pub fn check_meta(&self, m: &Meta) -> Result<(), SchemeError> {
        self.check_origin(m, "the ciphertext")?;
        if m.level > self.chain.top() {
            return Err(SchemeError::BadLevel { found: m.level, highest: self.chain.top() });
        }
        let highest = self.plain.shape().max_exponent();
        let bad = |what, expected: String, found: String| {
            Err(SchemeError::BadArgument { what, expected, found })
        };
        if !(1..=highest).contains(&m.exponent) {
            return bad("plaintext exponent", format!("1 to {highest}"), m.exponent.to_string());
        }
        let t = self.arithmetic(m);
        if m.factor > t.last() || m.factor.is_multiple_of(t.prime()) {
            return bad("factor", format!("a unit below {}", t.wide()), m.factor.to_string());
        }
        if m.depth >= DEPTH_LIMIT {
            return bad("depth", format!("less than {DEPTH_LIMIT}"), m.depth.to_string());
        }
        if !m.noise.is_finite() {
            return bad("noise bound", "a finite number".into(), m.noise.to_string());
        }
        self.checked(*m, "reading a ciphertext").map(|_| ())
    }
}
