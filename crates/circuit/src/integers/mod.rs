//! From bytes in GF(2^8) to integers modulo 2^e: what leaves AES, as what a server computes with.
//!
//! Three steps, docs/adr/0019:
//! * *bits* ([`ByteBits`]): the plaintext modulus is extended, and a trace takes a byte to eight integers b_i + 2 g_i;
//! * *lifts* ([`lowest_bit`](crate::digits::lowest_bit)): polynomials take each of them to b_i, bit i modulo 2^(e - i) only, as that is all that counts;
//! * the sum of 2^i b_i, the factors of 2 being free ([`Scheme::multiply_by_p`]).
//!
//! What comes out is an ordinary thin ciphertext modulo 2^e: it is added, multiplied, rotated, summed ([`crate::sums::total_sum`]), truncated
//! ([`crate::Truncation`]), and its lowest bit cleared ([`crate::ClearLowestDigit`]). [`crate::Comparison`] is for odd p; the sign of two's complement is
//! `Truncation::floor` to one bit.

mod bits;

use std::collections::BTreeMap;

use everlevel_ring::{GaloisElement, SlotShape};
use everlevel_scheme::{Level, NextUse, Scheme};
use rayon::prelude::*;

use crate::aes::AesError;
use crate::digits::lowest_bit;
use crate::error::CircuitError;
use crate::program::{Program, ProgramCosts};

pub use bits::ByteBits;

/// In which order the bytes of an integer come.
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
pub struct IntegersFromBytes<S: Scheme> {
    exponent: u32,
    bytes: usize,
    order: ByteOrder,
    /// By the exponent that a byte is extended to.
    splits: BTreeMap<u32, ByteBits<S>>,
    /// By the exponent that a bit is lifted to.
    lifts: BTreeMap<u32, Program>,
}

impl<S: Scheme> IntegersFromBytes<S> {
    /// Integers modulo 2^exponent from so many bytes, for ciphertexts at `level` or below.
    ///
    /// # Errors
    /// [`CircuitError::Empty`] without bytes, those of [`ByteBits::new`].
    pub fn new(scheme: &S, bytes: usize, exponent: u32, order: ByteOrder, level: Level) -> Result<Self, CircuitError> {
        if bytes == 0 {
            return Err(CircuitError::Empty { what: "the list of bytes" });
        }
        let exponents = (0..bytes).map_while(|k| left(exponent, 8 * k));
        let splits = exponents.map(|e| Ok((e, ByteBits::new(scheme, e, level)?))).collect::<Result<_, CircuitError>>()?;
        let lifts = (0..8 * bytes).map_while(|i| left(exponent, i));
        let lifts = lifts.map(|e| Ok((e, lowest_bit(e)?))).collect::<Result<_, CircuitError>>()?;
        Ok(IntegersFromBytes { exponent, bytes, order, splits, lifts })
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
    pub fn costs(&self) -> ProgramCosts {
        self.lifts.values().map(Program::costs).fold(ProgramCosts::default(), |sum, costs| ProgramCosts {
            depth: sum.depth.max(costs.depth),
            products: sum.products + costs.products,
            relinearizations: sum.relinearizations + costs.relinearizations,
            scalar_products: sum.scalar_products + costs.scalar_products,
        })
    }
    /// The integers whose bytes these are.
    ///
    /// # Errors
    /// [`AesError::Width`] for another number of bytes, those of the scheme: above all too little capacity. Slots that hold no bytes give unspecified
    /// integers.
    pub fn evaluate(&self, scheme: &S, bytes: &[&S::Ciphertext]) -> Result<S::Ciphertext, CircuitError> {
        AesError::check_width("an integer", bytes.len(), self.bytes)?;
        let mut bytes = bytes.to_vec();
        if self.order == ByteOrder::Big {
            bytes.reverse();
        }
        // By their exponents, the largest and so the lowest byte first.
        let split = |(byte, bits): (&&S::Ciphertext, &ByteBits<S>)| bits.split(scheme, byte);
        let bits: Vec<_> =
            bytes.par_iter().zip(self.splits.values().rev().collect::<Vec<_>>()).map(split).collect::<Result<_, _>>()?;
        let bits: Vec<S::Ciphertext> = bits.into_iter().flatten().collect();
        let lift = |(bit, (&exponent, program)): (&S::Ciphertext, (&u32, &Program))| {
            let bit = scheme.reduce_plain_modulus(bit, exponent)?;
            program.run(scheme, &[&bit], NextUse::LinearMap)?.pop().ok_or(CircuitError::Empty { what: "the list of outputs" })
        };
        let lifts: Vec<_> = self.lifts.iter().rev().collect();
        let bits: Vec<S::Ciphertext> = bits.par_iter().zip(lifts).map(lift).collect::<Result<_, _>>()?;
        // Horner's rule.
        let mut bits = bits.into_iter().rev();
        let highest = bits.next().ok_or(CircuitError::Empty { what: "the list of bits" })?;
        bits.try_fold(highest, |sum, bit| Ok(scheme.add(&scheme.multiply_by_p(&sum)?, &bit)?))
    }
}

/// The exponent of bit `i` in integers modulo 2^exponent, if it counts.
fn left(exponent: u32, i: usize) -> Option<u32> {
    u32::try_from(i).ok().and_then(|i| exponent.checked_sub(i)).filter(|&e| e > 0)
}
