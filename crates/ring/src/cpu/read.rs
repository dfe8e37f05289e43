//! How polynomials become numbers.

use rayon::prelude::*;
use zeroize::Zeroize;

use super::access::{into_limbs, limbs};
use super::convert::CenteredLift;
use super::places::by_places;
use super::processor::{CHUNK, Cpu};
use super::timings::Work;
use crate::engine::Constant;
use crate::poly::{Coeff, Poly, Representation};
use crate::prime_power::PrimePower;

/// FNV-1a over all residues: equal for equal polynomials on every machine, backend and number of
/// threads. For comparing runs; not collision-resistant against anybody who tries.
pub fn fingerprint<R: Representation>(polynomials: &[Poly<R>]) -> u64 {
    let words = polynomials.iter().flat_map(limbs).flat_map(|limb| limb.iter());
    words
        .flat_map(|w| w.to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |h, byte| (h ^ byte as u64).wrapping_mul(0x100_0000_01b3))
}

impl Cpu {
    /// The centered coefficients in natural order, of a polynomial modulo one prime; without a
    /// branch. What it computes with is wiped.
    ///
    /// # Panics
    /// If there are more primes.
    pub fn centered(&self, x: &Poly<Coeff>) -> Vec<i64> {
        assert_eq!(x.basis().len(), 1, "one prime");
        let q = x.basis().iter().map(|i| self.ring.modulus(i));
        let values = q.zip(limbs(x)).flat_map(|(q, limb)| limb.iter().map(move |&x| q.centered(x)));
        let mut stored: Vec<i64> = values.collect();
        let natural = self.ring.natural_order(&stored);
        stored.zeroize();
        natural
    }

    /// The centered coefficients in natural order, of a polynomial whose modulus is below 2^126.
    pub(super) fn lifted(&self, x: &Poly<Coeff>) -> Vec<i128> {
        let (ring, limbs) = (&self.ring, limbs(x));
        let mut product = 1i128;
        let radices: Vec<_> = x
            .basis()
            .iter()
            .map(|i| {
                let (q, weight) = (ring.modulus(i), product);
                product *= i128::from(q.value());
                (q, weight, q.inv(q.reduce_i128(weight)).unwrap_or(0))
            })
            .collect();
        let integer = |k: usize| {
            let digits = radices.iter().zip(limbs);
            let value = digits.fold(0, |value, (&(q, weight, inverse), limb)| {
                value + weight * q.mul(q.sub(limb[k], q.reduce_i128(value)), inverse) as i128
            });
            if 2 * value > product { value - product } else { value }
        };
        let stored: Vec<i128> = by_places(ring.degree(), integer);
        ring.natural_order(&stored)
    }

    /// `factor` times the centered coefficients (see [`Engine::convert`](crate::Engine::convert))
    /// modulo p^e, canonical, in natural order. Moduli of up to 50 bits are several times faster.
    /// What it computes with is wiped, if the polynomial is.
    pub fn reduce(&self, x: Poly<Coeff>, t: PrimePower, factor: u64) -> Vec<u64> {
        self.reduce_measured(x, t, factor).0
    }

    /// [`Cpu::reduce`], and a lower bound on the largest absolute value of a centered coefficient,
    /// in units of 2^-64 of the modulus and short of it by less than 3 units for each prime. In
    /// constant time.
    pub fn reduce_measured(&self, x: Poly<Coeff>, t: PrimePower, factor: u64) -> (Vec<u64>, u64) {
        let mut stored = vec![0u64; self.ring.degree()];
        let basis = x.basis();
        let own = into_limbs(x);
        let lift = CenteredLift::from_coeff(self, basis, own, Work::Conversions, |_| 1);
        let largest = lift.largest_fraction(&self.ring);
        lift.reduce(self, t, factor, &mut stored);
        let natural = self.ring.natural_order(&stored);
        stored.zeroize();
        (natural, largest)
    }

    /// 2^width c x / Q, rounded, modulo 2^width, in natural order; Q is the modulus, and the width
    /// is from 1 to 56. Quotients are computed to 128 bits: they are too small by less than 2^-78
    /// for each prime.
    pub fn fractions(&self, x: &Poly<Coeff>, c: Constant, width: u32) -> Vec<u64> {
        let (ring, basis) = (&self.ring, x.basis());
        // x / Q modulo 1 is the sum of x_i f_i / q_i, with f_i / q_i in units of 2^-128, rounded
        // down.
        let factor = |i: usize| {
            let q = ring.modulus(i).value();
            let f = CenteredLift::term_factor(ring, basis, i, c.modulo(ring, i));
            let (high, rest) = divided(f, q);
            u128::from(high) << 64 | u128::from(divided(rest, q).0)
        };
        let terms: Vec<Term<'_>> = basis
            .iter()
            .zip(limbs(x))
            .map(|(i, limb)| Term { words: &limb[..], factor: factor(i) })
            .collect();
        let places = ring.stored_places();
        let mut out = vec![0; ring.degree()];
        out.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, out)| {
            let start = chunk * CHUNK;
            match (&places, &terms[..]) {
                // What most sets have whose results are cut, without a loop for each coefficient.
                (Some(places), [one]) => {
                    round_each(out, start, width, |natural| one.at(places.position(natural)))
                }
                (Some(places), [one, other]) => round_each(out, start, width, |natural| {
                    let k = places.position(natural);
                    one.at(k).wrapping_add(other.at(k))
                }),
                (Some(places), terms) => {
                    round_each(out, start, width, |natural| sum_at(terms, places.position(natural)))
                }
                (None, terms) => round_each(out, start, width, |k| sum_at(terms, k)),
            }
        });
        out
    }

    /// The centered coefficients, rounded to doubles, in natural order.
    pub fn to_real(&self, x: &Poly<Coeff>) -> Vec<f64> {
        let ring = &self.ring;
        let positions: Vec<usize> = x.basis().iter().collect();
        let real = |k: usize| {
            // Balanced mixed-radix digits: the leading one dominates, so floating point loses
            // nothing that matters.
            let mut digits: Vec<i64> = Vec::with_capacity(positions.len());
            let (mut value, mut weight) = (0.0, 1.0);
            for (&i, limb) in positions.iter().zip(limbs(x)) {
                let q = ring.modulus(i);
                let mut x = limb[k];
                for (&d, &j) in digits.iter().zip(&positions) {
                    x = q.mul(q.sub(x, q.reduce_i64(d)), ring.inverse(j, i));
                }
                let digit = q.centered(x);
                value += digit as f64 * weight;
                weight *= q.value() as f64;
                digits.push(digit);
            }
            value
        };
        ring.natural_order(&(0..ring.degree()).map(real).collect::<Vec<f64>>())
    }
}

/// The residues x_i of a polynomial modulo a prime, and f_i / q_i in units of 2^-128.
struct Term<'a> {
    words: &'a [u64],
    factor: u128,
}

impl Term<'_> {
    /// x_i f_i / q_i modulo 1, in the same units.
    #[inline(always)]
    fn at(&self, k: usize) -> u128 {
        u128::from(self.words[k]).wrapping_mul(self.factor)
    }
}

/// The sum of the terms at a place, modulo 1.
fn sum_at(terms: &[Term<'_>], k: usize) -> u128 {
    terms.iter().fold(0, |sum: u128, term| sum.wrapping_add(term.at(k)))
}

/// Sums from the place `start` on, in units of 2^-128, to multiples of 2^-width modulo 1, for
/// widths from 1 to 64.
#[inline(always)]
fn round_each(out: &mut [u64], start: usize, width: u32, sum: impl Fn(usize) -> u128) {
    let half = 1u128 << (127 - width);
    for (place, out) in (start..).zip(out) {
        *out = (sum(place).wrapping_add(half) >> 64) as u64 >> (64 - width);
    }
}

/// 2^64 r / q, rounded down, and the remainder, for r below q.
fn divided(r: u64, q: u64) -> (u64, u64) {
    let (dividend, q) = (u128::from(r) << 64, u128::from(q));
    ((dividend / q) as u64, (dividend % q) as u64)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::ring::Ring;
    use everlevel_arith::{Backend, primes};

    /// Against exact quotients of a modulus below 2^60 of one, two and three primes, in rings of
    /// both families, and in one that takes several tasks.
    #[test]
    fn fractions_are_rounded_quotients() {
        let bits = [(1, 40), (2, 30), (3, 20)];
        for (index, (count, bits)) in
            [1 << 6, 45, 1 << 13].into_iter().flat_map(|index| bits.map(|bits| (index, bits)))
        {
            let step = Ring::prime_step(index).unwrap();
            let moduli = primes::primes_congruent_one(step, 1 << bits).take(count);
            let moduli: Vec<u64> = moduli.collect();
            assert_eq!(moduli.len(), count);
            let ring = Arc::new(Ring::new(index, &moduli).unwrap());
            let cpu = Cpu::new(ring.clone(), Backend::Portable).unwrap();
            let basis = crate::Basis::of(0..count);
            let q: i128 = moduli.iter().map(|&q| i128::from(q)).product();
            let value = |k: i64| k.wrapping_pow(2).wrapping_mul(0x1234_5678_9abc) ^ (k * 77 - 1);
            let values: Vec<i64> =
                (0..ring.degree() as i64).map(|k| value(k) % (q as i64 / 2)).collect();
            let x = Poly::<Coeff>::from_signed(&cpu, basis, &values);
            for (c, width) in [(1, 1), (1, 38), (-3, 56)] {
                let found = cpu.fractions(&x, Constant::from(c), width);
                let exact = |value: &i64| {
                    let value = (i128::from(*value) * c).rem_euclid(q);
                    (((value << width) + q / 2) / q) as u64 & ((1 << width) - 1)
                };
                let expected: Vec<u64> = values.iter().map(exact).collect();
                assert!(found == expected, "{index}, {count} primes, {c}, {width}");
            }
        }
    }
}
