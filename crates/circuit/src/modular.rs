//! Arithmetic modulo a prime power, for planning: tables are computed once, so clarity goes before speed.

use crate::error::CircuitError;

/// The plaintext modulus p^e of a circuit, below 2^62, p = 2 or odd.
///
/// That p is prime is the caller's promise; where it matters (inverses) a composite p gives an error, never a
/// wrong value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PrimePower {
    p: u64,
    exponent: u32,
    value: u64,
}

impl PrimePower {
    /// The modulus p^exponent.
    ///
    /// # Errors
    /// [`CircuitError::PlainModulus`] unless p is 2 or odd and above 2, the exponent is at least 1 and p^e is below 2^62.
    pub fn new(p: u64, exponent: u32) -> Result<Self, CircuitError> {
        let bad = CircuitError::PlainModulus { p, exponent };
        match p.checked_pow(exponent) {
            Some(value) if (p == 2 || p > 2 && p % 2 == 1) && exponent >= 1 && value >> 62 == 0 => {
                Ok(PrimePower { p, exponent, value })
            }
            _ => Err(bad),
        }
    }
    /// The prime p.
    pub fn prime(&self) -> u64 {
        self.p
    }
    /// The exponent e.
    pub fn exponent(&self) -> u32 {
        self.exponent
    }
    /// p^e.
    pub fn value(&self) -> u64 {
        self.value
    }
    /// p^k for a smaller exponent k.
    ///
    /// # Errors
    /// [`CircuitError::PlainModulus`] if k is 0 or above the exponent.
    pub fn reduced(&self, k: u32) -> Result<Self, CircuitError> {
        if k > self.exponent {
            return Err(CircuitError::PlainModulus { p: self.p, exponent: k });
        }
        PrimePower::new(self.p, k)
    }
    /// The residue of an integer, in 0..p^e.
    pub fn residue(&self, x: i64) -> u64 {
        i128::from(x).rem_euclid(i128::from(self.value)) as u64
    }
    /// The representative of a residue that is least in absolute value.
    pub fn centered(&self, x: u64) -> i64 {
        let x = x % self.value;
        if x > self.value / 2 { x as i64 - self.value as i64 } else { x as i64 }
    }
    /// a + b.
    pub fn add(&self, a: u64, b: u64) -> u64 {
        if a < self.value && b < self.value {
            let sum = a + b;
            return if sum >= self.value { sum - self.value } else { sum };
        }
        ((u128::from(a) + u128::from(b)) % u128::from(self.value)) as u64
    }
    /// a - b.
    pub fn sub(&self, a: u64, b: u64) -> u64 {
        self.add(a, self.value - b % self.value)
    }
    /// a * b.
    pub fn mul(&self, a: u64, b: u64) -> u64 {
        // Below 2^50 the quotient estimated in floating point is at most one off: several times faster than 128 bits, and
        // a transform of 2^15 slots has millions of products to merge.
        if self.value >> 50 == 0 && a < self.value && b < self.value {
            let quotient = (a as f64 * b as f64 / self.value as f64) as u64;
            let rest = a.wrapping_mul(b).wrapping_sub(quotient.wrapping_mul(self.value)) as i64;
            let value = self.value as i64;
            return if rest < 0 {
                rest + value
            } else if rest >= value {
                rest - value
            } else {
                rest
            } as u64;
        }
        (u128::from(a) * u128::from(b) % u128::from(self.value)) as u64
    }
    /// a^k.
    pub fn pow(&self, a: u64, mut k: u64) -> u64 {
        let (mut result, mut base) = (1 % self.value, a % self.value);
        while k > 0 {
            if k & 1 == 1 {
                result = self.mul(result, base);
            }
            base = self.mul(base, base);
            k >>= 1;
        }
        result
    }
    /// 1 / a.
    ///
    /// # Errors
    /// [`CircuitError::NotInvertible`] if a is a multiple of p.
    pub fn inv(&self, a: u64) -> Result<u64, CircuitError> {
        // Extended Euclid, as p^e is no prime.
        let modulus = i128::from(self.value);
        let (mut r0, mut r1) = (modulus, i128::from(a % self.value));
        let (mut t0, mut t1) = (0i128, 1i128);
        while r1 != 0 {
            let q = r0 / r1;
            (r0, r1) = (r1, r0 - q * r1);
            (t0, t1) = (t1, t0 - q * t1);
        }
        if r0 == 1 {
            Ok(t0.rem_euclid(modulus) as u64)
        } else {
            Err(CircuitError::NotInvertible { value: a, modulus: self.value })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_axioms_on_prime_powers() {
        for (p, e) in [(2, 1), (2, 21), (257, 1), (257, 2), (786433, 3), (3, 30)] {
            let t = PrimePower::new(p, e).unwrap();
            for x in [1, 2, 5, p - 1, p + 1, t.value() - 1] {
                let x = x % t.value();
                if !x.is_multiple_of(p) {
                    assert_eq!(t.mul(x, t.inv(x).unwrap()), 1);
                }
                assert_eq!(t.add(x, t.sub(0, x)), 0);
                assert_eq!(t.residue(t.centered(x)), x);
                assert_eq!(t.pow(x, 3), t.mul(x, t.mul(x, x)));
            }
            assert!(matches!(t.inv(p % t.value()), Err(CircuitError::NotInvertible { .. })));
        }
    }

    #[test]
    fn products_are_exact_around_the_edges() {
        for (p, e) in [(257, 1), (65537, 2), (33_554_393, 2), (1_125_899_906_842_597, 1), (4_611_686_018_427_387_847, 1)] {
            let t = PrimePower::new(p, e).unwrap();
            let mut x = 1u64;
            for i in 0..20_000u64 {
                x = x.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(i);
                let edge = [0, 1, 2, t.value() / 2, t.value() - 2, t.value() - 1][i as usize % 6];
                for (a, b) in [(x % t.value(), x.rotate_left(32) % t.value()), (x % t.value(), edge), (edge, t.value() - 1)] {
                    assert_eq!(
                        u128::from(t.mul(a, b)),
                        u128::from(a) * u128::from(b) % u128::from(t.value()),
                        "{a} * {b} mod {p}^{e}"
                    );
                }
            }
        }
    }

    #[test]
    fn unusable_moduli_are_refused() {
        for (p, e) in [(0, 1), (1, 1), (2, 62), (256, 2), (257, 0), (65537, 4), (u64::MAX, 1)] {
            assert_eq!(PrimePower::new(p, e), Err(CircuitError::PlainModulus { p, exponent: e }));
        }
    }
}
