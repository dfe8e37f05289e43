//! Conversion of bytes in GF(2^8), the results of AES, to integers modulo 2^e.
//!
//! There are three steps (docs/adr/0019):
//! * *bits* ([`ByteBits`]): the plaintext modulus is extended, and traces map a byte to eight
//!   integers b_i + 2 g_i, where b_i is bit i and g_i is arbitrary;
//! * *lifts* ([`lowest_bit`]): polynomials map each of them to b_i, modulo 2^(e - i) only, as b_i
//!   contributes 2^i b_i modulo 2^e;
//! * the sum of 2^i b_i, where the factors of 2 are free
//!   ([`multiply_by_p`](everlevel_scheme::PlainModulus::multiply_by_p)).
//!
//! The result is an ordinary thin ciphertext modulo 2^e, which can be added, multiplied, rotated,
//! summed ([`total_sum`]), and truncated ([`Truncation`]), and whose lowest bit can be cleared
//! ([`ClearLowestDigit`]). [`Comparison`] is for odd p; the sign of two's complement is
//! `Truncation::floor` to one bit.
//!
//! [`total_sum`]: everlevel_circuit::sums::total_sum
//! [`Truncation`]: everlevel_circuit::Truncation
//! [`ClearLowestDigit`]: everlevel_circuit::ClearLowestDigit
//! [`Comparison`]: everlevel_circuit::Comparison

mod bits;

use std::ops::Range;

use everlevel_circuit::digits::lowest_bit;
use everlevel_circuit::straight_line::{Circuit, CircuitCosts};
use everlevel_circuit::{CircuitError, rotate_along};
use everlevel_ring::{GaloisElement, RingError, SlotShape};
use everlevel_scheme::{ExactScheme, Level, NextUse, SchemeError};
use rayon::prelude::*;

use crate::error::AesError;

pub use bits::ByteBits;

/// The order of the bytes of an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// The lowest byte first.
    Little,
    /// The highest byte first.
    Big,
}

/// Integers modulo 2^e from their bytes, one ciphertext each, slot by slot.
///
/// Bytes that lie above 2^e are dropped; of fewer bytes than e bits the integer is without sign.
pub struct IntegersFromBytes<S: ExactScheme> {
    exponent: u32,
    bytes: usize,
    order: ByteOrder,
    /// How each byte that counts is taken apart, the lowest first.
    splits: Vec<ByteBits<S>>,
    /// The lowest bits first.
    groups: Vec<Group>,
}

/// Bits of one byte that are lifted alike: at the same levels, so that they carry the same factor
/// and can be added without constants.
struct Group {
    byte: usize,
    /// Bits of the byte.
    bits: Range<usize>,
    /// To where the lowest one counts, modulo 2 to some power; the next one counts to one power
    /// less.
    lift: Circuit,
}

impl<S: ExactScheme> IntegersFromBytes<S> {
    /// Integers modulo 2^exponent from `bytes` bytes each, for ciphertexts at `level` or below.
    ///
    /// # Errors
    /// [`CircuitError::Empty`] without bytes, [`AesError::Ring`] for an exponent that the
    /// parameters do not have, those of [`ByteBits::new`].
    pub fn new(
        scheme: &S,
        bytes: usize,
        exponent: u32,
        order: ByteOrder,
        level: Level,
    ) -> Result<Self, AesError> {
        if bytes == 0 {
            return Err(CircuitError::Empty { what: "the list of bytes" }.into());
        }
        let highest = scheme.slot_shape().max_exponent();
        if !(1..=highest).contains(&exponent) {
            return Err(RingError::UnknownExponent { exponent, highest }.into());
        }
        let mut groups = Vec::<Group>::new();
        for bit in 0..bytes.saturating_mul(8).min(exponent as usize) {
            let (byte, place, lift) = (bit / 8, bit % 8, lowest_bit(exponent - bit as u32)?);
            match groups
                .last_mut()
                .filter(|group| group.byte == byte && group.lift.costs() == lift.costs())
            {
                Some(group) => group.bits.end += 1,
                None => groups.push(Group { byte, bits: place..place + 1, lift }),
            }
        }
        let byte = |group: &[Group]| {
            // What all bits of a byte have enough with.
            let wanted = group.iter().map(Group::input_exponent).max().unwrap_or(1);
            ByteBits::new(scheme, wanted, level)
        };
        let splits =
            groups.chunk_by(|a, b| a.byte == b.byte).map(byte).collect::<Result<_, _>>()?;
        Ok(IntegersFromBytes { exponent, bytes, order, splits, groups })
    }

    /// The automorphisms that need keys.
    pub fn automorphisms(shape: &SlotShape) -> Vec<GaloisElement> {
        ByteBits::<S>::automorphisms(shape)
    }

    /// e: the integers are modulo 2^e.
    pub fn exponent(&self) -> u32 {
        self.exponent
    }

    /// How many bytes an integer has.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Depth and products of the lifts; the bits take a level more.
    pub fn costs(&self) -> CircuitCosts {
        self.groups.iter().fold(CircuitCosts::default(), |sum, group| {
            let (costs, times) = (group.lift.costs(), group.bits.len());
            CircuitCosts {
                depth: sum.depth.max(costs.depth),
                products: sum.products + times * costs.products,
                relinearizations: sum.relinearizations + times * costs.relinearizations,
                scalar_products: sum.scalar_products + times * costs.scalar_products,
            }
        })
    }

    /// The integers whose bytes these are.
    ///
    /// # Errors
    /// [`AesError::Width`] for another number of bytes, those of the scheme: above all too little
    /// capacity. Slots that hold no bytes give unspecified integers.
    pub fn evaluate(
        &self,
        scheme: &S,
        bytes: &[&S::Ciphertext],
    ) -> Result<S::Ciphertext, AesError> {
        AesError::check_width("an integer", bytes.len(), self.bytes)?;
        let mut bytes = bytes.to_vec();
        if self.order == ByteOrder::Big {
            bytes.reverse();
        }
        let bits: Vec<_> = self
            .splits
            .par_iter()
            .zip(&bytes)
            .map(|(split, byte)| split.split(scheme, byte))
            .collect::<Result<_, _>>()?;
        let part = |group: &Group| group.sum(scheme, &bits[group.byte][group.bits.clone()]);
        let parts: Vec<S::Ciphertext> =
            self.groups.par_iter().map(part).collect::<Result<_, AesError>>()?;
        // Horner's rule. What lies above has more capacity, and so room for the constants that
        // adapt its factor.
        let mut parts = self.groups.iter().zip(parts).rev();
        let (_, highest) = parts.next().ok_or(CircuitError::Empty { what: "the list of bits" })?;
        parts.try_fold(highest, |sum, (group, part)| {
            let sum = group.bits.clone().try_fold(sum, |sum, _| scheme.multiply_by_p(&sum))?;
            Ok(scheme.add(&sum, &part)?)
        })
    }
}

impl Group {
    /// Modulo which power of 2 a bit is wanted as an integer.
    fn input_exponent(&self) -> u32 {
        self.lift.input_exponents().into_iter().max().unwrap_or(1)
    }

    /// Σ 2^j b_j from b_j + 2 g_j.
    fn sum<S: ExactScheme>(
        &self,
        scheme: &S,
        bits: &[S::Ciphertext],
    ) -> Result<S::Ciphertext, AesError> {
        let lift = |bit: &S::Ciphertext| {
            let bit = scheme.reduce_plain_modulus(bit, self.input_exponent())?;
            self.lift
                .run(scheme, &[&bit], NextUse::Keep)?
                .pop()
                .ok_or(CircuitError::Empty { what: "the list of outputs" })
        };
        let bits: Vec<S::Ciphertext> =
            bits.par_iter().map(lift).collect::<Result<_, CircuitError>>()?;
        let terms: Vec<_> = bits.iter().enumerate().map(|(j, bit)| (bit, 1 << j)).collect();
        Ok(scheme.prepare(&scheme.linear_combination(&terms, 0)?, NextUse::LinearMap)?)
    }
}

/// Integers whose bytes lie side by side in slots, as packed AES has them: in every slot the
/// integer that begins there, modulo 2^e, from integers `x` below 256 modulo 2^e
/// ([`IntegersFromBytes`] of one byte). Slots whose places along the dimension are multiples of
/// `bytes`, which divides its size, hold those that are meant; in others windows that pass the end
/// go on at the beginning.
///
/// A rotation ([`rotate_along`]) for each byte but the first that counts modulo 2^e, and the
/// factors of 256 for the noise of a sum.
///
/// # Errors
/// [`CircuitError::Empty`] without bytes, [`SchemeError::BadArgument`] for a number of them that
/// does not divide the size of the dimension, those of [`rotate_along`] and of the scheme.
pub fn joined_along<S: ExactScheme>(
    scheme: &S,
    x: &S::Ciphertext,
    dimension: usize,
    bytes: usize,
    order: ByteOrder,
) -> Result<S::Ciphertext, AesError> {
    if bytes == 0 {
        return Err(CircuitError::Empty { what: "the list of bytes" }.into());
    }
    let exponent = scheme.plain_exponent(x);
    let sizes = scheme.slot_shape().dimensions().get(dimension).map(|found| found.size);
    // The last integer would be made of bytes of the first one, too.
    if let Some(size) = sizes.filter(|size| !size.is_multiple_of(bytes)) {
        return Err(AesError::Scheme(SchemeError::BadArgument {
            what: "number of bytes of an integer",
            expected: format!("a divisor of {size}, the number of slots along the dimension"),
            found: bytes.to_string(),
        }));
    }
    // Bytes above 2^e count for nothing.
    let counted = bytes.min(exponent.div_ceil(8) as usize);
    let first = match order {
        ByteOrder::Little => 0,
        ByteOrder::Big => bytes - counted,
    };
    let mut sum: Option<S::Ciphertext> = None;
    for place in first..first + counted {
        let weight = match order {
            ByteOrder::Little => 8 * place,
            ByteOrder::Big => 8 * (bytes - 1 - place),
        };
        let Some(left) = left(exponent, weight) else { continue };
        let digit = scheme.reduce_plain_modulus(
            &rotate_along(scheme, x, dimension, place as i64, NextUse::LinearMap)?,
            left,
        )?;
        let part = (0..weight).try_fold(digit, |part, _| scheme.multiply_by_p(&part))?;
        sum = Some(sum.map_or(Ok(part.clone()), |sum| scheme.add(&sum, &part))?);
    }
    sum.ok_or(CircuitError::Empty { what: "the list of bytes" }.into())
}

/// The exponent of what is left of integers modulo 2^exponent without their `weight` lowest bits,
/// if there is anything.
fn left(exponent: u32, weight: usize) -> Option<u32> {
    u32::try_from(weight)
        .ok()
        .and_then(|weight| exponent.checked_sub(weight))
        .filter(|&left| left > 0)
}
