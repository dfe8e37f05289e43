//! Key pairs under which random and extreme inputs are bootstrapped, and what is counted.

use everlevel::lab::{Bootstrapper, Evaluator};
use everlevel::{Ciphertext, KeyPlanner, Params, SecretKey, ServerKeys};
use everlevel_cli::commands::bench::measure::wrong_slots;
use everlevel_cli::console::errors::CliError;
use everlevel_scheme::spec::BootstrapMode;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use super::families::Family;
use super::input::{MESSAGES, Message, NOISES, Noise, exhausted};

/// What one bootstrapping showed.
pub struct Outcome {
    /// What was encrypted.
    pub message: Message,
    /// And under which noise.
    pub noise: Noise,
    /// log2(bound / noise) of what was bootstrapped.
    pub input_gap: f64,
    /// log2(bound / noise) of the result.
    pub gap: f64,
    /// log2 of the noise of the result.
    pub measured: f64,
    /// log2 of its bound.
    pub bound: f64,
    /// Slots that are wrong.
    pub wrong: usize,
}

/// A family with the tables that serve all keys.
pub struct Soak {
    name: &'static str,
    params: Params,
    planner: KeyPlanner,
    bootstrapper: Bootstrapper<Evaluator>,
}

impl Soak {
    /// Prepares the tables, which depend on no key.
    pub fn new(family: &Family) -> Result<Self, CliError> {
        let (params, planner) = family.planner()?;
        let mut rng = ChaCha20Rng::seed_from_u64(0);
        let secret = SecretKey::generate(&params, &mut rng);
        let keys = ServerKeys::generate(&secret, &planner.keys(), &mut rng, |_, _| ())?;
        let evaluator = Evaluator::new(keys);
        let bootstrapper = Bootstrapper::new(&evaluator, planner.bootstrap_plan().clone())?;
        bootstrapper.prepare(&evaluator, planner.stages())?;
        Ok(Soak { name: family.name, params, planner, bootstrapper })
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// log2 of the probability that one bootstrapping fails.
    pub fn failure_log2(&self) -> f64 {
        everlevel::failure_log2(&self.params, &self.planner.cost())
    }

    /// Whether slots hold integers; round the digit removal of rings of odd index go whole slots.
    fn thin(&self) -> bool {
        match self.planner.bootstrap_plan().mode {
            BootstrapMode::Thin => true,
            BootstrapMode::Full => false,
            BootstrapMode::Bypass => self.params.ring().axes().is_none(),
        }
    }

    /// `runs` bootstrappings under key pair number `key`: the same ones whenever seed and numbers
    /// are the same.
    pub fn key_pair(&self, seed: u64, key: u64, runs: u64) -> Result<Vec<Outcome>, CliError> {
        let mut rng = generator(seed, self.name, key);
        let secret = SecretKey::generate(&self.params, &mut rng);
        let keys = ServerKeys::generate(&secret, &self.planner.keys(), &mut rng, |_, _| ())?;
        let evaluator = Evaluator::new(keys);
        let needed = self.bootstrapper.minimum_capacity(&evaluator);
        let one = |run: u64| {
            let (message, noise) = kinds(key * runs + run);
            let value = message.plaintext(&self.params, self.thin(), &mut rng)?;
            let x = exhausted(&evaluator, &secret, (&value, noise), needed, &mut rng)?;
            let y = self.bootstrapper.bootstrap(&evaluator, &x)?;
            let gap = |x: &Ciphertext| -> Result<f64, CliError> {
                Ok(x.noise_bound_bits() - secret.measure_noise(x)?)
            };
            Ok(Outcome {
                message,
                noise,
                input_gap: gap(&x)?,
                gap: gap(&y)?,
                measured: secret.measure_noise(&y)?,
                bound: y.noise_bound_bits(),
                wrong: wrong_slots(&secret, &x, &value)? + wrong_slots(&secret, &y, &value)?,
            })
        };
        (0..runs).map(one).collect()
    }
}

/// The message and the noise of bootstrapping number `i`.
fn kinds(i: u64) -> (Message, Noise) {
    (MESSAGES[i as usize % MESSAGES.len()], NOISES[i as usize % NOISES.len()])
}

/// The random numbers of a key pair: seeded by the seed and the name, one stream for each pair.
fn generator(seed: u64, name: &str, key: u64) -> ChaCha20Rng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    for (i, byte) in name.bytes().enumerate() {
        bytes[8 + i % 24] ^= byte;
    }
    let mut rng = ChaCha20Rng::from_seed(bytes);
    rng.set_stream(key);
    rng
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand_core::Rng;

    use super::*;

    #[test]
    fn every_message_meets_every_noise() {
        let all: BTreeSet<_> = (0..28).map(kinds).collect();
        assert_eq!(all.len(), MESSAGES.len() * NOISES.len());
    }

    #[test]
    fn key_pairs_have_random_numbers_of_their_own() {
        let first = |seed, name, key| generator(seed, name, key).next_u64();
        let all = [first(1, "a", 1), first(2, "a", 1), first(1, "b", 1), first(1, "a", 2)];
        assert_eq!(BTreeSet::from(all).len(), all.len());
        assert_eq!(all[0], first(1, "a", 1));
    }
}
