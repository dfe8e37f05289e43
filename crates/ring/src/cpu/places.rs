//! Regions divided by places as well as by primes.
//!
//! Wherever an operation is element-wise, places share as little as primes do. A region that has
//! few primes for its threads lets the task of each prime divide its places into [`Blocks`], which
//! threads without work take over; transforms stay whole. Results do not depend on it, as every
//! place is computed as before.

use std::ops::Range;

use rayon::prelude::*;

use super::limb::Limb;
use super::processor::{Cpu, SHORTEST_BLOCK};
use crate::gadget::KeyDigit;

/// The tasks of a divided region for each thread: those that end late are short then.
const TASKS_PER_THREAD: usize = 4;

/// Up to as many threads have enough tasks by primes alone, and regions are not divided.
const FEW_THREADS: usize = 2;

/// The words of a block, a multiple of `shortest` or all, for a region of a number of tasks.
fn block_words(places: usize, tasks: usize, shortest: usize) -> usize {
    let threads = rayon::current_num_threads();
    if threads <= FEW_THREADS {
        return places.max(1);
    }
    let parts = (TASKS_PER_THREAD * threads).div_ceil(tasks.max(1));
    places.div_ceil(parts).next_multiple_of(shortest).min(places).max(1)
}

/// f(0), f(1), .., in parallel if there are more than two threads: for what would be a region of
/// one task.
pub fn by_places<T: Send>(count: usize, f: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    let words = block_words(count, 1, SHORTEST_BLOCK);
    (0..count).into_par_iter().with_min_len(words).map(f).collect()
}

/// What `range` is from the start of `block` on, which contains it.
pub(super) fn inside(range: &Range<usize>, block: &Range<usize>) -> Range<usize> {
    range.start - block.start..range.end - block.start
}

/// How the tasks of one region divide their places.
#[derive(Clone, Copy)]
pub(super) struct Blocks {
    words: usize,
    degree: usize,
}

impl Cpu {
    /// For a region of a number of tasks, each of whole limbs.
    pub(super) fn blocks(&self, tasks: usize) -> Blocks {
        let degree = self.ring.degree();
        Blocks { words: block_words(degree, tasks, self.shortest_block), degree }
    }
}

impl Blocks {
    /// Whether the region is not divided: one block has all places.
    pub(super) fn whole(self) -> bool {
        self.words >= self.degree
    }

    /// The same for places that are multiplied by a key, if there is one: all of them together if
    /// it is expanded from seeds, which give residues in their order only.
    pub(super) fn with_key(self, key: Option<&[KeyDigit]>) -> Self {
        let seeded = |digit: &KeyDigit| digit.components.iter().any(|c| c.is_seeded());
        match key {
            Some(key) if key.iter().any(seeded) => Blocks { words: self.degree.max(1), ..self },
            _ => self,
        }
    }

    /// How many of `count` results that do not depend on each other one task makes.
    pub(super) fn share(self, count: usize) -> usize {
        count.div_ceil(self.degree.div_ceil(self.words).max(1)).max(1)
    }

    /// Runs `f(places, out)` on the words of a limb at the places of each block.
    pub(super) fn each(self, out: &mut [u64], f: impl Fn(Range<usize>, &mut [u64]) + Sync + Send) {
        out.par_chunks_mut(self.words).enumerate().for_each(|(k, out)| {
            let start = k * self.words;
            f(start..start + out.len(), out);
        });
    }

    /// Runs `f(places, outs)` on the words of several limbs at the places of each block.
    pub(super) fn together<'a>(
        self,
        outs: impl IntoIterator<Item = &'a mut Limb>,
        f: impl Fn(Range<usize>, &mut [&mut [u64]]) + Sync + Send,
    ) {
        let mut outs: Vec<&mut [u64]> = outs.into_iter().map(|out| &mut out[..]).collect();
        if self.whole() {
            return f(0..self.degree, &mut outs);
        }
        let mut blocks: Vec<Vec<&mut [u64]>> =
            (0..self.degree.div_ceil(self.words)).map(|_| Vec::with_capacity(outs.len())).collect();
        for out in outs {
            let words = out.chunks_mut(self.words);
            blocks.iter_mut().zip(words).for_each(|(block, words)| block.push(words));
        }
        blocks.into_par_iter().enumerate().for_each(|(k, mut outs)| {
            let start = k * self.words;
            f(start..(start + self.words).min(self.degree), &mut outs);
        });
    }

    /// Runs `f` on each limb, which stays whole: at the same time if the region is divided.
    pub(super) fn limbs(self, limbs: &mut [Limb], f: impl Fn(&mut Limb) + Sync + Send) {
        if self.whole() {
            limbs.iter_mut().for_each(f);
        } else {
            limbs.par_iter_mut().for_each(f);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use everlevel_arith::{Backend, primes};

    use super::*;
    use crate::ring::Ring;

    fn with_threads<T: Send>(threads: usize, f: impl FnOnce() -> T + Send) -> T {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(f)
    }

    fn cpu(index: u64) -> Cpu {
        let step = Ring::prime_step(index).unwrap();
        let moduli: Vec<u64> = primes::primes_congruent_one(step, 1 << 40).take(2).collect();
        Cpu::new(Arc::new(Ring::new(index, &moduli).unwrap()), Backend::Portable).unwrap()
    }

    /// The starts of blocks, checked to be all places in order, for limbs alone and together.
    fn starts(cpu: &Cpu, tasks: usize) -> Vec<usize> {
        let degree = cpu.ring().degree();
        let (mut limb, mut others) = (cpu.zero_limb(), [cpu.zero_limb(), cpu.zero_limb()]);
        let blocks = cpu.blocks(tasks);
        let write = |places: Range<usize>, out: &mut [u64]| {
            assert_eq!(places.len(), out.len());
            for (place, word) in places.clone().zip(out) {
                *word = (places.start << 32 | place) as u64;
            }
        };
        blocks.each(&mut limb, write);
        blocks.together(others.iter_mut(), |places, outs| {
            outs.iter_mut().for_each(|out| write(places.clone(), out));
        });
        assert!(others.iter().all(|other| other[..] == limb[..]));
        assert!((0..degree).all(|k| limb[k] as u32 as usize == k));
        let mut starts: Vec<usize> = limb.iter().map(|&word| (word >> 32) as usize).collect();
        starts.dedup();
        assert_eq!(starts.len() == 1, blocks.whole());
        starts
    }

    #[test]
    fn regions_are_divided_where_threads_outnumber_tasks() {
        let small = cpu(1 << 13);
        assert_eq!(small.ring().degree(), 1 << 12);
        for (threads, tasks, expected) in [
            (1, 1, 1),
            (2, 1, 1),
            (2, 40, 1),
            (3, 12, 1),
            (16, 64, 1),
            (16, 63, 2),
            (16, 20, 4),
            (16, 1, 4),
        ] {
            let found = with_threads(threads, || starts(&small, tasks));
            assert_eq!(found.len(), expected, "{threads} threads, {tasks} tasks");
            assert!(found.iter().all(|start| start.is_multiple_of(SHORTEST_BLOCK)));
        }
        // 48 places.
        let odd = cpu(105).with_shortest_block(10);
        assert_eq!(with_threads(16, || starts(&odd, 7)), [0, 10, 20, 30, 40]);
        assert_eq!(with_threads(16, || odd.blocks(7).share(7)), 2);
        assert_eq!(with_threads(2, || odd.blocks(7).share(7)), 7);
        assert_eq!(odd.blocks(7).share(0), 1);
    }

    #[test]
    fn values_by_places_are_in_order() {
        for threads in [1, 2, 16] {
            for count in [0, 1, SHORTEST_BLOCK + 1, 5 * SHORTEST_BLOCK] {
                let found = with_threads(threads, || by_places(count, |k| 3 * k));
                assert!(found.into_iter().eq((0..count).map(|k| 3 * k)), "{threads}, {count}");
            }
        }
    }
}
