//! Conversions between bases, and the constants that they are computed with.

use std::sync::Arc;

use everlevel_ring::{Basis, Ring};

use crate::arguments::TARGETS_A_TILE;
use crate::memory::Slab;
use crate::tables::montgomery;

/// What a conversion multiplies the lifted integers by.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Factor {
    /// 1.
    One,
    /// -beta / D, D being what is converted from.
    MinusBeta(u128),
}

/// A conversion from some primes to others.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Job {
    pub(crate) from: Basis,
    pub(crate) to: Basis,
    /// Where the limbs of the results begin, in limbs.
    pub(crate) at: usize,
}

/// Conversions that are made together: the primes that there are limbs of terms for, those that
/// each result has limbs for, and the jobs.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Jobs {
    pub(crate) source: Basis,
    pub(crate) target: Basis,
    pub(crate) factor: Factor,
    pub(crate) jobs: Vec<Job>,
}

/// scale (D/d_i)^-1 modulo d_i: what coefficients modulo d_i are multiplied by before a conversion
/// from `basis`.
pub(crate) fn term_factor(ring: &Ring, basis: Basis, i: usize, scale: u64) -> u64 {
    ring.modulus(i).mul(scale, ring.inverse_product(basis.minus(Basis::of([i])), i))
}

impl Jobs {
    fn factor(&self, ring: &Ring, from: Basis, i: usize) -> u64 {
        let q = ring.modulus(i);
        match self.factor {
            Factor::One => 1,
            Factor::MinusBeta(beta) => {
                q.neg(q.mul(ring.inverse_product(from, i), q.reduce_u128(beta)))
            }
        }
    }

    /// The weights of the terms and of the rounded quotient, in Montgomery form.
    fn weights(&self, ring: &Ring, from: Basis, i: usize) -> Vec<u64> {
        let (q, factor) = (ring.modulus(i), self.factor(ring, from, i));
        let term = |j| q.mul(factor, ring.product_mod(from.minus(Basis::of([j])), q));
        let whole = q.neg(q.mul(factor, ring.product_mod(from, q)));
        from.iter().map(term).chain([whole]).map(|x| montgomery(q, x)).collect()
    }

    fn rank(basis: Basis, i: usize) -> usize {
        basis.limb_of(i).expect("a prime of the basis")
    }

    /// Computes the constants.
    pub(crate) fn constants(&self, ring: &Ring) -> Constants {
        let mut made = Constants::default();
        for job in &self.jobs {
            // Both lists have what belongs to the terms at the same place.
            let sources = made.index.len();
            made.inverses.resize(sources, 0.0);
            for i in job.from.iter() {
                made.index.push(Self::rank(self.source, i) as u32);
                made.inverses.push(1.0 / ring.modulus(i).value() as f64);
            }
            let targets: Vec<usize> = job.to.iter().collect();
            for targets in targets.chunks(TARGETS_A_TILE) {
                let (at, from) = (made.index.len(), made.weights.len());
                for &i in targets {
                    made.index.extend([(job.at + Self::rank(self.target, i)) as u32, i as u32]);
                    made.weights.extend(self.weights(ring, job.from, i));
                }
                made.longest = made.longest.max(made.weights.len() - from);
                let (count, width) = (job.from.len(), targets.len());
                made.tiles.extend([count, sources, at, width, from].map(|x| x as u32));
            }
        }
        made
    }
}

/// The constants of conversions, as the kernel has them.
#[derive(Default)]
pub(crate) struct Constants {
    /// Five words for each tile.
    pub(crate) tiles: Vec<u32>,
    pub(crate) index: Vec<u32>,
    pub(crate) inverses: Vec<f64>,
    pub(crate) weights: Vec<u64>,
    /// The most weights of a tile.
    pub(crate) longest: usize,
}

/// Constants in the memory of the device.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) tiles: Arc<Slab>,
    pub(crate) index: Arc<Slab>,
    pub(crate) inverses: Arc<Slab>,
    pub(crate) weights: Arc<Slab>,
    pub(crate) count: u32,
    pub(crate) shared: u32,
}

impl Plan {
    pub(crate) fn bytes(&self) -> u64 {
        [&self.tiles, &self.index, &self.inverses, &self.weights]
            .map(|slab| slab.bytes())
            .iter()
            .sum()
    }
}
