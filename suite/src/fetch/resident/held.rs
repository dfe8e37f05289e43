//! The encrypted database in memory.

use std::ops::Range;
use std::sync::Arc;

use everlevel_bgv::{Ciphertext, Evaluator, Product};
use everlevel_scheme::{Arithmetic, Level, Params, SchemeError};

use super::talk::problem;
use crate::error::SuiteError;
use crate::fetch::circuit::Database;
use crate::fetch::protocol::{
    Files, PAYLOAD, PAYLOAD_LEVEL, PAYLOADS, ROWS, Task, Workload, metadata,
};
use crate::fetch::server::{places_of_payloads, places_of_rows};
use crate::keyless::{batches, open_upload, same_upload};
use crate::memory::available;

/// Ciphertexts that are read together, or as many as there are threads.
const AT_ONCE: usize = 16;

/// Rows and payloads as they are multiplied: nothing is read, unpacked or expanded for a query.
pub(super) struct Held {
    dimension: usize,
    rows: Vec<Arc<Ciphertext>>,
    payloads: Vec<Ciphertext>,
}

impl Held {
    /// Reads all of it, if there is room.
    pub fn load(
        params: &Params,
        workload: &Workload,
        files: &Files,
        task: Task,
    ) -> Result<Self, SuiteError> {
        check_memory(bytes(params, workload, task), available())?;
        let (known, dimension) = (metadata(&workload.instance), workload.dimension);
        let chunks = workload.chunks(params.slots());
        let mut file = open_upload(params, &files.database, &known, ROWS, dimension * chunks)?;
        let payloads = match task {
            Task::Count => Vec::new(),
            Task::Fetch => {
                let (path, count) = (&files.encrypted_payloads, PAYLOAD * chunks);
                let mut numbers = open_upload(params, path, &known, PAYLOADS, count)?;
                same_upload(&[file.places(), numbers.places()])?;
                let mut all = Vec::with_capacity(count);
                for chunk in 0..chunks {
                    all.extend(numbers.read_range(places_of_payloads(chunk))?);
                }
                all
            }
        };
        let mut rows = Vec::with_capacity(dimension * chunks);
        for places in batches(dimension * chunks, AT_ONCE) {
            rows.extend(file.read_range(places)?.into_iter().map(Arc::new));
        }
        Ok(Held { dimension, rows, payloads })
    }
}

impl Database<Evaluator> for Held {
    type Row = Arc<Ciphertext>;

    fn sums(
        evaluator: &Evaluator,
        pairs: &[&[(&Ciphertext, &Arc<Ciphertext>)]],
    ) -> Result<Vec<Product>, SchemeError> {
        let pairs = pairs.iter().map(|pairs| pairs.iter().map(|&(x, row)| (x, &**row)).collect());
        let pairs: Vec<Vec<(&Ciphertext, &Ciphertext)>> = pairs.collect();
        evaluator.sums_of_products(&pairs.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    fn rows(&mut self, chunk: usize, ranks: Range<usize>) -> Result<Vec<Self::Row>, SuiteError> {
        Ok(self.rows[places_of_rows(self.dimension, (chunk, ranks))].to_vec())
    }

    fn payloads(&mut self, chunk: usize) -> Result<Vec<Ciphertext>, SuiteError> {
        Ok(self.payloads[places_of_payloads(chunk)].to_vec())
    }
}

/// What the database takes in memory.
fn bytes(params: &Params, workload: &Workload, task: Task) -> u64 {
    let of_level = |level: Level| {
        let words = params.components() * params.chain().basis(level).len() * params.degree();
        (8 * words) as u64
    };
    let chunks = workload.chunks(params.slots()) as u64;
    let rows = workload.dimension as u64 * of_level(params.chain().top());
    let payloads = match task {
        Task::Count => 0,
        Task::Fetch => PAYLOAD as u64 * of_level(Level(PAYLOAD_LEVEL)),
    };
    chunks * (rows + payloads)
}

/// Passes a database for which there is memory, and an eighth for what is computed beside it.
fn check_memory(needed: u64, available: Option<u64>) -> Result<(), SuiteError> {
    match available.filter(|available| *available < needed + needed / 8) {
        None => Ok(()),
        Some(available) => Err(problem(format!(
            "the database takes {} MB in memory, and {} MB are available: take the variant that \
             starts with the stage",
            needed / 1_000_000,
            available / 1_000_000
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the README of the variant says: 1.5 GB for 50,000 rows, and 46 GB for 10^6.
    #[test]
    fn memory_of_databases() {
        for (size, task, expected) in [
            ("0", Task::Count, 738_197_504),
            ("1", Task::Fetch, 1_491_075_072),
            ("2", Task::Fetch, 45_995_786_240),
        ] {
            let workload = Workload::of(&[size]).unwrap().0;
            assert_eq!(bytes(&workload.params().unwrap(), &workload, task), expected, "{size}");
        }
        assert!(check_memory(800, Some(900)).is_ok() && check_memory(800, None).is_ok());
        assert_eq!(check_memory(800, Some(899)).unwrap_err().code(), "suite.server");
        if let Some(available) = available() {
            assert!(available > 1 << 20, "{available}");
        }
    }
}
