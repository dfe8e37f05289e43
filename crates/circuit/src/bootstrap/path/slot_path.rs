//! The trait of paths: to the slots, back to the coefficients, and the cost of both.

use everlevel_ring::GaloisElement;
use everlevel_scheme::{Bootstrappable, ExactScheme, Level, Scheme};

use crate::bootstrap::groups::Maps;
use crate::bootstrap::observe::{Stage, Watch};
use crate::bootstrap::plan::BootstrapCosts;
use crate::error::CircuitError;

/// What is done to the values in slots before they return to the coefficients; reports its stage.
pub(in crate::bootstrap) type SlotFunction<'a, S> = dyn FnMut(
        <S as Scheme>::Ciphertext,
        &mut Watch<'_, S>,
    ) -> Result<<S as Scheme>::Ciphertext, CircuitError>
    + 'a;

/// The result of [`SlotPath::map`].
pub(in crate::bootstrap) struct Mapped<S: ExactScheme> {
    /// The polynomial whose coefficients are the results.
    pub(in crate::bootstrap) result: S::Ciphertext,
    /// A ciphertext that what [`SlotPath::project`] is given should be like, if not `result`: with
    /// room for the noise of the constant that comes with the projection.
    pub(in crate::bootstrap) like: Option<S::Ciphertext>,
}

/// What a path costs: its share of [`BootstrapCosts`].
pub(in crate::bootstrap) struct PathCosts {
    /// All ciphertexts to the slots, once.
    pub(in crate::bootstrap) to_slots: BootstrapCosts,
    /// How many ciphertexts that makes: one run of the slot function each.
    pub(in crate::bootstrap) parts: usize,
    /// From the slots to one ciphertext.
    pub(in crate::bootstrap) to_coeff: BootstrapCosts,
    /// One projection.
    pub(in crate::bootstrap) project: BootstrapCosts,
}

/// How coefficients reach the slots and come back.
///
/// Errors are those of the scheme and of the maps. What an implementation does in which order is
/// part of it: keys, levels and noise bounds follow from that.
pub(in crate::bootstrap) trait SlotPath<S: Bootstrappable>:
    Send + Sync
{
    /// The linear maps.
    fn maps(&self) -> &Maps<S>;

    /// The coefficients of `u` that thin slots stand for, in the slots of one ciphertext.
    fn thin_slots(
        &self,
        scheme: &S,
        u: S::Ciphertext,
        watch: &mut Watch<'_, S>,
    ) -> Result<S::Ciphertext, CircuitError>;

    /// The coefficients of `u` that the path keeps to the slots of one or several ciphertexts, `f`
    /// of each, and the results back to the coefficients they came from.
    fn map(
        &self,
        scheme: &S,
        u: S::Ciphertext,
        f: &mut SlotFunction<'_, S>,
        watch: &mut Watch<'_, S>,
    ) -> Result<Mapped<S>, CircuitError>;

    /// The part of a polynomial that [`SlotPath::map`] keeps, up to a constant that it has yet to
    /// be multiplied by.
    fn project(
        &self,
        scheme: &S,
        message: S::Ciphertext,
    ) -> Result<(S::Ciphertext, i64), CircuitError>;

    /// The automorphisms that need keys beside those of the maps.
    fn galois_elements(&self) -> Vec<GaloisElement>;

    /// Key switches, plaintext products and levels.
    fn costs(&self) -> PathCosts;

    /// From thin slots to the polynomial whose coefficients they hold.
    fn slot_to_coeff(
        &self,
        scheme: &S,
        x: S::Ciphertext,
        watch: &mut Watch<'_, S>,
    ) -> Result<S::Ciphertext, CircuitError> {
        Ok(self.maps().slots_to_coeff(scheme, vec![x], watch)?.0)
    }

    /// Prepares the plaintexts of a stage (of one of its groups) for ciphertexts of one level;
    /// stages that the path does not have are ignored.
    fn prepare(
        &self,
        scheme: &S,
        stage: Stage,
        group: usize,
        level: Level,
    ) -> Result<(), CircuitError> {
        self.maps().prepare(scheme, stage, group, level)
    }
}

/// The error for a plan with a subring that its path cannot use.
pub(super) fn no_subring() -> CircuitError {
    CircuitError::PlanMismatch {
        reason: "a subring is for the full mode over an index with axes whose carrier has no \
                 square factor, and its degree divides that of the slots",
    }
}
