//! Which values a digit has among numbers, as bits that are few enough to be refreshed together.

use everlevel_circuit::sums::PowerSum;
use everlevel_ring::{GaloisElement, PrimePower};
use everlevel_scheme::{
    Bootstrappable, DiagonalValues, ExactScheme, Level, NextUse, Params, Plaintext, SchemeError,
};
use rayon::prelude::*;

use super::levels::{Levels, lowered};
use super::slots::{COLUMN, LINE, ROW, Slots, VALUES};
use crate::error::SuiteError;

/// The places of a number, and so the steps from one g to the next one.
const STEP: usize = 2;
/// How many g there are.
const SHIFTS: usize = VALUES / STEP;

/// For each value v of a digit, bits that are all 0 if no number that is left has it, and else, but
/// for a small probability, are not.
///
/// Let x_i be 1 if number i is left and its digit is v. With weights r_i that are uniform in
/// GF(2^d) and independent of the data, Σ r_i x_i is 0 if all x_i are, and else uniform. There are
/// several such sums, each with weights of its own.
///
/// * The digit of the number in place q of a line is compared with q - g, for g = 0, 2, .., 14, by
///   adding constants to its bits and multiplying these. Rotated by g, a match is in place v. As
///   each number is in an even and in an odd place, all values are compared with, and sums over the
///   numbers of a line are sums over g, by one automorphism.
/// * Sums over rows and columns follow; in column 0 no slot has passed the end of its row, so that
///   these sums are those of all numbers.
/// * A sum is in all rows then. In row a it is multiplied by x^a, and its trace to GF(4) is taken.
///   As 1, x, .., x^(d/2 - 1) is a basis of GF(2^d) over GF(4), d/2 rows tell whether it is 0;
///   fewer rows tell 2 bits each. For t in GF(4), t^3 = t σ(t) is 0 or 1.
/// * Sum k is moved to column k.
pub(super) struct Flags<S: ExactScheme> {
    slots: Slots,
    levels: Levels,
    sums: usize,
    /// For bit k of a digit and each g below 2^k, 1 and bit k of q - g in place q.
    patterns: Vec<Vec<Plaintext>>,
    /// From one g to the next one.
    step: GaloisElement,
    rows: PowerSum,
    columns: PowerSum,
    /// x^a in column 0 of row a.
    basis: S::Diagonal,
    /// To GF(4).
    trace: PowerSum,
}

impl<S: Bootstrappable> Flags<S> {
    /// For digits whose bits have room for these levels, with this number of random bits at least.
    ///
    /// # Errors
    /// Those of the scheme.
    pub fn new(
        scheme: &S,
        params: &Params,
        slots: &Slots,
        levels: Levels,
        random_bits: usize,
    ) -> Result<Self, SuiteError> {
        let shape = scheme.slot_shape();
        let told = (2 * slots.rows).min(slots.degree);
        let pattern = |k: u32, g: usize| {
            slots.bits(params, |place| ((place + VALUES - g) % VALUES) >> k & 1 == 0)
        };
        let row = |k: u32| -> Result<Vec<_>, SuiteError> {
            (0..1 << k).step_by(STEP).map(|g| pattern(k, g)).collect()
        };
        let patterns = (0..VALUES.ilog2()).map(row).collect::<Result<_, SuiteError>>()?;
        let field = shape.galois_ring(1)?;
        let powers = std::iter::successors(Some(field.one()), |power| Some(field.times_x(power)));
        let powers: Vec<Vec<u64>> = powers.take(slots.rows.min(slots.degree / 2)).collect();
        let zero = field.scalar(0);
        let basis = slots.elements(|row, _, column| {
            let power = powers.get(row).filter(|_| column == 0);
            power.unwrap_or(&zero).clone()
        });
        let basis = scheme.diagonal(&DiagonalValues::LastDimensions(basis), 1, levels.sums)?;
        Ok(Flags {
            slots: slots.clone(),
            levels,
            sums: random_bits.div_ceil(told),
            patterns,
            step: shape.rotation_along(LINE, STEP as i64),
            rows: PowerSum::along(shape, ROW)?,
            columns: PowerSum::along(shape, COLUMN)?,
            basis,
            trace: PowerSum::relative_trace(shape, 2),
        })
    }

    /// log2 of the probability that a value that some number has is missed.
    #[cfg(test)]
    pub fn error_log2(&self) -> f64 {
        -((self.sums * (2 * self.slots.rows).min(self.slots.degree)) as f64)
    }

    /// How many ciphertexts hold the bits of all values.
    #[cfg(test)]
    pub fn ciphertexts(&self) -> usize {
        self.sums.div_ceil(self.slots.columns)
    }

    /// Random weights of the numbers of a state, for each sum: uniform polynomials, and so uniform
    /// elements in all slots.
    pub fn weights(&self, random: &mut impl FnMut() -> u64) -> Vec<Plaintext> {
        let length = self.slots.slots() * self.slots.degree;
        let modulus = PrimePower::new(2, 1).expect("2 is a prime");
        let mut polynomial = || {
            let words: Vec<u64> = (0..length.div_ceil(64)).map(|_| random()).collect();
            let bits = (0..length).map(|i| words[i / 64] >> (i % 64) & 1).collect::<Vec<u64>>();
            Plaintext::from_reduced(self.slots.index, bits.into(), modulus)
        };
        (0..self.sums).map(|_| polynomial()).collect()
    }

    /// The bits of all values, those of value v in places v of lines, in as many ciphertexts as the
    /// sums need columns. `digits` has the bits of a digit for each state, the lowest first, `left`
    /// whether a number is left (absent: all of them), which it is only if it is by `also` as well
    /// (absent: by `left` alone), all of these in both places of a number, and `weights` those of
    /// each state.
    ///
    /// # Errors
    /// Those of the scheme: above all too little capacity.
    pub fn compute(
        &self,
        scheme: &S,
        digits: &[&[S::Ciphertext]],
        left: Option<&[S::Ciphertext]>,
        also: Option<&[S::Ciphertext]>,
        weights: &[Vec<Plaintext>],
    ) -> Result<Vec<S::Ciphertext>, SuiteError> {
        let shape = scheme.slot_shape();
        // Transformed once for all states, whose bits are at one level.
        let patterns = digits.first().map(|bits| self.addends(scheme, bits)).transpose()?;
        let patterns = patterns.unwrap_or_default();
        let mut sums: Vec<Option<S::Product>> = vec![None; self.sums * SHIFTS];
        for (state, (bits, weights)) in digits.iter().zip(weights).enumerate() {
            let also = also.map(|also| &also[state]);
            let matches = Self::matches(scheme, bits, &patterns, also, self.levels.product)?;
            let weighted = match left {
                Some(left) => {
                    let left = lowered(scheme, &left[state], self.levels.weighted)?;
                    let one = |weights: &Plaintext| scheme.mul_plain(&left, weights);
                    self.prepared(scheme, weights, one)
                }
                None => {
                    let one = |weights: &Plaintext| scheme.transparent(weights);
                    self.prepared(scheme, weights, one)
                }
            }?;
            // State after state, so that one has to be in memory.
            sums.par_iter_mut().enumerate().try_for_each(|(i, sum)| {
                let (weighted, matches) = (&weighted[i / SHIFTS], &matches[i % SHIFTS]);
                let product = scheme.mul_lazy_aligned(weighted, matches)?;
                *sum = Some(match sum.take() {
                    None => product,
                    Some(sum) => scheme.add_products(&sum, &product)?,
                });
                Ok::<_, SchemeError>(())
            })?;
        }
        let sums: Vec<S::Product> = sums.into_iter().flatten().collect();
        let folded = sums
            .par_chunks(SHIFTS)
            .map(|products| self.folded(scheme, products))
            .collect::<Result<Vec<_>, SuiteError>>()?;
        let (mut folded, mut out) = (folded.into_iter().peekable(), Vec::new());
        while folded.peek().is_some() {
            let columns = folded.by_ref().take(self.slots.columns).enumerate();
            let moved = |(column, sum): (usize, S::Extended)| {
                (shape.rotation_along(COLUMN, -(column as i64)), sum)
            };
            let sum = scheme.galois_sum(columns.map(moved).collect(), NextUse::Keep)?;
            out.push(self.told(scheme, &sum)?);
        }
        Ok(out)
    }

    /// Weights, with or without a factor, at the level of products.
    fn prepared(
        &self,
        scheme: &S,
        weights: &[Plaintext],
        one: impl Fn(&Plaintext) -> Result<S::Ciphertext, SchemeError> + Sync,
    ) -> Result<Vec<S::Ciphertext>, SchemeError> {
        let lower = |weights| lowered(scheme, &one(weights)?, self.levels.product);
        weights.par_iter().map(lower).collect()
    }

    /// The patterns of each bit, to be added to bits like these.
    fn addends(
        &self,
        scheme: &S,
        bits: &[S::Ciphertext],
    ) -> Result<Vec<Vec<S::Ciphertext>>, SchemeError> {
        let of = |(bit, patterns): (&S::Ciphertext, &Vec<Plaintext>)| {
            let addends = patterns.par_iter().map(|pattern| scheme.addend(pattern, bit));
            addends.collect::<Result<Vec<_>, SchemeError>>()
        };
        bits.par_iter().zip(&self.patterns).map(of).collect()
    }

    /// Whether the digit in place q is q - g, for g = 0, 2, .., 14, times another factor: products
    /// of four factors, each the sum of a bit and a constant, at the level of products.
    ///
    /// The factors of g + 2^k and g differ in bit k, by 1, and not below: so there are products for
    /// each g below 2^k only, and sums for the others.
    fn matches(
        scheme: &S,
        bits: &[S::Ciphertext],
        patterns: &[Vec<S::Ciphertext>],
        also: Option<&S::Ciphertext>,
        level: Level,
    ) -> Result<Vec<S::Ciphertext>, SuiteError> {
        // Bit 0 of q - g is that of q.
        let mut matches = vec![scheme.add(&bits[0], &patterns[0][0])?];
        for (bit, patterns) in bits.iter().zip(patterns).skip(1) {
            let grown = patterns.par_iter().zip(&matches).map(|(pattern, below)| {
                let factor = scheme.add(bit, pattern)?;
                let product = scheme.mul(below, &factor, NextUse::Product)?;
                Ok((scheme.add(&product, below)?, product))
            });
            let grown = grown.collect::<Result<Vec<_>, SchemeError>>()?;
            let (others, products): (Vec<_>, Vec<_>) = grown.into_iter().unzip();
            matches = products.into_iter().chain(others).collect();
        }
        let lower = |x: &S::Ciphertext| match also {
            None => lowered(scheme, x, level),
            Some(also) => lowered(scheme, &scheme.mul(x, also, NextUse::Product)?, level),
        };
        Ok(matches.par_iter().map(lower).collect::<Result<_, SchemeError>>()?)
    }

    /// From the products for g = 0, 2, .., 14, the sum of all numbers in column 0, times x^a in
    /// row a.
    fn folded(&self, scheme: &S, products: &[S::Product]) -> Result<S::Extended, SuiteError> {
        let identity = scheme.slot_shape().identity();
        let part = |(i, product): (usize, &S::Product)| {
            let sum = scheme.relinearize(product, NextUse::Keep)?;
            let sum = lowered(scheme, &sum, self.levels.sums)?;
            let part = scheme.hoist(&sum, &[identity])?.swap_remove(0);
            Ok((if i == 0 { identity } else { self.step }, part))
        };
        let parts = products.iter().enumerate().rev().map(part);
        let sum = scheme.galois_chain(parts, NextUse::Keep)?;
        let sum = self.columns.apply(scheme, &self.rows.apply(scheme, &sum)?)?;
        let parts = scheme.hoist(&sum, &[identity])?;
        Ok(scheme.combine(&parts, &[vec![Some(&self.basis)]])?.swap_remove(0))
    }

    /// The bit for each slot that says whether its trace to GF(4) is 0.
    fn told(&self, scheme: &S, sum: &S::Ciphertext) -> Result<S::Ciphertext, SuiteError> {
        let trace = self.trace.apply(scheme, sum)?;
        let image = scheme.apply_galois(&trace, scheme.slot_shape().frobenius())?;
        let lower = |x: &S::Ciphertext, level: Level| lowered(scheme, x, level);
        let (x, y) = (lower(&trace, self.levels.norm)?, lower(&image, self.levels.norm)?);
        Ok(scheme.relinearize(&scheme.mul_lazy_aligned(&x, &y)?, NextUse::Keep)?)
    }
}
