//! Products of two columns, by columns of digits.

use everlevel_circuit::straight_line::CircuitBuilder;
use everlevel_circuit::{CircuitError, Value};
use everlevel_scheme::NextUse;

use crate::align::fitted;
use crate::bilinear::{Sum, Variable, coefficients, terms};
use crate::blocks::{Blocks, Wanted};
use crate::column::{BASE, Column, Digit, Operand};
use crate::columns::Columns;
use crate::context::{IntegerScheme, Integers};
use crate::encode::standard_form;
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::split::{digits_of, public_digits};
use crate::stage::Stage;
use crate::together::Sums;
use crate::types::Type;

/// The largest number of digits of a factor: sums of more products have more values than a table
/// supports.
const FACTOR_DIGITS: usize = 17;

impl<S: IntegerScheme> Integers<'_, S> {
    /// a * b, exactly: the product of two columns of 32 bits has 64 bits.
    ///
    /// All products of two digits are functions of depth 5, which are summed by columns before they
    /// are relinearized. Then the part of a column above 15 is carried to the next one, by
    /// polynomials on its possible values. The digits of the result are as wide as those of a sum
    /// of two columns. For factors of k digits it costs 28 k products for the powers, 21 k^2
    /// products that are summed with 2 k relinearizations, and 2 k polynomials on 44 (k = 2) to 450
    /// points (k = 16). For 8, 16 and 32 bits these are 164, 540 and 1,850 products with 80, 198
    /// and 464 relinearizations, at depth 11, 12 and 13, respectively. A product with a truth value
    /// takes one product for each digit.
    ///
    /// [In blocks](Integers::in_blocks) the powers of one factor are computed twice, and those of a
    /// quarter of all digits and of one more are held at a time.
    ///
    /// # Errors
    /// [`IntegersError::Range`] past 2^126, where only [`Integers::mul_wrapped`] is possible;
    /// [`IntegersError::Width`] for factors beyond 64 bits; [`IntegersError::Length`]; those of
    /// carries.
    pub fn mul<'b>(
        &self,
        a: impl Into<Operand<'b, S::Ciphertext>>,
        b: impl Into<Operand<'b, S::Ciphertext>>,
    ) -> Result<Column<S::Ciphertext>, IntegersError>
    where
        S::Ciphertext: 'b,
    {
        let (a, b) = (self.column(a.into())?, self.column(b.into())?);
        let length = self.common_length(&[&a, &b])?;
        let interval = a.interval.checked_mul(b.interval)?;
        let product = match (a.public_value(), b.public_value()) {
            (Some(factor), _) => self.mul_public(&b, factor)?,
            (_, Some(factor)) => self.mul_public(&a, factor)?,
            (None, None) => {
                let (x, y) = (self.factor(&a)?, self.factor(&b)?);
                let digits = self.product_columns(&x, Some(&y), usize::MAX)?;
                Column { interval, anchor: 0, digits, length }
            }
        };
        Ok(Column { interval, length, ..product }.narrowed())
    }

    /// x², exactly, with half the powers and half the tensor products of a product.
    ///
    /// # Errors
    /// As [`Integers::mul`].
    pub fn square(
        &self,
        x: &Column<S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let ends = x.interval.checked_mul(x.interval)?;
        let least = if x.interval.contains(0) { 0 } else { ends.low() };
        let interval = Interval::new(least.max(0), ends.high())?;
        if let Some(value) = x.public_value() {
            return Ok(Column::public(value * value, interval, x.length));
        }
        let factor = self.factor(x)?;
        let digits = self.product_columns(&factor, None, usize::MAX)?;
        Ok(Column { interval, anchor: 0, digits, length: x.length }.narrowed())
    }

    /// The integer of a type that agrees with a * b modulo 2^bits of the type, like Rust's
    /// `wrapping_mul` and products of NumPy arrays. Factors may have 64 bits, and it costs half as
    /// much as an exact product. Carries of the result are computed.
    ///
    /// # Errors
    /// [`IntegersError::Type`] for `bool` and ranges; [`IntegersError::Length`]; those of carries.
    pub fn mul_wrapped<'b>(
        &self,
        a: impl Into<Operand<'b, S::Ciphertext>>,
        b: impl Into<Operand<'b, S::Ciphertext>>,
        kind: Type,
    ) -> Result<Column<S::Ciphertext>, IntegersError>
    where
        S::Ciphertext: 'b,
    {
        let (a, b) = (self.column(a.into())?, self.column(b.into())?);
        let length = self.common_length(&[&a, &b])?;
        // By a small public integer exactly, which takes a table a digit.
        let base = i128::from(BASE);
        let small = |x: &Column<S::Ciphertext>| x.public_value().filter(|v| v.abs() < base);
        if let Some((x, k)) = small(&b).map(|k| (&a, k)).or_else(|| small(&a).map(|k| (&b, k))) {
            let product = self.mul_public(&self.wrapped(x, kind)?, k)?;
            return self.wrapped(&Column { length, ..product }, kind);
        }
        let count = standard_form(kind.interval()).1;
        let factor = |x: &Column<S::Ciphertext>| {
            let wrapped = self.wrapped(x, kind)?;
            match wrapped.public_value() {
                None => self.factor(&wrapped),
                Some(value) => Ok(public_digits(value, count)),
            }
        };
        let digits = self.product_columns(&factor(&a)?, Some(&factor(&b)?), count)?;
        let end = |f: fn(&Digit<S::Ciphertext>) -> i64| crate::column::value(digits.iter().map(f));
        let interval = Interval::new(end(|d| d.low), end(|d| d.high))?;
        self.wrapped(&Column { interval, anchor: 0, digits, length }, kind)
    }

    /// The lowest `count` digits of a product, as wide as those of a sum.
    pub(crate) fn times_low(
        &self,
        a: &Column<S::Ciphertext>,
        b: &Operand<'_, S::Ciphertext>,
        count: usize,
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let b = match b {
            Operand::Public(value) => public_digits(*value, count),
            Operand::Column(b) => self.factor(b)?,
        };
        self.product_columns(&self.factor(a)?, Some(&b), count)
    }

    /// The quotients 16^i d_i / c, rounded down, and the remainders of all digits of a canonical
    /// column above anchor 0, summed: functions of one digit each, which share its powers.
    pub(crate) fn divided_digits(
        &self,
        x: &Column<S::Ciphertext>,
        c: i128,
    ) -> Result<[Vec<Digit<S::Ciphertext>>; 2], IntegersError> {
        let mut columns = Columns::below(usize::MAX);
        // Remainders stand behind quotients.
        let places = x.digits.len();
        for (i, factor) in columns.inputs(&x.digits).into_iter().enumerate() {
            let whole = |v: i64| i128::from(v) << (4 * i);
            for place in 0..places {
                let part = |v: i128| (v >> (4 * place) & 15) as i64;
                columns.add_function(place, factor, |v| part(whole(v) / c));
                columns.add_function(places + place, factor, |v| part(whole(v) % c));
            }
        }
        let mut whole = self.column_sums(columns)?;
        let rest = whole.split_off(places.min(whole.len()));
        Ok([self.settled(whole)?, self.settled(rest)?])
    }

    /// Digits of at most 16 values with x = Σ 16^i d_i.
    pub(crate) fn factor(
        &self,
        x: &Column<S::Ciphertext>,
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let x = if x.is_canonical() { x.clone() } else { self.normalized(x)? };
        let free = (1 - BASE, BASE - 1);
        let constants = fitted(x.anchor, vec![free; x.digits.len()], free).unwrap_or_default();
        let digits = self.pairwise((&x.digits, 1), (&[], 0), &constants)?;
        if digits.len() > FACTOR_DIGITS {
            let (interval, digits) = (x.interval, digits.len());
            return Err(IntegersError::Width { interval, digits, highest: FACTOR_DIGITS });
        }
        Ok(digits)
    }

    /// x times a public positive integer, by columns.
    pub(crate) fn times_long(
        &self,
        x: &Column<S::Ciphertext>,
        factor: i128,
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let public = public_digits(factor, digits_of(factor.unsigned_abs()));
        self.product_columns(&self.factor(x)?, Some(&public), usize::MAX)
    }

    /// The digits of Σ 16^(i + j) x_i y_j, of x² without y, below 16^limit modulo that.
    fn product_columns(
        &self,
        x: &[Digit<S::Ciphertext>],
        y: Option<&[Digit<S::Ciphertext>]>,
        limit: usize,
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let mut columns = Columns::below(limit);
        let first = columns.inputs(x);
        match y {
            Some(y) => {
                let second = columns.inputs(y);
                for (i, a) in first.iter().enumerate() {
                    for (j, b) in second.iter().enumerate() {
                        columns.multiply(self.modulus(), i + j, (*a, *b), 1)?;
                    }
                }
            }
            None => {
                for (i, a) in first.iter().enumerate() {
                    columns.square(2 * i, *a);
                    for (j, b) in first.iter().enumerate().skip(i + 1) {
                        columns.multiply(self.modulus(), i + j, (*a, *b), 2)?;
                    }
                }
            }
        }
        let mut digits = self.column_sums(columns)?;
        digits = self.settled(digits)?;
        digits.truncate(limit);
        Ok(digits)
    }

    /// Evaluates the columns, all at once, because they share powers. If that does not fit even
    /// after bootstrapping, the fourth powers of the inputs are bootstrapped as well, which saves a
    /// level.
    fn column_sums(
        &self,
        columns: Columns<'_, S::Ciphertext>,
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        match self.column_sums_from(&columns, &[]) {
            Err(IntegersError::Depth { .. }) if self.session().can_bootstrap() => {
                let values = columns.inputs.iter().filter_map(|d| d.cipher.as_ref());
                let fourths =
                    values.map(|x| self.fourth_power(x)).collect::<Result<Vec<_>, _>>()?;
                self.column_sums_from(&columns, &fourths)
            }
            found => found,
        }
    }

    /// x^4.
    pub(crate) fn fourth_power(
        &self,
        x: &Value<S::Ciphertext>,
    ) -> Result<Value<S::Ciphertext>, IntegersError> {
        let square = |x: &Value<S::Ciphertext>| {
            self.apply(&[x], |s, x| Ok(s.mul(x[0], x[0], NextUse::Product)?))
        };
        square(&square(x)?)
    }

    /// The columns from their inputs and, if there are any, the fourth powers of all of these.
    fn column_sums_from(
        &self,
        columns: &Columns<'_, S::Ciphertext>,
        fourths: &[Value<S::Ciphertext>],
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let t = self.modulus();
        let mut builder = CircuitBuilder::new();
        let inputs: Vec<_> = columns.inputs.iter().map(|_| builder.input(1)).collect();
        let mut variables: Vec<Variable> = match fourths {
            [] => inputs.into_iter().map(Variable::new).collect(),
            _ => inputs.into_iter().map(|x| Variable::with_fourth(x, builder.input(1))).collect(),
        };
        let mut digits = Vec::with_capacity(columns.sums.len());
        let (mut places, mut sums, mut wanted) = (Vec::new(), Vec::new(), Vec::new());
        for column in &columns.sums {
            let mut digit = Digit::public(column.constant);
            let mut sum = Sum::default();
            sum.add_constant(column.constant);
            let mut own = Wanted::default();
            own.add_constant(column.constant);
            for (input, entries) in &column.alone {
                let input = *input;
                let of = columns.inputs[input];
                digit.low += entries.iter().copied().min().unwrap_or(0);
                digit.high += entries.iter().copied().max().unwrap_or(0);
                digit.pad += entries[(of.pad - of.low) as usize];
                let residues: Vec<u64> = entries.iter().map(|v| t.reduce_i64(*v)).collect();
                let (terms, constant) = terms(t, &coefficients(t, of.low, &residues)?);
                sum.add(&mut builder, &mut variables[input], (&terms, constant))?;
                own.add(input, (&terms, constant));
            }
            for (inputs, part) in &column.pairs {
                let (a, b) = (columns.inputs[inputs.0], columns.inputs[inputs.1]);
                digit.low += part.low;
                digit.high += part.high;
                digit.pad += (part.f)(part.factor * a.pad * b.pad);
                sum.add_pair(&mut builder, &mut variables, *inputs, &part.form)?;
                own.add_pair(*inputs, &part.form);
            }
            if !sum.is_constant() {
                places.push(digits.len());
                sums.push(sum);
                wanted.push(own);
            }
            digits.push(digit);
        }
        // Before anything is computed: carries are tables on these windows.
        digits.iter().try_for_each(|digit| self.check_window(digit.low, digit.high))?;
        if sums.is_empty() {
            return Ok(digits);
        }
        let in_blocks = self.is_in_blocks() && wanted.iter().any(Wanted::has_pairs);
        let empty = || CircuitError::Empty { what: "a digit of a product" };
        let values = columns.inputs.iter().map(|d| d.cipher.as_ref().ok_or_else(empty));
        let mut values = values.collect::<Result<Vec<_>, _>>()?;
        values.extend(fourths);
        let windows: Vec<_> = columns.inputs.iter().map(|d| (d.low, d.high)).collect();
        let found = if in_blocks {
            let blocks = Blocks::new(t, columns.inputs.len(), !fourths.is_empty(), wanted)?;
            self.staged(&values, &Stage::Blocks(&blocks), &windows)?
        } else {
            self.staged(&values, &Stage::Sums(&Sums::new(builder, t, sums)?), &windows)?
        };
        for (place, cipher) in places.into_iter().zip(found) {
            digits[place].cipher = cipher.map(|c| self.session().share(c));
        }
        Ok(digits)
    }
}
