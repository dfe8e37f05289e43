//! A parameter set for circuits: no security, but levels for any plan of a test.

use everlevel_scheme::spec::{Assumption, SecretKind};
use everlevel_scheme::{Form, ParamsSpec};

/// Any prime modulo any power of two, without bootstrapping.
pub fn toy_spec(index: u64, plain_prime: u64, plain_exponent: u32) -> ParamsSpec {
    ParamsSpec {
        name: format!("insecure_toy-{plain_prime}-m{index}"),
        index,
        plain_prime,
        plain_exponent,
        extended_exponent: 0,
        base_bits: if plain_prime > 1 << 16 { 50 } else { 47 },
        word_bits: 50,
        words: 16,
        fine_bits: vec![46, 42, 38],
        special: 3,
        digit_size: 3,
        secret: SecretKind::UniformTernary,
        form: Form::Bgv,
        through_bgv: false,
        assumption: Assumption::Rlwe,
        bootstrap: None,
    }
}
