//! The stage `client_key_generation` of `transciphering`.

use std::process::ExitCode;

fn main() -> ExitCode {
    everlevel_suite::run(everlevel_suite::transciphering::generate_keys)
}
