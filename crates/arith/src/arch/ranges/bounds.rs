//! Bounds, and arithmetic with them that is never too low.

use crate::modulus::Modulus;

/// A bound on the residue in each lane, in units of q: on its magnitude, or on a number that is not
/// negative. Bounds are not met, since words are below theirs and q is below 2^50.
pub(super) type Bounds = [f64; 8];

/// All moduli are below it.
pub(super) const Q: f64 = (1u64 << Modulus::MAX_BITS) as f64;
/// Integers up to it are exact in doubles.
pub(super) const EXACT: f64 = (1u64 << f64::MANTISSA_DIGITS) as f64;

/// No less than the exact value of what was computed as x.
pub(super) fn up(x: f64) -> f64 {
    x * (1.0 + 1e-12)
}

/// x + y, no less than exactly. Exact sums stay as they are, since some bounds are met.
pub(super) fn add_up(x: f64, y: f64) -> f64 {
    let sum = x + y;
    if sum - x == y && sum - y == x { sum } else { up(sum) }
}

/// # Safety
/// Eight words must be readable.
pub(super) unsafe fn read(source: *const u64) -> Bounds {
    // SAFETY: the caller promises readable words.
    std::array::from_fn(|i| f64::from_bits(unsafe { *source.add(i) }))
}

/// # Safety
/// Eight words must be writable.
pub(super) unsafe fn write(target: *mut u64, x: Bounds) {
    for (i, bound) in x.into_iter().enumerate() {
        // SAFETY: the caller promises writable words.
        unsafe { *target.add(i) = bound.to_bits() };
    }
}

pub(super) fn both(x: Bounds, y: Bounds, f: impl Fn(f64, f64) -> f64) -> Bounds {
    std::array::from_fn(|i| f(x[i], y[i]))
}

pub(super) fn transposed(v: [Bounds; 8]) -> [Bounds; 8] {
    std::array::from_fn(|i| std::array::from_fn(|j| v[j][i]))
}
