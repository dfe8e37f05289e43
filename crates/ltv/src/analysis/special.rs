//! A special function that the standard library does not have.

use std::f64::consts::PI;

/// log2 erfc(x) for x >= 0, where 1 − erf(x) is rounding error from x = 6 on and nothing at all
/// from x = 27 on.
pub(super) fn log2_erfc(x: f64) -> f64 {
    if x < 2.0 {
        // erf by its power series (DLMF 7.6.1).
        let mut term = x;
        let mut sum = x;
        for k in 1..60 {
            term *= -x * x / f64::from(k);
            sum += term / f64::from(2 * k + 1);
        }
        return (1.0 - 2.0 / PI.sqrt() * sum).log2();
    }
    // e^(−x²)/√π over the continued fraction x + (1/2)/(x + (2/2)/(x + (3/2)/(x + …))) (DLMF
    // 7.9.1).
    let fraction = (1..=80).rev().fold(x, |rest, k| x + f64::from(k) / 2.0 / rest);
    -x * x * std::f64::consts::LOG2_E - (PI.sqrt() * fraction).log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_function_has_its_known_values() {
        let known = [
            (0.0, 1.0),
            (0.5, 0.479_500_122_186_953_5),
            (1.0, 0.157_299_207_050_285_13),
            (1.999_999, 0.004_677_755_650_389_3),
            (2.0, 0.004_677_734_981_047_266),
            (5.0, 1.537_459_794_428_034_8e-12),
            (10.0, 2.088_487_583_762_545e-45),
        ];
        for (x, value) in known {
            assert!((log2_erfc(x) - f64::log2(value)).abs() < 1e-9, "{x}");
        }
    }
}
