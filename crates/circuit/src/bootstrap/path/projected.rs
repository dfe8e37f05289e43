//! Power-of-two indices by the projection onto Z\[X^d\].

use everlevel_ring::{GaloisElement, SlotShape};
use everlevel_scheme::{Bootstrappable, ExactScheme, NextUse};

use super::slot_path::{Mapped, PathCosts, SlotFunction, SlotPath, no_subring};
use crate::bootstrap::groups::{MapKey, Maps, Setting, Shelf};
use crate::bootstrap::observe::{Stage, Watch};
use crate::bootstrap::plan::BootstrapCosts;
use crate::error::CircuitError;
use crate::linear::LinearMapPlan;
use crate::modular::PrimePower;
use crate::transform::{Packing, SlotTransform, check_splits};

/// A polynomial is projected onto Z\[X^d\], which has one coefficient for each slot, and goes
/// there in one ciphertext: for thin plaintexts.
pub(super) struct Projected<S: ExactScheme> {
    maps: Maps<S>,
    /// The steps of the projection, which multiplies by d.
    projection: Vec<GaloisElement>,
    /// 1/d modulo p, centered.
    inverse_degree: i64,
    /// Whether the projection follows coefficient-to-slot, at a lower level: where slots repeat,
    /// all diagonals are polynomials in X^d, which the projection leaves as they are.
    late: bool,
}

impl<S: Bootstrappable> Projected<S> {
    /// # Errors
    /// [`CircuitError::PlanMismatch`], [`CircuitError::BadSplits`], [`CircuitError::TooManyKeys`].
    pub(super) fn new(setting: &Setting<'_>, shelf: &mut Shelf<S>) -> Result<Self, CircuitError> {
        let shape = setting.shape;
        if setting.plan.subring.is_some() {
            return Err(no_subring());
        }
        let maps = shelf.maps(setting, Packing::Thin, |key| map(shape, key))?;
        let p = PrimePower::new(shape.plain_prime(), 1)?;
        let inverse_degree = p.centered(p.inv(shape.degree_of_slot() as u64)?);
        let late = shape.repetitions() > 1;
        Ok(Projected { maps, projection: shape.projection(), inverse_degree, late })
    }

    /// The projections of all ciphertexts.
    fn each_projected(
        &self,
        scheme: &S,
        xs: Vec<S::Ciphertext>,
        next: NextUse,
        watch: &mut Watch<'_, S>,
    ) -> Result<Vec<S::Ciphertext>, CircuitError> {
        let projected =
            |x: &S::Ciphertext| Ok(scheme.prepare(&self.projected(scheme, x.clone())?, next)?);
        let ys = xs.iter().map(projected).collect::<Result<Vec<_>, CircuitError>>()?;
        watch.all_done(Stage::Trace, Some(&xs), &ys);
        Ok(ys)
    }

    /// d times the part of `x` in Z\[X^d\], in log2 d steps (Chen–Han 2018, appendix A).
    fn projected(&self, scheme: &S, mut x: S::Ciphertext) -> Result<S::Ciphertext, CircuitError> {
        for g in &self.projection {
            x = scheme.add(&x, &scheme.apply_galois(&x, *g)?)?;
        }
        Ok(x)
    }
}

impl<S: Bootstrappable> SlotPath<S> for Projected<S> {
    fn maps(&self) -> &Maps<S> {
        &self.maps
    }

    fn thin_slots(
        &self,
        scheme: &S,
        mut us: Vec<S::Ciphertext>,
        watch: &mut Watch<'_, S>,
    ) -> Result<Vec<S::Ciphertext>, CircuitError> {
        if self.late {
            let zs = self.maps.coeff_to_slots(scheme, us, NextUse::LinearMap, watch)?;
            return self.each_projected(scheme, zs, NextUse::Product, watch);
        }
        if !self.projection.is_empty() {
            us = self.each_projected(scheme, us, NextUse::LinearMap, watch)?;
        }
        self.maps.coeff_to_slots(scheme, us, NextUse::Product, watch)
    }

    fn map(
        &self,
        scheme: &S,
        us: Vec<S::Ciphertext>,
        f: &mut SlotFunction<'_, S>,
        watch: &mut Watch<'_, S>,
    ) -> Result<Mapped<S>, CircuitError> {
        let values = f(self.thin_slots(scheme, us, watch)?, watch)?;
        let lists = values.into_iter().map(|x| vec![x]).collect();
        let applied = self.maps.slots_to_coeff(scheme, lists, watch)?;
        // 1/d is a large constant: one group higher there is room for its noise.
        let like = applied.before.filter(|_| !self.projection.is_empty());
        Ok(Mapped { results: applied.results, like })
    }

    fn project(
        &self,
        scheme: &S,
        message: S::Ciphertext,
    ) -> Result<(S::Ciphertext, i64), CircuitError> {
        Ok((self.projected(scheme, message)?, self.inverse_degree))
    }

    fn galois_elements(&self) -> Vec<GaloisElement> {
        self.projection.clone()
    }

    fn costs(&self) -> PathCosts {
        let project =
            BootstrapCosts { key_switches: self.projection.len(), ..BootstrapCosts::default() };
        PathCosts {
            to_slots: project.then(self.maps.coeff_to_slot_costs()),
            parts: 1,
            to_coeff: self.maps.slot_to_coeff_costs(),
            project,
        }
    }
}

/// The groups of one map.
fn map(shape: &SlotShape, key: &MapKey) -> Result<Vec<LinearMapPlan>, CircuitError> {
    let transform = SlotTransform::new(shape, key.exponent)?;
    let maps = if key.inverse {
        // The projection onto Z[X^d] multiplies everything by d.
        let factor = transform.modulus().inv(shape.degree_of_slot() as u64)?;
        let reversed: Vec<usize> = key.sizes.iter().rev().copied().collect();
        transform.coeff_to_slot(&splits(&reversed, transform.stages())?, factor)?
    } else {
        transform.slot_to_coeff(&splits(&key.sizes, transform.stages())?)?
    };
    maps.iter().map(|map| LinearMapPlan::new(map, shape, &key.steps)).collect()
}

/// Group sizes to split points.
fn splits(sizes: &[usize], stages: usize) -> Result<Vec<usize>, CircuitError> {
    let mut ends = Vec::with_capacity(sizes.len());
    let mut end = 0usize;
    for size in sizes {
        end = end.saturating_add(*size);
        ends.push(end);
    }
    let bad = CircuitError::BadSplits { splits: ends.clone(), stages };
    if ends.pop() != Some(stages) {
        return Err(bad);
    }
    check_splits(&ends, stages).map_err(|_| bad)?;
    Ok(ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_become_split_points() {
        assert_eq!(splits(&[5, 4, 3], 12).unwrap(), [5, 9]);
        assert_eq!(splits(&[3, 4, 5], 12).unwrap(), [3, 7]);
        for bad in [vec![], vec![3, 4], vec![0, 12], vec![12, 0], vec![13], vec![usize::MAX, 13]] {
            assert!(matches!(splits(&bad, 12), Err(CircuitError::BadSplits { .. })));
        }
    }
}
