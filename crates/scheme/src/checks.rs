//! Refusals that all schemes share.

use crate::error::SchemeError;
use crate::key_id::KeyId;
use crate::noise::Meta;

/// Refuses operands of different plaintext moduli.
pub fn same_modulus(left: u32, right: u32, operation: &'static str) -> Result<(), SchemeError> {
    if left == right {
        Ok(())
    } else {
        Err(SchemeError::PlainModulusMismatch { operation, left, right })
    }
}

/// Refuses what belongs to two secret keys. What has no owner goes together with everything
/// ([`KeyId`]), and nothing is known of the owner of the result.
pub fn same_owner(
    left: Option<KeyId>,
    right: Option<KeyId>,
    operation: &'static str,
) -> Result<(), SchemeError> {
    match (left, right) {
        (Some(left), Some(right)) if left != right => {
            Err(SchemeError::WrongKey { operation, left, right })
        }
        _ => Ok(()),
    }
}

/// Refuses ciphertexts of different owners, plaintext moduli or forms.
pub fn same_kind(a: &Meta, b: &Meta, operation: &'static str) -> Result<(), SchemeError> {
    same_owner(a.owner, b.owner, operation)?;
    if a.form != b.form {
        return Err(SchemeError::FormMismatch {
            operation,
            left: a.form.name(),
            right: b.form.name(),
        });
    }
    same_modulus(a.exponent, b.exponent, operation)
}

/// Refuses parts of a linear map that cannot be added up as they are: those that
/// [`same_kind`] refuses, and those of different levels or correction factors.
pub fn same_parts(a: &Meta, b: &Meta, operation: &'static str) -> Result<(), SchemeError> {
    same_kind(a, b, operation)?;
    if (a.level, a.factor) == (b.level, b.factor) {
        return Ok(());
    }
    let told = |m: &Meta| format!("level {} and factor {}", m.level, m.factor);
    Err(SchemeError::BadArgument {
        what: "parts of a linear map",
        expected: format!("all of {}", told(a)),
        found: told(b),
    })
}

/// The refusal of a linear map without parts.
pub fn no_parts() -> SchemeError {
    SchemeError::BadArgument {
        what: "linear map",
        expected: "at least one part".into(),
        found: "none".into(),
    }
}
