//! Conditions and numbers of a block of rows, on encrypted columns.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use everlevel::Level;
use everlevel_integers::{Column, Encoded, IntegerScheme, Integers, Relation, Type};

use crate::condition::{Comparison, Condition, Number};
use crate::error::TablesError;
use crate::known::Known;
use crate::ranges::Ranges;
use crate::schema::Schema;
use crate::starts::{Part, Starts};
use crate::truths::Truths;

/// Up to this number of values, membership in a set of codes is a table of truth values, of depth
/// 5.
const TABLE: i128 = 31;
/// The same limit for sets with several gaps, which would take several comparisons.
const LONG_TABLE: i128 = 256;

/// The rows that meet a condition: all or none, if the schema decides that, or truth values.
pub(crate) enum Mask<C> {
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

impl<C> Mask<C> {
    /// The same in values of its own ([`Column::detached`]).
    pub(crate) fn detached(&self) -> Self {
        match self {
            Mask::Some(x) => Mask::Some(x.detached()),
            mask => mask.clone(),
        }
    }
}

/// Reads a column of a block, by its index in the schema.
pub(crate) type Reader<'a, C> = dyn Fn(usize) -> Result<Column<C>, TablesError> + 'a;

/// One block of rows.
pub(crate) struct Block<'a, S: IntegerScheme> {
    pub(crate) ints: &'a Integers<'a, S>,
    /// The schema of the columns: those of the table, and then those of rankings.
    pub(crate) schema: &'a Schema,
    pub(crate) columns: Vec<Column<S::Ciphertext>>,
    known: Option<&'a Known<'a, S::Ciphertext>>,
    /// Reads what indexes consist of; without it, that is in `columns`.
    pub(crate) reader: Option<&'a Reader<'a, S::Ciphertext>>,
    /// The levels at which conditions begin.
    pub(crate) starts: &'a Starts,
    /// The columns of parts that begin lower than at the top, at these levels.
    lowered: HashMap<(usize, Level), Column<S::Ciphertext>>,
    truths: Truths<S::Ciphertext>,
    numbers: HashMap<Number, Column<S::Ciphertext>>,
    pub(crate) masks: HashMap<Condition, Mask<S::Ciphertext>>,
}

impl<'a, S: IntegerScheme> Block<'a, S> {
    /// A block of which nothing is computed yet.
    pub(crate) fn new(
        ints: &'a Integers<'a, S>,
        schema: &'a Schema,
        columns: Vec<Column<S::Ciphertext>>,
        known: Option<&'a Known<'a, S::Ciphertext>>,
        starts: &'a Starts,
    ) -> Self {
        let (lowered, numbers, masks) = (HashMap::new(), HashMap::new(), HashMap::new());
        let (reader, truths) = (None, Truths::default());
        Block { ints, schema, columns, known, reader, starts, lowered, truths, numbers, masks }
    }

    /// The same rows before anything is computed of them: what is computed and bootstrapped of the
    /// one leaves the other as it is. No ciphertext is copied.
    pub(crate) fn detached(&self) -> Self {
        let columns = self.columns.iter().map(Column::detached).collect();
        let block = Block::new(self.ints, self.schema, columns, self.known, self.starts);
        Block { reader: self.reader, ..block }
    }

    /// Truth values of a condition that depends on the row.
    pub(crate) fn column(
        &mut self,
        condition: &Condition,
    ) -> Result<Column<S::Ciphertext>, TablesError> {
        match self.mask(condition)? {
            Mask::Some(x) => Ok(x),
            mask => self.number(&Number::Constant(matches!(mask, Mask::All).into())),
        }
    }

    /// A number of each row.
    pub(crate) fn number(&mut self, x: &Number) -> Result<Column<S::Ciphertext>, TablesError> {
        if let Number::Column(place) = x {
            return Ok(self.columns[*place].clone());
        }
        if let Some(known) = self.numbers.get(x) {
            return Ok(known.clone());
        }
        let found = match x {
            Number::Column(place) => self.columns[*place].clone(),
            Number::Constant(value) => self.constant(*value)?,
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

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.columns[0].length().unwrap_or(0)
    }

    /// A constant as a column, of the length of the others.
    pub(crate) fn constant(&self, value: i128) -> Result<Column<S::Ciphertext>, TablesError> {
        let zero = self.ints.sub(&self.columns[0], &self.columns[0])?;
        Ok(self.ints.add(&self.ints.mul_public(&zero, 0)?, value)?)
    }

    /// Truth values of a simplified condition.
    pub(crate) fn mask(
        &mut self,
        condition: &Condition,
    ) -> Result<Mask<S::Ciphertext>, TablesError> {
        if let Some(known) = self.masks.get(condition) {
            return Ok(known.clone());
        }
        let mask = match condition {
            _ if self.is_known(condition) => Mask::Some(self.in_the_clear(condition)?),
            Condition::Constant(true) => Mask::All,
            Condition::Constant(false) => Mask::None,
            Condition::Within { column, codes } => self.within(*column, codes)?,
            Condition::Indexed(_, by) => Mask::Some(self.indexed(condition, by)?),
            Condition::Compare(comparison, a, b) if self.relates(a, b) => {
                Mask::Some(self.related(*comparison, a, b)?)
            }
            Condition::Compare(comparison, a, b) => {
                let (mut a, mut b) = (self.number(a)?, self.number(b)?);
                if let Some(level) = Part::of(condition).and_then(|part| self.starts.of(&part)) {
                    a = self.ints.lowered(&a, level)?;
                    b = self.ints.lowered(&b, level)?;
                }
                Mask::Some(match comparison {
                    Comparison::Less => self.ints.lt_fresh(&a, &b)?,
                    Comparison::LessOrEqual => self.ints.le_fresh(&a, &b)?,
                    Comparison::Equal => self.ints.eq(&a, &b)?,
                })
            }
            Condition::And(all) => {
                let masks = all.iter().map(|c| self.mask(c)).collect::<Result<Vec<_>, _>>()?;
                self.joined(masks, Self::both)?.unwrap_or(Mask::All)
            }
            Condition::Or(any) => {
                let masks = any.iter().map(|c| self.mask(c)).collect::<Result<Vec<_>, _>>()?;
                self.joined(masks, Self::either)?.unwrap_or(Mask::None)
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

    /// A truth value of an index at a level, or where it is.
    pub(crate) fn truth(
        &self,
        place: usize,
        level: Option<Level>,
    ) -> Result<Column<S::Ciphertext>, TablesError> {
        self.truths.get((place, level), || {
            let here = || Ok(self.columns[place].clone());
            let column = self.reader.map_or_else(here, |read| read(place))?;
            match level {
                Some(level) => Ok(self.ints.lowered(&column, level)?),
                None => Ok(column),
            }
        })
    }

    /// A column at the level at which conditions on it alone begin, for all of these.
    fn begun(&mut self, place: usize) -> Result<Column<S::Ciphertext>, TablesError> {
        let level = self.starts.of(&Part::Column(place));
        let Some(level) = level else { return Ok(self.columns[place].clone()) };
        if let Some(known) = self.lowered.get(&(place, level)) {
            return Ok(known.clone());
        }
        let lowered = self.ints.lowered(&self.columns[place], level)?;
        self.lowered.insert((place, level), lowered.clone());
        Ok(lowered)
    }

    /// Whether a condition depends on columns that the server knows, and on no others.
    fn is_known(&self, condition: &Condition) -> bool {
        let mut columns = BTreeSet::new();
        condition.columns(&mut columns);
        let known = |column: &usize| self.known.is_some_and(|k| k.knows(*column));
        !columns.is_empty() && columns.iter().all(known)
    }

    /// The truth values of such a condition.
    fn in_the_clear(&self, condition: &Condition) -> Result<Column<S::Ciphertext>, TablesError> {
        let holds = |row: &dyn Fn(usize) -> i128| condition.holds(row).into();
        let Some(known) = self.known else { return self.constant(0) };
        let (rows, pad) = known.slots(self.schema, holds);
        let bits = Encoded::padded(&rows, Type::Bool, self.ints.slots(), pad)?;
        Ok(self.ints.transparent(&bits, 1)?)
    }

    /// Whether a number that the server knows is compared with an encrypted constant.
    fn relates(&self, a: &Number, b: &Number) -> bool {
        let is = |x: &Number, known: bool| match (self.known, x) {
            (Some(k), Number::Column(place)) if known => k.columns[*place].is_some(),
            (Some(k), Number::Column(place)) => k.constants.contains_key(place),
            _ => false,
        };
        (is(a, true) && is(b, false)) || (is(a, false) && is(b, true))
    }

    /// Such a comparison.
    fn related(
        &self,
        comparison: Comparison,
        a: &Number,
        b: &Number,
    ) -> Result<Column<S::Ciphertext>, TablesError> {
        let (Some(known), Number::Column(a), Number::Column(b)) = (self.known, a, b) else {
            return self.constant(0);
        };
        let behind = |place: usize| self.schema.fields()[place].bounds().0;
        let (relation, column, constant) = match (comparison, known.columns[*a]) {
            (Comparison::Equal, Some(_)) => (Relation::Equal, *a, *b),
            (Comparison::Equal, None) => (Relation::Equal, *b, *a),
            (Comparison::Less, Some(_)) => (Relation::Less, *a, *b),
            (Comparison::Less, None) => (Relation::Greater, *b, *a),
            (Comparison::LessOrEqual, Some(_)) => (Relation::LessOrEqual, *a, *b),
            (Comparison::LessOrEqual, None) => (Relation::GreaterOrEqual, *b, *a),
        };
        let pads = (behind(column) - behind(constant)).signum() as i64;
        match (known.columns[column], known.constants.get(&constant)) {
            (Some(codes), Some(x)) => Ok(self.ints.related(codes, relation, x, pads)?),
            _ => self.constant(0),
        }
    }

    /// All of these as one. Always the two with most capacity are joined, so that the depth of a
    /// chain is that of a tree, and what is deepest is multiplied last.
    fn joined(
        &self,
        mut masks: Vec<Mask<S::Ciphertext>>,
        join: impl Fn(
            &Self,
            Mask<S::Ciphertext>,
            Mask<S::Ciphertext>,
        ) -> Result<Mask<S::Ciphertext>, TablesError>,
    ) -> Result<Option<Mask<S::Ciphertext>>, TablesError> {
        let scheme = self.ints.session().scheme();
        let capacity = |mask: &Mask<S::Ciphertext>| match mask {
            Mask::All | Mask::None => f64::INFINITY,
            Mask::Some(x) => {
                x.values().map(|v| scheme.capacity_bits(&v.get())).fold(f64::INFINITY, f64::min)
            }
        };
        let most = |masks: &mut Vec<Mask<S::Ciphertext>>| {
            let by_capacity =
                |&i: &usize, &j: &usize| capacity(&masks[i]).total_cmp(&capacity(&masks[j]));
            (0..masks.len()).max_by(by_capacity).map(|i| masks.remove(i))
        };
        loop {
            match (most(&mut masks), most(&mut masks)) {
                (Some(a), Some(b)) => masks.push(join(self, b, a)?),
                (last, _) => return Ok(last),
            }
        }
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

    /// The truth values of a set of codes, where it is looked up in a table of them.
    fn table(&self, place: usize, codes: &Ranges) -> Option<Vec<i128>> {
        let (low, high) = self.schema.fields()[place].bounds();
        let count = high - low + 1;
        let ends: usize =
            codes.iter().map(|(a, b)| usize::from(a > low && a != b) + usize::from(b < high)).sum();
        let looked_up = count > 2 && (count <= TABLE || (count <= LONG_TABLE && ends > 2));
        looked_up.then(|| (low..=high).map(|c| i128::from(codes.contains(c))).collect())
    }

    /// The one code of a set of a column that has no table.
    fn point(&self, place: usize, codes: &Ranges) -> Option<i128> {
        let (low, high) = self.schema.fields()[place].bounds();
        let mut all = codes.iter();
        match (all.next(), all.next()) {
            (Some((a, b)), None) if a == b && high - low > 1 => Some(a),
            _ => None,
        }
    }

    /// Computes together what these conditions need of one column in several tables, or in several
    /// equalities, so that they share its powers.
    pub(crate) fn together<'c>(
        &mut self,
        conditions: impl Iterator<Item = &'c Condition>,
    ) -> Result<(), TablesError> {
        let mut tables: BTreeMap<usize, Vec<(&Condition, Vec<i128>)>> = BTreeMap::new();
        let mut points: BTreeMap<usize, Vec<(&Condition, i128)>> = BTreeMap::new();
        let (mut rest, mut seen): (Vec<&Condition>, HashSet<&Condition>) =
            (conditions.collect(), HashSet::new());
        while let Some(condition) = rest.pop() {
            let known = self.masks.contains_key(condition) || self.is_known(condition);
            if known || !seen.insert(condition) {
                continue;
            }
            match condition {
                Condition::Within { column, codes } => {
                    if let Some(table) = self.table(*column, codes) {
                        tables.entry(*column).or_default().push((condition, table));
                    } else if let Some(code) = self.point(*column, codes) {
                        points.entry(*column).or_default().push((condition, code));
                    }
                }
                Condition::And(parts) | Condition::Or(parts) => rest.extend(parts),
                Condition::Not(part) => rest.push(part),
                Condition::Constant(_) | Condition::Indexed(..) | Condition::Compare(..) => {}
            }
        }
        for (place, of_column) in tables.into_iter().filter(|(_, all)| all.len() > 1) {
            let (conditions, tables): (Vec<_>, Vec<_>) = of_column.into_iter().unzip();
            let tables: Vec<&[i128]> = tables.iter().map(|table| &table[..]).collect();
            let truths = self.ints.lookup_all(&self.begun(place)?, &tables)?;
            let masks = conditions.into_iter().cloned().zip(truths.into_iter().map(Mask::Some));
            self.masks.extend(masks);
        }
        for (place, of_column) in points.into_iter().filter(|(_, all)| all.len() > 1) {
            let (conditions, codes): (Vec<_>, Vec<_>) = of_column.into_iter().unzip();
            let truths = self.ints.equal_each(&self.begun(place)?, &codes)?;
            let masks = conditions.into_iter().cloned().zip(truths.into_iter().map(Mask::Some));
            self.masks.extend(masks);
        }
        Ok(())
    }

    /// Whether a code is in a set: a table where the column has few values, else comparisons with
    /// the ends of the set.
    fn within(&mut self, place: usize, codes: &Ranges) -> Result<Mask<S::Ciphertext>, TablesError> {
        let column = &self.begun(place)?;
        let (low, high) = self.schema.fields()[place].bounds();
        if high - low < 2 {
            // Truth values already, or their opposite.
            let bit = self.ints.sub(column, low)?;
            return Ok(Mask::Some(if codes.contains(high) { bit } else { self.ints.not(&bit)? }));
        }
        if let Some(table) = self.table(place, codes) {
            return Ok(Mask::Some(self.ints.lookup(column, &table)?));
        }
        let ranges: Vec<(i128, i128)> = codes.iter().collect();
        if ranges.is_empty() {
            return Ok(Mask::None);
        }
        Ok(Mask::Some(self.ints.in_ranges(column, &ranges)?))
    }
}
