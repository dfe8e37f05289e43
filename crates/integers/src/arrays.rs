//! Many short arrays of the same length in one column, each computed on by itself, all of them by
//! the same operations.
//!
//! Array i has the entries i n, .., i n + n - 1. A rotation moves all arrays. Entries of the next
//! array that come with it are only in slots that are not read, or public masks leave them out.
//! What is one number for each array is found in the slot of its first entry, and then moved to the
//! first slots of the column ([`crate::firsts`]).

use rayon::prelude::*;

use crate::carry::DIGITS;
use crate::column::{Column, Digit, value};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::firsts::Arrays;
use crate::interval::Interval;
use crate::layers::layers_in_arrays;
use crate::network::Moving;
use crate::order::{Of, Order};
use crate::sets::{MOST, Sets};
use crate::slots::digit_of;
use crate::split::digits_of;

/// What is computed of each of several arrays of the same length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArrayOperation {
    /// The sum of the entries: one number for each array.
    Sum,
    /// The entry of this rank, counted from 0: one for each array.
    Nth(Order, usize),
    /// The position in its array of the entry of this rank: one for each array.
    ArgNth(Order, usize),
    /// The entries in order.
    Sort(Order),
    /// The positions in their array of the entries in order; equal entries as they stand.
    ArgSort(Order),
    /// The sum of the entries of the array up to each entry.
    CumulativeSum,
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// An operation on each of the arrays of `n` entries that a column consists of, one after the
    /// other. The result has a number for each array, or for sorts as many entries as x.
    ///
    /// The work hardly depends on the number of arrays. A sum takes log2 n rotations of each digit,
    /// and carries after each; so do sums up to each entry, with products by plaintexts in between.
    /// The first or last entry in order, or the position of the first one, takes ⌈log2 n⌉
    /// comparisons and selections. Any other rank takes n - 1 comparisons of neighboring entries
    /// ([`Integers::ranks_in_sets`]), an equality and a selection for up to 256 entries on a server
    /// that bootstraps, and otherwise a sort. A sort takes m (m + 1) / 2 layers for up to 2^m
    /// entries, each with a comparison, two rotations and a product for each digit. One number for
    /// each of k arrays takes ⌈log4 k⌉ rounds in addition, each of three rotations and four
    /// products by plaintexts for each digit of the result.
    ///
    /// # Errors
    /// [`IntegersError::Length`] unless the entries are whole arrays, each in one row of slots, and
    /// for a rank that does not exist; [`IntegersError::Range`] for a sum past 2^126;
    /// [`IntegersError::Width`]; [`IntegersError::Set`] where entries are in rows of slots that are
    /// not exchanged; a missing key; those of comparisons and of carries.
    pub fn of_arrays(
        &self,
        x: &Column<S::Ciphertext>,
        n: usize,
        operation: ArrayOperation,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let arrays = self.arrays(x, n)?;
        if let ArrayOperation::Nth(_, rank) | ArrayOperation::ArgNth(_, rank) = operation
            && rank >= n
        {
            let expected = format!("more than {rank} in each array, the rank that is asked for");
            return Err(IntegersError::Length { found: n, expected });
        }
        let x = x.clone().without_index().narrowed();
        if n == 1 || x.public_value().is_some() {
            return self.of_equal_entries(&x, arrays, operation);
        }
        let mut x = self.normalized(&x)?;
        if !x.interval.contains(x.pad()) {
            // It is compared with entries, in slots that are not read.
            x = self.padded(&x, x.interval.low())?;
        }
        match operation {
            ArrayOperation::Sum => self.sums_of_arrays(&x, arrays),
            ArrayOperation::Nth(order, rank) => self.nths(&x, arrays, (order, rank), Of::Entries),
            ArrayOperation::ArgNth(order, rank) => self.nths(&x, arrays, (order, rank), Of::Places),
            ArrayOperation::Sort(order) => self.sorted_arrays(&x, arrays, order, Of::Entries),
            ArrayOperation::ArgSort(order) => self.sorted_arrays(&x, arrays, order, Of::Places),
            ArrayOperation::CumulativeSum => self.prefix_sums(&x, arrays.entries(), n),
        }
    }

    /// The same for arrays of one entry, or of entries that are all the same public integer.
    fn of_equal_entries(
        &self,
        x: &Column<S::Ciphertext>,
        arrays: Arrays,
        operation: ArrayOperation,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let (n, length) = (arrays.n, Some(arrays.count));
        match (operation, x.public_value()) {
            (ArrayOperation::Sum, Some(value)) => {
                let sum = Interval::point(value)?.checked_mul(Interval::point(n as i128)?)?;
                Ok(Column::public(sum.low(), sum, length))
            }
            (ArrayOperation::Sum | ArrayOperation::Nth(..), _) => {
                Ok(Column { length, ..x.clone() })
            }
            (ArrayOperation::ArgNth(_, rank), _) => {
                Ok(Column::public(rank as i128, Interval::point(rank as i128)?, length))
            }
            (ArrayOperation::CumulativeSum, Some(value)) => {
                Interval::point(value)?.checked_mul(Interval::point(n as i128)?)?;
                self.listed(arrays.entries(), |i| ((i % n) as i128 + 1) * value, x.length)
            }
            (ArrayOperation::Sort(_) | ArrayOperation::CumulativeSum, _) => Ok(x.clone()),
            (ArrayOperation::ArgSort(_), _) => {
                self.listed(arrays.entries(), |i| (i % n) as i128, x.length)
            }
        }
    }

    fn sums_of_arrays(
        &self,
        x: &Column<S::Ciphertext>,
        arrays: Arrays,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        // Public digits are those of all entries, so n times their value is public as well.
        let known = value(x.digits.iter().map(|d| if d.cipher.is_none() { d.low } else { 0 }));
        let base = x.anchor + known;
        let count = Interval::point(arrays.n as i128)?;
        let interval = x.interval.checked_mul(count)?;
        let anchor = interval.anchored("the sum", base.checked_mul(count.low()))?;
        // Other digits are not negative.
        let interval = Interval::new(interval.low().max(anchor), interval.high())?;
        let digit = |d: &Digit<S::Ciphertext>| match d.cipher {
            None => Ok(Digit::public(0)),
            Some(_) => self.cleared(d, arrays.entries()),
        };
        let top = x.digits.iter().rposition(|d| d.cipher.is_some()).map_or(0, |k| k + 1);
        let digits = x.digits[..top].iter().map(digit);
        // Above all that is public, so that sums of any slots are from 0 to that of the largest
        // values.
        let sum = Column {
            interval: Interval::new(0, x.interval.high() - base)?,
            anchor: 0,
            digits: digits.collect::<Result<_, IntegersError>>()?,
            length: Some(self.slots()),
        };
        let sum = self.folded(&sum, 1, arrays.n)?;
        let reached = Interval::new(0, interval.high() - anchor)?;
        let sum = self.normalized(&Column { interval: reached, ..sum })?;
        self.first_entries(&Column { interval, anchor: sum.anchor + anchor, ..sum }, arrays)
    }

    /// The entry of a rank of each array, or its position.
    fn nths(
        &self,
        x: &Column<S::Ciphertext>,
        arrays: Arrays,
        (order, rank): (Order, usize),
        of: Of,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let n = arrays.n;
        match of {
            Of::Entries if rank == 0 || rank == n - 1 => {
                let order = if rank == 0 { order } else { order.reversed() };
                let best = self.first_of_each(x.clone(), n, order)?;
                return self.first_entries(&best, arrays);
            }
            Of::Places if rank == 0 && x.digits.len() + digits_of(n as u128 - 1) < DIGITS => {
                return self.first_places(x, arrays, order);
            }
            _ => {}
        }
        if self.session().can_bootstrap() && n <= MOST {
            return self.nths_by_ranks(x, arrays, (order, rank), of);
        }
        let sorted = self.sorted_arrays(x, arrays, order, of)?;
        let sorted = self.normalized(&sorted)?;
        let digits = sorted.digits.par_iter().map(|d| self.rotated(d, rank as i64));
        let digits = digits.collect::<Result<Vec<_>, IntegersError>>()?;
        self.first_entries(&Column { digits, ..sorted }, arrays)
    }

    /// The first in order of the n values from each slot on: of twice as many at a time, which may
    /// overlap at the end.
    fn first_of_each(
        &self,
        x: Column<S::Ciphertext>,
        n: usize,
        order: Order,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let (mut best, mut width) = (Column { length: Some(self.slots()), ..x }, 1);
        while width < n {
            let step = width.min(n - width);
            self.readied(&best.digits)?;
            let digits = best.digits.par_iter().map(|d| self.rotated(d, step as i64));
            let digits = digits.collect::<Result<Vec<_>, IntegersError>>()?;
            let next = Column { digits, ..best.clone() };
            best = match order {
                Order::Ascending => self.min(&best, &next)?,
                Order::Descending => self.max(&best, &next)?,
            };
            width += step;
        }
        Ok(best)
    }

    /// The positions of the entries that are first in order: the lowest digits of the first of all
    /// entries with their positions below them.
    fn first_places(
        &self,
        x: &Column<S::Ciphertext>,
        arrays: Arrays,
        order: Order,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let mut digits = self.ties(arrays, order)?;
        let own = digits.len();
        digits.extend(x.digits.iter().cloned());
        let count = digits.len();
        let interval = Interval::new(0, (1i128 << (4 * count)) - 1)?;
        let keys = Column { interval, anchor: 0, digits, length: x.length };
        let best = self.first_of_each(keys, arrays.n, order)?;
        let best = self.normalized_to(&best, (0, count))?;
        let digits = (0..own).map(|k| best.digit(k)).collect();
        let interval = Interval::new(0, arrays.n as i128 - 1)?;
        let places = Column { interval, anchor: 0, digits, length: best.length };
        self.without_ties(self.first_entries(&places, arrays)?, arrays.n, order)
    }

    fn nths_by_ranks(
        &self,
        x: &Column<S::Ciphertext>,
        arrays: Arrays,
        (order, rank): (Order, usize),
        of: Of,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let (n, entries) = (arrays.n, arrays.entries());
        let sets = Sets::new((0..entries).map(|i| Some(i / n)).collect(), n)?;
        let ranks = self.ranks_in_sets(x, order, &sets, None)?;
        let found = self.residue(&self.eq(&ranks, rank as u64)?, 0)?;
        self.readied_choices(std::slice::from_ref(&found))?;
        // 0 behind the column.
        let bit = self.weighed(&found, &vec![1; entries])?.within(0, 1);
        // One entry of each array is chosen; sums that are no single entry are of two arrays, in
        // slots that are not read.
        let one = |chosen: Digit<S::Ciphertext>, window: (i64, i64), pad: i64| {
            self.first_slots(&self.gathered(&chosen, 1, n)?, arrays, window, pad)
        };
        let length = Some(arrays.count);
        if of == Of::Entries {
            let least = x.interval.low() - x.anchor;
            let digit = |(k, d): (usize, &Digit<S::Ciphertext>)| match d.cipher {
                None => Ok(d.clone()),
                Some(_) => one(self.product(&bit, d)?, (d.low, d.high), digit_of(least, k)),
            };
            let digits = x.digits.iter().enumerate().map(digit);
            let digits = digits.collect::<Result<_, IntegersError>>()?;
            return Ok(Column { digits, length, ..x.clone() });
        }
        let digit = |k: usize| {
            let places: Vec<i64> = (0..entries).map(|i| digit_of((i % n) as i128, k)).collect();
            let chosen = self.weighed(&bit, &places)?;
            let window = (0, chosen.high);
            one(chosen, window, 0)
        };
        let digits = (0..digits_of(n as u128 - 1)).map(digit);
        let digits = digits.collect::<Result<_, IntegersError>>()?;
        Ok(Column { interval: Interval::new(0, n as i128 - 1)?, anchor: 0, digits, length })
    }

    /// The entries of each array in order, or their positions, by a network in all of them.
    fn sorted_arrays(
        &self,
        x: &Column<S::Ciphertext>,
        arrays: Arrays,
        order: Order,
        of: Of,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let (n, entries) = (arrays.n, arrays.entries());
        let ties = match of {
            Of::Entries => Vec::new(),
            Of::Places => self.ties(arrays, order)?,
        };
        let own = ties.len();
        let both = ties.into_iter().chain(x.digits.iter().cloned()).collect();
        let found = self.exchanges(Moving::new(both), order, &layers_in_arrays(n))?;
        let back = (-(found.moved as i64)).rem_euclid(self.columns() as i64);
        let taken =
            |d: &Digit<S::Ciphertext>, pad: i64| self.placed(&self.rotated(d, back)?, entries, pad);
        if of == Of::Entries {
            let digits = found.digits.iter().zip(&x.digits).map(|(d, own)| taken(d, own.pad));
            let digits = digits.collect::<Result<_, IntegersError>>()?;
            return Ok(Column { digits, ..x.clone() });
        }
        let digits = found.digits[..own].iter().map(|d| taken(d, 0));
        let digits = digits.collect::<Result<_, IntegersError>>()?;
        let interval = Interval::new(0, n as i128 - 1)?;
        let places = Column { interval, anchor: 0, digits, length: x.length };
        self.without_ties(places, n, order)
    }

    /// The digits of integers that distinguish equal entries of an array: positions, which ascend,
    /// or those from the last one on, which descend.
    fn ties(
        &self,
        arrays: Arrays,
        order: Order,
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let tie = |i: usize| match order {
            Order::Ascending => (i % arrays.n) as i128,
            Order::Descending => (arrays.n - 1 - i % arrays.n) as i128,
        };
        let entries = arrays.entries();
        Ok(self.listed(entries, tie, Some(entries))?.digits)
    }

    /// The positions that such integers are of.
    fn without_ties(
        &self,
        ties: Column<S::Ciphertext>,
        n: usize,
        order: Order,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        match order {
            Order::Ascending => Ok(ties),
            Order::Descending => self.sub(n as u64 - 1, &ties),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use everlevel_circuit::PrimePower;
    use everlevel_scheme::noop::NoOpCiphertext;
    use everlevel_scheme::{NoOp, OptIn, Params, Plaintext};

    use super::*;
    use crate::encode::Encoded;
    use crate::rehearsal::no_op_session;
    use crate::types::Type;

    /// Slots behind a column may hold what is no possible entry of it: neither results nor the
    /// windows of digits, which hold in all slots, are wrong then.
    #[test]
    fn what_is_behind_may_be_outside_of_the_interval() {
        let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
        let scheme = Arc::new(NoOp::new(&params, 1));
        let session = no_op_session(&params, scheme.clone(), true).unwrap();
        let modulus = PrimePower::new(65537, 1).unwrap();
        let (in_slots, power) = (params.clone(), modulus);
        let ints = Integers::new(&session, &params).unwrap().observed(Box::new(
            move |scheme: &NoOp, x: &NoOpCiphertext, (low, high)| {
                for slot in scheme.decrypt(x).unwrap().decode(&in_slots).unwrap() {
                    let found = low + power.sub(slot, power.reduce_i64(low)) as i64;
                    assert!(found <= high, "{found}, outside of [{low}, {high}]");
                }
            },
        ));
        let xs = [3, 20, 0, 7, 7, 1, 19, 20, 18];
        let encoded = Encoded::padded(&xs, Type::U8, params.slots(), 255).unwrap();
        let encrypt = |slots: &[u64]| {
            Ok::<_, IntegersError>(scheme.encrypt(&Plaintext::encode(&params, slots)?)?)
        };
        let x = encoded.encrypt(encrypt).unwrap();
        let x = Column { interval: Interval::new(0, 20).unwrap(), ..x };
        assert!(!x.interval.contains(x.pad()));
        for (operation, expected) in [
            (ArrayOperation::Sum, vec![23, 15, 57]),
            (ArrayOperation::Nth(Order::Descending, 0), vec![20, 7, 20]),
            (ArrayOperation::Nth(Order::Ascending, 1), vec![3, 7, 19]),
            (ArrayOperation::ArgNth(Order::Descending, 0), vec![1, 0, 1]),
            (ArrayOperation::ArgNth(Order::Ascending, 0), vec![2, 2, 2]),
            (ArrayOperation::Sort(Order::Ascending), vec![0, 3, 20, 1, 7, 7, 18, 19, 20]),
            (ArrayOperation::ArgSort(Order::Ascending), vec![2, 0, 1, 2, 0, 1, 2, 0, 1]),
            (ArrayOperation::CumulativeSum, vec![3, 23, 23, 7, 14, 15, 19, 39, 57]),
        ] {
            let found = ints.of_arrays(&x, 3, operation).unwrap();
            let open =
                |c: &NoOpCiphertext| Ok::<_, IntegersError>(scheme.decrypt(c)?.decode(&params)?);
            assert_eq!(found.decrypt(modulus, open).unwrap().to_vec(), expected, "{operation:?}");
            assert!(found.interval.contains(found.pad()), "{operation:?}");
        }
    }
}
