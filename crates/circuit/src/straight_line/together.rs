//! Computing sums of a program that have terms in common together.

use std::collections::BTreeMap;

use everlevel_scheme::{Arithmetic, NextUse, SparseForm};

use super::steps::{Node, NodeId};
use crate::error::CircuitError;

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
