//! The entries of chosen rows, in as few ciphertexts as possible.

use everlevel_ring::PrimePower;
use everlevel_scheme::SchemeError;

use crate::column::{Column, Digit};
use crate::context::{IntegerScheme, Integers};
use crate::encode::{standard_form, windows};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::slots::digit_of;
use crate::types::Type;

/// Neighboring digits as one integer from 0 to `span`, which is below p.
struct Piece {
    first: usize,
    count: usize,
    /// The least value of Σ 16^i d_i.
    least: i64,
    span: i64,
}

/// How the entries of chosen rows of a column are stored. It follows from the type of the column
/// and p alone.
///
/// A piece holds Σ 16^i d_i of neighboring digits, less its least value, in the slots of chosen
/// rows, and 0 in all others. Modulo 65537 a piece has 16 bits.
pub struct ChosenShape {
    interval: Interval,
    anchor: i128,
    windows: Vec<(i64, i64)>,
    pieces: Vec<Piece>,
}

impl ChosenShape {
    /// The shape for a column that was encrypted with this type.
    pub fn of(kind: Type, modulus: PrimePower) -> Self {
        let interval = kind.interval();
        let (anchor, digits) = standard_form(interval);
        let windows = windows(interval, anchor, digits);
        let (mut pieces, mut first) = (Vec::new(), 0);
        while first < windows.len() {
            let (mut count, mut least, mut span) = (0, 0, 0);
            while let Some((low, high)) = windows.get(first + count) {
                let wider = span + ((high - low) << (4 * count));
                if count == 8 || (count > 0 && wider as u64 >= modulus.prime()) {
                    break;
                }
                least += low << (4 * count);
                (span, count) = (wider, count + 1);
            }
            pieces.push(Piece { first, count, least, span });
            first += count;
        }
        ChosenShape { interval, anchor, windows, pieces }
    }

    /// The pieces that are not the same for all values.
    fn encrypted(&self) -> impl Iterator<Item = &Piece> {
        self.pieces.iter().filter(|piece| piece.span > 0)
    }

    /// The number of ciphertexts that hold the entries.
    pub fn ciphertexts(&self) -> usize {
        self.encrypted().count()
    }

    /// The entry of a chosen row, from the residues that the ciphertexts hold in its slot.
    ///
    /// # Errors
    /// [`SchemeError::NotDecryptable`] for residues that no entry has.
    pub fn entry(&self, residues: &[u64]) -> Result<i128, IntegersError> {
        let mut found = residues.iter();
        let (mut value, mut possible) = (self.anchor, true);
        for piece in &self.pieces {
            let above =
                if piece.span > 0 { found.next().map_or(i64::MAX, |r| *r as i64) } else { 0 };
            let held = above <= piece.span;
            possible &= held;
            let above = if held { above } else { 0 };
            value += i128::from(piece.least + above) << (4 * piece.first);
        }
        if possible && self.interval.contains(value) {
            Ok(value)
        } else {
            Err(SchemeError::NotDecryptable.into())
        }
    }
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// Which rows are chosen, as 1 or 0 in each slot, and the entries of some columns in these
    /// rows, by their shapes, with 0 in all other rows. It takes a product for each piece.
    ///
    /// # Errors
    /// [`IntegersError::Type`] if the condition is no truth value; [`IntegersError::Parts`] for a
    /// column of another type than its shape; those of the scheme.
    pub fn chosen_rows(
        &self,
        condition: &Column<S::Ciphertext>,
        columns: &[(&Column<S::Ciphertext>, &ChosenShape)],
    ) -> Result<Vec<S::Ciphertext>, IntegersError> {
        let mut bit = self.bit("a choice of rows", condition)?;
        if bit.cipher.is_none() {
            // All rows or none: in a ciphertext all the same, so that answers have one form.
            bit = self.weighed(&Digit::public(1), &vec![bit.low; self.slots()])?;
        }
        let mut out = Vec::new();
        let mut push = |digit: &Digit<S::Ciphertext>| -> Result<(), IntegersError> {
            if let Some(x) = &digit.cipher {
                out.push(S::Ciphertext::clone(&*self.operand(x)?));
            }
            Ok(())
        };
        push(&bit)?;
        for (x, shape) in columns {
            let found = x.digits.iter().map(|d| (d.low, d.high));
            if x.anchor != shape.anchor || !found.eq(shape.windows.iter().copied()) {
                return Err(IntegersError::Parts { problem: "a column of another type".into() });
            }
            for joined in self.joined(x, shape)? {
                push(&self.product(&bit, &joined)?)?;
            }
        }
        Ok(out)
    }

    /// The entries of a column in the form that [`ChosenShape::entry`] reads, by the shape of a
    /// type that contains all of them. It takes carries, if there are any.
    ///
    /// # Errors
    /// [`IntegersError::Parts`] for a column that may have other values than the type of the shape;
    /// those of carries and of the scheme.
    pub fn entries(
        &self,
        x: &Column<S::Ciphertext>,
        shape: &ChosenShape,
    ) -> Result<Vec<S::Ciphertext>, IntegersError> {
        let (interval, count) = (shape.interval, shape.windows.len());
        if !interval.holds(x.interval) {
            return Err(IntegersError::Parts { problem: "a column of another type".into() });
        }
        let x = match x.public_value() {
            Some(value) => {
                let digit = |k| Digit::public(digit_of(value - shape.anchor, k));
                Column { digits: (0..count).map(digit).collect(), ..x.clone() }
            }
            None => self.normalized_to(&Column { interval, ..x.clone() }, (shape.anchor, count))?,
        };
        let mut out = Vec::new();
        for joined in self.joined(&x, shape)? {
            if let Some(x) = &self.encrypted(&joined)?.cipher {
                out.push(S::Ciphertext::clone(&*self.operand(x)?));
            }
        }
        Ok(out)
    }

    /// The pieces of a column above the anchor of its shape.
    fn joined(
        &self,
        x: &Column<S::Ciphertext>,
        shape: &ChosenShape,
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let joined = |piece: &Piece| {
            let digits: Vec<_> = (0..piece.count).map(|i| x.digit(piece.first + i)).collect();
            let terms: Vec<_> = digits.iter().enumerate().map(|(i, d)| (d, 1 << (4 * i))).collect();
            self.combine(&terms, -piece.least)
        };
        shape.encrypted().map(joined).collect()
    }
}
