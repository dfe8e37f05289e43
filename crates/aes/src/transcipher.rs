//! From AES ciphertexts to ciphertexts of the scheme: transciphering.

use everlevel_circuit::CircuitError;
use everlevel_scheme::{ExactScheme, Level, Plaintext};
use rayon::prelude::*;

use crate::error::AesError;
use crate::key::KeySize;
use crate::method::{Aes, KeySource, Start};
use crate::modes::{Blocks, Mode};
use crate::refresh::Refresh;
use crate::round::Cipher;

/// A batch of data as ciphertexts of the scheme.
pub struct Batch<S: ExactScheme> {
    /// The ciphertexts, with the layout of [`Aes::layout`].
    pub state: Vec<S::Ciphertext>,
    /// The position of the first byte in the stream of data.
    pub offset: u64,
    /// The number of bytes of the state that are data; all later ones, in the order of the layout,
    /// are not, see [`Transcipher`].
    pub length: usize,
}

/// The progress of a transciphering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes finished before this batch.
    pub offset: u64,
    /// Rounds done on this batch.
    pub round: usize,
    /// Rounds of a batch.
    pub rounds: usize,
}

/// Decrypts a stream of AES ciphertext homomorphically, a state at a time: transciphering.
///
/// A client encrypts its data under AES, as it does anyway, and sends its AES key once, encrypted
/// under the scheme ([`crate::RoundKeys`]). The server obtains ciphertexts whose slots are the
/// bytes of the data. This does not provide
/// * *authentication*: a flipped bit of CTR or GCM data is flipped in the plaintext. The tag of GCM
///   or an HMAC has to be checked beforehand by a party that has the key, such as the client before
///   it sends the data; the server cannot check it.
/// * *security against chosen ciphertexts*: data made by an attacker are decrypted like any other,
///   and readers of results learn results computed from them.
/// * *circuit privacy*: the noise of results reveals something about the computation to the owner
///   of the secret key.
///
/// It needs memory for one state and the temporary data of a round. The cost is that of AES for
/// each batch, whatever its length; in CTR and GCM the first round key is added to public counters,
/// and the data are added to the keystream at the end, both without key switches.
///
/// If the data do not fill a state, the last block is repeated in the remaining blocks, so these
/// hold nothing but data. If the data end within a block (CTR and GCM), the bytes after them hold
/// that block's unused keystream, which encrypts nothing else as long as a counter is not used
/// twice.
pub struct Transcipher<'t, S: ExactScheme, A: Aes<S>> {
    scheme: &'t S,
    aes: &'t A,
    cipher: Cipher,
    mode: Mode,
    level: Level,
    keys: KeySource<'t, S>,
    refresh: Option<Refresh<'t, S>>,
    offset: u64,
    ended: bool,
}

impl<'t, S: ExactScheme, A: Aes<S>> Transcipher<'t, S, A> {
    /// A transciphering of data in a mode. `keys` provides round keys
    /// ([`crate::RoundKeys::source`], or on demand); the first one that is used ([`Cipher::key`])
    /// is requested at `level`.
    ///
    /// # Errors
    /// [`AesError::PlainModulus`] for p other than 2.
    pub fn new(
        scheme: &'t S,
        aes: &'t A,
        size: KeySize,
        mode: Mode,
        level: Level,
        keys: KeySource<'t, S>,
    ) -> Result<Self, AesError> {
        AesError::check_prime(scheme.plain_prime())?;
        let cipher = Cipher::new(size, mode.direction());
        Ok(Transcipher {
            scheme,
            aes,
            cipher,
            mode,
            level,
            keys,
            refresh: None,
            offset: 0,
            ended: false,
        })
    }

    /// The levels at which the keys of rounds 0, 1, .. are needed; 0 for rounds that are left out.
    /// `blank` encrypts anything at a level: on the no-op scheme without values this takes
    /// milliseconds, and the scheme knows the server keys and the costs of a batch afterwards.
    ///
    /// # Errors
    /// As [`Aes::evaluate`].
    pub fn key_levels(
        scheme: &S,
        aes: &A,
        cipher: Cipher,
        level: Level,
        refresh: Option<Refresh<'_, S>>,
        mut blank: impl FnMut(Level) -> Result<S::Ciphertext, AesError>,
    ) -> Result<Vec<Level>, AesError> {
        let mut levels = vec![Level(0); cipher.size.rounds() + 1];
        let mut keys = |round: usize, level: Level| {
            levels[round] = level;
            Ok(vec![blank(level)?; aes.width()])
        };
        let blocks = Blocks { inputs: vec![[0; 16]], pads: vec![[0; 16]] };
        let keys = &mut keys;
        Transcipher {
            scheme,
            aes,
            cipher,
            mode: Mode::ecb(),
            level,
            keys,
            refresh,
            offset: 0,
            ended: false,
        }
        .decrypted(blocks, &mut |_| ())?;
        Ok(levels)
    }

    /// Sets a refresh of states between rounds.
    #[must_use]
    pub fn refreshed(self, refresh: Refresh<'t, S>) -> Self {
        Transcipher { refresh: Some(refresh), ..self }
    }

    /// Restricts the evaluation to the first `rounds` rounds, for measurements and tests.
    #[must_use]
    pub fn reduced(self, rounds: usize) -> Self {
        Transcipher { cipher: self.cipher.reduced(rounds), ..self }
    }

    /// The evaluated cipher.
    pub fn cipher(&self) -> Cipher {
        self.cipher
    }

    /// Bytes of data so far.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Transciphers the next bytes of the data, at most one state; `progress` is called after each
    /// round. A batch that ends within a block is the last one.
    ///
    /// # Errors
    /// [`CircuitError::Empty`] and [`AesError::BatchLength`] for no data or too many,
    /// [`AesError::Ended`] after the end, those of [`Mode::next_blocks`] and of [`Aes::evaluate`].
    /// After an error the state of the stream is unchanged.
    pub fn next_batch(
        &mut self,
        data: &[u8],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Batch<S>, AesError> {
        if data.is_empty() {
            return Err(CircuitError::Empty { what: "the data to be decrypted" }.into());
        }
        AesError::check_batch(data.len(), self.aes.layout().capacity())?;
        if self.ended {
            return Err(AesError::Ended { offset: self.offset });
        }
        let mut mode = self.mode.clone();
        let blocks = mode.next_blocks(data)?;
        let state = self.decrypted(blocks, progress)?;
        let batch = Batch { state, offset: self.offset, length: data.len() };
        self.mode = mode;
        self.offset += data.len() as u64;
        self.ended = !data.len().is_multiple_of(16);
        Ok(batch)
    }

    /// Blocks in places that the caller chose, slot by slot or line by line: what AES is applied
    /// to, and what is added to its results ([`Mode::next_blocks`] has them for data in their
    /// order). One state of them at most; the last one is repeated in the places that are left. The
    /// stream of data stays where it is.
    ///
    /// # Errors
    /// [`CircuitError::Empty`] and [`AesError::BatchLength`] for no blocks or too many, those of
    /// [`Aes::evaluate`].
    pub fn placed(
        &mut self,
        blocks: &[([u8; 16], [u8; 16])],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Vec<S::Ciphertext>, AesError> {
        if blocks.is_empty() {
            return Err(CircuitError::Empty { what: "the list of blocks" }.into());
        }
        AesError::check_batch(16 * blocks.len(), self.aes.layout().capacity())?;
        let (inputs, pads) = blocks.iter().copied().unzip();
        self.decrypted(Blocks { inputs, pads }, progress)
    }

    /// Transciphers data in pieces of any length; `each` receives the batches, all of which are
    /// full except for the last.
    ///
    /// # Errors
    /// As [`Transcipher::next_batch`], and those of `each`.
    pub fn run<D: AsRef<[u8]>>(
        &mut self,
        data: impl IntoIterator<Item = D>,
        progress: &mut dyn FnMut(Progress),
        mut each: impl FnMut(Batch<S>) -> Result<(), AesError>,
    ) -> Result<(), AesError> {
        let capacity = self.aes.layout().capacity();
        let mut waiting = Vec::with_capacity(capacity);
        for piece in data {
            let mut piece = piece.as_ref();
            while !piece.is_empty() {
                let (now, later) = piece.split_at(piece.len().min(capacity - waiting.len()));
                waiting.extend_from_slice(now);
                piece = later;
                if waiting.len() == capacity {
                    each(self.next_batch(&waiting, progress)?)?;
                    waiting.clear();
                }
            }
        }
        if waiting.is_empty() { Ok(()) } else { each(self.next_batch(&waiting, progress)?) }
    }

    /// AES on the inputs of a mode, and the sums with its pads.
    fn decrypted(
        &mut self,
        blocks: Blocks,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Vec<S::Ciphertext>, AesError> {
        let (scheme, aes, rounds) = (self.scheme, self.aes, self.cipher.rounds);
        let encode = |mut blocks: Vec<[u8; 16]>| {
            let last = blocks.last().copied().unwrap_or_default();
            blocks.resize(aes.blocks(), last);
            aes.encode(&blocks)
                .par_iter()
                .map(|x| scheme.encode_elements(x))
                .collect::<Result<Vec<Plaintext>, _>>()
        };
        let mut between = |round: usize, state| {
            progress(Progress { offset: self.offset, round, rounds });
            match &self.refresh {
                Some(refresh) if round < rounds => refresh.before_round(scheme, state),
                _ => Ok(state),
            }
        };
        let start = encode(blocks.inputs)?;
        let state = aes.evaluate(
            scheme,
            Start::Public(&start, self.level),
            self.cipher,
            self.keys,
            &mut between,
        )?;
        state
            .par_iter()
            .zip(&encode(blocks.pads)?)
            .map(|(x, pad)| Ok(scheme.add_plain(x, pad)?))
            .collect()
    }
}
