//! The work of a server for a query: the sums, least and greatest values and rankings from which
//! its aggregates are computed.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use everlevel_integers::SumRequest;
use everlevel_ring::PrimePower;

use crate::condition::{Condition, Number};
use crate::error::TablesError;
use crate::field::Field;
use crate::kind::Kind;
use crate::order::{Extremes, MOST_DIGITS, MOST_RANKINGS, Ranking, Room};
use crate::query::{Aggregate, Fold, Query};
use crate::ranges::Ranges;
use crate::schema::Schema;

/// The largest number of terms of a number that is added up, as a sum of products of columns.
const TERMS: usize = 4096;

/// The position of an aggregate of a group.
pub(crate) enum Place {
    /// The total of these sums; 0 if there are none.
    Sums(Vec<usize>),
    /// A least or greatest value, or 0 for no rows.
    Extreme {
        /// The index of the [`Extremes`].
        of: usize,
        /// The index of its set of rows.
        set: usize,
    },
    /// 1 if there is such a value, otherwise 0.
    Exists {
        /// The index of the [`Extremes`].
        of: usize,
        /// The index of its set of rows.
        set: usize,
    },
}

/// The rows whose truth value in a column is 1.
pub(crate) fn truth(column: usize) -> Condition {
    Condition::Within { column, codes: Ranges::of([1]) }
}

/// The columns of a row, and the truth values of rankings.
pub(crate) fn with_truths(schema: &Schema, rankings: &[Ranking]) -> Result<Schema, TablesError> {
    let count = rankings.iter().map(Ranking::columns).sum();
    let field = |i: usize| Field::new(format!(":rank {i}"), Kind::Boolean, false);
    Ok(schema.beside((0..count).map(field).collect::<Result<Vec<_>, _>>()?))
}

/// The work of a server for all groups.
pub(crate) struct Requests<'a> {
    query: &'a Query,
    /// The columns of a row.
    schema: Schema,
    /// Their number; behind them are those of the rankings.
    width: usize,
    room: Room,
    modulus: PrimePower,
    /// The aggregates whose values are requested, if the server orders rows; otherwise all.
    valued: Option<BTreeSet<usize>>,
    known: HashMap<Condition, usize>,
    pub(crate) masks: Vec<Condition>,
    /// Masks of the rest of a group, each with that of the group, if it has one, and that of the
    /// other part of it.
    pub(crate) differences: BTreeMap<usize, (Option<usize>, usize)>,
    pub(crate) sums: Vec<SumRequest>,
    /// The extremes, each with the index of its aggregate.
    pub(crate) extremes: Vec<(usize, Extremes)>,
    pub(crate) rankings: Vec<Ranking>,
}

impl<'a> Requests<'a> {
    /// Without any group, for a table of some rows under a set with some slots.
    pub(crate) fn new(query: &'a Query, schema: &Schema, modulus: PrimePower, room: Room) -> Self {
        let valued = query.orders_groups().then(|| query.valued());
        Requests {
            query,
            schema: schema.clone(),
            width: schema.fields().len(),
            room,
            modulus,
            valued,
            known: HashMap::new(),
            masks: Vec::new(),
            differences: BTreeMap::new(),
            sums: Vec::new(),
            extremes: Vec::new(),
            rankings: Vec::new(),
        }
    }

    /// The positions of the aggregates of the group with these codes.
    pub(crate) fn of_group(&mut self, codes: &[i128]) -> Result<Vec<Place>, TablesError> {
        let query = self.query;
        let mut group = Condition::Constant(true);
        for (column, code) in query.groups.iter().zip(codes) {
            let one = Condition::Within { column: *column, codes: Ranges::of([*code]) };
            group = both(group, one.simplified(&self.schema));
        }
        // What no sum is comes first: what tells that there are rows may count for others.
        let ordered = |a: &Aggregate| a.fold != Fold::Sum;
        let (mut places, mut exist) = (BTreeMap::new(), Vec::new());
        for (i, aggregate) in query.aggregates.iter().enumerate().filter(|(_, a)| ordered(a)) {
            let mask = both(group.clone(), aggregate.when.clone());
            if self.never(&mask) {
                places.insert(i, Place::Sums(Vec::new()));
                continue;
            }
            let (place, exists) = match aggregate.fold {
                Fold::Quantile(_) => self.middle((i, aggregate), mask)?,
                _ => self.extreme(i, aggregate, mask)?,
            };
            places.insert(i, place);
            exist.push((&aggregate.when, exists));
        }
        for (i, aggregate) in query.aggregates.iter().enumerate().filter(|(_, a)| !ordered(a)) {
            let mask = both(group.clone(), aggregate.when.clone());
            let counted = self.valued.as_ref().is_none_or(|valued| valued.contains(&i));
            let place = match exist.iter().position(|(when, _)| **when == aggregate.when) {
                _ if self.never(&mask) => Place::Sums(Vec::new()),
                Some(found) if !counted => match &exist[found].1 {
                    Place::Sums(all) => Place::Sums(all.clone()),
                    Place::Extreme { of, set } | Place::Exists { of, set } => {
                        Place::Exists { of: *of, set: *set }
                    }
                },
                // Nobody asks whether the whole table has rows.
                None if !counted && i == 0 && query.groups.is_empty() => Place::Sums(Vec::new()),
                _ => {
                    let sum = self.sum(mask, &aggregate.value)?;
                    self.divide(&group, &aggregate.when);
                    Place::Sums(vec![sum])
                }
            };
            places.insert(i, place);
        }
        Ok(places.into_values().collect())
    }

    /// Notes what is the rest of a group: the rows with a code of a set, where those without are
    /// summed up by themselves, so that which rows are the rest need not be computed.
    fn divide(&mut self, group: &Condition, when: &Condition) {
        let Condition::Within { column, codes } = when else { return };
        let others = codes.not(self.schema.fields()[*column].bounds());
        let others = Condition::Within { column: *column, codes: others };
        let place = |when: Condition| self.known.get(&both(group.clone(), when)).copied();
        let whole = match group {
            Condition::Constant(true) => Some(None),
            group => self.known.get(group).copied().map(Some),
        };
        let (Some(whole), Some(rest), Some(part)) = (whole, place(when.clone()), place(others))
        else {
            return;
        };
        if !self.differences.contains_key(&part) {
            self.differences.insert(rest, (whole, part));
        }
    }

    /// Whether no row of the filter meets a condition, whatever the data.
    fn never(&self, mask: &Condition) -> bool {
        let rows = Condition::And(vec![self.query.filter.clone(), mask.clone()]);
        rows.simplified(&self.schema) == Condition::Constant(false)
    }

    /// The index of a sum over the rows of a mask.
    fn sum(&mut self, mask: Condition, value: &Number) -> Result<usize, TablesError> {
        let mask = match mask {
            Condition::Constant(true) => None,
            mask => Some(*self.known.entry(mask.clone()).or_insert_with(|| {
                self.masks.push(mask);
                self.masks.len() - 1
            })),
        };
        // Behind the rows of a block the least codes stand, and in a ranking 0.
        let fields = self.schema.fields();
        let padding = |place: usize| fields.get(place).map_or(0, |field| field.bounds().0);
        let chosen = self.query.filter.holds(&padding)
            && mask.is_none_or(|i: usize| self.masks[i].holds(&padding));
        let pad = if chosen { value.value(&padding) } else { 0 };
        let terms = polynomial(value)?.into_iter();
        let terms = terms.map(|(columns, weight)| (weight, columns)).collect();
        self.sums.push(SumRequest { mask, terms, pad });
        Ok(self.sums.len() - 1)
    }

    /// The positions of a least or greatest value, and of the number that says whether there is
    /// one.
    fn extreme(
        &mut self,
        i: usize,
        aggregate: &Aggregate,
        mask: Condition,
    ) -> Result<(Place, Place), TablesError> {
        let known = self.extremes.iter().position(|(place, _)| *place == i);
        let of = known.unwrap_or(self.extremes.len());
        if known.is_none() {
            self.extremes.push((i, Extremes::new(aggregate, &self.schema, self.modulus)?));
        }
        let held = |(_, of): &(usize, Extremes)| of.whens.len() as u64 * u64::from(of.digits);
        let digits = u64::from(self.extremes[of].1.digits);
        if self.extremes.iter().map(held).sum::<u64>() + digits > u64::from(MOST_DIGITS) {
            return Err(TablesError::unsupported(
                &format!(
                    "min and max, ordered by the server, of more than {MOST_DIGITS} hexadecimal \
                     digits in all groups together"
                ),
                "ask for fewer groups or values at a time, or leave it to the reader: ordered by \
                 the reader",
            ));
        }
        let found = &mut self.extremes[of].1;
        if found.whens.len() == self.room.slots {
            return Err(TablesError::unsupported(
                &format!(
                    "min and max, ordered by the server, of more than {} groups",
                    self.room.slots
                ),
                "the parameter set has no slot for each group: ask for fewer groups, use a \
                 parameter set with more slots, or leave it to the reader: ordered by the reader",
            ));
        }
        found.whens.push(both(self.query.filter.clone(), mask));
        let set = found.whens.len() - 1;
        Ok((Place::Extreme { of, set }, Place::Exists { of, set }))
    }

    /// The positions of twice a median, and of the number that says whether there is one: sums over
    /// the rows in the middle.
    fn middle(
        &mut self,
        (of, aggregate): (usize, &Aggregate),
        mask: Condition,
    ) -> Result<(Place, Place), TablesError> {
        let when = both(self.query.filter.clone(), mask);
        self.room.check_ranked(&when, self.query, &self.schema)?;
        if self.rankings.len() == MOST_RANKINGS {
            return Err(TablesError::unsupported(
                &format!("more than {MOST_RANKINGS} medians, ordered by the server"),
                "ask for fewer groups at a time, or leave it to the reader: ordered by the reader",
            ));
        }
        let lower = self.width + self.rankings.iter().map(Ranking::columns).sum::<usize>();
        self.rankings.push(Ranking::middle((of, aggregate), &self.schema, when)?);
        let values = [lower, lower + 1].map(|i| self.sum(truth(i), &aggregate.value));
        let [lower_value, upper_value] = values;
        let exists = self.sum(truth(lower), &Number::Constant(1))?;
        Ok((Place::Sums(vec![lower_value?, upper_value?]), Place::Sums(vec![exists])))
    }
}

/// The conjunction of two conditions. The first one is not changed, so that all conjunctions that
/// begin with it share it.
fn both(a: Condition, b: Condition) -> Condition {
    match (a, b) {
        (Condition::Constant(true), x) | (x, Condition::Constant(true)) => x,
        (Condition::Constant(false), _) | (_, Condition::Constant(false)) => {
            Condition::Constant(false)
        }
        (a, b) => Condition::And(vec![a, b]),
    }
}

/// A number as a sum of products of columns, each with its factor.
fn polynomial(x: &Number) -> Result<BTreeMap<Vec<usize>, i128>, TablesError> {
    let wide = || TablesError::Type {
        expression: "a sum".into(),
        problem: format!("written out it has more than {TERMS} terms, or numbers past 127 bits"),
    };
    let sum = |a: &Number, b: &Number, sign: i128| {
        let mut out = polynomial(a)?;
        for (columns, weight) in polynomial(b)? {
            let known = out.entry(columns).or_insert(0);
            let added = weight.checked_mul(sign).and_then(|w| known.checked_add(w));
            *known = added.ok_or_else(wide)?;
        }
        Ok::<_, TablesError>(out)
    };
    let mut out = match x {
        Number::Column(place) => BTreeMap::from([(vec![*place], 1)]),
        Number::Constant(value) => BTreeMap::from([(Vec::new(), *value)]),
        Number::Add(a, b) => sum(a, b, 1)?,
        Number::Subtract(a, b) => sum(a, b, -1)?,
        Number::Multiply(a, b) => {
            let (a, b) = (polynomial(a)?, polynomial(b)?);
            if a.len().saturating_mul(b.len()) > TERMS {
                return Err(wide());
            }
            let mut out = BTreeMap::new();
            for ((x, k), (y, l)) in a.iter().flat_map(|x| b.iter().map(move |y| (x, y))) {
                let mut columns = [&x[..], &y[..]].concat();
                columns.sort_unstable();
                let known = out.entry(columns).or_insert(0i128);
                let product = k.checked_mul(*l).and_then(|w| known.checked_add(w));
                *known = product.ok_or_else(wide)?;
            }
            out
        }
    };
    out.retain(|_, weight| *weight != 0);
    if out.len() > TERMS { Err(wide()) } else { Ok(out) }
}
