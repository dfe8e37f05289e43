//! Constants in the memory of the device: as bytes, and those that stay to be used again.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

/// The bytes of all values that stay, except that the last one stays in any case.
pub(crate) const KEPT_BYTES: u64 = 16 << 20;

/// A number that kernels read.
pub(crate) trait Number: Copy {
    fn append(self, bytes: &mut Vec<u8>);
}

/// Declares numbers.
macro_rules! numbers {
    ($($type:ty),*) => {
        $(impl Number for $type {
            fn append(self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_ne_bytes());
            }
        })*
    };
}

numbers!(u32, u64, i64, f64);

/// Numbers as they are in the memory of the device.
pub(crate) fn bytes<N: Number>(numbers: impl IntoIterator<Item = N>) -> Vec<u8> {
    let mut bytes = Vec::new();
    numbers.into_iter().for_each(|number| number.append(&mut bytes));
    bytes
}

/// What was computed for a key. The values that were used least recently are dropped where all
/// together take more than [`KEPT_BYTES`]; whoever uses one has a copy of it.
pub(crate) struct Kept<K, V> {
    /// The bytes of a value.
    weigh: fn(&V) -> u64,
    values: Mutex<Values<K, V>>,
}

struct Values<K, V> {
    all: HashMap<K, Value<V>>,
    bytes: u64,
    /// The number of uses.
    uses: u64,
}

struct Value<V> {
    value: V,
    bytes: u64,
    /// The number of its last use.
    used: u64,
}

impl<K: Eq + Hash + Clone, V: Clone> Kept<K, V> {
    pub(crate) fn new(weigh: fn(&V) -> u64) -> Self {
        let values = Values { all: HashMap::new(), bytes: 0, uses: 0 };
        Kept { weigh, values: Mutex::new(values) }
    }

    pub(crate) fn get(&self, key: &K, make: impl FnOnce() -> V) -> V {
        // Dropped after the lock, as giving memory back waits for the device.
        let mut dropped = Vec::new();
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        values.uses += 1;
        let used = values.uses;
        if let Some(found) = values.all.get_mut(key) {
            found.used = used;
            return found.value.clone();
        }
        let value = make();
        let bytes = (self.weigh)(&value);
        values.all.insert(key.clone(), Value { value: value.clone(), bytes, used });
        values.bytes += bytes;
        while values.bytes > KEPT_BYTES && values.all.len() > 1 {
            let oldest = values.all.iter().min_by_key(|(_, value)| value.used);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else { break };
            if let Some(value) = values.all.remove(&oldest) {
                values.bytes -= value.bytes;
                dropped.push(value);
            }
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_least_recently_goes_first() {
        let third = KEPT_BYTES / 3;
        let kept: Kept<u32, u64> = Kept::new(|&bytes| bytes);
        let made = std::cell::Cell::new(0);
        let get = |key, bytes| {
            made.set(0);
            kept.get(&key, || {
                made.set(1);
                bytes
            });
            made.get()
        };
        assert_eq!([get(1, third), get(2, third), get(3, third)], [1; 3]);
        assert_eq!([get(1, third), get(2, third), get(3, third)], [0; 3]);
        get(1, third);
        assert_eq!(get(4, third), 1);
        // The second one was used before all others.
        assert_eq!([get(1, third), get(3, third), get(4, third)], [0; 3]);
        assert_eq!(get(2, third), 1);
        // A value that is larger than all may be stays alone.
        assert_eq!(get(5, 2 * KEPT_BYTES), 1);
        assert_eq!([get(5, 0), get(2, third)], [0, 1]);
        assert_eq!(get(5, 0), 1);
    }

    #[test]
    fn numbers_are_bytes_in_order() {
        assert_eq!(bytes([1u32, 2]), [1u32.to_ne_bytes(), 2u32.to_ne_bytes()].concat());
        assert_eq!(bytes([-1i64]), [0xff; 8]);
        assert_eq!(bytes([1.5f64]), 1.5f64.to_bits().to_ne_bytes());
    }
}
