//! Digits to a base that is a power of 2: the gadget of the papers.

use rayon::prelude::*;

use super::ring::{AdicPoly, AdicRing};

/// The coefficients of a polynomial in digits of a number of bits; see [`AdicRing::windows`].
pub struct Windows {
    bits: u32,
    count: usize,
    /// Row by row the words of the coefficients, in storage order, the lowest words first.
    words: Vec<Vec<u32>>,
}

impl Windows {
    /// How many digits there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The digits number `t`, counted from the lowest, of all coefficients in storage order.
    ///
    /// # Panics
    /// If there are no more than `t` digits.
    pub fn digit(&self, t: usize) -> Vec<u64> {
        assert!(t < self.count, "one of the digits");
        let bit = t * self.bits as usize;
        let (low, high) = (&self.words[bit / 32], &self.words[bit / 32 + 1]);
        let (shift, mask) = (bit % 32, (1u64 << self.bits) - 1);
        let digit = |(&l, &h): (&u32, &u32)| (u64::from(l) | u64::from(h) << 32) >> shift & mask;
        low.iter().zip(high).map(digit).collect()
    }
}

/// x * p + d, in words of 32 bits, lowest first.
fn multiply_add(x: &mut [u32], p: u32, d: u32) {
    let mut carry = u64::from(d);
    for word in x {
        carry += u64::from(*word) * u64::from(p);
        *word = carry as u32;
        carry >>= 32;
    }
}

/// a - b modulo 2^(32 words), and whether that wrapped.
fn subtract(a: &mut [u32], b: &[u32]) -> bool {
    let mut borrow = 0;
    for (x, &y) in a.iter_mut().zip(b) {
        borrow += i64::from(*x) - i64::from(y);
        *x = borrow as u32;
        borrow >>= 32;
    }
    borrow < 0
}

/// a + b + 1 modulo 2^(32 words).
fn add_with_one(a: &mut [u32], b: &[u32]) {
    let mut carry = 1;
    for (x, &y) in a.iter_mut().zip(b) {
        carry += u64::from(*x) + u64::from(y);
        *x = carry as u32;
        carry >>= 32;
    }
}

impl AdicRing {
    /// How many digits of `bits` bits hold the residues modulo p^`rows`.
    pub fn window_count(&self, bits: u32, rows: usize) -> usize {
        (rows as f64 * (self.prime() as f64).log2() / f64::from(bits)).ceil() as usize
    }

    /// The residues of x in [0, p^k) in digits of `bits` <= 31 bits. O(k²) word products a
    /// coefficient.
    ///
    /// # Panics
    /// If `bits` is 0 or above 31.
    pub fn windows(&self, x: &AdicPoly, bits: u32) -> Windows {
        assert!((1..=31).contains(&bits), "digits of 1 to 31 bits");
        let (p, count) = (self.prime() as u32, self.window_count(bits, x.rows()));
        let words = count * bits as usize / 32 + 2;
        let horner = |digit: &dyn Fn(usize) -> u32| {
            let mut value = vec![0u32; words];
            (0..x.rows()).rev().for_each(|j| multiply_add(&mut value, p, digit(j)));
            value
        };
        // With H = (p^k - 1)/2, x modulo p^k is the number of its rows less H, or p^k = 2 H + 1
        // more than that.
        let offset = horner(&|_| self.half());
        let residue = |i: usize| -> Vec<u32> {
            let number = horner(&|j| x.rows[j][i]);
            let mut value = number.clone();
            if subtract(&mut value, &offset) {
                value = number;
                add_with_one(&mut value, &offset);
            }
            value
        };
        let residues: Vec<Vec<u32>> =
            (0..self.ring().degree()).into_par_iter().map(residue).collect();
        let words = (0..words).map(|w| residues.iter().map(|value| value[w]).collect()).collect();
        Windows { bits, count, words }
    }
}
