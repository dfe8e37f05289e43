//! The no-op scheme: a mock scheme whose ciphertexts hold plaintext values.
//!
//! Levels, noise bounds, correction factors, errors, use of keys and cost follow the same model as
//! BGV and BFV, operation by operation; only the encryption is missing. Circuits are tested on it
//! in milliseconds, planned on it (cost, keys, remaining capacity), and then run with cryptography.

mod arithmetic;
mod bootstrap;
mod held;
mod linear_maps;
mod made;
mod plain_modulus;
mod scheme;

use std::sync::{Arc, Mutex, PoisonError};

use everlevel_ring::{Basis, Factor, Gadget, GaloisElement};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use crate::counters::{Cost, Counters};
use crate::error::SchemeError;
use crate::key_plan::KeyPlan;
use crate::noise::{ExtendedMeta, Meta, NoiseModel, Profile};
use crate::params::Params;
use crate::plaintext::Plaintext;
use crate::spec::{GadgetId, Level, SetId};

use held::{Held, Memory};

pub use held::memory_of_ciphertext;

/// A no-op ciphertext: a plaintext with the public data of a ciphertext.
#[derive(Clone, Debug)]
pub struct NoOpCiphertext {
    pub(crate) meta: Meta,
    /// n coefficients modulo p^e, the factor left out.
    pub(crate) value: Vec<u64>,
    /// The memory of the real one; none for what an operation computes on its way.
    held: Option<Arc<Held>>,
}

impl NoOpCiphertext {
    /// Level, plaintext modulus, factor and noise bound.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }
}

/// A no-op ciphertext over the extended modulus.
pub struct NoOpExtended {
    meta: ExtendedMeta,
    value: Vec<u64>,
    _held: Arc<Held>,
}

/// A diagonal of the no-op scheme.
pub struct NoOpDiagonal {
    set: SetId,
    exponent: u32,
    basis: Basis,
    /// The same at all levels, as the factor is.
    profile: Arc<Profile>,
    /// What multiplies values, if values are computed.
    factor: Option<Arc<Factor>>,
}

/// The no-op evaluator.
pub struct NoOp {
    params: Params,
    /// Whether values are computed, or only the public data.
    values: bool,
    counters: Counters,
    memory: Arc<Memory>,
    plan: Mutex<KeyPlan>,
    /// The keys that exist; none if all of them do.
    held: Option<KeyPlan>,
    overflow: Mutex<ChaCha20Rng>,
    /// Asks whether the computation was cancelled; none if it cannot be.
    cancelled: Option<Cancelled>,
}

type Cancelled = Box<dyn Fn() -> bool + Send + Sync>;

impl NoOp {
    /// The no-op scheme of a parameter set. `seed` determines the simulated overflow of
    /// bootstrapping, and the multiples of p^k that extended ciphertexts hold.
    pub fn new(params: &Params, seed: u64) -> Self {
        NoOp {
            params: params.clone(),
            values: true,
            counters: Counters::default(),
            memory: Arc::default(),
            plan: Mutex::new(KeyPlan::default()),
            held: None,
            overflow: Mutex::new(ChaCha20Rng::seed_from_u64(seed)),
            cancelled: None,
        }
    }

    /// Without values: it computes only levels, noise bounds, keys and costs, which do not depend
    /// on values. For planning; decrypted plaintexts are empty.
    pub fn blank(params: &Params) -> Self {
        NoOp { values: false, ..Self::new(params, 0) }
    }

    /// The same for work that can be cancelled: once `cancelled` answers true, the next operation
    /// that would need a key is refused with [`SchemeError::Cancelled`].
    #[must_use]
    pub fn cancelled_by(self, cancelled: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        NoOp { cancelled: Some(Box::new(cancelled)), ..self }
    }

    /// The same for a server that has only these keys: a relinearization, an automorphism or a
    /// bootstrapping that none of them serves is refused, as the real scheme would, a
    /// relinearization takes the gadget for which there is a key, and
    /// [`Automorphisms::galois_level`] is that of these keys. Parts of linear maps that are moved
    /// as they are added up are not checked.
    ///
    /// [`Automorphisms::galois_level`]: crate::Automorphisms::galois_level
    #[must_use]
    pub fn holding(self, keys: KeyPlan) -> Self {
        NoOp { held: Some(keys), ..self }
    }

    fn still_wanted(&self) -> Result<(), SchemeError> {
        match &self.cancelled {
            Some(cancelled) if cancelled() => Err(SchemeError::Cancelled),
            _ => Ok(()),
        }
    }

    /// The parameter set.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// A simulated fresh encryption under the secret key.
    ///
    /// # Errors
    /// As the real one.
    pub fn encrypt(&self, plaintext: &Plaintext) -> Result<NoOpCiphertext, SchemeError> {
        self.encrypt_at(plaintext, self.params.chain().top())
    }

    /// The same at a level.
    ///
    /// # Errors
    /// As the real one.
    pub fn encrypt_at(
        &self,
        plaintext: &Plaintext,
        level: Level,
    ) -> Result<NoOpCiphertext, SchemeError> {
        self.encrypt_with(plaintext, level, |model, t| model.fresh_secret(t))
    }

    /// A simulated fresh encryption under the public key.
    ///
    /// # Errors
    /// As the real one.
    pub fn encrypt_publicly(&self, plaintext: &Plaintext) -> Result<NoOpCiphertext, SchemeError> {
        self.encrypt_publicly_at(plaintext, self.params.chain().top())
    }

    /// The same at a level.
    ///
    /// # Errors
    /// As the real one.
    pub fn encrypt_publicly_at(
        &self,
        plaintext: &Plaintext,
        level: Level,
    ) -> Result<NoOpCiphertext, SchemeError> {
        self.encrypt_with(plaintext, level, |model, t| model.fresh_public(t))
    }

    fn encrypt_with(
        &self,
        plaintext: &Plaintext,
        level: Level,
        noise: fn(&NoiseModel, u128) -> f64,
    ) -> Result<NoOpCiphertext, SchemeError> {
        Plaintext::check_exponent(&self.params, plaintext.exponent)?;
        let highest = self.params.chain().top();
        if level > highest {
            return Err(SchemeError::BadLevel { found: level, highest });
        }
        if self.values {
            plaintext.check(&self.params)?;
        }
        let t = self.params.plaintext_ring().modulus(plaintext.exponent).wide();
        let meta = self.params.noise().modeled(level, plaintext.exponent, |model| noise(model, t));
        let value = if self.values { plaintext.coefficients.to_vec() } else { Vec::new() };
        Ok(self.made(self.params.noise().checked(meta, "encryption")?, value))
    }

    /// A no-op ciphertext at `level` whose noise bound leaves `capacity` bits.
    ///
    /// # Errors
    /// If there is no such ciphertext.
    pub fn encrypt_exhausted(
        &self,
        plaintext: &Plaintext,
        level: Level,
        capacity: f64,
    ) -> Result<NoOpCiphertext, SchemeError> {
        let mut out = self.encrypt_at(plaintext, level)?;
        let noise = self.params.noise().noise_at(level, capacity);
        out.meta = Meta { noise, estimate: noise, ..out.meta };
        self.params.noise().checked(out.meta, "encryption")?;
        Ok(out)
    }

    /// What stands for a ciphertext with these public data, except its owner: a ciphertext of the
    /// value 0 with the same level, noise bound and factor.
    ///
    /// # Errors
    /// Public data that no ciphertext of this set has.
    pub fn like(&self, meta: &Meta) -> Result<NoOpCiphertext, SchemeError> {
        self.params.noise().check_meta(meta)?;
        Ok(self.made(Meta { owner: None, ..*meta }, self.zero()))
    }

    /// The plaintext, if decryption would be exact.
    ///
    /// # Errors
    /// As the real one.
    pub fn decrypt(&self, x: &NoOpCiphertext) -> Result<Plaintext, SchemeError> {
        self.check_set([&x.meta])?;
        self.params.noise().checked(x.meta, "decryption")?;
        let (spec, exponent) = (self.params.spec(), x.meta.exponent);
        let (index, prime) = (spec.index, spec.plain_prime);
        Ok(Plaintext { coefficients: x.value.clone().into(), index, prime, exponent })
    }

    /// Refuses operands of another parameter set.
    fn check_set<'m>(
        &self,
        operands: impl IntoIterator<Item = &'m Meta>,
    ) -> Result<(), SchemeError> {
        let noise = self.params.noise();
        operands.into_iter().try_for_each(|m| noise.check_origin(m, "the ciphertext"))
    }

    /// The cost of the operations so far in the real scheme, in the form of the set.
    pub fn cost(&self) -> Cost {
        self.counters.snapshot()
    }

    /// The keys that the real scheme would have used so far.
    pub fn key_plan(&self) -> KeyPlan {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn use_key(&self, f: impl FnOnce(&mut KeyPlan)) {
        f(&mut self.plan.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The gadget of a relinearization at a level, of those for which there are keys. Refuses a
    /// level that none of these serves.
    fn relin_gadget(&self, level: Level) -> Result<GadgetId, SchemeError> {
        let chain = self.params.chain();
        let Some(held) = &self.held else { return Ok(chain.gadget_id(level)) };
        let id = chain.relin_gadget(level, |id| held.relin.get(&id).copied());
        let found = held.relin.get(&id);
        self.check_key(found, level, "relinearization", "relinearization key")?;
        Ok(id)
    }

    /// Refuses an automorphism at a level without a key; the identity needs none.
    fn check_galois(&self, g: GaloisElement, level: Level) -> Result<(), SchemeError> {
        let Some(held) = self.held.as_ref().filter(|_| !g.is_identity()) else { return Ok(()) };
        let found = held.galois.get(&(g, self.params.chain().gadget_id(level)));
        self.check_key(found, level, "automorphism", "Galois key")
    }

    /// Refuses a key that is not there, or does not have all primes of a level.
    fn check_key(
        &self,
        found: Option<&Basis>,
        level: Level,
        operation: &'static str,
        key: &str,
    ) -> Result<(), SchemeError> {
        let key = key.to_string();
        match found {
            None => Err(SchemeError::MissingKey { operation, key }),
            Some(covered) if !self.params.chain().basis(level).is_subset(*covered) => {
                Err(SchemeError::KeyTooShort { operation, key, level })
            }
            Some(_) => Ok(()),
        }
    }

    fn use_galois(&self, g: GaloisElement, level: Level) {
        self.use_key(|plan| plan.add_galois(&self.params, g, level));
    }

    /// The product of two values.
    fn multiplied(&self, a: &[u64], b: &[u64], exponent: u32) -> Vec<u64> {
        if self.values { self.params.plaintext_ring().mul(a, b, exponent) } else { Vec::new() }
    }

    /// X -> X^g on a value. Over an index with axes an empty one, too, would take time for each of
    /// them.
    fn moved(&self, value: &[u64], g: GaloisElement, exponent: u32) -> Vec<u64> {
        if self.values {
            self.params.plaintext_ring().galois(value, g, exponent)
        } else {
            Vec::new()
        }
    }

    /// The zero value, or an empty one if no values are computed.
    fn zero(&self) -> Vec<u64> {
        if self.values { vec![0; self.params.degree()] } else { Vec::new() }
    }

    /// Uniform integers of -bound..=bound.
    fn pretend_overflow(&self, bound: u64) -> Vec<i64> {
        if !self.values {
            return Vec::new();
        }
        let mut rng = self.overflow.lock().unwrap_or_else(PoisonError::into_inner);
        (0..self.params.degree())
            .map(|_| (rng.next_u64() % (2 * bound + 1)) as i64 - bound as i64)
            .collect()
    }

    /// Integers of 0..range, one for each coefficient of a value.
    fn pretend_garbage(&self, range: u128) -> Vec<u64> {
        if !self.values {
            return Vec::new();
        }
        let mut rng = self.overflow.lock().unwrap_or_else(PoisonError::into_inner);
        (0..self.params.degree()).map(|_| (u128::from(rng.next_u64()) % range) as u64).collect()
    }

    // Transforms, by the formulas of the real kernels.
    fn count_division(&self, from: Basis, to: Basis, polynomials: usize) {
        self.counters.rounding(polynomials, from, to, self.params.degree());
        let dropped = from.minus(to).len();
        if dropped > 0 {
            self.counters.transforms(polynomials * (dropped + to.len()));
        }
    }

    fn count_decomposition(&self, level: Level, known: bool) {
        let chain = self.params.chain();
        self.count_decomposition_by(chain.gadget(level), chain.basis(level), known);
    }

    fn count_decomposition_by(&self, gadget: &Gadget, basis: Basis, known: bool) {
        let extended = basis.union(gadget.special()).len();
        let of_digit = |digit: Basis| extended - if known { digit.len() } else { 0 };
        self.counters.transforms(gadget.digits(basis).map(|(_, digit)| of_digit(digit)).sum());
    }

    /// The automorphism of a part of a linear map.
    fn count_giant(&self, g: GaloisElement, level: Level) {
        if !g.is_identity() {
            self.use_galois(g, level);
            self.counters.transforms(self.params.chain().extended(level).len());
            self.count_decomposition(level, false);
            self.count_key_switch(level, 1);
        }
    }

    fn count_key_switch(&self, level: Level, count: usize) {
        let chain = self.params.chain();
        self.count_key_switch_by(chain.gadget(level), chain.basis(level), count);
    }

    fn count_key_switch_by(&self, gadget: &Gadget, basis: Basis, count: usize) {
        let (components, digits, special) =
            (self.params.components(), gadget.digits(basis).count(), gadget.special().len());
        self.counters.key_switch(
            components,
            count,
            basis.len(),
            digits,
            special,
            self.params.degree(),
        );
    }
}
