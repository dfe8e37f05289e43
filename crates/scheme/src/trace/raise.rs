//! The ends of bootstrapping.

use super::{Between, Traced, Tracked};
use crate::error::SchemeError;
use crate::noise::Events;
use crate::verbs::Raise;

impl<S: Raise> Traced<S> {
    /// What was made of a raised phase. What happened on the way down is counted here, as there is
    /// no ciphertext before.
    fn raised(
        &self,
        x: S::Ciphertext,
        detail: &str,
        r: &Between<S::Raised>,
    ) -> Tracked<S::Ciphertext> {
        let events = r.events + Events::fresh(1);
        self.record(x, "raise", detail.into(), r.from.clone(), events)
    }
}

impl<S: Raise> Raise for Traced<S> {
    type Raised = Between<S::Raised>;

    fn message_exponent(&self) -> u32 {
        self.inner.message_exponent()
    }

    fn overflow_digits(&self) -> u32 {
        self.inner.overflow_digits()
    }

    fn overflow_bound(&self) -> u64 {
        self.inner.overflow_bound()
    }

    fn minimum_capacity(&self) -> f64 {
        self.inner.minimum_capacity()
    }

    fn begin_raise(&self, x: &Self::Ciphertext) -> Result<Self::Raised, SchemeError> {
        let inner = self.inner.begin_raise(&x.inner)?;
        // The switch to q0, that to the sparse key with its rounding, and the overflow.
        Ok(Between {
            inner,
            from: [x.row].into(),
            events: Events::fresh(3) + Events::overflow(1),
            parts: 1,
        })
    }

    fn raise_overflow(
        &self,
        r: &Self::Raised,
        delta: u64,
    ) -> Result<Self::Ciphertext, SchemeError> {
        Ok(self.raised(self.inner.raise_overflow(&r.inner, delta)?, "the overflow", r))
    }

    fn raise_message(
        &self,
        r: &Self::Raised,
        like: &Self::Ciphertext,
    ) -> Result<Self::Ciphertext, SchemeError> {
        let out = self.inner.raise_message(&r.inner, &like.inner)?;
        // The same phase as the overflow's; new are its product and the switch to the level of
        // `like`.
        Ok(self.record(out, "raise", "the message".into(), r.from.clone(), Events::fresh(2)))
    }

    fn base_modulus_mod_t(&self, r: &Self::Raised) -> i64 {
        self.inner.base_modulus_mod_t(&r.inner)
    }

    fn raise_scaled(&self, r: &Self::Raised) -> Result<Self::Ciphertext, SchemeError> {
        Ok(self.raised(self.inner.raise_scaled(&r.inner)?, "message and overflow", r))
    }

    fn blank(&self, capacity: f64) -> Result<Self::Ciphertext, SchemeError> {
        Ok(self.input(self.inner.blank(capacity)?, "zero"))
    }

    fn enter(&self, x: &Self::Ciphertext, capacity: f64) -> Result<Self::Ciphertext, SchemeError> {
        Ok(self.after(self.inner.enter(&x.inner, capacity)?, "enter", "", [x], Events::fresh(1)))
    }

    fn restore_unit(&self, r: &Self::Raised, x: Self::Ciphertext) -> Self::Ciphertext {
        Tracked { inner: self.inner.restore_unit(&r.inner, x.inner), row: x.row }
    }
}
