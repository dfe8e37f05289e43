//! The plaintext ring (Z/p^e)\[X\]/Φ_m and its slots.

use everlevel_arith::{Modulus, NttTable, gather_natural, scatter_natural};

use crate::error::RingError;
use crate::galois::{GaloisElement, SlotShape};
use crate::prime_power::PrimePower;

/// Plaintext arithmetic and slot encoding modulo p^e, for every e up to the shape's largest exponent.
///
/// Plaintexts are vectors of n coefficients in natural order, reduced to 0..p^e.
#[derive(Debug)]
pub struct PlainRing {
    shape: SlotShape,
    /// One transform of length n/d for each exponent, over Y = X^d.
    tables: Vec<NttTable>,
    moduli: Vec<PrimePower>,
}

impl PlainRing {
    /// Builds the transforms.
    pub fn new(shape: SlotShape) -> Result<Self, RingError> {
        let log_slots = shape.slots().trailing_zeros();
        let mut tables = Vec::new();
        let mut moduli = Vec::new();
        for e in 1..=shape.max_exponent() {
            tables.push(NttTable::new(Modulus::new(shape.plain_modulus(e))?, log_slots, shape.root(e))?);
            moduli.push(PrimePower::new(shape.plain_prime(), e)?);
        }
        Ok(PlainRing { shape, tables, moduli })
    }
    /// The shape of the slots.
    pub fn shape(&self) -> &SlotShape {
        &self.shape
    }
    /// Arithmetic modulo p^e.
    ///
    /// # Panics
    /// If e is 0 or above the shape's largest exponent.
    pub fn modulus(&self, e: u32) -> PrimePower {
        self.moduli[e as usize - 1]
    }
    /// The degree n of the ring.
    pub fn degree(&self) -> usize {
        self.shape.slots() * self.shape.degree_of_slot()
    }
    fn log_slots(&self) -> u32 {
        self.shape.slots().trailing_zeros()
    }

    /// Slot values to coefficients modulo p^e. Missing values are 0.
    ///
    /// # Errors
    /// More values than slots, or a value of p^e or more.
    pub fn encode(&self, values: &[u64], e: u32) -> Result<Vec<u64>, RingError> {
        let t = self.modulus(e).value();
        if values.len() > self.shape.slots() {
            return Err(RingError::TooManyValues { found: values.len(), slots: self.shape.slots() });
        }
        if let Some(position) = values.iter().position(|&v| v >= t) {
            return Err(RingError::ValueOutOfRange { value: values[position], position, modulus: t });
        }
        let mut buffer = values.to_vec();
        buffer.resize(self.shape.slots(), 0);
        self.tables[e as usize - 1].inverse(&mut buffer);
        let inner = gather_natural(self.log_slots(), &buffer);
        let d = self.shape.degree_of_slot();
        if d == 1 {
            return Ok(inner);
        }
        let mut out = vec![0; self.degree()];
        for (i, c) in inner.into_iter().enumerate() {
            out[i * d] = c;
        }
        Ok(out)
    }
    /// Coefficients modulo p^e to slot values.
    ///
    /// # Errors
    /// A plaintext with slots outside of Z/p^e.
    pub fn decode(&self, coefficients: &[u64], e: u32) -> Result<Vec<u64>, RingError> {
        let d = self.shape.degree_of_slot();
        if let Some(coefficient) = coefficients.iter().enumerate().position(|(i, &c)| i % d != 0 && c != 0) {
            return Err(RingError::NotThin { coefficient });
        }
        let inner: Vec<u64> = coefficients.iter().copied().step_by(d).collect();
        let mut buffer = vec![0; inner.len()];
        scatter_natural(self.log_slots(), &inner, &mut buffer);
        self.tables[e as usize - 1].forward(&mut buffer);
        Ok(buffer)
    }
    /// The product of two plaintexts modulo p^e.
    pub fn mul(&self, a: &[u64], b: &[u64], e: u32) -> Vec<u64> {
        let (d, q, slots) = (self.shape.degree_of_slot(), self.modulus(e), self.shape.slots());
        let table = &self.tables[e as usize - 1];
        let transform = |x: &[u64]| -> Vec<Vec<u64>> {
            (0..d)
                .map(|i| {
                    let part: Vec<u64> = x.iter().copied().skip(i).step_by(d).collect();
                    let mut stored = vec![0; slots];
                    scatter_natural(self.log_slots(), &part, &mut stored);
                    table.forward(&mut stored);
                    stored
                })
                .collect()
        };
        let (fa, fb) = (transform(a), transform(b));
        // Y = X^d in every slot, for the wrap-around of X^d.
        let mut y = vec![0; slots];
        let mut unit = vec![0; slots];
        unit[1] = 1;
        scatter_natural(self.log_slots(), &unit, &mut y);
        table.forward(&mut y);
        let mut out = vec![0; self.degree()];
        for k in 0..d {
            let mut sum = vec![0; slots];
            for (i, ai) in fa.iter().enumerate() {
                let j = (k + d - i) % d;
                let wraps = i + j >= d;
                for (s, ((&x, &z), &w)) in sum.iter_mut().zip(ai.iter().zip(&fb[j]).zip(&y)) {
                    let product = q.mul(x, z);
                    *s = q.add(*s, if wraps { q.mul(product, w) } else { product });
                }
            }
            table.inverse(&mut sum);
            for (i, c) in gather_natural(self.log_slots(), &sum).into_iter().enumerate() {
                out[i * d + k] = c;
            }
        }
        out
    }
    /// X -> X^g on coefficients modulo p^e.
    pub fn galois(&self, a: &[u64], g: GaloisElement, e: u32) -> Vec<u64> {
        let (n, m, q) = (a.len(), self.shape.ring_index(), self.modulus(e));
        let mut out = vec![0; n];
        for (c, &x) in a.iter().enumerate() {
            let target = (c as u128 * g.exponent() as u128 % m as u128) as usize;
            out[target % n] = if target >= n { q.neg(x) } else { x };
        }
        out
    }
    /// The coefficients as centered integers, in natural order.
    pub fn centered(&self, a: &[u64], e: u32) -> Vec<i64> {
        let q = self.modulus(e);
        a.iter().map(|&x| q.centered(x)).collect()
    }
}
