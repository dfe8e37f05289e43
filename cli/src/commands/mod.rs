//! The commands of the program `everlevel`.

mod aes;
mod args;
pub mod bench;
mod demo;
mod examples;
mod explain;
mod keyless;
mod manual;
mod params;
mod parties;
mod plan;
#[cfg(feature = "service")]
mod remote;
mod rings;
mod roles;
mod security;
mod selftest;
#[cfg(feature = "service")]
mod serve;
#[cfg(feature = "service")]
mod serve_demo;
mod table;
mod version;
mod workload;

use std::ffi::OsString;

use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::program;
use aes::args::AesCommand;
use args::{Cli, Command};
use bench::args::BenchCommand;
pub use examples::command;
use roles::args::{EncryptArgs, EvalArgs};

/// Runs the program `everlevel` with these arguments, its own name first.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> Result<(), CliError> {
    #[cfg(not(feature = "service"))]
    let (asked, arguments) = asks_for_service(arguments);
    let parsed = program::parse_with::<Cli>(command(), arguments);
    #[cfg(not(feature = "service"))]
    let parsed = parsed.map_err(|error| if asked { without_service() } else { error });
    let Some(Cli { command, common }) = &parsed? else {
        return Ok(());
    };
    program::start(common)?;
    match command {
        Command::Demo(a) => demo::run(a, common),
        Command::Params(c) => params::run(c, common),
        Command::Plan(a) => roles::typed::plan::plan(a, common),
        Command::Keygen(a) => roles::keygen(a, common),
        Command::Encrypt(a) => encrypt(a, common),
        Command::Eval(a) => eval(a, common),
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
        Command::Bench(BenchCommand::Integers(a)) => bench::integers::run(a, common),
        Command::Aes(AesCommand::Keygen(a)) => aes::keygen(a, common),
        Command::Aes(AesCommand::EncryptKey(a)) => aes::encrypt_key(a, common),
        Command::Aes(AesCommand::Upload(a)) => aes::upload(a, common),
        Command::Aes(AesCommand::Transcipher(a)) => aes::transcipher(a, common),
        Command::Aes(AesCommand::Decrypt(a)) => aes::decrypt(a, common),
        Command::Selftest(a) => selftest::run(a, common),
        Command::Table(c) => table::run(c, common),
        #[cfg(feature = "service")]
        Command::Serve(a) => serve::run(a, common),
        #[cfg(feature = "service")]
        Command::Remote(c) => remote::run(c, common),
        Command::Completions { shell } => manual::completions(*shell),
        Command::Man { out } => manual::pages(out),
        Command::Version { verbose } => version::run(*verbose, common),
    }
}

/// Whether the arguments are those of a service, which this program was built without.
#[cfg(not(feature = "service"))]
fn asks_for_service(
    arguments: impl IntoIterator<Item = OsString>,
) -> (bool, impl IntoIterator<Item = OsString>) {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let texts = arguments.iter().map(|argument| argument.to_string_lossy());
    let asked = texts.enumerate().any(|(i, text)| {
        i == 1 && ["serve", "remote"].contains(&&*text)
            || text == "--remote"
            || text.starts_with("--remote=")
    });
    (asked, arguments)
}

/// Says what to do if the arguments are those of a service.
#[cfg(not(feature = "service"))]
fn without_service() -> CliError {
    CliError::usage(
        "this program was built without the feature service, which `serve`, `remote` and \
         `--remote` need, as programs in wheels are: build it in a checkout by `cargo install \
         --path cli`, or use `everlevel.Remote` in Python",
    )
}

/// Runs `encrypt`, with a service or without.
fn encrypt(args: &EncryptArgs, common: &Common) -> Result<(), CliError> {
    #[cfg(feature = "service")]
    if let Some(client) = args.place.client()? {
        return remote::elsewhere::encrypt(&client, args, common);
    }
    roles::encrypt(args, common, &|_| Ok(None))
}

/// Runs `eval`, here or at a service.
fn eval(args: &EvalArgs, common: &Common) -> Result<(), CliError> {
    #[cfg(feature = "service")]
    if let Some(client) = args.place.client()? {
        return remote::elsewhere::eval(&client, args, common);
    }
    roles::eval(args, common)
}
