//! Sources of keys for evaluators.

use std::sync::Arc;

use everlevel_ring::{Basis, GaloisElement};
use everlevel_scheme::spec::GadgetId;
use everlevel_scheme::{KeyId, Params, SchemeError};

use super::bootstrap::BootstrapKey;
use super::switching::SwitchingKey;

/// A source of keys for an evaluator, such as memory or a file. A key is shared while it is in use,
/// so that a source that reads keys on demand can drop them.
pub trait EvalKeys: Send + Sync + 'static {
    /// The parameter set.
    fn params(&self) -> &Params;

    /// The id of the secret key that the results of key switches belong to, if it is known.
    fn owner(&self) -> Option<KeyId>;

    /// For keys of [`ServerKeys::key_change`](super::ServerKeys::key_change): the id of the secret
    /// key of their input ciphertexts, if it is known; none for all others.
    fn change_from(&self) -> Option<KeyId>;

    /// The relinearization key for a gadget; none if the keys lack it.
    ///
    /// # Errors
    /// A key that exists but cannot be read, such as one that was damaged in its file.
    fn relin(&self, gadget: GadgetId) -> Result<Option<Arc<SwitchingKey>>, SchemeError>;

    /// The primes of the relinearization key for a gadget; none if there is no key, or none that
    /// can be read. It is asked before each relinearization, and unless it is implemented it reads
    /// the key.
    fn relin_basis(&self, gadget: GadgetId) -> Option<Basis> {
        self.relin(gadget).ok().flatten().map(|key| key.basis())
    }

    /// The key of an automorphism for a gadget; none if the keys lack it.
    ///
    /// # Errors
    /// As [`EvalKeys::relin`].
    fn galois(
        &self,
        g: GaloisElement,
        gadget: GadgetId,
    ) -> Result<Option<Arc<SwitchingKey>>, SchemeError>;

    /// The primes of the key of an automorphism for a gadget, if there is one. It does not read the
    /// key.
    fn galois_basis(&self, g: GaloisElement, gadget: GadgetId) -> Option<Basis>;

    /// The bootstrapping key; none if the keys lack it.
    ///
    /// # Errors
    /// As [`EvalKeys::relin`].
    fn bootstrap(&self) -> Result<Option<Arc<BootstrapKey>>, SchemeError>;

    /// Whether the work that the keys are for goes on: asked where a copy of a key is used.
    ///
    /// # Errors
    /// [`SchemeError::Cancelled`].
    fn still_wanted(&self) -> Result<(), SchemeError> {
        Ok(())
    }
}
