//! The tables of the vector transforms.

use super::powers::Powers;
use crate::arch::butterfly::Butterflies;
use crate::arch::lanes::Lanes;
use crate::memory::CacheLine;
use crate::modulus::Modulus;
use std::marker::PhantomData;

/// The twiddles in the form that the arithmetic B multiplies by, laid out as in [`Powers`], one
/// word each: tables of two words would not stay in a near cache beside the data.
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
            let line =
                |places: &[u64]| CacheLine(std::array::from_fn(|j| B::stored(encode(places[j]))));
            row.chunks_exact(8).map(line).collect()
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
            w[place] = m.restored(words[place]);
        }
        w
    }
}

/// The tables that the transform of an instruction set uses.
pub(crate) type TwiddlesOf<L> = VectorTwiddles<<L as Lanes>::Transform>;
