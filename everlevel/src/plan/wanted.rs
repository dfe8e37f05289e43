//! What a plan computes for each of its results.

use std::collections::HashSet;

use everlevel_integers::Operation;

use super::{Output, Plan, PlannedColumn};
use crate::compute::ordered;
use crate::expression::{Node, Term};

impl Output {
    fn node(&self) -> &Node<PlannedColumn> {
        &self.value.0
    }

    /// The factors of a product of two columns whose sum is the result; `None` of other results.
    fn factors(&self) -> Option<[&Node<PlannedColumn>; 2]> {
        match self.node() {
            Node::Result { operation: Operation::Multiply, inputs } if self.total => {
                match &inputs[..] {
                    [Term::Expr(a), Term::Expr(b)] => Some([&*a.0, &*b.0]),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

impl Plan {
    /// The nodes whose values make each result: its own node, or of the sum of a product that
    /// nothing else needs the two factors.
    pub(super) fn wanted(&self) -> Vec<Vec<&Node<PlannedColumn>>> {
        let mut wanted = Vec::with_capacity(self.outputs.len());
        for output in &self.outputs {
            wanted.push(match output.factors() {
                Some(factors) => factors.to_vec(),
                None => vec![output.node()],
            });
        }
        let roots: Vec<&Node<PlannedColumn>> = wanted.iter().flatten().copied().collect();
        let needed: HashSet<*const Node<PlannedColumn>> =
            ordered(&roots).into_iter().map(std::ptr::from_ref).collect();
        for (nodes, output) in wanted.iter_mut().zip(&self.outputs) {
            if needed.contains(&std::ptr::from_ref(output.node())) {
                *nodes = vec![output.node()];
            }
        }
        wanted
    }
}
