//! Secret keys.

use std::path::PathBuf;

use everlevel::files::{KeyFiles, ranges_of};
use everlevel::{FloodingPolicy, ServerKeys};
use everlevel_wire as wire;
use everlevel_wire::file::{read_file, write_secret_file};
use everlevel_wire::{Metadata, ReadOptions};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::plaintexts::{decoded, plaintext, same};
use super::plan::Plan;
use super::public::{MAX_KEY_BYTES, PublicKey};
use super::server::Keys;
use crate::ciphertext::Ciphertext;
use crate::errors::{Failure, Result, refusal};
use crate::params::Params;
use crate::runtime::{Progress, detached, rng};
use crate::values::{existing, octets, shown, slice};

/// A secret key.
#[pyclass(frozen, module = "everlevel._everlevel")]
pub struct SecretKey(pub everlevel::SecretKey);

#[pymethods]
impl SecretKey {
    #[staticmethod]
    fn generate(py: Python<'_>, params: &Params) -> Result<Self> {
        detached(py, || Ok(SecretKey(everlevel::SecretKey::generate(&params.0, &mut rng()?))))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, params: &Params, data: &[u8]) -> Result<Self> {
        detached(py, || {
            Ok(SecretKey(wire::secret_key::from_bytes(&params.0, data, &ReadOptions::default())?.0))
        })
    }

    #[staticmethod]
    fn open(py: Python<'_>, params: &Params, path: PathBuf) -> Result<Self> {
        detached(py, || {
            let data = read_file(&path, MAX_KEY_BYTES)?;
            Ok(SecretKey(
                wire::secret_key::from_bytes(&params.0, &data, &ReadOptions::default())?.0,
            ))
        })
    }

    /// The key itself, unencrypted.
    fn expose_to_bytes<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &wire::secret_key::expose_to_bytes(&self.0, &Metadata::new())?))
    }

    fn save(&self, py: Python<'_>, path: PathBuf, overwrite: bool) -> Result<()> {
        let bytes = wire::secret_key::expose_to_bytes(&self.0, &Metadata::new())?;
        detached(py, || Ok(write_secret_file(&path, &bytes, existing(overwrite))?))
    }

    #[getter]
    fn params(&self) -> Params {
        Params(self.0.params().clone())
    }

    #[getter]
    fn key_id(&self) -> Option<String> {
        shown(Some(self.0.id()))
    }

    fn public_key(&self, py: Python<'_>) -> Result<PublicKey> {
        detached(py, || Ok(PublicKey(everlevel::PublicKey::generate(&self.0, &mut rng()?))))
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

    /// The slots, from 0 to p^e - 1, or the coefficients of their elements.
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        x: &Ciphertext,
        elements: bool,
    ) -> Result<Bound<'py, PyArray1<u64>>> {
        same(self.0.params(), &x.params)?;
        let values =
            detached(py, || decoded(self.0.params(), &self.0.decrypt(&x.value.get())?, elements))?;
        Ok(values.into_pyarray(py))
    }

    /// The slots, for others to see.
    fn decrypt_for_sharing<'py>(
        &self,
        py: Python<'py>,
        x: &Ciphertext,
        elements: bool,
        statistical_bits: u32,
        decryptions_log2: u32,
    ) -> Result<Bound<'py, PyArray1<u64>>> {
        same(self.0.params(), &x.params)?;
        let policy = FloodingPolicy::new(statistical_bits, decryptions_log2);
        let values = detached(py, || {
            let plain = self.0.decrypt_for_sharing(&x.value.get(), &policy, &mut rng()?)?;
            decoded(self.0.params(), &plain, elements)
        })?;
        Ok(values.into_pyarray(py))
    }

    /// The slots of results that were cut to what decryption needs, one after the other, their
    /// exponent e, the range of each and their metadata. Whether slots hold elements is asked of
    /// the metadata.
    fn decrypt_compact<'py>(
        &self,
        py: Python<'py>,
        data: PyReadonlyArray1<'_, u8>,
        allow_unknown_owner: bool,
    ) -> Result<(Bound<'py, PyArray1<u64>>, u32, Ranges, Metadata)> {
        let (params, data) = (self.0.params(), octets(&data)?);
        let options = ReadOptions::default().allowing_unknown_owner(allow_unknown_owner);
        let (values, exponent, ranges, metadata) = detached(py, || {
            let (found, metadata) = wire::results::from_bytes(params, data, &options)?;
            let exponent = found.first().map_or(0, |x| x.exponent());
            if exponent == 0 || found.iter().any(|x| x.exponent() != exponent) {
                let problem =
                    format!("{} results: expected at least one, all of one modulus", found.len());
                return Err(refusal("FormatError", "python.results", &problem));
            }
            let elements = metadata.get("elements").is_some_and(|text| text == "true");
            // All of them, before one is refused: time does not tell which.
            let open = |x| decoded(params, &self.0.decrypt_compact(x)?, elements);
            let opened: Vec<Result<_>> = found.iter().map(open).collect();
            let values = opened.into_iter().collect::<Result<Vec<_>>>()?.concat();
            let ranges = ranges_of(&metadata, found.len())?;
            let ends = ranges.into_iter().map(|range| Some((range?.low(), range?.high())));
            Ok((values, exponent, ends.collect(), metadata))
        })?;
        Ok((values.into_pyarray(py), exponent, ranges, metadata))
    }

    /// The keys that take ciphertexts under this key to another one.
    fn key_change(&self, py: Python<'_>, to: &SecretKey) -> Result<Keys> {
        detached(py, || {
            let top = self.0.params().chain().top();
            Ok(Keys::new(ServerKeys::key_change(&self.0, &to.0, top, &mut rng()?)?))
        })
    }

    /// Writes all four files of a generation of keys.
    fn write_files(
        &self,
        py: Python<'_>,
        plan: &Plan,
        directory: PathBuf,
        overwrite: bool,
        progress: Option<Py<PyAny>>,
    ) -> Result<Vec<(PathBuf, u64)>> {
        detached(py, || {
            let mut progress = Progress::new(progress);
            let files = KeyFiles::in_directory(&directory);
            let step = |done, total| progress.step(done, total);
            let written = files.write(&self.0, &plan.0, existing(overwrite), &mut rng()?, step)?;
            Ok(written.files)
        })
    }

    /// Server keys in memory, with their uniform halves as seeds if `seeded_keys`.
    fn server_keys(
        &self,
        py: Python<'_>,
        plan: &Plan,
        seeded_keys: bool,
        progress: Option<Py<PyAny>>,
    ) -> Result<Keys> {
        detached(py, || {
            let mut progress = Progress::new(progress);
            let params = self.0.params();
            let none = ServerKeys::empty(params);
            let (mut keys, mut done) = (none.owned_by(Some(self.0.id()), None), 0);
            let total = plan.0.len() + usize::from(plan.0.bootstrap);
            ServerKeys::generate_each::<Failure>(&self.0, &plan.0, &mut rng()?, |key| {
                keys.insert(if seeded_keys { key.seeded(params) } else { key });
                done += 1;
                progress.step(done, total)
            })?;
            Ok(Keys::new(keys))
        })
    }

    /// Server keys straight into a file; returns its bytes.
    fn write_server_keys(
        &self,
        py: Python<'_>,
        plan: &Plan,
        path: PathBuf,
        overwrite: bool,
        progress: Option<Py<PyAny>>,
    ) -> Result<u64> {
        detached(py, || {
            let mut progress = Progress::new(progress);
            let step = |done, total| progress.step(done, total);
            let (none, mut rng, kept) = (Metadata::new(), rng()?, existing(overwrite));
            let report = wire::try_generate_to_file::<Failure>(
                &path, kept, &self.0, &plan.0, &none, &mut rng, step,
            )?;
            Ok(report.total_bytes())
        })
    }
}

/// Both ends of the ranges of ciphertexts, as far as they are known.
type Ranges = Vec<Option<(i128, i128)>>;

/// Takes care of what an interrupted run left beside a key, before the key is opened.
#[pyfunction]
pub fn recover_keys(py: Python<'_>, path: PathBuf) -> Result<()> {
    detached(py, || {
        KeyFiles::recover_beside(&path)?;
        Ok(())
    })
}
