//! The engines of the library obey the laws, and compute the same.

use std::sync::Arc;

use everlevel_ring::{Backend, Cpu, Ring, primes};
use everlevel_testing::{Naive, engine_laws};

/// A ring with seven primes of `bits` bits.
fn ring(index: u64, bits: u32) -> Arc<Ring> {
    let step = Ring::prime_step(index).unwrap();
    let moduli: Vec<u64> = primes::primes_congruent_one(step, 1 << bits).take(7).collect();
    Arc::new(Ring::new(index, &moduli).unwrap())
}

/// Powers of two; an odd prime; two and three odd primes; a prime power; 2^k times odd numbers.
const INDICES: [u64; 7] = [32, 256, 31, 85, 105, 81, 240];

#[test]
fn the_processor_obeys_the_laws_on_every_backend() {
    for backend in Backend::available() {
        for index in INDICES {
            for bits in [30, 50] {
                engine_laws(&Cpu::new(ring(index, bits), backend).unwrap());
            }
        }
    }
}

/// With blocks that divide the places of each prime of these rings.
#[test]
fn the_processor_obeys_the_laws_on_many_threads() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(16).build().unwrap();
    for backend in Backend::available() {
        for index in INDICES {
            for words in [1, 8] {
                let cpu = Cpu::new(ring(index, 50), backend).unwrap().with_shortest_block(words);
                pool.install(|| engine_laws(&cpu));
            }
        }
    }
}

#[test]
fn the_naive_engine_obeys_the_laws() {
    for index in INDICES {
        for bits in [30, 50] {
            engine_laws(&Naive::new(ring(index, bits)).unwrap());
        }
    }
}
