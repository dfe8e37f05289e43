//! The ways of digit removal, and their names.

use std::fmt;
use std::str::FromStr;

use crate::error::CircuitError;

/// How the low digit is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DigitMethod {
    /// Closed form modulo p^2, u Π (u^2 - l^2) as a tree of products, `group` factors expanded together (1 or 2 are sensible).
    /// No large constants at modulus p^2: the constants of a group of g are below about B^(2g).
    ProductTree {
        /// Factors expanded together.
        group: usize,
    },
    /// Closed form modulo p^2 by baby and giant powers of u^2: fewest products, but constants of log2(p^2) bits.
    PatersonStockmeyer {
        /// Levels above the least depth that may be spent to save products.
        extra_depth: u32,
    },
    /// Interpolation on the grid of all values: everything modulo p, but (2B + 1)^2 values instead of 2B + 1.
    Global {
        /// Levels above the least depth that may be spent to save products.
        extra_depth: u32,
    },
}

impl DigitMethod {
    /// The methods that are worth a try for any set.
    pub const CANDIDATES: [DigitMethod; 6] = [
        DigitMethod::ProductTree { group: 1 },
        DigitMethod::ProductTree { group: 2 },
        DigitMethod::PatersonStockmeyer { extra_depth: 0 },
        DigitMethod::PatersonStockmeyer { extra_depth: 1 },
        DigitMethod::Global { extra_depth: 0 },
        DigitMethod::Global { extra_depth: 1 },
    ];
}

impl fmt::Display for DigitMethod {
    /// `product_tree`, `product_tree_2` (factors in groups of 2), `paterson_stockmeyer`, `paterson_stockmeyer_1` (one extra
    /// level), `global`, `global_1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, usual, number) = match *self {
            DigitMethod::ProductTree { group } => (TREE, 1, group),
            DigitMethod::PatersonStockmeyer { extra_depth } => (POWERS, 0, extra_depth as usize),
            DigitMethod::Global { extra_depth } => (GLOBAL, 0, extra_depth as usize),
        };
        if number == usual { f.write_str(name) } else { write!(f, "{name}_{number}") }
    }
}

impl FromStr for DigitMethod {
    type Err = CircuitError;

    /// The names that [`DigitMethod`] displays as.
    fn from_str(name: &str) -> Result<Self, CircuitError> {
        let after = |stem: &str, usual: u8| match name.strip_prefix(stem)? {
            "" => Some(usual),
            rest => rest.strip_prefix('_')?.parse::<u8>().ok(),
        };
        let tree = after(TREE, 1).filter(|g| *g > 0).map(|g| DigitMethod::ProductTree { group: usize::from(g) });
        let powers = || after(POWERS, 0).map(|e| DigitMethod::PatersonStockmeyer { extra_depth: u32::from(e) });
        let global = || after(GLOBAL, 0).map(|e| DigitMethod::Global { extra_depth: u32::from(e) });
        let found = tree.or_else(powers).or_else(global);
        found.ok_or_else(|| CircuitError::UnknownMethod { name: name.chars().take(64).collect() })
    }
}

const TREE: &str = "product_tree";
const POWERS: &str = "paterson_stockmeyer";
const GLOBAL: &str = "global";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_have_names() {
        for method in DigitMethod::CANDIDATES {
            assert_eq!(method.to_string().parse(), Ok(method));
        }
        let names = DigitMethod::CANDIDATES.map(|m| m.to_string());
        assert_eq!(
            names,
            ["product_tree", "product_tree_2", "paterson_stockmeyer", "paterson_stockmeyer_1", "global", "global_1"]
        );
        for bad in [
            "",
            "tree",
            "product_tree_",
            "product_tree_0",
            "product_tree_300",
            "paterson_stockmeyer2",
            "product_tree-2",
            "globals",
            "global_x",
        ] {
            assert_eq!(bad.parse::<DigitMethod>(), Err(CircuitError::UnknownMethod { name: bad.into() }));
        }
    }
}
