//! Encrypted tables.

use std::io::Read;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use everlevel::OptIn;
use everlevel::files::OpenOptions;
use everlevel_tables::{
    Answer, Change, Constants, CsvRecords, Data, EncryptedTable, OrderedBy, Partner, PlainTable,
    Plan, Query, Schema, Search, TableId, TableKey, TablePart, TableResult, TablesError,
};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::errors::{Failure, Result, refusal};
use crate::keys::{PublicKey, SecretKey};
use crate::params::Params;
use crate::runtime::{Progress, detached, rng};
use crate::server::Server;
use crate::values::{existing, shown};

impl From<TablesError> for Failure {
    fn from(error: TablesError) -> Self {
        let class = match error {
            TablesError::Roles(e) => return e.into(),
            TablesError::Integers(e) => return e.into(),
            TablesError::Plan { .. }
            | TablesError::Table { .. }
            | TablesError::Block { .. }
            | TablesError::Result { .. } => "FormatError",
            _ => "TableError",
        };
        refusal(class, error.code(), &error.to_string())
    }
}

/// A table in the clear: comma-separated values, and the tables whose columns its rows carry.
type Clear = (PyBackedBytes, Vec<(String, PyBackedBytes)>);

fn data_of((csv, partners): &Clear, schema: &Schema) -> Result<Data> {
    Ok(Data::from_csv_with(&csv[..], schema, &partners_of(partners, schema)?)?)
}

fn partners_of(partners: &[(String, PyBackedBytes)], schema: &Schema) -> Result<Vec<Partner>> {
    let partner = |(name, csv): &(String, PyBackedBytes)| Partner::from_csv(&csv[..], schema, name);
    Ok(partners.iter().map(partner).collect::<std::result::Result<Vec<_>, _>>()?)
}

/// Comma-separated values, in pieces that an iterator hands over.
struct Pieces {
    iterator: Py<PyAny>,
    piece: Option<PyBackedBytes>,
    read: usize,
    /// What the iterator raised, which a reader would turn into text.
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Pieces {
    fn next(&mut self) -> PyResult<Option<PyBackedBytes>> {
        Python::attach(|py| {
            let next = self.iterator.bind(py).try_iter()?.next();
            next.map(|piece| piece?.extract::<PyBackedBytes>().map_err(Into::into)).transpose()
        })
    }
}

impl Read for Pieces {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        loop {
            if let Some(piece) = self.piece.as_ref().filter(|piece| self.read < piece.len()) {
                let count = bytes.len().min(piece.len() - self.read);
                bytes[..count].copy_from_slice(&piece[self.read..self.read + count]);
                self.read += count;
                return Ok(count);
            }
            match self.next() {
                Ok(None) => return Ok(0),
                Ok(piece) => (self.piece, self.read) = (piece, 0),
                Err(error) => {
                    let told = error.to_string();
                    *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    return Err(std::io::Error::other(told));
                }
            }
        }
    }
}

/// A schema of JSON, in the form that all equal ones have.
#[pyfunction]
pub fn table_schema(text: &str) -> Result<String> {
    Ok(Schema::from_json(text)?.to_json()?)
}

/// A column, what it was taken for, and whether it was kept.
type Told = (String, String, bool);

/// The schema of comma-separated values; of each column its name, what it was taken for, and
/// whether it was kept.
#[pyfunction]
pub fn infer_table_schema(py: Python<'_>, csv: &[u8]) -> Result<(String, Vec<Told>)> {
    let (schema, told) = detached(py, || Ok(Schema::infer(csv)?))?;
    Ok((schema.to_json()?, told.into_iter().map(|i| (i.column, i.told, i.kept)).collect()))
}

/// The plan of a question, whose rows are put in order by the server or the reader.
#[pyfunction]
#[pyo3(signature = (question, schema, by_server = false))]
pub fn table_plan(question: &str, schema: &str, by_server: bool) -> Result<String> {
    let by = if by_server { OrderedBy::Server } else { OrderedBy::Reader };
    Ok(Plan::ordered(question, &Schema::from_json(schema)?, by)?.to_json()?)
}

/// Question, schema and id of a plan, and whether the server puts rows in order.
#[pyfunction]
pub fn table_plan_facts(plan: &str) -> Result<(String, String, String, bool)> {
    let plan = Plan::from_json(plan)?;
    let by_server = plan.query().ordered_by == OrderedBy::Server;
    Ok((plan.question().into(), plan.schema().to_json()?, plan.id()?, by_server))
}

/// The encrypted constants of a plan: of each its name and the column that it is compared with.
#[pyfunction]
pub fn table_plan_parameters(plan: &str) -> Result<Vec<(String, String)>> {
    let plan = Plan::from_json(plan)?;
    let name = |place: usize| plan.schema().fields()[place].name().to_string();
    let parameters = plan.query().parameters.iter();
    Ok(parameters.map(|p| (p.name.clone(), name(p.column))).collect())
}

/// The constants of a plan, encrypted under one of two keys: name and text of each.
#[pyfunction]
#[pyo3(signature = (plan, constants, secret = None, public = None))]
pub fn encrypt_table_constants<'py>(
    py: Python<'py>,
    plan: &str,
    constants: Vec<(String, String)>,
    secret: Option<&SecretKey>,
    public: Option<&PublicKey>,
) -> Result<Bound<'py, PyBytes>> {
    let key = one_key(secret, public)?;
    let found = detached(py, || {
        Ok(Constants::encrypt(key, &Plan::from_json(plan)?, &constants, &mut rng()?)?)
    })?;
    Ok(PyBytes::new(py, found.as_bytes()))
}

/// Id, id of the plan, and owner of encrypted constants.
#[pyfunction]
pub fn table_constants_facts(data: &[u8]) -> Result<(String, String, Option<String>)> {
    let found = Constants::from_bytes(data.to_vec())?;
    Ok((found.id().to_string(), found.plan().into(), shown(found.owner())))
}

/// The server keys that a plan takes for a table of a given number of rows.
#[pyfunction]
pub fn table_plan_keys(
    py: Python<'_>,
    plan: &str,
    params: &Params,
    rows: usize,
) -> Result<crate::keys::Plan> {
    let keys = detached(py, || Ok(Plan::from_json(plan)?.keys(&params.0, rows)?))?;
    Ok(crate::keys::Plan(keys))
}

fn one_key<'a>(
    secret: Option<&'a SecretKey>,
    public: Option<&'a PublicKey>,
) -> Result<TableKey<'a>> {
    match (secret, public) {
        (Some(key), None) => Ok(TableKey::Secret(&key.0)),
        (None, Some(key)) => Ok(TableKey::Public(&key.0)),
        _ => Err(refusal("ParameterError", "python.one-key", "expected one key")),
    }
}

/// What a plan takes for a given number of rows, as JSON.
#[pyfunction]
pub fn table_plan_cost(py: Python<'_>, plan: &str, params: &Params, rows: usize) -> Result<String> {
    let cost = detached(py, || Ok(Plan::from_json(plan)?.cost(&params.0, rows)?))?;
    json(&cost)
}

/// What a plan does, costs and tells for a given number of rows, as JSON, and in words.
#[pyfunction]
pub fn table_plan_explain(
    py: Python<'_>,
    plan: &str,
    params: &Params,
    rows: usize,
) -> Result<(String, String)> {
    let found = detached(py, || Ok(Plan::from_json(plan)?.explain(&params.0, rows)?))?;
    Ok((json(&found)?, found.to_string()))
}

/// The answer to a plan about a table in the clear, as JSON: computed in the clear, or by the
/// computation of a server on the no-op scheme of a parameter set.
#[pyfunction]
#[pyo3(signature = (plan, clear, constants, params = None))]
pub fn table_plan_answer(
    py: Python<'_>,
    plan: &str,
    clear: Clear,
    constants: Vec<(String, String)>,
    params: Option<&Params>,
) -> Result<String> {
    let answer = detached(py, || {
        let plan = Plan::from_json(plan)?;
        let (query, schema) = (plan.query(), plan.schema());
        let (data, codes) = (data_of(&clear, schema)?, plan.codes(&constants)?);
        let answer = match params {
            None => Answer::plain_with(query, schema, &data, &codes)?,
            Some(params) => plan.rehearse(&params.0, &data, &codes)?,
        };
        Ok(answer.to_json(&query.output_types(schema)))
    })?;
    json(&answer)
}

fn json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|e| refusal("FormatError", "python.json", &e.to_string()))
}

/// An encrypted table, in memory or in a directory.
#[pyclass(frozen, module = "everlevel._everlevel")]
pub struct Table(Arc<EncryptedTable>);

#[pymethods]
impl Table {
    /// Encrypts a table in the clear under one of two keys; into a directory, if there is one.
    #[staticmethod]
    #[pyo3(signature = (clear, schema, secret = None, public = None, directory = None,
                        overwrite = false, progress = None))]
    #[allow(clippy::too_many_arguments)]
    fn encrypt(
        py: Python<'_>,
        clear: Clear,
        schema: &str,
        secret: Option<&SecretKey>,
        public: Option<&PublicKey>,
        directory: Option<PathBuf>,
        overwrite: bool,
        progress: Option<Py<PyAny>>,
    ) -> Result<Self> {
        let key = one_key(secret, public)?;
        let table = detached(py, || {
            let schema = Schema::from_json(schema)?;
            let data = data_of(&clear, &schema)?;
            let mut progress = Progress::new(progress);
            let step = |done, blocks| progress.step(done, blocks);
            let (input, mut rng) = ((&schema, &data), rng()?);
            match directory {
                None => EncryptedTable::encrypt(key, &schema, &data, &mut rng, step),
                Some(path) => {
                    EncryptedTable::create(&path, existing(overwrite), key, input, &mut rng, step)
                }
            }
        })?;
        Ok(Table(Arc::new(table)))
    }

    /// Encrypts comma-separated values that are read twice, piece by piece, into a directory:
    /// `pieces()` is an iterator of bytes.
    #[staticmethod]
    #[pyo3(signature = (pieces, partners, schema, directory, secret = None, public = None,
                        overwrite = false, progress = None))]
    #[allow(clippy::too_many_arguments)]
    fn encrypt_pieces(
        py: Python<'_>,
        pieces: Py<PyAny>,
        partners: Vec<(String, PyBackedBytes)>,
        schema: &str,
        directory: PathBuf,
        secret: Option<&SecretKey>,
        public: Option<&PublicKey>,
        overwrite: bool,
        progress: Option<Py<PyAny>>,
    ) -> Result<Self> {
        let key = one_key(secret, public)?;
        let raised = Arc::new(Mutex::new(None));
        let table = detached(py, || {
            let schema = Schema::from_json(schema)?;
            let partners = partners_of(&partners, &schema)?;
            let mut progress = Progress::new(progress);
            let open = || -> Result<_> {
                let iterator = Python::attach(|py| pieces.call0(py))?;
                let (piece, read, raised) = (None, 0, raised.clone());
                Ok(CsvRecords::new(Pieces { iterator, piece, read, raised })?)
            };
            let step = |done, blocks: Option<usize>| match blocks {
                Some(blocks) => progress.step(done, blocks),
                None => Progress::new(None).step(done, 0),
            };
            let (existing, input) = (existing(overwrite), (&schema, &partners[..]));
            EncryptedTable::create_from(&directory, existing, key, input, open, &mut rng()?, step)
        });
        match raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error.into()),
            None => Ok(Table(Arc::new(table?))),
        }
    }

    #[staticmethod]
    #[pyo3(signature = (directory, params = None, insecure_research = false))]
    fn open(
        py: Python<'_>,
        directory: PathBuf,
        params: Option<&Params>,
        insecure_research: bool,
    ) -> Result<Self> {
        let params = params.map(|params| params.0.clone());
        let opt_in = OptIn::new(insecure_research, false);
        let options = OpenOptions::default().with_params(params).accepting(opt_in);
        Ok(Table(Arc::new(detached(py, || Ok(EncryptedTable::open(&directory, &options)?))?)))
    }

    fn save(&self, py: Python<'_>, directory: PathBuf, overwrite: bool) -> Result<()> {
        detached(py, || Ok(self.0.save(&directory, existing(overwrite))?))
    }

    #[getter]
    fn params(&self) -> Params {
        Params(self.0.params().clone())
    }

    #[getter]
    fn schema(&self) -> Result<String> {
        Ok(self.0.schema().to_json()?)
    }

    #[getter]
    fn id(&self) -> String {
        self.0.id().to_string()
    }

    #[getter]
    fn key_id(&self) -> Option<String> {
        shown(self.0.owner())
    }

    #[getter]
    fn rows(&self) -> usize {
        self.0.rows()
    }

    #[getter]
    fn blocks(&self) -> usize {
        self.0.blocks()
    }

    /// None of a table in memory.
    #[getter]
    fn directory(&self) -> Option<PathBuf> {
        self.0.directory().map(Into::into)
    }

    #[getter]
    fn size(&self) -> Result<u64> {
        Ok(self.0.bytes()?)
    }

    /// The encrypted sums of a plan.
    #[pyo3(signature = (server, plan, constants = None, progress = None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        server: &Server,
        plan: &str,
        constants: Option<&[u8]>,
        progress: Option<Py<PyAny>>,
    ) -> Result<Bound<'py, PyBytes>> {
        let asked = (plan, constants, progress);
        computed(py, asked, |plan, constants, step| {
            let result = self.0.run(&server.inner, plan, constants, step)?;
            Ok(result.as_bytes().to_vec())
        })
    }

    /// The same of the blocks from `first` to before `end`: a part of a result.
    #[pyo3(signature = (server, plan, first, end, constants = None, progress = None))]
    #[allow(clippy::too_many_arguments)]
    fn run_part<'py>(
        &self,
        py: Python<'py>,
        server: &Server,
        plan: &str,
        first: usize,
        end: usize,
        constants: Option<&[u8]>,
        progress: Option<Py<PyAny>>,
    ) -> Result<Bound<'py, PyBytes>> {
        let asked = (plan, constants, progress);
        computed(py, asked, |plan, constants, step| {
            let part = self.0.run_part(&server.inner, plan, constants, first..end, step)?;
            Ok(part.as_bytes().to_vec())
        })
    }

    /// The table after rows of comma-separated values were added, or after an update or delete;
    /// how many rows that was, and the names of the files that were written and that are gone.
    #[pyo3(signature = (key, sql = None, rows = None, progress = None))]
    fn change(
        &self,
        py: Python<'_>,
        key: &SecretKey,
        sql: Option<&str>,
        rows: Option<Clear>,
        progress: Option<Py<PyAny>>,
    ) -> Result<(Table, usize, Vec<String>, Vec<String>)> {
        let (table, found) = detached(py, || {
            let schema = self.0.schema();
            let change = match &rows {
                Some(rows) => Change::insert(schema, data_of(rows, schema)?),
                None => Change::parse(sql.unwrap_or_default(), schema)?,
            };
            let mut progress = Progress::new(progress);
            self.0.changed(&key.0, &change, &mut rng()?, |done, of| progress.step(done, of))
        })?;
        Ok((Table(Arc::new(table)), found.rows, found.written, found.removed))
    }

    /// The table in the clear, as JSON: names, types and rows of texts.
    #[pyo3(signature = (key, progress = None))]
    fn decrypt(
        &self,
        py: Python<'_>,
        key: &SecretKey,
        progress: Option<Py<PyAny>>,
    ) -> Result<String> {
        detached(py, || {
            let mut progress = Progress::new(progress);
            let data = self.0.decrypt(&key.0, |done, blocks| progress.step(done, blocks))?;
            let schema = self.0.schema();
            let all = Query::of_all(schema);
            json(&Answer::plain(&all, schema, &data)?.to_json(&all.output_types(schema)))
        })
    }
}

/// A step of progress, which may end the work.
type Step<'a> = &'a mut dyn FnMut(usize, usize) -> Result<()>;

/// The bytes of a result or a part of one, of a plan, constants and who is told of the progress.
fn computed<'py>(
    py: Python<'py>,
    (plan, constants, progress): (&str, Option<&[u8]>, Option<Py<PyAny>>),
    run: impl FnOnce(&Plan, Option<&Constants>, Step<'_>) -> Result<Vec<u8>> + Send,
) -> Result<Bound<'py, PyBytes>> {
    let result = detached(py, || {
        let mut progress = Progress::new(progress);
        let plan = Plan::from_json(plan)?;
        let constants = constants.map(|data| Constants::from_bytes(data.to_vec())).transpose()?;
        run(&plan, constants.as_ref(), &mut |done, blocks| progress.step(done, blocks))
    })?;
    Ok(PyBytes::new(py, &result))
}

/// Two parts of a result, of neighboring blocks, as one.
#[pyfunction]
pub fn join_table_parts<'py>(
    py: Python<'py>,
    server: &Server,
    first: &[u8],
    second: &[u8],
) -> Result<Bound<'py, PyBytes>> {
    let joined = detached(py, || {
        let [first, second] = [first, second].map(|data| TablePart::from_bytes(data.to_vec()));
        Ok(first?.joined(&second?, &server.inner)?)
    })?;
    Ok(PyBytes::new(py, joined.as_bytes()))
}

/// The result, of a part that has all blocks.
#[pyfunction]
pub fn table_part_result<'py>(
    py: Python<'py>,
    server: &Server,
    data: &[u8],
) -> Result<Bound<'py, PyBytes>> {
    let result = detached(py, || Ok(TablePart::from_bytes(data.to_vec())?.result(&server.inner)?))?;
    Ok(PyBytes::new(py, result.as_bytes()))
}

/// A table that the server knows.
#[pyclass(frozen, module = "everlevel._everlevel")]
pub struct KnownTable(PlainTable);

#[pymethods]
impl KnownTable {
    #[new]
    fn new(py: Python<'_>, clear: Clear, schema: &str) -> Result<Self> {
        let table = detached(py, || {
            let schema = Schema::from_json(schema)?;
            let data = data_of(&clear, &schema)?;
            Ok(PlainTable::new(schema, data, &mut rng()?))
        })?;
        Ok(KnownTable(table))
    }

    #[getter]
    fn schema(&self) -> Result<String> {
        Ok(self.0.schema().to_json()?)
    }

    #[getter]
    fn id(&self) -> String {
        self.0.id().to_string()
    }

    #[getter]
    fn rows(&self) -> usize {
        self.0.rows()
    }

    /// The encrypted answer to a plan with encrypted constants.
    #[pyo3(signature = (server, plan, constants = None, progress = None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        server: &Server,
        plan: &str,
        constants: Option<&[u8]>,
        progress: Option<Py<PyAny>>,
    ) -> Result<Bound<'py, PyBytes>> {
        let asked = (plan, constants, progress);
        computed(py, asked, |plan, constants, step| {
            let result = self.0.run(&server.inner, plan, constants, step)?;
            Ok(result.as_bytes().to_vec())
        })
    }
}

/// Plan, table, rows and owner of a result.
#[pyfunction]
pub fn table_result_facts(data: &[u8]) -> Result<(String, String, usize, Option<String>)> {
    let result = TableResult::from_bytes(data.to_vec())?;
    let owner = shown(result.owner());
    Ok((result.plan().to_json()?, result.table().to_string(), result.rows(), owner))
}

/// The answer of a result, as JSON: names, types and rows of texts.
#[pyfunction]
#[pyo3(signature = (key, data, plan = None, table = None, constants = None))]
pub fn read_table_result(
    py: Python<'_>,
    key: &SecretKey,
    data: &[u8],
    plan: Option<&str>,
    table: Option<&str>,
    constants: Option<&str>,
) -> Result<String> {
    let answer = detached(py, || {
        let result = TableResult::from_bytes(data.to_vec())?;
        let plan = plan.map(Plan::from_json).transpose()?;
        let table = table.map(str::parse::<TableId>).transpose()?;
        let constants = constants.map(str::parse::<TableId>).transpose()?;
        result.check(plan.as_ref(), table, constants)?;
        let types = result.plan().query().output_types(result.plan().schema());
        Ok(result.read(&key.0)?.to_json(&types))
    })?;
    json(&answer)
}

/// The search for a least, greatest or middle value, in rounds.
#[pyclass(frozen, module = "everlevel._everlevel")]
pub struct TableSearch(Mutex<Search>);

impl TableSearch {
    fn search(&self) -> MutexGuard<'_, Search> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl TableSearch {
    #[new]
    fn new(question: &str, schema: &str, parts: usize) -> Result<Self> {
        let search = Search::new(question, &Schema::from_json(schema)?, parts)?;
        Ok(TableSearch(Mutex::new(search)))
    }

    /// The plan of all rounds, as JSON.
    #[getter]
    fn plan(&self) -> Result<String> {
        Ok(self.search().plan().to_json()?)
    }

    #[getter]
    fn rounds(&self) -> usize {
        self.search().rounds()
    }

    /// Name and text of each constant of the next round; none after the last one.
    fn constants(&self) -> Option<Vec<(String, String)>> {
        self.search().constants()
    }

    /// Takes the result of a round, of this table if one is named, and with these constants.
    fn learn(
        &self,
        py: Python<'_>,
        key: &SecretKey,
        data: &[u8],
        table: Option<&str>,
        constants: &str,
    ) -> Result<()> {
        detached(py, || {
            let mut search = self.search();
            let result = TableResult::from_bytes(data.to_vec())?;
            let table = table.map(str::parse::<TableId>).transpose()?;
            let constants = constants.parse::<TableId>()?;
            result.check(Some(search.plan()), table, Some(constants))?;
            Ok(search.learn(&result.read(&key.0)?)?)
        })
    }

    /// The answer as JSON once all rounds are done, else none.
    fn answer(&self) -> Result<Option<String>> {
        let search = self.search();
        let Some(answer) = search.answer()? else { return Ok(None) };
        Ok(Some(json(&answer.to_json(&search.output_types()))?))
    }
}
