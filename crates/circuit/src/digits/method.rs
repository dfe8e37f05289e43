//! The methods of digit removal, their names, and the problems that they solve.

use std::fmt;
use std::str::FromStr;

use super::doubling::MOST_BITS;
use super::kind::DigitKind;
use super::problem::DigitProblem;
use crate::error::CircuitError;

/// A method of digit removal: a kind with a parameter. It is displayed as, and parsed from, names
/// such as `product_tree_2` and `geelen`, which parameter sets use, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DigitMethod {
    /// The kind.
    pub kind: DigitKind,
    /// The number of levels above the least depth that each polynomial may use in order to save
    /// products. For [`DigitKind::ProductTree`] the number of factors that are expanded together,
    /// from 1 on (1 or 2 are sensible); for [`DigitKind::Doubling`] 0.
    pub extra: u8,
}

impl DigitMethod {
    /// The methods whose size depends on B alone, so that any bootstrapping with one digit can try
    /// them, u = l + Δ h to h modulo p. Those that depend on p, too, are in
    /// [`DigitMethod::candidates`].
    pub const CANDIDATES: [DigitMethod; 6] = [
        DigitMethod { kind: DigitKind::ProductTree, extra: 1 },
        DigitMethod { kind: DigitKind::ProductTree, extra: 2 },
        DigitMethod { kind: DigitKind::PatersonStockmeyer, extra: 0 },
        DigitMethod { kind: DigitKind::PatersonStockmeyer, extra: 1 },
        DigitMethod { kind: DigitKind::Global, extra: 0 },
        DigitMethod { kind: DigitKind::Global, extra: 1 },
    ];

    /// A kind as it is by itself: of least depth, or factor by factor.
    pub const fn new(kind: DigitKind) -> Self {
        DigitMethod { kind, extra: kind.least_extra() }
    }

    /// The methods that solve a problem, without those that only repeat others because B does not
    /// restrict the values, and without those that would interpolate at more than 2^13 points:
    /// their tables take seconds, in each of the dry runs of a search. `halevi_shoup` has p/2
    /// points, `chen_han` (p - 1)(e - 1) + 1, `geelen` p e, and `local` (2B + 1) e, or p e where
    /// 2B >= p.
    ///
    /// # Errors
    /// As [`DigitProblem::modulus`].
    pub fn candidates(problem: &DigitProblem) -> Result<Vec<DigitMethod>, CircuitError> {
        problem.modulus()?;
        let both = |kind| (0..2).map(move |extra| DigitMethod { kind, extra });
        let mut methods = vec![Self::new(DigitKind::HaleviShoup), Self::new(DigitKind::ChenHan)];
        methods.extend(both(DigitKind::Geelen));
        methods.push(Self::new(DigitKind::GeelenComposed));
        if !problem.is_full() && problem.p > 2 {
            methods.extend(both(DigitKind::Local));
        }
        methods.push(Self::new(DigitKind::Doubling));
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
        if !self.kind.has(self.extra) {
            return Err(CircuitError::UnknownMethod { name: self.to_string() });
        }
        let points = match self.kind {
            DigitKind::ProductTree | DigitKind::PatersonStockmeyer => {
                return match bound {
                    1025.. => refuse("bounds above 1024 have no sensible circuit"),
                    _ if p == 2 || 2 * bound >= p => {
                        refuse("the 2B + 1 values of a digit must differ modulo p")
                    }
                    _ => Ok(bound),
                };
            }
            DigitKind::Global => return Err(problem.not_for_the_grid()),
            DigitKind::Doubling if p == 2 && e <= MOST_BITS => return Ok(0),
            DigitKind::Doubling => {
                return Err(problem.refused("precision is doubled for p = 2 and e <= 24 only"));
            }
            DigitKind::HaleviShoup => p / 2,
            DigitKind::ChenHan => (p - 1).saturating_mul(u64::from(e - 1)) + 1,
            DigitKind::Local if 2 * u128::from(bound) < u128::from(p) => {
                (2 * bound + 1).saturating_mul(u64::from(e))
            }
            DigitKind::Geelen | DigitKind::GeelenComposed | DigitKind::Local => {
                p.saturating_mul(u64::from(e))
            }
        };
        if points > MOST_POINTS {
            Err(problem.refused("polynomials of such a degree have no sensible circuit"))
        } else {
            Ok(points)
        }
    }
}

impl fmt::Display for DigitMethod {
    /// The name of the kind, and after an underscore [`DigitMethod::extra`] unless it is the least:
    /// `product_tree`, `product_tree_2` (factors in pairs), `geelen`, `geelen_1` (one extra level).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.kind.name();
        if self.extra == self.kind.least_extra() {
            f.write_str(name)
        } else {
            write!(f, "{name}_{}", self.extra)
        }
    }
}

impl FromStr for DigitMethod {
    type Err = CircuitError;

    /// The names that [`DigitMethod`] displays as; the least number may be written, too.
    fn from_str(name: &str) -> Result<Self, CircuitError> {
        let found = DigitKind::ALL.iter().find_map(|&kind| {
            let extra = match name.strip_prefix(kind.name())? {
                "" => kind.least_extra(),
                rest => rest.strip_prefix('_')?.parse().ok()?,
            };
            kind.has(extra).then_some(DigitMethod { kind, extra })
        });
        found.ok_or_else(|| CircuitError::UnknownMethod { name: name.chars().take(64).collect() })
    }
}

/// Interpolation takes time quadratic in its points: at these, a minute.
const MOST_POINTS: u64 = 1 << 15;
/// The largest number of points for which a method is tried if none was requested.
pub(crate) const SENSIBLE_POINTS: u64 = 1 << 13;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_have_names() {
        let small = DigitProblem { p: 257, e: 3, v: 1, bound: 20 };
        let others = DigitKind::ALL.iter().map(|&kind| DigitMethod::new(kind));
        let others = others.chain(DigitMethod::CANDIDATES);
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
        let named =
            ["halevi_shoup", "chen_han", "geelen", "geelen_composed_1", "local_1", "doubling"]
                .map(str::parse::<DigitMethod>);
        assert!(named.iter().flatten().eq(&[
            DigitMethod::new(DigitKind::HaleviShoup),
            DigitMethod::new(DigitKind::ChenHan),
            DigitMethod::new(DigitKind::Geelen),
            DigitMethod { kind: DigitKind::GeelenComposed, extra: 1 },
            DigitMethod { kind: DigitKind::Local, extra: 1 },
            DigitMethod::new(DigitKind::Doubling),
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
    fn the_error_names_every_kind() {
        let text = "magic".parse::<DigitMethod>().unwrap_err().to_string();
        for kind in DigitKind::ALL {
            assert!(text.contains(kind.name()), "{text}");
        }
        assert!(text.contains("product_tree[_N], ") && text.contains("[_N] or doubling"), "{text}");
    }

    #[test]
    fn candidates_are_those_that_fit() {
        let stems = |p, e, v, bound| {
            let methods = DigitMethod::candidates(&DigitProblem { p, e, v, bound }).unwrap();
            let mut names: Vec<&str> = methods.iter().map(|m| m.kind.name()).collect();
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
        // Up to 2^13 points: at e = 2 the method of Chen and Han is tried up to p = 8192. A closed
        // form is for bounds up to 1024.
        assert_eq!(stems(8191, 2, 1, 1025), ["halevi_shoup", "chen_han", "local"]);
        assert_eq!(stems(8209, 2, 1, 1024), [&["halevi_shoup", "local"], &closed[..]].concat());
        // A degree of 65537 is not tried by default, but is available on request if half as many
        // points determine it.
        let large = DigitProblem { p: 65537, e: 2, v: 1, bound: 23 };
        assert_eq!(stems(65537, 2, 1, 23), [&["local"], &closed[..]].concat());
        assert_eq!(DigitMethod::new(DigitKind::HaleviShoup).check(&large), Ok(32768));
        assert!(DigitMethod::new(DigitKind::ChenHan).check(&large).is_err());
    }

    #[test]
    fn numbers_that_a_kind_does_not_have_are_refused() {
        let problem = DigitProblem { p: 257, e: 2, v: 1, bound: 8 };
        for (kind, extra) in [(DigitKind::ProductTree, 0), (DigitKind::Doubling, 1)] {
            assert!(matches!(
                DigitMethod { kind, extra }.check(&problem),
                Err(CircuitError::UnknownMethod { .. })
            ));
        }
    }
}
