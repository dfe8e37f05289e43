//! Ciphertexts that are shared, and replaced by fresher ones.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

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
    /// Held while the ciphertext is bootstrapped, so that two threads do not do it twice.
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
    /// Which integers the slots hold; none where that is not known, and arithmetic wraps modulo p^e
    /// unnoticed.
    pub fn range(&self) -> Option<ValueRange> {
        self.range
    }

    /// The same value, whose slots hold integers of this range, modulo p^e: so says the caller, for
    /// all slots, those included that hold 0 since nothing was put there. None: it is not known.
    #[must_use]
    pub fn within(self, range: impl Into<Option<ValueRange>>) -> Self {
        Value { range: range.into(), ..self }
    }

    /// The ciphertext as it is now.
    pub fn get(&self) -> Arc<C> {
        self.cell.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set(&self, x: Arc<C>) {
        *self.cell.current.write().unwrap_or_else(PoisonError::into_inner) = x;
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.cell, &other.cell)
    }
}
