//! The client: sends files, runs jobs, fetches results. What breaks off is tried again, and goes on
//! where it was.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use everlevel_tables::EncryptedTable;
use everlevel_wire::file::{Existing, read_file, write_file};
use everlevel_wire::{ObjectKind, WireError, inspect_file};
use serde::Serialize;
use serde::de::DeserializeOwned;
use ureq::Agent;
use ureq::http::Response;

use crate::api::{
    Estimate, JSON_BYTES, JobInfo, JobRequest, NewTable, NewUpload, ObjectInfo, PART_BYTES, Page,
    Refusal, TableInfo, UploadState, UsageInfo,
};
use crate::connecting::Connecting;
use crate::error::ServiceError;
use crate::name::{IdempotencyKey, JobId, ObjectId};
use crate::tls::unproved;
use crate::token::Token;

/// How many times a request is sent before the service counts as unreachable.
const TRIES: u32 = 5;
/// The most bytes of an answer in JSON: a list of everything that a tenant may have.
const ANSWER_BYTES: u64 = 64 << 20;
/// The most bytes of a text of a table.
const TEXT_BYTES: u64 = 1 << 20;

/// A connection to a service, for the bearer of a token.
pub struct Client {
    agent: Agent,
    base: String,
    authorization: String,
}

type Reply = Response<ureq::Body>;

/// An answer that was not one of success.
fn refused(mut reply: Reply) -> ServiceError {
    let status = reply.status();
    let body = reply.body_mut().with_config().limit(ANSWER_BYTES).read_to_vec();
    match serde_json::from_slice::<Refusal>(&body.unwrap_or_default()) {
        Ok(Refusal { error }) => error.into(),
        Err(_) => {
            ServiceError::Unreachable { problem: format!("it answered with status {status}") }
        }
    }
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
    ) -> Result<Self, ServiceError> {
        let token: Token = token.parse()?;
        let agent = connecting.into().agent(url)?;
        let authorization = format!("Bearer {}", token.reveal());
        let base = url.trim_end_matches('/').into();
        Ok(Client { agent, base, authorization })
    }

    /// Sends a request until it is answered.
    fn answered(
        &self,
        send: impl Fn(&Agent, &str) -> Result<Reply, ureq::Error>,
    ) -> Result<Reply, ServiceError> {
        let mut tries = 1;
        loop {
            match send(&self.agent, &self.authorization) {
                Ok(reply) if reply.status().is_success() => return Ok(reply),
                Ok(reply) if ![502, 503, 504].contains(&reply.status().as_u16()) => {
                    return Err(refused(reply));
                }
                Ok(reply) if tries == TRIES => return Err(refused(reply)),
                Err(e) => match unproved(&e) {
                    Some(e) => return Err(e),
                    None if tries == TRIES => {
                        return Err(ServiceError::Unreachable { problem: e.to_string() });
                    }
                    None => {}
                },
                Ok(_) => {}
            }
            sleep(Duration::from_millis(100) * 2u32.pow(tries));
            tries += 1;
        }
    }

    fn parsed<T: DeserializeOwned>(mut reply: Reply) -> Result<T, ServiceError> {
        let body = reply.body_mut().with_config().limit(ANSWER_BYTES).read_to_vec();
        let body = body.map_err(|e| ServiceError::Unreachable { problem: e.to_string() })?;
        serde_json::from_slice(&body).map_err(|e| ServiceError::malformed("the answer", e))
    }

    fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ServiceError> {
        let url = format!("{}{path}", self.base);
        let send =
            |agent: &Agent, token: &str| agent.get(&url).header("Authorization", token).call();
        Self::parsed(self.answered(send)?)
    }

    fn delete(&self, path: &str) -> Result<(), ServiceError> {
        let url = format!("{}{path}", self.base);
        let send =
            |agent: &Agent, token: &str| agent.delete(&url).header("Authorization", token).call();
        self.answered(send).map(drop)
    }

    fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
        key: Option<&IdempotencyKey>,
    ) -> Result<T, ServiceError> {
        let url = format!("{}{path}", self.base);
        let text =
            serde_json::to_vec(body).map_err(|e| ServiceError::malformed("the request", e))?;
        if text.len() > JSON_BYTES {
            let limit = JSON_BYTES as u64;
            return Err(ServiceError::TooLarge { what: "bytes of a request", limit });
        }
        let send = |agent: &Agent, token: &str| {
            let request = agent.post(&url).header("Authorization", token);
            let request = request.header("Content-Type", "application/json");
            match key {
                Some(key) => request.header("Idempotency-Key", key.as_ref()).send(&text[..]),
                None => request.send(&text[..]),
            }
        };
        Self::parsed(self.answered(send)?)
    }

    /// Sends a file of server keys, ciphertexts or columns, unless the service has it. An upload
    /// that broke off goes on. `progress(sent, bytes)` is called after each part.
    ///
    /// # Errors
    /// A file of another kind, of which nothing is sent; a file that changes meanwhile; what the
    /// service refuses.
    pub fn push(
        &self,
        path: &Path,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<ObjectId, ServiceError> {
        let kind = inspect_file(path)?.kind;
        if ![ObjectKind::SERVER_KEYS, ObjectKind::CIPHERTEXTS, ObjectKind::COLUMNS].contains(&kind)
        {
            let problem = format!(
                "{}: expected server keys, ciphertexts or columns of integers, found {kind}: \
                 nothing was sent",
                path.display()
            );
            return Err(ServiceError::malformed("a file", problem));
        }
        let failed = |e: std::io::Error| {
            let (path, problem) = (path.display().to_string(), e.to_string());
            ServiceError::from(WireError::Io { path, problem })
        };
        let mut file = File::open(path).map_err(failed)?;
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(&mut file).map_err(failed)?;
        let new = NewUpload { id: ObjectId::of_hash(hasher.finalize()), bytes: hasher.count() };
        let mut state: UploadState = self.post("/v1/uploads", &new, None)?;
        let mut part = Vec::new();
        while !state.complete {
            progress(state.offset, state.bytes);
            part.clear();
            file.seek(SeekFrom::Start(state.offset)).map_err(failed)?;
            (&mut file).take(PART_BYTES).read_to_end(&mut part).map_err(failed)?;
            if part.is_empty() && state.offset < state.bytes {
                let problem = format!("{}: it became shorter while it was sent", path.display());
                return Err(ServiceError::malformed("a file", problem));
            }
            let url = format!("{}/v1/uploads/{}?offset={}", self.base, new.id, state.offset);
            let send = |agent: &Agent, token: &str| {
                agent.put(&url).header("Authorization", token).send(&part[..])
            };
            state = match self.answered(send) {
                Ok(reply) => Self::parsed(reply)?,
                // A part that was sent twice, as its answer was lost.
                Err(e) if e.code() == "service.offset" => self.post("/v1/uploads", &new, None)?,
                Err(e) => return Err(e),
            };
        }
        progress(state.bytes, state.bytes);
        Ok(new.id)
    }

    /// Sends an encrypted table in a directory, file by file. `progress(sent, files)` is called
    /// after each.
    ///
    /// # Errors
    /// A directory that is no encrypted table; as [`Client::push`].
    pub fn push_table(
        &self,
        directory: &Path,
        options: &everlevel::files::OpenOptions,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<TableInfo, ServiceError> {
        // What does not open here would not there.
        EncryptedTable::open(directory, options)?;
        let failed = |e: std::io::Error| {
            let (path, problem) = (directory.display().to_string(), e.to_string());
            ServiceError::from(WireError::Io { path, problem })
        };
        let mut names = Vec::new();
        for entry in fs::read_dir(directory).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            names.extend(name.to_str().map(str::to_string));
        }
        names.sort();
        let mut new = NewTable { texts: BTreeMap::new(), blocks: BTreeMap::new() };
        let blocks: Vec<&String> = names.iter().filter(|name| name.ends_with(".columns")).collect();
        for (done, name) in blocks.iter().enumerate() {
            progress(done as u64, blocks.len() as u64);
            let id = self.push(&directory.join(name), |_, _| ())?;
            new.blocks.insert((*name).clone(), id);
        }
        for name in ["schema.json", "files.json"] {
            let path = directory.join(name);
            if path.exists() {
                let text = read_file(&path, TEXT_BYTES)?;
                let text = std::str::from_utf8(&text);
                let text = text.map_err(|e| ServiceError::malformed("a text of the table", e))?;
                new.texts.insert(name.into(), text.into());
            }
        }
        self.post("/v1/tables", &new, None)
    }

    /// What a job will cost.
    ///
    /// # Errors
    /// What the service refuses.
    pub fn estimate(&self, request: &JobRequest) -> Result<Estimate, ServiceError> {
        self.post("/v1/estimates", request, None)
    }

    /// Starts a job. With the same key it is the same job, however often it is started.
    ///
    /// # Errors
    /// What the service refuses.
    pub fn start(
        &self,
        request: &JobRequest,
        key: &IdempotencyKey,
    ) -> Result<JobInfo, ServiceError> {
        self.post("/v1/jobs", request, Some(key))
    }

    /// Waits for the end of a job. `progress` is called about once a second.
    ///
    /// # Errors
    /// Why the job failed or was cancelled; what the service refuses.
    pub fn wait(
        &self,
        id: &JobId,
        mut progress: impl FnMut(&JobInfo),
    ) -> Result<JobInfo, ServiceError> {
        loop {
            let info: JobInfo = self.get(&format!("/v1/jobs/{id}?wait=1"))?;
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

    /// A job, as it is now.
    ///
    /// # Errors
    /// What the service refuses.
    pub fn job(&self, id: &JobId) -> Result<JobInfo, ServiceError> {
        self.get(&format!("/v1/jobs/{id}"))
    }

    /// All jobs of the tenant.
    ///
    /// # Errors
    /// What the service refuses.
    pub fn jobs(&self) -> Result<Vec<JobInfo>, ServiceError> {
        Ok(self.get::<Page<JobInfo>>("/v1/jobs")?.items)
    }

    /// Cancels a job.
    ///
    /// # Errors
    /// What the service refuses.
    pub fn cancel(&self, id: &JobId) -> Result<JobInfo, ServiceError> {
        self.post(&format!("/v1/jobs/{id}/cancel"), &(), None)
    }

    /// Removes what is stored of a job that has ended.
    ///
    /// # Errors
    /// What the service refuses.
    pub fn delete_job(&self, id: &JobId) -> Result<(), ServiceError> {
        self.delete(&format!("/v1/jobs/{id}"))
    }

    /// The bytes of an object, which are what its name says.
    ///
    /// # Errors
    /// [`ServiceError::Checksum`] for other bytes; what the service refuses.
    pub fn fetch(
        &self,
        id: &ObjectId,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<Vec<u8>, ServiceError> {
        let info: ObjectInfo = self.get(&format!("/v1/objects/{id}"))?;
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < info.bytes {
            progress(bytes.len() as u64, info.bytes);
            let url = format!("{}/v1/objects/{id}/content?offset={}", self.base, bytes.len());
            let send =
                |agent: &Agent, token: &str| agent.get(&url).header("Authorization", token).call();
            let mut reply = self.answered(send)?;
            // What breaks off in the middle of a part is asked for again.
            let part = reply.body_mut().with_config().limit(PART_BYTES).read_to_vec();
            match part {
                Ok(part) if part.is_empty() => break,
                Ok(part) => bytes.extend(part),
                Err(e) => return Err(ServiceError::Unreachable { problem: e.to_string() }),
            }
        }
        let found = ObjectId::of_hash(blake3::hash(&bytes));
        match found == *id {
            true => Ok(bytes),
            false => {
                Err(ServiceError::Checksum { expected: id.to_string(), found: found.to_string() })
            }
        }
    }

    /// Fetches an object into a file, which is there in full or not at all.
    ///
    /// # Errors
    /// As [`Client::fetch`]; a file that is there already, unless it is to be replaced.
    pub fn pull(
        &self,
        id: &ObjectId,
        path: &Path,
        existing: Existing,
        progress: impl FnMut(u64, u64),
    ) -> Result<u64, ServiceError> {
        let bytes = self.fetch(id, progress)?;
        write_file(path, &bytes, existing)?;
        Ok(bytes.len() as u64)
    }

    /// All objects of the tenant.
    ///
    /// # Errors
    /// What the service refuses.
    pub fn objects(&self) -> Result<Vec<ObjectInfo>, ServiceError> {
        Ok(self.get::<Page<ObjectInfo>>("/v1/objects")?.items)
    }

    /// All tables of the tenant.
    ///
    /// # Errors
    /// What the service refuses.
    pub fn tables(&self) -> Result<Vec<TableInfo>, ServiceError> {
        Ok(self.get::<Page<TableInfo>>("/v1/tables")?.items)
    }

    /// Removes an object.
    ///
    /// # Errors
    /// An object that a table is made of or a job needs; what the service refuses.
    pub fn delete_object(&self, id: &ObjectId) -> Result<(), ServiceError> {
        self.delete(&format!("/v1/objects/{id}"))
    }

    /// Removes a table; the objects that it is made of stay.
    ///
    /// # Errors
    /// What the service refuses.
    pub fn delete_table(&self, id: &ObjectId) -> Result<(), ServiceError> {
        self.delete(&format!("/v1/tables/{id}"))
    }

    /// What the tenant uses, and what it may.
    ///
    /// # Errors
    /// What the service refuses.
    pub fn usage(&self) -> Result<UsageInfo, ServiceError> {
        self.get("/v1/usage")
    }
}
