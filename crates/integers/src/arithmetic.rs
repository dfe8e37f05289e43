//! Sums, differences, logic of truth values.

use crate::column::{Column, Digit, Operand, POINTS};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;

impl<S: IntegerScheme> Integers<'_, S> {
    /// a + b. It is free for canonical operands; if operands are sums themselves, their carries are
    /// computed first.
    ///
    /// # Errors
    /// [`IntegersError::Range`] beyond 2^126, [`IntegersError::Length`], those of carries.
    pub fn add<'b>(
        &self,
        a: impl Into<Operand<'b, S::Ciphertext>>,
        b: impl Into<Operand<'b, S::Ciphertext>>,
    ) -> Result<Column<S::Ciphertext>, IntegersError>
    where
        S::Ciphertext: 'b,
    {
        self.sum_of(self.column(a.into())?, self.column(b.into())?, 1)
    }

    /// a - b. It is free for canonical operands; if operands are sums themselves, their carries are
    /// computed first.
    ///
    /// # Errors
    /// As [`Integers::add`].
    pub fn sub<'b>(
        &self,
        a: impl Into<Operand<'b, S::Ciphertext>>,
        b: impl Into<Operand<'b, S::Ciphertext>>,
    ) -> Result<Column<S::Ciphertext>, IntegersError>
    where
        S::Ciphertext: 'b,
    {
        self.sum_of(self.column(a.into())?, self.column(b.into())?, -1)
    }

    /// -x. Free.
    ///
    /// # Errors
    /// Those of the scheme.
    pub fn neg(&self, x: &Column<S::Ciphertext>) -> Result<Column<S::Ciphertext>, IntegersError> {
        Ok(Column {
            interval: x.interval.negated(),
            anchor: -x.anchor,
            digits: self.pairwise((&x.digits, -1), (&[], 0), &[])?,
            length: x.length,
        })
    }

    fn sum_of(
        &self,
        mut a: Column<S::Ciphertext>,
        mut b: Column<S::Ciphertext>,
        sign: i64,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let length = self.common_length(&[&a, &b])?;
        let interval = if sign > 0 {
            a.interval.checked_add(b.interval)?
        } else {
            a.interval.checked_sub(b.interval)?
        };
        let wide = |a: &Column<S::Ciphertext>, b: &Column<S::Ciphertext>| {
            (0..a.digits.len().min(b.digits.len()))
                .any(|i| a.digit(i).points() + b.digit(i).points() - 1 > POINTS)
        };
        // The wider one first; then the other, if that was not enough.
        for _ in 0..2 {
            if wide(&a, &b) {
                let widest = |x: &Column<S::Ciphertext>| x.digits.iter().map(Digit::points).max();
                let x = if widest(&a) >= widest(&b) { &mut a } else { &mut b };
                *x = self.normalized(x)?;
            }
        }
        let anchor = a.anchor.checked_add(i128::from(sign) * b.anchor);
        Ok(Column {
            interval,
            anchor: interval.anchored("the sum", anchor)?,
            digits: self.pairwise((&a.digits, 1), (&b.digits, sign), &[])?,
            length,
        }
        .narrowed())
    }

    /// 1 - x for truth values x. Free.
    ///
    /// # Errors
    /// [`IntegersError::Type`] for other values.
    pub fn not(&self, x: &Column<S::Ciphertext>) -> Result<Column<S::Ciphertext>, IntegersError> {
        self.bit("not", x)?;
        self.sum_of(self.column(1.into())?, x.clone(), -1)
    }

    /// Whether both of two truth values are 1: a product.
    ///
    /// # Errors
    /// [`IntegersError::Type`] for other values.
    pub fn and(
        &self,
        a: &Column<S::Ciphertext>,
        b: &Column<S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let length = self.common_length(&[a, b])?;
        let both = self.product(&self.bit("and", a)?, &self.bit("and", b)?)?;
        Ok(Column { interval: Interval::BOOL, anchor: 0, digits: vec![both], length }.narrowed())
    }

    /// Whether at least one of two truth values is 1: a product.
    ///
    /// # Errors
    /// [`IntegersError::Type`] for other values.
    pub fn or(
        &self,
        a: &Column<S::Ciphertext>,
        b: &Column<S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        self.logic("or", a, b, -1)
    }

    /// Whether exactly one of two truth values is 1: a product.
    ///
    /// # Errors
    /// [`IntegersError::Type`] for other values.
    pub fn xor(
        &self,
        a: &Column<S::Ciphertext>,
        b: &Column<S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        self.logic("xor", a, b, -2)
    }

    /// The truth value a + b + k a b.
    fn logic(
        &self,
        operation: &'static str,
        a: &Column<S::Ciphertext>,
        b: &Column<S::Ciphertext>,
        k: i64,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let length = self.common_length(&[a, b])?;
        let (a, b) = (self.bit(operation, a)?, self.bit(operation, b)?);
        let both = self.product(&a, &b)?;
        let digit = self.combine(&[(&a, 1), (&b, 1), (&both, k)], 0)?;
        let digits = vec![digit.within(0, 1)];
        Ok(Column { interval: Interval::BOOL, anchor: 0, digits, length }.narrowed())
    }

    /// A column of truth values as one digit.
    pub(crate) fn bit(
        &self,
        operation: &'static str,
        x: &Column<S::Ciphertext>,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        if !Interval::BOOL.holds(x.interval) {
            return Err(IntegersError::Type {
                operation,
                found: x.interval,
                expected: "truth values, 0 or 1: compare, with ne(x, 0) for example",
            });
        }
        self.residue(x, 0)
    }

    /// The digits of a value, less `origin`, as a single digit: Σ 16^i d_i, whose window is the
    /// interval. All values have to be within 2^31 of the origin.
    pub(crate) fn residue(
        &self,
        x: &Column<S::Ciphertext>,
        origin: i128,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let near = |v: i128| {
            let distance = v.checked_sub(origin).and_then(|d| i32::try_from(d).ok());
            distance.map(i64::from).ok_or_else(|| IntegersError::Range {
                operation: "a function of few values",
                operands: x.interval.to_string(),
                allowed: x.interval,
            })
        };
        if let Some(value) = x.public_value() {
            return Ok(Digit::public(near(value)?));
        }
        let t = self.modulus();
        let centered = |x: i128| t.centered(t.reduce_i128(x));
        let mut weight = 1i128;
        let mut terms = Vec::with_capacity(x.digits.len());
        for digit in &x.digits {
            terms.push((digit, centered(weight)));
            weight = i128::from(t.reduce_i128(16 * weight));
        }
        let [anchor, origin] = [x.anchor, origin].map(centered);
        let digit = self.combine(&terms, anchor - origin)?;
        let (low, high) = (near(x.interval.low())?, near(x.interval.high())?);
        Ok(Digit { pad: near(x.pad())?, ..digit.within(low, high) })
    }
}
