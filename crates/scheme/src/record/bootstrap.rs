//! The first and the last steps of bootstrapping, recorded.

use super::{Between, Recorded, RecordedCiphertext};
use crate::error::SchemeError;
use crate::noise::Events;
use crate::ops::Bootstrappable;
use crate::plaintext::Plaintext;

impl<S: Bootstrappable> Recorded<S> {
    /// A result that was made from a raised phase. The random events on the way down are counted
    /// here, as there is no ciphertext before it.
    fn raised(
        &self,
        x: S::Ciphertext,
        detail: &str,
        r: &Between<S::Base>,
    ) -> RecordedCiphertext<S::Ciphertext> {
        let events = r.events + Events::fresh(1);
        self.record(x, "raise", detail.into(), r.from.clone(), events)
    }
}

impl<S: Bootstrappable> Bootstrappable for Recorded<S> {
    type Base = Between<S::Base>;

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

    fn to_base_modulus(&self, x: &Self::Ciphertext) -> Result<Self::Base, SchemeError> {
        let inner = self.inner.to_base_modulus(&x.inner)?;
        // The switch to q0, that to the sparse key with its rounding, and the overflow.
        Ok(Between {
            inner,
            from: [x.row].into(),
            events: Events::fresh(3) + Events::overflow(1),
            parts: 1,
        })
    }

    fn mod_raise_overflow(
        &self,
        r: &Self::Base,
        delta: u64,
    ) -> Result<Self::Ciphertext, SchemeError> {
        Ok(self.raised(self.inner.mod_raise_overflow(&r.inner, delta)?, "the overflow", r))
    }

    fn mod_raise_message(
        &self,
        r: &Self::Base,
        like: &Self::Ciphertext,
    ) -> Result<Self::Ciphertext, SchemeError> {
        let out = self.inner.mod_raise_message(&r.inner, &like.inner)?;
        // The same phase as the overflow's; new are its product and the switch to the level of
        // `like`.
        Ok(self.record(out, "raise", "the message".into(), r.from.clone(), Events::fresh(2)))
    }

    fn base_modulus_mod_t(&self, r: &Self::Base) -> i64 {
        self.inner.base_modulus_mod_t(&r.inner)
    }

    fn mod_raise_scaled(&self, r: &Self::Base) -> Result<Self::Ciphertext, SchemeError> {
        Ok(self.raised(self.inner.mod_raise_scaled(&r.inner)?, "message and overflow", r))
    }

    fn encrypt_zero_at(&self, capacity: f64) -> Result<Self::Ciphertext, SchemeError> {
        Ok(self.input(self.inner.encrypt_zero_at(capacity)?, "zero"))
    }

    fn transparent(&self, x: &Plaintext) -> Result<Self::Ciphertext, SchemeError> {
        Ok(self.input(self.inner.transparent(x)?, "public"))
    }

    fn addend(
        &self,
        x: &Plaintext,
        like: &Self::Ciphertext,
    ) -> Result<Self::Ciphertext, SchemeError> {
        Ok(self.input(self.inner.addend(x, &like.inner)?, "public"))
    }

    fn prepare_thin_input(
        &self,
        x: &Self::Ciphertext,
        capacity: f64,
    ) -> Result<Self::Ciphertext, SchemeError> {
        Ok(self.after(
            self.inner.prepare_thin_input(&x.inner, capacity)?,
            "enter",
            "",
            [x],
            Events::fresh(1),
        ))
    }

    fn set_correction_factor(&self, r: &Self::Base, x: Self::Ciphertext) -> Self::Ciphertext {
        RecordedCiphertext {
            inner: self.inner.set_correction_factor(&r.inner, x.inner),
            row: x.row,
        }
    }
}
