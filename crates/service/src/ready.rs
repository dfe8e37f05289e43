//! Servers that are ready for jobs, one after the other, and what jobs do with them.

use std::sync::{Arc, PoisonError, RwLock};

use everlevel::{Error, Keys, Server};
use everlevel_ring::{Cpu, Engine};

use crate::error::ServiceError;
use crate::stop::Stop;

/// A server, with the signals that it checks.
pub(crate) struct Ready<E: Engine = Cpu> {
    server: Server<E>,
    stop: Arc<RwLock<Arc<Stop>>>,
}

impl<E: Engine> Ready<E> {
    /// The server that `make` makes of these keys, for a job that `stop` can end.
    pub(crate) fn new(
        keys: Keys,
        stop: &Arc<Stop>,
        make: impl FnOnce(Keys) -> Result<Server<E>, Error>,
    ) -> Result<Self, ServiceError> {
        let asked = Arc::new(RwLock::new(stop.clone()));
        let asks = asked.clone();
        let keys = keys.cancelled_by(move || {
            asks.read().unwrap_or_else(PoisonError::into_inner).check().is_err()
        });
        Ok(Ready { server: make(keys)?, stop: asked })
    }

    /// From here on it serves a job that `stop` can end.
    pub(crate) fn begin(&self, stop: &Arc<Stop>) {
        *self.stop.write().unwrap_or_else(PoisonError::into_inner) = stop.clone();
    }

    pub(crate) fn server(&self) -> &Server<E> {
        &self.server
    }
}

/// What a job has computed.
pub(crate) struct Found {
    /// The bytes of its results by name.
    pub(crate) results: Vec<(String, Vec<u8>)>,
    /// The number of bootstrappings.
    pub(crate) refreshes: u64,
}

/// What is done with a server, on any engine, and may be done again on another one.
pub(crate) trait Work {
    /// Does it.
    fn on<E: Engine>(&self, server: &Server<E>) -> Result<Found, ServiceError>;
}
