//! Constants in the memory of the device, copied once.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

/// What was computed for a key, which stays.
pub(crate) struct Kept<K, V>(Mutex<HashMap<K, V>>);

impl<K: Eq + Hash + Clone, V: Copy> Kept<K, V> {
    pub(crate) fn new() -> Self {
        Kept(Mutex::default())
    }

    pub(crate) fn get(&self, key: &K, make: impl FnOnce() -> V) -> V {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&value) = kept.get(key) {
            return value;
        }
        let value = make();
        kept.insert(key.clone(), value);
        value
    }
}
