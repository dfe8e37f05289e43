//! Manifests of noise bounds.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use everlevel_wire as wire;
use everlevel_wire::ReadOptions;
use everlevel_wire::file::{read_file, write_file, write_secret_file};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::Result;
use crate::params::Params;
use crate::runtime::{detached, rng};
use crate::values::{existing, octets, shown};

/// The largest manifest, in bytes: also of the program.
const MAX_BYTES: u64 = 1 << 27;

/// What those share who trust each other's noise bounds.
#[pyclass(frozen, module = "everlevel._everlevel")]
pub struct ManifestKey(wire::ManifestKey);

#[pymethods]
impl ManifestKey {
    #[staticmethod]
    fn generate() -> Result<Self> {
        Ok(ManifestKey(wire::ManifestKey::generate(&mut rng()?)))
    }

    #[staticmethod]
    fn from_bytes(data: &[u8]) -> Result<Self> {
        Ok(ManifestKey(wire::ManifestKey::from_bytes(data)?))
    }

    #[staticmethod]
    fn open(path: PathBuf) -> Result<Self> {
        // Whatever else the file may be, its length tells.
        Ok(ManifestKey(wire::ManifestKey::from_bytes(&read_file(&path, 1 << 10)?)?))
    }

    fn expose_to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.expose_bytes())
    }

    fn save(&self, py: Python<'_>, path: PathBuf, overwrite: bool) -> Result<()> {
        detached(py, || Ok(write_secret_file(&path, self.0.expose_bytes(), existing(overwrite))?))
    }
}

/// Noise bounds of objects by their digests.
#[pyclass(frozen, module = "everlevel._everlevel")]
pub struct Manifest(Mutex<Arc<wire::Manifest>>);

impl Manifest {
    fn of(manifest: wire::Manifest) -> Self {
        Manifest(Mutex::new(Arc::new(manifest)))
    }

    fn lock(&self) -> MutexGuard<'_, Arc<wire::Manifest>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it lists now.
    pub fn current(&self) -> Arc<wire::Manifest> {
        self.lock().clone()
    }
}

#[pymethods]
impl Manifest {
    #[new]
    fn new(params: &Params) -> Self {
        Self::of(wire::Manifest::new(&params.0))
    }

    #[staticmethod]
    fn from_bytes(data: &[u8], key: &ManifestKey) -> Result<Self> {
        Ok(Self::of(wire::Manifest::from_bytes(data, &key.0, &ReadOptions::default())?))
    }

    #[staticmethod]
    fn open(path: PathBuf, key: &ManifestKey) -> Result<Self> {
        Self::from_bytes(&read_file(&path, MAX_BYTES)?, key)
    }

    /// The ids of the secret keys of what bytes list whose tag is not checked.
    #[staticmethod]
    fn stated_owners(data: PyReadonlyArray1<'_, u8>) -> Result<Vec<String>> {
        let options = ReadOptions::default().limited_to(MAX_BYTES);
        let owners = wire::Manifest::stated_owners(octets(&data)?, &options)?;
        Ok(owners.into_iter().filter_map(|id| shown(Some(id))).collect())
    }

    #[getter]
    fn params_id(&self) -> String {
        self.lock().params_id().to_string()
    }

    fn __len__(&self) -> usize {
        self.lock().len()
    }

    /// Lists the bytes of ciphertexts with the bounds that they state.
    fn add(&self, py: Python<'_>, data: PyReadonlyArray1<'_, u8>) -> Result<()> {
        let data = octets(&data)?;
        detached(py, || {
            let added = Arc::make_mut(&mut self.lock()).add(data);
            // An error asks for the interpreter's lock, whose holder may wait for the other one.
            Ok(added?)
        })
    }

    /// Lists a file of any size.
    fn add_file(&self, py: Python<'_>, path: PathBuf) -> Result<()> {
        detached(py, || {
            let added = Arc::make_mut(&mut self.lock()).add_file(&path);
            // As above.
            Ok(added?)
        })
    }

    /// Lists what another one lists, too.
    fn merge(&self, other: &Manifest) -> Result<()> {
        let other = other.current();
        Ok(Arc::make_mut(&mut self.lock()).merge(&other)?)
    }

    fn to_bytes<'py>(&self, py: Python<'py>, key: &ManifestKey) -> Result<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.lock().to_bytes(&key.0)?))
    }

    fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        key: &ManifestKey,
        overwrite: bool,
    ) -> Result<()> {
        let bytes = self.lock().to_bytes(&key.0)?;
        detached(py, || Ok(write_file(&path, &bytes, existing(overwrite))?))
    }
}
