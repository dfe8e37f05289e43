//! The columns of a product, as in long multiplication: functions of one digit and of two digits,
//! summed by place.

use std::collections::BTreeMap;
use std::sync::Arc;

use everlevel_circuit::CircuitError;
use everlevel_ring::PrimePower;

use crate::bilinear::PairForm;
use crate::column::{Digit, POINTS};

/// A digit of a factor: a public integer, or the place of an input.
#[derive(Clone, Copy)]
pub(crate) enum Factor {
    Public(i64),
    Input(usize),
}

/// The terms of the sum that makes one digit of a product.
pub(crate) struct ColumnSum {
    pub(crate) constant: i64,
    /// Functions of one input, on its window.
    pub(crate) alone: BTreeMap<usize, Vec<i64>>,
    /// Functions of two.
    pub(crate) pairs: Vec<((usize, usize), Arc<Part>)>,
}

/// f(factor * a * b) for two windows.
pub(crate) struct Part {
    pub(crate) form: PairForm,
    pub(crate) factor: i64,
    pub(crate) f: fn(i64) -> i64,
    pub(crate) low: i64,
    pub(crate) high: i64,
}

type Window = (i64, i64);

/// The columns of a product.
pub(crate) struct Columns<'a, C> {
    limit: usize,
    pub(crate) inputs: Vec<&'a Digit<C>>,
    pub(crate) sums: Vec<ColumnSum>,
    /// The parts of products that were computed already, by the windows of the factors.
    parts: BTreeMap<(Window, Window, i64), Vec<Arc<Part>>>,
}

/// How a value from `low` to `high` is spread over a column and the one above: it stays whole if it
/// has no more values than a digit may have.
fn spread(low: i64, high: i64) -> &'static [fn(i64) -> i64] {
    if high - low < POINTS { &[|v| v] } else { &[|v| v & 15, |v| v >> 4] }
}

impl<'a, C> Columns<'a, C> {
    /// Empty columns, with none at places from `limit` on.
    pub(crate) fn below(limit: usize) -> Self {
        Columns { limit, inputs: vec![], sums: vec![], parts: BTreeMap::new() }
    }

    pub(crate) fn inputs(&mut self, digits: &'a [Digit<C>]) -> Vec<Factor> {
        let mut out = Vec::with_capacity(digits.len());
        for digit in digits {
            out.push(match digit.cipher {
                None => Factor::Public(digit.low),
                Some(_) => Factor::Input(self.inputs.len()),
            });
            self.inputs.extend(digit.cipher.is_some().then_some(digit));
        }
        out
    }

    fn column(&mut self, place: usize) -> Option<&mut ColumnSum> {
        if place >= self.limit {
            return None;
        }
        while self.sums.len() <= place {
            self.sums.push(ColumnSum { constant: 0, alone: BTreeMap::new(), pairs: vec![] });
        }
        self.sums.get_mut(place)
    }

    /// Adds a function, below 16, of a digit.
    pub(crate) fn add_function(&mut self, place: usize, factor: Factor, f: impl Fn(i64) -> i64) {
        match factor {
            Factor::Public(c) => self.add_constant(place, f(c)),
            Factor::Input(input) => self.add_alone(place, input, f),
        }
    }

    /// Adds the value of a function of one input.
    fn add_alone(&mut self, place: usize, input: usize, g: impl Fn(i64) -> i64) {
        let (low, high) = (self.inputs[input].low, self.inputs[input].high);
        let values = || (low..=high).map(&g);
        let ends = (values().min().unwrap_or(0), values().max().unwrap_or(0));
        for (i, f) in spread(ends.0, ends.1).iter().enumerate() {
            let Some(column) = self.column(place + i) else { return };
            let points = (high - low + 1) as usize;
            let entries = column.alone.entry(input).or_insert_with(|| vec![0; points]);
            entries.iter_mut().zip(values()).for_each(|(x, v)| *x += f(v));
        }
    }

    pub(crate) fn square(&mut self, place: usize, x: Factor) {
        match x {
            Factor::Public(c) => self.add_constant(place, c * c),
            Factor::Input(input) => self.add_alone(place, input, |x| x * x),
        }
    }

    fn add_constant(&mut self, place: usize, c: i64) {
        for (i, f) in spread(c.min(0), c.max(0)).iter().enumerate() {
            if let Some(column) = self.column(place + i) {
                column.constant += f(c);
            }
        }
    }

    /// Adds factor * a * b.
    pub(crate) fn multiply(
        &mut self,
        t: PrimePower,
        place: usize,
        operands: (Factor, Factor),
        factor: i64,
    ) -> Result<(), CircuitError> {
        let (a, b) = match operands {
            (Factor::Public(a), Factor::Public(b)) => {
                self.add_constant(place, factor * a * b);
                return Ok(());
            }
            (Factor::Public(0), _) | (_, Factor::Public(0)) => return Ok(()),
            (Factor::Input(x), Factor::Public(c)) | (Factor::Public(c), Factor::Input(x)) => {
                self.add_alone(place, x, |x| factor * c * x);
                return Ok(());
            }
            (Factor::Input(a), Factor::Input(b)) => (a, b),
        };
        let window = |i: usize| (self.inputs[i].low, self.inputs[i].high);
        let (wa, wb) = (window(a), window(b));
        let parts = match self.parts.get(&(wa, wb, factor)) {
            Some(parts) => parts.clone(),
            None => {
                let parts = parts(t, wa, wb, factor)?;
                self.parts.insert((wa, wb, factor), parts.clone());
                parts
            }
        };
        for (i, part) in parts.into_iter().enumerate() {
            if let Some(column) = self.column(place + i) {
                column.pairs.push(((a, b), part));
            }
        }
        Ok(())
    }
}

/// The parts of factor * a * b.
fn parts(
    t: PrimePower,
    (first_a, last_a): Window,
    (first_b, last_b): Window,
    factor: i64,
) -> Result<Vec<Arc<Part>>, CircuitError> {
    let table = |f: fn(i64) -> i64| -> Vec<Vec<i64>> {
        let row = |a: i64| (first_b..=last_b).map(|b| f(factor * a * b)).collect();
        (first_a..=last_a).map(row).collect()
    };
    let ends = |table: &[Vec<i64>]| {
        let values = || table.iter().flatten().copied();
        (values().min().unwrap_or(0), values().max().unwrap_or(0))
    };
    let (low, high) = ends(&table(|v| v));
    spread(low, high)
        .iter()
        .map(|f| {
            let table = table(*f);
            let (low, high) = ends(&table);
            let form = PairForm::new(t, (first_a, first_b), &table)?;
            Ok(Arc::new(Part { form, factor, f: *f, low, high }))
        })
        .collect()
}
