//! What the metadata of files say of arrays, as every other program reads and writes it.

use everlevel_wire::Metadata;
use everlevel_wire::arrays::{Array, Rest};
use everlevel_wire::columns::ColumnArray;
use pyo3::prelude::*;

use crate::errors::Result;

/// The shape of an array, whether the slots after its last entry hold 0, and whether its only entry
/// is in every slot.
type Layout = (Vec<usize>, bool, bool);

/// The name of an array of columns, how many it has, its shape (none of totals), its runs, the type
/// that it wraps in, and whether its entries are no truth values even if they are 0 and 1.
type Described = (String, usize, Option<Vec<usize>>, usize, Option<String>, bool);

/// Metadata that state an array modulo p^r, too.
#[pyfunction]
pub fn state_array(
    mut metadata: Metadata,
    shape: Vec<usize>,
    padded: bool,
    repeated: bool,
) -> Metadata {
    let rest = match (repeated, padded) {
        (true, _) => Rest::Repeated,
        (false, true) => Rest::Zero,
        (false, false) => Rest::Unknown,
    };
    Array { shape, rest }.state(&mut metadata);
    metadata
}

/// The array that metadata state for ciphertexts of `slots` slots; none if they state none.
#[pyfunction]
pub fn stated_array(
    metadata: Metadata,
    slots: usize,
    ciphertexts: usize,
) -> Result<Option<Layout>> {
    let found = Array::of(&metadata, slots, ciphertexts)?;
    Ok(found.map(|Array { shape, rest }| (shape, rest == Rest::Zero, rest == Rest::Repeated)))
}

/// The names of the columns of an array.
#[pyfunction]
pub fn column_names(name: &str, blocks: usize) -> Vec<String> {
    let array = ColumnArray::vector(name, blocks, None);
    (0..blocks).map(|i| array.column(i)).collect()
}

/// Metadata that describe arrays of typed integers.
#[pyfunction]
pub fn describe_columns(arrays: Vec<Described>) -> Metadata {
    let array = |(name, blocks, shape, runs, wrapping, integers): Described| ColumnArray {
        name,
        blocks,
        shape,
        runs,
        wrapping,
        integers,
    };
    let arrays: Vec<ColumnArray> = arrays.into_iter().map(array).collect();
    let mut metadata = Metadata::new();
    ColumnArray::describe(&arrays, &mut metadata);
    metadata
}

/// The arrays that metadata describe for columns of these names; none if they describe none.
#[pyfunction]
pub fn described_columns(
    metadata: Metadata,
    slots: usize,
    columns: Vec<String>,
) -> Result<Option<Vec<Described>>> {
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let found = ColumnArray::all(&metadata, slots, &columns)?;
    let told = |a: ColumnArray| (a.name, a.blocks, a.shape, a.runs, a.wrapping, a.integers);
    Ok(found.map(|arrays| arrays.into_iter().map(told).collect()))
}
