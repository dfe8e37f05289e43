//! Public keys.

use std::path::PathBuf;

use everlevel_wire as wire;
use everlevel_wire::file::{read_file, write_file};
use everlevel_wire::{Metadata, ReadOptions};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::plaintexts::plaintext;
use crate::ciphertext::Ciphertext;
use crate::errors::Result;
use crate::params::Params;
use crate::runtime::{detached, rng};
use crate::values::{existing, shown, slice};

/// The largest file of a single key.
pub(super) const MAX_KEY_BYTES: u64 = 8 << 30;

/// A public key.
#[pyclass(frozen, module = "everlevel._everlevel")]
pub struct PublicKey(pub everlevel::PublicKey);

#[pymethods]
impl PublicKey {
    #[staticmethod]
    fn from_bytes(
        py: Python<'_>,
        params: &Params,
        data: &[u8],
        allow_unknown_owner: bool,
    ) -> Result<Self> {
        let options = ReadOptions::default().allowing_unknown_owner(allow_unknown_owner);
        detached(py, || Ok(PublicKey(wire::public_key::from_bytes(&params.0, data, &options)?.0)))
    }

    #[staticmethod]
    fn open(
        py: Python<'_>,
        params: &Params,
        path: PathBuf,
        allow_unknown_owner: bool,
    ) -> Result<Self> {
        let options = ReadOptions::default().allowing_unknown_owner(allow_unknown_owner);
        detached(py, || {
            let data = read_file(&path, MAX_KEY_BYTES)?;
            Ok(PublicKey(wire::public_key::from_bytes(&params.0, &data, &options)?.0))
        })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &wire::public_key::to_bytes(&self.0, &Metadata::new())?))
    }

    fn save(&self, py: Python<'_>, path: PathBuf, overwrite: bool) -> Result<()> {
        let bytes = wire::public_key::to_bytes(&self.0, &Metadata::new())?;
        detached(py, || Ok(write_file(&path, &bytes, existing(overwrite))?))
    }

    #[getter]
    fn params(&self) -> Params {
        Params(self.0.params().clone())
    }

    #[getter]
    fn key_id(&self) -> Option<String> {
        shown(self.0.owner())
    }

    fn encrypt(
        &self,
        py: Python<'_>,
        values: PyReadonlyArray1<'_, i64>,
        elements: bool,
    ) -> Result<Ciphertext> {
        let (params, values) = (self.0.params(), slice(&values)?);
        let x = detached(py, || {
            Ok(self.0.encrypt(
                &plaintext(params, values, params.plain_exponent(), elements)?,
                &mut rng()?,
            )?)
        })?;
        Ok(Ciphertext::new(params, x))
    }
}
