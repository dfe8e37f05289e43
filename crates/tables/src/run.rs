//! Questions over encrypted columns.

use std::collections::HashMap;

use everlevel_integers::{Column, IntegerScheme, Integers, IntegersError, Total};

use crate::error::TablesError;
use crate::query::{Comparison, Condition, Number, Query};
use crate::ranges::Ranges;
use crate::schema::Schema;

/// Up to so many values a set of codes is a table of truth values, of depth 5.
const TABLE: i128 = 31;
/// The same for sets with several gaps, for which comparisons would be more.
const LONG_TABLE: i128 = 256;

/// The encrypted sums of a question over some rows: for each group, each aggregate.
pub struct Sums<C> {
    /// None: 0, whatever the data.
    pub totals: Vec<Vec<Option<Total<C>>>>,
}

/// Rows that are meant: what the schema says of them, or truth values.
enum Mask<C> {
    All,
    None,
    Some(Column<C>),
}

impl<C> Clone for Mask<C> {
    fn clone(&self) -> Self {
        match self {
            Mask::All => Mask::All,
            Mask::None => Mask::None,
            Mask::Some(x) => Mask::Some(x.clone()),
        }
    }
}

/// Answers questions over the columns of one block of rows.
pub struct Runner<'a, S: IntegerScheme> {
    ints: &'a Integers<'a, S>,
    schema: &'a Schema,
    columns: &'a [Column<S::Ciphertext>],
    numbers: HashMap<Number, Column<S::Ciphertext>>,
    masks: HashMap<Condition, Mask<S::Ciphertext>>,
}

impl<'a, S: IntegerScheme> Runner<'a, S> {
    /// Over the columns of a schema, in its order.
    ///
    /// # Errors
    /// [`TablesError::Data`] unless there is a column for each of the schema, with its bounds.
    pub fn new(
        ints: &'a Integers<'a, S>,
        schema: &'a Schema,
        columns: &'a [Column<S::Ciphertext>],
    ) -> Result<Self, TablesError> {
        let fits = columns.len() == schema.fields().len()
            && columns.iter().zip(schema.fields()).all(|(column, field)| {
                let interval = column.interval();
                (interval.low(), interval.high()) == field.bounds()
                    && column.length() == columns[0].length()
            });
        if !fits {
            let problem = "the encrypted columns are not those of the schema";
            return Err(TablesError::Data { problem: problem.into() });
        }
        Ok(Runner { ints, schema, columns, numbers: HashMap::new(), masks: HashMap::new() })
    }

    /// The sums of a question.
    ///
    /// # Errors
    /// Those of typed integers: missing keys, too little depth on a server without bootstrapping.
    pub fn sums(&mut self, query: &Query) -> Result<Sums<S::Ciphertext>, TablesError> {
        let filter = self.mask(&query.filter)?;
        let mut totals = Vec::new();
        for codes in query.group_codes(self.schema) {
            let mut rows = filter.clone();
            for (column, code) in query.groups.iter().zip(codes) {
                let one = Condition::Within { column: *column, codes: Ranges::of([code]) };
                let one = self.mask(&one.simplified(self.schema))?;
                rows = self.both(rows, one)?;
            }
            let mut group = Vec::with_capacity(query.aggregates.len());
            for aggregate in &query.aggregates {
                let when = self.mask(&aggregate.when)?;
                let rows = self.both(rows.clone(), when)?;
                group.push(self.total(&rows, &aggregate.value)?);
            }
            totals.push(group);
        }
        Ok(Sums { totals })
    }

    fn total(
        &mut self,
        rows: &Mask<S::Ciphertext>,
        value: &Number,
    ) -> Result<Option<Total<S::Ciphertext>>, TablesError> {
        Ok(match (rows, value) {
            (Mask::None, _) => None,
            (Mask::Some(rows), Number::Constant(1)) => Some(self.ints.sum(rows)?),
            (Mask::Some(rows), value) => {
                let value = self.number(value)?;
                Some(self.ints.sum_where(rows, &value)?)
            }
            (Mask::All, value) => {
                let value = self.number(value)?;
                Some(self.ints.sum(&value)?)
            }
        })
    }

    /// A number of each row.
    fn number(&mut self, x: &Number) -> Result<Column<S::Ciphertext>, TablesError> {
        if let Number::Column(place) = x {
            return Ok(self.columns[*place].clone());
        }
        if let Some(known) = self.numbers.get(x) {
            return Ok(known.clone());
        }
        let found = match x {
            Number::Column(place) => self.columns[*place].clone(),
            Number::Constant(value) => {
                // As a column, of the length of the others.
                let zero = self.ints.sub(&self.columns[0], &self.columns[0])?;
                self.ints.add(&self.ints.mul_public(&zero, 0)?, *value)?
            }
            Number::Add(a, b) => match (&**a, &**b) {
                (Number::Constant(c), x) | (x, Number::Constant(c)) => {
                    self.ints.add(&self.number(x)?, *c)?
                }
                (a, b) => self.ints.add(&self.number(a)?, &self.number(b)?)?,
            },
            Number::Subtract(a, b) => match (&**a, &**b) {
                (Number::Constant(0), x) => self.ints.neg(&self.number(x)?)?,
                (Number::Constant(c), x) => self.ints.sub(*c, &self.number(x)?)?,
                (x, Number::Constant(c)) => self.ints.sub(&self.number(x)?, *c)?,
                (a, b) => self.ints.sub(&self.number(a)?, &self.number(b)?)?,
            },
            Number::Multiply(a, b) => match (&**a, &**b) {
                (Number::Constant(c), x) | (x, Number::Constant(c)) => {
                    self.ints.mul_public(&self.number(x)?, *c)?
                }
                (a, b) => self.ints.mul(&self.number(a)?, &self.number(b)?)?,
            },
        };
        self.numbers.insert(x.clone(), found.clone());
        Ok(found)
    }

    /// Truth values of a condition that is simplified.
    fn mask(&mut self, condition: &Condition) -> Result<Mask<S::Ciphertext>, TablesError> {
        if let Some(known) = self.masks.get(condition) {
            return Ok(known.clone());
        }
        let mask = match condition {
            Condition::Constant(true) => Mask::All,
            Condition::Constant(false) => Mask::None,
            Condition::Within { column, codes } => self.within(*column, codes)?,
            Condition::Compare(comparison, a, b) => {
                let (a, b) = (self.number(a)?, self.number(b)?);
                Mask::Some(match comparison {
                    Comparison::Less => self.ints.lt(&a, &b)?,
                    Comparison::LessOrEqual => self.ints.le(&a, &b)?,
                    Comparison::Equal => self.ints.eq(&a, &b)?,
                })
            }
            Condition::And(all) => {
                let mut masks = all.iter().map(|c| self.mask(c)).collect::<Result<Vec<_>, _>>()?;
                while masks.len() > 1 {
                    masks = self.in_pairs(masks, Self::both)?;
                }
                masks.pop().unwrap_or(Mask::All)
            }
            Condition::Or(any) => {
                let mut masks = any.iter().map(|c| self.mask(c)).collect::<Result<Vec<_>, _>>()?;
                while masks.len() > 1 {
                    masks = self.in_pairs(masks, Self::either)?;
                }
                masks.pop().unwrap_or(Mask::None)
            }
            Condition::Not(c) => match self.mask(c)? {
                Mask::All => Mask::None,
                Mask::None => Mask::All,
                Mask::Some(x) => Mask::Some(self.ints.not(&x)?),
            },
        };
        self.masks.insert(condition.clone(), mask.clone());
        Ok(mask)
    }

    /// Neighbors joined, so that the depth of a chain is that of a tree.
    fn in_pairs(
        &self,
        masks: Vec<Mask<S::Ciphertext>>,
        join: impl Fn(
            &Self,
            Mask<S::Ciphertext>,
            Mask<S::Ciphertext>,
        ) -> Result<Mask<S::Ciphertext>, TablesError>,
    ) -> Result<Vec<Mask<S::Ciphertext>>, TablesError> {
        let mut out = Vec::with_capacity(masks.len().div_ceil(2));
        let mut rest = masks.into_iter();
        while let Some(first) = rest.next() {
            out.push(match rest.next() {
                Some(second) => join(self, first, second)?,
                None => first,
            });
        }
        Ok(out)
    }

    fn both(
        &self,
        a: Mask<S::Ciphertext>,
        b: Mask<S::Ciphertext>,
    ) -> Result<Mask<S::Ciphertext>, TablesError> {
        Ok(match (a, b) {
            (Mask::None, _) | (_, Mask::None) => Mask::None,
            (Mask::All, x) | (x, Mask::All) => x,
            (Mask::Some(a), Mask::Some(b)) => Mask::Some(self.ints.and(&a, &b)?),
        })
    }

    fn either(
        &self,
        a: Mask<S::Ciphertext>,
        b: Mask<S::Ciphertext>,
    ) -> Result<Mask<S::Ciphertext>, TablesError> {
        Ok(match (a, b) {
            (Mask::All, _) | (_, Mask::All) => Mask::All,
            (Mask::None, x) | (x, Mask::None) => x,
            (Mask::Some(a), Mask::Some(b)) => Mask::Some(self.ints.or(&a, &b)?),
        })
    }

    /// Whether a code is in a set: a table where the column has few values, else comparisons with
    /// the ends of the set.
    fn within(&self, place: usize, codes: &Ranges) -> Result<Mask<S::Ciphertext>, TablesError> {
        let column = &self.columns[place];
        let (low, high) = self.schema.fields()[place].bounds();
        let count = high - low + 1;
        let ends: usize =
            codes.iter().map(|(a, b)| usize::from(a > low && a != b) + usize::from(b < high)).sum();
        if count <= 2 {
            // Truth values already, or their opposite.
            let bit = self.ints.sub(column, low)?;
            return Ok(Mask::Some(if codes.contains(high) { bit } else { self.ints.not(&bit)? }));
        }
        if count <= TABLE || (count <= LONG_TABLE && ends > 2) {
            let table: Vec<i128> = (low..=high).map(|c| i128::from(codes.contains(c))).collect();
            return Ok(Mask::Some(self.ints.lookup(column, &table)?));
        }
        let range = |(a, b): (i128, i128)| -> Result<_, IntegersError> {
            if a == b {
                return self.ints.eq(column, a);
            }
            Ok(match (a > low, b < high) {
                (false, _) => self.ints.le(column, b)?,
                (true, false) => self.ints.ge(column, a)?,
                (true, true) => {
                    self.ints.and(&self.ints.ge(column, a)?, &self.ints.le(column, b)?)?
                }
            })
        };
        let mut masks = Vec::new();
        for ends in codes.iter() {
            masks.push(Mask::Some(range(ends)?));
        }
        while masks.len() > 1 {
            masks = self.in_pairs(masks, Self::either)?;
        }
        Ok(masks.pop().unwrap_or(Mask::None))
    }
}
