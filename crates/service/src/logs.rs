//! The log of the service.

/// Logs to standard error, one line for each event: names of jobs, codes of errors and times, but
/// no tokens, no names of objects or tenants, and no values. `verbose` adds every request.
pub fn log_to_stderr(verbose: bool) {
    let level = if verbose { tracing::Level::DEBUG } else { tracing::Level::INFO };
    let log = tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr);
    // What cannot be written is left out: to tell of it in the same place would panic, in the
    // middle of a job.
    let log = log.with_ansi(false).with_target(false).log_internal_errors(false);
    // A second call changes nothing.
    let _ = log.try_init();
}
