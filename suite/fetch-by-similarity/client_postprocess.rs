//! The stage `client_postprocess` of `fetch-by-similarity`.

use std::process::ExitCode;

fn main() -> ExitCode {
    everlevel_suite::run(everlevel_suite::fetch::postprocess)
}
