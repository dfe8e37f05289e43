//! Arithmetic modulo one odd number below 2^50.

use crate::error::ArithError;

/// An odd modulus 2 < q < 2^50 with the constants that reduce modulo it.
///
/// The modulus need not be prime: squares of primes serve as plaintext moduli. All methods except
/// [`pow`](Self::pow) (in its exponent) and [`inv`](Self::inv) run in constant time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modulus {
    value: u64,
    /// floor(2^128 / q) as high and low word.
    ratio: [u64; 2],
    /// floor(2^(63 + bits) / q): divides a product of two residues by q.
    product_ratio: u64,
    /// 1/q modulo 2^64: divides exactly.
    word_inverse: u64,
    /// Number of bits of q.
    bits: u32,
}

/// A residue w with the precomputed quotient floor(w 2^64 / q): multiplying by it costs one high
/// and two low products.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShoupFactor {
    /// The residue w < q.
    pub value: u64,
    /// floor(w 2^64 / q).
    pub quotient: u64,
}

/// `x - m` if `x >= m`, else `x`; both below 2^63. Branch-free.
#[inline(always)]
pub(crate) const fn subtract_once(x: u64, m: u64) -> u64 {
    let difference = x.wrapping_sub(m);
    difference.wrapping_add(m & ((difference as i64) >> 63) as u64)
}

/// a b. WebAssembly has no product of words with both halves, and calls a function for one of
/// double words; products of half words take half of its time there (docs/adr/0047-browser.md).
#[inline(always)]
pub(crate) const fn wide_product(a: u64, b: u64) -> u128 {
    if cfg!(target_arch = "wasm32") { product_of_halves(a, b) } else { a as u128 * b as u128 }
}

/// a b, by products of half words.
#[inline(always)]
const fn product_of_halves(a: u64, b: u64) -> u128 {
    const HALF: u64 = u32::MAX as u64;
    let (a_low, a_high, b_low, b_high) = (a & HALF, a >> 32, b & HALF, b >> 32);
    // Neither sum exceeds a word: (2^32 - 1)^2 + 2 (2^32 - 1) < 2^64.
    let middle = a_high * b_low + ((a_low * b_low) >> 32);
    let other = a_low * b_high + (middle & HALF);
    let high = a_high * b_high + (middle >> 32) + (other >> 32);
    (high as u128) << 64 | a.wrapping_mul(b) as u128
}

#[inline(always)]
const fn high_product(a: u64, b: u64) -> u64 {
    (wide_product(a, b) >> 64) as u64
}

impl Modulus {
    /// All moduli are below 2 to this power.
    pub const MAX_BITS: u32 = 50;

    /// Precomputes the constants of `q`.
    ///
    /// # Errors
    /// [`ArithError::InvalidModulus`] unless q is odd and 2 < q < 2^50.
    pub const fn new(q: u64) -> Result<Self, ArithError> {
        if q < 3 || q.is_multiple_of(2) || q >> Self::MAX_BITS != 0 {
            return Err(ArithError::InvalidModulus { found: q });
        }
        // q is odd and above 1, so it does not divide 2^128 and the floors of 2^128 and 2^128 - 1
        // agree.
        let ratio = u128::MAX / q as u128;
        let bits = u64::BITS - q.leading_zeros();
        // Newton's iteration: q is its own inverse modulo 8, and each step doubles the number of
        // right bits.
        let mut word_inverse = q;
        let mut step = 0;
        while step < 5 {
            word_inverse =
                word_inverse.wrapping_mul(2u64.wrapping_sub(q.wrapping_mul(word_inverse)));
            step += 1;
        }
        Ok(Self {
            value: q,
            ratio: [(ratio >> 64) as u64, ratio as u64],
            product_ratio: ((1u128 << (63 + bits)) / q as u128) as u64,
            word_inverse,
            bits,
        })
    }

    /// The modulus q itself.
    #[inline(always)]
    pub const fn value(self) -> u64 {
        self.value
    }

    /// Number of bits of q.
    #[inline(always)]
    pub const fn bits(self) -> u32 {
        self.bits
    }

    /// 1/q modulo 2^64, which the vector kernels keep in a register.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) const fn word_inverse(self) -> u64 {
        self.word_inverse
    }

    /// a + b mod q, for a, b < q.
    #[inline(always)]
    pub const fn add(self, a: u64, b: u64) -> u64 {
        debug_assert!(a < self.value && b < self.value);
        subtract_once(a + b, self.value)
    }

    /// a - b mod q, for a, b < q.
    #[inline(always)]
    pub const fn sub(self, a: u64, b: u64) -> u64 {
        debug_assert!(a < self.value && b < self.value);
        let difference = a.wrapping_sub(b);
        difference.wrapping_add(self.value & ((difference as i64) >> 63) as u64)
    }

    /// -a mod q, for a < q.
    #[inline(always)]
    pub const fn neg(self, a: u64) -> u64 {
        self.sub(0, a)
    }

    /// a b mod q, for a, b < q. Three word products.
    #[inline(always)]
    pub const fn mul(self, a: u64, b: u64) -> u64 {
        debug_assert!(a < self.value && b < self.value);
        let product = wide_product(a, b);
        // The quotient estimate misses at most 1 for each of the two floors (the third loss is
        // below 2^-13).
        let quotient = high_product((product >> (self.bits - 1)) as u64, self.product_ratio);
        let remainder = (product as u64).wrapping_sub(quotient.wrapping_mul(self.value));
        subtract_once(subtract_once(remainder, 2 * self.value), self.value)
    }

    /// a b + c mod q, for a, b, c < q.
    #[inline(always)]
    pub const fn mul_add(self, a: u64, b: u64, c: u64) -> u64 {
        self.add(self.mul(a, b), c)
    }

    /// a^exponent mod q, for a < q; a^0 = 1. Time depends on the exponent, not on a.
    pub const fn pow(self, a: u64, exponent: u64) -> u64 {
        let mut result = 1;
        let mut square = a;
        let mut rest = exponent;
        while rest != 0 {
            if rest & 1 == 1 {
                result = self.mul(result, square);
            }
            square = self.mul(square, square);
            rest >>= 1;
        }
        result
    }

    /// The inverse of a < q modulo q, if a is coprime to q. Extended Euclid: time depends on a.
    pub const fn inv(self, a: u64) -> Option<u64> {
        let (mut old, mut new) = (self.value as i64, a as i64);
        let (mut old_factor, mut new_factor) = (0i64, 1i64);
        while new != 0 {
            let quotient = old / new;
            (old, new) = (new, old - quotient * new);
            (old_factor, new_factor) = (new_factor, old_factor - quotient * new_factor);
        }
        if old == 1 { Some(self.reduce_i64(old_factor)) } else { None }
    }

    /// x mod q for any x. Two word products.
    #[inline(always)]
    pub const fn reduce_u64(self, x: u64) -> u64 {
        // ratio[0] = floor(2^64 / q), so the estimate is at most 1 too small.
        let quotient = high_product(x, self.ratio[0]);
        subtract_once(x.wrapping_sub(quotient.wrapping_mul(self.value)), self.value)
    }

    /// x mod q for any x. Five word products.
    #[inline(always)]
    pub const fn reduce_u128(self, x: u128) -> u64 {
        let (high, low) = ((x >> 64) as u64, x as u64);
        // floor(x ratio / 2^128), word by word; at most 1 below floor(x / q). Only its low word
        // matters.
        let cross = wide_product(low, self.ratio[0]) + high_product(low, self.ratio[1]) as u128;
        let other = wide_product(high, self.ratio[1]) + (cross as u64) as u128;
        let quotient = high
            .wrapping_mul(self.ratio[0])
            .wrapping_add((cross >> 64) as u64)
            .wrapping_add((other >> 64) as u64);
        subtract_once(low.wrapping_sub(quotient.wrapping_mul(self.value)), self.value)
    }

    /// The residue in [0, q) of a signed word.
    #[inline(always)]
    pub const fn reduce_i64(self, x: i64) -> u64 {
        self.negate_if(self.reduce_u64(x.unsigned_abs()), x >> 63)
    }

    /// The residue in [0, q) of a signed double word.
    #[inline(always)]
    pub const fn reduce_i128(self, x: i128) -> u64 {
        self.negate_if(self.reduce_u128(x.unsigned_abs()), (x >> 127) as i64)
    }

    /// -a if the mask is -1, a if it is 0.
    #[inline(always)]
    const fn negate_if(self, a: u64, mask: i64) -> u64 {
        let mask = mask as u64;
        (a & !mask) | (self.neg(a) & mask)
    }

    /// The representative of x < q in (-q/2, q/2].
    #[inline(always)]
    pub const fn centered(self, x: u64) -> i64 {
        debug_assert!(x < self.value);
        let above = ((self.value >> 1).wrapping_sub(x) as i64) >> 63;
        x as i64 - (self.value as i64 & above)
    }

    /// Precomputes the quotient of the factor w < q. Six word products.
    #[inline]
    pub const fn shoup(self, w: u64) -> ShoupFactor {
        ShoupFactor { value: w, quotient: self.scaled_quotient(w, 64) }
    }

    /// floor(w 2^bits / q) for w < q and bits <= 64.
    #[inline]
    pub(crate) const fn scaled_quotient(self, w: u64, bits: u32) -> u64 {
        debug_assert!(w < self.value && bits <= 64);
        let scaled = (w as u128) << bits;
        // Exact division of scaled minus its remainder, modulo 2^64.
        (scaled as u64).wrapping_sub(self.reduce_u128(scaled)).wrapping_mul(self.word_inverse)
    }

    /// w x mod q in [0, q), for any x.
    #[inline(always)]
    pub const fn mul_shoup(self, x: u64, w: ShoupFactor) -> u64 {
        subtract_once(self.mul_shoup_lazy(x, w), self.value)
    }

    /// w x mod q in [0, 2q), for any x. Three word products.
    #[inline(always)]
    pub const fn mul_shoup_lazy(self, x: u64, w: ShoupFactor) -> u64 {
        let quotient = high_product(x, w.quotient);
        x.wrapping_mul(w.value).wrapping_sub(quotient.wrapping_mul(self.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_halves_are_products() {
        let ends = [0, 1, 2, u32::MAX as u64, 1 << 32, (1 << 50) - 27, u64::MAX - 1, u64::MAX];
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            state
        };
        let random = (0..10_000).map(|_| (next(), next())).collect::<Vec<_>>();
        let pairs = ends.iter().flat_map(|a| ends.iter().map(|b| (*a, *b)));
        for (a, b) in pairs.chain(random) {
            assert_eq!(product_of_halves(a, b), u128::from(a) * u128::from(b), "{a} {b}");
        }
    }
}
