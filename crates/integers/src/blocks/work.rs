//! The parts of sums in blocks: what is held, and what is done with it.

use std::collections::BTreeMap;

use everlevel_circuit::CircuitError;
use everlevel_circuit::straight_line::Circuit;

/// A polynomial among those that are held, or among those of the digit that is taken now.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) held: bool,
    pub(super) at: usize,
}

/// What is added to sums, by their places.
#[derive(Default)]
pub(super) struct Work {
    pub(super) pairs: BTreeMap<usize, Vec<[Place; 2]>>,
    /// Terms of the inputs that are new here.
    pub(super) terms: BTreeMap<usize, Vec<(usize, i64)>>,
}

/// Powers and polynomials of some inputs.
pub(super) struct Powers {
    pub(super) inputs: Vec<usize>,
    pub(super) fourths: bool,
    pub(super) circuit: Circuit,
    /// Which outputs are factors of products, and which are terms.
    pub(super) factors: Vec<bool>,
    pub(super) terms: Vec<bool>,
}

/// Powers that are held, and those that are multiplied by them one after the other.
pub(super) struct Block {
    pub(super) held: Powers,
    pub(super) own: Work,
    pub(super) others: Vec<(Powers, Work)>,
}

pub(super) fn missing() -> CircuitError {
    CircuitError::Empty { what: "a block of a sum" }
}
