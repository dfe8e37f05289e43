//! The verb set of the no-op scheme.

use std::borrow::Borrow;

use everlevel_ring::{GaloisElement, SlotShape};

use super::{NoOp, NoOpCiphertext, OpenDiagonal, OpenExtended};
use crate::checks::{no_parts, same_kind, same_modulus};
use crate::diagonal::diagonal_plaintext;
use crate::error::SchemeError;
use crate::noise::{ExtendedMeta, Meta};
use crate::ops::{DiagonalValues, Scheme};
use crate::plaintext::{Plaintext, message_coefficients};
use crate::spec::{Form, Level, NextUse};

impl NoOp {
    pub(super) fn switch(
        &self,
        a: &NoOpCiphertext,
        level: Level,
    ) -> Result<NoOpCiphertext, SchemeError> {
        if level >= a.meta.level {
            return Ok(a.clone());
        }
        let params = &self.params;
        let meta = params
            .noise()
            .checked(params.noise().mod_switch(&a.meta, level), "modulus switching")?;
        self.count_division(
            params.chain().basis(a.meta.level),
            params.chain().basis(level),
            params.components(),
        );
        Ok(NoOpCiphertext { meta, value: a.value.clone() })
    }

    fn scaled_meta(&self, m: &Meta, k: i64) -> Result<Meta, SchemeError> {
        let meta = self.params.noise().scale(m, k.unsigned_abs())?;
        let t = self.params.plaintext_ring().modulus(m.exponent);
        Ok(Meta { factor: t.mul(meta.factor, t.reduce_i64(k)), ..meta })
    }

    fn aligned(
        &self,
        a: &NoOpCiphertext,
        b: &NoOpCiphertext,
        operation: &'static str,
    ) -> Result<(NoOpCiphertext, NoOpCiphertext), SchemeError> {
        same_kind(&a.meta, &b.meta, operation)?;
        let (mut a, mut b) = (a.clone(), b.clone());
        if let Some((first, k)) = self.params.noise().alignment(&a.meta, &b.meta) {
            let x = if first { &mut a } else { &mut b };
            x.meta = self.scaled_meta(&x.meta, k)?;
        }
        let low = a.meta.level.min(b.meta.level);
        Ok((self.switch(&a, low)?, self.switch(&b, low)?))
    }

    fn pairwise(&self, a: &[u64], b: &[u64], exponent: u32, subtract: bool) -> Vec<u64> {
        let t = self.params.plaintext_ring().modulus(exponent);
        a.iter().zip(b).map(|(&x, &y)| if subtract { t.sub(x, y) } else { t.add(x, y) }).collect()
    }

    fn times(&self, a: &[u64], k: i64, exponent: u32) -> Vec<u64> {
        let t = self.params.plaintext_ring().modulus(exponent);
        let k = t.reduce_i64(k);
        a.iter().map(|&x| t.mul(x, k)).collect()
    }

    /// The product at a level.
    fn product(
        &self,
        a: &NoOpCiphertext,
        b: &NoOpCiphertext,
        level: Level,
    ) -> Result<NoOpCiphertext, SchemeError> {
        same_kind(&a.meta, &b.meta, "multiplication")?;
        let (a, b) = (self.switch(a, level)?, self.switch(b, level)?);
        let meta = self.params.noise().product(&a.meta, &b.meta)?;
        self.counters.product();
        let chain = self.params.chain();
        let (basis, auxiliary) = (chain.basis(level), chain.auxiliary(level));
        if self.params.noise().product_form(meta.form) == Form::Bfv {
            // The components of both are lifted and transformed, the product's divided by q.
            self.counters
                .transforms(self.params.tensor_streams() * (basis.len() + auxiliary.len()));
            let products = 2 * self.params.components() - 1;
            self.counters.rounding(
                products,
                basis.union(auxiliary),
                auxiliary,
                self.params.degree(),
            );
        }
        self.counters.limbs(
            self.params.tensor_streams() * basis.union(auxiliary).len(),
            self.params.degree(),
        );
        Ok(NoOpCiphertext { meta, value: self.multiplied(&a.value, &b.value, meta.exponent) })
    }

    fn reduce(&self, level: Level, to: Level) {
        let chain = self.params.chain();
        self.count_division(chain.extended(level), chain.basis(to), self.params.components());
    }
}

impl Scheme for NoOp {
    type Ciphertext = NoOpCiphertext;
    type Product = NoOpCiphertext;
    type Extended = OpenExtended;
    type Diagonal = OpenDiagonal;

    fn slot_shape(&self) -> &SlotShape {
        self.params.slot_shape()
    }

    fn plain_prime(&self) -> u64 {
        self.params.spec().plain_prime
    }

    fn plain_exponent(&self, x: &NoOpCiphertext) -> u32 {
        x.meta.exponent
    }

    fn level(&self, x: &NoOpCiphertext) -> Level {
        x.meta.level
    }

    fn noise_bound_bits(&self, x: &NoOpCiphertext) -> f64 {
        x.meta.noise
    }

    fn noise_estimate_bits(&self, x: &NoOpCiphertext) -> Option<f64> {
        Some(self.params.noise().expected_norm(&x.meta))
    }

    fn capacity_bits(&self, x: &NoOpCiphertext) -> f64 {
        self.params.noise().capacity(&x.meta)
    }

    fn check_params(&self, x: &NoOpCiphertext) -> Result<(), SchemeError> {
        self.params.noise().check_meta(&x.meta)?;
        let wrong = || SchemeError::WrongParams {
            object: "the ciphertext",
            name: self.params.name().into(),
        };
        (x.value.is_empty() || x.value.len() == self.params.degree())
            .then_some(())
            .ok_or_else(wrong)
    }

    fn form(&self, x: &NoOpCiphertext) -> Form {
        x.meta.form
    }

    fn convert(&self, a: &NoOpCiphertext, form: Form) -> NoOpCiphertext {
        NoOpCiphertext { meta: Meta { form, ..a.meta }, value: a.value.clone() }
    }

    fn add(&self, a: &NoOpCiphertext, b: &NoOpCiphertext) -> Result<NoOpCiphertext, SchemeError> {
        let (a, b) = self.aligned(a, b, "addition")?;
        let meta = self.params.noise().add(&a.meta, &b.meta)?;
        Ok(NoOpCiphertext { meta, value: self.pairwise(&a.value, &b.value, meta.exponent, false) })
    }

    fn sub(&self, a: &NoOpCiphertext, b: &NoOpCiphertext) -> Result<NoOpCiphertext, SchemeError> {
        let (a, b) = self.aligned(a, b, "subtraction")?;
        let meta = self.params.noise().add(&a.meta, &b.meta)?;
        Ok(NoOpCiphertext { meta, value: self.pairwise(&a.value, &b.value, meta.exponent, true) })
    }

    fn neg(&self, a: &NoOpCiphertext) -> Result<NoOpCiphertext, SchemeError> {
        Ok(NoOpCiphertext { meta: a.meta, value: self.times(&a.value, -1, a.meta.exponent) })
    }

    fn encode_elements(&self, values: &[u64]) -> Result<Plaintext, SchemeError> {
        Plaintext::encode_elements(&self.params, values)
    }

    fn add_plain(&self, a: &NoOpCiphertext, b: &Plaintext) -> Result<NoOpCiphertext, SchemeError> {
        same_modulus(a.meta.exponent, b.exponent, "addition of a plaintext")?;
        let t = self.params.plaintext_ring().modulus(a.meta.exponent);
        message_coefficients(&self.params, b)?;
        let meta = self.params.noise().add_plain(&a.meta, |model| model.message(t.value()))?;
        Ok(NoOpCiphertext {
            meta,
            value: self.pairwise(&a.value, &b.coefficients, meta.exponent, false),
        })
    }

    fn add_scalar(&self, a: &NoOpCiphertext, k: i64) -> Result<NoOpCiphertext, SchemeError> {
        let t = self.params.plaintext_ring().modulus(a.meta.exponent);
        let carried = t.centered(t.mul(t.reduce_i64(k), a.meta.factor));
        let meta = self
            .params
            .noise()
            .add_plain(&a.meta, |_| (carried.unsigned_abs().max(1) as f64).log2())?;
        let constant = if self.values {
            self.params.plaintext_ring().constant(t.reduce_i64(k), meta.exponent)
        } else {
            Vec::new()
        };
        Ok(NoOpCiphertext { meta, value: self.pairwise(&a.value, &constant, meta.exponent, false) })
    }

    fn mul_scalar(&self, a: &NoOpCiphertext, k: i64) -> Result<NoOpCiphertext, SchemeError> {
        let t = self.params.plaintext_ring().modulus(a.meta.exponent);
        let meta =
            self.params.noise().scale(&a.meta, t.centered(t.reduce_i64(k)).unsigned_abs())?;
        Ok(NoOpCiphertext { meta, value: self.times(&a.value, k, a.meta.exponent) })
    }

    fn linear_combination(
        &self,
        terms: &[(&NoOpCiphertext, i64)],
        constant: i64,
    ) -> Result<NoOpCiphertext, SchemeError> {
        let params = &self.params;
        let metas: Vec<(&Meta, i64)> = terms.iter().map(|(c, k)| (&c.meta, *k)).collect();
        let mut sum: Option<NoOpCiphertext> = None;
        for (i, k, factor) in params.noise().combination(&metas)? {
            let x = terms[i].0;
            let meta = Meta { factor, ..params.noise().scale(&x.meta, k.unsigned_abs())? };
            let value = self.times(&x.value, terms[i].1, meta.exponent);
            sum = Some(match sum.take() {
                None => NoOpCiphertext { meta, value },
                Some(above) => {
                    let s = self.switch(&above, x.meta.level)?;
                    let meta = params.noise().add(&s.meta, &meta)?;
                    NoOpCiphertext {
                        meta,
                        value: self.pairwise(&s.value, &value, meta.exponent, false),
                    }
                }
            });
        }
        self.add_scalar(&sum.expect("a combination has a term"), constant)
    }

    fn mul_lazy(
        &self,
        a: &NoOpCiphertext,
        b: &NoOpCiphertext,
    ) -> Result<NoOpCiphertext, SchemeError> {
        self.product(a, b, self.params.noise().product_level(&a.meta, &b.meta))
    }

    fn mul_lazy_aligned(
        &self,
        a: &NoOpCiphertext,
        b: &NoOpCiphertext,
    ) -> Result<NoOpCiphertext, SchemeError> {
        self.product(a, b, a.meta.level.min(b.meta.level))
    }

    fn add_products(
        &self,
        a: &NoOpCiphertext,
        b: &NoOpCiphertext,
    ) -> Result<NoOpCiphertext, SchemeError> {
        same_kind(&a.meta, &b.meta, "addition of products")?;
        let params = &self.params;
        let low = a.meta.level.min(b.meta.level);
        let align = |m: &Meta, k: Option<i64>| -> Result<Meta, SchemeError> {
            let mut m = match k {
                Some(k) => self.scaled_meta(m, k)?,
                None => *m,
            };
            if m.level > low {
                self.count_division(
                    params.chain().basis(m.level),
                    params.chain().basis(low),
                    2 * params.components() - 1,
                );
                let switched = params.noise().mod_switch(&m, low);
                m = params
                    .noise()
                    .checked(params.noise().round_square(&switched), "addition of products")?;
            }
            Ok(m)
        };
        let constant = params.noise().alignment(&a.meta, &b.meta);
        let x = align(&a.meta, constant.filter(|c| c.0).map(|c| c.1))?;
        let y = align(&b.meta, constant.filter(|c| !c.0).map(|c| c.1))?;
        let meta = params.noise().add(&x, &y)?;
        Ok(NoOpCiphertext { meta, value: self.pairwise(&a.value, &b.value, meta.exponent, false) })
    }

    fn relinearize(
        &self,
        a: &NoOpCiphertext,
        next: NextUse,
    ) -> Result<NoOpCiphertext, SchemeError> {
        let params = &self.params;
        let basis = params.chain().basis(a.meta.level);
        let meta = params.noise().checked(
            params.noise().reduce(&params.noise().key_switch(&a.meta), next),
            "relinearization",
        )?;
        self.use_key(|plan| plan.add_relin(params, a.meta.level));
        // BFV's products are coefficients, so nothing is known of their digits modulo the digits'
        // own primes.
        let known = params.noise().product_form(a.meta.form) == Form::Bgv;
        if known {
            self.counters.transforms(basis.len());
        }
        self.count_decomposition(a.meta.level, known);
        self.counters.relinearization();
        self.count_key_switch(a.meta.level, 1);
        self.reduce(a.meta.level, meta.level);
        Ok(NoOpCiphertext { meta, value: a.value.clone() })
    }

    fn prepare(&self, a: &NoOpCiphertext, next: NextUse) -> Result<NoOpCiphertext, SchemeError> {
        self.switch(a, self.params.noise().target(&a.meta, next))
    }

    fn prepare_together(
        &self,
        xs: &[&NoOpCiphertext],
        next: NextUse,
    ) -> Result<Vec<NoOpCiphertext>, SchemeError> {
        let level = self.params.noise().common_target(xs.iter().map(|x| &x.meta), next);
        xs.iter().map(|x| self.switch(x, level)).collect()
    }

    fn mod_switch_to(
        &self,
        a: &NoOpCiphertext,
        level: Level,
    ) -> Result<NoOpCiphertext, SchemeError> {
        if level > a.meta.level {
            return Err(SchemeError::BadLevel { found: level, highest: a.meta.level });
        }
        self.switch(a, level)
    }

    fn reduce_plain_modulus(
        &self,
        a: &NoOpCiphertext,
        k: u32,
    ) -> Result<NoOpCiphertext, SchemeError> {
        let meta = self.params.noise().reduce_plain_modulus(&a.meta, k)?;
        let t = self.params.plaintext_ring().modulus(k);
        Ok(NoOpCiphertext { meta, value: a.value.iter().map(|&x| t.reduce_u64(x)).collect() })
    }

    fn extend_plain_modulus(
        &self,
        a: &NoOpCiphertext,
        e: u32,
    ) -> Result<NoOpCiphertext, SchemeError> {
        let meta = self.params.noise().extend_plain_modulus(&a.meta, e)?;
        let step = self.params.plaintext_ring().modulus(a.meta.exponent).value();
        // The real scheme's ε is not known here: any polynomial takes its place.
        let garbage = self
            .pretend_garbage(self.params.plaintext_ring().modulus(meta.exponent).value() / step);
        Ok(NoOpCiphertext {
            meta,
            value: a.value.iter().zip(garbage).map(|(&x, g)| x + step * g).collect(),
        })
    }

    fn divide_by_p(&self, a: &NoOpCiphertext) -> Result<NoOpCiphertext, SchemeError> {
        let p = self.plain_prime();
        let meta = self.params.noise().divide_by_p(&a.meta)?;
        if let Some(position) = a.value.iter().position(|&x| x % p != 0) {
            return Err(SchemeError::BadArgument {
                what: "division by p",
                expected: "a plaintext that is a multiple of p".into(),
                found: format!("coefficient {} at position {position}", a.value[position]),
            });
        }
        Ok(NoOpCiphertext { meta, value: a.value.iter().map(|&x| x / p).collect() })
    }

    fn multiply_by_p(&self, a: &NoOpCiphertext) -> Result<NoOpCiphertext, SchemeError> {
        let p = self.plain_prime();
        let meta = self.params.noise().multiply_by_p(&a.meta)?;
        Ok(NoOpCiphertext { meta, value: a.value.iter().map(|&x| x * p).collect() })
    }

    fn mul_monomial(&self, a: &NoOpCiphertext, k: i64) -> Result<NoOpCiphertext, SchemeError> {
        let limbs = self.params.chain().basis(a.meta.level).len();
        self.counters.transforms(limbs);
        self.counters.limbs(2 * self.params.components() * limbs, self.params.degree());
        let value = if a.value.is_empty() {
            Vec::new()
        } else {
            self.params.plaintext_ring().mul_monomial(&a.value, k, a.meta.exponent)
        };
        Ok(NoOpCiphertext { meta: a.meta, value })
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
        let finish = |(x, g): (OpenExtended, &GaloisElement)| {
            if g.is_identity() {
                return Ok(a.clone());
            }
            let meta = self
                .params
                .noise()
                .checked(self.params.noise().reduce(&x.meta.meta, NextUse::Keep), "automorphism")?;
            self.reduce(a.meta.level, meta.level);
            Ok(NoOpCiphertext { meta, value: x.value })
        };
        self.hoist(a, gs)?.into_iter().zip(gs).map(finish).collect()
    }

    fn diagonal(
        &self,
        values: &DiagonalValues,
        e: u32,
        level: Level,
    ) -> Result<OpenDiagonal, SchemeError> {
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
        Ok(OpenDiagonal { exponent: e, basis: self.params.chain().basis(level), profile, value })
    }

    fn hoist(
        &self,
        x: &NoOpCiphertext,
        gs: &[GaloisElement],
    ) -> Result<Vec<OpenExtended>, SchemeError> {
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
                OpenExtended {
                    meta: ExtendedMeta::flat(meta),
                    value: self.params.plaintext_ring().galois(&x.value, g, x.meta.exponent),
                }
            })
            .collect())
    }

    fn combine(
        &self,
        inputs: &[impl Borrow<OpenExtended> + Sync],
        rows: &[Vec<Option<&OpenDiagonal>>],
    ) -> Result<Vec<OpenExtended>, SchemeError> {
        let inputs: Vec<&OpenExtended> = inputs.iter().map(Borrow::borrow).collect();
        let shape_error = || SchemeError::BadArgument {
            what: "linear map",
            expected: "non-empty rows of one diagonal an input, at the inputs' plaintext modulus \
                       and level"
                .into(),
            found: "something else".into(),
        };
        let first = inputs.first().ok_or_else(shape_error)?.meta.meta;
        let basis = self.params.chain().basis(first.level);
        let limbs = self.params.chain().extended(first.level).len();
        self.counters.limbs(
            limbs * self.params.components() * (inputs.len() + rows.len()),
            self.params.degree(),
        );
        rows.iter()
            .map(|row| {
                let fits =
                    |d: &OpenDiagonal| d.exponent == first.exponent && basis.is_subset(d.basis);
                if row.len() != inputs.len() || row.iter().flatten().any(|d| !fits(d)) {
                    return Err(shape_error());
                }
                let pairs = inputs.iter().zip(row).filter_map(|(x, d)| d.map(|d| (x, d)));
                let meta =
                    ExtendedMeta::combine(pairs.clone().map(|(x, d)| (&x.meta, &d.profile[..])))
                        .ok_or_else(shape_error)?;
                let mut value = self.zero();
                for (x, d) in pairs {
                    let product = self.multiplied(&x.value, &d.value, first.exponent);
                    value = self.pairwise(&value, &product, first.exponent, false);
                }
                Ok(OpenExtended { meta, value })
            })
            .collect()
    }

    fn galois_sum(
        &self,
        parts: Vec<(GaloisElement, OpenExtended)>,
        next: NextUse,
    ) -> Result<NoOpCiphertext, SchemeError> {
        let params = &self.params;
        let shifts = parts.iter().map(|(g, x)| (g.evaluation_shift(params.ring()), &x.meta));
        let sum = ExtendedMeta::sum(shifts).ok_or_else(no_parts)?;
        let switched = parts.iter().filter(|(g, _)| !g.is_identity()).count();
        let meta = params.noise().galois_sum(&sum, switched, next)?;
        let mut value = self.zero();
        for (g, x) in parts {
            self.count_giant(g, sum.meta.level);
            value = self.pairwise(
                &value,
                &params.plaintext_ring().galois(&x.value, g, meta.exponent),
                meta.exponent,
                false,
            );
        }
        self.reduce(sum.meta.level, meta.level);
        Ok(NoOpCiphertext { meta, value })
    }

    fn galois_chain(
        &self,
        parts: impl Iterator<Item = Result<(GaloisElement, OpenExtended), SchemeError>>,
        next: NextUse,
    ) -> Result<NoOpCiphertext, SchemeError> {
        let params = &self.params;
        let mut sum: Option<OpenExtended> = None;
        let mut switched = 0;
        for part in parts {
            let (g, mut x) = part?;
            let exponent = x.meta.meta.exponent;
            if let Some(inner) = sum.take() {
                let value = self.pairwise(&x.value, &inner.value, exponent, false);
                x = OpenExtended { meta: x.meta.plus(&inner.meta), value };
            }
            switched += usize::from(!g.is_identity());
            self.count_giant(g, x.meta.meta.level);
            let value = params.plaintext_ring().galois(&x.value, g, exponent);
            sum = Some(OpenExtended {
                meta: x.meta.shifted(g.evaluation_shift(params.ring())),
                value,
            });
        }
        let sum = sum.ok_or_else(no_parts)?;
        let meta = params.noise().galois_sum(&sum.meta, switched, next)?;
        self.reduce(sum.meta.meta.level, meta.level);
        Ok(NoOpCiphertext { meta, value: sum.value })
    }
}
