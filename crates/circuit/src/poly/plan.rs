//! Paterson–Stockmeyer evaluation at least depth.

use std::num::NonZeroU32;

use everlevel_scheme::{Arithmetic, NextUse, PlainModulus};

use super::blocks::{Candidate, candidates, candidates_at_levels};
use super::goal::{DepthGoal, best};
use super::polynomial::Polynomial;
use super::powers::PowerTable;
use crate::error::CircuitError;
use crate::straight_line::{Circuit, CircuitBuilder, CircuitCosts, check_prime};

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
    pub(super) prime: u64,
    pub(super) program: Circuit,
}

impl PolynomialPlan {
    /// The plan for polynomials modulo one p^e.
    ///
    /// # Errors
    /// [`CircuitError::Empty`] without polynomials, [`CircuitError::ModulusMismatch`] if their
    /// moduli differ, [`CircuitError::TooDeep`] if no evaluation is within [`DepthGoal::AtMost`].
    pub fn new(polynomials: &[Polynomial], goal: DepthGoal) -> Result<Self, CircuitError> {
        let (prime, builder, powers) = variable(polynomials)?;
        let found = candidates(&builder, &powers, polynomials);
        Ok(PolynomialPlan { prime, program: best(within(found, polynomials, goal), goal)? })
    }

    /// [`PolynomialPlan::new`] with the terms of blocks at no more levels than `levels`: the powers
    /// of the largest depth at one, those of the next one at another, and all others at the last.
    ///
    /// Otherwise each block is switched down once for every level that its terms have. With b
    /// blocks of k terms, about b log2 k switches become k and b (`levels` - 1). The constants of
    /// terms that share a level with the deepest ones are not absorbed by switches any more, so the
    /// noise of a block grows by up to one bit with one level, and by next to nothing with two.
    ///
    /// # Errors
    /// As [`PolynomialPlan::new`].
    pub fn at_levels(
        polynomials: &[Polynomial],
        goal: DepthGoal,
        levels: NonZeroU32,
    ) -> Result<Self, CircuitError> {
        let (prime, builder, powers) = variable(polynomials)?;
        let found = candidates_at_levels(&builder, &powers, polynomials, Some(levels));
        Ok(PolynomialPlan { prime, program: best(within(found, polynomials, goal), goal)? })
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
            expected: modulus.wide(),
            found: other.modulus().wide(),
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

/// The programs of candidates. Where one polynomial is to have least depth, those that are deeper
/// than one before are not finished, as they would not be chosen.
fn within(
    candidates: impl Iterator<Item = Result<Candidate, CircuitError>>,
    polynomials: &[Polynomial],
    goal: DepthGoal,
) -> impl Iterator<Item = Result<Circuit, CircuitError>> {
    let shallow = goal == DepthGoal::Least && polynomials.len() == 1;
    let mut least = u32::MAX;
    candidates.filter_map(move |candidate| {
        let depth =
            |candidate: &Candidate| candidate.builder.depth(*candidate.outputs.first()?).ok();
        if let Some(depth) = candidate.as_ref().ok().filter(|_| shallow).and_then(depth) {
            if depth > least {
                return None;
            }
            least = depth;
        }
        Some(finished(candidate))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modular::PrimePower;
    use crate::poly::powers::log2_ceil;
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
    fn terms_at_few_levels_change_neither_values_nor_counts() {
        let (scheme, mut rng) = (ResidueScheme::new(257), SplitMix(12));
        let t = PrimePower::new(257, 2).unwrap();
        for degree in [0, 1, 2, 7, 30, 33, 100] {
            for step in [1, 2] {
                let f = random(&mut rng, t, degree, |i| i % step == degree % step);
                let costs = check(&scheme, std::slice::from_ref(&f), DepthGoal::Least);
                let xs: Vec<u64> = (0..50).map(|x| x * 12345 % t.value()).collect();
                let x = scheme.encrypt(xs.clone(), 2);
                for levels in 1..5 {
                    let levels = NonZeroU32::new(levels).unwrap();
                    let (f, goal) = (std::slice::from_ref(&f), DepthGoal::Least);
                    let plan = PolynomialPlan::at_levels(f, goal, levels).unwrap();
                    let found = plan.evaluate(&scheme, &x, NextUse::Keep).unwrap();
                    let wanted = xs.iter().map(|x| f[0].evaluate(*x));
                    assert!(found[0].values.iter().copied().eq(wanted), "degree {degree}");
                    assert_eq!(plan.costs().depth, costs.depth, "degree {degree}");
                    assert!(step > 1 || plan.costs() == costs, "degree {degree}");
                }
            }
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
