//! Integers made of centered coefficients, on the device where they fit its words.

use everlevel_ring::{Basis, Coeff, IntegerDigits, IntegerMap, Poly, PrimePower};

use crate::arguments::{Integers, LIFTED, UnitArguments, positions};
use crate::gpu::Gpu;
use crate::memory::Limbs;
use crate::tables::{constants, montgomery};

/// The kernel computes modulo odd numbers below this one.
const WIDEST: u128 = 1 << 62;
/// Quotients are below this number, so that one of doubles is off by 1 at most.
const LARGEST_QUOTIENT: u64 = 1 << 50;

/// What a coefficient becomes, as the kernel has it.
const QUOTIENT: u32 = 0;
const RESIDUE: u32 = 1;
const SCALED: u32 = 2;

/// Multiplication by a number modulo t; none if t does not suit the kernel.
fn unit((t, u): (PrimePower, u64)) -> Option<UnitArguments> {
    let q = t.wide();
    if q % 2 == 0 || q >= WIDEST {
        return None;
    }
    let modulus = constants(q as u64);
    let unit = (u128::from(u) * u128::from(modulus[2]) % q) as u64;
    Some(UnitArguments { modulus, unit, there: 1 })
}

fn words(x: u128) -> [u64; 2] {
    [x as u64, (x >> 64) as u64]
}

impl Gpu {
    /// All digits; none if something is too wide for the kernel.
    pub(crate) fn integers(
        &self,
        x: &Poly<Coeff, Gpu>,
        digits: &IntegerDigits,
        to: Basis,
    ) -> Option<Vec<Poly<Coeff, Gpu>>> {
        let (ring, n, from) = (&self.ring, self.ring.degree(), x.basis());
        let (kind, delta, map) = match digits.map {
            IntegerMap::Quotient(delta) => (QUOTIENT, delta, UnitArguments::default()),
            IntegerMap::Residue(t, u) => (RESIDUE, 1, unit((t, u))?),
            IntegerMap::Scaled(s, t, u) => (SCALED, u64::try_from(s).ok()?, unit((t, u))?),
        };
        // Products of centered coefficients by delta, and twice what is left, stay below 2^127.
        let bits = ring.log2(from);
        let wide = bits > 125.0 || bits + (delta.max(1) as f64).log2() > 127.0;
        if from.len() > LIFTED || wide || delta >= LARGEST_QUOTIENT {
            return None;
        }
        let times = match digits.times {
            Some(times) => unit(times)?,
            None => UnitArguments::default(),
        };
        let (mut weight, mut inverse, mut product) = ([[0; 2]; LIFTED], [0; LIFTED], 1u128);
        for ((i, weight), inverse) in from.iter().zip(&mut weight).zip(&mut inverse) {
            let q = ring.modulus(i);
            *weight = words(product);
            *inverse = montgomery(q, ring.inverse_of(product, i));
            product *= u128::from(q.value());
        }
        let stride = to.len() * n;
        let slab = self.slab(digits.count * stride);
        let arguments = Integers {
            output: slab.address(),
            primes: self.primes,
            x: x.limbs().operand(),
            weight,
            inverse,
            product: words(product),
            delta,
            map,
            times,
            n: n as u32,
            lifted: from.len() as u32,
            kind,
            digits: digits.count as u32,
            base: digits.base as i64,
            stride: stride as u64,
            source: std::array::from_fn(|k| positions(from)[k]),
            prime: positions(to),
        };
        self.over(&arguments, to);
        let poly = |k| Limbs { slab: slab.clone(), offset: k * stride, whole: to };
        Some((0..digits.count).map(|k| self.poly(to, poly(k))).collect())
    }
}
