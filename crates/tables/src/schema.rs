//! The schema of a table. It is public, and never depends on encrypted values.

use std::collections::HashSet;
use std::ops::Range;

use everlevel_wire::ParamsId;
use serde::{Deserialize, Serialize};

use crate::error::TablesError;
use crate::field::{Field, checked_name, problem};
use crate::foreign::{Carried, ForeignKey};
use crate::indexed::Index;
use crate::kind::Kind;
use crate::nearest::did_you_mean;

/// The largest number of columns.
const MOST_COLUMNS: usize = 4096;
/// The largest schema that is read, in bytes of JSON.
pub const SCHEMA_BYTES: u64 = 1 << 20;

/// The columns of a table, in order, and the foreign keys by which some of them are carried from
/// other tables.
///
/// A column of texts consists of several columns here, one for each part, next to each other under
/// one name; the first one represents all of them. So does a column with an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked", into = "Unchecked")]
pub struct Schema {
    fields: Vec<Field>,
    carried: Vec<Carried>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    columns: Vec<Field>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    foreign_keys: Vec<ForeignKey>,
}

impl TryFrom<Unchecked> for Schema {
    type Error = TablesError;

    fn try_from(unchecked: Unchecked) -> Result<Self, TablesError> {
        Schema::of(unchecked.columns)?.with_foreign_keys(unchecked.foreign_keys)
    }
}

impl From<Schema> for Unchecked {
    fn from(schema: Schema) -> Self {
        let columns = schema.columns().cloned().collect();
        Unchecked { foreign_keys: schema.foreign_keys(), columns }
    }
}

impl Schema {
    /// A schema of columns with these names.
    ///
    /// # Errors
    /// [`TablesError::Schema`] for no column, two columns with one name, bounds that are not values
    /// of the type or contain no value, more than 9 decimal places, missing or repeated categories,
    /// and categories with spaces around them.
    pub fn new(columns: impl IntoIterator<Item = (String, Kind)>) -> Result<Self, TablesError> {
        Self::with_nulls(columns.into_iter().map(|(name, kind)| (name, kind, false)))
    }

    /// The same, where columns with `true` may have empty cells. Which cells are empty is encrypted
    /// like the values: an empty cell has an additional code, below the others.
    ///
    /// # Errors
    /// As [`Schema::new`]; [`TablesError::Schema`] for an empty text among the categories of a
    /// column with empty cells.
    pub fn with_nulls(
        columns: impl IntoIterator<Item = (String, Kind, bool)>,
    ) -> Result<Self, TablesError> {
        let field = |(name, kind, nullable)| Field::new(name, kind, nullable);
        Self::of(columns.into_iter().map(field).collect::<Result<Vec<_>, _>>()?)
    }

    /// A schema of columns, where those of texts are split into their parts.
    ///
    /// # Errors
    /// [`TablesError::Schema`] for no column, more than 4,096, or two of one name.
    pub fn of(columns: Vec<Field>) -> Result<Self, TablesError> {
        let columns = columns.iter().filter(|field| !field.is_rest());
        let fields: Vec<Field> = columns.flat_map(Field::parts).take(MOST_COLUMNS + 1).collect();
        if fields.is_empty() {
            return Err(problem("", "expected at least one column"));
        }
        if let Some(field) = fields.get(MOST_COLUMNS) {
            let told = format!(
                "at most {MOST_COLUMNS} columns are kept, of which a text takes one for each 14 \
                     bytes, and an index one for each of its ciphertexts"
            );
            return Err(problem(field.name(), told));
        }
        let mut names = HashSet::new();
        let mut columns = fields.iter().filter(|field| !field.is_rest());
        match columns.find(|f| !names.insert(f.name().to_ascii_lowercase())) {
            Some(field) => Err(problem(field.name(), "there are two columns of this name")),
            None => Ok(Schema { fields, carried: Vec::new() }),
        }
    }

    /// The same columns, some of which are carried from other tables.
    ///
    /// # Errors
    /// [`TablesError::Schema`] for columns that the schema does not have, for a column that is
    /// carried twice, for a column that names a partner and is carried by this foreign key or a
    /// later one, or may be empty, and for two tables with one name.
    pub fn with_foreign_keys(mut self, keys: Vec<ForeignKey>) -> Result<Self, TablesError> {
        self.carried.clear();
        let mut carried = HashSet::new();
        let all: HashSet<String> =
            keys.iter().flat_map(|k| &k.include).map(|name| name.to_ascii_lowercase()).collect();
        for foreign in keys {
            let wrong =
                |told: String| problem(&foreign.column, "foreign key: ".to_string() + &told);
            let place = |name: &str| {
                let found = self.fields.iter().position(|f| f.name().eq_ignore_ascii_case(name));
                found.ok_or_else(|| wrong(format!("there is no column {name:?}")))
            };
            let column = place(&foreign.column)?;
            let own = !all.contains(&foreign.column.to_ascii_lowercase());
            if !own && !carried.contains(&column) {
                return Err(wrong("it is carried by this foreign key or a later one".into()));
            }
            if self.fields[column].null().is_some() {
                return Err(wrong("it may be empty, and every row has a partner".into()));
            }
            if self.fields[column].is_text() {
                let told =
                    "it holds texts, which rows are not matched by: use a number or a category";
                return Err(wrong(told.into()));
            }
            let (table, key) =
                (checked_name(foreign.table.clone())?, checked_name(foreign.key.clone())?);
            if self.carried.iter().any(|c| c.is_called(&table)) {
                return Err(wrong(format!("there are two to {table:?}: give one another name")));
            }
            let mut include = Vec::with_capacity(foreign.include.len());
            for name in &foreign.include {
                let place = place(name)?;
                if place == column || name.eq_ignore_ascii_case(&key) || !carried.insert(place) {
                    return Err(wrong(format!("{name:?} cannot be carried, or is carried twice")));
                }
                include.extend(place..place + self.fields[place].count());
            }
            self.carried.push(Carried { column, table, key, include });
        }
        Ok(self)
    }

    /// The foreign keys, in the order in which partners are looked up.
    pub fn foreign_keys(&self) -> Vec<ForeignKey> {
        let name = |place: usize| self.fields[place].name().to_string();
        let key = |c: &Carried| ForeignKey {
            column: name(c.column),
            table: c.table.clone(),
            key: c.key.clone(),
            include: self.heads(c.include.iter().copied()).map(name).collect(),
        };
        self.carried.iter().map(key).collect()
    }

    /// The foreign keys by the indices of columns.
    pub(crate) fn carried(&self) -> &[Carried] {
        &self.carried
    }

    /// The foreign key that carries a column; `None` if the column belongs to the table itself.
    pub(crate) fn carries(&self, place: usize) -> Option<&Carried> {
        self.carried.iter().find(|c| c.include.contains(&place))
    }

    /// The indices of the columns that hold the values of the column at this index.
    pub(crate) fn cell_places(&self, place: usize) -> Range<usize> {
        place..place + self.fields[place].cells()
    }

    /// The indices of the columns that hold values, and no index.
    pub(crate) fn values(&self) -> impl Iterator<Item = usize> {
        (0..self.fields.len()).filter(|place| !self.fields[*place].is_of_index())
    }

    /// The index of the column at this index, as far as the schema has its columns; `None` for a
    /// column without an index.
    pub(crate) fn index(&self, place: usize) -> Option<Index> {
        let unary = self.fields.get(place)?.index()?;
        let bits = self.fields[place + 1..].iter().take_while(|field| field.is_of_index());
        Some(Index::new(unary, bits.map(Field::part_number), place + 1))
    }

    /// Those of the given indices that represent all parts of a text.
    pub(crate) fn heads(
        &self,
        places: impl IntoIterator<Item = usize>,
    ) -> impl Iterator<Item = usize> {
        places.into_iter().filter(|place| !self.fields[*place].is_rest())
    }

    /// The schema of only the columns at these indices, which may be parts of texts.
    pub(crate) fn at(&self, places: impl IntoIterator<Item = usize>) -> Schema {
        let fields = places.into_iter().map(|place| self.fields[place].clone()).collect();
        Schema { fields, carried: Vec::new() }
    }

    /// The same columns, followed by others.
    pub(crate) fn followed_by(
        &self,
        others: impl IntoIterator<Item = Field>,
    ) -> Result<Self, TablesError> {
        let fields = self.fields.iter().cloned().chain(others).collect();
        Ok(Schema { carried: self.carried.clone(), ..Self::of(fields)? })
    }

    /// The same columns, which may be parts of texts, followed by others without a change.
    pub(crate) fn beside(&self, others: Vec<Field>) -> Self {
        let fields = self.fields.iter().cloned().chain(others).collect();
        Schema { fields, carried: self.carried.clone() }
    }

    /// Reads a schema from JSON text: `{"columns": [{"name": …, "type": "integer", "low": …}, …]}`.
    ///
    /// # Errors
    /// [`TablesError::Data`] for other text or more than [`SCHEMA_BYTES`]; those of
    /// [`Schema::new`].
    pub fn from_json(text: &str) -> Result<Self, TablesError> {
        let wrong = |e: String| TablesError::Data { problem: format!("schema: {e}") };
        if text.len() as u64 > SCHEMA_BYTES {
            return Err(wrong(format!("{} bytes, above the limit of {SCHEMA_BYTES}", text.len())));
        }
        serde_json::from_str(text).map_err(|e| {
            wrong(format!("{e}; a schema is a JSON file such as `table schema infer` writes"))
        })
    }

    /// The schema as JSON on several lines; equal schemas have equal JSON.
    ///
    /// # Errors
    /// [`TablesError::Data`] for more than [`SCHEMA_BYTES`].
    pub fn to_json(&self) -> Result<String, TablesError> {
        let wrong = |e: String| TablesError::Data { problem: format!("schema: {e}") };
        let lines = |all: Result<Vec<String>, serde_json::Error>| {
            all.map(|lines| lines.join(",\n  ")).map_err(|e| wrong(e.to_string()))
        };
        let columns = lines(self.columns().map(serde_json::to_string).collect())?;
        let keys = lines(self.foreign_keys().iter().map(serde_json::to_string).collect())?;
        let keys = match keys.is_empty() {
            true => keys,
            false => format!(", \"foreign_keys\": [\n  {keys}\n]"),
        };
        let text = format!("{{\"columns\": [\n  {columns}\n]{keys}}}\n");
        match text.len() as u64 {
            0..=SCHEMA_BYTES => Ok(text),
            bytes => Err(wrong(format!("{bytes} bytes, above the limit of {SCHEMA_BYTES}"))),
        }
    }

    /// A short id of the schema; equal schemas have the same id.
    ///
    /// # Errors
    /// As [`Schema::to_json`].
    pub fn id(&self) -> Result<String, TablesError> {
        Ok(ParamsId::of_json(&self.to_json()?).to_string())
    }

    /// Checks that an object that was made with this schema fits a table with the schema
    /// `of_table`.
    pub(crate) fn check(&self, what: &'static str, of_table: &Schema) -> Result<(), TablesError> {
        let told = |field: Option<&Field>| match field {
            Some(field) => {
                let public = if field.is_public() { ", public" } else { "" };
                let index = if field.index().is_some() { ", with an index" } else { "" };
                format!("{:?}, {}{public}{index}", field.name(), field.expected())
            }
            None => "no further column".into(),
        };
        let other = |part: String, asked: String, there: String| {
            Err(TablesError::OtherSchema { what, part, asked, there })
        };
        let columns = |schema: &'_ Schema| schema.columns().cloned().collect::<Vec<_>>();
        let (asked, there) = (columns(self), columns(of_table));
        let differs = (0..asked.len().max(there.len())).find(|i| asked.get(*i) != there.get(*i));
        if let Some(i) = differs {
            let part = format!("column {}", i + 1);
            return other(part, told(asked.get(i)), told(there.get(i)));
        }
        if self.carried == of_table.carried {
            return Ok(());
        }
        let keys = |schema: &Schema| match &schema.carried[..] {
            [] => "none".to_string(),
            all => all.iter().map(|c| &c.table[..]).collect::<Vec<_>>().join(", "),
        };
        other("list of foreign keys".into(), keys(self), keys(of_table))
    }

    /// The columns in which entries are encrypted, with one for each part of a text or an index.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The columns, with one for all parts of a text.
    pub fn columns(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| !field.is_rest())
    }

    /// The index of a column; the case of letters does not matter.
    ///
    /// # Errors
    /// [`TablesError::Name`] if there is none.
    pub fn place(&self, name: &str) -> Result<usize, TablesError> {
        let found = self.fields.iter().position(|f| f.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            let names = || self.columns().map(Field::name);
            let (known, meant) =
                (names().collect::<Vec<_>>().join(", "), did_you_mean(name, names()));
            TablesError::Name { name: name.into(), known, meant }
        })
    }
}
