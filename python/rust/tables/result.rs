//! Encrypted results, and their parts.

use everlevel_tables::{Plan, TableId, TablePart, TableResult};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::convert::json;
use crate::errors::Result;
use crate::keys::SecretKey;
use crate::runtime::detached;
use crate::server::Server;
use crate::values::shown;

/// Two parts of a result, of neighboring blocks, as one.
#[pyfunction]
pub fn join_table_parts<'py>(
    py: Python<'py>,
    server: &Server,
    first: &[u8],
    second: &[u8],
) -> Result<Bound<'py, PyBytes>> {
    let joined = detached(py, || {
        let [first, second] = [first, second].map(|data| TablePart::from_bytes(data.to_vec()));
        Ok(first?.joined(&second?, &server.inner)?)
    })?;
    Ok(PyBytes::new(py, joined.as_bytes()))
}

/// The result, of a part that has all blocks.
#[pyfunction]
pub fn table_part_result<'py>(
    py: Python<'py>,
    server: &Server,
    data: &[u8],
) -> Result<Bound<'py, PyBytes>> {
    let result = detached(py, || Ok(TablePart::from_bytes(data.to_vec())?.result(&server.inner)?))?;
    Ok(PyBytes::new(py, result.as_bytes()))
}

/// Plan, table, rows and owner of a result.
#[pyfunction]
pub fn table_result_facts(data: &[u8]) -> Result<(String, String, usize, Option<String>)> {
    let result = TableResult::from_bytes(data.to_vec())?;
    let owner = shown(result.owner());
    Ok((result.plan().to_json()?, result.table().to_string(), result.rows(), owner))
}

/// The answer of a result, as JSON: names, types and rows of texts.
#[pyfunction]
#[pyo3(signature = (key, data, plan = None, table = None, constants = None))]
pub fn read_table_result(
    py: Python<'_>,
    key: &SecretKey,
    data: &[u8],
    plan: Option<&str>,
    table: Option<&str>,
    constants: Option<&str>,
) -> Result<String> {
    let answer = detached(py, || {
        let result = TableResult::from_bytes(data.to_vec())?;
        let plan = plan.map(Plan::from_json).transpose()?;
        let table = table.map(str::parse::<TableId>).transpose()?;
        let constants = constants.map(str::parse::<TableId>).transpose()?;
        result.check(plan.as_ref(), table, constants)?;
        let types = result.plan().query().output_types(result.plan().schema());
        Ok(result.read(&key.0)?.to_json(&types))
    })?;
    json(&answer)
}
