//! Refreshing states between rounds.

use everlevel_circuit::CircuitError;
use everlevel_scheme::ExactScheme;

use crate::error::AesError;
use crate::method::least_capacity;

/// A function that replaces ciphertexts by refreshed ones with the same slots, such as
/// bootstrapping.
pub type RefreshFn<'r, C> = dyn Fn(Vec<C>) -> Result<Vec<C>, AesError> + Sync + 'r;

/// The condition and the method for the refresh of a state.
pub struct Refresh<'r, S: ExactScheme> {
    capacity: f64,
    refresh: &'r RefreshFn<'r, S::Ciphertext>,
}

impl<'r, S: ExactScheme> Refresh<'r, S> {
    /// Ahead of every round for which the state has less than `capacity` bits
    /// ([`crate::Aes::capacity_for_round`], with what `refresh` needs in reserve). `refresh` is
    /// given any number of ciphertexts and returns as many.
    pub fn new(capacity: f64, refresh: &'r RefreshFn<'r, S::Ciphertext>) -> Self {
        Refresh { capacity, refresh }
    }

    /// The ciphertexts, refreshed if any of them lacks capacity for a round.
    ///
    /// # Errors
    /// [`CircuitError::NotEnoughCapacity`] if they lack it even then; those of the refresh.
    pub fn before_round(
        &self,
        scheme: &S,
        state: Vec<S::Ciphertext>,
    ) -> Result<Vec<S::Ciphertext>, AesError> {
        if least_capacity(scheme, &state) >= self.capacity {
            return Ok(state);
        }
        let count = state.len();
        let fresh = (self.refresh)(state)?;
        AesError::check_width("a refreshed state", fresh.len(), count)?;
        let left = least_capacity(scheme, &fresh);
        if left < self.capacity {
            Err(CircuitError::NotEnoughCapacity { left, needed: self.capacity }.into())
        } else {
            Ok(fresh)
        }
    }
}
