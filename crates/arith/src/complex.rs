//! Transforms of complex numbers, for magnitudes.

use std::sync::Arc;

pub use rustfft::num_complex::Complex64;
use rustfft::{Fft, FftPlanner};

/// The discrete Fourier transform of a length in floating point, for any length. It has no
/// normalization.
///
/// The crate that computes it is generic: all of it is compiled wherever it is called, which is
/// here, once.
pub struct ComplexTransform(Arc<dyn Fft<f64>>);

impl ComplexTransform {
    /// The transform of `length` numbers: number k of the result is Σ_j a_j exp(-2πi j k / length).
    pub fn new(length: usize) -> Self {
        ComplexTransform(FftPlanner::new().plan_fft_forward(length))
    }

    /// The number of values that are transformed.
    pub fn length(&self) -> usize {
        self.0.len()
    }

    /// The numbers of scratch that [`ComplexTransform::apply`] needs.
    pub fn scratch(&self) -> usize {
        self.0.get_inplace_scratch_len()
    }

    /// Transforms values in place. What is left in the scratch depends on them.
    ///
    /// # Panics
    /// If the values are not a multiple of the length, or the scratch is too short.
    pub fn apply(&self, values: &mut [Complex64], scratch: &mut [Complex64]) {
        self.0.process_with_scratch(values, scratch);
    }
}
