//! Indexes: digits that their owner encrypted in unary, too.
//!
//! A digit in unary is a truth value for each of its values but the least: whether the digit is at
//! least this one. Every function of the digit is a linear combination of these
//! ([`crate::by_index`]). The truth values belong to the digit that was encrypted: what is computed
//! from it has none.

use everlevel_circuit::Value;
use everlevel_scheme::{Level, Params, Plaintext, Scheme};

use crate::by_index::LINEAR;
use crate::column::{Column, Digit};
use crate::encode::{check_index, standard_form};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::parts::{Encrypted, wrong};
use crate::rehearsal::Rehearsal;
use crate::steps::Steps;
use crate::types::Type;
use crate::unary::Step;

/// The products for which an index has room after the deepest function of its column.
const AFTER: usize = 2;

impl<C> Digit<C> {
    /// Whether the digit is at least `value`, as its owner encrypted it. What is bootstrapped in
    /// place later leaves the index as it is.
    pub(crate) fn truth(&self, value: i64) -> Option<Digit<C>> {
        let cipher = self.steps.as_ref()?.at(value)?.detached();
        let pad = i64::from(self.pad >= value);
        Some(Digit { cipher: Some(cipher), low: 0, high: 1, pad, steps: None })
    }

    /// Whether there is a truth value for each value but the least, or no need of one.
    fn is_indexed(&self) -> bool {
        let has = |v: i64| self.steps.as_ref().is_some_and(|steps| steps.at(v).is_some());
        self.cipher.is_none() || (self.low + 1..=self.high).all(has)
    }
}

impl<C> Column<C> {
    /// Whether its digits are encrypted in unary, too. A column whose windows allow a single
    /// integer has nothing that an index could say.
    pub fn has_index(&self) -> bool {
        let undecided = |d: &Digit<C>| d.cipher.is_some() && d.low < d.high;
        self.digits.iter().any(undecided) && self.digits.iter().all(Digit::is_indexed)
    }

    /// The ciphertexts of the index; none without one.
    pub fn index_values(&self) -> impl Iterator<Item = &Value<C>> {
        self.digits.iter().filter_map(|d| d.steps.as_ref()).flat_map(|steps| steps.bits.iter())
    }

    /// The same column without its index: its digits alone are computed on.
    #[must_use]
    pub fn without_index(mut self) -> Self {
        self.digits.iter_mut().for_each(|d| d.steps = None);
        self
    }

    /// The truth values of which an index of this column consists, the lowest digit first, each
    /// digit counted from the anchor of the column.
    pub fn steps(&self) -> Vec<Step> {
        let digits = self.digits.iter().enumerate().filter(|(_, d)| d.cipher.is_some());
        digits.flat_map(|(i, d)| (d.low + 1..=d.high).map(move |v| (i, v))).collect()
    }

    /// The index as columns of truth values, in the order of [`Column::steps`]; `None` without one.
    pub fn index(&self) -> Option<Vec<(Step, Column<C>)>> {
        if !self.has_index() {
            return None;
        }
        let column = |step: Step| {
            let bit = self.digits.get(step.0)?.truth(step.1)?;
            let (interval, digits) = (Interval::BOOL, vec![bit]);
            Some((step, Column { interval, anchor: 0, digits, length: self.length }))
        };
        self.steps().into_iter().map(column).collect()
    }

    /// The column with these truth values as its index. That they are those of its digits is a
    /// claim of their author, like an interval: if it is false, results are unspecified.
    ///
    /// # Errors
    /// [`IntegersError::Parts`] unless there is one column of truth values for each of
    /// [`Column::steps`], in this order, of the same length, and with what the slots behind the
    /// column make of it.
    pub fn with_index(mut self, bits: Vec<(Step, Column<C>)>) -> Result<Self, IntegersError> {
        let steps = self.steps();
        if steps.is_empty() {
            return wrong("an index of a public integer");
        }
        if let Some((found, step)) =
            bits.iter().map(|(step, _)| step).zip(&steps).find(|(a, b)| a != b)
        {
            return wrong(format!(
                "an index with truth value {} of digit {} in place of {} of digit {}",
                found.1, found.0, step.1, step.0
            ));
        }
        if bits.len() != steps.len() {
            let (found, all) = (bits.len(), steps.len());
            return wrong(format!("an index of {found} truth values in place of {all}"));
        }
        let mut found: Vec<Vec<Value<C>>> = self.digits.iter().map(|_| Vec::new()).collect();
        for ((digit, least), column) in bits {
            let pad = i64::from(self.digits[digit].pad >= least);
            let fits = |d: &Digit<C>| (d.low, d.high, d.pad) == (0, 1, pad);
            let alike = column.length == self.length && column.anchor == 0;
            let bit = match &column.digits[..] {
                [d] if alike && fits(d) && Interval::BOOL.holds(column.interval) => {
                    d.cipher.clone()
                }
                _ => None,
            };
            let Some(bit) = bit else {
                return wrong(format!(
                    "truth value {least} of digit {digit} of an index is no column of truth \
                     values of the same length and padding"
                ));
            };
            found[digit].push(bit);
        }
        for (digit, bits) in self.digits.iter_mut().zip(found) {
            digit.steps = (!bits.is_empty()).then(|| Steps::new(digit.low, bits));
        }
        Ok(self)
    }
}

impl<C> Encrypted<C> {
    /// The ciphertexts of the index of a column; none without one.
    pub fn index_values(&self) -> impl Iterator<Item = &Value<C>> {
        let column = match self {
            Encrypted::Column(x) => Some(x),
            Encrypted::Total(_) => None,
        };
        column.into_iter().flat_map(|x| x.index_values())
    }
}

/// The level at which an index of a type is encrypted: the lowest one that leaves room for a
/// comparison with a public integer or a table, and for two products after it. On a set that
/// bootstraps, what follows can be bootstrapped.
///
/// # Errors
/// [`IntegersError::Type`] for a type without an index; those of a set that does not support typed
/// integers.
pub fn index_level(params: &Params, kind: Type) -> Result<Level, IntegersError> {
    check_index(kind.interval())?;
    let rehearsal = Rehearsal::new(params, params.spec().bootstrap.is_some())?;
    let (ints, scheme) = (rehearsal.integers()?, rehearsal.session().scheme());
    let (_, digits) = standard_form(kind.interval());
    let depth = (digits - 1 + AFTER) as f64;
    let needed = ints.session().minimum_capacity() + LINEAR + ints.level_bits() * depth;
    let (zero, top) = (Plaintext::encode(params, &[])?, params.chain().top());
    let enough = |level: &Level| {
        let fresh = scheme.encrypt_at(&zero, *level);
        fresh.is_ok_and(|x| scheme.capacity_bits(&x) >= needed)
    };
    Ok((1..top.0).map(Level).find(enough).unwrap_or(top))
}
