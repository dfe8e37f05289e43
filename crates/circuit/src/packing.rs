//! Many ciphertexts' sums over all slots, packed into one ciphertext.

use everlevel_ring::{GaloisElement, SlotShape};
use everlevel_scheme::{ExactScheme, Level};
use rayon::join;

use crate::error::CircuitError;

/// How sums over all slots are packed: of up to 2^depth ciphertexts into one.
///
/// The sum of all slots of a polynomial m of degree below n is n m_0 where every slot holds an
/// integer, so the sums of k ciphertexts are made coefficients of one polynomial, sum j that of
/// X^(j n / 2^depth). The decryptor learns these sums and nothing else: all other coefficients
/// are 0. Where slots repeat, polynomials in X^(n/s) take the place of those in X, s the number of
/// slots. Source: the packing of LWE ciphertexts by Chen, Dai, Kim and Song (2020).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SumPacking {
    /// The number of slots.
    degree: usize,
    /// n/degree: 1, or how often slots repeat.
    step: usize,
    depth: u32,
    /// Number l, from 1 on, maps X^(n / 2^l) to its negative, and fixes X^(n / 2^k) for k < l.
    elements: Vec<GaloisElement>,
}

impl SumPacking {
    /// For `count` sums, one at least; none unless the index of the ring is a power of two and
    /// every slot holds an integer, so that there are as many slots as coefficients, and as many
    /// coefficients as sums.
    pub fn new(shape: &SlotShape, count: usize) -> Option<Self> {
        let degree = shape.slots();
        let step = shape.repetitions();
        let whole = shape.axes().is_none() && shape.degree_of_slot() == step && shape.rows() == 2;
        if !whole || !degree.is_power_of_two() || count == 0 || count > degree {
            return None;
        }
        let turns = (0..degree.ilog2() - 1).map(|l| shape.rotation(1 << l));
        let elements = std::iter::once(shape.swap_rows()).chain(turns).collect();
        Some(SumPacking { degree, step, depth: count.next_power_of_two().ilog2(), elements })
    }

    /// The automorphisms that need keys.
    pub fn galois_elements(&self) -> &[GaloisElement] {
        &self.elements
    }

    /// Bits by which the noise of the operands grows at most, key switches not counted.
    pub fn growth_bits(&self) -> u32 {
        self.degree.ilog2() + self.depth
    }

    /// The highest level, `from` or below, at which there are all keys.
    pub fn level<S: ExactScheme>(&self, scheme: &S, from: Level) -> Level {
        let mut level = from;
        loop {
            // Without any key the sum itself says which one is missing.
            let lower = self
                .elements
                .iter()
                .fold(level, |level, &g| scheme.galois_level(g, level).unwrap_or(level));
            if lower == level {
                return level;
            }
            level = lower;
        }
    }

    /// The place of sum `j` among the coefficients.
    pub fn place(&self, j: usize) -> usize {
        j * (self.degree >> self.depth) * self.step
    }

    /// The sums of these ciphertexts, which have one level and one plaintext modulus: some
    /// log2 n + k key switches for k of them, no level.
    ///
    /// # Errors
    /// [`CircuitError::InputCount`] for more ciphertexts than planned, or none; a missing key;
    /// errors of the scheme.
    pub fn pack<S: ExactScheme>(
        &self,
        scheme: &S,
        xs: &[S::Ciphertext],
    ) -> Result<S::Ciphertext, CircuitError> {
        let (expected, found) = (1 << self.depth, xs.len());
        let operands: Vec<_> = xs.iter().collect();
        let packed =
            if found > expected { None } else { self.joined(scheme, &operands, self.depth)? };
        let mut sum = packed.ok_or(CircuitError::InputCount { expected, found })?;
        for &g in &self.elements[self.depth as usize..] {
            sum = scheme.add(&sum, &scheme.apply_galois(&sum, g)?)?;
        }
        Ok(sum)
    }

    /// Ciphertext j at X^(j n / 2^depth); none of no ciphertexts.
    fn joined<S: ExactScheme>(
        &self,
        scheme: &S,
        xs: &[&S::Ciphertext],
        depth: u32,
    ) -> Result<Option<S::Ciphertext>, CircuitError> {
        if xs.is_empty() || depth == 0 {
            return Ok(xs.first().map(|x| (*x).clone()));
        }
        let half = |odd: usize| xs.iter().skip(odd).step_by(2).copied().collect::<Vec<_>>();
        let (even, odd) = (half(0), half(1));
        let (even, odd) =
            join(|| self.joined(scheme, &even, depth - 1), || self.joined(scheme, &odd, depth - 1));
        let Some(even) = even? else { return Ok(None) };
        let g = self.elements[depth as usize - 1];
        let (sum, difference) = match odd? {
            None => (even.clone(), even),
            Some(odd) => {
                let turn = (self.degree >> depth) * self.step;
                let odd = scheme.mul_monomial(&odd, turn as i64)?;
                (scheme.add(&even, &odd)?, scheme.sub(&even, &odd)?)
            }
        };
        Ok(Some(scheme.add(&sum, &scheme.apply_galois(&difference, g)?)?))
    }
}
