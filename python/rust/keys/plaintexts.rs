//! What keys encrypt and decrypt, in the words of NumPy.

use everlevel::Plaintext;
use everlevel::lab::SchemeError;
use zeroize::Zeroizing;

use crate::errors::Result;
use crate::values::residues;

/// Refuses what belongs to another set: decryption would give anything.
pub fn same(key: &everlevel::Params, ciphertext: &everlevel::Params) -> Result<()> {
    if key.same(ciphertext) {
        return Ok(());
    }
    Err(SchemeError::WrongParams { object: "ciphertext", name: key.name().into() }.into())
}

/// Slot values modulo p^exponent, or the coefficients of elements of all slots modulo p^r.
pub fn plaintext(
    params: &everlevel::Params,
    values: &[i64],
    exponent: u32,
    elements: bool,
) -> Result<Plaintext> {
    if elements {
        let residues = Zeroizing::new(residues(params, values, params.plain_exponent())?);
        return Ok(Plaintext::encode_elements(params, &residues)?);
    }
    Ok(Plaintext::encode_modulo(
        params,
        &Zeroizing::new(residues(params, values, exponent)?),
        exponent,
    )?)
}

/// What was decrypted.
pub(super) fn decoded(
    params: &everlevel::Params,
    plain: &Plaintext,
    elements: bool,
) -> Result<Vec<u64>> {
    Ok(if elements { plain.decode_elements(params)? } else { plain.decode_decrypted(params)? })
}
