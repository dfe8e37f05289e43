//! The stage `client_encode_encrypt` of `transciphering`.

use std::process::ExitCode;

fn main() -> ExitCode {
    everlevel_suite::run(everlevel_suite::transciphering::encrypt)
}
