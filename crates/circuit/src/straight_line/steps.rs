//! The steps of a program, and what they cost.

use std::collections::BTreeMap;
use std::sync::OnceLock;

/// A value inside of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(crate) usize);

/// One step of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    /// An input, by its position.
    Input(usize),
    /// Sum of products, plus a linear combination, plus a constant: one relinearization if there
    /// are products.
    Combine { pairs: Vec<(NodeId, NodeId)>, terms: Vec<(NodeId, i64)>, constant: i64 },
    /// x mod p^e to x mod p^exponent.
    Reduce { of: NodeId, exponent: u32 },
    /// x mod p^e to some y mod p^exponent with y = x mod p^e.
    Extend { of: NodeId, exponent: u32 },
    /// p*x mod p^e to x mod p^(e-1).
    DivideByP { of: NodeId },
    /// x at the lowest level of these nodes, of which it is one.
    Lower { of: NodeId, among: Vec<NodeId> },
}

impl Node {
    /// The nodes that this node reads.
    pub(crate) fn operands(&self) -> Vec<NodeId> {
        match self {
            Node::Input(_) => vec![],
            Node::Combine { pairs, terms, .. } => pairs
                .iter()
                .flat_map(|(a, b)| [*a, *b])
                .chain(terms.iter().map(|(x, _)| *x))
                .collect(),
            Node::Reduce { of, .. } | Node::Extend { of, .. } | Node::DivideByP { of } => vec![*of],
            Node::Lower { among, .. } => among.clone(),
        }
    }
}

/// The sums of a program that are computed together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Groups {
    /// Several sums, by the first of them.
    pub(super) rows: BTreeMap<usize, Vec<usize>>,
}

impl Groups {
    /// The sums that are computed together with this one, if it is the first of several; itself
    /// included.
    pub(super) fn rows(&self, node: usize) -> &[usize] {
        self.rows.get(&node).map_or(&[], Vec::as_slice)
    }
}

/// The groups of a program, found when it runs for the first time: of the many programs that are
/// compared for the same values only one runs. They follow from its nodes, so that programs with
/// the same nodes are equal whether or not they have run.
#[derive(Clone, Debug, Default)]
pub(super) struct FoundGroups(pub(super) OnceLock<Groups>);

impl PartialEq for FoundGroups {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for FoundGroups {}

/// What a program costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CircuitCosts {
    /// Products of two ciphertexts on the longest path.
    pub depth: u32,
    /// Products of two ciphertexts.
    pub products: usize,
    /// Relinearizations: key switches.
    pub relinearizations: usize,
    /// Multiplications by constants other than 0, 1 and -1.
    pub scalar_products: usize,
}

/// A straight-line program: what to compute from inputs modulo powers of p, and in which order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circuit {
    pub(crate) nodes: Vec<Node>,
    pub(crate) exponents: Vec<u32>,
    pub(crate) depths: Vec<u32>,
    pub(crate) inputs: Vec<NodeId>,
    pub(crate) outputs: Vec<NodeId>,
    pub(super) groups: FoundGroups,
}

impl Circuit {
    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs.len()
    }

    /// The plaintext exponents of the inputs.
    pub fn input_exponents(&self) -> Vec<u32> {
        self.inputs.iter().map(|n| self.exponents[n.0]).collect()
    }

    /// The number of outputs.
    pub fn outputs(&self) -> usize {
        self.outputs.len()
    }

    /// The plaintext exponents of the outputs.
    pub fn output_exponents(&self) -> Vec<u32> {
        self.outputs.iter().map(|n| self.exponents[n.0]).collect()
    }

    /// The depth of every output.
    pub fn output_depths(&self) -> Vec<u32> {
        self.outputs.iter().map(|n| self.depths[n.0]).collect()
    }

    /// The algebraic degree of the outputs in the inputs, at most; saturating.
    pub fn degree(&self) -> u64 {
        let mut degrees = vec![0u64; self.nodes.len()];
        for (i, node) in self.nodes.iter().enumerate() {
            degrees[i] = match node {
                Node::Input(_) => 1,
                Node::Combine { pairs, terms, .. } => {
                    let products =
                        pairs.iter().map(|(a, b)| degrees[a.0].saturating_add(degrees[b.0]));
                    products.chain(terms.iter().map(|(x, _)| degrees[x.0])).max().unwrap_or(0)
                }
                Node::Reduce { of, .. }
                | Node::Extend { of, .. }
                | Node::DivideByP { of }
                | Node::Lower { of, .. } => degrees[of.0],
            };
        }
        self.outputs.iter().map(|x| degrees[x.0]).max().unwrap_or(0)
    }

    /// About how many bits of capacity a run takes from its inputs, for comparing programs: a
    /// product modulo t = p^e takes log2 t + 17.5 (the library's bound at n = 2^15), a constant its
    /// size, and a division by p gives log2 p back. A term that lies above the rest of its sum
    /// hides its constant; levels modulo p are cheaper than levels modulo p^2.
    pub fn estimated_bits(&self, prime: u64) -> f64 {
        let log_p = (prime as f64).log2();
        let mut used = vec![0f64; self.nodes.len()];
        for (i, node) in self.nodes.iter().enumerate() {
            let product = f64::from(self.exponents[i]) * log_p + 17.5;
            used[i] = match node {
                Node::Input(_) => 0.0,
                Node::Combine { pairs, terms, .. } => {
                    let products = pairs.iter().map(|(a, b)| used[a.0].max(used[b.0]) + product);
                    let terms = terms
                        .iter()
                        .map(|(x, c)| used[x.0] + (c.unsigned_abs().max(1) as f64).log2());
                    products.chain(terms).fold(0.0, f64::max)
                }
                Node::Reduce { of, .. } | Node::Extend { of, .. } | Node::Lower { of, .. } => {
                    used[of.0]
                }
                Node::DivideByP { of } => used[of.0] - log_p,
            };
        }
        self.outputs.iter().map(|x| used[x.0]).fold(0.0, f64::max)
    }

    /// Depth and counts of operations. Every step is needed for an output:
    /// [`CircuitBuilder::finish`](super::CircuitBuilder::finish) drops the others.
    pub fn costs(&self) -> CircuitCosts {
        let mut costs = CircuitCosts {
            depth: self.output_depths().into_iter().max().unwrap_or(0),
            ..Default::default()
        };
        for node in &self.nodes {
            if let Node::Combine { pairs, terms, .. } = node {
                costs.products += pairs.len();
                costs.relinearizations += usize::from(!pairs.is_empty());
                costs.scalar_products += terms.iter().filter(|(_, c)| c.unsigned_abs() > 1).count();
            }
        }
        costs
    }
}
