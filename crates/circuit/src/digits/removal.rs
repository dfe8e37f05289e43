//! Digit removal of every kind with one interface.

use everlevel_scheme::{Arithmetic, NextUse, PlainModulus};

use super::closed_form::{self, NullPolynomial};
use super::grid::GridPolynomial;
use super::kind::DigitKind;
use super::method::DigitMethod;
use super::problem::DigitProblem;
use super::{doubling, rows, triangle};
use crate::error::CircuitError;
use crate::poly::DepthGoal;
use crate::straight_line::{Circuit, CircuitCosts, check_prime};

/// Digit removal: u = l + Δ h to h, for |l| <= B, and for the grid |h| <= B.
///
/// For a [`DigitProblem`] Δ = p^v, u is modulo p^e and h modulo p^(e-v). In bootstrapping with the
/// bypass, Δ depends on the method: Δ = p modulo p^2 (type A), or another Δ modulo p (type B);
/// there u = I' - Δ I, l = I' and h = -I.
#[derive(Clone, Debug, PartialEq)]
pub struct DigitRemoval {
    prime: u64,
    bound: u64,
    method: DigitMethod,
    multiplier: u64,
    program: Circuit,
    degrees: Vec<Vec<usize>>,
}

impl DigitRemoval {
    /// Computes tables and program for the lowest of two digits, or for the grid: the removal that
    /// the bypass needs to obtain h modulo p.
    ///
    /// # Errors
    /// [`CircuitError::OverflowBound`] if the digits do not fit: type A needs 2B + 1 <= p, type B
    /// (2B + 1)^2 <= p; else as [`DigitRemoval::for_problem`].
    pub fn new(prime: u64, bound: u64, method: DigitMethod) -> Result<Self, CircuitError> {
        if method.kind != DigitKind::Global {
            return Self::for_problem(DigitProblem { p: prime, e: 2, v: 1, bound }, method);
        }
        let grid = GridPolynomial::new(prime, bound)?;
        let program = grid.program(DepthGoal::Extra(method.extra.into()))?;
        let degrees = vec![vec![grid.polynomial().degree()]];
        Ok(DigitRemoval { prime, bound, method, multiplier: grid.multiplier(), program, degrees })
    }

    /// Computes tables and program for any problem, with O(n^2) operations for polynomials of
    /// degree n.
    ///
    /// # Errors
    /// Those of [`DigitProblem::modulus`]; [`CircuitError::OverflowBound`] or
    /// [`CircuitError::DigitProblem`] if the method does not solve the problem: closed forms
    /// require low parts of a single digit, 2B + 1 <= p, and the grid requires
    /// [`DigitRemoval::new`].
    pub fn for_problem(problem: DigitProblem, method: DigitMethod) -> Result<Self, CircuitError> {
        method.check(&problem)?;
        let closed = |null| {
            closed_form::program(&problem, null).map(|(program, degrees)| (program, vec![degrees]))
        };
        let goal = DepthGoal::Extra(method.extra.into());
        let (program, degrees) = match method.kind {
            DigitKind::ProductTree => closed(NullPolynomial::Tree(method.extra.into()))?,
            DigitKind::PatersonStockmeyer => closed(NullPolynomial::Powers(method.extra.into()))?,
            DigitKind::Global => return Err(problem.not_for_the_grid()),
            DigitKind::HaleviShoup => {
                triangle::program(&problem, |task| rows::halevi_shoup(task, goal))?
            }
            DigitKind::ChenHan => triangle::program(&problem, |task| rows::chen_han(task, goal))?,
            DigitKind::Geelen => {
                triangle::program(&problem, |task| rows::direct(task.with_all_values(), goal))?
            }
            DigitKind::GeelenComposed => {
                triangle::program(&problem, |task| rows::composed(task.with_all_values(), goal))?
            }
            DigitKind::Local => triangle::program(&problem, |task| rows::direct(task, goal))?,
            DigitKind::Doubling => triangle::program(&problem, doubling::row)?,
        };
        let multiplier = problem.p.pow(problem.v);
        Ok(DigitRemoval {
            prime: problem.p,
            bound: problem.bound,
            method,
            multiplier,
            program,
            degrees,
        })
    }

    /// p.
    pub fn prime(&self) -> u64 {
        self.prime
    }

    /// B.
    pub fn bound(&self) -> u64 {
        self.bound
    }

    /// The method.
    pub fn method(&self) -> DigitMethod {
        self.method
    }

    /// Δ: p^v for a [`DigitProblem`], p for type A.
    pub fn multiplier(&self) -> u64 {
        self.multiplier
    }

    /// The plaintext exponent of u: e for a [`DigitProblem`]; 2 for type A, 1 for type B.
    pub fn input_exponent(&self) -> u32 {
        self.program.input_exponents()[0]
    }

    /// The plaintext exponent of h: e - v for a [`DigitProblem`], else 1.
    pub fn output_exponent(&self) -> u32 {
        self.program.output_exponents()[0]
    }

    /// The degrees of the polynomials that are evaluated: a row for each digit, with the lifts
    /// first and the digit itself last; for closed forms N and the b_k.
    pub fn degrees(&self) -> &[Vec<usize>] {
        &self.degrees
    }

    /// Depth and number of operations.
    pub fn costs(&self) -> CircuitCosts {
        self.program.costs()
    }

    /// The program: one input u, one output h.
    pub fn program(&self) -> &Circuit {
        &self.program
    }

    /// Computes h from u = l + Δ h, at the depth and cost of the program.
    ///
    /// # Errors
    /// [`CircuitError::ModulusMismatch`] if the scheme has another prime; else as [`Circuit::run`].
    /// A slot whose digits exceed the bound gives an unspecified value: the caller must ensure that
    /// they do not.
    pub fn remove<S: Arithmetic + PlainModulus>(
        &self,
        scheme: &S,
        u: &S::Ciphertext,
        next: NextUse,
    ) -> Result<S::Ciphertext, CircuitError> {
        check_prime(scheme, self.prime)?;
        self.program
            .run(scheme, &[u], next)?
            .pop()
            .ok_or(CircuitError::Empty { what: "the list of outputs" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modular::PrimePower;
    use everlevel_testing::ResidueScheme;

    const METHODS: [DigitMethod; 6] = DigitMethod::CANDIDATES;

    #[test]
    fn all_values_of_the_grid_are_exact() {
        for p in [257u64, 8191, 65537, 786433] {
            let scheme = ResidueScheme::new(p);
            for bound in [1i64, 2, 8, 12, 13, 14, 16] {
                let grid: Vec<(i64, i64)> =
                    (-bound..=bound).flat_map(|l| (-bound..=bound).map(move |h| (l, h))).collect();
                for method in METHODS {
                    let removal = match DigitRemoval::new(p, bound as u64, method) {
                        Err(CircuitError::OverflowBound { .. })
                            if method.kind == DigitKind::Global =>
                        {
                            assert!((2 * bound as u64 + 1).pow(2) > p);
                            continue;
                        }
                        other => other.unwrap(),
                    };
                    let exponent = removal.input_exponent();
                    let t = PrimePower::new(p, exponent).unwrap();
                    let u = grid
                        .iter()
                        .map(|(l, h)| t.reduce_i64(l + removal.multiplier() as i64 * h))
                        .collect();
                    scheme.take_counts();
                    let h = removal
                        .remove(&scheme, &scheme.encrypt(u, exponent), NextUse::LinearMap)
                        .unwrap();
                    let (counts, costs) = (scheme.take_counts(), removal.costs());
                    assert_eq!(
                        (counts, h.depth),
                        ((costs.products, costs.relinearizations), costs.depth)
                    );
                    assert_eq!(h.modulus.value(), p);
                    assert!(
                        grid.iter()
                            .zip(&h.values)
                            .all(|((_, want), got)| h.modulus.reduce_i64(*want) == *got),
                        "p = {p}, B = {bound}, {method}"
                    );
                }
            }
        }
    }

    #[test]
    fn any_upper_digit_is_recovered() {
        let (p, bound) = (257, 12);
        let (scheme, t) = (ResidueScheme::new(p), PrimePower::new(p, 2).unwrap());
        let removal = DigitRemoval::new(p, bound, METHODS[2]).unwrap();
        let grid: Vec<(i64, u64)> = (-12..=12).flat_map(|l| (0..p).map(move |h| (l, h))).collect();
        let u = grid.iter().map(|(l, h)| t.reduce_i64(l + (p * h) as i64)).collect();
        let h = removal.remove(&scheme, &scheme.encrypt(u, 2), NextUse::Keep).unwrap();
        assert!(grid.iter().zip(&h.values).all(|((_, want), got)| want == got));
    }

    #[test]
    fn counts_of_the_sets_in_use() {
        // (B, (depth, products, relinearizations) for each method); B = h/2 of the encapsulated
        // key.
        let table = [
            (8, [(6, 14, 14), (6, 10, 10), (6, 8, 8), (6, 8, 8), (9, 22, 18), (10, 21, 17)]),
            (12, [(6, 19, 19), (6, 13, 13), (6, 11, 10), (7, 10, 10), (10, 32, 27), (11, 29, 24)]),
            (13, [(7, 21, 21), (6, 16, 15), (6, 14, 13), (7, 11, 11), (10, 35, 29), (11, 32, 26)]),
            (14, [(7, 22, 22), (6, 16, 15), (6, 14, 13), (7, 11, 11), (10, 39, 33), (11, 34, 28)]),
            (16, [(7, 24, 24), (7, 16, 16), (7, 12, 12), (7, 12, 12), (11, 39, 31), (12, 38, 30)]),
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
    fn counts_on_the_grids_of_ma_et_al() {
        // Sets IV and V: a square root of -1 saves a quarter of the products; 8191 has none.
        for (p, bound, multiplier, degree, expected) in [
            (8191, 22, 45, 2023, [(11, 78, 63), (12, 68, 53)]),
            (8191, 23, 47, 2207, [(12, 74, 57), (13, 71, 54)]),
            (65537, 22, 256, 2023, [(11, 60, 45), (12, 53, 46)]),
            (65537, 23, 256, 2207, [(12, 57, 48), (13, 52, 41)]),
        ] {
            let found = [0, 1].map(|extra| {
                let method = DigitMethod { kind: DigitKind::Global, extra };
                let removal = DigitRemoval::new(p, bound, method).unwrap();
                assert_eq!(
                    (removal.multiplier(), removal.degrees()),
                    (multiplier, &[vec![degree]][..])
                );
                let costs = removal.costs();
                (costs.depth, costs.products, costs.relinearizations)
            });
            assert_eq!(found, expected, "p = {p}, B = {bound}");
        }
    }

    #[test]
    fn impossible_bounds_are_refused() {
        for (p, bound) in [(17, 0), (17, 9), (17, 8), (786433, 2000)] {
            let result = DigitRemoval::new(p, bound, METHODS[0]);
            assert_eq!(
                result.is_ok(),
                2 * bound < p && bound > 0 && bound <= 1024,
                "p = {p}, B = {bound}"
            );
        }
        assert!(DigitRemoval::new(65536, 12, METHODS[0]).is_err());
    }
}
