//! Tables in the clear: schemas, and comma-separated values whole or in pieces.

use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

use everlevel_tables::{Data, Inferred, Partner, Schema};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::errors::Result;
use crate::runtime::detached;

/// A table in the clear: comma-separated values, and the tables whose columns its rows carry.
pub(super) type Clear = (PyBackedBytes, Vec<(String, PyBackedBytes)>);

pub(super) fn data_of((csv, partners): &Clear, schema: &Schema) -> Result<Data> {
    Ok(Data::from_csv_with(&csv[..], schema, &partners_of(partners, schema)?)?)
}

pub(super) fn partners_of(
    partners: &[(String, PyBackedBytes)],
    schema: &Schema,
) -> Result<Vec<Partner>> {
    let partner = |(name, csv): &(String, PyBackedBytes)| Partner::from_csv(&csv[..], schema, name);
    Ok(partners.iter().map(partner).collect::<std::result::Result<Vec<_>, _>>()?)
}

/// Comma-separated values, in pieces that an iterator hands over.
pub(super) struct Pieces {
    iterator: Py<PyAny>,
    piece: Option<PyBackedBytes>,
    read: usize,
    /// What the iterator raised, which a reader would turn into text.
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Pieces {
    pub(super) fn new(iterator: Py<PyAny>, raised: Arc<Mutex<Option<PyErr>>>) -> Self {
        Pieces { iterator, piece: None, read: 0, raised }
    }

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

/// An inferred schema with an index on some columns, and what is then told of its columns.
#[pyfunction]
pub fn index_table_schema(
    schema: &str,
    told: Vec<Told>,
    index: Vec<String>,
) -> Result<(String, Vec<Told>)> {
    let inferred = |(column, told, kept): Told| Inferred { column, told, kept };
    let mut told: Vec<Inferred> = told.into_iter().map(inferred).collect();
    let schema = Schema::from_json(schema)?.with_inferred_indexes(&mut told, &index)?;
    Ok((schema.to_json()?, told.into_iter().map(|i| (i.column, i.told, i.kept)).collect()))
}
