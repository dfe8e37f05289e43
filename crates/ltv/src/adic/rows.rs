//! Sums, signs, parity and division: what is done row by row.

use std::ops::Range;
use std::sync::Arc;

use everlevel_ring::RingError;
use rayon::prelude::*;
use zeroize::Zeroizing;

use super::integer;
use super::ring::{AdicPoly, AdicRing};

/// Coefficients that are carried at a time: their rows stay in cache.
const TILE: usize = 512;

impl AdicRing {
    /// The polynomial whose rows are the digits of a sum. For each tile of coefficients
    /// `prepare(tile, carry)` sets the carry into the lowest row, and `add(state, row, tile, sum)`
    /// adds what belongs to a row; `constants` is one more digit for every row. Sums stay below
    /// (2^32 - 1) p.
    pub(super) fn carried<T>(
        &self,
        constants: &[u32],
        prepare: impl Fn(Range<usize>, &mut [u64]) -> T + Sync,
        add: impl Fn(&T, usize, Range<usize>, &mut [u64]) + Sync,
    ) -> AdicPoly {
        let degree = self.ring().degree();
        let mut rows: Vec<Vec<u32>> = constants.iter().map(|_| vec![0; degree]).collect();
        let mut pieces: Vec<_> = rows.iter_mut().map(|row| row.chunks_mut(TILE)).collect();
        let tiles: Vec<Vec<&mut [u32]>> = (0..degree.div_ceil(TILE))
            .map(|_| pieces.iter_mut().filter_map(Iterator::next).collect())
            .collect();
        tiles.into_par_iter().enumerate().for_each(|(t, out)| {
            let tile = t * TILE..degree.min((t + 1) * TILE);
            let (mut sum, mut carry) = ([0u64; TILE], [0u64; TILE]);
            let (sum, carry) = (&mut sum[..tile.len()], &mut carry[..tile.len()]);
            let state = prepare(tile.clone(), carry);
            for (row, (out, &constant)) in out.into_iter().zip(constants).enumerate() {
                sum.fill(0);
                add(&state, row, tile.clone(), sum);
                self.cpu.kernels().carry_digits(self.prime() as u32, out, sum, carry, constant);
            }
        });
        AdicPoly { rows: rows.into_iter().map(Arc::new).collect() }
    }

    /// The polynomial with these rows of digits in natural order, the lowest first: the digits of
    /// x + (p^k - 1)/2.
    ///
    /// # Errors
    /// No row, one of another length than n, or a digit that is not below p.
    pub fn from_digits(&self, rows: &[Vec<u32>]) -> Result<AdicPoly, RingError> {
        let expected = self.ring().degree();
        if let Some(found) =
            rows.iter().map(Vec::len).find(|n| *n != expected).or(rows.is_empty().then_some(0))
        {
            return Err(RingError::ResidueCount { found, expected });
        }
        let stored = |row: &Vec<u32>| {
            if let Some(position) = row.iter().position(|&d| u64::from(d) >= self.prime()) {
                return Err(RingError::ValueOutOfRange {
                    value: row[position].into(),
                    position,
                    modulus: self.prime().into(),
                });
            }
            let mut stored = vec![0; expected];
            self.ring().storage_order(row, &mut stored);
            Ok(Arc::new(stored))
        };
        Ok(AdicPoly { rows: rows.iter().map(stored).collect::<Result<_, _>>()? })
    }

    /// The zero polynomial modulo p^`rows`.
    pub fn zero(&self, rows: usize) -> AdicPoly {
        let row = Arc::new(vec![self.half(); self.ring().degree()]);
        AdicPoly { rows: std::iter::repeat_n(row, rows).collect() }
    }

    /// From signed coefficients in natural order, at most h in magnitude.
    ///
    /// # Panics
    /// If one is larger, or there are not n of them.
    pub fn from_signed(&self, natural: &[i64], rows: usize) -> AdicPoly {
        let half = i64::from(self.half());
        assert!(natural.iter().all(|x| x.abs() <= half), "coefficients of one digit");
        let mut out = self.zero(rows);
        let digits: Zeroizing<Vec<u32>> =
            Zeroizing::new(natural.iter().map(|x| (x + half) as u32).collect());
        let mut stored = vec![0u32; self.ring().degree()];
        self.ring().storage_order(&digits, &mut stored);
        out.rows[0] = Arc::new(stored);
        out
    }

    /// The sum of polynomials of equally many rows, at least one and at most 2^24 of them.
    ///
    /// # Panics
    /// If there is none, or too many, or the numbers of rows differ.
    pub fn sum(&self, terms: &[&AdicPoly]) -> AdicPoly {
        let rows = terms[0].rows();
        assert!(
            terms.len() <= 1 << 24 && terms.iter().all(|x| x.rows() == rows),
            "some terms of equally many rows"
        );
        let excess = i128::from(self.half()) * (terms.len() as i128 - 1);
        let constants = integer::carried(self.prime(), (0..rows).map(|_| -excess));
        self.carried(
            &constants,
            |_, _| (),
            |_, row, tile, sum| {
                for x in terms {
                    sum.iter_mut()
                        .zip(&x.rows[row][tile.clone()])
                        .for_each(|(s, &d)| *s += u64::from(d));
                }
            },
        )
    }

    /// -x.
    pub fn neg(&self, x: &AdicPoly) -> AdicPoly {
        let top = 2 * self.half();
        AdicPoly {
            rows: x
                .rows
                .iter()
                .map(|row| Arc::new(row.iter().map(|&d| top - d).collect()))
                .collect(),
        }
    }

    /// c x, for c < 2^31.
    ///
    /// # Panics
    /// For a larger c.
    pub fn scale(&self, x: &AdicPoly, c: u32) -> AdicPoly {
        assert!(c >> 31 == 0, "a factor below 2^31");
        let excess = i128::from(self.half()) * (i128::from(c) - 1);
        let constants = integer::carried(self.prime(), (0..x.rows()).map(|_| -excess));
        self.carried(
            &constants,
            |_, _| (),
            |_, row, tile, sum| {
                sum.iter_mut()
                    .zip(&x.rows[row][tile])
                    .for_each(|(s, &d)| *s = u64::from(d) * u64::from(c));
            },
        )
    }

    /// p^`places` x modulo p^`rows`.
    pub fn shifted(&self, x: &AdicPoly, places: usize, rows: usize) -> AdicPoly {
        let zero = self.zero(1).rows.remove(0);
        let low = std::iter::repeat_n(&zero, places).chain(&x.rows).chain(std::iter::repeat(&zero));
        AdicPoly { rows: low.take(rows).cloned().collect() }
    }

    /// (x - r) / p^`places` for the r of least magnitude that is x modulo p^`places` and even:
    /// modulus switching that keeps the parity of the integer up to the odd factor. The error r /
    /// p^`places` is below 1 in magnitude, of variance 1/3 for uniform x.
    ///
    /// # Panics
    /// If no row is left.
    pub fn divide_even(&self, x: &AdicPoly, places: usize) -> AdicPoly {
        assert!(places < x.rows(), "a modulus is left");
        if places == 0 {
            return x.clone();
        }
        let half = self.half();
        let (low, high) = x.rows.split_at(places);
        // Where the centered remainder is odd, the quotient goes one further, to the side of its
        // sign: the carry is 1 more than that, and the constant -1.
        let correction = |tile: Range<usize>, carry: &mut [u64]| {
            let (mut odd, mut sign) = ([0u32; TILE], [0i32; TILE]);
            for row in low {
                for ((&d, odd), sign) in row[tile.clone()].iter().zip(&mut odd).zip(&mut sign) {
                    *odd ^= d ^ half;
                    let own = i32::from(d > half) - i32::from(d < half);
                    *sign = if own == 0 { *sign } else { own };
                }
            }
            carry
                .iter_mut()
                .zip(odd)
                .zip(sign)
                .for_each(|((c, odd), sign)| *c = (1 + sign * (odd & 1) as i32) as u64);
        };
        self.carried(&vec![2 * half; high.len()], correction, |_, row, tile, sum| {
            sum.iter_mut().zip(&high[row][tile]).for_each(|(s, &d)| *s = u64::from(d));
        })
    }

    /// The centered coefficients modulo 2, in natural order.
    pub fn parities(&self, x: &AdicPoly) -> Vec<u64> {
        let mut stored = Zeroizing::new(vec![0u64; self.ring().degree()]);
        for row in &x.rows {
            stored
                .iter_mut()
                .zip(&row[..])
                .for_each(|(s, &d)| *s ^= u64::from((d ^ self.half()) & 1));
        }
        self.ring().natural_order(&stored)
    }

    /// The largest magnitude among the centered coefficients, by the two highest rows alone, in
    /// units of p to the second result: what lies below is less than half a unit. Time does not
    /// depend on the digits.
    pub(crate) fn largest(&self, x: &AdicPoly) -> (u64, usize) {
        let (half, p) = (i64::from(self.half()), self.prime() as i64);
        let lowest = x.rows.len().saturating_sub(2);
        let mut stored = Zeroizing::new(vec![0i64; self.ring().degree()]);
        for row in x.rows[lowest..].iter().rev() {
            stored.iter_mut().zip(&row[..]).for_each(|(s, &d)| *s = *s * p + (i64::from(d) - half));
        }
        (stored.iter().fold(0, |largest, s| largest.max(s.unsigned_abs())), lowest)
    }

    /// The centered coefficients in natural order, rounded to doubles, divided by a power of 2 of
    /// which the logarithm is the second result.
    pub fn approximate(&self, x: &AdicPoly) -> (Vec<f64>, f64) {
        let half = self.half();
        let top = x.rows.iter().rposition(|row| row.iter().any(|&d| d != half)).unwrap_or(0);
        let lowest = top.saturating_sub(3);
        let p = self.prime() as f64;
        let mut stored = vec![0f64; self.ring().degree()];
        for row in x.rows[lowest..=top].iter().rev() {
            stored
                .iter_mut()
                .zip(&row[..])
                .for_each(|(s, &d)| *s = *s * p + (f64::from(d) - f64::from(half)));
        }
        (self.ring().natural_order(&stored), lowest as f64 * p.log2())
    }
}
