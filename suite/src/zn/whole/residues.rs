//! Whole numbers from their residues.

use everlevel_ring::{PrimePower, RingError};

use super::protocol::{COUNT, MODULI};

/// The digits of a number in the mixed radix of the moduli t_0, t_1, ..: v_0 + v_1 t_0 + v_2 t_0
/// t_1 + .., 0 <= v_i < t_i.
pub(super) type Digits = [u64; COUNT];

/// What turns residues into digits.
pub(super) struct Residues {
    moduli: Vec<PrimePower>,
    /// 1 / t_i modulo t_j, for each j those of all i < j.
    inverses: Vec<Vec<u64>>,
    /// t_0 .. t_(i-1) modulo 2^64.
    weights: Digits,
}

impl Residues {
    pub fn new() -> Result<Self, RingError> {
        let modulus = |&t: &u64| PrimePower::new(t, 1);
        let moduli = MODULI.iter().map(modulus).collect::<Result<Vec<_>, _>>()?;
        let inverses = moduli.iter().enumerate().map(|(j, t)| {
            let before = MODULI[..j].iter();
            before.map(|&other| t.inv(other)).collect::<Result<Vec<_>, RingError>>()
        });
        let inverses = inverses.collect::<Result<Vec<_>, _>>()?;
        let mut weight = 1u64;
        let weights = MODULI.map(|t| {
            let before = weight;
            weight = weight.wrapping_mul(t);
            before
        });
        Ok(Residues { moduli, inverses, weights })
    }

    /// The digits of the number that has these residues. No branch depends on them, as the moduli
    /// ascend.
    pub fn digits(&self, residues: &[u64; COUNT]) -> Digits {
        let mut digits = [0; COUNT];
        for (j, (&residue, t)) in residues.iter().zip(&self.moduli).enumerate() {
            let (found, rest) = digits.split_at_mut(j);
            let steps = found.iter().zip(&self.inverses[j]);
            rest[0] = steps.fold(residue, |x, (&digit, &inverse)| t.mul(t.sub(x, digit), inverse));
        }
        digits
    }

    /// The number modulo 2^64.
    pub fn word(&self, digits: &Digits) -> u64 {
        let terms = digits.iter().zip(&self.weights);
        terms.fold(0, |sum, (&digit, &weight)| sum.wrapping_add(digit.wrapping_mul(weight)))
    }

    /// The digits of 2^bits - 1.
    pub fn largest(&self, bits: u32) -> Digits {
        let mut residues = [0; COUNT];
        for (residue, t) in residues.iter_mut().zip(&self.moduli) {
            *residue = t.sub(t.pow(2, bits.into()), 1);
        }
        self.digits(&residues)
    }

    /// Whether a number is at most another one.
    pub fn is_at_most(digits: &Digits, largest: &Digits) -> bool {
        digits.iter().rev().le(largest.iter().rev())
    }

    /// About how many bits a number has.
    pub fn bits(digits: &Digits) -> u64 {
        let places = digits.iter().zip(MODULI).rev();
        let number = places.fold(0.0, |sum, (&digit, t)| sum * t as f64 + digit as f64);
        // The logarithm of 0 becomes 0.
        number.log2() as u64 + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_numbers() {
        let residues = Residues::new().unwrap();
        let of = |x: u128| residues.digits(&MODULI.map(|t| (x % u128::from(t)) as u64));
        assert_eq!(of(5), [5, 0, 0, 0, 0, 0, 0, 0]);
        let base = u128::from(MODULI[0]);
        assert_eq!(of(base), [0, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(of(base * u128::from(MODULI[1]) * 3 + 2), [2, 0, 3, 0, 0, 0, 0, 0]);
        // The largest number of all.
        let all = residues.digits(&MODULI.map(|t| t - 1));
        assert_eq!(all, MODULI.map(|t| t - 1));
        let product = MODULI.iter().fold(1u64, |product, &t| product.wrapping_mul(t));
        assert_eq!(residues.word(&all), product.wrapping_sub(1));
        assert_eq!(Residues::bits(&all), 259);
        for x in [0, 1, 1 << 64, (1 << 64) + 7, u128::MAX, u128::MAX / 3] {
            assert_eq!(residues.word(&of(x)), x as u64);
        }
        assert_eq!(of(u128::MAX), residues.largest(128));
        assert!(Residues::is_at_most(&of(u128::MAX), &residues.largest(128)));
        assert!(!Residues::is_at_most(&of(u128::MAX), &residues.largest(127)));
        assert!(Residues::is_at_most(&of(u128::MAX >> 1), &residues.largest(127)));
        assert_eq!(Residues::bits(&of(0)), 1);
        assert_eq!(Residues::bits(&of(3 << 99)), 101);
    }

    /// (2^64 - 1)^4 is 1 modulo 2^64, and between 2^255 and 2^256.
    #[test]
    fn the_largest_product_of_four_numbers() {
        let residues = Residues::new().unwrap();
        let mut powers = [0; COUNT];
        for (power, t) in powers.iter_mut().zip(&residues.moduli) {
            *power = t.pow(t.reduce_u64(u64::MAX), 4);
        }
        let digits = residues.digits(&powers);
        assert_eq!(residues.word(&digits), 1);
        assert!(Residues::is_at_most(&digits, &residues.largest(256)));
        assert!(!Residues::is_at_most(&digits, &residues.largest(255)));
    }
}
