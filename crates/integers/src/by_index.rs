//! Functions of columns with an index: comparisons with public integers, and tables.
//!
//! A function of a digit in unary is a linear combination of its truth values. A function of two
//! digits is row 0 of its table, and for each k the truth value that says whether the upper digit
//! is at least k, times what row k adds to the row before. Rows are functions of the lower digit,
//! hence linear: a table of 256 entries takes 15 products for each digit of its results, which are
//! added up before one relinearization. With more digits, rows are found in the same way.

use std::collections::BTreeMap;
use std::sync::Arc;

use everlevel_circuit::{CircuitError, Value};
use everlevel_scheme::{NextUse, SchemeError, SparseForm};
use rayon::prelude::*;

use crate::column::{Column, Digit, value};
use crate::context::{IntegerScheme, Integers};
use crate::diagram::layers_within;
use crate::diagrams::{Diagram, Diagrams};
use crate::error::IntegersError;
use crate::question::Question;
use crate::ranges::apart;
use crate::unary::{Step, changes, first};

/// The most digits of the operand of a table: with four, its rows alone would take 256
/// relinearizations for each digit of the results.
const DIGITS: usize = 3;
/// The most tables whose rows are in memory at the same time.
const TABLES: usize = 8;
/// Bits of capacity that linear combinations of truth values may take.
pub(crate) const LINEAR: f64 = 14.0;

/// The rows of a table that are not 0: the value of the upper digit at which one is added, and its
/// place among all rows.
type Rows = Vec<(usize, usize)>;

/// The truth values of a digit, and their ciphertexts.
type Truths<C> = (Vec<Digit<C>>, Vec<Arc<C>>);

/// `None` for what an index has too little room for after all.
fn if_it_fits<T>(found: Result<T, IntegersError>) -> Result<Option<T>, IntegersError> {
    match found {
        Err(
            IntegersError::Scheme(SchemeError::NoiseOverflow { .. }) | IntegersError::Depth { .. },
        ) => Ok(None),
        found => found.map(Some),
    }
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// Whether a column has an index with the capacity for this many products after each other.
    pub(crate) fn has_room_by_index(&self, x: &Column<S::Ciphertext>, depth: usize) -> bool {
        let needed = self.session().minimum_capacity() + LINEAR + self.level_bits() * depth as f64;
        let scheme = self.session().scheme();
        let enough = |v: &Value<_>| scheme.capacity_bits(&v.get()) >= needed;
        x.has_index() && x.index_values().all(enough)
    }

    /// Whether the values of a column with an index lie in one of these ranges, whose ends belong
    /// to them; `None` without an index that has room for this.
    pub(crate) fn in_ranges_by_index(
        &self,
        x: &Column<S::Ciphertext>,
        ranges: &[(i128, i128)],
    ) -> Result<Option<Digit<S::Ciphertext>>, IntegersError> {
        if !x.has_index() {
            return Ok(None);
        }
        let (low, high) = (x.interval.low(), x.interval.high());
        let own = apart(ranges, (low, high));
        let windows: Vec<(i64, i64)> = x.digits.iter().map(|d| (d.low, d.high)).collect();
        let of = |some: &[(i128, i128)], most: usize| {
            let alone = matches!(some, [(a, b)] if a == b);
            // Digits may make up what no value of x is: there it does not matter.
            let end = |v: i128, last: i128, beyond: i128| match v == last && !alone {
                true => beyond,
                false => v - x.anchor,
            };
            let range = |(a, b): &(i128, i128)| (end(*a, low, i128::MIN), end(*b, high, i128::MAX));
            layers_within(&windows, &some.iter().map(&range).collect::<Vec<_>>(), most)
        };
        let mut truths: Vec<(Step, Digit<S::Ciphertext>)> = Vec::new();
        for (i, digit) in x.digits.iter().enumerate() {
            // By the places of the entries of tables.
            let truth = |k: i64| Some(((i, k), digit.truth(digit.low + k)?));
            truths.extend((1..digit.points()).filter_map(truth));
        }
        let bits = |i: usize| -> Result<Vec<_>, IntegersError> {
            Ok(truths.iter().filter(|((digit, _), _)| *digit == i).cloned().collect())
        };
        let mut found = Digit::public(0);
        for Diagram { layers, alone } in Diagrams::new(&own, of) {
            let read = |tables: &[Vec<i64>]| tables.iter().any(|t| changes(t).next().is_some());
            let read = layers.iter().filter(|layer| read(&layer.tables)).count();
            let depth = match alone {
                true => read.next_power_of_two().trailing_zeros() as usize,
                false => read.saturating_sub(1),
            };
            if !self.has_room_by_index(x, depth) {
                return Ok(None);
            }
            let part = self.decided_in_unary(&layers, alone, bits);
            let joined = part.and_then(|part| self.either_part(&found, &part));
            let Some(joined) = if_it_fits(joined)? else { return Ok(None) };
            found = joined;
        }
        Ok(Some(found))
    }

    /// Whether a - b lies in a range, if one of both is public and the other one has an index.
    pub(crate) fn difference_by_index(
        &self,
        a: &Column<S::Ciphertext>,
        b: &Column<S::Ciphertext>,
        (low, high): (i128, i128),
    ) -> Result<Option<Digit<S::Ciphertext>>, IntegersError> {
        let (x, range) = match (a.public_value(), b.public_value()) {
            (None, Some(v)) => (a, (low.saturating_add(v), high.saturating_add(v))),
            (Some(v), None) => (b, (v.saturating_sub(high), v.saturating_sub(low))),
            _ => return Ok(None),
        };
        self.in_ranges_by_index(x, &[range])
    }

    /// The answer to a question about a - b, likewise.
    pub(crate) fn answer_by_index(
        &self,
        a: &Column<S::Ciphertext>,
        b: &Column<S::Ciphertext>,
        question: Question,
    ) -> Result<Option<Digit<S::Ciphertext>>, IntegersError> {
        match question.range() {
            Some(range) => self.difference_by_index(a, b, range),
            None => Ok(None),
        }
    }

    /// Functions of a column, with values in few bits; `None` without an index that has room for
    /// them.
    pub(crate) fn look_up_by_index(
        &self,
        x: &Column<S::Ciphertext>,
        functions: usize,
        entry: &dyn Fn(usize, i128) -> i64,
    ) -> Result<Option<Vec<Digit<S::Ciphertext>>>, IntegersError> {
        let digits = x.digits.iter().enumerate().filter(|(_, d)| d.cipher.is_some());
        let (places, digits): (Vec<usize>, Vec<&Digit<_>>) = digits.unzip();
        if digits.len() > DIGITS || !self.has_room_by_index(x, digits.len().saturating_sub(1)) {
            return Ok(None);
        }
        // The value for each choice of digits, of which the lowest varies fastest.
        let public = x.digits.iter().map(|d| if d.cipher.is_some() { 0 } else { d.low });
        let mut values = vec![x.anchor + value(public)];
        for (place, digit) in places.iter().zip(&digits) {
            let weight = 1i128 << (4 * *place);
            let row = |v: i64| values.iter().map(move |x| x + weight * i128::from(v));
            values = (digit.low..=digit.high).flat_map(row).collect();
        }
        let table = |f: usize| values.iter().map(|v| entry(f, *v)).collect();
        let tables: Vec<Vec<i64>> = (0..functions).map(table).collect();
        let Some(found) = if_it_fits(self.of_digits(&digits, &tables))? else { return Ok(None) };
        let (scheme, needed) = (self.session().scheme(), self.session().minimum_capacity());
        let mut ciphers = found.iter().filter_map(|d| d.cipher.as_ref());
        Ok(ciphers.all(|v| scheme.capacity_bits(&v.get()) >= needed).then_some(found))
    }

    /// Functions of digits in unary, the lowest digit first and varying fastest in the tables.
    fn of_digits(
        &self,
        digits: &[&Digit<S::Ciphertext>],
        tables: &[Vec<i64>],
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let Some((top, lower)) = digits.split_last() else {
            return Ok(tables.iter().map(|table| Digit::public(first(table))).collect());
        };
        if lower.is_empty() {
            return self.linear_functions(top, tables);
        }
        if tables.len() > TABLES {
            let parts = tables.chunks(TABLES).map(|some| self.of_digits(digits, some));
            let parts = parts.collect::<Result<Vec<_>, IntegersError>>()?;
            return Ok(parts.into_iter().flatten().collect());
        }
        let (mut rows, mut places): (Vec<Vec<i64>>, Vec<Rows>) = (Vec::new(), Vec::new());
        for table in tables {
            let all: Vec<&[i64]> = table.chunks(table.len() / top.points() as usize).collect();
            let mut own = Rows::new();
            for (k, row) in all.iter().enumerate() {
                let added: Vec<i64> = match k {
                    0 => row.to_vec(),
                    _ => row.iter().zip(all[k - 1]).map(|(x, before)| x - before).collect(),
                };
                if added.iter().any(|x| *x != 0) {
                    own.push((k, rows.len()));
                    rows.push(added);
                }
            }
            places.push(own);
        }
        let found = self.of_digits(lower, &rows)?;
        let sums = self.sums_of_rows(top, &places, &found, lower.len() > 1)?;
        let bounded = |(sum, table): (Digit<S::Ciphertext>, &Vec<i64>)| {
            let low = table.iter().copied().min().unwrap_or(0);
            sum.within(low, table.iter().copied().max().unwrap_or(0))
        };
        Ok(sums.into_iter().zip(tables).map(bounded).collect())
    }

    /// Functions of one digit in unary, in one pass over its truth values.
    fn linear_functions(
        &self,
        digit: &Digit<S::Ciphertext>,
        tables: &[Vec<i64>],
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let (_, bits) = self.truths(digit)?;
        let mut forms = Vec::with_capacity(tables.len());
        for table in tables.iter().filter(|table| changes(table).next().is_some()) {
            let terms = changes(table).map(|(k, change)| (k as usize - 1, change)).collect();
            forms.push(SparseForm { terms, constant: first(table) });
        }
        let xs: Vec<&S::Ciphertext> = bits.iter().map(AsRef::as_ref).collect();
        let found = self.session().scheme().sparse_combinations(&xs, &forms)?;
        let mut found = found.into_iter();
        let named = tables.iter().map(|table| {
            if changes(table).next().is_none() {
                return Digit::public(first(table));
            }
            let pad = table.get((digit.pad - digit.low) as usize).copied();
            Digit {
                cipher: found.next().map(|c| self.session().share(c)),
                low: table.iter().copied().min().unwrap_or(0),
                high: table.iter().copied().max().unwrap_or(0),
                pad: pad.unwrap_or(first(table)),
                steps: None,
            }
        });
        Ok(named.collect())
    }

    /// The truth values of a digit.
    fn truths(&self, digit: &Digit<S::Ciphertext>) -> Result<Truths<S::Ciphertext>, IntegersError> {
        let truths = (digit.low + 1..=digit.high).map(|v| digit.truth(v));
        let truths: Option<Vec<Digit<S::Ciphertext>>> = truths.collect();
        let truths = truths.ok_or(CircuitError::Empty { what: "a digit in unary" })?;
        let bits = truths.iter().filter_map(|d| d.cipher.as_ref()).map(|x| self.operand(x));
        let bits = bits.collect::<Result<Vec<_>, IntegersError>>()?;
        if let Some(observer) = &self.observer {
            bits.iter().for_each(|x| observer(self.session().scheme(), x, (0, 1)));
        }
        Ok((truths, bits))
    }

    /// For each list of rows of an upper digit in unary, the sum of those that are added up to its
    /// value. `switched` says whether factors are switched down for their products; fresh ones and
    /// their linear combinations need not be.
    fn sums_of_rows(
        &self,
        top: &Digit<S::Ciphertext>,
        lists: &[Rows],
        rows: &[Digit<S::Ciphertext>],
        switched: bool,
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let scheme = self.session().scheme();
        let (truths, mut factors) = self.truths(top)?;
        let mut known: BTreeMap<usize, usize> = BTreeMap::new();
        let mut pairs: Vec<Vec<(usize, usize)>> = Vec::with_capacity(lists.len());
        for list in lists {
            let mut own = Vec::new();
            for (k, row) in list.iter().filter(|(k, _)| *k > 0) {
                let Some(cipher) = &rows[*row].cipher else { continue };
                let next = factors.len();
                let place = *known.entry(*row).or_insert(next);
                if place == next {
                    factors.push(self.operand(cipher)?);
                }
                own.push((k - 1, place));
            }
            pairs.push(own);
        }
        let factors: Vec<&S::Ciphertext> = factors.iter().map(AsRef::as_ref).collect();
        let lower = match switched {
            true => scheme.prepare_together(&factors, NextUse::Product)?,
            false => Vec::new(),
        };
        let xs: Vec<&S::Ciphertext> = if switched { lower.iter().collect() } else { factors };
        let pair = |(a, b): &(usize, usize)| (xs[*a], xs[*b]);
        let some = pairs.iter().filter(|own| !own.is_empty());
        let some: Vec<Vec<_>> = some.map(|own| own.iter().map(&pair).collect()).collect();
        let some: Vec<&[_]> = some.iter().map(Vec::as_slice).collect();
        let products = match some.is_empty() {
            true => Vec::new(),
            false => scheme.sums_of_products(&some)?,
        };
        let products = products.par_iter().map(|x| scheme.relinearize(x, NextUse::Keep));
        let mut products = products.collect::<Result<Vec<_>, SchemeError>>()?.into_iter();
        let mut sums = Vec::with_capacity(lists.len());
        for (list, own) in lists.iter().zip(&pairs) {
            let (mut product, mut terms) = (Digit::public(0), Vec::new());
            for (k, row) in list {
                let row = &rows[*row];
                match (*k, &row.cipher) {
                    (0, _) => terms.push((row, 1)),
                    (_, None) => terms.push((&truths[k - 1], row.low)),
                    (_, Some(_)) => {
                        let ends = (row.low.min(0), row.high.max(0));
                        product.low += ends.0;
                        product.high += ends.1;
                        product.pad += truths[k - 1].pad * row.pad;
                    }
                }
            }
            if !own.is_empty() {
                product.cipher = products.next().map(|x| self.session().share(x));
                terms.push((&product, 1));
            }
            sums.push(self.combine(&terms, 0)?);
        }
        Ok(sums)
    }
}
