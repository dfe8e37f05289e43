//! The stages: one that starts the server, and one that asks it.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::server::{self, READY, path_of_query};
use super::socket;
use super::talk::{LONGEST, Reply, Request, STEPS, problem};
use crate::error::SuiteError;
use crate::fetch::protocol::{Files, Workload};
use crate::output::{Output, make_place_for};
use crate::steps::Steps;

/// The first argument of the process of the server, which no harness gives.
const SERVE: &str = "--serve";

/// `server_preprocess_dataset SIZE ...`: starts a server in the place of any other of this
/// instance, and waits until it has read keys and database and listens.
///
/// # Errors
/// What is not an upload for this instance, not fresh from a secret key, or not at its place; too
/// little memory; what the system refuses.
pub fn preprocess(arguments: &[&str]) -> Result<(), SuiteError> {
    if let [SERVE, arguments @ ..] = arguments {
        return server::serve(arguments);
    }
    let (workload, _) = Workload::of(arguments)?;
    socket::remove(&workload.instance)?;
    wait(start(arguments)?)
}

/// Starts the program again. It keeps nothing of this process open: who started that one does not
/// wait for the server.
fn start(arguments: &[&str]) -> Result<Child, SuiteError> {
    let failed = |e: std::io::Error| SuiteError::io(Path::new(SERVE), &e);
    let program = std::env::current_exe().map_err(failed)?;
    let mut command = Command::new(program);
    command.arg(SERVE).args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().map_err(failed)
}

/// Waits until the server listens, or says why it does not.
fn wait(mut child: Child) -> Result<(), SuiteError> {
    let mut line = String::new();
    if let Some(out) = child.stdout.take() {
        let read = BufReader::new(out.take(LONGEST)).read_line(&mut line);
        read.map_err(|e| problem(format!("what it says cannot be read: {e}")))?;
    }
    match line.trim_end() {
        READY => Ok(()),
        said => {
            // It ends by itself; a process that says something else is not ours.
            let _ = child.kill();
            let _ = child.wait();
            let said = if said.is_empty() { "it ended before it listened" } else { said };
            Err(problem(said))
        }
    }
}

/// `server_encrypted_compute SIZE ...`: what the server answers.
///
/// # Errors
/// No server, or one that refuses ([`SuiteError::Server`]).
pub fn compute(arguments: &[&str]) -> Result<(), SuiteError> {
    let mut steps = Steps::start();
    let (workload, task) = Workload::of(arguments)?;
    let files = Files::of(&workload.instance);
    make_place_for(&files.download)?;
    let request = Request { task, query: path_of_query(&files)? };
    let stream = socket::connect(&workload.instance)?;
    request.send(&stream)?;
    let reply = Reply::receive(&stream)?;
    for (step, spent) in STEPS.into_iter().zip(reply.spent) {
        steps.add(step, spent);
    }
    steps.time(STEPS[2], || {
        let mut out = Output::create(files.download)?;
        out.write(&reply.bytes)?;
        out.finish()
    })?;
    steps.write(&workload.instance)
}
