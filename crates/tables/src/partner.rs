//! Tables whose columns the rows of another table carry.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::Read;

use crate::data::Data;
use crate::error::TablesError;
use crate::field::Field;
use crate::foreign::Carried;
use crate::schema::Schema;

/// A table that a foreign key leads to, in the clear.
pub struct Partner {
    carried: Carried,
    /// The row of each key.
    rows: HashMap<i128, usize>,
    data: Data,
}

impl Partner {
    /// Reads comma-separated values, with the key and all columns that rows carry: of the table of
    /// this name, to which the schema of these rows has a foreign key.
    ///
    /// # Errors
    /// [`TablesError::Partner`] for a key that two rows have; [`TablesError::Data`] if there is no
    /// foreign key; as [`Data::from_csv`].
    pub fn from_csv(source: impl Read, schema: &Schema, table: &str) -> Result<Self, TablesError> {
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
        let data = Data::from_csv(source, &own)?;
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

impl Data {
    /// Reads comma-separated values as [`Data::from_csv`] does, but for the columns that its rows
    /// carry of these partners.
    ///
    /// # Errors
    /// [`TablesError::Partner`] for a row that has no partner; as [`Data::from_csv`].
    pub fn from_csv_with(
        source: impl Read,
        schema: &Schema,
        partners: &[Partner],
    ) -> Result<Self, TablesError> {
        let partner = |c: &Carried| partners.iter().find(|p| p.carried == *c);
        let fields = schema.fields();
        let own = |place: &usize| schema.carries(*place).and_then(partner).is_none();
        let places: Vec<usize> = (0..fields.len()).filter(own).collect();
        let own = Schema::of(places.iter().map(|place| fields[*place].clone()).collect())?;
        let data = Data::from_csv(source, &own)?;
        let mut columns = vec![Vec::new(); fields.len()];
        for (i, place) in places.iter().enumerate() {
            columns[*place] = data.column(i).to_vec();
        }
        for carried in schema.carried() {
            let Some(partner) = partner(carried) else { continue };
            let mut found = Vec::with_capacity(data.rows());
            for (row, key) in columns[carried.column].iter().enumerate() {
                found.push(*partner.rows.get(key).ok_or_else(|| TablesError::Partner {
                    table: String::new(),
                    row,
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
        Self::from_columns(columns, schema)
    }
}
