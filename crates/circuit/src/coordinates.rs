//! The coordinates of whole slots of an index with axes in a normal basis.

use everlevel_ring::{GaloisElement, SlotShape};
use everlevel_scheme::{DiagonalValues, ExactScheme, Level, NextUse};

use crate::error::CircuitError;
use crate::transform::AxisTransform;

/// The coordinates of whole slots in the normal basis of [`AxisTransform::coeff_to_slot`], as d
/// thin ciphertexts: prepared for one level.
pub struct Coordinates<S: ExactScheme> {
    /// 1, φ, .., φ^(d-1).
    images: Vec<GaloisElement>,
    /// φ^g(ν*).
    duals: Vec<S::Diagonal>,
    /// How many coordinates are wanted.
    count: usize,
}

impl<S: ExactScheme> Coordinates<S> {
    /// Prepares d plaintexts.
    ///
    /// # Errors
    /// Those of [`AxisTransform::new`] and of the scheme.
    pub fn new(scheme: &S, exponent: u32, level: Level) -> Result<Self, CircuitError> {
        let duals = AxisTransform::new(scheme.slot_shape(), exponent)?.dual_basis()?;
        let prepared: Result<Vec<_>, _> = duals
            .into_iter()
            .map(|values| scheme.diagonal(&DiagonalValues::LastDimensions(values), exponent, level))
            .collect();
        let images = Self::images(scheme.slot_shape());
        Ok(Coordinates { count: images.len(), images, duals: prepared? })
    }

    /// Only the first `count` coordinates: for slots that those determine.
    #[must_use]
    pub fn first(self, count: usize) -> Self {
        Coordinates { count: count.min(self.images.len()), ..self }
    }

    /// The powers of Frobenius, the identity first: d - 1 hoisted key switches.
    pub fn images(shape: &SlotShape) -> Vec<GaloisElement> {
        let next = |g: &GaloisElement| Some(shape.compose(*g, shape.frobenius()));
        std::iter::successors(Some(shape.identity()), next).take(shape.degree_of_slot()).collect()
    }

    /// Calls `visit(f, a_f)` for z = Σ φ^f(ν) a_f and f = 0, .., d - 1, or those that are wanted:
    /// one level, d plaintext products each. The images of z under Frobenius, over the extended
    /// modulus, stay in memory until the end.
    ///
    /// # Errors
    /// Errors of the scheme and of `visit`, which end the loop.
    pub fn each(
        &self,
        scheme: &S,
        z: &S::Ciphertext,
        next: NextUse,
        mut visit: impl FnMut(usize, S::Ciphertext) -> Result<(), CircuitError>,
    ) -> Result<(), CircuitError> {
        let (images, d) = (scheme.hoist(z, &self.images)?, self.duals.len());
        for f in 0..self.count {
            let row = (0..d).map(|g| Some(&self.duals[(f + g) % d])).collect();
            let sums = scheme.combine(&images, &[row])?;
            visit(
                f,
                scheme.galois_sum(sums.into_iter().map(|x| (self.images[0], x)).collect(), next)?,
            )?;
        }
        Ok(())
    }
}
