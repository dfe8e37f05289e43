//! A bounded number of bytes of what can be made again.

use std::sync::{Mutex, PoisonError};

/// Values by a small number, within a limit of bytes.
///
/// Bootstrapping asks for the same keys in the same order again and again; then whatever was used
/// longest ago is the next one that is needed, and a cache that lets it go never hits. So when the
/// cache is full, one value in [`ADMITTED`] takes the place of others, at random, and the rest is
/// not kept: most of what is there stays for the next round, and another use is learnt in time
/// (Qureshi et al. 2007, bimodal insertion). Nothing is locked while a value is made, so two
/// threads that miss at once both make it.
pub(crate) struct Cache<T> {
    limit: u64,
    state: Mutex<State<T>>,
}

/// A full cache takes in one value of this many.
const ADMITTED: u64 = 16;

struct State<T> {
    /// (number, value, bytes).
    kept: Vec<(usize, T, u64)>,
    bytes: u64,
    misses: u64,
    /// Of a linear congruential generator: which value goes has nothing to do with secrets.
    random: u64,
}

impl<T> State<T> {
    fn next(&mut self) -> u64 {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.random >> 33
    }
}

impl<T: Clone> Cache<T> {
    pub(crate) fn new(limit: u64) -> Self {
        Cache {
            limit,
            state: Mutex::new(State { kept: Vec::new(), bytes: 0, misses: 0, random: 1 }),
        }
    }

    /// The value of a number, made and kept (with its bytes) unless it is there.
    pub(crate) fn get<E>(
        &self,
        number: usize,
        make: impl FnOnce() -> Result<(T, u64), E>,
    ) -> Result<T, E> {
        let lock = || self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, value, _)) = lock().kept.iter().find(|(n, ..)| *n == number) {
            return Ok(value.clone());
        }
        let (value, bytes) = make()?;
        let mut state = lock();
        state.misses += 1;
        let admitted = state.bytes + bytes <= self.limit || state.next() % ADMITTED == 0;
        if admitted && bytes <= self.limit && state.kept.iter().all(|(n, ..)| *n != number) {
            while state.bytes + bytes > self.limit {
                let victim = state.next() as usize % state.kept.len();
                let (_, _, freed) = state.kept.swap_remove(victim);
                state.bytes -= freed;
            }
            state.bytes += bytes;
            state.kept.push((number, value.clone(), bytes));
        }
        Ok(value)
    }

    /// Bytes of values that can be kept beside those that are.
    pub(crate) fn room(&self) -> u64 {
        self.limit - self.usage().0
    }

    /// Bytes kept, and how often a value was made.
    pub(crate) fn usage(&self) -> (u64, u64) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        (state.bytes, state.misses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_holds_and_cyclic_use_hits() {
        let cache = Cache::new(60);
        for round in 0..40 {
            for number in 0..10 {
                let value = cache.get(number, || Ok::<_, ()>((number * 7, 10))).unwrap();
                assert_eq!(value, number * 7);
                assert!(cache.usage().0 <= 60, "round {round}");
            }
        }
        // Six of ten fit. If the least recently used one made room, none would ever hit.
        assert_eq!(cache.room(), 0);
        let hits = 400 - cache.usage().1;
        assert!((180..=234).contains(&hits), "{hits} hits");
        // Other values are learnt.
        let others = |count: usize| {
            (0..count).all(|k| cache.get(100 + k % 6, || Ok::<_, ()>((k % 6, 10))) == Ok(k % 6))
        };
        assert!(others(1000));
        let before = cache.usage().1;
        assert!(others(60));
        assert!(cache.usage().1 - before < 30, "{:?}", cache.usage());
        assert_eq!(cache.get(11, || Err("no")), Err("no"));
        // Too large to be kept, but returned.
        assert_eq!(cache.get(12, || Ok::<_, ()>((5, 61))), Ok(5));
        assert!(cache.usage().0 <= 60);
    }
}
