//! The trait of paths: to the slots, back to the coefficients, and the cost of both.

use everlevel_ring::GaloisElement;
use everlevel_scheme::{Bootstrappable, ExactScheme, Level, Scheme};

use crate::bootstrap::groups::Maps;
use crate::bootstrap::observe::{Stage, Watch};
use crate::bootstrap::plan::BootstrapCosts;
use crate::error::CircuitError;

/// What is done to the values in slots of each ciphertext before they return to the coefficients;
/// reports its stage.
pub(in crate::bootstrap) type SlotFunction<'a, S> = dyn FnMut(
        Vec<<S as Scheme>::Ciphertext>,
        &mut Watch<'_, S>,
    ) -> Result<Vec<<S as Scheme>::Ciphertext>, CircuitError>
    + 'a;

/// The results of [`SlotPath::map`], for each ciphertext.
pub(in crate::bootstrap) struct Mapped<S: ExactScheme> {
    /// The polynomials whose coefficients are the results.
    pub(in crate::bootstrap) results: Vec<S::Ciphertext>,
    /// Ciphertexts that what [`SlotPath::project`] is given should be like, if not the results:
    /// with room for the noise of the constant that comes with the projection.
    pub(in crate::bootstrap) like: Option<Vec<S::Ciphertext>>,
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

/// How coefficients reach the slots and come back, for several ciphertexts of one level at a time,
/// which may read keys together.
///
/// Errors are those of the scheme and of the maps. What an implementation does in which order is
/// part of it: keys, levels and noise bounds follow from that.
pub(in crate::bootstrap) trait SlotPath<S: Bootstrappable>:
    Send + Sync
{
    /// The linear maps.
    fn maps(&self) -> &Maps<S>;

    /// The coefficients of each ciphertext that thin slots stand for, in the slots of one.
    fn thin_slots(
        &self,
        scheme: &S,
        us: Vec<S::Ciphertext>,
        watch: &mut Watch<'_, S>,
    ) -> Result<Vec<S::Ciphertext>, CircuitError>;

    /// The coefficients of each ciphertext that the path keeps to the slots of one or several, `f`
    /// of these, and the results back to the coefficients they came from.
    fn map(
        &self,
        scheme: &S,
        us: Vec<S::Ciphertext>,
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

    /// From thin slots to the polynomials whose coefficients they hold.
    fn slot_to_coeff(
        &self,
        scheme: &S,
        xs: Vec<S::Ciphertext>,
        watch: &mut Watch<'_, S>,
    ) -> Result<Vec<S::Ciphertext>, CircuitError> {
        let lists = xs.into_iter().map(|x| vec![x]).collect();
        Ok(self.maps().slots_to_coeff(scheme, lists, watch)?.results)
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
