//! Rankings of the rows of a table, block by block.
//!
//! Sets of rows that public columns tell apart lie in one block, or across the border between two
//! blocks, of which the rows about the border are ranked by themselves. So a block is ranked with
//! what the rows of the next one are ranked by, as far as there is a set in both.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use everlevel_integers::{Column, Encoded, EncryptedConstant, IntegerScheme, Integers, Type};

use crate::across::{Apart, Part, Pretends};
use crate::apart::{Finder, Pass};
use crate::block::Block;
use crate::error::TablesError;
use crate::kept::Kept;
use crate::known::Known;
use crate::layout::Layout;
use crate::ordered::{Side, bordering, ranked_apart};
use crate::run::BlockReader;
use crate::schema::Schema;
use crate::starts::Starts;

/// Reads the codes of a column of a block, by the number of the block and the index of the column
/// in the schema; `None` for an encrypted column.
pub(crate) type CodeReader<'a> =
    dyn Fn(usize, usize) -> Result<Option<Vec<i128>>, TablesError> + 'a;

/// Reads columns of blocks, and those that the server knows in the clear.
pub(crate) type Readers<'a, C> = (&'a BlockReader<'a, C>, &'a CodeReader<'a>);

/// Truth values of the rankings of a pass for the rows of a block.
pub(crate) struct Ranked<C> {
    /// Of sets of rows of this block alone; none if there are no such sets.
    within: Option<Vec<Column<C>>>,
    /// Of sets that begin in the block before, in a column of all slots.
    before: Option<Vec<Column<C>>>,
    /// Of sets that end in the next block.
    after: Option<Vec<Column<C>>>,
}

impl<C> Clone for Ranked<C> {
    fn clone(&self) -> Self {
        let Ranked { within, before, after } = self;
        Ranked { within: within.clone(), before: before.clone(), after: after.clone() }
    }
}

impl<C> Ranked<C> {
    /// The truth values among which those of a set are; any for one without rows in the block, and
    /// none if there are no others.
    fn of(&self, part: Part) -> Option<&Vec<Column<C>>> {
        match part {
            Part::Within => self.within.as_ref(),
            Part::Before => self.before.as_ref(),
            Part::After => self.after.as_ref(),
            Part::Absent => self.within.as_ref().or(self.before.as_ref()).or(self.after.as_ref()),
        }
    }
}

/// The sets of rows of each pass of a layout in a table that is read block by block, with `width`
/// columns; none where all pairs of rows are compared.
///
/// # Errors
/// As [`Finder::add`]; those of reading.
pub(crate) fn apart<C>(
    layout: &Layout,
    codes: &CodeReader<'_>,
    width: usize,
    constants: &BTreeMap<usize, EncryptedConstant<C>>,
) -> Result<Vec<Apart>, TablesError> {
    let Layout { passes, rankings, room, .. } = layout;
    let finder = |pass: &Pass| Finder::new(pass, rankings, room.slots);
    let mut finders: Vec<Finder<'_>> = passes.iter().map(finder).collect();
    if finders.is_empty() {
        return Ok(Vec::new());
    }
    for (block, rows) in layout.blocks().enumerate() {
        let read = (0..width).map(|place| codes(block, place));
        let read = read.collect::<Result<Vec<_>, TablesError>>()?;
        let known = Known { columns: read.iter().map(Option::as_deref).collect(), constants, rows };
        finders.iter_mut().try_for_each(|finder| finder.add(&known))?;
    }
    Ok(finders.into_iter().map(Finder::found).collect())
}

/// Truth values of each set of a pass.
type Truths<C> = Vec<Column<C>>;

/// Ranks the rows of a table, block by block.
pub(crate) struct Ranker<'a, S: IntegerScheme> {
    ints: &'a Integers<'a, S>,
    /// The columns of a row.
    schema: &'a Schema,
    layout: &'a Layout,
    /// The sets of rows of each pass in the whole table; without them, they are found in the only
    /// block.
    pub(crate) apart: Option<&'a [Apart]>,
    /// Reads blocks other than the one that is ranked.
    pub(crate) others: Option<Readers<'a, S::Ciphertext>>,
    /// The sets that blocks have in a rehearsal without any rows.
    pub(crate) pretends: Option<Pretends>,
    /// What the rows of a block are ranked by that was read beside the one before, by passes, with
    /// the number of the block.
    sides: HashMap<usize, (usize, Side<S::Ciphertext>)>,
    /// The truth values about the border behind a block, by passes, with the number of the block.
    borders: HashMap<usize, (usize, Truths<S::Ciphertext>)>,
    /// Truth values 0 for all rows of a block.
    none: Option<Column<S::Ciphertext>>,
}

impl<'a, S: IntegerScheme> Ranker<'a, S> {
    /// A ranker before the first block.
    pub(crate) fn new(ints: &'a Integers<'a, S>, schema: &'a Schema, layout: &'a Layout) -> Self {
        Ranker {
            ints,
            schema,
            layout,
            apart: None,
            others: None,
            pretends: None,
            sides: HashMap::new(),
            borders: HashMap::new(),
            none: None,
        }
    }

    /// Adds the truth values of the rankings to the columns of the block of a number, as far as
    /// they are named. Earlier batches kept those of some blocks, and this one keeps its own if it
    /// `keeps` any.
    ///
    /// # Errors
    /// As [`Finder::add`] before anything is computed; those of
    /// [`Integers::ranks_in_sets`].
    pub(crate) fn rank(
        &mut self,
        number: usize,
        block: &mut Block<'_, S>,
        named: &BTreeSet<usize>,
        known: Option<&Known<'_, S::Ciphertext>>,
        kept: &mut Option<Kept<S::Ciphertext>>,
        keeps: bool,
    ) -> Result<(), TablesError> {
        let (ints, rows) = (self.ints, block.rows());
        let Layout { passes, rankings, .. } = self.layout;
        let found;
        let (apart, here) = match self.apart {
            Some(apart) => (apart, number),
            None => {
                found = self.found(number, rows, known)?;
                (&found[..], number.min(1))
            }
        };
        let mut ranked: HashMap<usize, Ranked<S::Ciphertext>> = HashMap::new();
        for (i, ranking) in rankings.iter().enumerate() {
            let places = block.columns.len()..block.columns.len() + ranking.columns();
            if named.range(places.clone()).next().is_none() {
                // Another batch takes it: here it keeps the place.
                let place = block.columns[0].clone();
                block.columns.extend(std::iter::repeat_n(place, places.len()));
                continue;
            }
            let of_pass = |(pass, all): (usize, &Pass)| {
                let set = all.rankings.iter().position(|ranking| *ranking == i)?;
                Some((pass, set))
            };
            let Some((pass, set)) = passes.iter().enumerate().find_map(of_pass) else {
                let truths = block.ranked(ranking)?;
                block.columns.extend(truths);
                continue;
            };
            let sets = &apart[pass];
            let all = match ranked.entry(pass) {
                Entry::Occupied(found) => found.into_mut(),
                Entry::Vacant(new) => {
                    let earlier = kept.as_ref().and_then(|kept| kept.ranked(number, pass));
                    let truths = match earlier {
                        Some(truths) => truths,
                        None => self.ranked((number, here), pass, sets, block, known)?,
                    };
                    if let Some(kept) = kept.as_mut().filter(|_| keeps) {
                        kept.put_ranked(number, pass, &truths);
                    }
                    new.insert(truths)
                }
            };
            let truths = match all.of(sets.part(here, set)) {
                Some(truths) => truths.clone(),
                None => vec![self.none(rows)?; ranking.columns()],
            };
            let own = sets.own((here, rows), set);
            for truth in &truths {
                block.columns.push(ints.only_of_first(truth, &own)?);
            }
        }
        Ok(())
    }

    /// The sets of rows about a block where those of the whole table are not given.
    fn found(
        &self,
        number: usize,
        rows: usize,
        known: Option<&Known<'_, S::Ciphertext>>,
    ) -> Result<Vec<Apart>, TablesError> {
        let Layout { passes, rankings, room, .. } = self.layout;
        let rows_of = |number: usize| self.layout.blocks().nth(number).unwrap_or(0);
        let before = number.checked_sub(1).map_or(0, rows_of);
        let blocks = [before, rows, rows_of(number + 1)];
        let of_pass = |pass: &Pass| match (self.pretends, known) {
            (Some(pretends), _) => Apart::pretended(pass, blocks, *room, pretends),
            (None, Some(known)) if self.layout.block_count() == 1 => {
                let mut finder = Finder::new(pass, rankings, room.slots);
                finder.add(known)?;
                Ok(finder.found())
            }
            (None, _) => Err(TablesError::Data {
                problem: "public columns tell apart which rows are ranked, and they are not known \
                          of all blocks"
                    .into(),
            }),
        };
        passes.iter().map(of_pass).collect()
    }

    /// The truth values of a pass in a block, which is `here` in its sets.
    fn ranked(
        &mut self,
        (number, here): (usize, usize),
        pass: usize,
        apart: &Apart,
        block: &mut Block<'_, S>,
        known: Option<&Known<'_, S::Ciphertext>>,
    ) -> Result<Ranked<S::Ciphertext>, TablesError> {
        let (ints, Layout { passes, rankings, .. }) = (self.ints, self.layout);
        let of = &passes[pass];
        let side = self.sides.remove(&pass).filter(|(of, _)| *of == number);
        let border = self.borders.remove(&pass).filter(|(of, _)| *of + 1 == number);
        let before = match here.checked_sub(1) {
            Some(before) => apart.across(before)?,
            None => None,
        };
        let (within, after) = (apart.within(here)?, apart.across(here)?);
        let mut found = Ranked { within: None, before: None, after: None };
        // What is picked is that of an aggregate, the same for all of its groups.
        let Some(pick) = of.rankings.first().map(|i| rankings[*i].pick) else { return Ok(found) };
        if before.is_none() && within.is_none() && after.is_none() {
            return Ok(found);
        }
        let side = match side {
            Some((_, side)) => side,
            None => block.side(of, rankings)?,
        };
        if let Some(sets) = &before {
            found.before = Some(match border {
                Some((_, truths)) => truths,
                // Another server adds the block before.
                None => {
                    let other = self.side(number - 1, of, block.starts, known)?;
                    ranked_apart(ints, pick, &bordering(ints, &other, &side)?, sets)?
                }
            });
        }
        if let Some(sets) = &after {
            let next = self.side(number + 1, of, block.starts, known)?;
            let truths = ranked_apart(ints, pick, &bordering(ints, &side, &next)?, sets)?;
            self.borders.insert(pass, (number, truths.clone()));
            self.sides.insert(pass, (number + 1, next));
            found.after = Some(truths);
        }
        if let Some(sets) = &within {
            found.within = Some(ranked_apart(ints, pick, &side, sets)?);
        }
        Ok(found)
    }

    /// What the rows of another block are ranked by.
    fn side(
        &self,
        number: usize,
        pass: &Pass,
        starts: &Starts,
        known: Option<&Known<'_, S::Ciphertext>>,
    ) -> Result<Side<S::Ciphertext>, TablesError> {
        let (ints, layout, fields) = (self.ints, self.layout, self.schema.fields());
        let missing = || TablesError::Data {
            problem: format!(
                "block {number}, from 0, whose rows are ranked with others, is missing"
            ),
        };
        let (columns, codes) = self.others.ok_or_else(missing)?;
        let rows = layout.blocks().nth(number).ok_or_else(missing)?;
        let mut named = BTreeSet::new();
        pass.rest.columns(&mut named);
        let first = pass.rankings.first().map(|i| &layout.rankings[*i]);
        let keys = first.into_iter().flat_map(|ranking| &ranking.keys);
        keys.for_each(|key| key.value.columns(&mut named));
        // Others are not read, and indexes when conditions need them.
        let nothing = Encoded::new(&vec![0; rows], Type::Bool, ints.slots())?;
        let nothing = ints.transparent(&nothing, 1)?;
        let column = |place: usize| match named.contains(&place) && !fields[place].is_of_index() {
            true => columns(number, place),
            false => Ok(nothing.clone()),
        };
        let read = (0..fields.len()).map(column).collect::<Result<Vec<_>, TablesError>>()?;
        let of_rows = (0..fields.len()).map(|place| codes(number, place));
        let of_rows = of_rows.collect::<Result<Vec<_>, TablesError>>()?;
        let none = BTreeMap::new();
        let constants = known.map_or(&none, |known| known.constants);
        let in_the_clear = of_rows.iter().map(Option::as_deref).collect();
        let here = Known { columns: in_the_clear, constants, rows };
        let any = of_rows.iter().any(Option::is_some);
        let reader = |place: usize| columns(number, place);
        let known = any.then_some(&here);
        let mut block = Block::new(ints, &layout.schema, read, known, starts);
        block.reader = Some(&reader);
        block.side(pass, &layout.rankings)
    }

    /// Truth values 0 for this number of rows.
    pub(crate) fn none(&mut self, rows: usize) -> Result<Column<S::Ciphertext>, TablesError> {
        if let Some(none) = self.none.as_ref().filter(|none| none.length() == Some(rows)) {
            return Ok(none.clone());
        }
        let none = self.ints.none_of(rows)?;
        self.none = Some(none.clone());
        Ok(none)
    }
}
