//! Tables whose columns the rows of another table carry.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::Read;

use crate::data::Data;
use crate::error::TablesError;
use crate::field::Field;
use crate::foreign::Carried;
use crate::records::{CsvRecords, Records};
use crate::schema::Schema;

/// The plaintext table that a foreign key refers to.
pub struct Partner {
    carried: Carried,
    /// The row of each key.
    rows: HashMap<i128, usize>,
    data: Data,
}

impl Partner {
    /// Reads the table with this name, to which the schema has a foreign key, as comma-separated
    /// values with the key and all columns that rows carry.
    ///
    /// # Errors
    /// [`TablesError::Partner`] for a key that two rows have; [`TablesError::Data`] if there is no
    /// foreign key; as [`Data::from_csv`].
    pub fn from_csv(source: impl Read, schema: &Schema, table: &str) -> Result<Self, TablesError> {
        Self::from_records(CsvRecords::new(source)?, schema, table)
    }

    /// The same for rows from another source.
    ///
    /// # Errors
    /// As [`Partner::from_csv`].
    pub fn from_records(
        records: impl Records,
        schema: &Schema,
        table: &str,
    ) -> Result<Self, TablesError> {
        let found = schema.carried().iter().find(|c| c.is_called(table));
        let carried = found.cloned().ok_or_else(|| {
            let known: Vec<&str> = schema.carried().iter().map(|c| &c.table[..]).collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            let problem = format!("the schema has no foreign key to {table:?}: it has {known}");
            TablesError::Data { problem }
        })?;
        let fields = schema.fields();
        let kind = fields[carried.column].kind().clone();
        let mut columns = vec![Field::new(&*carried.key, kind, false)?];
        columns.extend(carried.include.iter().map(|place| fields[*place].clone()));
        let own = Schema::of(columns)?;
        let data = Data::from_records(records, &own, &[])?;
        let mut rows = HashMap::with_capacity(data.rows());
        for (row, key) in data.column(0).iter().enumerate() {
            match rows.entry(*key) {
                Entry::Vacant(entry) => drop(entry.insert(row)),
                Entry::Occupied(entry) => {
                    return Err(TablesError::Partner {
                        table: format!("{}: ", carried.table),
                        row,
                        column: carried.key,
                        found: own.fields()[0].text(*key),
                        problem: format!(
                            "row {} has the same key, and a row has one partner",
                            entry.get()
                        ),
                    });
                }
            }
        }
        Ok(Partner { carried, rows, data })
    }
}

/// Columns that rows have themselves, and columns that they carry from partners.
pub(crate) struct Joining<'a> {
    schema: &'a Schema,
    partners: &'a [Partner],
    own: Schema,
    /// The indices of the columns of `own` in the schema.
    places: Vec<usize>,
}

impl<'a> Joining<'a> {
    pub(crate) fn new(schema: &'a Schema, partners: &'a [Partner]) -> Result<Self, TablesError> {
        let mut found = Joining { schema, partners, own: schema.clone(), places: Vec::new() };
        let of_partner = |place| schema.carries(place).and_then(|c| found.partner(c)).is_some();
        let fields = schema.fields();
        let places: Vec<usize> = (0..fields.len()).filter(|place| !of_partner(*place)).collect();
        found.own = Schema::of(places.iter().map(|place| fields[*place].clone()).collect())?;
        Ok(Joining { places, ..found })
    }

    fn partner(&self, carried: &Carried) -> Option<&'a Partner> {
        self.partners.iter().find(|p| p.carried == *carried)
    }

    /// The columns that rows have themselves.
    pub(crate) fn own(&self) -> &Schema {
        &self.own
    }

    /// All columns of the schema, from those that rows have themselves; the first row has the
    /// position `first` in its table.
    pub(crate) fn joined(
        &self,
        own: Vec<Vec<i128>>,
        first: usize,
    ) -> Result<Vec<Vec<i128>>, TablesError> {
        let fields = self.schema.fields();
        let mut columns = vec![Vec::new(); fields.len()];
        for (place, column) in self.places.iter().zip(own) {
            columns[*place] = column;
        }
        for carried in self.schema.carried() {
            let Some(partner) = self.partner(carried) else { continue };
            let keys = &columns[carried.column];
            let mut found = Vec::with_capacity(keys.len());
            for (row, key) in keys.iter().enumerate() {
                found.push(*partner.rows.get(key).ok_or_else(|| TablesError::Partner {
                    table: String::new(),
                    row: first + row,
                    column: fields[carried.column].name().into(),
                    found: fields[carried.column].text(*key),
                    problem: format!("no row of {} has this {:?}", carried.table, carried.key),
                })?);
            }
            for (i, place) in carried.include.iter().enumerate() {
                let codes = partner.data.column(1 + i);
                columns[*place] = found.iter().map(|row| codes[*row]).collect();
            }
        }
        Ok(columns)
    }
}
