//! The canonical embedding norm.

use std::sync::Arc;

use rustfft::{Fft, FftPlanner, num_complex::Complex64};

/// Computes ‖a‖ = max over the primitive m-th complex roots of unity ζ of |a(ζ)|, for real coefficients.
///
/// The norm is sub-additive and sub-multiplicative, invariant under automorphisms, and in a ring of power-of-two
/// index it bounds every coefficient.
pub struct CanonicalNorm {
    degree: usize,
    fft: Arc<dyn Fft<f64>>,
    twist: Vec<Complex64>,
}

impl CanonicalNorm {
    /// For polynomials of degree below `degree`, a power of two.
    pub fn new(degree: usize) -> Self {
        let twist = (0..degree).map(|k| Complex64::from_polar(1.0, std::f64::consts::PI * k as f64 / degree as f64)).collect();
        CanonicalNorm { degree, fft: FftPlanner::new().plan_fft_forward(degree), twist }
    }

    /// The moduli |a(ζ)| at all n embeddings, for coefficients in natural order (`coefficients.len()` = degree).
    pub fn embeddings(&self, coefficients: &[f64]) -> Vec<f64> {
        let mut buffer: Vec<Complex64> = coefficients.iter().zip(&self.twist).map(|(&c, w)| w * c).collect();
        buffer.resize(self.degree, Complex64::default());
        self.fft.process(&mut buffer);
        buffer.iter().map(|z| z.norm()).collect()
    }

    /// max |a(ζ)|, for coefficients in natural order.
    pub fn max(&self, coefficients: &[f64]) -> f64 {
        self.embeddings(coefficients).into_iter().fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_definition() {
        let n = 16;
        let a: Vec<f64> = (0..n).map(|i| ((i * i * 7 + 3) % 11) as f64 - 5.0).collect();
        let naive = (0..n).map(|j| {
            let angle = std::f64::consts::PI * (2 * j + 1) as f64 / n as f64;
            let z: Complex64 = (0..n).map(|k| Complex64::from_polar(a[k], angle * k as f64)).sum();
            z.norm()
        });
        let want = naive.fold(0.0, f64::max);
        assert!((CanonicalNorm::new(n).max(&a) - want).abs() < 1e-9 * want);
    }
}
