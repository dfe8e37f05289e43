//! A parameter set for circuits: no security, but levels for any plan of a test.

use everlevel_scheme::ParamsSpec;

/// Any prime modulo any power of two, without bootstrapping.
pub fn toy_spec(index: u64, plain_prime: u64, plain_exponent: u32) -> ParamsSpec {
    ParamsSpec {
        plain_exponent,
        base_bits: if plain_prime > 1 << 16 { 50 } else { 47 },
        words: 16,
        fine_bits: vec![46, 42, 38],
        special: 3,
        digit_size: 3,
        ..ParamsSpec::new(format!("insecure_toy-{plain_prime}-m{index}"), index, plain_prime)
    }
}
