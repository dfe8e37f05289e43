//! The tables of the vector transforms.

use super::powers::Powers;
use crate::arch::butterfly::Butterflies;
use crate::arch::lanes::Lanes;
use crate::memory::CacheLine;
use crate::modulus::Modulus;
use std::marker::PhantomData;

/// The twiddles in the form that the arithmetic B multiplies by, laid out as in [`Powers`] but in
/// groups of eight places: first the first words of eight twiddles, then, if there are any, the
/// second words.
pub(crate) struct VectorTwiddles<B> {
    pub(super) modulus: Modulus,
    rows: [Vec<CacheLine>; 2],
    /// zeta_4, the constant of the row stage.
    pub(super) quarter: [u64; 2],
    /// 1/n and 1/(n zeta_4), the constants of the last inverse stage.
    pub(super) last: [[u64; 2]; 2],
    arithmetic: PhantomData<fn() -> B>,
}

impl<B: Butterflies> VectorTwiddles<B> {
    /// Serves rows of at least 64 words, that is log_n >= 7.
    pub(super) fn new(powers: &Powers) -> Self {
        let encode = |w: u64| B::encode(powers.modulus, w);
        let lines = |row: &Vec<u64>| {
            let mut lines = Vec::with_capacity(row.len() / 8 * B::WORDS);
            for places in row.chunks_exact(8) {
                let encoded: [[u64; 2]; 8] = std::array::from_fn(|j| encode(places[j]));
                for word in 0..B::WORDS {
                    lines.push(CacheLine(encoded.map(|e| e[word])));
                }
            }
            lines
        };
        Self {
            modulus: powers.modulus,
            rows: [lines(&powers.rows[0]), lines(&powers.rows[1])],
            quarter: encode(powers.quarter),
            last: powers.last.map(encode),
            arithmetic: PhantomData,
        }
    }

    /// The words of a row's twiddles.
    #[inline(always)]
    pub(super) fn row(&self, r: usize) -> &[u64] {
        let lines = &self.rows[r];
        // SAFETY: a `CacheLine` is eight words without padding.
        unsafe { std::slice::from_raw_parts(lines.as_ptr().cast(), 8 * lines.len()) }
    }

    /// The twiddles at places 1 to 7 of a row, for the distances 1, 2 and 4, each in all lanes;
    /// place 0 is unused.
    #[inline(always)]
    pub(super) fn first(&self, m: B, r: usize) -> [B::W; 8] {
        let words = self.row(r);
        let mut w = [m.everywhere(self.quarter); 8];
        for place in 1..8 {
            w[place] = m.everywhere([words[place], words[place + 8 * (B::WORDS - 1)]]);
        }
        w
    }
}

/// The tables that the transform of an instruction set uses.
pub(crate) type TwiddlesOf<L> = VectorTwiddles<<L as Lanes>::Transform>;
