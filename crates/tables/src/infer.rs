//! Inference of schemas from data. The owner has to review them, as all of a schema is public.

use std::collections::BTreeSet;
use std::io::Read;

use crate::cell::{date, format_decimal, parse_date, parse_decimal, places};
use crate::error::TablesError;
use crate::kind::Kind;
use crate::records::{CsvRecords, Records};
use crate::schema::Schema;
use crate::text::MOST_BYTES;
use crate::timestamp::{TimeUnit, Timestamp, text};

/// The largest number of decimal places of a number.
const PLACES: u32 = 9;
/// The largest number of different texts of a category; columns with more are not useful for
/// groups.
const MOST_TEXTS: usize = 256;
/// Up to this number of different texts, a column is a category in a table of any length.
const FEW_TEXTS: usize = 16;
/// The longest text of a category, in bytes.
const TEXT_BYTES: usize = 256;
/// The longest text of a column of texts, in bytes.
const TEXT_MOST: u64 = MOST_BYTES as u64;
/// The largest number of columns that are examined.
const MOST_COLUMNS: usize = 4096;

/// The inferred type of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inferred {
    /// The name of the column.
    pub column: String,
    /// A description of its type and bounds, or of the reason why it was left out.
    pub told: String,
    /// Whether it is in the schema.
    pub kept: bool,
}

/// The common properties of the cells of a column so far.
struct Seen {
    name: String,
    cells: u64,
    boolean: bool,
    number: bool,
    date: bool,
    scale: u32,
    /// The least and the greatest number, in units of 10^-[`PLACES`].
    units: Option<(i128, i128)>,
    days: Option<(i128, i128)>,
    times: Times,
    /// The different texts; `None` if there are too many, or if one is too long.
    texts: Option<BTreeSet<String>>,
    /// The reason why the source cannot return its cells.
    refused: Option<TablesError>,
    /// Whether some cells are empty texts, and not empty cells.
    blank: bool,
    /// Whether some cells have spaces around them.
    padded: bool,
    /// The length of the longest text, in bytes.
    longest: usize,
    /// The number of empty cells.
    empty: u64,
}

/// Whether all texts so far are points in time.
#[derive(Clone, Copy)]
enum Times {
    /// There was no text.
    None,
    /// All are, with an offset or without.
    All { utc: bool, range: (i128, i128), places: u32 },
    /// Some are not, or some have an offset and others have none.
    Mixed,
}

impl Times {
    fn and(self, next: Option<Timestamp>) -> Self {
        let Some(Timestamp { nanoseconds, utc }) = next else { return Times::Mixed };
        let exact = |unit: &&TimeUnit| nanoseconds % unit.nanoseconds() == 0;
        let Some(unit) = TimeUnit::ALL.iter().find(exact) else { return Times::Mixed };
        let here = Times::All { utc, range: (nanoseconds, nanoseconds), places: unit.places() };
        match self {
            Times::None => here,
            Times::All { utc: all, range: (low, high), places } if all == utc => Times::All {
                utc,
                range: (low.min(nanoseconds), high.max(nanoseconds)),
                places: places.max(unit.places()),
            },
            _ => Times::Mixed,
        }
    }
}

/// Whole years of points in time.
fn timestamps(utc: bool, (first, last): (i128, i128), places: u32) -> Option<Kind> {
    let unit = *TimeUnit::ALL.iter().find(|unit| unit.places() == places)?;
    let year = |nanoseconds: i128| {
        let shown = text(nanoseconds.div_euclid(unit.nanoseconds()), unit, utc);
        shown.split_once('-').map(|(year, _)| year.to_string())
    };
    let zone = if utc { "Z" } else { "" };
    let fraction = match places {
        0 => String::new(),
        places => format!(".{:9<1$}", "", places as usize),
    };
    let low = format!("{}-01-01T00:00:00{zone}", year(first)?);
    let high = format!("{}-12-31T23:59:59{fraction}{zone}", year(last)?);
    Some(Kind::Timestamp { unit, utc, low, high })
}

fn joined(range: Option<(i128, i128)>, x: i128) -> Option<(i128, i128)> {
    Some(range.map_or((x, x), |(low, high)| (low.min(x), high.max(x))))
}

impl Seen {
    fn new(name: &str) -> Self {
        Seen {
            name: name.into(),
            cells: 0,
            boolean: true,
            number: true,
            date: true,
            scale: 0,
            units: None,
            days: None,
            times: Times::None,
            texts: Some(BTreeSet::new()),
            refused: None,
            blank: false,
            padded: false,
            longest: 0,
            empty: 0,
        }
    }

    fn see(&mut self, text: &str) {
        self.cells += 1;
        if text.is_empty() {
            self.empty += 1;
            return;
        }
        self.boolean &= ["true", "false"].iter().any(|v| text.eq_ignore_ascii_case(v));
        if self.number {
            // 007 and +4930 are names: as numbers they would lose their zeros and the sign.
            let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
            let padded = digits.len() > 1 && digits[0] == b'0' && digits[1] != b'.';
            match parse_decimal(text, PLACES).filter(|_| !padded && digits[0] != b'+') {
                Some(units) => {
                    // As many as are written, unless only zeros make them too many.
                    let written = text.split_once('.').map_or(0, |(_, f)| f.len());
                    let written = u32::try_from(written).ok().filter(|n| *n <= PLACES);
                    self.scale = self.scale.max(written.unwrap_or_else(|| places(text)));
                    self.units = joined(self.units, units);
                }
                None => self.number = false,
            }
        }
        if self.date {
            match parse_date(text) {
                Some(days) => self.days = joined(self.days, days),
                None => self.date = false,
            }
        }
        self.longest = self.longest.max(text.len());
        self.times = self.times.and(Timestamp::parse(text));
        if let Some(texts) = &mut self.texts {
            if !texts.contains(text) {
                texts.insert(text.into());
            }
            if texts.len() > MOST_TEXTS || text.len() > TEXT_BYTES {
                self.texts = None;
            }
        }
    }

    /// The type of the column, or the reason why it has none.
    fn kind(self) -> Result<Kind, String> {
        if let Some(why) = self.refused {
            return Err(why.to_string());
        }
        if self.blank {
            return Err(
                "an empty text, which in a table is none: replace it, or state the column \
                        in the schema by hand"
                    .into(),
            );
        }
        if self.empty == self.cells {
            return Err("all of its cells are empty".into());
        }
        if self.boolean {
            return Ok(Kind::Boolean);
        }
        if let (true, Some((low, high))) = (self.number, self.units) {
            let unit = 10i128.pow(PLACES - self.scale);
            let (low, high) = widened(low / unit, high / unit)
                .ok_or_else(|| "its numbers have more than 63 bits".to_string())?;
            let shown = |units| format_decimal(units, self.scale);
            return Ok(match (self.scale, i64::try_from(low), i64::try_from(high)) {
                (0, Ok(low), Ok(high)) => Kind::Integer { low, high },
                (scale, ..) => Kind::Decimal { scale, low: shown(low), high: shown(high) },
            });
        }
        if let (true, Some((first, last))) = (self.date, self.days) {
            let year = |days| date(days).map(|d| d.year());
            let (first, last) =
                year(first).zip(year(last)).ok_or("dates outside of the calendar")?;
            let (low, high) = (format!("{first:04}-01-01"), format!("{last:04}-12-31"));
            return Ok(Kind::Date { low, high });
        }
        if let Times::All { utc, range, places } = self.times {
            return timestamps(utc, range, places)
                .ok_or_else(|| "times outside of the calendar".into());
        }
        // What is kept and never compared is stated by hand: each byte has its price.
        let kept = match self.longest as u64 {
            bytes @ ..=TEXT_MOST => {
                format!(
                    "; to keep it for answers, state \"type\": \"text\", \"bytes\": {bytes} or more"
                )
            }
            bytes => format!("; it has texts of {bytes} bytes, and {TEXT_MOST} are the most"),
        };
        let texts = self.texts.ok_or_else(|| {
            format!(
                "more than {MOST_TEXTS} different texts, or one of more than {TEXT_BYTES} \
                 bytes; if it holds numbers, look for a cell that is none{kept}"
            )
        })?;
        // No category has them, and without them it could be another one.
        if self.padded {
            return Err(format!("some of its texts begin or end with blanks: remove these{kept}"));
        }
        let few = texts.len() <= FEW_TEXTS || texts.len() as u64 * 4 <= self.cells;
        match few {
            true => Ok(Kind::Category { values: texts.into_iter().collect() }),
            false => Err(format!("{} different texts in {} rows{kept}", texts.len(), self.cells)),
        }
    }
}

/// Bounds that reveal little more than the number of digits: powers of 16, and 0 to 1 for two
/// values; `None` beyond 63 bits.
fn widened(low: i128, high: i128) -> Option<(i128, i128)> {
    let limit = i128::from(i64::MAX);
    if low < -limit || high > limit {
        return None;
    }
    if low >= 0 && high <= 1 {
        return Some((0, 1));
    }
    let fits = |digits: &u32| match low >= 0 {
        true => high < 1 << (4 * digits),
        false => -low.min(-high - 1) <= 1 << (4 * digits - 1),
    };
    let Some(digits) = (1..16).find(fits) else {
        return Some((if low >= 0 { 0 } else { -limit }, limit));
    };
    Some(match low >= 0 {
        true => (0, (1 << (4 * digits)) - 1),
        false => (-(1 << (4 * digits - 1)), (1 << (4 * digits - 1)) - 1),
    })
}

impl Schema {
    /// A schema for a table of comma-separated values, and the type that was inferred for each
    /// column: truth values, integers and decimals with bounds widened to powers of 16, dates and
    /// times with bounds widened to whole years, and categories, in the order of texts, for columns
    /// with few different texts.
    ///
    /// All of a schema is public, including its categories, so the owner of the table has to review
    /// it. Columns with empty cells are nullable. Columns of many different texts and columns
    /// without any value are left out.
    ///
    /// # Errors
    /// [`TablesError::Data`] for text that is not CSV, has no rows, or has no column that can be
    /// kept; [`TablesError::Schema`] for names that a column cannot have.
    pub fn infer(source: impl Read) -> Result<(Self, Vec<Inferred>), TablesError> {
        Self::infer_records(CsvRecords::new(source)?)
    }

    /// The same for rows from another source.
    ///
    /// # Errors
    /// As [`Schema::infer`]; those of the source.
    pub fn infer_records(mut records: impl Records) -> Result<(Self, Vec<Inferred>), TablesError> {
        let wrong = |problem: String| TablesError::Data { problem };
        let names = records.names();
        if names.len() > MOST_COLUMNS {
            return Err(wrong(format!("{} columns: at most {MOST_COLUMNS} are read", names.len())));
        }
        let empty_is_none = records.empty_is_none();
        let mut columns: Vec<Seen> = names.iter().map(|name| Seen::new(name)).collect();
        for (place, column) in columns.iter_mut().enumerate() {
            column.refused = records.choose(&[(place, None)]).err();
        }
        let (mut rows, mut next) = (0u64, records.advance());
        if let Some((name, sign, what)) = other_separator(&names) {
            // A name may have such a character; the cells below it have none then.
            let apart = match &next {
                Ok(first) => *first && records.cell(0).is_some_and(|cell| cell.contains(sign)),
                Err(e) => matches!(e, TablesError::Data { .. }),
            };
            if apart {
                return Err(wrong(format!(
                    "the first line is one name, {name:?}, and its cells seem to be separated by \
                     {what}: cells of a table are separated by commas, so write the file with \
                     commas, and texts that have commas in quotation marks"
                )));
            }
        }
        while next? {
            for (place, column) in columns.iter_mut().enumerate() {
                let cell = records.cell(place);
                let text = cell.map(str::trim);
                column.padded |= cell != text;
                column.blank |= text == Some("") && !empty_is_none;
                column.see(text.unwrap_or_default());
            }
            rows += 1;
            next = records.advance();
        }
        if rows == 0 {
            return Err(wrong("expected at least one row".into()));
        }
        let (mut fields, mut told) = (Vec::new(), Vec::new());
        for seen in columns {
            let (column, nullable) = (seen.name.clone(), seen.empty > 0);
            match seen.kind() {
                Ok(kind) => fields.push((column, kind, nullable)),
                Err(why) => {
                    told.push(Inferred { column, told: format!("left out: {why}"), kept: false });
                }
            }
        }
        if fields.is_empty() {
            let why = told.first().map_or("", |first| &first.told);
            return Err(wrong(format!("no column can be kept; of the first one, {why}")));
        }
        let schema = Schema::with_nulls(fields)?;
        let kept = schema.columns().map(|f| {
            let (column, told) = (f.name().into(), f.expected());
            Inferred { column, told, kept: true }
        });
        told.splice(0..0, kept);
        Ok((schema, told))
    }
}

/// The only name of a first line, the character in it that may separate cells, and what such are
/// called.
fn other_separator(names: &[String]) -> Option<(&str, char, &'static str)> {
    let [name] = names else { return None };
    let signs = [(';', "semicolons"), ('\t', "tabs")];
    let (sign, what) = signs.into_iter().find(|(sign, _)| name.contains(*sign))?;
    Some((name, sign, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_widened() {
        for (data, bounds) in [
            ((0, 1), Some((0, 1))),
            ((0, 0), Some((0, 1))),
            ((2, 15), Some((0, 15))),
            ((0, 16), Some((0, 255))),
            ((-1, 0), Some((-8, 7))),
            ((-8, 7), Some((-8, 7))),
            ((-8, 8), Some((-128, 127))),
            ((-9, 7), Some((-128, 127))),
            ((-20, -10), Some((-128, 127))),
            ((0, (1 << 60) - 1), Some((0, (1 << 60) - 1))),
            ((0, 1 << 60), Some((0, i128::from(i64::MAX)))),
            ((-1, i128::from(i64::MAX)), Some((-i128::from(i64::MAX), i128::from(i64::MAX)))),
            ((0, 1 << 63), None),
            ((-(1 << 63), 0), None),
        ] {
            assert_eq!(widened(data.0, data.1), bounds, "{data:?}");
        }
    }
}
