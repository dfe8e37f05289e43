//! A server that stays: `server_preprocess_dataset` starts it before the runs that are measured,
//! and it has keys and database in memory, expanded. `server_encrypted_compute` tells it where a
//! query is, and writes what it answers.
//!
//! It listens on a Unix socket in the work tree, which only its owner can reach, answers one
//! request after the other, and writes no file but that socket. So it leaves no result where nobody
//! waits for one. It answers only for the keys and the database that it has read, as long as their
//! files are the same, and only for the query of its own instance and work tree. It ends when its
//! socket is gone, which it is with the work tree and when another server is started in its place,
//! or when nobody has asked for ten minutes.
//!
//! Systems without Unix sockets have stages that refuse.

#[cfg(unix)]
mod held;
#[cfg(unix)]
mod server;
#[cfg(unix)]
mod socket;
#[cfg(unix)]
mod stages;
#[cfg(unix)]
mod talk;

#[cfg(unix)]
pub use server::{IDLE_SECONDS, IDLE_VARIABLE};
#[cfg(unix)]
pub use stages::{compute, preprocess};

/// `server_preprocess_dataset SIZE ...`: not on this system.
///
/// # Errors
/// Always.
#[cfg(not(unix))]
pub fn preprocess(_: &[&str]) -> Result<(), crate::SuiteError> {
    Err(nowhere())
}

/// `server_encrypted_compute SIZE ...`: not on this system.
///
/// # Errors
/// Always.
#[cfg(not(unix))]
pub fn compute(_: &[&str]) -> Result<(), crate::SuiteError> {
    Err(nowhere())
}

#[cfg(not(unix))]
fn nowhere() -> crate::SuiteError {
    let problem = "this system has no Unix sockets: take the variant that starts with the stage";
    crate::SuiteError::Server { problem: problem.into() }
}
