//! The levels of the maximum.

use everlevel_scheme::{Arithmetic, Level, SchemeError};

/// The levels of a computation whose weights are random, and so the noise of what is multiplied by
/// them: set beforehand, so that a rehearsal with other weights knows all keys.
#[derive(Clone, Copy, Debug)]
pub(in crate::transciphering) struct Levels {
    /// Of what is multiplied by weights.
    pub weighted: Level,
    /// Of the factors of flags.
    pub product: Level,
    /// Of their sums.
    pub sums: Level,
    /// Of what is multiplied by its image.
    pub norm: Level,
    /// Of refreshed flags, which have more than they need.
    pub fresh: Level,
    /// Of the largest digit when it is copied into all slots.
    pub digit: Level,
}

/// At a level, unless it is below.
pub(super) fn lowered<S: Arithmetic>(
    scheme: &S,
    x: &S::Ciphertext,
    level: Level,
) -> Result<S::Ciphertext, SchemeError> {
    scheme.mod_switch_to(x, level.min(scheme.level(x)))
}
