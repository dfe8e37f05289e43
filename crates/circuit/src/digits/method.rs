//! The ways of digit removal, and their names.

use std::fmt;
use std::str::FromStr;

use super::doubling::MOST_BITS;
use super::problem::DigitProblem;
use crate::error::CircuitError;

/// How low digits are removed. The closed forms, as a tree or by powers, and `Local` profit from a
/// small bound B on the low part; the others take all its values. `extra_depth` counts the levels
/// above the least depth that each polynomial may spend to save products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DigitMethod {
    /// Closed form, u Π (u^2 - l^2) as a tree of products, `group` factors expanded together (1 or
    /// 2 are sensible). No large constants at the full modulus: the constants of a group of g are
    /// below about B^(2g).
    ProductTree {
        /// Factors expanded together.
        group: usize,
    },
    /// Closed form by baby and giant powers of u^2: fewest products, but constants of log2(p^e)
    /// bits.
    PatersonStockmeyer {
        /// Levels above the least depth that may be spent to save products.
        extra_depth: u32,
    },
    /// Interpolation on the grid of all values: everything modulo p, but (2B + 1)^2 values instead
    /// of 2B + 1. For bootstrapping only: it wants the digits of another kind of input.
    Global {
        /// Levels above the least depth that may be spent to save products.
        extra_depth: u32,
    },
    /// A triangle of lifting polynomials of degree p (Halevi–Shoup 2015).
    HaleviShoup {
        /// Levels above the least depth that may be spent to save products.
        extra_depth: u32,
    },
    /// Lowest-digit-retain polynomials of degree (e - 1)(p - 1) + 1 and lifting polynomials
    /// (Chen–Han 2018).
    ChenHan {
        /// Levels above the least depth that may be spent to save products.
        extra_depth: u32,
    },
    /// Odd (for p = 2 even) digit polynomials, reduced modulo the null ideal of Z/p^e
    /// (Geelen–Iliashenko–Kang–Vercauteren 2023).
    Geelen {
        /// Levels above the least depth that may be spent to save products.
        extra_depth: u32,
    },
    /// The same, each digit in two steps or its lifts by lifting polynomials where that takes fewer
    /// products: deeper.
    GeelenComposed {
        /// Levels above the least depth that may be spent to save products.
        extra_depth: u32,
    },
    /// Odd digit polynomials, reduced modulo what vanishes for |i| <= B (Ma–Huang–Wang–Wang 2024).
    Local {
        /// Levels above the least depth that may be spent to save products.
        extra_depth: u32,
    },
    /// For p = 2 and e <= 24: chains of products each of which doubles the precision of a bit.
    /// Fewest products, at the depth of [`DigitMethod::Geelen`].
    Doubling,
}

impl DigitMethod {
    /// The methods that are worth a try in any bootstrapping of one digit: u = l + Δ h to h modulo
    /// p.
    pub const CANDIDATES: [DigitMethod; 6] = [
        DigitMethod::ProductTree { group: 1 },
        DigitMethod::ProductTree { group: 2 },
        DigitMethod::PatersonStockmeyer { extra_depth: 0 },
        DigitMethod::PatersonStockmeyer { extra_depth: 1 },
        DigitMethod::Global { extra_depth: 0 },
        DigitMethod::Global { extra_depth: 1 },
    ];

    /// The methods that solve a problem, those that B makes no difference for left out.
    ///
    /// # Errors
    /// As [`DigitProblem::modulus`].
    pub fn candidates(problem: &DigitProblem) -> Result<Vec<DigitMethod>, CircuitError> {
        problem.modulus()?;
        let mut methods = vec![
            DigitMethod::HaleviShoup { extra_depth: 0 },
            DigitMethod::ChenHan { extra_depth: 0 },
        ];
        methods.extend((0..2).map(|extra_depth| DigitMethod::Geelen { extra_depth }));
        methods.push(DigitMethod::GeelenComposed { extra_depth: 0 });
        if !problem.is_full() && problem.p > 2 {
            methods.extend((0..2).map(|extra_depth| DigitMethod::Local { extra_depth }));
        }
        methods.push(DigitMethod::Doubling);
        methods.extend(&Self::CANDIDATES[..4]);
        methods
            .retain(|method| method.check(problem).is_ok_and(|points| points <= SENSIBLE_POINTS));
        Ok(methods)
    }

    /// Whether the method solves the problem, with tables that can be made; the points of its
    /// largest interpolation.
    pub(crate) fn check(&self, problem: &DigitProblem) -> Result<u64, CircuitError> {
        let DigitProblem { p, e, bound, .. } = *problem;
        problem.modulus()?;
        let refuse = |reason| Err(CircuitError::OverflowBound { bound, p, reason });
        let points = match self {
            DigitMethod::ProductTree { .. } | DigitMethod::PatersonStockmeyer { .. } => {
                return match bound {
                    1025.. => refuse("bounds above 1024 have no sensible circuit"),
                    _ if p == 2 || 2 * bound >= p => {
                        refuse("the 2B + 1 values of a digit must differ modulo p")
                    }
                    _ => Ok(bound),
                };
            }
            DigitMethod::Global { .. } => return Err(problem.not_for_the_grid()),
            DigitMethod::Doubling if p == 2 && e <= MOST_BITS => return Ok(0),
            DigitMethod::Doubling => {
                return Err(problem.refused("precision is doubled for p = 2 and e <= 24 only"));
            }
            DigitMethod::HaleviShoup { .. } => p / 2,
            DigitMethod::ChenHan { .. } => (p - 1).saturating_mul(u64::from(e - 1)) + 1,
            DigitMethod::Local { .. } if 2 * u128::from(bound) < u128::from(p) => {
                (2 * bound + 1).saturating_mul(u64::from(e))
            }
            _ => p.saturating_mul(u64::from(e)),
        };
        if points > MOST_POINTS {
            Err(problem.refused("polynomials of such a degree have no sensible circuit"))
        } else {
            Ok(points)
        }
    }
}

/// Interpolation takes time quadratic in its points: at these, a minute.
const MOST_POINTS: u64 = 1 << 15;
/// Up to here a method is worth a try where none is asked for.
pub(crate) const SENSIBLE_POINTS: u64 = 1 << 13;

/// A method by its name and a small number, and the number that is not shown.
type Named = (&'static str, usize, fn(usize) -> DigitMethod);

const NAMES: [Named; 9] = [
    ("product_tree", 1, |group| DigitMethod::ProductTree { group }),
    ("paterson_stockmeyer", 0, |n| DigitMethod::PatersonStockmeyer { extra_depth: n as u32 }),
    ("global", 0, |n| DigitMethod::Global { extra_depth: n as u32 }),
    ("halevi_shoup", 0, |n| DigitMethod::HaleviShoup { extra_depth: n as u32 }),
    ("chen_han", 0, |n| DigitMethod::ChenHan { extra_depth: n as u32 }),
    ("geelen", 0, |n| DigitMethod::Geelen { extra_depth: n as u32 }),
    ("geelen_composed", 0, |n| DigitMethod::GeelenComposed { extra_depth: n as u32 }),
    ("local", 0, |n| DigitMethod::Local { extra_depth: n as u32 }),
    ("doubling", 0, |_| DigitMethod::Doubling),
];

impl fmt::Display for DigitMethod {
    /// `product_tree`, `product_tree_2` (factors in groups of 2), `paterson_stockmeyer`,
    /// `paterson_stockmeyer_1` (one extra level), and so on with `global`, `halevi_shoup`,
    /// `chen_han`, `geelen`, `geelen_composed`, `local`; `doubling` has no number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (place, number) = match *self {
            DigitMethod::ProductTree { group } => (0, group),
            DigitMethod::PatersonStockmeyer { extra_depth } => (1, extra_depth as usize),
            DigitMethod::Global { extra_depth } => (2, extra_depth as usize),
            DigitMethod::HaleviShoup { extra_depth } => (3, extra_depth as usize),
            DigitMethod::ChenHan { extra_depth } => (4, extra_depth as usize),
            DigitMethod::Geelen { extra_depth } => (5, extra_depth as usize),
            DigitMethod::GeelenComposed { extra_depth } => (6, extra_depth as usize),
            DigitMethod::Local { extra_depth } => (7, extra_depth as usize),
            DigitMethod::Doubling => (8, 0),
        };
        let (name, usual, _) = NAMES[place];
        if number == usual { f.write_str(name) } else { write!(f, "{name}_{number}") }
    }
}

impl FromStr for DigitMethod {
    type Err = CircuitError;

    /// The names that [`DigitMethod`] displays as.
    fn from_str(name: &str) -> Result<Self, CircuitError> {
        let found = NAMES.iter().find_map(|(stem, usual, method)| {
            let number = match name.strip_prefix(stem)? {
                "" => *usual,
                rest => usize::from(rest.strip_prefix('_')?.parse::<u8>().ok()?),
            };
            let found = method(number);
            // A tree has no groups of nothing, and doubling no number.
            (number >= usize::from(*usual > 0)
                && (number == *usual || found != DigitMethod::Doubling))
                .then_some(found)
        });
        found.ok_or_else(|| CircuitError::UnknownMethod { name: name.chars().take(64).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_have_names() {
        let small = DigitProblem { p: 257, e: 3, v: 1, bound: 20 };
        let others = [&DigitMethod::CANDIDATES[..], &[DigitMethod::Doubling]].concat();
        for method in DigitMethod::candidates(&small).unwrap().into_iter().chain(others) {
            assert_eq!(method.to_string().parse(), Ok(method));
        }
        let names = DigitMethod::CANDIDATES.map(|m| m.to_string());
        assert_eq!(
            names,
            [
                "product_tree",
                "product_tree_2",
                "paterson_stockmeyer",
                "paterson_stockmeyer_1",
                "global",
                "global_1"
            ]
        );
        let named = ["halevi_shoup", "chen_han", "geelen", "geelen_composed_1", "local_1"]
            .map(str::parse::<DigitMethod>);
        assert!(named.iter().flatten().eq(&[
            DigitMethod::HaleviShoup { extra_depth: 0 },
            DigitMethod::ChenHan { extra_depth: 0 },
            DigitMethod::Geelen { extra_depth: 0 },
            DigitMethod::GeelenComposed { extra_depth: 1 },
            DigitMethod::Local { extra_depth: 1 },
        ]));
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
            "geelen_",
            "doubling_1",
        ] {
            assert_eq!(
                bad.parse::<DigitMethod>(),
                Err(CircuitError::UnknownMethod { name: bad.into() })
            );
        }
    }

    #[test]
    fn candidates_are_those_that_fit() {
        let stems = |p, e, v, bound| {
            let methods = DigitMethod::candidates(&DigitProblem { p, e, v, bound }).unwrap();
            let mut names: Vec<&str> = methods
                .iter()
                .map(|m| NAMES.iter().rev().find(|n| m.to_string().starts_with(n.0)).unwrap().0)
                .collect();
            names.dedup();
            names
        };
        let all = ["halevi_shoup", "chen_han", "geelen", "geelen_composed"];
        let closed = ["product_tree", "paterson_stockmeyer"];
        assert_eq!(stems(127, 2, 1, 63), [&all[..], &closed].concat());
        assert_eq!(stems(127, 2, 1, 20), [&all[..], &["local"], &closed].concat());
        assert_eq!(stems(17, 6, 2, 23), [&all[..], &["local"]].concat());
        assert_eq!(stems(2, 11, 5, 16), [&all[..], &["doubling"]].concat());
        // No bit is always zero: B makes no difference.
        assert_eq!(stems(2, 24, 8, 100), stems(2, 11, 5, 16));
        assert_eq!(stems(2, 25, 8, 128), all);
        // A degree of 65537 is not worth a try, but there for those who ask, where half as many
        // points give it.
        let large = DigitProblem { p: 65537, e: 2, v: 1, bound: 23 };
        assert_eq!(stems(65537, 2, 1, 23), [&["local"], &closed[..]].concat());
        assert_eq!(DigitMethod::HaleviShoup { extra_depth: 0 }.check(&large), Ok(32768));
        assert!(DigitMethod::ChenHan { extra_depth: 0 }.check(&large).is_err());
    }
}
