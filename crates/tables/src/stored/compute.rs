//! Answers of a server, block by block, whether the table is encrypted or known to it.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use everlevel::lab::ServerEvaluator;
use everlevel::{Ciphertext, Integers, KeyPlan, Params, Server};
use everlevel_integers::{Column, Encoded, EncryptedConstant, IntegerScheme};
use everlevel_ring::Engine;
use everlevel_scheme::same_owner;

use crate::error::TablesError;
use crate::kept::{Kept, KeptColumns};
use crate::known::Known;
use crate::plan::Plan;
use crate::ranker;
use crate::run::Runner;
use crate::starts::{Cancelled, Starts};
use crate::stored::constants::Constants;
use crate::stored::files::same_set;
use crate::stored::header::TableId;
use crate::stored::result::TableResult;

/// The cells of a column of a block of rows.
pub(crate) enum Cells<'a, C> {
    /// Codes that the server knows.
    Known(Cow<'a, [i128]>),
    /// Ciphertexts.
    Encrypted(Column<C>),
}

/// A source of the rows of a table, encrypted by some scheme.
pub(crate) trait Rows<S: IntegerScheme> {
    /// The number of rows.
    fn rows(&self) -> usize;
    /// Whether the server knows a column, by its index in the schema.
    fn knows(&self, place: usize) -> bool;
    /// A column of a block of rows.
    fn cells(&self, block: usize, place: usize) -> Result<Cells<'_, S::Ciphertext>, TablesError>;
}

/// A table whose columns are copied into the memory of a server's engine as they are read.
struct Uploaded<'a, T, X: Engine> {
    table: &'a T,
    server: &'a Server<X>,
}

impl<T: Rows<ServerEvaluator>, X: Engine> Rows<ServerEvaluator<X>> for Uploaded<'_, T, X> {
    fn rows(&self) -> usize {
        self.table.rows()
    }

    fn knows(&self, place: usize) -> bool {
        self.table.knows(place)
    }

    fn cells(&self, block: usize, place: usize) -> Result<Cells<'_, Ciphertext<X>>, TablesError> {
        Ok(match self.table.cells(block, place)? {
            Cells::Known(codes) => Cells::Known(codes),
            Cells::Encrypted(column) => Cells::Encrypted(self.server.upload_column(&column)?),
        })
    }
}

/// The encrypted sums or rows that answer a plan on the table with this id.
/// `progress(done, blocks)` is called after each block; the blocks are processed once for each
/// batch of sums ([`Layout::batches`](crate::Layout::batches)). Blocks of which the server knows
/// that no row meets the condition are skipped.
pub(crate) fn compute<E: From<TablesError>>(
    (id, table): (TableId, &impl Rows<ServerEvaluator>),
    server: &Server<impl Engine>,
    plan: &Plan,
    constants: Option<&Constants>,
    progress: impl FnMut(usize, usize) -> Result<(), E>,
) -> Result<TableResult, E> {
    let bound = bound(server, plan, constants)?;
    let table = &Uploaded { table, server };
    let ints = server.integers().map_err(TablesError::from)?;
    let all = 0..table.rows().div_ceil(server.params().slots());
    let (server_keys, cancelled) = (Some(server.keys().plan()), cancelled(server));
    let with = (&ints, server_keys.as_ref(), Some(&cancelled));
    let sums = evaluate(table, with, server.params(), plan, &bound, all, progress)?;
    let used = constants.map(Constants::id).filter(|_| !bound.is_empty());
    Ok(TableResult::new(server, plan, (id, table.rows()), used, sums)?)
}

/// Asks whether the work of a server was cancelled.
pub(crate) fn cancelled(server: &Server<impl Engine>) -> Cancelled {
    let keys = server.keys().clone();
    Arc::new(move || keys.is_cancelled())
}

/// The same of some blocks, on any scheme and without what a result states: with a column for each
/// encrypted constant of the plan. No sums of blocks all of which are passed over. Columns that
/// several batches take are read once, as far as there is room to keep them. `keys` are those of
/// the server, which are refused before anything is computed if they do not suffice; none if it has
/// all. `cancelled` ends the search for the rows of groups and for the levels at which conditions
/// begin, and the rehearsal of keys; what comes then is cancelled by the scheme.
pub(crate) fn evaluate<S: IntegerScheme, E: From<TablesError>>(
    table: &impl Rows<S>,
    (ints, keys, cancelled): (&Integers<'_, S>, Option<&KeyPlan>, Option<&Cancelled>),
    params: &Params,
    plan: &Plan,
    bound: &[Column<S::Ciphertext>],
    range: Range<usize>,
    mut progress: impl FnMut(usize, usize) -> Result<(), E>,
) -> Result<Vec<S::Ciphertext>, E> {
    let (needed, schema) = plan.needed()?;
    let needed: Vec<usize> = needed.into_iter().collect();
    let width = plan.schema().fields().len();
    let (query, layout) = plan.layout(params, table.rows())?;
    let places = needed.iter().enumerate();
    let constant = |(i, place): (usize, &usize)| {
        place.checked_sub(width).map(|k| (i, EncryptedConstant::new(bound[k].clone())))
    };
    let bound_at: BTreeMap<_, _> = places.filter_map(constant).collect();
    // Rows that cannot be ranked are refused before anything is computed.
    let codes = |block: usize, i: usize| -> Result<Option<Vec<i128>>, TablesError> {
        if needed[i] >= width || !table.knows(needed[i]) {
            return Ok(None);
        }
        Ok(match table.cells(block, needed[i])? {
            Cells::Known(codes) => Some(codes.into_owned()),
            Cells::Encrypted(_) => None,
        })
    };
    let apart = ranker::apart(&layout, &codes, needed.len(), &bound_at, cancelled)?;
    // Noise of comparisons with a table in the clear depends on the table.
    let fields = plan.schema().fields();
    let clear = |place: &usize| table.knows(*place) && !fields[*place].is_public();
    let clear = needed.iter().filter(|place| **place < width).any(clear);
    let starts = match clear {
        true => Starts::default(),
        false => plan.starts_with((ints, keys, cancelled), params, table.rows())?,
    };
    if let Some(keys) = keys {
        plan.check_keys((ints, keys, cancelled), params, table.rows(), &starts, clear)?;
    }
    let layout = layout.deciding(starts.by_digits());
    let unread = layout.unread(&query, &schema);
    let lengths: Vec<usize> = layout.blocks().collect();
    let transparent = |codes: &[i128], i: usize| -> Result<Column<S::Ciphertext>, TablesError> {
        let encoded = Encoded::new(codes, schema.fields()[i].integer_type()?, params.slots())?;
        // Modulo p^2, as encrypted columns are.
        Ok(ints.transparent(&encoded, 2)?)
    };
    let read = |block: usize, i: usize| -> Result<Column<S::Ciphertext>, TablesError> {
        match needed[i].checked_sub(width) {
            Some(constant) => Ok(ints.shortened(&bound[constant], lengths[block])?),
            None => match table.cells(block, needed[i])? {
                Cells::Known(codes) => transparent(&codes, i),
                Cells::Encrypted(column) => Ok(column),
            },
        }
    };
    // What is read when conditions need it, or not at all; by bounds and length, what is in the
    // place of such columns.
    let later = |i: usize| unread.contains(&i) || schema.fields()[i].is_of_index();
    let mut places = HashMap::new();
    let (blocks, mut out) = (range.len() * layout.batches(), Vec::new());
    let kept = Kept::new(&layout);
    let mut kept_columns = KeptColumns::new(kept.room(range.len()));
    let mut kept = Some(kept);
    for batch in 0..layout.batches() {
        let runner = Runner::new(ints, &schema, &layout, batch).beginning(&starts);
        let mut runner = runner.reading(&read).beside((&read, &codes), Some(&apart));
        for (block, rows) in lengths.iter().copied().enumerate() {
            if !range.contains(&block) {
                runner.skip();
                continue;
            }
            let done = batch * range.len() + block - range.start + 1;
            let codes = needed.iter().map(|place| match *place < width && table.knows(*place) {
                true => table.cells(block, *place).map(Some),
                false => Ok(None),
            });
            let codes = codes.collect::<Result<Vec<_>, TablesError>>()?;
            let codes = codes.iter().map(|cells| match cells {
                Some(Cells::Known(codes)) => Some(&codes[..]),
                _ => None,
            });
            let known = Known { columns: codes.collect(), constants: &bound_at, rows };
            if runner.pass(&known)? {
                progress(done, blocks)?;
                continue;
            }
            let mut held = kept_columns.take(block);
            let mut columns = Vec::with_capacity(needed.len());
            for (i, (place, codes)) in needed.iter().zip(&known.columns).enumerate() {
                columns.push(match (held.remove(place), codes) {
                    (Some(column), _) => column,
                    (None, Some(codes)) => transparent(codes, i)?,
                    (None, None) if later(i) => {
                        let bounds = schema.fields()[i].bounds();
                        match places.entry((bounds, rows)) {
                            Entry::Occupied(found) => Column::clone(found.get()),
                            Entry::Vacant(new) => {
                                new.insert(transparent(&vec![bounds.0; rows], i)?).clone()
                            }
                        }
                    }
                    (None, None) => read(block, i)?,
                });
            }
            if batch + 1 < layout.batches() {
                let read = needed.iter().copied().zip(&columns).enumerate();
                let read = read.filter(|(i, (place, _))| *place < width && !later(*i));
                kept_columns.put(block, read.map(|(_, read)| read));
            }
            let any = known.columns.iter().any(Option::is_some);
            runner.add_keeping(&columns, any.then_some(&known), &mut kept)?;
            progress(done, blocks)?;
        }
        out.extend(runner.finish()?);
    }
    Ok(out)
}

/// A column for each encrypted constant of a plan, in the memory of the server's engine.
pub(crate) fn bound<X: Engine>(
    server: &Server<X>,
    plan: &Plan,
    constants: Option<&Constants>,
) -> Result<Vec<Column<Ciphertext<X>>>, TablesError> {
    let parameters = &plan.query().parameters;
    match constants {
        None if parameters.is_empty() => Ok(Vec::new()),
        None => Err(TablesError::Constants {
            problem: format!(
                "the query has :{}, of which none is given: encrypt it with `table bind`, and \
                 give the file of constants, too",
                parameters[0].name
            ),
        }),
        Some(constants) => {
            same_set(constants.params(), server.params())?;
            same_owner(constants.owner(), server.keys().owner(), "constants of a query")?;
            let columns = constants.columns(server.params(), plan)?;
            Ok(columns.iter().map(|x| server.upload_column(x)).collect::<Result<_, _>>()?)
        }
    }
}
