//! The factors of a product at one level, and its way back to as many components as they have.

use std::borrow::Cow;

use everlevel_ring::{Constant, Engine, GaloisElement, Rest, RoundingScale, Source, Sum, Use};

use super::operands::Operands;
use crate::ciphertext::Ciphertext;
use crate::evaluator::Evaluator;
use crate::keys::EvalKeys;
use everlevel_scheme::SchemeError;
use everlevel_scheme::noise::Meta;
use everlevel_scheme::same_kind;
use everlevel_scheme::spec::{Level, NextUse};

impl<E: Engine, K: EvalKeys> Evaluator<E, K> {
    /// The operands of a product at a level, and what the product will be.
    pub(super) fn factors<'c>(
        &self,
        a: &'c Ciphertext<E>,
        b: &'c Ciphertext<E>,
        level: Level,
    ) -> Result<(Meta, Operands<'c, E>), SchemeError> {
        self.engine.status()?;
        same_kind(&a.meta, &b.meta, "multiplication")?;
        let square = std::ptr::eq(a, b);
        let a = self.at_level(Cow::Borrowed(a), level)?;
        let b = if square { a.clone() } else { self.at_level(Cow::Borrowed(b), level)? };
        let meta = self.params.noise().product(&a.meta, &b.meta)?;
        self.counters.product();
        Ok((meta, (a, b)))
    }

    /// Relinearization of (d0, d1, d2), or of d: `square` is the last one, divided by the plaintext
    /// modulus that the noise tracker says, and `rest` times `factor` the others.
    pub(super) fn relinearized(
        &self,
        meta: &Meta,
        square: Source<'_, E>,
        mut rest: Vec<Rest<'_, E>>,
        factor: u128,
        next: NextUse,
    ) -> Result<Ciphertext<E>, SchemeError> {
        self.check_owner(meta, "relinearization")?;
        let params = &self.params;
        let basis = params.chain().basis(meta.level);
        let (key, gadget) = self.relin_key(meta.level)?;
        let special = gadget.special();
        let t = params.noise().divisor(meta);
        let out = params.noise().checked(
            params.noise().reduce(&params.noise().key_switch_by(meta, gadget), next),
            "relinearization",
        )?;
        let digits = self.engine.decompose(gadget, square);
        let (count, degree) = (params.components(), params.degree());
        // NTRU has no others.
        rest.resize_with(count, || Rest::None);
        self.counters.relinearization();
        let cut = gadget.digits(basis).count();
        self.counters.key_switch(count, 1, basis.len(), cut, special.len(), degree);
        let extended = basis.union(special);
        let target = params.chain().basis(out.level);
        self.counters.rounding(count, extended, target, degree);
        let sum = Sum {
            basis: extended,
            switched: Some((Use::Once(digits), &key)),
            rest,
            raise: special,
            factor: Constant { numerator: factor as i128, denominator: t },
            automorphism: GaloisElement::IDENTITY,
        };
        let scale = RoundingScale::times_plain(t);
        Ok(Ciphertext::new(out, self.engine.divide(sum, target, scale)))
    }
}
