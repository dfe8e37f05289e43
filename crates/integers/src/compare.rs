//! Comparisons: truth values of differences of digits that products join, or signs that tables do.

use everlevel_circuit::Value;
use everlevel_scheme::NextUse;
use rayon::prelude::*;

use crate::column::{BASE, Column, Digit, Operand, POINTS};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::narrow::top_window;
use crate::passing::GROUP;
use crate::question::Question;
use crate::stage::Stage;

/// Points of the largest table of a difference of single digits.
const WIDE: i64 = 64;

macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident: $question:ident,)*) => {
        $(
            $(#[$doc])*
            ///
            /// The cost for two columns is 11 products for each digit and up to two that join it to
            /// others, at depth 7, 8, 9 and 10 for 8, 16, 32 and 64 bits. Where the capacity does
            /// not suffice, as after bootstrapping, tables join the digits, at depth 8, 10, 13 and
            /// 15. Where it suffices for tables, too, columns begin lower by the difference of
            /// both: results have the capacity that tables leave, and products take less time.
            /// Comparison with a public integer costs less, and at most a product for each digit
            /// but one if the column has an index ([`Column::has_index`]).
            ///
            /// # Errors
            /// [`IntegersError::Length`]; [`IntegersError::Depth`] without bootstrapping; those of
            /// the scheme.
            pub fn $name<'b>(
                &self,
                a: impl Into<Operand<'b, S::Ciphertext>>,
                b: impl Into<Operand<'b, S::Ciphertext>>,
            ) -> Result<Column<S::Ciphertext>, IntegersError>
            where
                S::Ciphertext: 'b,
            {
                self.compared(a.into(), b.into(), Question::$question)
            }
        )*
    };
}

impl<S: IntegerScheme> Integers<'_, S> {
    comparisons! {
        /// Whether a < b, as 0 or 1.
        lt: Less,
        /// Whether a <= b, as 0 or 1.
        le: LessOrEqual,
        /// Whether a > b, as 0 or 1.
        gt: Greater,
        /// Whether a >= b, as 0 or 1.
        ge: GreaterOrEqual,
    }

    /// The sign of x: -1, 0 or 1.
    ///
    /// # Errors
    /// As [`Integers::lt`].
    pub fn sign(&self, x: &Column<S::Ciphertext>) -> Result<Column<S::Ciphertext>, IntegersError> {
        self.compared(Operand::Column(x), Operand::Public(0), Question::Sign)
    }

    /// Whether a = b, as 0 or 1. It costs 7 products and 5 relinearizations for each digit, at
    /// depth 5, and with a public integer 6 products and 4 or 5 relinearizations, at depth 4; then
    /// a tree of products or, if the capacity does not suffice for that, a table on the number of
    /// digits that differ.
    ///
    /// # Errors
    /// As [`Integers::lt`].
    pub fn eq<'b>(
        &self,
        a: impl Into<Operand<'b, S::Ciphertext>>,
        b: impl Into<Operand<'b, S::Ciphertext>>,
    ) -> Result<Column<S::Ciphertext>, IntegersError>
    where
        S::Ciphertext: 'b,
    {
        let (a, b) = (self.column(a.into())?, self.column(b.into())?);
        let length = self.common_length(&[&a, &b])?;
        let both = a.interval.checked_sub(b.interval)?;
        let answer = match (both.contains(0), both.points() == 1) {
            (false, _) => Digit::public(0),
            (true, true) => Digit::public(1),
            (true, false) => {
                let zero = |x: i64| i64::from(x == 0);
                if let Some(answer) = self.difference_by_index(&a, &b, (0, 0))? {
                    answer
                } else if let Some(answer) = self.of_one_digit(&a, &b, zero)? {
                    answer
                } else {
                    self.all(self.are_zero(&self.difference(&a, &b)?)?)?
                }
            }
        };
        Ok(Column { interval: Interval::BOOL, anchor: 0, digits: vec![answer], length }.narrowed())
    }

    /// Whether a ≠ b, as 0 or 1.
    ///
    /// # Errors
    /// As [`Integers::lt`].
    pub fn ne<'b>(
        &self,
        a: impl Into<Operand<'b, S::Ciphertext>>,
        b: impl Into<Operand<'b, S::Ciphertext>>,
    ) -> Result<Column<S::Ciphertext>, IntegersError>
    where
        S::Ciphertext: 'b,
    {
        self.not(&self.eq(a, b)?)
    }

    fn compared(
        &self,
        a: Operand<'_, S::Ciphertext>,
        b: Operand<'_, S::Ciphertext>,
        question: Question,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        self.compared_as(a, b, question, false)
    }

    /// A comparison; `fresh` says that a diagram decides it where the digits have room for one.
    pub(crate) fn compared_as(
        &self,
        a: Operand<'_, S::Ciphertext>,
        b: Operand<'_, S::Ciphertext>,
        question: Question,
        fresh: bool,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let (a, b) = (self.column(a)?, self.column(b)?);
        self.compared_columns((&a, &b), question, fresh, &[])
    }

    /// The same of narrowed columns, with the digits of their difference where these are known.
    pub(crate) fn compared_columns(
        &self,
        (a, b): (&Column<S::Ciphertext>, &Column<S::Ciphertext>),
        question: Question,
        fresh: bool,
        difference: &[Digit<S::Ciphertext>],
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let length = self.common_length(&[a, b])?;
        let both = a.interval.checked_sub(b.interval)?;
        let end = |x: i128| question.answer(x.signum() as i64);
        // The answer is monotonic: equal ends are all of it.
        let answer = if end(both.low()) == end(both.high()) {
            Digit::public(end(both.low()))
        } else if let Some(answer) = self.answer_by_index(a, b, question)? {
            answer
        } else if let Some(answer) = self.of_one_digit(a, b, |x| question.answer(x))? {
            answer
        } else {
            let mut digits = match difference {
                [] => self.difference(a, b)?,
                known => known.to_vec(),
            };
            let top = top_window(&digits, both, 0);
            let kept = digits.len().saturating_sub(1);
            let ignored = digits.iter().take(kept).take_while(|d| question.ignores(d)).count();
            let digits = digits.split_off(ignored);
            match self.tree_beside(&digits, length, question)? {
                Some(answer) => answer,
                None => {
                    let digits = self.with_joined_top(digits, top)?;
                    match question.range().filter(|_| fresh && self.has_room(&digits)) {
                        Some(range) => self.digits_in_ranges(&digits, &[range])?,
                        None => match self.by_passing(&digits, question, !fresh)? {
                            Some(answer) => answer,
                            None => match self.by_ripple(&digits, question, difference)? {
                                Some(answer) => answer,
                                None => self.tree(digits, question)?,
                            },
                        },
                    }
                }
            }
        };
        let interval = Interval::new(
            end(both.low()).min(end(both.high())).into(),
            end(both.low()).max(end(both.high())).into(),
        )?;
        Ok(Column { interval, anchor: 0, digits: vec![answer], length })
    }

    /// A function of a - b for columns of one digit each, as one table of their difference: with
    /// up to [`WIDE`] points it takes half of the products and levels that carries take. None for
    /// other columns, and where the table does not fit, not even after bootstrapping.
    fn of_one_digit(
        &self,
        a: &Column<S::Ciphertext>,
        b: &Column<S::Ciphertext>,
        f: impl Fn(i64) -> i64,
    ) -> Result<Option<Digit<S::Ciphertext>>, IntegersError> {
        let (x, y) = (a.digit(0), b.digit(0));
        let points = x.high - x.low + y.high - y.low + 1;
        if a.digits.len().max(b.digits.len()) != 1 || points > WIDE {
            return Ok(None);
        }
        let Ok(constant) = i64::try_from(a.anchor - b.anchor) else { return Ok(None) };
        let difference = self.combine(&[(&x, 1), (&y, -1)], constant)?;
        match points > POINTS {
            true => self.mapped_if_it_fits(&difference, f),
            false => Ok(Some(self.map_one(difference, f)?)),
        }
    }

    /// The digits with the two highest as one in the window `top`, where that has no more values
    /// than one of the two may have: one sign less by a table that is no larger. So the days of
    /// seven years are compared as three digits, not four. Digits that their table may bootstrap
    /// are left apart: their sum would be bootstrapped once more.
    pub(crate) fn with_joined_top(
        &self,
        mut digits: Vec<Digit<S::Ciphertext>>,
        top: Option<(i64, i64)>,
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let (Some((low, high)), Some(last)) = (top, digits.len().checked_sub(1)) else {
            return Ok(digits);
        };
        if last == 0 {
            return Ok(digits);
        }
        let most = BASE.max(digits[last].points()).max(digits[last - 1].points());
        // A table has depth 5 at most, and the sum takes some bits.
        let needed = self.session().minimum_capacity() + 6.0 * self.level_bits();
        let capacity = |v: &Value<_>| self.session().scheme().capacity_bits(&v.get());
        let mut ciphers = digits[last - 1..].iter().filter_map(|d| d.cipher.as_ref());
        if high - low < most && ciphers.all(|v| capacity(v) >= needed) {
            let joined = self.combine(&[(&digits[last], BASE), (&digits[last - 1], 1)], 0)?;
            digits.truncate(last - 1);
            digits.push(joined.within(low, high));
        }
        Ok(digits)
    }

    /// The answer for Σ 16^i d_i, |d_i| <= 15 but for the highest: that for its highest digit that
    /// is not 0. Signs of four digits are joined as Σ 2^j s_j, which again lies in -15..=15.
    pub(crate) fn tree(
        &self,
        mut digits: Vec<Digit<S::Ciphertext>>,
        question: Question,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        while digits.len() > 1 {
            let signs = self.map(&digits, |_, x| x.signum())?;
            digits = signs.chunks(GROUP).map(|s| self.weighted(s)).collect::<Result<_, _>>()?;
        }
        let answers = self.map(&digits, |_, x| question.answer(x))?;
        Ok(answers.into_iter().next().unwrap_or_else(|| Digit::public(question.answer(0))))
    }

    /// Bootstraps digits in place if the signs of their differences would not fit otherwise. This
    /// is done before digits are copied and rotated, so that each is bootstrapped once.
    pub(crate) fn readied(&self, digits: &[Digit<S::Ciphertext>]) -> Result<(), IntegersError> {
        if !self.session().can_bootstrap() {
            return Ok(());
        }
        let stale = digits.par_iter().map(|d| {
            let (Some(x), most) = (&d.cipher, d.high - d.low) else { return Ok(None) };
            let plan = self.plan(-most, most, vec![(-most..=most).map(i64::signum).collect()])?;
            let exhausted = !self.fits(&Stage::Table(&plan), &[&*self.operand(x)?]);
            Ok((plan.ways() > 0 && exhausted).then_some(x))
        });
        let stale = stale.collect::<Result<Vec<_>, IntegersError>>()?;
        self.refresh_all(&stale.into_iter().flatten().collect::<Vec<_>>())
    }

    /// The bits of capacity that a product takes: somewhat more than twice those of p.
    pub(crate) fn level_bits(&self) -> f64 {
        2.5 * (self.modulus().prime() as f64).log2()
    }

    /// The product of bits.
    pub(crate) fn all(
        &self,
        mut bits: Vec<Digit<S::Ciphertext>>,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        if bits.iter().any(|b| b.high == 0) {
            return Ok(Digit::public(0));
        }
        bits.retain(|b| b.low == 0);
        let scheme = self.session().scheme();
        let depth = bits.len().next_power_of_two().trailing_zeros();
        let values = || bits.iter().filter_map(|b| b.cipher.as_ref());
        let needed = self.session().minimum_capacity() + self.level_bits() * f64::from(depth);
        if values().any(|v| scheme.capacity_bits(&v.get()) < needed) {
            // How many are 0, of 15 at a time.
            while bits.len() > 1 {
                let sums = bits.chunks(BASE as usize - 1).map(|chunk| {
                    let terms: Vec<_> = chunk.iter().map(|b| (b, -1)).collect();
                    self.combine(&terms, chunk.len() as i64)
                });
                let sums = sums.collect::<Result<Vec<_>, _>>()?;
                bits = self.map(&sums, |_, x| i64::from(x == 0))?;
            }
        }
        while bits.len() > 1 {
            let pairs = bits.par_chunks(2).map(|pair| match pair {
                [a, b] => self.product(a, b),
                rest => Ok(rest[0].clone()),
            });
            bits = pairs.collect::<Result<Vec<_>, IntegersError>>()?;
        }
        Ok(bits.pop().unwrap_or_else(|| Digit::public(1)))
    }

    /// The product of two digits.
    pub(crate) fn product(
        &self,
        a: &Digit<S::Ciphertext>,
        b: &Digit<S::Ciphertext>,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let (x, y): (&Value<_>, &Value<_>) = match (&a.cipher, &b.cipher) {
            (None, _) => return self.combine(&[(b, a.low)], 0),
            (_, None) => return self.combine(&[(a, b.low)], 0),
            (Some(x), Some(y)) => (x, y),
        };
        let ends = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
        let (low, high) = ends.iter().fold((ends[0], ends[0]), |(l, h), x| (l.min(*x), h.max(*x)));
        let cipher = self.apply(&[x, y], |s, x| Ok(s.mul(x[0], x[1], NextUse::Keep)?))?;
        Ok(Digit { cipher: Some(cipher), low, high, pad: a.pad * b.pad, steps: None })
    }
}
