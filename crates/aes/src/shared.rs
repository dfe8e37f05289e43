//! AES on states that have columns in common: the first rounds once for all of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use everlevel_scheme::{ExactScheme, Level, NextUse};
use rayon::prelude::*;

use crate::embedding::ByteEmbedding;
use crate::error::AesError;
use crate::field::MIX;
use crate::key::KeySize;
use crate::line::Line;
use crate::method::{Aes, KeySource};
use crate::packed::Packed;
use crate::round::{Cipher, Direction};
use crate::round_keys::RoundKeys;

/// Some of the four columns of a block, a bit for each.
type Columns = u8;

/// The columns that a state has from one base, and those from another. ShiftRows brings the last
/// byte of a block to column 0: of counters, that is the byte that changes most.
const PARTS: [Columns; 2] = [0b0001, 0b1110];

/// The bytes of a block that are in these columns after ShiftRows, which brings byte r + 4c to
/// column c - r.
fn bytes_of(columns: Columns) -> impl Iterator<Item = usize> {
    (0..16).filter(move |i| columns >> ((i / 4 + 4 - i % 4) % 4) & 1 == 1)
}

/// The columns that lie `k` to the left of these, cyclically.
fn to_the_left(columns: Columns, k: usize) -> Columns {
    (columns >> k | columns << (4 - k)) & 0b1111
}

/// What states of public blocks have in common after the first round of AES.
///
/// A column is a function of four bytes of its block then, and bytes stay apart in SubBytes of the
/// second round. So states whose blocks agree in these bytes, place by place, agree in that column
/// until the second round mixes columns; and as column 0 and the others come from different bytes,
/// few states, the *bases*, have all columns of many. Counters that are placed for it are such
/// states: where low bytes and the bytes ahead of them are combined in every way, p states with the
/// same low bytes and q with the same other bytes make p q states of max(p, q) bases.
pub struct SharedColumns {
    bases: Vec<Vec<[u8; 16]>>,
    /// Of each state the bases that have its columns, by [`PARTS`].
    sources: Vec<[usize; 2]>,
}

impl SharedColumns {
    /// Of states with equally many blocks.
    pub fn of(states: &[Vec<[u8; 16]>]) -> Self {
        let mut sources = vec![[0; 2]; states.len()];
        // The first state with each pattern of bytes.
        let mut firsts: [Vec<usize>; 2] = Default::default();
        for (part, columns) in PARTS.into_iter().enumerate() {
            let bytes: Vec<usize> = bytes_of(columns).collect();
            let mut known = HashMap::new();
            for (s, state) in states.iter().enumerate() {
                let pattern: Vec<u8> =
                    state.iter().flat_map(|block| bytes.iter().map(move |i| block[*i])).collect();
                let number = *known.entry(pattern).or_insert(firsts[part].len());
                if number == firsts[part].len() {
                    firsts[part].push(s);
                }
                sources[s][part] = number;
            }
        }
        let count = firsts.iter().map(Vec::len).max().unwrap_or(0);
        let base = |number: usize| {
            // There are fewer patterns of one part.
            let of = |part: usize| &states[firsts[part][number.min(firsts[part].len() - 1)]];
            let joined = |(first, others): (&[u8; 16], &[u8; 16])| {
                let mut block = *others;
                bytes_of(PARTS[0]).for_each(|i| block[i] = first[i]);
                block
            };
            of(0).iter().zip(of(1)).map(joined).collect()
        };
        SharedColumns { bases: (0..count).map(base).collect(), sources }
    }

    /// How many states the first rounds are computed for.
    pub fn bases(&self) -> usize {
        self.bases.len()
    }

    /// How many states there are.
    pub fn states(&self) -> usize {
        self.sources.len()
    }
}

/// Encryption by [`Packed`] of states that have columns in common ([`SharedColumns`]).
///
/// The first round and SubBytes of the second are computed for the bases, with three of the images
/// of ShiftRows and MixColumns; each state takes the three other automorphisms of this map, and all
/// later rounds. So 31 of the 34 key switches of both rounds are those of bases, and no others have
/// as many primes and digits.
///
/// Columns are taken from bases by the diagonals of the map itself, which are cut for it: no
/// product, no level, and no noise but that the bounds of both parts add up. The constant of
/// SubBytes is added to round keys, once for all states.
pub struct SharedRounds<S: ExactScheme> {
    /// Constants of MixColumns in row 0 of some columns, by the byte and the columns.
    multiples: BTreeMap<(u8, Columns), S::Diagonal>,
}

impl<S: ExactScheme> SharedRounds<S> {
    /// Prepares 24 plaintexts for ciphertexts at `level` or below, in parallel.
    ///
    /// # Errors
    /// As [`Packed::new`].
    pub fn new(scheme: &S, level: Level) -> Result<Self, AesError> {
        let shape = scheme.slot_shape();
        let (embedding, line) = (ByteEmbedding::new(shape)?, Line::of(shape)?);
        let multiple = |(factor, columns): (u8, Columns)| {
            let element = |byte: usize| {
                let there = byte.is_multiple_of(4) && columns >> (byte / 4) & 1 == 1;
                embedding.element(if there { factor } else { 0 })
            };
            Ok(((factor, columns), scheme.diagonal(&line.diagonal(element), 1, level)?))
        };
        let entries: BTreeSet<_> = Self::entries().into_iter().flatten().flatten().collect();
        let multiples = entries.into_par_iter().map(multiple).collect::<Result<_, AesError>>()?;
        Ok(SharedRounds { multiples })
    }

    /// Which multiples the rows of the map have, for the images of the first part and then those of
    /// the second: what comes to row 0 of a column with image k is from the column k to its right.
    fn entries() -> [Vec<[(u8, Columns); 4]>; 4] {
        [0, 1, 2, 3].map(|r| {
            let entry = |columns, k| (MIX[(k + 4 - r) % 4], to_the_left(columns, k));
            PARTS.iter().map(|columns| [0, 1, 2, 3].map(|k| entry(*columns, k))).collect()
        })
    }

    /// All states under AES, from public blocks, with round keys of which the first is asked for at
    /// `level`. States are computed in parallel.
    ///
    /// # Errors
    /// [`AesError::PlainModulus`] for p other than 2, [`AesError::BatchLength`] for states of more
    /// blocks than there are places, those of the scheme and of the keys.
    pub fn encrypt(
        &self,
        scheme: &S,
        aes: &Packed<S>,
        shared: &SharedColumns,
        level: Level,
        keys: &RoundKeys<S>,
    ) -> Result<Vec<S::Ciphertext>, AesError> {
        AesError::check_prime(scheme.plain_prime())?;
        let cipher = Cipher::new(keys.size(), Direction::Encrypt);
        let added = keys.keys().par_iter().cloned().enumerate();
        let added = added.map(|(round, key)| aes.with_constant(scheme, round, key));
        let keys = RoundKeys::new(keys.size(), added.collect::<Result<_, AesError>>()?)?;
        let base = |blocks: &Vec<[u8; 16]>| {
            Self::base(scheme, aes, cipher, blocks, level, &mut keys.source(scheme))
        };
        let bases = shared.bases.par_iter().map(base).collect::<Result<Vec<_>, _>>()?;
        let images = Self::images(scheme, aes, &bases)?;
        let rest = |[first, others]: &[usize; 2]| {
            let images = [&images[*first][..], &images[*others][..]];
            self.rest(scheme, aes, cipher, images, &mut keys.source(scheme))
        };
        shared.sources.par_iter().map(rest).collect()
    }

    /// The levels at which the keys of rounds 0, 1, .. are needed; see
    /// [`Transcipher::key_levels`](crate::Transcipher::key_levels).
    ///
    /// # Errors
    /// As [`SharedRounds::encrypt`].
    pub fn key_levels(
        &self,
        scheme: &S,
        aes: &Packed<S>,
        size: KeySize,
        level: Level,
        mut blank: impl FnMut(Level) -> Result<S::Ciphertext, AesError>,
    ) -> Result<Vec<Level>, AesError> {
        let cipher = Cipher::new(size, Direction::Encrypt);
        let mut levels = vec![Level(0); size.rounds() + 1];
        let mut keys = |round: usize, level: Level| {
            levels[round] = level;
            aes.with_constant(scheme, round, vec![blank(level)?])
        };
        let base = Self::base(scheme, aes, cipher, &[[0; 16]], level, &mut keys)?;
        let images = Self::images(scheme, aes, &[base])?;
        self.rest(scheme, aes, cipher, [&images[0], &images[0]], &mut keys)?;
        Ok(levels)
    }

    /// The first round of a base, and SubBytes of the second without its constant; keys have that
    /// of theirs.
    fn base(
        scheme: &S,
        aes: &Packed<S>,
        cipher: Cipher,
        blocks: &[[u8; 16]],
        level: Level,
        keys: KeySource<'_, S>,
    ) -> Result<S::Ciphertext, AesError> {
        AesError::check_batch(16 * blocks.len(), aes.layout().capacity())?;
        let public = scheme.encode_elements(&aes.encode(blocks)[0])?;
        let key = keys(cipher.key(0), level)?;
        AesError::check_width("a round key", key.len(), 1)?;
        scheme.check_params(&key[0])?;
        let start = scheme.add_plain(&key[0], &public)?;
        let state = aes.round_with_constant(scheme, &start, cipher.round(1), keys)?;
        aes.substituted(scheme, &state[0])
    }

    /// The images of all bases, at one level.
    fn images(
        scheme: &S,
        aes: &Packed<S>,
        bases: &[S::Ciphertext],
    ) -> Result<Vec<Vec<S::Extended>>, AesError> {
        if bases.is_empty() {
            return Ok(Vec::new());
        }
        let bases: Vec<&S::Ciphertext> = bases.iter().collect();
        let bases = scheme.prepare_together(&bases, NextUse::LinearMap)?;
        bases.par_iter().map(|x| aes.images(scheme, x)).collect()
    }

    /// A state from the images of the bases that have its columns: the end of the second round, and
    /// all others, whose keys have the constant.
    fn rest(
        &self,
        scheme: &S,
        aes: &Packed<S>,
        cipher: Cipher,
        images: [&[S::Extended]; 2],
        keys: KeySource<'_, S>,
    ) -> Result<S::Ciphertext, AesError> {
        let images: Vec<&S::Extended> = images.into_iter().flatten().collect();
        let rows = Self::entries().map(|row| {
            row.into_iter().flatten().map(|entry| Some(&self.multiples[&entry])).collect()
        });
        let mixed = aes.mixed(scheme, &images, &rows)?;
        let level = scheme.level(&mixed);
        let mut state = aes.add_key(scheme, &[mixed], cipher.round(2).key, level, keys)?;
        for number in 3..=cipher.rounds {
            state = aes.round_with_constant(scheme, &state[0], cipher.round(number), keys)?;
        }
        Ok(state.swap_remove(0))
    }
}
