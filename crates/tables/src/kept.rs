//! Truth values and columns of blocks of rows that several batches of sums ask for: they are
//! computed and read once.

use std::collections::{HashMap, HashSet};

use everlevel_integers::Column;

use crate::block::Mask;
use crate::condition::Condition;
use crate::layout::{Form, Layout};
use crate::passes::Pass;
use crate::ranked::Ranked;

/// The most ciphertexts that are kept, of all blocks together: truth values, which take many
/// products, before columns, which are read. The columns of a single block are not counted.
const MOST: usize = 64;
/// The most ciphertexts of truth values of rankings that are kept, which take many comparisons: as
/// many as there are sums in a batch.
const MOST_RANKED: usize = 256;

/// The truth values that batches keep for later ones, by blocks.
pub(crate) struct Kept<C> {
    conditions: HashSet<Condition>,
    blocks: HashMap<usize, HashMap<Condition, Mask<C>>>,
    /// Those of passes of rankings, by blocks and passes; none where there is no room for all.
    ranked: Option<HashMap<(usize, usize), Ranked<C>>>,
}

impl<C> Kept<C> {
    /// An empty collection for the batches of an answer.
    pub(crate) fn new(layout: &Layout) -> Self {
        // In the blocks, and across the borders between them; each for some sets.
        let most = (2 * layout.block_count()).saturating_sub(1);
        let of_pass = |pass: &Pass| {
            let columns = pass.rankings.first().map_or(0, |i| layout.rankings[*i].columns());
            columns * pass.rankings.len().min(most)
        };
        let room = layout.passes.iter().map(of_pass).sum::<usize>() <= MOST_RANKED;
        let ranked = room.then(HashMap::new);
        Kept { conditions: shared(layout), blocks: HashMap::new(), ranked }
    }

    /// The truth values of the first block, for one batch.
    pub(crate) fn holding(masks: HashMap<Condition, Mask<C>>) -> Self {
        Kept { conditions: HashSet::new(), blocks: HashMap::from([(0, masks)]), ranked: None }
    }

    /// The truth values of a pass of rankings in a block that an earlier batch kept.
    pub(crate) fn ranked(&self, block: usize, pass: usize) -> Option<Ranked<C>> {
        self.ranked.as_ref()?.get(&(block, pass)).cloned()
    }

    /// Keeps the truth values of a pass of rankings in a block.
    pub(crate) fn put_ranked(&mut self, block: usize, pass: usize, truths: &Ranked<C>) {
        if let Some(ranked) = &mut self.ranked {
            ranked.insert((block, pass), truths.clone());
        }
    }

    /// The truth values of a block that earlier batches kept.
    pub(crate) fn take(&mut self, block: usize) -> HashMap<Condition, Mask<C>> {
        self.blocks.remove(&block).unwrap_or_default()
    }

    /// Keeps the truth values of a block that later batches may need.
    pub(crate) fn put(&mut self, block: usize, mut masks: HashMap<Condition, Mask<C>>) {
        masks.retain(|condition, _| self.conditions.contains(condition));
        if !masks.is_empty() {
            self.blocks.insert(block, masks);
        }
    }

    /// How many ciphertexts of columns may be kept beside the truth values, of each of `blocks`
    /// blocks. Those of a single block are held during each batch anyway.
    pub(crate) fn room(&self, blocks: usize) -> usize {
        match blocks {
            0 | 1 => usize::MAX,
            _ => (MOST / blocks).saturating_sub(self.conditions.len()),
        }
    }
}

/// The columns that batches leave to those behind them, by blocks and places.
pub(crate) struct KeptColumns<C> {
    /// The most ciphertexts of a block.
    most: usize,
    blocks: HashMap<usize, HashMap<usize, Column<C>>>,
}

impl<C> KeptColumns<C> {
    /// Nothing so far, and never more than `most` ciphertexts of a block.
    pub(crate) fn new(most: usize) -> Self {
        KeptColumns { most, blocks: HashMap::new() }
    }

    /// What earlier batches left of a block.
    pub(crate) fn take(&mut self, block: usize) -> HashMap<usize, Column<C>> {
        self.blocks.remove(&block).unwrap_or_default()
    }

    /// Keeps as many columns of a block as there is room for, in their order and as they are now:
    /// what a batch bootstraps in place, later ones find as it was read.
    pub(crate) fn put<'c>(
        &mut self,
        block: usize,
        columns: impl IntoIterator<Item = (usize, &'c Column<C>)>,
    ) where
        C: 'c,
    {
        let (mut room, mut kept) = (self.most, HashMap::new());
        for (place, column) in columns {
            let count = column.ciphertexts();
            if count <= room {
                room -= count;
                kept.insert(place, column.detached());
            }
        }
        if !kept.is_empty() {
            self.blocks.insert(block, kept);
        }
    }
}

/// The filter, and other conditions that more than one batch needs. They are the same for every
/// block, so that all blocks take the same operations.
fn shared(layout: &Layout) -> HashSet<Condition> {
    let most = MOST / layout.block_count().max(1);
    let plan = match &layout.form {
        // Rankings are made anew, or kept by themselves, and what depends on them is not kept.
        Form::Sums { plan, .. } if layout.rankings.is_empty() && plan.batches() > 1 => plan,
        Form::Sums { .. } | Form::Rows(_) => return HashSet::new(),
    };
    let mut found: HashSet<&Condition> = layout.filter.iter().take(most).collect();
    let mut first: HashMap<&Condition, usize> = HashMap::new();
    for batch in 0..plan.batches() {
        for mask in plan.batch(batch).1 {
            let mut rest = vec![&layout.masks[mask]];
            while let Some(condition) = rest.pop() {
                if found.len() >= most {
                    return found.into_iter().cloned().collect();
                }
                if found.contains(condition) {
                    continue;
                }
                if *first.entry(condition).or_insert(batch) < batch {
                    found.insert(condition);
                    continue;
                }
                match condition {
                    Condition::And(parts) | Condition::Or(parts) => rest.extend(parts),
                    Condition::Not(part) => rest.push(part),
                    Condition::Constant(_)
                    | Condition::Within { .. }
                    | Condition::Indexed(..)
                    | Condition::Compare(..) => {}
                }
            }
        }
    }
    found.into_iter().cloned().collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use everlevel::lab::NoOp;
    use everlevel::{Integers, OptIn, Params, Plaintext};
    use everlevel_integers::{Column, Encoded, no_op_session};

    use super::*;
    use crate::answer::Answer;
    use crate::block::Block;
    use crate::data::Data;
    use crate::error::TablesError;
    use crate::query::Query;
    use crate::run::Runner;
    use crate::schema::Schema;
    use crate::starts::Starts;

    /// The answer, what it took in products, and what the filter of all blocks takes, once.
    struct Counted {
        answer: Answer,
        products: u64,
        filter: u64,
    }

    fn counted(keeps: bool, params: &Params, query: &Query, of: (&Schema, &Data)) -> Counted {
        let (schema, data) = of;
        let layout = Layout::new(query, schema, params.slot_shape(), data.rows()).unwrap();
        assert_eq!((layout.batches(), layout.block_count()), (2, 2));
        let scheme = Arc::new(NoOp::new(params, 1));
        let session = no_op_session(params, scheme.clone(), true).unwrap();
        let ints = Integers::new(&session, params).unwrap();
        let slots = params.slots();
        let columns = |block: usize| -> Vec<Column<_>> {
            let rows = block * slots..data.rows().min((block + 1) * slots);
            let column = |(place, field): (usize, &crate::field::Field)| {
                let entries = &data.column(place)[rows.clone()];
                let kind = field.integer_type().unwrap();
                let encoded = Encoded::new(entries, kind, slots).unwrap();
                let encrypt = |slots: &[u64]| -> Result<_, TablesError> {
                    Ok(scheme.encrypt(&Plaintext::encode_modulo(params, slots, 2)?)?)
                };
                encoded.encrypt(encrypt).unwrap()
            };
            schema.fields().iter().enumerate().map(column).collect()
        };
        let mut kept = keeps.then(|| Kept::new(&layout));
        let mut out = Vec::new();
        for batch in 0..2 {
            let mut runner = Runner::new(&ints, schema, &layout, batch);
            for block in 0..2 {
                runner.add_keeping(&columns(block), None, &mut kept).unwrap();
            }
            out.extend(runner.finish().unwrap());
        }
        // The last batch leaves nothing.
        assert!(kept.is_none_or(|kept| kept.blocks.is_empty()));
        let products = scheme.cost().products;
        let opened: Vec<_> = out.iter().map(|x| scheme.decrypt(x).unwrap()).collect();
        let sums = layout.read(params, &opened).unwrap();
        let filter = layout.filter.as_ref().unwrap();
        for number in 0..2 {
            let (starts, columns) = (&Starts::default(), columns(number));
            let mut block = Block::new(&ints, &layout.schema, columns, None, starts);
            block.column(filter).unwrap();
        }
        let filter = scheme.cost().products - products;
        Counted { answer: Answer::new(query, schema, &sums).unwrap(), products, filter }
    }

    #[test]
    fn the_filter_of_two_batches_is_computed_once() {
        let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
        let schema = Schema::from_json(
            r#"{"columns": [
                {"name": "g", "type": "integer", "low": 0, "high": 99},
                {"name": "h", "type": "integer", "low": 0, "high": 5},
                {"name": "x", "type": "integer", "low": 0, "high": 1000000},
                {"name": "y", "type": "integer", "low": -500000, "high": 500000}]}"#,
        );
        let schema = schema.unwrap();
        let rows = params.slots() + 9;
        let column = |of: fn(i128) -> i128| (0..rows as i128).map(of).collect::<Vec<_>>();
        let columns = vec![
            column(|i| i * 37 % 90),
            column(|i| i * i % 6),
            column(|i| i * 7919 % 1_000_001),
            column(|i| i * 104_729 % 1_000_001 - 500_000),
        ];
        let data = Data::from_columns(columns, &schema).unwrap();
        let text = "select g, sum(x), sum(y) from t where h < 3 group by g";
        let query = Query::parse(text, &schema).unwrap();
        let expected = Answer::plain(&query, &schema, &data).unwrap();
        let [anew, once] =
            [false, true].map(|keeps| counted(keeps, &params, &query, (&schema, &data)));
        assert_eq!((&anew.answer, &once.answer), (&expected, &expected));
        assert!(once.filter > 0, "a filter that takes no product");
        // The second batch does without it.
        assert!(
            anew.products >= once.products + once.filter,
            "{} and {} products, {} of the filter",
            anew.products,
            once.products,
            once.filter
        );
    }

    #[test]
    fn no_more_than_the_most_are_kept() {
        let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
        let schema = Schema::from_json(
            r#"{"columns": [
                {"name": "g", "type": "integer", "low": 0, "high": 99},
                {"name": "x", "type": "integer", "low": 0, "high": 1000000},
                {"name": "y", "type": "integer", "low": -500000, "high": 500000}]}"#,
        );
        let schema = schema.unwrap();
        let text = "select g, sum(x), sum(y) from t where y < 100 group by g";
        let query = Query::parse(text, &schema).unwrap();
        let conditions = |blocks: usize| {
            let rows = blocks * params.slots();
            let layout = Layout::new(&query, &schema, params.slot_shape(), rows).unwrap();
            assert!(layout.batches() > 1);
            let kept: Kept<()> = Kept::new(&layout);
            let filter = layout.filter.as_ref().unwrap();
            assert_eq!(kept.conditions.contains(filter), blocks <= MOST);
            kept.conditions.len()
        };
        // The groups whose sums are in two batches are kept beside the filter.
        assert!((1..MOST).contains(&conditions(1)));
        assert_eq!((conditions(MOST), conditions(MOST + 1)), (1, 0));
    }
}
