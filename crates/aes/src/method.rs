//! What every way of evaluating AES has in common: the trait [`Aes`].

use everlevel_circuit::CircuitError;
use everlevel_scheme::{ExactScheme, Level, Plaintext, Scheme, SchemeError};
use rayon::prelude::*;

use crate::error::AesError;
use crate::key::KeySize;
use crate::layout::Layout;
use crate::round::{Cipher, Direction, Round};

/// Gives the encrypted key of a round, for ciphertexts at a level: FIPS-197's round key
/// ([`KeySchedule::round_keys`](crate::KeySchedule::round_keys)) in every block, as [`Aes::encode`]
/// lays it out. At that level or above; best encrypted at just that level.
pub type KeySource<'k, S> =
    &'k mut dyn FnMut(usize, Level) -> Result<Vec<<S as Scheme>::Ciphertext>, AesError>;
/// Is shown the state after each round, by the number of the round; 0 is the addition of the first
/// key.
pub type Observer<'o, S> =
    &'o mut dyn FnMut(usize, &[<S as Scheme>::Ciphertext]) -> Result<(), AesError>;
/// Takes the state after each round, and gives what the next one begins with: the same blocks, as
/// they are or refreshed.
pub type Between<'b, S> = &'b mut dyn FnMut(
    usize,
    Vec<<S as Scheme>::Ciphertext>,
) -> Result<Vec<<S as Scheme>::Ciphertext>, AesError>;

/// What the first round key is added to.
pub enum Start<'s, S: ExactScheme> {
    /// Encrypted blocks.
    Encrypted(Vec<S::Ciphertext>),
    /// Blocks that all may know, [`Aes::width`] plaintexts. The first key is asked for at a level,
    /// and nothing is encrypted.
    Public(&'s [Plaintext], Level),
}

/// A way of evaluating AES.
pub trait Aes<S: ExactScheme>: Sync {
    /// Which slot holds which byte.
    fn layout(&self) -> &Layout;

    /// One round, the addition of its key included.
    ///
    /// # Errors
    /// [`AesError::Width`], those of the scheme and of `keys`.
    fn round(
        &self,
        scheme: &S,
        state: Vec<S::Ciphertext>,
        round: Round,
        keys: KeySource<'_, S>,
    ) -> Result<Vec<S::Ciphertext>, AesError>;

    /// How many ciphertexts a state has.
    fn width(&self) -> usize {
        self.layout().width()
    }

    /// How many blocks a state holds.
    fn blocks(&self) -> usize {
        self.layout().blocks()
    }

    /// As [`Layout::encode`].
    fn encode(&self, blocks: &[[u8; 16]]) -> Vec<Vec<u64>> {
        self.layout().encode(blocks)
    }

    /// As [`Layout::decode`].
    ///
    /// # Errors
    /// As [`Layout::decode`].
    fn decode(&self, elements: &[Vec<u64>]) -> Result<Vec<[u8; 16]>, AesError> {
        self.layout().decode(elements)
    }

    /// Adds the key of a round, asked for at `level`.
    ///
    /// # Errors
    /// [`AesError::Width`], those of the scheme and of `keys`.
    fn add_key(
        &self,
        scheme: &S,
        state: &[S::Ciphertext],
        round: usize,
        level: Level,
        keys: KeySource<'_, S>,
    ) -> Result<Vec<S::Ciphertext>, AesError> {
        let key = keys(round, level)?;
        AesError::check_width("a round key", key.len(), state.len())?;
        state.par_iter().zip(&key).map(|(x, k)| Ok(scheme.add(x, k)?)).collect()
    }

    /// AES on all blocks of a state. `between` is called after the addition of the first key and
    /// after each round.
    ///
    /// # Errors
    /// [`AesError::PlainModulus`] for p other than 2, [`AesError::Width`],
    /// [`AesError::Rounds`], [`SchemeError::WrongParams`] for keys of other parameters, those of
    /// the scheme, of `keys` and of `between`.
    fn evaluate(
        &self,
        scheme: &S,
        start: Start<'_, S>,
        cipher: Cipher,
        keys: KeySource<'_, S>,
        between: Between<'_, S>,
    ) -> Result<Vec<S::Ciphertext>, AesError> {
        AesError::check_prime(scheme.plain_prime())?;
        cipher.check()?;
        // What may come from a client is looked at.
        let check = |what: &'static str, state: &[S::Ciphertext]| {
            AesError::check_width(what, state.len(), self.width())?;
            Ok::<_, AesError>(state.iter().try_for_each(|x| scheme.check_params(x))?)
        };
        let keys: KeySource<'_, S> = &mut |round, level| {
            let key = keys(round, level)?;
            check("a round key", &key)?;
            Ok(key)
        };
        let first = cipher.key(0);
        let mut state = match start {
            Start::Encrypted(state) => {
                check("the state", &state)?;
                let level = state.iter().map(|x| scheme.level(x)).min().unwrap_or(Level(0));
                self.add_key(scheme, &state, first, level, keys)?
            }
            Start::Public(blocks, level) => {
                AesError::check_width("the state", blocks.len(), self.width())?;
                let key = keys(first, level)?;
                key.par_iter()
                    .zip(blocks)
                    .map(|(k, x)| Ok(scheme.add_plain(k, x)?))
                    .collect::<Result<_, AesError>>()?
            }
        };
        for number in 0..=cipher.rounds {
            if number > 0 {
                state = self.round(scheme, state, cipher.round(number), keys)?;
            }
            state = between(number, state)?;
        }
        Ok(state)
    }

    /// Encrypts the blocks of `state` under AES: the first `rounds` rounds, all of them being
    /// `size.rounds()`.
    ///
    /// # Errors
    /// As [`Aes::evaluate`].
    fn encrypt(
        &self,
        scheme: &S,
        state: Vec<S::Ciphertext>,
        size: KeySize,
        rounds: usize,
        keys: KeySource<'_, S>,
        observer: Observer<'_, S>,
    ) -> Result<Vec<S::Ciphertext>, AesError> {
        let cipher = Cipher::new(size, Direction::Encrypt).reduced(rounds);
        self.evaluate(scheme, Start::Encrypted(state), cipher, keys, &mut observed::<S>(observer))
    }

    /// Decrypts the blocks of `state` under AES, with the same round keys, from the last one on:
    /// the first `rounds` rounds of decryption.
    ///
    /// # Errors
    /// As [`Aes::evaluate`].
    fn decrypt(
        &self,
        scheme: &S,
        state: Vec<S::Ciphertext>,
        size: KeySize,
        rounds: usize,
        keys: KeySource<'_, S>,
        observer: Observer<'_, S>,
    ) -> Result<Vec<S::Ciphertext>, AesError> {
        let cipher = Cipher::new(size, Direction::Decrypt).reduced(rounds);
        self.evaluate(scheme, Start::Encrypted(state), cipher, keys, &mut observed::<S>(observer))
    }

    /// The levels at which round keys are needed, in the order of their use ([`Cipher::key`]), if
    /// `start` is a ciphertext of the state at the beginning. `blank` encrypts anything at a level:
    /// on the no-op scheme without values this takes milliseconds, and the scheme knows the server
    /// keys and the costs of the circuit afterwards.
    ///
    /// # Errors
    /// As [`Aes::evaluate`].
    fn round_key_levels(
        &self,
        scheme: &S,
        start: S::Ciphertext,
        cipher: Cipher,
        mut blank: impl FnMut(Level) -> Result<S::Ciphertext, AesError>,
    ) -> Result<Vec<Level>, AesError>
    where
        Self: Sized,
    {
        let mut levels = Vec::with_capacity(cipher.rounds + 1);
        let mut keys = |_: usize, level: Level| {
            levels.push(level);
            Ok(vec![blank(level)?; self.width()])
        };
        let start = Start::Encrypted(vec![start; self.width()]);
        self.evaluate(scheme, start, cipher, &mut keys, &mut |_, state| Ok(state))?;
        Ok(levels)
    }

    /// The capacity, in bits, that AES leaves if `start` is a ciphertext of the state at the
    /// beginning. `blank` encrypts anything at a level; see [`lowest_start`](crate::lowest_start).
    ///
    /// # Errors
    /// As [`Aes::evaluate`].
    fn capacity_after(
        &self,
        scheme: &S,
        start: S::Ciphertext,
        cipher: Cipher,
        mut blank: impl FnMut(Level) -> Result<S::Ciphertext, AesError>,
    ) -> Result<f64, AesError>
    where
        Self: Sized,
    {
        let mut keys = |_: usize, level: Level| Ok(vec![blank(level)?; self.width()]);
        let start = Start::Encrypted(vec![start; self.width()]);
        let state = self.evaluate(scheme, start, cipher, &mut keys, &mut |_, state| Ok(state))?;
        Ok(least_capacity(scheme, &state))
    }

    /// The capacity, in bits, from which on a state has room for a round of a direction and has
    /// `reserve` bits left after it: states fresh at the lower levels up to `top` are taken through
    /// as many rounds as there is room for, and it is the least of their capacities that is above
    /// all those that were too little. On the no-op scheme without values this takes seconds; best
    /// on one of its own, as it meets more levels than a run, and a plan of server keys would have
    /// them all.
    ///
    /// # Errors
    /// [`CircuitError::NotEnoughCapacity`] if there is no room for a round from `top` either, and
    /// as [`Aes::evaluate`].
    fn capacity_for_round(
        &self,
        scheme: &S,
        direction: Direction,
        top: Level,
        reserve: f64,
        mut blank: impl FnMut(Level) -> Result<S::Ciphertext, AesError>,
    ) -> Result<f64, AesError>
    where
        Self: Sized,
    {
        let round = Cipher::new(KeySize::Aes256, direction).round(2);
        let (mut enough, mut too_little) = (Vec::new(), f64::NEG_INFINITY);
        for level in (0..=top.0).map(Level) {
            let mut state = match blank(level) {
                Ok(x) => vec![x; self.width()],
                Err(AesError::Scheme(SchemeError::NoiseOverflow { .. })) => continue,
                Err(error) => return Err(error),
            };
            // More levels would only pass by the same capacities again.
            if !enough.is_empty() && least_capacity(scheme, &state) > 3.0 * too_little {
                break;
            }
            for _ in 0..KeySize::Aes256.rounds() {
                let capacity = least_capacity(scheme, &state);
                let mut keys = |_: usize, level: Level| Ok(vec![blank(level)?; self.width()]);
                state = match self.round(scheme, state, round, &mut keys) {
                    Ok(next) if least_capacity(scheme, &next) >= reserve => next,
                    Ok(_) | Err(AesError::Scheme(SchemeError::NoiseOverflow { .. })) => {
                        too_little = capacity.max(too_little);
                        break;
                    }
                    Err(error) => return Err(error),
                };
                enough.push(capacity);
            }
        }
        let least =
            enough.iter().copied().filter(|&capacity| capacity > too_little).reduce(f64::min);
        let left = enough.into_iter().fold(0.0, f64::max);
        let needed = too_little.max(left);
        least.ok_or(CircuitError::NotEnoughCapacity { left, needed }.into())
    }
}

/// The capacity of a state.
pub(crate) fn least_capacity<S: ExactScheme>(scheme: &S, state: &[S::Ciphertext]) -> f64 {
    state.iter().map(|x| scheme.capacity_bits(x)).fold(f64::INFINITY, f64::min)
}

/// An observer who changes nothing.
fn observed<S: ExactScheme>(
    observer: Observer<'_, S>,
) -> impl FnMut(usize, Vec<S::Ciphertext>) -> Result<Vec<S::Ciphertext>, AesError> + '_ {
    move |number, state| observer(number, &state).map(|()| state)
}
