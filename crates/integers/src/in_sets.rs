//! Ranks within public sets of entries that are near each other, for all sets at once.
//!
//! The column is compared with copies of itself in which each entry is 1, 2, … places further on,
//! and public masks keep what was found of two entries of one set. So it takes as many comparisons
//! as there are distances between entries of a set, and it does not matter how many sets there
//! are. A comparison counts for both entries: for the first one as it is, and for the second one
//! reversed and moved back.
//!
//! Truth values of 15 distances are a digit, and digits are added up with a carry after each, so
//! that no sum has more values than a table takes after bootstrapping.

use everlevel_circuit::CircuitError;
use everlevel_scheme::{Arithmetic, Level, Scheme};
use rayon::prelude::*;

use crate::column::{BASE, Column, Digit};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::order::Order;
use crate::sets::{Pairs, Sets};
use crate::slots::digit_of;
use crate::ties::TABLE;

/// The number of distances whose truth values make a digit.
const CHUNK: usize = BASE as usize - 1;
/// What comparisons leave for masks, a product and rotations, as multiples of the bits that a
/// product takes.
const AFTER: f64 = 4.0;

/// Bits of capacity that are left, above what bootstrapping needs, of what is bootstrapped next.
const SPENT: f64 = 8.0;

/// Digits of the entries some places behind each entry.
struct Ahead<C> {
    /// Within the rows of slots, which are cyclic.
    own: Vec<Digit<C>>,
    /// The same from the other row; empty where all entries are in one row.
    other: Vec<Digit<C>>,
}

/// What one comparison says: of the first entries of pairs, and of the second ones, in the slots of
/// the first ones, for pairs in a row and across two rows.
type Said<C> = [Option<Digit<C>>; 3];

impl<S: IntegerScheme> Integers<'_, S> {
    /// The rank of each entry in its set: the number of entries of the set that come before it, of
    /// equal ones those that are first in the column; 0 for entries in no set. If there are truth
    /// values `counted`, only entries where they are 1 count; the ranks of the others say how many
    /// of these come before them.
    ///
    /// It costs a comparison for each distance up to the largest one in a set, however many sets
    /// there are, with a rotation of each digit, and two bootstrappings for every 15 distances.
    /// Where a column is longer than a row of slots, each digit is rotated twice. Digits that were
    /// bootstrapped before lack the capacity for comparisons, which then take bootstrappings
    /// themselves.
    ///
    /// # Errors
    /// [`IntegersError::Length`] for sets of a column of another length, or among more entries than
    /// a row has slots; [`CircuitError::NoBootstrapping`]; [`IntegersError::Set`] where slots lie
    /// in rows that are not exchanged; a missing key; those of comparisons.
    pub fn ranks_in_sets(
        &self,
        x: &Column<S::Ciphertext>,
        order: Order,
        sets: &Sets,
        counted: Option<&Column<S::Ciphertext>>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        self.check_sets(x, sets)?;
        let x = self.normalized(&x.clone().narrowed())?;
        let entries: Vec<_> = x.digits.iter().filter(|d| d.cipher.is_some()).cloned().collect();
        self.readied(&entries)?;
        let entries = self.begun_for_sets(entries)?;
        let counted = counted.map(|counted| self.counting(counted, sets)).transpose()?;
        let mut ahead = self.ahead(&entries, sets)?;
        let mut marked = match &counted {
            Some(bit) => self.ahead(std::slice::from_ref(bit), sets)?,
            None => self.ahead(&[], sets)?,
        };
        let t = self.modulus();
        let half = t.centered(t.inv(2).map_err(CircuitError::from)?);
        let count = self.counted_in_sets(sets, None, |distance, pairs| {
            self.step(&mut ahead)?;
            self.step(&mut marked)?;
            if pairs.is_empty() {
                return Ok([None, None, None]);
            }
            let second = self.behind(&ahead, distance)?;
            let sign = self.precedence(&entries, &second, order, &[])?;
            // (1 - sign) / 2 if the second entry comes first, or (1 + sign) / 2 if the first does.
            let said = |pairs: &[i64], factor: i64, counts: Option<&Digit<S::Ciphertext>>| {
                if !pairs.contains(&1) {
                    return Ok(None);
                }
                let weights: Vec<i64> = pairs.iter().map(|x| factor * half * x).collect();
                let halves: Vec<i64> = pairs.iter().map(|x| half * x).collect();
                let bit = self.raised(&self.weighed(&sign, &weights)?, &halves, (0, 1), 0)?;
                Ok::<_, IntegersError>(Some(match counts {
                    Some(counts) => self.product(&bit, counts)?.within(0, 1),
                    None => bit,
                }))
            };
            let second_counts = self.behind(&marked, distance)?;
            Ok([
                said(&pairs.all(), -1, second_counts.first())?,
                said(&pairs.within, 1, counted.as_ref())?,
                said(&pairs.across, 1, counted.as_ref())?,
            ])
        })?;
        self.count_column(count, sets.most as i64 - 1, x.length)
    }

    /// For each entry, the number of entries of its set where the truth values `counted` are 1; 0
    /// for entries in no set. It takes two rotations for each distance up to the largest one in a
    /// set, and two bootstrappings for every 15 distances.
    ///
    /// # Errors
    /// As [`Integers::ranks_in_sets`]; [`IntegersError::Type`] if `counted` are no truth values.
    pub fn counts_in_sets(
        &self,
        counted: &Column<S::Ciphertext>,
        sets: &Sets,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        self.check_sets(counted, sets)?;
        let bit = self.counting(counted, sets)?;
        let kept = |d: Option<&Digit<S::Ciphertext>>, pairs: &[i64]| {
            let d = d.filter(|_| pairs.contains(&1));
            d.map(|d| Ok::<_, IntegersError>(self.weighed(d, pairs)?.within(0, 1))).transpose()
        };
        let mut ahead = self.ahead(std::slice::from_ref(&bit), sets)?;
        let own = kept(Some(&bit), &sets.members())?;
        let count = self.counted_in_sets(sets, own, |distance, pairs| {
            self.step(&mut ahead)?;
            if pairs.is_empty() {
                return Ok([None, None, None]);
            }
            let second = self.behind(&ahead, distance)?;
            Ok([
                kept(second.first(), &pairs.all())?,
                kept(Some(&bit), &pairs.within)?,
                kept(Some(&bit), &pairs.across)?,
            ])
        })?;
        self.count_column(count, sets.most as i64, counted.length)
    }

    /// The number of entries of the set of each entry, public but in ciphertexts, in the form of
    /// [`Integers::counts_in_sets`].
    ///
    /// # Errors
    /// Those of the scheme.
    pub fn set_sizes(&self, sets: &Sets) -> Result<Column<S::Ciphertext>, IntegersError> {
        let (sizes, most) = (sets.sizes(), sets.most as i64);
        let digit = |(k, high): (usize, i64)| {
            let values: Vec<i64> = sizes.iter().map(|size| digit_of(*size, k)).collect();
            Ok(self.weighed(&Digit::public(1), &values)?.within(0, high))
        };
        let windows = [(0, most.min(BASE - 1)), (1, most / BASE)];
        let windows = windows.into_iter().filter(|(k, _)| *k == 0 || most >= BASE);
        let digits = windows.map(digit).collect::<Result<_, IntegersError>>()?;
        let interval = Interval::new(0, most.into())?;
        Ok(Column { interval, anchor: 0, digits, length: Some(sets.of().len()) })
    }

    /// Bootstraps the digits of some columns in place, several of them together, so that what is
    /// computed from them separately does not bootstrap each for itself. Those with more capacity
    /// than bootstrapping leaves stay as they are.
    ///
    /// # Errors
    /// [`CircuitError::NoBootstrapping`]; those of bootstrapping.
    pub fn renewed(&self, columns: &[&Column<S::Ciphertext>]) -> Result<(), IntegersError> {
        self.refresh_all(&columns.iter().flat_map(|x| x.values()).collect::<Vec<_>>())
    }

    /// Refuses a column of another length than that of the sets, and what would be computed for
    /// long before the first bootstrapping is refused.
    fn check_sets(&self, x: &Column<S::Ciphertext>, sets: &Sets) -> Result<(), IntegersError> {
        let n = self.within_row(x, self.slots())?;
        if n != sets.of().len() {
            let expected = format!("{}, each in a set or in none", sets.of().len());
            return Err(IntegersError::Length { found: n, expected });
        }
        let (slots, most) = (self.slots(), self.columns());
        if sets.turned && n != slots {
            return Err(IntegersError::Length {
                found: n,
                expected: format!("{slots}, all slots"),
            });
        }
        if sets.most > most {
            let expected =
                format!("at most {most} neighboring ones that a set is among, the slots of a row");
            return Err(IntegersError::Length { found: sets.most, expected });
        }
        if !self.session().can_bootstrap() {
            return Err(CircuitError::NoBootstrapping.into());
        }
        Ok(())
    }

    /// The digits at the lowest level from which a comparison fits, with what comes after it and
    /// before the first bootstrapping.
    fn begun_for_sets(
        &self,
        digits: Vec<Digit<S::Ciphertext>>,
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let depth = TABLE + digits.len().next_power_of_two().trailing_zeros();
        let needed =
            self.session().minimum_capacity() + self.level_bits() * (f64::from(depth) + AFTER);
        let scheme = self.session().scheme();
        let capacities = digits.iter().filter_map(|d| d.cipher.as_ref());
        let capacities = capacities.map(|value| scheme.capacity_bits(&value.get()));
        let spare = (capacities.fold(f64::INFINITY, f64::min) - needed) / self.level_bits();
        match spare.is_finite() && spare >= 1.0 {
            true => self.begun_lower(&digits, spare as u32),
            false => Ok(digits),
        }
    }

    /// Truth values that say which entries count, as a digit with the capacity for a product after
    /// rotations and a mask.
    fn counting(
        &self,
        counted: &Column<S::Ciphertext>,
        sets: &Sets,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        self.check_sets(&counted.of_length(sets.of().len()), sets)?;
        let bit = self.bit("a count of entries", counted)?;
        self.readied_choices(std::slice::from_ref(&bit))?;
        Ok(bit)
    }

    /// Digits of the entries themselves, 0 places behind each.
    fn ahead(
        &self,
        digits: &[Digit<S::Ciphertext>],
        sets: &Sets,
    ) -> Result<Ahead<S::Ciphertext>, IntegersError> {
        let other = match sets.of().len() > self.columns() {
            true => digits.par_iter().map(|d| self.swapped(d)).collect::<Result<_, _>>()?,
            false => Vec::new(),
        };
        Ok(Ahead { own: digits.to_vec(), other })
    }

    /// Moves one place further on.
    fn step(&self, ahead: &mut Ahead<S::Ciphertext>) -> Result<(), IntegersError> {
        for digits in [&mut ahead.own, &mut ahead.other] {
            let moved = digits.par_iter().map(|d| self.rotated(d, 1));
            *digits = moved.collect::<Result<_, IntegersError>>()?;
        }
        Ok(())
    }

    /// The entries a distance behind each entry, after as many steps: those that the end of a row
    /// of slots parts from it are in the other row.
    fn behind(
        &self,
        ahead: &Ahead<S::Ciphertext>,
        distance: usize,
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        if ahead.other.is_empty() {
            return Ok(ahead.own.clone());
        }
        let columns = self.columns();
        let within = |slot: usize| i64::from(slot % columns + distance < columns);
        let within: Vec<i64> = (0..self.slots()).map(within).collect();
        let across: Vec<i64> = within.iter().map(|x| 1 - x).collect();
        let joined = |(own, other): (&Digit<S::Ciphertext>, &Digit<S::Ciphertext>)| {
            let (own_part, other_part) =
                (self.weighed(own, &within)?, self.weighed(other, &across)?);
            let both = self.combine(&[(&own_part, 1), (&other_part, 1)], 0)?;
            Ok(both.within(own.low, own.high))
        };
        let pairs = ahead.own.par_iter().zip(&ahead.other);
        pairs.map(joined).collect::<Result<Vec<_>, IntegersError>>()
    }

    /// Adds up what is said of each entry at all distances, beginning with truth values of its own,
    /// as two digits; `None` if nothing is said of any.
    fn counted_in_sets(
        &self,
        sets: &Sets,
        own: Option<Digit<S::Ciphertext>>,
        mut said: impl FnMut(usize, &Pairs) -> Result<Said<S::Ciphertext>, IntegersError>,
    ) -> Result<Option<[Digit<S::Ciphertext>; 2]>, IntegersError> {
        let mut count = own.map(first_count);
        for first in (1..=sets.reach).step_by(CHUNK) {
            // What is said of second entries moves on with them, and back at the end, which is the
            // same whatever the distances are, so that the same keys serve.
            let end = first + CHUNK - 1;
            let mut sums: Said<S::Ciphertext> = [None, None, None];
            for distance in first..=end {
                for sum in sums.iter_mut().skip(1).flatten() {
                    *sum = self.rotated(sum, 1)?;
                }
                if distance > sets.reach {
                    continue;
                }
                let here = said(distance, &sets.pairs(distance, self.columns()))?;
                for (sum, here) in sums.iter_mut().zip(here) {
                    *sum = match (sum.take(), here) {
                        (Some(sum), Some(here)) => Some(self.combine(&[(&sum, 1), (&here, 1)], 0)?),
                        (sum, here) => sum.or(here),
                    };
                }
            }
            let [later, within, across] = sums;
            let back = |d: Digit<S::Ciphertext>| self.rotated(&d, -(end as i64));
            let within = within.map(back).transpose()?;
            let across = across.map(back).transpose()?;
            let across = across.map(|d| self.swapped(&d)).transpose()?;
            let earlier = match (within, across) {
                (Some(a), Some(b)) => Some(self.combine(&[(&a, 1), (&b, 1)], 0)?),
                (a, b) => a.or(b),
            };
            for part in [later, earlier].into_iter().flatten() {
                count = Some(match count {
                    Some(count) => self.with_part(&count, &part)?,
                    None => first_count(part),
                });
            }
        }
        Ok(count)
    }

    /// A count and a digit more.
    fn with_part(
        &self,
        [lower, upper]: &[Digit<S::Ciphertext>; 2],
        part: &Digit<S::Ciphertext>,
    ) -> Result<[Digit<S::Ciphertext>; 2], IntegersError> {
        let sum = self.combine(&[(lower, 1), (part, 1)], 0)?.within(0, 2 * (BASE - 1));
        let sum = self.spent(sum)?;
        let carry = self.map_one(sum.clone(), |x| x / BASE)?;
        let lower = self.combine(&[(&sum, 1), (&carry, -BASE)], 0)?.within(0, BASE - 1);
        Ok([lower, self.combine(&[(upper, 1), (&carry, 1)], 0)?])
    }

    /// The digit at the lowest level from which it can be bootstrapped. Masks leave somewhat more
    /// or less of it, depending on the sets; what comes next begins with a bootstrapping in any
    /// case, and takes the same keys for all sets.
    fn spent(&self, digit: Digit<S::Ciphertext>) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let Some(value) = &digit.cipher else { return Ok(digit) };
        let (scheme, now) = (self.session().scheme(), self.operand(value)?);
        let Some(own) = self.pretended(&now) else { return Ok(digit) };
        let (rehearsal, least) = (self.rehearsal(), self.session().minimum_capacity() + SPENT);
        let has_room = |level: &Level| {
            let lowered = rehearsal.mod_switch_to(&own, *level);
            lowered.is_ok_and(|lowered| rehearsal.capacity_bits(&lowered) >= least)
        };
        let Some(level) = (0..scheme.level(&now).0).map(Level).find(has_room) else {
            return Ok(digit);
        };
        let cipher = Some(self.session().share(scheme.mod_switch_to(&now, level)?));
        Ok(Digit { cipher, ..digit })
    }

    /// A count of at most `most` as a column, whose digits were just bootstrapped.
    fn count_column(
        &self,
        count: Option<[Digit<S::Ciphertext>; 2]>,
        most: i64,
        length: Option<usize>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let [lower, upper] = match count {
            Some(count) => count,
            None => first_count(self.weighed(&Digit::public(0), &[0])?),
        };
        let mut digits = vec![lower.within(0, most.min(BASE - 1))];
        if most >= BASE {
            digits.push(upper.within(0, most / BASE));
        }
        let column = Column { interval: Interval::new(0, most.into())?, anchor: 0, digits, length };
        self.renewed(&[&column])?;
        Ok(column)
    }
}

/// A digit as a count.
fn first_count<C>(digit: Digit<C>) -> [Digit<C>; 2] {
    [digit.within(0, BASE - 1), Digit::public(0)]
}
