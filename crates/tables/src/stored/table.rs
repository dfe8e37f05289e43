//! Encrypted tables: a directory with the public schema and a file for each column of each block
//! of rows, or the same in memory.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use everlevel::files::{Bounds, Bytes, OpenOptions, PARAMS_FILE};
use everlevel::lab::ServerEvaluator;
use everlevel::{Ciphertext, IntegerColumn, IntegerValue, KeyId, NamedIntegers, Params, Server};
use everlevel_scheme::{SchemeError, same_owner};
use everlevel_wire::file::{Existing, read_file, write_file};
use everlevel_wire::{
    ObjectKind, ParamsId, ReadOptions, Summary, canonical_json, inspect, inspect_file,
};
use rand_core::CryptoRng;

use crate::data::Data;
use crate::error::TablesError;
use crate::partner::Partner;
use crate::plan::Plan;
use crate::records::Records;
use crate::rows::Rows as Reading;
use crate::schema::{SCHEMA_BYTES, Schema};
use crate::stored::compute::{Cells, Rows, compute};
use crate::stored::constants::Constants;
use crate::stored::directory::PendingDirectory;
use crate::stored::encrypt::{Encryption, Place, TableKey, encrypt_files};
use crate::stored::header::{BlockHeader, TableId, codes_in};
use crate::stored::listing::{LISTING_BYTES, LISTING_FILE, Listing};
use crate::stored::result::TableResult;

/// The schema in the directory of a table.
const SCHEMA_FILE: &str = "schema.json";
/// The largest file, in bytes.
const FILE_BYTES: u64 = 8 << 30;

/// A table under encryption, in blocks of as many rows as there are slots.
///
/// Each block of a column is a file, so that a server reads what a question needs. It names the
/// table, its own place and the schema, so that files of different tables, or of one before and
/// after a change, are not mixed. Public are the schema, the number of rows, and whose key it is.
#[derive(Clone)]
pub struct EncryptedTable {
    params: Params,
    schema: Schema,
    owner: Option<KeyId>,
    listing: Listing,
    blocks: Blocks,
}

/// Where the files are.
#[derive(Clone)]
pub(crate) enum Blocks {
    /// By blocks, then by columns.
    Memory(Vec<Arc<Vec<u8>>>),
    Directory(PathBuf),
}

/// The name of a file.
pub(crate) fn name_of((block, column): Place) -> String {
    format!("{block:06}-{column:04}.columns")
}

fn no_table(problem: impl Into<String>) -> TablesError {
    TablesError::Table { problem: problem.into() }
}

impl EncryptedTable {
    /// Encrypts a table, in memory: 3 to 6 MB a column of each 32,768 rows at 128 bits, and 4 bits
    /// of a value. `progress(done, blocks)` is called after each block; an error that it returns
    /// ends the work.
    ///
    /// # Errors
    /// A schema above [`SCHEMA_BYTES`]; those of typed integers, of encryption and of `progress`.
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

    /// Encrypts a table into a directory, block by block; the directory is there when all of it
    /// is. One that is there is replaced if it is to be and holds a table.
    ///
    /// # Errors
    /// As [`EncryptedTable::encrypt`]; what the system refuses.
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
        pending.finish().map_err(TablesError::from)?;
        let blocks = Blocks::Directory(directory.into());
        Ok(Self::of(key.params().clone(), schema.clone(), blocks, None)?)
    }

    /// Encrypts rows into a directory as [`EncryptedTable::create`] does, of a source that has more
    /// of them than memory: a block of rows is held at a time, and of foreign keys what each
    /// partner is. The source is read twice, first to count and check all rows: `open` begins it.
    /// `progress(done, blocks)` is called after each block of either reading, with no number of
    /// blocks in the first.
    ///
    /// # Errors
    /// As [`EncryptedTable::create`] and [`Rows::next`](crate::Rows::next); [`TablesError::Data`]
    /// for no rows, and for another number of rows in the second reading; those of `open`.
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
        let mut reading = Reading::new(open()?, schema, partners)?;
        while let Some(data) = reading.next(slots)? {
            (rows, blocks) = (rows + data.rows(), blocks + 1);
            progress(blocks, None)?;
        }
        drop(reading);
        if rows == 0 {
            return Err(wrong("expected a row at least").into());
        }
        let pending = Self::pending(directory, existing, key.params(), schema)?;
        let mut write = |place: Place, bytes: Vec<u8>| {
            let path = pending.path().join(name_of(place));
            write_file(&path, &bytes, Existing::Keep).map_err(TablesError::from)
        };
        let encryption = Encryption::new(key, schema, rows, rng)?;
        let mut reading = Reading::new(open()?, schema, partners)?;
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
        pending.finish().map_err(TablesError::from)?;
        let blocks = Blocks::Directory(directory.into());
        Ok(Self::of(key.params().clone(), schema.clone(), blocks, None)?)
    }

    /// Encrypts a table and hands over each file, with the name that it has in the directory of a
    /// table, where `schema.json` is beside them: for what keeps files elsewhere. One is in memory
    /// at a time. An error that `write` returns ends the work.
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

    /// A directory under construction, with what is beside the blocks.
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

    /// Writes a table into a directory, all or nothing, as [`EncryptedTable::create`] does.
    ///
    /// # Errors
    /// A block that is damaged or missing; what the system refuses.
    pub fn save(&self, directory: &Path, existing: Existing) -> Result<(), TablesError> {
        let pending = Self::pending(directory, existing, &self.params, &self.schema)?;
        for place in self.places() {
            let bytes = self.file(place)?;
            write_file(&pending.path().join(name_of(place)), &bytes, Existing::Keep)?;
        }
        if self.listing.is_of_changes() {
            self.listing.write(pending.path())?;
        }
        Ok(pending.finish()?)
    }

    /// The table in a directory. The heads of all blocks are read: one that is missing, or of
    /// another table, is found here. The parameter set is that of the options, one with a name,
    /// or that of `params.json` in the directory. What interrupted runs left of this table is taken
    /// care of first, and told ([`on_recovery`](everlevel::files::on_recovery)).
    ///
    /// # Errors
    /// [`TablesError::Table`] and [`TablesError::Block`]; files that cannot be read, are damaged
    /// or of another parameter set; a schema that describes no table.
    pub fn open(directory: &Path, options: &OpenOptions) -> Result<Self, TablesError> {
        PendingDirectory::recover(directory)?;
        if !directory.is_dir() {
            let shown = directory.display();
            return Err(no_table(format!("{shown} is no directory that `encrypt` wrote")));
        }
        let text = read_file(&directory.join(SCHEMA_FILE), SCHEMA_BYTES)?;
        let text = std::str::from_utf8(&text).map_err(|_| no_table("its schema is no UTF-8"))?;
        let first = directory.join(name_of((0, 0)));
        let params = options.set_of(&first, inspect_file(&first)?.params)?;
        let blocks = Blocks::Directory(directory.into());
        let listing = read_listing(directory)?;
        let table = Self::of(params, Schema::from_json(text)?, blocks, listing)?;
        for next in [(table.blocks(), 0), (0, table.schema.fields().len())] {
            let next = directory.join(name_of(next));
            if next.symlink_metadata().is_ok() {
                return Err(no_table(format!("{} is a file too many", next.display())));
            }
        }
        Ok(table)
    }

    /// The name of the table that is in a directory now.
    pub(crate) fn id_in(directory: &Path) -> Result<TableId, TablesError> {
        match read_listing(directory)? {
            Some(listing) => Ok(listing.id()),
            None => {
                let first = inspect_file(&directory.join(name_of((0, 0))))?;
                Ok(header_of(&first, (0, 0))?.table)
            }
        }
    }

    /// Of files whose heads are read and compared; without a listing they are of one encryption.
    pub(crate) fn of(
        params: Params,
        schema: Schema,
        blocks: Blocks,
        listing: Option<Listing>,
    ) -> Result<Self, TablesError> {
        let width = schema.fields().len();
        let first = blocks.summary((0, 0), width)?;
        let header = header_of(&first, (0, 0))?;
        if header.schema != schema.id()? {
            let problem = "it is of another schema than the one beside it".into();
            return Err(TablesError::Block { block: 0, problem });
        }
        let slots = params.slots();
        let listing = match listing {
            Some(listing) => listing.checked(slots, width)?,
            None => Listing::of_one(header.table, header.rows, slots, width)?,
        };
        let mut table = EncryptedTable { params, schema, owner: first.owner, listing, blocks };
        for place in table.places() {
            let found = table.blocks.summary(place, width)?;
            table.check_file(&found, place)?;
            table.owner = table.owner.or(found.owner);
        }
        Ok(table)
    }

    /// The places of all files.
    pub(crate) fn places(&self) -> impl Iterator<Item = Place> + use<> {
        let (blocks, width) = (self.blocks(), self.schema.fields().len());
        (0..blocks).flat_map(move |block| (0..width).map(move |column| (block, column)))
    }

    /// Passes a file that is where it belongs.
    fn check_file(&self, summary: &Summary, place: Place) -> Result<(), TablesError> {
        let (block, column) = place;
        let found = header_of(summary, place)?;
        let expected = self.listing.id_of(place);
        let length = |rows: usize| rows.saturating_sub(block * self.params.slots());
        let covered = |rows| length(rows).min(self.params.slots());
        let problem = if found.table != expected {
            format!("it is of table {}, and {expected} belongs here", found.table)
        } else if (found.block, found.column) != place {
            format!("it is column {} of block {}", found.column, found.block)
        } else if found.schema != self.schema.id()? || covered(found.rows) != covered(self.rows()) {
            "it states another schema or number of rows than the table".into()
        } else if summary.params != ParamsId::of(&self.params) {
            "it is of another parameter set than the first file".into()
        } else if summary.owner.is_none() && summary.records > 0 {
            "it does not say whose key it was encrypted for".into()
        } else {
            return Ok(same_owner(summary.owner, self.owner, "a table of several files")?);
        };
        let problem = format!("column {column}: {problem}");
        Err(TablesError::Block { block, problem })
    }

    /// The parameter set.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// What the columns hold.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The name of this encryption, or of its last change.
    pub fn id(&self) -> TableId {
        self.listing.id()
    }

    /// The secret key that it decrypts under; none if all columns are public.
    pub fn owner(&self) -> Option<KeyId> {
        self.owner
    }

    /// The directory that it is in; none if it is in memory.
    pub fn directory(&self) -> Option<&Path> {
        match &self.blocks {
            Blocks::Memory(_) => None,
            Blocks::Directory(path) => Some(path),
        }
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.listing.rows()
    }

    /// How many blocks of rows there are.
    pub fn blocks(&self) -> usize {
        self.rows().div_ceil(self.params.slots())
    }

    pub(crate) fn listing(&self) -> &Listing {
        &self.listing
    }

    pub(crate) fn stored(&self) -> &Blocks {
        &self.blocks
    }

    /// Its bytes, schema and parameters left aside.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn bytes(&self) -> Result<u64, TablesError> {
        match &self.blocks {
            Blocks::Memory(all) => Ok(all.iter().map(|b| b.len() as u64).sum()),
            Blocks::Directory(path) => {
                self.places().map(|p| Ok(inspect_file(&path.join(name_of(p)))?.bytes)).sum()
            }
        }
    }

    /// The bytes of a file.
    fn file(&self, place: Place) -> Result<Cow<'_, [u8]>, TablesError> {
        let width = self.schema.fields().len();
        Ok(match &self.blocks {
            Blocks::Memory(all) => Cow::Borrowed(&all[place.0 * width + place.1][..]),
            Blocks::Directory(path) => {
                Cow::Owned(read_file(&path.join(name_of(place)), FILE_BYTES)?.to_vec())
            }
        })
    }

    /// The file of a column of a block, with its head, of the options that it is read with.
    fn checked_file(
        &self,
        place: Place,
        any: &ReadOptions,
    ) -> Result<(Cow<'_, [u8]>, Summary), TablesError> {
        let bytes = self.file(place)?;
        let summary = inspect(&bytes, any)?;
        // The file may have been exchanged since the table was opened.
        self.check_file(&summary, place)?;
        Ok((bytes, summary))
    }

    /// How many rows a block has.
    fn length(&self, block: usize) -> usize {
        let start = block * self.params.slots();
        self.rows().min(start + self.params.slots()) - start
    }

    /// An encrypted column of a block. What is not a fresh encryption is refused: a table is never
    /// computed.
    pub(crate) fn column(&self, place: Place) -> Result<IntegerColumn, TablesError> {
        let any = ReadOptions::default().limited_to(FILE_BYTES);
        let (bytes, summary) = self.checked_file(place, &any)?;
        let options = any.believing(Bounds::Fresh.policy(&summary.metadata));
        let (found, _) = Vec::<NamedIntegers>::from_bytes_with(&self.params, &bytes, &options)?;
        let (length, field) = (self.length(place.0), &self.schema.fields()[place.1]);
        let [(name, IntegerValue::Column(x))] = &found[..] else {
            let problem = "expected one column in each file".into();
            return Err(TablesError::Block { block: place.0, problem });
        };
        if name != field.name() || x.length() != Some(length) {
            let problem = format!("column {name:?} is not the one of {length} rows that it should");
            return Err(TablesError::Block { block: place.0, problem });
        }
        Ok(x.clone())
    }

    /// The codes of a public column of a block.
    pub(crate) fn public_codes(&self, place: Place) -> Result<Vec<i128>, TablesError> {
        let any = ReadOptions::default().limited_to(FILE_BYTES);
        let (_, summary) = self.checked_file(place, &any)?;
        let (low, high) = self.schema.fields()[place.1].bounds();
        let codes = codes_in(&summary.metadata).filter(|codes| {
            codes.len() == self.length(place.0)
                && codes.iter().all(|code| (low..=high).contains(code))
        });
        codes.filter(|_| summary.records == 0).ok_or_else(|| {
            let problem = format!("column {}: it does not hold its rows in the clear", place.1);
            TablesError::Block { block: place.0, problem }
        })
    }

    /// The encrypted sums of a plan over all rows, computed by a server. `progress(done, blocks)`
    /// is called after each block; an error that it returns ends the work.
    ///
    /// # Errors
    /// [`TablesError::OtherSchema`] for a plan for another schema; [`TablesError::Constants`] for
    /// encrypted constants that are missing or for another plan; a server with keys of another
    /// owner or parameter set; a block that is damaged, missing or of another table; those of
    /// typed integers and of `progress`.
    pub fn run<E: From<TablesError>>(
        &self,
        server: &Server,
        plan: &Plan,
        constants: Option<&Constants>,
        progress: impl FnMut(usize, usize) -> Result<(), E>,
    ) -> Result<TableResult, E> {
        self.check(server, plan)?;
        compute((self.id(), self), server, plan, constants, progress)
    }

    /// Passes what can be run before anything is.
    pub(crate) fn check(&self, server: &Server, plan: &Plan) -> Result<(), TablesError> {
        plan.check_schema(&self.schema)?;
        same_owner(self.owner, server.keys().owner(), "evaluation")?;
        if !server.params().same(&self.params) {
            let name = server.params().name().into();
            return Err(SchemeError::WrongParams { object: "the table", name }.into());
        }
        Ok(())
    }
}

impl Rows<ServerEvaluator> for EncryptedTable {
    fn rows(&self) -> usize {
        self.rows()
    }

    fn knows(&self, place: usize) -> bool {
        self.schema.fields()[place].is_public()
    }

    fn cells(&self, block: usize, place: usize) -> Result<Cells<'_, Ciphertext>, TablesError> {
        Ok(match self.knows(place) {
            true => Cells::Known(self.public_codes((block, place))?.into()),
            false => Cells::Encrypted(self.column((block, place))?),
        })
    }
}

impl Blocks {
    /// The head of a file, of a table of `width` columns.
    fn summary(&self, place: Place, width: usize) -> Result<Summary, TablesError> {
        Ok(match self {
            Blocks::Memory(all) => {
                let bytes = all.get(place.0 * width + place.1);
                let bytes = bytes.ok_or_else(|| no_table("it has no rows"))?;
                inspect(bytes.as_slice(), &ReadOptions::default().limited_to(FILE_BYTES))?
            }
            Blocks::Directory(path) => inspect_file(&path.join(name_of(place)))?,
        })
    }
}

/// The listing in a directory, if there is one.
fn read_listing(directory: &Path) -> Result<Option<Listing>, TablesError> {
    let path = directory.join(LISTING_FILE);
    match path.symlink_metadata().is_ok() {
        true => Ok(Some(Listing::from_json(&read_file(&path, LISTING_BYTES)?)?)),
        false => Ok(None),
    }
}

/// What the head of a file says of itself.
fn header_of(summary: &Summary, (block, column): Place) -> Result<BlockHeader, TablesError> {
    let header = BlockHeader::of(&summary.metadata);
    header.filter(|_| summary.kind == ObjectKind::COLUMNS).ok_or_else(|| TablesError::Block {
        block,
        problem: format!("column {column}: the file is no part of an encrypted table"),
    })
}

/// Whether a directory holds an encrypted table and nothing else, so that it may be replaced by
/// another one.
fn is_table(directory: &Path) -> bool {
    let Ok(entries) = fs::read_dir(directory) else { return false };
    let names: Vec<_> = entries.filter_map(|e| e.ok().map(|e| e.file_name())).collect();
    let known = |name: &std::ffi::OsString| {
        let name = name.to_string_lossy();
        [SCHEMA_FILE, PARAMS_FILE, LISTING_FILE].contains(&&*name) || name.ends_with(".columns")
    };
    names.iter().all(known)
}
