//! Powers of one variable at least depth, shared between everything that is evaluated at it.

use std::collections::BTreeMap;

use crate::error::CircuitError;
use crate::straight_line::{CircuitBuilder, NodeId};

/// The powers of a variable that a program holds already. x^n has depth depth(x) + ceil(log2 n).
#[derive(Clone, Debug)]
pub(crate) struct PowerTable {
    nodes: BTreeMap<usize, NodeId>,
}

/// ceil(log2 n), 0 for n = 0.
pub(crate) fn log2_ceil(n: usize) -> u32 {
    n.max(1).next_power_of_two().trailing_zeros()
}

impl PowerTable {
    pub(crate) fn new(x: NodeId) -> Self {
        PowerTable { nodes: BTreeMap::from([(1, x)]) }
    }

    /// x^n if it is there.
    pub(crate) fn get(&self, n: usize) -> Option<NodeId> {
        self.nodes.get(&n).copied()
    }

    /// The same powers modulo a smaller power of p: free.
    pub(crate) fn reduced(
        &self,
        builder: &mut CircuitBuilder,
        exponent: u32,
    ) -> Result<Self, CircuitError> {
        let nodes: Result<_, CircuitError> =
            self.nodes.iter().map(|(n, x)| Ok((*n, builder.reduce(*x, exponent)?))).collect();
        Ok(PowerTable { nodes: nodes? })
    }

    /// x^n for n >= 1, with the powers it takes: the split of n into two halves of least depth of
    /// which most is there.
    pub(crate) fn power(
        &mut self,
        builder: &mut CircuitBuilder,
        n: usize,
    ) -> Result<NodeId, CircuitError> {
        if let Some(x) = self.nodes.get(&n) {
            return Ok(*x);
        }
        if n == 0 {
            return Err(CircuitError::Empty { what: "a power" });
        }
        let depth = log2_ceil(n);
        let missing = |a: usize| usize::from(!self.nodes.contains_key(&a));
        let split = (n.div_ceil(2)..n)
            .filter(|a| log2_ceil(*a) < depth && log2_ceil(n - a) < depth)
            // A square is cheaper than a product, so halves come first.
            .min_by_key(|a| missing(*a) + if 2 * a == n { 0 } else { missing(n - a) });
        let a = split.unwrap_or(n.div_ceil(2));
        let high = self.power(builder, a)?;
        let low = self.power(builder, n - a)?;
        let product = builder.mul(high, low)?;
        self.nodes.insert(n, product);
        Ok(product)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_have_least_depth_and_are_shared() {
        let mut builder = CircuitBuilder::new();
        let x = builder.input(1);
        let mut table = PowerTable::new(x);
        for n in [13, 7, 64, 100, 31, 2] {
            let node = table.power(&mut builder, n).unwrap();
            assert_eq!(builder.depth(node).unwrap(), log2_ceil(n), "x^{n}");
        }
        let before = builder.clone();
        table.power(&mut builder, 13).unwrap();
        assert_eq!(before.finish(&[x]).unwrap(), builder.finish(&[x]).unwrap());
        assert!(table.power(&mut CircuitBuilder::new(), 0).is_err());
    }
}
