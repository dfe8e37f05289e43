//! Expansion of many numbers in one ciphertext into one ciphertext for each, by the server.
//!
//! The client sends Σ_j x_j 2^-k X^j for `count` numbers x_j, 2^k being `count` rounded up to a
//! power of two: one ciphertext instead of one for each number. The tree of
//! [`Unpacking`](crate::unpack::Unpacking), k steps deep, takes the polynomial apart into its parts
//! in Z\[X^(2^k)\], which are constants, each times 2^k: encryptions of x_j in every slot. Two
//! steps are made at once, so that three key switches share a decomposition: fewer transforms for
//! half as many keys again. Source: Angel, Chen, Laine and Setty 2018 (ia.cr/2017/1142), section
//! 3.3.

use everlevel_ring::{GaloisElement, PrimePower, SlotShape};
use everlevel_scheme::{ExactScheme, Params, Plaintext, SchemeError};

use crate::error::CircuitError;
use crate::unpack::Unpacking;

/// The expansion of the coefficients of one ciphertext into constants.
///
/// ```
/// use everlevel_circuit::{CircuitError, Expansion};
/// use everlevel_scheme::{NoOp, OptIn, Params};
///
/// let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch)?;
/// let (scheme, expansion) = (NoOp::new(&params, 1), Expansion::new(params.slot_shape(), 3));
/// let expansion = expansion.expect("the index is a power of two");
/// let x = scheme.encrypt(&expansion.encode(&params, &[7, 1, 5])?)?;
/// let mut found = [0; 3];
/// expansion.expand(&scheme, x, |j, constant| {
///     // The same number in all slots.
///     found[j] = scheme.decrypt(&constant)?.decode(&params)?[100];
///     Ok::<(), CircuitError>(())
/// })?;
/// assert_eq!(found, [7, 1, 5]);
/// # Ok::<(), CircuitError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// The index of the ring.
    index: u64,
    count: usize,
    unpacking: Unpacking,
}

impl Expansion {
    /// The expansion of `count` numbers, from one to the number of coefficients; none otherwise,
    /// and none unless the index of the ring is a power of two (and so p is odd).
    pub fn new(shape: &SlotShape, count: usize) -> Option<Self> {
        let index = shape.ring_index();
        let fits = index.is_power_of_two() && (1..=index / 2).contains(&(count as u64));
        if !fits {
            return None;
        }
        let depth = count.next_power_of_two().ilog2();
        Some(Expansion { index, count, unpacking: Unpacking::into_parts(shape, depth) })
    }

    /// The number of numbers.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The automorphisms that need keys: three for every two steps, one for the first of an odd
    /// number of steps.
    pub fn galois_elements(&self) -> &[GaloisElement] {
        self.unpacking.galois_elements()
    }

    /// The number of key switches: 2^k - 1.
    pub fn key_switches(&self) -> usize {
        self.unpacking.key_switches()
    }

    /// The places of the numbers in the order in which [`Expansion::expand`] comes to them: that of
    /// their bits reversed, for five numbers 0, 4, 2, 1, 3.
    pub fn order(&self) -> Vec<usize> {
        let bits = self.unpacking.parts().ilog2();
        let reversed = |i: usize| match bits {
            0 => 0,
            _ => i.reverse_bits() >> (usize::BITS - bits),
        };
        (0..self.unpacking.parts()).map(reversed).filter(|j| *j < self.count).collect()
    }

    /// The plaintext to be encrypted: number j, divided by 2^k modulo p^r, is the coefficient of
    /// X^j. `values` are below p^r.
    ///
    /// # Errors
    /// [`CircuitError::InputCount`] for another number of values; a value that is not below p^r;
    /// parameters of another ring.
    pub fn encode(&self, params: &Params, values: &[u64]) -> Result<Plaintext, CircuitError> {
        if values.len() != self.count {
            return Err(CircuitError::InputCount { expected: self.count, found: values.len() });
        }
        if params.spec().index != self.index {
            let name = params.name().into();
            return Err(SchemeError::WrongParams { object: "the expansion", name }.into());
        }
        let t = PrimePower::new(params.spec().plain_prime, params.plain_exponent())?;
        if let Some(i) = values.iter().position(|x| *x > t.last()) {
            return Err(SchemeError::BadArgument {
                what: "number to be expanded",
                expected: format!("less than {}", t.wide()),
                found: format!("{} at position {i}", values[i]),
            }
            .into());
        }
        let unit = t.inv(self.unpacking.parts() as u64)?;
        let mut coefficients = vec![0; params.degree()];
        coefficients.iter_mut().zip(values).for_each(|(c, x)| *c = t.mul(*x, unit));
        Ok(Plaintext::from_coefficients(params, coefficients, params.plain_exponent())?)
    }

    /// Calls `visit(j, x_j)` once for each number, in the order of [`Expansion::order`]: x_j is in
    /// every slot, at the level of `x`. Besides those that `visit` keeps, at most 2 k + 16
    /// ciphertexts are in memory between its calls, and twice that within a step. No level; each of
    /// the k steps doubles the noise and adds that of a key switch: noise N becomes at most 2^k N +
    /// (2^k - 1) K, K being that of a key switch, as an absolute value. Values stay exact, as the
    /// plaintext has been divided by 2^k.
    ///
    /// For a ciphertext of any other polynomial than those of [`Expansion::encode`], `visit`
    /// receives 2^k times the part in Z\[X^(2^k)\] that belongs to j.
    ///
    /// # Errors
    /// Errors of the scheme, such as a missing key, and of `visit`, which end the walk.
    pub fn expand<S: ExactScheme, E: From<SchemeError>>(
        &self,
        scheme: &S,
        x: S::Ciphertext,
        visit: impl FnMut(usize, S::Ciphertext) -> Result<(), E>,
    ) -> Result<(), E> {
        self.unpacking.unpack_first(scheme, x, self.count, visit)
    }
}
