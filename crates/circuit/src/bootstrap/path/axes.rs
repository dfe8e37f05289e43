//! Indices with axes, axis by axis: one coefficient of each slot by a trace, or all by coordinates.

use std::sync::Arc;

use everlevel_ring::{GaloisElement, SlotShape};
use everlevel_scheme::spec::BootstrapMode;
use everlevel_scheme::{Bootstrappable, ExactScheme, Level, NextUse};

use super::slot_path::{Mapped, PathCosts, SlotFunction, SlotPath, no_subring};
use crate::bootstrap::groups::{AtLevel, MapKey, Maps, Setting, Shelf};
use crate::bootstrap::observe::{Stage, Watch};
use crate::bootstrap::plan::{BootstrapCosts, BootstrapPlan};
use crate::coordinates::Coordinates;
use crate::error::CircuitError;
use crate::linear::LinearMapPlan;
use crate::sums::PowerSum;
use crate::transform::{AxisTransform, Packing};

/// Coefficient-to-slot comes first and leaves elements of the slots. Their trace is the coefficient
/// that thin slots stand for; whole slots have d coordinates, which go back together.
pub(super) struct AxisPath<S: ExactScheme> {
    maps: Maps<S>,
    packing: Packing,
    exponent: u32,
    degree: usize,
    /// From the slots to Z/p^e, or, for the first coordinates only, what puts the others beside
    /// them.
    trace: PowerSum,
    /// The powers of Frobenius that coordinates are made of, but for the identity.
    conjugations: Vec<GaloisElement>,
    prepared: AtLevel<Coordinates<S>>,
}

impl<S: Bootstrappable> AxisPath<S> {
    /// # Errors
    /// [`CircuitError::PlanMismatch`], [`CircuitError::BadSizes`], [`CircuitError::TooManyKeys`],
    /// [`CircuitError::UnsupportedIndex`].
    pub(super) fn new(setting: &Setting<'_>, shelf: &mut Shelf<S>) -> Result<Self, CircuitError> {
        let shape = setting.shape;
        let packing = packing(shape, setting.plan)?;
        let maps = shelf.maps(setting, packing, |key| map(shape, key))?;
        let trace = match packing {
            Packing::First(count) => PowerSum::relative_trace(shape, count),
            Packing::Thin | Packing::Whole => PowerSum::trace(shape),
        };
        Ok(AxisPath {
            maps,
            packing,
            exponent: setting.raised_exponent,
            degree: shape.degree_of_slot(),
            trace,
            conjugations: Coordinates::<S>::images(shape).split_off(1),
            prepared: AtLevel::new(),
        })
    }

    fn coordinates(&self, scheme: &S, level: Level) -> Result<Arc<Coordinates<S>>, CircuitError> {
        let count = self.packing.vectors(self.degree);
        self.prepared
            .get(level, |_| Ok(Coordinates::new(scheme, self.exponent, level)?.first(count)))
    }

    /// Calls `visit` with each vector of coefficients of `u`, in the slots.
    fn each(
        &self,
        scheme: &S,
        u: S::Ciphertext,
        watch: &mut Watch<'_, S>,
        mut visit: impl FnMut(S::Ciphertext, &mut Watch<'_, S>) -> Result<(), CircuitError>,
    ) -> Result<(), CircuitError> {
        for z in self.maps.coeff_to_slots(scheme, vec![u], NextUse::LinearMap, watch)? {
            let coordinates = self.coordinates(scheme, scheme.level(&z))?;
            coordinates.each(scheme, &z, NextUse::Product, |_, part| {
                watch.done(Stage::Trace, 0, Some(&z), &part);
                visit(part, watch)
            })?;
        }
        Ok(())
    }

    /// The traces of the slots of all ciphertexts.
    fn traced(
        &self,
        scheme: &S,
        us: Vec<S::Ciphertext>,
        watch: &mut Watch<'_, S>,
    ) -> Result<Vec<S::Ciphertext>, CircuitError> {
        let zs = self.maps.coeff_to_slots(scheme, us, NextUse::LinearMap, watch)?;
        let trace = |z| Ok(scheme.prepare(&self.trace.apply(scheme, z)?, NextUse::Product)?);
        let traced = zs.iter().map(trace).collect::<Result<Vec<_>, CircuitError>>()?;
        watch.all_done(Stage::Trace, Some(&zs), &traced);
        Ok(traced)
    }
}

impl<S: Bootstrappable> SlotPath<S> for AxisPath<S> {
    fn maps(&self) -> &Maps<S> {
        &self.maps
    }

    fn thin_slots(
        &self,
        scheme: &S,
        us: Vec<S::Ciphertext>,
        watch: &mut Watch<'_, S>,
    ) -> Result<Vec<S::Ciphertext>, CircuitError> {
        if self.packing == Packing::Thin {
            return self.traced(scheme, us, watch);
        }
        let mut all = Vec::with_capacity(us.len());
        for u in us {
            let mut first = None;
            self.each(scheme, u, watch, |part, _| {
                first.get_or_insert(part);
                Ok(())
            })?;
            all.push(first.ok_or(CircuitError::Empty { what: "the list of coordinates" })?);
        }
        Ok(all)
    }

    fn map(
        &self,
        scheme: &S,
        us: Vec<S::Ciphertext>,
        f: &mut SlotFunction<'_, S>,
        watch: &mut Watch<'_, S>,
    ) -> Result<Mapped<S>, CircuitError> {
        if self.packing == Packing::Thin {
            let values = f(self.traced(scheme, us, watch)?, watch)?;
            let lists = values.into_iter().map(|x| vec![x]).collect();
            let results = self.maps.slots_to_coeff(scheme, lists, watch)?.results;
            return Ok(Mapped { results, like: None });
        }
        let mut results = Vec::with_capacity(us.len());
        for u in us {
            let mut parts = Vec::with_capacity(self.packing.vectors(self.degree));
            self.each(scheme, u, watch, |part, watch| {
                parts.extend(f(vec![part], watch)?);
                Ok(())
            })?;
            results.extend(self.maps.slots_to_coeff(scheme, vec![parts], watch)?.results);
        }
        if let Packing::First(_) = self.packing {
            // A polynomial that Frobenius to the power k fixes, from what its first k coordinates
            // gave.
            let completed = results.iter().map(|result| self.trace.apply(scheme, result));
            results = completed.collect::<Result<_, _>>()?;
        }
        Ok(Mapped { results, like: None })
    }

    fn project(&self, _: &S, message: S::Ciphertext) -> Result<(S::Ciphertext, i64), CircuitError> {
        Ok((message, 1))
    }

    fn galois_elements(&self) -> Vec<GaloisElement> {
        match self.packing {
            Packing::Thin => self.trace.galois_elements(),
            Packing::Whole | Packing::First(_) => self.conjugations.clone(),
        }
    }

    fn costs(&self) -> PathCosts {
        let (d, parts) = (self.degree, self.packing.vectors(self.degree));
        let switches = |key_switches| BootstrapCosts { key_switches, ..BootstrapCosts::default() };
        let coordinates = BootstrapCosts { plain_products: parts * d, depth: 1, ..switches(d - 1) };
        let trace = switches(self.trace.key_switches());
        let (gathered, completed) = match self.packing {
            Packing::Thin => (trace, BootstrapCosts::default()),
            Packing::Whole => (coordinates, BootstrapCosts::default()),
            Packing::First(_) => (coordinates, trace),
        };
        PathCosts {
            to_slots: self.maps.coeff_to_slot_costs().then(gathered),
            parts,
            to_coeff: self.maps.slot_to_coeff_costs().then(completed),
            project: BootstrapCosts::default(),
        }
    }

    fn prepare(
        &self,
        scheme: &S,
        stage: Stage,
        group: usize,
        level: Level,
    ) -> Result<(), CircuitError> {
        match stage {
            Stage::Trace if self.packing == Packing::Thin => Ok(()),
            Stage::Trace => self.coordinates(scheme, level).map(|_| ()),
            _ => self.maps.prepare(scheme, stage, group, level),
        }
    }
}

/// How many of the coefficients a plan moves.
fn packing(shape: &SlotShape, plan: &BootstrapPlan) -> Result<Packing, CircuitError> {
    let degree = shape.degree_of_slot();
    let whole = degree > 1 && plan.mode != BootstrapMode::Thin;
    let fits =
        |k: usize| whole && plan.mode == BootstrapMode::Full && k > 0 && degree.is_multiple_of(k);
    let normal = shape.has_normal_carrier();
    match plan.subring {
        Some(k) if !fits(k) || (k < degree && !normal) => Err(no_subring()),
        Some(k) if k < degree => Ok(Packing::First(k)),
        _ if whole => Ok(Packing::Whole),
        _ => Ok(Packing::Thin),
    }
}

/// The groups of one map.
fn map(shape: &SlotShape, key: &MapKey) -> Result<Vec<LinearMapPlan>, CircuitError> {
    let transform = AxisTransform::new(shape, key.exponent)?;
    let maps = if key.inverse {
        transform.coeff_to_slot(&key.sizes, key.packing)?
    } else {
        transform.slot_to_coeff(&key.sizes, key.packing)?
    };
    maps.iter().map(|map| LinearMapPlan::along_axes(map, &key.steps)).collect()
}
