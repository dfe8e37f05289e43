//! The types of the columns of answers, for programs that read them.

use serde::Serialize;
use serde_json::{Value, json};

use crate::answer::{Answer, Cell, QUOTIENT_PLACES};
use crate::formula::{Formula, display};
use crate::kind::Kind;
use crate::query::Query;
use crate::schema::Schema;
use crate::timestamp::TimeUnit;

/// The type of a column of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum OutputType {
    /// Integers of up to 127 bits.
    Integer,
    /// Numbers with `scale` decimal places, in 127 bits of units.
    Decimal {
        /// The number of decimal places.
        scale: u32,
    },
    /// Days of the calendar.
    Date,
    /// Dates with times of day.
    Timestamp {
        /// The unit in which time is counted.
        unit: TimeUnit,
        /// Whether they are in UTC; otherwise they are local times.
        utc: bool,
    },
    /// `true` and `false`.
    Boolean,
    /// Texts, and categories.
    Text,
}

impl Query {
    /// The types of the columns of the answer.
    pub fn output_types(&self, schema: &Schema) -> Vec<OutputType> {
        let number = |scale| match scale {
            0 => OutputType::Integer,
            scale => OutputType::Decimal { scale },
        };
        let of = |formula: &Formula| match self.column_of(formula) {
            Some(place) => match schema.fields()[place].kind() {
                Kind::Integer { .. } => OutputType::Integer,
                Kind::Decimal { scale, .. } => number(*scale),
                Kind::Date { .. } => OutputType::Date,
                Kind::Timestamp { unit, utc, .. } => {
                    OutputType::Timestamp { unit: *unit, utc: *utc }
                }
                Kind::Boolean => OutputType::Boolean,
                Kind::Category { .. } | Kind::Text { .. } => OutputType::Text,
            },
            None => {
                let (scale, divides) = display(formula);
                number(scale + if divides { QUOTIENT_PLACES } else { 0 })
            }
        };
        self.outputs.iter().map(|output| of(&output.value)).collect()
    }
}

impl Answer {
    /// The answer as JSON: `names`, `types`, and `rows` with the text of each cell, or null for no
    /// value.
    pub fn to_json(&self, types: &[OutputType]) -> Value {
        let cell = |cell: &Cell| match cell {
            Cell::Null => Value::Null,
            cell => cell.to_string().into(),
        };
        let row = |row: &Vec<Cell>| row.iter().map(cell).collect::<Vec<_>>();
        let rows: Vec<_> = self.rows.iter().map(row).collect();
        json!({ "names": self.names, "types": types, "rows": rows })
    }
}
