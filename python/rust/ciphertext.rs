//! Ciphertexts.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use everlevel::files::{Bounds, ranges_of, state_ranges};
use everlevel::{Ciphertext as Inner, Form, Value, ValueRange};
use everlevel_wire as wire;
use everlevel_wire::{Metadata, ReadOptions, WireError};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{Result, refusal};
use crate::manifest::Manifest;
use crate::params::Params;
use crate::runtime::detached;
use crate::values::{existing, octets, shown};

/// Bytes that are read at most: what a machine can have.
pub const MAX_BYTES: u64 = 1 << 40;

/// A ciphertext; a server that computes with it may make it fresher.
#[pyclass(frozen, module = "everlevel._everlevel")]
pub struct Ciphertext {
    pub params: everlevel::Params,
    pub value: Value,
}

impl Ciphertext {
    pub fn new(params: &everlevel::Params, x: Inner) -> Self {
        Ciphertext { params: params.clone(), value: x.into() }
    }
}

#[pymethods]
impl Ciphertext {
    #[getter]
    fn params(&self) -> Params {
        Params(self.params.clone())
    }

    /// The same ciphertext for somebody else, who may make it fresher.
    fn copy(&self) -> Self {
        let value = Value::from(Inner::clone(&self.value.get())).within(self.value.range());
        Ciphertext { params: self.params.clone(), value }
    }

    /// The range of the integers in all slots, if it is known: both ends are included.
    #[getter]
    fn range(&self) -> Option<(i128, i128)> {
        self.value.range().map(|range| (range.low(), range.high()))
    }

    /// The same ciphertext, whose slots hold integers of a range: so says the caller.
    fn within(&self, low: i128, high: i128) -> Result<Self> {
        let range = ValueRange::new(low, high).ok_or_else(|| {
            let found = format!("{low} to {high}: expected -2^100 <= low <= high <= 2^100");
            refusal("RangeError", "python.value-range", &found)
        })?;
        Ok(Ciphertext { params: self.params.clone(), value: self.value.clone().within(range) })
    }

    /// How many squarings in a row leave a ciphertext that can be decrypted.
    #[getter]
    fn multiplications_left(&self) -> usize {
        everlevel::multiplications_left(&self.params, self.value.get().meta(), 0.0)
    }

    #[getter]
    fn level(&self) -> usize {
        self.value.get().level().0
    }

    #[getter]
    fn noise_bound_bits(&self) -> f64 {
        self.value.get().noise_bound_bits()
    }

    #[getter]
    fn capacity_bits(&self) -> f64 {
        self.params.noise().capacity(self.value.get().meta())
    }

    #[getter]
    fn modulus_bits(&self) -> f64 {
        self.params.modulus_bits(self.value.get().level())
    }

    #[getter]
    fn depth(&self) -> u32 {
        self.value.get().meta().depth
    }

    #[getter]
    fn plain_exponent(&self) -> u32 {
        self.value.get().meta().exponent
    }

    #[getter]
    fn form(&self) -> &'static str {
        if self.value.get().meta().form == Form::Bfv { "bfv" } else { "bgv" }
    }

    #[getter]
    fn key_id(&self) -> Option<String> {
        shown(self.value.get().owner())
    }

    #[getter]
    fn fingerprint(&self) -> u64 {
        self.value.get().fingerprint()
    }
}

/// Writes a file in one step.
#[pyfunction]
pub fn write_file(py: Python<'_>, path: PathBuf, data: &[u8], overwrite: bool) -> Result<()> {
    detached(py, || Ok(wire::file::write_file(&path, data, existing(overwrite))?))
}

/// Ciphertexts as one object of the wire format.
#[pyfunction]
pub fn ciphertexts_to_bytes<'py>(
    py: Python<'py>,
    ciphertexts: Vec<Bound<'py, Ciphertext>>,
    metadata: BTreeMap<String, String>,
) -> Result<Bound<'py, PyBytes>> {
    let (params, values) = current(&ciphertexts)?;
    let metadata = ranged(metadata, &ciphertexts);
    let bytes = detached(py, || {
        let whole: Vec<&Inner> = values.iter().map(|x| &**x).collect();
        Ok(wire::ciphertexts::to_bytes(&params, &whole, &metadata)?)
    })?;
    Ok(PyBytes::new(py, &bytes))
}

/// Ciphertexts cut to what decryption needs, as one object.
#[pyfunction]
pub fn compact_to_bytes<'py>(
    py: Python<'py>,
    ciphertexts: Vec<Bound<'py, Ciphertext>>,
    metadata: BTreeMap<String, String>,
) -> Result<Bound<'py, PyBytes>> {
    let (params, values) = current(&ciphertexts)?;
    let metadata = ranged(metadata, &ciphertexts);
    let bytes = detached(py, || {
        let cut = values
            .iter()
            .map(|x| Ok(x.compact_for_decryption(&params)?))
            .collect::<Result<Vec<_>>>()?;
        Ok(wire::results::to_bytes(&params, &cut, &metadata)?)
    })?;
    Ok(PyBytes::new(py, &bytes))
}

/// What ciphertexts are now, and their parameters.
fn current(ciphertexts: &[Bound<'_, Ciphertext>]) -> Result<(everlevel::Params, Vec<Arc<Inner>>)> {
    let Some(first) = ciphertexts.first() else {
        return Err(refusal("ShapeError", "python.empty", "no ciphertext: give at least one"));
    };
    Ok((first.get().params.clone(), ciphertexts.iter().map(|x| x.get().value.get()).collect()))
}

/// Metadata that state the ranges of these ciphertexts.
fn ranged(mut metadata: Metadata, ciphertexts: &[Bound<'_, Ciphertext>]) -> Metadata {
    let ranges: Vec<Option<ValueRange>> =
        ciphertexts.iter().map(|x| x.get().value.range()).collect();
    state_ranges(&mut metadata, &ranges);
    metadata
}

/// Ciphertexts and their metadata from bytes in any buffer, without a copy of it. A manifest takes
/// the place of `bounds`.
#[pyfunction]
#[pyo3(signature = (params, data, bounds, manifest = None, allow_unknown_owner = false))]
pub fn ciphertexts_from_bytes(
    py: Python<'_>,
    params: &Params,
    data: PyReadonlyArray1<'_, u8>,
    bounds: &str,
    manifest: Option<&Manifest>,
    allow_unknown_owner: bool,
) -> Result<(Vec<Ciphertext>, BTreeMap<String, String>)> {
    let data = octets(&data)?;
    let bounds = believed(bounds, manifest)?;
    let params = &params.0;
    let (found, metadata) = detached(py, || Ok(read(params, data, bounds, allow_unknown_owner)?))?;
    let ranges = ranges_of(&metadata, found.len())?;
    let own =
        |(x, range)| Ciphertext { params: params.clone(), value: Value::from(x).within(range) };
    Ok((found.into_iter().zip(ranges).map(own).collect(), metadata))
}

fn read(
    params: &everlevel::Params,
    data: &[u8],
    bounds: Bounds,
    allow_unknown_owner: bool,
) -> std::result::Result<(Vec<Inner>, Metadata), WireError> {
    let limit =
        ReadOptions::default().limited_to(MAX_BYTES).allowing_unknown_owner(allow_unknown_owner);
    let policy = bounds.policy(&wire::inspect(data, &limit)?.metadata);
    wire::ciphertexts::from_bytes(params, data, &limit.believing(policy))
}

/// What is trusted of noise bounds: by a name, or by a manifest.
pub fn believed(name: &str, manifest: Option<&Manifest>) -> Result<Bounds> {
    manifest.map_or_else(|| bounds_named(name), |manifest| Ok(Bounds::Manifest(manifest.current())))
}

fn bounds_named(name: &str) -> Result<Bounds> {
    match name {
        "stated" => Ok(Bounds::Stated),
        "fresh" => Ok(Bounds::Fresh),
        "untrusted" => Ok(Bounds::Untrusted),
        _ => Err(refusal(
            "RangeError",
            "python.bounds",
            &format!(
                "bounds = {name:?}: expected \"stated\", \"fresh\" or \"untrusted\", or a manifest"
            ),
        )),
    }
}
