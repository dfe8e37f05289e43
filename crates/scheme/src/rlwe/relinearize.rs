//! The factors of a product at one level, and its way back to two polynomials.

use std::borrow::Cow;
use std::ops::Range;

use everlevel_arith::{Modulus, kernels};
use everlevel_ring::{
    Coeff, Eval, Limb, Poly,
    convert::{RoundingScale, divide_round_sum},
};

use super::arithmetic::same_kind;
use super::keyswitch::{Decomposition, chunks, usable, within};
use super::{Ciphertext, Evaluator};
use crate::error::SchemeError;
use crate::keys::EvalKeys;
use crate::noise::Meta;
use crate::params::Level;
use crate::verbs::NextUse;

/// The d2 of a product.
#[derive(Clone, Copy)]
pub(super) enum Square<'a> {
    Eval(&'a Poly<Eval>),
    Coeff(&'a Poly<Coeff>),
}

impl<K: EvalKeys> Evaluator<K> {
    /// The operands of a product at a level, and what the product will be.
    pub(super) fn factors<'c>(
        &self,
        a: &'c Ciphertext,
        b: &'c Ciphertext,
        level: Level,
    ) -> Result<(Meta, Cow<'c, Ciphertext>, Cow<'c, Ciphertext>), SchemeError> {
        same_kind(&a.meta, &b.meta, "multiplication")?;
        let square = std::ptr::eq(a, b);
        let a = self.at_level(Cow::Borrowed(a), level)?;
        let b = if square { a.clone() } else { self.at_level(Cow::Borrowed(b), level)? };
        let meta = self.params.after_product(&a.meta, &b.meta)?;
        self.counters.product();
        Ok((meta, a, b))
    }

    /// Relinearization of (d0, d1, d2). d0 and d1 are the sums of what two closures add: `add(i, q, factor, places, o0, o1)` adds `factor` times
    /// the given places of evaluations modulo prime i, which is `q`, to `o0` and `o1`; `add_coefficients` does the same with whole limbs
    /// of coefficients.
    pub(super) fn relinearized(
        &self,
        meta: &Meta,
        d2: Square<'_>,
        next: NextUse,
        add: impl Fn(usize, Modulus, u64, Range<usize>, &mut [u64], &mut [u64]) + Sync,
        add_coefficients: impl Fn(usize, Modulus, u64, &mut [u64], &mut [u64]) + Sync,
    ) -> Result<Ciphertext, SchemeError> {
        let params = &self.params;
        let ring = params.ring();
        let basis = params.chain().basis(meta.level);
        let id = params.chain().gadget_id(meta.level);
        let key = usable(self.keys.relin(id), basis, meta.level, "relinearization", || "relinearization key".into())?;
        let gadget = params.chain().gadget(meta.level);
        let t = params.divisor(meta);
        let out = params.checked(params.after_reduction(&params.with_key_switch(meta), next), "relinearization")?;
        let (cut, evaluations) = match d2 {
            Square::Eval(d2) => (Decomposition::new(params, gadget, d2, t), Some(d2)),
            Square::Coeff(d2) => (Decomposition::of_coefficients(params, gadget, d2, t), None),
        };
        self.counters.key_switch(1, basis.len(), cut.len(), gadget.special().len(), ring.degree());
        let extended = basis.union(gadget.special());
        let target = params.chain().basis(out.level);
        self.counters.rounding(2, extended, target, ring.degree());
        // d0 and d1 are multiplied by P, and so vanish modulo its primes.
        let raised = |i: usize, factor: u64| {
            basis.contains(i).then(|| ring.modulus(i).mul(factor, self.raise_factor(gadget.special(), i, t)))
        };
        let switched = |i: usize, factor: u64, [o0, o1]: [&mut Limb; 2]| {
            let q = ring.modulus(i);
            let known = evaluations.filter(|_| basis.contains(i)).map(|d2| (&d2.limb(i)[..], ring.inverse_of(t, i)));
            let digits = cut.evaluate(ring, i, known);
            let digits: Vec<&[u64]> = digits.iter().map(|d| &d[..]).collect();
            let (b, k) = cut.key_limbs(key, i);
            let rest = raised(i, factor);
            for places in chunks(ring) {
                let (o0, o1) = (&mut o0[places.clone()], &mut o1[places.clone()]);
                let digits = within(&digits, &places);
                kernels::inner_product_scale_add(q, o0, &digits, &within(&b, &places), factor);
                kernels::inner_product_scale_add(q, o1, &digits, &within(&k, &places), factor);
                if let Some(factor) = rest {
                    add(i, q, factor, places, o0, o1);
                }
            }
        };
        let coefficients = |i: usize, factor: u64, [o0, o1]: [&mut Limb; 2]| {
            if let Some(factor) = raised(i, factor) {
                add_coefficients(i, ring.modulus(i), factor, o0, o1);
            }
        };
        let scale = RoundingScale::times_plain(t);
        let [c0, c1] = divide_round_sum(ring, extended, target, scale, switched, coefficients);
        Ok(Ciphertext::new(out, c0, c1))
    }
}
