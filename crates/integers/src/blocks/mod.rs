//! Sums of products of digits in blocks, for less memory.
//!
//! [`Sums`](crate::together::Sums) computes the powers of all digits first, and holds them for all
//! sums. Here those of half of the digits of one factor are held, and the digits of the other
//! factor are taken one after the other: the products of a digit with those that are held are added
//! to all sums, and its powers are dropped. What the sums have so far are products before
//! relinearization, so that this takes no relinearizations more. The powers of the digits that are
//! taken one after the other are computed twice, once for each half.

mod plan;
mod work;

use std::collections::{BTreeMap, BTreeSet};

use everlevel_circuit::CircuitError;
use everlevel_ring::PrimePower;
use everlevel_scheme::{ExactScheme, NextUse, SchemeError};
use rayon::prelude::*;

use plan::Planning;
use work::{Block, Place, Powers, missing};

pub(crate) use plan::Wanted;

/// In how many blocks the digits are held.
const BLOCKS: usize = 2;

/// Their ciphertexts.
struct Found<C> {
    values: Vec<Option<C>>,
    factors: Vec<Option<C>>,
}

/// Sums of products in blocks.
pub(crate) struct Blocks {
    /// The number of inputs, which their fourth powers follow if there are any.
    inputs: usize,
    blocks: Vec<Block>,
    constants: Vec<i64>,
    depth: u32,
}

impl Blocks {
    /// Of sums that are no constants, over a number of inputs, which their fourth powers follow or
    /// do not.
    pub(crate) fn new(
        t: PrimePower,
        inputs: usize,
        fourths: bool,
        sums: Vec<Wanted>,
    ) -> Result<Self, CircuitError> {
        let sums: Vec<Wanted> = sums.into_iter().map(|sum| sum.centered(t)).collect();
        let mut planning = Planning::new(&sums, fourths);
        let open = planning.open();
        let (first, second): (BTreeSet<usize>, BTreeSet<usize>) = open.into_iter().unzip();
        // Of a product of two columns those of the second one; of a square all are both.
        let held: Vec<usize> = match first.is_disjoint(&second) {
            true => second.into_iter().collect(),
            false => first.union(&second).copied().collect(),
        };
        let mut blocks = Vec::new();
        for some in held.chunks(held.len().div_ceil(BLOCKS).max(1)) {
            blocks.extend(planning.block(some)?);
        }
        // What is not in any product.
        for input in 0..inputs {
            if !planning.seen.contains(&input) {
                blocks.extend(planning.block(&[input])?);
            }
        }
        let parts = blocks.iter().flat_map(|x| {
            std::iter::once(&x.held).chain(x.others.iter().map(|(powers, _)| powers))
        });
        let depth = 1 + parts.map(|powers| powers.circuit.costs().depth).max().unwrap_or(0);
        let constants = sums.iter().map(|sum| sum.constant).collect();
        Ok(Blocks { inputs, blocks, constants, depth })
    }

    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    /// The sums.
    pub(crate) fn run<T: ExactScheme>(
        &self,
        scheme: &T,
        inputs: &[&T::Ciphertext],
    ) -> Result<Vec<T::Ciphertext>, CircuitError> {
        let mut products: Vec<Option<T::Product>> = self.constants.iter().map(|_| None).collect();
        let mut terms: Vec<Option<T::Ciphertext>> = vec![None; self.constants.len()];
        for Block { held, own, others } in &self.blocks {
            let mut held = held.run(scheme, inputs, self.inputs)?;
            add_terms(scheme, &own.terms, &held.values, &mut terms)?;
            held.values.clear();
            add_products(scheme, &own.pairs, (&held.factors[..], &[][..]), &mut products)?;
            for (powers, work) in others {
                let mut other = powers.run(scheme, inputs, self.inputs)?;
                add_terms(scheme, &work.terms, &other.values, &mut terms)?;
                other.values.clear();
                level(scheme, &mut held.factors, &mut other.factors)?;
                let factors = (&held.factors[..], &other.factors[..]);
                add_products(scheme, &work.pairs, factors, &mut products)?;
            }
        }
        let products = products.into_par_iter().map(|product| match product {
            Some(product) => scheme.relinearize(&product, NextUse::Keep).map(Some),
            None => Ok(None),
        });
        let products = products.collect::<Result<Vec<_>, SchemeError>>()?;
        let mut found = Vec::with_capacity(products.len());
        for ((product, terms), constant) in products.into_iter().zip(terms).zip(&self.constants) {
            found.push(match (product, terms, *constant) {
                (Some(x), None, 0) | (None, Some(x), 0) => x,
                (Some(x), None, c) | (None, Some(x), c) => scheme.add_scalar(&x, c)?,
                (Some(x), Some(y), c) => scheme.linear_combination(&[(&x, 1), (&y, 1)], c)?,
                (None, None, _) => return Err(missing()),
            });
        }
        Ok(found)
    }
}

impl Powers {
    /// The polynomials of these inputs: as terms, and all factors at one level.
    fn run<T: ExactScheme>(
        &self,
        scheme: &T,
        inputs: &[&T::Ciphertext],
        count: usize,
    ) -> Result<Found<T::Ciphertext>, CircuitError> {
        let of = |place: usize| inputs.get(place).copied().ok_or_else(missing);
        let fourths = self.inputs.iter().filter(|_| self.fourths).map(|x| count + x);
        let own = self.inputs.iter().copied().chain(fourths).map(of);
        let own = own.collect::<Result<Vec<&T::Ciphertext>, CircuitError>>()?;
        let found = self.circuit.run(scheme, &own, NextUse::Product)?;
        let mut values: Vec<Option<T::Ciphertext>> = found.into_iter().map(Some).collect();
        let mut factors: Vec<Option<T::Ciphertext>> = vec![None; values.len()];
        let places: Vec<usize> = (0..values.len()).filter(|i| self.factors[*i]).collect();
        let refs: Vec<_> = places.iter().filter_map(|i| values[*i].as_ref()).collect();
        let prepared = match refs.is_empty() {
            true => Vec::new(),
            false => scheme.prepare_together(&refs, NextUse::Product)?,
        };
        for (i, x) in places.into_iter().zip(prepared) {
            factors[i] = Some(x);
            if !self.terms[i] {
                values[i] = None;
            }
        }
        Ok(Found { values, factors })
    }
}

/// Switches all factors to the lowest level of them.
fn level<T: ExactScheme>(
    scheme: &T,
    held: &mut [Option<T::Ciphertext>],
    other: &mut [Option<T::Ciphertext>],
) -> Result<(), CircuitError> {
    let all = held.iter().chain(other.iter()).flatten();
    let Some(lowest) = all.map(|x| scheme.level(x)).min() else { return Ok(()) };
    for x in held.iter_mut().chain(other.iter_mut()).flatten() {
        if scheme.level(x) > lowest {
            *x = scheme.mod_switch_to(x, lowest)?;
        }
    }
    Ok(())
}

/// Adds terms to sums of terms.
fn add_terms<T: ExactScheme>(
    scheme: &T,
    terms: &BTreeMap<usize, Vec<(usize, i64)>>,
    values: &[Option<T::Ciphertext>],
    sums: &mut [Option<T::Ciphertext>],
) -> Result<(), CircuitError> {
    for (sum, terms) in terms {
        let mut all: Vec<(&T::Ciphertext, i64)> = Vec::with_capacity(terms.len() + 1);
        all.extend(sums[*sum].as_ref().map(|before| (before, 1)));
        for (place, c) in terms {
            all.push((values[*place].as_ref().ok_or_else(missing)?, *c));
        }
        let next = scheme.linear_combination(&all, 0)?;
        sums[*sum] = Some(next);
    }
    Ok(())
}

/// The factors that are held, and those of the digit that is taken now.
type Factors<'a, C> = (&'a [Option<C>], &'a [Option<C>]);

fn factor<C>((held, other): Factors<'_, C>, place: Place) -> Result<&C, CircuitError> {
    let among = if place.held { held } else { other };
    among.get(place.at).and_then(Option::as_ref).ok_or_else(missing)
}

/// Adds products to sums of products, one sum after the other.
fn add_products<T: ExactScheme>(
    scheme: &T,
    pairs: &BTreeMap<usize, Vec<[Place; 2]>>,
    factors: Factors<'_, T::Ciphertext>,
    sums: &mut [Option<T::Product>],
) -> Result<(), CircuitError> {
    for (sum, pairs) in pairs {
        let pairs = pairs.iter().map(|[a, b]| Ok((factor(factors, *a)?, factor(factors, *b)?)));
        let pairs = pairs.collect::<Result<Vec<_>, CircuitError>>()?;
        let next = scheme.sum_of_products(&pairs)?;
        sums[*sum] = Some(match sums[*sum].take() {
            Some(before) => scheme.add_products(&before, &next)?,
            None => next,
        });
    }
    Ok(())
}
