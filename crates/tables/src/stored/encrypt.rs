//! Encryption of a table, file by file.

use everlevel::files::{Bytes, ENCRYPTION};
use everlevel::{
    Ciphertext, IntegerColumn, Level, NamedIntegers, Params, Plaintext, PublicKey, SecretKey,
};
use everlevel_integers::Encoded;
use everlevel_scheme::SchemeError;
use everlevel_wire::Metadata;
use rand_core::CryptoRng;

use crate::data::Data;
use crate::error::TablesError;
use crate::field::Field;
use crate::schema::Schema;
use crate::stored::header::{BlockHeader, TableId, state_codes};

/// A column of a block: the number of the block, and the index of the column in the schema.
pub(crate) type Place = (usize, usize);

/// The key that a table is encrypted with.
#[derive(Clone, Copy)]
pub enum TableKey<'a> {
    /// The secret key of the owner; files have half the size.
    Secret(&'a SecretKey),
    /// The public key, for parties that encrypt for the owner.
    Public(&'a PublicKey),
}

impl TableKey<'_> {
    /// The parameter set.
    pub fn params(&self) -> &Params {
        match self {
            TableKey::Secret(key) => key.params(),
            TableKey::Public(key) => key.params(),
        }
    }

    pub(crate) fn encrypt(
        &self,
        plain: &Plaintext,
        level: Level,
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertext, SchemeError> {
        match self {
            TableKey::Secret(key) => key.encrypt_at(plain, level, rng),
            TableKey::Public(key) => key.encrypt_at(plain, level, rng),
        }
    }

    /// The metadata that it adds to files.
    pub(crate) fn metadata(&self) -> Metadata {
        let made_with = match self {
            TableKey::Secret(_) => "secret",
            TableKey::Public(_) => "public",
        };
        Metadata::from([(ENCRYPTION.into(), made_with.into())])
    }
}

/// The bytes of the file of a column of a block, encrypted unless the column is public.
pub(crate) fn encrypt_column(
    key: TableKey<'_>,
    field: &Field,
    entries: &[i128],
    header: &BlockHeader,
    rng: &mut impl CryptoRng,
) -> Result<Vec<u8>, TablesError> {
    let params = key.params();
    let mut metadata = key.metadata();
    header.state(&mut metadata);
    if field.is_public() {
        state_codes(&mut metadata, entries);
        return Ok(Vec::<NamedIntegers>::new().to_bytes_with(params, &metadata)?);
    }
    let encoded = Encoded::new(entries, field.integer_type()?, params.slots())?;
    let (level, exponent) = (field.level(params), field.plain_exponent());
    let value: IntegerColumn = encoded.encrypt(|slots| -> Result<_, TablesError> {
        Ok(key.encrypt(&Plaintext::encode_modulo(params, slots, exponent)?, level, rng)?)
    })?;
    let named: Vec<NamedIntegers> = vec![(field.name().into(), value.into())];
    Ok(named.to_bytes_with(params, &metadata)?)
}

/// An encryption of a table in progress.
pub(crate) struct Encryption<'a> {
    key: TableKey<'a>,
    schema: &'a Schema,
    schema_id: String,
    table: TableId,
    rows: usize,
}

impl<'a> Encryption<'a> {
    /// An encryption of a given number of rows.
    pub(crate) fn new(
        key: TableKey<'a>,
        schema: &'a Schema,
        rows: usize,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, TablesError> {
        Ok(Encryption { key, schema, schema_id: schema.id()?, table: TableId::random(rng), rows })
    }

    /// The bytes of each file of a block, one after the other.
    pub(crate) fn block<'b, E: From<TablesError>>(
        &self,
        block: usize,
        column: impl Fn(usize) -> &'b [i128],
        rng: &mut impl CryptoRng,
        write: &mut impl FnMut(Place, Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        for (place, field) in self.schema.fields().iter().enumerate() {
            let (table, schema) = (self.table, self.schema_id.clone());
            let header = BlockHeader { table, schema, rows: self.rows, block, column: place };
            write((block, place), encrypt_column(self.key, field, column(place), &header, rng)?)?;
        }
        Ok(())
    }
}

/// Passes on the bytes of each file of a table, one after the other, and returns the id of the
/// encryption.
pub(crate) fn encrypt_files<E: From<TablesError>>(
    key: TableKey<'_>,
    (schema, data): (&Schema, &Data),
    rng: &mut impl CryptoRng,
    progress: &mut dyn FnMut(usize, usize) -> Result<(), E>,
    mut write: impl FnMut(Place, Vec<u8>) -> Result<(), E>,
) -> Result<TableId, E> {
    data.check(schema)?;
    let (slots, rows) = (key.params().slots(), data.rows());
    let encryption = Encryption::new(key, schema, rows, rng)?;
    let count = rows.div_ceil(slots);
    for block in 0..count {
        let range = block * slots..rows.min((block + 1) * slots);
        let column = |place| &data.column(place)[range.clone()];
        encryption.block(block, column, rng, &mut write)?;
        progress(block + 1, count)?;
    }
    Ok(encryption.table)
}
