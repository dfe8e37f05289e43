//! Sums of many terms in expressions of typed integers: one operation, whose carries are computed
//! once.

use std::collections::{HashMap, HashSet};

use crate::expression::{Node, Term};
use crate::operand::{Linear, Operand};

/// The largest number of terms that are added up at once. All of them are kept in memory until
/// then, and the sum of 32 terms of 8 bits has digits that can be reduced in one step.
const MOST: usize = 32;

/// A sum that is one operation.
pub(crate) struct Sum<'a, T: Operand> {
    pub(crate) operation: T::Operation,
    /// Its operands, each once.
    pub(crate) terms: Vec<&'a Node<T>>,
    /// The same operands, as often as they occur.
    pub(crate) inputs: Vec<&'a Node<T>>,
    /// One more term, if it is not 0.
    pub(crate) constant: i128,
}

/// The sums among some nodes.
pub(crate) struct Sums<'a, T: Operand> {
    /// By the node of the last addition.
    pub(crate) of: HashMap<*const Node<T>, Sum<'a, T>>,
    /// Nodes that occur only as parts of these sums.
    pub(crate) within: HashSet<*const Node<T>>,
}

impl<'a, T: Operand> Sums<'a, T> {
    /// The sums among `order`, in which each node comes after its operands; `uses` states how often
    /// each node is needed.
    pub(crate) fn new(order: &[&'a Node<T>], uses: &HashMap<*const Node<T>, usize>) -> Self {
        let mut sums = Sums { of: HashMap::new(), within: HashSet::new() };
        for &node in order.iter().rev() {
            if sums.within.contains(&std::ptr::from_ref(node)) {
                continue;
            }
            if let Some((sum, within)) = collected(node, uses) {
                sums.of.insert(node, sum);
                sums.within.extend(within);
            }
        }
        sums
    }

    /// The operands of a node, or of the sum at it, as often as they occur.
    pub(crate) fn inputs(&self, node: &'a Node<T>) -> Vec<&'a Node<T>> {
        match self.of.get(&std::ptr::from_ref(node)) {
            Some(sum) => sum.inputs.clone(),
            None => node.inputs().collect(),
        }
    }
}

/// The sum at a node, and the nodes within it, which are needed for nothing else. `None` if it has
/// only two terms, which are added directly.
fn collected<'a, T: Operand>(
    root: &'a Node<T>,
    uses: &HashMap<*const Node<T>, usize>,
) -> Option<(Sum<'a, T>, Vec<*const Node<T>>)> {
    let part = |node: &'a Node<T>| match node {
        Node::Value(_) => None,
        Node::Result { operation, inputs } => Some((T::linear(operation)?, &inputs[..])),
    };
    if !matches!(part(root), Some((Linear::Add | Linear::Subtract, _))) {
        return None;
    }
    let once = |node: &'a Node<T>| uses.get(&std::ptr::from_ref(node)) == Some(&1);
    let (mut inputs, mut factors, mut constant) = (Vec::new(), Vec::new(), 0i128);
    let (mut within, mut open) = (Vec::new(), vec![(root, 1i128)]);
    while let Some((node, sign)) = open.pop() {
        let is_root = std::ptr::eq(node, root);
        let room = inputs.len() + open.len() + 2 <= MOST;
        let apart = |linear: Linear| {
            let grows = matches!(linear, Linear::Add | Linear::Subtract);
            is_root || (once(node) && (room || !grows))
        };
        match part(node).filter(|(linear, _)| apart(*linear)) {
            Some((
                Linear::Multiply,
                [Term::Public(k), Term::Expr(x)] | [Term::Expr(x), Term::Public(k)],
            )) => {
                factors.push(sign.checked_mul(*k)?);
                inputs.push(&*x.0);
                within.push(std::ptr::from_ref(node));
            }
            Some((linear @ (Linear::Add | Linear::Subtract | Linear::Negative), inputs)) => {
                if !is_root {
                    within.push(std::ptr::from_ref(node));
                }
                // The first operand is taken apart first.
                for (i, term) in inputs.iter().enumerate().rev() {
                    let minus = linear != Linear::Add && i + 1 == inputs.len();
                    let sign = if minus { -sign } else { sign };
                    match term {
                        Term::Public(k) => {
                            constant = constant.checked_add(sign.checked_mul(*k)?)?;
                        }
                        Term::Expr(x) => open.push((&*x.0, sign)),
                    }
                }
            }
            _ => {
                factors.push(sign);
                inputs.push(node);
            }
        }
    }
    let (terms, mut factors) = merged(&inputs, &factors)?;
    let plain = factors.iter().all(|k| k.abs() == 1);
    if terms.len() < 2 || (terms.len() == 2 && plain) {
        return None;
    }
    if constant != 0 {
        factors.push(1);
    }
    let operation = T::multiples(factors)?;
    Some((Sum { operation, terms, inputs, constant }, within))
}

/// Each of these nodes once, with the sum of its factors.
fn merged<'a, T: Operand>(
    inputs: &[&'a Node<T>],
    factors: &[i128],
) -> Option<(Vec<&'a Node<T>>, Vec<i128>)> {
    let (mut terms, mut sums): (Vec<&Node<T>>, Vec<i128>) = (Vec::new(), Vec::new());
    for (&node, k) in inputs.iter().zip(factors) {
        match terms.iter().position(|x| std::ptr::eq(*x, node)) {
            Some(i) => sums[i] = sums[i].checked_add(*k)?,
            None => {
                terms.push(node);
                sums.push(*k);
            }
        }
    }
    Some((terms, sums))
}
