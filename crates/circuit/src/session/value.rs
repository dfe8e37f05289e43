//! Shared ciphertexts that a session may replace by refreshed ones.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};

use crate::range::ValueRange;

/// A ciphertext that a [`Session`](super::Session) may replace by a fresher one with the same
/// message, and the range of its integers, if it is known.
///
/// Clones share the ciphertext, so a value that was bootstrapped for one operation is fresh for all
/// later ones.
pub struct Value<C> {
    pub(super) cell: Arc<Cell<C>>,
    pub(super) range: Option<ValueRange>,
}

pub(super) struct Cell<C> {
    current: RwLock<Arc<C>>,
    /// Held while the ciphertext is bootstrapped, so that threads outside of a pool do not do it
    /// twice.
    pub(super) refreshing: Mutex<()>,
}

impl<C> Clone for Value<C> {
    fn clone(&self) -> Self {
        Value { cell: self.cell.clone(), range: self.range }
    }
}

impl<C> From<C> for Value<C> {
    fn from(x: C) -> Self {
        let cell = Cell { current: RwLock::new(Arc::new(x)), refreshing: Mutex::new(()) };
        Value { cell: Arc::new(cell), range: None }
    }
}

impl<C> Value<C> {
    /// The range of the integers in the slots; none if it is unknown, so that wrapping modulo p^e
    /// is not detected.
    pub fn range(&self) -> Option<ValueRange> {
        self.range
    }

    /// The same value with this range for the integers in its slots, modulo p^e. The caller states
    /// it for all slots, including unused ones, which hold 0. None: the range is unknown.
    #[must_use]
    pub fn within(self, range: impl Into<Option<ValueRange>>) -> Self {
        Value { range: range.into(), ..self }
    }

    /// The current ciphertext.
    pub fn get(&self) -> Arc<C> {
        self.cell.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The same ciphertext, which is not copied, as a value of its own: where one of the two is
    /// bootstrapped in place, the other one stays as it is.
    #[must_use]
    pub fn detached(&self) -> Self {
        let cell = Cell { current: RwLock::new(self.get()), refreshing: Mutex::new(()) };
        Value { cell: Arc::new(cell), range: self.range }
    }

    /// A number that clones share, and no other value as long as one of them exists: where one of
    /// them is bootstrapped in place, all of them are.
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.cell).addr()
    }

    /// Keeps other threads from bootstrapping the value; waits for one that does so now.
    ///
    /// A thread of a pool takes up other operations while it waits for parts of a bootstrapping. If
    /// one of these waited for the lock that is held further down on its own stack, or on that of a
    /// thread which waits for a part that is down there, no thread would go on. So threads of a
    /// pool do not wait: they get no lock, and bootstrap for themselves.
    pub(super) fn refreshing(&self) -> Option<MutexGuard<'_, ()>> {
        let lock = &self.cell.refreshing;
        if rayon::current_thread_index().is_none() {
            return Some(lock.lock().unwrap_or_else(PoisonError::into_inner));
        }
        match lock.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    pub(super) fn set(&self, x: Arc<C>) {
        *self.cell.current.write().unwrap_or_else(PoisonError::into_inner) = x;
    }

    /// Puts a ciphertext in the place of the one that was seen, unless another one is there now.
    pub(super) fn replace(&self, seen: &Arc<C>, x: C) {
        let mut current = self.cell.current.write().unwrap_or_else(PoisonError::into_inner);
        if Arc::ptr_eq(&current, seen) {
            *current = Arc::new(x);
        }
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.cell, &other.cell)
    }
}
