//! Processes of the service, and an owner of data with toy keys.

use std::cell::Cell;
use std::future::pending;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use everlevel::files::Existing;
use everlevel::{Keys, NamedIntegers, OptIn, Params, Type, general_keys};
use everlevel_service::api::{JobRequest, JobState, NewUpload};
use everlevel_service::{
    Bucket, Client, Config, Database, Exposure, Grant, IdempotencyKey, JobId, ObjectId, Scope,
    Service, Tokens, interrupted,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use tempfile::TempDir;

use crate::s3::{self, ObjectStore};

/// How long a job is left to a worker that does not tell about it.
pub const LEASE: Duration = Duration::from_secs(2);

/// Tells a process which bucket it has.
const BUCKET_FILE: &str = "EVERLEVEL_TEST_BUCKET";

/// What all processes of a test have in common.
pub fn config(directory: &Path, database: &Path) -> Config {
    let database = Database::from_file(database).expect("a file").with_lease(LEASE);
    Config {
        opt_in: OptIn::InsecureResearch,
        threads: 1,
        database: Some(database),
        ..Config::new(directory)
    }
}

/// Is a process of the service: a worker, or one that answers requests and computes nothing.
pub fn run(directory: &Path, database: &Path, rest: &[&str]) {
    let mut config = config(directory, database);
    if let Some(bucket) = std::env::var_os(BUCKET_FILE) {
        config.bucket = Some(Bucket::from_file(Path::new(&bucket)).expect("a bucket"));
    }
    if rest.first() == Some(&"answers") {
        config.workers = 0;
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let service = Service::start(config).expect("the service starts");
        println!("{address}");
        return service.serve(listener, Exposure::Loopback, pending()).expect("it serves");
    }
    if let Some(bytes) = rest.get(1) {
        config.key_memory = bytes.parse().expect("a number");
    }
    let service = Service::start(config).expect("the worker starts");
    println!("computing");
    service.work(interrupted()).expect("it works");
}

/// A process that runs until this is dropped, which kills it.
pub struct Process {
    child: Child,
    /// The address that it answers at.
    said: String,
}

impl Process {
    fn start(place: &Place, rest: &[&str]) -> Self {
        let program = std::env::current_exe().expect("this program has a path");
        let mut command = Command::new(program);
        if let Some(bucket) = &place.bucket {
            command.env(BUCKET_FILE, bucket);
        }
        let mut child = command
            .args(["--process".as_ref(), &*place.process_directory(), place.database.as_path()])
            .args(rest)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let (out, mut said) = (child.stdout.take().expect("its output"), String::new());
        BufReader::new(out).read_line(&mut said).expect("a line");
        assert!(!said.is_empty(), "the process did not start");
        Process { child, said: said.trim().into() }
    }

    /// Sends a signal, such as `STOP`.
    pub fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &pid]).status();
        assert!(sent.expect("kill runs").success(), "{name}");
    }

    /// Waits until it has ended by itself.
    pub fn ended(mut self) {
        assert!(self.child.wait().expect("it ends").success());
    }

    /// Announces an upload, and sends nothing of it. What is answered, as text.
    pub fn announce(&self, token: &str, new: &NewUpload) -> String {
        let body = serde_json::to_string(new).expect("JSON");
        let head = format!(
            "POST /v1/uploads HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {token}\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        let mut stream = TcpStream::connect(&self.said).expect("a connection");
        stream.write_all((head + &body).as_bytes()).expect("it is sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }

    pub fn client(&self, token: &str) -> Client {
        Client::new(&format!("http://{}", self.said), token, Exposure::Loopback).expect("a client")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // As the system does it when memory is short: nothing of it goes on.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What processes share: a database, and a directory or an object store.
pub struct Place {
    pub directory: TempDir,
    pub database: PathBuf,
    /// The file that describes a bucket.
    pub bucket: Option<PathBuf>,
    numbers: Cell<usize>,
}

impl Place {
    pub fn new(server: &super::postgres::Instance, name: &str) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let database = server.database(name);
        Place { directory, database, bucket: None, numbers: Cell::new(0) }
    }

    /// One where processes have a directory each, and their bytes in an object store.
    pub fn in_bucket(server: &super::postgres::Instance, name: &str, store: &ObjectStore) -> Self {
        let place = Place::new(server, name);
        let path = place.directory.path().join("bucket.json");
        let text = serde_json::json!({
            "endpoint": store.endpoint,
            "bucket": s3::BUCKET,
            "prefix": name,
            "region": s3::REGION,
            "access_key_id": s3::KEY_ID,
            "secret_access_key": s3::SECRET,
        });
        std::fs::write(&path, text.to_string()).expect("a file");
        Place { bucket: Some(path), ..place }
    }

    /// That of the next process.
    fn process_directory(&self) -> PathBuf {
        let shared = self.directory.path();
        if self.bucket.is_none() {
            return shared.into();
        }
        self.numbers.set(self.numbers.get() + 1);
        let own = shared.join(format!("process-{}", self.numbers.get()));
        std::fs::create_dir(&own).expect("a directory");
        // Hashes of tokens are brought to every machine that answers.
        std::os::unix::fs::symlink(shared.join("tokens"), own.join("tokens")).expect("a link");
        own
    }

    pub fn worker(&self) -> Process {
        Process::start(self, &["computes"])
    }

    pub fn worker_with(&self, key_memory: &str) -> Process {
        Process::start(self, &["computes", key_memory])
    }

    pub fn answers(&self) -> Process {
        Process::start(self, &["answers"])
    }

    pub fn token(&self, tenant: &str) -> String {
        let scopes = vec![Scope::Read, Scope::Write, Scope::Run];
        let grant = Grant { tenant: tenant.parse().expect("a name"), scopes };
        let token = Tokens::in_directory(self.directory.path()).add(&grant).expect("a token");
        token.reveal().to_string()
    }
}

/// Whoever owns the data: a secret key, and files.
pub struct Owner {
    pub client: everlevel::Client,
    pub files: TempDir,
    pub keys: PathBuf,
}

impl Owner {
    pub fn new() -> Self {
        let params =
            Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).expect("a toy set");
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let client = everlevel::Client::new(&params, &mut rng);
        let files = tempfile::tempdir().expect("a temporary directory");
        let keys = files.path().join("server.keys");
        let plan = general_keys(&params).expect("a plan");
        let drawn: Keys = client.server_keys(&plan, &mut rng).expect("keys").into();
        drawn.save(&keys, Existing::Keep).expect("a file");
        Owner { client, files, keys }
    }

    /// A file of the encrypted column `x`.
    pub fn column(&self, name: &str, values: &[u8]) -> PathBuf {
        let mut rng = ChaCha20Rng::seed_from_u64(values.len() as u64);
        let column = self.client.encrypt_integers(values, Type::U8, &mut rng).expect("a column");
        let columns: [NamedIntegers; 1] = [("x".to_string(), column.into())];
        let path = self.files.path().join(name);
        std::fs::write(&path, self.client.upload_columns(&columns).expect("bytes")).expect("file");
        path
    }

    pub fn values(&self, bytes: &[u8]) -> Vec<i64> {
        let columns = self.client.read_columns(bytes).expect("columns");
        let values = |x| self.client.decrypt_column::<i64>(x).expect("values");
        columns.iter().flat_map(|(_, x)| values(x)).collect()
    }
}

pub fn push(client: &Client, path: &Path) -> ObjectId {
    client.push(path, |_, _| ()).expect("it is sent")
}

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

/// A program that takes a while, whose result `y` is x.
pub fn long_program(statements: usize) -> String {
    let mut text = "y0 = x".to_string();
    for i in 1..statements {
        text += &format!("; y{i} = min(max(y{}, x - {i}), x + {i})", i - 1);
    }
    text + &format!("; y = min(max(y{}, x - 1), x + 1)", statements - 1)
}

pub fn start(client: &Client, request: &JobRequest) -> JobId {
    client.start(request, &IdempotencyKey::random().expect("random bits")).expect("a job").id
}

/// Waits until a job computes; five minutes, as others may take the processor and the disk.
pub fn wait_until_it_computes(client: &Client, id: &JobId) {
    for _ in 0..6000 {
        let job = client.job(id).expect("a job");
        assert!(!job.state.is_final(), "{job:?}");
        if job.state == JobState::Running && job.stage == "computing" {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("the job did not start");
}
