//! Products of many factors at least depth.

use everlevel_scheme::{Arithmetic, NextUse, PlainModulus};

use super::polynomial::Polynomial;
use super::powers::PowerTable;
use crate::error::CircuitError;
use crate::modular::PrimePower;
use crate::straight_line::{Circuit, CircuitBuilder, CircuitCosts, NodeId, check_prime};

/// The product of all factors: the two of least depth first (Huffman's greedy, optimal for max +
/// 1), so a factor that comes late costs no level as long as there is room beside it.
pub(crate) fn product_tree(
    builder: &mut CircuitBuilder,
    factors: &[NodeId],
) -> Result<NodeId, CircuitError> {
    let mut open = Vec::with_capacity(factors.len());
    for x in factors {
        open.push((builder.depth(*x)?, *x));
    }
    loop {
        open.sort_by(|a, b| b.cmp(a)); // the least at the end
        let (Some((_, a)), b) = (open.pop(), open.pop()) else {
            return Err(CircuitError::Empty { what: "the list of factors" });
        };
        let Some((_, b)) = b else {
            return Ok(a);
        };
        let product = builder.mul(a, b)?;
        open.push((builder.depth(product)?, product));
    }
}

/// The factors x - a, or products of `group` of them expanded in powers of x: `stride` selects
/// x^stride as the variable. Small roots are put together with large ones, which keeps the
/// constants small.
pub(crate) fn grouped_factors(
    builder: &mut CircuitBuilder,
    powers: &mut PowerTable,
    stride: usize,
    modulus: PrimePower,
    roots: &[i64],
    group: usize,
) -> Result<Vec<NodeId>, CircuitError> {
    let mut sorted = roots.to_vec();
    sorted.sort_by_key(|a| a.unsigned_abs());
    let groups = sorted.len().div_ceil(group.max(1));
    let mut members: Vec<Vec<i64>> = vec![Vec::new(); groups];
    for (i, a) in sorted.into_iter().enumerate() {
        let (round, place) = (i / groups, i % groups);
        members[if round % 2 == 0 { place } else { groups - 1 - place }].push(a);
    }
    let mut factors = Vec::with_capacity(groups);
    for roots in members {
        let f = Polynomial::from_roots(modulus, roots.iter().map(|a| modulus.reduce_i64(*a)));
        let mut terms = Vec::new();
        let mut constant = 0;
        for (i, c) in f.coefficients().iter().enumerate().filter(|(_, c)| **c != 0) {
            match i {
                0 => constant = modulus.centered(*c),
                _ => terms.push((powers.power(builder, i * stride)?, modulus.centered(*c))),
            }
        }
        terms.reverse(); // the leading one first: its constant is 1
        factors.push(builder.combine(vec![], terms, constant)?);
    }
    Ok(factors)
}

/// The evaluation of Π (x - a_i) as a balanced tree of products: no constant but the roots
/// themselves (or, in groups, their elementary symmetric functions), where expanded coefficients
/// would cost log2(p^e) bits of noise.
///
/// n factors in groups of g: ceil(n/g) - 1 + g - 1 products, least possible depth for the grouping.
#[derive(Clone, Debug, PartialEq)]
pub struct ProductTreePlan {
    prime: u64,
    program: Circuit,
}

impl ProductTreePlan {
    /// The plan for the given roots modulo p^e, `group` factors expanded together (1: none).
    ///
    /// # Errors
    /// [`CircuitError::Empty`] without roots.
    pub fn new(modulus: PrimePower, roots: &[i64], group: usize) -> Result<Self, CircuitError> {
        let mut builder = CircuitBuilder::new();
        let x = builder.input(modulus.exponent());
        let mut powers = PowerTable::new(x);
        let factors = grouped_factors(&mut builder, &mut powers, 1, modulus, roots, group)?;
        let product = product_tree(&mut builder, &factors)?;
        Ok(ProductTreePlan { prime: modulus.prime(), program: builder.finish(&[product])? })
    }

    /// Depth and counts.
    pub fn costs(&self) -> CircuitCosts {
        self.program.costs()
    }

    /// Π (x - a_i) of a ciphertext.
    ///
    /// # Errors
    /// [`CircuitError::ModulusMismatch`] if the scheme has another prime; else as [`Circuit::run`].
    pub fn evaluate<S: Arithmetic + PlainModulus>(
        &self,
        scheme: &S,
        x: &S::Ciphertext,
        next: NextUse,
    ) -> Result<S::Ciphertext, CircuitError> {
        check_prime(scheme, self.prime)?;
        self.program
            .run(scheme, &[x], next)?
            .pop()
            .ok_or(CircuitError::Empty { what: "the list of outputs" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use everlevel_testing::ResidueScheme;

    #[test]
    fn trees_have_least_depth() {
        let scheme = ResidueScheme::new(257);
        let t = PrimePower::new(257, 2).unwrap();
        for (n, group, depth, products) in [
            (1, 1, 0, 0),
            (5, 1, 3, 4),
            (16, 1, 4, 15),
            (16, 2, 4, 8),
            (12, 2, 4, 6),
            (12, 3, 4, 5),
        ] {
            let roots: Vec<i64> = (0..n).map(|a| a * a - 7).collect();
            let plan = ProductTreePlan::new(t, &roots, group).unwrap();
            let costs = plan.costs();
            assert_eq!(
                (costs.depth, costs.products),
                (depth, products),
                "n = {n}, group = {group}"
            );
            let xs: Vec<u64> = (0..64).map(|x| x * 1000 % t.value()).collect();
            let f = Polynomial::from_roots(t, roots.iter().map(|a| t.reduce_i64(*a)));
            let x = scheme.encrypt(xs.clone(), 2);
            let y = plan.evaluate(&scheme, &x, NextUse::Keep).unwrap();
            assert!(xs.iter().zip(&y.values).all(|(x, y)| f.evaluate(*x) == *y));
            assert_eq!(y.depth, depth);
            assert_eq!(scheme.take_counts().0, products);
        }
        assert!(ProductTreePlan::new(t, &[], 1).is_err());
    }
}
