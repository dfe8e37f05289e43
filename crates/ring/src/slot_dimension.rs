//! One dimension of the slots.

use crate::galois::GaloisElement;

/// One dimension of the hypercube of slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SlotDimension {
    /// How many slots lie along it.
    pub size: usize,
    /// X -> X^g that moves slots by one to the left along it, g the *generator* of the dimension.
    pub generator: GaloisElement,
    /// Whether g^size = 1, so that slots move cyclically. If not, those that pass the end arrive
    /// changed, see [`SlotShape`](crate::SlotShape).
    pub good: bool,
}
