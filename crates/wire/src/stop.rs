//! Places where a test ends the process, between two steps that a disk remembers. There are none in
//! release builds.

/// Ends the process at once, as SIGKILL would, if it is at its step number `EVERLEVEL_STOP_AT`.
#[cfg(debug_assertions)]
pub(crate) fn stop_here() {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    static STOP: LazyLock<Option<u64>> =
        LazyLock::new(|| std::env::var("EVERLEVEL_STOP_AT").ok()?.parse().ok());
    static STEPS: AtomicU64 = AtomicU64::new(0);
    if STOP.is_some_and(|stop| STEPS.fetch_add(1, Ordering::Relaxed) + 1 == stop) {
        std::process::abort();
    }
}

#[cfg(not(debug_assertions))]
pub(crate) fn stop_here() {}
