//! The problem that a digit removal solves.

use everlevel_scheme::Params;

use crate::error::CircuitError;
use crate::modular::PrimePower;

/// Digits and their bounds are signed words, and so are sums of several of them.
const MAX_BITS: u32 = 62;

/// The digit removal x = m p^v + i modulo p^e, |i| <= B, to (x - i)/p^v = m modulo p^(e-v).
///
/// The low part i is balanced. For p = 2 the largest B is 2^(v-1), and then -B <= i < B. Any m is
/// allowed. (Chen–Han 2018 name it DigitRemove(p, e, v).) In bootstrapping e = r + v for a
/// plaintext modulus p^r.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DigitProblem {
    /// The prime p.
    pub p: u64,
    /// e: the number of digits of x, whose plaintext modulus is p^e.
    pub e: u32,
    /// v: the number of digits to be removed, 1 <= v < e.
    pub v: u32,
    /// B, the bound on the low part, 1 <= B <= p^v / 2.
    pub bound: u64,
}

impl DigitProblem {
    /// The problem in the bootstrapping of a set.
    pub fn of(params: &Params) -> Self {
        DigitProblem {
            p: params.spec().plain_prime,
            e: params.raised_exponent(),
            v: params.spec().overflow_digits(),
            bound: params.spec().overflow_bound(),
        }
    }

    /// The problem with all p^v values of the low part, B = floor(p^v / 2).
    pub fn all_digits(p: u64, e: u32, v: u32) -> Self {
        DigitProblem { p, e, v, bound: p.saturating_pow(v) / 2 }
    }

    /// Whether B allows all values of the low part.
    pub fn is_full(&self) -> bool {
        self.bound == self.p.saturating_pow(self.v) / 2
    }

    /// The modulus p^e, if the problem is valid.
    ///
    /// # Errors
    /// [`CircuitError::Ring`] if p^e is not a valid modulus, [`CircuitError::DigitProblem`] unless
    /// 1 <= v < e and p^e is below 2^62, [`CircuitError::OverflowBound`] unless 1 <= B <= p^v / 2.
    pub fn modulus(&self) -> Result<PrimePower, CircuitError> {
        let t = PrimePower::new(self.p, self.e)?;
        if t.wide() >> MAX_BITS != 0 {
            return Err(self.refused("digits are removed modulo p^e below 2^62 only"));
        }
        if self.v == 0 || self.v >= self.e {
            return Err(self.refused("at least one digit is to be removed and one to be left"));
        }
        let refuse =
            |reason| Err(CircuitError::OverflowBound { bound: self.bound, p: self.p, reason });
        match self.bound {
            0 => refuse("it must be at least 1"),
            b if b > self.p.saturating_pow(self.v) / 2 => {
                refuse("the values of the low part must differ modulo p^v")
            }
            _ => Ok(t),
        }
    }

    /// The largest absolute value of each digit of the low part that is not always zero, the lowest
    /// first. Bits are bits of x + 2^(v-1). For checked problems.
    pub(super) fn digit_bounds(&self) -> Vec<u64> {
        let half = self.p / 2;
        if self.p == 2 {
            return vec![1; self.v as usize];
        }
        let mut bounds = Vec::new();
        let mut rest = self.bound;
        while rest > 0 {
            bounds.push(rest.min(half));
            // The most that |i - z|/p can be for |i| <= rest.
            rest = (rest + half) / self.p;
        }
        bounds
    }

    /// The error of the grid for any problem.
    pub(super) fn not_for_the_grid(&self) -> CircuitError {
        self.refused("the grid is for bootstrapping and solves no problem of this kind")
    }

    pub(super) fn refused(&self, reason: &'static str) -> CircuitError {
        let DigitProblem { p, e, v, bound } = *self;
        CircuitError::DigitProblem { p, e, v, bound, reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_bounded_by_what_is_left() {
        let bounds = |p, v, bound| DigitProblem { p, e: v + 1, v, bound }.digit_bounds();
        assert_eq!(bounds(17, 2, 23), [8, 1]);
        assert_eq!(bounds(17, 2, 8), [8]);
        assert_eq!(bounds(17, 2, 9), [8, 1]);
        assert_eq!(bounds(127, 1, 22), [22]);
        for (p, v) in [(3u64, 4u32), (5, 3), (17, 2), (127, 1)] {
            assert_eq!(
                DigitProblem::all_digits(p, v + 1, v).digit_bounds(),
                vec![p / 2; v as usize]
            );
        }
        assert_eq!(DigitProblem::all_digits(2, 9, 3).digit_bounds(), [1, 1, 1]);
    }

    #[test]
    fn impossible_problems_are_refused() {
        let problem = |p, e, v, bound| DigitProblem { p, e, v, bound }.modulus();
        assert!(problem(17, 4, 2, 144).is_ok() && problem(2, 4, 2, 2).is_ok());
        assert!(matches!(problem(17, 2, 2, 8), Err(CircuitError::DigitProblem { .. })));
        assert!(matches!(problem(17, 2, 0, 8), Err(CircuitError::DigitProblem { .. })));
        assert!(matches!(problem(17, 4, 2, 145), Err(CircuitError::OverflowBound { .. })));
        assert!(matches!(problem(17, 4, 2, 0), Err(CircuitError::OverflowBound { .. })));
        assert!(problem(2, 61, 2, 2).is_ok());
        for (p, e) in [(2, 62), (2, 64), (3, 40)] {
            assert!(matches!(problem(p, e, 2, 1), Err(CircuitError::DigitProblem { .. })));
        }
        assert!(matches!(
            problem(16, 4, 2, 3),
            Err(CircuitError::Ring(everlevel_ring::RingError::PlainModulus { .. }))
        ));
    }
}
