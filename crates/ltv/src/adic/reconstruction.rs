//! From residues modulo the transform primes to digits.

use std::ops::Range;

use everlevel_arith::kernels::Kernels;
use everlevel_ring::{Basis, Limb, Ring, RingError};

use super::integer;

/// The most transform primes, which keeps the sums of a row below (2^32 - 1) p.
pub(super) const MAX_PRIMES: usize = 24;
/// Residues below 2^50 are multiplied with digits in two halves of this many bits.
const HALF_BITS: u32 = 25;

/// From residues modulo the transform primes (product M) to digits to the base p.
///
/// With y_i = v (M/m_i)^-1 modulo m_i, v = Σ y_i (M/m_i) - k M, k = round(Σ y_i / m_i), in floating
/// point: exact for |v| below 0.49 M. The digits of M/m_i, of 2^25 M/m_i and of M make v a sum of
/// products of half words in every row.
pub(super) struct Reconstruction {
    basis: Basis,
    /// How many rows make a block.
    pub(super) block: usize,
    /// (M/m_i)^-1 modulo m_i.
    pub(super) factors: Vec<u64>,
    /// 1/m_i.
    pub(super) inverses: Vec<f64>,
    /// Row by row: the digits that the lower halves, the higher halves, and the number of primes
    /// less k are multiplied by.
    pub(super) weights: Vec<Vec<u32>>,
}

/// What the sums over a tile are made of: for every block the lower halves, the higher ones, and
/// the number of primes less k.
type TileTerms = Vec<Vec<Vec<u64>>>;

impl Reconstruction {
    pub(super) fn new(ring: &Ring, basis: Basis, p: u64, block: usize) -> Result<Self, RingError> {
        let moduli: Vec<u64> = basis.iter().map(|i| ring.modulus(i).value()).collect();
        let without = |i: usize| {
            moduli.iter().copied().enumerate().filter(move |&(j, _)| j != i).map(|(_, q)| q)
        };
        let low = (0..moduli.len()).map(|i| integer::product(p, without(i)));
        let high =
            (0..moduli.len()).map(|i| integer::product(p, without(i).chain([1 << HALF_BITS])));
        let columns: Vec<Vec<u32>> =
            low.chain(high).chain([integer::product(p, moduli.iter().copied())]).collect();
        let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
        let weights = (0..rows)
            .map(|j| columns.iter().map(|c| c.get(j).copied().unwrap_or(0)).collect())
            .collect();
        // Blocks that overlap in a row, times 2^25 for each half.
        if (rows.div_ceil(block) as u64 * (2 * moduli.len() as u64 + 1)) << HALF_BITS
            >= u64::from(u32::MAX)
        {
            return Err(RingError::BadDigits { prime: p as u32, block });
        }
        Ok(Reconstruction {
            basis,
            block,
            factors: basis
                .iter()
                .map(|i| ring.inverse_product(basis.minus(Basis::of([i])), i))
                .collect(),
            inverses: moduli.iter().map(|&q| 1.0 / q as f64).collect(),
            weights,
        })
    }

    pub(super) fn basis(&self) -> Basis {
        self.basis
    }

    /// The halves and quotients of a tile.
    pub(super) fn terms(
        &self,
        kernels: &Kernels,
        blocks: &[Vec<Limb>],
        tile: Range<usize>,
    ) -> TileTerms {
        let mask = (1 << HALF_BITS) - 1;
        let terms = |limbs: &Vec<Limb>| {
            let ys: Vec<&[u64]> = limbs.iter().map(|limb| &limb[tile.clone()]).collect();
            let mut quotients = vec![0; tile.len()];
            kernels.rounded_quotient(&mut quotients, &ys, &self.inverses);
            quotients.iter_mut().for_each(|k| *k = ys.len() as u64 - *k);
            let low = ys.iter().map(|y| y.iter().map(|x| x & mask).collect());
            let high = ys.iter().map(|y| y.iter().map(|x| x >> HALF_BITS).collect());
            low.chain(high).chain([quotients]).collect()
        };
        blocks.iter().map(terms).collect()
    }
}
