//! Sums of magnitudes that are known by their logarithms.

/// log2(2^a + 2^b).
pub fn log_add(a: f64, b: f64) -> f64 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY {
        high
    } else {
        high + (low - high).exp2().ln_1p() / std::f64::consts::LN_2
    }
}

/// log2 of the root of the sum of the squares of 2^a and 2^b.
pub fn log_hypot(a: f64, b: f64) -> f64 {
    log_add(2.0 * a, 2.0 * b) / 2.0
}
