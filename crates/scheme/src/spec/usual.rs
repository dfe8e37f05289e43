//! Specifications with usual values.

use super::form::Form;
use super::params::{Assumption, ParamsSpec, SecretKind};

impl ParamsSpec {
    /// A set over a ring modulo a prime, with usual values for whatever else the caller does not
    /// choose: BGV over ring-LWE with a uniform ternary secret, a modulus of one prime of 50 bits,
    /// one special prime, no bootstrapping.
    pub fn new(name: impl Into<String>, index: u64, plain_prime: u64) -> Self {
        ParamsSpec {
            name: name.into(),
            index,
            plain_prime,
            plain_exponent: 1,
            extended_exponent: 0,
            base_bits: 50,
            word_bits: 50,
            words: 0,
            fine_bits: Vec::new(),
            special: 1,
            digit_size: 1,
            form: Form::Bgv,
            through_bgv: false,
            assumption: Assumption::Rlwe,
            secret: SecretKind::UniformTernary,
            bootstrap: None,
        }
    }
}
