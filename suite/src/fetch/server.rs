//! The stage of the server, which has keys, and sees no row, query, score or match.

use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use everlevel_bgv::{Ciphertext, Evaluator};
use everlevel_ring::Cpu;
use everlevel_scheme::Params;
use everlevel_wire::{
    BoundPolicy, CiphertextReader, Encryption, FileKeys, ReadOptions, WireError, results,
};

use super::circuit::{Database, Search};
use super::protocol::{Files, PAYLOAD, Task, Workload, metadata, result_metadata};
use crate::error::SuiteError;
use crate::keyless::check_file;
use crate::output::{Output, make_place_for};
use crate::steps::Steps;

/// Bytes of expanded keys that are kept.
const KEY_CACHE: u64 = 1 << 30;

/// `server_encrypted_compute SIZE ...`: sums that the client counts matches by, or finds their
/// payloads in.
///
/// # Errors
/// What is not an upload for this instance, or not fresh from a secret key; missing keys.
pub fn compute(arguments: &[&str]) -> Result<(), SuiteError> {
    let mut steps = Steps::start();
    let (workload, task) = Workload::of(arguments)?;
    let files = Files::of(&workload.instance);
    make_place_for(&files.download)?;
    let params = workload.params()?;
    let evaluator = steps.time("Load keys", || {
        let keys = FileKeys::open(&params, &files.server_keys, KEY_CACHE)?;
        Ok::<_, WireError>(Evaluator::<Cpu, FileKeys>::new(keys))
    })?;
    let search = steps.time("Plan", || Search::new(&params, &workload))?;
    let (query, mut database) = steps.time("Read inputs", || {
        let query = open(&params, &workload, &files.encrypted_query, 1)?.read(0)?;
        Ok::<_, SuiteError>((query, Upload::open(&params, &workload, &files, task)?))
    })?;
    let start = Instant::now();
    let found = search.run(&evaluator, query, &mut database, task)?;
    let compact = found.iter().map(|sum| sum.compact_for_decryption(&params));
    let compact = compact.collect::<Result<Vec<_>, _>>()?;
    steps.add("Read inputs", database.reading);
    steps.add("Encrypted computation", start.elapsed() - database.reading);
    steps.time("Write outputs", || {
        let known = result_metadata(&workload.instance, task);
        let mut out = Output::create(files.download)?;
        out.write(&results::to_bytes(&params, &compact, &known)?)?;
        out.finish()
    })?;
    steps.write(&workload.instance)
}

/// A file of `count` ciphertexts of this workload, fresh from the secret key.
fn open(
    params: &Params,
    workload: &Workload,
    path: &Path,
    count: usize,
) -> Result<CiphertextReader, SuiteError> {
    let fresh = ReadOptions::with_bounds(BoundPolicy::Fresh(Encryption::Secret));
    let file = CiphertextReader::open(params, path, fresh)?;
    check_file(&metadata(&workload.instance), file.metadata(), file.len(), count)?;
    Ok(file)
}

/// The encrypted database, in its files.
struct Upload {
    dimension: usize,
    rows: CiphertextReader,
    payloads: Option<CiphertextReader>,
    /// What reading took so far.
    reading: Duration,
}

impl Upload {
    fn open(
        params: &Params,
        workload: &Workload,
        files: &Files,
        task: Task,
    ) -> Result<Self, SuiteError> {
        let (dimension, chunks) = (workload.dimension, workload.chunks(params.slots()));
        let payloads = match task {
            Task::Count => None,
            Task::Fetch => {
                Some(open(params, workload, &files.encrypted_payloads, PAYLOAD * chunks)?)
            }
        };
        let rows = open(params, workload, &files.database, dimension * chunks)?;
        Ok(Upload { dimension, rows, payloads, reading: Duration::ZERO })
    }
}

impl Database<Evaluator<Cpu, FileKeys>> for Upload {
    fn rows(&mut self, chunk: usize, ranks: Range<usize>) -> Result<Vec<Ciphertext>, SuiteError> {
        let (start, first) = (Instant::now(), chunk * self.dimension);
        let read = self.rows.read_range(first + ranks.start..first + ranks.end)?;
        self.reading += start.elapsed();
        Ok(read)
    }

    fn payloads(&mut self, chunk: usize) -> Result<Vec<Ciphertext>, SuiteError> {
        let start = Instant::now();
        let places = PAYLOAD * chunk..PAYLOAD * (chunk + 1);
        let read = self.payloads.as_mut().map(|file| file.read_range(places)).transpose()?;
        self.reading += start.elapsed();
        Ok(read.unwrap_or_default())
    }
}
