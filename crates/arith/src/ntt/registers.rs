//! Loops on registers alone, which show what the ports of the processor allow; and one that only
//! reads. [`crate::ports`] times them.
//!
//! Several operations that do not need each other are in flight, so that none waits for a result.

#[cfg(target_arch = "x86_64")]
use super::unrolled::unrolled;
#[cfg(target_arch = "x86_64")]
use crate::arch::butterfly::Butterflies;
#[cfg(target_arch = "x86_64")]
use crate::arch::lanes::Lanes;
#[cfg(target_arch = "x86_64")]
use crate::modulus::Modulus;
#[cfg(target_arch = "x86_64")]
use std::hint::black_box;

/// Butterflies of a round, one after the other on the same pair.
pub(crate) const STAGES: usize = 4;

/// The words of the portable loops.
pub(crate) const PORTABLE_WORDS: usize = 8;

/// `rounds` times [`STAGES`] forward butterflies by the twiddle w > 0, on each pair of a word of
/// the first half and one of the second; 16 vectors of canonical residues.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn forward_butterflies<L: Lanes>(
    l: L,
    q: Modulus,
    w: u64,
    rounds: usize,
    words: &mut [u64],
) {
    butterflies::<_, false>(l.transform(q), q, w, rounds, words);
}

/// The same with inverse butterflies.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn inverse_butterflies<L: Lanes>(
    l: L,
    q: Modulus,
    w: u64,
    rounds: usize,
    words: &mut [u64],
) {
    butterflies::<_, true>(l.transform(q), q, w, rounds, words);
}

/// A lazy arithmetic reduces at every fourth stage forward and at every second one back, as in the
/// transform.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn butterflies<B: Butterflies, const BACK: bool>(
    m: B,
    q: Modulus,
    w: u64,
    rounds: usize,
    words: &mut [u64],
) {
    assert!(words.len() == 16 * B::WIDTH, "16 vectors");
    let w = m.everywhere(B::encode(q, w));
    let mut v = [m.zero(); 16];
    unrolled!(for k in 0..16 {
        // SAFETY: there are 16 vectors of words.
        v[k] = unsafe { m.load_words(words.as_ptr().add(k * B::WIDTH)) };
    });
    for _ in 0..rounds {
        unrolled!(for t in 0..4 {
            unrolled!(for k in 0..8 {
                (v[k], v[k + 8]) = if BACK {
                    m.inverse(t % 2 == 1, v[k], v[k + 8], w)
                } else {
                    m.forward(t == 3, v[k], v[k + 8], w)
                };
            });
        });
    }
    unrolled!(for k in 0..16 {
        // SAFETY: as above.
        unsafe { m.store_canonical(words.as_mut_ptr().add(k * B::WIDTH), v[k]) };
    });
}

/// Each word, a canonical residue, becomes the sum of `rounds` products, at most
/// [`MAX_TERMS`](crate::kernels::MAX_TERMS), of it and b; as many vectors as a vector has words.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn products<L: Lanes>(l: L, q: Modulus, b: u64, rounds: usize, words: &mut [u64]) {
    assert!(words.len() == L::WIDTH * L::WIDTH, "a square of words");
    let b = l.factor(l.splat(b));
    let (mut sums, mut factors) = ([l.sum_zero(); 8], [b; 8]);
    unrolled!(for k in 0..8 {
        if k < L::WIDTH {
            // SAFETY: there are WIDTH vectors of words.
            factors[k] = l.factor(unsafe { l.load(words.as_ptr().add(k * L::WIDTH)) });
        }
    });
    let reducer = l.reducer(q);
    let mut room = L::ROOM;
    for _ in 0..rounds {
        if room == 0 {
            unrolled!(for k in 0..8 {
                if k < L::WIDTH {
                    sums[k] = l.sum_settle(sums[k], reducer);
                }
            });
            room = L::ROOM - 1;
        }
        room -= 1;
        // Hidden: parts of the products would be made once, before the loop.
        let b = black_box(b);
        unrolled!(for k in 0..8 {
            if k < L::WIDTH {
                sums[k] = l.sum_add(sums[k], factors[k], b);
            }
        });
    }
    unrolled!(for k in 0..8 {
        if k < L::WIDTH {
            let sum = l.sum_reduce(sums[k], rounds, false, reducer);
            // SAFETY: as above.
            unsafe { l.store(words.as_mut_ptr().add(k * L::WIDTH), sum) };
        }
    });
}

/// Reads all words, and writes their exclusive or.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn exclusive_or<L: Lanes>(l: L, words: &[u64], out: &mut u64) {
    let blocks = words.chunks_exact(8 * L::WIDTH);
    let rest = blocks.remainder();
    let mut v = [l.splat(0); 8];
    for block in blocks {
        unrolled!(for k in 0..8 {
            // SAFETY: the block has 8 vectors.
            v[k] = l.xor(v[k], unsafe { l.load(block.as_ptr().add(k * L::WIDTH)) });
        });
    }
    let mut parts = [0; 64];
    unrolled!(for k in 0..8 {
        // SAFETY: there is room for 8 vectors of at most 8 words.
        unsafe { l.store(parts.as_mut_ptr().add(k * L::WIDTH), v[k]) };
    });
    *out = parts.iter().chain(rest).fold(0u64, |sum, &x| sum ^ x);
}

/// What the vector loops do, in plain integer code on [`PORTABLE_WORDS`] words.
pub(crate) mod plain {
    use super::super::portable::{forward_butterfly, inverse_butterfly};
    use super::{PORTABLE_WORDS, STAGES};
    use crate::modulus::{Modulus, subtract_once, wide_product};
    use std::hint::black_box;

    pub(crate) fn forward_butterflies(q: Modulus, w: u64, rounds: usize, words: &mut [u64]) {
        butterflies::<false>(q, w, rounds, words);
    }

    pub(crate) fn inverse_butterflies(q: Modulus, w: u64, rounds: usize, words: &mut [u64]) {
        butterflies::<true>(q, w, rounds, words);
    }

    #[inline(always)]
    fn butterflies<const BACK: bool>(q: Modulus, w: u64, rounds: usize, words: &mut [u64]) {
        let w = q.shoup(w);
        let mut v = [0; PORTABLE_WORDS];
        v.copy_from_slice(words);
        let (first, second) = v.split_at_mut(PORTABLE_WORDS / 2);
        for _ in 0..rounds * STAGES {
            for (x, y) in first.iter_mut().zip(&mut *second) {
                (*x, *y) = if BACK {
                    inverse_butterfly(q, *x, *y, w)
                } else {
                    forward_butterfly(q, *x, *y, w)
                };
            }
        }
        words.iter_mut().zip(v).for_each(|(word, x)| {
            *word = subtract_once(subtract_once(x, 2 * q.value()), q.value());
        });
    }

    pub(crate) fn products(q: Modulus, b: u64, rounds: usize, words: &mut [u64]) {
        let mut sums = [0u128; PORTABLE_WORDS];
        for _ in 0..rounds {
            let b = black_box(b);
            sums.iter_mut().zip(&*words).for_each(|(sum, &a)| *sum += wide_product(a, b));
        }
        words.iter_mut().zip(sums).for_each(|(word, sum)| *word = q.reduce_u128(sum));
    }

    pub(crate) fn exclusive_or(words: &[u64], out: &mut u64) {
        *out = words.iter().fold(0u64, |sum, &x| sum ^ x);
    }
}
