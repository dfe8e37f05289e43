//! Conversion between bases, with constants that are computed once.

use crate::arguments::Convert;
use crate::constants::bytes;
use crate::gpu::Gpu;
use crate::library::Address;
use crate::plan::{Jobs, Plan};

impl Gpu {
    /// Copies the constants of conversions.
    fn plan(&self, jobs: &Jobs) -> Plan {
        let made = jobs.constants(&self.ring);
        Plan {
            count: (made.tiles.len() / 5) as u32,
            tiles: self.constant(&bytes(made.tiles)),
            index: self.constant(&bytes(made.index)),
            inverses: self.constant(&bytes(made.inverses)),
            weights: self.constant(&bytes(made.weights)),
            shared: (made.longest * size_of::<u64>()) as u32,
        }
    }

    /// Converts `count` polynomials: terms, already multiplied by
    /// [`term_factor`](crate::plan::term_factor), at `terms`, the results to `output`, each with
    /// the given words from one polynomial to the next.
    pub(crate) fn convert_limbs(
        &self,
        jobs: &Jobs,
        (terms, terms_stride): (Address, usize),
        (output, output_stride): (Address, usize),
        count: usize,
    ) {
        let plan = self.plans.get(jobs, || self.plan(jobs));
        if plan.count == 0 || count == 0 {
            return;
        }
        let n = self.ring.degree();
        let arguments = Convert {
            terms,
            output,
            primes: self.primes,
            tiles: plan.tiles.address(),
            index: plan.index.address(),
            inverses: plan.inverses.address(),
            weights: plan.weights.address(),
            terms_stride: terms_stride as u64,
            output_stride: output_stride as u64,
            n: n as u32,
        };
        let (blocks, threads) = self.places();
        self.launch(&arguments, [blocks, plan.count, count as u32], threads, plan.shared);
    }
}
