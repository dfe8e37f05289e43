//! Server keys that stay in their file: generated into it one by one, read and expanded when they
//! are used.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use everlevel_bgv::keys::{BootstrapKey, ServerKey, SwitchingKey};
use everlevel_bgv::{EvalKeys, SecretKey, ServerKeys};
use everlevel_ring::{Basis, GaloisElement};
use everlevel_scheme::spec::GadgetId;
use everlevel_scheme::{KeyId, KeyPlan, Params, SchemeError};
use rand_core::CryptoRng;
use rayon::prelude::*;

use crate::buffer::Buffer;
use crate::cache::Cache;
use crate::error::WireError;
use crate::file::{Existing, Pending, io_error};
use crate::format::{Entry, Layout, Owners, encode_head};
use crate::id::{ParamsId, digest};
use crate::inspected::{inspect_file, open_layout};
use crate::key_record::{Body, KeyRecord, Purpose};
use crate::kind::ObjectKind;
use crate::options::ReadOptions;
use crate::parts::FileParts;
use crate::server_keys::SizeReport;
use crate::summary::Metadata;

/// Generates the keys of a plan directly into a file, which is written completely or not at all.
/// Only one key is in memory at a time. With equal randomness, the file is that of
/// [`ServerKeys::generate`] and [`server_keys::to_bytes`](crate::server_keys::to_bytes).
/// `progress(done, total)` is called after each key.
///
/// # Errors
/// A plan with bootstrapping for a set without it, a file that is there already (unless it is to be
/// replaced), and what the system refuses.
pub fn generate_to_file(
    path: &Path,
    existing: Existing,
    secret: &SecretKey,
    plan: &KeyPlan,
    metadata: &Metadata,
    rng: &mut impl CryptoRng,
    mut progress: impl FnMut(usize, usize),
) -> Result<SizeReport, WireError> {
    try_generate_to_file(path, existing, secret, plan, metadata, rng, |done, total| {
        progress(done, total);
        Ok::<(), WireError>(())
    })
}

/// [`generate_to_file`], which ends without a file when `progress` returns an error.
///
/// # Errors
/// As [`generate_to_file`], and what `progress` returns.
pub fn try_generate_to_file<E: From<WireError> + From<SchemeError>>(
    path: &Path,
    existing: Existing,
    secret: &SecretKey,
    plan: &KeyPlan,
    metadata: &Metadata,
    rng: &mut impl CryptoRng,
    progress: impl FnMut(usize, usize) -> Result<(), E>,
) -> Result<SizeReport, E> {
    let mut pending = Pending::create(path, existing, false)?;
    let failed = |e: std::io::Error| io_error(path, &e);
    let report = generate_at((&mut pending.file, &failed), secret, plan, metadata, rng, progress)?;
    pending.finish()?;
    Ok(report)
}

/// [`try_generate_to_file`] into something else than a file of the system, from its beginning on;
/// header and index are written last.
///
/// # Errors
/// As [`try_generate_to_file`]; what `out` refuses.
pub fn try_generate_into<E: From<WireError> + From<SchemeError>>(
    out: &mut (impl Write + Seek),
    secret: &SecretKey,
    plan: &KeyPlan,
    metadata: &Metadata,
    rng: &mut impl CryptoRng,
    progress: impl FnMut(usize, usize) -> Result<(), E>,
) -> Result<SizeReport, E> {
    let failed = |e: std::io::Error| io_error(Path::new("server keys"), &e);
    generate_at((out, &failed), secret, plan, metadata, rng, progress)
}

/// Generates the keys of a plan into a place, whose errors are told by `failed`.
fn generate_at<E: From<WireError> + From<SchemeError>>(
    (out, failed): (&mut (impl Write + Seek), &dyn Fn(std::io::Error) -> WireError),
    secret: &SecretKey,
    plan: &KeyPlan,
    metadata: &Metadata,
    rng: &mut impl CryptoRng,
    mut progress: impl FnMut(usize, usize) -> Result<(), E>,
) -> Result<SizeReport, E> {
    let params = secret.params();
    // Before sizes are computed, which expect gadgets and primes of the set.
    plan.check(params)?;
    let records = KeyRecord::of_plan(params, plan);
    let planned: Vec<_> = records.iter().map(|record| record.planned(params)).collect();
    let blank: Vec<Entry> = planned.iter().map(|record| record.entry([0; 16])).collect();
    let owners = Owners::one(Some(secret.id()));
    let head = |entries: &[Entry]| {
        encode_head(ObjectKind::SERVER_KEYS, ParamsId::of(params), &owners, metadata, entries)
    };
    // Room for header and index, which are known last.
    out.write_all(&head(&blank)?).map_err(failed)?;
    let mut entries = Vec::with_capacity(planned.len());
    let total = plan.len() + plan.bootstrap as usize;
    let mut done = 0;
    ServerKeys::generate_each(secret, plan, rng, |key| {
        let bodies = match &key {
            ServerKey::Relin(_, key) | ServerKey::Galois(_, _, key) => vec![Body::Switch(key)],
            ServerKey::Bootstrap(key) => Body::of_bootstrapping(key),
        };
        for body in bodies {
            let record = &planned[entries.len()];
            let mut bytes = vec![0; record.length];
            body.write(params, &mut bytes);
            entries.push(record.entry(digest(&[&bytes])));
            out.write_all(&bytes).map_err(failed)?;
        }
        done += 1;
        progress(done, total)
    })?;
    out.seek(SeekFrom::Start(0)).map_err(failed)?;
    out.write_all(&head(&entries)?).map_err(failed)?;
    Ok(SizeReport::of_records(params, &records))
}

#[derive(Clone)]
enum Loaded {
    Switch(Arc<SwitchingKey>),
    Bootstrap(Arc<BootstrapKey>),
}

/// Server keys in a file. Opening reads the index only; a key is read, verified and expanded when
/// it is first used, and kept while the cache has space.
///
/// The file is read, not mapped: unpacking copies a record in any case, and a file that is
/// truncated while it is in use then causes an error, where a mapping would end the process
/// (docs/adr/0017).
pub struct FileKeys {
    params: Params,
    path: PathBuf,
    file: Mutex<File>,
    layout: Layout,
    records: Vec<KeyRecord>,
    cache: Cache<Loaded>,
    /// Memory for parts of records, as many as were read at the same time.
    buffers: Mutex<Vec<Buffer>>,
    /// Whether uniform halves stay seeds ([`ReadOptions::seeded_keys`]).
    seeded: bool,
}

impl FileKeys {
    /// Opens a file of server keys for these parameters. Expanded keys take at most `cache_bytes`
    /// beside those in use ([`SwitchingKey::memory_bytes`]).
    ///
    /// # Errors
    /// A file that is not one of server keys of these parameters, or of an unknown owner, cut or
    /// damaged in its index; what the system refuses.
    pub fn open(params: &Params, path: &Path, cache_bytes: u64) -> Result<Self, WireError> {
        Self::open_with(params, path, cache_bytes, &ReadOptions::default())
    }

    /// [`FileKeys::open`] that allows an unknown owner if `options` do, and keeps the uniform
    /// halves of keys as seeds if they say so ([`ReadOptions::seeded_keys`]); nothing else of
    /// them counts.
    ///
    /// # Errors
    /// As [`FileKeys::open`].
    pub fn open_with(
        params: &Params,
        path: &Path,
        cache_bytes: u64,
        options: &ReadOptions,
    ) -> Result<Self, WireError> {
        let (file, layout) = open_layout(path)?;
        let layout = layout.expect(ObjectKind::SERVER_KEYS, params, options)?;
        let records = KeyRecord::of_layout(params, &layout)?;
        Ok(FileKeys {
            params: params.clone(),
            path: path.into(),
            file: Mutex::new(file),
            layout,
            records,
            cache: Cache::new(cache_bytes),
            buffers: Mutex::default(),
            seeded: options.seeded_keys,
        })
    }

    /// The id of the parameter set that a file of server keys is for, by its header.
    ///
    /// # Errors
    /// A file that is not one of server keys, and what the system refuses.
    pub fn params_id(path: &Path) -> Result<ParamsId, WireError> {
        let summary = inspect_file(path)?;
        match summary.kind {
            ObjectKind::SERVER_KEYS => Ok(summary.params),
            found => Err(WireError::WrongKind { expected: ObjectKind::SERVER_KEYS, found }),
        }
    }

    /// The plan of the keys in the file.
    pub fn plan(&self) -> KeyPlan {
        KeyRecord::plan(&self.records)
    }

    /// The metadata of the file.
    pub fn metadata(&self) -> &Metadata {
        &self.layout.metadata
    }

    /// The sizes of the keys in the file.
    pub fn size_report(&self) -> SizeReport {
        SizeReport::of_records(&self.params, &self.records)
    }

    /// The number of bytes of expanded keys in the cache, and the number of times that a key was
    /// read and expanded.
    pub fn cache_usage(&self) -> (u64, u64) {
        self.cache.usage()
    }

    /// Reads and expands the keys of a plan, several at the same time, as long as the cache has
    /// space: for several threads that would otherwise each read the keys that all of them begin
    /// with. Keys that are not in the file are left out, and those of bootstrapping.
    ///
    /// # Errors
    /// [`SchemeError::UnreadableKey`].
    pub fn preload(&self, plan: &KeyPlan) -> Result<(), SchemeError> {
        let relin = plan.relin.keys().map(|gadget| Purpose::Relin(*gadget));
        let galois = plan.galois.keys().map(|(g, gadget)| Purpose::Galois(*g, *gadget));
        let purposes: Vec<Purpose> = relin.chain(galois).collect();
        purposes.into_par_iter().try_for_each(|purpose| {
            let found = self.records.iter().find(|record| record.purpose == purpose);
            // Both halves as words take less than three times the bytes of the file.
            let needed = |record: &KeyRecord| 3 * record.length(&self.params) as u64;
            if found.is_none_or(|record| self.cache.room() < needed(record)) {
                return Ok(());
            }
            self.switch(purpose).map(drop)
        })
    }

    /// Reads the whole file and verifies every checksum. Keys verify their own whenever they are
    /// read.
    ///
    /// # Errors
    /// A damaged record, and errors of the file system.
    pub fn verify(&self) -> Result<(), WireError> {
        (0..self.records.len()).try_for_each(|i| self.checked(i, |_| Ok(())))
    }

    /// What is read of a record, whose length is what the parameters say. That its bytes are
    /// damaged is told first, whatever was made of them.
    fn checked<T>(
        &self,
        i: usize,
        read: impl FnOnce(&mut FileParts<'_>) -> Result<T, WireError>,
    ) -> Result<T, WireError> {
        let buffers = || self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        let (record, buffer) = (self.layout.entries[i].1.clone(), buffers().pop());
        let mut parts = FileParts::new(&self.file, &self.path, record, buffer.unwrap_or_default());
        let read = read(&mut parts);
        let (checksum, buffer) = parts.finish()?;
        buffers().push(buffer);
        self.layout.expect_checksum(i, checksum)?;
        read
    }

    /// The place of the record for a purpose, if there is one.
    fn place(&self, purpose: Purpose) -> Option<usize> {
        self.records.binary_search_by_key(&purpose, |record| record.purpose).ok()
    }

    fn switch(&self, purpose: Purpose) -> Result<Option<Arc<SwitchingKey>>, SchemeError> {
        let Some(i) = self.place(purpose) else { return Ok(None) };
        let load = || {
            let record = &self.records[i];
            let key =
                self.checked(i, |bytes| record.switch_of(&self.params, bytes, self.seeded))?;
            let bytes = key.memory_bytes();
            Ok((Loaded::Switch(Arc::new(key)), bytes))
        };
        match self.cache.get(i, load).map_err(|e| self.unreadable(i, &e))? {
            Loaded::Switch(key) => Ok(Some(key)),
            Loaded::Bootstrap(_) => Ok(None),
        }
    }

    fn unreadable(&self, i: usize, error: &WireError) -> SchemeError {
        SchemeError::UnreadableKey {
            key: format!("key of record {i} in {}", self.path.display()),
            problem: error.to_string(),
        }
    }
}

impl EvalKeys for FileKeys {
    fn params(&self) -> &Params {
        &self.params
    }

    fn owner(&self) -> Option<KeyId> {
        self.layout.owners.owner
    }

    fn change_from(&self) -> Option<KeyId> {
        self.layout.owners.change_from
    }

    fn relin(&self, gadget: GadgetId) -> Result<Option<Arc<SwitchingKey>>, SchemeError> {
        self.switch(Purpose::Relin(gadget))
    }

    fn relin_basis(&self, gadget: GadgetId) -> Option<Basis> {
        self.place(Purpose::Relin(gadget)).map(|i| self.records[i].basis)
    }

    fn galois(
        &self,
        g: GaloisElement,
        gadget: GadgetId,
    ) -> Result<Option<Arc<SwitchingKey>>, SchemeError> {
        self.switch(Purpose::Galois(g, gadget))
    }

    fn galois_basis(&self, g: GaloisElement, gadget: GadgetId) -> Option<Basis> {
        self.place(Purpose::Galois(g, gadget)).map(|i| self.records[i].basis)
    }

    fn bootstrap(&self) -> Result<Option<Arc<BootstrapKey>>, SchemeError> {
        let first = self.records.partition_point(|record| record.purpose < Purpose::Encapsulation);
        if first == self.records.len() {
            return Ok(None);
        }
        let load = || {
            let (mut encapsulation, mut sparse) = (None, Vec::new());
            for (i, record) in self.records.iter().enumerate().skip(first) {
                match record.purpose {
                    Purpose::Sparse(_) => {
                        let read =
                            |bytes: &mut FileParts<'_>| record.sparse_of(&self.params, bytes);
                        sparse.push(self.checked(i, read)?);
                    }
                    _ => {
                        let read = |bytes: &mut FileParts<'_>| {
                            record.switch_of(&self.params, bytes, self.seeded)
                        };
                        encapsulation = Some(self.checked(i, read)?);
                    }
                }
            }
            let key = BootstrapKey::from_parts(&self.params, encapsulation, sparse)?;
            let bytes = key.memory_bytes();
            Ok((Loaded::Bootstrap(Arc::new(key)), bytes))
        };
        match self.cache.get(first, load).map_err(|e| self.unreadable(first, &e))? {
            Loaded::Bootstrap(key) => Ok(Some(key)),
            Loaded::Switch(_) => Ok(None),
        }
    }
}
