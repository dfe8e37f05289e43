//! Server keys, in memory or in a file.

use std::path::Path;
use std::sync::Arc;

use everlevel_bgv::keys::{BootstrapKey, SwitchingKey};
use everlevel_bgv::{EvalKeys, Evaluator, ServerKeys};
use everlevel_ring::{Basis, Cpu, GaloisElement};
use everlevel_scheme::spec::GadgetId;
use everlevel_scheme::{KeyId, KeyPlan, Params, SchemeError};
#[cfg(feature = "unstable")]
use everlevel_wire::file::{Existing, write_file};
#[cfg(feature = "unstable")]
use everlevel_wire::server_keys::SizeReport;
use everlevel_wire::{FileKeys, Metadata, ReadOptions, WireError, server_keys};

use crate::error::Error;
use crate::key_files::KeyFiles;

/// The keys with which a server computes: in memory, or in a file from which each key is read when
/// it is first needed. Clones share the same keys.
#[derive(Clone)]
pub struct Keys {
    stored: Arc<Stored>,
    cancelled: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
}

/// The evaluator that uses them, on the processor or on another engine.
pub type ServerEvaluator<E = Cpu> = Evaluator<E, Keys>;

enum Stored {
    /// With the metadata of the bytes that they were read from.
    Memory(ServerKeys, Metadata),
    File(FileKeys),
}

impl From<ServerKeys> for Keys {
    fn from(keys: ServerKeys) -> Self {
        Keys { stored: Arc::new(Stored::Memory(keys, Metadata::new())), cancelled: None }
    }
}

impl From<FileKeys> for Keys {
    fn from(keys: FileKeys) -> Self {
        Keys { stored: Arc::new(Stored::File(keys)), cancelled: None }
    }
}

impl Keys {
    /// Opens a file of server keys. The most recently used keys stay in memory, up to `cache_bytes`
    /// bytes. Remains of an interrupted run beside the file are completed or removed first.
    ///
    /// # Errors
    /// A file that cannot be read, is damaged, or belongs to another parameter set.
    pub fn open(params: &Params, path: &Path, cache_bytes: u64) -> Result<Self, Error> {
        Self::from_file(params, path, cache_bytes, &ReadOptions::default())
    }

    /// [`Keys::open`] with options, of which only [`ReadOptions::allow_unknown_owner`] and
    /// [`ReadOptions::seeded_keys`] matter.
    ///
    /// # Errors
    /// As [`Keys::open`].
    #[cfg(feature = "unstable")]
    pub fn open_with(
        params: &Params,
        path: &Path,
        cache_bytes: u64,
        options: &ReadOptions,
    ) -> Result<Self, Error> {
        Self::from_file(params, path, cache_bytes, options)
    }

    /// The keys of a file.
    pub(crate) fn from_file(
        params: &Params,
        path: &Path,
        cache_bytes: u64,
        options: &ReadOptions,
    ) -> Result<Self, Error> {
        KeyFiles::recover_beside(path)?;
        Ok(FileKeys::open_with(params, path, cache_bytes, options)?.into())
    }

    /// Keys from the bytes of a file, all in memory and verified.
    ///
    /// # Errors
    /// Bytes that are damaged or belong to another parameter set.
    pub fn from_bytes(params: &Params, bytes: &[u8]) -> Result<Self, Error> {
        let options = ReadOptions::default().limited_to(bytes.len() as u64);
        Self::from_read_bytes(params, bytes, &options)
    }

    /// [`Keys::from_bytes`] with options.
    ///
    /// # Errors
    /// As [`Keys::from_bytes`].
    #[cfg(feature = "unstable")]
    pub fn from_bytes_with(
        params: &Params,
        bytes: &[u8],
        options: &ReadOptions,
    ) -> Result<Self, Error> {
        Self::from_read_bytes(params, bytes, options)
    }

    /// The keys in bytes.
    pub(crate) fn from_read_bytes(
        params: &Params,
        bytes: &[u8],
        options: &ReadOptions,
    ) -> Result<Self, Error> {
        let (keys, metadata) = server_keys::from_bytes(params, bytes, options)?;
        Ok(Keys { stored: Arc::new(Stored::Memory(keys, metadata)), cancelled: None })
    }

    /// Writes keys that are in memory to a file, completely or not at all.
    ///
    /// # Errors
    /// Keys that are in a file already; an existing file that is not to be replaced; errors of the
    /// file system.
    #[cfg(feature = "unstable")]
    pub fn save(&self, path: &Path, existing: Existing) -> Result<(), Error> {
        Ok(write_file(path, &self.to_bytes_with(self.metadata())?, existing)?)
    }

    /// The bytes of keys in memory, with these metadata.
    pub(crate) fn to_bytes_with(&self, metadata: &Metadata) -> Result<Vec<u8>, Error> {
        match &*self.stored {
            Stored::Memory(keys, _) => Ok(server_keys::to_bytes(keys, metadata)?),
            Stored::File(_) => Err(WireError::Malformed {
                what: "keys to be written",
                expected: "keys in memory".into(),
                found: "keys that are in a file already: copy the file".into(),
            }
            .into()),
        }
    }

    /// The metadata that were read with them.
    pub(crate) fn metadata(&self) -> &Metadata {
        match &*self.stored {
            Stored::Memory(_, metadata) => metadata,
            Stored::File(keys) => keys.metadata(),
        }
    }

    /// The parameter set.
    #[cfg(feature = "unstable")]
    pub fn params(&self) -> &Params {
        self.stored().params()
    }

    /// The id of the secret key that they belong to, if it is known.
    #[cfg(feature = "unstable")]
    pub fn owner(&self) -> Option<KeyId> {
        self.stated_owner()
    }

    /// The id of the secret key that they belong to.
    pub(crate) fn stated_owner(&self) -> Option<KeyId> {
        self.stored().owner()
    }

    /// For keys that switch ciphertexts from another secret key: the id of that key, if it is
    /// known.
    #[cfg(feature = "unstable")]
    pub fn change_from(&self) -> Option<KeyId> {
        self.stored().change_from()
    }

    /// The plan of these keys: which automorphisms, levels and gadgets they cover.
    #[cfg(feature = "unstable")]
    pub fn plan(&self) -> KeyPlan {
        self.planned()
    }

    /// The plan of these keys.
    pub(crate) fn planned(&self) -> KeyPlan {
        match &*self.stored {
            Stored::Memory(keys, _) => keys.plan(),
            Stored::File(keys) => keys.plan(),
        }
    }

    /// The number and the size in bytes of the keys, by kind.
    #[cfg(feature = "unstable")]
    pub fn size_report(&self) -> SizeReport {
        SizeReport::of_plan(self.params(), &self.plan())
    }

    /// Whether they are in a file.
    pub fn in_file(&self) -> bool {
        matches!(*self.stored, Stored::File(_))
    }

    /// For keys in a file: the number of bytes that are in memory now, and the number of reads so
    /// far; zeros for keys in memory.
    #[cfg(feature = "unstable")]
    pub fn cache_usage(&self) -> (u64, u64) {
        match &*self.stored {
            Stored::Memory(..) => (0, 0),
            Stored::File(keys) => keys.cache_usage(),
        }
    }

    /// The number of bytes of keys that are in memory now: of keys in a file, those that were read
    /// and kept; of others, all but the key of bootstrapping, which is small.
    #[cfg(feature = "unstable")]
    pub fn memory_bytes(&self) -> u64 {
        match &*self.stored {
            Stored::Memory(keys, _) => keys.memory_bytes(),
            Stored::File(keys) => keys.cache_usage().0,
        }
    }

    /// Reads the whole file and verifies every checksum; keys in memory were verified when they
    /// were read.
    ///
    /// # Errors
    /// A file that is damaged or cannot be read.
    #[cfg(feature = "unstable")]
    pub fn verify(&self) -> Result<(), Error> {
        match &*self.stored {
            Stored::Memory(..) => Ok(()),
            Stored::File(keys) => Ok(keys.verify()?),
        }
    }

    /// The same keys for work that can be cancelled: once `cancelled` returns true, the next
    /// operation that needs a key is refused with `scheme.cancelled`. A bootstrapping uses a key
    /// every few milliseconds.
    #[cfg(feature = "unstable")]
    pub fn cancelled_by(self, cancelled: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Keys { cancelled: Some(Arc::new(cancelled)), ..self }
    }

    /// Whether the work that these keys are for was cancelled ([`Keys::cancelled_by`]).
    #[cfg(feature = "unstable")]
    pub fn is_cancelled(&self) -> bool {
        self.still_wanted().is_err()
    }

    fn stored(&self) -> &dyn EvalKeys {
        match &*self.stored {
            Stored::Memory(keys, _) => keys,
            Stored::File(keys) => keys,
        }
    }
}

impl EvalKeys for Keys {
    fn params(&self) -> &Params {
        self.stored().params()
    }

    fn owner(&self) -> Option<KeyId> {
        self.stored().owner()
    }

    fn change_from(&self) -> Option<KeyId> {
        self.stored().change_from()
    }

    fn relin(&self, gadget: GadgetId) -> Result<Option<Arc<SwitchingKey>>, SchemeError> {
        self.still_wanted()?;
        self.stored().relin(gadget)
    }

    fn relin_basis(&self, gadget: GadgetId) -> Option<Basis> {
        self.stored().relin_basis(gadget)
    }

    fn galois(
        &self,
        g: GaloisElement,
        gadget: GadgetId,
    ) -> Result<Option<Arc<SwitchingKey>>, SchemeError> {
        self.still_wanted()?;
        self.stored().galois(g, gadget)
    }

    fn galois_basis(&self, g: GaloisElement, gadget: GadgetId) -> Option<Basis> {
        self.stored().galois_basis(g, gadget)
    }

    fn bootstrap(&self) -> Result<Option<Arc<BootstrapKey>>, SchemeError> {
        self.stored().bootstrap()
    }

    fn still_wanted(&self) -> Result<(), SchemeError> {
        match &self.cancelled {
            Some(cancelled) if cancelled() => Err(SchemeError::Cancelled),
            _ => Ok(()),
        }
    }
}
