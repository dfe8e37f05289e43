//! Parameter sets.

use everlevel::{Datasheet, OptIn, files};
use everlevel_wire as wire;
use everlevel_wire::{ParamsId, ReadOptions, canonical_json};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{Result, refusal};
use crate::runtime::detached;
use crate::values::{octets, shown};

/// A validated parameter set. Immutable.
#[pyclass(frozen, module = "everlevel._everlevel")]
pub struct Params(pub everlevel::Params);

#[pymethods]
impl Params {
    /// The set of a name, or of the JSON of a specification.
    #[new]
    fn new(
        py: Python<'_>,
        text: String,
        insecure_research: bool,
        allow_failures: bool,
    ) -> Result<Self> {
        detached(py, move || {
            let spec = match text.trim_start().starts_with('{') {
                true => files::parse_spec(&text)?,
                false => everlevel_scheme::params::spec(&text)?,
            };
            let opt_in = OptIn::new(insecure_research, allow_failures);
            Ok(Params(everlevel::Params::new(spec, opt_in)?))
        })
    }

    /// From bytes of the wire format.
    #[staticmethod]
    fn from_bytes(data: &[u8], insecure_research: bool, allow_failures: bool) -> Result<Self> {
        let (spec, _) = wire::params::spec_from_bytes(data, &ReadOptions::default())?;
        // The same limits as for JSON.
        let spec = files::parse_spec(&canonical_json(&spec))?;
        let opt_in = OptIn::new(insecure_research, allow_failures);
        Ok(Params(everlevel::Params::new(spec, opt_in)?))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &wire::params::to_bytes(&self.0, &wire::Metadata::new())?))
    }

    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    #[getter]
    fn id(&self) -> String {
        ParamsId::of(&self.0).to_string()
    }

    #[getter]
    fn json(&self) -> String {
        canonical_json(self.0.spec())
    }

    #[getter]
    fn slots(&self) -> usize {
        self.0.slots()
    }

    #[getter]
    fn dimensions(&self) -> Vec<usize> {
        self.0.slot_shape().dimensions().iter().map(|d| d.size).collect()
    }

    #[getter]
    fn slot_degree(&self) -> usize {
        self.0.slot_shape().degree_of_slot()
    }

    #[getter]
    fn degree(&self) -> usize {
        self.0.degree()
    }

    #[getter]
    fn plain_prime(&self) -> u64 {
        self.0.spec().plain_prime
    }

    #[getter]
    fn plain_exponent(&self) -> u32 {
        self.0.plain_exponent()
    }

    /// p^e, of the set's exponent unless another is asked for.
    #[pyo3(signature = (exponent = None))]
    fn plain_modulus(&self, exponent: Option<u32>) -> Result<u128> {
        let (shape, e) = (self.0.slot_shape(), exponent.unwrap_or(self.0.plain_exponent()));
        if !(1..=shape.max_exponent()).contains(&e) {
            let expected = format!("exponent {e}: expected 1 to {}", shape.max_exponent());
            return Err(refusal("RangeError", "scheme.bad-argument", &expected));
        }
        Ok(shape.wide_modulus(e))
    }

    #[getter]
    fn security_bits(&self) -> f64 {
        self.0.security().bits()
    }

    #[getter]
    fn security_model(&self) -> &'static str {
        self.0.security().model()
    }

    #[getter]
    fn failure_log2(&self) -> f64 {
        self.0.failure_log2()
    }

    #[getter]
    fn failure_notice(&self) -> Option<String> {
        self.0.failure_notice()
    }

    #[getter]
    fn bootstraps(&self) -> bool {
        self.0.spec().bootstrap.is_some()
    }

    #[getter]
    fn levels(&self) -> usize {
        self.0.chain().top().0 + 1
    }

    /// The set with the least number of used slots that holds `values` values, if there is one.
    fn with_slots_for(&self, py: Python<'_>, values: usize) -> Result<Option<Self>> {
        detached(py, || Ok(self.0.with_slots_for(values).map(Params)))
    }

    /// Derived facts, as text and as JSON.
    fn datasheet(&self, py: Python<'_>) -> Result<(String, String)> {
        detached(py, || {
            let sheet = Datasheet::of(&self.0)?;
            let json = serde_json::to_string(&sheet);
            let json = json.map_err(|e| refusal("Error", "python.json", &e.to_string()))?;
            Ok((sheet.text(), json))
        })
    }

    fn same(&self, other: &Params) -> bool {
        self.0.same(&other.0)
    }
}

/// The names of the sets that have one.
#[pyfunction]
pub fn names() -> Vec<&'static str> {
    everlevel_scheme::params::names().collect()
}

/// The JSON of the named set with this id in hexadecimal digits, if there is one.
#[pyfunction]
pub fn named_spec(id: &str) -> Option<String> {
    let found = |text: &str| {
        let digits = text.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).ok());
        let bytes: Option<Vec<u8>> =
            digits.map(|d| d.and_then(|d| u8::from_str_radix(d, 16).ok())).collect();
        bytes.and_then(|bytes| <[u8; 16]>::try_from(bytes).ok())
    };
    Some(canonical_json(&wire::params::named_spec(ParamsId(found(id)?))?))
}

/// What an object in bytes is: its kind, its parameter id, its metadata, its number of records, its
/// bytes.
#[pyfunction]
pub fn inspect(data: PyReadonlyArray1<'_, u8>) -> Result<Summary> {
    let data = octets(&data)?;
    Ok(summary(wire::inspect(data, &ReadOptions::default().limited_to(u64::MAX))?))
}

/// The same of a file, of which only header and index are read.
#[pyfunction]
pub fn inspect_file(path: std::path::PathBuf) -> Result<Summary> {
    Ok(summary(wire::inspect_file(&path)?))
}

/// Kind, parameter set, metadata, records, bytes; version, owner, and of keys for a change the
/// former owner.
type Summary = (
    String,
    String,
    std::collections::BTreeMap<String, String>,
    usize,
    u64,
    (u16, Option<String>, Option<String>),
);

fn summary(found: wire::Summary) -> Summary {
    let whose = (found.version, shown(found.owner), shown(found.change_from));
    let (kind, params) = (found.kind.to_string(), found.params.to_string());
    (kind, params, found.metadata, found.records, found.bytes, whose)
}
