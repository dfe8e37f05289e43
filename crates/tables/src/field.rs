//! A column of a table: its name, its type and whether it is encrypted.

use std::collections::BTreeSet;

use everlevel_integers::{Type, Unary};
use serde::{Deserialize, Serialize};

use crate::cell::{date, format_decimal, parse_date, parse_decimal};
use crate::error::TablesError;
use crate::kind::Kind;
use crate::text::{self as texts, MOST_BYTES, greatest, part_sizes};
use crate::timestamp::{Timestamp, text};

/// The largest absolute value of an entry.
const LARGEST: i128 = i64::MAX as i128;
/// The longest name, in bytes: that of a column in a file.
const NAME_BYTES: usize = 64;

/// A column: its name and its type. Every entry is an integer code in an interval; a text has
/// several codes, each in a column of its own, and so does a code with an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked", into = "Unchecked")]
pub struct Field {
    name: String,
    kind: Kind,
    low: i128,
    high: i128,
    nullable: bool,
    public: bool,
    /// Whether its codes are stored in unary, too, for conditions.
    index: bool,
    /// The part of a cell that it holds, from 0: of a text, or of a code and its index.
    part: usize,
}

#[derive(Serialize, Deserialize)]
struct Unchecked {
    name: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    nullable: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    public: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    index: bool,
    #[serde(flatten)]
    kind: Kind,
}

impl TryFrom<Unchecked> for Field {
    type Error = TablesError;

    fn try_from(unchecked: Unchecked) -> Result<Self, TablesError> {
        let Unchecked { name, nullable, public, index, kind } = unchecked;
        let field = Field { public, ..Field::new(name, kind, nullable)? };
        if index { field.indexed() } else { Ok(field) }
    }
}

impl From<Field> for Unchecked {
    fn from(field: Field) -> Self {
        let Field { name, nullable, public, index, kind, .. } = field;
        Unchecked { name, nullable, public, index, kind }
    }
}

/// The error for a problem with a column.
pub(crate) fn problem(column: &str, problem: impl Into<String>) -> TablesError {
    TablesError::Schema { column: column.into(), problem: problem.into() }
}

/// Checks a name of a column or of a table.
pub(crate) fn checked_name(name: String) -> Result<String, TablesError> {
    let fits = (1..=NAME_BYTES).contains(&name.len());
    if fits && !name.chars().any(char::is_control) && name.trim() == name {
        return Ok(name);
    }
    let shown: String = name.chars().take(NAME_BYTES).collect();
    let told = format!("a name has 1 to {NAME_BYTES} bytes, without control characters");
    Err(problem(&shown, told + ", and no blanks at its beginning or end"))
}

impl Field {
    /// An encrypted column. If it is nullable, a cell may be empty, which has an additional code
    /// below the others.
    ///
    /// # Errors
    /// [`TablesError::Schema`] for bounds that are not values of the type or contain no value, for
    /// more than 9 decimal places, for missing or repeated categories, for categories with spaces
    /// around them or, in a nullable column, empty ones, and for texts or names of 0 or too many
    /// bytes.
    pub fn new(name: impl Into<String>, kind: Kind, nullable: bool) -> Result<Self, TablesError> {
        let name = checked_name(name.into())?;
        let bound = |code: Option<i128>, text: &str| {
            code.ok_or_else(|| problem(&name, format!("{text:?} is not a value of the type")))
        };
        let (low, high) = match &kind {
            Kind::Integer { low, high } => (i128::from(*low), i128::from(*high)),
            Kind::Decimal { scale, .. } if *scale > 9 => {
                return Err(problem(&name, "at most 9 decimal places are kept"));
            }
            Kind::Decimal { scale, low, high } => {
                (bound(parse_decimal(low, *scale), low)?, bound(parse_decimal(high, *scale), high)?)
            }
            Kind::Date { low, high } => {
                (bound(parse_date(low), low)?, bound(parse_date(high), high)?)
            }
            Kind::Timestamp { low, high, .. } => {
                let code = |text| Timestamp::parse(text).and_then(|at| kind.code_of(at));
                (bound(code(low), low)?, bound(code(high), high)?)
            }
            Kind::Boolean => (0, 1),
            Kind::Category { values } => {
                if values.iter().collect::<BTreeSet<_>>().len() < values.len() {
                    return Err(problem(&name, "its categories are not distinct"));
                }
                if let Some(value) = values.iter().find(|v| v.trim() != **v) {
                    let told = "has blanks at its beginning or end, which look like a mistake: \
                                remove them";
                    return Err(problem(&name, format!("the category {value:?} {told}")));
                }
                (0, values.len() as i128 - 1)
            }
            Kind::Text { bytes } => {
                if !(1..=MOST_BYTES).contains(bytes) {
                    let told = format!("texts have 1 to {MOST_BYTES} bytes at most");
                    return Err(problem(&name, told));
                }
                return Ok(Field::of(name, kind, (0, 0), nullable).part(0));
            }
        };
        let empty = |values: &[String]| values.iter().any(|v| v.trim().is_empty());
        if nullable && matches!(&kind, Kind::Category { values } if empty(values)) {
            return Err(problem(&name, "an empty text and an empty cell are not told apart"));
        }
        if low > high || low < i128::from(nullable) - LARGEST || high > LARGEST {
            return Err(problem(&name, "expected bounds of 63 bits, the lower one first"));
        }
        // One way to write a bound, so that equal schemas are equal bytes.
        let kind = match kind {
            Kind::Decimal { scale, .. } => {
                let [low, high] = [low, high].map(|code| format_decimal(code, scale));
                Kind::Decimal { scale, low, high }
            }
            Kind::Timestamp { unit, utc, .. } => {
                let [low, high] = [low, high].map(|code| text(code, unit, utc));
                Kind::Timestamp { unit, utc, low, high }
            }
            kind => kind,
        };
        Ok(Field::of(name, kind, (low, high), nullable))
    }

    fn of(name: String, kind: Kind, (low, high): (i128, i128), nullable: bool) -> Field {
        Field { name, kind, low, high, nullable, public: false, index: false, part: 0 }
    }

    /// The same column with an index: its codes are also stored as digits in unary
    /// ([`Unary`]), from which conditions are decided with a few products. For each digit but the
    /// highest it takes 15 ciphertexts beside the one of the digit.
    ///
    /// # Errors
    /// [`TablesError::Schema`] for a public column, for texts and truth values, and for columns of
    /// more than 2^32 values or fewer than three.
    pub fn indexed(self) -> Result<Self, TablesError> {
        let told = match self.kind {
            _ if self.public => "it is public, and its conditions are computed in the clear",
            Kind::Text { .. } => "it holds texts, which are only compared with constants",
            _ if Unary::new(self.bounds().0, self.high).is_some() => {
                return Ok(Field { index: true, ..self });
            }
            _ => "columns of 3 to 2^32 values have one",
        };
        Err(problem(&self.name, format!("no index is needed or possible: {told}")))
    }

    /// The digits of its codes in unary, if it has an index and is not a part of it.
    pub(crate) fn index(&self) -> Option<Unary> {
        let (low, high) = self.bounds();
        Unary::new(low, high).filter(|_| self.index && self.part == 0)
    }

    /// A part of a cell. An empty text has the code of an empty cell, which a nullable column does
    /// not hold; the index of a code consists of truth values, without the categories of the code.
    fn part(&self, part: usize) -> Field {
        let head = part == 0;
        let Kind::Text { bytes } = self.kind else {
            if head {
                return Field { part, ..self.clone() };
            }
            let bit = Field::of(self.name.clone(), Kind::Boolean, (0, 1), false);
            return Field { index: self.index, part, ..bit };
        };
        let nullable = self.nullable && head;
        let high = part_sizes(bytes).nth(part).map_or(0, greatest);
        Field { low: nullable.into(), high, nullable, part, ..self.clone() }
    }

    /// The columns that hold it: one, or one for each part of a text, and those of its index.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Field> {
        (0..self.count()).map(|part| self.part(part))
    }

    /// The number of columns that hold it, with those of its index.
    pub(crate) fn count(&self) -> usize {
        self.cells() + self.index().map_or(0, |index| index.steps().len())
    }

    /// The number of ciphertexts that its index takes in a block of rows; 0 without an index.
    pub fn index_ciphertexts(&self) -> usize {
        self.count() - self.cells()
    }

    /// The number of columns that hold its values.
    pub(crate) fn cells(&self) -> usize {
        match self.kind {
            Kind::Text { bytes } => part_sizes(bytes).count(),
            _ => 1,
        }
    }

    /// Whether it is a part of a cell other than the first one, which represents the whole cell.
    pub(crate) fn is_rest(&self) -> bool {
        self.part > 0
    }

    /// The part of a cell that it holds, from 0.
    pub(crate) fn part_number(&self) -> usize {
        self.part
    }

    /// Whether it is a part of the index of a column.
    pub(crate) fn is_of_index(&self) -> bool {
        self.index && self.part > 0
    }

    /// Whether it holds texts that are not categories.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self.kind, Kind::Text { .. })
    }

    /// The same column, stored in the clear and without an index.
    #[must_use]
    pub fn public(self) -> Self {
        Field { public: true, index: false, ..self }
    }

    /// Whether it is public: everyone who has the table sees its values.
    pub fn is_public(&self) -> bool {
        self.public
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its type.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The least and the greatest code, including that of an empty cell.
    pub fn bounds(&self) -> (i128, i128) {
        (self.null().unwrap_or(self.low), self.high)
    }

    /// The least and the greatest code of a value.
    pub fn values(&self) -> (i128, i128) {
        (self.low, self.high)
    }

    /// The code of an empty cell; `None` if every cell has a value.
    pub fn null(&self) -> Option<i128> {
        self.nullable.then_some(self.low - 1)
    }

    /// The type of its codes.
    ///
    /// # Errors
    /// None, because the bounds were checked.
    pub fn integer_type(&self) -> Result<Type, TablesError> {
        let (low, high) = self.bounds();
        Ok(Type::ranged(low, high)?)
    }

    /// The number of decimal places of its numbers; `None` if it does not hold numbers.
    pub fn scale(&self) -> Option<u32> {
        match self.kind {
            Kind::Integer { .. } => Some(0),
            Kind::Decimal { scale, .. } => Some(scale),
            Kind::Date { .. }
            | Kind::Timestamp { .. }
            | Kind::Boolean
            | Kind::Category { .. }
            | Kind::Text { .. } => None,
        }
    }

    /// The codes of a cell, one for each column that holds it; `None` if it is not a value or is
    /// out of bounds.
    pub(crate) fn codes(&self, text: &str) -> Option<Vec<i128>> {
        let codes = match self.kind {
            Kind::Text { bytes } => texts::codes(text, bytes)?,
            _ => vec![self.code(text)?],
        };
        // Of a text that may be empty only where no cell is.
        (self.low <= codes[0] && codes[0] <= self.high).then_some(codes)
    }

    /// Appends a cell, or an empty one, to the columns that hold its value, without its index;
    /// `None` if it is not a value or is out of bounds.
    pub(crate) fn push(&self, cell: Option<&str>, columns: &mut [Vec<i128>]) -> Option<()> {
        match (cell, columns) {
            (cell, [column, ..]) if !self.is_text() => {
                let within = |code: &i128| (self.low..=self.high).contains(code);
                column.push(match cell {
                    Some(text) => self.code(text).filter(within)?,
                    None => self.null()?,
                });
            }
            (cell, columns) => {
                let codes = match cell {
                    Some(text) => self.codes(text)?,
                    // Parts of a text that is not there are empty.
                    None => [self.null()?].into_iter().chain(vec![0; columns.len() - 1]).collect(),
                };
                columns.iter_mut().zip(codes).for_each(|(column, code)| column.push(code));
            }
        }
        Some(())
    }

    /// The text of a cell, from a code for each column that holds it; `None` if these are not the
    /// codes of a value.
    pub(crate) fn cell(&self, codes: &[i128]) -> Option<String> {
        match (&self.kind, codes) {
            (Kind::Text { bytes }, codes) => texts::text(codes, *bytes),
            (_, [code]) => Some(self.text(*code)),
            _ => None,
        }
    }

    /// The code of a text, whether or not it is within the bounds; `None` if it is not a value, or
    /// if it has several parts.
    pub fn code(&self, text: &str) -> Option<i128> {
        match &self.kind {
            Kind::Integer { .. } => parse_decimal(text, 0),
            Kind::Decimal { scale, .. } => parse_decimal(text, *scale),
            Kind::Date { .. } => parse_date(text),
            Kind::Timestamp { .. } => self.kind.code_of(Timestamp::parse(text)?),
            Kind::Boolean if text.eq_ignore_ascii_case("true") => Some(1),
            Kind::Boolean if text.eq_ignore_ascii_case("false") => Some(0),
            Kind::Boolean => None,
            Kind::Category { values } => {
                values.iter().position(|v| v == text).map(|place| place as i128)
            }
            Kind::Text { bytes } => match &texts::codes(text, *bytes)?[..] {
                [code] => Some(*code),
                _ => None,
            },
        }
    }

    /// The text of a code.
    pub fn text(&self, code: i128) -> String {
        match &self.kind {
            Kind::Integer { .. } => code.to_string(),
            Kind::Decimal { scale, .. } => format_decimal(code, *scale),
            Kind::Date { .. } => date(code).map_or_else(|| code.to_string(), |d| d.to_string()),
            Kind::Timestamp { unit, utc, .. } => text(code, *unit, *utc),
            Kind::Boolean => (code == 1).to_string(),
            Kind::Category { values } => {
                let place = usize::try_from(code).ok();
                place.and_then(|i| values.get(i)).cloned().unwrap_or_else(|| code.to_string())
            }
            Kind::Text { bytes } => {
                texts::text(&[code], *bytes).unwrap_or_else(|| code.to_string())
            }
        }
    }

    /// A description of the values that a cell may hold.
    pub fn expected(&self) -> String {
        let value = self.expected_value();
        if self.nullable { format!("{value}, or nothing") } else { value }
    }

    /// A description of the values that a nonempty cell may hold.
    pub fn expected_value(&self) -> String {
        self.kind.expected(self.nullable)
    }
}
