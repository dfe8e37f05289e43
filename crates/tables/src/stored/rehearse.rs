//! Answers by the computation of a server, on the no-op scheme.

use std::sync::Arc;

use everlevel::lab::NoOp;
use everlevel::{Integers, Params, Plaintext};
use everlevel_integers::{Column, Encoded, no_op_session};

use crate::answer::Answer;
use crate::data::Data;
use crate::error::TablesError;
use crate::field::Field;
use crate::plan::Plan;
use crate::stored::compute::{Cells, Rows, evaluate};

/// A ciphertext of the no-op scheme.
pub(crate) type Pretended = <NoOp as everlevel::lab::Scheme>::Ciphertext;

/// A table whose columns are encrypted, by the no-op scheme, when they are read.
pub(crate) struct Rehearsed<'a> {
    pub(crate) scheme: &'a NoOp,
    pub(crate) plan: &'a Plan,
    pub(crate) data: &'a Data,
}

impl Rehearsed<'_> {
    /// A column encrypted like those of tables, or an encrypted constant.
    fn encrypted(&self, field: &Field, entries: &[i128]) -> Result<Column<Pretended>, TablesError> {
        let params = self.scheme.params();
        let encoded = Encoded::new(entries, field.integer_type()?, params.slots())?;
        let (level, exponent) = (field.level(params), field.plain_exponent());
        encoded.encrypt(|slots| {
            let plain = Plaintext::encode_modulo(params, slots, exponent)?;
            Ok(self.scheme.encrypt_at(&plain, level)?)
        })
    }

    /// The codes of a column of a block.
    fn codes(&self, block: usize, place: usize) -> &[i128] {
        let slots = self.scheme.params().slots();
        let (start, codes) = (block * slots, self.data.column(place));
        &codes[start..codes.len().min(start + slots)]
    }
}

impl Rows<NoOp> for Rehearsed<'_> {
    fn rows(&self) -> usize {
        self.data.rows()
    }

    fn knows(&self, place: usize) -> bool {
        self.plan.schema().fields()[place].is_public()
    }

    fn cells(&self, block: usize, place: usize) -> Result<Cells<'_, Pretended>, TablesError> {
        let codes = self.codes(block, place);
        Ok(match self.knows(place) {
            true => Cells::Known(codes.into()),
            false => Cells::Encrypted(self.encrypted(&self.plan.schema().fields()[place], codes)?),
        })
    }
}

impl Plan {
    /// The answer for a table in the clear, by the same operations that a server performs, on the
    /// no-op scheme. It needs no keys and provides no security, but has all limits of the real
    /// scheme on levels, noise and ranges. `constants` are those of [`Plan::codes`].
    ///
    /// # Errors
    /// Those of [`EncryptedTable::run`](crate::EncryptedTable::run) and
    /// [`TableResult::read`](crate::TableResult::read); [`TablesError::Data`] for a table of
    /// another number of columns; [`TablesError::Constants`] unless there is a code for each
    /// constant.
    pub fn rehearse(
        &self,
        params: &Params,
        data: &Data,
        constants: &[i128],
    ) -> Result<Answer, TablesError> {
        let whole = self.query().rows(self.schema())?;
        let (fields, width) = (whole.fields(), self.schema().fields().len());
        data.check_width(width)?;
        data.check(self.schema())?;
        self.query().check_constants(constants)?;
        let scheme = Arc::new(NoOp::new(params, 1));
        let bootstraps = params.spec().bootstrap.is_some();
        let session = no_op_session(params, scheme.clone(), bootstraps)?;
        let ints = Integers::new(&session, params)?;
        let table = Rehearsed { scheme: &scheme, plan: self, data };
        let bound = fields[width..].iter().zip(constants);
        let bound = bound.map(|(field, code)| table.encrypted(field, &vec![*code; params.slots()]));
        let bound = bound.collect::<Result<Vec<_>, _>>()?;
        let quiet = |_, _| Ok::<_, TablesError>(());
        let blocks = 0..data.rows().div_ceil(params.slots());
        let sums = evaluate(&table, (&ints, None, None), params, self, &bound, blocks, quiet)?;
        let opened = sums.iter().map(|x| scheme.decrypt(x)).collect::<Result<Vec<_>, _>>()?;
        let (_, layout) = self.layout(params, data.rows())?;
        Answer::new(self.query(), self.schema(), &layout.read(params, &opened)?)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::{Mutex, Weak};

    use everlevel::{KeyPlan, OptIn, general_keys};
    use everlevel_integers::TablePlans;

    use super::*;
    use crate::schema::Schema;
    use crate::starts::Starts;
    use crate::stored::encrypt::Place;

    /// A table that counts how often each of its columns is read, block by block.
    struct Counting<'a> {
        table: Rehearsed<'a>,
        reads: Mutex<BTreeMap<Place, usize>>,
    }

    impl Rows<NoOp> for Counting<'_> {
        fn rows(&self) -> usize {
            Rows::<NoOp>::rows(&self.table)
        }

        fn knows(&self, place: usize) -> bool {
            Rows::<NoOp>::knows(&self.table, place)
        }

        fn cells(&self, block: usize, place: usize) -> Result<Cells<'_, Pretended>, TablesError> {
            *self.reads.lock().unwrap().entry((block, place)).or_insert(0) += 1;
            Rows::<NoOp>::cells(&self.table, block, place)
        }
    }

    /// How often each column is read for a query of two batches of sums on `blocks` blocks, whose
    /// answer is right: g, h, x and y have 2, 1, 5 and 5 ciphertexts in each block.
    fn read(blocks: usize) -> BTreeMap<Place, usize> {
        let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
        let schema = Schema::from_json(
            r#"{"columns": [
                {"name": "g", "type": "integer", "low": 0, "high": 99},
                {"name": "h", "type": "integer", "low": 0, "high": 5},
                {"name": "x", "type": "integer", "low": 0, "high": 1000000},
                {"name": "y", "type": "integer", "low": -500000, "high": 500000}]}"#,
        );
        let schema = schema.unwrap();
        let rows = (blocks - 1) * params.slots() + 9;
        let column = |of: fn(i128) -> i128| (0..rows as i128).map(of).collect::<Vec<_>>();
        let columns = vec![
            column(|i| i * 37 % 90),
            column(|i| i * i % 6),
            column(|i| i * 7919 % 1_000_001),
            column(|i| i * 104_729 % 1_000_001 - 500_000),
        ];
        let data = Data::from_columns(columns, &schema).unwrap();
        let text = "select g, sum(x), sum(y) from t where h < 3 group by g";
        let plan = Plan::new(text, &schema).unwrap();
        let (_, layout) = plan.layout(&params, rows).unwrap();
        assert_eq!((layout.batches(), layout.block_count()), (2, blocks));
        let scheme = Arc::new(NoOp::new(&params, 1));
        let session = no_op_session(&params, scheme.clone(), true).unwrap();
        let ints = Integers::new(&session, &params).unwrap();
        let table = Rehearsed { scheme: &scheme, plan: &plan, data: &data };
        let counting = Counting { table, reads: Mutex::default() };
        let with = (&ints, None, None);
        let quiet = |_, _| Ok::<_, TablesError>(());
        let sums = evaluate(&counting, with, &params, &plan, &[], 0..blocks, quiet).unwrap();
        let opened: Vec<_> = sums.iter().map(|x| scheme.decrypt(x).unwrap()).collect();
        let sums = layout.read(&params, &opened).unwrap();
        let answer = Answer::new(plan.query(), &schema, &sums).unwrap();
        assert_eq!(answer, Answer::plain(plan.query(), &schema, &data).unwrap());
        counting.reads.into_inner().unwrap()
    }

    #[test]
    fn a_ciphertext_is_read_once_where_there_is_room_to_keep_it() {
        let each = |block: usize| (0..4usize).map(move |place| (block, place));
        let all = |blocks: usize| (0..blocks).flat_map(each);
        // The columns of a single block are kept whatever their size, those of two within 64
        // ciphertexts: 26, beside the filter and the group in both batches.
        for blocks in [1, 2] {
            let once: BTreeMap<Place, usize> = all(blocks).map(|place| (place, 1)).collect();
            assert_eq!(read(blocks), once);
        }
        // 12 ciphertexts of each of five blocks, two of them truth values: y does not fit.
        let times = |place: Place| (place, if place.1 == 3 { 2 } else { 1 });
        assert_eq!(read(5), all(5).map(times).collect::<BTreeMap<_, _>>());
    }

    /// A table that watches which truth values of indexes are held after they were read from it.
    struct Watching<'a> {
        table: Rehearsed<'a>,
        /// A column that the server knows.
        known: Option<usize>,
        watched: Mutex<Watched>,
    }

    #[derive(Default)]
    struct Watched {
        /// The columns of indexes that were read.
        read: BTreeSet<usize>,
        held: Vec<Weak<Pretended>>,
        /// How many were held at the same time.
        most: usize,
    }

    impl Rows<NoOp> for Watching<'_> {
        fn rows(&self) -> usize {
            Rows::<NoOp>::rows(&self.table)
        }

        fn knows(&self, place: usize) -> bool {
            self.known == Some(place)
        }

        fn cells(&self, block: usize, place: usize) -> Result<Cells<'_, Pretended>, TablesError> {
            if self.knows(place) {
                return Ok(Cells::Known(self.table.codes(block, place).into()));
            }
            let cells = Rows::<NoOp>::cells(&self.table, block, place)?;
            if let Cells::Encrypted(column) = &cells
                && self.table.plan.schema().fields()[place].is_of_index()
            {
                let mut watched = self.watched.lock().unwrap();
                watched.held.retain(|x| x.strong_count() > 0);
                watched.held.extend(column.values().map(|x| Arc::downgrade(&x.get())));
                watched.most = watched.most.max(watched.held.len());
                watched.read.insert(place);
            }
            Ok(cells)
        }
    }

    /// Of three indexes of 39 ciphertexts, those of one digit of two columns are held at the same
    /// time, of one block after the other.
    #[test]
    fn truth_values_of_one_digit_are_held() {
        let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
        let date = |name: &str| {
            format!(
                r#"{{"name": "{name}", "type": "date", "low": "1992-01-02", "high": "1998-12-31",
                     "index": true}}"#
            )
        };
        let schema = Schema::from_json(&format!(
            r#"{{"columns": [{}, {}, {},
                {{"name": "n", "type": "integer", "low": 0, "high": 9}}]}}"#,
            date("sent"),
            date("due"),
            date("came")
        ));
        let (schema, rows) = (schema.unwrap(), params.slots() + 9);
        let column = |of: &dyn Fn(i128) -> i128| (0..rows as i128).map(of).collect::<Vec<_>>();
        let first = schema.fields()[0].bounds().0;
        let sent = move |i: i128| first + i * 37 % 2300;
        let columns = vec![
            column(&sent),
            column(&|i| sent(i) + i % 7),
            column(&|i| sent(i) + i * i % 11),
            column(&|i| i % 10),
        ];
        let data = Data::from_columns(columns, &schema).unwrap();
        let text = "select count(*) from t where sent < due and due < came and n < 5 \
                    and came >= date '1994-01-01' and came < date '1995-01-01'";
        let plan = Plan::new(text, &schema).unwrap();
        let expected = Answer::plain(plan.query(), &schema, &data).unwrap();
        let (_, layout) = plan.layout(&params, rows).unwrap();
        assert_eq!(layout.block_count(), 2);
        // Beside a column in the clear nothing is lowered, so that what is read is what is held;
        // else that is dropped as soon as it is lowered.
        for known in [Some(schema.place("n").unwrap()), None] {
            let scheme = Arc::new(NoOp::new(&params, 1));
            let session = no_op_session(&params, scheme.clone(), true).unwrap();
            let ints = Integers::new(&session, &params).unwrap();
            let table = Rehearsed { scheme: &scheme, plan: &plan, data: &data };
            let watching = Watching { table, known, watched: Mutex::default() };
            let (with, quiet) = ((&ints, None, None), |_, _| Ok::<_, TablesError>(()));
            let sums = evaluate(&watching, with, &params, &plan, &[], 0..2, quiet).unwrap();
            let opened: Vec<_> = sums.iter().map(|x| scheme.decrypt(x).unwrap()).collect();
            let sums = layout.read(&params, &opened).unwrap();
            let answer = Answer::new(plan.query(), &schema, &sums).unwrap();
            assert_eq!(answer, expected);
            let Watched { read, held, most } = watching.watched.into_inner().unwrap();
            assert_eq!(read.len(), 3 * 39);
            let digit = 2 * 15;
            assert!(most <= digit && (most == digit || known.is_none()), "{known:?}: {most}");
            assert!(held.iter().all(|x| x.strong_count() == 0), "{known:?}");
        }
    }

    #[test]
    fn conditions_begin_as_low_as_the_keys_of_a_server_allow() {
        let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
        let schema = Schema::from_json(
            r#"{"columns": [
                {"name": "g", "type": "integer", "low": 0, "high": 2},
                {"name": "x", "type": "integer", "low": 0, "high": 9999},
                {"name": "y", "type": "integer", "low": 0, "high": 9999}]}"#,
        );
        let (schema, rows) = (schema.unwrap(), params.slots() + 9);
        let column = |of: fn(i128) -> i128| (0..rows as i128).map(of).collect::<Vec<_>>();
        let columns = vec![column(|i| i % 3), column(|i| i * 37 % 9999), column(|i| i * i % 9999)];
        let data = Data::from_columns(columns, &schema).unwrap();
        for text in [
            "select sum(y) from t where x between 100 and 4000 and g = 1",
            "select y from t where x = 37",
        ] {
            let plan = Plan::new(text, &schema).unwrap();
            let plans = TablePlans::default();
            let starts = plan.starts(&params, rows, &plans, None).unwrap();
            assert!(!starts.is_empty(), "{text}");
            let least = plan.keys(&params, rows).unwrap();
            // As an earlier release made them.
            let top = plan.keys_from(&Starts::default(), (&params, &plans), rows).unwrap();
            let size = |keys: &KeyPlan| keys.seeded_bytes(&params);
            assert!(size(&least) < size(&top), "{text}: {} and {}", size(&least), size(&top));
            for keys in [least, top, general_keys(&params).unwrap()] {
                let scheme = Arc::new(NoOp::new(&params, 1).holding(keys.clone()));
                let session = no_op_session(&params, scheme.clone(), false).unwrap();
                let ints = Integers::new(&session, &params).unwrap();
                let table = Rehearsed { scheme: &scheme, plan: &plan, data: &data };
                let quiet = |_, _| Ok::<_, TablesError>(());
                let with = (&ints, Some(&keys), None);
                let sums = evaluate(&table, with, &params, &plan, &[], 0..2, quiet).unwrap();
                let opened: Vec<_> = sums.iter().map(|x| scheme.decrypt(x).unwrap()).collect();
                let (_, layout) = plan.layout(&params, rows).unwrap();
                let sums = layout.read(&params, &opened).unwrap();
                let answer = Answer::new(plan.query(), &schema, &sums).unwrap();
                assert_eq!(answer, Answer::plain(plan.query(), &schema, &data).unwrap(), "{text}");
            }
        }
    }

    /// Conditions that are too deep for the modulus of indexes are decided by digits, as far as
    /// that takes no bootstrapping.
    #[test]
    fn digits_decide_what_is_too_deep_for_indexes() {
        let params = Params::named("bgv-65537-n15", OptIn::SecureOnly).unwrap();
        let schema = Schema::from_json(
            r#"{"columns": [
                {"name": "a", "type": "integer", "low": 0, "high": 15, "index": true},
                {"name": "b", "type": "integer", "low": 0, "high": 15, "index": true},
                {"name": "x", "type": "integer", "low": 0, "high": 9999}]}"#,
        );
        let (schema, rows) = (schema.unwrap(), 500);
        let column = |of: fn(i128) -> i128| (0..500).map(of).collect::<Vec<_>>();
        let columns =
            vec![column(|i| i % 16), column(|i| i * i * 7 % 16), column(|i| i * 37 % 9999)];
        let data = Data::from_columns(columns, &schema).unwrap();
        // a > 3 or (b > 4 and (a > 5 or …)), each a product deeper than what is in it.
        let nested = |depth: usize| {
            (0..depth).rev().fold("b < 8".to_string(), |inner, i| {
                let (column, joined) = if i % 2 == 0 { ("a", "or") } else { ("b", "and") };
                format!("{column} > {} {joined} ({inner})", i % 12 + 3)
            })
        };
        let (plans, mut ways) = (TablePlans::default(), Vec::new());
        for depth in 1..=14 {
            let text = format!("select sum(x) from t where {}", nested(depth));
            let plan = Plan::new(&text, &schema).unwrap();
            let starts = plan.starts(&params, rows, &plans, None).unwrap();
            ways.push(starts.by_digits());
            if !starts.by_digits() && depth > 1 {
                continue;
            }
            let answer = plan.rehearse(&params, &data, &[]).unwrap();
            assert_eq!(answer, Answer::plain(plan.query(), &schema, &data).unwrap(), "{text}");
            let told = plan.explain(&params, rows).unwrap();
            // Four digits of x, and one of a and b each, or a truth value of the index of each.
            assert_eq!((told.cost.refreshes, told.cost.ciphertexts), (0, 6), "{text}");
            let indexes: &[&str] = if starts.by_digits() { &[] } else { &["a", "b"] };
            assert_eq!(told.indexes_read, indexes, "{text}");
        }
        assert!(!ways[0] && ways.contains(&true), "{ways:?}");
    }
}
