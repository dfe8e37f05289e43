//! Errors of the program: one line each, and an exit code.

use std::fmt;

/// Why the program stops.
#[derive(Debug)]
pub enum CliError {
    /// The user asked for something that cannot be: exit code 2.
    Usage(String),
    /// The work failed: exit code 1.
    Failure(String),
    /// Nobody reads the output any more: exit code 0.
    OutputClosed,
}

impl CliError {
    /// A usage error.
    pub fn usage(message: impl fmt::Display) -> Self {
        CliError::Usage(one_line(&message.to_string()))
    }
    /// A failure.
    pub fn failure(message: impl fmt::Display) -> Self {
        CliError::Failure(one_line(&message.to_string()))
    }
}

impl From<everlevel::Error> for CliError {
    fn from(e: everlevel::Error) -> Self {
        CliError::failure(e)
    }
}

impl From<everlevel::SchemeError> for CliError {
    fn from(e: everlevel::SchemeError) -> Self {
        CliError::failure(e)
    }
}

impl From<everlevel::circuit::CircuitError> for CliError {
    fn from(e: everlevel::circuit::CircuitError) -> Self {
        CliError::failure(e)
    }
}

fn one_line(text: &str) -> String {
    let joined = text.split('\n').map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join(" ");
    joined.chars().filter(|c| !c.is_control()).collect()
}
