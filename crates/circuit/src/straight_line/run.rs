//! Running programs.

use everlevel_scheme::{Arithmetic, NextUse, PlainModulus};

use super::steps::{Circuit, Node, NodeId};
use super::together::{get, product, sums};
use crate::error::CircuitError;

impl Circuit {
    /// Runs the program; outputs are at levels that suit their next use.
    ///
    /// # Errors
    /// [`CircuitError::InputCount`] or [`CircuitError::ExponentMismatch`] if the inputs are not
    /// what the program expects; errors of the scheme, in particular too little capacity.
    pub fn run<S: Arithmetic + PlainModulus>(
        &self,
        scheme: &S,
        inputs: &[&S::Ciphertext],
        next: NextUse,
    ) -> Result<Vec<S::Ciphertext>, CircuitError> {
        if inputs.len() != self.inputs.len() {
            return Err(CircuitError::InputCount {
                expected: self.inputs.len(),
                found: inputs.len(),
            });
        }
        for (id, x) in self.inputs.iter().zip(inputs) {
            let (expected, found) = (self.exponents[id.0], scheme.plain_exponent(x));
            if expected != found {
                return Err(CircuitError::ExponentMismatch { expected, found });
            }
        }
        let (uses, groups) = (self.uses(next), self.groups());
        let mut values: Vec<Option<S::Ciphertext>> = vec![None; self.nodes.len()];
        for (i, node) in self.nodes.iter().enumerate() {
            // Unless it was computed together with an earlier one.
            if values[i].is_none() {
                let rows = groups.rows(i);
                if rows.is_empty() {
                    values[i] = Some(evaluate(scheme, node, inputs, &values, uses.next[i])?);
                } else {
                    let found = sums(scheme, &self.nodes, rows, &values, &uses.next)?;
                    for (row, sum) in rows.iter().zip(found) {
                        values[*row] = Some(prepared(scheme, sum, uses.next[*row])?);
                    }
                }
            }
            for x in node.operands() {
                if uses.last[x.0] == i {
                    values[x.0] = None;
                }
            }
        }
        self.outputs.iter().map(|x| get(&values, *x).cloned()).collect()
    }

    /// What every node is used for, and after which node it is not used any more.
    fn uses(&self, next: NextUse) -> Uses {
        let mut uses = Uses {
            next: vec![NextUse::Keep; self.nodes.len()],
            last: vec![usize::MAX; self.nodes.len()],
        };
        for (i, node) in self.nodes.iter().enumerate() {
            node.operands().iter().for_each(|x| uses.last[x.0] = i);
        }
        for x in &self.outputs {
            uses.last[x.0] = usize::MAX;
            uses.next[x.0] = next;
        }
        // Operands that are used to the end.
        let last = &uses.last;
        let is_output = |x: &NodeId| last[x.0] == usize::MAX;
        for (i, node) in self.nodes.iter().enumerate().rev() {
            let (wanted, sources) = match node {
                // Terms of a sum, too: a value that is switched down before it is added lets the
                // other terms, which lie higher, absorb their constants in the switch.
                Node::Combine { .. } => (NextUse::Product, node.operands()),
                // Noise at the floor of p^e is, divided by p, at the floor of p^(e-1): the source
                // is switched down, in the same pass as its relinearization. What is extended keeps
                // noise at the lower floor of the smaller modulus.
                Node::DivideByP { of } | Node::Extend { of, .. } => (uses.next[i], vec![*of]),
                // A term of sums.
                Node::Lower { of, .. } => (NextUse::Product, vec![*of]),
                Node::Input(_) | Node::Reduce { .. } => continue,
            };
            for x in sources.iter().filter(|x| !is_output(x)) {
                if uses.next[x.0] != NextUse::Product {
                    uses.next[x.0] = wanted;
                }
            }
        }
        uses
    }
}

/// Constants of a program are modulo powers of one prime: with another one it would give wrong
/// values without an error.
pub(crate) fn check_prime<S: Arithmetic + PlainModulus>(
    scheme: &S,
    planned: u64,
) -> Result<(), CircuitError> {
    if scheme.plain_prime() == planned {
        Ok(())
    } else {
        let (expected, found) = (planned.into(), scheme.plain_prime().into());
        Err(CircuitError::ModulusMismatch { expected, found })
    }
}

struct Uses {
    next: Vec<NextUse>,
    last: Vec<usize>,
}

/// The value at a level that suits its next use.
fn prepared<S: Arithmetic>(
    scheme: &S,
    x: S::Ciphertext,
    next: NextUse,
) -> Result<S::Ciphertext, CircuitError> {
    if next == NextUse::Keep { Ok(x) } else { Ok(scheme.prepare(&x, next)?) }
}

fn evaluate<S: Arithmetic + PlainModulus>(
    scheme: &S,
    node: &Node,
    inputs: &[&S::Ciphertext],
    values: &[Option<S::Ciphertext>],
    next: NextUse,
) -> Result<S::Ciphertext, CircuitError> {
    match node {
        Node::Input(position) => {
            let x = *inputs
                .get(*position)
                .ok_or(CircuitError::InputCount { expected: position + 1, found: inputs.len() })?;
            // Prepared once, however many products it enters.
            if next == NextUse::Product { Ok(scheme.prepare(x, next)?) } else { Ok(x.clone()) }
        }
        // The floor of the smaller modulus lies deeper: switch once more, for all uses.
        Node::Reduce { of, exponent } => {
            prepared(scheme, scheme.reduce_plain_modulus(get(values, *of)?, *exponent)?, next)
        }
        Node::Extend { of, exponent } => {
            Ok(scheme.extend_plain_modulus(get(values, *of)?, *exponent)?)
        }
        Node::DivideByP { of } => prepared(scheme, scheme.divide_by_p(get(values, *of)?)?, next),
        Node::Lower { of, among } => {
            let x = get(values, *of)?;
            let mut lowest = scheme.level(x);
            for other in among {
                lowest = lowest.min(scheme.level(get(values, *other)?));
            }
            Ok(scheme.mod_switch_to(x, lowest)?)
        }
        Node::Combine { pairs, terms, constant } => {
            combine(scheme, pairs, terms, *constant, values, next)
        }
    }
}

fn combine<S: Arithmetic + PlainModulus>(
    scheme: &S,
    pairs: &[(NodeId, NodeId)],
    terms: &[(NodeId, i64)],
    constant: i64,
    values: &[Option<S::Ciphertext>],
    next: NextUse,
) -> Result<S::Ciphertext, CircuitError> {
    let product = product(scheme, pairs, values, next)?;
    if terms.is_empty() {
        let Some(product) = product else {
            return Err(CircuitError::Empty { what: "a sum" });
        };
        return if constant == 0 {
            Ok(product)
        } else {
            Ok(scheme.add_scalar(&product, constant)?)
        };
    }
    let mut summands: Vec<(&S::Ciphertext, i64)> = Vec::with_capacity(terms.len() + 1);
    summands.extend(product.iter().map(|x| (x, 1)));
    for (x, c) in terms {
        summands.push((get(values, *x)?, *c));
    }
    prepared(scheme, scheme.linear_combination(&summands, constant)?, next)
}
