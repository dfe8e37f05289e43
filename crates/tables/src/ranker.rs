//! Rankings of the rows of a table, block by block.
//!
//! Sets of rows that public columns tell apart lie in one block, or across the border between two
//! blocks, of which the rows about the border are ranked by themselves. So a block is ranked with
//! what the rows of the next one are ranked by, as far as there is a set in both.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use everlevel_integers::{Column, Encoded, EncryptedConstant, IntegerScheme, Integers, Type};
use everlevel_scheme::SchemeError;

use crate::across::{Apart, Pretends};
use crate::alike::Sampled;
use crate::apart::Finder;
use crate::block::Block;
use crate::error::TablesError;
use crate::kept::Kept;
use crate::known::Known;
use crate::layout::Layout;
use crate::order::Ranking;
use crate::ordered::{Sides, bordering, ranked_apart};
use crate::passes::Pass;
use crate::ranked::Ranked;
use crate::schema::Schema;
use crate::starts::{Cancelled, Starts};

/// Reads a column of a block, by the number of the block and its index in the schema.
pub(crate) type BlockReader<'a, C> = dyn Fn(usize, usize) -> Result<Column<C>, TablesError> + 'a;

/// Reads the codes of a column of a block, by the number of the block and the index of the column
/// in the schema; `None` for an encrypted column.
pub(crate) type CodeReader<'a> =
    dyn Fn(usize, usize) -> Result<Option<Vec<i128>>, TablesError> + 'a;

/// Reads columns of blocks, and those that the server knows in the clear.
pub(crate) type Readers<'a, C> = (&'a BlockReader<'a, C>, &'a CodeReader<'a>);

/// The sets of rows of each pass of a layout in a table that is read block by block, with `width`
/// columns; none where each is ranked by itself.
///
/// All blocks are read, also for an answer of some of them: a set whose rows are too far apart may
/// have a few in these.
///
/// # Errors
/// As [`Finder::add`]; those of reading; [`SchemeError::Cancelled`] before the next block once
/// `cancelled` returns true.
pub(crate) fn apart<C>(
    layout: &Layout,
    codes: &CodeReader<'_>,
    width: usize,
    constants: &BTreeMap<usize, EncryptedConstant<C>>,
    cancelled: Option<&Cancelled>,
) -> Result<Vec<Apart>, TablesError> {
    let Layout { passes, rankings, room, .. } = layout;
    if passes.is_empty() {
        return Ok(Vec::new());
    }
    let mut finder = Finder::new(passes, rankings, room.slots);
    for (block, rows) in layout.blocks().enumerate() {
        if cancelled.is_some_and(|cancelled| cancelled()) {
            return Err(SchemeError::Cancelled.into());
        }
        let read = (0..width).map(|place| codes(block, place));
        let read = read.collect::<Result<Vec<_>, TablesError>>()?;
        let columns = read.iter().map(Option::as_deref).collect();
        finder.add(&Known { columns, constants, rows })?;
    }
    Ok(finder.found())
}

/// Truth values of each set of a pass.
type Truths<C> = Vec<Column<C>>;

/// The number of a block, the passes for which something was computed of it, and that.
type OfBlock<C> = (usize, Vec<usize>, Sides<C>);

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
    /// The sets of each pass that blocks have in a rehearsal without any rows.
    pub(crate) pretends: Option<Vec<Pretends>>,
    /// What the rows of a block are ranked by that was read beside the one before.
    next: Option<OfBlock<S::Ciphertext>>,
    /// The truth values about the border behind a block, by passes, with the number of the block.
    borders: HashMap<usize, (usize, Truths<S::Ciphertext>)>,
    /// Truth values 0 for all rows of a block.
    none: Option<Column<S::Ciphertext>>,
    /// Computes two rankings of each form, in a rehearsal that counts what all take.
    pub(crate) sampled: Option<Sampled<'a, S::Ciphertext>>,
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
            next: None,
            borders: HashMap::new(),
            none: None,
            sampled: None,
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
        let Layout { passes, rankings, room, .. } = self.layout;
        // Without what the server knows of the rows, each set is ranked by itself if it can be.
        let unknown = self.apart.is_none() && self.pretends.is_none() && known.is_none();
        let passes = match unknown && room.compares_all() {
            true => <&[Pass]>::default(),
            false => &passes[..],
        };
        let found;
        let (apart, here) = match self.apart {
            Some(apart) => (apart, number),
            None if passes.is_empty() => (<&[Apart]>::default(), number),
            None => {
                found = self.found(number, rows, known)?;
                (&found[..], number.min(1))
            }
        };
        let mut ranked: HashMap<usize, Ranked<S::Ciphertext>> = HashMap::new();
        let mut left = Vec::new();
        let meant = match passes.is_empty() {
            true => Vec::new(),
            false => self.passes(block.columns.len(), named),
        };
        for pass in meant {
            match kept.as_ref().and_then(|kept| kept.ranked(number, pass)) {
                Some(truths) => drop(ranked.insert(pass, truths)),
                None => left.push(pass),
            }
        }
        let new = self.ranked((number, here), &left, apart, block, known)?;
        ranked.extend(left.into_iter().zip(new));
        if let Some(kept) = kept.as_mut().filter(|_| keeps) {
            ranked.iter().for_each(|(pass, truths)| kept.put_ranked(number, *pass, truths));
        }
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
                let truths = match &mut self.sampled {
                    Some(sampled) => sampled.ranked(block, ranking)?,
                    None => block.ranked(ranking)?,
                };
                block.columns.extend(truths);
                continue;
            };
            let sets = &apart[pass];
            let all = ranked.get(&pass).ok_or_else(|| TablesError::Data {
                problem: format!("the rows of block {number}, from 0, are not ranked"),
            })?;
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

    /// The passes with rankings that are named, in a block whose rankings are behind `width`
    /// columns.
    fn passes(&self, width: usize, named: &BTreeSet<usize>) -> Vec<usize> {
        let Layout { passes, rankings, .. } = self.layout;
        let mut end = width;
        let is_named = |ranking: &Ranking| {
            let start = end;
            end += ranking.columns();
            named.range(start..end).next().is_some()
        };
        let is_named: Vec<bool> = rankings.iter().map(is_named).collect();
        let is_meant = |pass: &usize| passes[*pass].rankings.iter().any(|i| is_named[*i]);
        (0..passes.len()).filter(is_meant).collect()
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
        match (&self.pretends, known) {
            (Some(pretends), _) => {
                let pretended = |(pass, pretends): (&Pass, &Pretends)| {
                    Apart::pretended(pass, blocks, *room, *pretends)
                };
                passes.iter().zip(pretends).map(pretended).collect()
            }
            _ if passes.is_empty() => Ok(Vec::new()),
            (None, Some(known)) if self.layout.block_count() == 1 => {
                let mut finder = Finder::new(passes, rankings, room.slots);
                finder.add(known)?;
                Ok(finder.found())
            }
            (None, _) => Err(TablesError::Data {
                problem: "public columns tell apart which rows are ranked, and they are not known \
                          of all blocks"
                    .into(),
            }),
        }
    }

    /// The truth values of these passes in a block, which is `here` in their sets: of what is about
    /// the border before it, then about the one behind it, and of its own sets.
    fn ranked(
        &mut self,
        (number, here): (usize, usize),
        left: &[usize],
        apart: &[Apart],
        block: &Block<'_, S>,
        known: Option<&Known<'_, S::Ciphertext>>,
    ) -> Result<Vec<Ranked<S::Ciphertext>>, TablesError> {
        let (ints, Layout { passes, rankings, .. }) = (self.ints, self.layout);
        let next = self.next.take().filter(|(of, all, _)| *of == number && all == left);
        let mut borders = std::mem::take(&mut self.borders);
        borders.retain(|_, (of, _)| *of + 1 == number);
        let none = || Ranked { within: None, before: None, after: None };
        let mut found: Vec<Ranked<S::Ciphertext>> = left.iter().map(|_| none()).collect();
        if !left.iter().any(|pass| apart[*pass].is_in(here)) {
            return Ok(found);
        }
        // What is picked is that of an aggregate, the same for all of its groups.
        let pick = |pass: usize| {
            let first = passes[pass].rankings.first().map(|i| rankings[*i].pick);
            first.ok_or_else(|| TablesError::Data { problem: "a pass without rankings".into() })
        };
        let of_passes = left.iter().map(|pass| &passes[*pass]);
        let own = match next {
            Some((_, _, sides)) => sides,
            None => block.detached().sides(of_passes, rankings)?,
        };
        let (mut other, mut keys) = (None, HashMap::new());
        for (pass, found) in left.iter().zip(&mut found) {
            let Some(before) = here.checked_sub(1) else { break };
            let Some(sets) = apart[*pass].across(before)? else { continue };
            if let Some((_, truths)) = borders.remove(pass) {
                found.before = Some(truths);
                continue;
            }
            // Another server adds the block before.
            if other.is_none() {
                other = Some(self.sides(number - 1, left, block.starts, known)?);
            }
            let Some(other) = &other else { continue };
            let of = (&passes[*pass], &rankings[..]);
            let side = bordering(ints, [other, &own], of, &mut keys)?;
            found.before = Some(ranked_apart(ints, pick(*pass)?, &side, &sets)?);
        }
        drop((other, keys));
        let (mut next, mut keys) = (None, HashMap::new());
        for (pass, found) in left.iter().zip(&mut found) {
            let Some(sets) = apart[*pass].across(here)? else { continue };
            if next.is_none() {
                next = Some(self.sides(number + 1, left, block.starts, known)?);
            }
            let Some(next) = &next else { continue };
            let of = (&passes[*pass], &rankings[..]);
            let side = bordering(ints, [&own, next], of, &mut keys)?;
            let truths = ranked_apart(ints, pick(*pass)?, &side, &sets)?;
            self.borders.insert(*pass, (number, truths.clone()));
            found.after = Some(truths);
        }
        drop(keys);
        self.next = next.map(|sides| (number + 1, left.to_vec(), sides));
        for (pass, found) in left.iter().zip(&mut found) {
            if let Some(sets) = apart[*pass].within(here)? {
                let side = own.of(&passes[*pass], rankings)?;
                found.within = Some(ranked_apart(ints, pick(*pass)?, &side, &sets)?);
            }
        }
        Ok(found)
    }

    /// What the rows of another block are ranked by in these passes.
    fn sides(
        &self,
        number: usize,
        left: &[usize],
        starts: &Starts,
        known: Option<&Known<'_, S::Ciphertext>>,
    ) -> Result<Sides<S::Ciphertext>, TablesError> {
        let (ints, layout, fields) = (self.ints, self.layout, self.schema.fields());
        let missing = || TablesError::Data {
            problem: format!(
                "block {number}, from 0, whose rows are ranked with others, is missing"
            ),
        };
        let (columns, codes) = self.others.ok_or_else(missing)?;
        let rows = layout.blocks().nth(number).ok_or_else(missing)?;
        let passes = left.iter().map(|pass| &layout.passes[*pass]);
        let mut named = BTreeSet::new();
        for pass in passes.clone() {
            pass.rest.columns(&mut named);
            let first = pass.rankings.first().map(|i| &layout.rankings[*i]);
            let keys = first.into_iter().flat_map(|ranking| &ranking.keys);
            keys.for_each(|key| key.value.columns(&mut named));
        }
        // Others are not read, and indexes when conditions need them.
        let nothing = Encoded::new(&vec![0; rows], Type::Bool, ints.slots())?;
        let nothing = ints.transparent(&nothing, 1)?;
        let column = |place: usize| match named.contains(&place) && !fields[place].is_of_index() {
            true => Ok(columns(number, place)?.detached()),
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
        block.sides(passes, &layout.rankings)
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
