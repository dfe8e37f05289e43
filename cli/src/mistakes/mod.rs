//! Mistakes with keys, files, ranges and options, made on purpose: whether one of them is answered
//! with a number.
//!
//! [`cases`] is a table of commands that have to be refused. Each is run as a process of its own on
//! a small, insecure set, in a directory with the keys of two owners and what they encrypted.

mod case;
mod cases;
mod place;

use std::path::Path;

use serde::Serialize;

pub use case::{Case, Step};
use cases::SETUP;
pub use cases::cases;
use place::Place;

use crate::console::errors::CliError;

/// What became of a mistake.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// What is wrong.
    pub name: &'static str,
    /// Whether the command ended with an error.
    pub refused: bool,
    /// Its code; none if there was no error.
    pub code: Option<String>,
    /// The code that it should have.
    #[serde(skip)]
    pub expected: &'static str,
}

impl Outcome {
    /// Whether what was said is what should be.
    pub fn as_expected(&self) -> bool {
        self.refused && self.code.as_deref() == Some(self.expected)
    }
}

/// Makes all mistakes with the program at `program`; each outcome is told as it comes.
///
/// # Errors
/// Files that cannot be written, a program that cannot be started, or a step that fails before a
/// mistake could be made.
pub fn run(
    program: &Path,
    mut told: impl FnMut(&Outcome) -> Result<(), CliError>,
) -> Result<Vec<Outcome>, CliError> {
    let place = Place::create(program)?;
    SETUP.iter().try_for_each(|step| place.prepare(step))?;
    let mut outcomes = Vec::new();
    for case in cases() {
        case.before.iter().try_for_each(|step| place.prepare(step))?;
        let code = place.run(case.command)?.err();
        let outcome =
            Outcome { name: case.name, refused: code.is_some(), code, expected: case.code };
        told(&outcome)?;
        outcomes.push(outcome);
    }
    Ok(outcomes)
}
