//! The stage `client_preprocess_dataset` of `fetch-by-similarity`.

use std::process::ExitCode;

fn main() -> ExitCode {
    everlevel_suite::run(everlevel_suite::fetch::preprocess_database)
}
