//! Polynomials as blocks of coefficients that giant powers join.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use super::polynomial::{Parity, Polynomial};
use super::powers::{PowerTable, log2_ceil};
use super::shapes::{OuterFactor, Shape, shapes};
use crate::error::CircuitError;
use crate::straight_line::{CircuitBuilder, NodeId};

/// A program that holds the values of the polynomials, still open for more steps.
pub(crate) struct Candidate {
    pub(crate) builder: CircuitBuilder,
    pub(crate) powers: PowerTable,
    pub(crate) outputs: Vec<NodeId>,
}

/// The ways to evaluate the polynomials at the variable of `powers` that are worth comparing.
pub(crate) fn candidates<'a>(
    builder: &'a CircuitBuilder,
    powers: &'a PowerTable,
    polynomials: &'a [Polynomial],
) -> impl Iterator<Item = Result<Candidate, CircuitError>> + 'a {
    candidates_at_levels(builder, powers, polynomials, None)
}

/// [`candidates`], whose blocks have their terms at no more levels than are given.
pub(super) fn candidates_at_levels<'a>(
    builder: &'a CircuitBuilder,
    powers: &'a PowerTable,
    polynomials: &'a [Polynomial],
    levels: Option<NonZeroU32>,
) -> impl Iterator<Item = Result<Candidate, CircuitError>> + 'a {
    shapes(polynomials).map(move |shape| {
        let mut emitter = Emitter {
            builder: builder.clone(),
            powers: powers.clone(),
            shape,
            terms: BTreeMap::new(),
            splits: BTreeMap::new(),
        };
        if let Some(levels) = levels {
            emitter.level_terms(polynomials, levels)?;
        }
        let outputs: Result<Vec<_>, _> =
            polynomials.iter().map(|f| emitter.polynomial(f)).collect();
        Ok(Candidate { outputs: outputs?, builder: emitter.builder, powers: emitter.powers })
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
    /// Powers that are terms of blocks, where they are not those of the table.
    terms: BTreeMap<usize, NodeId>,
    /// (blocks, whether the top block is among them, exponent offset) -> (depth, giant to split at)
    splits: BTreeMap<(usize, bool, usize), (u32, u32)>,
}

impl Emitter {
    fn polynomial(&mut self, f: &Polynomial) -> Result<NodeId, CircuitError> {
        let t = f.modulus();
        let (r, coefficients) = self.inner(f);
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

    /// r and the coefficients of Q, for a polynomial x^r Q(x^stride).
    fn inner(&self, f: &Polynomial) -> (usize, Vec<i64>) {
        let r = match self.shape.stride {
            4 => 3,
            2 if f.parity() == Parity::Odd => 1,
            _ => 0,
        };
        let inner = f.coefficients().iter().skip(r).step_by(self.shape.stride);
        (r, inner.map(|c| f.modulus().centered(*c)).collect())
    }

    /// Brings the terms of blocks to no more levels than these: those of the largest depth to one,
    /// those of the next one to another, and so on, and all that are left to the last one.
    fn level_terms(
        &mut self,
        polynomials: &[Polynomial],
        levels: NonZeroU32,
    ) -> Result<(), CircuitError> {
        let Shape { stride, block, outer, .. } = self.shape;
        let mut exponents = BTreeSet::new();
        for f in polynomials {
            let (r, coefficients) = self.inner(f);
            let offset = if outer == OuterFactor::Babies { r } else { 0 };
            let terms = coefficients.iter().enumerate().filter(|(_, c)| **c != 0);
            exponents.extend(terms.map(|(i, _)| stride * (i % block) + offset));
        }
        exponents.remove(&0);
        let mut by_depth: BTreeMap<u32, Vec<(usize, NodeId)>> = BTreeMap::new();
        for n in exponents {
            let power = self.powers.power(&mut self.builder, n)?;
            by_depth.entry(self.builder.depth(power)?).or_default().push((n, power));
        }
        let mut deepest = by_depth.into_values().rev();
        let mut groups: Vec<_> = deepest.by_ref().take(levels.get() as usize - 1).collect();
        groups.push(deepest.flatten().collect());
        for group in groups {
            let (exponents, powers): (Vec<usize>, Vec<NodeId>) = group.into_iter().unzip();
            let lowered = self.builder.at_one_level(&powers)?;
            self.terms.extend(exponents.into_iter().zip(lowered));
        }
        Ok(())
    }

    /// x^n as a term of a block.
    fn term(&mut self, n: usize) -> Result<NodeId, CircuitError> {
        match self.terms.get(&n) {
            Some(x) => Ok(*x),
            None => self.powers.power(&mut self.builder, n),
        }
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
                    n => open.terms.push((self.term(n)?, *c)),
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
