//! Evaluation of expressions by a server.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use everlevel_wire::WireError;

use crate::error::Error;
use crate::expression::{Expr, Node, Term};
use crate::integers::{IntegerColumn, IntegerTotal};
use crate::operand::{Argument, Computed, Operand, no_value};
use crate::server::{Server, Value};
use crate::stored::Bounds;
use crate::sums::Sums;

/// These nodes and all nodes that they depend on, each once, and after its operands.
fn ordered<'a, T: Operand>(roots: &[&'a Node<T>]) -> Vec<&'a Node<T>> {
    let (mut order, mut done) = (Vec::new(), HashSet::new());
    let mut open: Vec<(&Node<T>, bool)> = roots.iter().rev().map(|&node| (node, false)).collect();
    while let Some((node, expanded)) = open.pop() {
        if done.contains(&std::ptr::from_ref(node)) {
            continue;
        }
        if expanded {
            done.insert(std::ptr::from_ref(node));
            order.push(node);
        } else {
            open.push((node, true));
            open.extend(node.inputs().rev().map(|input| (input, false)));
        }
    }
    order
}

/// The operations of these nodes and of all nodes that they depend on.
pub(crate) fn operations<'a, T: Operand>(
    roots: &[&'a Node<T>],
) -> impl Iterator<Item = &'a T::Operation> {
    ordered(roots).into_iter().filter_map(|node| match node {
        Node::Value(_) => None,
        Node::Result { operation, .. } => Some(operation),
    })
}

/// The values of expressions. For each node, `value` returns the value that it holds, or `apply`
/// the result of its operation. A value that several nodes need is computed once, and dropped after
/// its last use.
pub(crate) fn evaluate<T: Operand, V: Clone>(
    roots: &[&Node<T>],
    mut value: impl FnMut(&T) -> Result<V, Error>,
    mut apply: impl FnMut(&T::Operation, &[Argument<'_, V>]) -> Result<V, Error>,
) -> Result<Vec<V>, Error> {
    let order = ordered(roots);
    let mut uses: HashMap<*const Node<T>, usize> = HashMap::new();
    for &node in roots {
        *uses.entry(node).or_default() += 1;
    }
    for input in order.iter().flat_map(|node| node.inputs()) {
        *uses.entry(input).or_default() += 1;
    }
    let sums = Sums::new(&order, &uses);
    let mut known: HashMap<*const Node<T>, V> = HashMap::new();
    for &node in &order {
        if sums.within.contains(&std::ptr::from_ref(node)) {
            continue;
        }
        let sum = sums.of.get(&std::ptr::from_ref(node));
        let found = match (node, sum) {
            (Node::Value(x), _) => value(x)?,
            (_, Some(sum)) => {
                let argument =
                    |x: &&Node<T>| known.get(&std::ptr::from_ref(*x)).map(|x| Argument::Value(x));
                let arguments: Option<Vec<_>> = sum.terms.iter().map(argument).collect();
                let mut arguments = arguments.ok_or_else(no_value)?;
                if sum.constant != 0 {
                    arguments.push(Argument::Public(sum.constant));
                }
                apply(&sum.operation, &arguments)?
            }
            (Node::Result { operation, inputs }, None) => {
                let argument = |term: &Term<T>| match term {
                    Term::Public(k) => Some(Argument::Public(*k)),
                    Term::Expr(x) => known.get(&Arc::as_ptr(&x.0)).map(|x| Argument::Value(x)),
                };
                let arguments: Option<Vec<_>> = inputs.iter().map(argument).collect();
                apply(operation, &arguments.ok_or_else(no_value)?)?
            }
        };
        known.insert(node, found);
        let inputs = match sum {
            Some(sum) => sum.inputs.clone(),
            None => node.inputs().collect(),
        };
        for input in inputs {
            let left = uses.entry(input).or_default();
            *left = left.saturating_sub(1);
            if *left == 0 {
                known.remove(&std::ptr::from_ref(input));
            }
        }
    }
    let found = |node: &&Node<T>| known.get(&std::ptr::from_ref(*node)).cloned();
    roots.iter().map(found).collect::<Option<_>>().ok_or_else(no_value)
}

impl Server {
    /// Computes an expression, with automatic bootstrapping where necessary.
    ///
    /// # Errors
    /// The first error of one of its operations.
    pub fn compute<T: Computed>(&self, x: &Expr<T>) -> Result<T, Error> {
        self.compute_all([x])?.pop().ok_or_else(no_value)
    }

    /// Computes several expressions; subexpressions that they share are computed once. Intermediate
    /// results are dropped after their last use.
    ///
    /// # Errors
    /// As [`Server::compute`].
    pub fn compute_all<'x, T: Computed>(
        &self,
        expressions: impl IntoIterator<Item = &'x Expr<T>>,
    ) -> Result<Vec<T>, Error> {
        let engine = T::engine(self)?;
        let roots: Vec<&Node<T>> = expressions.into_iter().map(|x| &*x.0).collect();
        evaluate(&roots, |x| Ok(x.clone()), |operation, x| T::apply(&engine, operation, x))
    }

    /// As [`Server::compute_all`], for an array of expressions.
    ///
    /// # Errors
    /// As [`Server::compute`].
    pub fn compute_each<T: Computed, const N: usize>(
        &self,
        expressions: [&Expr<T>; N],
    ) -> Result<[T; N], Error> {
        self.compute_all(expressions)?.try_into().map_err(|_| no_value())
    }

    /// Computes an expression and adds up the entries of its column.
    ///
    /// # Errors
    /// As [`Server::compute`].
    pub fn compute_total(&self, x: &Expr<IntegerColumn>) -> Result<IntegerTotal, Error> {
        Ok(self.integers()?.sum(&self.compute(x)?)?)
    }

    /// Exactly `N` ciphertexts from bytes ([`Server::receive`]), as expressions.
    ///
    /// # Errors
    /// As [`Server::receive`]; a number of ciphertexts other than `N`.
    pub fn receive_exprs<const N: usize>(
        &self,
        bytes: &[u8],
        bounds: &Bounds,
    ) -> Result<[Expr<Value>; N], Error> {
        let found = self.receive(bytes, bounds)?.into_iter().map(Expr::new);
        <[_; N]>::try_from(found.collect::<Vec<_>>()).map_err(|found| {
            let expected = format!("{N} of them");
            WireError::malformed("ciphertexts", &expected, found.len()).into()
        })
    }
}
