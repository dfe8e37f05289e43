//! The stage `server_encrypted_compute` of `transciphering`.

use std::process::ExitCode;

fn main() -> ExitCode {
    everlevel_suite::run(everlevel_suite::transciphering::compute)
}
