//! Creation of encrypted tables: in memory, in a directory, or file by file.

use std::path::Path;
use std::sync::Arc;

use everlevel::Params;
use everlevel::files::PARAMS_FILE;
use everlevel_wire::canonical_json;
use everlevel_wire::file::{Existing, write_file};
use rand_core::CryptoRng;

use crate::data::Data;
use crate::error::TablesError;
use crate::partner::Partner;
use crate::records::Records;
use crate::rows::Rows;
use crate::schema::Schema;
use crate::stored::directory::PendingDirectory;
use crate::stored::encrypt::{Encryption, Place, TableKey, encrypt_files};
use crate::stored::files::{Blocks, SCHEMA_FILE, is_table, name_of};
use crate::stored::header::TableId;
use crate::stored::listing::Listing;
use crate::stored::table::EncryptedTable;

impl EncryptedTable {
    /// Encrypts a table in memory. At 128 bits of security, it takes 3 to 6 MB for each 4 bits of
    /// each column and each 32,768 rows. `progress(done, blocks)` is called after each block; an
    /// error that it returns ends the work.
    ///
    /// # Errors
    /// A schema above [`SCHEMA_BYTES`](crate::SCHEMA_BYTES); [`TablesError::Data`] for rows that
    /// the schema does not describe; those of typed integers, of encryption and of `progress`.
    pub fn encrypt<E: From<TablesError>>(
        key: TableKey<'_>,
        schema: &Schema,
        data: &Data,
        rng: &mut impl CryptoRng,
        mut progress: impl FnMut(usize, usize) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut blocks = Vec::new();
        encrypt_files(key, (schema, data), rng, &mut progress, |_, bytes| {
            blocks.push(Arc::new(bytes));
            Ok(())
        })?;
        Ok(Self::of(key.params().clone(), schema.clone(), Blocks::Memory(blocks), None)?)
    }

    /// Encrypts a table into a directory, block by block; the directory appears when it is
    /// complete. An existing directory is replaced only if this is requested and it holds a table.
    ///
    /// # Errors
    /// As [`EncryptedTable::encrypt`]; errors of the file system.
    pub fn create<E: From<TablesError>>(
        directory: &Path,
        existing: Existing,
        key: TableKey<'_>,
        (schema, data): (&Schema, &Data),
        rng: &mut impl CryptoRng,
        mut progress: impl FnMut(usize, usize) -> Result<(), E>,
    ) -> Result<Self, E> {
        let pending = Self::pending(directory, existing, key.params(), schema)?;
        encrypt_files(key, (schema, data), rng, &mut progress, |place, bytes| {
            let path = pending.path().join(name_of(place));
            Ok(write_file(&path, &bytes, Existing::Keep).map_err(TablesError::from)?)
        })?;
        Ok(Self::placed(pending, directory, (key.params(), schema), None, || Ok(()))?)
    }

    /// Encrypts rows into a directory as [`EncryptedTable::create`] does, from a source that may be
    /// larger than memory: one block of rows is in memory at a time, and for foreign keys the
    /// values of each partner. The source is opened by `open` and read twice, first to count and
    /// check all rows. `progress(done, blocks)` is called after each block in both passes, without
    /// the number of blocks in the first.
    ///
    /// # Errors
    /// As [`EncryptedTable::create`] and [`Rows::next`]; [`TablesError::Data`] for no rows, and for
    /// another number of rows in the second pass; those of `open`.
    pub fn create_from<R: Records, E: From<TablesError>>(
        directory: &Path,
        existing: Existing,
        key: TableKey<'_>,
        (schema, partners): (&Schema, &[Partner]),
        mut open: impl FnMut() -> Result<R, E>,
        rng: &mut impl CryptoRng,
        mut progress: impl FnMut(usize, Option<usize>) -> Result<(), E>,
    ) -> Result<Self, E> {
        let wrong = |problem: &str| TablesError::Data { problem: problem.into() };
        let (slots, mut rows, mut blocks) = (key.params().slots(), 0, 0);
        let mut reading = Rows::new(open()?, schema, partners)?;
        while let Some(data) = reading.next(slots)? {
            (rows, blocks) = (rows + data.rows(), blocks + 1);
            progress(blocks, None)?;
        }
        drop(reading);
        if rows == 0 {
            return Err(wrong("expected at least one row").into());
        }
        let pending = Self::pending(directory, existing, key.params(), schema)?;
        let mut write = |place: Place, bytes: Vec<u8>| {
            let path = pending.path().join(name_of(place));
            write_file(&path, &bytes, Existing::Keep).map_err(TablesError::from)
        };
        let encryption = Encryption::new(key, schema, rows, rng)?;
        let mut reading = Rows::new(open()?, schema, partners)?;
        for block in 0..blocks {
            let expected = slots.min(rows - block * slots);
            let data = reading.next(slots)?.filter(|data| data.rows() == expected);
            let data = data.ok_or_else(|| wrong("it was changed while it was read: try again"))?;
            encryption.block(block, |place| data.column(place), rng, &mut write)?;
            progress(block + 1, Some(blocks))?;
        }
        if reading.next(1)?.is_some() {
            return Err(wrong("it was changed while it was read: try again").into());
        }
        Ok(Self::placed(pending, directory, (key.params(), schema), None, || Ok(()))?)
    }

    /// Encrypts a table and passes each file to `write`, with the name that it has in the directory
    /// of a table, for storage elsewhere; `schema.json` is stored beside the files. One file is in
    /// memory at a time. An error that `write` returns ends the work.
    ///
    /// # Errors
    /// As [`EncryptedTable::encrypt`]; those of `write`.
    pub fn encrypt_each<E: From<TablesError>>(
        key: TableKey<'_>,
        (schema, data): (&Schema, &Data),
        rng: &mut impl CryptoRng,
        mut write: impl FnMut(&str, Vec<u8>) -> Result<(), E>,
    ) -> Result<TableId, E> {
        schema.to_json()?;
        encrypt_files(key, (schema, data), rng, &mut |_, _| Ok(()), |place, bytes| {
            write(&name_of(place), bytes)
        })
    }

    /// A directory under construction, with all files other than the blocks.
    pub(crate) fn pending(
        directory: &Path,
        existing: Existing,
        params: &Params,
        schema: &Schema,
    ) -> Result<PendingDirectory, TablesError> {
        let text = schema.to_json()?;
        let pending = PendingDirectory::create(directory, existing, is_table)?;
        let at = |name: &str| pending.path().join(name);
        write_file(&at(SCHEMA_FILE), text.as_bytes(), Existing::Keep)?;
        let spec = canonical_json(params.spec());
        write_file(&at(PARAMS_FILE), spec.as_bytes(), Existing::Keep)?;
        Ok(pending)
    }

    /// Gives a complete directory its place, after a check, and returns the table in it. Its files
    /// are read before that: once it has its place, it is made, and others may change it at once.
    pub(crate) fn placed(
        pending: PendingDirectory,
        directory: &Path,
        (params, schema): (&Params, &Schema),
        listing: Option<Listing>,
        check: impl Fn() -> Result<(), TablesError>,
    ) -> Result<Self, TablesError> {
        let blocks = Blocks::Directory(pending.path().into());
        // Where another run took the place, files that were left as they were are not those that
        // the listing names: the check says why.
        let table = Self::of(params.clone(), schema.clone(), blocks, listing)
            .or_else(|e| check().and(Err(e)))?;
        pending.finish_if(&check)?;
        Ok(table.moved(directory))
    }

    /// Writes a table into a directory, completely or not at all, as [`EncryptedTable::create`]
    /// does.
    ///
    /// # Errors
    /// A block that is damaged or missing; errors of the file system.
    pub fn save(&self, directory: &Path, existing: Existing) -> Result<(), TablesError> {
        let pending = Self::pending(directory, existing, self.params(), self.schema())?;
        for place in self.places() {
            let bytes = self.file(place)?;
            write_file(&pending.path().join(name_of(place)), &bytes, Existing::Keep)?;
        }
        if self.listing().is_of_changes() {
            self.listing().write(pending.path())?;
        }
        Ok(pending.finish()?)
    }
}
