//! The integration tests of this crate, in one binary so that it is linked once.

mod answers;
mod apart;
mod apart_blocks;
mod apart_short;
mod ask_random;
mod ask_sql;
mod batches;
mod bounds;
mod changes;
#[cfg(unix)]
mod changes_together;
mod constants;
mod flatten;
mod forged;
mod fuzzed;
mod index_pairs;
mod indexes;
mod joins;
mod joins_encrypted;
mod keys;
mod notes;
mod nulls;
mod oracle;
mod ordered;
mod parts;
mod plain;
mod plans;
mod prefixes;
mod public;
mod random;
mod records;
mod refused;
mod rehearse;
mod roles;
mod rows;
mod search;
mod search_rows;
mod texts;
mod texts_refused;
mod times;
mod workload;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use everlevel_circuit::Session;
use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper};
use everlevel_integers::{Column, Encoded, Integers, TablePlans};
use everlevel_scheme::{NoOp, OptIn, Params, Plaintext, Scheme, SchemeError};
use everlevel_tables::{Answer, Data, Field, Layout, Query, Runner, Schema, TablesError};

/// A ciphertext of the no-op scheme.
type Noop = <NoOp as Scheme>::Ciphertext;

/// A set, and what bootstraps its ciphertexts.
type Made = (Params, Arc<Bootstrapper<NoOp>>);

/// By the name of the set, each made once for all tests.
static MADE: Mutex<BTreeMap<String, Arc<OnceLock<Made>>>> = Mutex::new(BTreeMap::new());
static PLANS: LazyLock<TablePlans> = LazyLock::new(TablePlans::default);

fn made(name: &str) -> Made {
    let make = || {
        let params = Params::named(name, OptIn::InsecureResearch).unwrap();
        let plan = BootstrapPlan::for_set(&params).unwrap();
        let bootstrapper = Bootstrapper::new(&NoOp::new(&params, 1), plan).unwrap();
        (params, Arc::new(bootstrapper))
    };
    let all = || MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let own = all().entry(name.into()).or_default().clone();
    own.get_or_init(make).clone()
}

/// A server on the no-op scheme, which bootstraps.
pub(crate) struct Bench {
    params: Params,
    scheme: Arc<NoOp>,
    session: Session<NoOp>,
    plans: TablePlans,
}

impl Bench {
    pub(crate) fn new(name: &str) -> Self {
        let (params, bootstrapper) = made(name);
        let scheme = Arc::new(NoOp::new(&params, 1));
        let session = Session::new(scheme.clone(), bootstrapper);
        Bench { session, params, scheme, plans: PLANS.clone() }
    }

    /// The columns of a table, block by block of as many rows as there are slots.
    pub(crate) fn encrypt(&self, schema: &Schema, data: &Data) -> Vec<Vec<Column<Noop>>> {
        let params = &self.params;
        let encrypt =
            |slots: &[u64]| self.scheme.encrypt(&Plaintext::encode_modulo(params, slots, 2)?);
        let starts = (0..data.rows()).step_by(params.slots());
        let block = |start: usize| {
            let end = data.rows().min(start + params.slots());
            let column = |(place, field): (usize, &Field)| {
                let values = &data.column(place)[start..end];
                let kind = field.integer_type().unwrap();
                let encoded = Encoded::new(values, kind, params.slots()).unwrap();
                let found: Result<_, SchemeError> = encoded.encrypt(encrypt);
                found.unwrap()
            };
            schema.fields().iter().enumerate().map(column).collect()
        };
        starts.map(block).collect()
    }

    /// The answer by way of encrypted columns.
    pub(crate) fn try_ask(
        &self,
        text: &str,
        schema: &Schema,
        rows: usize,
        blocks: &[Vec<Column<Noop>>],
    ) -> Result<Answer, TablesError> {
        self.try_ask_with(text, schema, rows, blocks, &[])
    }

    /// The same with the codes of encrypted constants.
    pub(crate) fn try_ask_with(
        &self,
        text: &str,
        schema: &Schema,
        rows: usize,
        blocks: &[Vec<Column<Noop>>],
        constants: &[i128],
    ) -> Result<Answer, TablesError> {
        self.answered(&Query::parse(text, schema)?, schema, rows, blocks, constants)
    }

    /// The answer to a query that was read.
    pub(crate) fn answered(
        &self,
        query: &Query,
        schema: &Schema,
        rows: usize,
        blocks: &[Vec<Column<Noop>>],
        constants: &[i128],
    ) -> Result<Answer, TablesError> {
        Answer::new(query, schema, &self.told(query, schema, rows, blocks, constants)?)
    }

    /// What the reader is told, of which the answer is made.
    pub(crate) fn told(
        &self,
        query: &Query,
        schema: &Schema,
        rows: usize,
        blocks: &[Vec<Column<Noop>>],
        constants: &[i128],
    ) -> Result<Vec<Vec<i128>>, TablesError> {
        let ints = Integers::new(&self.session, &self.params)?.with_plans(self.plans.clone());
        let whole = query.rows(schema)?;
        let layout = Layout::new(query, &whole, self.scheme.slot_shape(), rows)?;
        let encrypt =
            |slots: &[u64]| self.scheme.encrypt(&Plaintext::encode_modulo(&self.params, slots, 2)?);
        let fields = whole.fields()[schema.fields().len()..].iter();
        let bound: Vec<Column<Noop>> = fields
            .zip(constants)
            .map(|(field, code)| {
                let entries = vec![*code; self.params.slots()];
                let kind = field.integer_type().unwrap();
                let encoded = Encoded::new(&entries, kind, self.params.slots()).unwrap();
                let found: Result<_, SchemeError> = encoded.encrypt(encrypt);
                found.unwrap()
            })
            .collect();
        let mut answer = Vec::new();
        for batch in 0..layout.batches() {
            let mut runner = Runner::new(&ints, &whole, &layout, batch);
            for (columns, length) in blocks.iter().zip(layout.blocks()) {
                let mut columns = columns.clone();
                for constant in &bound {
                    columns.push(ints.shortened(constant, length)?);
                }
                runner.add(&columns)?;
            }
            answer.extend(runner.finish()?);
        }
        let open = |x| self.scheme.decrypt(x).unwrap();
        layout.read(&self.params, &answer.iter().map(open).collect::<Vec<_>>())
    }

    pub(crate) fn ask(&self, text: &str, schema: &Schema, data: &Data) -> Answer {
        let blocks = self.encrypt(schema, data);
        let answer = self.try_ask(text, schema, data.rows(), &blocks);
        answer.unwrap_or_else(|e| panic!("{text}: {e}"))
    }
}

/// How many cases of a property: `usual`, or more for a search, as `.ci/nightly properties` does
/// (`PROPTEST_CASES=256`).
pub(crate) fn cases(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// The same columns, with an index where one is possible.
pub(crate) fn indexed(schema: &Schema) -> Schema {
    let field = |field: &Field| field.clone().indexed().unwrap_or_else(|_| field.clone());
    Schema::of(schema.columns().map(field).collect()).unwrap()
}

/// Goods of a shop, with a value at every bound.
pub(crate) fn shop() -> (Schema, Data) {
    let schema = Schema::from_json(
        r#"{"columns": [
            {"name": "kind", "type": "category", "values": ["tea", "cake", "PROMO tea", "jam"]},
            {"name": "price", "type": "decimal", "scale": 2, "low": "0.05", "high": "999.99"},
            {"name": "count", "type": "integer", "low": -3, "high": 500},
            {"name": "sold", "type": "date", "low": "1992-01-01", "high": "1998-12-31"},
            {"name": "paid", "type": "boolean"},
            {"name": "discount", "type": "decimal", "scale": 2, "low": "0", "high": "0.10"}
        ]}"#,
    )
    .unwrap();
    let rows = "kind,price,count,sold,paid,discount,comment
tea,0.05,-3,1992-01-01,true,0,x
cake,999.99,500,1998-12-31,false,0.10,x
PROMO tea,12.50,7,1994-06-30,true,0.06,x
jam,3.20,0,1994-01-01,false,0.05,x
tea,4.99,16,1995-01-01,true,0.07,x
tea,250,255,1994-12-31,true,0.05,x
cake,17.77,256,1996-02-29,false,0.01,x
";
    let data = Data::from_csv(rows.as_bytes(), &schema).unwrap();
    (schema, data)
}
