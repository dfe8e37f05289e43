//! Tables of one variable.

use std::sync::Arc;

use everlevel_circuit::CircuitError;
use everlevel_circuit::straight_line::{Circuit, CircuitBuilder};
use everlevel_ring::PrimePower;
use rayon::prelude::*;

use crate::bilinear::{PairForm, Sum, Variable};
use crate::column::{BASE, Column, Digit, POINTS};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::plan::TablePlan;
use crate::split::digits_of;
use crate::stage::Stage;

/// The largest number of entries of a table: four digits.
const ENTRIES: u128 = 1 << 16;
/// Digits that are looked up as a pair.
const PAIR: usize = 2;

impl<S: IntegerScheme> Integers<'_, S> {
    /// table[x - low] for the interval `low..=high` of x, of at most 65,536 integers.
    ///
    /// It costs for up to 31 entries 7 to 12 products, depth 5, and 2 products for each further
    /// digit of the results; for up to 256 entries 28 products and at most 15 for each digit of the
    /// results, depth 5; for up to 4,096 entries 325 products and 16 for each digit of the results,
    /// depth 6; for up to 65,536 entries 348 products and 272 for each digit, depth 7, and a
    /// multiple of a ciphertext for each entry and each digit of the results. Carries of x are
    /// computed first. [In blocks](Integers::in_blocks) tables of more than 256 entries take less
    /// memory, and more products.
    ///
    /// If x has an index ([`Column::has_index`]), up to 16 entries take no product; up to 256 take
    /// 15 products and a relinearization for each digit of the results, depth 1; up to 4,096 take
    /// 255 products and 17 relinearizations for each, depth 2.
    ///
    /// # Errors
    /// [`IntegersError::Table`] unless there is an entry for each integer of the interval;
    /// [`IntegersError::Range`] for entries past 2^126; those of carries.
    pub fn lookup(
        &self,
        x: &Column<S::Ciphertext>,
        table: &[i128],
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let mut found = self.lookup_all(x, &[table])?;
        found.pop().ok_or_else(|| CircuitError::Empty { what: "the list of tables" }.into())
    }

    /// Several tables of one column, which share its powers: each further table costs only what the
    /// digits of its results cost.
    ///
    /// # Errors
    /// As [`Integers::lookup`].
    pub fn lookup_all(
        &self,
        x: &Column<S::Ciphertext>,
        tables: &[&[i128]],
    ) -> Result<Vec<Column<S::Ciphertext>>, IntegersError> {
        let points = x.interval.points();
        if let Some(table) = tables.iter().find(|t| points > ENTRIES || t.len() as u128 != points) {
            let expected = match points > ENTRIES {
                true => format!("values of at most {ENTRIES} integers: clip them first"),
                false => format!("{points}, one for each of them"),
            };
            let entries = table.len();
            return Err(IntegersError::Table { entries, interval: x.interval, expected });
        }
        let least = |t: &&[i128]| t.iter().copied().min().unwrap_or(0);
        let intervals =
            tables.iter().map(|t| Interval::new(least(t), t.iter().copied().max().unwrap_or(0)));
        let intervals = intervals.collect::<Result<Vec<_>, _>>()?;
        let at = |table: &[i128], v: i128| {
            table[(v - x.interval.low()).clamp(0, points as i128 - 1) as usize]
        };
        if let Some(value) = x.public_value() {
            let entries = tables.iter().map(|t| at(t, value));
            return entries.map(|v| Ok(Column::public(v, Interval::point(v)?, x.length))).collect();
        }
        // Table and digit of each function of the digits of x.
        let counts = intervals.iter().map(|i| digits_of((i.high() - i.low()).unsigned_abs()));
        let counts: Vec<usize> = counts.collect();
        let parts = || {
            let of = |(t, n): (usize, &usize)| (0..*n).map(move |i| (t, i));
            counts.iter().enumerate().flat_map(of)
        };
        let part = |(t, i): (usize, usize), v: i128| {
            ((at(tables[t], v) - intervals[t].low()) >> (4 * i) & 15) as i64
        };
        let functions: Vec<(usize, usize)> = parts().collect();
        let by_index = self.look_up_by_index(x, functions.len(), &|f, v| part(functions[f], v))?;
        let digits = if let Some(found) = by_index {
            found
        } else if points <= POINTS as u128 {
            let low = x.interval.low();
            let digit = self.residue(x, low)?;
            let entry = |f, v: i64| part(f, low + i128::from(v));
            let entries = parts().map(|f| (digit.low..=digit.high).map(|v| entry(f, v)).collect());
            let plan = self.plan(digit.low, digit.high, entries.collect())?;
            self.tables(vec![(digit, plan)])?.pop().unwrap_or_default()
        } else {
            let mut x = x.clone();
            let count = digits_of(points - 1).max(PAIR);
            if !x.is_canonical() || x.digits.len() > count {
                x = self.normalized_to(&x, (x.interval.low(), count))?;
            }
            if count > PAIR {
                let entry = |f: usize, v: i64| part(functions[f], x.anchor + i128::from(v));
                let digits: Vec<_> = (0..count).map(|i| x.digit(i)).collect();
                self.look_up_digits(&digits, functions.len(), &entry)?
            } else {
                let (a, b) = (x.digit(1), x.digit(0));
                let row = |f: (usize, usize), a: i64| {
                    let entry = |b| part(f, x.anchor + i128::from(BASE * a + b));
                    (b.low..=b.high).map(entry).collect()
                };
                let entries: Vec<Vec<Vec<i64>>> =
                    parts().map(|f| (a.low..=a.high).map(|a| row(f, a)).collect()).collect();
                self.look_up_pair(&a, &b, &entries)?
            }
        };
        let mut digits = digits.into_iter();
        let column = |(interval, count): (Interval, usize)| Column {
            interval,
            anchor: interval.low(),
            digits: digits.by_ref().take(count).collect(),
            length: x.length,
        };
        Ok(intervals.into_iter().zip(counts).map(column).collect())
    }

    /// table[x - low of x][y - low of y] of two columns whose values make up at most 65,536 pairs.
    /// It costs as much as a table of one column with the same number of values, and the carries of
    /// the position of a pair in it.
    ///
    /// # Errors
    /// [`IntegersError::Table`] unless there is an entry for each pair; [`IntegersError::Length`];
    /// those of [`Integers::lookup`].
    pub fn lookup_pair(
        &self,
        x: &Column<S::Ciphertext>,
        y: &Column<S::Ciphertext>,
        table: &[Vec<i128>],
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let length = self.common_length(&[x, y])?;
        let (rows, columns) = (x.interval.points(), y.interval.points());
        let whole = table.iter().all(|row| row.len() as u128 == columns);
        if rows.saturating_mul(columns) > ENTRIES || table.len() as u128 != rows || !whole {
            let expected = format!("{rows} rows of {columns}, {ENTRIES} entries at most");
            let entries = table.iter().map(Vec::len).sum();
            let interval = x.interval.union(y.interval);
            return Err(IntegersError::Table { entries, interval, expected });
        }
        // The place of a pair, row by row.
        let row = self.mul_public(&self.sub(x, x.interval.low())?, columns as i128)?;
        let place = self.add(&row, &self.sub(y, y.interval.low())?)?;
        Ok(Column { length, ..self.lookup(&place, &table.concat())? })
    }

    /// Functions of two digits: tables[output][a - low of a][b - low of b].
    pub(crate) fn look_up_pair(
        &self,
        a: &Digit<S::Ciphertext>,
        b: &Digit<S::Ciphertext>,
        tables: &[Vec<Vec<i64>>],
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let (Some(x), Some(y)) = (&a.cipher, &b.cipher) else {
            // A public digit leaves a row or a column, which is the table of the other one.
            let (digit, row) = if a.cipher.is_none() { (b, true) } else { (a, false) };
            let left = |table: &Vec<Vec<i64>>| match row {
                true => table.concat(),
                false => table.iter().flat_map(|row| row.first().copied()).collect(),
            };
            let tables = tables.iter().map(left).collect();
            let plan = self.plan(digit.low, digit.high, tables)?;
            return Ok(self.tables(vec![(digit.clone(), plan)])?.pop().unwrap_or_default());
        };
        let (t, first) = (self.modulus(), (a.low, b.low));
        let windows = [(a.low, a.high), (b.low, b.high)];
        let plan = pair_circuit(t, first, tables, false)?;
        let found = match self.staged(&[x, y], &Stage::Circuit(&plan), &windows) {
            // As for the columns of products.
            Err(IntegersError::Depth { .. }) if self.session().can_bootstrap() => {
                let plan = pair_circuit(t, first, tables, true)?;
                let (z, w) = (self.fourth_power(x)?, self.fourth_power(y)?);
                self.staged(&[x, y, &z, &w], &Stage::Circuit(&plan), &windows)?
            }
            found => found?,
        };
        let digit = |(cipher, table): (Option<S::Ciphertext>, &Vec<Vec<i64>>)| {
            let entries = || table.iter().flatten().copied();
            Digit {
                cipher: cipher.map(|c| self.session().share(c)),
                low: entries().min().unwrap_or(0),
                high: entries().max().unwrap_or(0),
                pad: table[(a.pad - a.low) as usize][(b.pad - b.low) as usize],
                steps: None,
            }
        };
        Ok(found.into_iter().zip(tables).map(digit).collect())
    }

    /// Several digits, each with functions of its own, in parallel.
    pub(crate) fn tables(
        &self,
        requests: Vec<(Digit<S::Ciphertext>, Arc<TablePlan>)>,
    ) -> Result<Vec<Vec<Digit<S::Ciphertext>>>, IntegersError> {
        let mut exhausted = vec![false; requests.len()];
        if requests.len() > 1 && self.session().can_bootstrap() {
            // Those that would be bootstrapped one by one, together.
            let found = requests.par_iter().map(|(digit, plan)| self.is_exhausted(digit, plan));
            exhausted = found.collect::<Result<_, IntegersError>>()?;
            let stale = requests.iter().zip(&exhausted).filter(|(_, exhausted)| **exhausted);
            let stale: Vec<_> = stale.filter_map(|((x, _), _)| x.cipher.as_ref()).collect();
            self.refresh_all(&stale)?;
        }
        let found = requests.par_iter().zip(exhausted);
        found.map(|((digit, plan), renewed)| self.look_up(digit, plan, !renewed)).collect()
    }

    /// Whether functions of a digit do not fit, so that it is bootstrapped before them.
    pub(crate) fn is_exhausted(
        &self,
        digit: &Digit<S::Ciphertext>,
        plan: &TablePlan,
    ) -> Result<bool, IntegersError> {
        let cipher = digit.cipher.as_ref().filter(|_| !plan.is_identity() && plan.ways() > 0);
        let Some(x) = cipher else { return Ok(false) };
        Ok(!self.fits(&Stage::Table(plan), &[&*self.operand(x)?]))
    }

    /// A function of one digit.
    pub(crate) fn map_one(
        &self,
        digit: Digit<S::Ciphertext>,
        f: impl Fn(i64) -> i64,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let found = self.map(&[digit], |_, x| f(x))?.pop();
        found.ok_or_else(|| CircuitError::Empty { what: "a digit" }.into())
    }

    /// A function of a digit as one table; `None` where the table does not fit, not even after
    /// bootstrapping.
    pub(crate) fn mapped_if_it_fits(
        &self,
        digit: &Digit<S::Ciphertext>,
        f: impl Fn(i64) -> i64,
    ) -> Result<Option<Digit<S::Ciphertext>>, IntegersError> {
        match self.fits_mapped(digit, &f)? {
            // Rehearsals know levels and bounds, and not all factors that decide about a few bits.
            true => match self.map_one(digit.clone(), f) {
                Err(IntegersError::Depth { .. }) => Ok(None),
                found => found.map(Some),
            },
            false => Ok(None),
        }
    }

    /// Whether a function of a digit as one table fits, now or after bootstrapping.
    pub(crate) fn fits_mapped(
        &self,
        digit: &Digit<S::Ciphertext>,
        f: impl Fn(i64) -> i64,
    ) -> Result<bool, IntegersError> {
        let entries = (digit.low..=digit.high).map(f).collect();
        let plan = self.plan(digit.low, digit.high, vec![entries])?;
        let Some(cipher) = digit.cipher.as_ref().filter(|_| plan.ways() > 0) else {
            return Ok(true);
        };
        let (stage, now) = (Stage::Table(&plan), self.operand(cipher)?);
        Ok(self.fits(&stage, &[&now]) || self.fits_refreshed(&stage, 1)?)
    }

    /// One function of each of several digits.
    pub(crate) fn map(
        &self,
        digits: &[Digit<S::Ciphertext>],
        f: impl Fn(usize, i64) -> i64,
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let requests = digits.iter().enumerate().map(|(i, digit)| {
            let entries = (digit.low..=digit.high).map(|x| f(i, x)).collect();
            Ok((digit.clone(), self.plan(digit.low, digit.high, vec![entries])?))
        });
        let requests = requests.collect::<Result<Vec<_>, IntegersError>>()?;
        Ok(self.tables(requests)?.into_iter().flatten().collect())
    }

    /// Whether each of several digits is 0, by squares where these take fewer key switches.
    pub(crate) fn are_zero(
        &self,
        digits: &[Digit<S::Ciphertext>],
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let requests = digits.iter().map(|digit| {
            let entries = (digit.low..=digit.high).map(|x| i64::from(x == 0)).collect();
            Ok((digit.clone(), self.plan_by_squares(digit.low, digit.high, entries)?))
        });
        let requests = requests.collect::<Result<Vec<_>, IntegersError>>()?;
        Ok(self.tables(requests)?.into_iter().flatten().collect())
    }
}

/// Functions of two digits: the powers of both, and for each function as many products as its table
/// has rank, and one relinearization. The depth is 5 for 16 values of each, and 4 if their fourth
/// powers are given.
fn pair_circuit(
    t: PrimePower,
    first: (i64, i64),
    tables: &[Vec<Vec<i64>>],
    fourths: bool,
) -> Result<Circuit, CircuitError> {
    let mut builder = CircuitBuilder::new();
    let (a, b) = (builder.input(1), builder.input(1));
    let mut variables = match fourths {
        false => [Variable::new(a), Variable::new(b)],
        true => [a, b].map(|x| Variable::with_fourth(x, builder.input(1))),
    };
    let mut outputs = Vec::with_capacity(tables.len());
    for table in tables {
        let mut sum = Sum::default();
        sum.add_pair(&mut builder, &mut variables, (0, 1), &PairForm::new(t, first, table)?)?;
        if sum.is_constant() {
            sum.add_multiple(a, 0);
        }
        outputs.push(sum.finish(&mut builder, t)?);
    }
    builder.finish(&outputs)
}
