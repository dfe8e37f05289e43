//! Digit removal in closed form, for u = l + p h modulo p^2.
//!
//! N(x) = Π_{|l|<=B} (x - l) vanishes at l, so N(l + p h) = N'(l) p h modulo p^2; with b(x) interpolating 1/N'(l) modulo p on
//! -B..B, h = (N(u)/p) b(u mod p) modulo p. Only N needs the modulus p^2. N = x Π (x^2 - l^2) is odd, b even, so both are
//! evaluated in y = x^2 and share its powers. The tables take O(B^2) operations. This replaces the interpolated
//! local null polynomials of Ma–Huang–Wang–Wang 2024 (ia.cr/2024/115) and is exact for every input.

use std::fmt;
use std::str::FromStr;

use everlevel_scheme::{NextUse, Scheme};

use crate::error::CircuitError;
use crate::modular::PrimePower;
use crate::poly::{Candidate, DepthGoal, Polynomial, PowerTable, best, candidates, grouped_factors, product_tree};
use crate::program::{NodeId, Program, ProgramBuilder, ProgramCosts, check_prime};

/// How N(u) is evaluated. b is always evaluated by baby and giant powers, as deep as costs no capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DigitMethod {
    /// u Π (u^2 - l^2) as a tree of products, `group` factors expanded together (1 or 2 are sensible). No large constants at
    /// modulus p^2: the constants of a group of g are below about B^(2g).
    ProductTree {
        /// Factors expanded together.
        group: usize,
    },
    /// Baby and giant powers of u^2, shared with b: fewest products, but constants of log2(p^2) bits.
    PatersonStockmeyer {
        /// Levels above the least depth that may be spent to save products.
        extra_depth: u32,
    },
}

impl fmt::Display for DigitMethod {
    /// `product_tree`, `product_tree_2` (factors in groups of 2), `paterson_stockmeyer`, `paterson_stockmeyer_1` (one extra level).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DigitMethod::ProductTree { group: 1 } => f.write_str(TREE),
            DigitMethod::ProductTree { group } => write!(f, "{TREE}_{group}"),
            DigitMethod::PatersonStockmeyer { extra_depth: 0 } => f.write_str(POWERS),
            DigitMethod::PatersonStockmeyer { extra_depth } => write!(f, "{POWERS}_{extra_depth}"),
        }
    }
}

impl FromStr for DigitMethod {
    type Err = CircuitError;

    /// The names that [`DigitMethod`] displays as.
    fn from_str(name: &str) -> Result<Self, CircuitError> {
        let number = |rest: &str| rest.strip_prefix('_').and_then(|digits| digits.parse::<u8>().ok());
        let parsed = if let Some(rest) = name.strip_prefix(TREE) {
            let group = if rest.is_empty() { Some(1) } else { number(rest).filter(|g| *g > 0) };
            group.map(|g| DigitMethod::ProductTree { group: usize::from(g) })
        } else if let Some(rest) = name.strip_prefix(POWERS) {
            let extra = if rest.is_empty() { Some(0) } else { number(rest) };
            extra.map(|e| DigitMethod::PatersonStockmeyer { extra_depth: u32::from(e) })
        } else {
            None
        };
        parsed.ok_or_else(|| CircuitError::UnknownMethod { name: name.chars().take(64).collect() })
    }
}

const TREE: &str = "product_tree";
const POWERS: &str = "paterson_stockmeyer";

/// Digit removal modulo p^2 in closed form: u = l + p h to h modulo p, for |l| <= B and any h.
#[derive(Clone, Debug, PartialEq)]
pub struct DigitRemoval {
    prime: u64,
    bound: u64,
    method: DigitMethod,
    program: Program,
}

impl DigitRemoval {
    /// The program for |l| <= `bound`.
    ///
    /// N has depth ceil(log2(2B + 1)) as a product tree: 5 for B = 8..15, 6 for B = 16; all has one level more, or two modulo p where
    /// that saves a product at no capacity.
    ///
    /// # Errors
    /// [`CircuitError::OverflowBound`] unless 1 <= B, 2B + 1 <= p and B <= 1024; [`CircuitError::PlainModulus`] if p^2 is too large.
    pub fn new(prime: u64, bound: u64, method: DigitMethod) -> Result<Self, CircuitError> {
        let tables = Tables::new(prime, bound)?;
        let mut programs = Vec::new();
        for candidate in tables.null_polynomial(method)? {
            programs.extend(tables.finish(candidate)?);
        }
        let program = match method {
            DigitMethod::ProductTree { .. } => thriftiest(programs, prime)?,
            DigitMethod::PatersonStockmeyer { extra_depth } => best(programs.into_iter().map(Ok), DepthGoal::Extra(extra_depth))?,
        };
        Ok(DigitRemoval { prime, bound, method, program })
    }
    /// p.
    pub fn prime(&self) -> u64 {
        self.prime
    }
    /// B.
    pub fn bound(&self) -> u64 {
        self.bound
    }
    /// How N is evaluated.
    pub fn method(&self) -> DigitMethod {
        self.method
    }
    /// Depth and counts.
    pub fn costs(&self) -> ProgramCosts {
        self.program.costs()
    }
    /// The program: one input modulo p^2, one output modulo p.
    pub fn program(&self) -> &Program {
        &self.program
    }
    /// h modulo p from u = l + p h modulo p^2.
    ///
    /// # Errors
    /// [`CircuitError::ModulusMismatch`] if the scheme has another prime; else as [`Program::run`]. A slot with |l| > B gives an
    /// unspecified value: the bound is the caller's promise.
    pub fn remove<S: Scheme>(&self, scheme: &S, u: &S::Ciphertext, next: NextUse) -> Result<S::Ciphertext, CircuitError> {
        check_prime(scheme, self.prime)?;
        self.program.run(scheme, &[u], next)?.pop().ok_or(CircuitError::Empty { what: "the list of outputs" })
    }
}

/// The fewest products among the programs that take the least capacity. Depth is no measure here: levels modulo p^2 cost half as much
/// again as levels modulo p, so b may be a level deeper than N at no loss.
fn thriftiest(programs: Vec<Program>, prime: u64) -> Result<Program, CircuitError> {
    let bits = |p: &Program| p.estimated_bits(prime);
    let least = programs.iter().map(bits).fold(f64::INFINITY, f64::min);
    let thrifty = programs.into_iter().filter(|p| bits(p) <= least + 1.0);
    best(thrifty.map(Ok), DepthGoal::Extra(u32::MAX))
}

/// What does not depend on the method.
struct Tables {
    /// p^2.
    square: PrimePower,
    bound: i64,
    /// b(x), even, modulo p.
    inverse_derivative: Polynomial,
}

impl Tables {
    fn new(prime: u64, bound: u64) -> Result<Self, CircuitError> {
        let square = PrimePower::new(prime, 2)?;
        let refuse = |reason| Err(CircuitError::OverflowBound { bound, p: prime, reason });
        match bound {
            0 => return refuse("it must be at least 1"),
            1025.. => return refuse("bounds above 1024 have no sensible circuit"),
            _ if 2 * bound >= prime => return refuse("the 2B + 1 values of a digit must differ modulo p"),
            _ => {}
        }
        let bound = bound as i64;
        Ok(Tables { square, bound, inverse_derivative: inverse_derivative(square.reduced(1)?, bound)? })
    }
    /// N(u) modulo p^2 in every way that the method allows.
    fn null_polynomial(&self, method: DigitMethod) -> Result<Vec<Candidate>, CircuitError> {
        let t = self.square;
        let mut builder = ProgramBuilder::new();
        let u = builder.input(2);
        let mut powers = PowerTable::new(u);
        match method {
            DigitMethod::ProductTree { group } => {
                let squares: Vec<i64> = (1..=self.bound).map(|l| l * l).collect();
                let mut factors = grouped_factors(&mut builder, &mut powers, 2, t, &squares, group)?;
                // u has depth 0: the tree takes it beside a factor, at no level of its own.
                factors.push(u);
                let product = product_tree(&mut builder, &factors)?;
                Ok(vec![Candidate { builder, powers, outputs: vec![product] }])
            }
            DigitMethod::PatersonStockmeyer { .. } => {
                let null = Polynomial::from_roots(t, (-self.bound..=self.bound).map(|l| t.residue(l)));
                candidates(&builder, &powers, &[null]).collect()
            }
        }
    }
    /// (N/p) * b for every way to evaluate b beside a given N.
    fn finish(&self, null: Candidate) -> Result<Vec<Program>, CircuitError> {
        let Candidate { mut builder, powers, outputs } = null;
        let powers = powers.reduced(&mut builder, 1)?;
        let mut quotients: Vec<NodeId> = Vec::new();
        for x in outputs {
            quotients.push(builder.divide_by_p(x)?);
        }
        let mut programs = Vec::new();
        for candidate in candidates(&builder, &powers, std::slice::from_ref(&self.inverse_derivative)) {
            let mut candidate = candidate?;
            let pairs = quotients.iter().copied().zip(candidate.outputs).collect();
            let h = candidate.builder.combine(pairs, vec![], 0)?;
            programs.push(candidate.builder.finish(&[h])?);
        }
        Ok(programs)
    }
}

/// b(x): 1/N'(l) at every |l| <= B modulo p, from N'(l) = (-1)^(B-l) (B+l)! (B-l)!; interpolated in y = x^2.
fn inverse_derivative(t: PrimePower, bound: i64) -> Result<Polynomial, CircuitError> {
    let mut factorial = vec![1u64];
    for k in 1..=2 * bound as u64 {
        factorial.push(t.mul(factorial[factorial.len() - 1], k));
    }
    let mut points = Vec::new();
    let mut values = Vec::new();
    for l in 0..=bound {
        let magnitude = t.mul(factorial[(bound + l) as usize], factorial[(bound - l) as usize]);
        let derivative = if (bound - l) % 2 == 0 { magnitude } else { t.sub(0, magnitude) };
        points.push(t.residue(l * l));
        values.push(t.inv(derivative)?);
    }
    let in_squares = Polynomial::interpolate(t, &points, &values)?;
    Ok(Polynomial::new(t, in_squares.coefficients().iter().flat_map(|c| [*c, 0])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clear::Clear;

    const METHODS: [DigitMethod; 4] = [
        DigitMethod::ProductTree { group: 1 },
        DigitMethod::ProductTree { group: 2 },
        DigitMethod::PatersonStockmeyer { extra_depth: 0 },
        DigitMethod::PatersonStockmeyer { extra_depth: 1 },
    ];

    #[test]
    fn all_values_of_the_grid_are_exact() {
        for p in [257u64, 8191, 65537, 786433] {
            // The slots play no part: any prime will do for the clear scheme's shape.
            let scheme = Clear::with_prime(p);
            let t = PrimePower::new(p, 2).unwrap();
            for bound in [1i64, 2, 8, 12, 13, 14, 16] {
                let grid: Vec<(i64, i64)> = (-bound..=bound).flat_map(|l| (-bound..=bound).map(move |h| (l, h))).collect();
                let u: Vec<u64> = grid.iter().map(|(l, h)| t.residue(l + p as i64 * h)).collect();
                for method in METHODS {
                    let removal = DigitRemoval::new(p, bound as u64, method).unwrap();
                    scheme.take_counts();
                    let h = removal.remove(&scheme, &scheme.encrypt(u.clone(), 2), NextUse::LinearMap).unwrap();
                    let (counts, costs) = (scheme.take_counts(), removal.costs());
                    assert_eq!((counts.products, counts.relinearizations, h.depth), (costs.products, costs.relinearizations, costs.depth));
                    assert_eq!(h.t.value(), p);
                    assert!(grid.iter().zip(&h.slots).all(|((_, want), got)| h.t.residue(*want) == *got), "p = {p}, B = {bound}, {method:?}");
                }
            }
        }
    }

    #[test]
    fn any_upper_digit_is_recovered() {
        let (p, bound) = (257, 12);
        let (scheme, t) = (Clear::with_prime(p), PrimePower::new(p, 2).unwrap());
        let removal = DigitRemoval::new(p, bound, METHODS[2]).unwrap();
        let grid: Vec<(i64, u64)> = (-12..=12).flat_map(|l| (0..p).map(move |h| (l, h))).collect();
        let u = grid.iter().map(|(l, h)| t.residue(l + (p * h) as i64)).collect();
        let h = removal.remove(&scheme, &scheme.encrypt(u, 2), NextUse::Keep).unwrap();
        assert!(grid.iter().zip(&h.slots).all(|((_, want), got)| want == got));
    }

    #[test]
    fn counts_of_the_sets_in_use() {
        // (B, (depth, products, relinearizations) for each method); B = h/2 of the encapsulated key.
        let table = [
            (8, [(6, 14, 14), (6, 10, 10), (6, 8, 8), (6, 8, 8)]),
            (12, [(6, 19, 19), (6, 13, 13), (6, 11, 10), (7, 10, 10)]),
            (13, [(7, 21, 21), (6, 16, 15), (6, 14, 13), (7, 11, 11)]),
            (14, [(7, 22, 22), (6, 16, 15), (6, 14, 13), (7, 11, 11)]),
            (16, [(7, 24, 24), (7, 16, 16), (7, 12, 12), (7, 12, 12)]),
        ];
        for (bound, expected) in table {
            let found = METHODS.map(|method| {
                let costs = DigitRemoval::new(65537, bound, method).unwrap().costs();
                (costs.depth, costs.products, costs.relinearizations)
            });
            assert_eq!(found, expected, "B = {bound}");
        }
    }

    #[test]
    fn methods_have_names() {
        for method in METHODS {
            assert_eq!(method.to_string().parse(), Ok(method));
        }
        assert_eq!(METHODS[1].to_string(), "product_tree_2");
        for bad in ["", "tree", "product_tree_", "product_tree_0", "product_tree_300", "paterson_stockmeyer2", "product_tree-2"] {
            assert_eq!(bad.parse::<DigitMethod>(), Err(CircuitError::UnknownMethod { name: bad.into() }));
        }
    }

    #[test]
    fn impossible_bounds_are_refused() {
        for (p, bound) in [(17, 0), (17, 9), (17, 8), (786433, 2000)] {
            let result = DigitRemoval::new(p, bound, METHODS[0]);
            assert_eq!(result.is_ok(), 2 * bound < p && bound > 0 && bound <= 1024, "p = {p}, B = {bound}");
        }
        assert!(DigitRemoval::new(65536, 12, METHODS[0]).is_err());
    }
}
