//! Membership in ranges, decided by one digit after the other, from the highest on.
//!
//! A value of the highest digit leaves a set of ranges for the sum of the digits below it: none of
//! their sums, all of them, or some, and then the next digit decides. So ranges become a diagram
//! with a layer for each digit, whose nodes are the sets that the digits above may leave. The truth
//! value of a node is a sum over what its digit may leave: the truth value that it leaves this,
//! times the truth value of what is left. For each end of a range a layer has one node at most.
//!
//! Such a sum takes one relinearization and one level, and only the tables of the digits have
//! powers to compute. Truth values that pass from digit to digit ([`Integers::lt`]) take fewer
//! functions of each digit, and one level more for three digits. Bootstrapped digits have too
//! little capacity for a diagram: its truth values would have to be bootstrapped, more of them than
//! a tree has sums.

use everlevel_circuit::straight_line::CircuitBuilder;
use everlevel_circuit::{CircuitError, Value};
use rayon::prelude::*;

use crate::column::{BASE, Column, Digit};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::question::Question;
use crate::ranges::apart;
use crate::stage::Stage;

/// The most encrypted digits of a diagram: with more, a tree of signs takes fewer levels.
const MOST: usize = 8;
/// The depth of the tables of digits with up to 16 values, and of those with more.
const TABLES: [usize; 2] = [4, 5];

/// Ranges in order that do not touch.
type Ranges = Vec<(i128, i128)>;

/// A set of ranges for the sum of a digit and those below it.
#[derive(Debug, Default, PartialEq)]
struct Node {
    /// The table that says whether all sums of the digits below will do; `None` if this depends on
    /// them for each value of the digit.
    whole: Option<usize>,
    /// For each node of the layer below that is left by some value of the digit: the table that
    /// says whether it is left, and the node.
    parts: Vec<(usize, usize)>,
}

/// A digit of a diagram.
#[derive(Debug, PartialEq)]
pub(crate) struct Layer {
    /// Tables of truth values, with an entry for each value of the digit.
    pub(crate) tables: Vec<Vec<i64>>,
    nodes: Vec<Node>,
}

impl Layer {
    /// The layer of a digit with a window and a weight that decides about `sets`, and the sets that
    /// it leaves for the digits below, whose sums have the bounds `below`.
    fn new(
        window: (i64, i64),
        weight: i128,
        below: (i128, i128),
        sets: &[Ranges],
    ) -> (Self, Vec<Ranges>) {
        let (mut tables, mut open): (Vec<Vec<i64>>, Vec<Ranges>) = (Vec::new(), Vec::new());
        let mut nodes = Vec::with_capacity(sets.len());
        for set in sets {
            let left = |digit: i64| {
                let moved = weight * i128::from(digit);
                let ranges: Ranges = set.iter().map(|(a, b)| (a - moved, b - moved)).collect();
                apart(&ranges, below)
            };
            let left: Vec<Ranges> = (window.0..=window.1).map(left).collect();
            let mut node = Node::default();
            for (i, ranges) in left.iter().enumerate() {
                if ranges.is_empty() || left[..i].contains(ranges) {
                    continue;
                }
                let table: Vec<i64> = left.iter().map(|other| i64::from(other == ranges)).collect();
                let table = place_of(&mut tables, table);
                match ranges[..] == [below] {
                    true => node.whole = Some(table),
                    false => node.parts.push((table, place_of(&mut open, ranges.clone()))),
                }
            }
            nodes.push(node);
        }
        (Layer { tables, nodes }, open)
    }

    /// How many nodes there are, each of which is a ciphertext when the layer is decided.
    #[cfg(test)]
    pub(crate) fn nodes(&self) -> usize {
        self.nodes.len()
    }
}

/// The truth value of a table of a digit, of which some products may not be relinearized yet: their
/// sum and what is added to it.
pub(crate) struct Open<C> {
    pub(crate) pairs: Vec<[Digit<C>; 2]>,
    pub(crate) rest: Digit<C>,
}

impl<C> From<Digit<C>> for Open<C> {
    fn from(rest: Digit<C>) -> Self {
        Open { pairs: Vec::new(), rest }
    }
}

/// The place of an item in a list, to which it is added if it is not there.
fn place_of<T: PartialEq>(all: &mut Vec<T>, item: T) -> usize {
    let known = all.iter().position(|x| *x == item);
    known.unwrap_or_else(|| {
        all.push(item);
        all.len() - 1
    })
}

/// The layers of the diagram that says whether Σ 16^i d_i lies in one of these ranges, for digits
/// of these windows, the lowest first.
pub(crate) fn layers(windows: &[(i64, i64)], ranges: &[(i128, i128)]) -> Vec<Layer> {
    layers_within(windows, ranges, usize::MAX).unwrap_or_default()
}

/// The same; `None` if a layer would have more than `most` nodes.
pub(crate) fn layers_within(
    windows: &[(i64, i64)],
    ranges: &[(i128, i128)],
    most: usize,
) -> Option<Vec<Layer>> {
    let weight = |i: usize| i128::from(BASE).pow(i as u32);
    // The least and the greatest sum of the digits below each one, and last of all digits.
    let mut bounds = vec![(0i128, 0i128)];
    for (i, (low, high)) in windows.iter().enumerate() {
        let (least, most) = bounds[i];
        let (low, high) = (i128::from(*low), i128::from(*high));
        bounds.push((least + weight(i) * low, most + weight(i) * high));
    }
    let mut sets = vec![apart(ranges, bounds[windows.len()])];
    let mut out = Vec::with_capacity(windows.len());
    for (i, window) in windows.iter().enumerate().rev() {
        if sets.len() > most {
            return None;
        }
        let (layer, below) = Layer::new(*window, weight(i), bounds[i], &sets);
        out.push(layer);
        sets = below;
    }
    out.reverse();
    Some(out)
}

/// The truth value of the highest node in the clear, from the entry of each table of each layer for
/// the value of its digit.
#[cfg(test)]
pub(crate) fn decides(layers: &[Layer], entry: &dyn Fn(usize, usize) -> i64) -> bool {
    let mut below: Vec<i64> = Vec::new();
    for (i, layer) in layers.iter().enumerate() {
        let node = |node: &Node| {
            let parts = node.parts.iter().map(|(table, place)| entry(i, *table) * below[*place]);
            node.whole.map_or(0, |table| entry(i, table)) + parts.sum::<i64>()
        };
        below = layer.nodes.iter().map(node).collect();
    }
    below.first() == Some(&1)
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// Whether a < b, as 0 or 1: what [`Integers::lt`] gives, for columns that were not
    /// bootstrapped yet.
    ///
    /// With up to eight digits and enough capacity, it takes a level for each digit but one after
    /// the tables of their differences: for dates of seven years, 37 products at depth 7, where
    /// [`Integers::lt`] takes 32 at depth 8. Otherwise it is the same from the level of the digits.
    ///
    /// # Errors
    /// As [`Integers::lt`].
    pub fn lt_fresh(
        &self,
        a: &Column<S::Ciphertext>,
        b: &Column<S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        self.compared_as(a.into(), b.into(), Question::Less, true)
    }

    /// Whether a <= b, as 0 or 1, as [`Integers::lt_fresh`].
    ///
    /// # Errors
    /// As [`Integers::lt`].
    pub fn le_fresh(
        &self,
        a: &Column<S::Ciphertext>,
        b: &Column<S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        self.compared_as(a.into(), b.into(), Question::LessOrEqual, true)
    }

    /// Whether these digits are few enough for a diagram, and have the capacity for it: for their
    /// tables, and a level for each digit but one.
    pub(crate) fn has_room(&self, digits: &[Digit<S::Ciphertext>]) -> bool {
        let count = digits.iter().filter(|d| d.cipher.is_some()).count();
        let wide = digits.iter().any(|d| d.points() > BASE);
        let depth = TABLES[usize::from(wide)] + count.saturating_sub(1);
        count <= MOST && self.have_depth(digits, depth as u32)
    }

    /// Whether Σ 16^i d_i lies in one of these ranges, whose ends belong to them, as 0 or 1.
    pub(crate) fn digits_in_ranges(
        &self,
        digits: &[Digit<S::Ciphertext>],
        ranges: &[(i128, i128)],
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let windows: Vec<(i64, i64)> = digits.iter().map(|d| (d.low, d.high)).collect();
        let layers = layers(&windows, ranges);
        let requests = digits.iter().zip(&layers).map(|(digit, layer)| {
            let plan = self.plan(digit.low, digit.high, layer.tables.clone())?;
            Ok((digit.clone(), plan))
        });
        let truths = self.tables(requests.collect::<Result<Vec<_>, IntegersError>>()?)?;
        self.decided(&layers, &truths)
    }

    /// The truth value of the highest node of a diagram, from those of the tables of each layer.
    pub(crate) fn decided(
        &self,
        layers: &[Layer],
        truths: &[Vec<Digit<S::Ciphertext>>],
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        self.decided_by(layers, |i| Ok(truths[i].iter().cloned().map(Open::from).collect()))
    }

    /// The same where products of the tables are not relinearized yet. `tables` makes those of a
    /// layer, one layer after the other, so that no more of their factors are in memory. Where a
    /// single node asks whether all will do, they are added to its own products, and relinearized
    /// with them.
    pub(crate) fn decided_by<E: From<IntegersError>>(
        &self,
        layers: &[Layer],
        tables: impl Fn(usize) -> Result<Vec<Open<S::Ciphertext>>, E>,
    ) -> Result<Digit<S::Ciphertext>, E> {
        let mut found: Vec<Digit<S::Ciphertext>> = Vec::new();
        for (i, layer) in layers.iter().enumerate() {
            let tables = self.ready(layer, tables(i)?)?;
            let nodes = layer.nodes.par_iter().map(|node| self.node(node, &tables, &found));
            found = nodes.collect::<Result<Vec<_>, IntegersError>>()?;
        }
        let found = found.pop().ok_or(CircuitError::Empty { what: "a digit" });
        Ok(found.map_err(IntegersError::from)?)
    }

    /// The tables of a layer, where those are relinearized that a node multiplies, or that several
    /// nodes ask for.
    fn ready(
        &self,
        layer: &Layer,
        tables: Vec<Open<S::Ciphertext>>,
    ) -> Result<Vec<Open<S::Ciphertext>>, IntegersError> {
        let once = |i: usize| {
            let whole = layer.nodes.iter().filter(|node| node.whole == Some(i)).count();
            let mut parts = layer.nodes.iter().flat_map(|node| &node.parts);
            whole == 1 && !parts.any(|(table, _)| *table == i)
        };
        let ready = |(i, table): (usize, Open<S::Ciphertext>)| match once(i) {
            true => Ok(table),
            false => self.closed(&table).map(Open::from),
        };
        tables.into_par_iter().enumerate().map(ready).collect()
    }

    /// The truth value of a table.
    pub(crate) fn closed(
        &self,
        table: &Open<S::Ciphertext>,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        if table.pairs.is_empty() {
            return Ok(table.rest.clone());
        }
        let pairs: Vec<_> = table.pairs.iter().map(|[a, b]| [a, b]).collect();
        self.truth_value(&pairs, vec![(&table.rest, 1)])
    }

    /// The truth value of a node, from those of its tables and those of the layer below. At most
    /// one of what is added is 1.
    fn node(
        &self,
        node: &Node,
        tables: &[Open<S::Ciphertext>],
        below: &[Digit<S::Ciphertext>],
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let whole = node.whole.map(|table| &tables[table]);
        let parts = node.parts.iter().map(|(table, place)| [&tables[*table].rest, &below[*place]]);
        let open = whole.into_iter().flat_map(|table| table.pairs.iter().map(|[a, b]| [a, b]));
        let pairs: Vec<_> = open.chain(parts).collect();
        self.truth_value(&pairs, whole.into_iter().map(|table| (&table.rest, 1)).collect())
    }

    /// The truth value that is the sum of these products and terms, with one relinearization.
    fn truth_value<'d>(
        &self,
        pairs: &[[&'d Digit<S::Ciphertext>; 2]],
        mut terms: Vec<(&'d Digit<S::Ciphertext>, i64)>,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let mut inputs: Vec<&Value<S::Ciphertext>> = Vec::new();
        let mut windows = Vec::new();
        let mut builder = CircuitBuilder::new();
        let (mut products, mut pad) = (Vec::new(), 0);
        for [a, b] in pairs.iter().copied() {
            match (&a.cipher, &b.cipher) {
                (None, _) => terms.push((b, a.low)),
                (_, None) => terms.push((a, b.low)),
                (Some(x), Some(y)) => {
                    inputs.extend([x, y]);
                    windows.extend([(a.low, a.high), (b.low, b.high)]);
                    products.push((builder.input(1), builder.input(1)));
                    pad += a.pad * b.pad;
                }
            }
        }
        let sum = self.combine(&terms, 0)?;
        if products.is_empty() {
            return Ok(sum.within(0, 1));
        }
        let (mut added, mut constant) = (Vec::new(), 0);
        match &sum.cipher {
            Some(z) => {
                inputs.push(z);
                windows.push((sum.low, sum.high));
                added.push((builder.input(1), 1));
            }
            None => constant = sum.low,
        }
        let output = builder.combine(products, added, constant)?;
        let circuit = builder.finish(&[output])?;
        let found = self.staged(&inputs, &Stage::Circuit(&circuit), &windows)?.pop().flatten();
        let cipher = found.ok_or(CircuitError::Empty { what: "a digit" })?;
        let cipher = Some(self.session().share(cipher));
        Ok(Digit { cipher, low: 0, high: 1, pad: pad + sum.pad, steps: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All digits of some windows, canonical ones and differences.
    #[test]
    fn diagrams_decide_all_sums() {
        let all: [&[(i64, i64)]; 4] = [
            &[(0, 15), (0, 15), (3, 9)],
            &[(-15, 15), (-15, 15), (-2, 2)],
            &[(0, 15), (7, 7), (0, 3)],
            &[(-4, 9), (2, 17)],
        ];
        for windows in all {
            let weigh =
                |digits: &[i64]| digits.iter().rev().fold(0i128, |v, d| 16 * v + i128::from(*d));
            let mut sums: Vec<Vec<i64>> = vec![Vec::new()];
            for (low, high) in windows {
                let longer = |x: &Vec<i64>| {
                    let x = x.clone();
                    (*low..=*high).map(move |d| [&x[..], &[d]].concat())
                };
                sums = sums.iter().flat_map(longer).collect();
            }
            let sets: [&[(i128, i128)]; 7] = [
                &[(i128::MIN, -1)],
                &[(0, i128::MAX)],
                &[(0x1a3, 0x2b7)],
                &[(0x100, 0x1ff), (0x208, 0x20f)],
                &[(5, 6), (0x45, 0x46), (0x85, 0x86)],
                &[],
                &[(i128::MIN, i128::MAX)],
            ];
            for ranges in sets {
                let layers = layers(windows, ranges);
                for digits in &sums {
                    let place = |i: usize| (digits[i] - windows[i].0) as usize;
                    let found = decides(&layers, &|i, table| layers[i].tables[table][place(i)]);
                    let sum = weigh(digits);
                    let expected = ranges.iter().any(|(a, b)| (*a..=*b).contains(&sum));
                    assert_eq!(found, expected, "{sum} in {ranges:?}");
                }
            }
        }
    }

    /// Digits below a range that ends with them have no tables, and an end takes one node.
    #[test]
    fn layers_have_as_few_nodes_as_ends() {
        let sizes = |ranges: &[(i128, i128)]| {
            let layers = layers(&[(0, 15); 3], ranges);
            layers.iter().map(|x| (x.nodes.len(), x.tables.len())).collect::<Vec<_>>()
        };
        assert_eq!(sizes(&[(0x100, 0x3ff)]), [(0, 0), (0, 0), (1, 1)]);
        assert_eq!(sizes(&[(0x123, i128::MAX)]), [(1, 1), (1, 2), (1, 2)]);
        assert_eq!(sizes(&[(0x123, 0x456)]), [(2, 2), (2, 4), (1, 3)]);
        assert_eq!(sizes(&[(0x123, 0x156)]), [(2, 2), (1, 3), (1, 1)]);
    }
}
