//! Server keys.

use std::path::PathBuf;

use everlevel::Value;
use everlevel::lab::Evaluator;
use everlevel_wire::ReadOptions;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use super::plaintexts::same;
use super::plan::Plan;
use crate::ciphertext::Ciphertext;
use crate::errors::{Result, refusal};
use crate::params::Params;
use crate::runtime::{detached, interrupted};
use crate::values::{existing, octets, shown};

/// Server keys, wherever they are. Shared by all that compute with them; Ctrl-C ends what does.
#[pyclass(frozen, module = "everlevel._everlevel")]
#[derive(Clone)]
pub struct Keys(pub everlevel::Keys);

impl Keys {
    pub(super) fn new(keys: impl Into<everlevel::Keys>) -> Self {
        Keys(keys.into().cancelled_by(interrupted))
    }
}

#[pymethods]
impl Keys {
    #[staticmethod]
    fn open(
        py: Python<'_>,
        params: &Params,
        path: PathBuf,
        cache_bytes: u64,
        allow_unknown_owner: bool,
        seeded_keys: bool,
    ) -> Result<Self> {
        let options = ReadOptions::default()
            .allowing_unknown_owner(allow_unknown_owner)
            .with_seeded_keys(seeded_keys);
        detached(py, || {
            let keys = everlevel::Keys::open_with(&params.0, &path, cache_bytes, &options)?;
            Ok(Keys::new(keys))
        })
    }

    #[staticmethod]
    fn from_bytes(
        py: Python<'_>,
        params: &Params,
        data: PyReadonlyArray1<'_, u8>,
        allow_unknown_owner: bool,
        seeded_keys: bool,
    ) -> Result<Self> {
        let data = octets(&data)?;
        let options = ReadOptions::default()
            .limited_to(data.len() as u64)
            .allowing_unknown_owner(allow_unknown_owner)
            .with_seeded_keys(seeded_keys);
        detached(py, || Ok(Keys::new(everlevel::Keys::from_bytes_with(&params.0, data, &options)?)))
    }

    /// Writes keys that are in memory to a file.
    fn save(&self, py: Python<'_>, path: PathBuf, overwrite: bool) -> Result<()> {
        if self.0.in_file() {
            return Err(refusal(
                "FileError",
                "python.keys-in-file",
                "the keys are in a file already: copy it",
            ));
        }
        detached(py, || Ok(self.0.save(&path, existing(overwrite))?))
    }

    #[getter]
    fn params(&self) -> Params {
        Params(self.0.params().clone())
    }

    #[getter]
    fn key_id(&self) -> Option<String> {
        shown(self.0.owner())
    }

    /// Of keys for a change: the key that ciphertexts come from.
    #[getter(from_key_id)]
    fn former_key_id(&self) -> Option<String> {
        shown(self.0.change_from())
    }

    #[getter]
    fn bootstraps(&self) -> bool {
        self.0.plan().bootstrap
    }

    fn __len__(&self) -> usize {
        let plan = self.0.plan();
        plan.len() + usize::from(plan.bootstrap)
    }

    /// Whether all keys of a plan are among them.
    fn has(&self, plan: &Plan) -> bool {
        self.0.plan().covers(&plan.0)
    }

    /// Bytes of keys that are in memory now.
    #[getter]
    fn memory_bytes(&self) -> u64 {
        self.0.memory_bytes()
    }

    /// Number and bytes by kind: relinearization, automorphisms, bootstrapping.
    fn size_report(&self) -> [(usize, u64); 3] {
        let report = self.0.size_report();
        [report.relin, report.galois, report.bootstrap]
    }

    /// A ciphertext under the new key, with keys that [`SecretKey::key_change`] made.
    fn change_key(&self, py: Python<'_>, x: &Ciphertext) -> Result<Ciphertext> {
        let params = self.0.params();
        same(params, &x.params)?;
        let changed =
            detached(py, || Ok(Evaluator::new(self.0.clone()).change_key(&x.value.get())?))?;
        let value = Value::from(changed).within(x.value.range());
        Ok(Ciphertext { params: params.clone(), value })
    }

    /// Reads the whole file and verifies every checksum; keys in memory were verified when they
    /// were read.
    fn verify(&self, py: Python<'_>) -> Result<()> {
        detached(py, || Ok(self.0.verify()?))
    }
}
