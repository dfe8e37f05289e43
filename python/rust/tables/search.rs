//! Searches for a value or for first rows, in rounds.

use std::sync::{Mutex, MutexGuard, PoisonError};

use everlevel_tables::{Schema, Search, TableId, TableResult};
use pyo3::prelude::*;

use super::convert::json;
use crate::errors::Result;
use crate::keys::SecretKey;
use crate::runtime::detached;

/// The search for a least, greatest or middle value, or for first rows, in rounds.
#[pyclass(frozen, module = "everlevel._everlevel")]
pub struct TableSearch(Mutex<Search>);

impl TableSearch {
    fn search(&self) -> MutexGuard<'_, Search> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl TableSearch {
    #[new]
    fn new(query: &str, schema: &str, parts: usize) -> Result<Self> {
        let search = Search::new(query, &Schema::from_json(schema)?, parts)?;
        Ok(TableSearch(Mutex::new(search)))
    }

    /// The plan of the next round, as JSON.
    #[getter]
    fn plan(&self) -> Result<String> {
        Ok(self.search().plan().to_json()?)
    }

    /// The plans of all rounds, as JSON.
    #[getter]
    fn plans(&self) -> Result<Vec<String>> {
        self.search().plans().iter().map(|plan| Ok(plan.to_json()?)).collect()
    }

    #[getter]
    fn rounds(&self) -> usize {
        self.search().rounds()
    }

    /// Name and text of each constant of the next round; none after the last one.
    fn constants(&self) -> Option<Vec<(String, String)>> {
        self.search().constants()
    }

    /// Takes the result of a round, of this table if one is named, and with these constants.
    fn learn(
        &self,
        py: Python<'_>,
        key: &SecretKey,
        data: &[u8],
        table: Option<&str>,
        constants: &str,
    ) -> Result<()> {
        detached(py, || {
            let result = TableResult::from_bytes(data.to_vec())?;
            let table = table.map(str::parse::<TableId>).transpose()?;
            let constants = constants.parse::<TableId>()?;
            // An error asks for the interpreter's lock, whose holder may wait for that of the
            // search; and a thread that reads may take up another result meanwhile.
            let checked = result.check(Some(self.search().plan()), table, Some(constants));
            checked?;
            let read = result.read(&key.0)?;
            let learned = self.search().learn(&read);
            Ok(learned?)
        })
    }

    /// The answer as JSON once all rounds are done, else none.
    fn answer(&self) -> Result<Option<String>> {
        let search = self.search();
        let Some(answer) = search.answer()? else { return Ok(None) };
        Ok(Some(json(&answer.to_json(&search.output_types()))?))
    }
}
