//! The server's side: computing without the key.

use std::path::Path;
use std::sync::Arc;

use everlevel_bgv::{Ciphertext, Evaluator};
use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper};
use everlevel_circuit::{CircuitError, Session};
use everlevel_ring::{Cpu, Engine};
use everlevel_scheme::{Params, Scheme};
use everlevel_wire::file::{Existing, write_file};
use everlevel_wire::{Metadata, ObjectKind};

use crate::error::Error;
use crate::key_files::SERVER_KEYS;
use crate::keys::{Keys, ServerEvaluator};
use crate::open::{self, OpenOptions};
use crate::operations::operations;
use crate::planner::bootstrap_plan;
use crate::stated::{self, Bootstrapping};
use crate::stored::{Bounds, state_ranges};

/// A ciphertext that a server manages: the server may replace it by a bootstrapped one with the
/// same message.
pub type Value = everlevel_circuit::Value<Ciphertext>;
/// The same in the memory of an engine.
pub(crate) type ValueOn<E> = everlevel_circuit::Value<Ciphertext<E>>;

/// Computes on ciphertexts and bootstraps them automatically when the capacity does not suffice for
/// the next operation, so that it can evaluate circuits of any depth. It holds no secret.
///
/// Slots hold integers modulo p^r, or whole elements of GR(p^r, d) if the server bootstraps in full
/// mode (see [`crate::Client::server_for`]). The other modes preserve integers only: if a slot
/// holds another element, they change it without an error, as a server cannot see this.
///
/// All methods take shared references and may be called from several threads.
///
/// Its [`Keys`] are in memory or are read from a file on demand.
///
/// It computes on the processor; another [`Engine`] is for programs that enable `unstable`.
pub struct Server<E: Engine = Cpu> {
    pub(crate) evaluator: Arc<ServerEvaluator<E>>,
    pub(crate) bootstrapper: Option<Arc<Bootstrapper<ServerEvaluator<E>>>>,
    pub(crate) session: Session<ServerEvaluator<E>>,
    pub(crate) allow_unknown_owner: bool,
}

operations!([<E: Engine>] Server<E>, ValueOn<E>);

impl Server {
    /// A server with these keys that bootstraps by `plan`. Prepares the tables of bootstrapping.
    ///
    /// # Errors
    /// A plan that does not fit the parameter set.
    pub fn new(keys: impl Into<Keys>, plan: BootstrapPlan) -> Result<Self, Error> {
        Self::bootstrapping(Evaluator::new(keys.into()), plan)
    }

    /// A server that does not bootstrap, for sets without bootstrapping and for circuits of bounded
    /// depth: an operation that exceeds the capacity is refused.
    pub fn leveled(keys: impl Into<Keys>) -> Self {
        Self::bounded(Evaluator::new(keys.into()))
    }

    /// A server with these keys. If a server wrote them ([`Server::save`], [`Server::to_bytes`]),
    /// it bootstraps as they state; otherwise by the plan of their parameter set, if they include
    /// the keys for it.
    ///
    /// # Errors
    /// Keys of a set whose bootstrapping cannot be planned; a plan that does not fit the set.
    pub fn with_keys(keys: impl Into<Keys>) -> Result<Self, Error> {
        Self::as_stated(Evaluator::new(keys.into()))
    }

    /// A server with the keys of a file, or of `server.keys` in a directory
    /// ([`Client::save`](crate::Client::save)); the keys stay in the file and are read on demand.
    /// The parameter set is that of [`OpenOptions::params`], or the named one, or the one that the
    /// file or `params.json` beside it states. The server bootstraps as the one that wrote the
    /// file.
    ///
    /// # Errors
    /// Files that cannot be read, are damaged or belong to different sets; a set below 128 bits
    /// without [`OpenOptions::opt_in`].
    pub fn open(path: &Path, options: &OpenOptions) -> Result<Self, Error> {
        let path = &open::in_directory(path, SERVER_KEYS);
        let params = options.set_of_server_keys(path)?;
        let keys = Keys::from_file(&params, path, options.cache_bytes, &options.reading())?;
        Server::with_options(keys, options)
    }

    /// A server from bytes ([`Server::to_bytes`], or the content of a file of server keys), with
    /// its keys in memory.
    ///
    /// # Errors
    /// As [`Server::open`].
    pub fn from_bytes(bytes: &[u8], options: &OpenOptions) -> Result<Self, Error> {
        let params = options.set_of_bytes(bytes, ObjectKind::SERVER_KEYS)?;
        let keys = Keys::from_read_bytes(&params, bytes, &options.reading())?;
        Server::with_options(keys, options)
    }

    /// A server with keys that were read with these options.
    fn with_options(keys: Keys, options: &OpenOptions) -> Result<Self, Error> {
        let server = Server::with_keys(keys)?;
        Ok(Server { allow_unknown_owner: options.allow_unknown_owner, ..server })
    }

    /// Writes this server to a file, completely or not at all: its keys, how it bootstraps, and its
    /// parameter set if that has no name. [`Server::open`] needs nothing else.
    ///
    /// # Errors
    /// Keys that are in a file already; an existing file that is not to be replaced; errors of the
    /// file system.
    pub fn save(&self, path: &Path, existing: Existing) -> Result<(), Error> {
        Ok(write_file(path, &self.to_bytes()?, existing)?)
    }

    /// The bytes of the file that [`Server::save`] writes.
    ///
    /// # Errors
    /// Keys that are in a file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut metadata = self.keys().metadata().clone();
        let plan = self.bootstrapper.as_ref().map(|bootstrapper| bootstrapper.plan());
        stated::state(&mut metadata, self.params(), plan);
        self.keys().to_bytes_with(&metadata)
    }

    /// The ciphertexts of a file, as values of this server. `bounds` states which noise bounds of
    /// the file are trusted.
    ///
    /// # Errors
    /// A file that cannot be read, is damaged, or belongs to another parameter set.
    #[cfg(feature = "unstable")]
    pub fn read(&self, path: &Path, bounds: &Bounds) -> Result<Vec<Value>, Error> {
        open::ciphertexts(self.params(), path, bounds, self.allow_unknown_owner)
    }

    /// Ciphertexts from bytes ([`crate::Client::upload`]), as values of this server. `bounds`
    /// states which noise bounds are trusted; for bytes from other parties use [`Bounds::Fresh`].
    ///
    /// # Errors
    /// Bytes that are damaged, hold something else, or belong to another parameter set.
    pub fn receive(&self, bytes: &[u8], bounds: &Bounds) -> Result<Vec<Value>, Error> {
        open::ciphertexts_from(self.params(), bytes, bounds, self.allow_unknown_owner)
    }

    /// Values as bytes for [`crate::Client::read_answer`], with their ranges, reduced to what
    /// decryption needs ([`crate::CompactCiphertext`]): they can be decrypted, but not used in
    /// further computation.
    ///
    /// # Errors
    /// A value with too much noise, or with a plaintext modulus above about 2^40.
    pub fn answer<'x>(
        &self,
        values: impl IntoIterator<Item = &'x Value>,
    ) -> Result<Vec<u8>, Error> {
        let (params, mut compact, mut ranges) = (self.params(), Vec::new(), Vec::new());
        for x in values {
            compact.push(x.get().compact_for_decryption(params)?);
            ranges.push(x.range());
        }
        let mut metadata = Metadata::new();
        state_ranges(&mut metadata, &ranges);
        Ok(everlevel_wire::results::to_bytes(params, &compact, &metadata)?)
    }

    /// Wraps a ciphertext so that the server can refresh it automatically. [`Value::get`] returns
    /// it.
    pub fn load(&self, x: Ciphertext) -> Value {
        self.session.share(x)
    }
}

impl<E: Engine> Server<E> {
    fn bootstrapping(evaluator: ServerEvaluator<E>, plan: BootstrapPlan) -> Result<Self, Error> {
        let evaluator = Arc::new(evaluator);
        let bootstrapper = Arc::new(Bootstrapper::new(&*evaluator, plan)?);
        let session = Session::new(evaluator.clone(), bootstrapper.clone());
        let bootstrapper = Some(bootstrapper);
        Ok(Server { session, evaluator, bootstrapper, allow_unknown_owner: false })
    }

    fn bounded(evaluator: ServerEvaluator<E>) -> Self {
        let evaluator = Arc::new(evaluator);
        let session = Session::leveled(evaluator.clone());
        Server { session, evaluator, bootstrapper: None, allow_unknown_owner: false }
    }

    /// A server that bootstraps as its keys state it, or by the plan of their parameter set.
    pub(crate) fn as_stated(evaluator: ServerEvaluator<E>) -> Result<Self, Error> {
        let keys = evaluator.keys();
        match stated::bootstrapping(keys.metadata())? {
            Some(Bootstrapping::By(plan)) => Self::bootstrapping(evaluator, plan),
            None if keys.planned().bootstrap => {
                let plan = bootstrap_plan(evaluator.params())?;
                Self::bootstrapping(evaluator, plan)
            }
            Some(Bootstrapping::Never) | None => Ok(Self::bounded(evaluator)),
        }
    }

    /// The same server, which also accepts ciphertexts that do not state the secret key that they
    /// belong to ([`OpenOptions::allow_unknown_owner`]).
    #[must_use]
    #[cfg(feature = "unstable")]
    pub fn allowing_unknown_owner(self, allow: bool) -> Self {
        Server { allow_unknown_owner: allow, ..self }
    }

    /// The keys.
    pub fn keys(&self) -> &Keys {
        self.evaluator.keys()
    }

    /// The parameter set.
    pub fn params(&self) -> &Params {
        self.evaluator.params()
    }

    /// The underlying evaluator, for operations without automatic bootstrapping: the traits of
    /// schemes, in BGV and BFV form, and conversion between the two (`PlainModulus::convert`).
    #[cfg(feature = "unstable")]
    pub fn evaluator(&self) -> &ServerEvaluator<E> {
        &self.evaluator
    }

    /// The underlying bootstrapper; none if the server does not bootstrap.
    #[cfg(feature = "unstable")]
    pub fn bootstrapper(&self) -> Option<&Bootstrapper<ServerEvaluator<E>>> {
        self.bootstrapper.as_deref()
    }

    /// The underlying session, for custom operations.
    #[cfg(feature = "unstable")]
    pub fn session(&self) -> &Session<ServerEvaluator<E>> {
        &self.session
    }

    /// The number of automatic bootstrappings so far.
    pub fn bootstraps(&self) -> usize {
        self.session.bootstraps()
    }

    /// The capacity of a value in bits, log2(modulus / (2 * noise bound)): the noise budget that
    /// the bound guarantees.
    pub fn capacity_bits(&self, x: &ValueOn<E>) -> f64 {
        self.evaluator.capacity_bits(&x.get())
    }

    /// Bootstraps a ciphertext: an encryption of the same message with a noise bound and a level
    /// that do not depend on the given ones.
    ///
    /// # Errors
    /// A ciphertext with less than [`crate::KeyPlanner::minimum_capacity`], missing keys, a server
    /// that does not bootstrap.
    pub fn bootstrap(&self, x: &Ciphertext<E>) -> Result<Ciphertext<E>, Error> {
        let bootstrapper = self.bootstrapper.as_ref().ok_or(CircuitError::NoBootstrapping)?;
        Ok(bootstrapper.bootstrap(&self.evaluator, x)?)
    }

    /// Applies any operation to a ciphertext; if the result would have too little capacity to be
    /// bootstrapped, bootstraps the operand and applies the operation again.
    ///
    /// # Errors
    /// An operation that is too deep even for a freshly bootstrapped operand; errors of the
    /// operation.
    #[cfg(feature = "unstable")]
    pub fn apply<F>(&self, a: &ValueOn<E>, operation: F) -> Result<ValueOn<E>, Error>
    where
        F: Fn(&ServerEvaluator<E>, &Ciphertext<E>) -> Result<Ciphertext<E>, CircuitError>,
    {
        Ok(self.session.apply(a, operation)?)
    }
}
