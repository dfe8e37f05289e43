//! Encryption and decryption of columns, and decryption of totals.

use everlevel::files::{Bytes, Metadata, ReadOptions};
use everlevel::lab::SchemeError;
use everlevel::{
    Ciphertext, CompactCiphertext, IntegerResult, Level, NamedResults, Params, Plaintext, Type,
};
use everlevel_circuit::PrimePower;
use everlevel_integers::{Encoded, IntegersError, index_level};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use zeroize::Zeroizing;

use super::column::{Column, Held, HeldTotal, Total, traced};
use crate::errors::{Failure, Result, refusal};
use crate::keys::{PublicKey, SecretKey, same};
use crate::runtime::{detached, rng};
use crate::values::octets;

/// Encrypts integers of an interval, under a secret key or a public one: their digits at a level,
/// at the top if there is none, and in unary if they are to have an index.
#[pyfunction]
#[pyo3(signature = (values, interval, secret = None, public = None, index = false, level = None))]
pub fn encrypt_column(
    py: Python<'_>,
    values: Vec<i128>,
    interval: (i128, i128),
    secret: Option<&SecretKey>,
    public: Option<&PublicKey>,
    index: bool,
    level: Option<usize>,
) -> Result<Column> {
    let values = Zeroizing::new(values);
    let params = match (secret, public) {
        (Some(key), None) => key.0.params(),
        (None, Some(key)) => key.0.params(),
        _ => return Err(refusal("ParameterError", "python.one-key", "expected one key")),
    };
    let column = detached(py, || {
        let kind = Type::ranged(interval.0, interval.1)?;
        let encoded = Encoded::new(&values, kind, params.slots())?;
        let mut rng = rng()?;
        let highest = params.chain().top();
        let own = level.map_or(highest, Level);
        // Also where all entries are public, so that nothing is encrypted.
        if own > highest {
            return Err(SchemeError::BadLevel { found: own, highest }.into());
        }
        let mut encrypt = |slots: &[u64], truth: Option<Level>| -> Result<Ciphertext> {
            let (plain, level) = (Plaintext::encode(params, slots)?, truth.unwrap_or(own));
            Ok(match (secret, public) {
                (Some(key), _) => key.0.encrypt_at(&plain, level, &mut rng)?,
                (_, Some(key)) => key.0.encrypt_at(&plain, level, &mut rng)?,
                _ => return Err(refusal("ParameterError", "python.one-key", "expected one key")),
            })
        };
        match index {
            true => encoded.encrypt_indexed(index_level(params, kind)?, encrypt),
            false => encoded.encrypt(|slots| encrypt(slots, None)),
        }
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

/// Of a column or a total of results: its name, the entries (of a total one), whether it is a
/// total, the number of entries if it has one, and the least and the largest value.
type OpenedColumn = (String, Vec<i128>, bool, Option<usize>, (i128, i128));

/// What columns that were cut to what decryption needs hold, and their metadata.
#[pyfunction]
pub fn decrypt_compact_columns(
    py: Python<'_>,
    key: &SecretKey,
    data: PyReadonlyArray1<'_, u8>,
    allow_unknown_owner: bool,
) -> Result<(Vec<OpenedColumn>, Metadata)> {
    let (params, data) = (key.0.params(), octets(&data)?);
    let options = ReadOptions::default().allowing_unknown_owner(allow_unknown_owner);
    detached(py, || {
        let (found, metadata) = Vec::<NamedResults>::from_bytes_with(params, data, &options)?;
        let p = modulus(params)?;
        let slots = |c: &CompactCiphertext| {
            Ok::<_, Failure>(key.0.decrypt_compact(c)?.decode_decrypted(params)?)
        };
        // All of them, before one is refused: time does not tell which.
        let open = |(name, x): NamedResults| -> Result<OpenedColumn> {
            let ends = (x.interval().low(), x.interval().high());
            Ok(match x {
                IntegerResult::Column(x) => {
                    (name, x.decrypt(p, slots)?.to_vec(), false, x.length(), ends)
                }
                IntegerResult::Total(x) => (name, vec![x.decrypt(p, slots)?], true, None, ends),
            })
        };
        let opened: Vec<Result<_>> = found.into_iter().map(open).collect();
        Ok((opened.into_iter().collect::<Result<_>>()?, metadata))
    })
}
