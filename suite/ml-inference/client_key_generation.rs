//! The stage `client_key_generation` of `ml-inference`.

use std::process::ExitCode;

fn main() -> ExitCode {
    everlevel_suite::run(everlevel_suite::ml::generate_key)
}
