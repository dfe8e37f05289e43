//! The cost of a plan, and what it reveals, before it is run.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::sync::Arc;

use everlevel::lab::{Bootstrappable, NoOp, Scheme};
use everlevel::{Cost, Integers, Params, Plaintext, TimeModel};
use everlevel_integers::{Column, Encoded, ciphertext_bytes, no_op_session};
use everlevel_scheme::SchemeError;
use serde::Serialize;

use crate::across::Pretends;
use crate::error::TablesError;
use crate::field::Field;
use crate::kept::Kept;
use crate::known::Known;
use crate::layout::Layout;
use crate::plan::Plan;
use crate::query::Query;
use crate::run::Runner;
use crate::schema::Schema;
use crate::starts::{Cancelled, Part, parts};
use crate::stored::result::lowest;

/// The cost of a plan on a parameter set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PlanCost {
    /// The number of ciphertexts of the columns that are read.
    pub ciphertexts: usize,
    /// Products of ciphertexts, those in bootstrappings included.
    pub products: u64,
    /// Key switches: relinearizations and rotations.
    pub key_switches: u64,
    /// Bootstrappings.
    pub refreshes: usize,
    /// The number of levels between fresh columns and the answer; all levels of the set if there
    /// are bootstrappings.
    pub levels: usize,
    /// Seconds on a typical core, by a model that counts operations.
    pub seconds: f64,
    /// The number of ciphertexts of the result.
    pub result_ciphertexts: usize,
    /// The size in bytes of the columns that are read, if the table was encrypted with the secret
    /// key; it is twice that with the public key.
    pub table_bytes: u64,
    /// The size in bytes of the constants, if they are encrypted with the public key; it is half of
    /// that with the secret key.
    pub constant_bytes: u64,
    /// The size of the result in bytes.
    pub result_bytes: u64,
    /// The number of sums in the result, which the reader learns: the requested sums, or sums of
    /// the parts of a product from which these are computed.
    pub sums: usize,
    /// The number of least and greatest values in the result.
    pub extremes: usize,
}

/// The modulus at which conditions on some columns begin, if it is a smaller one than that of the
/// columns: the server drops a part of the modulus that these conditions do not need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConditionStart {
    /// The columns: one if codes of this column are looked for, or those of a comparison.
    pub columns: Vec<String>,
    /// The bits of the modulus.
    pub modulus_bits: u32,
}

/// The cost of a plan, and how its conditions are decided.
pub(crate) struct Costed {
    pub(crate) cost: PlanCost,
    /// The conditions that begin at a smaller modulus.
    pub(crate) starts: Vec<ConditionStart>,
    /// Whether digits decide what indexes could decide, so that no index is read.
    pub(crate) by_digits: bool,
}

/// One column of `rows` rows for each column of a schema, with encryptions of 0 by `encrypt`, for
/// rehearsals.
pub(crate) fn pretended<C>(
    params: &Params,
    schema: &Schema,
    rows: usize,
    encrypt: impl Fn(&Plaintext, &Field) -> Result<C, SchemeError>,
) -> Result<Vec<Column<C>>, TablesError> {
    let zero = |exponent| Plaintext::encode_modulo(params, &[], exponent);
    let (zero, summed) = (zero(1)?, zero(2)?);
    // One for all columns of the same bounds, such as those of indexes.
    let mut known: BTreeMap<(i128, i128), Encoded> = BTreeMap::new();
    let column = |field: &Field| {
        let encoded = match known.entry(field.bounds()) {
            Entry::Occupied(encoded) => encoded.into_mut(),
            Entry::Vacant(free) => {
                let entries = vec![field.bounds().0; rows];
                free.insert(Encoded::new(&entries, field.integer_type()?, params.slots())?)
            }
        };
        let zero = if field.plain_exponent() == 1 { &zero } else { &summed };
        encoded.encrypt(|_| Ok(encrypt(zero, field)?))
    };
    schema.fields().iter().map(column).collect()
}

/// The only column of some.
pub(crate) fn first<C>(columns: Vec<Column<C>>) -> Result<Column<C>, TablesError> {
    let missing = || TablesError::Data { problem: "no column is pretended".into() };
    columns.into_iter().next().ok_or_else(missing)
}

/// A block that is rehearsed for some blocks that take the same.
#[derive(Debug, PartialEq, Eq)]
struct Sample {
    times: usize,
    /// The sets of rows of each pass that it has.
    pretends: Vec<Pretends>,
}

/// The blocks that are rehearsed to count what all take, for passes with these numbers of sets.
///
/// All full blocks take the same, but for what is compared with the blocks before, if `again`. Of
/// rankings each set takes those of one block or of one border at most, so that few sets are in as
/// few of them: at borders, as far as there are any, and then in blocks.
fn samples(blocks: usize, sets: &[usize], again: bool) -> Vec<Sample> {
    let of_pass = |sets: usize, block: usize| {
        let borders = sets.min(blocks.saturating_sub(1));
        Pretends {
            within: block < sets - borders,
            before: (1..=borders).contains(&block),
            after: block < borders,
        }
    };
    // Where what blocks take can change, whatever the number of blocks.
    let mut starts = BTreeSet::from([0, 1]);
    for &sets in sets {
        let borders = sets.min(blocks.saturating_sub(1));
        starts.extend([borders, borders + 1, sets - borders]);
    }
    let starts: Vec<usize> = starts.range(..blocks.max(1)).copied().collect();
    let mut all: Vec<Sample> = Vec::new();
    for (i, &block) in starts.iter().enumerate() {
        let times = starts.get(i + 1).unwrap_or(&blocks).saturating_sub(block);
        let pretends: Vec<_> = sets.iter().map(|sets| of_pass(*sets, block)).collect();
        match all.last_mut().filter(|last| last.pretends == pretends && !(again && block == 1)) {
            Some(last) => last.times += times,
            None => all.push(Sample { times, pretends }),
        }
    }
    all
}

/// The least codes of each column of a schema, for `rows` rows.
pub(crate) fn least(schema: &Schema, rows: usize) -> Vec<Vec<i128>> {
    schema.fields().iter().map(|field| vec![field.bounds().0; rows]).collect()
}

impl Plan {
    /// The public columns that the plan reads: the server computes conditions on them alone in the
    /// clear.
    pub fn public_columns(&self) -> Vec<&str> {
        let fields = self.schema().fields();
        let all = self.query().columns().into_iter().filter_map(|place| fields.get(place));
        let mut names: Vec<&str> = all.filter(|field| field.is_public()).map(Field::name).collect();
        names.dedup();
        names
    }

    /// Whether public columns may decide that no row of a block meets the condition, so that the
    /// block is skipped; everybody who has the table can tell which blocks are skipped.
    pub fn passes_over(&self) -> bool {
        let fields = self.schema().fields();
        let public = |place: &usize| fields.get(*place).is_some_and(Field::is_public);
        self.query().filter.may_be_decided(false, &public)
    }

    /// The columns that the plan reads, at least one for the number of rows, and those of its
    /// encrypted constants, as indices in a row and as a schema.
    pub(crate) fn needed(&self) -> Result<(BTreeSet<usize>, Schema), TablesError> {
        let mut needed = self.query().columns();
        needed.extend(self.query().index_columns(self.schema()));
        needed.extend(needed.is_empty().then_some(0));
        let rows = self.query().rows(self.schema())?;
        let schema = rows.at(needed.iter().copied());
        Ok((needed, schema))
    }

    /// Checks that the plan can be answered exactly for tables of `rows` rows under this set.
    ///
    /// # Errors
    /// Those of [`Layout::new`].
    pub fn check_rows(&self, params: &Params, rows: usize) -> Result<(), TablesError> {
        self.layout(params, rows).map(|_| ())
    }

    /// The query on a table with only the needed columns, and the layout of its answer for `rows`
    /// rows.
    pub(crate) fn layout(
        &self,
        params: &Params,
        rows: usize,
    ) -> Result<(Query, Layout), TablesError> {
        let (needed, schema) = self.needed()?;
        let query = self.query().of_columns(&needed);
        let layout = Layout::new(&query, &schema, params.slot_shape(), rows)?;
        Ok((query, layout))
    }

    /// The cost of the plan for `rows` rows, on a server that bootstraps and has keys for
    /// automorphisms at all levels, counted on the no-op scheme.
    ///
    /// # Errors
    /// A set that does not support typed integers, or whose bootstrapping cannot be planned; a
    /// query that is too deep even with bootstrapping.
    pub fn cost(&self, params: &Params, rows: usize) -> Result<PlanCost, TablesError> {
        self.cost_unless(params, rows, || false)
    }

    /// The same, with a way to cancel it.
    ///
    /// # Errors
    /// As [`Plan::cost`]; [`SchemeError::Cancelled`] soon after `cancelled` returns true.
    pub fn cost_unless(
        &self,
        params: &Params,
        rows: usize,
        cancelled: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Result<PlanCost, TablesError> {
        Ok(self.costed(params, rows, cancelled)?.cost)
    }

    /// The same, with the levels at which the conditions begin, and what decides them.
    pub(crate) fn costed(
        &self,
        params: &Params,
        rows: usize,
        cancelled: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Result<Costed, TablesError> {
        let (needed, schema) = self.needed()?;
        let (query, layout) = self.layout(params, rows)?;
        let blocks = layout.block_count();
        let cancelled: Cancelled = Arc::new(cancelled);
        let asked = cancelled.clone();
        let scheme = Arc::new(NoOp::blank(params).cancelled_by(move || asked()));
        let bootstraps = params.spec().bootstrap.is_some();
        let session = no_op_session(params, scheme.clone(), bootstraps)?;
        let ints = Integers::new(&session, params)?;
        let starts = self.starts(params, rows, &ints.plans(), Some(&cancelled))?;
        let layout = layout.deciding(starts.by_digits());
        let of_columns = |schema: &Schema, length: usize| {
            pretended(params, schema, length, |zero, field| match field.is_public() {
                true => scheme.transparent(zero),
                false => scheme.encrypt_at(zero, field.level(params)),
            })
        };
        let rows_of = |block: usize| layout.blocks().nth(block).unwrap_or(1);
        let column =
            |block: usize, place: usize| first(of_columns(&schema.at([place]), rows_of(block))?);
        let codes = |block: usize, place: usize| -> Result<Option<Vec<i128>>, TablesError> {
            let field = &schema.fields()[place];
            Ok(field.is_public().then(|| vec![field.bounds().0; rows_of(block)]))
        };
        let meter = || (scheme.cost(), session.bootstraps());
        let model = TimeModel::typical(params.degree());
        let (mut products, mut key_switches, mut refreshes, mut seconds) = (0, 0, 0, 0.0);
        let (mut columns, mut answer) = (Vec::new(), Vec::new());
        let mut kept = Some(Kept::new(&layout));
        for batch in 0..layout.batches() {
            let runner = Runner::new(&ints, &schema, &layout, batch).beginning(&starts);
            let mut runner = runner.beside((&column, &codes), None).metered(&meter);
            let mut count = |times: usize, cost: Cost, refreshed: usize| {
                products += cost.products * times as u64;
                key_switches += cost.key_switches * times as u64;
                refreshes += refreshed * times;
                seconds += model.seconds(&cost) * times as f64;
            };
            // What a block takes, and how many of its ciphertexts are bootstrapped.
            let sets: Vec<usize> = layout.passes.iter().map(|pass| pass.rankings.len()).collect();
            let samples = samples(blocks, &sets, layout.extremes() > 0);
            for (i, Sample { times, pretends }) in samples.into_iter().enumerate() {
                let length = rows_of(i);
                columns = of_columns(&schema, length)?;
                let least = least(&schema, length);
                let fields = schema.fields().iter().zip(&least);
                let known = fields.map(|(field, codes)| field.is_public().then_some(&codes[..]));
                let constants = &BTreeMap::new();
                let known = Known { columns: known.collect(), constants, rows: length };
                let any = known.columns.iter().any(Option::is_some);
                let (before, refreshed) = (scheme.cost(), session.bootstraps());
                let none = pretends.iter().any(|of_pass| of_pass.is_empty());
                runner.pretend(pretends);
                if none {
                    runner.rank_none(length)?;
                    count(1, scheme.cost() - before, session.bootstraps() - refreshed);
                }
                let (before, refreshed) = (scheme.cost(), session.bootstraps());
                runner.add_keeping(&columns, any.then_some(&known), &mut kept)?;
                count(times, scheme.cost() - before, session.bootstraps() - refreshed);
                runner.unrehearsed().into_iter().for_each(|(cost, more)| count(times, cost, more));
            }
            let (before, refreshed) = (scheme.cost(), session.bootstraps());
            runner.skip_rest();
            answer.extend(runner.finish()?);
            count(1, scheme.cost() - before, session.bootstraps() - refreshed);
        }
        let top = params.chain().top();
        let width = self.schema().fields().len();
        // Encrypted constants are sent once, columns of the table read block by block.
        let (mut read, mut bytes_read, mut constants) = (0, 0, 0);
        let unread = layout.unread(&query, &schema);
        let all = needed.iter().zip(&columns).zip(schema.fields()).enumerate();
        for (i, ((place, column), field)) in all {
            let count = column.ciphertexts();
            if *place >= width {
                constants += count;
            } else if !field.is_public() && !unread.contains(&i) {
                read += count;
                bytes_read += count as u64 * ciphertext_bytes(params, field.level(params)) / 2;
            }
        }
        let reached = answer.iter().map(|x| scheme.level(x)).min().unwrap_or(top);
        let bytes = |x| Ok(ciphertext_bytes(params, scheme.level(&lowest(&*scheme, x)?)));
        let result_bytes = answer.iter().map(bytes).sum::<Result<u64, TablesError>>()?;
        // Of rows each block has as many.
        let all = layout.ciphertexts() as u64;
        let result_bytes = result_bytes * all / answer.len().max(1) as u64;
        let cost = PlanCost {
            ciphertexts: read * blocks,
            levels: if refreshes > 0 { top.0 } else { top.0 - reached.0 },
            table_bytes: bytes_read * blocks as u64,
            constant_bytes: constants as u64 * ciphertext_bytes(params, top),
            result_bytes,
            products,
            key_switches,
            refreshes,
            seconds,
            result_ciphertexts: layout.ciphertexts(),
            sums: layout.sums(),
            extremes: layout.extremes(),
        };
        // Those of a row, and behind them those of rankings.
        let fields = layout.schema.fields();
        let of_part = |part: &Part| {
            let read = part.reads();
            let own = read.iter().map(|place| fields[*place].level(params)).min();
            let level = starts.of(part).unwrap_or(top).min(own.unwrap_or(top));
            if level == top {
                return None;
            }
            let modulus_bits = params.chain().bits(level).round() as u32;
            let name = |place: &usize| fields[*place].name().to_string();
            let mut columns: Vec<String> = part.columns().iter().map(name).collect();
            // Those of an index have one name.
            columns.dedup();
            Some(ConditionStart { columns, modulus_bits })
        };
        let mut found: Vec<ConditionStart> = Vec::new();
        for start in parts::<()>(&layout, None).iter().filter_map(|(part, _)| of_part(part)) {
            // Sets of codes of a column with an index are parts by themselves.
            if !found.contains(&start) {
                found.push(start);
            }
        }
        Ok(Costed { cost, starts: found, by_digits: starts.by_digits() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many rankings of each pass as it has sets, and at most one for each block and border.
    #[test]
    fn samples_have_as_many_rankings_as_sets() {
        let all = samples(5, &[], false);
        assert_eq!(all, [Sample { times: 5, pretends: vec![] }]);
        let all = samples(5, &[], true);
        assert_eq!(all.iter().map(|sample| sample.times).collect::<Vec<_>>(), [1, 4]);
        for blocks in 1..9usize {
            for sets in [[1, 1], [1, 2], [3, 8], [7, 256], [9, 1]] {
                let all = samples(blocks, &sets, true);
                assert_eq!(all.iter().map(|sample| sample.times).sum::<usize>(), blocks);
                for (pass, sets) in sets.into_iter().enumerate() {
                    let count = |of: fn(&Pretends) -> bool| {
                        let counted = all.iter().filter(|sample| of(&sample.pretends[pass]));
                        counted.map(|sample| sample.times).sum::<usize>()
                    };
                    let (within, after) = (count(|x| x.within), count(|x| x.after));
                    assert_eq!(within + after, sets.min(2 * blocks - 1), "{blocks} {sets}");
                    assert_eq!(after, sets.min(blocks - 1), "{blocks} {sets}");
                    assert_eq!(after, count(|x| x.before), "{blocks} {sets}");
                }
                // A border that was ranked with the block before it is not ranked again.
                for pair in all.windows(2) {
                    for (last, next) in pair[0].pretends.iter().zip(&pair[1].pretends) {
                        assert_eq!(last.after, next.before, "{blocks} {sets:?}");
                    }
                }
            }
        }
    }
}
