//! Encrypted tables: a directory with the public schema and a file for each column of each block
//! of rows, or the same in memory.

use std::borrow::Cow;
use std::path::Path;

use everlevel::files::{Bounds, Bytes, OpenOptions};
use everlevel::lab::ServerEvaluator;
use everlevel::{Ciphertext, IntegerColumn, IntegerValue, KeyId, NamedIntegers, Params, Server};
use everlevel_ring::Engine;
use everlevel_scheme::same_owner;
use everlevel_wire::file::read_file;
use everlevel_wire::{ParamsId, ReadOptions, Summary, inspect, inspect_file};

use crate::error::TablesError;
use crate::plan::Plan;
use crate::schema::{SCHEMA_BYTES, Schema};
use crate::stored::compute::{Cells, Rows, compute};
use crate::stored::constants::Constants;
use crate::stored::directory::PendingDirectory;
use crate::stored::encrypt::Place;
use crate::stored::files::{
    Blocks, FILE_BYTES, SCHEMA_FILE, header_of, name_of, no_table, read_listing, same_set,
};
use crate::stored::header::{TableId, codes_in};
use crate::stored::listing::Listing;
use crate::stored::result::TableResult;

/// An encrypted table, in blocks of as many rows as there are slots.
///
/// Each block of a column is a file, so that a server reads only what a query needs. The file
/// states the table, its position and the schema, so that files of different tables, or from before
/// and after a change, are not mixed up. The schema, the number of rows, and the id of the owner's
/// key are public.
#[derive(Clone)]
pub struct EncryptedTable {
    params: Params,
    schema: Schema,
    owner: Option<KeyId>,
    listing: Listing,
    blocks: Blocks,
    /// Of all files of blocks.
    bytes: u64,
}

impl EncryptedTable {
    /// The table in a directory. The headers of all blocks are read, so that a block that is
    /// missing or belongs to another table is found here. The parameter set is that of the options,
    /// a named one, or that of `params.json` in the directory. Remains of interrupted runs are
    /// completed or removed first, and listeners are notified
    /// ([`on_recovery`](everlevel::files::on_recovery)).
    ///
    /// # Errors
    /// [`TablesError::Table`] and [`TablesError::Block`]; files that cannot be read, are damaged or
    /// belong to another parameter set; a schema that does not describe a table.
    pub fn open(directory: &Path, options: &OpenOptions) -> Result<Self, TablesError> {
        PendingDirectory::recover(directory)?;
        if !directory.is_dir() {
            let shown = directory.display();
            return Err(no_table(format!("{shown} is not a directory that `table encrypt` wrote")));
        }
        let text = read_file(&directory.join(SCHEMA_FILE), SCHEMA_BYTES)?;
        let text = std::str::from_utf8(&text).map_err(|_| no_table("its schema is not UTF-8"))?;
        let first = directory.join(name_of((0, 0)));
        let params = options.set_of(&first, inspect_file(&first)?.params)?;
        let blocks = Blocks::Directory(directory.into());
        let listing = read_listing(directory)?;
        let table = Self::of(params, Schema::from_json(text)?, blocks, listing)?;
        for next in [(table.blocks(), 0), (0, table.schema.fields().len())] {
            let next = directory.join(name_of(next));
            if next.symlink_metadata().is_ok() {
                let next = next.display();
                return Err(no_table(format!("the file {next} is superfluous: move it away")));
            }
        }
        Ok(table)
    }

    /// The id of the table that is in a directory now.
    pub(crate) fn id_in(directory: &Path) -> Result<TableId, TablesError> {
        match read_listing(directory)? {
            Some(listing) => Ok(listing.id()),
            None => {
                let first = inspect_file(&directory.join(name_of((0, 0))))?;
                Ok(header_of(&first, (0, 0))?.table)
            }
        }
    }

    /// A table from files, whose headers are read and compared; without a listing they belong to
    /// one encryption.
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
        let owner = first.owner;
        let mut table = EncryptedTable { params, schema, owner, listing, blocks, bytes: 0 };
        for place in table.places() {
            let found = table.blocks.summary(place, width)?;
            table.check_file(&found, place)?;
            table.owner = table.owner.or(found.owner);
            table.bytes += found.bytes;
        }
        Ok(table)
    }

    /// The places of all files.
    pub(crate) fn places(&self) -> impl Iterator<Item = Place> + use<> {
        let (blocks, width) = (self.blocks(), self.schema.fields().len());
        (0..blocks).flat_map(move |block| (0..width).map(move |column| (block, column)))
    }

    /// Checks that a file is where it belongs.
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

    /// The schema of the table.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The id of this encryption, or of its last change.
    pub fn id(&self) -> TableId {
        self.listing.id()
    }

    /// The id of the secret key that decrypts it; `None` if all columns are public.
    pub fn owner(&self) -> Option<KeyId> {
        self.owner
    }

    /// The directory that it is in; `None` if it is in memory.
    pub fn directory(&self) -> Option<&Path> {
        match &self.blocks {
            Blocks::Memory(_) => None,
            Blocks::Directory(path) => Some(path),
        }
    }

    /// The same table where its directory is now.
    pub(crate) fn moved(self, directory: &Path) -> Self {
        EncryptedTable { blocks: Blocks::Directory(directory.into()), ..self }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.listing.rows()
    }

    /// The number of blocks of rows.
    pub fn blocks(&self) -> usize {
        self.rows().div_ceil(self.params.slots())
    }

    pub(crate) fn listing(&self) -> &Listing {
        &self.listing
    }

    pub(crate) fn stored(&self) -> &Blocks {
        &self.blocks
    }

    /// Its size in bytes, without schema and parameters.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The bytes of a file.
    pub(crate) fn file(&self, place: Place) -> Result<Cow<'_, [u8]>, TablesError> {
        let width = self.schema.fields().len();
        Ok(match &self.blocks {
            Blocks::Memory(all) => Cow::Borrowed(&all[place.0 * width + place.1][..]),
            Blocks::Directory(path) => {
                // Taken out of what wipes its memory: there is nothing secret in a file of a table.
                let mut bytes = read_file(&path.join(name_of(place)), FILE_BYTES)?;
                Cow::Owned(std::mem::take(&mut *bytes))
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

    /// The number of rows of a block.
    fn length(&self, block: usize) -> usize {
        let start = block * self.params.slots();
        self.rows().min(start + self.params.slots()) - start
    }

    /// An encrypted column of a block. Ciphertexts that are not fresh encryptions are refused,
    /// because a table is never the result of a computation, and so are those at another level than
    /// that of their column, at which queries are rehearsed, and columns with an index inside of
    /// their file: that of a column of a table is in columns of its own.
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
        if x.has_index() {
            let problem = format!("column {}: there is an index in its file", place.1);
            return Err(TablesError::Block { block: place.0, problem });
        }
        let level = field.level(&self.params);
        if let Some(other) = x.values().map(|value| value.get().level()).find(|l| *l != level) {
            let bits = |level| self.params.chain().bits(level).round();
            let (found, expected) = (bits(other), bits(level));
            let problem = format!(
                "column {}: it is encrypted with a modulus of {found} bits, not of {expected}",
                place.1
            );
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

    /// Computes the encrypted answer to a plan over all rows, with a server.
    /// `progress(done, blocks)` is called after each block; an error that it returns ends the work.
    ///
    /// # Errors
    /// [`TablesError::OtherSchema`] for a plan for another schema; [`TablesError::Constants`] for
    /// encrypted constants that are missing or for another plan; a server with keys of another
    /// owner or parameter set; [`TablesError::Keys`], before anything is computed, for keys that do
    /// not suffice for the plan; a block that is damaged, missing or of another table; those of
    /// typed integers and of `progress`.
    pub fn run<E: From<TablesError>>(
        &self,
        server: &Server<impl Engine>,
        plan: &Plan,
        constants: Option<&Constants>,
        progress: impl FnMut(usize, usize) -> Result<(), E>,
    ) -> Result<TableResult, E> {
        self.check(server, plan)?;
        compute((self.id(), self), server, plan, constants, progress)
    }

    /// [`EncryptedTable::run`] on the processor for a plan without encrypted constants. What it
    /// consists of is compiled here, and shared by crates and tests that call the other.
    #[doc(hidden)]
    pub fn run_whole(&self, server: &Server, plan: &Plan) -> Result<TableResult, TablesError> {
        self.run(server, plan, None, |_, _| Ok(()))
    }

    /// Checks that a plan can be run, before anything is computed.
    pub(crate) fn check(
        &self,
        server: &Server<impl Engine>,
        plan: &Plan,
    ) -> Result<(), TablesError> {
        plan.check_schema(&self.schema)?;
        same_set(ParamsId::of(&self.params), server.params())?;
        Ok(same_owner(self.owner, server.keys().owner(), "evaluation")?)
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
