//! Changes of an encrypted table by its owner: the affected files are decrypted, changed and
//! encrypted again, and all other files stay as they are.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use everlevel::SecretKey;
use everlevel_wire::file::{Existing, write_file};
use rand_core::CryptoRng;

use crate::change::{Assignment, Change, Edit};
use crate::condition::Condition;
use crate::consistent::Partners;
use crate::data::Data;
use crate::error::TablesError;
use crate::stored::decrypt::Codes;
use crate::stored::directory::PendingDirectory;
use crate::stored::encrypt::{Place, TableKey, encrypt_column};
use crate::stored::files::{Blocks, name_of};
use crate::stored::header::{BlockHeader, TableId};
use crate::stored::listing::LISTING_FILE;
use crate::stored::table::EncryptedTable;

/// The result of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// The number of rows that were added or removed, or that met the condition of an update.
    pub rows: usize,
    /// The names of the files that were written; a copy of the table elsewhere needs all of them.
    pub written: Vec<String>,
    /// The names of the files that no longer exist.
    pub removed: Vec<String>,
}

impl EncryptedTable {
    /// The table after a change by its owner. A directory is replaced as a whole, with links to the
    /// files that stay, so that the change takes place completely or not at all.
    ///
    /// Rows are added after the last one; of the existing blocks, the last one is encrypted again
    /// unless it is full. If rows are removed, all later rows move up. An update encrypts the
    /// columns that it sets, in the blocks where a row meets its condition. Whoever sees the files
    /// before and after the change learns which of them were written, and the number of rows.
    /// `progress(done, blocks)` is called after each block that was examined.
    ///
    /// # Errors
    /// [`TablesError::OtherSchema`] for a change of tables of another schema;
    /// [`TablesError::Change`] for a value that a column does not hold;
    /// [`TablesError::Partner`] for a new row that carries other values than one of the same
    /// partner; [`TablesError::Data`] if no row would be left, and for new rows that the schema
    /// does not describe; another secret key or parameter set; blocks that are damaged; those of
    /// encryption and of `progress`. The table is then as it was.
    pub fn changed<E: From<TablesError>>(
        &self,
        key: &SecretKey,
        change: &Change,
        rng: &mut impl CryptoRng,
        progress: impl FnMut(usize, usize) -> Result<(), E>,
    ) -> Result<(EncryptedTable, Changes), E> {
        change.schema().check("change", self.schema())?;
        self.check_key(key)?;
        let mut writer = Writer::new(self, key, TableId::random(rng))?;
        let (changed, rows) = match change.edit() {
            Edit::Insert(data) => {
                data.check(self.schema())?;
                (data.rows(), writer.insert(data, rng, progress)?)
            }
            Edit::Delete(condition) => {
                let left = writer.delete(condition, rng, progress)?;
                (self.rows() - left, left)
            }
            Edit::Update(condition, columns) => {
                (writer.update(condition, columns, rng, progress)?, self.rows())
            }
        };
        Ok(writer.finish(changed, rows)?)
    }
}

/// Where the files of the changed table go.
enum Sink {
    Memory(BTreeMap<Place, Arc<Vec<u8>>>),
    Directory(PendingDirectory),
}

struct Writer<'a> {
    table: &'a EncryptedTable,
    key: &'a SecretKey,
    id: TableId,
    schema_id: String,
    written: BTreeSet<Place>,
    sink: Sink,
}

impl<'a> Writer<'a> {
    fn new(
        table: &'a EncryptedTable,
        key: &'a SecretKey,
        id: TableId,
    ) -> Result<Self, TablesError> {
        let sink = match table.stored() {
            Blocks::Memory(_) => Sink::Memory(BTreeMap::new()),
            Blocks::Directory(path) => {
                let (params, schema) = (table.params(), table.schema());
                let pending = EncryptedTable::pending(path, Existing::Replace, params, schema)?;
                Sink::Directory(pending)
            }
        };
        Ok(Writer {
            table,
            key,
            id,
            schema_id: table.schema().id()?,
            written: BTreeSet::new(),
            sink,
        })
    }

    fn slots(&self) -> usize {
        self.table.params().slots()
    }

    fn width(&self) -> usize {
        self.table.schema().fields().len()
    }

    /// Encrypts a column of a block.
    fn write(
        &mut self,
        (block, column): Place,
        entries: &[i128],
        rng: &mut impl CryptoRng,
    ) -> Result<(), TablesError> {
        let rows = block * self.slots() + entries.len();
        let schema = self.schema_id.clone();
        let header = BlockHeader { table: self.id, schema, rows, block, column };
        let field = &self.table.schema().fields()[column];
        let bytes = encrypt_column(TableKey::Secret(self.key), field, entries, &header, rng)?;
        self.written.insert((block, column));
        match &mut self.sink {
            Sink::Memory(files) => drop(files.insert((block, column), Arc::new(bytes))),
            Sink::Directory(pending) => {
                write_file(&pending.path().join(name_of((block, column))), &bytes, Existing::Keep)?;
            }
        }
        Ok(())
    }

    /// Encrypts a column of a block, and its index if it has one.
    fn write_with_index(
        &mut self,
        (block, column): Place,
        entries: &[i128],
        rng: &mut impl CryptoRng,
    ) -> Result<(), TablesError> {
        self.write((block, column), entries, rng)?;
        let index = self.table.schema().index(column);
        for (place, bits) in index.iter().flat_map(|index| index.of_codes(entries)) {
            self.write((block, place), &bits, rng)?;
        }
        Ok(())
    }

    /// The columns that hold values, of which indexes follow, without any rows.
    fn no_rows(&self) -> Vec<(usize, Codes)> {
        self.table.schema().values().map(|column| (column, Codes::default())).collect()
    }

    /// Encrypts rows from a block on, either all or only full blocks, and leaves the others.
    fn write_rows(
        &mut self,
        next: &mut usize,
        rows: &mut [(usize, Codes)],
        all: bool,
        rng: &mut impl CryptoRng,
    ) -> Result<(), TablesError> {
        let slots = self.slots();
        while rows[0].1.len() >= slots || (all && !rows[0].1.is_empty()) {
            let length = rows[0].1.len().min(slots);
            for (column, codes) in rows.iter_mut() {
                self.write_with_index((*next, *column), &codes[..length], rng)?;
                codes.drain(..length);
            }
            *next += 1;
        }
        Ok(())
    }

    /// Adds rows, and returns the new number of rows.
    fn insert<E: From<TablesError>>(
        &mut self,
        data: &Data,
        rng: &mut impl CryptoRng,
        mut progress: impl FnMut(usize, usize) -> Result<(), E>,
    ) -> Result<usize, E> {
        self.check_partners(data)?;
        let (rows, slots) = (self.table.rows(), self.slots());
        let (mut next, total) = (rows / slots, rows + data.rows());
        let (first, blocks) = (next, total.div_ceil(slots));
        let mut tail = self.no_rows();
        if rows % slots > 0 {
            for (column, codes) in &mut tail {
                *codes = self.table.codes(self.key, (next, *column))?;
            }
        }
        let mut taken = 0;
        while taken < data.rows() {
            let count = (slots - tail[0].1.len()).min(data.rows() - taken);
            for (column, codes) in &mut tail {
                codes.extend_from_slice(&data.column(*column)[taken..taken + count]);
            }
            taken += count;
            self.write_rows(&mut next, &mut tail, taken == data.rows(), rng)?;
            progress(next - first, blocks - first)?;
        }
        Ok(total)
    }

    /// Checks that new rows carry the same values as existing rows with the same partners.
    fn check_partners(&self, data: &Data) -> Result<(), TablesError> {
        let schema = self.table.schema();
        let mut partners = Partners::new(schema);
        let columns: BTreeSet<usize> = partners.columns().collect();
        if columns.is_empty() {
            return Ok(());
        }
        partners.check((self.table.rows(), data.rows()), |place| data.column(place), true)?;
        for block in 0..self.table.blocks() {
            let found = self.some((block, &columns))?;
            let rows = (block * self.slots(), self.length(block));
            let none: &[i128] = &[];
            let column = |place: usize| found.get(&place).map_or(none, |codes| codes.as_slice());
            partners.check(rows, column, false)?;
        }
        Ok(())
    }

    /// Removes rows, and returns the new number of rows.
    fn delete<E: From<TablesError>>(
        &mut self,
        condition: &Condition,
        rng: &mut impl CryptoRng,
        mut progress: impl FnMut(usize, usize) -> Result<(), E>,
    ) -> Result<usize, E> {
        let blocks = self.table.blocks();
        let mut asked = BTreeSet::new();
        condition.columns(&mut asked);
        let mut left = 0;
        // The first block that differs, and the rows from there on that are not written yet.
        let mut rest: Option<(usize, Vec<(usize, Codes)>)> = None;
        for block in 0..blocks {
            let found = &self.some((block, &asked))?;
            let row = |i: usize| move |place: usize| code_of(found, place, i);
            let length = self.length(block);
            let kept: Vec<usize> = (0..length).filter(|i| !condition.holds(&row(*i))).collect();
            left += kept.len();
            if rest.is_none() && kept.len() < length {
                rest = Some((block, self.no_rows()));
            }
            if let Some((next, codes)) = &mut rest {
                for (column, codes) in codes.iter_mut() {
                    let all = match found.get(column) {
                        Some(known) => known.clone(),
                        None => self.table.codes(self.key, (block, *column))?,
                    };
                    codes.extend(kept.iter().map(|i| all[*i]));
                }
                self.write_rows(next, codes, block + 1 == blocks, rng)?;
            }
            progress(block + 1, blocks)?;
        }
        if left == 0 {
            let problem =
                "no row would be left, and a table has at least one: remove its directory instead";
            return Err(TablesError::Data { problem: problem.into() }.into());
        }
        Ok(left)
    }

    /// Sets columns, and returns the number of rows that met the condition.
    fn update<E: From<TablesError>>(
        &mut self,
        condition: &Condition,
        columns: &[Assignment],
        rng: &mut impl CryptoRng,
        mut progress: impl FnMut(usize, usize) -> Result<(), E>,
    ) -> Result<usize, E> {
        let mut asked = BTreeSet::new();
        condition.columns(&mut asked);
        for assignment in columns {
            assignment.columns(&mut asked);
        }
        let fields = self.table.schema().fields();
        let (blocks, mut count) = (self.table.blocks(), 0);
        for block in 0..blocks {
            let found = &self.some((block, &asked))?;
            let row = |i: usize| move |place: usize| code_of(found, place, i);
            let met: Vec<usize> =
                (0..self.length(block)).filter(|i| condition.holds(&row(*i))).collect();
            count += met.len();
            for assignment in columns.iter().filter(|_| !met.is_empty()) {
                let column = assignment.column;
                let mut codes = match found.get(&column) {
                    Some(known) => known.clone(),
                    None => self.table.codes(self.key, (block, column))?,
                };
                for i in &met {
                    let place = block * self.slots() + i;
                    codes[*i] = assignment.code(&fields[column], &row(*i), place)?;
                }
                self.write_with_index((block, column), &codes, rng)?;
            }
            progress(block + 1, blocks)?;
        }
        Ok(count)
    }

    /// The codes of some columns of a block.
    fn some(
        &self,
        (block, columns): (usize, &BTreeSet<usize>),
    ) -> Result<BTreeMap<usize, Codes>, TablesError> {
        columns
            .iter()
            .map(|column| Ok((*column, self.table.codes(self.key, (block, *column))?)))
            .collect()
    }

    /// The number of rows of a block.
    fn length(&self, block: usize) -> usize {
        self.slots().min(self.table.rows() - block * self.slots())
    }

    /// The changed table, in the place of the other one if that is a directory.
    fn finish(self, changed: usize, rows: usize) -> Result<(EncryptedTable, Changes), TablesError> {
        let (table, slots, width) = (self.table, self.slots(), self.width());
        // Where all rows of the last blocks go, nothing is written, and files are removed.
        if self.written.is_empty() && rows == table.rows() {
            let (written, removed) = (Vec::new(), Vec::new());
            return Ok((table.clone(), Changes { rows: changed, written, removed }));
        }
        let written = |place: Place| self.written.contains(&place);
        let listing = table.listing().changed((self.id, rows), slots, width, written)?;
        let blocks = rows.div_ceil(slots);
        let places = (0..blocks).flat_map(|block| (0..width).map(move |column| (block, column)));
        let gone = table.places().filter(|(block, _)| *block >= blocks);
        let mut changes = Changes {
            rows: changed,
            written: self.written.iter().map(|place| name_of(*place)).collect(),
            removed: gone.map(name_of).collect(),
        };
        let of = (table.params(), table.schema());
        let after = match (self.sink, table.stored()) {
            (Sink::Memory(mut files), Blocks::Memory(old)) => {
                let file = |place: Place| {
                    let kept = || Arc::clone(&old[place.0 * width + place.1]);
                    files.remove(&place).unwrap_or_else(kept)
                };
                let stored = Blocks::Memory(places.map(file).collect());
                EncryptedTable::of(of.0.clone(), of.1.clone(), stored, Some(listing))?
            }
            (Sink::Directory(pending), Blocks::Directory(path)) => {
                for place in places.filter(|place| !self.written.contains(place)) {
                    let name = name_of(place);
                    link(&path.join(&name), &pending.path().join(&name))?;
                }
                listing.write(pending.path())?;
                changes.written.push(LISTING_FILE.into());
                // Whoever changed the directory meanwhile would lose what he did.
                let unchanged = || -> Result<(), TablesError> {
                    if EncryptedTable::id_in(path)? == table.id() {
                        return Ok(());
                    }
                    let problem = "another process changed it at the same time: try again";
                    Err(TablesError::Table { problem: problem.into() })
                };
                EncryptedTable::placed(pending, path, of, Some(listing), unchanged)?
            }
            _ => return Err(TablesError::Table { problem: "its files are elsewhere".into() }),
        };
        Ok((after, changes))
    }
}

/// A file that stays, by another name; a copy where there are no links.
fn link(from: &Path, to: &Path) -> Result<(), TablesError> {
    let failed = |e: std::io::Error| everlevel_wire::WireError::Io {
        path: from.display().to_string(),
        problem: e.to_string(),
    };
    fs::hard_link(from, to).or_else(|_| fs::copy(from, to).map(drop)).map_err(failed)?;
    Ok(())
}

/// The code of a row in one of some columns.
fn code_of(found: &BTreeMap<usize, Codes>, place: usize, row: usize) -> i128 {
    found.get(&place).map_or(0, |codes| codes[row])
}
