//! Integer polynomials that are made of the centered coefficients of a polynomial.

use crate::basis::Basis;
use crate::cpu::by_places;
use crate::engine::Engine;
use crate::error::RingError;
use crate::poly::{Coeff, Poly};
use crate::prime_power::PrimePower;

/// What a centered coefficient c modulo q becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntegerMap {
    /// -round(d c / q); there are no ties, as q is odd.
    Quotient(u64),
    /// c u modulo t, centered.
    Residue(PrimePower, u64),
    /// s c modulo q, centered, and that times u modulo t, centered.
    Scaled(i128, PrimePower, u64),
}

impl IntegerMap {
    fn of(self, c: i128, q: i128) -> i64 {
        let residue = |t: PrimePower, c, u| t.centered(t.mul(t.reduce_i128(c), u));
        match self {
            IntegerMap::Quotient(d) => -((2 * i128::from(d) * c + q).div_euclid(2 * q)) as i64,
            IntegerMap::Residue(t, u) => residue(t, c, u),
            IntegerMap::Scaled(s, t, u) => {
                let x = s * c % q;
                let x = if 2 * x > q {
                    x - q
                } else if 2 * x < -q {
                    x + q
                } else {
                    x
                };
                residue(t, x, u)
            }
        }
    }
}

/// Integers, and the digits into which they are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntegerDigits {
    /// The integers.
    pub map: IntegerMap,
    /// What they are multiplied by modulo t, the product being centered; none for nothing.
    pub times: Option<(PrimePower, u64)>,
    /// The base w of the digits, which are balanced.
    pub base: u64,
    /// Their number at most; the last one takes what is left.
    pub count: usize,
}

impl IntegerDigits {
    /// On the processor, by way of [`Engine::to_signed`]: for engines. Digits end where nothing is
    /// left.
    ///
    /// # Errors
    /// A fault of the engine, now or before.
    pub fn on_processor<E: Engine>(
        &self,
        engine: &E,
        x: &Poly<Coeff, E>,
        to: Basis,
    ) -> Result<Vec<Poly<Coeff, E>>, RingError> {
        let ring = engine.ring();
        let q = x.basis().iter().map(|i| i128::from(ring.modulus(i).value())).product();
        let (c, w) = (engine.to_signed(x)?, self.base as i64);
        let integer = |k: usize| {
            let x = self.map.of(c[k], q);
            self.times.map_or(x, |(t, u)| t.centered(t.mul(t.reduce_i64(x), u)))
        };
        let mut rest: Vec<i64> = by_places(c.len(), integer);
        let mut digits = Vec::with_capacity(self.count);
        while digits.len() < self.count && rest.iter().any(|&x| x != 0) {
            // rest = digit + w next, balanced
            let next: Vec<i64> = match digits.len() + 1 < self.count {
                true => by_places(rest.len(), |k| {
                    (2 * rest[k] as i128 + w as i128).div_euclid(2 * w as i128) as i64
                }),
                false => vec![0; rest.len()],
            };
            let digit: Vec<i64> = rest.iter().zip(&next).map(|(&x, &n)| x - w * n).collect();
            digits.push(engine.reduce_signed(to, &digit));
            rest = next;
        }
        Ok(digits)
    }
}
