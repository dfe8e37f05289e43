//! Digit removal in closed form, for u = l + p h modulo p^2: "type A".
//!
//! N(x) = Π_{|l|<=B} (x - l) vanishes at l, so N(l + p h) = N'(l) p h modulo p^2; with b(x) interpolating 1/N'(l) modulo p on
//! -B..B, h = (N(u)/p) b(u mod p) modulo p. Only N needs the modulus p^2. N = x Π (x^2 - l^2) is odd, b even, so both are
//! evaluated in y = x^2 and share its powers. The tables take O(B^2) operations. This replaces the interpolated
//! local null polynomials of Ma–Huang–Wang–Wang 2024 (ia.cr/2024/115) and is exact for every input.

use crate::error::CircuitError;
use crate::modular::PrimePower;
use crate::poly::{Candidate, DepthGoal, Polynomial, PowerTable, best, candidates, grouped_factors, product_tree};
use crate::program::{NodeId, Program, ProgramBuilder};

/// How N is evaluated. b is always evaluated by baby and giant powers, as deep as costs no capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NullPolynomial {
    /// As a tree of products of factors u^2 - l^2, so many expanded together.
    Tree(usize),
    /// By baby and giant powers of u^2, shared with b, with so many levels to spare.
    Powers(u32),
}

/// The program that takes u = l + p h modulo p^2 to h modulo p, for |l| <= B and any h.
pub(super) fn program(prime: u64, bound: u64, null: NullPolynomial) -> Result<Program, CircuitError> {
    let tables = Tables::new(prime, bound)?;
    let mut programs = Vec::new();
    for candidate in tables.null_polynomial(null)? {
        programs.extend(tables.finish(candidate)?);
    }
    match null {
        NullPolynomial::Tree(_) => thriftiest(programs, prime),
        NullPolynomial::Powers(extra_depth) => best(programs.into_iter().map(Ok), DepthGoal::Extra(extra_depth)),
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
    /// N(u) modulo p^2 in every way that is worth a try.
    fn null_polynomial(&self, null: NullPolynomial) -> Result<Vec<Candidate>, CircuitError> {
        let t = self.square;
        let mut builder = ProgramBuilder::new();
        let u = builder.input(2);
        let mut powers = PowerTable::new(u);
        match null {
            NullPolynomial::Tree(group) => {
                let squares: Vec<i64> = (1..=self.bound).map(|l| l * l).collect();
                let mut factors = grouped_factors(&mut builder, &mut powers, 2, t, &squares, group)?;
                // u has depth 0: the tree takes it beside a factor, at no level of its own.
                factors.push(u);
                let product = product_tree(&mut builder, &factors)?;
                Ok(vec![Candidate { builder, powers, outputs: vec![product] }])
            }
            NullPolynomial::Powers(_) => {
                let null = Polynomial::from_roots(t, (-self.bound..=self.bound).map(|l| t.reduce_i64(l)));
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
        points.push(t.reduce_i64(l * l));
        values.push(t.inv(derivative)?);
    }
    let in_squares = Polynomial::interpolate(t, &points, &values)?;
    Ok(Polynomial::new(t, in_squares.coefficients().iter().flat_map(|c| [*c, 0])))
}
