//! From the arguments of a program to its exit code.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;
use everlevel::Backend;
use everlevel::files::on_recovery;

use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::output::{emit, remark};

/// Parses a command line, the name of the program first. None if it asks for help or for the
/// version, which are printed.
pub fn parse<P: Parser>(
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<Option<P>, CliError> {
    parse_with(P::command(), arguments)
}

/// The same by a command line with more help than the type has.
pub fn parse_with<P: Parser>(
    mut command: clap::Command,
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<Option<P>, CliError> {
    let parsed = command.try_get_matches_from_mut(arguments);
    let parsed = parsed.and_then(|matches| P::from_arg_matches(&matches));
    match parsed.map_err(|e| e.format(&mut command)) {
        Ok(parsed) => Ok(Some(parsed)),
        Err(e) if matches!(e.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            emit(e.to_string().trim_end()).map(|()| None)
        }
        Err(e) => Err(usage_of(&e, &command)),
    }
}

/// The parser's complaint on one line, with where to look.
fn usage_of(e: &clap::Error, program: &clap::Command) -> CliError {
    let name = program.get_name();
    if e.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        || e.kind() == ErrorKind::MissingSubcommand
    {
        let commands: Vec<&str> = program
            .get_subcommands()
            .filter(|command| !command.is_hide_set() && command.get_name() != "help")
            .map(clap::Command::get_name)
            .collect();
        let (last, others) = commands.split_last().unwrap_or((&"", &[]));
        return CliError::usage(format!(
            "expected a command: {} or {last}; `{name} --help` explains them",
            others.join(", ")
        ));
    }
    let text = e.to_string();
    let told: Vec<&str> = text
        .lines()
        .take_while(|l| !l.starts_with("Usage:"))
        .filter(|l| !l.contains("--help"))
        .collect();
    let told = told.join(" ");
    let told = told.trim().trim_start_matches("error: ");
    // The usage begins with the command that was meant.
    let usage = text.lines().find_map(|l| l.strip_prefix("Usage: ")).unwrap_or(name);
    let words = usage.split(' ');
    let meant = words.take_while(|w| w.starts_with(|c: char| c.is_ascii_alphabetic()));
    CliError::usage(format!("{told}; try `{} --help`", meant.collect::<Vec<_>>().join(" ")))
}

/// Starts the threads that were asked for, and refuses a backend that this processor does not have.
/// From now on what interrupted runs had left is told on standard error.
pub fn start(common: &Common) -> Result<(), CliError> {
    on_recovery(|found| remark(format_args!("note: {found}")));
    // The main thread is one of them: it would sleep and be woken at every parallel step.
    let mut pool = rayon::ThreadPoolBuilder::new().use_current_thread();
    if let Some(threads) = common.threads {
        pool = pool.num_threads(usize::from(threads));
    }
    pool.build_global().map_err(|e| CliError::failure(format!("cannot start the threads: {e}")))?;
    // A misspelled override is reported, not ignored.
    let selection = Backend::selection();
    if !selection.honored {
        let names: Vec<&str> = Backend::available().iter().map(|b| b.name()).collect();
        return Err(CliError::usage(format!(
            "EVERLEVEL_BACKEND = {}: expected one of {} on this processor",
            selection.requested.as_deref().unwrap_or_default(),
            names.join(", ")
        )));
    }
    Ok(())
}

/// The exit code of a program, after [`report`].
pub fn finish(program: &str, result: Result<(), CliError>) -> ExitCode {
    ExitCode::from(report(program, result))
}

/// The exit status of a program. An error is written to standard error, as a JSON object if the
/// arguments of the process have `--json`.
pub fn report(program: &str, result: Result<(), CliError>) -> u8 {
    let Err(error) = result else { return 0 };
    let Some((exit, code, message)) = error.told() else { return 0 };
    // The arguments may be what is wrong.
    let json = std::env::args_os().any(|argument| argument == "--json");
    let told = if json {
        serde_json::json!({ "error": { "code": code, "message": message } }).to_string()
    } else {
        let (first, rest) = message.split_at(message.find('\n').unwrap_or(message.len()));
        format!("{program}: {first} [{code}]{rest}")
    };
    remark(format_args!("{told}"));
    exit
}
