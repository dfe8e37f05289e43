//! Conversion between bases, with constants that are computed once.

use everlevel_ring::{Basis, MAX_PRIMES, Ring};

use crate::Gpu;
use crate::arguments::{Convert, TARGETS_A_TILE};
use crate::library::Address;
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

/// Constants in the memory of the device.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    tiles: Address,
    index: Address,
    inverses: Address,
    weights: Address,
    count: u32,
    shared: u32,
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

    /// Computes the constants and copies them.
    fn plan(&self, gpu: &Gpu) -> Plan {
        let ring = &gpu.ring;
        let (mut tiles, mut index, mut inverses, mut weights) =
            (Vec::<u32>::new(), Vec::<u32>::new(), Vec::<f64>::new(), Vec::<u64>::new());
        let mut longest = 0;
        for job in &self.jobs {
            // Both lists have the places of the terms at the same place.
            let sources = index.len();
            inverses.resize(sources, 0.0);
            for i in job.from.iter() {
                index.push(Self::rank(self.source, i) as u32);
                inverses.push(1.0 / ring.modulus(i).value() as f64);
            }
            let targets: Vec<usize> = job.to.iter().collect();
            for targets in targets.chunks(TARGETS_A_TILE) {
                let (at, from) = (index.len(), weights.len());
                for &i in targets {
                    index.extend([(job.at + Self::rank(self.target, i)) as u32, i as u32]);
                    weights.extend(self.weights(ring, job.from, i));
                }
                longest = longest.max(weights.len() - from);
                let (count, width) = (job.from.len(), targets.len());
                tiles.extend([count, sources, at, width, from].map(|x| x as u32));
            }
        }
        let words = |list: &[u32]| list.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<u8>>();
        let plan = Plan {
            tiles: gpu.constant(&words(&tiles)),
            index: gpu.constant(&words(&index)),
            inverses: gpu.constant(&inverses.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<_>>()),
            weights: gpu.constant(&weights.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<_>>()),
            count: (tiles.len() / 5) as u32,
            shared: (longest * 8) as u32,
        };
        debug_assert!(longest <= TARGETS_A_TILE * (MAX_PRIMES + 1));
        plan
    }
}

impl Gpu {
    /// Converts `count` polynomials: terms, already multiplied by [`term_factor`], at `terms`, the
    /// results to `output`, each with the given words from one polynomial to the next.
    pub(crate) fn convert_limbs(
        &self,
        jobs: &Jobs,
        (terms, terms_stride): (Address, usize),
        (output, output_stride): (Address, usize),
        count: usize,
    ) {
        let plan = self.plans.get(jobs, || jobs.plan(self));
        if plan.count == 0 || count == 0 {
            return;
        }
        let n = self.ring.degree();
        let arguments = Convert {
            terms,
            output,
            primes: self.primes,
            tiles: plan.tiles,
            index: plan.index,
            inverses: plan.inverses,
            weights: plan.weights,
            terms_stride: terms_stride as u64,
            output_stride: output_stride as u64,
            n: n as u32,
        };
        let (blocks, threads) = self.places();
        self.launch(&arguments, [blocks, plan.count, count as u32], threads, plan.shared);
    }
}
