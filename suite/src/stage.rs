//! What every stage program does around its stage.

use std::process::ExitCode;

use crate::error::SuiteError;

/// Runs a stage with the arguments of the process. A failure is one line on standard error that
/// ends with its code, and exit code 1.
pub fn run(stage: impl FnOnce(&[&str]) -> Result<(), SuiteError>) -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned()).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match stage(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("everlevel-suite: {e} [{}]", e.code());
            ExitCode::FAILURE
        }
    }
}

/// The refusal of other arguments than these.
pub(crate) fn usage(expected: &'static str, found: &[&str]) -> SuiteError {
    SuiteError::Usage { expected, found: found.iter().map(|it| (*it).into()).collect() }
}
