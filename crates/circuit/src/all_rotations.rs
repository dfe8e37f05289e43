//! All rotations of a ciphertext by 0 to a power of two, from few decompositions.
//!
//! k has a digit of up to three bits for each stage, the upper ones first. The rotations of one
//! ciphertext by the digits of a stage share its decomposition, which takes about as many
//! transforms as one of them does then. Source: hoisting, Halevi and Shoup 2018 (ia.cr/2018/244),
//! section 4.

use everlevel_ring::SlotShape;
use everlevel_scheme::{ExactScheme, SchemeError};
use rayon::prelude::*;

/// Bits of a digit: with seven rotations for each decomposition, longer ones would save little, and
/// each of their values needs a key.
const DIGIT_BITS: u32 = 3;
/// How many ciphertexts the last stage rotates together.
const SIBLINGS: usize = 2;

/// The rotations of the columns of a ciphertext by 0, 1, .., `count` - 1 to the left, one after the
/// other.
///
/// ```
/// use everlevel_circuit::{AllRotations, CircuitError};
/// use everlevel_scheme::{NoOp, OptIn, Params, Plaintext};
///
/// let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch)?;
/// let rotations = AllRotations::new(params.slot_shape(), 16).expect("a power of two");
/// let scheme = NoOp::new(&params, 1);
/// let x = scheme.encrypt(&Plaintext::encode(&params, &(0..16).collect::<Vec<_>>())?)?;
/// rotations.rotate(&scheme, x, |k, rotated| {
///     // What was in slot k.
///     assert_eq!(scheme.decrypt(&rotated)?.decode(&params)?[0], k as u64);
///     Ok::<(), CircuitError>(())
/// })?;
/// # Ok::<(), CircuitError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllRotations {
    count: usize,
    /// The rotations of each stage other than that by 0.
    stages: Vec<Vec<i64>>,
}

impl AllRotations {
    /// The rotations by less than `count`, a power of two of at most the number of columns; none
    /// otherwise, and none unless the index of the ring is a power of two.
    pub fn new(shape: &SlotShape, count: usize) -> Option<Self> {
        let fits = shape.ring_index().is_power_of_two()
            && count.is_power_of_two()
            && count <= shape.columns();
        if !fits {
            return None;
        }
        let (mut stages, mut left) = (Vec::new(), count.ilog2());
        while left > 0 {
            // If digits are of different lengths, the first one is short: it has the fewest
            // ciphertexts to rotate.
            let bits = if left.is_multiple_of(DIGIT_BITS) { DIGIT_BITS } else { left % DIGIT_BITS };
            left -= bits;
            stages.push((1..1_i64 << bits).map(|digit| digit << left).collect());
        }
        Some(AllRotations { count, stages })
    }

    /// The number of rotations, that by 0 among them.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The rotations that need keys: up to seven for every three bits of `count`.
    pub fn steps(&self) -> Vec<i64> {
        self.stages.concat()
    }

    /// The number of key switches: `count` - 1.
    pub fn key_switches(&self) -> usize {
        self.count - 1
    }

    /// The number of ciphertexts that are decomposed, each for the rotations of a stage.
    pub fn decompositions(&self) -> usize {
        let (mut all, mut nodes) = (0, 1);
        for steps in &self.stages {
            all += nodes;
            nodes *= steps.len() + 1;
        }
        all
    }

    /// Calls `visit(k, x rotated by k)` once for each k, in ascending order, at the level of `x`.
    /// Thin slots rotate cyclically; whole ones up to Frobenius where they pass the end of a row
    /// ([`SlotShape`]). Besides those that `visit` keeps, at most seven ciphertexts for each stage
    /// are in memory between its calls, and 16 more while the last stage rotates. No level; each
    /// stage adds the noise of a key switch.
    ///
    /// # Errors
    /// Errors of the scheme, such as a missing key, and of `visit`, which end the walk.
    pub fn rotate<S: ExactScheme, E: From<SchemeError>>(
        &self,
        scheme: &S,
        x: S::Ciphertext,
        mut visit: impl FnMut(usize, S::Ciphertext) -> Result<(), E>,
    ) -> Result<(), E> {
        // The ciphertexts that are still to be rotated, the next one last: with their stages done,
        // and by how much they were rotated.
        let mut waiting = vec![(x, 0, 0)];
        while let Some((x, done, k)) = waiting.pop() {
            let Some(steps) = self.stages.get(done) else {
                visit(k, x)?;
                continue;
            };
            let mut siblings = vec![(x, k)];
            if done + 1 == self.stages.len() {
                while siblings.len() < SIBLINGS
                    && let Some((x, _, k)) = waiting.pop_if(|(_, others, _)| *others == done)
                {
                    siblings.push((x, k));
                }
            }
            // Threads that take a sibling each do not wait for each other at every rotation.
            let rotated = siblings.into_par_iter().map(|(x, k)| {
                let images = scheme.rotate_many(&x, steps)?;
                Ok::<_, SchemeError>((x, k, images))
            });
            for (x, k, images) in rotated.collect::<Result<Vec<_>, _>>()?.into_iter().rev() {
                let images = images.into_iter().zip(steps).rev();
                waiting.extend(images.map(|(image, step)| (image, done + 1, k + *step as usize)));
                waiting.push((x, done + 1, k));
            }
        }
        Ok(())
    }
}
