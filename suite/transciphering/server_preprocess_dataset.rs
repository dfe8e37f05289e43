//! The stage `server_preprocess_dataset` of `transciphering`.

use std::process::ExitCode;

fn main() -> ExitCode {
    everlevel_suite::run(everlevel_suite::transciphering::preprocess_data)
}
