//! The transform over vectors, written once for every instruction set and either arithmetic.
//!
//! Rows are cut into pieces that stay in a near cache. A piece of both rows goes through the row
//! stage and the distances 1, 2, 4 in one sweep, in registers, and then, row by row, through all
//! stages whose blocks fit, three stages a sweep. The remaining stages sweep the whole rows. The
//! inverse does the same backwards.

use super::forward::{first_stages, stages};
use super::inverse::{last_stages, stages_back};
use super::twiddles::VectorTwiddles;
use crate::arch::butterfly::Butterflies;
use crate::arch::lanes::Lanes;

/// The binary logarithm of the length of a piece: short rows stay whole, long ones leave three
/// stages, one sweep, to be done over the whole row.
#[inline(always)]
fn log_piece(log_half: u32) -> u32 {
    if log_half <= 12 { log_half } else { log_half - 3 }
}

/// From coefficients below 4q to canonical values; `a` has the length of the twiddles, at least
/// 128.
#[inline(always)]
pub(crate) fn forward<L: Lanes>(l: L, twiddles: &VectorTwiddles<L::Transform>, a: &mut [u64]) {
    forward_with(l.transform(twiddles.modulus), twiddles, a);
}

/// [`forward`] by an arithmetic.
#[inline(always)]
pub(super) fn forward_with<B: Butterflies>(m: B, twiddles: &VectorTwiddles<B>, a: &mut [u64]) {
    let half = a.len() / 2;
    let log_half = half.trailing_zeros();
    assert!(half >= 64 && twiddles.row(0).len() == half);
    let (first, second) = a.split_at_mut(half);
    let log_piece = log_piece(log_half);
    let piece = 1 << log_piece;
    for start in (0..half).step_by(piece) {
        let (top, bottom) = (&mut first[start..][..piece], &mut second[start..][..piece]);
        first_stages(m, twiddles, top, bottom);
        for (r, row) in [top, bottom].into_iter().enumerate() {
            stages(m, twiddles.row(r), row, 3, log_piece, log_piece == log_half);
        }
    }
    if log_piece < log_half {
        for (r, row) in [first, second].into_iter().enumerate() {
            stages(m, twiddles.row(r), row, log_piece, log_half, true);
        }
    }
}

/// From canonical values to canonical coefficients; `a` has the length of the twiddles, at least
/// 128.
#[inline(always)]
pub(crate) fn inverse<L: Lanes>(l: L, twiddles: &VectorTwiddles<L::Transform>, a: &mut [u64]) {
    inverse_with(l.transform(twiddles.modulus), twiddles, a);
}

/// [`inverse`] by an arithmetic.
#[inline(always)]
pub(super) fn inverse_with<B: Butterflies>(m: B, twiddles: &VectorTwiddles<B>, a: &mut [u64]) {
    let half = a.len() / 2;
    let log_half = half.trailing_zeros();
    assert!(half >= 64 && twiddles.row(0).len() == half);
    let (first, second) = a.split_at_mut(half);
    let log_piece = log_piece(log_half);
    let piece = 1 << log_piece;
    // The inverse twiddles of a row are the twiddles of the other row.
    if log_piece < log_half {
        for (r, row) in [&mut *first, &mut *second].into_iter().enumerate() {
            stages_back(m, twiddles.row(1 - r), row, log_piece, log_half, true);
        }
    }
    for start in (0..half).step_by(piece) {
        let (top, bottom) = (&mut first[start..][..piece], &mut second[start..][..piece]);
        for (r, row) in [&mut *top, &mut *bottom].into_iter().enumerate() {
            stages_back(m, twiddles.row(1 - r), row, 3, log_piece, log_piece == log_half);
        }
        last_stages(m, twiddles, top, bottom);
    }
}
