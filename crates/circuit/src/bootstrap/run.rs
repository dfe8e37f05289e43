//! The execution of a bootstrapping in the modes bypass, thin and full.

use everlevel_scheme::spec::BootstrapMode;
use everlevel_scheme::{Bootstrappable, NextUse, SchemeError};
use rayon::prelude::*;

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
        only(self.bootstrap_many(scheme, &[x])?)
    }

    /// Bootstraps several ciphertexts, each to what [`Bootstrapper::bootstrap`] makes of it, bit by
    /// bit. A scheme reads each switching key of the linear maps once for several of them, and
    /// digits are removed from several at a time, so it takes less time than one after the other;
    /// but their intermediate values are in memory at the same time.
    ///
    /// # Errors
    /// As [`Bootstrapper::bootstrap`]: if one of the ciphertexts cannot be bootstrapped, there are
    /// no results.
    pub fn bootstrap_many(
        &self,
        scheme: &S,
        xs: &[&S::Ciphertext],
    ) -> Result<Vec<S::Ciphertext>, CircuitError> {
        // A thread outside of the pool would be suspended and resumed at each of several thousand
        // parallel steps.
        rayon::scope(|_| self.bootstrap_many_observed(scheme, xs, &mut ()))
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
        only(self.bootstrap_many_observed(scheme, &[x], observer)?)
    }

    /// As [`Bootstrapper::bootstrap_many`]; `observer` receives one report on every stage of all
    /// ciphertexts, whose levels and noise bounds are the same.
    ///
    /// # Errors
    /// As [`Bootstrapper::bootstrap_many`].
    pub fn bootstrap_many_observed(
        &self,
        scheme: &S,
        xs: &[&S::Ciphertext],
        observer: &mut dyn StageObserver,
    ) -> Result<Vec<S::Ciphertext>, CircuitError> {
        self.check(scheme)?;
        for x in xs {
            let (expected, found) = (scheme.message_exponent(), scheme.plain_exponent(x));
            if found != expected {
                return Err(CircuitError::ExponentMismatch { expected, found });
            }
            scheme.check_params(x)?;
        }
        if xs.is_empty() {
            return Ok(Vec::new());
        }
        let mut watch = Watch::new(scheme, observer);
        match self.plan.mode {
            BootstrapMode::Bypass => self.bypass(scheme, xs, &mut watch),
            BootstrapMode::Thin => self.thin(scheme, xs, &mut watch),
            BootstrapMode::Full => self.full(scheme, xs, &mut watch),
        }
    }

    /// The message bypasses the linear maps and the digit removal.
    fn bypass(
        &self,
        scheme: &S,
        xs: &[&S::Ciphertext],
        watch: &mut Watch<'_, S>,
    ) -> Result<Vec<S::Ciphertext>, CircuitError> {
        let raised = self.encapsulated(scheme, xs, watch)?;
        let us = self.overflows(scheme, &raised, watch)?;
        let mapped = self.path.map(scheme, us, &mut |us, w| self.removed(scheme, us, w), watch)?;
        let like = mapped.like.as_ref().unwrap_or(&mapped.results);
        let message = |(raised, like): (&S::Base, &S::Ciphertext)| {
            self.path.project(scheme, scheme.mod_raise_message(raised, like)?)
        };
        let messages = raised.iter().zip(like).map(message).collect::<Result<Vec<_>, _>>()?;
        self.assembled(scheme, &raised, messages, &mapped.results, watch)
    }

    /// Chen–Han 2018, Fig. 2: slots to as many coefficients while the modulus is small, and one
    /// digit removal.
    fn thin(
        &self,
        scheme: &S,
        xs: &[&S::Ciphertext],
        watch: &mut Watch<'_, S>,
    ) -> Result<Vec<S::Ciphertext>, CircuitError> {
        let begun = xs.iter().map(|x| scheme.prepare_thin_input(x, self.entry));
        let xs = self.path.slot_to_coeff(scheme, begun.collect::<Result<_, _>>()?, watch)?;
        let raised = self.encapsulated(scheme, &xs.iter().collect::<Vec<_>>(), watch)?;
        if self.on_grid {
            return self.thin_on_grid(scheme, &raised, watch);
        }
        let us = self.scaled(scheme, &raised, watch)?;
        let us = self.path.thin_slots(scheme, us, watch)?;
        let results = self.removed(scheme, us, watch)?;
        Ok(self.corrected(scheme, &raised, results))
    }

    /// On a grid the overflow alone goes through the digit removal, and the message to the slots
    /// beside it.
    fn thin_on_grid(
        &self,
        scheme: &S,
        raised: &[S::Base],
        watch: &mut Watch<'_, S>,
    ) -> Result<Vec<S::Ciphertext>, CircuitError> {
        let mut us = self.overflows(scheme, raised, watch)?;
        let message = |(raised, u)| scheme.mod_raise_message(raised, u);
        let messages = raised.iter().zip(&us).map(message).collect::<Result<Vec<_>, _>>()?;
        // Overflows first: the reports are of them.
        us.extend(messages);
        let mut us = self.path.thin_slots(scheme, us, watch)?;
        let messages = us.split_off(raised.len());
        let hs = self.removed(scheme, us, watch)?;
        let messages = messages.into_iter().map(|message| (message, 1)).collect();
        self.assembled(scheme, raised, messages, &hs, watch)
    }

    /// Chen–Han 2018, Fig. 1: all n coefficients as ciphertexts of slots, with a digit removal for
    /// each.
    fn full(
        &self,
        scheme: &S,
        xs: &[&S::Ciphertext],
        watch: &mut Watch<'_, S>,
    ) -> Result<Vec<S::Ciphertext>, CircuitError> {
        let raised = self.encapsulated(scheme, xs, watch)?;
        let us = self.scaled(scheme, &raised, watch)?;
        let mapped = self.path.map(scheme, us, &mut |us, w| self.removed(scheme, us, w), watch)?;
        Ok(self.corrected(scheme, &raised, mapped.results))
    }

    fn encapsulated(
        &self,
        scheme: &S,
        xs: &[&S::Ciphertext],
        watch: &mut Watch<'_, S>,
    ) -> Result<Vec<S::Base>, CircuitError> {
        let raised = xs.iter().map(|x| scheme.to_base_modulus(x)).collect::<Result<_, _>>()?;
        if let Some(x) = xs.first() {
            watch.done(Stage::Encapsulate, 0, None, x);
        }
        Ok(raised)
    }

    /// The overflows by themselves, with the multiplier that the digit removal wants.
    fn overflows(
        &self,
        scheme: &S,
        raised: &[S::Base],
        watch: &mut Watch<'_, S>,
    ) -> Result<Vec<S::Ciphertext>, CircuitError> {
        let multiplier = self.digits.multiplier();
        let raise = |raised: &S::Base| scheme.mod_raise_overflow(raised, multiplier);
        each_raised(scheme, raised, watch, raise)
    }

    /// The messages above the overflow.
    fn scaled(
        &self,
        scheme: &S,
        raised: &[S::Base],
        watch: &mut Watch<'_, S>,
    ) -> Result<Vec<S::Ciphertext>, CircuitError> {
        each_raised(scheme, raised, watch, |raised| scheme.mod_raise_scaled(raised))
    }

    /// The results of [`Bootstrapper::scaled`], as encryptions of the messages themselves.
    fn corrected(
        &self,
        scheme: &S,
        raised: &[S::Base],
        results: Vec<S::Ciphertext>,
    ) -> Vec<S::Ciphertext> {
        let corrected = |(raised, x)| scheme.set_correction_factor(raised, x);
        raised.iter().zip(results).map(corrected).collect()
    }

    /// The raised messages, times a constant, and q0 times the upper digits `hs` of the overflows.
    fn assembled(
        &self,
        scheme: &S,
        raised: &[S::Base],
        messages: Vec<(S::Ciphertext, i64)>,
        hs: &[S::Ciphertext],
        watch: &mut Watch<'_, S>,
    ) -> Result<Vec<S::Ciphertext>, CircuitError> {
        let assembled = |((raised, (message, factor)), h): ((_, &(S::Ciphertext, i64)), _)| {
            let q0 = scheme.base_modulus_mod_t(raised);
            Ok(scheme.linear_combination(&[(message, *factor), (h, q0)], 0)?)
        };
        let out = raised.iter().zip(&messages).zip(hs).map(assembled);
        let out = out.collect::<Result<Vec<_>, CircuitError>>()?;
        watch.all_done(Stage::Assemble, Some(hs), &out);
        Ok(out)
    }

    /// The low digits removed, in the form that the plan asks for.
    fn removed(
        &self,
        scheme: &S,
        us: Vec<S::Ciphertext>,
        watch: &mut Watch<'_, S>,
    ) -> Result<Vec<S::Ciphertext>, CircuitError> {
        let removed = |u: &S::Ciphertext| {
            let (form, digit_form) = (scheme.form(u), self.plan.digit_form);
            let u = scheme.convert(u, digit_form);
            let out = self.digits.remove(scheme, &u, NextUse::LinearMap)?;
            Ok(scheme.convert(&out, form))
        };
        let out = us.par_iter().map(removed).collect::<Result<Vec<_>, CircuitError>>()?;
        watch.all_done(Stage::DigitRemoval, Some(&us), &out);
        Ok(out)
    }
}

/// What `raise` makes of each base, at the level that suits the linear maps.
fn each_raised<S: Bootstrappable>(
    scheme: &S,
    raised: &[S::Base],
    watch: &mut Watch<'_, S>,
    raise: impl Fn(&S::Base) -> Result<S::Ciphertext, SchemeError>,
) -> Result<Vec<S::Ciphertext>, CircuitError> {
    let prepared = |raised| Ok(scheme.prepare(&raise(raised)?, NextUse::LinearMap)?);
    let us = raised.iter().map(prepared).collect::<Result<Vec<_>, CircuitError>>()?;
    watch.all_done(Stage::ModRaise, None, &us);
    Ok(us)
}

/// The result for the only ciphertext.
fn only<T>(results: Vec<T>) -> Result<T, CircuitError> {
    results.into_iter().next().ok_or(CircuitError::Empty { what: "the list of results" })
}
