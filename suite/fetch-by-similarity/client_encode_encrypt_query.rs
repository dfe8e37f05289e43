//! The stage `client_encode_encrypt_query` of `fetch-by-similarity`.

use std::process::ExitCode;

fn main() -> ExitCode {
    everlevel_suite::run(everlevel_suite::fetch::encrypt_query)
}
