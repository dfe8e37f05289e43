//! The stage `client_key_generation` of `fetch-by-similarity`.

use std::process::ExitCode;

fn main() -> ExitCode {
    everlevel_suite::run(everlevel_suite::fetch::generate_keys)
}
