//! Checks that rows with the same partner carry the same values.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::error::TablesError;
use crate::foreign::Carried;
use crate::schema::Schema;

/// The values that rows carry from their partners, by foreign keys and keys, and the row in which
/// each was first seen.
pub(crate) struct Partners<'a> {
    schema: &'a Schema,
    seen: Vec<HashMap<i128, (usize, Vec<i128>)>>,
}

impl<'a> Partners<'a> {
    pub(crate) fn new(schema: &'a Schema) -> Self {
        Partners { schema, seen: vec![HashMap::new(); schema.carried().len()] }
    }

    /// Checks that `count` rows, of which the first has the position `first`, carry the same values
    /// as earlier rows with the same partners. The rows are remembered if requested.
    pub(crate) fn check<'b>(
        &mut self,
        (first, count): (usize, usize),
        column: impl Fn(usize) -> &'b [i128],
        seen: bool,
    ) -> Result<(), TablesError> {
        for (carried, known) in self.schema.carried().iter().zip(&mut self.seen) {
            let keys = column(carried.column);
            let columns: Vec<&[i128]> = values(self.schema, carried).map(&column).collect();
            for (row, key) in keys.iter().enumerate().take(count) {
                let codes = || columns.iter().map(|codes| codes[row]);
                match known.entry(*key) {
                    Entry::Vacant(entry) if seen => {
                        entry.insert((first + row, codes().collect()));
                    }
                    Entry::Vacant(_) => {}
                    Entry::Occupied(entry) if codes().eq(entry.get().1.iter().copied()) => {}
                    Entry::Occupied(entry) => {
                        let field = &self.schema.fields()[carried.column];
                        return Err(TablesError::Partner {
                            table: String::new(),
                            row: first + row,
                            column: field.name().into(),
                            found: field.text(*key),
                            problem: format!(
                                "row {} has the same partner in {1}, with other values: update {1} \
                                 first, or correct the rows",
                                entry.get().0,
                                carried.table
                            ),
                        });
                    }
                }
            }
        }
        Ok(())
    }

    /// The columns that [`Partners::check`] looks at.
    pub(crate) fn columns(&self) -> impl Iterator<Item = usize> {
        let schema = self.schema;
        let carried = schema.carried().iter();
        carried.flat_map(move |c| [c.column].into_iter().chain(values(schema, c)))
    }
}

/// The columns that a foreign key carries, without indexes, which follow from them.
fn values<'a>(schema: &'a Schema, carried: &'a Carried) -> impl Iterator<Item = usize> + use<'a> {
    let places = carried.include.iter().copied();
    places.filter(move |place| !schema.fields()[*place].is_of_index())
}
