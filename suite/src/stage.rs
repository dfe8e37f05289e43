//! What every stage program does around its stage.

use std::process::ExitCode;

use crate::error::SuiteError;

/// Bytes of what is allocated once to set what the allocator keeps, more than most buffers have.
const KEPT: usize = 16 << 20;

/// Lets memory that is freed stay with the process, where the allocator is glibc's: what was mapped
/// and freed once sets the size from which on others are mapped, and twice that size is kept.
/// Otherwise it returns free memory of 128 kB to the system, and each page that it then takes again
/// costs a fault. No page of this piece is touched.
fn keep_freed_memory() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(KEPT)));
}

/// Runs `work` on a thread of the pool. One outside of it would be suspended and resumed at each
/// parallel step, of which a computation has thousands.
pub(crate) fn in_pool<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    rayon::scope(|_| work())
}

/// Runs a stage with the arguments of the process. A failure is one line on standard error that
/// ends with its code, and exit code 1.
pub fn run(stage: impl FnOnce(&[&str]) -> Result<(), SuiteError>) -> ExitCode {
    keep_freed_memory();
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned()).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match stage(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("everlevel-suite: {e} [{}]", e.code());
            ExitCode::FAILURE
        }
    }
}

/// The refusal of other arguments than these.
pub(crate) fn usage(expected: &'static str, found: &[&str]) -> SuiteError {
    SuiteError::Usage { expected, found: found.iter().map(|it| (*it).into()).collect() }
}
