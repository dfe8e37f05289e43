//! Decomposition of a polynomial into d polynomials in X^d, one for each coefficient of a slot, and
//! the inverse.
//!
//! a(X) = Σ_{j < d} X^j a_j(X^d). The automorphism φ_i negates X^(2^i) and fixes X^(2^(i+1)), so
//! for b in Z\[X^(2^i)\]
//!
//! ```text
//! b + φ_i(b) = 2 b_0,   X^(-2^i) (b - φ_i(b)) = 2 b_1,   b = b_0 + X^(2^i) b_1,
//! b_0 and b_1 in Z[X^(2^(i+1))]:
//! ```
//!
//! two halves from one key switch, as products with monomials cost none. A binary tree of log2 d
//! such steps ends in d a_j(X^d), after d - 1 key switches for log2 d keys. It is traversed depth
//! first, so that few ciphertexts are in memory. The constant of
//! [`SlotTransform::coeff_to_slot`](crate::transform::SlotTransform::coeff_to_slot) cancels the
//! factor d. Source: the automorphisms are those of Chen–Han 2018, appendix A, which keeps one half
//! of each step.

use everlevel_ring::{GaloisElement, SlotShape};
use everlevel_scheme::{ExactScheme, SchemeError};

use crate::error::CircuitError;

/// The decomposition for given slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpacking {
    /// φ_i for i = 0, 1, ..
    steps: Vec<GaloisElement>,
}

impl Unpacking {
    /// The decomposition for the slots of `shape`.
    pub fn new(shape: &SlotShape) -> Self {
        Unpacking { steps: shape.projection() }
    }

    /// The decomposition into 2^`depth` parts, whatever the degree of the slots, for an index that
    /// is a power of two and at least 2^(`depth` + 1).
    pub(crate) fn into_parts(shape: &SlotShape, depth: u32) -> Self {
        Unpacking { steps: shape.sign_changes(depth) }
    }

    /// The number d of parts.
    pub fn parts(&self) -> usize {
        1 << self.steps.len()
    }

    /// The number of key switches: d - 1.
    pub fn key_switches(&self) -> usize {
        self.parts() - 1
    }

    /// The automorphisms that need keys: log2 d.
    pub fn galois_elements(&self) -> &[GaloisElement] {
        &self.steps
    }

    /// Calls `visit(j, d a_j(X^d))` once for each j below d, in bit-reversed order of j: for d = 4,
    /// 0, 2, 1, 3. Besides those that `visit` keeps, at most log2 d + 1 ciphertexts are in memory
    /// between its calls, and one more within a step. Each step doubles the noise and adds that of
    /// a key switch.
    ///
    /// # Errors
    /// Errors of the scheme and of `visit`, which end the walk.
    pub fn unpack<S: ExactScheme>(
        &self,
        scheme: &S,
        x: S::Ciphertext,
        visit: impl FnMut(usize, S::Ciphertext) -> Result<(), CircuitError>,
    ) -> Result<(), CircuitError> {
        self.unpack_first(scheme, x, self.parts(), visit)
    }

    /// [`Unpacking::unpack`] for j below `count` alone.
    pub(crate) fn unpack_first<S: ExactScheme, E: From<SchemeError>>(
        &self,
        scheme: &S,
        x: S::Ciphertext,
        count: usize,
        mut visit: impl FnMut(usize, S::Ciphertext) -> Result<(), E>,
    ) -> Result<(), E> {
        // The polynomials that are still to be split, the next one last: ciphertexts, their steps
        // done, and the low bits of j.
        let mut waiting = vec![(x, 0, 0)];
        while let Some((b, step, j)) = waiting.pop() {
            let Some(&phi) = self.steps.get(step) else {
                visit(j, b)?;
                continue;
            };
            let image = scheme.apply_galois(&b, phi)?;
            if j | 1 << step < count {
                let odd = scheme.mul_monomial(&scheme.sub(&b, &image)?, -(1 << step))?;
                waiting.push((odd, step + 1, j | 1 << step));
            }
            waiting.push((scheme.add(&b, &image)?, step + 1, j));
        }
        Ok(())
    }
}

/// Σ X^j y_j, term by term: the inverse of [`Unpacking::unpack`] up to its factor d.
#[derive(Clone, Debug)]
pub struct Repacking<S: ExactScheme> {
    sum: Option<S::Ciphertext>,
}

impl<S: ExactScheme> Repacking<S> {
    /// The empty sum.
    pub fn new() -> Self {
        Repacking { sum: None }
    }

    /// Adds X^j `y`. No key switch.
    ///
    /// # Errors
    /// Errors of the scheme.
    pub fn add(&mut self, scheme: &S, j: usize, y: &S::Ciphertext) -> Result<(), CircuitError> {
        let term = scheme.mul_monomial(y, j as i64)?;
        self.sum = Some(match self.sum.take() {
            None => term,
            Some(sum) => scheme.add(&sum, &term)?,
        });
        Ok(())
    }

    /// The sum.
    ///
    /// # Errors
    /// [`CircuitError::Empty`] if nothing was added.
    pub fn finish(self) -> Result<S::Ciphertext, CircuitError> {
        self.sum.ok_or(CircuitError::Empty { what: "the sum of parts" })
    }
}

impl<S: ExactScheme> Default for Repacking<S> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modular::PrimePower;
    use everlevel_scheme::{Automorphisms, NoOp, OptIn, Params, Plaintext};
    use everlevel_testing::{SplitMix, toy_spec};

    #[test]
    fn any_polynomial_is_the_sum_of_its_parts() {
        for (index, p) in [(128, 127), (256, 127), (128, 257)] {
            let params = Params::new(toy_spec(index, p, 2), OptIn::InsecureResearch).unwrap();
            let (scheme, shape) = (NoOp::new(&params, 1), params.slot_shape());
            let (d, t) = (shape.degree_of_slot() as u64, PrimePower::new(p, 2).unwrap());
            let mut rng = SplitMix(index);
            let values: Vec<u64> = (0..index / 2).map(|_| rng.below(t.value())).collect();
            let plain = Plaintext::from_coefficients(&params, values.clone(), 2).unwrap();
            let x = scheme.encrypt(&plain).unwrap();
            let (unpacking, mut repacking) = (Unpacking::new(shape), Repacking::new());
            unpacking
                .unpack(&scheme, x, |j, part| {
                    // In Z[X^d]: fixed by all steps.
                    for g in unpacking.galois_elements() {
                        let moved = scheme.apply_galois(&part, *g)?;
                        assert_eq!(scheme.decrypt(&moved)?, scheme.decrypt(&part)?);
                    }
                    repacking.add(&scheme, j, &part)
                })
                .unwrap();
            let want: Vec<u64> = values.iter().map(|y| t.mul(d, *y)).collect();
            let found = scheme.decrypt(&repacking.finish().unwrap()).unwrap();
            assert_eq!(found.coefficients(), want);
        }
    }
}
