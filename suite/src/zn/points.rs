//! Digits of numbers, and numbers as the values of the polynomials of their digits, for few pairs.
//!
//! A(x) = Σ a_i x^i and B(x) = Σ b_j x^j have the digits of a pair of numbers as coefficients.
//! Their product has degree 6, so that seven of its values determine it, which are products of
//! those of A and B: one product of ciphertexts for 585 pairs, whose seven values lie in slots
//! beside each other, where digits by themselves take eight ciphertexts and four results for up to
//! 4,096 pairs. The coefficients of the product are at most 4 (2^16 - 1)^2, less than the plaintext
//! modulus, and so exact. Source: Toom 1963, Cook 1966.

use everlevel_circuit::poly::Polynomial;
use everlevel_circuit::{CircuitError, PrimePower};

/// Bits of a digit.
pub(super) const DIGIT_BITS: u32 = 16;
/// Digits of a number.
pub(super) const DIGITS: usize = 4;
/// Values of a product that determine it, at 0, 1, .., 6: as many as it has coefficients.
pub(super) const POINTS: usize = 2 * DIGITS - 1;

/// The values of A at the points, all of them below 2^25. No branch depends on the number.
pub(super) fn values(number: u64) -> [u64; POINTS] {
    let digit = |i: usize| number >> (DIGIT_BITS * i as u32) & 0xffff;
    std::array::from_fn(|x| (0..DIGITS).rev().fold(0, |sum, i| sum * x as u64 + digit(i)))
}

/// What turns values into coefficients.
pub(super) struct Interpolation {
    modulus: PrimePower,
    /// `weights[k][j]`: what value j is multiplied by in coefficient k.
    weights: [[u64; POINTS]; POINTS],
}

impl Interpolation {
    /// Modulo a prime that is larger than any point.
    pub fn new(prime: u64) -> Result<Self, CircuitError> {
        let modulus = PrimePower::new(prime, 1)?;
        let points: [u64; POINTS] = std::array::from_fn(|x| x as u64);
        let mut weights = [[0; POINTS]; POINTS];
        for j in 0..POINTS {
            // 1 at point j, 0 at the others.
            let values: [u64; POINTS] = std::array::from_fn(|x| u64::from(x == j));
            let basis = Polynomial::interpolate(modulus, &points, &values)?;
            for (weights, coefficient) in weights.iter_mut().zip(basis.coefficients()) {
                weights[j] = *coefficient;
            }
        }
        Ok(Interpolation { modulus, weights })
    }

    /// The coefficients of the polynomial with these values, which are residues.
    pub fn coefficients(&self, values: &[u64; POINTS]) -> [u64; POINTS] {
        let t = &self.modulus;
        self.weights.map(|weights| {
            let terms = weights.iter().zip(values).map(|(weight, value)| t.mul(*weight, *value));
            terms.fold(0, |sum, term| t.add(sum, term))
        })
    }
}

/// The most that coefficient k of a product can be: as many products of digits as it is the sum of.
pub(super) fn largest(k: usize) -> u64 {
    let digit = (1u64 << DIGIT_BITS) - 1;
    (k + 1).min(POINTS - k) as u64 * digit * digit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zn::spec;

    /// The numbers with the largest digits, some between, and those of powers of two.
    #[test]
    fn products_of_values_have_the_coefficients_of_the_product() {
        let t = PrimePower::new(spec().plain_prime, 1).unwrap();
        let interpolation = Interpolation::new(t.prime()).unwrap();
        let powers = (0..64).map(|k| 1u64 << k);
        let others = [0, u64::MAX, 0xffff, 0x1234_5678_9abc_def0, 0xffff_0000_ffff_0001];
        let numbers: Vec<u64> = powers.chain(others).collect();
        for a in &numbers {
            for b in &numbers {
                let (x, y) = (values(*a), values(*b));
                assert!(x.iter().all(|x| *x < 1 << 25), "{a}");
                let products: [u64; POINTS] = std::array::from_fn(|j| t.mul(x[j], y[j]));
                let found = interpolation.coefficients(&products);
                let digit = |x: u64, i: usize| x >> (16 * i) & 0xffff;
                let mut wanted = [0; POINTS];
                for i in 0..DIGITS {
                    (0..DIGITS).for_each(|j| wanted[i + j] += digit(*a, i) * digit(*b, j));
                }
                assert_eq!(found, wanted, "{a} {b}");
                assert!((0..POINTS).all(|k| found[k] <= largest(k) && largest(k) < t.value()));
            }
        }
        let most = interpolation.coefficients(&values(u64::MAX).map(|x| t.mul(x, x)));
        assert_eq!(most, std::array::from_fn(largest));
    }
}
