//! The signals that end a job early.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::error::ServiceError;

/// The signals that end a job early.
pub(crate) struct Stop {
    cancelled: AtomicBool,
    closing: AtomicBool,
    deadline: Instant,
    seconds: u64,
}

impl Stop {
    pub(crate) fn after(seconds: u64) -> Self {
        let deadline = Instant::now() + Duration::from_secs(seconds.min(1 << 30));
        let (cancelled, closing) = (AtomicBool::new(false), AtomicBool::new(false));
        Stop { cancelled, closing, deadline, seconds }
    }

    /// Signals that the job is cancelled.
    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Signals that the service ends.
    pub(crate) fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    /// Returns an error if the job has to end.
    pub(crate) fn check(&self) -> Result<(), ServiceError> {
        if self.cancelled.load(Ordering::Relaxed) || self.is_closing() {
            return Err(ServiceError::Cancelled);
        }
        match Instant::now() > self.deadline {
            true => Err(ServiceError::Timeout { seconds: self.seconds }),
            false => Ok(()),
        }
    }
}
