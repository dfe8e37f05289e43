//! The stages of a cyclic group, in plain numbers and as the sweeps take them.

use super::stage::{Kind, Stage};
use crate::arch::residues::Residues;
use crate::modulus::Modulus;

/// A stage of a cyclic group in plain numbers: `root` has order `radix * lower`.
pub(super) struct Cyclic {
    pub(super) radix: usize,
    pub(super) lower: usize,
    pub(super) inner: usize,
    pub(super) root: u64,
}

impl Cyclic {
    /// The frequency at place k of the transform.
    fn frequency(&self, k: usize) -> usize {
        match self.radix {
            9 => k / 3 + k % 3 * 3,
            r if r.is_power_of_two() => k.reverse_bits() >> (usize::BITS - r.trailing_zeros()),
            _ => k,
        }
    }

    /// The primitive root of order `radix`.
    fn short_root(&self, q: Modulus) -> u64 {
        q.pow(self.root, self.lower as u64)
    }

    pub(super) fn encode<A: Residues>(&self, q: Modulus) -> Stage {
        let (r, root) = (self.radix, self.short_root(q));
        let half = q.value().div_ceil(2) % q.value();
        let cosine =
            |e: usize| q.mul(half, q.add(q.pow(root, e as u64), q.pow(root, (r - e) as u64)));
        let sine =
            |e: usize| q.mul(half, q.sub(q.pow(root, e as u64), q.pow(root, (r - e) as u64)));
        let (kind, constants) = if r.is_power_of_two() {
            // Block b of a level is modulo X^2h - c², of the next one modulo X^h - c and X^h + c.
            let exponent = |b: usize| {
                if b == 0 { 0 } else { b.reverse_bits() >> (usize::BITS + 1 - r.trailing_zeros()) }
            };
            (
                Kind::Network,
                (0..r / 2).map(|b| A::encode(q, q.pow(root, exponent(b) as u64))).collect(),
            )
        } else if r == 3 || r == 9 {
            let (third, powers) = (r / 3, if r == 9 { &[1, 2, 4][..] } else { &[] });
            let constants = [cosine(third), sine(third)]
                .into_iter()
                .chain(powers.iter().map(|&e| q.pow(root, e)));
            (Kind::Network, constants.map(|c| A::encode(q, c)).collect())
        } else {
            let short = r <= 13;
            let units: Vec<usize> = if short {
                (0..r).collect()
            } else {
                powers(generator(r), r).take(r - 1).collect()
            };
            let weights = units
                .iter()
                .map(|&e| [cosine(e), sine(e)].map(|w| A::encode_weight(q, w)))
                .collect();
            (
                if short {
                    Kind::Short
                } else {
                    Kind::Long(units.into_iter().map(|u| u as u32).collect())
                },
                weights,
            )
        };
        let twiddle =
            |t: usize, k: usize| A::encode(q, q.pow(self.root, (t * self.frequency(k)) as u64));
        let rows = if self.lower == 1 { 0 } else { self.lower };
        let twiddles = (0..rows)
            .flat_map(|t| (0..r).map(move |k| (t, k)))
            .map(|(t, k)| twiddle(t, k))
            .collect();
        Stage {
            kind,
            radix: r,
            lower: self.lower,
            inner: self.inner,
            twiddles,
            constants,
            unit: A::encode_weight(q, 1),
            wide: true,
        }
    }

    /// The stage by its definition.
    pub(super) fn apply(&self, q: Modulus, x: &mut [u64]) {
        let distance = self.lower * self.inner;
        let root = self.short_root(q);
        let powers: Vec<u64> =
            std::iter::successors(Some(1), |x| Some(q.mul(*x, root))).take(self.radix).collect();
        for block in x.chunks_exact_mut(self.radix * distance) {
            for j in 0..distance {
                let inputs: Vec<u64> = (0..self.radix).map(|i| block[i * distance + j]).collect();
                for k in 0..self.radix {
                    let f = self.frequency(k);
                    let sum = inputs
                        .iter()
                        .enumerate()
                        .fold(0, |s, (i, x)| q.mul_add(*x, powers[i * f % self.radix], s));
                    block[k * distance + j] =
                        q.mul(sum, q.pow(self.root, (j / self.inner * f) as u64));
                }
            }
        }
    }
}

/// The powers of g modulo r.
fn powers(g: usize, r: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1), move |x| Some(x * g % r))
}

/// The least generator of the units modulo the prime r.
fn generator(r: usize) -> usize {
    (2..r).find(|&g| powers(g, r).skip(1).position(|x| x == 1) == Some(r - 2)).unwrap_or(1)
}
