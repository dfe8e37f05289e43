//! Power-of-two indices with every polynomial split into parts.

use everlevel_ring::GaloisElement;
use everlevel_scheme::{Bootstrappable, ExactScheme, NextUse};

use super::projected::Projected;
use super::slot_path::{Mapped, PathCosts, SlotFunction, SlotPath};
use crate::bootstrap::groups::{Maps, Setting, Shelf};
use crate::bootstrap::observe::{Stage, Watch};
use crate::bootstrap::plan::BootstrapCosts;
use crate::error::CircuitError;
use crate::unpack::{Repacking, Unpacking};

/// A polynomial is split into d polynomials in X^d, each of which goes to the slots and back before
/// the next one: for any plaintext.
pub(super) struct Unpacked<S: ExactScheme> {
    /// The path of a polynomial in X^d.
    part: Projected<S>,
    unpacking: Unpacking,
}

impl<S: Bootstrappable> Unpacked<S> {
    /// # Errors
    /// As [`Projected::new`].
    pub(super) fn new(setting: &Setting<'_>, shelf: &mut Shelf<S>) -> Result<Self, CircuitError> {
        Ok(Unpacked {
            part: Projected::new(setting, shelf)?,
            unpacking: Unpacking::new(setting.shape),
        })
    }
}

impl<S: Bootstrappable> SlotPath<S> for Unpacked<S> {
    fn maps(&self) -> &Maps<S> {
        self.part.maps()
    }

    fn thin_slots(
        &self,
        scheme: &S,
        us: Vec<S::Ciphertext>,
        watch: &mut Watch<'_, S>,
    ) -> Result<Vec<S::Ciphertext>, CircuitError> {
        self.part.thin_slots(scheme, us, watch)
    }

    fn map(
        &self,
        scheme: &S,
        us: Vec<S::Ciphertext>,
        f: &mut SlotFunction<'_, S>,
        watch: &mut Watch<'_, S>,
    ) -> Result<Mapped<S>, CircuitError> {
        let maps = self.maps();
        let mut results = Vec::with_capacity(us.len());
        for u in us {
            let mut parts = Repacking::new();
            self.unpacking.unpack(scheme, u, |j, part| {
                let part = scheme.prepare(&part, NextUse::LinearMap)?;
                watch.done(Stage::Trace, 0, None, &part);
                let slots = maps.coeff_to_slots(scheme, vec![part], NextUse::Product, watch)?;
                let lists = f(slots, watch)?.into_iter().map(|part| vec![part]).collect();
                let applied = maps.slots_to_coeff(scheme, lists, watch)?;
                applied.results.iter().try_for_each(|part| parts.add(scheme, j, part))
            })?;
            let result = parts.finish()?;
            watch.done(Stage::Assemble, 0, Some(&result), &result);
            results.push(result);
        }
        Ok(Mapped { results, like: None })
    }

    fn project(&self, _: &S, message: S::Ciphertext) -> Result<(S::Ciphertext, i64), CircuitError> {
        Ok((message, 1))
    }

    fn galois_elements(&self) -> Vec<GaloisElement> {
        self.unpacking.galois_elements().to_vec()
    }

    fn costs(&self) -> PathCosts {
        let unpacking = BootstrapCosts {
            key_switches: self.unpacking.key_switches(),
            ..BootstrapCosts::default()
        };
        let parts = self.unpacking.parts();
        PathCosts {
            to_slots: unpacking.then(self.maps().coeff_to_slot_costs().repeated(parts)),
            parts,
            to_coeff: self.maps().slot_to_coeff_costs().repeated(parts),
            project: BootstrapCosts::default(),
        }
    }
}
