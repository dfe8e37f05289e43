//! Long work: without the interpreter's lock, on a pool of its own, ended by Ctrl-C.

use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use everlevel::files::on_recovery;
use pyo3::prelude::*;
use rand_chacha::ChaCha20Rng;
use rayon::ThreadPool;

use crate::errors::{Failure, Result, refusal};

/// Randomness of the operating system.
pub fn rng() -> Result<ChaCha20Rng> {
    everlevel::system_rng().map_err(|e| everlevel::Error::from(e).into())
}

/// The threads that compute. A forked process has none of its parent's and makes its own.
struct Pool {
    /// As asked for; none: as many as there are cores.
    wanted: Option<usize>,
    made: Option<(u32, Arc<ThreadPool>)>,
}

static POOL: Mutex<Pool> = Mutex::new(Pool { wanted: None, made: None });

fn pool() -> Result<Arc<ThreadPool>> {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, threads)) =
        pool.made.as_ref().filter(|(process, _)| *process == std::process::id())
    {
        return Ok(threads.clone());
    }
    let threads = rayon::ThreadPoolBuilder::new().num_threads(pool.wanted.unwrap_or(0)).build();
    let threads =
        Arc::new(threads.map_err(|e| {
            refusal("Error", "python.threads", &format!("cannot start threads: {e}"))
        })?);
    if let Some((_, parents)) = pool.made.replace((std::process::id(), threads.clone())) {
        // The threads of a parent do not run here, and nobody would answer who waits for their end.
        std::mem::forget(parents);
    }
    Ok(threads)
}

/// Sets how many threads compute from now on; 0 stands for one a core.
#[pyfunction]
pub fn set_num_threads(count: usize) -> Result<()> {
    if count > 1024 {
        return Err(refusal(
            "RangeError",
            "python.threads",
            &format!("{count} threads: expected 0 (one per core) to 1024"),
        ));
    }
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    pool.wanted = (count > 0).then_some(count);
    match pool.made.take() {
        Some((process, parents)) if process != std::process::id() => std::mem::forget(parents),
        _ => {}
    }
    Ok(())
}

/// How many threads compute.
#[pyfunction]
pub fn num_threads() -> Result<usize> {
    Ok(pool()?.current_num_threads())
}

/// Set while computations are to end: Python sees signals in its main thread only, and one Ctrl-C
/// is for all threads.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// How often somebody who waits looks for signals.
const LOOK: Duration = Duration::from_millis(50);

/// Whether what is computed is not wanted any more. Asked for with every key.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// What interrupted runs had left, until Python is told.
static RECOVERED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// From now on what interrupted runs had left is kept for Python.
pub fn listen() {
    on_recovery(|found| {
        RECOVERED.lock().unwrap_or_else(PoisonError::into_inner).push(found.to_string());
    });
}

/// Warns whoever called the package of what interrupted runs had left.
fn warn(py: Python<'_>) -> Result<()> {
    let found = std::mem::take(&mut *RECOVERED.lock().unwrap_or_else(PoisonError::into_inner));
    for line in found {
        let category = py.import("everlevel.errors")?.getattr("RecoveryWarning")?;
        let line = CString::new(line).map_err(PyErr::from)?;
        PyErr::warn(py, &category, &line, 2)?;
    }
    Ok(())
}

/// Does `work` without the interpreter's lock. Ctrl-C ends it at the next key that it asks for, or
/// the next step of its progress.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    py.check_signals()?;
    let pool = pool()?;
    let mut signal = None;
    // A callable that is told of progress computes on its own thread: the pool may have no other,
    // and whoever waits for the work that it is told of looks for signals.
    let within = rayon::current_thread_index().is_some();
    let done = py.detach(|| {
        if within {
            return catch_unwind(AssertUnwindSafe(work)).ok();
        }
        let (finished, wait) = mpsc::channel();
        // Nothing of the pool can wait for signals: they come to the thread that called.
        pool.in_place_scope(|scope| {
            scope.spawn(move |_| {
                // The scope would hand a panic on, past the code that tells of it.
                if let Ok(done) = catch_unwind(AssertUnwindSafe(work)) {
                    // Nobody listens any more only if the waiting thread panicked.
                    let _ = finished.send(done);
                }
            });
            loop {
                match wait.recv_timeout(LOOK) {
                    Ok(done) => return Some(done),
                    Err(mpsc::RecvTimeoutError::Disconnected) => return None,
                    Err(mpsc::RecvTimeoutError::Timeout) if signal.is_none() => {
                        signal = Python::attach(|py| py.check_signals()).err();
                        INTERRUPTED.fetch_or(signal.is_some(), Ordering::Relaxed);
                    }
                    Err(mpsc::RecvTimeoutError::Timeout) => {}
                }
            }
        })
    });
    if let Some(signal) = signal {
        INTERRUPTED.store(false, Ordering::Relaxed);
        return Err(signal.into());
    }
    py.check_signals()?;
    let warned = warn(py);
    let done = done.unwrap_or_else(|| {
        Err(refusal("Error", "python.panic", "the computation panicked: please report this"))
    })?;
    // Where warnings are errors.
    warned?;
    Ok(done)
}

/// A callable `progress(done, total)`, or nobody. An exception that it raises, or Ctrl-C, ends the
/// work.
pub struct Progress {
    callback: Option<Py<PyAny>>,
    failed: Option<PyErr>,
}

impl Progress {
    pub fn new(callback: Option<Py<PyAny>>) -> Self {
        Progress { callback, failed: None }
    }

    /// A step is done.
    pub fn step(&mut self, done: usize, total: usize) -> Result<()> {
        if interrupted() {
            return Err(refusal("Error", "python.interrupted", "interrupted"));
        }
        if self.callback.is_none() {
            return Ok(());
        }
        Python::attach(|py| {
            if let Some(callback) = &self.callback {
                callback.call1(py, (done, total))?;
            }
            Ok(())
        })
    }

    /// [`Progress::step`] for work that cannot be stopped: the exception waits for
    /// [`Progress::finish`].
    pub fn note(&mut self, done: usize, total: usize) {
        if self.failed.is_none() {
            self.failed = self.step(done, total).err().map(PyErr::from);
        }
    }

    /// The exception that was noted.
    pub fn finish(self) -> Result<()> {
        self.failed.map_or(Ok(()), |error| Err(Failure::from(error)))
    }
}
