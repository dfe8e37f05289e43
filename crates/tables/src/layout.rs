//! Where the sums of a question are in the ciphertexts of its answer.

use std::collections::{BTreeMap, HashMap};

use everlevel_integers::{Shape, SumPlan, SumRequest};
use everlevel_ring::SlotShape;

use crate::error::TablesError;
use crate::query::{Condition, Number, Query};
use crate::ranges::Ranges;
use crate::schema::Schema;

/// The most terms of a number that is added up, written as a sum of products of columns.
const TERMS: usize = 4096;

/// How a question is answered for a table of so many rows: which rows are told apart, what is added
/// up, and how the reader finds the sums. It follows from question, schema, ring and number of rows
/// alone, so that who has these reads answers.
pub struct Layout {
    /// What all sums share; none: all rows.
    pub(crate) filter: Option<Condition>,
    pub(crate) masks: Vec<Condition>,
    pub(crate) plan: SumPlan,
    /// The places of the sums, by groups and aggregates; none: 0 for all data.
    places: Vec<Vec<Option<usize>>>,
    rows: usize,
    slots: usize,
}

impl Layout {
    /// Of a question about a table of `rows` rows, under a set with these slots.
    ///
    /// # Errors
    /// Those of [`SumPlan::new`]; [`TablesError::Type`] for a number of too many terms.
    pub fn new(
        query: &Query,
        schema: &Schema,
        shape: &SlotShape,
        rows: usize,
    ) -> Result<Self, TablesError> {
        let fields = schema.fields();
        let padding = |place: usize| fields[place].bounds().0;
        let (mut masks, mut requests, mut places) = (Vec::new(), Vec::new(), Vec::new());
        let mut known: HashMap<Condition, usize> = HashMap::new();
        for codes in query.group_codes(schema) {
            let mut group = Condition::Constant(true);
            for (column, code) in query.groups.iter().zip(codes) {
                let one = Condition::Within { column: *column, codes: Ranges::of([code]) };
                group = both(group, one.simplified(schema));
            }
            let mut here = Vec::with_capacity(query.aggregates.len());
            for aggregate in &query.aggregates {
                let mask = both(group.clone(), aggregate.when.clone());
                let rows = Condition::And(vec![query.filter.clone(), mask.clone()]);
                let never = rows.simplified(schema) == Condition::Constant(false);
                let mask = match mask {
                    _ if never => {
                        here.push(None);
                        continue;
                    }
                    Condition::Constant(true) => None,
                    mask => Some(*known.entry(mask.clone()).or_insert_with(|| {
                        masks.push(mask);
                        masks.len() - 1
                    })),
                };
                let chosen = query.filter.holds(&padding)
                    && mask.is_none_or(|i: usize| masks[i].holds(&padding));
                let pad = if chosen { aggregate.value.value(&padding) } else { 0 };
                let terms = polynomial(&aggregate.value)?.into_iter();
                let terms = terms.map(|(columns, weight)| (weight, columns)).collect();
                here.push(Some(requests.len()));
                requests.push(SumRequest { mask, terms, pad });
            }
            places.push(here);
        }
        let filter = Some(query.filter.clone()).filter(|f| !matches!(f, Condition::Constant(_)));
        let shapes = fields.iter().map(|field| Ok(Shape::of(field.integer_type()?)));
        let shapes = shapes.collect::<Result<Vec<_>, TablesError>>()?;
        let plan = SumPlan::new(shapes, &requests, shape, rows, filter.is_some())?;
        Ok(Layout { filter, masks, plan, places, rows, slots: shape.slots() })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The numbers of rows of the blocks that a table is encrypted in.
    pub fn blocks(&self) -> impl Iterator<Item = usize> {
        let rows = self.rows;
        (0..rows).step_by(self.slots).map(move |start| self.slots.min(rows - start))
    }

    /// The number of ciphertexts of the answer.
    pub fn ciphertexts(&self) -> usize {
        self.plan.ciphertexts()
    }

    /// The number of sums that the answer holds, which is what whoever decrypts it learns.
    pub fn sums(&self) -> usize {
        self.plan.sums()
    }

    /// The number of different sets of rows that sums are over.
    pub fn masks(&self) -> usize {
        self.masks.len()
    }

    /// The sums of all groups, as [`Answer::new`](crate::Answer::new) takes them, by the
    /// coefficients of the decrypted answer.
    ///
    /// # Errors
    /// Those of [`SumPlan::totals`].
    pub fn read(&self, plaintexts: &[impl AsRef<[u64]>]) -> Result<Vec<Vec<i128>>, TablesError> {
        let totals = if self.rows > 0 { self.plan.totals(plaintexts)? } else { Vec::new() };
        let sum = |place: &Option<usize>| place.and_then(|i| totals.get(i)).copied().unwrap_or(0);
        Ok(self.places.iter().map(|group| group.iter().map(sum).collect()).collect())
    }
}

/// Both of two conditions, the first one left as it is, so that all that it begins shares it.
fn both(a: Condition, b: Condition) -> Condition {
    match (a, b) {
        (Condition::Constant(true), x) | (x, Condition::Constant(true)) => x,
        (Condition::Constant(false), _) | (_, Condition::Constant(false)) => {
            Condition::Constant(false)
        }
        (a, b) => Condition::And(vec![a, b]),
    }
}

/// A number as a sum of products of columns, each product with what multiplies it.
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
