//! One bootstrapping under fresh keys, on random values, with everything checked.

use std::collections::BTreeMap;
use std::time::Instant;

use everlevel::lab::{Arithmetic, Bootstrapper, Cpu, EvalKeys, Evaluator, Scheme, Stage};
use everlevel::{Ciphertext, KeyPlanner, Level, NextUse, Params, Plaintext, SecretKey, ServerKeys};
use everlevel_scheme::spec::BootstrapMode;
use rand_core::CryptoRng;

use super::profile::{Shares, Watch};
use crate::console::errors::CliError;
use crate::console::output::threads;

/// What one run showed.
pub struct Outcome {
    /// Wall-clock seconds of the bootstrapping.
    pub seconds: f64,
    /// Seconds by stage.
    pub stages: BTreeMap<&'static str, f64>,
    /// The work of all threads by stage, if it was asked for.
    pub shares: Shares,
    /// What was counted.
    pub cost: everlevel::Cost,
    /// Capacity before, in bits.
    pub before: f64,
    /// Capacity of what was raised, and before and after the digit removal, in bits.
    pub capacities: [f64; 3],
    /// Capacity after, in bits.
    pub after: f64,
    /// Squarings in a row after which the result can still be bootstrapped.
    pub multiplications: usize,
    /// Squarings in a row of a fresh ciphertext, and of a bootstrapped one, until one is refused.
    pub depth: [usize; 2],
    /// The bound on the noise, in bits.
    pub bound: f64,
    /// The measured noise, in bits.
    pub measured: f64,
    /// Slots that are wrong.
    pub wrong: usize,
    /// Seconds for all keys.
    pub key_seconds: f64,
    /// Seconds for what depends on no key, with the bootstrapping that is made along the way.
    pub table_seconds: f64,
}

/// In how many slots a ciphertext decrypts to another value.
///
/// # Errors
/// A ciphertext of another key, or with too much noise.
pub fn wrong_slots(
    secret: &SecretKey,
    x: &Ciphertext,
    value: &Plaintext,
) -> Result<usize, CliError> {
    let (found, params) = (secret.decrypt(x)?, secret.params());
    if found == *value {
        return Ok(0);
    }
    let width = params.slot_shape().degree_of_slot();
    let (a, b) = (found.decode_elements(params)?, value.decode_elements(params)?);
    Ok(a.chunks(width).zip(b.chunks(width)).filter(|(a, b)| a != b).count())
}

/// A parameter set with its plan, and the tables that serve all runs.
pub struct Bench {
    params: Params,
    planner: KeyPlanner,
    bootstrapper: Option<Bootstrapper<Evaluator>>,
    profiled: bool,
    seeded_keys: bool,
    batch: u32,
}

impl Bench {
    /// For the set of a planner.
    pub fn new(params: &Params, planner: KeyPlanner) -> Self {
        Bench {
            params: params.clone(),
            planner,
            bootstrapper: None,
            profiled: false,
            seeded_keys: false,
            batch: 1,
        }
    }

    /// How many ciphertexts are bootstrapped together.
    #[must_use]
    pub fn with_batch(self, batch: u32) -> Self {
        Bench { batch, ..self }
    }

    /// Whether the kinds of work are timed.
    #[must_use]
    pub fn profiled(self, profiled: bool) -> Self {
        Bench { profiled, ..self }
    }

    /// Whether the uniform halves of keys stay seeds.
    #[must_use]
    pub fn with_seeded_keys(self, seeded_keys: bool) -> Self {
        Bench { seeded_keys, ..self }
    }

    /// The planner.
    pub fn planner(&self) -> &KeyPlanner {
        &self.planner
    }

    /// Whether only integers in the slots survive: round the digit removal of rings of odd index go
    /// whole slots.
    fn thin(&self) -> bool {
        match self.planner.bootstrap_plan().mode {
            BootstrapMode::Thin => true,
            BootstrapMode::Full => false,
            BootstrapMode::Bypass => self.params.ring().axes().is_none(),
        }
    }

    /// New keys: the secret one, and those of a server.
    pub(super) fn keys(
        &self,
        rng: &mut impl CryptoRng,
    ) -> Result<(SecretKey, ServerKeys), CliError> {
        let secret = SecretKey::generate(&self.params, rng);
        let plan = self.planner.keys();
        let keys = match self.seeded_keys {
            true => ServerKeys::generate_seeded(&secret, &plan, rng, |_, _| ())?,
            false => ServerKeys::generate(&secret, &plan, rng, |_, _| ())?,
        };
        Ok((secret, keys))
    }

    /// One run with keys and values from `rng`; `tick` is called after each of its four parts.
    pub fn run(&mut self, rng: &mut impl CryptoRng, tick: &dyn Fn()) -> Result<Outcome, CliError> {
        let started = Instant::now();
        let (secret, keys) = self.keys(rng)?;
        let evaluator = Evaluator::new(keys);
        let key_seconds = started.elapsed().as_secs_f64();
        tick();

        // Tables do not depend on keys: they are made once, ahead of the timed bootstrapping, and
        // kept for the other runs.
        let started = Instant::now();
        let boot = match self.bootstrapper.take() {
            Some(made) => made,
            None => {
                let made = Bootstrapper::new(&evaluator, self.planner.bootstrap_plan().clone())?;
                made.prepare(&evaluator, self.planner.stages())?;
                made
            }
        };
        let table_seconds = started.elapsed().as_secs_f64();
        tick();
        let needed = boot.minimum_capacity(&evaluator);
        let inputs = (0..self.batch).map(|_| self.exhausted(&evaluator, &secret, needed, rng));
        let inputs = inputs.collect::<Result<Vec<(Ciphertext, Plaintext)>, CliError>>()?;
        let (exhausted, values): (Vec<_>, Vec<_>) = inputs.into_iter().unzip();
        tick();

        let counted = evaluator.cost();
        let profile = self.profiled.then(|| evaluator.engine().timings());
        let mut watch = Watch::new(profile, threads());
        let started = Instant::now();
        let together: Vec<&Ciphertext> = exhausted.iter().collect();
        let fresh = boot.bootstrap_many_observed(&evaluator, &together, &mut watch)?;
        let seconds = started.elapsed().as_secs_f64() / f64::from(self.batch);
        let cost = (evaluator.cost() - counted) / u64::from(self.batch);
        self.bootstrapper = Some(boot);

        let Watch { reports, shares, .. } = watch;
        let mut stages = BTreeMap::new();
        for r in &reports {
            let share = r.elapsed.as_secs_f64() / f64::from(self.batch);
            *stages.entry(r.stage.name()).or_insert(0.0) += share;
        }
        let first = |stage: Stage| reports.iter().position(|r| r.stage == stage).unwrap_or(0);
        let (raise, removal) = (first(Stage::ModRaise), first(Stage::DigitRemoval));
        let capacities = [raise, removal.saturating_sub(1), removal]
            .map(|i| reports.get(i).map_or(0.0, |r| r.capacity_bits));
        let (mut measured, mut wrong) = (f64::NEG_INFINITY, 0);
        for (x, value) in fresh.iter().zip(&values) {
            measured = secret.measure_noise(x)?.max(measured);
            wrong += wrong_slots(&secret, x, value)?;
        }
        let none = || CliError::failure("no ciphertext was bootstrapped");
        let bits = |x: &Ciphertext| evaluator.capacity_bits(x);
        let before = exhausted.iter().map(bits).fold(f64::INFINITY, f64::min);
        let after = fresh.iter().map(bits).fold(f64::INFINITY, f64::min);
        let bound = fresh.iter().map(Ciphertext::noise_bound_bits).fold(f64::INFINITY, f64::min);
        let fresh = fresh.into_iter().next().ok_or_else(none)?;
        let value = values.into_iter().next().ok_or_else(none)?;
        let (multiplications, depth_after) =
            self.multiply_on(&evaluator, &secret, fresh, value.clone(), needed)?;
        let new = secret.encrypt(&value, rng)?;
        let (_, depth_fresh) = self.multiply_on(&evaluator, &secret, new, value, needed)?;
        tick();
        Ok(Outcome {
            seconds,
            stages,
            shares,
            cost,
            before,
            capacities,
            after,
            multiplications,
            depth: [depth_fresh, depth_after],
            bound,
            measured,
            wrong,
            key_seconds,
            table_seconds,
        })
    }

    /// Uniform values in every slot: integers modulo p^r, or elements of its extension of degree d.
    fn random(&self, rng: &mut impl CryptoRng) -> Result<Plaintext, CliError> {
        let params = &self.params;
        let t = params.plaintext_ring().modulus(params.plain_exponent());
        let mut uniform = |count: usize| -> Vec<u64> {
            (0..count)
                .map(|_| {
                    t.reduce_u128(u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64()))
                })
                .collect()
        };
        Ok(match self.thin() {
            true => Plaintext::encode(params, &uniform(params.slots()))?,
            false => Plaintext::from_coefficients(
                params,
                uniform(params.degree()),
                params.plain_exponent(),
            )?,
        })
    }

    /// A ciphertext of random values at the lowest level that bootstrapping accepts, its noise at
    /// the bound: exhausted out by products and sums (x <- x y + z), then switched down, then
    /// multiplied by constants until one more bit would be too much.
    pub(super) fn exhausted<K: EvalKeys>(
        &self,
        evaluator: &Evaluator<Cpu, K>,
        secret: &SecretKey,
        needed: f64,
        rng: &mut impl CryptoRng,
    ) -> Result<(Ciphertext, Plaintext), CliError> {
        let params = &self.params;
        let mut fresh = || -> Result<(Ciphertext, Plaintext), CliError> {
            let value = self.random(rng)?;
            Ok((secret.encrypt(&value, rng)?, value))
        };
        let accepted = |x: &Ciphertext| evaluator.capacity_bits(x) >= needed;
        let (mut x, mut value) = fresh()?;
        let ((y, ys), (z, zs)) = (fresh()?, fresh()?);
        while let Ok(next) =
            evaluator.mul(&x, &y, NextUse::Product).and_then(|xy| evaluator.add(&xy, &z))
        {
            if !accepted(&next) {
                break;
            }
            x = next;
            value = value.mul(&ys, params)?.add(&zs, params)?;
        }
        let lowest = (0..x.level().0).map(Level).find(|&l| {
            let low = params.noise().mod_switch(x.meta(), l);
            params.noise().capacity(&low) >= needed && evaluator.mod_switch_to(&x, l).is_ok()
        });
        if let Some(level) = lowest {
            x = evaluator.mod_switch_to(&x, level)?;
        }
        // The largest constants that still fit, the last one at least 2.
        let t = params.plain_modulus();
        loop {
            let spare = evaluator.capacity_bits(&x) - needed;
            let most = spare.exp2().min(t as f64 / 2.0).floor() as i64;
            let units =
                (2..=most).rev().filter(|k| !(*k as u64).is_multiple_of(params.spec().plain_prime));
            let constant = units
                .take(2)
                .find_map(|k| evaluator.mul_scalar(&x, k).ok().filter(accepted).map(|y| (k, y)));
            let Some((k, y)) = constant else { break };
            x = y;
            value = value.scaled(k, params)?;
        }
        if wrong_slots(secret, &x, &value)? > 0 {
            return Err(CliError::failure(
                "the input of the bootstrapping is wrong already: please report this",
            ));
        }
        Ok((x, value))
    }

    /// Squares until the next square would be refused; every result is decrypted and compared.
    /// Returns after how many squares the result can still be bootstrapped, and how many there
    /// were.
    fn multiply_on(
        &self,
        evaluator: &Evaluator,
        secret: &SecretKey,
        mut x: Ciphertext,
        mut value: Plaintext,
        needed: f64,
    ) -> Result<(usize, usize), CliError> {
        let (mut alive, mut count) = (0, 0);
        while let Ok(next) = evaluator.mul(&x, &x, NextUse::Product) {
            x = next;
            value = value.mul(&value, &self.params)?;
            count += 1;
            if evaluator.capacity_bits(&x) >= needed {
                alive = count;
            }
            if wrong_slots(secret, &x, &value)? > 0 {
                return Err(CliError::failure(format!(
                    "product {count} in a row is wrong: please report this"
                )));
            }
        }
        Ok((alive, count))
    }
}
