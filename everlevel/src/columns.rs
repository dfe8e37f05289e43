//! Columns of typed integers as bytes and files.

use std::collections::BTreeMap;
#[cfg(feature = "unstable")]
use std::path::Path;

use everlevel_bgv::{Ciphertext, CompactCiphertext};
use everlevel_circuit::{PrimePower, Value};
use everlevel_integers::{DigitPart, Encrypted, IntegersError, Interval, Parts};
use everlevel_scheme::Params;
use everlevel_wire::columns::{self, StoredColumn, StoredDigit};
use everlevel_wire::{Metadata, ReadOptions, WireError};

use crate::bytes::Bytes;
use crate::client::Client;
use crate::error::Error;
use crate::integers::{IntegerColumn, held};
use crate::open;
use crate::server::Server;
use crate::stored::{Bounds, ENCRYPTION};

/// An encrypted column of integers, or the total of one.
pub type IntegerValue = Encrypted<Ciphertext>;
/// A column or a total with the name that it has in a file.
pub type NamedIntegers = (String, IntegerValue);
/// A column of integers, or the total of one, reduced to what decryption needs.
pub type IntegerResult = Encrypted<CompactCiphertext>;
/// Such a column or total with the name that it has in a file.
pub type NamedResults = (String, IntegerResult);

fn stored<C: Clone>(
    params: &Params,
    (name, x): &(String, Encrypted<C>),
) -> Result<StoredColumn<C>, Error> {
    let (slots, modulus) = (params.slots(), PrimePower::new(params.spec().plain_prime, 1)?);
    let Parts { interval, anchor, length, divisor, digits } = x.to_parts(slots, modulus)?;
    let digit = |d: DigitPart<C>| StoredDigit {
        power: d.power,
        stride: d.stride as u32,
        low: d.low,
        high: d.high,
        pad: d.pad,
        ciphertext: d.value.map(|value| C::clone(&value.get())),
    };
    Ok(StoredColumn {
        name: name.clone(),
        length: length.map(|n| n as u64),
        divisor,
        low: interval.low(),
        high: interval.high(),
        anchor,
        digits: digits.into_iter().map(digit).collect(),
    })
}

fn restored<C>(params: &Params, column: StoredColumn<C>) -> Result<(String, Encrypted<C>), Error> {
    let StoredColumn { name, length, divisor, low, high, anchor, digits } = column;
    let digit = |d: StoredDigit<C>| DigitPart {
        power: d.power,
        low: d.low,
        high: d.high,
        pad: d.pad,
        stride: d.stride as usize,
        value: d.ciphertext.map(Value::from),
    };
    let make = || {
        let interval = Interval::new(low, high)?;
        let length = length.map(|n| n as usize);
        let digits = digits.into_iter().map(digit).collect();
        let modulus = PrimePower::new(params.spec().plain_prime, 1)?;
        let parts = Parts { interval, anchor, length, divisor, digits };
        Encrypted::from_parts(parts, params.slots(), modulus)
    };
    match make() {
        Ok(x) => Ok((name, x)),
        Err(e @ (IntegersError::Parts { .. } | IntegersError::Range { .. })) => {
            Err(WireError::Columns { name, problem: e.to_string() }.into())
        }
        Err(e) => Err(e.into()),
    }
}

/// The columns as they are stored, the truth values of an index behind its column, which metadata
/// name then.
fn stored_with_indexes(
    params: &Params,
    columns: &[NamedIntegers],
    metadata: &mut Metadata,
) -> Result<Vec<StoredColumn>, Error> {
    let (mut out, mut indexed) = (Vec::with_capacity(columns.len()), Vec::new());
    for x in columns {
        out.push(stored(params, x)?);
        let (name, Encrypted::Column(column)) = x else { continue };
        let Some(bits) = column.index() else { continue };
        for ((digit, least), bit) in bits {
            out.push(stored(params, &(columns::index_column(name, digit, least), bit.into()))?);
        }
        indexed.push(name.as_str());
    }
    columns::state_indexes(&indexed, metadata);
    Ok(out)
}

/// The columns with the indexes that metadata name, of which the truth values are columns, too.
fn with_indexes(
    columns: Vec<NamedIntegers>,
    metadata: &mut Metadata,
) -> Result<Vec<NamedIntegers>, Error> {
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    let indexed = columns::take_indexes(metadata, &names)?;
    let places = columns.iter().enumerate().map(|(i, (name, _))| (name.clone(), i));
    let places: BTreeMap<String, usize> = places.collect();
    let mut columns: Vec<Option<NamedIntegers>> = columns.into_iter().map(Some).collect();
    let mut take = |name: &str| -> Option<(usize, IntegerColumn)> {
        let place = *places.get(name)?;
        match columns.get_mut(place)?.take()? {
            (_, Encrypted::Column(x)) => Some((place, x)),
            (_, Encrypted::Total(_)) => None,
        }
    };
    let mut joined = Vec::with_capacity(indexed.len());
    for name in indexed {
        let refused = |problem: String| WireError::Columns { name: name.clone(), problem };
        let found = take(&name);
        let (place, column) = found.ok_or_else(|| refused("no column has this index".into()))?;
        let mut bits = Vec::new();
        for (digit, least) in column.steps() {
            let own = columns::index_column(&name, digit, least);
            let missing = || refused(format!("truth value {own} of its index is missing"));
            bits.push(((digit, least), take(&own).ok_or_else(missing)?.1));
        }
        let column = column.with_index(bits).map_err(|e| refused(e.to_string()))?;
        joined.push((place, (name, column.into())));
    }
    for (place, column) in joined {
        columns[place] = Some(column);
    }
    Ok(columns.into_iter().flatten().collect())
}

/// Columns and totals, each ciphertext reduced to what decryption needs.
///
/// # Errors
/// [`IntegersError::Parts`] for values beyond about 2^122; a ciphertext of other parameters, or
/// with too much noise.
pub fn compact_columns(
    params: &Params,
    columns: &[NamedIntegers],
) -> Result<Vec<NamedResults>, Error> {
    let cut =
        |x: &NamedIntegers| restored(params, stored(params, x)?.compact_for_decryption(params)?);
    columns.iter().map(cut).collect()
}

/// Columns of typed integers and totals with their names.
impl Bytes for Vec<NamedIntegers> {
    fn to_bytes_with(&self, params: &Params, metadata: &Metadata) -> Result<Vec<u8>, Error> {
        let mut metadata = metadata.clone();
        let columns = stored_with_indexes(params, self, &mut metadata)?;
        Ok(columns::to_bytes(params, &columns, &metadata)?)
    }

    fn from_bytes_with(
        params: &Params,
        bytes: &[u8],
        options: &ReadOptions,
    ) -> Result<(Self, Metadata), Error> {
        let (columns, mut metadata) = columns::from_bytes(params, bytes, options)?;
        let restored = columns.into_iter().map(|column| restored(params, column));
        let restored = restored.collect::<Result<Vec<_>, Error>>()?;
        Ok((with_indexes(restored, &mut metadata)?, metadata))
    }
}

/// Columns of typed integers and totals, which can only be decrypted, with their names.
impl Bytes for Vec<NamedResults> {
    fn to_bytes_with(&self, params: &Params, metadata: &Metadata) -> Result<Vec<u8>, Error> {
        let columns = self.iter().map(|x| stored(params, x)).collect::<Result<Vec<_>, Error>>()?;
        Ok(columns::results_to_bytes(params, &columns, metadata)?)
    }

    fn from_bytes_with(
        params: &Params,
        bytes: &[u8],
        options: &ReadOptions,
    ) -> Result<(Self, Metadata), Error> {
        let (columns, metadata) = columns::results_from_bytes(params, bytes, options)?;
        let restored = columns.into_iter().map(|column| restored(params, column));
        Ok((restored.collect::<Result<_, Error>>()?, metadata))
    }
}

impl Client {
    /// Columns as bytes for [`Server::receive_columns`]. They are marked as encryptions under the
    /// secret key only if all of their noise bounds are at most that of such an encryption, as in
    /// [`Client::upload`].
    ///
    /// # Errors
    /// A column of other parameters, two columns with one name.
    pub fn upload_columns(&self, columns: &[NamedIntegers]) -> Result<Vec<u8>, Error> {
        let values = columns.iter().flat_map(|(_, x)| x.values().chain(x.index_values()));
        let mut metadata = Metadata::new();
        if values.map(|v| v.get()).all(|x| self.encrypted_secretly(&x)) {
            metadata.insert(ENCRYPTION.into(), "secret".into());
        }
        columns.to_vec().to_bytes_with(self.params(), &metadata)
    }

    /// The columns of a server's answer ([`Server::answer_columns`]), to be decrypted.
    ///
    /// # Errors
    /// Bytes that are damaged, hold something else, or belong to another parameter set.
    pub fn read_columns(&self, bytes: &[u8]) -> Result<Vec<NamedIntegers>, Error> {
        let options = ReadOptions::default().limited_to(bytes.len() as u64);
        Ok(Bytes::from_bytes_with(self.params(), bytes, &options)?.0)
    }

    /// The columns of a server's answer that can only be decrypted
    /// ([`Server::answer_compact_columns`]).
    ///
    /// # Errors
    /// As [`Client::read_columns`].
    pub fn read_compact_columns(
        &self,
        bytes: &[u8],
    ) -> Result<Vec<(String, IntegerResult)>, Error> {
        let options = ReadOptions::default().limited_to(bytes.len() as u64);
        Ok(Bytes::from_bytes_with(self.params(), bytes, &options)?.0)
    }

    /// The entries of a column that can only be decrypted, or the one value of a total.
    ///
    /// # Errors
    /// As [`Client::decrypt_integers`].
    pub fn decrypt_compact_column<T: TryFrom<i128>>(
        &self,
        x: &IntegerResult,
    ) -> Result<Vec<T>, Error> {
        let modulus = PrimePower::new(self.params().spec().plain_prime, 1)?;
        let open = |x: &CompactCiphertext| -> Result<Vec<u64>, Error> {
            Ok(self.secret().decrypt_compact(x)?.decode_decrypted(self.params())?)
        };
        let values = match x {
            Encrypted::Column(x) => x.decrypt(modulus, open)?,
            Encrypted::Total(x) => zeroize::Zeroizing::new(vec![x.decrypt(modulus, open)?]),
        };
        values.iter().enumerate().map(|(position, v)| held(*v, position)).collect()
    }

    /// The entries of a column, or the one value of a total.
    ///
    /// # Errors
    /// As [`Client::decrypt_integers`].
    pub fn decrypt_column<T: TryFrom<i128>>(&self, x: &IntegerValue) -> Result<Vec<T>, Error> {
        match x {
            Encrypted::Column(x) => self.decrypt_integers(x),
            Encrypted::Total(x) => Ok(vec![self.decrypt_total(x)?]),
        }
    }
}

impl Server {
    /// The columns of a file. `bounds` states which noise bounds of the file are trusted.
    ///
    /// # Errors
    /// A file that cannot be read, is damaged, holds something else, or belongs to another
    /// parameter set.
    #[cfg(feature = "unstable")]
    pub fn read_columns(&self, path: &Path, bounds: &Bounds) -> Result<Vec<NamedIntegers>, Error> {
        self.receive_columns(&open::bytes_of(path)?, bounds)
    }

    /// Columns from bytes ([`Client::upload_columns`]). `bounds` states which noise bounds are
    /// trusted; for bytes from other parties use [`Bounds::Fresh`]. The interval of a column is a
    /// claim of its encryptor: if it is false, results for its entries are unspecified, and so are
    /// sums over them.
    ///
    /// # Errors
    /// Bytes that are damaged, hold something else, or belong to another parameter set.
    pub fn receive_columns(
        &self,
        bytes: &[u8],
        bounds: &Bounds,
    ) -> Result<Vec<NamedIntegers>, Error> {
        let options = open::reading(bytes, bounds, self.allow_unknown_owner)?;
        Ok(Bytes::from_bytes_with(self.params(), bytes, &options)?.0)
    }

    /// Columns and totals as bytes for [`Client::read_columns`], or for another server, which can
    /// compute on them further. If they are only to be decrypted,
    /// [`Server::answer_compact_columns`] takes a few percent of the bytes.
    ///
    /// # Errors
    /// Two columns with one name; [`IntegersError::Parts`] for values beyond about 2^122.
    pub fn answer_columns(&self, columns: &[NamedIntegers]) -> Result<Vec<u8>, Error> {
        columns.to_vec().to_bytes(self.params())
    }

    /// Columns and totals as bytes for [`Client::read_compact_columns`], each ciphertext reduced to
    /// what decryption needs ([`CompactCiphertext`]): nothing can be computed on them.
    ///
    /// # Errors
    /// As [`Server::answer_columns`]; a ciphertext with too much noise.
    pub fn answer_compact_columns(&self, columns: &[NamedIntegers]) -> Result<Vec<u8>, Error> {
        compact_columns(self.params(), columns)?.to_bytes(self.params())
    }
}
