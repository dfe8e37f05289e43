//! Refusals that all schemes share.

use crate::error::SchemeError;
use crate::noise::Meta;

/// Refuses operands of different plaintext moduli.
pub fn same_modulus(left: u32, right: u32, operation: &'static str) -> Result<(), SchemeError> {
    if left == right {
        Ok(())
    } else {
        Err(SchemeError::PlainModulusMismatch { operation, left, right })
    }
}

/// Refuses ciphertexts of different plaintext moduli or forms.
pub fn same_kind(a: &Meta, b: &Meta, operation: &'static str) -> Result<(), SchemeError> {
    if a.form != b.form {
        return Err(SchemeError::FormMismatch {
            operation,
            left: a.form.name(),
            right: b.form.name(),
        });
    }
    same_modulus(a.exponent, b.exponent, operation)
}

/// The refusal of a linear map without parts.
pub fn no_parts() -> SchemeError {
    SchemeError::BadArgument {
        what: "linear map",
        expected: "at least one part".into(),
        found: "none".into(),
    }
}
