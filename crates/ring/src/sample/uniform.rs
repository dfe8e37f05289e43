//! Residues of uniform polynomials from their seeds, a few at a time.

use everlevel_arith::Modulus;
use everlevel_arith::kernels::Kernels;

use crate::cpu::processor::Cpu;

/// The seed of a public uniform polynomial.
pub type Seed = [u8; 32];

/// The residues of the uniform polynomial (`seed`, `component`) modulo one prime, in evaluations,
/// in order.
///
/// Each limb has a stream of its own, so a polynomial can be expanded for any subset of the primes
/// and in any order. `component` < 2^32 tells polynomials of one seed apart.
pub(crate) struct Uniform {
    kernels: &'static Kernels,
    q: Modulus,
    key: [u32; 8],
    stream: u64,
    /// The next block of the stream, and the words ahead of it, of which some are used.
    block: u64,
    words: [u64; WORDS],
    used: usize,
}

/// Words of a stream of ChaCha20 that are made at a time, 16 blocks: what vectors make at once.
const WORDS: usize = 128;

impl Uniform {
    /// From the first residue on, modulo the prime at `position`.
    pub(crate) fn new(cpu: &Cpu, seed: &Seed, component: u32, position: usize) -> Self {
        let (words, _) = seed.as_chunks::<4>();
        Uniform {
            kernels: cpu.kernels(),
            q: cpu.ring().modulus(position),
            key: std::array::from_fn(|k| u32::from_le_bytes(words[k])),
            stream: (component as u64) << 32 | position as u64,
            block: 0,
            words: [0; WORDS],
            used: WORDS,
        }
    }

    /// The next residues: words of the stream, cut to the width of the prime, but for those that
    /// are not below it.
    pub(crate) fn fill(&mut self, mut out: &mut [u64]) {
        let q = self.q.value();
        let mask = u64::MAX >> q.leading_zeros();
        while !out.is_empty() {
            if self.used == WORDS {
                self.kernels.chacha20(&self.key, self.stream, self.block, &mut self.words);
                (self.block, self.used) = (self.block + WORDS as u64 / 8, 0);
            }
            let end = WORDS.min(self.used + out.len());
            let words = &self.words[self.used..end];
            // Below a prime that is just below a power of two nearly always all words are, and this
            // loop takes several at once: all differences are negative then.
            let mut negative = u64::MAX;
            for (residue, word) in out.iter_mut().zip(words) {
                *residue = word & mask;
                negative &= residue.wrapping_sub(q);
            }
            let mut kept = words.len();
            if negative >> 63 == 0 {
                kept = 0;
                for word in words {
                    out[kept] = word & mask;
                    kept += usize::from(out[kept] < q);
                }
            }
            self.used = end;
            out = &mut out[kept..];
        }
    }
}
