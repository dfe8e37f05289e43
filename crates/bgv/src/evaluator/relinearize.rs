//! The factors of a product at one level, and its way back to as many components as they have.

use std::borrow::Cow;
use std::ops::Range;

use everlevel_arith::{Modulus, kernels};
use everlevel_ring::{
    Coeff, Eval, Limb, Poly,
    convert::{RoundingScale, divide_round_sum},
};

use crate::ciphertext::Ciphertext;
use crate::evaluator::Evaluator;
use crate::evaluator::key_switch::{Decomposition, chunks, usable, within};
use crate::keys::EvalKeys;
use everlevel_scheme::SchemeError;
use everlevel_scheme::noise::Meta;
use everlevel_scheme::same_kind;
use everlevel_scheme::spec::{Level, NextUse};

/// What s² multiplies in a product: the last of its polynomials.
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
        let meta = self.params.noise().product(&a.meta, &b.meta)?;
        self.counters.product();
        Ok((meta, a, b))
    }

    /// Relinearization of (d0, d1, d2), or of d. d0 and d1 are the sums of what two closures add:
    /// `add(i, q, factor, places, outs)` adds `factor` times the given places of their evaluations
    /// modulo prime i, which is `q`, to those of `outs`; `add_coefficients` does the same with
    /// whole limbs of coefficients.
    pub(super) fn relinearized(
        &self,
        meta: &Meta,
        square: Square<'_>,
        next: NextUse,
        add: impl Fn(usize, Modulus, u64, Range<usize>, &mut [Limb]) + Sync,
        add_coefficients: impl Fn(usize, Modulus, u64, &mut [Limb]) + Sync,
    ) -> Result<Ciphertext, SchemeError> {
        self.check_owner(meta, "relinearization")?;
        let params = &self.params;
        let ring = params.ring();
        let basis = params.chain().basis(meta.level);
        let id = params.chain().gadget_id(meta.level);
        let key = usable(self.keys.relin(id), basis, meta.level, "relinearization", || {
            "relinearization key".into()
        })?;
        let gadget = params.chain().gadget(meta.level);
        let t = params.noise().divisor(meta);
        let out = params.noise().checked(
            params.noise().reduce(&params.noise().key_switch(meta), next),
            "relinearization",
        )?;
        let (cut, evaluations) = match square {
            Square::Eval(d) => (Decomposition::new(params, gadget, d, t), Some(d)),
            Square::Coeff(d) => (Decomposition::of_coefficients(params, gadget, d, t), None),
        };
        let count = params.components();
        self.counters.relinearization();
        self.counters.key_switch(
            count,
            1,
            basis.len(),
            cut.len(),
            gadget.special().len(),
            ring.degree(),
        );
        let extended = basis.union(gadget.special());
        let target = params.chain().basis(out.level);
        self.counters.rounding(count, extended, target, ring.degree());
        // d0 and d1 are multiplied by P, and so vanish modulo its primes.
        let raised = |i: usize, factor: u64| {
            basis
                .contains(i)
                .then(|| ring.modulus(i).mul(factor, self.raise_factor(gadget.special(), i, t)))
        };
        let switched = |i: usize, factor: u64, outs: &mut [Limb]| {
            let q = ring.modulus(i);
            let known = evaluations
                .filter(|_| basis.contains(i))
                .map(|d| (&d.limb(i)[..], ring.inverse_of(t, i)));
            let digits = cut.evaluate(ring, i, known);
            let digits: Vec<&[u64]> = digits.iter().map(|d| &d[..]).collect();
            let key = cut.key_limbs(&key, i);
            let rest = raised(i, factor);
            for places in chunks(ring) {
                let digits = within(&digits, &places);
                for (out, key) in outs.iter_mut().zip(&key) {
                    kernels::inner_product_scale_add(
                        q,
                        &mut out[places.clone()],
                        &digits,
                        &within(key, &places),
                        factor,
                    );
                }
                if let Some(factor) = rest {
                    add(i, q, factor, places, outs);
                }
            }
        };
        let coefficients = |i: usize, factor: u64, outs: &mut [Limb]| {
            if let Some(factor) = raised(i, factor) {
                add_coefficients(i, ring.modulus(i), factor, outs);
            }
        };
        let scale = RoundingScale::times_plain(t);
        Ok(Ciphertext::new(
            out,
            divide_round_sum(ring, count, extended, target, scale, switched, coefficients),
        ))
    }
}
