//! The layout of the sums or rows of a query in the ciphertexts of its answer.

use std::collections::BTreeSet;

use everlevel_integers::{ChosenShape, Shape, SumPlan};
use everlevel_ring::{PrimePower, SlotShape};
use everlevel_scheme::{Params, Plaintext, SchemeError};

use zeroize::Zeroizing;

use crate::condition::Condition;
use crate::error::TablesError;
use crate::field::Field;
use crate::order::{Extremes, Key, Pick, Ranking, Room};
use crate::passes::Pass;
use crate::query::{OrderedBy, Query};
use crate::requests::{Place, Requests, truth, with_truths};
use crate::schema::Schema;

/// The layout of the answer to a query on a table with a given number of rows: the sets of rows
/// that are distinguished, the sums or rows that are computed, and their positions in the answer.
/// It follows from query, schema, ring and number of rows alone, so that these suffice to read
/// answers.
pub struct Layout {
    /// The condition that all sums share; `None` for all rows.
    pub(crate) filter: Option<Condition>,
    pub(crate) masks: Vec<Condition>,
    pub(crate) form: Form,
    /// The columns of a row, and then those of the rankings.
    pub(crate) schema: Schema,
    pub(crate) rankings: Vec<Ranking>,
    /// The rankings by passes, where public columns tell the sets of rows apart. Of a table whose
    /// pairs of rows can all be compared, rankings in no pass are computed one by one.
    pub(crate) passes: Vec<Pass>,
    pub(crate) room: Room,
}

/// The content of the ciphertexts of an answer.
pub(crate) enum Form {
    /// Sums, in one ciphertext or a few.
    Sums {
        plan: Box<SumPlan>,
        /// The least and greatest values, which follow the sums, with one or a few ciphertexts for
        /// each.
        extremes: Vec<Extremes>,
        /// The positions of the aggregates, by groups.
        places: Vec<Vec<Place>>,
    },
    /// For each block of rows, which of them meet the condition, and their entries in some columns;
    /// empty if no row can meet the condition.
    Rows(Vec<(usize, ChosenShape)>),
}

impl Layout {
    /// The layout for a query on a table of `rows` rows, under a parameter set with these
    /// slots.
    ///
    /// # Errors
    /// Those of [`SumPlan::new`]; [`TablesError::Type`] for a number of too many terms.
    pub fn new(
        query: &Query,
        schema: &Schema,
        shape: &SlotShape,
        rows: usize,
    ) -> Result<Self, TablesError> {
        if let Some(listed) = &query.listed {
            return Self::of_rows(query, listed, schema, shape, rows);
        }
        let modulus = PrimePower::new(shape.plain_modulus(1), 1).map_err(everlevel::Error::from)?;
        let room = Room::new(rows, shape);
        let mut requests = Requests::new(query, schema, modulus, room);
        let groups = query.group_codes(schema);
        let places = groups.iter().map(|codes| requests.of_group(codes));
        let places = places.collect::<Result<Vec<_>, _>>()?;
        let Requests { masks, differences, sums, extremes, rankings, .. } = requests;
        let whole = with_truths(schema, &rankings)?;
        let masks = masks.into_iter().map(|mask| mask.by_index(&whole)).collect();
        let extremes = extremes.into_iter().map(|(_, found)| found.by_index(&whole)).collect();
        let rankings: Vec<_> = rankings.into_iter().map(|r| r.by_index(&whole)).collect();
        let passes = passes(&rankings, &whole, room);
        let filter = Some(query.filter.clone()).filter(|f| !matches!(f, Condition::Constant(_)));
        let filter = filter.map(|filter| filter.by_index(&whole));
        let shapes = schema.fields().iter().map(|field| Ok(Shape::of(field.integer_type()?)));
        let shapes = shapes.collect::<Result<Vec<_>, TablesError>>()?;
        let plan = SumPlan::new(shapes, &sums, shape, rows, filter.is_some())?;
        let plan = plan.with_differences(&differences);
        let form = Form::Sums { plan: plan.into(), extremes, places };
        Ok(Layout { filter, masks, form, schema: whole, rankings, passes, room })
    }

    fn of_rows(
        query: &Query,
        listed: &[usize],
        schema: &Schema,
        shape: &SlotShape,
        rows: usize,
    ) -> Result<Self, TablesError> {
        let modulus = PrimePower::new(shape.plain_modulus(1), 1).map_err(everlevel::Error::from)?;
        let column = |place: &usize| {
            Ok((*place, ChosenShape::of(schema.fields()[*place].integer_type()?, modulus)))
        };
        let columns = listed.iter().map(column).collect::<Result<Vec<_>, TablesError>>()?;
        let (mut filter, mut rankings, mut whole) =
            (query.filter.clone(), Vec::new(), schema.clone());
        let room = Room::new(rows, shape);
        match query.limit.filter(|_| query.ordered_by == OrderedBy::Server) {
            Some(0) => filter = Condition::Constant(false),
            Some(limit) if limit < rows && filter != Condition::Constant(false) => {
                room.check_ranked(&filter, query, schema)?;
                let (keys, pick) = (Key::of_order(query, schema)?, Pick::First(limit));
                rankings.push(Ranking { of: 0, when: filter, keys, pick });
                filter = truth(schema.fields().len());
                whole = with_truths(schema, &rankings)?;
            }
            _ => {}
        }
        let rankings: Vec<_> = rankings.into_iter().map(|r| r.by_index(&whole)).collect();
        let passes = passes(&rankings, &whole, room);
        let filter = Some(filter.by_index(&whole));
        let (form, masks) = (Form::Rows(columns), Vec::new());
        Ok(Layout { filter, masks, form, schema: whole, rankings, passes, room })
    }

    /// The same layout where the digits of columns decide conditions, and not their indexes, if
    /// `by_digits`. Of rows that a server orders indexes always decide.
    #[must_use]
    pub(crate) fn deciding(self, by_digits: bool) -> Self {
        if !by_digits {
            return self;
        }
        let masks = self.masks.into_iter().map(Condition::by_digits).collect();
        Layout { filter: self.filter.map(Condition::by_digits), masks, ..self }
    }

    /// Whether an index decides any of its conditions.
    pub(crate) fn has_indexes(&self) -> bool {
        self.filter.iter().chain(&self.masks).any(Condition::has_indexes)
    }

    /// The columns that nothing is computed from, of those of a schema of all columns that the
    /// query names: those with an index that decides alone, and those of indexes where digits do.
    pub(crate) fn unread(&self, query: &Query, schema: &Schema) -> BTreeSet<usize> {
        if self.orders() {
            return BTreeSet::new();
        }
        let mut read: BTreeSet<usize> = query.listed.iter().flatten().copied().collect();
        self.filter.iter().chain(&self.masks).for_each(|condition| condition.reads(&mut read));
        query.aggregates.iter().for_each(|aggregate| aggregate.value.columns(&mut read));
        let indexed = |field: &Field| field.is_of_index() || field.index().is_some();
        let fields = schema.fields().iter().enumerate();
        let unread = fields.filter(|(place, field)| indexed(field) && !read.contains(place));
        unread.map(|(place, _)| place).collect()
    }

    /// Whether the server orders rows, and therefore has to bootstrap.
    pub(crate) fn orders(&self) -> bool {
        !self.rankings.is_empty() || self.extremes() > 0
    }

    /// The number of least and greatest values that the answer holds.
    pub fn extremes(&self) -> usize {
        match &self.form {
            Form::Sums { extremes, .. } => extremes.iter().map(|e| e.whens.len()).sum(),
            Form::Rows(_) => 0,
        }
    }

    /// The number of passes over the blocks, each for a batch of at most 256 sums, so that no more
    /// of them are in memory at a time.
    pub fn batches(&self) -> usize {
        match &self.form {
            Form::Sums { plan, .. } => plan.batches(),
            Form::Rows(_) => 1,
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.room.rows
    }

    /// The numbers of rows of the blocks that a table is encrypted in.
    pub fn blocks(&self) -> impl Iterator<Item = usize> {
        let Room { rows, slots, .. } = self.room;
        (0..rows).step_by(slots).map(move |start| slots.min(rows - start))
    }

    /// The number of blocks. The number of rows may come from a result that another party has
    /// written.
    pub(crate) fn block_count(&self) -> usize {
        self.room.rows.div_ceil(self.room.slots)
    }

    /// The number of ciphertexts of the answer.
    pub fn ciphertexts(&self) -> usize {
        match &self.form {
            Form::Sums { plan, extremes, .. } => {
                plan.ciphertexts() + extremes.iter().map(|e| e.shape.ciphertexts()).sum::<usize>()
            }
            Form::Rows(columns) if !self.is_empty() => {
                let each: usize = columns.iter().map(|(_, shape)| shape.ciphertexts()).sum();
                self.block_count().saturating_mul(1 + each)
            }
            Form::Rows(_) => 0,
        }
    }

    /// Whether no row can meet the condition.
    pub(crate) fn is_empty(&self) -> bool {
        self.filter == Some(Condition::Constant(false))
    }

    /// The exponent of p in the plaintext modulus of a ciphertext of the answer.
    pub(crate) fn exponent(&self, place: usize) -> u32 {
        match &self.form {
            Form::Sums { plan, .. } if place < plan.ciphertexts() => 2,
            Form::Sums { .. } | Form::Rows(_) => 1,
        }
    }

    /// The number of sums that the answer holds, which is what the reader learns.
    pub fn sums(&self) -> usize {
        match &self.form {
            Form::Sums { plan, .. } => plan.sums(),
            Form::Rows(_) => 0,
        }
    }

    /// The number of different sets of rows over which sums are computed.
    pub fn masks(&self) -> usize {
        self.masks.len()
    }

    /// The sums of all groups, or the codes of all rows that meet the condition, from the decrypted
    /// answer, as [`Answer::new`](crate::Answer::new) takes them.
    ///
    /// # Errors
    /// Those of [`SumPlan::totals`]; `scheme.not-decryptable` for impossible rows.
    pub fn read(
        &self,
        params: &Params,
        plaintexts: &[Plaintext],
    ) -> Result<Vec<Vec<i128>>, TablesError> {
        match &self.form {
            Form::Sums { plan, extremes, places } => {
                if plaintexts.len() != self.ciphertexts() && self.room.rows > 0 {
                    return Err(TablesError::Result { problem: "ciphertexts are missing".into() });
                }
                let (sums, values) = plaintexts.split_at(plan.ciphertexts().min(plaintexts.len()));
                let coefficients: Vec<_> = sums.iter().map(|x| x.coefficients()).collect();
                // What cannot be is told once all was looked at.
                let values = read_extremes(params, extremes, values);
                let totals =
                    if self.room.rows > 0 { plan.totals(&coefficients)? } else { Vec::new() };
                let values = values?;
                let found = |of: usize, set: usize| values.get(of).and_then(|sets| sets[set]);
                let place = |place: &Place| match place {
                    Place::Sums(all) => all.iter().filter_map(|i| totals.get(*i)).sum(),
                    Place::Extreme { of, set } => found(*of, *set).unwrap_or(0),
                    Place::Exists { of, set } => found(*of, *set).is_some().into(),
                };
                Ok(places.iter().map(|group| group.iter().map(place).collect()).collect())
            }
            Form::Rows(_) if self.is_empty() => Ok(Vec::new()),
            Form::Rows(columns) => self.read_rows(params, columns, plaintexts),
        }
    }

    fn read_rows(
        &self,
        params: &Params,
        columns: &[(usize, ChosenShape)],
        plaintexts: &[Plaintext],
    ) -> Result<Vec<Vec<i128>>, TablesError> {
        let decode = |x: &Plaintext| Ok(Zeroizing::new(x.decode_decrypted(params)?));
        let each = 1 + columns.iter().map(|(_, shape)| shape.ciphertexts()).sum::<usize>();
        if plaintexts.len() != self.ciphertexts() {
            return Err(TablesError::Result { problem: "ciphertexts are missing".into() });
        }
        // What cannot be is told once all rows were looked at.
        let (mut rows, mut possible) = (Vec::new(), true);
        for (block, length) in plaintexts.chunks(each).zip(self.blocks()) {
            let slots = block.iter().map(decode).collect::<Result<Vec<_>, TablesError>>()?;
            let residues = |row: usize| slots.iter().map(move |x| x[row]);
            for row in 0..length {
                let held: Vec<u64> = residues(row).collect();
                match (held[0], held[1..].iter().all(|x| *x == 0)) {
                    (1, _) => {}
                    (found, empty) => {
                        possible &= found == 0 && empty;
                        continue;
                    }
                }
                let (mut rest, mut codes) = (&held[1..], Vec::with_capacity(columns.len()));
                for (_, shape) in columns {
                    let (here, others) = rest.split_at(shape.ciphertexts());
                    let entry = shape.entry(here);
                    possible &= entry.is_ok();
                    codes.push(entry.unwrap_or(0));
                    rest = others;
                }
                rows.push(codes);
            }
        }
        if !possible {
            return Err(SchemeError::NotDecryptable.into());
        }
        Ok(rows)
    }
}

/// The passes of rankings, where public columns tell their sets of rows apart and these are ranked
/// together.
fn passes(rankings: &[Ranking], schema: &Schema, room: Room) -> Vec<Pass> {
    let mut passes = Pass::all(rankings, schema);
    passes.retain(|pass| pass.is_together(rankings, room));
    passes
}

/// The codes of least and greatest values from their ciphertexts; `None` for no rows.
fn read_extremes(
    params: &Params,
    extremes: &[Extremes],
    plaintexts: &[Plaintext],
) -> Result<Vec<Vec<Option<i128>>>, TablesError> {
    let (mut rest, mut out, mut possible) = (plaintexts, Vec::new(), true);
    for of in extremes.iter().filter(|_| !plaintexts.is_empty()) {
        let (here, others) = rest.split_at(of.shape.ciphertexts());
        let decode = |x: &Plaintext| Ok(Zeroizing::new(x.decode_decrypted(params)?));
        let slots = here.iter().map(decode).collect::<Result<Vec<_>, TablesError>>()?;
        let entry = |set: usize| {
            let entry = of.shape.entry(&slots.iter().map(|x| x[set]).collect::<Vec<_>>());
            possible &= entry.is_ok();
            entry.ok().and_then(|found| of.code(found))
        };
        out.push((0..of.whens.len()).map(entry).collect());
        rest = others;
    }
    if possible { Ok(out) } else { Err(SchemeError::NotDecryptable.into()) }
}
