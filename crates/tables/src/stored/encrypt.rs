//! Encryption of a table, file by file.

use everlevel::files::{Bytes, ENCRYPTION};
use everlevel::{
    Ciphertext, IntegerColumn, NamedIntegers, Params, Plaintext, PublicKey, SecretKey,
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

/// A column of a block: the number of the block, the place of the column in the schema.
pub(crate) type Place = (usize, usize);

/// The key that a table is encrypted with.
#[derive(Clone, Copy)]
pub enum TableKey<'a> {
    /// The owner's: files have half the size.
    Secret(&'a SecretKey),
    /// The public one, for parties that encrypt for the owner.
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
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertext, SchemeError> {
        match self {
            TableKey::Secret(key) => key.encrypt(plain, rng),
            TableKey::Public(key) => key.encrypt(plain, rng),
        }
    }

    /// What it adds to the metadata of files.
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
    let value: IntegerColumn = encoded.encrypt(|slots| -> Result<_, TablesError> {
        // To be added up: see `Client::encrypt_table_column`.
        Ok(key.encrypt(&Plaintext::encode_modulo(params, slots, 2)?, rng)?)
    })?;
    let named: Vec<NamedIntegers> = vec![(field.name().into(), value.into())];
    Ok(named.to_bytes_with(params, &metadata)?)
}

/// The bytes of each file of a table, one after the other. The name of the encryption.
pub(crate) fn encrypt_files<E: From<TablesError>>(
    key: TableKey<'_>,
    (schema, data): (&Schema, &Data),
    rng: &mut impl CryptoRng,
    progress: &mut dyn FnMut(usize, usize) -> Result<(), E>,
    mut write: impl FnMut(Place, Vec<u8>) -> Result<(), E>,
) -> Result<TableId, E> {
    let (params, rows) = (key.params(), data.rows());
    let count = rows.div_ceil(params.slots());
    let (id, table) = (schema.id()?, TableId::random(rng));
    for block in 0..count {
        let start = block * params.slots();
        for (column, field) in schema.fields().iter().enumerate() {
            let entries = &data.column(column)[start..rows.min(start + params.slots())];
            let header = BlockHeader { table, schema: id.clone(), rows, block, column };
            let bytes = encrypt_column(key, field, entries, &header, rng)?;
            write((block, column), bytes)?;
        }
        progress(block + 1, count)?;
    }
    Ok(table)
}
