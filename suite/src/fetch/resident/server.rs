//! The process of the server.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use everlevel_bgv::Evaluator;
use everlevel_scheme::Params;
use everlevel_wire::file::read_file;
use everlevel_wire::{ReadOptions, server_keys};

use super::held::Held;
use super::socket::{self, Stamp};
use super::talk::{Reply, Request, problem, told};
use crate::error::SuiteError;
use crate::fetch::circuit::Search;
use crate::fetch::protocol::{Files, Task, Workload};
use crate::fetch::server::{cut, read_query, to_bytes};

/// After how many seconds without a request the server ends, unless [`IDLE_VARIABLE`] says another
/// number.
pub const IDLE_SECONDS: u64 = 600;
/// The variable of the environment of `server_preprocess_dataset` that has another number.
pub const IDLE_VARIABLE: &str = "EVERLEVEL_SUITE_IDLE_SECONDS";
/// What the server says when it listens; else it says what is wrong.
pub(super) const READY: &str = "ready";
/// How often it looks whether it is still wanted.
const GLANCE: Duration = Duration::from_millis(200);

/// The path of a query from the root of the file system, by which a request names it.
pub(super) fn path_of_query(files: &Files) -> Result<String, SuiteError> {
    let here = std::env::current_dir().map_err(|e| SuiteError::io(Path::new("."), &e))?;
    let path = here.join(&files.encrypted_query).into_os_string().into_string();
    path.map_err(|path| problem(format!("{}: expected a path in UTF-8", path.display())))
}

/// After which time without a request the server ends.
fn limit() -> Result<Duration, SuiteError> {
    let seconds = match std::env::var_os(IDLE_VARIABLE) {
        None => Some(IDLE_SECONDS),
        Some(text) => text.to_str().and_then(|text| text.parse().ok()),
    };
    let seconds = seconds.ok_or_else(|| problem(format!("{IDLE_VARIABLE}: expected seconds")));
    Ok(Duration::from_secs(seconds?))
}

/// What the server has in memory, for one instance and task.
struct Server {
    workload: Workload,
    task: Task,
    files: Files,
    query: String,
    /// The files that it has read.
    read: Vec<(PathBuf, Stamp)>,
    params: Params,
    search: Search,
    evaluator: Evaluator,
    held: Held,
}

impl Server {
    /// Reads keys and database.
    fn open(arguments: &[&str]) -> Result<Self, SuiteError> {
        let (workload, task) = Workload::of(arguments)?;
        let files = Files::of(&workload.instance);
        let query = path_of_query(&files)?;
        // Before they are read, so that a change meanwhile is noticed.
        let mut read = vec![&files.server_keys, &files.database];
        read.extend((task == Task::Fetch).then_some(&files.encrypted_payloads));
        let stamp = |path: &PathBuf| {
            let stamp = Stamp::of(path).map_err(|e| SuiteError::io(path, &e))?;
            Ok::<_, SuiteError>((path.clone(), stamp))
        };
        let read = read.into_iter().map(stamp).collect::<Result<Vec<_>, _>>()?;
        let params = workload.params()?;
        let search = Search::new(&params, &workload)?;
        let held = Held::load(&params, &workload, &files, task)?;
        let options = ReadOptions::default();
        let bytes = read_file(&files.server_keys, options.max_bytes)?;
        let (keys, _) = server_keys::from_bytes(&params, &bytes, &options)?;
        let evaluator = Evaluator::new(keys);
        Ok(Server { workload, task, files, query, read, params, search, evaluator, held })
    }

    /// The answer to a query of this instance and task, from the keys and the database that are in
    /// their files.
    fn answer(&mut self, request: &Request) -> Result<Reply, SuiteError> {
        let (own, asked) = (self.task.name(), request.task.name());
        if own != asked {
            return Err(problem(format!("it was started for {own:?}, and is asked for {asked:?}")));
        }
        if request.query != self.query {
            return Err(problem(format!("it reads {:?} only", self.query)));
        }
        if let Some((path, _)) = self.read.iter().find(|(path, stamp)| !stamp.holds(path)) {
            return Err(problem(format!(
                "{} is not the file that it has read: run server_preprocess_dataset again",
                path.display()
            )));
        }
        let start = Instant::now();
        let query = read_query(&self.params, &self.workload, &self.files)?;
        let reading = start.elapsed();
        let start = Instant::now();
        let found = self.search.run(&self.evaluator, query, &mut self.held, self.task)?;
        let found = cut(&self.params, &found)?;
        let computing = start.elapsed();
        let start = Instant::now();
        let bytes = to_bytes(&self.params, &self.workload, self.task, &found)?;
        Ok(Reply { spent: [reading, computing, start.elapsed()], bytes })
    }
}

/// A line for the process that waits for the server to start.
fn tell(line: &str) -> io::Result<()> {
    let mut out = io::stdout();
    writeln!(out, "{line}")?;
    out.flush()
}

/// Since when nobody has asked; nothing while an answer is computed.
type Idle = Mutex<Option<Instant>>;

fn lock(idle: &Idle) -> MutexGuard<'_, Option<Instant>> {
    idle.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the process once its socket is not there any more, or nobody has asked for long.
fn watch(socket: &Path, own: Stamp, limit: Duration, idle: &Idle) {
    loop {
        thread::sleep(GLANCE);
        if !own.holds(socket) {
            process::exit(0);
        }
        // Held to the end, so that no request comes in between.
        let idle = lock(idle);
        if idle.is_some_and(|since| since.elapsed() > limit) {
            let _ = std::fs::remove_file(socket);
            process::exit(0);
        }
    }
}

/// The server for these arguments of the stage that starts it.
///
/// # Errors
/// What it cannot read or has no memory for, which it also tells who waits for it.
pub(super) fn serve(arguments: &[&str]) -> Result<(), SuiteError> {
    let started = limit().and_then(|limit| {
        let server = Server::open(arguments)?;
        let (listener, own) = socket::listen(&server.workload.instance)?;
        Ok((server, listener, own, limit))
    });
    let (mut server, listener, own, limit) = match started {
        Ok(started) => started,
        Err(e) => {
            // Who waits for it may have gone.
            let _ = tell(&told(&e));
            return Err(e);
        }
    };
    let socket = socket::path(&server.workload.instance);
    let idle = Arc::new(Mutex::new(Some(Instant::now())));
    let watched = Arc::clone(&idle);
    let failed = |e: io::Error| SuiteError::io(&socket, &e);
    let place = socket.clone();
    let watching = thread::Builder::new().name("watching".into());
    watching.spawn(move || watch(&place, own, limit, &watched)).map_err(failed)?;
    // A server that nobody waits for is of no use.
    tell(READY).map_err(failed)?;
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            thread::sleep(GLANCE);
            continue;
        };
        *lock(&idle) = None;
        let reply = Request::receive(&stream).and_then(|request| server.answer(&request));
        // Who asked may have gone.
        let _ = Reply::send(&stream, &reply);
        *lock(&idle) = Some(Instant::now());
    }
    Ok(())
}
