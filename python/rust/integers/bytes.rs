//! Columns and totals as bytes.

use everlevel::files::{Bytes, ENCRYPTION, Encryption, compact_columns};
use everlevel::{IntegerValue, NamedIntegers};
use everlevel_wire::{Metadata, ReadOptions};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::column::{Column, Held, HeldTotal, Total, traced};
use crate::ciphertext::{MAX_BYTES, believed};
use crate::errors::Result;
use crate::manifest::Manifest;
use crate::runtime::detached;
use crate::values::octets;

/// What a file of columns holds.
#[derive(FromPyObject, IntoPyObject)]
pub enum Piece<'py> {
    Column(Bound<'py, Column>),
    Total(Bound<'py, Total>),
}

/// Columns and totals with their names as one object of the wire format. They are marked as
/// encrypted by the secret key if all of their bounds are within that.
#[pyfunction]
pub fn columns_to_bytes<'py>(
    py: Python<'py>,
    params: &crate::params::Params,
    columns: Vec<(String, Piece<'py>)>,
    mut metadata: Metadata,
) -> Result<Bound<'py, PyBytes>> {
    let (params, named) = (&params.0, named(columns)?);
    let bytes = detached(py, || {
        let mut values = named.iter().flat_map(|(_, x)| x.values().chain(x.index_values()));
        if values.all(|v| Encryption::Secret.made(params, v.get().meta())) {
            metadata.insert(ENCRYPTION.into(), "secret".into());
        }
        Ok(named.to_bytes_with(params, &metadata)?)
    })?;
    Ok(PyBytes::new(py, &bytes))
}

/// The same, cut to what decryption needs.
#[pyfunction]
pub fn compact_columns_to_bytes<'py>(
    py: Python<'py>,
    params: &crate::params::Params,
    columns: Vec<(String, Piece<'py>)>,
    metadata: Metadata,
) -> Result<Bound<'py, PyBytes>> {
    let (params, named) = (&params.0, named(columns)?);
    let bytes =
        detached(py, || Ok(compact_columns(params, &named)?.to_bytes_with(params, &metadata)?))?;
    Ok(PyBytes::new(py, &bytes))
}

/// What is computed, with its names.
fn named(columns: Vec<(String, Piece<'_>)>) -> Result<Vec<NamedIntegers>> {
    let named = columns.into_iter().map(|(name, piece)| {
        let value = match &piece {
            Piece::Column(x) => match &x.get().held {
                Held::Real(column) => IntegerValue::from(column.clone()),
                Held::Traced(_) => return Err(traced()),
            },
            Piece::Total(x) => match &x.get().held {
                HeldTotal::Real(total) => IntegerValue::from(total.clone()),
                HeldTotal::Traced(_) => return Err(traced()),
            },
        };
        Ok((name, value))
    });
    named.collect()
}

/// Columns and totals from bytes, with their names, and the metadata. A manifest takes the place of
/// `bounds`.
#[pyfunction]
#[pyo3(signature = (params, data, bounds, manifest = None, allow_unknown_owner = false))]
pub fn columns_from_bytes<'py>(
    py: Python<'py>,
    params: &crate::params::Params,
    data: PyReadonlyArray1<'py, u8>,
    bounds: &str,
    manifest: Option<&Manifest>,
    allow_unknown_owner: bool,
) -> Result<(Vec<(String, Piece<'py>)>, Metadata)> {
    let data = octets(&data)?;
    let bounds = believed(bounds, manifest)?;
    let params = &params.0;
    let (found, metadata) = detached(py, || {
        let limit = ReadOptions::default()
            .limited_to(MAX_BYTES)
            .allowing_unknown_owner(allow_unknown_owner);
        let policy = bounds.policy(&everlevel_wire::inspect(data, &limit)?.metadata);
        Ok(Vec::<NamedIntegers>::from_bytes_with(params, data, &limit.believing(policy))?)
    })?;
    let own = |(name, value): NamedIntegers| {
        let params = params.clone();
        let piece = match value {
            IntegerValue::Column(x) => {
                Piece::Column(Bound::new(py, Column { params, held: Held::Real(x) })?)
            }
            IntegerValue::Total(x) => {
                Piece::Total(Bound::new(py, Total { params, held: HeldTotal::Real(x) })?)
            }
        };
        Ok((name, piece))
    };
    Ok((found.into_iter().map(own).collect::<Result<_>>()?, metadata))
}
