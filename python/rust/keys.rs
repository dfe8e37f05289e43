//! Secret, public and server keys.

use std::path::PathBuf;

use everlevel::files::{KeyFiles, ranges_of};
use everlevel::lab::{Evaluator, SchemeError};
use everlevel::{
    BootstrapMode, BootstrapPlan, FloodingPolicy, KeyPlan, KeyPlanner, Plaintext, ServerKeys,
    Value, bootstrap_plan, general_keys, general_rotations, program_keys,
};
use everlevel_circuit::expression::Program;
use everlevel_wire as wire;
use everlevel_wire::file::{read_file, write_file, write_secret_file};
use everlevel_wire::{Metadata, ReadOptions};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zeroize::Zeroizing;

use crate::ciphertext::Ciphertext;
use crate::errors::{Failure, Result, refusal};
use crate::params::Params;
use crate::runtime::{Progress, detached, interrupted, rng};
use crate::values::{existing, octets, residues, shown, slice};

/// The largest file of a single key.
const MAX_KEY_BYTES: u64 = 8 << 30;

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

    /// Server keys in memory.
    fn server_keys(
        &self,
        py: Python<'_>,
        plan: &Plan,
        progress: Option<Py<PyAny>>,
    ) -> Result<Keys> {
        detached(py, || {
            let mut progress = Progress::new(progress);
            let none = ServerKeys::empty(self.0.params());
            let (mut keys, mut done) = (none.owned_by(Some(self.0.id()), None), 0);
            let total = plan.0.len() + usize::from(plan.0.bootstrap);
            ServerKeys::generate_each::<Failure>(&self.0, &plan.0, &mut rng()?, |key| {
                keys.insert(key);
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

/// Takes care of what an interrupted run left beside a key, before the key is opened.
#[pyfunction]
pub fn recover_keys(py: Python<'_>, path: PathBuf) -> Result<()> {
    detached(py, || {
        KeyFiles::recover_beside(&path)?;
        Ok(())
    })
}

/// Both ends of the ranges of ciphertexts, as far as they are known.
type Ranges = Vec<Option<(i128, i128)>>;

/// Refuses what belongs to another set: decryption would give anything.
pub fn same(key: &everlevel::Params, ciphertext: &everlevel::Params) -> Result<()> {
    if key.same(ciphertext) {
        return Ok(());
    }
    Err(SchemeError::WrongParams { object: "ciphertext", name: key.name().into() }.into())
}

/// Slot values modulo p^exponent, or the coefficients of elements of all slots modulo p^r.
pub fn plaintext(
    params: &everlevel::Params,
    values: &[i64],
    exponent: u32,
    elements: bool,
) -> Result<Plaintext> {
    if elements {
        let residues = Zeroizing::new(residues(params, values, params.plain_exponent())?);
        return Ok(Plaintext::encode_elements(params, &residues)?);
    }
    Ok(Plaintext::encode_modulo(
        params,
        &Zeroizing::new(residues(params, values, exponent)?),
        exponent,
    )?)
}

/// What was decrypted.
fn decoded(params: &everlevel::Params, plain: &Plaintext, elements: bool) -> Result<Vec<u64>> {
    Ok(if elements { plain.decode_elements(params)? } else { plain.decode_decrypted(params)? })
}

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

/// Which server keys are made.
#[pyclass(frozen, module = "everlevel._everlevel")]
pub struct Plan(pub KeyPlan);

#[pymethods]
impl Plan {
    /// For any program, or for one; in full mode for slots that hold whole elements.
    #[new]
    fn new(
        py: Python<'_>,
        params: &Params,
        program: Option<String>,
        elements: bool,
    ) -> Result<Self> {
        let program = program.map(|text| Program::parse(&text)).transpose()?;
        let params = &params.0;
        detached(py, || match &program {
            Some(_) if elements => Err(refusal(
                "ParameterError",
                "python.elements",
                "keys for one program are for integers",
            )),
            Some(program) => Ok(Plan(program_keys(params, program)?)),
            None if elements && params.spec().bootstrap.is_some() => {
                let planner = KeyPlanner::with_plan(params, plan_for(params, true)?)?;
                Ok(Plan(
                    planner
                        .keys()
                        .merge(&general_rotations(params, planner.after_bootstrap().level)?),
                ))
            }
            None => Ok(Plan(general_keys(params)?)),
        })
    }

    fn __len__(&self) -> usize {
        self.0.len() + usize::from(self.0.bootstrap)
    }

    /// What the keys take in a file.
    fn bytes(&self, params: &Params) -> u64 {
        self.0.seeded_bytes(&params.0)
    }
}

/// How a server bootstraps: as the set says, or in full mode.
pub fn plan_for(params: &everlevel::Params, elements: bool) -> Result<BootstrapPlan> {
    if elements {
        return Ok(BootstrapPlan::for_mode(params, BootstrapMode::Full)?);
    }
    Ok(bootstrap_plan(params)?)
}

/// Server keys, wherever they are. Shared by all that compute with them; Ctrl-C ends what does.
#[pyclass(frozen, module = "everlevel._everlevel")]
#[derive(Clone)]
pub struct Keys(pub everlevel::Keys);

impl Keys {
    fn new(keys: impl Into<everlevel::Keys>) -> Self {
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
    ) -> Result<Self> {
        let options = ReadOptions::default().allowing_unknown_owner(allow_unknown_owner);
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
    ) -> Result<Self> {
        let data = octets(&data)?;
        let options = ReadOptions::default()
            .limited_to(data.len() as u64)
            .allowing_unknown_owner(allow_unknown_owner);
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

    #[getter]
    fn in_file(&self) -> bool {
        self.0.in_file()
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
