//! The client: sends files, runs jobs, fetches results. Interrupted requests are repeated, and
//! transfers continue where they stopped.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use everlevel_wire::file::{Existing, NewFile, read_file};
use everlevel_wire::{ObjectKind, ReadOptions, WireError, inspect, inspect_file};

use crate::api::{
    Estimate, JobInfo, JobRequest, NewTable, NewUpload, ObjectInfo, PART_BYTES, Page, TableInfo,
    UploadState, UsageInfo,
};
use crate::calls::Calls;
use crate::connecting::Connecting;
use crate::error::RemoteError;
use crate::name::{IdempotencyKey, JobId, ObjectId};

/// The most bytes of an object that are kept in memory, whatever a service states.
const FETCHED_BYTES: u64 = 4 << 30;
/// The most bytes of a text of a table.
const TEXT_BYTES: u64 = 1 << 20;
/// What an upload is told whose part was sent twice, as its answer was lost, or whose part is still
/// being stored: the service says how far it is.
const PASSING: [&str; 3] = ["service.offset", "service.conflict", "service.timeout"];
/// How many times in a row an upload is told so before it is given up; together with the pauses in
/// between about a minute, which is longer than a request may take.
const STANDSTILLS: u32 = 10;
/// The longest of these pauses.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// What a service keeps: nothing with a secret.
const SENT: [ObjectKind; 3] =
    [ObjectKind::SERVER_KEYS, ObjectKind::CIPHERTEXTS, ObjectKind::COLUMNS];

/// A connection to a service, for the bearer of a token.
pub struct Client {
    calls: Calls,
}

fn at(path: &Path) -> impl Fn(std::io::Error) -> RemoteError {
    move |e| {
        let (path, problem) = (path.display().to_string(), e.to_string());
        WireError::Io { path, problem }.into()
    }
}

/// Passes what a service keeps.
fn check_kind(found: ObjectKind, place: &str) -> Result<(), RemoteError> {
    if SENT.contains(&found) {
        return Ok(());
    }
    let problem = format!(
        "{place}: expected server keys, ciphertexts or columns of integers, found {found}: \
         nothing was sent"
    );
    Err(RemoteError::malformed("a file", problem))
}

impl Client {
    /// A client of the service at `https://HOST:PORT` or `http://HOST:PORT`. Nothing is sent yet.
    ///
    /// # Errors
    /// A text that is no token; an address that is none; one with HTTP on another machine, unless
    /// that was asked for, as HTTP would show the token to whoever is on the way; files for TLS
    /// that cannot be used, or are given for HTTP.
    pub fn new(
        url: &str,
        token: &str,
        connecting: impl Into<Connecting>,
    ) -> Result<Self, RemoteError> {
        Ok(Client { calls: Calls::new(url, token, &connecting.into())? })
    }

    /// Sends a file of server keys, ciphertexts or columns, unless the service has it. An
    /// interrupted upload is continued. `progress(sent, bytes)` is called after each part.
    ///
    /// # Errors
    /// A file of another kind, of which nothing is sent; a file that changes meanwhile; errors of
    /// the service.
    pub fn push(
        &self,
        path: &Path,
        progress: impl FnMut(u64, u64),
    ) -> Result<ObjectId, RemoteError> {
        check_kind(inspect_file(path)?.kind, &path.display().to_string())?;
        let mut file = File::open(path).map_err(at(path))?;
        self.send(&mut file, path, progress)
    }

    /// The same with the bytes of an object in memory.
    ///
    /// # Errors
    /// As [`Client::push`].
    pub fn push_bytes(
        &self,
        bytes: &[u8],
        progress: impl FnMut(u64, u64),
    ) -> Result<ObjectId, RemoteError> {
        let any = ReadOptions::default().limited_to(bytes.len() as u64);
        let place = "bytes in memory";
        check_kind(inspect(bytes, &any)?.kind, place)?;
        self.send(&mut Cursor::new(bytes), Path::new(place), progress)
    }

    fn send(
        &self,
        source: &mut (impl Read + Seek),
        place: &Path,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<ObjectId, RemoteError> {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(&mut *source).map_err(at(place))?;
        let new = NewUpload { id: ObjectId::of_hash(hasher.finalize()), bytes: hasher.count() };
        let mut state: UploadState = self.calls.post("/v1/uploads", &new, None)?;
        let (mut part, mut still) = (Vec::new(), 0);
        while !state.complete {
            progress(state.offset, state.bytes);
            part.clear();
            source.seek(SeekFrom::Start(state.offset)).map_err(at(place))?;
            source.by_ref().take(PART_BYTES).read_to_end(&mut part).map_err(at(place))?;
            if part.is_empty() && state.offset < state.bytes {
                let problem = format!("{}: it became shorter while it was sent", place.display());
                return Err(RemoteError::malformed("a file", problem));
            }
            let path = format!("/v1/uploads/{}?offset={}", new.id, state.offset);
            let next: UploadState = match self.calls.put(path, &part) {
                Err(e) if PASSING.contains(&e.code()) => {
                    sleep(LONGEST_PAUSE.min(Duration::from_millis(200) * 2u32.pow(still)));
                    self.calls.post("/v1/uploads", &new, None)?
                }
                next => next?,
            };
            still = if next.offset > state.offset { 0 } else { still + 1 };
            if still == STANDSTILLS && !next.complete {
                let problem = format!(
                    "an upload does not get beyond byte {}: send it again later, and it goes on \
                     there",
                    state.offset
                );
                return Err(RemoteError::Unreachable { problem });
            }
            state = next;
        }
        progress(state.bytes, state.bytes);
        Ok(new.id)
    }

    /// Sends an encrypted table in a directory, file by file. `progress(sent, files)` is called
    /// after each. Whether its files go together is found by the service when it has them:
    /// `everlevel_tables::EncryptedTable::open` tells before.
    ///
    /// # Errors
    /// A directory that has no schema or no columns, of which nothing is sent; as [`Client::push`].
    pub fn push_table(
        &self,
        directory: &Path,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<TableInfo, RemoteError> {
        let mut names = Vec::new();
        for entry in fs::read_dir(directory).map_err(at(directory))? {
            let name = entry.map_err(at(directory))?.file_name();
            names.extend(name.to_str().map(str::to_string));
        }
        names.sort();
        let blocks: Vec<&String> = names.iter().filter(|name| name.ends_with(".columns")).collect();
        if blocks.is_empty() || !directory.join("schema.json").exists() {
            let problem = format!(
                "{}: expected an encrypted table, schema.json and files of columns, found none: \
                 nothing was sent",
                directory.display()
            );
            return Err(RemoteError::malformed("a table", problem));
        }
        let mut new = NewTable { texts: BTreeMap::new(), blocks: BTreeMap::new() };
        for name in ["schema.json", "files.json"] {
            let path = directory.join(name);
            if path.exists() {
                let text = read_file(&path, TEXT_BYTES)?;
                let text = std::str::from_utf8(&text);
                let text = text.map_err(|e| RemoteError::malformed("a text of the table", e))?;
                new.texts.insert(name.into(), text.into());
            }
        }
        for (done, name) in blocks.iter().enumerate() {
            progress(done as u64, blocks.len() as u64);
            let id = self.push(&directory.join(name), |_, _| ())?;
            new.blocks.insert((*name).clone(), id);
        }
        self.calls.post("/v1/tables", &new, None)
    }

    /// Estimates the cost of a job.
    ///
    /// # Errors
    /// What the service refuses.
    pub fn estimate(&self, request: &JobRequest) -> Result<Estimate, RemoteError> {
        self.calls.post("/v1/estimates", request, None)
    }

    /// Starts a job. With the same key it is the same job, however often it is started.
    ///
    /// # Errors
    /// What the service refuses.
    pub fn start(
        &self,
        request: &JobRequest,
        key: &IdempotencyKey,
    ) -> Result<JobInfo, RemoteError> {
        self.calls.post("/v1/jobs", request, Some(key))
    }

    /// Waits for the end of a job. `progress` is called about once a second.
    ///
    /// # Errors
    /// Why the job failed or was cancelled; what the service refuses.
    pub fn wait(
        &self,
        id: &JobId,
        mut progress: impl FnMut(&JobInfo),
    ) -> Result<JobInfo, RemoteError> {
        loop {
            let info: JobInfo = self.calls.get(&format!("/v1/jobs/{id}?wait=1"))?;
            if !info.state.is_final() {
                progress(&info);
                continue;
            }
            return match info.error {
                Some(told) => Err(told.into()),
                None => Ok(info),
            };
        }
    }

    /// Starts a job and waits for its end.
    ///
    /// # Errors
    /// As [`Client::wait`].
    pub fn run(
        &self,
        request: &JobRequest,
        progress: impl FnMut(&JobInfo),
    ) -> Result<JobInfo, RemoteError> {
        let job = self.start(request, &IdempotencyKey::random()?)?;
        self.wait(&job.id, progress)
    }

    /// A job, as it is now.
    ///
    /// # Errors
    /// What the service refuses.
    pub fn job(&self, id: &JobId) -> Result<JobInfo, RemoteError> {
        self.calls.get(&format!("/v1/jobs/{id}"))
    }

    /// All jobs of the tenant.
    ///
    /// # Errors
    /// What the service refuses.
    pub fn jobs(&self) -> Result<Vec<JobInfo>, RemoteError> {
        let (mut found, mut after) = (Vec::<JobInfo>::new(), String::new());
        loop {
            let page: Page<JobInfo> = self.calls.get(&format!("/v1/jobs?after={after}"))?;
            found.extend(page.items);
            let Some(next) = page.next.map(String::from) else { return Ok(found) };
            if next <= after {
                return Err(RemoteError::malformed("a list of jobs", "its parts do not end"));
            }
            after = next;
        }
    }

    /// Cancels a job.
    ///
    /// # Errors
    /// What the service refuses.
    pub fn cancel(&self, id: &JobId) -> Result<JobInfo, RemoteError> {
        self.calls.post(&format!("/v1/jobs/{id}/cancel"), &(), None)
    }

    /// Removes what is stored of a job that has ended.
    ///
    /// # Errors
    /// What the service refuses.
    pub fn delete_job(&self, id: &JobId) -> Result<(), RemoteError> {
        self.calls.delete(&format!("/v1/jobs/{id}"))
    }

    /// The bytes of an object, whose hash is compared with its name.
    ///
    /// # Errors
    /// [`RemoteError::TooLarge`] above 4 GiB, which [`Client::pull`] fetches into a file;
    /// [`RemoteError::Checksum`] for other bytes; what the service refuses.
    pub fn fetch(
        &self,
        id: &ObjectId,
        progress: impl FnMut(u64, u64),
    ) -> Result<Vec<u8>, RemoteError> {
        let mut bytes = Vec::new();
        self.download(id, FETCHED_BYTES, progress, |part| {
            bytes.extend_from_slice(part);
            Ok(())
        })?;
        Ok(bytes)
    }

    /// Fetches an object into a file, which is there in full or not at all, part by part.
    ///
    /// # Errors
    /// [`RemoteError::Checksum`] for other bytes; what the service refuses; a file that is there
    /// already, unless it is to be replaced.
    pub fn pull(
        &self,
        id: &ObjectId,
        path: &Path,
        existing: Existing,
        progress: impl FnMut(u64, u64),
    ) -> Result<u64, RemoteError> {
        let mut file = NewFile::create(path, existing)?;
        let bytes = self.download(id, u64::MAX, progress, |part| Ok(file.add(part)?))?;
        file.finish()?;
        Ok(bytes)
    }

    /// Takes the parts of an object of at most `limit` bytes, one after the other; returns how many
    /// bytes there were. What was taken of other bytes is to be thrown away.
    fn download(
        &self,
        id: &ObjectId,
        limit: u64,
        mut progress: impl FnMut(u64, u64),
        mut take: impl FnMut(&[u8]) -> Result<(), RemoteError>,
    ) -> Result<u64, RemoteError> {
        let info: ObjectInfo = self.calls.get(&format!("/v1/objects/{id}"))?;
        if info.bytes > limit {
            return Err(RemoteError::TooLarge { what: "bytes of an object in memory", limit });
        }
        let (mut hash, mut taken) = (blake3::Hasher::new(), 0);
        while taken < info.bytes {
            progress(taken, info.bytes);
            let part = self.calls.part(format!("/v1/objects/{id}/content?offset={taken}"))?;
            if part.is_empty() {
                break;
            }
            hash.update(&part);
            take(&part)?;
            taken += part.len() as u64;
        }
        let found = ObjectId::of_hash(hash.finalize());
        match found == *id {
            true => Ok(taken),
            false => {
                Err(RemoteError::Checksum { expected: id.to_string(), found: found.to_string() })
            }
        }
    }

    /// All objects of the tenant.
    ///
    /// # Errors
    /// What the service refuses.
    pub fn objects(&self) -> Result<Vec<ObjectInfo>, RemoteError> {
        Ok(self.calls.get::<Page<ObjectInfo>>("/v1/objects")?.items)
    }

    /// All tables of the tenant.
    ///
    /// # Errors
    /// What the service refuses.
    pub fn tables(&self) -> Result<Vec<TableInfo>, RemoteError> {
        Ok(self.calls.get::<Page<TableInfo>>("/v1/tables")?.items)
    }

    /// Removes an object.
    ///
    /// # Errors
    /// An object that a table is made of or a job needs; what the service refuses.
    pub fn delete_object(&self, id: &ObjectId) -> Result<(), RemoteError> {
        self.calls.delete(&format!("/v1/objects/{id}"))
    }

    /// Removes a table; the objects that it is made of stay.
    ///
    /// # Errors
    /// What the service refuses.
    pub fn delete_table(&self, id: &ObjectId) -> Result<(), RemoteError> {
        self.calls.delete(&format!("/v1/tables/{id}"))
    }

    /// The usage and the quota of the tenant.
    ///
    /// # Errors
    /// What the service refuses.
    pub fn usage(&self) -> Result<UsageInfo, RemoteError> {
        self.calls.get("/v1/usage")
    }
}
