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
        u: S::Ciphertext,
        watch: &mut Watch<'_, S>,
    ) -> Result<S::Ciphertext, CircuitError> {
        self.part.thin_slots(scheme, u, watch)
    }

    fn map(
        &self,
        scheme: &S,
        u: S::Ciphertext,
        f: &mut SlotFunction<'_, S>,
        watch: &mut Watch<'_, S>,
    ) -> Result<Mapped<S>, CircuitError> {
        let (maps, mut parts) = (self.maps(), Repacking::new());
        self.unpacking.unpack(scheme, u, |j, part| {
            let part = scheme.prepare(&part, NextUse::LinearMap)?;
            watch.done(Stage::Trace, 0, None, &part);
            let part = maps.coeff_to_slots(scheme, part, NextUse::Product, watch)?;
            let part = f(part, watch)?;
            parts.add(scheme, j, &maps.slots_to_coeff(scheme, vec![part], watch)?.0)
        })?;
        let result = parts.finish()?;
        watch.done(Stage::Assemble, 0, Some(&result), &result);
        Ok(Mapped { result, like: None })
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
