//! The execution of a bootstrapping in the modes bypass, thin and full.

use everlevel_scheme::spec::BootstrapMode;
use everlevel_scheme::{Bootstrappable, NextUse};

use super::bootstrapper::Bootstrapper;
use super::observe::{Stage, StageObserver, Watch};
use crate::error::CircuitError;

impl<S: Bootstrappable> Bootstrapper<S> {
    /// Bootstraps a ciphertext: an encryption of the same message with a level and a noise bound
    /// that do not depend on those of `x`. It is exact if the noise bounds of the scheme hold and
    /// the overflow is within its bound.
    ///
    /// # Errors
    /// [`CircuitError::PlanMismatch`] if `scheme` has other slots, another p^r or v, or a larger
    /// overflow than the one that was planned for; [`CircuitError::ExponentMismatch`] unless `x`
    /// has values modulo p^r; errors of the scheme: in particular, an `x` of other parameters, too
    /// much noise in it, or a modulus chain that is too short for the plan.
    pub fn bootstrap(&self, scheme: &S, x: &S::Ciphertext) -> Result<S::Ciphertext, CircuitError> {
        // A thread outside of the pool would be suspended and resumed at each of several thousand
        // parallel steps.
        rayon::scope(|_| self.bootstrap_observed(scheme, x, &mut ()))
    }

    /// As [`Bootstrapper::bootstrap`]; `observer` receives a report on every stage.
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
        if (scheme.message_exponent(), scheme.overflow_digits()) != self.exponents {
            return Err(CircuitError::PlanMismatch {
                reason: "its message has another modulus, or other digits are removed, than it was \
                         planned for",
            });
        }
        let (expected, found) = (scheme.message_exponent(), scheme.plain_exponent(x));
        if found != expected {
            return Err(CircuitError::ExponentMismatch { expected, found });
        }
        scheme.check_params(x)?;
        let mut watch = Watch::new(scheme, observer);
        match self.plan.mode {
            BootstrapMode::Bypass => self.bypass(scheme, x, &mut watch),
            BootstrapMode::Thin => self.thin(scheme, x, &mut watch),
            BootstrapMode::Full => self.full(scheme, x, &mut watch),
        }
    }

    /// The message bypasses the linear maps and the digit removal.
    fn bypass(
        &self,
        scheme: &S,
        x: &S::Ciphertext,
        watch: &mut Watch<'_, S>,
    ) -> Result<S::Ciphertext, CircuitError> {
        let raised = self.encapsulated(scheme, x, watch)?;
        let u = self.overflow(scheme, &raised, watch)?;
        let mapped = self.path.map(scheme, u, &mut |u, w| self.removed(scheme, u, w), watch)?;
        let like = mapped.like.as_ref().unwrap_or(&mapped.result);
        let message = self.path.project(scheme, scheme.mod_raise_message(&raised, like)?)?;
        self.assembled(scheme, &raised, message, &mapped.result, watch)
    }

    /// Chen–Han 2018, Fig. 2: slots to as many coefficients while the modulus is small, and one
    /// digit removal.
    fn thin(
        &self,
        scheme: &S,
        x: &S::Ciphertext,
        watch: &mut Watch<'_, S>,
    ) -> Result<S::Ciphertext, CircuitError> {
        let x =
            self.path.slot_to_coeff(scheme, scheme.prepare_thin_input(x, self.entry)?, watch)?;
        let raised = self.encapsulated(scheme, &x, watch)?;
        if self.on_grid {
            return self.thin_on_grid(scheme, &raised, watch);
        }
        let u = self.scaled(scheme, &raised, watch)?;
        let u = self.path.thin_slots(scheme, u, watch)?;
        Ok(scheme.set_correction_factor(&raised, self.removed(scheme, u, watch)?))
    }

    /// On a grid the overflow alone goes through the digit removal, and the message to the slots
    /// beside it.
    fn thin_on_grid(
        &self,
        scheme: &S,
        raised: &S::Base,
        watch: &mut Watch<'_, S>,
    ) -> Result<S::Ciphertext, CircuitError> {
        let u = self.overflow(scheme, raised, watch)?;
        let message = scheme.mod_raise_message(raised, &u)?;
        let message = self.path.thin_slots(scheme, message, watch)?;
        let u = self.path.thin_slots(scheme, u, watch)?;
        let h = self.removed(scheme, u, watch)?;
        self.assembled(scheme, raised, (message, 1), &h, watch)
    }

    /// Chen–Han 2018, Fig. 1: all n coefficients as ciphertexts of slots, with a digit removal for
    /// each.
    fn full(
        &self,
        scheme: &S,
        x: &S::Ciphertext,
        watch: &mut Watch<'_, S>,
    ) -> Result<S::Ciphertext, CircuitError> {
        let raised = self.encapsulated(scheme, x, watch)?;
        let u = self.scaled(scheme, &raised, watch)?;
        let mapped = self.path.map(scheme, u, &mut |u, w| self.removed(scheme, u, w), watch)?;
        Ok(scheme.set_correction_factor(&raised, mapped.result))
    }

    fn encapsulated(
        &self,
        scheme: &S,
        x: &S::Ciphertext,
        watch: &mut Watch<'_, S>,
    ) -> Result<S::Base, CircuitError> {
        let raised = scheme.to_base_modulus(x)?;
        watch.done(Stage::Encapsulate, 0, None, x);
        Ok(raised)
    }

    /// The overflow by itself, with the multiplier that the digit removal wants.
    fn overflow(
        &self,
        scheme: &S,
        raised: &S::Base,
        watch: &mut Watch<'_, S>,
    ) -> Result<S::Ciphertext, CircuitError> {
        let u = scheme.mod_raise_overflow(raised, self.digits.multiplier())?;
        let u = scheme.prepare(&u, NextUse::LinearMap)?;
        watch.done(Stage::ModRaise, 0, None, &u);
        Ok(u)
    }

    /// The message above the overflow.
    fn scaled(
        &self,
        scheme: &S,
        raised: &S::Base,
        watch: &mut Watch<'_, S>,
    ) -> Result<S::Ciphertext, CircuitError> {
        let u = scheme.prepare(&scheme.mod_raise_scaled(raised)?, NextUse::LinearMap)?;
        watch.done(Stage::ModRaise, 0, None, &u);
        Ok(u)
    }

    /// The raised message, times a constant, and q0 times the upper digit `h` of the overflow.
    fn assembled(
        &self,
        scheme: &S,
        raised: &S::Base,
        (message, factor): (S::Ciphertext, i64),
        h: &S::Ciphertext,
        watch: &mut Watch<'_, S>,
    ) -> Result<S::Ciphertext, CircuitError> {
        let q0 = scheme.base_modulus_mod_t(raised);
        let out = scheme.linear_combination(&[(&message, factor), (h, q0)], 0)?;
        watch.done(Stage::Assemble, 0, Some(h), &out);
        Ok(out)
    }

    /// The low digits removed, in the form that the plan asks for.
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
}
