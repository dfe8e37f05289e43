//! A service in a temporary directory, and an owner of data with toy keys.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::thread::JoinHandle;
use std::time::Duration;

use everlevel::files::{Bytes, Existing, ReadOptions};
use everlevel::{Keys, NamedIntegers, OptIn, Params, Type, general_keys};
use everlevel_service::api::{JobRequest, JobState};
use everlevel_service::{
    Client, Config, Exposure, Grant, IdempotencyKey, JobId, ObjectId, Scope, Service, Tokens,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::oneshot;

/// A service that runs until it is dropped.
pub struct Running {
    pub address: SocketAddr,
    pub directory: PathBuf,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// On a free port, on two threads, with what `change` makes of the configuration.
    pub fn start(directory: &Path, change: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config::new(directory);
        config.opt_in = OptIn::InsecureResearch;
        config.threads = 1;
        change(&mut config);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let service = Service::start(config).unwrap();
        let (end, ended) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let ended = async { drop(ended.await) };
            service.serve(listener, Exposure::Loopback, ended).unwrap();
        });
        let (end, thread, directory) = (Some(end), Some(thread), directory.into());
        Running { address, directory, end, thread }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A new token of a tenant.
    pub fn token(&self, tenant: &str, scopes: &[Scope]) -> String {
        let grant = Grant { tenant: tenant.parse().unwrap(), scopes: scopes.to_vec() };
        Tokens::in_directory(&self.directory).add(&grant).unwrap().reveal().to_string()
    }

    /// A client of a tenant that may do everything.
    pub fn client(&self, tenant: &str) -> Client {
        let token = self.token(tenant, &[Scope::Read, Scope::Write, Scope::Run]);
        Client::new(&self.url(), &token, Exposure::Loopback).unwrap()
    }

    /// A request as it is, and its answer: the status, and the body if it is JSON.
    pub fn call(&self, method: &str, path: &str, token: &str, body: &[u8]) -> (u16, Value) {
        let text = self.answer(method, path, token, body);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, serde_json::from_str(body).unwrap_or(Value::Null))
    }

    /// A request as it is, and its answer as text, head and body.
    pub fn answer(&self, method: &str, path: &str, token: &str, body: &[u8]) -> String {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {token}\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        let answer = self.request(&[head.as_bytes(), body].concat());
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// A whole request as it is, and its answer. The way to the service stays open: whoever closes
    /// it has gone, and may get no answer.
    pub fn request(&self, bytes: &[u8]) -> Vec<u8> {
        self.exchanged(bytes, false)
    }

    /// Bytes as they are, and the end; what comes back.
    pub fn raw(&self, bytes: &[u8]) -> Vec<u8> {
        self.exchanged(bytes, true)
    }

    fn exchanged(&self, bytes: &[u8], ends: bool) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
        // The service may have closed it already.
        let _ = stream.write_all(bytes);
        if ends {
            let _ = stream.shutdown(std::net::Shutdown::Write);
        }
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    /// The counts over all tenants.
    pub fn metrics(&self) -> String {
        let token = self.token("operator", &[Scope::Metrics]);
        let request = format!(
            "GET /metrics HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {token}\r\n\
             Connection: close\r\n\r\n"
        );
        String::from_utf8(self.request(request.as_bytes())).unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.end.take());
        let ended = self.thread.take().unwrap().join();
        assert!(std::thread::panicking() || ended.is_ok());
    }
}

/// Whoever owns the data: a secret key, and files.
pub struct Owner {
    pub client: everlevel::Client,
    pub files: TempDir,
    pub keys: PathBuf,
}

impl Owner {
    fn new(seed: u64) -> Self {
        let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let client = everlevel::Client::new(&params, &mut rng);
        let files = tempfile::tempdir().unwrap();
        let keys = files.path().join("server.keys");
        let plan = general_keys(&params).unwrap();
        let drawn: Keys = client.server_keys(&plan, &mut rng).unwrap().into();
        drawn.save(&keys, Existing::Keep).unwrap();
        Owner { client, files, keys }
    }

    /// The one that most tests take: keys are drawn once.
    pub fn shared() -> &'static Owner {
        static OWNER: OnceLock<Owner> = OnceLock::new();
        OWNER.get_or_init(|| Owner::new(1))
    }

    /// Another one.
    pub fn other() -> &'static Owner {
        static OTHER: OnceLock<Owner> = OnceLock::new();
        OTHER.get_or_init(|| Owner::new(2))
    }

    /// A file of encrypted columns of `u8`.
    pub fn columns(&self, file: &str, columns: &[(&str, &[u8])]) -> PathBuf {
        let mut rng = ChaCha20Rng::seed_from_u64(file.len() as u64);
        let encrypted: Vec<NamedIntegers> = columns
            .iter()
            .map(|(name, values)| {
                let column = self.client.encrypt_integers(values, Type::U8, &mut rng).unwrap();
                ((*name).to_string(), column.into())
            })
            .collect();
        self.file(file, &self.client.upload_columns(&encrypted).unwrap())
    }

    /// A file of these bytes.
    pub fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.files.path().join(format!("{name}.{:?}", std::thread::current().id()));
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// A file of values modulo p^r in as many ciphertexts as they take.
    pub fn modular(&self, file: &str, values: &[u64]) -> PathBuf {
        let (params, mut rng) = (self.client.params(), ChaCha20Rng::seed_from_u64(8));
        let parts = values.chunks(params.slots());
        let encrypt = |part: &[u64]| self.client.encrypt_modular(part, &mut rng).unwrap();
        let ciphertexts: Vec<everlevel::Ciphertext> = parts.map(encrypt).collect();
        let said = [("values", values.len().to_string()), ("encryption", "secret".into())];
        let metadata = said.map(|(name, text)| (name.into(), text)).into_iter().collect();
        self.file(file, &ciphertexts.to_bytes_with(params, &metadata).unwrap())
    }

    /// The values of a result modulo p^r, in all slots.
    pub fn residues(&self, bytes: &[u8]) -> Vec<u64> {
        let options = ReadOptions::default().limited_to(bytes.len() as u64);
        let params = self.client.params();
        let (found, _) =
            Vec::<everlevel::Ciphertext>::from_bytes_with(params, bytes, &options).unwrap();
        found.iter().flat_map(|x| self.client.decrypt_modular(x).unwrap()).collect()
    }

    /// The values of a result, of all its columns one after the other.
    pub fn values(&self, bytes: &[u8]) -> Vec<i64> {
        let columns = self.client.read_columns(bytes).unwrap();
        let values = |x| self.client.decrypt_column::<i64>(x).unwrap();
        columns.iter().flat_map(|(_, x)| values(x)).collect()
    }
}

/// A program on the columns of one object.
pub fn program(server_keys: &ObjectId, columns: &ObjectId, text: &str) -> JobRequest {
    JobRequest::Program {
        server_keys: server_keys.clone(),
        program: text.into(),
        inputs: Default::default(),
        columns: vec![columns.clone()],
        tables: Default::default(),
        pad: false,
    }
}

pub fn push(client: &Client, path: &Path) -> ObjectId {
    client.push(path, |_, _| ()).unwrap()
}

/// A program on named arrays.
pub fn program_of(server_keys: &ObjectId, inputs: &[(&str, &ObjectId)], text: &str) -> JobRequest {
    let named = |(name, id): &(&str, &ObjectId)| ((*name).to_string(), (*id).clone());
    JobRequest::Program {
        server_keys: server_keys.clone(),
        program: text.into(),
        inputs: inputs.iter().map(named).collect(),
        columns: Vec::new(),
        tables: Default::default(),
        pad: false,
    }
}

/// Starts a job under a new key.
pub fn start(client: &Client, request: &JobRequest) -> JobId {
    client.start(request, &IdempotencyKey::random().unwrap()).unwrap().id
}

/// Waits until a job computes; five minutes, as others may take the processor and the disk.
pub fn wait_until_it_computes(client: &Client, id: &JobId) {
    for _ in 0..15_000 {
        let job = client.job(id).unwrap();
        assert!(!job.state.is_final(), "{job:?}");
        if job.state == JobState::Running && job.stage == "computing" {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("the job did not start");
}

/// A program that takes a while: two comparisons for each statement.
pub fn long_program(statements: usize) -> String {
    let mut text = "y0 = x".to_string();
    for i in 1..=statements {
        text += &format!("; y{i} = min(max(y{}, x - {i}), x + {i})", i - 1);
    }
    text
}
