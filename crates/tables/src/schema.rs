//! What the columns of a table hold. A schema is public: it never comes from encrypted values.

use std::collections::BTreeSet;

use everlevel_integers::Type;
use everlevel_wire::ParamsId;
use serde::{Deserialize, Serialize};

use crate::cell::{date, format_decimal, parse_date, parse_decimal};
use crate::error::TablesError;
use crate::nearest::did_you_mean;

/// The largest absolute value of an entry.
const LARGEST: i128 = i64::MAX as i128;
/// The most columns.
const MOST_COLUMNS: usize = 4096;
/// The longest name, in bytes: that of a column in a file.
const NAME_BYTES: usize = 64;
/// The largest schema that is read, in bytes of JSON.
pub const SCHEMA_BYTES: u64 = 1 << 20;

/// The columns of a table, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked", into = "Unchecked")]
pub struct Schema {
    fields: Vec<Field>,
}

/// A column: its name and what it holds. Every entry is an integer code of an interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    name: String,
    kind: Kind,
    low: i128,
    high: i128,
    nullable: bool,
}

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
    /// Numbers with `scale` decimal places, exactly: units of 10^-scale.
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
    /// `true` and `false`.
    Boolean,
    /// One of a list of texts. They compare as texts, by their bytes.
    Category {
        /// The texts.
        values: Vec<String>,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    columns: Vec<UncheckedField>,
}

#[derive(Serialize, Deserialize)]
struct UncheckedField {
    name: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    nullable: bool,
    #[serde(flatten)]
    kind: Kind,
}

impl TryFrom<Unchecked> for Schema {
    type Error = TablesError;

    fn try_from(unchecked: Unchecked) -> Result<Self, TablesError> {
        Schema::with_nulls(unchecked.columns.into_iter().map(|c| (c.name, c.kind, c.nullable)))
    }
}

impl From<Field> for UncheckedField {
    fn from(field: Field) -> Self {
        UncheckedField { name: field.name, nullable: field.nullable, kind: field.kind }
    }
}

impl From<Schema> for Unchecked {
    fn from(schema: Schema) -> Self {
        Unchecked { columns: schema.fields.into_iter().map(UncheckedField::from).collect() }
    }
}

impl Schema {
    /// A schema of columns with these names.
    ///
    /// # Errors
    /// [`TablesError::Schema`]: no column, two of one name, bounds that are no values of the type
    /// or hold none, more than 9 decimal places, categories that are none or not distinct, or have
    /// blanks around them.
    pub fn new(columns: impl IntoIterator<Item = (String, Kind)>) -> Result<Self, TablesError> {
        Self::with_nulls(columns.into_iter().map(|(name, kind)| (name, kind, false)))
    }

    /// The same of columns of which those with `true` may have empty cells. Which cells are empty
    /// is encrypted as values are: it is one more code, below the others.
    ///
    /// # Errors
    /// As [`Schema::new`]; [`TablesError::Schema`] for an empty text among the categories of a
    /// column with empty cells.
    pub fn with_nulls(
        columns: impl IntoIterator<Item = (String, Kind, bool)>,
    ) -> Result<Self, TablesError> {
        let mut fields: Vec<Field> = Vec::new();
        for (name, kind, nullable) in columns {
            if fields.len() == MOST_COLUMNS {
                return Err(problem(&name, format!("at most {MOST_COLUMNS} columns are kept")));
            }
            let fits = (1..=NAME_BYTES).contains(&name.len());
            if !fits || name.chars().any(char::is_control) || name.trim() != name {
                let shown: String = name.chars().take(NAME_BYTES).collect();
                let told =
                    format!("a name has 1 to {NAME_BYTES} bytes, without control characters");
                return Err(problem(&shown, told + ", and no blanks around it"));
            }
            if fields.iter().any(|f| f.name.eq_ignore_ascii_case(&name)) {
                return Err(problem(&name, "there are two columns of this name"));
            }
            fields.push(Field::new(name, kind, nullable)?);
        }
        if fields.is_empty() {
            return Err(problem("", "expected a column at least"));
        }
        Ok(Schema { fields })
    }

    /// Reads a schema of JSON text: `{"columns": [{"name": …, "type": "integer", "low": …}, …]}`.
    ///
    /// # Errors
    /// [`TablesError::Data`] for other text or more than [`SCHEMA_BYTES`], those of [`Schema::new`]
    /// in its words.
    pub fn from_json(text: &str) -> Result<Self, TablesError> {
        let wrong = |e: String| TablesError::Data { problem: format!("schema: {e}") };
        if text.len() as u64 > SCHEMA_BYTES {
            return Err(wrong(format!("{} bytes, and {SCHEMA_BYTES} is the most", text.len())));
        }
        serde_json::from_str(text).map_err(|e| wrong(e.to_string()))
    }

    /// The schema as JSON on several lines, the same for equal schemas.
    ///
    /// # Errors
    /// [`TablesError::Data`] for more than [`SCHEMA_BYTES`].
    pub fn to_json(&self) -> Result<String, TablesError> {
        let wrong = |e: String| TablesError::Data { problem: format!("schema: {e}") };
        let column = |field: &Field| serde_json::to_string(&UncheckedField::from(field.clone()));
        let columns = self.fields.iter().map(column).collect::<Result<Vec<_>, _>>();
        let columns = columns.map_err(|e| wrong(e.to_string()))?;
        let text = format!("{{\"columns\": [\n  {}\n]}}\n", columns.join(",\n  "));
        match text.len() as u64 {
            0..=SCHEMA_BYTES => Ok(text),
            bytes => Err(wrong(format!("{bytes} bytes, and {SCHEMA_BYTES} is the most"))),
        }
    }

    /// A short name of the schema: equal schemas have the same.
    ///
    /// # Errors
    /// As [`Schema::to_json`].
    pub fn id(&self) -> Result<String, TablesError> {
        Ok(ParamsId::of_json(&self.to_json()?).to_string())
    }

    /// Passes what was made with this schema and meets a table of another one, or of the same.
    pub(crate) fn check(&self, what: &'static str, of_table: &Schema) -> Result<(), TablesError> {
        let told = |field: Option<&Field>| {
            field
                .map_or("no further column".into(), |f| format!("{:?}, {}", f.name(), f.expected()))
        };
        let (asked, there) = (self.fields(), of_table.fields());
        let differs = (0..asked.len().max(there.len())).find(|i| asked.get(*i) != there.get(*i));
        match differs {
            None => Ok(()),
            Some(i) => Err(TablesError::OtherSchema {
                what,
                place: i + 1,
                asked: told(asked.get(i)),
                there: told(there.get(i)),
            }),
        }
    }

    /// The columns.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The place of a column, whatever the case of its letters.
    ///
    /// # Errors
    /// [`TablesError::Name`] if there is none.
    pub fn place(&self, name: &str) -> Result<usize, TablesError> {
        let found = self.fields.iter().position(|f| f.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            let names = || self.fields.iter().map(|field| field.name.as_str());
            let (known, meant) =
                (names().collect::<Vec<_>>().join(", "), did_you_mean(name, names()));
            TablesError::Name { name: name.into(), known, meant }
        })
    }
}

fn problem(column: &str, problem: impl Into<String>) -> TablesError {
    TablesError::Schema { column: column.into(), problem: problem.into() }
}

impl Field {
    fn new(name: String, kind: Kind, nullable: bool) -> Result<Self, TablesError> {
        let bound = |code: Option<i128>, text: &str| {
            code.ok_or_else(|| problem(&name, format!("{text:?} is no value of the type")))
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
            Kind::Boolean => (0, 1),
            Kind::Category { values } => {
                if values.iter().collect::<BTreeSet<_>>().len() < values.len() {
                    return Err(problem(&name, "its categories are not distinct"));
                }
                if let Some(value) = values.iter().find(|v| v.trim() != **v) {
                    let told = "has blanks around it, which cells are read without";
                    return Err(problem(&name, format!("the category {value:?} {told}")));
                }
                (0, values.len() as i128 - 1)
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
            kind => kind,
        };
        Ok(Field { name, kind, low, high, nullable })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it holds.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The least and the greatest code, that of an empty cell among them.
    pub fn bounds(&self) -> (i128, i128) {
        (self.null().unwrap_or(self.low), self.high)
    }

    /// The least and the greatest code of a value.
    pub fn values(&self) -> (i128, i128) {
        (self.low, self.high)
    }

    /// The code of an empty cell; none if every cell has a value.
    pub fn null(&self) -> Option<i128> {
        self.nullable.then_some(self.low - 1)
    }

    /// The type of its codes.
    ///
    /// # Errors
    /// None: the bounds were checked.
    pub fn integer_type(&self) -> Result<Type, TablesError> {
        let (low, high) = self.bounds();
        Ok(Type::ranged(low, high)?)
    }

    /// Decimal places of its numbers; none if it holds no numbers.
    pub fn scale(&self) -> Option<u32> {
        match self.kind {
            Kind::Integer { .. } => Some(0),
            Kind::Decimal { scale, .. } => Some(scale),
            Kind::Date { .. } | Kind::Boolean | Kind::Category { .. } => None,
        }
    }

    /// The code of a text, whether or not it is within the bounds; none if it is no value.
    pub fn code(&self, text: &str) -> Option<i128> {
        match &self.kind {
            Kind::Integer { .. } => parse_decimal(text, 0),
            Kind::Decimal { scale, .. } => parse_decimal(text, *scale),
            Kind::Date { .. } => parse_date(text),
            Kind::Boolean if text.eq_ignore_ascii_case("true") => Some(1),
            Kind::Boolean if text.eq_ignore_ascii_case("false") => Some(0),
            Kind::Boolean => None,
            Kind::Category { values } => {
                values.iter().position(|v| v == text).map(|place| place as i128)
            }
        }
    }

    /// The text of a code.
    pub fn text(&self, code: i128) -> String {
        match &self.kind {
            Kind::Integer { .. } => code.to_string(),
            Kind::Decimal { scale, .. } => format_decimal(code, *scale),
            Kind::Date { .. } => date(code).map_or_else(|| code.to_string(), |d| d.to_string()),
            Kind::Boolean => (code == 1).to_string(),
            Kind::Category { values } => {
                let place = usize::try_from(code).ok();
                place.and_then(|i| values.get(i)).cloned().unwrap_or_else(|| code.to_string())
            }
        }
    }

    /// What a cell may hold, in words.
    pub fn expected(&self) -> String {
        let value = self.expected_value();
        if self.nullable { format!("{value}, or nothing") } else { value }
    }

    /// What a cell that is not empty may hold, in words.
    pub fn expected_value(&self) -> String {
        match &self.kind {
            Kind::Integer { low, high } => format!("an integer from {low} to {high}"),
            Kind::Decimal { scale, low, high } => {
                format!("a number from {low} to {high} with at most {scale} decimal places")
            }
            Kind::Date { low, high } => format!("a date from {low} to {high}"),
            Kind::Boolean => "true or false".into(),
            Kind::Category { values } if values.len() <= 12 => {
                format!("one of {}", values.join(", "))
            }
            Kind::Category { values } => format!("one of the {} categories", values.len()),
        }
    }
}
