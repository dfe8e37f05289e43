//! The state of a ciphertext of the no-op scheme.

use everlevel_ring::SlotShape;

use super::{NoOp, NoOpCiphertext};
use crate::error::SchemeError;
use crate::ops::Scheme;
use crate::plaintext::Plaintext;
use crate::spec::{Form, Level};

impl Scheme for NoOp {
    type Ciphertext = NoOpCiphertext;

    fn slot_shape(&self) -> &SlotShape {
        self.params.slot_shape()
    }

    fn plain_prime(&self) -> u64 {
        self.params.spec().plain_prime
    }

    fn plain_exponent(&self, x: &NoOpCiphertext) -> u32 {
        x.meta.exponent
    }

    fn level(&self, x: &NoOpCiphertext) -> Level {
        x.meta.level
    }

    fn noise_bound_bits(&self, x: &NoOpCiphertext) -> f64 {
        x.meta.noise
    }

    fn noise_estimate_bits(&self, x: &NoOpCiphertext) -> Option<f64> {
        Some(self.params.noise().expected_norm(&x.meta))
    }

    fn capacity_bits(&self, x: &NoOpCiphertext) -> f64 {
        self.params.noise().capacity(&x.meta)
    }

    fn check_params(&self, x: &NoOpCiphertext) -> Result<(), SchemeError> {
        self.params.noise().check_meta(&x.meta)?;
        let wrong = || SchemeError::WrongParams {
            object: "the ciphertext",
            name: self.params.name().into(),
        };
        (x.value.is_empty() || x.value.len() == self.params.degree())
            .then_some(())
            .ok_or_else(wrong)
    }

    fn form(&self, x: &NoOpCiphertext) -> Form {
        x.meta.form
    }

    fn encode_elements(&self, values: &[u64]) -> Result<Plaintext, SchemeError> {
        Plaintext::encode_elements(&self.params, values)
    }
}
