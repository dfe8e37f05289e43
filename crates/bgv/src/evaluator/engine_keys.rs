//! Keys as the engine of an evaluator needs them.

use std::sync::Arc;

use everlevel_ring::{Basis, Engine, Eval, Gadget, GaloisElement, Poly};

use super::resident_keys::{KeyName, Resident, Sparse};
use crate::ciphertext::Ciphertext;
use crate::evaluator::Evaluator;
use crate::keys::{BootstrapKey, EvalKeys, SwitchingKey};
use everlevel_scheme::SchemeError;
use everlevel_scheme::spec::Level;

impl<E: Engine, K: EvalKeys> Evaluator<E, K> {
    /// A switching key with its primes, read if the engine does not hold it; none if the keys lack
    /// it.
    fn switching(
        &self,
        name: KeyName,
        read: impl FnOnce() -> Result<Option<Arc<SwitchingKey>>, SchemeError>,
    ) -> Result<Option<(Basis, E::Key)>, SchemeError> {
        if let Some(Resident::Switching(basis, key)) = self.resident.find(name) {
            self.keys.still_wanted()?;
            return Ok(Some((basis, key)));
        }
        Ok(read()?.map(|host| (host.basis(), self.copied(name, &host))))
    }

    /// A switching key of the host, copied and held.
    fn copied(&self, name: KeyName, host: &SwitchingKey) -> E::Key {
        let key = self.engine.key(host.digits());
        let resident = Resident::Switching(host.basis(), key.clone());
        self.resident.hold(name, host.expanded_bytes(), &resident);
        key
    }

    /// A relinearization key for ciphertexts at a level, and its gadget, which may be another one
    /// than that of the level.
    pub(super) fn relin_key(&self, level: Level) -> Result<(E::Key, &Gadget), SchemeError> {
        let chain = self.params.chain();
        let id = chain.relin_gadget(level, |id| self.keys.relin_basis(id));
        let found = self.switching(KeyName::Relin(id), || self.keys.relin(id));
        let name = || "relinearization key".to_string();
        let key = usable(found, chain.basis(level), level, "relinearization", name)?;
        Ok((key, &chain.gadgets()[id.0]))
    }

    /// The key of an automorphism for ciphertexts over `basis` at a level.
    pub(crate) fn galois_key(
        &self,
        g: GaloisElement,
        basis: Basis,
        level: Level,
        operation: &'static str,
        name: impl Fn() -> String,
    ) -> Result<E::Key, SchemeError> {
        let id = self.params.chain().gadget_id(level);
        let found = self.switching(KeyName::Galois(g, id), || self.keys.galois(g, id));
        usable(found, basis, level, operation, name)
    }

    fn bootstrap_key(&self) -> Result<Arc<BootstrapKey>, SchemeError> {
        self.keys.bootstrap()?.ok_or_else(|| SchemeError::MissingKey {
            operation: "bootstrapping",
            key: "bootstrapping key".into(),
        })
    }

    /// The key from s to the sparse s0; none if s is s0.
    pub(super) fn encapsulation_key(&self) -> Result<Option<E::Key>, SchemeError> {
        let name = KeyName::Encapsulation;
        if let Some(Resident::Switching(_, key)) = self.resident.find(name) {
            return Ok(Some(key));
        }
        Ok(self.bootstrap_key()?.encapsulation().map(|host| self.copied(name, host)))
    }

    /// The encryptions of s0, w s0, .. under s.
    pub(super) fn sparse_keys(&self) -> Result<Sparse<E>, SchemeError> {
        if let Some(Resident::Sparse(key)) = self.resident.find(KeyName::Sparse) {
            return Ok(key);
        }
        let upload = |x: &Ciphertext| -> Vec<Poly<Eval, E>> {
            x.components.iter().map(|c| self.engine.upload(c)).collect()
        };
        let key: Sparse<E> = Arc::new(self.bootstrap_key()?.sparse().iter().map(upload).collect());
        let bytes = key.iter().flatten().map(Poly::memory_bytes).sum();
        self.resident.hold(KeyName::Sparse, bytes, &Resident::Sparse(key.clone()));
        Ok(key)
    }
}

/// Checks that a key is there and long enough.
fn usable<Key>(
    found: Result<Option<(Basis, Key)>, SchemeError>,
    basis: Basis,
    level: Level,
    operation: &'static str,
    name: impl Fn() -> String,
) -> Result<Key, SchemeError> {
    let (covered, key) =
        found?.ok_or_else(|| SchemeError::MissingKey { operation, key: name() })?;
    if !basis.is_subset(covered) {
        return Err(SchemeError::KeyTooShort { operation, key: name(), level });
    }
    Ok(key)
}
