//! What is bootstrapped: messages at the ends of their range, and noise just below the bound.

use everlevel::lab::{Arithmetic, Evaluator};
use everlevel::{Ciphertext, Level, Params, Plaintext, SecretKey};
use everlevel_cli::console::errors::CliError;
use everlevel_ring::{Coeff, Poly};
use everlevel_scheme::{Meta, SchemeError};
use rand_core::{CryptoRng, Rng};
use serde::{Deserialize, Serialize};

/// What is in the slots, or, where they hold whole elements, in the coefficients; t = p^r.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Message {
    /// Uniform values.
    Random,
    /// 0 everywhere.
    Zero,
    /// t - 1 everywhere.
    Largest,
    /// (t - 1) / 2 everywhere.
    Half,
    /// (t + 1) / 2 everywhere.
    AboveHalf,
    /// One value that is not 0, at one random place.
    Single,
    /// 0 and t - 1 by turns.
    Alternating,
}

/// What the phase of the ciphertext holds beside the message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Noise {
    /// What encryption and switching down leave.
    Fresh,
    /// The bound, all of it in the constant coefficient.
    Constant,
    /// The bound, all of it in one random coefficient, of random sign.
    Monomial,
    /// The bound, spread over all coefficients with random signs.
    Dense,
}

/// All messages and all noises: their numbers have no common divisor, so that counting through both
/// at once meets every pair.
pub const MESSAGES: [Message; 7] = [
    Message::Random,
    Message::Zero,
    Message::Largest,
    Message::Half,
    Message::AboveHalf,
    Message::Single,
    Message::Alternating,
];
pub const NOISES: [Noise; 4] = [Noise::Fresh, Noise::Constant, Noise::Monomial, Noise::Dense];

/// Bits between the noise of what is switched down and the bound that crafted noise fills.
const ROOM: f64 = 3.0;

impl Message {
    /// A plaintext; `thin` if slots hold integers.
    pub fn plaintext(
        self,
        params: &Params,
        thin: bool,
        rng: &mut impl CryptoRng,
    ) -> Result<Plaintext, SchemeError> {
        let (t, count) =
            (params.plain_modulus(), if thin { params.slots() } else { params.degree() });
        let place = rng.next_u64() as usize % count;
        let values: Vec<u64> = (0..count)
            .map(|i| match self {
                Message::Random => uniform(t, rng),
                Message::Zero => 0,
                Message::Largest => t - 1,
                Message::Half => (t - 1) / 2,
                Message::AboveHalf => t.div_ceil(2),
                Message::Single if i == place => 1 + uniform(t - 1, rng),
                Message::Single => 0,
                Message::Alternating => (t - 1) * (i as u64 % 2),
            })
            .collect();
        if thin {
            Plaintext::encode(params, &values)
        } else {
            Plaintext::from_coefficients(params, values, params.plain_exponent())
        }
    }
}

/// Uniform below a bound, up to 2^-64.
fn uniform(bound: u64, rng: &mut impl Rng) -> u64 {
    ((u128::from(rng.next_u64()) * u128::from(bound)) >> 64) as u64
}

/// An encryption of the message that bootstrapping still accepts: at the lowest level that has room
/// for it, and with crafted noise as large as the bound allows. Whoever holds a ciphertext can add
/// such noise, since it needs no key.
pub fn exhausted(
    evaluator: &Evaluator,
    secret: &SecretKey,
    (value, noise): (&Plaintext, Noise),
    needed: f64,
    rng: &mut impl CryptoRng,
) -> Result<Ciphertext, CliError> {
    let params = secret.params();
    let tracker = params.noise();
    let fresh = secret.encrypt(value, rng)?;
    let room = if noise == Noise::Fresh { 0.0 } else { ROOM };
    let fits = |level: &Level| {
        tracker.capacity(&tracker.mod_switch(fresh.meta(), *level)) >= needed + room
    };
    let x = match (0..fresh.level().0).map(Level).find(fits) {
        Some(level) => evaluator.mod_switch_to(&fresh, level)?,
        None => fresh,
    };
    if noise == Noise::Fresh {
        return Ok(x);
    }
    let meta = *x.meta();
    let largest = tracker.noise_at(meta.level, needed + 1e-6);
    let t = params.plaintext_ring().modulus(meta.exponent).wide();
    let shape = noise.shape(params.degree(), rng);
    let norm =
        params.ring().norm().max(&shape.iter().map(|&x| x as f64).collect::<Vec<_>>()) * t as f64;
    // A hair below, for the rounding of the norm.
    let factor = ((largest.exp2() - meta.noise.exp2()) * (1.0 - 1e-9) / norm).floor();
    if !(1.0..9e18).contains(&factor) {
        return Err(CliError::failure(format!(
            "{}: no integer noise fills the bound 2^{largest:.1}",
            params.name()
        )));
    }
    let crafted: Vec<i64> = shape.iter().map(|&x| x * factor as i64).collect();
    let cpu = params.cpu();
    let mut crafted = Poly::<Coeff>::from_signed(cpu, params.chain().basis(meta.level), &crafted);
    // BFV's ciphertexts hold the phase divided by t.
    crafted.scale_assign(cpu, (t / meta.form.scale(t)) as i128);
    let mut components = x.components().to_vec();
    components[0].add_assign(cpu, &crafted.into_eval(cpu));
    let meta = Meta { noise: largest, estimate: largest, ..meta };
    Ok(Ciphertext::from_parts(params, meta, components)?)
}

impl Noise {
    /// Coefficients of magnitude at most 1.
    fn shape(self, degree: usize, rng: &mut impl Rng) -> Vec<i64> {
        let sign = |rng: &mut dyn FnMut() -> u64| if rng() & 1 == 0 { 1 } else { -1 };
        let mut next = || rng.next_u64();
        match self {
            Noise::Fresh => vec![0; degree],
            Noise::Dense => (0..degree).map(|_| sign(&mut next)).collect(),
            Noise::Constant | Noise::Monomial => {
                let mut shape = vec![0; degree];
                let monomial = self == Noise::Monomial;
                let place = if monomial { next() as usize % degree } else { 0 };
                shape[place] = if monomial { sign(&mut next) } else { 1 };
                shape
            }
        }
    }
}
