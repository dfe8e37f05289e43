//! Whether any slot holds a 1.

use everlevel_ring::{GaloisElement, SlotShape};
use everlevel_scheme::{ExactScheme, NextUse, Plaintext};

use crate::error::CircuitError;
use crate::sums::{PowerSum, total_sum};

/// OR over the slots of a thin ciphertext of bits, in every slot: 0 if all of them are 0, else 1
/// but for a small probability.
///
/// With random weights r_s in GF(2^d) the sum z = Σ r_s x_s over slots is 0 if all bits are, and
/// else uniform, so that it is 0 with probability 2^-d. Its norm, the product of the d conjugates
/// of z, is 0 for z = 0 and else 1. k sums side by side are all 0 with probability 2^(-d k).
///
/// A tree of products over n slots is exact, at depth log2 n or more.
///
/// Source: approximations of OR by random sums (Razborov 1987, Smolensky 1987), with weights in the
/// field of a slot instead of bits, so that one sum has d random bits.
pub struct AnySlot {
    weights: Vec<Plaintext>,
    norm: PowerSum,
    degree: usize,
    /// Slots along the carrier.
    places: usize,
}

impl AnySlot {
    /// The OR with this number of sums, whose weights are made of words from `random`: a bit for
    /// each of the d coefficients of each slot and sum. They are kept as plaintexts, n words for
    /// each sum in a ring of degree n. The weights must be independent of the bits: a party that
    /// knows the weights when it chooses the bits can force the result 0.
    ///
    /// # Errors
    /// [`CircuitError::ModulusMismatch`] for p other than 2, [`CircuitError::Empty`] for no sums,
    /// those of the scheme.
    pub fn new<S: ExactScheme>(
        scheme: &S,
        sums: usize,
        random: &mut impl FnMut() -> u64,
    ) -> Result<Self, CircuitError> {
        let (shape, found) = (scheme.slot_shape(), scheme.plain_prime());
        if found != 2 {
            return Err(CircuitError::ModulusMismatch { expected: 2, found: found.into() });
        }
        if sums == 0 {
            return Err(CircuitError::Empty { what: "the list of random sums" });
        }
        let degree = shape.degree_of_slot();
        let mut weights = || {
            let words = (shape.slots() * degree).div_ceil(64);
            let bits = (0..words).flat_map(|_| {
                let word = random();
                (0..64).map(move |i| word >> i & 1)
            });
            scheme.encode_elements(&bits.take(shape.slots() * degree).collect::<Vec<_>>())
        };
        let weights = (0..sums).map(|_| weights()).collect::<Result<_, _>>()?;
        Ok(AnySlot { weights, norm: PowerSum::trace(shape), degree, places: shape.carrier_slots() })
    }

    /// The automorphisms that need keys, each once.
    ///
    /// # Errors
    /// None for slots of a ring.
    pub fn galois_elements(shape: &SlotShape) -> Result<Vec<GaloisElement>, CircuitError> {
        let mut all = PowerSum::trace(shape).galois_elements();
        for dimension in 0..shape.dimensions().len() {
            all.extend(PowerSum::along(shape, dimension)?.galois_elements());
        }
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }

    /// log2 of the probability that some slot of the result is 0 although a bit is 1. Slots along
    /// bad dimensions, which are those of the carrier, have separate sums.
    pub fn error_log2(&self) -> f64 {
        (self.places as f64).log2() - (self.degree * self.weights.len()) as f64
    }

    /// The OR, in every slot: `x` is a thin ciphertext of bits, and so is the result, at the level
    /// of its last product. Products with random constants and one factor for each doubling of d,
    /// depth 5 for d = 24, and log2 of the number of sums; for each sum a key switch for each
    /// doubling of the slots and of d.
    ///
    /// The noise is that of the product with a plaintext of random elements, times the number of
    /// slots for their sum, and then of products of this depth, each with the switch before it.
    ///
    /// # Errors
    /// Those of the scheme: a missing key, of [`AnySlot::galois_elements`] or for products, and too
    /// little modulus left. Slots that hold more than bits give unspecified elements.
    pub fn apply<S: ExactScheme>(
        &self,
        scheme: &S,
        x: &S::Ciphertext,
    ) -> Result<S::Ciphertext, CircuitError> {
        let one = |weights: &Plaintext| {
            let sum = scheme.prepare(&scheme.mul_plain(x, weights)?, NextUse::LinearMap)?;
            self.norm.multiply(scheme, &total_sum(scheme, &sum)?)
        };
        let mut bits = self.weights.iter().map(one).collect::<Result<Vec<_>, _>>()?;
        // a or b = a + b + a b, as a tree.
        while bits.len() > 1 {
            let pair = |pair: &[S::Ciphertext]| match pair {
                [a, b] => {
                    let product = scheme.mul(a, b, NextUse::Product)?;
                    scheme.add(&scheme.add(a, b)?, &product)
                }
                _ => Ok(pair[0].clone()),
            };
            bits = bits.chunks(2).map(pair).collect::<Result<_, _>>()?;
        }
        bits.pop().ok_or(CircuitError::Empty { what: "the list of random sums" })
    }
}
