//! Running a bootstrapping: the bypass, slim and full.

use everlevel_scheme::spec::BootstrapMode;
use everlevel_scheme::{Bootstrappable, NextUse};

use super::bootstrapper::Bootstrapper;
use super::groups::apply_groups;
use super::observe::{Stage, StageObserver, Watch};
use crate::digits::DigitMethod;
use crate::error::CircuitError;
use crate::unpack::{Repacking, Unpacking};

impl<S: Bootstrappable> Bootstrapper<S> {
    /// The same message under fresh noise: exact whenever the scheme's bounds hold.
    ///
    /// # Errors
    /// [`CircuitError::PlanMismatch`] if `scheme` has other slots or a larger overflow than the one
    /// that was planned for; [`CircuitError::ExponentMismatch`] unless `x` has values modulo p^r;
    /// errors of the scheme: above all that `x` is noisier than bootstrapping can take, or that the
    /// chain of moduli is too short for the plan.
    pub fn bootstrap(&self, scheme: &S, x: &S::Ciphertext) -> Result<S::Ciphertext, CircuitError> {
        self.bootstrap_observed(scheme, x, &mut ())
    }

    /// As [`Bootstrapper::bootstrap`], with a report of every stage to `observer`.
    ///
    /// # Errors
    /// As [`Bootstrapper::bootstrap`].
    pub fn bootstrap_observed(
        &self,
        scheme: &S,
        x: &S::Ciphertext,
        observer: &mut dyn StageObserver,
    ) -> Result<S::Ciphertext, CircuitError> {
        if *scheme.slot_shape() != self.shape {
            return Err(CircuitError::PlanMismatch {
                reason: "its slots are not those it was planned for",
            });
        }
        if scheme.overflow_bound() > self.digits.bound() {
            return Err(CircuitError::PlanMismatch {
                reason: "its overflow exceeds the bound it was planned for",
            });
        }
        let (expected, found) = (scheme.message_exponent(), scheme.plain_exponent(x));
        if found != expected {
            return Err(CircuitError::ExponentMismatch { expected, found });
        }
        let mut watch = Watch::new(scheme, observer);
        match self.plan.mode {
            BootstrapMode::Bypass => self.bypass(scheme, x, &mut watch),
            BootstrapMode::Slim => self.slim(scheme, x, &mut watch),
            BootstrapMode::Full => self.full(scheme, x, &mut watch),
        }
    }

    /// The message goes round: no linear map and no digit removal touches it.
    fn bypass(
        &self,
        scheme: &S,
        x: &S::Ciphertext,
        watch: &mut Watch<'_, S>,
    ) -> Result<S::Ciphertext, CircuitError> {
        let raised = scheme.to_base_modulus(x)?;
        watch.done(Stage::Encapsulate, 0, None, x);

        let u = scheme.prepare(
            &scheme.mod_raise_overflow(&raised, self.digits.multiplier())?,
            NextUse::LinearMap,
        )?;
        watch.done(Stage::Raise, 0, None, &u);
        let parts = self.parts(scheme, u, watch)?;
        let (h, before) = apply_groups(
            scheme,
            &self.slot_to_coeff,
            parts,
            NextUse::Keep,
            Stage::SlotToCoeff,
            watch,
        )?;

        // 1/d is a large constant: one group higher there is room for its noise.
        let like = before.as_ref().filter(|_| !self.trace.is_empty()).unwrap_or(&h);
        let message = self.trace(scheme, scheme.mod_raise_message(&raised, like)?)?;
        let q0 = scheme.base_modulus_mod_t(&raised);
        let out = scheme.linear_combination(&[(&message, self.inverse_degree), (&h, q0)], 0)?;
        watch.done(Stage::Assemble, 0, Some(&h), &out);
        Ok(out)
    }

    /// Chen–Han 2018, Fig. 2: slots to coefficients of Z\[X^d\] while the modulus is small, and one
    /// digit removal. On a grid the overflow alone goes through the removal, and the message to the
    /// slots beside it.
    fn slim(
        &self,
        scheme: &S,
        x: &S::Ciphertext,
        watch: &mut Watch<'_, S>,
    ) -> Result<S::Ciphertext, CircuitError> {
        let x = scheme.prepare_thin_input(x, self.entry)?;
        let x = apply_groups(
            scheme,
            &self.slot_to_coeff,
            vec![x],
            NextUse::Keep,
            Stage::SlotToCoeff,
            watch,
        )?
        .0;
        let raised = scheme.to_base_modulus(&x)?;
        watch.done(Stage::Encapsulate, 0, None, &x);

        if matches!(self.plan.digits, DigitMethod::Global { .. }) {
            let u = scheme.prepare(
                &scheme.mod_raise_overflow(&raised, self.digits.multiplier())?,
                NextUse::LinearMap,
            )?;
            watch.done(Stage::Raise, 0, None, &u);
            let message = scheme.mod_raise_message(&raised, &u)?;
            let message = self.thin_slots(scheme, message, watch)?;
            let u = self.thin_slots(scheme, u, watch)?;
            let h = self.removed(scheme, u, watch)?;
            let out = scheme.linear_combination(
                &[(&message, 1), (&h, scheme.base_modulus_mod_t(&raised))],
                0,
            )?;
            watch.done(Stage::Assemble, 0, Some(&h), &out);
            return Ok(out);
        }
        let u = scheme.prepare(&scheme.mod_raise_scaled(&raised)?, NextUse::LinearMap)?;
        watch.done(Stage::Raise, 0, None, &u);
        let u = self.thin_slots(scheme, u, watch)?;
        let m = self.removed(scheme, u, watch)?;
        Ok(scheme.set_correction_factor(&raised, m))
    }

    /// The coefficients of u that thin slots stand for, in the slots.
    fn thin_slots(
        &self,
        scheme: &S,
        u: S::Ciphertext,
        watch: &mut Watch<'_, S>,
    ) -> Result<S::Ciphertext, CircuitError> {
        let Some(axes) = &self.axes else {
            let u = self.traced(scheme, u, watch)?;
            return Ok(apply_groups(
                scheme,
                &self.coeff_to_slot,
                vec![u],
                NextUse::Product,
                Stage::CoeffToSlot,
                watch,
            )?
            .0);
        };
        let z = apply_groups(
            scheme,
            &self.coeff_to_slot,
            vec![u],
            NextUse::LinearMap,
            Stage::CoeffToSlot,
            watch,
        )?
        .0;
        axes.traced(scheme, &z, watch)
    }

    /// Chen–Han 2018, Fig. 1: the n coefficients as d ciphertexts, one after the other, with a
    /// digit removal for each.
    fn full(
        &self,
        scheme: &S,
        x: &S::Ciphertext,
        watch: &mut Watch<'_, S>,
    ) -> Result<S::Ciphertext, CircuitError> {
        let raised = scheme.to_base_modulus(x)?;
        watch.done(Stage::Encapsulate, 0, None, x);
        let u = scheme.prepare(&scheme.mod_raise_scaled(&raised)?, NextUse::LinearMap)?;
        watch.done(Stage::Raise, 0, None, &u);

        if let Some(axes) = &self.axes {
            let parts = self.parts(scheme, u, watch)?;
            let m = apply_groups(
                scheme,
                &self.slot_to_coeff,
                parts,
                NextUse::Keep,
                Stage::SlotToCoeff,
                watch,
            )?
            .0;
            return Ok(scheme.set_correction_factor(&raised, axes.completed(scheme, m)?));
        }
        let mut parts = Repacking::new();
        Unpacking::new(&self.shape).unpack(scheme, u, |j, part| {
            let part = scheme.prepare(&part, NextUse::LinearMap)?;
            watch.done(Stage::Trace, 0, None, &part);
            let m = self.high_digits(scheme, part, watch)?;
            let m = apply_groups(
                scheme,
                &self.slot_to_coeff,
                vec![m],
                NextUse::Keep,
                Stage::SlotToCoeff,
                watch,
            )?
            .0;
            parts.add(scheme, j, &m)
        })?;
        let out = scheme.set_correction_factor(&raised, parts.finish()?);
        watch.done(Stage::Assemble, 0, Some(&out), &out);
        Ok(out)
    }

    /// The coefficients of u in slots, as many as the mode moves, and their low digits removed: one
    /// ciphertext, or d for whole slots over an odd index.
    fn parts(
        &self,
        scheme: &S,
        u: S::Ciphertext,
        watch: &mut Watch<'_, S>,
    ) -> Result<Vec<S::Ciphertext>, CircuitError> {
        let Some(axes) = &self.axes else {
            let u = self.thin_slots(scheme, u, watch)?;
            return Ok(vec![self.removed(scheme, u, watch)?]);
        };
        let z = apply_groups(
            scheme,
            &self.coeff_to_slot,
            vec![u],
            NextUse::LinearMap,
            Stage::CoeffToSlot,
            watch,
        )?
        .0;
        let mut parts = Vec::new();
        axes.each(scheme, &z, watch, |u, watch| {
            parts.push(self.removed(scheme, u, watch)?);
            Ok(())
        })?;
        Ok(parts)
    }

    /// Coefficients of Z\[X^d\] (d times what they should be) to slots, and their low digits
    /// removed.
    fn high_digits(
        &self,
        scheme: &S,
        u: S::Ciphertext,
        watch: &mut Watch<'_, S>,
    ) -> Result<S::Ciphertext, CircuitError> {
        let u = apply_groups(
            scheme,
            &self.coeff_to_slot,
            vec![u],
            NextUse::Product,
            Stage::CoeffToSlot,
            watch,
        )?
        .0;
        self.removed(scheme, u, watch)
    }

    fn removed(
        &self,
        scheme: &S,
        u: S::Ciphertext,
        watch: &mut Watch<'_, S>,
    ) -> Result<S::Ciphertext, CircuitError> {
        let (form, digit_form) = (scheme.form(&u), self.plan.digit_form);
        let out =
            self.digits.remove(scheme, &scheme.convert(&u, digit_form), NextUse::LinearMap)?;
        let out = scheme.convert(&out, form);
        watch.done(Stage::DigitRemoval, 0, Some(&u), &out);
        Ok(out)
    }

    fn traced(
        &self,
        scheme: &S,
        u: S::Ciphertext,
        watch: &mut Watch<'_, S>,
    ) -> Result<S::Ciphertext, CircuitError> {
        if self.trace.is_empty() {
            return Ok(u);
        }
        let traced = scheme.prepare(&self.trace(scheme, u.clone())?, NextUse::LinearMap)?;
        watch.done(Stage::Trace, 0, Some(&u), &traced);
        Ok(traced)
    }

    /// d times the part of x in Z\[X^d\], in log2 d steps (Chen–Han 2018, appendix A).
    fn trace(&self, scheme: &S, mut x: S::Ciphertext) -> Result<S::Ciphertext, CircuitError> {
        for g in &self.trace {
            x = scheme.add(&x, &scheme.apply_galois(&x, *g)?)?;
        }
        Ok(x)
    }
}
