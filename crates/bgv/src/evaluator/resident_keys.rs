//! Keys in the memory of an engine that has its own.

use std::sync::{Arc, Mutex, PoisonError};

use everlevel_ring::{Basis, Engine, Eval, GaloisElement, Poly};

use everlevel_scheme::spec::GadgetId;

/// Which key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyName {
    Relin(GadgetId),
    Galois(GaloisElement, GadgetId),
    Encapsulation,
    Sparse,
}

/// The encryptions of s0, w s0, .. of a bootstrapping key, each as its components.
pub(super) type Sparse<E> = Arc<Vec<Vec<Poly<Eval, E>>>>;

/// A key in the memory of an engine.
pub(super) enum Resident<E: Engine> {
    /// A switching key, with the primes that ciphertexts to be switched may have.
    Switching(Basis, E::Key),
    Sparse(Sparse<E>),
}

impl<E: Engine> Clone for Resident<E> {
    fn clone(&self) -> Self {
        match self {
            Resident::Switching(basis, key) => Resident::Switching(*basis, key.clone()),
            Resident::Sparse(key) => Resident::Sparse(key.clone()),
        }
    }
}

struct Held<E: Engine> {
    name: KeyName,
    bytes: u64,
    key: Resident<E>,
}

/// The keys that were used last, within a number of bytes. An engine without memory of its own has
/// none: there, copies of keys cost nothing.
pub(super) struct ResidentKeys<E: Engine> {
    limit: u64,
    /// In the order of use: the key that was used last is the last one.
    held: Mutex<Vec<Held<E>>>,
}

impl<E: Engine> ResidentKeys<E> {
    pub(super) fn new(limit: u64) -> Self {
        ResidentKeys { limit, held: Mutex::new(Vec::new()) }
    }

    /// The bytes of all keys that are held.
    pub(super) fn bytes(&self) -> u64 {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.iter().map(|key| key.bytes).sum()
    }

    /// Looks up a key that is held.
    pub(super) fn find(&self, name: KeyName) -> Option<Resident<E>> {
        if !E::RESIDENT {
            return None;
        }
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let place = held.iter().position(|key| key.name == name)?;
        let key = held.remove(place);
        let found = key.key.clone();
        held.push(key);
        Some(found)
    }

    /// Holds one more key of `bytes` bytes, and as many of the others as there is room for.
    pub(super) fn hold(&self, name: KeyName, bytes: u64, key: &Resident<E>) {
        if !E::RESIDENT {
            return;
        }
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.retain(|other| other.name != name);
        held.push(Held { name, bytes, key: key.clone() });
        while held.len() > 1 && held.iter().map(|key| key.bytes).sum::<u64>() > self.limit {
            held.remove(0);
        }
    }
}
