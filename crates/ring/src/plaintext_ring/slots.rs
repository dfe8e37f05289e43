//! Slot values to coefficients, and back.

use everlevel_arith::gather_natural;
use zeroize::Zeroizing;

use super::PlaintextRing;
use crate::error::RingError;
use crate::exponents::embed_last;
use crate::product::forward;

impl PlaintextRing {
    /// Thin values to coefficients modulo p^e. Missing values are 0.
    ///
    /// # Errors
    /// More values than slots, a value of p^e or more, or an exponent that the shape does not have.
    pub fn encode(&self, values: &[u64], e: u32) -> Result<Vec<u64>, RingError> {
        if values.len() > self.shape.slots() {
            return Err(RingError::TooManyValues {
                found: values.len(),
                slots: self.shape.slots(),
            });
        }
        if self.shape.odd().is_some() {
            let d = self.shape.degree_of_slot();
            let mut elements = Zeroizing::new(vec![0; self.degree()]);
            elements.iter_mut().step_by(d).zip(values).for_each(|(x, &value)| *x = value);
            return self.encode_elements(&elements, e);
        }
        // The imaginary parts, if any, are 0.
        let mut padded = Zeroizing::new(vec![0; 2 * self.shape.columns()]);
        padded.iter_mut().zip(values).for_each(|(x, &value)| *x = value);
        self.encode_base(&padded, e)
    }

    /// Coefficients modulo p^e to thin values.
    ///
    /// # Errors
    /// A plaintext with slots outside of Z/p^e, of another degree, or an exponent that the shape
    /// does not have.
    pub fn decode(&self, coefficients: &[u64], e: u32) -> Result<Vec<u64>, RingError> {
        self.check(coefficients, self.degree(), e)?;
        // A refusal takes as long as a success: all coefficients are read and decoded.
        let mut wider = None;
        if self.shape.degree_of_slot() > 1 {
            let conjugate = Zeroizing::new(self.galois(coefficients, self.shape.frobenius(), e));
            wider = first(coefficients.iter().zip(conjugate.iter()).map(|(a, b)| a != b));
        }
        let values = if self.shape.odd().is_some() {
            let elements = Zeroizing::new(self.decode_elements(coefficients, e)?);
            elements.iter().copied().step_by(self.shape.degree_of_slot()).collect()
        } else {
            let (mut values, outside) = self.base_values(coefficients, e)?;
            wider = wider.or(outside);
            values.truncate(self.shape.slots());
            values
        };
        match wider {
            Some(coefficient) => Err(RingError::NotThin { coefficient }),
            None => Ok(values),
        }
    }

    /// `2 * columns` residues, an element of GR(p^e, f) for each slot, to coefficients modulo p^e.
    ///
    /// # Errors
    /// An index with axes, another number of values, a value of p^e or more, or an exponent that
    /// the shape does not have.
    pub fn encode_base(&self, values: &[u64], e: u32) -> Result<Vec<u64>, RingError> {
        let inner = Zeroizing::new(self.encode_periodic(values, self.shape.columns(), e)?);
        let mut out = vec![0; self.degree()];
        out.iter_mut().step_by(self.stride()).zip(inner.iter()).for_each(|(x, &c)| *x = c);
        Ok(out)
    }

    /// The inverse of [`PlaintextRing::encode_base`].
    ///
    /// # Errors
    /// An index with axes, a plaintext outside of the base ring, of another degree, or an exponent
    /// that the shape does not have.
    pub fn decode_base(&self, coefficients: &[u64], e: u32) -> Result<Vec<u64>, RingError> {
        match self.base_values(coefficients, e)? {
            (_, Some(coefficient)) => Err(RingError::NotThin { coefficient }),
            (values, None) => Ok(values),
        }
    }

    /// The values in the base ring, and the first coefficient that is outside of it.
    fn base_values(
        &self,
        coefficients: &[u64],
        e: u32,
    ) -> Result<(Vec<u64>, Option<usize>), RingError> {
        self.base_ring(e)?;
        self.check(coefficients, self.degree(), e)?;
        let stride = self.stride();
        let outside =
            first(coefficients.iter().enumerate().map(|(i, &c)| i % stride != 0 && c != 0));
        let inner =
            Zeroizing::new(coefficients.iter().copied().step_by(stride).collect::<Vec<u64>>());
        Ok((self.evaluate(&inner, e)?, outside))
    }

    /// Base values that repeat with `period` along the columns, `2 * period` residues, to the 2
    /// `period` coefficients of the polynomial in X^(n / (2 period)) that holds them.
    ///
    /// # Errors
    /// An index with axes, a period that does not divide the columns, another number of values, a
    /// value of p^e or more, or an exponent that the shape does not have.
    pub fn encode_periodic(
        &self,
        values: &[u64],
        period: usize,
        e: u32,
    ) -> Result<Vec<u64>, RingError> {
        self.base_ring(e)?;
        if period == 0 || !self.shape.columns().is_multiple_of(period) {
            return Err(RingError::BadPeriod { period, columns: self.shape.columns() });
        }
        self.check(values, 2 * period, e)?;
        self.interpolate(values, e)
    }

    /// Elements of GR(p^e, d) along the dimensions of the carrier, row-major, φ(N) residues, to the
    /// φ(N) coefficients of the polynomial in the X_a of the carrier alone that has them at all
    /// places of the other dimensions. About φ(N)^2 word products.
    ///
    /// In the same way elements along the dimensions of more of the last axes: how many axes these
    /// are, the number of residues says.
    ///
    /// # Errors
    /// A power of two as index, another number of residues, one of p^e or more, or an exponent that
    /// the shape does not have.
    pub fn encode_last(&self, values: &[u64], e: u32) -> Result<Vec<u64>, RingError> {
        let transform = self.axes(e)?;
        self.check(values, self.last_degree(values.len()), e)?;
        Ok(transform.encode(values))
    }

    /// The inverse of [`PlaintextRing::encode_last`].
    ///
    /// # Errors
    /// As [`PlaintextRing::encode_last`].
    pub fn decode_last(&self, coefficients: &[u64], e: u32) -> Result<Vec<u64>, RingError> {
        let transform = self.axes(e)?;
        self.check(coefficients, self.last_degree(coefficients.len()), e)?;
        Ok(transform.decode(coefficients))
    }

    /// The coefficients of a polynomial in the X_a of the last axes alone, φ(N) for the carrier, to
    /// its n coefficients in the ring.
    ///
    /// # Errors
    /// As [`PlaintextRing::encode_last`].
    pub fn embed_last(&self, coefficients: &[u64], e: u32) -> Result<Vec<u64>, RingError> {
        let axes = self
            .shape
            .axes()
            .ok_or_else(|| self.wrong_family("a polynomial in X_c", "no power of two"))?;
        let t = self.check(coefficients, self.last_degree(coefficients.len()), e)?;
        Ok(embed_last(axes, coefficients, t))
    }

    /// `count`, if a polynomial in the X_a of the last axes has that many coefficients, the carrier
    /// among them, else φ(N).
    fn last_degree(&self, count: usize) -> usize {
        let carrier = self.shape.carrier_slots() * self.shape.degree_of_slot();
        let axes = self.shape.axes().filter(|_| count >= carrier);
        if axes.is_some_and(|axes| axes.last_of_degree(count).is_some()) { count } else { carrier }
    }

    /// A polynomial in W to its values in all columns.
    pub(crate) fn evaluate(&self, inner: &[u64], e: u32) -> Result<Vec<u64>, RingError> {
        if let Some(table) = self.fast(e) {
            return Ok(forward(table, inner));
        }
        Ok(self.columns(e)?.evaluate(inner))
    }

    /// Periodic values to a polynomial in a power of W.
    pub(crate) fn interpolate(&self, values: &[u64], e: u32) -> Result<Vec<u64>, RingError> {
        let whole = values.len() == 2 * self.shape.columns();
        if let Some(table) = self.fast(e).filter(|_| whole) {
            let mut stored = Zeroizing::new(values.to_vec());
            table.inverse(&mut stored);
            return Ok(gather_natural(values.len().trailing_zeros(), &stored));
        }
        Ok(self.columns(e)?.interpolate(values))
    }
}

/// The place of the first one that is true; all of them are read.
fn first(found: impl Iterator<Item = bool>) -> Option<usize> {
    found.enumerate().fold(None, |first, (i, found)| first.or(found.then_some(i)))
}
