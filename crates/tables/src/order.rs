//! The order of rows by a server: least and greatest values, and rows that come first.

use everlevel_integers::{ChosenShape, Interval, Order, Type};
use everlevel_ring::{PrimePower, SlotShape};

use crate::condition::{Condition, Number};
use crate::error::TablesError;
use crate::field::Field;
use crate::kind::Kind;
use crate::quantile::Quantile;
use crate::query::{Aggregate, Fold, OrderKey, Query};
use crate::schema::Schema;

/// The largest number of rows of a table whose rows are ranked, because all pairs of them are
/// compared; and of neighboring rows that a set is among, where public columns tell which rows may
/// be in it.
pub(crate) const MOST_RANKED: usize = 128;
/// The largest number of sets of rows that are ranked, each by itself.
pub(crate) const MOST_RANKINGS: usize = 256;
/// The largest number of hexadecimal digits of all least and greatest values of a query; each is a
/// ciphertext in memory while the next blocks are compared with it.
pub(crate) const MOST_DIGITS: u32 = 512;
/// The largest number of codes of a column that are mapped to positions by a table.
const TABLE: i128 = 256;
/// The largest number of digits of the number by which rows are ranked, including one for whether
/// they meet the condition.
const DIGITS: u32 = 30;

/// The position of each text of a column of categories in the order of texts; `None` for other
/// columns, and for categories that are stated in this order, because their codes are the
/// positions.
///
/// # Errors
/// [`TablesError::Unsupported`] for more than 256 categories in another order.
pub(crate) fn text_order(field: &Field) -> Result<Option<Vec<i128>>, TablesError> {
    let Kind::Category { values } = field.kind() else { return Ok(None) };
    if values.is_sorted() {
        return Ok(None);
    }
    if values.len() as i128 > TABLE {
        return Err(TablesError::unsupported(
            &format!("an order of {:?} by the server", field.name()),
            "state its categories in the order of the texts: more than 256 in another one are not \
             looked up",
        ));
    }
    let mut sorted: Vec<usize> = (0..values.len()).collect();
    sorted.sort_by_key(|i| &values[*i]);
    let mut places = vec![0; values.len()];
    (0..).zip(sorted).for_each(|(place, code)| places[code] = place);
    Ok(Some(places))
}

/// The number of hexadecimal digits of integers from 0 to `most`.
pub(crate) fn digits(most: i128) -> u32 {
    (128 - most.leading_zeros()).div_ceil(4)
}

/// The least or the greatest value of one number, in each of some sets of rows.
pub(crate) struct Extremes {
    pub(crate) order: Order,
    pub(crate) value: Number,
    /// The number that represents each code of a column of categories, from that of an empty cell
    /// on.
    pub(crate) places: Option<Vec<i128>>,
    /// The number that represents no value, and comes last.
    pub(crate) none: i128,
    pub(crate) shape: ChosenShape,
    /// The number of digits of a value.
    pub(crate) digits: u32,
    /// The sets of rows.
    pub(crate) whens: Vec<Condition>,
}

impl Extremes {
    /// The same, where sets of codes of columns with an index are decided by the index.
    #[must_use]
    pub(crate) fn by_index(self, schema: &Schema) -> Self {
        let whens = self.whens.into_iter().map(|when| when.by_index(schema)).collect();
        Extremes { whens, ..self }
    }

    /// The extremes for an aggregate of this fold, without any set of rows yet.
    pub(crate) fn new(
        aggregate: &Aggregate,
        schema: &Schema,
        modulus: PrimePower,
    ) -> Result<Self, TablesError> {
        let (value, greatest) = (aggregate.value.clone(), aggregate.fold == Fold::Greatest);
        let mut interval = value.interval(schema, "a least or greatest value")?;
        let (mut places, mut least) = (None, interval.low());
        if let Number::Column(place) = &value {
            let field = &schema.fields()[*place];
            // An empty cell is one more code, below the others, and no value.
            least = field.values().0;
            if let Some(own) = text_order(field)? {
                (least, interval) = (0, Interval::new(0, own.len() as i128 - 1)?);
                places = Some(field.null().map(|_| 0).into_iter().chain(own).collect());
            }
        }
        let none = if greatest { least - 1 } else { interval.high() + 1 };
        let (low, high) = (interval.low().min(none), interval.high().max(none));
        let (kind, digits) = (Type::ranged(low, high)?, digits(high - low));
        let order = if greatest { Order::Descending } else { Order::Ascending };
        let (shape, whens) = (ChosenShape::of(kind, modulus), Vec::new());
        Ok(Extremes { order, value, places, none, shape, digits, whens })
    }

    /// The code of the value that was found; `None` if no row met the condition.
    pub(crate) fn code(&self, found: i128) -> Option<i128> {
        if found == self.none {
            return None;
        }
        let Some(places) = &self.places else { return Some(found) };
        // The code of an empty cell is passed over: it is the first one where there are such.
        let empty = places.len() as i128 - 1 - places.iter().copied().max().unwrap_or(0);
        let code = places.iter().skip(empty as usize).position(|place| *place == found);
        code.map(|code| code as i128)
    }
}

/// A number that rows are ranked by.
pub(crate) struct Key {
    pub(crate) value: Number,
    /// The number that represents each of its values, the least one first.
    pub(crate) places: Option<Vec<i128>>,
    /// The code of an empty cell, if empty cells come last; by itself, this code is the least one.
    pub(crate) null: Option<i128>,
    /// The least value that it can then have.
    pub(crate) low: i128,
    pub(crate) high: i128,
    pub(crate) descending: bool,
}

impl Key {
    /// The keys of the order of a query for rows, the most significant one first.
    ///
    /// # Errors
    /// [`TablesError::Unsupported`] for texts, for categories that [`text_order`] refuses, and for
    /// more digits than are compared.
    pub(crate) fn of_order(query: &Query, schema: &Schema) -> Result<Vec<Self>, TablesError> {
        let key = |key: &OrderKey| {
            let column = query.column_of(&query.outputs[key.output].value);
            let column = column.ok_or_else(|| {
                TablesError::unsupported("an order by what is no column", "name a column")
            })?;
            Key::of_column(column, &schema.fields()[column], key)
        };
        let keys = query.order.iter().map(key).collect::<Result<Vec<_>, _>>()?;
        if keys.iter().map(Key::digits).sum::<u32>() >= DIGITS {
            return Err(TablesError::unsupported(
                &format!("an order by {} columns by the server", keys.len()),
                "order by columns of 116 bits together, or leave it to the reader: ordered by the \
                 reader",
            ));
        }
        Ok(keys)
    }

    fn of_column(column: usize, field: &Field, key: &OrderKey) -> Result<Self, TablesError> {
        if field.is_text() {
            return Err(TablesError::unsupported(
                &format!("an order by {:?}, a column of texts, by the server", field.name()),
                "leave it to the reader, or state it as a category",
            ));
        }
        let (value, descending) = (Number::Column(column), key.descending);
        let (low, high) = field.values();
        let count = high - low + 1;
        let own = text_order(field)?;
        // An empty cell is the least or the greatest of all: the code before the others is its own.
        let least = field.null().filter(|_| key.nulls_first != descending);
        let greatest = field.null().filter(|_| key.nulls_first == descending);
        if own.is_some() || (greatest.is_some() && count < TABLE) {
            let first = least.map_or(0, |_| 1);
            let own = own.unwrap_or_else(|| (0..count).collect());
            let own = own.into_iter().map(|place| first + place);
            let null = least.map(|_| 0).or(greatest.map(|_| count));
            let high = count - i128::from(null.is_none());
            let places = Some(null.into_iter().chain(own).collect());
            return Ok(Key { value, places, null: None, low: 0, high, descending });
        }
        let (low, high) = (least.unwrap_or(low), high + i128::from(greatest.is_some()));
        Ok(Key { value, places: None, null: greatest, low, high, descending })
    }

    pub(crate) fn digits(&self) -> u32 {
        digits(self.high - self.low)
    }
}

/// The ranked rows that are selected.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pick {
    /// A given number of rows that come first.
    First(usize),
    /// The one or two in the middle: the lower one, and the upper one.
    Middle,
}

/// The ranking of the rows of a set. Which of them come first, or are in the middle, is stated by
/// truth values of all rows, in additional columns after those of the table.
pub(crate) struct Ranking {
    /// The aggregate that it is for; 0 for rows.
    pub(crate) of: usize,
    pub(crate) when: Condition,
    pub(crate) keys: Vec<Key>,
    pub(crate) pick: Pick,
}

impl Ranking {
    /// The same, where sets of codes of columns with an index are decided by the index.
    #[must_use]
    pub(crate) fn by_index(self, schema: &Schema) -> Self {
        Ranking { when: self.when.by_index(schema), ..self }
    }

    /// The ranking that finds the middle of a number, for the aggregate at a place.
    pub(crate) fn middle(
        (of, aggregate): (usize, &Aggregate),
        schema: &Schema,
        when: Condition,
    ) -> Result<Self, TablesError> {
        let value = aggregate.value.clone();
        let interval = value.interval(schema, "a median")?;
        let (low, high) = (interval.low(), interval.high());
        let key = Key { value, places: None, null: None, low, high, descending: false };
        Ok(Ranking { of, when, keys: vec![key], pick: Pick::Middle })
    }

    /// The number of columns of truth values that it adds.
    pub(crate) fn columns(&self) -> usize {
        match self.pick {
            Pick::First(_) => 1,
            Pick::Middle => 2,
        }
    }
}

/// Checks that a server can compute these aggregates of groups.
pub(crate) fn orderable(
    aggregates: &[Aggregate],
    few: bool,
    schema: &Schema,
) -> Result<(), TablesError> {
    let refused = |what: &str, remedy: &str| Err(TablesError::unsupported(what, remedy));
    if !few {
        return refused(
            "a group by of more than 256 combinations of values, ordered by the server",
            "leave it to the reader, who groups listed rows: ordered by the reader",
        );
    }
    for Aggregate { fold, value, .. } in aggregates {
        match (fold, value) {
            (Fold::Distinct, _) => {
                return refused(
                    "count (distinct …), ordered by the server",
                    "group by the column, if it has up to 256 values, or leave it to the reader, \
                     who counts listed rows: ordered by the reader",
                );
            }
            (Fold::Quantile(quantile), _) if *quantile != Quantile::MEDIAN => {
                return refused(
                    "a quantile other than the median, ordered by the server",
                    "leave it to the reader, of listed rows: ordered by the reader; or ask for the \
                     value in rounds (Search), which tells counts alone",
                );
            }
            (Fold::Least | Fold::Greatest, Number::Column(place)) => {
                text_order(&schema.fields()[*place])?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The rows of a table, and the slots that there are for them.
#[derive(Clone, Copy)]
pub(crate) struct Room {
    pub(crate) rows: usize,
    /// The slots of a block.
    pub(crate) slots: usize,
    /// Those that rotations move in a circle.
    pub(crate) columns: usize,
}

impl Room {
    pub(crate) fn new(rows: usize, shape: &SlotShape) -> Self {
        Room { rows, slots: shape.slots(), columns: shape.columns() }
    }

    /// The largest number of rows of which all pairs are compared.
    fn most(self) -> usize {
        MOST_RANKED.min(self.slots)
    }

    /// Whether all pairs of rows can be compared, so that sets that public columns do not tell
    /// apart are ranked, too.
    pub(crate) fn compares_all(self) -> bool {
        self.rows <= self.most()
    }

    /// Checks the number of rows of a table of which those that meet a condition are to be ranked:
    /// all of them have to be few, or those that public columns leave. Whether these are few
    /// enough, and near each other, is known with the columns.
    pub(crate) fn check_ranked(
        self,
        when: &Condition,
        query: &Query,
        schema: &Schema,
    ) -> Result<(), TablesError> {
        let public = |place: &usize| schema.fields().get(*place).is_some_and(Field::is_public);
        // Rows of a set are in a row of slots, or in two halves of blocks.
        let one = self.rows <= self.slots;
        let fits = MOST_RANKED <= self.columns && (one || 2 * MOST_RANKED <= self.slots);
        let apart = when.may_be_decided(false, &public);
        if self.compares_all() || (fits && apart) {
            return Ok(());
        }
        let Room { rows, slots, .. } = self;
        // Whether a condition on public columns fails only for its encrypted constants.
        let field = |place: &usize| schema.fields().get(*place);
        let constant = |place: &usize| field(place).is_some_and(|f| query.is_constant(f));
        let hidden = when.may_be_decided(false, &|place: &usize| public(place) || constant(place));
        let narrow = match hidden {
            true => {
                "a condition with an encrypted constant does not tell the server which rows to \
                 rank: write the constant itself in place of its name, if the server may know it, \
                 or group by the public column"
            }
            false => {
                "group by public columns (\"public\": true in the schema), or ask with a \
                 condition on them"
            }
        };
        let (found, remedy) = match apart {
            true => (
                format!(
                    "order by … limit and median of groups of rows that public columns tell \
                     apart, ordered by the server, of a table of {rows} rows"
                ),
                format!(
                    "use a parameter set with at least {} slots, where {slots} are used here",
                    2 * MOST_RANKED
                ),
            ),
            false => (
                format!(
                    "order by … limit and median of a table of {rows} rows, ordered by the server, \
                     where {} is the most",
                    self.most()
                ),
                format!(
                    "{narrow}, in a table that was sorted by public columns: then {MOST_RANKED} \
                     rows in sequence may be of one group"
                ),
            ),
        };
        Err(TablesError::unsupported(
            &found,
            &format!(
                "ask for the median or the first rows in rounds (`table search`, Search); or leave \
                 it to the reader, of listed rows; or {remedy}; min and max are answered for any \
                 number of rows"
            ),
        ))
    }
}
