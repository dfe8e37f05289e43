//! What the kernels know of each prime.

use everlevel_arith::{Modulus, Powers};
use everlevel_ring::Ring;

/// A factor in Montgomery form: times 2^64.
pub(crate) fn montgomery(q: Modulus, x: u64) -> u64 {
    q.mul(x, q.reduce_u128(1 << 64))
}

/// Times 2^128: what a sum of products that was reduced once is multiplied by.
pub(crate) fn twice_montgomery(q: Modulus, x: u64) -> u64 {
    montgomery(q, montgomery(q, x))
}

/// A residue as a double, centered.
pub(crate) fn centered(q: Modulus, x: u64) -> f64 {
    q.centered(x) as f64
}

/// The inverse of an odd number modulo 2^64, by Newton's iteration: each step doubles the number of
/// right bits, of which q itself has three.
fn inverse(q: u64) -> u64 {
    (0..5).fold(q, |x, _| x.wrapping_mul(2u64.wrapping_sub(q.wrapping_mul(x))))
}

/// The constants of a modulus as the kernels have those of a prime, without those of transforms.
pub(crate) fn constants(q: u64) -> [u64; 8] {
    let power = |k: u32| (0..k).fold(1 % q, |x, _| (2 * u128::from(x) % u128::from(q)) as u64);
    [q, inverse(q), power(64), power(128), 0, 0, 0, 0]
}

/// The constants of all primes, eight words each, and their twiddles, row by row.
pub(crate) fn tables(ring: &Ring) -> (Vec<u64>, Vec<u64>) {
    let log_n = ring.degree().trailing_zeros();
    let (mut primes, mut twiddles) = (Vec::new(), Vec::new());
    for i in 0..ring.prime_count() {
        let q = ring.modulus(i);
        let powers = Powers::new(q, log_n, ring.root(i));
        let [even, odd] = powers.last.map(|x| centered(q, x).to_bits());
        primes.extend([
            q.value(),
            inverse(q.value()),
            montgomery(q, 1),
            twice_montgomery(q, 1),
            centered(q, powers.quarter).to_bits(),
            even,
            odd,
            (1.0 / q.value() as f64).to_bits(),
        ]);
        for row in &powers.rows {
            twiddles.extend(row.iter().map(|&w| centered(q, w).to_bits()));
        }
    }
    (primes, twiddles)
}
