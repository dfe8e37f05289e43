//! Building programs.

use std::cmp::Ordering;

use super::steps::{Circuit, FoundGroups, Node, NodeId};
use crate::error::CircuitError;

/// Builds a [`Circuit`] step by step; every step is checked when it is added.
#[derive(Clone, Debug, Default)]
pub struct CircuitBuilder {
    nodes: Vec<Node>,
    exponents: Vec<u32>,
    depths: Vec<u32>,
    inputs: Vec<NodeId>,
}

impl CircuitBuilder {
    /// An empty program.
    pub fn new() -> Self {
        Self::default()
    }

    fn push(&mut self, node: Node, exponent: u32, depth: u32) -> NodeId {
        self.nodes.push(node);
        self.exponents.push(exponent);
        self.depths.push(depth);
        NodeId(self.nodes.len() - 1)
    }

    fn check(&self, x: NodeId) -> Result<(), CircuitError> {
        if x.0 < self.nodes.len() {
            Ok(())
        } else {
            Err(CircuitError::UnknownNode { node: x.0, nodes: self.nodes.len() })
        }
    }

    /// The depth of a node: products on the longest path to it.
    ///
    /// # Errors
    /// [`CircuitError::UnknownNode`] if the node is not of this program.
    pub fn depth(&self, x: NodeId) -> Result<u32, CircuitError> {
        self.check(x)?;
        Ok(self.depths[x.0])
    }

    /// The next input, modulo p^exponent.
    pub fn input(&mut self, exponent: u32) -> NodeId {
        let id = self.push(Node::Input(self.inputs.len()), exponent, 0);
        self.inputs.push(id);
        id
    }

    /// The sum of products plus a linear combination plus a constant: one relinearization in all.
    /// Constants are best centered, as the noise grows by their absolute values.
    ///
    /// # Errors
    /// [`CircuitError::Empty`] without products and terms (a constant is no ciphertext),
    /// [`CircuitError::ProgramExponent`] if operands have different plaintext exponents,
    /// [`CircuitError::UnknownNode`].
    pub fn combine(
        &mut self,
        pairs: Vec<(NodeId, NodeId)>,
        terms: Vec<(NodeId, i64)>,
        constant: i64,
    ) -> Result<NodeId, CircuitError> {
        let node = Node::Combine { pairs, terms, constant };
        let operands = node.operands();
        operands.iter().try_for_each(|x| self.check(*x))?;
        let Some(first) = operands.first() else {
            return Err(CircuitError::Empty { what: "a sum" });
        };
        let exponent = self.exponents[first.0];
        if let Some(other) = operands.iter().find(|x| self.exponents[x.0] != exponent) {
            return Err(CircuitError::ProgramExponent {
                expected: exponent,
                found: self.exponents[other.0],
            });
        }
        let mut depth = operands.iter().map(|x| self.depths[x.0]).max().unwrap_or(0);
        if let Node::Combine { pairs, .. } = &node {
            let products =
                pairs.iter().map(|(a, b)| self.depths[a.0].max(self.depths[b.0]) + 1).max();
            depth = depth.max(products.unwrap_or(0));
        }
        Ok(self.push(node, exponent, depth))
    }

    /// The product of two nodes.
    ///
    /// # Errors
    /// As [`CircuitBuilder::combine`].
    pub fn mul(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, CircuitError> {
        self.combine(vec![(a, b)], vec![], 0)
    }

    /// x + k.
    ///
    /// # Errors
    /// As [`CircuitBuilder::combine`].
    pub fn add_scalar(&mut self, x: NodeId, k: i64) -> Result<NodeId, CircuitError> {
        self.combine(vec![], vec![(x, 1)], k)
    }

    /// x modulo p^exponent, free. The node itself if it has this exponent already.
    ///
    /// # Errors
    /// [`CircuitError::ProgramExponent`] if the exponent would grow or is 0,
    /// [`CircuitError::UnknownNode`].
    pub fn reduce(&mut self, x: NodeId, exponent: u32) -> Result<NodeId, CircuitError> {
        self.check(x)?;
        let found = self.exponents[x.0];
        if exponent == found {
            return Ok(x);
        }
        if exponent == 0 || exponent > found {
            return Err(CircuitError::ProgramExponent { expected: exponent, found });
        }
        Ok(self.push(Node::Reduce { of: x, exponent }, exponent, self.depths[x.0]))
    }

    /// Some y modulo p^exponent that agrees with x modulo its own plaintext modulus, free: see
    /// [`extend_plain_modulus`](everlevel_scheme::PlainModulus::extend_plain_modulus). The node itself if
    /// it has this exponent already.
    ///
    /// # Errors
    /// [`CircuitError::ProgramExponent`] if the exponent would shrink,
    /// [`CircuitError::UnknownNode`].
    pub fn extend(&mut self, x: NodeId, exponent: u32) -> Result<NodeId, CircuitError> {
        self.check(x)?;
        let found = self.exponents[x.0];
        match exponent.cmp(&found) {
            Ordering::Less => Err(CircuitError::ProgramExponent { expected: exponent, found }),
            Ordering::Equal => Ok(x),
            Ordering::Greater => {
                Ok(self.push(Node::Extend { of: x, exponent }, exponent, self.depths[x.0]))
            }
        }
    }

    /// x / p modulo p^(e-1) for x a multiple of p in every slot, free.
    ///
    /// # Errors
    /// [`CircuitError::ProgramExponent`] if the exponent of x is 1, [`CircuitError::UnknownNode`].
    pub fn divide_by_p(&mut self, x: NodeId) -> Result<NodeId, CircuitError> {
        self.check(x)?;
        let found = self.exponents[x.0];
        if found < 2 {
            return Err(CircuitError::ProgramExponent { expected: 2, found });
        }
        Ok(self.push(Node::DivideByP { of: x }, found - 1, self.depths[x.0]))
    }

    /// The same values at one level, the lowest of theirs. For terms of many sums, which then need
    /// no modulus switches of their own: values that are switched once each take the place of sums
    /// that are switched from level to level. The constants of these sums are not absorbed by such
    /// switches any more, which costs a sum up to as many bits as its constants have, unless terms
    /// at the lowest level have constants that are as large.
    ///
    /// # Errors
    /// [`CircuitError::UnknownNode`].
    pub fn at_one_level(&mut self, xs: &[NodeId]) -> Result<Vec<NodeId>, CircuitError> {
        xs.iter().map(|x| self.lower(*x, xs.to_vec())).collect()
    }

    /// x at the lowest level of these nodes, of which it is one.
    fn lower(&mut self, of: NodeId, among: Vec<NodeId>) -> Result<NodeId, CircuitError> {
        among.iter().try_for_each(|x| self.check(*x))?;
        let (exponent, depth) = (self.exponents[of.0], self.depths[of.0]);
        Ok(self.push(Node::Lower { of, among }, exponent, depth))
    }

    /// The steps of a whole program on nodes of this one; its outputs.
    ///
    /// # Errors
    /// [`CircuitError::InputCount`] if there are not as many nodes as the program has inputs,
    /// [`CircuitError::ProgramExponent`] if their plaintext exponents differ from those of its
    /// inputs, [`CircuitError::UnknownNode`].
    pub fn append(
        &mut self,
        program: &Circuit,
        inputs: &[NodeId],
    ) -> Result<Vec<NodeId>, CircuitError> {
        if inputs.len() != program.inputs.len() {
            return Err(CircuitError::InputCount {
                expected: program.inputs.len(),
                found: inputs.len(),
            });
        }
        for (x, expected) in inputs.iter().zip(program.input_exponents()) {
            self.check(*x)?;
            let found = self.exponents[x.0];
            if found != expected {
                return Err(CircuitError::ProgramExponent { expected, found });
            }
        }
        let mut new_id: Vec<NodeId> = Vec::with_capacity(program.nodes.len());
        for node in &program.nodes {
            new_id.push(match node {
                Node::Input(position) => inputs[*position],
                Node::Combine { pairs, terms, constant } => {
                    let pairs = pairs.iter().map(|(a, b)| (new_id[a.0], new_id[b.0])).collect();
                    let terms = terms.iter().map(|(x, c)| (new_id[x.0], *c)).collect();
                    self.combine(pairs, terms, *constant)?
                }
                Node::Reduce { of, exponent } => self.reduce(new_id[of.0], *exponent)?,
                Node::Extend { of, exponent } => self.extend(new_id[of.0], *exponent)?,
                Node::DivideByP { of } => self.divide_by_p(new_id[of.0])?,
                Node::Lower { of, among } => {
                    self.lower(new_id[of.0], among.iter().map(|x| new_id[x.0]).collect())?
                }
            });
        }
        Ok(program.outputs.iter().map(|x| new_id[x.0]).collect())
    }

    /// The program with the given outputs, without the steps that no output needs.
    ///
    /// # Errors
    /// [`CircuitError::Empty`] without outputs, [`CircuitError::UnknownNode`].
    pub fn finish(self, outputs: &[NodeId]) -> Result<Circuit, CircuitError> {
        if outputs.is_empty() {
            return Err(CircuitError::Empty { what: "the list of outputs" });
        }
        outputs.iter().try_for_each(|x| self.check(*x))?;
        let mut live = vec![false; self.nodes.len()];
        self.inputs.iter().chain(outputs).for_each(|x| live[x.0] = true);
        for i in (0..self.nodes.len()).rev() {
            if live[i] {
                self.nodes[i].operands().iter().for_each(|x| live[x.0] = true);
            }
        }
        let mut new_id = vec![NodeId(0); self.nodes.len()];
        let mut out = Circuit {
            nodes: vec![],
            exponents: vec![],
            depths: vec![],
            inputs: vec![],
            outputs: vec![],
            groups: FoundGroups::default(),
        };
        for (i, mut node) in self.nodes.into_iter().enumerate().filter(|(i, _)| live[*i]) {
            match &mut node {
                Node::Input(_) => {}
                Node::Combine { pairs, terms, .. } => {
                    pairs.iter_mut().for_each(|(a, b)| (*a, *b) = (new_id[a.0], new_id[b.0]));
                    terms.iter_mut().for_each(|(x, _)| *x = new_id[x.0]);
                }
                Node::Reduce { of, .. } | Node::Extend { of, .. } | Node::DivideByP { of } => {
                    *of = new_id[of.0]
                }
                Node::Lower { of, among } => {
                    *of = new_id[of.0];
                    among.iter_mut().for_each(|x| *x = new_id[x.0]);
                }
            }
            new_id[i] = NodeId(out.nodes.len());
            out.nodes.push(node);
            out.exponents.push(self.exponents[i]);
            out.depths.push(self.depths[i]);
        }
        out.inputs = self.inputs.iter().map(|x| new_id[x.0]).collect();
        out.outputs = outputs.iter().map(|x| new_id[x.0]).collect();
        Ok(out)
    }
}
