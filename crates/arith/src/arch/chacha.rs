//! ChaCha20 over vectors, two blocks a word of a vector.

// Loops with constant bounds unroll and leave no array behind.
#![allow(clippy::needless_range_loop)]

use super::lanes::Lanes;
use super::portable::{self, BLOCK, chacha_state};
use super::vector::{at, put_bits};

/// The low half of a word.
const LOW: u64 = 0xFFFF_FFFF;

#[inline(always)]
pub(crate) fn chacha20<L: Lanes>(
    l: L,
    key: &[u32; 8],
    stream: u64,
    mut block: u64,
    out: &mut [u64],
) {
    let mut groups = out.chunks_exact_mut(2 * L::WIDTH * BLOCK);
    for group in &mut groups {
        blocks(l, key, stream, block, group);
        block = block.wrapping_add(2 * L::WIDTH as u64);
    }
    portable::chacha20(key, stream, block, groups.into_remainder());
}

/// Twice as many blocks as a vector has words, from `first` on.
#[inline(always)]
fn blocks<L: Lanes>(l: L, key: &[u32; 8], stream: u64, first: u64, out: &mut [u64]) {
    // A row holds one word of the state of every block.
    let everywhere = |x: u32| l.splat(u64::from(x) << 32 | u64::from(x));
    let mut start = chacha_state(key, stream, 0).map(everywhere);
    let (mut low, mut high) = ([0; 8], [0; 8]);
    for (j, (low, high)) in low.iter_mut().zip(&mut high).enumerate() {
        let (even, odd) = (first.wrapping_add(2 * j as u64), first.wrapping_add(2 * j as u64 + 1));
        (*low, *high) = (even & LOW | odd << 32, even >> 32 | odd & !LOW);
    }
    (start[12], start[13]) = (at(l, &low, 0), at(l, &high, 0));
    let mut x = start;
    for _ in 0..10 {
        quarter(l, &mut x, [0, 4, 8, 12]);
        quarter(l, &mut x, [1, 5, 9, 13]);
        quarter(l, &mut x, [2, 6, 10, 14]);
        quarter(l, &mut x, [3, 7, 11, 15]);
        quarter(l, &mut x, [0, 5, 10, 15]);
        quarter(l, &mut x, [1, 6, 11, 12]);
        quarter(l, &mut x, [2, 7, 8, 13]);
        quarter(l, &mut x, [3, 4, 9, 14]);
    }
    for k in 0..16 {
        x[k] = l.add_halves(x[k], start[k]);
    }
    let (low, high) = (l.splat(LOW), l.splat(!LOW));
    write(l, |k| l.xor(l.and(x[k], low), l.raise_half(x[k + 1])), out, 0);
    write(l, |k| l.xor(l.high_half(x[k]), l.and(x[k + 1], high)), out, 1);
}

/// Writes every other block from `first` on: `pair(k)` has words k and k + 1 of the state of each.
#[inline(always)]
fn write<L: Lanes>(l: L, pair: impl Fn(usize) -> L::U, out: &mut [u64], first: usize) {
    for part in 0..BLOCK / L::WIDTH {
        let mut square = [l.splat_f(0.0); 8];
        for k in 0..L::WIDTH {
            square[k] = l.as_f(pair(2 * (part * L::WIDTH + k)));
        }
        l.transpose_square(&mut square);
        for j in 0..L::WIDTH {
            put_bits(l, out, (2 * j + first) * BLOCK + part * L::WIDTH, square[j]);
        }
    }
}

#[inline(always)]
fn quarter<L: Lanes>(l: L, x: &mut [L::U; 16], [a, b, c, d]: [usize; 4]) {
    x[a] = l.add_halves(x[a], x[b]);
    x[d] = l.rotate_halves(l.xor(x[d], x[a]), 16);
    x[c] = l.add_halves(x[c], x[d]);
    x[b] = l.rotate_halves(l.xor(x[b], x[c]), 12);
    x[a] = l.add_halves(x[a], x[b]);
    x[d] = l.rotate_halves(l.xor(x[d], x[a]), 8);
    x[c] = l.add_halves(x[c], x[d]);
    x[b] = l.rotate_halves(l.xor(x[b], x[c]), 7);
}
