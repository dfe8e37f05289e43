//! Arithmetic modulo a prime power up to 2^64: the plaintext moduli.

use everlevel_arith::Modulus;

use crate::error::RingError;

/// The plaintext modulus p^e of at most 2^64, with the constant that reduces modulo it. p may be 2.
///
/// The methods have the names of those of [`Modulus`] in the arithmetic layer, which is for odd
/// numbers below 2^50 and has vector kernels; [`PrimePower::word`] converts to it. The caller must
/// ensure that p is prime; where it matters (inverses) a composite p gives an error, never a wrong
/// value. No branch depends on residues below p^e, as these may be messages, except in
/// [`inv`](Self::inv), and in [`pow`](Self::pow) on its exponent.
///
/// Residues are words, and for 2^64 every word is one; 2^64 itself is none, so that bounds on
/// residues are stated by the largest one, [`PrimePower::last`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PrimePower {
    p: u64,
    exponent: u32,
    value: u128,
    /// floor((2^128 - 1) / p^e) as high and low word.
    ratio: [u64; 2],
}

/// All bits if x is negative, else none.
#[inline]
fn sign(x: u128) -> u64 {
    ((x as i128) >> 127) as u64
}

impl PrimePower {
    /// All moduli are at most 2 to this power.
    pub const MAX_BITS: u32 = 64;

    /// The modulus p^exponent.
    ///
    /// # Errors
    /// [`RingError::PlainModulus`] unless p is 2 or odd and above 2, the exponent is at least 1 and
    /// p^e is at most 2^64.
    pub fn new(p: u64, exponent: u32) -> Result<Self, RingError> {
        match u128::from(p).checked_pow(exponent) {
            Some(value)
                if (p == 2 || (p > 2 && p % 2 == 1))
                    && exponent >= 1
                    && value <= 1 << Self::MAX_BITS =>
            {
                let ratio = u128::MAX / value;
                let ratio = [(ratio >> 64) as u64, ratio as u64];
                Ok(PrimePower { p, exponent, value, ratio })
            }
            _ => Err(RingError::PlainModulus { p, exponent }),
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

    /// p^e, for callers that know it to be below 2^64, as all p^e but 2^64 are; see
    /// [`PrimePower::wide`].
    ///
    /// # Panics
    /// If p^e is 2^64.
    pub fn value(&self) -> u64 {
        u64::try_from(self.value).expect("a plaintext modulus below 2^64")
    }

    /// p^e, 2^64 included.
    pub fn wide(&self) -> u128 {
        self.value
    }

    /// The largest residue, p^e - 1.
    pub fn last(&self) -> u64 {
        (self.value - 1) as u64
    }

    /// p^k for an exponent k of at most e.
    ///
    /// # Errors
    /// [`RingError::PlainModulus`] if k is 0 or above the exponent.
    pub fn reduced(&self, k: u32) -> Result<Self, RingError> {
        if k > self.exponent {
            return Err(RingError::PlainModulus { p: self.p, exponent: k });
        }
        PrimePower::new(self.p, k)
    }

    /// The same modulus for the kernels of the arithmetic layer: `None` if p is 2 or p^e has more
    /// than 50 bits.
    pub fn word(&self) -> Option<Modulus> {
        Modulus::new(u64::try_from(self.value).ok()?).ok()
    }

    /// Whether p^e is below 2^62, so that sums and differences of residues are signed words.
    #[inline]
    fn is_short(&self) -> bool {
        self.value >> 62 == 0
    }

    /// x mod p^e for any x.
    #[inline]
    pub fn reduce_u64(&self, x: u64) -> u64 {
        if self.is_short() { self.reduce_short(x) } else { self.reduce_u128(u128::from(x)) }
    }

    /// x mod p^e for p^e below 2^62 and any x: a mask for p = 2, else two word products.
    #[inline]
    fn reduce_short(&self, x: u64) -> u64 {
        if self.p == 2 {
            return x & self.last();
        }
        // The high word of the ratio is floor((2^64 - 1) / p^e), for p^e does not divide 2^64, so
        // that this is at most 1 below floor(x / p^e).
        let quotient = ((u128::from(x) * u128::from(self.ratio[0])) >> 64) as u64;
        let value = self.value as u64;
        self.lifted_short(x.wrapping_sub(quotient.wrapping_mul(value)).wrapping_sub(value))
    }

    /// x mod p^e for any x: a mask for p = 2, else five word products, and two more from 2^62 on.
    #[inline]
    pub fn reduce_u128(&self, x: u128) -> u64 {
        if self.p == 2 {
            return x as u64 & self.last();
        }
        let high = |a: u64, b: u64| ((u128::from(a) * u128::from(b)) >> 64) as u64;
        let (x1, x0) = ((x >> 64) as u64, x as u64);
        // floor(x ratio / 2^128), word by word: at most 1 below floor(x / p^e).
        let cross =
            u128::from(x0) * u128::from(self.ratio[0]) + u128::from(high(x0, self.ratio[1]));
        let other = u128::from(x1) * u128::from(self.ratio[1]) + u128::from(cross as u64);
        let carried = (cross >> 64) + (other >> 64);
        if self.is_short() {
            // The remainder is a word, and only the low word of the quotient matters.
            let quotient = x1.wrapping_mul(self.ratio[0]).wrapping_add(carried as u64);
            let value = self.value as u64;
            let remainder = x0.wrapping_sub(quotient.wrapping_mul(value));
            return self.lifted_short(remainder.wrapping_sub(value));
        }
        let quotient = u128::from(x1) * u128::from(self.ratio[0]) + carried;
        let remainder = x.wrapping_sub(quotient.wrapping_mul(self.value));
        self.lifted(remainder.wrapping_sub(self.value))
    }

    /// The residue of an integer from -p^e to p^e - 1, in two's complement. Branch-free.
    #[inline]
    fn lifted(&self, x: u128) -> u64 {
        (x as u64).wrapping_add(self.value as u64 & sign(x))
    }

    /// The same for p^e below 2^62, in a word.
    #[inline]
    fn lifted_short(&self, x: u64) -> u64 {
        x.wrapping_add(self.value as u64 & ((x as i64) >> 63) as u64)
    }

    /// The residue of a signed word, in 0..p^e.
    pub fn reduce_i64(&self, x: i64) -> u64 {
        self.reduce_i128(i128::from(x))
    }

    /// The residue of a signed double word, in 0..p^e.
    pub fn reduce_i128(&self, x: i128) -> u64 {
        let (size, negative) = (self.reduce_u128(x.unsigned_abs()), (x >> 127) as u64);
        (size & !negative) | (self.neg(size) & negative)
    }

    /// x, reduced if necessary, which does not occur within the library.
    #[inline]
    fn residue(&self, x: u64) -> u64 {
        if x <= self.last() { x } else { self.reduce_u64(x) }
    }

    /// The representative of x in (-p^e/2, p^e/2]; for 2^64 the one in [-2^63, 2^63), as a signed
    /// word.
    pub fn centered(&self, x: u64) -> i64 {
        let x = self.residue(x);
        let above = sign((self.value / 2).wrapping_sub(u128::from(x)));
        x.wrapping_sub(self.value as u64 & above) as i64
    }

    /// a + b, for any a and b.
    #[inline]
    pub fn add(&self, a: u64, b: u64) -> u64 {
        let (a, b) = (self.residue(a), self.residue(b));
        if self.is_short() {
            return self.lifted_short((a + b).wrapping_sub(self.value as u64));
        }
        self.lifted((u128::from(a) + u128::from(b)).wrapping_sub(self.value))
    }

    /// a - b, for any a and b.
    #[inline]
    pub fn sub(&self, a: u64, b: u64) -> u64 {
        let (a, b) = (self.residue(a), self.residue(b));
        if self.is_short() {
            return self.lifted_short(a.wrapping_sub(b));
        }
        self.lifted(u128::from(a).wrapping_sub(u128::from(b)))
    }

    /// -a, for any a.
    #[inline]
    pub fn neg(&self, a: u64) -> u64 {
        self.sub(0, a)
    }

    /// a b, for any a and b.
    #[inline]
    pub fn mul(&self, a: u64, b: u64) -> u64 {
        let product = u128::from(a) * u128::from(b);
        // Below 2^32 the product of residues is a word, whichever they are.
        if self.value >> 32 == 0 && product >> 64 == 0 {
            return self.reduce_short(product as u64);
        }
        self.reduce_u128(product)
    }

    /// a^k, for any a; a^0 = 1.
    pub fn pow(&self, a: u64, mut k: u64) -> u64 {
        let (mut result, mut base) = (1, self.reduce_u64(a));
        while k > 0 {
            if k & 1 == 1 {
                result = self.mul(result, base);
            }
            base = self.mul(base, base);
            k >>= 1;
        }
        result
    }

    /// 1 / a. Extended Euclid, as p^e is no prime.
    ///
    /// # Errors
    /// [`RingError::NotInvertible`] if a is a multiple of p.
    pub fn inv(&self, a: u64) -> Result<u64, RingError> {
        let (mut r0, mut r1) = (self.value as i128, i128::from(self.reduce_u64(a)));
        let (mut t0, mut t1) = (0i128, 1i128);
        while r1 != 0 {
            let q = r0 / r1;
            (r0, r1) = (r1, r0 - q * r1);
            (t0, t1) = (t1, t0 - q * t1);
        }
        if r0 == 1 {
            Ok(self.reduce_i128(t0))
        } else {
            Err(RingError::NotInvertible { value: a, modulus: self.value })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_axioms_on_prime_powers() {
        for (p, e) in [
            (257, 1),
            (257, 2),
            (786433, 3),
            (3, 30),
            (3, 39),
            (3, 40),
            (65537, 3),
            (4_294_967_291, 2),
            (u64::MAX - 58, 1),
            (2, 1),
            (2, 40),
            (2, 61),
            (2, 63),
            (2, 64),
        ] {
            let t = PrimePower::new(p, e).unwrap();
            for x in [1, 2, 5, p - 1, p.saturating_add(1), t.last() / 2, t.last()] {
                let x = t.reduce_u64(x);
                if !x.is_multiple_of(p) {
                    assert_eq!(t.mul(x, t.inv(x).unwrap()), 1);
                }
                assert_eq!(t.add(x, t.neg(x)), 0);
                assert_eq!(t.sub(t.sub(0, x), t.neg(x)), 0);
                assert_eq!(t.reduce_i64(t.centered(x)), x);
                assert_eq!(t.add(x, t.sub(3, x)), t.reduce_u64(3));
                if t.last() >> 62 == 0 {
                    // What is no residue is reduced.
                    let (once, twice) = (x + t.value(), x + 2 * t.value());
                    assert_eq!(t.add(once, t.sub(3, twice)), t.reduce_u64(3));
                }
                assert_eq!(t.pow(x, 3), t.mul(x, t.mul(x, x)));
            }
            assert!(matches!(t.inv(t.reduce_u64(p)), Err(RingError::NotInvertible { .. })));
        }
    }

    #[test]
    fn reductions_are_exact_around_the_edges() {
        let moduli = [
            (257, 1),
            (65537, 1),
            (4_294_967_291, 1),
            (4_294_967_311, 1),
            (65537, 2),
            (33_554_393, 2),
            (1_125_899_906_842_597, 1),
            (4_611_686_018_427_387_847, 1),
        ];
        let above = [(3, 40), (4_294_967_291, 2), (u64::MAX - 58, 1), (2, 62), (2, 63), (2, 64)];
        let below = [(2, 1), (2, 32), (2, 33), (2, 61), (3, 20), (3, 39)];
        for (p, e) in moduli.into_iter().chain(below).chain(above) {
            let t = PrimePower::new(p, e).unwrap();
            let (wide, last) = (t.wide(), t.last());
            assert_eq!(wide, u128::from(p).pow(e));
            let mut x = 1u64;
            for i in 0..20_000u64 {
                x = x.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(i);
                let half = (wide / 2) as u64;
                let edge = [0, 1, half, half - 1, last - 1, last, u64::MAX][i as usize % 7];
                let residue = |x: u64| (u128::from(x) % wide) as u64;
                let pairs = [(residue(x), residue(x.rotate_left(32))), (x, edge), (edge, last)];
                assert_eq!(t.reduce_u64(x), residue(x), "{x} mod {p}^{e}");
                for (a, b) in pairs {
                    let (wide_a, wide_b) = (u128::from(a), u128::from(b));
                    assert_eq!(u128::from(t.add(a, b)), (wide_a + wide_b) % wide);
                    assert_eq!(t.add(t.sub(a, b), b), residue(a), "{a} - {b} mod {p}^{e}");
                    assert_eq!(
                        u128::from(t.mul(a, b)),
                        u128::from(a) * u128::from(b) % wide,
                        "{a} * {b} mod {p}^{e}"
                    );
                    let both = u128::from(a) << 64 | u128::from(b);
                    assert_eq!(u128::from(t.reduce_u128(both)), both % wide, "{both} mod {p}^{e}");
                    assert_eq!(
                        i128::from(t.reduce_i128(both as i128)),
                        (both as i128).rem_euclid(wide as i128)
                    );
                    let centered = i128::from(t.centered(a));
                    assert_eq!(t.reduce_i128(centered), residue(a));
                    let (doubled, wide) = (2 * centered, wide as i128);
                    let edge = if wide == 1 << 64 { -wide } else { wide };
                    assert!(doubled == edge || (-wide < doubled && doubled < wide), "{a}");
                }
            }
        }
    }

    #[test]
    fn unusable_moduli_are_refused() {
        for (p, e) in [
            (0, 1),
            (1, 1),
            (2, 0),
            (2, 65),
            (256, 2),
            (257, 0),
            (65537, 4),
            (3, 41),
            (2, u32::MAX),
        ] {
            assert_eq!(PrimePower::new(p, e), Err(RingError::PlainModulus { p, exponent: e }));
        }
        assert_eq!(PrimePower::new(3, 4).unwrap().reduced(2).unwrap().value(), 9);
        assert!(PrimePower::new(3, 4).unwrap().reduced(5).is_err());
        // An odd number is not tested for being a prime.
        assert_eq!(PrimePower::new(u64::MAX, 1).unwrap().last(), u64::MAX - 1);
        let word = PrimePower::new(2, 64).unwrap();
        assert_eq!((word.wide(), word.last()), (1 << 64, u64::MAX));
        assert_eq!([0, 1 << 63, u64::MAX].map(|x| word.centered(x)), [0, i64::MIN, -1]);
        assert!(
            PrimePower::new(2, 10).unwrap().word().is_none()
                && PrimePower::new(257, 7).unwrap().word().is_none()
        );
        assert_eq!(
            PrimePower::new(65537, 2).unwrap().word().map(Modulus::value),
            Some(65537 * 65537)
        );
    }
}
