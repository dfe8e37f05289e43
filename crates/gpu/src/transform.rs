//! Transforms of many limbs at a time.

use std::sync::atomic::Ordering;

use crate::arguments::{BackwardHigh, BackwardLow, ForwardHigh, LIMBS_A_LAUNCH, NONE, Transform};
use crate::error::GpuError;
use crate::gpu::Gpu;
use crate::library::Address;
use crate::tables::centered;

/// A limb to be transformed: where it is and where it goes, in limbs from the beginning of the
/// memory; what is added to the result; the prime.
#[derive(Clone, Copy)]
pub(crate) struct Line {
    pub(crate) input: usize,
    pub(crate) output: usize,
    pub(crate) add: Option<usize>,
    pub(crate) prime: usize,
    /// What the result is multiplied by; only of the transform to coefficients.
    pub(crate) factor: u64,
}

/// Words of a tile of the second pass.
const TILE_WORDS: u32 = 2048;
/// log2 of the places of a tile of the first pass.
const LOG_TILE: u32 = 10;

/// log2 h, and how many of as many stages the first pass does.
fn stages(n: usize) -> (u32, u32) {
    let log_rows = n.trailing_zeros() - 1;
    let second = match log_rows {
        0..=LOG_TILE => 0,
        11 => 5,
        _ => 6,
    };
    (log_rows, log_rows - second)
}

impl Gpu {
    /// To evaluations.
    pub(crate) fn forward(&self, input: Address, output: Address, add: Address, lines: &[Line]) {
        self.transform(input, output, add, lines, true);
    }

    /// To coefficients.
    pub(crate) fn backward(&self, input: Address, output: Address, lines: &[Line]) {
        self.transform(input, output, 0, lines, false);
    }

    fn transform(
        &self,
        input: Address,
        output: Address,
        add: Address,
        lines: &[Line],
        forward: bool,
    ) {
        self.transforms.fetch_add(lines.len() as u64, Ordering::Relaxed);
        let (log_rows, low) = stages(self.ring.degree());
        for lines in lines.chunks(LIMBS_A_LAUNCH) {
            let mut first = Transform {
                input,
                output,
                add,
                primes: self.primes,
                twiddles: self.twiddles,
                log_rows,
                low,
                input_limb: [0; LIMBS_A_LAUNCH],
                output_limb: [0; LIMBS_A_LAUNCH],
                add_limb: [NONE; LIMBS_A_LAUNCH],
                prime: [0; LIMBS_A_LAUNCH],
                factor: [0.0; LIMBS_A_LAUNCH],
            };
            for (k, line) in lines.iter().enumerate() {
                first.input_limb[k] = self.limb_number(line.input);
                first.output_limb[k] = self.limb_number(line.output);
                first.add_limb[k] = line.add.map_or(NONE, |add| self.limb_number(add));
                first.prime[k] = line.prime as u8;
                first.factor[k] = centered(self.ring.modulus(line.prime), line.factor);
            }
            // The second pass works in place.
            let second = Transform { input: output, input_limb: first.output_limb, ..first };
            self.passes(first, second, lines.len() as u32, forward);
        }
    }

    /// The number of a limb as the kernels have it. One that is too large for them is a fault,
    /// after which nothing is launched.
    fn limb_number(&self, limb: usize) -> u16 {
        let number = u16::try_from(limb).ok().filter(|&number| number != NONE);
        number.unwrap_or_else(|| {
            let problem = format!("a sum has more than {NONE} limbs: use fewer components");
            self.device.fail(GpuError::fault(problem));
            NONE
        })
    }

    fn passes(&self, first: Transform, second: Transform, count: u32, forward: bool) {
        let (log_rows, low) = (first.log_rows, first.low);
        let log_tile = log_rows.min(LOG_TILE);
        let words = 2u32 << log_tile;
        let tiles = [1 << (log_rows - log_tile), count, 1];
        let threads = (words / 8).max(1);
        let padded = (words + words / 16 + 1) * 8;
        let columns = [2 * (1 << log_rows) / TILE_WORDS, count, 1];
        let (wide, shared) = (TILE_WORDS / 8, TILE_WORDS * 8);
        match (forward, low == log_rows) {
            (true, true) => self.launch(&first, tiles, threads, padded),
            (true, false) => {
                self.launch(&first, tiles, threads, padded);
                self.launch(&ForwardHigh(second), columns, wide, shared);
            }
            (false, true) => self.launch(&BackwardLow(first), tiles, threads, padded),
            (false, false) => {
                self.launch(&BackwardHigh(first), columns, wide, shared);
                self.launch(&BackwardLow(second), tiles, threads, padded);
            }
        }
    }
}
