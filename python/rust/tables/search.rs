//! Searches for a value or for first rows, in rounds.

use std::sync::{Mutex, MutexGuard, PoisonError};

use everlevel_tables::{Answer, Schema, Search, TableId, TableResult, TablesError};
use pyo3::prelude::*;

use super::convert::json;
use crate::errors::Result;
use crate::keys::SecretKey;
use crate::runtime::detached;

/// The search for a least, greatest or middle value, or for first rows, in rounds.
#[pyclass(frozen, module = "everlevel._everlevel")]
pub struct TableSearch(Mutex<Begun>);

/// A search, and the table of its rounds so far.
struct Begun {
    search: Search,
    table: Option<TableId>,
}

impl Begun {
    /// Takes the answer of the round with these constants.
    fn learn(
        &mut self,
        answer: &Answer,
        table: TableId,
        given: &[(String, String)],
    ) -> std::result::Result<(), TablesError> {
        // Counts of a round before would be taken for those below other constants.
        if self.search.constants().as_deref() != Some(given) {
            let problem = "another thread has taken this round of the search".into();
            return Err(TablesError::Result { problem });
        }
        self.search.learn(answer)?;
        self.table = Some(table);
        Ok(())
    }
}

impl TableSearch {
    fn begun(&self) -> MutexGuard<'_, Begun> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl TableSearch {
    #[new]
    fn new(query: &str, schema: &str, parts: usize) -> Result<Self> {
        let search = Search::new(query, &Schema::from_json(schema)?, parts)?;
        Ok(TableSearch(Mutex::new(Begun { search, table: None })))
    }

    /// The plan of the next round, as JSON.
    #[getter]
    fn plan(&self) -> Result<String> {
        Ok(self.begun().search.plan().to_json()?)
    }

    /// The plans of all rounds, as JSON.
    #[getter]
    fn plans(&self) -> Result<Vec<String>> {
        self.begun().search.plans().iter().map(|plan| Ok(plan.to_json()?)).collect()
    }

    #[getter]
    fn rounds(&self) -> usize {
        self.begun().search.rounds()
    }

    /// Name and text of each constant of the next round; none after the last one.
    fn constants(&self) -> Option<Vec<(String, String)>> {
        self.begun().search.constants()
    }

    /// Takes the result of the round with the constants `given`, of this encryption of them: of
    /// this table if one is named, and of that of the rounds before.
    fn learn(
        &self,
        py: Python<'_>,
        key: &SecretKey,
        data: &[u8],
        table: Option<&str>,
        constants: &str,
        given: Vec<(String, String)>,
    ) -> Result<()> {
        detached(py, || {
            let result = TableResult::from_bytes(data.to_vec())?;
            let table = table.map(str::parse::<TableId>).transpose()?;
            let constants = constants.parse::<TableId>()?;
            // An error asks for the interpreter's lock, whose holder may wait for that of the
            // search; and a thread that reads may take up another result meanwhile.
            let (plan, before) = {
                let begun = self.begun();
                (begun.search.plan().clone(), begun.table)
            };
            result.check(Some(&plan), table, Some(constants))?;
            result.check(None, before, None)?;
            let read = result.read(&key.0)?;
            let learned = self.begun().learn(&read, result.table(), &given);
            Ok(learned?)
        })
    }

    /// The answer as JSON once all rounds are done, else none.
    fn answer(&self) -> Result<Option<String>> {
        let begun = self.begun();
        let Some(answer) = begun.search.answer()? else { return Ok(None) };
        Ok(Some(json(&answer.to_json(&begun.search.output_types()))?))
    }
}
