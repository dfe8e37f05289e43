//! Tables that are encrypted, and tables that the server knows.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use everlevel::OptIn;
use everlevel::files::OpenOptions;
use everlevel_tables::{
    Answer, Change, Constants, CsvRecords, EncryptedTable, PlainTable, Plan, Query, Schema,
};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use super::clear::{Clear, Pieces, data_of, partners_of};
use super::convert::{json, one_key};
use crate::errors::Result;
use crate::keys::{PublicKey, SecretKey};
use crate::params::Params;
use crate::runtime::{Progress, detached, rng};
use crate::server::Server;
use crate::values::{existing, shown};

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
                Ok(CsvRecords::new(Pieces::new(iterator, raised.clone()))?)
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
    fn size(&self) -> u64 {
        self.0.bytes()
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
