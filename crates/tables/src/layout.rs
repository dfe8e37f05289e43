//! Where the sums of a question, or its rows, are in the ciphertexts of its answer.

use std::collections::{BTreeMap, HashMap};

use everlevel_integers::{ChosenShape, Shape, SumPlan, SumRequest};
use everlevel_ring::{PrimePower, SlotShape};
use everlevel_scheme::{Params, Plaintext, SchemeError};

use zeroize::Zeroizing;

use crate::condition::{Condition, Number};
use crate::error::TablesError;
use crate::query::Query;
use crate::ranges::Ranges;
use crate::schema::Schema;

/// The most terms of a number that is added up, written as a sum of products of columns.
const TERMS: usize = 4096;

/// How a question is answered for a table of a given number of rows: which rows are told apart,
/// what is added up or listed, and how the reader finds it. It follows from question, schema, ring
/// and number of rows alone, so that they suffice to read answers.
pub struct Layout {
    /// What all sums share; none: all rows.
    pub(crate) filter: Option<Condition>,
    pub(crate) masks: Vec<Condition>,
    pub(crate) form: Form,
    rows: usize,
    slots: usize,
}

/// What the ciphertexts of an answer hold.
pub(crate) enum Form {
    /// Sums, in one ciphertext or a few.
    Sums {
        plan: SumPlan,
        /// The places of the sums, by groups and aggregates; none: 0 for all data.
        places: Vec<Vec<Option<usize>>>,
    },
    /// For each block of rows which of them are meant, and their entries in some columns; nothing
    /// if no row can be meant.
    Rows(Vec<(usize, ChosenShape)>),
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
        if let Some(listed) = &query.listed {
            return Self::of_rows(query, listed, schema, shape, rows);
        }
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
        Ok(Layout { filter, masks, form: Form::Sums { plan, places }, rows, slots: shape.slots() })
    }

    fn of_rows(
        query: &Query,
        listed: &[usize],
        schema: &Schema,
        shape: &SlotShape,
        rows: usize,
    ) -> Result<Self, TablesError> {
        let modulus = PrimePower::new(shape.plain_modulus(1), 1).map_err(everlevel::Error::from)?;
        let column = |place: &usize| {
            Ok((*place, ChosenShape::of(schema.fields()[*place].integer_type()?, modulus)))
        };
        let columns = listed.iter().map(column).collect::<Result<Vec<_>, TablesError>>()?;
        let (filter, masks) = (Some(query.filter.clone()), Vec::new());
        Ok(Layout { filter, masks, form: Form::Rows(columns), rows, slots: shape.slots() })
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
        match &self.form {
            Form::Sums { plan, .. } => plan.ciphertexts(),
            Form::Rows(columns) if !self.is_empty() => {
                let each: usize = columns.iter().map(|(_, shape)| shape.ciphertexts()).sum();
                self.blocks().count() * (1 + each)
            }
            Form::Rows(_) => 0,
        }
    }

    /// Whether no row can be meant.
    pub(crate) fn is_empty(&self) -> bool {
        self.filter == Some(Condition::Constant(false))
    }

    /// The power of p that the ciphertexts of the answer are modulo.
    pub(crate) fn exponent(&self) -> u32 {
        match self.form {
            Form::Sums { .. } => 2,
            Form::Rows(_) => 1,
        }
    }

    /// The number of sums that the answer holds, which is what the reader learns.
    pub fn sums(&self) -> usize {
        match &self.form {
            Form::Sums { plan, .. } => plan.sums(),
            Form::Rows(_) => 0,
        }
    }

    /// The number of different sets of rows that sums are over.
    pub fn masks(&self) -> usize {
        self.masks.len()
    }

    /// The sums of all groups, or the codes of all rows that are meant, as
    /// [`Answer::new`](crate::Answer::new) takes them, of the decrypted answer.
    ///
    /// # Errors
    /// Those of [`SumPlan::totals`]; `scheme.not-decryptable` for rows that cannot be.
    pub fn read(
        &self,
        params: &Params,
        plaintexts: &[Plaintext],
    ) -> Result<Vec<Vec<i128>>, TablesError> {
        match &self.form {
            Form::Sums { plan, places } => {
                let coefficients: Vec<_> = plaintexts.iter().map(|x| x.coefficients()).collect();
                let totals = if self.rows > 0 { plan.totals(&coefficients)? } else { Vec::new() };
                let sum =
                    |place: &Option<usize>| place.and_then(|i| totals.get(i)).copied().unwrap_or(0);
                Ok(places.iter().map(|group| group.iter().map(sum).collect()).collect())
            }
            Form::Rows(_) if self.is_empty() => Ok(Vec::new()),
            Form::Rows(columns) => self.read_rows(params, columns, plaintexts),
        }
    }

    fn read_rows(
        &self,
        params: &Params,
        columns: &[(usize, ChosenShape)],
        plaintexts: &[Plaintext],
    ) -> Result<Vec<Vec<i128>>, TablesError> {
        let decode = |x: &Plaintext| Ok(Zeroizing::new(x.decode_decrypted(params)?));
        let each = 1 + columns.iter().map(|(_, shape)| shape.ciphertexts()).sum::<usize>();
        if plaintexts.len() != self.ciphertexts() {
            return Err(TablesError::Result { problem: "ciphertexts are missing".into() });
        }
        // What cannot be is told once all rows were looked at.
        let (mut rows, mut possible) = (Vec::new(), true);
        for (block, length) in plaintexts.chunks(each).zip(self.blocks()) {
            let slots = block.iter().map(decode).collect::<Result<Vec<_>, TablesError>>()?;
            let residues = |row: usize| slots.iter().map(move |x| x[row]);
            for row in 0..length {
                let held: Vec<u64> = residues(row).collect();
                match (held[0], held[1..].iter().all(|x| *x == 0)) {
                    (1, _) => {}
                    (found, empty) => {
                        possible &= found == 0 && empty;
                        continue;
                    }
                }
                let (mut rest, mut codes) = (&held[1..], Vec::with_capacity(columns.len()));
                for (_, shape) in columns {
                    let (here, others) = rest.split_at(shape.ciphertexts());
                    let entry = shape.entry(here);
                    possible &= entry.is_ok();
                    codes.push(entry.unwrap_or(0));
                    rest = others;
                }
                rows.push(codes);
            }
        }
        if !possible {
            return Err(SchemeError::NotDecryptable.into());
        }
        Ok(rows)
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
