//! Sums of a program that are computed together, because they have terms in common.

use std::collections::{BTreeMap, BTreeSet};

use everlevel_scheme::{Arithmetic, NextUse, SparseForm};

use super::steps::{Node, NodeId};
use crate::error::CircuitError;

/// The most sums that are computed in one pass over their terms: each of them but the first is in
/// memory before its turn.
const ROWS: usize = 8;

/// The sums of a program that are computed together.
pub(super) struct Groups {
    /// Several sums, by the first of them.
    rows: BTreeMap<usize, Vec<usize>>,
}

/// A group that may grow.
struct Open {
    first: usize,
    /// The terms of the first sum.
    terms: BTreeSet<NodeId>,
    rows: Vec<usize>,
}

impl Groups {
    /// A sum is computed with an earlier one if everything that it is made of is there before that
    /// one, and if half of the terms of both are the same. Sums that have a term twice are computed
    /// by themselves.
    pub(super) fn of(nodes: &[Node]) -> Self {
        let mut open: Vec<Open> = Vec::new();
        let mut rows: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (i, node) in nodes.iter().enumerate() {
            let Node::Combine { terms, .. } = node else { continue };
            let own: BTreeSet<NodeId> = terms.iter().map(|(x, _)| *x).collect();
            if own.len() < 2 || own.len() < terms.len() {
                continue;
            }
            let latest = node.operands().iter().map(|x| x.0).max();
            let joins = |group: &Open| {
                let common = own.intersection(&group.terms).count();
                latest < Some(group.first) && 2 * common >= own.len().max(group.terms.len())
            };
            let Some(at) = open.iter().position(joins) else {
                open.push(Open { first: i, terms: own, rows: vec![i] });
                continue;
            };
            open[at].rows.push(i);
            if open[at].rows.len() == ROWS {
                let full = open.swap_remove(at);
                rows.insert(full.first, full.rows);
            }
        }
        rows.extend(open.into_iter().map(|group| (group.first, group.rows)));
        rows.retain(|_, rows| rows.len() > 1);
        Groups { rows }
    }

    /// The sums that are computed together with this one, if it is the first of several; itself
    /// included.
    pub(super) fn rows(&self, node: usize) -> &[usize] {
        self.rows.get(&node).map_or(&[], Vec::as_slice)
    }
}

/// The value of a node.
pub(super) fn get<C>(values: &[Option<C>], x: NodeId) -> Result<&C, CircuitError> {
    values
        .get(x.0)
        .and_then(Option::as_ref)
        .ok_or(CircuitError::UnknownNode { node: x.0, nodes: values.len() })
}

/// The sum of the products, if there are any. They are switched down first, so that terms, which
/// lie higher, absorb their constants in the switch.
pub(super) fn product<S: Arithmetic>(
    scheme: &S,
    pairs: &[(NodeId, NodeId)],
    values: &[Option<S::Ciphertext>],
    next: NextUse,
) -> Result<Option<S::Ciphertext>, CircuitError> {
    let mut product: Option<S::Product> = None;
    for (a, b) in pairs {
        let part = scheme.mul_lazy(get(values, *a)?, get(values, *b)?)?;
        product = Some(match product {
            Some(sum) => scheme.add_products(&sum, &part)?,
            None => part,
        });
    }
    Ok(product.map(|x| scheme.relinearize(&x, next)).transpose()?)
}

/// These sums, in one pass over their terms, at the levels that they have by themselves.
pub(super) fn sums<S: Arithmetic>(
    scheme: &S,
    nodes: &[Node],
    rows: &[usize],
    values: &[Option<S::Ciphertext>],
    next: &[NextUse],
) -> Result<Vec<S::Ciphertext>, CircuitError> {
    let mut products = Vec::with_capacity(rows.len());
    for row in rows {
        let Node::Combine { pairs, .. } = &nodes[*row] else { continue };
        products.push(product(scheme, pairs, values, next[*row])?);
    }
    let (mut xs, mut forms) = (Vec::new(), Vec::with_capacity(rows.len()));
    let mut places: BTreeMap<NodeId, usize> = BTreeMap::new();
    for (row, product) in rows.iter().zip(&products) {
        let Node::Combine { terms, constant, .. } = &nodes[*row] else { continue };
        let mut form = SparseForm { terms: Vec::new(), constant: *constant };
        if let Some(x) = product {
            form.terms.push((xs.len(), 1));
            xs.push(x);
        }
        for (x, c) in terms {
            let value = get(values, *x)?;
            let place = *places.entry(*x).or_insert_with(|| {
                xs.push(value);
                xs.len() - 1
            });
            form.terms.push((place, *c));
        }
        forms.push(form);
    }
    Ok(scheme.sparse_combinations(&xs, &forms)?)
}

#[cfg(test)]
mod tests {
    use everlevel_testing::ResidueScheme;

    use super::*;
    use crate::straight_line::CircuitBuilder;

    /// Twenty combinations of x and x², between which there is one in another order, and one with a
    /// product of what was computed.
    #[test]
    fn sums_of_the_same_values_are_computed_together() {
        let mut builder = CircuitBuilder::new();
        let x = builder.input(1);
        let square = builder.mul(x, x).unwrap();
        let mut outputs = Vec::new();
        for c in 0..20 {
            outputs.push(builder.combine(vec![], vec![(x, c), (square, c - 7)], c * c).unwrap());
            if c == 3 {
                let last = outputs[3];
                let (other, with_product) = (vec![(square, 2), (x, 3)], vec![(square, 5), (x, 1)]);
                outputs.push(builder.combine(vec![], other, 4).unwrap());
                outputs.push(builder.combine(vec![(last, x)], with_product, 6).unwrap());
            }
        }
        // A term alone, and one that is there twice.
        outputs.push(builder.combine(vec![], vec![(x, 2)], 1).unwrap());
        outputs.push(builder.combine(vec![], vec![(x, 2), (square, 1), (x, 1)], 1).unwrap());
        let circuit = builder.finish(&outputs).unwrap();
        let groups = Groups::of(&circuit.nodes);
        let nodes: Vec<usize> = circuit.outputs.iter().map(|node| node.0).collect();
        let rows = |output: usize| groups.rows(nodes[output]);
        assert_eq!(rows(0), [0, 1, 2, 3, 4, 6, 7, 8].map(|output| nodes[output]));
        // What the product is of is not there before the first sum.
        assert_eq!(rows(5), [5, 9, 10, 11, 12, 13, 14, 15].map(|output| nodes[output]));
        assert_eq!(rows(16), [16, 17, 18, 19, 20, 21].map(|output| nodes[output]));
        assert!([1, 9, 22, 23].iter().all(|output| rows(*output).is_empty()));

        let scheme = ResidueScheme::new(257);
        let xs: Vec<u64> = (0..257).collect();
        let found = circuit.run(&scheme, &[&scheme.encrypt(xs, 1)], NextUse::Keep).unwrap();
        let line = |c: i64, x: i64| c * x + (c - 7) * x * x + c * c;
        for (i, x) in (0i64..257).enumerate() {
            let mut expected: Vec<i64> = (0..20).map(|c| line(c, x)).collect();
            let between = [2 * x * x + 3 * x + 4, line(3, x) * x + 5 * x * x + x + 6];
            expected.splice(4..4, between);
            expected.extend([2 * x + 1, x * x + 3 * x + 1]);
            for (y, expected) in found.iter().zip(expected) {
                assert_eq!(y.values[i], expected.rem_euclid(257) as u64);
            }
        }
    }

    /// Sums of which each lacks some of the values of the first one.
    #[test]
    fn half_of_the_terms_suffice() {
        let mut builder = CircuitBuilder::new();
        let xs: Vec<NodeId> = (0..6).map(|_| builder.input(1)).collect();
        let mut sum = |places: &[usize]| {
            let terms = places.iter().map(|i| (xs[*i], 1 + *i as i64)).collect();
            builder.combine(vec![], terms, 0).unwrap()
        };
        let outputs = [sum(&[0, 1, 2, 3, 4, 5]), sum(&[0, 2, 4]), sum(&[1, 5]), sum(&[1, 3, 4, 5])];
        let circuit = builder.finish(&outputs).unwrap();
        let nodes: Vec<usize> = circuit.outputs.iter().map(|node| node.0).collect();
        let groups = Groups::of(&circuit.nodes);
        assert_eq!(groups.rows(nodes[0]), [nodes[0], nodes[1], nodes[3]]);
        assert!(groups.rows(nodes[2]).is_empty());
        let scheme = ResidueScheme::new(257);
        let inputs: Vec<_> = (1..7).map(|x| scheme.encrypt(vec![x], 1)).collect();
        let inputs: Vec<_> = inputs.iter().collect();
        let found = circuit.run(&scheme, &inputs, NextUse::Keep).unwrap();
        let found: Vec<u64> = found.iter().map(|y| y.values[0]).collect();
        assert_eq!(found, [91, 1 + 9 + 25, 4 + 36, 4 + 16 + 25 + 36]);
    }
}
