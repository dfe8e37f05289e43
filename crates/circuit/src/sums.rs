//! Sums of images under the powers of an automorphism: traces, and sums along the dimensions of the
//! slots.

use std::collections::BTreeSet;

use everlevel_ring::{GaloisElement, SlotShape};
use everlevel_scheme::{ExactScheme, Level, NextUse};

use crate::error::CircuitError;

/// The map x ↦ Σ g^k(x) over 0 <= k < n for an automorphism g, by doubling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PowerSum {
    element: GaloisElement,
    /// g^k where the sum of k images is doubled, and whether one more is added then.
    steps: Vec<(GaloisElement, bool)>,
}

impl PowerSum {
    /// The trace of GR(p^e, d) over Z/p^e in every slot: the sum of the powers of Frobenius.
    pub fn trace(shape: &SlotShape) -> Self {
        Self::of(shape, shape.frobenius(), shape.degree_of_slot())
    }

    /// The trace of GR(p^e, d) over its subring GR(p^e, degree) in every slot, `degree` dividing d:
    /// the sum of the powers of Frobenius to this power.
    pub fn relative_trace(shape: &SlotShape, degree: usize) -> Self {
        let step = power(shape, shape.frobenius(), degree);
        Self::of(shape, step, shape.degree_of_slot() / degree.max(1))
    }

    /// The sum along a dimension, in every slot: exact along good dimensions, and along any one for
    /// thin slots that are constant along all others.
    ///
    /// # Errors
    /// [`CircuitError::UnknownDimension`].
    pub fn along(shape: &SlotShape, dimension: usize) -> Result<Self, CircuitError> {
        let found = shape.dimensions().get(dimension);
        let found = found.ok_or(CircuitError::UnknownDimension {
            dimension,
            dimensions: shape.dimensions().len(),
        })?;
        Ok(Self::of(shape, found.generator, found.size))
    }

    /// In each slot, the sum of `count` slots along a good dimension, beginning with this one and
    /// `step` slots apart, cyclically. For values that repeat along the dimension after `count`
    /// steps, it is the sum over a period.
    ///
    /// # Errors
    /// [`CircuitError::UnknownDimension`], also for one that is not good; [`CircuitError::Empty`]
    /// for no slots.
    pub fn windows(
        shape: &SlotShape,
        dimension: usize,
        count: usize,
        step: usize,
    ) -> Result<Self, CircuitError> {
        let dimensions = shape.dimensions();
        if dimensions.get(dimension).is_none_or(|found| !found.good) {
            let dimensions = dimensions.iter().take_while(|found| found.good).count();
            return Err(CircuitError::UnknownDimension { dimension, dimensions });
        }
        if count == 0 {
            return Err(CircuitError::Empty { what: "the window" });
        }
        Ok(Self::of(shape, shape.rotation_along(dimension, step as i64), count))
    }

    /// The sum of `count` images, one at least.
    fn of(shape: &SlotShape, element: GaloisElement, count: usize) -> Self {
        let bits = count.checked_ilog2().unwrap_or(0);
        let step = |bit: u32| (power(shape, element, count >> (bit + 1)), count >> bit & 1 == 1);
        PowerSum { element, steps: (0..bits).rev().map(step).collect() }
    }

    /// The number of key switches: log2 n, and one for each other bit of n that is set.
    pub fn key_switches(&self) -> usize {
        self.steps.iter().map(|(_, odd)| 1 + usize::from(*odd)).sum()
    }

    /// The automorphisms that need keys, each once.
    pub fn galois_elements(&self) -> Vec<GaloisElement> {
        let odd = self.steps.iter().any(|(_, odd)| *odd).then_some(self.element);
        self.steps.iter().map(|(g, _)| *g).chain(odd).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The sum. It takes no level; the noise is multiplied by n at most, and that of the key
    /// switches is added.
    ///
    /// # Errors
    /// Errors of the scheme.
    pub fn apply<S: ExactScheme>(
        &self,
        scheme: &S,
        x: &S::Ciphertext,
    ) -> Result<S::Ciphertext, CircuitError> {
        let mut sum = x.clone();
        for (g, odd) in &self.steps {
            sum = scheme.add(&sum, &scheme.apply_galois(&sum, *g)?)?;
            if *odd {
                sum = scheme.add(x, &scheme.apply_galois(&sum, self.element)?)?;
            }
        }
        Ok(sum)
    }

    /// The product of the images instead of their sum, which is the norm for [`PowerSum::trace`].
    /// The depth and the number of products are the number of key switches.
    ///
    /// # Errors
    /// Errors of the scheme.
    pub fn multiply<S: ExactScheme>(
        &self,
        scheme: &S,
        x: &S::Ciphertext,
    ) -> Result<S::Ciphertext, CircuitError> {
        let mut product = x.clone();
        for (g, odd) in &self.steps {
            let image = scheme.apply_galois(&product, *g)?;
            product = scheme.mul(&product, &image, NextUse::Product)?;
            if *odd {
                let image = scheme.apply_galois(&product, self.element)?;
                product = scheme.mul(x, &image, NextUse::Product)?;
            }
        }
        Ok(product)
    }
}

/// g^k in log2 k steps.
fn power(shape: &SlotShape, element: GaloisElement, mut k: usize) -> GaloisElement {
    let (mut found, mut square) = (shape.identity(), element);
    while k > 0 {
        if k & 1 == 1 {
            found = shape.compose(found, square);
        }
        square = shape.compose(square, square);
        k >>= 1;
    }
    found
}

/// The sum of all slots of a thin ciphertext, in every slot: one [`PowerSum`] for each dimension.
///
/// # Errors
/// Errors of the scheme.
pub fn total_sum<S: ExactScheme>(
    scheme: &S,
    x: &S::Ciphertext,
) -> Result<S::Ciphertext, CircuitError> {
    let shape = scheme.slot_shape();
    // The last dimension, which may be bad, comes last: by then slots are constant along the
    // others.
    (0..shape.dimensions().len())
        .try_fold(x.clone(), |x, dimension| PowerSum::along(shape, dimension)?.apply(scheme, &x))
}

/// [`total_sum`] at the highest level that has all its keys.
///
/// # Errors
/// Errors of the scheme.
pub fn sum_by_keys<S: ExactScheme>(
    scheme: &S,
    x: &S::Ciphertext,
) -> Result<S::Ciphertext, CircuitError> {
    let shape = scheme.slot_shape();
    let dimensions = 0..shape.dimensions().len();
    let sums = dimensions
        .map(|dimension| PowerSum::along(shape, dimension))
        .collect::<Result<Vec<_>, _>>()?;
    let elements: Vec<_> = sums.iter().flat_map(PowerSum::galois_elements).collect();
    // Without any key the sum itself says which one is missing.
    let lower = |level: Level| {
        elements.iter().fold(level, |level, &g| scheme.galois_level(g, level).unwrap_or(level))
    };
    let mut level = scheme.level(x);
    while lower(level) < level {
        level = lower(level);
    }
    total_sum(scheme, &scheme.mod_switch_to(x, level)?)
}
