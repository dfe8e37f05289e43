//! The engine on a device, or on the emulated one (see `emulator/`): each test is skipped by name
//! where there is none.

mod large;
mod laws;
mod memory;
mod recordings;
mod wide;

use std::sync::Arc;

use everlevel_gpu::Gpu;
use everlevel_ring::{Ring, primes};

/// A ring with some primes of `bits` bits.
fn ring_of(index: u64, bits: u32, count: usize) -> Arc<Ring> {
    let step = Ring::prime_step(index).unwrap();
    let moduli: Vec<u64> = primes::primes_congruent_one(step, 1 << bits).take(count).collect();
    Arc::new(Ring::new(index, &moduli).unwrap())
}

/// One with seven.
fn ring(index: u64, bits: u32) -> Arc<Ring> {
    ring_of(index, bits, 7)
}

/// The first device, if there is one.
fn device(ring: &Arc<Ring>) -> Option<Gpu> {
    match Gpu::new(ring.clone(), 0) {
        Ok(gpu) => Some(gpu),
        Err(error) if error.code() == "gpu.none" => {
            println!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}
