//! Integer polynomials that are made of the centered coefficients of a polynomial.

use rayon::prelude::*;

use crate::prime_power::PrimePower;

/// The least places that are worth a task.
const TASK: usize = 2048;

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
    /// The digits of what is made of centered coefficients modulo q, which end where nothing is
    /// left.
    pub fn of(&self, c: &[i128], q: i128) -> Vec<Vec<i64>> {
        let w = self.base as i64;
        let integer = |&c: &i128| {
            let x = self.map.of(c, q);
            self.times.map_or(x, |(t, u)| t.centered(t.mul(t.reduce_i64(x), u)))
        };
        let mut rest: Vec<i64> = c.par_iter().with_min_len(TASK).map(integer).collect();
        let mut digits = Vec::with_capacity(self.count);
        while digits.len() < self.count && rest.iter().any(|&x| x != 0) {
            // rest = digit + w next, balanced
            let next = |&x: &i64| (2 * x as i128 + w as i128).div_euclid(2 * w as i128) as i64;
            let next: Vec<i64> = match digits.len() + 1 < self.count {
                true => rest.par_iter().with_min_len(TASK).map(next).collect(),
                false => vec![0; rest.len()],
            };
            digits.push(rest.iter().zip(&next).map(|(&x, &n)| x - w * n).collect());
            rest = next;
        }
        digits
    }
}
