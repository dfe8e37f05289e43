//! What the processor allows, measured: arithmetic where nothing waits for memory, and reading
//! where nothing is computed. A floor for the time of a computation is made of these.

use crate::backend::Backend;
#[cfg(target_arch = "x86_64")]
use crate::compiled;
use crate::error::ArithError;
use crate::kernels::MAX_TERMS;
use crate::modulus::Modulus;
use crate::ntt::registers::{PORTABLE_WORDS, STAGES, plain};
use crate::operations::Operations;
use std::hint::black_box;
use std::time::Instant;

/// Seconds that operations on words take in vectors of a backend, where all operands are in
/// registers and no operation waits for another: what the ports of the processor allow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ports {
    /// A butterfly of the forward transform.
    pub forward: f64,
    /// A butterfly of the inverse transform.
    pub inverse: f64,
    /// A product that is added to a sum.
    pub product: f64,
}

impl Ports {
    /// Measures one core for some milliseconds: medians.
    ///
    /// # Errors
    /// [`ArithError::MissingBackend`].
    pub fn measured(backend: Backend) -> Result<Ports, ArithError> {
        let loops = Loops::new(backend)?;
        // The largest odd modulus below 2^50.
        let q = Modulus::new((1 << Modulus::MAX_BITS) - 1)?;
        let butterflies = |work: Loop| {
            let mut words = loops.residues(q, loops.butterfly_words());
            // The words are half as many pairs.
            let each = (ROUNDS * STAGES * words.len() / 2) as f64;
            median(|| work(loops, q, black_box(12345), ROUNDS, black_box(&mut words))) / each
        };
        let mut words = loops.residues(q, loops.product_words());
        let each = (MAX_TERMS * words.len()) as f64;
        let products = || loops.products(q, black_box(12345), MAX_TERMS, black_box(&mut words));
        Ok(Ports {
            forward: butterflies(Loops::forward),
            inverse: butterflies(Loops::inverse),
            product: median(products) / each,
        })
    }

    /// What several cores at the same time take for an operation, each of them measured while the
    /// others work.
    pub fn together(cores: &[Ports]) -> Ports {
        let all =
            |of: fn(&Ports) -> f64| 1.0 / cores.iter().map(|core| 1.0 / of(core)).sum::<f64>();
        Ports {
            forward: all(|core| core.forward),
            inverse: all(|core| core.inverse),
            product: all(|core| core.product),
        }
    }

    /// A butterfly, both directions averaged.
    pub fn butterfly(&self) -> f64 {
        (self.forward + self.inverse) / 2.0
    }

    /// Seconds for operations, butterflies of both directions in equal shares.
    pub fn seconds(&self, operations: Operations) -> f64 {
        operations.butterflies as f64 * self.butterfly() + operations.products as f64 * self.product
    }
}

/// Reads all words, by the widest loads of a backend, and returns their exclusive or.
///
/// # Errors
/// [`ArithError::MissingBackend`].
pub fn read_through(backend: Backend, words: &[u64]) -> Result<u64, ArithError> {
    Ok(Loops::new(backend)?.exclusive_or(words))
}

/// Rounds of a timed loop of butterflies.
const ROUNDS: usize = 1 << 11;

type Loop = fn(Loops, Modulus, u64, usize, &mut [u64]);

/// The median of several calls in seconds, after one that does not count.
fn median(mut work: impl FnMut()) -> f64 {
    work();
    let mut times = [0.0; 25];
    for time in &mut times {
        let started = Instant::now();
        work();
        *time = started.elapsed().as_secs_f64();
    }
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The loops of a backend that this processor has.
#[derive(Clone, Copy)]
struct Loops(Backend);

/// Calls a loop of the backend.
macro_rules! on_backend {
    ($backend:expr, $name:ident($($argument:expr),*)) => {
        match $backend {
            Backend::Portable => plain::$name($($argument),*),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx2 => compiled::avx2::$name($($argument),*),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512 => compiled::avx512::$name($($argument),*),
            #[cfg(not(target_arch = "x86_64"))]
            _ => unreachable!("just checked"),
        }
    };
}

impl Loops {
    fn new(backend: Backend) -> Result<Self, ArithError> {
        backend.check().map(|()| Loops(backend))
    }

    /// Words of a vector.
    fn width(self) -> usize {
        match self.0 {
            Backend::Portable => 1,
            Backend::Avx2 => 4,
            Backend::Avx512 => 8,
        }
    }

    fn butterfly_words(self) -> usize {
        if self.0 == Backend::Portable { PORTABLE_WORDS } else { 16 * self.width() }
    }

    fn product_words(self) -> usize {
        if self.0 == Backend::Portable { PORTABLE_WORDS } else { self.width() * self.width() }
    }

    /// Any residues.
    fn residues(self, q: Modulus, count: usize) -> Vec<u64> {
        let word = |i: u64| q.reduce_u64((i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        (0..count as u64).map(word).collect()
    }

    fn forward(self, q: Modulus, w: u64, rounds: usize, words: &mut [u64]) {
        assert!(words.len() == self.butterfly_words() && (1..q.value()).contains(&w));
        on_backend!(self.0, forward_butterflies(q, w, rounds, words));
    }

    fn inverse(self, q: Modulus, w: u64, rounds: usize, words: &mut [u64]) {
        assert!(words.len() == self.butterfly_words() && (1..q.value()).contains(&w));
        on_backend!(self.0, inverse_butterflies(q, w, rounds, words));
    }

    fn products(self, q: Modulus, b: u64, rounds: usize, words: &mut [u64]) {
        assert!(words.len() == self.product_words() && b < q.value() && rounds <= MAX_TERMS);
        on_backend!(self.0, products(q, b, rounds, words));
    }

    fn exclusive_or(self, words: &[u64]) -> u64 {
        let mut out = 0;
        on_backend!(self.0, exclusive_or(words, &mut out));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_compute_what_they_are_timed_for() {
        for backend in Backend::available() {
            let loops = Loops::new(backend).unwrap();
            for q in [97, (1 << 30) - 35, (1 << 50) - 27] {
                let q = Modulus::new(q).unwrap();
                let w = 5 * q.value() / 7;
                for rounds in [0, 1, 2, 7] {
                    let start = loops.residues(q, loops.butterfly_words());
                    let half = start.len() / 2;
                    let pairs = |of: fn(Modulus, u64, u64, u64) -> (u64, u64)| {
                        let mut all = start.clone();
                        for _ in 0..rounds * STAGES {
                            for k in 0..half {
                                (all[k], all[k + half]) = of(q, all[k], all[k + half], w);
                            }
                        }
                        all
                    };
                    let mut words = start.clone();
                    loops.forward(q, w, rounds, &mut words);
                    let forward = pairs(|q, x, y, w| (q.mul_add(w, y, x), q.sub(x, q.mul(w, y))));
                    assert_eq!(words, forward, "{backend} {rounds}");
                    words.copy_from_slice(&start);
                    loops.inverse(q, w, rounds, &mut words);
                    let inverse = pairs(|q, x, y, w| (q.add(x, y), q.mul(w, q.sub(x, y))));
                    assert_eq!(words, inverse, "{backend} {rounds}");
                }
                for rounds in [0, 1, 9, MAX_TERMS] {
                    let mut words = loops.residues(q, loops.product_words());
                    let times = q.mul(q.reduce_u64(rounds as u64), w);
                    let expected: Vec<u64> = words.iter().map(|&a| q.mul(a, times)).collect();
                    loops.products(q, w, rounds, &mut words);
                    assert_eq!(words, expected, "{backend} {rounds}");
                }
            }
            for length in [0, 1, 63, 64, 200, 1027] {
                let words: Vec<u64> =
                    (0..length).map(|i: u64| i.wrapping_mul(u64::MAX / 7)).collect();
                let expected = words.iter().fold(0u64, |sum, &x| sum ^ x);
                assert_eq!(read_through(backend, &words).unwrap(), expected, "{backend} {length}");
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "measures time")]
    fn ports_are_measured() {
        for backend in Backend::available() {
            let ports = Ports::measured(backend).unwrap();
            // Between a hundredth of a nanosecond and a microsecond, on any machine.
            let plausible = |seconds: f64| (1e-11..1e-6).contains(&seconds);
            assert!([ports.forward, ports.inverse, ports.product].into_iter().all(plausible));
            let both = Ports::together(&[ports, ports]);
            assert!((both.forward * 2.0 - ports.forward).abs() < 1e-6 * ports.forward);
            let operations = Operations { butterflies: 10, products: 3 } * 2;
            let expected = 20.0 * (ports.forward + ports.inverse) / 2.0 + 6.0 * ports.product;
            assert!((ports.seconds(operations) - expected).abs() < 1e-6 * expected);
        }
    }
}
