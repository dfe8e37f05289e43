//! Automorphisms and linear maps of the no-op scheme.

use std::borrow::Borrow;
use std::sync::Arc;

use everlevel_ring::{Factor, GaloisElement};

use super::{NoOp, NoOpCiphertext, NoOpDiagonal, NoOpExtended};
use crate::checks::{no_parts, same_parts};
use crate::diagonal::diagonal_plaintext;
use crate::error::SchemeError;
use crate::noise::ExtendedMeta;
use crate::ops::{Automorphisms, DiagonalValues, LinearMaps, Scheme};
use crate::spec::{Level, NextUse};

impl NoOp {
    /// The images of a ciphertext over the extended modulus.
    fn hoisted(
        &self,
        x: &NoOpCiphertext,
        gs: &[GaloisElement],
    ) -> Result<Vec<(ExtendedMeta, Vec<u64>)>, SchemeError> {
        self.still_wanted()?;
        self.check_set([&x.meta])?;
        gs.iter().try_for_each(|g| self.params.check_automorphism(*g))?;
        gs.iter().try_for_each(|g| self.check_galois(*g, x.meta.level))?;
        let basis = self.params.chain().basis(x.meta.level);
        let switched = gs.iter().filter(|g| !g.is_identity()).count();
        if switched > 0 {
            self.counters.transforms(basis.len());
            self.count_decomposition(x.meta.level, true);
            self.count_key_switch(x.meta.level, switched);
        }
        Ok(gs
            .iter()
            .map(|&g| {
                self.use_galois(g, x.meta.level);
                let meta =
                    if g.is_identity() { x.meta } else { self.params.noise().key_switch(&x.meta) };
                (ExtendedMeta::flat(meta), self.moved(&x.value, g, x.meta.exponent))
            })
            .collect())
    }
}

impl Automorphisms for NoOp {
    fn galois_level(&self, g: GaloisElement, from: Level) -> Option<Level> {
        let Some(held) = &self.held else { return Some(from) };
        let chain = self.params.chain();
        let there = |level: &Level| {
            let basis = held.galois.get(&(g, chain.gadget_id(*level)));
            g.is_identity() || basis.is_some_and(|basis| chain.basis(*level).is_subset(*basis))
        };
        (0..=from.min(chain.top()).0).rev().map(Level).find(there)
    }

    fn apply_galois(
        &self,
        a: &NoOpCiphertext,
        g: GaloisElement,
    ) -> Result<NoOpCiphertext, SchemeError> {
        Ok(self.apply_galois_many(a, &[g])?.pop().expect("one automorphism, one result"))
    }

    fn apply_galois_many(
        &self,
        a: &NoOpCiphertext,
        gs: &[GaloisElement],
    ) -> Result<Vec<NoOpCiphertext>, SchemeError> {
        // The real scheme makes no ciphertexts over the extended modulus here.
        let finish = |((of, value), g): ((ExtendedMeta, Vec<u64>), &GaloisElement)| {
            if g.is_identity() {
                return Ok(a.clone());
            }
            let meta = self
                .params
                .noise()
                .checked(self.params.noise().reduce(&of.meta, NextUse::Keep), "automorphism")?;
            self.reduce(a.meta.level, meta.level);
            Ok(self.made(meta, value))
        };
        self.hoisted(a, gs)?.into_iter().zip(gs).map(finish).collect()
    }
}

impl LinearMaps for NoOp {
    type Extended = NoOpExtended;
    type Diagonal = NoOpDiagonal;

    fn diagonal(
        &self,
        values: &DiagonalValues,
        e: u32,
        level: Level,
    ) -> Result<NoOpDiagonal, SchemeError> {
        let (coefficients, profile) = diagonal_plaintext(&self.params, values, e)?;
        let (plain, mut value) = (self.params.plaintext_ring(), self.zero());
        if !value.is_empty() {
            let residues = coefficients.iter().map(|&c| plain.modulus(e).reduce_i64(c));
            if self.slot_shape().axes().is_some() {
                value = plain.embed_last(&residues.collect::<Vec<u64>>(), e)?;
            } else {
                let step = value.len() / coefficients.len();
                value.iter_mut().step_by(step).zip(residues).for_each(|(x, c)| *x = c);
            }
        }
        let factor = self.values.then(|| Arc::new(plain.factor(&value, e)));
        let (set, basis) = (self.params.set_id(), self.params.chain().basis(level));
        Ok(NoOpDiagonal { set, exponent: e, basis, profile: Arc::new(profile), factor })
    }

    /// Nothing but the primes depends on the level. What a scheme without values prepared does not
    /// serve one with values.
    fn diagonal_at(&self, diagonal: &NoOpDiagonal, level: Level) -> Option<NoOpDiagonal> {
        let serves =
            diagonal.set == self.params.set_id() && self.values == diagonal.factor.is_some();
        serves.then(|| NoOpDiagonal {
            set: diagonal.set,
            exponent: diagonal.exponent,
            basis: self.params.chain().basis(level),
            profile: diagonal.profile.clone(),
            factor: diagonal.factor.clone(),
        })
    }

    fn hoist(
        &self,
        x: &NoOpCiphertext,
        gs: &[GaloisElement],
    ) -> Result<Vec<NoOpExtended>, SchemeError> {
        let images = self.hoisted(x, gs)?.into_iter();
        Ok(images.map(|(meta, value)| self.made_extended(meta, value)).collect())
    }

    fn combine(
        &self,
        inputs: &[impl Borrow<NoOpExtended> + Sync],
        rows: &[Vec<Option<&NoOpDiagonal>>],
    ) -> Result<Vec<NoOpExtended>, SchemeError> {
        let inputs: Vec<&NoOpExtended> = inputs.iter().map(Borrow::borrow).collect();
        let shape_error = || SchemeError::BadArgument {
            what: "linear map",
            expected: "non-empty rows of one diagonal an input, at the inputs' plaintext modulus \
                       and level"
                .into(),
            found: "something else".into(),
        };
        let first = inputs.first().ok_or_else(shape_error)?.meta.meta;
        self.check_set(inputs.iter().map(|x| &x.meta.meta))?;
        for d in rows.iter().flatten().flatten() {
            self.params.noise().check_origin_of(Some(d.set), "the diagonal")?;
        }
        inputs.iter().try_for_each(|x| same_parts(&first, &x.meta.meta, "linear map"))?;
        let basis = self.params.chain().basis(first.level);
        let limbs = self.params.chain().extended(first.level).len();
        self.counters.limbs(
            limbs * self.params.components() * (inputs.len() + rows.len()),
            self.params.degree(),
        );
        let entries = rows.iter().flatten().flatten().count();
        self.counters.terms(limbs * self.params.components() * entries, self.params.degree());
        let plain = self.params.plaintext_ring();
        let factor =
            |x: &&NoOpExtended| self.values.then(|| plain.factor(&x.value, first.exponent));
        let factors: Vec<Option<Factor>> = inputs.iter().map(factor).collect();
        rows.iter()
            .map(|row| {
                let fits =
                    |d: &NoOpDiagonal| d.exponent == first.exponent && basis.is_subset(d.basis);
                if row.len() != inputs.len() || row.iter().flatten().any(|d| !fits(d)) {
                    return Err(shape_error());
                }
                let pairs = inputs.iter().zip(row).filter_map(|(x, d)| d.map(|d| (x, d)));
                let meta =
                    ExtendedMeta::combine(pairs.clone().map(|(x, d)| (&x.meta, &*d.profile)))
                        .ok_or_else(shape_error)?;
                let terms = factors
                    .iter()
                    .zip(row)
                    .filter_map(|(x, d)| Some((x.as_ref()?, d.as_ref()?.factor.as_deref()?)));
                let value = match self.values {
                    true => plain.sum_of_products(terms, first.exponent),
                    false => Vec::new(),
                };
                Ok(self.made_extended(meta, value))
            })
            .collect()
    }

    fn galois_sum(
        &self,
        parts: Vec<(GaloisElement, NoOpExtended)>,
        next: NextUse,
    ) -> Result<NoOpCiphertext, SchemeError> {
        let params = &self.params;
        self.check_set(parts.iter().map(|(_, x)| &x.meta.meta))?;
        for (g, x) in &parts {
            params.check_automorphism(*g)?;
            same_parts(&parts[0].1.meta.meta, &x.meta.meta, "linear map")?;
        }
        let shifts = parts.iter().map(|(g, x)| (g.evaluation_shift(params.ring()), &x.meta));
        let sum = ExtendedMeta::sum(shifts).ok_or_else(no_parts)?;
        let switched = parts.iter().filter(|(g, _)| !g.is_identity()).count();
        let meta = params.noise().galois_sum(&sum, switched, next)?;
        let mut value = self.zero();
        for (g, x) in parts {
            self.count_giant(g, sum.meta.level);
            let moved = self.moved(&x.value, g, meta.exponent);
            value = self.pairwise(&value, &moved, meta.exponent, false);
        }
        self.reduce(sum.meta.level, meta.level);
        Ok(self.made(meta, value))
    }

    fn galois_chain(
        &self,
        parts: impl Iterator<Item = Result<(GaloisElement, NoOpExtended), SchemeError>>,
        next: NextUse,
    ) -> Result<NoOpCiphertext, SchemeError> {
        let params = &self.params;
        let mut sum: Option<NoOpExtended> = None;
        let mut switched = 0;
        for part in parts {
            let (g, mut x) = part?;
            self.check_set([&x.meta.meta])?;
            params.check_automorphism(g)?;
            let exponent = x.meta.meta.exponent;
            if let Some(inner) = sum.take() {
                same_parts(&inner.meta.meta, &x.meta.meta, "linear map")?;
                let value = self.pairwise(&x.value, &inner.value, exponent, false);
                // Added in place.
                x = NoOpExtended { meta: x.meta.plus(&inner.meta), value, _held: x._held };
            }
            switched += usize::from(!g.is_identity());
            self.count_giant(g, x.meta.meta.level);
            let value = self.moved(&x.value, g, exponent);
            let shifted = x.meta.shifted(g.evaluation_shift(params.ring()));
            sum = Some(NoOpExtended { meta: shifted, value, _held: x._held });
        }
        let sum = sum.ok_or_else(no_parts)?;
        let meta = params.noise().galois_sum(&sum.meta, switched, next)?;
        self.reduce(sum.meta.meta.level, meta.level);
        Ok(self.made(meta, sum.value))
    }
}
