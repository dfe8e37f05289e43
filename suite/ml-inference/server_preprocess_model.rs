//! The stage `server_preprocess_model` of `ml-inference`.

use std::process::ExitCode;

fn main() -> ExitCode {
    everlevel_suite::run(everlevel_suite::ml::preprocess_model)
}
