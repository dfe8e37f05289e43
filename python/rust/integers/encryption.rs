//! Encryption and decryption of columns, and decryption of totals.

use everlevel::{Params, Plaintext, Type};
use everlevel_circuit::PrimePower;
use everlevel_integers::{Encoded, IntegersError};
use pyo3::prelude::*;
use zeroize::Zeroizing;

use super::column::{Column, Held, HeldTotal, Total, traced};
use crate::errors::{Failure, Result, refusal};
use crate::keys::{PublicKey, SecretKey, same};
use crate::runtime::{detached, rng};

/// Encrypts integers from `low` to `high`, under a secret key or a public one.
#[pyfunction]
#[pyo3(signature = (values, low, high, secret = None, public = None))]
pub fn encrypt_column(
    py: Python<'_>,
    values: Vec<i128>,
    low: i128,
    high: i128,
    secret: Option<&SecretKey>,
    public: Option<&PublicKey>,
) -> Result<Column> {
    let values = Zeroizing::new(values);
    let params = match (secret, public) {
        (Some(key), None) => key.0.params(),
        (None, Some(key)) => key.0.params(),
        _ => return Err(refusal("ParameterError", "python.one-key", "expected one key")),
    };
    let column = detached(py, || {
        let encoded = Encoded::new(&values, Type::ranged(low, high)?, params.slots())?;
        let mut rng = rng()?;
        encoded.encrypt(|slots| {
            let plain = Plaintext::encode(params, slots)?;
            Ok(match (secret, public) {
                (Some(key), _) => key.0.encrypt(&plain, &mut rng)?,
                (_, Some(key)) => key.0.encrypt(&plain, &mut rng)?,
                _ => return Err(refusal("ParameterError", "python.one-key", "expected one key")),
            })
        })
    })?;
    Ok(Column { params: params.clone(), held: Held::Real(column) })
}

fn modulus(params: &Params) -> Result<PrimePower> {
    Ok(PrimePower::new(params.spec().plain_prime, 1).map_err(IntegersError::from)?)
}

/// The entries of a column; one if all are the same public integer.
#[pyfunction]
pub fn decrypt_column(py: Python<'_>, key: &SecretKey, x: &Column) -> Result<Vec<i128>> {
    let Held::Real(column) = &x.held else { return Err(traced()) };
    same(key.0.params(), &x.params)?;
    detached(py, || {
        let found = column.decrypt(modulus(&x.params)?, |c| {
            Ok::<_, Failure>(key.0.decrypt(c)?.decode_decrypted(&x.params)?)
        })?;
        Ok(found.to_vec())
    })
}

/// An encrypted sum.
#[pyfunction]
pub fn decrypt_total(py: Python<'_>, key: &SecretKey, x: &Total) -> Result<i128> {
    let HeldTotal::Real(total) = &x.held else { return Err(traced()) };
    same(key.0.params(), &x.params)?;
    detached(py, || {
        total.decrypt(modulus(&x.params)?, |c| Ok(key.0.decrypt(c)?.decode_decrypted(&x.params)?))
    })
}
