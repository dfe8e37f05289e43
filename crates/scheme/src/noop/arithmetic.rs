//! Sums and products of the no-op scheme.

use std::collections::BTreeSet;

use super::{NoOp, NoOpCiphertext};
use crate::checks::{same_kind, same_modulus};
use crate::error::SchemeError;
use crate::noise::Meta;
use crate::ops::Arithmetic;
use crate::plaintext::Plaintext;
use crate::spec::{Form, Level, NextUse};

impl NoOp {
    /// The ciphertext itself where it is low enough, else what takes no memory yet
    /// ([`NoOp::kept`]).
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
        Ok(NoOpCiphertext::passing(meta, a.value.clone()))
    }

    pub(super) fn scaled_meta(&self, m: &Meta, k: i64) -> Result<Meta, SchemeError> {
        let meta = self.params.noise().scale(m, k.unsigned_abs())?;
        let t = self.params.plaintext_ring().modulus(m.exponent);
        Ok(Meta { factor: t.mul(meta.factor, t.reduce_i64(k)), ..meta })
    }

    pub(super) fn aligned(
        &self,
        a: &NoOpCiphertext,
        b: &NoOpCiphertext,
        operation: &'static str,
    ) -> Result<(NoOpCiphertext, NoOpCiphertext), SchemeError> {
        self.check_set([&a.meta, &b.meta])?;
        same_kind(&a.meta, &b.meta, operation)?;
        let (mut a, mut b) = (a.clone(), b.clone());
        if let Some((first, k)) = self.params.noise().alignment(&a.meta, &b.meta) {
            let x = if first { &mut a } else { &mut b };
            x.meta = self.scaled_meta(&x.meta, k)?;
        }
        let low = a.meta.level.min(b.meta.level);
        Ok((self.switch(&a, low)?, self.switch(&b, low)?))
    }

    pub(super) fn pairwise(&self, a: &[u64], b: &[u64], exponent: u32, subtract: bool) -> Vec<u64> {
        let t = self.params.plaintext_ring().modulus(exponent);
        a.iter().zip(b).map(|(&x, &y)| if subtract { t.sub(x, y) } else { t.add(x, y) }).collect()
    }

    pub(super) fn times(&self, a: &[u64], k: i64, exponent: u32) -> Vec<u64> {
        let t = self.params.plaintext_ring().modulus(exponent);
        let k = t.reduce_i64(k);
        a.iter().map(|&x| t.mul(x, k)).collect()
    }

    /// The product at a level, without memory of its own.
    fn product(
        &self,
        a: &NoOpCiphertext,
        b: &NoOpCiphertext,
        level: Level,
    ) -> Result<NoOpCiphertext, SchemeError> {
        self.check_set([&a.meta, &b.meta])?;
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
        Ok(NoOpCiphertext::passing(meta, self.multiplied(&a.value, &b.value, meta.exponent)))
    }

    /// The sum of two products, without memory of its own.
    fn added_products(
        &self,
        a: &NoOpCiphertext,
        b: &NoOpCiphertext,
    ) -> Result<NoOpCiphertext, SchemeError> {
        self.check_set([&a.meta, &b.meta])?;
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
        Ok(NoOpCiphertext::passing(meta, self.pairwise(&a.value, &b.value, meta.exponent, false)))
    }

    pub(super) fn reduce(&self, level: Level, to: Level) {
        let chain = self.params.chain();
        self.count_division(chain.extended(level), chain.basis(to), self.params.components());
    }
}

impl Arithmetic for NoOp {
    type Product = NoOpCiphertext;

    fn add(&self, a: &NoOpCiphertext, b: &NoOpCiphertext) -> Result<NoOpCiphertext, SchemeError> {
        let (a, b) = self.aligned(a, b, "addition")?;
        let meta = self.params.noise().add(&a.meta, &b.meta)?;
        Ok(self.made(meta, self.pairwise(&a.value, &b.value, meta.exponent, false)))
    }

    fn sub(&self, a: &NoOpCiphertext, b: &NoOpCiphertext) -> Result<NoOpCiphertext, SchemeError> {
        let (a, b) = self.aligned(a, b, "subtraction")?;
        let meta = self.params.noise().add(&a.meta, &b.meta)?;
        Ok(self.made(meta, self.pairwise(&a.value, &b.value, meta.exponent, true)))
    }

    fn neg(&self, a: &NoOpCiphertext) -> Result<NoOpCiphertext, SchemeError> {
        self.check_set([&a.meta])?;
        Ok(self.made(a.meta, self.times(&a.value, -1, a.meta.exponent)))
    }

    fn add_plain(&self, a: &NoOpCiphertext, b: &Plaintext) -> Result<NoOpCiphertext, SchemeError> {
        self.check_set([&a.meta])?;
        same_modulus(a.meta.exponent, b.exponent, "addition of a plaintext")?;
        let t = self.params.plaintext_ring().modulus(a.meta.exponent);
        b.check(&self.params)?;
        let meta = self.params.noise().add_plain(&a.meta, |model| model.message(t.wide()))?;
        Ok(self.made(meta, self.pairwise(&a.value, &b.coefficients, meta.exponent, false)))
    }

    fn mul_plain(&self, a: &NoOpCiphertext, b: &Plaintext) -> Result<NoOpCiphertext, SchemeError> {
        self.check_set([&a.meta])?;
        same_modulus(a.meta.exponent, b.exponent, "multiplication by a plaintext")?;
        let params = &self.params;
        b.check(params)?;
        let (norm, average) = (b.norm_bits(params), b.root_mean_square_bits(params));
        let meta = params.noise().mul_plain(&a.meta, norm, average)?;
        self.counters.transforms(params.chain().basis(a.meta.level).len());
        Ok(self.made(meta, self.multiplied(&a.value, &b.coefficients, meta.exponent)))
    }

    fn add_scalar(&self, a: &NoOpCiphertext, k: i64) -> Result<NoOpCiphertext, SchemeError> {
        self.check_set([&a.meta])?;
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
        Ok(self.made(meta, self.pairwise(&a.value, &constant, meta.exponent, false)))
    }

    fn mul_scalar(&self, a: &NoOpCiphertext, k: i64) -> Result<NoOpCiphertext, SchemeError> {
        self.check_set([&a.meta])?;
        let t = self.params.plaintext_ring().modulus(a.meta.exponent);
        let meta =
            self.params.noise().scale(&a.meta, t.centered(t.reduce_i64(k)).unsigned_abs())?;
        Ok(self.made(meta, self.times(&a.value, k, a.meta.exponent)))
    }

    fn linear_combination(
        &self,
        terms: &[(&NoOpCiphertext, i64)],
        constant: i64,
    ) -> Result<NoOpCiphertext, SchemeError> {
        let noise = self.params.noise();
        let metas: Vec<&Meta> = terms.iter().map(|(c, _)| &c.meta).collect();
        self.check_set(metas.iter().copied())?;
        metas.iter().try_for_each(|m| same_kind(metas[0], m, "linear combination"))?;
        let mut sum: Option<NoOpCiphertext> = None;
        for term in noise.combination(&metas)? {
            let (x, k) = terms[term.position];
            let limbs = self.params.chain().basis(x.meta.level).len();
            self.counters.scaled(self.params.components() * limbs, self.params.degree());
            let above = sum.map(|sum| self.switch(&sum, x.meta.level)).transpose()?;
            let next = [(&term, &x.meta, term.constant(k))];
            let meta = noise.combined(above.as_ref().map(|above| above.meta), next)?;
            let value = self.times(&x.value, k, meta.exponent);
            let value = match above {
                None => value,
                Some(above) => self.pairwise(&above.value, &value, meta.exponent, false),
            };
            sum = Some(NoOpCiphertext::passing(meta, value));
        }
        self.add_scalar(&sum.expect("a combination has a term"), constant)
    }

    fn mul_lazy(
        &self,
        a: &NoOpCiphertext,
        b: &NoOpCiphertext,
    ) -> Result<NoOpCiphertext, SchemeError> {
        self.check_set([&a.meta, &b.meta])?;
        let level = self.params.noise().product_level(&a.meta, &b.meta);
        Ok(self.kept_product(self.product(a, b, level)?))
    }

    fn mul_lazy_aligned(
        &self,
        a: &NoOpCiphertext,
        b: &NoOpCiphertext,
    ) -> Result<NoOpCiphertext, SchemeError> {
        Ok(self.kept_product(self.product(a, b, a.meta.level.min(b.meta.level))?))
    }

    /// With memory for the sum alone: the real scheme adds up products before reduction.
    fn sum_of_products(
        &self,
        pairs: &[(&NoOpCiphertext, &NoOpCiphertext)],
    ) -> Result<NoOpCiphertext, SchemeError> {
        let lowest = pairs.iter().flat_map(|(x, y)| [x.meta.level, y.meta.level]).min();
        let lowest = lowest.ok_or_else(|| SchemeError::BadArgument {
            what: "sum of products",
            expected: "at least one pair".into(),
            found: "none".into(),
        })?;
        let lowered = |x: &NoOpCiphertext| {
            self.check_set([&x.meta])?;
            self.switch(x, lowest)
        };
        let product = |x: &NoOpCiphertext, y: &NoOpCiphertext| {
            self.product(&lowered(x)?, &lowered(y)?, lowest)
        };
        let mut sum = product(pairs[0].0, pairs[0].1)?;
        for (x, y) in &pairs[1..] {
            sum = self.added_products(&sum, &product(x, y)?)?;
        }
        Ok(self.kept_product(sum))
    }

    fn add_products(
        &self,
        a: &NoOpCiphertext,
        b: &NoOpCiphertext,
    ) -> Result<NoOpCiphertext, SchemeError> {
        Ok(self.kept_product(self.added_products(a, b)?))
    }

    fn relinearize(
        &self,
        a: &NoOpCiphertext,
        next: NextUse,
    ) -> Result<NoOpCiphertext, SchemeError> {
        self.check_set([&a.meta])?;
        self.still_wanted()?;
        let id = self.relin_gadget(a.meta.level)?;
        let (params, chain) = (&self.params, self.params.chain());
        let (basis, gadget) = (chain.basis(a.meta.level), &chain.gadgets()[id.0]);
        let meta = params.noise().checked(
            params.noise().reduce(&params.noise().key_switch_by(&a.meta, gadget), next),
            "relinearization",
        )?;
        self.use_key(|plan| plan.add_relin_by(params, id, a.meta.level));
        // BFV's products are in coefficients, so their digits modulo the digits' own primes have to
        // be computed.
        let known = params.noise().product_form(a.meta.form) == Form::Bgv;
        if known {
            self.counters.transforms(basis.len());
        }
        self.count_decomposition_by(gadget, basis, known);
        self.counters.relinearization();
        self.count_key_switch_by(gadget, basis, 1);
        let (from, to) = (basis.union(gadget.special()), chain.basis(meta.level));
        self.count_division(from, to, params.components());
        Ok(self.made(meta, a.value.clone()))
    }

    fn prepare(&self, a: &NoOpCiphertext, next: NextUse) -> Result<NoOpCiphertext, SchemeError> {
        self.check_set([&a.meta])?;
        Ok(self.kept(self.switch(a, self.params.noise().target(&a.meta, next))?))
    }

    fn prepare_together(
        &self,
        xs: &[&NoOpCiphertext],
        next: NextUse,
    ) -> Result<Vec<NoOpCiphertext>, SchemeError> {
        self.check_set(xs.iter().map(|x| &x.meta))?;
        let level = self.params.noise().common_target(xs.iter().map(|x| &x.meta), next);
        xs.iter().map(|x| Ok(self.kept(self.switch(x, level)?))).collect()
    }

    fn mod_switch_to(
        &self,
        a: &NoOpCiphertext,
        level: Level,
    ) -> Result<NoOpCiphertext, SchemeError> {
        self.check_set([&a.meta])?;
        if level > a.meta.level {
            return Err(SchemeError::BadLevel { found: level, highest: a.meta.level });
        }
        Ok(self.kept(self.switch(a, level)?))
    }

    fn mul_monomial(&self, a: &NoOpCiphertext, k: i64) -> Result<NoOpCiphertext, SchemeError> {
        Ok(self.mul_monomials(&[(a, k)])?.pop().expect("a product for each"))
    }

    fn mul_monomials(
        &self,
        factors: &[(&NoOpCiphertext, i64)],
    ) -> Result<Vec<NoOpCiphertext>, SchemeError> {
        self.check_set(factors.iter().map(|(a, _)| &a.meta))?;
        let mut transformed = BTreeSet::new();
        let product = |(a, k): &(&NoOpCiphertext, i64)| {
            self.params.check_monomial(*k)?;
            let limbs = self.params.chain().basis(a.meta.level).len();
            if transformed.insert((a.meta.level, *k)) {
                self.counters.transforms(limbs);
            }
            self.counters.limbs(2 * self.params.components() * limbs, self.params.degree());
            let value = if a.value.is_empty() {
                Vec::new()
            } else {
                self.params.plaintext_ring().mul_monomial(&a.value, *k, a.meta.exponent)
            };
            Ok(self.made(a.meta, value))
        };
        factors.iter().map(product).collect()
    }
}
