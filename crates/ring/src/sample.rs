//! Random polynomials.
//!
//! Secret polynomials are sampled in constant time: no branch and no memory access depends on the
//! sampled values. Public uniform polynomials use rejection, whose running time depends on public
//! values only.

mod uniform;

use everlevel_arith::Modulus;
use rand_chacha::ChaCha20Rng;
use rand_core::{CryptoRng, SeedableRng};

use crate::basis::Basis;
use crate::cpu::access::limbs_mut;
use crate::cpu::limb::Limb;
use crate::cpu::processor::Cpu;
use crate::error::RingError;
use crate::poly::{Coeff, Eval, Poly};
use crate::ring::Ring;

pub use uniform::Seed;
pub(crate) use uniform::Uniform;

/// A generator seeded by the operating system.
///
/// # Errors
/// If the system has no random source.
pub fn system_rng() -> Result<ChaCha20Rng, RingError> {
    let mut seed = zeroize::Zeroizing::new(Seed::default());
    getrandom::fill(&mut seed[..]).map_err(|e| RingError::Random(e.to_string()))?;
    Ok(ChaCha20Rng::from_seed(*seed))
}

/// A fresh seed.
pub fn seed(rng: &mut (impl CryptoRng + ?Sized)) -> Seed {
    let mut seed = Seed::default();
    rng.fill_bytes(&mut seed);
    seed
}

/// The limb of the uniform polynomial (`seed`, `component`) modulo the prime at `position`, in
/// evaluations.
pub fn expand_limb(cpu: &Cpu, seed: &Seed, component: u32, position: usize) -> Limb {
    let mut limb = cpu.limb();
    Uniform::new(cpu, seed, component, position).fill(&mut limb);
    limb
}

/// The uniform polynomial (`seed`, `component`) over `basis`, in evaluations, without a transform:
/// for each prime a stream of ChaCha20, whose words are cut to the width of the prime and left out
/// if they are not below it. It is the same polynomial over any part of a basis, and takes about n
/// words of the stream for each prime just below a power of two, at most 2 n on average for others.
pub fn expand(cpu: &Cpu, seed: &Seed, component: u32, basis: Basis) -> Poly<Eval> {
    use rayon::prelude::*;
    let positions: Vec<usize> = basis.iter().collect();
    let limbs = positions.into_par_iter().map(|i| expand_limb(cpu, seed, component, i)).collect();
    cpu.poly(basis, limbs)
}

/// Random bits that [`add_flood`] takes at a time.
const WORD: u32 = 32;

/// Adds t times a polynomial whose coefficients are uniform on -2^f to 2^f - 1, to the coefficients
/// in any order. Constant time.
pub fn add_flood(
    cpu: &Cpu,
    x: &mut Poly<Coeff>,
    t: u128,
    f: u32,
    rng: &mut (impl CryptoRng + ?Sized),
) {
    let moduli: Vec<Modulus> = x.basis().iter().map(|i| cpu.ring().modulus(i)).collect();
    // (2^f, t, 2^WORD) modulo each prime.
    let constants: Vec<_> = moduli
        .iter()
        .map(|q| (q.pow(2, u64::from(f)), q.reduce_u128(t), q.reduce_u64(1 << WORD)))
        .collect();
    let bits = f + 1;
    let words = bits.div_ceil(WORD);
    let top = bits - (words - 1) * WORD;
    let mut flood = zeroize::Zeroizing::new(vec![0u64; words as usize]);
    let mut limbs = limbs_mut(x);
    for k in 0..cpu.ring().degree() {
        flood.iter_mut().for_each(|word| *word = u64::from(rng.next_u32()));
        flood[0] >>= WORD - top;
        for ((limb, &q), &(half, t, base)) in limbs.iter_mut().zip(&moduli).zip(&constants) {
            // The number whose digits the words are, the first one leading, less 2^f.
            let value =
                flood.iter().fold(0, |value, &word| q.add(q.mul(value, base), q.reduce_u64(word)));
            limb[k] = q.add(limb[k], q.mul(t, q.sub(value, half)));
        }
    }
}

/// Random words that [`map_words`] draws at a time.
const AT_ONCE: usize = 64;

/// Values of `count` random words, which are drawn some at a time, so that a generator of unknown
/// type is called for all of these at once. Of ChaCha20 they are the words of `next_u64`.
fn map_words<R: CryptoRng + ?Sized>(
    count: usize,
    rng: &mut R,
    value: impl Fn(u64) -> i64,
) -> Vec<i64> {
    let mut values = Vec::with_capacity(count);
    let mut bytes = zeroize::Zeroizing::new([0u8; 8 * AT_ONCE]);
    while values.len() < count {
        let drawn = &mut bytes[..8 * AT_ONCE.min(count - values.len())];
        rng.fill_bytes(drawn);
        let words = drawn.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
        values.extend(words.map(&value));
    }
    values
}

/// n independent uniform values of {-1, 0, 1}. Constant time; the bias is below 2^-62 a
/// coefficient.
pub fn ternary(degree: usize, rng: &mut (impl CryptoRng + ?Sized)) -> Vec<i64> {
    map_words(degree, rng, |word| ((word as u128 * 3) >> 64) as i64 - 1)
}

/// A uniform vector of {-1, 0, 1} with exactly `weight` non-zero values, by a constant-time
/// shuffle: values travel with random 62-bit keys through a sorting network. `weight` is at most
/// `degree`.
///
/// Two keys coincide with probability below n^2 / 2^63; the order of such a pair is then fixed
/// instead of random.
pub fn fixed_weight(degree: usize, weight: usize, rng: &mut (impl CryptoRng + ?Sized)) -> Vec<i64> {
    assert!(weight <= degree, "a weight up to the degree");
    // Low two bits: 0 for 0, 1 for +1, 2 for -1. The first `weight` entries are non-zero with
    // random signs.
    let mut keys: Vec<u64> = (0..degree)
        .map(|i| {
            let key = rng.next_u64() & !3;
            let sign = rng.next_u64() & 1;
            key | if i < weight { 1 + sign } else { 0 }
        })
        .collect();
    odd_even_merge_sort(&mut keys);
    let out = keys.iter().map(|k| (k & 1) as i64 - (k >> 1 & 1) as i64).collect();
    zeroize::Zeroize::zeroize(&mut keys);
    out
}

/// Batcher's network: the sequence of comparisons depends on the length only.
fn odd_even_merge_sort(a: &mut [u64]) {
    let n = a.len();
    let mut p = 1;
    while p < n {
        let mut k = p;
        while k >= 1 {
            let mut j = k % p;
            while j + k < n {
                for i in 0..k.min(n - j - k) {
                    if (i + j) / (2 * p) == (i + j + k) / (2 * p) {
                        let (x, y) = (a[i + j], a[i + j + k]);
                        let swap = 0u64.wrapping_sub((y < x) as u64);
                        let t = (x ^ y) & swap;
                        a[i + j] = x ^ t;
                        a[i + j + k] = y ^ t;
                    }
                }
                j += 2 * k;
            }
            k /= 2;
        }
        p *= 2;
    }
}

/// The variance of [`error`].
pub const ERROR_VARIANCE: f64 = 10.5;

/// n independent values of the centered binomial distribution with 2 * 21 coins: variance 10.5,
/// standard deviation 3.24, absolute value at most 21. Constant time.
pub fn error(degree: usize, rng: &mut (impl CryptoRng + ?Sized)) -> Vec<i64> {
    map_words(degree, rng, |coins| {
        let (a, b) = (coins & 0x1f_ffff, coins >> 21 & 0x1f_ffff);
        a.count_ones() as i64 - b.count_ones() as i64
    })
}

/// Where the cumulative distribution of [`truncated_gaussian`] passes -2, -1, 0 and 1, times 2^64.
const GAUSSIAN_STEPS: [u64; 4] =
    [0x1fde_4d53_06b5_cacb, 0x5b5e_1b80_461f_9e95, 0xa4a1_e47f_b9e0_616b, 0xe021_b2ac_f94a_3535];

/// The variance of [`truncated_gaussian`].
pub const GAUSSIAN_VARIANCE: f64 = 1.460_724_291_090_18;

/// n independent values of the discrete Gaussian distribution of standard deviation 1.55, truncated
/// to -2..=2: χ of Doröz–Hu–Sunar 2014 (B = 2), for NTRU keys and their errors. Constant time;
/// strictly sub-Gaussian with variance 1.461; the bias is below 2^-63 a coefficient.
pub fn truncated_gaussian(degree: usize, rng: &mut (impl CryptoRng + ?Sized)) -> Vec<i64> {
    map_words(degree, rng, |x| {
        GAUSSIAN_STEPS.iter().map(|&step| (x >= step) as i64).sum::<i64>() - 2
    })
}

/// An error polynomial with ‖e‖ <= `limit` in the canonical norm, drawn until this holds.
///
/// Only the number of attempts is visible, which reveals nothing about the vector that is kept.
pub fn bounded(ring: &Ring, limit: f64, mut draw: impl FnMut() -> Vec<i64>) -> Vec<i64> {
    loop {
        let candidate = zeroize::Zeroizing::new(draw());
        let real =
            zeroize::Zeroizing::new(candidate.iter().map(|&x| x as f64).collect::<Vec<f64>>());
        if ring.norm().max(&real) <= limit {
            return candidate.to_vec();
        }
    }
}

/// Signed coefficients in natural order as evaluations over `basis`, wiped when dropped.
pub fn secret_poly(cpu: &Cpu, basis: Basis, coefficients: &[i64]) -> Poly<Eval> {
    let mut poly: Poly<Coeff> = Poly::from_signed(cpu, basis, coefficients);
    poly.wipe_on_drop();
    poly.into_eval(cpu)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use everlevel_arith::{Backend, primes};
    use rand_core::Rng;

    use super::*;
    use crate::cpu::limbs;
    use crate::engine::Constant;

    fn rng() -> ChaCha20Rng {
        ChaCha20Rng::from_seed([7; 32])
    }

    /// Piece by piece, on every processor, what a generator of the same seed draws.
    #[test]
    fn uniform_residues_are_those_of_a_generator() {
        let mut primes: Vec<u64> = primes::primes_congruent_one(512, 1 << 50).take(1).collect();
        primes.push(12289);
        let ring = Arc::new(Ring::new(512, &primes).unwrap());
        for backend in Backend::available() {
            let cpu = Cpu::new(ring.clone(), backend).unwrap();
            for (position, &q) in primes.iter().enumerate() {
                let mut generator = rng();
                generator.set_stream(5 << 32 | position as u64);
                let mask = u64::MAX >> q.leading_zeros();
                let mut stream = Uniform::new(&cpu, &[7; 32], 5, position);
                for length in [1, 200, 0, 77, 1000] {
                    let mut found = vec![0; length];
                    stream.fill(&mut found);
                    for x in found {
                        let mut drawn = std::iter::repeat_with(|| generator.next_u64() & mask);
                        assert_eq!(Some(x), drawn.find(|drawn| *drawn < q));
                    }
                }
            }
        }
    }

    #[test]
    fn the_network_sorts() {
        let mut rng = rng();
        for len in (1..=10).map(|log| 1 << log).chain([3, 6, 96, 100, 1001]) {
            let mut a: Vec<u64> = (0..len).map(|_| rng.next_u64() % 97).collect();
            let mut want = a.clone();
            want.sort_unstable();
            odd_even_merge_sort(&mut a);
            assert_eq!(a, want);
        }
    }

    /// The flood is one integer polynomial modulo all primes, uniform on its range.
    #[test]
    fn floods_are_uniform_integers() {
        let mut primes: Vec<u64> = primes::primes_congruent_one(512, 1 << 50).take(3).collect();
        primes.extend(primes::primes_congruent_one(512, 1 << 20).take(1));
        let ring = Ring::new(512, &primes).unwrap();
        let cpu = Cpu::new(Arc::new(ring), Backend::detect()).unwrap();
        let basis = Basis::of(0..primes.len());
        let mut rng = rng();
        for f in [0, 5, 30, 31, 32, 40] {
            let mut flood: Poly<Coeff> = Poly::from_signed(&cpu, basis, &[0; 256]);
            add_flood(&cpu, &mut flood, 257, f, &mut rng);
            let mut one = flood.clone();
            one.scale_assign(&cpu, Constant::inverse(257));
            let values = cpu.centered(&one.restricted(Basis::of([0])));
            // Modulo every prime, among them one that does not hold the range.
            let mut again: Poly<Coeff> = Poly::from_signed(&cpu, basis, &values);
            again.scale_assign(&cpu, 257);
            assert!(limbs(&again).iter().zip(limbs(&flood)).all(|(x, y)| x[..] == y[..]));
            let half = 1i64 << f;
            assert!(values.iter().all(|x| (-half..half).contains(x)), "f = {f}");
            if f > 5 {
                // 256 values: each quarter of the range has some, and the mean is near -1/2.
                assert!(
                    (0..4).all(|i| values.iter().any(|x| (x + half) * 2 / half == i)),
                    "f = {f}"
                );
                let mean = values.iter().map(|&x| x as f64).sum::<f64>() / 256.0 / half as f64;
                assert!(mean.abs() < 0.2, "f = {f}: {mean}");
            }
        }
    }

    #[test]
    fn weights_and_positions() {
        let mut rng = rng();
        let mut hits = [0usize; 64];
        let mut signs = 0i64;
        for _ in 0..4000 {
            let v = fixed_weight(64, 8, &mut rng);
            assert_eq!(v.iter().filter(|&&x| x != 0).count(), 8);
            assert!(v.iter().all(|x| x.abs() <= 1));
            v.iter().enumerate().for_each(|(i, &x)| hits[i] += (x != 0) as usize);
            signs += v.iter().sum::<i64>();
        }
        // each position is hit 500 times on average, with standard deviation 21; signs have
        // deviation 179
        assert!(hits.iter().all(|&h| (350..650).contains(&h)), "{hits:?}");
        assert!(signs.abs() < 1500);
        assert_eq!(fixed_weight(16, 16, &mut rng).iter().filter(|&&x| x == 0).count(), 0);
    }

    /// Also where a block of the generator ends within a word.
    #[test]
    fn words_are_those_of_single_draws() {
        for (skipped, count) in [(0, 1000), (1, 64), (1, 129), (0, 0)] {
            let (mut one, mut other) = (rng(), rng());
            for generator in [&mut one, &mut other] {
                for _ in 0..skipped {
                    generator.next_u32();
                }
            }
            let words = map_words(count, &mut one as &mut dyn CryptoRng, |word| word as i64);
            assert_eq!(words.len(), count);
            assert!(words.iter().all(|word| *word == other.next_u64() as i64));
            assert_eq!(one.next_u64(), other.next_u64());
        }
    }

    #[test]
    fn moments() {
        let mut rng = rng();
        let n = 1 << 16;
        let e = error(n, &mut rng);
        let mean = e.iter().sum::<i64>() as f64 / n as f64;
        let variance = e.iter().map(|&x| (x * x) as f64).sum::<f64>() / n as f64;
        assert!(mean.abs() < 0.1 && (variance - ERROR_VARIANCE).abs() < 0.5, "{mean} {variance}");
        assert!(e.iter().all(|x| x.abs() <= 21));
        let t = ternary(n, &mut rng);
        for v in -1..=1 {
            let share = t.iter().filter(|&&x| x == v).count() as f64 / n as f64;
            assert!((share - 1.0 / 3.0).abs() < 0.01);
        }
    }

    #[test]
    fn the_truncated_gaussian_has_its_weights_and_tails() {
        let weight = |x: i64| (-((x * x) as f64) / (2.0 * 1.55 * 1.55)).exp();
        let total: f64 = (-2..=2).map(weight).sum();
        let mut below = 0.0;
        for (x, &step) in (-2..).zip(&GAUSSIAN_STEPS) {
            below += weight(x) / total;
            assert!((step as f64 / 2f64.powi(64) - below).abs() < 1e-15, "up to {x}");
        }
        let variance = (-2..=2).map(|x| (x * x) as f64 * weight(x)).sum::<f64>() / total;
        assert!((variance - GAUSSIAN_VARIANCE).abs() < 1e-14);
        // Strictly sub-Gaussian: E exp(λ x) <= exp(λ² σ² / 2).
        for l in (1..200).map(|k| f64::from(k) / 20.0) {
            let mean = (-2..=2).map(|x| weight(x) * (l * x as f64).exp()).sum::<f64>() / total;
            assert!(mean.ln() <= l * l * variance / 2.0, "at {l}");
        }
        let n = 1 << 16;
        let drawn = truncated_gaussian(n, &mut rng());
        for x in -3..=3 {
            let share = drawn.iter().filter(|&&y| y == x).count() as f64 / n as f64;
            let expected = if x.abs() > 2 { 0.0 } else { weight(x) / total };
            assert!((share - expected).abs() < 0.01, "{x}: {share}");
        }
    }
}
