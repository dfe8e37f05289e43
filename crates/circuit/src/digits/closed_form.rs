//! Digit removal in closed form, for x = i + p^v m modulo p^e with |i| <= B, 2B + 1 <= p: "type A".
//!
//! N(x) = Π_{|l|<=B} (x - l) is a multiple of p^v at every such x. Let f be a digit polynomial,
//! f(x) = i modulo p^e. Expanded in powers of N, x - f(x) has no constant term, and
//!
//! ```text
//! m = (x - f(x))/p^v = Σ_{k>=1} p^(v(k-1)) M^k b_k(x) modulo p^(e-v), M = N(x)/p^v,  deg b_k <= 2B
//! ```
//!
//! with k v < e. Only N needs the modulus p^e. For e = 2 this is h = (N(u)/p) b(u) modulo p, b
//! interpolating 1/N'(l). N = x Π (x^2 - l^2) is odd, b_1 even, b_2 odd, and so on: all are
//! evaluated in y = x^2 and share its powers. This replaces the interpolated local null polynomials
//! of Ma–Huang–Wang–Wang 2024 (ia.cr/2024/115) and is exact for every such x.

use super::polynomials::digit_polynomial;
use super::problem::DigitProblem;
use crate::error::CircuitError;
use crate::modular::PrimePower;
use crate::poly::{
    Candidate, DepthGoal, Polynomial, PowerTable, best, candidates, grouped_factors, product_tree,
};
use crate::straight_line::{Circuit, CircuitBuilder, NodeId};

/// How N is evaluated. The b_k are always evaluated by baby and giant powers, as deep as costs no
/// capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NullPolynomial {
    /// As a tree of products of factors u^2 - l^2, this many of them expanded together.
    Tree(usize),
    /// By baby and giant powers of u^2, shared with the b_k, with this many levels to spare.
    Powers(u32),
}

/// The program that takes x to m modulo p^(e-v), and the degrees of N and of the b_k. The caller
/// checks that 2B + 1 <= p.
pub(super) fn program(
    problem: &DigitProblem,
    null: NullPolynomial,
) -> Result<(Circuit, Vec<usize>), CircuitError> {
    let tables = Tables::new(problem)?;
    let mut programs = Vec::new();
    for candidate in tables.null_polynomial(null)? {
        programs.extend(tables.finish(candidate)?);
    }
    let program = match null {
        NullPolynomial::Tree(_) => thriftiest(programs, problem.p)?,
        NullPolynomial::Powers(extra_depth) => {
            best(programs.into_iter().map(Ok), DepthGoal::Extra(extra_depth))?
        }
    };
    Ok((
        program,
        std::iter::once(&tables.null).chain(&tables.quotients).map(Polynomial::degree).collect(),
    ))
}

/// The fewest products among the programs that take the least capacity. Depth is not a measure
/// here: a level modulo p^2 costs one and a half times as much as one modulo p, so b may be one
/// level deeper than N without loss.
fn thriftiest(programs: Vec<Circuit>, prime: u64) -> Result<Circuit, CircuitError> {
    let bits = |p: &Circuit| p.estimated_bits(prime);
    let least = programs.iter().map(bits).fold(f64::INFINITY, f64::min);
    let thrifty = programs.into_iter().filter(|p| bits(p) <= least + 1.0);
    best(thrifty.map(Ok), DepthGoal::Extra(u32::MAX))
}

/// What does not depend on the method.
struct Tables {
    /// p^e.
    modulus: PrimePower,
    v: u32,
    bound: i64,
    null: Polynomial,
    /// p^(v(k-1)) b_k modulo p^(e-v), from k = 1 on.
    quotients: Vec<Polynomial>,
}

impl Tables {
    fn new(problem: &DigitProblem) -> Result<Self, CircuitError> {
        let (t, v, bound) = (problem.modulus()?, problem.v, problem.bound as i64);
        let null = Polynomial::from_roots(t, (-bound..=bound).map(|l| t.reduce_i64(l)));
        let digit = digit_polynomial(t, v, problem.bound)?;
        let mut rest: Vec<u64> = digit.coefficients().iter().map(|c| t.sub(0, *c)).collect();
        rest[1] = t.add(rest[1], 1);
        let smaller = t.reduced(t.exponent() - v)?;
        let mut quotients = Vec::new();
        let mut scale = 1;
        (_, rest) = divide(&t, rest, &null);
        while !rest.is_empty() {
            let (remainder, quotient) = divide(&t, rest, &null);
            quotients.push(Polynomial::new(smaller, remainder.iter().map(|c| t.mul(*c, scale))));
            scale = t.mul(scale, t.pow(t.prime(), u64::from(v)));
            rest = quotient;
        }
        Ok(Tables { modulus: t, v, bound, null, quotients })
    }

    /// N(x) modulo p^e, in all ways that are worth comparing.
    fn null_polynomial(&self, null: NullPolynomial) -> Result<Vec<Candidate>, CircuitError> {
        let t = self.modulus;
        let mut builder = CircuitBuilder::new();
        let u = builder.input(t.exponent());
        let mut powers = PowerTable::new(u);
        match null {
            NullPolynomial::Tree(group) => {
                let squares: Vec<i64> = (1..=self.bound).map(|l| l * l).collect();
                let mut factors =
                    grouped_factors(&mut builder, &mut powers, 2, t, &squares, group)?;
                // u has depth 0: the tree takes it beside a factor, at no level of its own.
                factors.push(u);
                let product = product_tree(&mut builder, &factors)?;
                Ok(vec![Candidate { builder, powers, outputs: vec![product] }])
            }
            NullPolynomial::Powers(_) => {
                candidates(&builder, &powers, std::slice::from_ref(&self.null)).collect()
            }
        }
    }

    /// M Σ M^(k-1) b_k for every way to evaluate the b_k beside a given N.
    fn finish(&self, null: Candidate) -> Result<Vec<Circuit>, CircuitError> {
        let Candidate { mut builder, powers, outputs } = null;
        let powers = powers.reduced(&mut builder, self.modulus.exponent() - self.v)?;
        let mut quotient = outputs[0];
        for _ in 0..self.v {
            quotient = builder.divide_by_p(quotient)?;
        }
        let varying: Vec<Polynomial> =
            self.quotients.iter().filter(|b| b.degree() > 0).cloned().collect();
        let mut programs = Vec::new();
        for candidate in candidates(&builder, &powers, &varying) {
            let Candidate { mut builder, outputs, .. } = candidate?;
            let mut nodes = outputs.into_iter();
            let factors = self.quotients.iter().filter_map(|b| match b.degree() {
                0 => Some(Factor::Constant(b.modulus().centered(b.evaluate(0)))),
                _ => nodes.next().map(Factor::Node),
            });
            let factors: Vec<Factor> = factors.collect();
            let sum = in_powers(&mut builder, &mut PowerTable::new(quotient), &factors)?;
            let m = multiply_add(&mut builder, sum, quotient, Factor::Constant(0))?;
            programs.push(builder.finish(&[m])?);
        }
        Ok(programs)
    }
}

/// b_k of x: a number if it is constant. b_1 is for 2B + 1 = p, and then a level less is needed.
#[derive(Clone, Copy)]
enum Factor {
    Node(NodeId),
    Constant(i64),
}

/// factor * x + rest.
fn multiply_add(
    builder: &mut CircuitBuilder,
    factor: Factor,
    x: NodeId,
    rest: Factor,
) -> Result<NodeId, CircuitError> {
    let (mut pairs, mut terms, mut constant) = (vec![], vec![], 0);
    match factor {
        Factor::Node(y) => pairs.push((y, x)),
        Factor::Constant(c) => terms.push((x, c)),
    }
    match rest {
        Factor::Node(y) => terms.push((y, 1)),
        Factor::Constant(c) => constant = c,
    }
    builder.combine(pairs, terms, constant)
}

/// Σ M^k c_k from k = 0 on, at least depth: the upper terms, as many as a power of two has room
/// for, share one factor.
fn in_powers(
    builder: &mut CircuitBuilder,
    powers: &mut PowerTable,
    c: &[Factor],
) -> Result<Factor, CircuitError> {
    match c {
        [] => Err(CircuitError::Empty { what: "a sum" }),
        [only] => Ok(*only),
        _ => {
            let split = c.len() - c.len().next_power_of_two() / 2;
            let high = in_powers(builder, powers, &c[split..])?;
            let low = in_powers(builder, powers, &c[..split])?;
            let giant = powers.power(builder, split)?;
            multiply_add(builder, high, giant, low).map(Factor::Node)
        }
    }
}

/// Remainder and quotient by a monic polynomial, without leading zeros: O(n^2).
fn divide(t: &PrimePower, mut f: Vec<u64>, monic: &Polynomial) -> (Vec<u64>, Vec<u64>) {
    let n = monic.degree();
    let mut quotient = vec![0; f.len().saturating_sub(n)];
    for k in (0..quotient.len()).rev() {
        let c = f[k + n];
        quotient[k] = c;
        for (a, b) in f[k..=k + n].iter_mut().zip(monic.coefficients()) {
            *a = t.sub(*a, t.mul(c, *b));
        }
    }
    f.truncate(n);
    let trimmed = |f: Vec<u64>| Polynomial::new(*t, f).coefficients().to_vec();
    (trimmed(f), trimmed(quotient))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_digit_of_two_has_the_inverse_derivatives_for_table() {
        // b(l) N'(l) = 1 modulo p, N'(l) = (-1)^(B-l) (B+l)! (B-l)!
        for (p, bound) in [(17u64, 8i64), (257, 12), (65537, 14)] {
            let t = PrimePower::new(p, 1).unwrap();
            let problem = DigitProblem { p, e: 2, v: 1, bound: bound as u64 };
            let tables = Tables::new(&problem).unwrap();
            assert_eq!(tables.quotients.len(), 1);
            for l in -bound..=bound {
                let derivative = (-bound..=bound)
                    .filter(|k| *k != l)
                    .fold(1, |f, k| t.mul(f, t.reduce_i64(l - k)));
                assert_eq!(
                    t.mul(tables.quotients[0].evaluate(t.reduce_i64(l)), derivative),
                    1,
                    "p = {p}, l = {l}"
                );
            }
        }
    }
}
