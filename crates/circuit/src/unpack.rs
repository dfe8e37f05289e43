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
use everlevel_scheme::{ExactScheme, SchemeError, SparseForm};
use rayon::prelude::*;

use crate::error::CircuitError;

/// How many siblings the last stage takes apart together, where two steps are made at once: all
/// that two steps make of one polynomial.
const SIBLINGS: usize = 4;

/// The decomposition for given slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpacking {
    stages: Vec<Stage>,
    /// The automorphisms of all stages.
    elements: Vec<GaloisElement>,
    /// log2 d.
    depth: u32,
    /// How many siblings the last stage takes apart together.
    together: usize,
}

/// One step of the tree, or two of them at once.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stage {
    /// i, the first of the steps.
    step: u32,
    /// φ_i, or φ_i, φ_(i+1) and φ_i φ_(i+1).
    elements: Vec<GaloisElement>,
    /// n/2: φ_(i+1) takes X^(-2^i) to X^(-2^i - n/2).
    quarter: i64,
}

/// Ciphertexts that are still to be taken apart, with the low bits of j.
type Parts<C> = Vec<(C, usize)>;

impl Unpacking {
    /// The decomposition for the slots of `shape`.
    pub fn new(shape: &SlotShape) -> Self {
        Self::of(shape, &shape.projection(), 1)
    }

    /// The decomposition into 2^`depth` parts, whatever the degree of the slots, for an index that
    /// is a power of two and at least 2^(`depth` + 1); two steps at once.
    ///
    /// The four parts after steps i and i + 1 come from the images of b under φ_i, φ_(i+1) and
    /// φ_i φ_(i+1), with one decomposition for three key switches:
    ///
    /// ```text
    /// u = b + φ_i(b), w = b - φ_i(b), v and y the same of φ_(i+1)(b), z = X^(-n/2) y:
    /// u + v,   X^(-2^(i+1)) (u - v),   X^(-2^i) (w + z),   X^(-2^i - 2^(i+1)) (w - z).
    /// ```
    pub(crate) fn into_parts(shape: &SlotShape, depth: u32) -> Self {
        Self::of(shape, &shape.sign_changes(depth), 2)
    }

    /// `at_once` steps at once, one or two. If their number is odd, the first one is by itself: the
    /// last ones have the most nodes.
    fn of(shape: &SlotShape, steps: &[GaloisElement], at_once: usize) -> Self {
        let quarter = (shape.ring_index() / 4) as i64;
        let (first, rest) = steps.split_at(steps.len() % at_once);
        let mut stages: Vec<Stage> = Vec::new();
        let mut step = 0;
        for alike in first.chunks(1).chain(rest.chunks(at_once)) {
            let elements = match alike {
                [phi, next] => vec![*phi, *next, shape.compose(*phi, *next)],
                _ => alike.to_vec(),
            };
            stages.push(Stage { step, elements, quarter });
            step += alike.len() as u32;
        }
        let elements = stages.iter().flat_map(|stage| stage.elements.clone()).collect();
        let together = if at_once == 1 { 1 } else { SIBLINGS };
        Unpacking { stages, elements, depth: step, together }
    }

    /// The number d of parts.
    pub fn parts(&self) -> usize {
        1 << self.depth
    }

    /// The number of key switches: d - 1.
    pub fn key_switches(&self) -> usize {
        self.parts() - 1
    }

    /// The automorphisms that need keys: log2 d for [`Unpacking::new`].
    pub fn galois_elements(&self) -> &[GaloisElement] {
        &self.elements
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
        // The polynomials that are still to be split, the next one last: ciphertexts, their stages
        // done, and the low bits of j.
        let mut waiting = vec![(x, 0, 0)];
        while let Some((b, done, j)) = waiting.pop() {
            let Some(stage) = self.stages.get(done) else {
                visit(j, b)?;
                continue;
            };
            let mut siblings = vec![(b, j)];
            if done + 1 == self.stages.len() {
                while siblings.len() < self.together
                    && let Some((b, _, j)) = waiting.pop_if(|(_, others, _)| *others == done)
                {
                    siblings.push((b, j));
                }
            }
            let parts = stage.apart(scheme, siblings, count)?;
            waiting.extend(parts.into_iter().rev().map(|(part, j)| (part, done + 1, j)));
        }
        Ok(())
    }
}

/// Σ w x of the values with constants other than 0.
fn form(weights: &[i64]) -> SparseForm {
    let terms = weights.iter().copied().enumerate().filter(|(_, w)| *w != 0);
    SparseForm { terms: terms.collect(), constant: 0 }
}

impl Stage {
    /// The parts of each of these with j below `count`, in bit-reversed order of j.
    fn apart<S: ExactScheme>(
        &self,
        scheme: &S,
        siblings: Parts<S::Ciphertext>,
        count: usize,
    ) -> Result<Parts<S::Ciphertext>, SchemeError> {
        match self.elements[..] {
            [phi] => self.halves(scheme, phi, siblings, count),
            _ => self.quarters(scheme, siblings, count),
        }
    }

    /// Two parts of each.
    fn halves<S: ExactScheme>(
        &self,
        scheme: &S,
        phi: GaloisElement,
        siblings: Parts<S::Ciphertext>,
        count: usize,
    ) -> Result<Parts<S::Ciphertext>, SchemeError> {
        let mut parts = Vec::with_capacity(2 * siblings.len());
        for (b, j) in siblings {
            let (image, odd) = (scheme.apply_galois(&b, phi)?, j | 1 << self.step);
            let turned = match odd < count {
                true => Some(scheme.mul_monomial(&scheme.sub(&b, &image)?, -(1_i64 << self.step))?),
                false => None,
            };
            parts.push((scheme.add(&b, &image)?, j));
            parts.extend(turned.map(|part| (part, odd)));
        }
        Ok(parts)
    }

    /// Four parts of each; powers of X are transformed once for all of them.
    fn quarters<S: ExactScheme>(
        &self,
        scheme: &S,
        siblings: Parts<S::Ciphertext>,
        count: usize,
    ) -> Result<Parts<S::Ciphertext>, SchemeError> {
        // Threads that take a sibling each do not wait for each other at every step.
        let taken = |(b, j): (S::Ciphertext, usize)| {
            let images = scheme.apply_galois_many(&b, &self.elements)?;
            let xs: Vec<&S::Ciphertext> = std::iter::once(&b).chain(&images).collect();
            // The even parts, then w and y.
            let rows = [[1, 1, 1, 1], [1, 1, -1, -1], [1, -1, 0, 0], [0, 0, 1, -1]];
            let mut even = scheme.sparse_combinations(&xs, &rows.map(|row| form(&row)))?;
            let odd = even.split_off(2);
            Ok::<_, SchemeError>((even, odd, j))
        };
        let taken = siblings.into_par_iter().map(taken).collect::<Result<Vec<_>, _>>()?;
        let factors: Vec<_> = taken.iter().map(|(_, odd, _)| (&odd[1], -self.quarter)).collect();
        let turned = scheme.mul_monomials(&factors)?;
        // What is left of each power of X comes last, and is kept beside the part until then.
        let (low, high) = (1_usize << self.step, 2_usize << self.step);
        let mut parts = Vec::with_capacity(4 * taken.len());
        for ((even, odd, j), z) in taken.into_iter().zip(turned) {
            let rows = [[1, 1], [1, -1]].map(|row| form(&row));
            let odd = scheme.sparse_combinations(&[&odd[0], &z], &rows)?;
            let all = even.into_iter().chain(odd).zip([0, high, low, low | high]);
            let asked = all.filter(|(_, bits)| j | bits < count);
            parts.extend(asked.map(|(part, bits)| (part, j, bits)));
        }
        let moved = parts.iter().filter(|(_, _, bits)| *bits > 0);
        let factors: Vec<_> = moved.map(|(part, _, bits)| (part, -(*bits as i64))).collect();
        let mut turned = scheme.mul_monomials(&factors)?.into_iter();
        let finished = |(part, j, bits): (S::Ciphertext, usize, usize)| match bits {
            0 => Some((part, j)),
            _ => turned.next().map(|part| (part, j | bits)),
        };
        Ok(parts.into_iter().filter_map(finished).collect())
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
