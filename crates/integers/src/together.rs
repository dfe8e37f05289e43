//! Sums of products and multiples that are computed together.

use std::collections::BTreeMap;

use everlevel_circuit::CircuitError;
use everlevel_circuit::straight_line::{Circuit, CircuitBuilder, NodeId};
use everlevel_ring::PrimePower;
use everlevel_scheme::{ExactScheme, NextUse, SparseForm};
use rayon::prelude::*;

use crate::bilinear::Sum;

/// Many sums of products that share their operands: each operand is switched to the common level
/// once, in however many products it occurs.
pub(crate) struct Sums {
    /// Gives the operands of products and the terms.
    operands: Circuit,
    /// Places among these.
    sums: Vec<PlacedSum>,
    /// Which of these are operands of products, and which are terms.
    factors: Vec<usize>,
    terms: Vec<bool>,
}

struct PlacedSum {
    pairs: Vec<(usize, usize)>,
    terms: Vec<(usize, i64)>,
    constant: i64,
}

impl Sums {
    /// Of sums that are no constants.
    pub(crate) fn new(
        builder: CircuitBuilder,
        t: PrimePower,
        sums: Vec<Sum>,
    ) -> Result<Self, CircuitError> {
        let mut nodes: Vec<NodeId> = Vec::new();
        let mut places: BTreeMap<NodeId, usize> = BTreeMap::new();
        let mut place = |x: NodeId| {
            *places.entry(x).or_insert_with(|| {
                nodes.push(x);
                nodes.len() - 1
            })
        };
        let mut placed = Vec::with_capacity(sums.len());
        for sum in sums {
            let (pairs, terms, constant) = sum.parts(t);
            let pairs = pairs.into_iter().map(|(a, b)| (place(a), place(b))).collect();
            let terms = terms.into_iter().map(|(x, c)| (place(x), c)).collect();
            placed.push(PlacedSum { pairs, terms, constant });
        }
        let (mut is_factor, mut is_term) = (vec![false; nodes.len()], vec![false; nodes.len()]);
        for sum in &placed {
            sum.pairs.iter().for_each(|(a, b)| (is_factor[*a], is_factor[*b]) = (true, true));
            sum.terms.iter().for_each(|(x, _)| is_term[*x] = true);
        }
        let factors = (0..nodes.len()).filter(|i| is_factor[*i]).collect();
        Ok(Sums { operands: builder.finish(&nodes)?, sums: placed, factors, terms: is_term })
    }

    pub(crate) fn depth(&self) -> u32 {
        self.operands.costs().depth + 1
    }

    /// The sums.
    pub(crate) fn run<T: ExactScheme>(
        &self,
        scheme: &T,
        inputs: &[&T::Ciphertext],
    ) -> Result<Vec<T::Ciphertext>, CircuitError> {
        let empty = || CircuitError::Empty { what: "a sum" };
        let found = self.operands.run(scheme, inputs, NextUse::Product)?;
        let mut values: Vec<Option<T::Ciphertext>> = found.into_iter().map(Some).collect();
        let mut factors: Vec<Option<T::Ciphertext>> = vec![None; values.len()];
        let refs: Vec<_> = self.factors.iter().filter_map(|i| values[*i].as_ref()).collect();
        let prepared = scheme.prepare_together(&refs, NextUse::Product)?;
        for (i, x) in self.factors.iter().zip(prepared) {
            factors[*i] = Some(x);
            if !self.terms[*i] {
                values[*i] = None;
            }
        }
        let product = |sum: &PlacedSum| -> Result<_, CircuitError> {
            let mut product: Option<T::Product> = None;
            for (a, b) in &sum.pairs {
                let (Some(a), Some(b)) = (&factors[*a], &factors[*b]) else { return Err(empty()) };
                let part = scheme.mul_lazy_aligned(a, b)?;
                product = Some(match product {
                    Some(sum) => scheme.add_products(&sum, &part)?,
                    None => part,
                });
            }
            Ok(product.map(|x| scheme.relinearize(&x, NextUse::Keep)).transpose()?)
        };
        let products = self.sums.par_iter().map(product).collect::<Result<Vec<_>, _>>()?;
        drop(factors);
        self.with_terms(scheme, &values, &products)
    }

    /// The sums of these products and of the terms, each of which is read once for all sums.
    fn with_terms<T: ExactScheme>(
        &self,
        scheme: &T,
        values: &[Option<T::Ciphertext>],
        products: &[Option<T::Ciphertext>],
    ) -> Result<Vec<T::Ciphertext>, CircuitError> {
        let empty = || CircuitError::Empty { what: "a sum" };
        let mut xs: Vec<&T::Ciphertext> = values.iter().flatten().collect();
        let counted = values.iter().scan(0, |count, value| {
            let place = *count;
            *count += usize::from(value.is_some());
            Some(value.is_some().then_some(place))
        });
        let places: Vec<Option<usize>> = counted.collect();
        let (mut forms, mut found) = (Vec::new(), Vec::with_capacity(products.len()));
        for (sum, product) in self.sums.iter().zip(products) {
            // What is one ciphertext has its bound, and no constant of 0 is added.
            let alone = match (product, &sum.terms[..], sum.constant) {
                (Some(x), [], 0) => Some(x),
                (None, [(x, 1)], 0) => values[*x].as_ref(),
                _ => None,
            };
            found.push(alone.cloned());
            if alone.is_some() {
                continue;
            }
            let mut form = SparseForm { terms: Vec::new(), constant: sum.constant };
            if let Some(x) = product {
                form.terms.push((xs.len(), 1));
                xs.push(x);
            }
            for (x, c) in &sum.terms {
                form.terms.push((places[*x].ok_or_else(empty)?, *c));
            }
            forms.push(form);
        }
        let mut sums = scheme.sparse_combinations(&xs, &forms)?.into_iter();
        found.into_iter().map(|x| x.or_else(|| sums.next()).ok_or_else(empty)).collect()
    }
}
