//! What the machine does: memory, bandwidth, transforms, and the floor of a computation by those.

use std::hint::black_box;
use std::time::Instant;

use everlevel::Cost;
use everlevel_arith::{Operations, PACKED_BITS, Ports, read_through};
use everlevel_ring::sample;
use everlevel_ring::{Backend, Basis, Cpu};
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
    black_box(&to);
    best
}

/// Words of the buffer that is read from memory: 256 MiB, of which caches hold little.
const MEMORY_WORDS: usize = 32 << 20;

/// Words that each thread reads from its caches: 4 MiB, above those of the second level.
const CACHE_WORDS: usize = 512 << 10;

/// Gigabytes a second of reading memory with all threads of the pool: the best of five passes.
fn memory_gb_s(backend: Backend) -> f64 {
    let words: Vec<u64> = (0..MEMORY_WORDS as u64).collect();
    let chunk = MEMORY_WORDS / rayon::current_num_threads().max(1) + 1;
    let passes = (0..5).map(|_| {
        let started = Instant::now();
        words.par_chunks(chunk).for_each(|words| read(backend, words));
        size_of_val(&words[..]) as f64 / started.elapsed().as_secs_f64() / 1e9
    });
    passes.fold(0.0, f64::max)
}

/// Gigabytes a second of reading caches with all threads of the pool, each its own words.
fn cache_gb_s(backend: Backend) -> f64 {
    let rates = rayon::broadcast(|_| {
        let words: Vec<u64> = (0..CACHE_WORDS as u64).collect();
        read(backend, &words);
        let times: Vec<f64> = (0..25)
            .map(|_| {
                let started = Instant::now();
                read(backend, &words);
                started.elapsed().as_secs_f64()
            })
            .collect();
        size_of_val(&words[..]) as f64 / median(&times) / 1e9
    });
    rates.iter().sum()
}

/// Reads words, and keeps the compiler from leaving that out.
fn read(backend: Backend, words: &[u64]) {
    black_box(read_through(backend, black_box(words)).expect("the backend of the engine"));
}

/// What the ports of the cores allow that the pool has, all of them at work.
fn ports(backend: Backend) -> Ports {
    let cores = rayon::broadcast(|_| Ports::measured(backend).expect("the backend of the engine"));
    Ports::together(&cores)
}

/// What a computation would take on this machine if its parts came one after the other, each at its
/// limit: the butterflies of its transforms and the terms of its sums at what the ports allow, its
/// keys at the speed of reading memory, all other words at that of reading caches.
///
/// All speeds are those of all threads of the pool together. No kernel of the computation is timed
/// for it, so a better kernel does not lower it; what kernels compute beside butterflies and terms,
/// reductions above all, is not in it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Floor {
    ntt_count: u64,
    ntt_us: f64,
    bytes_moved: u64,
    /// Of reading memory.
    bandwidth_gb_s: f64,
    /// The sum of the parts.
    #[serde(rename = "floor_seconds")]
    pub seconds: f64,
    #[serde(rename = "floor_parts")]
    parts: Parts,
}

/// What a floor is made of: counts, speeds, and the time of each count at its speed.
#[derive(Clone, Copy, Debug, Serialize)]
struct Parts {
    butterflies: u64,
    butterfly_ns: f64,
    butterfly_seconds: f64,
    terms: u64,
    term_ns: f64,
    term_seconds: f64,
    /// As they are in memory.
    key_bytes_read: u64,
    /// Of reading the keys, or of multiplying by them if that takes longer.
    key_reading_seconds: f64,
    cache_bytes: u64,
    cache_gb_s: f64,
    cache_seconds: f64,
}

impl Floor {
    /// Measures the machine for what was counted over a ring. The buffers count in the peak of
    /// memory: read that before.
    pub fn of(cpu: &Cpu, cost: &Cost) -> Floor {
        let backend = cpu.backend();
        let (ports, bandwidth_gb_s) = (ports(backend), memory_gb_s(backend));
        let cache_gb_s = cache_gb_s(backend);
        // Transforms of rings with axes add products up, too.
        let transforms = cpu.transform_operations() * cost.transforms;
        let terms = cost.terms + transforms.products;
        let key_terms = cost.key_bytes / 8;
        let bits = if cpu.packs_keys() { PACKED_BITS as u64 } else { 64 };
        let (key_bytes_read, cache_bytes) = (key_terms * bits / 8, cost.bytes - cost.key_bytes);
        let seconds = |butterflies, products| ports.seconds(Operations { butterflies, products });
        let parts = Parts {
            butterflies: transforms.butterflies,
            butterfly_ns: ports.butterfly() * 1e9,
            butterfly_seconds: seconds(transforms.butterflies, 0),
            terms,
            term_ns: ports.product * 1e9,
            term_seconds: seconds(0, terms),
            key_bytes_read,
            key_reading_seconds: (key_bytes_read as f64 / (bandwidth_gb_s * 1e9))
                .max(seconds(0, key_terms)),
            cache_bytes,
            cache_gb_s,
            cache_seconds: cache_bytes as f64 / (cache_gb_s * 1e9),
        };
        Floor {
            ntt_count: cost.transforms,
            ntt_us: transform_us(cpu),
            bytes_moved: cost.bytes,
            bandwidth_gb_s,
            seconds: parts.seconds(),
            parts,
        }
    }
}

impl Parts {
    fn seconds(&self) -> f64 {
        self.butterfly_seconds + self.term_seconds + self.key_reading_seconds + self.cache_seconds
    }
}

impl std::fmt::Display for Floor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Parts { butterfly_ns, term_ns, key_bytes_read, cache_bytes, cache_gb_s, .. } =
            self.parts;
        let giga = |count: u64| count as f64 / 1e9;
        write!(
            f,
            "floor {:.3} s = {:.3} s for {:.1} G butterflies of {butterfly_ns:.3} ns + {:.3} s for \
             {:.1} G terms of {term_ns:.3} ns + {:.3} s for {:.2} GB of keys at {:.1} GB/s + {:.3} \
             s for {:.2} GB in caches at {cache_gb_s:.1} GB/s\n{} transforms of {:.1} us take \
             {:.3} s by themselves",
            self.seconds,
            self.parts.butterfly_seconds,
            giga(self.parts.butterflies),
            self.parts.term_seconds,
            giga(self.parts.terms),
            self.parts.key_reading_seconds,
            giga(key_bytes_read),
            self.bandwidth_gb_s,
            self.parts.cache_seconds,
            giga(cache_bytes),
            self.ntt_count,
            self.ntt_us,
            self.ntt_count as f64 * self.ntt_us / 1e6,
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
