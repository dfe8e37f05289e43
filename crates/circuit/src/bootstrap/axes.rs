//! Between the slots of an odd index and the digit removal: traces, or the coordinates of whole slots.

use std::sync::Arc;

use everlevel_ring::{GaloisElement, SlotShape};
use everlevel_scheme::{Level, NextUse, Scheme};

use super::groups::AtLevel;
use super::observe::{Stage, Watch};
use super::plan::BootstrapCosts;
use crate::axis_transform::Packing;
use crate::coordinates::Coordinates;
use crate::error::CircuitError;
use crate::sums::PowerSum;

/// What follows coefficient-to-slot.
pub(super) struct AxisPath<S: Scheme> {
    packing: Packing,
    exponent: u32,
    trace: PowerSum,
    prepared: AtLevel<Coordinates<S>>,
}

impl<S: Scheme> AxisPath<S> {
    pub(super) fn new(shape: &SlotShape, packing: Packing, exponent: u32) -> Self {
        AxisPath { packing, exponent, trace: PowerSum::trace(shape), prepared: AtLevel::new() }
    }
    pub(super) fn galois_elements(&self, shape: &SlotShape) -> Vec<GaloisElement> {
        match self.packing {
            Packing::Thin => self.trace.galois_elements(),
            Packing::Whole => Coordinates::<S>::images(shape).split_off(1),
        }
    }
    /// Key switches, plaintext products and levels.
    pub(super) fn costs(&self, shape: &SlotShape) -> BootstrapCosts {
        let (key_switches, plain_products, depth) = match (self.packing, shape.degree_of_slot()) {
            (Packing::Thin, _) => (self.trace.key_switches(), 0, 0),
            (Packing::Whole, d) => (d - 1, d * d, 1),
        };
        BootstrapCosts { key_switches, plain_products, depth, ..BootstrapCosts::default() }
    }
    /// Prepares the plaintexts for one level, if there are any.
    pub(super) fn prepare(&self, scheme: &S, level: Level) -> Result<(), CircuitError> {
        if self.packing == Packing::Whole {
            self.coordinates(scheme, level)?;
        }
        Ok(())
    }
    fn coordinates(&self, scheme: &S, level: Level) -> Result<Arc<Coordinates<S>>, CircuitError> {
        self.prepared.get(level, || Coordinates::new(scheme, self.exponent, level))
    }
    /// The sum of the conjugates of `z`: the coefficients that thin slots stand for.
    pub(super) fn traced(&self, scheme: &S, z: &S::Ciphertext, watch: &mut Watch<'_, S>) -> Result<S::Ciphertext, CircuitError> {
        let traced = scheme.prepare(&self.trace.apply(scheme, z)?, NextUse::Product)?;
        watch.done(Stage::Trace, 0, Some(z), &traced);
        Ok(traced)
    }
    /// Calls `visit` with each vector of coefficients that `z` stands for.
    pub(super) fn each(
        &self,
        scheme: &S,
        z: &S::Ciphertext,
        watch: &mut Watch<'_, S>,
        mut visit: impl FnMut(S::Ciphertext, &mut Watch<'_, S>) -> Result<(), CircuitError>,
    ) -> Result<(), CircuitError> {
        if self.packing == Packing::Thin {
            let traced = self.traced(scheme, z, watch)?;
            return visit(traced, watch);
        }
        self.coordinates(scheme, scheme.level(z))?.each(scheme, z, NextUse::Product, |_, part| {
            watch.done(Stage::Trace, 0, Some(z), &part);
            visit(part, watch)
        })
    }
}
