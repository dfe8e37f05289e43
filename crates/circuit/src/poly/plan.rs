//! Paterson–Stockmeyer evaluation at least depth.

use std::collections::BTreeMap;

use everlevel_scheme::{Arithmetic, NextUse, PlainModulus};

use super::goal::{DepthGoal, best};
use super::polynomial::{Parity, Polynomial};
use super::powers::{PowerTable, log2_ceil};
use crate::error::CircuitError;
use crate::straight_line::{Circuit, CircuitBuilder, CircuitCosts, NodeId, check_prime};

/// The evaluation of one or several polynomials in one variable.
///
/// A polynomial of degree D is cut into blocks of k coefficients, linear combinations of the baby
/// powers x .. x^k; the blocks are joined by the giant powers x^(k 2^j), sums of products being
/// relinearized once. All block sizes and sets of giants are tried; powers are shared between the
/// polynomials. Odd and even polynomials are evaluated in x^2, those of order 4 (c x + x^3 Q(x^4))
/// in x^4; the outer factor x or x^3 is multiplied last, into the giants, or into the baby powers,
/// whichever fits the depth. Least depth: ceil(log2(D + 1)), D + 1 a power of two included.
/// Products: about 2 sqrt(D), or sqrt(2 D) for odd and even ones.
///
/// ```
/// use everlevel_circuit::PrimePower;
/// use everlevel_circuit::poly::{DepthGoal, Polynomial, PolynomialPlan};
///
/// let t = PrimePower::new(65537, 1)?;
/// let f = Polynomial::new(t, 1..=16); // degree 15
/// let costs = PolynomialPlan::new(&[f], DepthGoal::Least)?.costs();
/// assert_eq!((costs.depth, costs.products, costs.relinearizations), (4, 7, 6));
/// # Ok::<(), everlevel_circuit::CircuitError>(())
/// ```
///
/// Source: Paterson–Stockmeyer 1973; depth as in Bossuat et al. 2021 (ia.cr/2020/1203), section 3.
#[derive(Clone, Debug, PartialEq)]
pub struct PolynomialPlan {
    prime: u64,
    program: Circuit,
}

impl PolynomialPlan {
    /// The plan for polynomials modulo one p^e.
    ///
    /// # Errors
    /// [`CircuitError::Empty`] without polynomials, [`CircuitError::ModulusMismatch`] if their
    /// moduli differ, [`CircuitError::TooDeep`] if no evaluation is within [`DepthGoal::AtMost`].
    pub fn new(polynomials: &[Polynomial], goal: DepthGoal) -> Result<Self, CircuitError> {
        let (prime, builder, powers) = variable(polynomials)?;
        let programs = candidates(&builder, &powers, polynomials).map(finished);
        Ok(PolynomialPlan { prime, program: best(programs, goal)? })
    }

    /// All plans that [`PolynomialPlan::new`] chooses from, for choices by another measure, such as
    /// the capacity that a run on the no-op scheme leaves. For polynomials of small degree: those
    /// of a large one take much memory.
    ///
    /// # Errors
    /// As [`PolynomialPlan::new`].
    pub fn candidates(polynomials: &[Polynomial]) -> Result<Vec<Self>, CircuitError> {
        let (prime, builder, powers) = variable(polynomials)?;
        let programs = candidates(&builder, &powers, polynomials).map(finished);
        programs.map(|program| Ok(PolynomialPlan { prime, program: program? })).collect()
    }

    /// Depth and counts.
    pub fn costs(&self) -> CircuitCosts {
        self.program.costs()
    }

    /// The values of the polynomials, in their order.
    ///
    /// # Errors
    /// [`CircuitError::ModulusMismatch`] if the scheme has another prime; else as [`Circuit::run`].
    pub fn evaluate<S: Arithmetic + PlainModulus>(
        &self,
        scheme: &S,
        x: &S::Ciphertext,
        next: NextUse,
    ) -> Result<Vec<S::Ciphertext>, CircuitError> {
        check_prime(scheme, self.prime)?;
        self.program.run(scheme, &[x], next)
    }
}

/// The prime of the polynomials, and a program that has their variable.
fn variable(polynomials: &[Polynomial]) -> Result<(u64, CircuitBuilder, PowerTable), CircuitError> {
    let Some(first) = polynomials.first() else {
        return Err(CircuitError::Empty { what: "the list of polynomials" });
    };
    let modulus = first.modulus();
    if let Some(other) = polynomials.iter().find(|f| f.modulus() != modulus) {
        return Err(CircuitError::ModulusMismatch {
            expected: modulus.value(),
            found: other.modulus().value(),
        });
    }
    let mut builder = CircuitBuilder::new();
    let x = builder.input(modulus.exponent());
    Ok((modulus.prime(), builder, PowerTable::new(x)))
}

fn finished(candidate: Result<Candidate, CircuitError>) -> Result<Circuit, CircuitError> {
    let Candidate { builder, outputs, .. } = candidate?;
    builder.finish(&outputs)
}

/// A program that holds the values of the polynomials, still open for more steps.
pub(crate) struct Candidate {
    pub(crate) builder: CircuitBuilder,
    pub(crate) powers: PowerTable,
    pub(crate) outputs: Vec<NodeId>,
}

/// Where the factor x^r of a polynomial x^r Q(x^s) goes: x for odd ones, x^3 for those of order 4.
#[derive(Clone, Copy, PartialEq)]
enum OuterFactor {
    /// x^r * Q(x^s): one product, one level.
    Last,
    /// Into the giants of the outermost sum: hi * (x^r G) + x^r * lo.
    Giants,
    /// Into the baby powers: x^r, x^(r + s), x^(r + 2s), ..
    Babies,
}

#[derive(Clone, Copy)]
struct Shape {
    /// 1, or 2 when all polynomials are odd or even, or 4 when all have order 4.
    stride: usize,
    /// Coefficients in a block.
    block: usize,
    /// Giants x^(stride * block * 2^j) for j below this.
    giants: u32,
    outer: OuterFactor,
}

/// Horner's rule over the largest giant is used for at most this many blocks: more only costs
/// depth.
const LONGEST_CHAIN: usize = 16;

/// The ways to evaluate the polynomials at the variable of `powers` that are worth a try.
pub(crate) fn candidates<'a>(
    builder: &'a CircuitBuilder,
    powers: &'a PowerTable,
    polynomials: &'a [Polynomial],
) -> impl Iterator<Item = Result<Candidate, CircuitError>> + 'a {
    shapes(polynomials).map(move |shape| {
        let mut emitter = Emitter {
            builder: builder.clone(),
            powers: powers.clone(),
            shape,
            splits: BTreeMap::new(),
        };
        let outputs: Result<Vec<_>, _> =
            polynomials.iter().map(|f| emitter.polynomial(f)).collect();
        Ok(Candidate { outputs: outputs?, builder: emitter.builder, powers: emitter.powers })
    })
}

/// The block sizes, sets of giants and places of the outer factor to be tried.
fn shapes(polynomials: &[Polynomial]) -> impl Iterator<Item = Shape> + use<> {
    let mixed = polynomials.iter().any(|f| f.parity() == Parity::Mixed);
    let factored = !mixed && polynomials.iter().any(|f| f.parity() == Parity::Odd);
    let quartered =
        !polynomials.is_empty() && polynomials.iter().all(|f| f.degree() > 3 && f.has_order_four());
    let strides: &[usize] = if mixed {
        &[1]
    } else if quartered {
        &[2, 4]
    } else {
        &[2]
    };
    let ways: &[OuterFactor] = if factored {
        &[OuterFactor::Last, OuterFactor::Giants, OuterFactor::Babies]
    } else {
        &[OuterFactor::Last]
    };
    let highest = polynomials.iter().map(Polynomial::degree).max().unwrap_or(0);
    strides.iter().flat_map(move |&stride| {
        let degree = highest / stride;
        // Around the square root, and not each of very many, but powers of two, which are needed
        // for least depth where the degree is just below one.
        let root = degree.isqrt();
        let sizes = (root / 8).max(1)..=(2 * root + 4).min(degree.max(1));
        let step = (root / 16).max(1);
        let first = *sizes.start();
        let tried =
            move |size: &usize| (size - first).is_multiple_of(step) || size.is_power_of_two();
        sizes.filter(tried).flat_map(move |block| {
            let blocks = (degree + 1).div_ceil(block);
            let most = log2_ceil(blocks).max(1);
            let least = log2_ceil(blocks.div_ceil(LONGEST_CHAIN)).max(1);
            (least..=most).flat_map(move |giants| {
                ways.iter().map(move |&outer| Shape { stride, block, giants, outer })
            })
        })
    })
}

/// A sum that is not a node yet, so that it can be joined to a larger one without a relinearization
/// of its own.
#[derive(Default)]
struct Open {
    pairs: Vec<(NodeId, NodeId)>,
    terms: Vec<(NodeId, i64)>,
    constant: i64,
}

struct Emitter {
    builder: CircuitBuilder,
    powers: PowerTable,
    shape: Shape,
    /// (blocks, whether the top block is among them, exponent offset) -> (depth, giant to split at)
    splits: BTreeMap<(usize, bool, usize), (u32, u32)>,
}

impl Emitter {
    fn polynomial(&mut self, f: &Polynomial) -> Result<NodeId, CircuitError> {
        let t = f.modulus();
        let centered = |c: &u64| t.centered(*c);
        let r = match self.shape.stride {
            4 => 3,
            2 if f.parity() == Parity::Odd => 1,
            _ => 0,
        };
        let coefficients: Vec<i64> =
            f.coefficients().iter().skip(r).step_by(self.shape.stride).map(centered).collect();
        let mut sum = match (r, self.shape.outer) {
            (0, _) | (_, OuterFactor::Babies) => self.blocks(&coefficients, r)?,
            (_, OuterFactor::Last) => {
                let open = self.blocks(&coefficients, 0)?;
                self.times(r, open)?
            }
            (_, OuterFactor::Giants) => {
                let mut open = self.blocks(&coefficients, 0)?;
                let pairs = std::mem::take(&mut open.pairs);
                let mut sum = self.times(r, open)?;
                for (high, giant) in pairs {
                    let outer_giant = self.outer_giant(giant, r)?;
                    sum.pairs.push((high, outer_giant));
                }
                sum
            }
        };
        // The one term of a polynomial of order 4 that is not among x^3, x^7, ..
        if let (3, Some(c)) = (r, f.coefficients().get(1).filter(|c| **c != 0)) {
            sum.terms.push((self.powers.power(&mut self.builder, 1)?, t.centered(*c)));
        }
        self.close(sum)
    }

    /// x^r times a giant, shared.
    fn outer_giant(&mut self, giant: NodeId, r: usize) -> Result<NodeId, CircuitError> {
        for j in 0..self.shape.giants {
            let n = self.giant_exponent(j);
            if self.powers.get(n) == Some(giant) {
                return self.powers.power(&mut self.builder, n + r);
            }
        }
        let factor = self.powers.power(&mut self.builder, r)?;
        self.builder.mul(giant, factor)
    }

    fn giant_exponent(&self, j: u32) -> usize {
        (self.shape.stride * self.shape.block) << j
    }

    /// x^r * (open sum), as an open sum.
    fn times(&mut self, r: usize, open: Open) -> Result<Open, CircuitError> {
        let x = self.powers.power(&mut self.builder, r)?;
        if open.pairs.is_empty() && open.terms.is_empty() {
            return Ok(Open {
                terms: if open.constant == 0 { vec![] } else { vec![(x, open.constant)] },
                ..Open::default()
            });
        }
        let other = self.close(open)?;
        Ok(Open { pairs: vec![(other, x)], ..Open::default() })
    }

    /// A node from an open sum.
    fn close(&mut self, mut open: Open) -> Result<NodeId, CircuitError> {
        if open.pairs.is_empty()
            && open.constant == 0
            && let [(x, 1)] = open.terms[..]
        {
            return Ok(x);
        }
        if open.pairs.is_empty() && open.terms.is_empty() {
            // A constant is no ciphertext: 0 * x + c.
            open.terms.push((self.powers.power(&mut self.builder, 1)?, 0));
        }
        self.builder.combine(open.pairs, open.terms, open.constant)
    }

    /// Σ c_i x^(stride i + offset) as blocks.
    fn blocks(&mut self, coefficients: &[i64], offset: usize) -> Result<Open, CircuitError> {
        // Without offset the top block may hold x^k itself, which is a giant anyway.
        let degree = coefficients.len().saturating_sub(1);
        let count = if offset == 0 {
            degree.div_ceil(self.shape.block).max(1)
        } else {
            degree / self.shape.block + 1
        };
        self.join(coefficients, count, true, offset)
    }

    fn join(
        &mut self,
        coefficients: &[i64],
        count: usize,
        top: bool,
        offset: usize,
    ) -> Result<Open, CircuitError> {
        if count <= 1 {
            let mut open = Open::default();
            for (i, c) in coefficients.iter().enumerate().filter(|(_, c)| **c != 0) {
                match self.shape.stride * i + offset {
                    0 => open.constant = *c,
                    n => {
                        let power = self.powers.power(&mut self.builder, n)?;
                        open.terms.push((power, *c));
                    }
                }
            }
            return Ok(open);
        }
        let (_, j) = self.split(count, top, offset);
        let (low, high) = coefficients.split_at((self.shape.block << j).min(coefficients.len()));
        let high = self.join(high, count - (1 << j), top, offset)?;
        let mut sum = self.join(low, 1 << j, false, offset)?;
        let exponent = self.giant_exponent(j);
        let giant = self.powers.power(&mut self.builder, exponent)?;
        if !high.pairs.is_empty() || !high.terms.is_empty() {
            let high = self.close(high)?;
            sum.pairs.push((high, giant));
        } else if high.constant != 0 {
            sum.terms.push((giant, high.constant));
        }
        Ok(sum)
    }

    /// The least depth of joining `count` blocks, and the giant to split at for it; small giants
    /// are preferred.
    fn split(&mut self, count: usize, top: bool, offset: usize) -> (u32, u32) {
        let Shape { stride, block, giants, .. } = self.shape;
        if count <= 1 {
            let highest = if top && offset == 0 { block } else { block - 1 };
            return (log2_ceil(stride * highest + offset), 0);
        }
        if let Some(found) = self.splits.get(&(count, top, offset)) {
            return *found;
        }
        let mut best = (u32::MAX, 0);
        // The largest giants that fit: small ones would make long chains.
        let largest = (giants - 1).min((count - 1).ilog2());
        for j in largest.saturating_sub(4)..=largest {
            let high =
                self.split(count - (1 << j), top, offset).0.max(log2_ceil(self.giant_exponent(j)))
                    + 1;
            let depth = high.max(self.split(1 << j, false, offset).0);
            if depth < best.0 {
                best = (depth, j);
            }
        }
        self.splits.insert((count, top, offset), best);
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modular::PrimePower;
    use everlevel_testing::{ResidueScheme, SplitMix};

    fn random(
        rng: &mut SplitMix,
        t: PrimePower,
        degree: usize,
        keep: impl Fn(usize) -> bool,
    ) -> Polynomial {
        let coefficient = |i| {
            if i == degree {
                1 + rng.below(t.prime() - 1)
            } else if keep(i) {
                rng.below(t.value())
            } else {
                0
            }
        };
        Polynomial::new(t, (0..=degree).map(coefficient).collect::<Vec<_>>())
    }

    /// Evaluates on residues, which are counted there, and compares values, depth and products.
    fn check(scheme: &ResidueScheme, polynomials: &[Polynomial], goal: DepthGoal) -> CircuitCosts {
        let t = polynomials[0].modulus();
        let plan = PolynomialPlan::new(polynomials, goal).unwrap();
        let xs: Vec<u64> = (0..50).map(|x| x * 12345 % t.value()).collect();
        let x = scheme.encrypt(xs.clone(), t.exponent());
        scheme.take_counts();
        let ys = plan.evaluate(scheme, &x, NextUse::Keep).unwrap();
        let (counts, costs) = (scheme.take_counts(), plan.costs());
        assert_eq!(counts, (costs.products, costs.relinearizations));
        assert_eq!(ys.iter().map(|y| y.depth).max().unwrap(), costs.depth);
        for (f, y) in polynomials.iter().zip(&ys) {
            assert!(
                xs.iter().zip(&y.values).all(|(x, y)| f.evaluate(*x) == *y),
                "degree {}",
                f.degree()
            );
        }
        costs
    }

    #[test]
    fn dense_polynomials_have_least_depth() {
        let (scheme, mut rng) = (ResidueScheme::new(257), SplitMix(1));
        let t = PrimePower::new(257, 2).unwrap();
        for degree in 0..70 {
            let f = random(&mut rng, t, degree, |_| true);
            let costs = check(&scheme, &[f], DepthGoal::Least);
            let depth = log2_ceil(degree + 1).min(log2_ceil(degree.max(1)) + 1);
            assert!(costs.depth <= depth, "degree {degree}: depth {}", costs.depth);
            let bound = 2.0 * (degree as f64).sqrt() + 2.0;
            assert!(costs.products as f64 <= bound, "degree {degree}: {} products", costs.products);
        }
    }

    /// Degrees just below powers of two, where few sizes of blocks are shallow enough.
    #[test]
    fn large_polynomials_have_least_depth() {
        let (scheme, mut rng) = (ResidueScheme::new(65537), SplitMix(11));
        let t = PrimePower::new(65537, 1).unwrap();
        for (degree, depth, products) in
            [(1000, 10, 70), (1023, 10, 70), (1025, 11, 70), (2046, 11, 100), (2047, 11, 100)]
        {
            let f = random(&mut rng, t, degree, |_| true);
            let costs = check(&scheme, &[f], DepthGoal::Least);
            assert_eq!(costs.depth, depth, "degree {degree}");
            assert!(costs.products <= products, "degree {degree}: {} products", costs.products);
        }
    }

    #[test]
    fn odd_and_even_polynomials_take_half() {
        let (scheme, mut rng) = (ResidueScheme::new(65537), SplitMix(2));
        let t = PrimePower::new(65537, 1).unwrap();
        for degree in 1..64 {
            let f = random(&mut rng, t, degree, |i| i % 2 == degree % 2);
            let costs = check(&scheme, std::slice::from_ref(&f), DepthGoal::Least);
            assert!(costs.depth <= log2_ceil(degree + 1), "degree {degree}: depth {}", costs.depth);
            let wide = check(&scheme, &[f], DepthGoal::Extra(1));
            assert!(
                wide.products <= costs.products
                    && wide.products as f64 <= (2.0 * degree as f64).sqrt() + 3.0
            );
        }
    }

    #[test]
    fn known_counts() {
        let (scheme, mut rng) = (ResidueScheme::new(257), SplitMix(4));
        let t = PrimePower::new(257, 1).unwrap();
        let mut count = |degree: usize, odd: bool| {
            let f = random(&mut rng, t, degree, |i| !odd || i % 2 == 1);
            let costs = check(&scheme, &[f], DepthGoal::Least);
            (costs.depth, costs.products)
        };
        assert_eq!(count(3, false), (2, 2));
        assert_eq!(count(7, false), (3, 4));
        assert_eq!(count(15, false), (4, 7));
        assert_eq!(count(31, false), (5, 11));
        assert_eq!(count(31, true), (5, 10));
    }

    #[test]
    fn powers_are_shared_between_polynomials() {
        let (scheme, mut rng) = (ResidueScheme::new(257), SplitMix(8));
        let t = PrimePower::new(257, 1).unwrap();
        let even = random(&mut rng, t, 24, |i| i % 2 == 0);
        let odd = random(&mut rng, t, 25, |i| i % 2 == 1);
        let apart: usize = [&even, &odd]
            .map(|f| check(&scheme, std::slice::from_ref(f), DepthGoal::Extra(1)).products)
            .iter()
            .sum();
        let together = check(&scheme, &[even, odd], DepthGoal::Extra(1)).products;
        assert!(together + 2 <= apart, "{together} against {apart}");
        assert!(PolynomialPlan::new(&[], DepthGoal::Least).is_err());
        let other = Polynomial::new(PrimePower::new(257, 2).unwrap(), [1, 1]);
        assert!(
            PolynomialPlan::new(&[Polynomial::new(t, [1, 1]), other], DepthGoal::Least).is_err()
        );
        let plan = PolynomialPlan::new(&[Polynomial::new(t, [1, 1])], DepthGoal::Least).unwrap();
        let wrong = ResidueScheme::new(65537);
        let refused = plan.evaluate(&wrong, &wrong.encrypt(vec![1], 1), NextUse::Keep);
        assert_eq!(refused, Err(CircuitError::ModulusMismatch { expected: 257, found: 65537 }));
        // Very large degrees neither exhaust the stack nor take long to plan.
        let wide = random(&mut rng, t, 20_000, |_| true);
        let costs = PolynomialPlan::new(&[wide], DepthGoal::Least).unwrap().costs();
        assert!(costs.depth == 15 && costs.products < 320, "{costs:?}");
        let deep = Polynomial::new(t, [0, 0, 0, 0, 1]);
        assert_eq!(
            PolynomialPlan::new(&[deep], DepthGoal::AtMost(1)),
            Err(CircuitError::TooDeep { allowed: 1, needed: 2 })
        );
    }
}
