//! The `everlevel` program: demonstrations, parameter sets, measurements, a self-test.
#![forbid(unsafe_code)]

mod aes;
mod args;
mod bench;
mod columns;
mod common;
mod csv;
mod demo;
mod error;
mod explain;
mod manual;
mod npy;
mod params;
mod plan;
mod plot;
mod report;
mod reproduce;
mod rings;
mod roles;
mod security;
mod selftest;
mod version;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use aes::args::AesCommand;
use args::{Cli, Command};
use bench::args::BenchCommand;
use error::CliError;

fn main() -> ExitCode {
    let result = match Cli::try_parse() {
        Ok(cli) => run(&cli),
        Err(e) if matches!(e.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            common::emit(e.to_string().trim_end())
        }
        Err(e) => Err(usage_of(&e)),
    };
    let Err(error) = result else { return ExitCode::SUCCESS };
    let Some((exit, code, message)) = error.told() else { return ExitCode::SUCCESS };
    // The arguments may be what is wrong.
    let json = std::env::args_os().any(|argument| argument == "--json");
    let told = if json {
        serde_json::json!({ "error": { "code": code, "message": message } }).to_string()
    } else {
        let (first, rest) = message.split_at(message.find('\n').unwrap_or(message.len()));
        format!("everlevel: {first} [{code}]{rest}")
    };
    // Nothing can be done if standard error is closed as well.
    let _ = writeln!(std::io::stderr(), "{told}");
    ExitCode::from(exit)
}

fn run(cli: &Cli) -> Result<(), CliError> {
    let common = &cli.common;
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(threads) = common.threads {
        pool = pool.num_threads(usize::from(threads));
    }
    pool.build_global().map_err(|e| CliError::failure(format!("cannot start the threads: {e}")))?;
    // A misspelt override is told, not passed over in silence.
    let selection = everlevel::Backend::selection();
    if !selection.honoured {
        let names: Vec<&str> = everlevel::Backend::available().iter().map(|b| b.name()).collect();
        return Err(CliError::usage(format!(
            "EVERLEVEL_BACKEND = {}: expected one of {} on this processor",
            selection.requested.as_deref().unwrap_or_default(),
            names.join(", ")
        )));
    }
    match &cli.command {
        Command::Demo(a) => demo::run(a, common),
        Command::Params(c) => params::run(c, common),
        Command::Keygen(a) => roles::keygen(a, common),
        Command::Encrypt(a) => roles::encrypt(a, common),
        Command::Eval(a) => roles::eval(a, common),
        Command::Bootstrap(a) => roles::bootstrap(a, common),
        Command::Explain(a) => explain::run(a, common),
        Command::Compact(a) => roles::compact(a, common),
        Command::Decrypt(a) => roles::decrypt(a, common),
        Command::Inspect(a) => roles::inspect(a, common),
        Command::ChangeKey(a) => roles::change_key(a, common),
        Command::Keys(c) => roles::keys(c, common),
        Command::Security(c) => security::run(c, common),
        Command::Bench(BenchCommand::Bootstrap(a)) => bench::bootstrap::run(a, common),
        Command::Bench(BenchCommand::Primitives(a)) => bench::primitives::run(a, common),
        Command::Aes(AesCommand::Keygen(a)) => aes::keygen(a, common),
        Command::Aes(AesCommand::EncryptKey(a)) => aes::encrypt_key(a, common),
        Command::Aes(AesCommand::Transcipher(a)) => aes::transcipher(a, common),
        Command::Aes(AesCommand::Decrypt(a)) => aes::decrypt(a, common),
        Command::Aes(AesCommand::Bench(a)) => aes::run(a, common),
        Command::Reproduce(a) => reproduce::run(a, common),
        Command::Selftest => selftest::run(common),
        Command::Completions { shell } => manual::completions(*shell),
        Command::Man { out } => manual::pages(out),
        Command::Version { verbose } => version::run(*verbose, common),
    }
}

/// The parser's complaint on one line, with where to look.
fn usage_of(e: &clap::Error) -> CliError {
    if e.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        || e.kind() == ErrorKind::MissingSubcommand
    {
        return CliError::usage(
            "expected a command: demo, params, keygen, encrypt, eval, bootstrap, explain, \
             compact, decrypt, inspect, change-key, keys, security, bench, aes, reproduce, \
             selftest, completions, man or version; `everlevel --help` explains them",
        );
    }
    let text = e.to_string();
    let told: Vec<&str> = text
        .lines()
        .take_while(|l| !l.starts_with("Usage:"))
        .filter(|l| !l.contains("--help"))
        .collect();
    let told = told.join(" ");
    let told = told.trim().trim_start_matches("error: ");
    CliError::usage(format!("{told}; try `everlevel --help`"))
}
