//! The types of the columns of a table, with their bounds.

use serde::{Deserialize, Deserializer, Serialize};

use crate::timestamp::{TimeUnit, Timestamp};

/// The type of a column with its bounds, both included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Kind {
    /// Integers.
    Integer {
        /// The least one.
        low: i64,
        /// The greatest one.
        high: i64,
    },
    /// Exact numbers with `scale` decimal places, in units of 10^-scale.
    Decimal {
        /// Decimal places, up to 9.
        scale: u32,
        /// The least one, as text.
        low: String,
        /// The greatest one, as text.
        high: String,
    },
    /// Days of the calendar, `YYYY-MM-DD`.
    Date {
        /// The first one.
        low: String,
        /// The last one.
        high: String,
    },
    /// Points in time: dates with times of day, in units of `unit`.
    Timestamp {
        /// The unit in which time is counted.
        unit: TimeUnit,
        /// Whether they are in UTC, and written with an offset such as `Z`; otherwise they are
        /// local times, and written without an offset.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        utc: bool,
        /// The first one.
        low: String,
        /// The last one.
        high: String,
    },
    /// `true` and `false`.
    #[serde(deserialize_with = "no_fields")]
    Boolean,
    /// One of a list of texts, which are compared as texts, by their bytes.
    Category {
        /// The texts.
        values: Vec<String>,
    },
    /// Any text, for answers; the only computation on it is equality with constants.
    Text {
        /// The largest number of UTF-8 bytes of a text, up to 1,024. Every cell takes this amount
        /// of space.
        bytes: u32,
    },
}

/// Refuses all fields: `deny_unknown_fields` does not apply to a type that has none.
fn no_fields<'de, D: Deserializer<'de>>(fields: D) -> Result<(), D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}

    Nothing::deserialize(fields).map(|Nothing {}| ())
}

impl Kind {
    /// A description of its values; `nullable` is whether a cell may be empty.
    pub(crate) fn expected(&self, nullable: bool) -> String {
        match self {
            Kind::Integer { low, high } => format!("an integer from {low} to {high}"),
            Kind::Decimal { scale, low, high } => {
                format!("a number from {low} to {high} with at most {scale} decimal places")
            }
            Kind::Date { low, high } => format!("a date from {low} to {high}"),
            Kind::Timestamp { unit, utc, low, high } => {
                let zone = if *utc { "with an offset from UTC" } else { "without a time zone" };
                let places = unit.places();
                format!(
                    "a date and time from {low} to {high} {zone}, with at most {places} decimal \
                     places of a second"
                )
            }
            Kind::Boolean => "true or false".into(),
            Kind::Category { values } if values.len() <= 12 => {
                format!("one of {}", values.join(", "))
            }
            Kind::Category { values } => format!("one of the {} categories", values.len()),
            Kind::Text { bytes } if nullable => format!("a text of 1 to {bytes} bytes"),
            Kind::Text { bytes } => format!("a text of up to {bytes} bytes"),
        }
    }

    /// Whether equal codes of two columns without numbers have the same meaning, whatever their
    /// bounds.
    pub(crate) fn is_like(&self, other: &Kind) -> bool {
        match (self, other) {
            (Kind::Date { .. }, Kind::Date { .. }) => true,
            (Kind::Timestamp { unit: a, utc: b, .. }, Kind::Timestamp { unit: x, utc: y, .. }) => {
                (a, b) == (x, y)
            }
            (a, b) => a == b,
        }
    }

    /// The code of a point in time; `None` for columns of other types, and for a time between two
    /// codes.
    pub(crate) fn code_of(&self, at: Timestamp) -> Option<i128> {
        match self {
            Kind::Timestamp { unit, utc, .. } if *utc == at.utc => at.exactly(*unit),
            _ => None,
        }
    }
}
