//! LTV with a chain of prime powers, as its own party.

use everlevel::lab::SchemeError;
use everlevel::{Cost, GaloisElement, Level, Plaintext};
use everlevel_ltv::{KeyForm, LtvCiphertext, LtvEvalKeys, LtvEvaluator, LtvParams, LtvSecretKey};
use everlevel_ring::Cpu;
use everlevel_scheme::params::KeySecurity;
use rand_core::CryptoRng;

use super::party::Party;

/// LTV as Doröz, Hu and Sunar build it.
pub struct PrimePower {
    secret: LtvSecretKey,
    evaluator: LtvEvaluator,
}

impl PrimePower {
    /// Draws a key, and with it the evaluation key and those of `automorphisms`, kept in a form.
    pub fn new(
        params: &LtvParams,
        automorphisms: &[GaloisElement],
        form: KeyForm,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, SchemeError> {
        let secret = LtvSecretKey::generate(params, rng);
        let keys = LtvEvalKeys::generate(&secret, automorphisms, form, rng);
        let evaluator = LtvEvaluator::new(keys)?;
        Ok(PrimePower { secret, evaluator })
    }

    fn params(&self) -> &LtvParams {
        self.evaluator.params()
    }
}

impl Party for PrimePower {
    type Scheme = LtvEvaluator;
    fn scheme(&self) -> &LtvEvaluator {
        &self.evaluator
    }

    fn name(&self) -> &str {
        self.params().name()
    }

    fn security(&self) -> &KeySecurity {
        self.params().security()
    }

    fn top(&self) -> Level {
        self.params().top()
    }

    fn modulus_bits(&self, level: Level) -> f64 {
        self.params().modulus_bits(level)
    }

    fn encode(&self, elements: &[u64]) -> Result<Plaintext, SchemeError> {
        self.params().encode_elements(elements)
    }

    fn encrypt(
        &self,
        plain: &Plaintext,
        level: Level,
        rng: &mut impl CryptoRng,
    ) -> Result<LtvCiphertext, SchemeError> {
        self.secret.encrypt_at(plain, level, rng)
    }

    fn decrypt(&self, x: &LtvCiphertext) -> Result<Vec<u64>, SchemeError> {
        self.params().decode_elements(&self.secret.decrypt(x)?)
    }

    fn measure_noise(&self, x: &LtvCiphertext) -> Result<f64, SchemeError> {
        self.secret.measure_noise(x)
    }

    fn depth(&self, x: &LtvCiphertext) -> u32 {
        x.meta().depth
    }

    fn cost(&self) -> Cost {
        self.evaluator.cost()
    }

    fn cpu(&self) -> &Cpu {
        self.params().ring().cpu()
    }

    fn failure_log2(&self, _: &Cost) -> Option<f64> {
        None
    }

    fn key_bytes(&self) -> u64 {
        self.evaluator.keys().memory_bytes()
    }
}
