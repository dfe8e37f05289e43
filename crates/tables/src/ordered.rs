//! The order of rows by a server, on encrypted columns.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use everlevel_integers::{Column, IntegerScheme, Integers, Operand, Order, Sets};

use crate::block::{Block, Mask};
use crate::condition::Condition;
use crate::error::TablesError;
use crate::order::{Extremes, Key, Pick, Ranking};
use crate::passes::Pass;

/// The least or greatest values so far, slot by slot, for each set of rows of each of the
/// [`Extremes`] of a query; empty before the first block.
pub(crate) type Found<C> = Vec<Vec<Column<C>>>;

/// Checks that a server can order rows.
pub(crate) fn check_server<S: IntegerScheme>(ints: &Integers<'_, S>) -> Result<(), TablesError> {
    if ints.session().can_bootstrap() {
        return Ok(());
    }
    Err(TablesError::unsupported(
        "an order of rows by a server whose keys do not bootstrap",
        "make server keys with bootstrapping, of a parameter set that has it, or leave the order \
         to the reader: ordered by the reader",
    ))
}

impl<S: IntegerScheme> Block<'_, S> {
    /// The truth values of a ranking, which state the rows that come first or are in the middle; 0
    /// in the slots behind the rows.
    pub(crate) fn ranked(
        &mut self,
        ranking: &Ranking,
    ) -> Result<Vec<Column<S::Ciphertext>>, TablesError> {
        let mask = self.mask(&ranking.when)?;
        let key = self.key(&ranking.keys, &mask)?;
        let ints = self.ints;
        let ranks = ints.ranks(&key, Order::Ascending)?;
        let truths = match ranking.pick {
            Pick::First(count) => vec![ints.lt(&ranks, count as u64)?],
            Pick::Middle => {
                let count = match &mask {
                    Mask::Some(mask) => ints.sum_of_each(mask)?,
                    mask => self.constant(match mask {
                        Mask::All => self.rows() as i128,
                        _ => 0,
                    })?,
                };
                middle(ints, &ints.sub(&count, &ints.mul_public(&ranks, 2)?)?)?.into()
            }
        };
        let chosen = |truth| Ok(ints.padded(&of_mask(ints, truth, &mask)?, 0)?);
        truths.into_iter().map(chosen).collect()
    }

    /// What the rows of the block are ranked by in some passes, computed in their order, so that it
    /// is the same in every block and for all sets.
    pub(crate) fn sides<'p>(
        &mut self,
        passes: impl Iterator<Item = &'p Pass> + Clone,
        rankings: &[Ranking],
    ) -> Result<Sides<S::Ciphertext>, TablesError> {
        let (mut keys, mut rests) = (HashMap::new(), HashMap::new());
        self.together(passes.clone().map(|pass| &pass.rest))?;
        for pass in passes {
            let rest = self.mask(&pass.rest)?;
            rests.entry(pass.rest.clone()).or_insert_with(|| rest.detached());
            let Some(first) = pass.rankings.first().map(|i| &rankings[*i]) else { continue };
            if let Entry::Vacant(new) = keys.entry(first.of) {
                new.insert(self.key(&first.keys, &Mask::All)?.detached());
            }
        }
        Ok(Sides { keys, rests })
    }

    /// One number that combines all keys by which rows are ranked, the least first; rows that do
    /// not meet the condition come last.
    fn key(
        &mut self,
        keys: &[Key],
        mask: &Mask<S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, TablesError> {
        let (mut sum, mut shift) = (self.constant(0)?, 0);
        for key in keys.iter().rev() {
            let x = self.number(&key.value)?;
            let x = match (&key.places, key.null) {
                (Some(places), _) => self.ints.lookup(&x, places)?,
                (None, Some(null)) => self.ints.select(&self.ints.eq(&x, null)?, key.high, &x)?,
                (None, None) => x,
            };
            let x = match key.descending {
                true => self.ints.sub(key.high, &x)?,
                // The order is that of the number itself, whose digits may carry when bounds are
                // subtracted that are no multiples of 16.
                false if keys.len() == 1 && !matches!(mask, Mask::Some(_)) => x,
                false => self.ints.sub(&x, key.low)?,
            };
            // At most what these digits hold, whatever the interval of a choice says.
            sum = self.ints.add(&sum, &self.ints.mul_public(&x, 1i128 << (4 * shift))?)?;
            shift += key.digits();
        }
        Ok(match mask {
            Mask::All | Mask::None => sum,
            Mask::Some(mask) => {
                let last = self.ints.mul_public(&self.ints.not(mask)?, 1i128 << (4 * shift))?;
                self.ints.add(&sum, &last)?
            }
        })
    }

    /// The values of the rows of a set, and the number for no value in all other slots.
    pub(crate) fn candidates(
        &mut self,
        extremes: &Extremes,
        set: usize,
    ) -> Result<Column<S::Ciphertext>, TablesError> {
        let mut x = self.number(&extremes.value)?;
        if let Some(places) = &extremes.places {
            x = self.ints.lookup(&x, places)?;
        }
        let none = Operand::Public(extremes.none);
        Ok(match self.mask(&extremes.whens[set])? {
            Mask::All => x,
            Mask::None => self.constant(extremes.none)?,
            Mask::Some(mask) => self.ints.select(&mask, &x, none)?,
        })
    }
}

/// What the rows of a block are ranked by in some passes.
pub(crate) struct Sides<C> {
    /// The numbers that order them, by aggregates: they are the same for all groups of one.
    keys: HashMap<usize, Column<C>>,
    /// Which of them count, beside what public columns tell.
    rests: HashMap<Condition, Mask<C>>,
}

impl<C> Sides<C> {
    /// What they are ranked by in one of the passes. What is bootstrapped of it in place is
    /// bootstrapped for all passes.
    pub(crate) fn of(&self, pass: &Pass, rankings: &[Ranking]) -> Result<Side<C>, TablesError> {
        let key = pass.rankings.first().and_then(|i| self.keys.get(&rankings[*i].of));
        match (key, self.rests.get(&pass.rest)) {
            (Some(key), Some(rest)) => Ok(Side { key: key.clone(), rest: rest.clone() }),
            _ => Err(TablesError::Data { problem: "rows are ranked in an unknown pass".into() }),
        }
    }
}

/// What rows are ranked by in a pass, of a block or about the border between two blocks.
pub(crate) struct Side<C> {
    /// The number that orders them.
    key: Column<C>,
    /// Which of them count, beside what public columns tell.
    rest: Mask<C>,
}

/// What rows about the border between two blocks are ranked by in a pass; the first block is full.
/// What is bootstrapped of it later leaves that of the blocks as it is. `keys` are the numbers that
/// earlier passes made about the border, by aggregates.
pub(crate) fn bordering<S: IntegerScheme>(
    ints: &Integers<'_, S>,
    [first, second]: [&Sides<S::Ciphertext>; 2],
    (pass, rankings): (&Pass, &[Ranking]),
    keys: &mut HashMap<usize, Column<S::Ciphertext>>,
) -> Result<Side<S::Ciphertext>, TablesError> {
    let (first, second) = (first.of(pass, rankings)?, second.of(pass, rankings)?);
    let rest = match (&first.rest, &second.rest) {
        (Mask::Some(a), Mask::Some(b)) => Mask::Some(ints.bordering(&a.detached(), &b.detached())?),
        (Mask::All, Mask::All) => Mask::All,
        (Mask::None, Mask::None) => Mask::None,
        _ => {
            let problem = "a condition that the schema decides for one block alone".into();
            return Err(TablesError::Data { problem });
        }
    };
    let of = pass.rankings.first().map_or(0, |i| rankings[*i].of);
    let key = match keys.entry(of) {
        Entry::Occupied(found) => found.get().clone(),
        Entry::Vacant(new) => {
            let key = ints.bordering(&first.key.detached(), &second.key.detached())?;
            new.insert(key).clone()
        }
    };
    Ok(Side { key, rest })
}

/// The truth values of all rankings of a pass together, as those of a ranking by itself, whose sets
/// of rows are public. They are bootstrapped, so that what is computed of each set does not
/// bootstrap its own.
pub(crate) fn ranked_apart<S: IntegerScheme>(
    ints: &Integers<'_, S>,
    pick: Pick,
    Side { key, rest }: &Side<S::Ciphertext>,
    sets: &Sets,
) -> Result<Vec<Column<S::Ciphertext>>, TablesError> {
    let counted = match rest {
        Mask::Some(rest) => Some(rest),
        Mask::All | Mask::None => None,
    };
    let ranks = ints.ranks_in_sets(key, Order::Ascending, sets, counted)?;
    let truths = match pick {
        Pick::First(count) => vec![ints.lt(&ranks, count as u64)?],
        Pick::Middle => {
            let count = match counted {
                Some(rest) => ints.counts_in_sets(rest, sets)?,
                None => ints.set_sizes(sets)?,
            };
            let left = ints.sub(&count, &ints.mul_public(&ranks, 2)?)?;
            ints.renewed(&[&left])?;
            middle(ints, &left)?.into()
        }
    };
    let truths = truths.into_iter().map(|truth| of_mask(ints, truth, rest));
    let truths = truths.collect::<Result<Vec<_>, TablesError>>()?;
    ints.renewed(&truths.iter().collect::<Vec<_>>())?;
    Ok(truths)
}

/// The lower and the upper one in the middle of c rows, those of rank (c - 1) / 2 and c / 2, both
/// rounded down: where c less twice the rank, which is `left`, is 1 or 2, and where it is 0 or 1.
fn middle<S: IntegerScheme>(
    ints: &Integers<'_, S>,
    left: &Column<S::Ciphertext>,
) -> Result<[Column<S::Ciphertext>; 2], TablesError> {
    let is = |wanted: i128| ints.eq(left, wanted);
    let (upper, both, lower) = (is(0)?, is(1)?, is(2)?);
    Ok([ints.or(&both, &lower)?, ints.or(&both, &upper)?])
}

/// Truth values of the rows of a mask, and 0 of all others.
fn of_mask<S: IntegerScheme>(
    ints: &Integers<'_, S>,
    truth: Column<S::Ciphertext>,
    mask: &Mask<S::Ciphertext>,
) -> Result<Column<S::Ciphertext>, TablesError> {
    Ok(match mask {
        Mask::All => truth,
        Mask::None => ints.mul_public(&truth, 0)?,
        Mask::Some(mask) => ints.and(&truth, mask)?,
    })
}

/// The lesser of two columns, or the greater, slot by slot.
pub(crate) fn better<S: IntegerScheme>(
    ints: &Integers<'_, S>,
    order: Order,
    a: &Column<S::Ciphertext>,
    b: &Column<S::Ciphertext>,
) -> Result<Column<S::Ciphertext>, TablesError> {
    Ok(match order {
        Order::Ascending => ints.min(a, b)?,
        Order::Descending => ints.max(a, b)?,
    })
}

/// The ciphertexts of the least or greatest values, from the values found slot by slot.
pub(crate) fn extreme<S: IntegerScheme>(
    ints: &Integers<'_, S>,
    extremes: &Extremes,
    found: &[Column<S::Ciphertext>],
) -> Result<Vec<S::Ciphertext>, TablesError> {
    let first = |x: &Column<S::Ciphertext>| ints.nth(x, extremes.order, 0);
    let first = found.iter().map(first).collect::<Result<Vec<_>, _>>()?;
    Ok(ints.entries(&ints.stacked(&first)?, &extremes.shape)?)
}
