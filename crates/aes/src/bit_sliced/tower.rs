//! Inversion in GF(((2^2)^2)^2), on encrypted bits.
//!
//! All three steps have normal bases (Canright 2005, whose isomorphism the matrices of Doröz, Hu
//! and Sunar are): GF(2^2) has (W^2, W), GF(2^4) over it (Z^4, Z) with Z^5 = N = W^2, GF(2^8) over
//! that (Y^16, Y) with Y^17 = ν = N^2 Z, and all traces are 1. Elements are bits, most significant
//! first. For γ = γ1 Y^16 + γ0 Y,
//!
//! 1/γ = (γ0 Y^16 + γ1 Y) / θ, θ = γ1 γ0 + ν (γ1 + γ0)^2,
//!
//! and in the same way below, down to GF(2^2), where 1/Θ = Θ^2 exchanges the bits. Squares are
//! linear, so there are four products in a row: γ1 γ0, Γ1 Γ0, those of 1/Θ and those of 1/θ.
//! Products in GF(2^4) are made of nine products of bits, and in GF(2^2) of three (Karatsuba): 36
//! in all, with 4 + 2 + 4 + 8 = 18 relinearizations, one for each bit of a result.

use everlevel_scheme::{ExactScheme, NextUse};

use crate::AesError;

/// X^-1 of Doröz, Hu and Sunar's equation (5): from AES's basis to the tower's.
pub(super) const TO_TOWER: [u8; 8] = [
    0b11100111, 0b01110001, 0b01100011, 0b11100001, 0b10011011, 0b00000001, 0b01100001, 0b01001111,
];
/// M X there: back to AES's basis, and the matrix of SubBytes.
pub(super) const FROM_TOWER: [u8; 8] = [
    0b00101000, 0b10001000, 0b01000001, 0b10101000, 0b11111000, 0b01101101, 0b00110010, 0b01010010,
];

/// ν s^2 in GF(2^4), by the bits of s.
const NU_SQUARE: [&[usize]; 4] = [&[1, 3], &[0, 2], &[2, 3], &[3]];
/// N s^2 in GF(2^2), by the bits of s.
const NORM_SQUARE: [&[usize]; 2] = [&[0], &[0, 1]];

/// The bits of a product in GF(2^2), by the products of the operands of [`Factors::small`].
const SMALL_PRODUCT: [&[usize]; 2] = [&[2, 0], &[2, 1]];
/// The bits of a product in GF(2^4), by the products of the operands of [`Factors::large`]: the
/// product of the sums of halves times N is added to those of the halves.
const LARGE_PRODUCT: [&[usize]; 4] = [&[8, 7, 2, 0], &[6, 7, 2, 1], &[8, 7, 5, 3], &[6, 7, 5, 4]];

/// What the bits of an element are multiplied as.
struct Factors<'s, S: ExactScheme> {
    scheme: &'s S,
    operands: Vec<S::Ciphertext>,
    product: &'static [&'static [usize]],
}

impl<'s, S: ExactScheme> Factors<'s, S> {
    /// Of an element of GF(2^2): (a1, a0, a1 + a0).
    fn small(scheme: &'s S, a: &[S::Ciphertext]) -> Result<Self, AesError> {
        let sum = scheme.add(&a[0], &a[1])?;
        Ok(Factors {
            scheme,
            operands: vec![a[0].clone(), a[1].clone(), sum],
            product: &SMALL_PRODUCT,
        })
    }

    /// Of an element of GF(2^4): those of its halves, and of the sum of these.
    fn large(scheme: &'s S, a: &[S::Ciphertext]) -> Result<Self, AesError> {
        let sum = [scheme.add(&a[0], &a[2])?, scheme.add(&a[1], &a[3])?];
        let mut operands = Vec::with_capacity(9);
        for half in [&a[..2], &a[2..], &sum] {
            operands.extend(Self::small(scheme, half)?.operands);
        }
        Ok(Factors { scheme, operands, product: &LARGE_PRODUCT })
    }

    /// The product, relinearized bit by bit.
    fn times(&self, other: &Self, next: NextUse) -> Result<Vec<S::Ciphertext>, AesError> {
        let scheme = self.scheme;
        let pairs = self.operands.iter().zip(&other.operands);
        let products =
            pairs.map(|(a, b)| scheme.mul_lazy_aligned(a, b)).collect::<Result<Vec<_>, _>>()?;
        let bit = |terms: &&[usize]| {
            let mut sum = scheme.add_products(&products[terms[0]], &products[terms[1]])?;
            for &i in &terms[2..] {
                sum = scheme.add_products(&sum, &products[i])?;
            }
            Ok(scheme.relinearize(&sum, next)?)
        };
        self.product.iter().map(bit).collect()
    }
}

/// `product` plus the linear map `rows` of high + low.
fn plus_square<S: ExactScheme>(
    scheme: &S,
    product: &[S::Ciphertext],
    rows: &[&[usize]],
    high: &[S::Ciphertext],
    low: &[S::Ciphertext],
) -> Result<Vec<S::Ciphertext>, AesError> {
    let bit = |(product, row): (&S::Ciphertext, &&[usize])| {
        let squares = row.iter().flat_map(|&j| [(&high[j], 1), (&low[j], 1)]);
        let terms: Vec<_> = std::iter::once((product, 1)).chain(squares).collect();
        Ok(scheme.linear_combination(&terms, 0)?)
    };
    product.iter().zip(rows).map(bit).collect()
}

/// Both operands at one level, fit for products with each other.
fn together<S: ExactScheme>(
    scheme: &S,
    a: &[S::Ciphertext],
    b: &[S::Ciphertext],
) -> Result<[Vec<S::Ciphertext>; 2], AesError> {
    let all: Vec<_> = a.iter().chain(b).collect();
    let mut a_prepared = scheme.prepare_together(&all, NextUse::Product)?;
    let b_prepared = a_prepared.split_off(a.len());
    Ok([a_prepared, b_prepared])
}

/// The inverse of an element of GF(2^8) in the tower's basis, 0 for 0: 36 products of ciphertexts,
/// 18 relinearizations, depth 4. The results stay at the modulus of the last products, so that sums
/// of them are rounded once.
///
/// # Errors
/// Those of the scheme.
pub(super) fn invert<S: ExactScheme>(
    scheme: &S,
    bits: &[S::Ciphertext],
) -> Result<Vec<S::Ciphertext>, AesError> {
    let [high, low] = together(scheme, &bits[..4], &bits[4..])?;
    let product =
        Factors::large(scheme, &high)?.times(&Factors::large(scheme, &low)?, NextUse::Product)?;
    let theta = plus_square(scheme, &product, &NU_SQUARE, &high, &low)?;

    let [theta_high, theta_low] = together(scheme, &theta[..2], &theta[2..])?;
    let product = Factors::small(scheme, &theta_high)?
        .times(&Factors::small(scheme, &theta_low)?, NextUse::Product)?;
    let mut inverse = plus_square(scheme, &product, &NORM_SQUARE, &theta_high, &theta_low)?;
    inverse.reverse();

    let [inverse, theta] = together(scheme, &inverse, &[theta_low, theta_high].concat())?;
    let inverse = Factors::small(scheme, &inverse)?;
    let mut inverse_theta =
        inverse.times(&Factors::small(scheme, &theta[..2])?, NextUse::Product)?;
    inverse_theta.extend(inverse.times(&Factors::small(scheme, &theta[2..])?, NextUse::Product)?);

    let [inverse_theta, halves] = together(scheme, &inverse_theta, &[low, high].concat())?;
    let inverse_theta = Factors::large(scheme, &inverse_theta)?;
    let mut inverse = inverse_theta.times(&Factors::large(scheme, &halves[..4])?, NextUse::Keep)?;
    inverse.extend(inverse_theta.times(&Factors::large(scheme, &halves[4..])?, NextUse::Keep)?);
    Ok(inverse)
}
