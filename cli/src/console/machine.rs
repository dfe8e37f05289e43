//! What the machine does: memory, bandwidth, transforms, and the floor of a computation by those.

use std::time::Instant;

use everlevel::Cost;
use everlevel_ring::sample;
use everlevel_ring::{Basis, Cpu};
use rayon::prelude::*;
use serde::Serialize;

use crate::console::output::median;

/// The system's high-water mark of this process's resident memory in bytes; 0 where it is not
/// known.
pub fn peak_memory_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let kib = line.and_then(|l| l.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// Begins a new high-water mark, at what is resident now; does nothing where the system has no such
/// thing.
pub fn restart_peak_memory() {
    // The mark is only a measurement: where it cannot be restarted, it covers all of the process so
    // far.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Words of each of the two buffers of the bandwidth measurement: 128 MiB, above any cache.
const BANDWIDTH_WORDS: usize = 16 << 20;

/// Gigabytes a second, read plus written, of streaming through memory with all threads of the pool:
/// the best of five passes.
pub fn bandwidth_gb_s() -> f64 {
    let from: Vec<u64> = (0..BANDWIDTH_WORDS as u64).collect();
    let mut to = vec![0u64; BANDWIDTH_WORDS];
    let chunk = BANDWIDTH_WORDS / rayon::current_num_threads().max(1) + 1;
    let passes = (0..5).map(|_| {
        let started = Instant::now();
        to.par_chunks_mut(chunk).zip(from.par_chunks(chunk)).for_each(|(to, from)| {
            to.iter_mut().zip(from).for_each(|(t, f)| *t = t.wrapping_add(*f));
        });
        // Two words are read and one is written for each.
        let bytes = (3 * BANDWIDTH_WORDS * 8) as f64;
        bytes / started.elapsed().as_secs_f64() / 1e9
    });
    let best = passes.fold(0.0, f64::max);
    std::hint::black_box(&to);
    best
}

/// The transforms of a computation at the measured time of one, and its bytes at the measured
/// bandwidth: what this machine would take if nothing else took time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Floor {
    ntt_count: u64,
    ntt_us: f64,
    bytes_moved: u64,
    bandwidth_gb_s: f64,
    /// The sum.
    #[serde(rename = "floor_seconds")]
    pub seconds: f64,
}

impl Floor {
    /// Measures the machine for what was counted over a ring. The buffers count in the peak of
    /// memory: read that before.
    pub fn of(cpu: &Cpu, cost: &Cost) -> Floor {
        let (ntt_us, bandwidth_gb_s) = (transform_us(cpu), bandwidth_gb_s());
        Floor {
            ntt_count: cost.transforms,
            ntt_us,
            bytes_moved: cost.bytes,
            bandwidth_gb_s,
            seconds: cost.transforms as f64 * ntt_us / 1e6
                + cost.bytes as f64 / (bandwidth_gb_s * 1e9),
        }
    }
}

impl std::fmt::Display for Floor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "floor {:.3} s = {} transforms of {:.1} us + {:.2} GB at {:.1} GB/s",
            self.seconds,
            self.ntt_count,
            self.ntt_us,
            self.bytes_moved as f64 / 1e9,
            self.bandwidth_gb_s
        )
    }
}

/// Microseconds of wall time for one transform of one limb of a ring, forward and inverse
/// averaged, with all threads of the pool at work: the median over rounds that go through the
/// tables of all primes.
pub fn transform_us(cpu: &Cpu) -> f64 {
    let primes = cpu.ring().prime_count();
    let mut values = Some(sample::expand(cpu, &sample::Seed::default(), 0, Basis::of(0..primes)));
    let mut round = || {
        let started = Instant::now();
        // Moved, as a copy would be written to.
        values = values.take().map(|x| x.into_coeff(cpu).into_eval(cpu));
        started.elapsed().as_secs_f64() * 1e6 / (2 * primes) as f64
    };
    round();
    let times: Vec<f64> = (0..21).map(|_| round()).collect();
    median(&times)
}
