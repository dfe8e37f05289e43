//! The verb set of BGV and BFV.

use std::borrow::Borrow;
use std::ops::Range;

use everlevel_arith::{Modulus, kernels};
use everlevel_ring::{
    Coeff, Eval, GaloisElement, Limb, Poly, SlotShape,
    convert::{RoundingScale, divide_round},
};

use super::diagonal::Diagonal;
use super::product::{Product, Tensor};
use super::relinearize::Square;
use crate::ciphertext::Ciphertext;
use crate::evaluator::Evaluator;
use crate::evaluator::linear_maps::Extended;
use crate::keys::EvalKeys;
use crate::message::{carried_coefficients, divide};
use everlevel_scheme::Plaintext;
use everlevel_scheme::SchemeError;
use everlevel_scheme::noise::Meta;
use everlevel_scheme::spec::{Form, Level, NextUse};
use everlevel_scheme::{DiagonalValues, Scheme};
use everlevel_scheme::{same_kind, same_modulus, same_owner};

impl<K: EvalKeys> Scheme for Evaluator<K> {
    type Ciphertext = Ciphertext;
    type Product = Product;
    type Extended = Extended;
    type Diagonal = Diagonal;

    fn slot_shape(&self) -> &SlotShape {
        self.params.slot_shape()
    }

    fn plain_prime(&self) -> u64 {
        self.params.spec().plain_prime
    }

    fn plain_exponent(&self, x: &Ciphertext) -> u32 {
        x.meta.exponent
    }

    fn level(&self, x: &Ciphertext) -> Level {
        x.meta.level
    }

    fn noise_bound_bits(&self, x: &Ciphertext) -> f64 {
        x.meta.noise
    }

    fn noise_estimate_bits(&self, x: &Ciphertext) -> Option<f64> {
        Some(self.params.noise().expected_norm(&x.meta))
    }

    fn capacity_bits(&self, x: &Ciphertext) -> f64 {
        self.params.noise().capacity(&x.meta)
    }

    fn check_params(&self, x: &Ciphertext) -> Result<(), SchemeError> {
        x.check(self.params())?;
        self.check_owner(&x.meta, "evaluation")
    }

    fn form(&self, x: &Ciphertext) -> Form {
        x.meta.form
    }

    fn convert(&self, a: &Ciphertext, form: Form) -> Ciphertext {
        // One multiplication by t or 1/t modulo q.
        let ring = self.params.ring();
        let t = self.params.plaintext_ring().modulus(a.meta.exponent).value();
        let mut out = a.clone().with_meta(Meta { form, ..a.meta });
        out.each(|c| match (a.meta.form, form) {
            (Form::Bgv, Form::Bfv) => divide(ring, c, t),
            (Form::Bfv, Form::Bgv) => c.scale_assign(ring, t as i128),
            _ => {}
        });
        out
    }

    fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.sum(a, b, false)
    }

    fn sub(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.sum(a, b, true)
    }

    fn neg(&self, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.check_owner(&a.meta, "negation")?;
        let mut out = a.clone().with_meta(a.meta);
        out.each(|c| c.neg_assign(self.params.ring()));
        Ok(out)
    }

    fn encode_elements(&self, values: &[u64]) -> Result<Plaintext, SchemeError> {
        Plaintext::encode_elements(&self.params, values)
    }

    fn add_plain(&self, a: &Ciphertext, b: &Plaintext) -> Result<Ciphertext, SchemeError> {
        self.check_owner(&a.meta, "addition of a plaintext")?;
        same_modulus(a.meta.exponent, b.exponent(), "addition of a plaintext")?;
        let params = self.params();
        let t = params.plaintext_ring().modulus(a.meta.exponent);
        let carried = carried_coefficients(params, b, &a.meta)?;
        let mut poly =
            Poly::<Coeff>::from_signed(params.ring(), a.basis(), &carried).into_eval(params.ring());
        divide(params.ring(), &mut poly, a.meta.form.scale(t.value()));
        let meta = params.noise().add_plain(&a.meta, |model| model.message(t.value()))?;
        let mut out = a.clone().with_meta(meta);
        out.components[0].add_assign(params.ring(), &poly);
        Ok(out)
    }

    fn add_scalar(&self, a: &Ciphertext, k: i64) -> Result<Ciphertext, SchemeError> {
        self.check_owner(&a.meta, "addition of a constant")?;
        let t = self.params.plaintext_ring().modulus(a.meta.exponent);
        let constant = t.centered(t.mul(t.reduce_i64(k), a.meta.factor));
        let meta = self
            .params
            .noise()
            .add_plain(&a.meta, |_| (constant.unsigned_abs().max(1) as f64).log2())?;
        let mut out = a.clone().with_meta(meta);
        let (ring, scale) = (self.params.ring(), a.meta.form.scale(t.value()));
        out.components[0].for_each(|i, limb| {
            let q = ring.modulus(i);
            let c = q.mul(q.reduce_i64(constant), ring.inverse_of(scale, i));
            limb.iter_mut().for_each(|x| *x = q.add(*x, c));
        });
        Ok(out)
    }

    fn mul_scalar(&self, a: &Ciphertext, k: i64) -> Result<Ciphertext, SchemeError> {
        let t = self.params.plaintext_ring().modulus(a.meta.exponent);
        self.scaled(a, t.centered(t.reduce_i64(k)))
    }

    fn linear_combination(
        &self,
        terms: &[(&Ciphertext, i64)],
        constant: i64,
    ) -> Result<Ciphertext, SchemeError> {
        let params = &self.params;
        for (c, _) in terms {
            same_owner(terms[0].0.meta.owner, c.meta.owner, "linear combination")?;
        }
        let metas: Vec<(&Meta, i64)> = terms.iter().map(|(c, k)| (&c.meta, *k)).collect();
        let mut sum: Option<Ciphertext> = None;
        for (i, k, factor) in params.noise().combination(&metas)? {
            let x = terms[i].0;
            let meta = Meta { factor, ..params.noise().scale(&x.meta, k.unsigned_abs())? };
            sum = Some(match sum.take() {
                None => self.scaled(x, k)?.with_meta(meta),
                Some(above) => {
                    let mut s = self.mod_switch_to(&above, x.meta.level)?;
                    s.meta = params.noise().add(&s.meta, &meta)?;
                    for (c, x) in s.components.iter_mut().zip(&x.components) {
                        c.scale_add_assign(params.ring(), x, k as i128);
                    }
                    s
                }
            });
        }
        self.add_scalar(&sum.expect("a combination has a term"), constant)
    }

    fn mul_lazy(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Product, SchemeError> {
        self.product(a, b, self.params.noise().product_level(&a.meta, &b.meta))
    }

    fn mul_lazy_aligned(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Product, SchemeError> {
        self.product(a, b, a.meta.level.min(b.meta.level))
    }

    fn add_products(&self, a: &Product, b: &Product) -> Result<Product, SchemeError> {
        same_kind(&a.meta, &b.meta, "addition of products")?;
        let params = &self.params;
        let ring = params.ring();
        let low = a.meta.level.min(b.meta.level);
        let align = |x: &Product, k: Option<i64>| -> Result<Product, SchemeError> {
            let mut x = x.clone();
            let t = params.plaintext_ring().modulus(x.meta.exponent);
            if let Some(k) = k {
                x.meta = params.noise().scale(&x.meta, k.unsigned_abs())?;
                x.meta.factor = t.mul(x.meta.factor, t.reduce_i64(k));
                x.tensor.scale_assign(ring, k as i128);
            }
            if x.meta.level > low {
                let switched = params.noise().mod_switch(&x.meta, low);
                x.meta = params
                    .noise()
                    .checked(params.noise().round_square(&switched), "addition of products")?;
                let to = params.chain().basis(low);
                self.counters.rounding(x.tensor.len(), x.tensor.basis(), to, params.degree());
                x.tensor = x.tensor.divided(
                    ring,
                    to,
                    RoundingScale::plain_multiple(params.noise().divisor(&x.meta)),
                );
            }
            Ok(x)
        };
        let constant = params.noise().alignment(&a.meta, &b.meta);
        let mut x = align(a, constant.filter(|c| c.0).map(|c| c.1))?;
        let y = align(b, constant.filter(|c| !c.0).map(|c| c.1))?;
        x.meta = params.noise().add(&x.meta, &y.meta)?;
        x.tensor.add_assign(ring, &y.tensor)?;
        Ok(x)
    }

    fn relinearize(&self, a: &Product, next: NextUse) -> Result<Ciphertext, SchemeError> {
        match &a.tensor {
            Tensor::Eval(d) => {
                let (square, rest) = d.split_last().expect("a product has a component");
                let add =
                    |i: usize, q: Modulus, factor: u64, places: Range<usize>, outs: &mut [Limb]| {
                        for (out, d) in outs.iter_mut().zip(rest) {
                            kernels::scalar_mul_add_assign(
                                q,
                                &mut out[places.clone()],
                                &d.limb(i)[places.clone()],
                                factor,
                            );
                        }
                    };
                self.relinearized(&a.meta, Square::Eval(square), next, add, |_, _, _, _| {})
            }
            Tensor::Coeff(d) => {
                let (square, rest) = d.split_last().expect("a product has a component");
                let add = |i: usize, q: Modulus, factor: u64, outs: &mut [Limb]| {
                    for (out, d) in outs.iter_mut().zip(rest) {
                        kernels::scalar_mul_add_assign(q, out, d.limb(i), factor);
                    }
                };
                self.relinearized(&a.meta, Square::Coeff(square), next, |_, _, _, _, _| {}, add)
            }
        }
    }

    fn mul(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        next: NextUse,
    ) -> Result<Ciphertext, SchemeError> {
        if self.params.noise().product_form(a.meta.form) == Form::Bfv {
            return self.relinearize(&self.mul_lazy(a, b)?, next);
        }
        let ring = self.params.ring();
        let (meta, a, b) =
            self.factors(a, b, self.params.noise().product_level(&a.meta, &b.meta))?;
        self.counters.limbs(self.params.tensor_streams() * a.basis().len(), ring.degree());
        // A product of BFV ciphertexts in BGV, see `mul_lazy`.
        let scale = meta.form.scale(self.params.plaintext_ring().modulus(meta.exponent).value());
        let mut square = a.last().mul(ring, b.last());
        square.scale_assign(ring, scale as i128);
        // d0 and d1 are made where they are needed, a few words at a time, and never travel through
        // memory.
        let add = |i: usize, q: Modulus, factor: u64, places: Range<usize>, outs: &mut [Limb]| {
            let ([a0, a1], [b0, b1], [o0, o1]) = (&a.components[..], &b.components[..], outs)
            else {
                return;
            };
            let factor = q.mul(factor, q.reduce_u64(scale));
            let [a0, a1, b0, b1] = [a0, a1, b0, b1].map(|c| &c.limb(i)[places.clone()]);
            kernels::inner_product_scale_add(q, &mut o0[places.clone()], &[a0], &[b0], factor);
            kernels::inner_product_scale_add(q, &mut o1[places], &[a0, a1], &[b1, b0], factor);
        };
        self.relinearized(&meta, Square::Eval(&square), next, add, |_, _, _, _| {})
    }

    fn prepare(&self, a: &Ciphertext, next: NextUse) -> Result<Ciphertext, SchemeError> {
        self.mod_switch_to(a, self.params.noise().target(&a.meta, next))
    }

    fn prepare_together(
        &self,
        xs: &[&Ciphertext],
        next: NextUse,
    ) -> Result<Vec<Ciphertext>, SchemeError> {
        let level = self.params.noise().common_target(xs.iter().map(|x| &x.meta), next);
        xs.iter().map(|x| self.mod_switch_to(x, level)).collect()
    }

    fn mod_switch_to(&self, a: &Ciphertext, level: Level) -> Result<Ciphertext, SchemeError> {
        if level > a.meta.level {
            return Err(SchemeError::BadLevel { found: level, highest: a.meta.level });
        }
        if level == a.meta.level {
            return Ok(a.clone());
        }
        let params = self.params();
        let out = params
            .noise()
            .checked(params.noise().mod_switch(&a.meta, level), "modulus switching")?;
        let t = params.noise().divisor(&a.meta);
        let to = params.chain().basis(level);
        self.counters.rounding(a.components.len(), a.basis(), to, params.degree());
        let switch =
            |c: &Poly<Eval>| divide_round(params.ring(), c, to, RoundingScale::plain_multiple(t));
        Ok(Ciphertext::new(out, a.components.iter().map(switch).collect()))
    }

    fn galois_level(&self, g: GaloisElement, from: Level) -> Option<Level> {
        let chain = self.params.chain();
        let held = |l: &Level| {
            let basis = self.keys.galois_basis(g, chain.gadget_id(*l));
            g.is_identity() || basis.is_some_and(|basis| chain.basis(*l).is_subset(basis))
        };
        (0..=from.0).rev().map(Level).find(held)
    }

    fn reduce_plain_modulus(&self, a: &Ciphertext, k: u32) -> Result<Ciphertext, SchemeError> {
        let meta = self.params.noise().reduce_plain_modulus(&a.meta, k)?;
        let mut out = a.clone().with_meta(meta);
        if meta.form == Form::Bfv && k < a.meta.exponent {
            let lost = self.plain_prime().pow(a.meta.exponent - k) as i128;
            out.each(|c| c.scale_assign(self.params.ring(), lost));
        }
        Ok(out)
    }

    fn extend_plain_modulus(&self, a: &Ciphertext, e: u32) -> Result<Ciphertext, SchemeError> {
        let meta = self.params.noise().extend_plain_modulus(&a.meta, e)?;
        let mut out = a.clone().with_meta(meta);
        if meta.form == Form::Bfv && e > a.meta.exponent {
            // p^e times the phase is to be what p^k times it was.
            let gained = self.plain_prime().pow(e - a.meta.exponent);
            out.each(|c| divide(self.params.ring(), c, gained));
        }
        Ok(out)
    }

    fn divide_by_p(&self, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        let params = &self.params;
        let ring = params.ring();
        let meta = params.noise().divide_by_p(&a.meta)?;
        let mut out = a.clone().with_meta(meta);
        if meta.form == Form::Bgv {
            out.each(|c| divide(ring, c, self.plain_prime()));
        }
        Ok(out)
    }

    fn multiply_by_p(&self, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        let meta = self.params.noise().multiply_by_p(&a.meta)?;
        let mut out = a.clone().with_meta(meta);
        if meta.form == Form::Bgv {
            let p = self.plain_prime() as i128;
            out.each(|c| c.scale_assign(self.params.ring(), p));
        }
        Ok(out)
    }

    fn mul_monomial(&self, a: &Ciphertext, k: i64) -> Result<Ciphertext, SchemeError> {
        self.check_owner(&a.meta, "multiplication by a monomial")?;
        let ring = self.params.ring();
        let monomial = Poly::monomial(ring, a.basis(), k);
        self.counters.limbs(2 * a.components.len() * a.basis().len(), ring.degree());
        Ok(Ciphertext::new(a.meta, a.components.iter().map(|c| c.mul(ring, &monomial)).collect()))
    }

    fn apply_galois(&self, a: &Ciphertext, g: GaloisElement) -> Result<Ciphertext, SchemeError> {
        Ok(self.rotated(a, &[g])?.pop().expect("one automorphism, one result"))
    }

    fn apply_galois_many(
        &self,
        a: &Ciphertext,
        gs: &[GaloisElement],
    ) -> Result<Vec<Ciphertext>, SchemeError> {
        self.rotated(a, gs)
    }

    fn diagonal(
        &self,
        values: &DiagonalValues,
        e: u32,
        level: Level,
    ) -> Result<Diagonal, SchemeError> {
        self.make_diagonal(values, e, level)
    }

    fn hoist(&self, x: &Ciphertext, gs: &[GaloisElement]) -> Result<Vec<Extended>, SchemeError> {
        self.hoisted(x, gs)
    }

    fn combine(
        &self,
        inputs: &[impl Borrow<Extended> + Sync],
        rows: &[Vec<Option<&Diagonal>>],
    ) -> Result<Vec<Extended>, SchemeError> {
        self.combined(&inputs.iter().map(Borrow::borrow).collect::<Vec<_>>(), rows)
    }

    fn galois_sum(
        &self,
        parts: Vec<(GaloisElement, Extended)>,
        next: NextUse,
    ) -> Result<Ciphertext, SchemeError> {
        self.summed(parts, next)
    }

    fn galois_chain(
        &self,
        parts: impl Iterator<Item = Result<(GaloisElement, Extended), SchemeError>>,
        next: NextUse,
    ) -> Result<Ciphertext, SchemeError> {
        self.chained(parts, next)
    }
}
