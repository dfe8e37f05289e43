//! The operations of BGV and BFV.

use std::borrow::Borrow;

use everlevel_ring::{Engine, Eval, GaloisElement, Poly, Rest, RoundingScale, SlotShape, Source};

use super::diagonal::Diagonal;
use super::product::{Product, Tensor};
use crate::ciphertext::Ciphertext;
use crate::evaluator::Evaluator;
use crate::evaluator::linear_maps::Extended;
use crate::keys::EvalKeys;
use crate::message::carried_poly;
use everlevel_scheme::spec::{Form, Level, NextUse};
use everlevel_scheme::{
    AffineForm, Arithmetic, Automorphisms, DiagonalValues, LinearMaps, Plaintext, Scheme,
    SchemeError, SparseForm, same_kind, same_modulus,
};

impl<E: Engine, K: EvalKeys> Scheme for Evaluator<E, K> {
    type Ciphertext = Ciphertext<E>;

    fn slot_shape(&self) -> &SlotShape {
        self.params.slot_shape()
    }

    fn plain_prime(&self) -> u64 {
        self.params.spec().plain_prime
    }

    fn plain_exponent(&self, x: &Ciphertext<E>) -> u32 {
        x.meta.exponent
    }

    fn level(&self, x: &Ciphertext<E>) -> Level {
        x.meta.level
    }

    fn noise_bound_bits(&self, x: &Ciphertext<E>) -> f64 {
        x.meta.noise
    }

    fn noise_estimate_bits(&self, x: &Ciphertext<E>) -> Option<f64> {
        Some(self.params.noise().expected_norm(&x.meta))
    }

    fn capacity_bits(&self, x: &Ciphertext<E>) -> f64 {
        self.params.noise().capacity(&x.meta)
    }

    fn check_params(&self, x: &Ciphertext<E>) -> Result<(), SchemeError> {
        x.check(self.params())?;
        self.check_owner(&x.meta, "evaluation")
    }

    fn form(&self, x: &Ciphertext<E>) -> Form {
        x.meta.form
    }

    fn encode_elements(&self, values: &[u64]) -> Result<Plaintext, SchemeError> {
        Plaintext::encode_elements(&self.params, values)
    }
}

impl<E: Engine, K: EvalKeys> Arithmetic for Evaluator<E, K> {
    type Product = Product<E>;

    fn add(&self, a: &Ciphertext<E>, b: &Ciphertext<E>) -> Result<Ciphertext<E>, SchemeError> {
        self.sum(a, b, false)
    }

    fn sub(&self, a: &Ciphertext<E>, b: &Ciphertext<E>) -> Result<Ciphertext<E>, SchemeError> {
        self.sum(a, b, true)
    }

    fn neg(&self, a: &Ciphertext<E>) -> Result<Ciphertext<E>, SchemeError> {
        self.check_owner(&a.meta, "negation")?;
        let mut out = a.clone().with_meta(a.meta);
        out.each(|c| c.neg_assign(self.engine()));
        Ok(out)
    }

    fn add_plain(&self, a: &Ciphertext<E>, b: &Plaintext) -> Result<Ciphertext<E>, SchemeError> {
        self.check_owner(&a.meta, "addition of a plaintext")?;
        same_modulus(a.meta.exponent, b.exponent(), "addition of a plaintext")?;
        let t = self.params().plaintext_ring().modulus(a.meta.exponent).wide();
        let meta = self.params().noise().add_plain(&a.meta, |model| model.message(t))?;
        let poly = carried_poly(self.params(), self.engine(), b, &a.meta, a.basis())?;
        let mut out = a.clone().with_meta(meta);
        out.components[0].add_assign(self.engine(), &poly);
        Ok(out)
    }

    /// For a plaintext that is used several times, [`Evaluator::prepare_plaintext`] and
    /// [`Evaluator::mul_prepared_plain`].
    fn mul_plain(&self, a: &Ciphertext<E>, b: &Plaintext) -> Result<Ciphertext<E>, SchemeError> {
        self.check_set(&a.meta)?;
        same_modulus(a.meta.exponent, b.exponent(), "multiplication by a plaintext")?;
        self.mul_prepared_plain(a, &self.prepare_plaintext(b, a.meta.level)?)
    }

    fn add_scalar(&self, a: &Ciphertext<E>, k: i64) -> Result<Ciphertext<E>, SchemeError> {
        self.check_owner(&a.meta, "addition of a constant")?;
        self.plus_scalar(a.clone(), k)
    }

    fn mul_scalar(&self, a: &Ciphertext<E>, k: i64) -> Result<Ciphertext<E>, SchemeError> {
        self.check_set(&a.meta)?;
        let t = self.params.plaintext_ring().modulus(a.meta.exponent);
        self.scaled(a, t.centered(t.reduce_i64(k)))
    }

    fn linear_combination(
        &self,
        terms: &[(&Ciphertext<E>, i64)],
        constant: i64,
    ) -> Result<Ciphertext<E>, SchemeError> {
        self.combination(terms, constant)
    }

    fn linear_combinations(
        &self,
        xs: &[&Ciphertext<E>],
        forms: &[AffineForm],
    ) -> Result<Vec<Ciphertext<E>>, SchemeError> {
        forms.iter().try_for_each(|form| form.check(xs.len()))?;
        self.combinations(xs, &forms.iter().map(SparseForm::from).collect::<Vec<_>>())
    }

    fn sparse_combinations(
        &self,
        xs: &[&Ciphertext<E>],
        forms: &[SparseForm],
    ) -> Result<Vec<Ciphertext<E>>, SchemeError> {
        self.combinations(xs, forms)
    }

    fn mul_lazy(&self, a: &Ciphertext<E>, b: &Ciphertext<E>) -> Result<Product<E>, SchemeError> {
        self.check_sets(&a.meta, &b.meta)?;
        self.product(a, b, self.params.noise().product_level(&a.meta, &b.meta))
    }

    fn mul_lazy_aligned(
        &self,
        a: &Ciphertext<E>,
        b: &Ciphertext<E>,
    ) -> Result<Product<E>, SchemeError> {
        self.check_sets(&a.meta, &b.meta)?;
        self.product(a, b, a.meta.level.min(b.meta.level))
    }

    fn sum_of_products(
        &self,
        pairs: &[(&Ciphertext<E>, &Ciphertext<E>)],
    ) -> Result<Product<E>, SchemeError> {
        Ok(self.added_products(&[pairs])?.pop().expect("a sum for each list"))
    }

    fn sums_of_products(
        &self,
        sums: &[&[(&Ciphertext<E>, &Ciphertext<E>)]],
    ) -> Result<Vec<Product<E>>, SchemeError> {
        self.added_products(sums)
    }

    fn add_products(&self, a: &Product<E>, b: &Product<E>) -> Result<Product<E>, SchemeError> {
        self.check_sets(&a.meta, &b.meta)?;
        same_kind(&a.meta, &b.meta, "addition of products")?;
        let (params, engine) = (&self.params, self.engine());
        let low = a.meta.level.min(b.meta.level);
        let align = |x: &Product<E>, k: Option<i64>| -> Result<Product<E>, SchemeError> {
            let mut x = x.clone();
            let t = params.plaintext_ring().modulus(x.meta.exponent);
            if let Some(k) = k {
                x.meta = params.noise().scale(&x.meta, k.unsigned_abs())?;
                x.meta.factor = t.mul(x.meta.factor, t.reduce_i64(k));
                x.tensor.scale_assign(engine, k.into());
            }
            self.product_at(x, low)
        };
        let constant = params.noise().alignment(&a.meta, &b.meta);
        let mut x = align(a, constant.filter(|c| c.0).map(|c| c.1))?;
        let y = align(b, constant.filter(|c| !c.0).map(|c| c.1))?;
        x.meta = params.noise().add(&x.meta, &y.meta)?;
        x.tensor.add_assign(engine, &y.tensor)?;
        Ok(x)
    }

    fn relinearize(&self, a: &Product<E>, next: NextUse) -> Result<Ciphertext<E>, SchemeError> {
        self.check_set(&a.meta)?;
        let t = self.params.noise().divisor(&a.meta);
        let (square, rest) = match &a.tensor {
            Tensor::Eval(d) => {
                let (square, rest) = d.split_last().expect("a product has a component");
                (Source::Eval(square, t), rest.iter().map(Rest::Poly).collect())
            }
            Tensor::Coeff(d) => {
                let (square, rest) = d.split_last().expect("a product has a component");
                (Source::Coeff(square, t), rest.iter().map(Rest::Coefficients).collect())
            }
        };
        self.relinearized(&a.meta, square, rest, 1, next)
    }

    fn mul(
        &self,
        a: &Ciphertext<E>,
        b: &Ciphertext<E>,
        next: NextUse,
    ) -> Result<Ciphertext<E>, SchemeError> {
        if self.params.noise().product_form(a.meta.form) == Form::Bfv {
            return self.relinearize(&self.mul_lazy(a, b)?, next);
        }
        self.check_sets(&a.meta, &b.meta)?;
        let (params, engine) = (&self.params, self.engine());
        let (meta, (a, b)) = self.factors(a, b, params.noise().product_level(&a.meta, &b.meta))?;
        self.counters.limbs(params.tensor_streams() * a.basis().len(), params.degree());
        // A product of BFV ciphertexts in BGV, see `mul_lazy`.
        let scale = meta.form.scale(params.plaintext_ring().modulus(meta.exponent).wide());
        let mut square = a.last().mul(engine, b.last());
        square.scale_assign(engine, scale as i128);
        // d0 and d1 are computed where they are needed, a few words at a time, and are never
        // stored.
        let rest = match (&a.components[..], &b.components[..]) {
            ([a0, a1], [b0, b1]) => {
                vec![Rest::Products(vec![(a0, b0)]), Rest::Products(vec![(a0, b1), (a1, b0)])]
            }
            _ => Vec::new(),
        };
        let square = Source::Eval(&square, params.noise().divisor(&meta));
        self.relinearized(&meta, square, rest, scale, next)
    }

    fn prepare(&self, a: &Ciphertext<E>, next: NextUse) -> Result<Ciphertext<E>, SchemeError> {
        self.check_set(&a.meta)?;
        self.mod_switch_to(a, self.params.noise().target(&a.meta, next))
    }

    fn prepare_together(
        &self,
        xs: &[&Ciphertext<E>],
        next: NextUse,
    ) -> Result<Vec<Ciphertext<E>>, SchemeError> {
        xs.iter().try_for_each(|x| self.check_set(&x.meta))?;
        let level = self.params.noise().common_target(xs.iter().map(|x| &x.meta), next);
        xs.iter().map(|x| self.mod_switch_to(x, level)).collect()
    }

    fn mod_switch_to(&self, a: &Ciphertext<E>, level: Level) -> Result<Ciphertext<E>, SchemeError> {
        self.check_set(&a.meta)?;
        if level > a.meta.level {
            return Err(SchemeError::BadLevel { found: level, highest: a.meta.level });
        }
        if level == a.meta.level {
            return Ok(a.clone());
        }
        self.engine.status()?;
        let params = self.params();
        let noise = params.noise();
        let out = noise.checked(noise.mod_switch(&a.meta, level), "modulus switching")?;
        let t = params.noise().divisor(&a.meta);
        let to = params.chain().basis(level);
        self.counters.rounding(a.components.len(), a.basis(), to, params.degree());
        let scale = RoundingScale::plain_multiple(t);
        let switch = |c: &Poly<Eval, E>| c.divided(self.engine(), to, scale);
        Ok(Ciphertext::new(out, a.components.iter().map(switch).collect()))
    }

    fn mul_monomial(&self, a: &Ciphertext<E>, k: i64) -> Result<Ciphertext<E>, SchemeError> {
        Ok(self.times_monomials(&[(a, k)])?.pop().expect("a product for each"))
    }

    fn mul_monomials(
        &self,
        factors: &[(&Ciphertext<E>, i64)],
    ) -> Result<Vec<Ciphertext<E>>, SchemeError> {
        self.times_monomials(factors)
    }
}

impl<E: Engine, K: EvalKeys> Automorphisms for Evaluator<E, K> {
    fn galois_level(&self, g: GaloisElement, from: Level) -> Option<Level> {
        let chain = self.params.chain();
        let held = |l: &Level| {
            let basis = self.keys.galois_basis(g, chain.gadget_id(*l));
            g.is_identity() || basis.is_some_and(|basis| chain.basis(*l).is_subset(basis))
        };
        (0..=from.min(chain.top()).0).rev().map(Level).find(held)
    }

    fn apply_galois(
        &self,
        a: &Ciphertext<E>,
        g: GaloisElement,
    ) -> Result<Ciphertext<E>, SchemeError> {
        Ok(self.rotated(a, &[g])?.pop().expect("one automorphism, one result"))
    }

    fn apply_galois_many(
        &self,
        a: &Ciphertext<E>,
        gs: &[GaloisElement],
    ) -> Result<Vec<Ciphertext<E>>, SchemeError> {
        self.rotated(a, gs)
    }
}

impl<E: Engine, K: EvalKeys> LinearMaps for Evaluator<E, K> {
    type Extended = Extended<E>;
    type Diagonal = Diagonal<E>;

    fn diagonal(
        &self,
        values: &DiagonalValues,
        e: u32,
        level: Level,
    ) -> Result<Diagonal<E>, SchemeError> {
        self.make_diagonal(values, e, level)
    }

    fn hoist(
        &self,
        x: &Ciphertext<E>,
        gs: &[GaloisElement],
    ) -> Result<Vec<Extended<E>>, SchemeError> {
        Ok(self.hoisted(&[x], gs)?.pop().expect("one ciphertext, its images"))
    }

    fn hoist_each(
        &self,
        xs: &[&Ciphertext<E>],
        gs: &[GaloisElement],
    ) -> Result<Vec<Vec<Extended<E>>>, SchemeError> {
        self.hoisted(xs, gs)
    }

    fn combine(
        &self,
        inputs: &[impl Borrow<Extended<E>> + Sync],
        rows: &[Vec<Option<&Diagonal<E>>>],
    ) -> Result<Vec<Extended<E>>, SchemeError> {
        self.combined(&inputs.iter().map(Borrow::borrow).collect::<Vec<_>>(), rows)
    }

    fn galois_sum(
        &self,
        parts: Vec<(GaloisElement, Extended<E>)>,
        next: NextUse,
    ) -> Result<Ciphertext<E>, SchemeError> {
        Ok(self.summed(vec![parts], next)?.pop().expect("one list of parts, its sum"))
    }

    fn galois_sum_each(
        &self,
        sums: Vec<Vec<(GaloisElement, Extended<E>)>>,
        next: NextUse,
    ) -> Result<Vec<Ciphertext<E>>, SchemeError> {
        self.summed(sums, next)
    }

    fn galois_chain(
        &self,
        parts: impl Iterator<Item = Result<(GaloisElement, Extended<E>), SchemeError>>,
        next: NextUse,
    ) -> Result<Ciphertext<E>, SchemeError> {
        self.chained(parts, next)
    }
}
