//! Whoever holds all keys of a run, whatever the scheme.

use everlevel::lab::{Evaluator, ExactScheme, Scheme, SchemeError};
use everlevel::{Ciphertext, Cost, KeyPlan, Level, Params, Plaintext, SecretKey, ServerKeys};
use everlevel_ring::Cpu;
use everlevel_scheme::params::KeySecurity;
use rand_core::CryptoRng;

/// The client and the server of a measurement in one.
pub trait Party {
    /// What the server computes with.
    type Scheme: ExactScheme;
    /// The server's side.
    fn scheme(&self) -> &Self::Scheme;

    /// The name of the parameter set.
    fn name(&self) -> &str;

    /// The security of its weakest key.
    fn security(&self) -> &KeySecurity;

    /// The highest level.
    fn top(&self) -> Level;

    /// The level at which AES begins.
    fn start(&self) -> Level {
        self.top()
    }

    /// log2 of the modulus at a level.
    fn modulus_bits(&self, level: Level) -> f64;

    /// Slots, d bits each, as a plaintext.
    fn encode(&self, elements: &[u64]) -> Result<Plaintext, SchemeError>;

    /// Encrypts at a level.
    fn encrypt(
        &self,
        plain: &Plaintext,
        level: Level,
        rng: &mut impl CryptoRng,
    ) -> Result<<Self::Scheme as Scheme>::Ciphertext, SchemeError>;
    /// The slots of a ciphertext, d bits each.
    fn decrypt(&self, x: &<Self::Scheme as Scheme>::Ciphertext) -> Result<Vec<u64>, SchemeError>;

    /// log2 of the noise, measured with the secret key.
    fn measure_noise(&self, x: &<Self::Scheme as Scheme>::Ciphertext) -> Result<f64, SchemeError>;

    /// How many products lie in a row behind a ciphertext.
    fn depth(&self, x: &<Self::Scheme as Scheme>::Ciphertext) -> u32;

    /// What the server has computed so far.
    fn cost(&self) -> Cost;

    /// What computes in the ring of the server.
    fn cpu(&self) -> &Cpu;

    /// log2 of the probability that noise exceeds its bound in a computation of this cost, for
    /// bounds that are more than averages.
    fn failure_log2(&self, cost: &Cost) -> Option<f64>;

    /// Bytes of the evaluation keys in memory.
    fn key_bytes(&self) -> u64;
}

/// BGV, or LTV over NTRU, with a modulus of distinct primes.
pub struct Rns {
    secret: SecretKey,
    evaluator: Evaluator,
    start: Level,
}

impl Rns {
    /// Draws the keys of a plan, for ciphertexts that begin at a level.
    pub fn new(
        params: &Params,
        (start, plan): (Level, &KeyPlan),
        rng: &mut impl CryptoRng,
    ) -> Result<Self, SchemeError> {
        let secret = SecretKey::generate(params, rng);
        let evaluator = Evaluator::new(ServerKeys::generate(&secret, plan, rng, |_, _| ())?);
        Ok(Rns { secret, evaluator, start })
    }

    fn params(&self) -> &Params {
        self.evaluator.params()
    }
}

impl Party for Rns {
    type Scheme = Evaluator;
    fn scheme(&self) -> &Evaluator {
        &self.evaluator
    }

    fn name(&self) -> &str {
        self.params().name()
    }

    fn security(&self) -> &KeySecurity {
        self.params().security().weakest()
    }

    fn top(&self) -> Level {
        self.params().chain().top()
    }

    fn start(&self) -> Level {
        self.start
    }

    fn modulus_bits(&self, level: Level) -> f64 {
        self.params().modulus_bits(level)
    }

    fn encode(&self, elements: &[u64]) -> Result<Plaintext, SchemeError> {
        Plaintext::encode_elements(self.params(), elements)
    }

    fn encrypt(
        &self,
        plain: &Plaintext,
        level: Level,
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertext, SchemeError> {
        self.secret.encrypt_at(plain, level, rng)
    }

    fn decrypt(&self, x: &Ciphertext) -> Result<Vec<u64>, SchemeError> {
        self.secret.decrypt(x)?.decode_elements(self.params())
    }

    fn measure_noise(&self, x: &Ciphertext) -> Result<f64, SchemeError> {
        self.secret.measure_noise(x)
    }

    fn depth(&self, x: &Ciphertext) -> u32 {
        x.meta().depth
    }

    fn cost(&self) -> Cost {
        self.evaluator.cost()
    }

    fn cpu(&self) -> &Cpu {
        self.params().cpu()
    }

    fn failure_log2(&self, cost: &Cost) -> Option<f64> {
        Some(everlevel::failure_log2(self.params(), cost))
    }

    fn key_bytes(&self) -> u64 {
        self.evaluator.keys().memory_bytes()
    }
}
