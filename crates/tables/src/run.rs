//! Queries over encrypted columns.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use everlevel_integers::{Accumulated, Column, Encoded, IntegerScheme, Integers, SumPlan, Type};

use crate::across::{Apart, Pretends};
use crate::alike::{Meter, Sampled, Spent};
use crate::block::{Block, Reader};
use crate::condition::Condition;
use crate::error::TablesError;
use crate::kept::Kept;
use crate::known::Known;
use crate::layout::{Form, Layout};
use crate::ordered::{self, Found};
use crate::ranker::{BlockReader, Ranker, Readers};
use crate::schema::Schema;
use crate::starts::Starts;

/// All conditions begin at the level of their columns.
static TOP: LazyLock<Starts> = LazyLock::new(Starts::default);

/// Answers a query, block by block of rows: a batch of its sums ([`Layout::batches`]).
pub struct Runner<'a, S: IntegerScheme> {
    ints: &'a Integers<'a, S>,
    schema: &'a Schema,
    layout: &'a Layout,
    /// The sums; `None` if rows are listed.
    plan: Option<SumPlan>,
    /// The sets of rows over which the sums of the batch are computed.
    masks: Vec<&'a Condition>,
    /// The levels at which conditions begin.
    starts: &'a Starts,
    /// Reads what indexes consist of.
    reader: Option<&'a BlockReader<'a, S::Ciphertext>>,
    /// Whether the batch is the last one, with which least and greatest values are found.
    last: bool,
    /// Ranks rows.
    ranker: Ranker<'a, S>,
    blocks: usize,
    /// Whether a block was added and not skipped.
    added: bool,
    sums: Accumulated<S>,
    found: Found<S::Ciphertext>,
    rows: Vec<S::Ciphertext>,
}

impl<'a, S: IntegerScheme> Runner<'a, S> {
    /// A runner for one batch, counted from 0, of a query that was laid out for a table of this
    /// schema. The answer consists of the ciphertexts of all batches, one after the other, each
    /// computed over all blocks.
    pub fn new(
        ints: &'a Integers<'a, S>,
        schema: &'a Schema,
        layout: &'a Layout,
        batch: usize,
    ) -> Self {
        let (plan, masks) = match &layout.form {
            Form::Sums { plan, .. } => {
                let (plan, masks) = plan.batch(batch);
                (Some(plan), masks)
            }
            Form::Rows(_) => (None, Vec::new()),
        };
        Runner {
            ints,
            schema,
            layout,
            plan,
            masks: masks.into_iter().map(|i| &layout.masks[i]).collect(),
            starts: &TOP,
            reader: None,
            last: batch + 1 == layout.batches(),
            ranker: Ranker::new(ints, schema, layout),
            blocks: 0,
            added: false,
            sums: Accumulated::default(),
            found: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// The same with conditions that begin at these levels.
    pub(crate) fn beginning(self, starts: &'a Starts) -> Self {
        Runner { starts, ..self }
    }

    /// The same where truth values of indexes are read as conditions need them: `columns` of a
    /// block has something of their length in their places.
    pub(crate) fn reading(self, reader: &'a BlockReader<'a, S::Ciphertext>) -> Self {
        Runner { reader: Some(reader), ..self }
    }

    /// The same where rows of other blocks are ranked together with those of the block that is
    /// added, in these sets of each pass.
    pub(crate) fn beside(
        mut self,
        others: Readers<'a, S::Ciphertext>,
        apart: Option<&'a [Apart]>,
    ) -> Self {
        self.ranker.others = Some(others);
        self.ranker.apart = apart;
        self
    }

    /// Lets the next blocks have these sets of rows of each pass, in a rehearsal without any rows.
    pub(crate) fn pretend(&mut self, pretends: Vec<Pretends>) {
        self.ranker.pretends = Some(pretends);
    }

    /// Counts by this meter what rankings take that are computed one by one, in a rehearsal: of
    /// each form two are computed, and the later ones take what the second one takes.
    pub(crate) fn metered(mut self, meter: &'a Meter<'a>) -> Self {
        self.ranker.sampled = Some(Sampled::new(meter));
        self
    }

    /// What such rankings take that were not computed since this was asked last, each.
    pub(crate) fn unrehearsed(&mut self) -> Vec<Spent> {
        self.ranker.sampled.as_mut().map_or_else(Vec::new, Sampled::unrehearsed)
    }

    /// Makes what stands for the ranks of blocks of this number of rows of which none is ranked, in
    /// a rehearsal: all such blocks share it.
    pub(crate) fn rank_none(&mut self, rows: usize) -> Result<(), TablesError> {
        self.ranker.none(rows).map(drop)
    }

    /// Adds the sums over the next block of rows, or the rows that are listed. `columns` has a
    /// column for each one of the schema, in its order, encrypted as the column of a table.
    ///
    /// # Errors
    /// [`TablesError::Data`] for columns of other bounds, or of another number of rows than the
    /// next block of the table has, and where rows of several blocks are to be ranked, of which
    /// [`EncryptedTable::run`](crate::EncryptedTable::run) reads what is needed; those of typed
    /// integers: missing keys, too little depth on a server without bootstrapping.
    pub fn add(&mut self, columns: &[Column<S::Ciphertext>]) -> Result<(), TablesError> {
        self.add_known(columns, None)
    }

    /// The same for columns some of which are known: conditions on known columns alone are computed
    /// in the clear.
    ///
    /// # Errors
    /// As [`Runner::add`].
    pub fn add_known(
        &mut self,
        columns: &[Column<S::Ciphertext>],
        known: Option<&Known<'_, S::Ciphertext>>,
    ) -> Result<(), TablesError> {
        self.add_keeping(columns, known, &mut None)
    }

    /// The same with the truth values that earlier batches kept, to which it adds those that later
    /// batches may need.
    ///
    /// # Errors
    /// As [`Runner::add`].
    pub(crate) fn add_keeping(
        &mut self,
        columns: &[Column<S::Ciphertext>],
        known: Option<&Known<'_, S::Ciphertext>>,
        kept: &mut Option<Kept<S::Ciphertext>>,
    ) -> Result<(), TablesError> {
        let expected = self.layout.blocks().nth(self.blocks);
        let fits = columns.len() == self.schema.fields().len()
            && columns.iter().zip(self.schema.fields()).all(|(column, field)| {
                let interval = column.interval();
                let bounds = (interval.low(), interval.high()) == field.bounds();
                bounds && column.length() == expected && expected.is_some()
            });
        if !fits {
            let problem = "the encrypted columns are not those of the schema, or not as long";
            return Err(TablesError::Data { problem: problem.into() });
        }
        let number = self.blocks;
        self.blocks += 1;
        self.added = true;
        if self.layout.is_empty() {
            return Ok(());
        }
        if self.layout.orders() {
            ordered::check_server(self.ints)?;
        }
        // What is compared may be bootstrapped in place, and what is added up may not.
        let detached: Vec<_> = match self.layout.rankings.is_empty() {
            true => Vec::new(),
            false => columns.iter().map(Column::detached).collect(),
        };
        let summed = if detached.is_empty() { columns } else { &detached[..] };
        let masks = kept.as_mut().map_or_else(HashMap::new, |kept| kept.take(number));
        let (ints, schema) = (self.ints, &self.layout.schema);
        let mut block = Block::new(ints, schema, columns.to_vec(), known, self.starts);
        block.masks = masks;
        let reader = self.reader.map(|read| move |place: usize| read(number, place));
        block.reader = reader.as_ref().map(|read| read as &Reader<'_, _>);
        let mut named = BTreeSet::new();
        let conditions = self.layout.filter.iter().chain(self.masks.iter().copied());
        conditions.for_each(|condition| condition.columns(&mut named));
        self.ranker.rank(number, &mut block, &named, known, kept, !self.last)?;
        let conditions = self.layout.filter.iter().chain(self.masks.iter().copied());
        block.together(conditions)?;
        let masks = self.masks.iter().map(|condition| block.column(condition));
        let masks = masks.collect::<Result<Vec<_>, _>>()?;
        let filter = self.layout.filter.as_ref().map(|condition| block.column(condition));
        let filter = filter.transpose()?;
        if let Some(plan) = &self.plan {
            self.ints.accumulate(plan, summed, filter.as_ref(), &masks, &mut self.sums)?;
        }
        match &self.layout.form {
            Form::Sums { extremes, .. } => {
                let extremes = if self.last { &extremes[..] } else { &[] };
                let one = self.layout.block_count() == 1;
                self.found.resize_with(extremes.len(), Vec::new);
                for (of, found) in extremes.iter().zip(&mut self.found) {
                    let before = std::mem::take(found);
                    for set in 0..of.whens.len() {
                        let mut here = block.candidates(of, set)?;
                        if !one {
                            here = ints.extended(&here, ints.slots(), of.none)?;
                        }
                        found.push(match before.get(set) {
                            Some(before) => ordered::better(ints, of.order, before, &here)?,
                            None => here,
                        });
                    }
                }
            }
            Form::Rows(listed) => {
                let filter = filter.ok_or_else(|| TablesError::Data {
                    problem: "rows are listed by a condition".into(),
                })?;
                let listed: Vec<_> =
                    listed.iter().map(|(i, shape)| (&columns[*i], shape)).collect();
                self.rows.extend(self.ints.chosen_rows(&filter, &listed)?);
            }
        }
        if let Some(kept) = kept.as_mut().filter(|_| !self.last) {
            kept.put(number, block.masks);
        }
        Ok(())
    }

    /// Skips the next block if its known columns decide that none of its rows meets the condition.
    /// The last block is never skipped: its unused slots are subtracted, so it has to be added.
    ///
    /// # Errors
    /// Those of the scheme.
    pub(crate) fn pass(&mut self, known: &Known<'_, S::Ciphertext>) -> Result<bool, TablesError> {
        let last = self.blocks + 1 >= self.layout.block_count();
        // Which of the rows come first says no known column.
        let filter = match (&self.layout.form, self.layout.rankings.first()) {
            (Form::Rows(_), Some(ranking)) => Some(&ranking.when),
            _ => self.layout.filter.as_ref(),
        };
        let filter = filter.filter(|_| !last && !self.layout.is_empty());
        let Some(filter) = filter.filter(|filter| known.rules_out(filter)) else {
            return Ok(false);
        };
        if let Form::Rows(_) = &self.layout.form {
            // An answer has as many ciphertexts whatever is passed over.
            let none = Encoded::new(&vec![0; known.rows], Type::Bool, self.ints.slots())?;
            let zero = self.ints.transparent(&none, 1)?;
            let zero = zero.values().next().map(|x| x.get());
            let zero = zero.ok_or_else(|| TablesError::Data {
                problem: format!("no ciphertext of {filter:?}"),
            })?;
            let each = self.layout.ciphertexts() / self.layout.block_count();
            self.rows.extend(std::iter::repeat_n(S::Ciphertext::clone(&zero), each));
        }
        self.blocks += 1;
        Ok(true)
    }

    /// Counts the next block as added, in a rehearsal, or if others add it.
    pub(crate) fn skip(&mut self) {
        self.blocks += 1;
    }

    /// Counts the remaining blocks as added, to determine the cost of the last steps.
    pub(crate) fn skip_rest(&mut self) {
        self.blocks = self.layout.block_count();
    }

    /// The ciphertexts of the batch, for [`Layout::read`]; there are no sums if all blocks were
    /// skipped.
    ///
    /// # Errors
    /// [`TablesError::Data`] unless all blocks were added; those of
    /// [`Integers::pack`](everlevel_integers::Integers::pack).
    pub fn finish(self) -> Result<Vec<S::Ciphertext>, TablesError> {
        let expected = self.layout.block_count();
        if self.blocks != expected {
            let problem = format!("{} blocks of rows instead of {expected}", self.blocks);
            return Err(TablesError::Data { problem });
        }
        if expected == 0 {
            return Ok(Vec::new());
        }
        match (&self.layout.form, &self.plan) {
            (Form::Sums { extremes, .. }, Some(plan)) if self.added => {
                let mut out = self.ints.pack(plan, self.sums)?;
                for (of, found) in extremes.iter().zip(&self.found) {
                    out.extend(ordered::extreme(self.ints, of, found)?);
                }
                Ok(out)
            }
            _ => Ok(self.rows),
        }
    }
}
