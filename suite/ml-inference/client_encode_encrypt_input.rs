//! The stage `client_encode_encrypt_input` of `ml-inference`.

use std::process::ExitCode;

fn main() -> ExitCode {
    everlevel_suite::run(everlevel_suite::ml::encrypt)
}
