//! The stage of the server, which has keys, and sees no row, query, score or match.

use std::ops::Range;
use std::time::{Duration, Instant};

use everlevel_bgv::{Ciphertext, CompactCiphertext, Evaluator, Product, StoredCiphertext};
use everlevel_ring::Cpu;
use everlevel_scheme::{Params, SchemeError};
use everlevel_wire::{FileKeys, ReadAhead, StoredReader, WireError, results};
use rayon::prelude::*;

use super::circuit::{Database, Search};
use super::protocol::{
    Files, PAYLOAD, PAYLOADS, QUERY, ROWS, Task, Workload, metadata, result_metadata,
};
use crate::error::SuiteError;
use crate::keyless::{check_file, fresh, open_upload, same_upload};
use crate::output::{Output, make_place_for};
use crate::steps::Steps;

/// Bytes of expanded keys that are kept.
const KEY_CACHE: u64 = 1 << 30;
/// Parts of the database that wait in memory, each of up to 34 MB, and no more than there are
/// chunks: enough for the disk to work while coordinates of the query are expanded.
const AHEAD: usize = 4;

/// `server_encrypted_compute SIZE ...`: sums that the client counts matches by, or finds their
/// payloads in.
///
/// # Errors
/// What is not an upload for this instance, not fresh from a secret key, or not at its place;
/// missing keys.
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
        let query = read_query(&params, &workload, &files)?;
        Ok::<_, SuiteError>((query, Upload::open(&params, &workload, &files, task, &search)?))
    })?;
    let start = Instant::now();
    let found = search.run(&evaluator, query, &mut database, task)?;
    let found = cut(&params, &found)?;
    steps.add("Read inputs", database.reading);
    steps.add("Encrypted computation", start.elapsed() - database.reading);
    steps.time("Write outputs", || {
        let mut out = Output::create(files.download)?;
        out.write(&to_bytes(&params, &workload, task, &found)?)?;
        out.finish()
    })?;
    steps.write(&workload.instance)
}

/// The query: the only ciphertext of its file.
pub(super) fn read_query(
    params: &Params,
    workload: &Workload,
    files: &Files,
) -> Result<Ciphertext, SuiteError> {
    let known = metadata(&workload.instance);
    Ok(open_upload(params, &files.encrypted_query, &known, QUERY, 1)?.read(0)?)
}

/// Results, cut to what their decryption needs.
pub(super) fn cut(
    params: &Params,
    found: &[Ciphertext],
) -> Result<Vec<CompactCiphertext>, SchemeError> {
    found.par_iter().map(|sum| sum.compact_for_decryption(params)).collect()
}

/// The file of results.
pub(super) fn to_bytes(
    params: &Params,
    workload: &Workload,
    task: Task,
    found: &[CompactCiphertext],
) -> Result<Vec<u8>, WireError> {
    results::to_bytes(params, found, &result_metadata(&workload.instance, task))
}

/// The encrypted database, in its files, which are read while the server computes.
struct Upload {
    dimension: usize,
    rows: ReadAhead<StoredCiphertext>,
    payloads: Option<ReadAhead<Ciphertext>>,
    /// How long the computation waited for files, and what checking took.
    reading: Duration,
}

impl Upload {
    fn open(
        params: &Params,
        workload: &Workload,
        files: &Files,
        task: Task,
        search: &Search,
    ) -> Result<Self, SuiteError> {
        let (dimension, chunks) = (workload.dimension, workload.chunks(params.slots()));
        let rows = StoredReader::open(params, &files.database, fresh())?;
        let known = metadata(&workload.instance);
        check_file(&known, rows.metadata(), rows.len(), dimension * chunks)?;
        let rows = rows.in_places(ROWS)?;
        let payloads = match task {
            Task::Count => None,
            Task::Fetch => {
                let (path, count) = (&files.encrypted_payloads, PAYLOAD * chunks);
                let file = open_upload(params, path, &known, PAYLOADS, count)?;
                same_upload(&[rows.places(), file.places()])?;
                let order = search.payload_order().map(places_of_payloads).collect();
                Some(ReadAhead::start(file, order, 1)?)
            }
        };
        let order = search.row_order().map(|part| places_of_rows(dimension, part)).collect();
        let rows = ReadAhead::start(rows, order, AHEAD.min(chunks))?;
        Ok(Upload { dimension, rows, payloads, reading: Duration::ZERO })
    }
}

/// Where the coordinates of these ranks of the rows of a chunk are.
pub(super) fn places_of_rows(
    dimension: usize,
    (chunk, ranks): (usize, Range<usize>),
) -> Range<usize> {
    let first = chunk * dimension;
    first + ranks.start..first + ranks.end
}

/// Where the payloads of a chunk are.
pub(super) fn places_of_payloads(chunk: usize) -> Range<usize> {
    PAYLOAD * chunk..PAYLOAD * (chunk + 1)
}

impl Database<Evaluator<Cpu, FileKeys>> for Upload {
    type Row = StoredCiphertext;

    fn sums(
        evaluator: &Evaluator<Cpu, FileKeys>,
        pairs: &[&[(&Ciphertext, &StoredCiphertext)]],
    ) -> Result<Vec<Product>, SchemeError> {
        evaluator.sums_of_stored_products(pairs)
    }

    fn rows(&mut self, chunk: usize, ranks: Range<usize>) -> Result<Vec<Self::Row>, SuiteError> {
        let start = Instant::now();
        let read = self.rows.read(places_of_rows(self.dimension, (chunk, ranks)))?;
        self.reading += start.elapsed();
        Ok(read)
    }

    fn payloads(&mut self, chunk: usize) -> Result<Vec<Ciphertext>, SuiteError> {
        let (start, places) = (Instant::now(), places_of_payloads(chunk));
        let read = self.payloads.as_mut().map(|file| file.read(places)).transpose()?;
        self.reading += start.elapsed();
        Ok(read.unwrap_or_default())
    }
}
