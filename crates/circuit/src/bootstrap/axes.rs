//! Between the slots of an odd index and the digit removal: traces, or the coordinates of whole
//! slots.

use std::sync::Arc;

use everlevel_ring::{GaloisElement, SlotShape};
use everlevel_scheme::{Level, NextUse, Scheme};

use super::groups::AtLevel;
use super::observe::{Stage, Watch};
use super::plan::BootstrapCosts;
use crate::coordinates::Coordinates;
use crate::error::CircuitError;
use crate::sums::PowerSum;
use crate::transform::Packing;

/// What follows coefficient-to-slot.
pub(super) struct AxisPath<S: Scheme> {
    packing: Packing,
    exponent: u32,
    /// From the slots to Z/p^e, or, for the first coordinates only, what puts the others beside
    /// them.
    trace: PowerSum,
    prepared: AtLevel<Coordinates<S>>,
}

impl<S: Scheme> AxisPath<S> {
    pub(super) fn new(shape: &SlotShape, packing: Packing, exponent: u32) -> Self {
        let trace = match packing {
            Packing::First(count) => PowerSum::relative_trace(shape, count),
            Packing::Thin | Packing::Whole => PowerSum::trace(shape),
        };
        AxisPath { packing, exponent, trace, prepared: AtLevel::new() }
    }

    pub(super) fn galois_elements(&self, shape: &SlotShape) -> Vec<GaloisElement> {
        match self.packing {
            Packing::Thin => self.trace.galois_elements(),
            Packing::Whole | Packing::First(_) => Coordinates::<S>::images(shape).split_off(1),
        }
    }

    /// Key switches, plaintext products and levels.
    pub(super) fn costs(&self, shape: &SlotShape) -> BootstrapCosts {
        let (key_switches, plain_products, depth) = match (self.packing, shape.degree_of_slot()) {
            (Packing::Thin, _) => (self.trace.key_switches(), 0, 0),
            (Packing::Whole, d) => (d - 1, d * d, 1),
            (Packing::First(count), d) => (d - 1 + self.trace.key_switches(), count * d, 1),
        };
        BootstrapCosts { key_switches, plain_products, depth, ..BootstrapCosts::default() }
    }

    /// Prepares the plaintexts for one level, if there are any.
    pub(super) fn prepare(&self, scheme: &S, level: Level) -> Result<(), CircuitError> {
        if self.packing != Packing::Thin {
            self.coordinates(scheme, level)?;
        }
        Ok(())
    }

    fn coordinates(&self, scheme: &S, level: Level) -> Result<Arc<Coordinates<S>>, CircuitError> {
        let count = self.packing.vectors(scheme.slot_shape().degree_of_slot());
        self.prepared
            .get(level, || Ok(Coordinates::new(scheme, self.exponent, level)?.first(count)))
    }

    /// The sum of the conjugates of `z`: the coefficients that thin slots stand for.
    pub(super) fn traced(
        &self,
        scheme: &S,
        z: &S::Ciphertext,
        watch: &mut Watch<'_, S>,
    ) -> Result<S::Ciphertext, CircuitError> {
        let traced = scheme.prepare(&self.trace.apply(scheme, z)?, NextUse::Product)?;
        watch.done(Stage::Trace, 0, Some(z), &traced);
        Ok(traced)
    }

    /// A polynomial that Frobenius to the power k fixes from the part of it that the first k
    /// coordinates gave; any other as it is.
    pub(super) fn completed(
        &self,
        scheme: &S,
        x: S::Ciphertext,
    ) -> Result<S::Ciphertext, CircuitError> {
        match self.packing {
            Packing::First(_) => self.trace.apply(scheme, &x),
            Packing::Thin | Packing::Whole => Ok(x),
        }
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
