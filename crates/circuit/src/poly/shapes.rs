//! In which blocks polynomials are evaluated.

use super::polynomial::{Parity, Polynomial};
use super::powers::log2_ceil;

/// Where the factor x^r of a polynomial x^r Q(x^s) goes: x for odd ones, x^3 for those of order 4.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum OuterFactor {
    /// x^r * Q(x^s): one product, one level.
    Last,
    /// Into the giants of the outermost sum: hi * (x^r G) + x^r * lo.
    Giants,
    /// Into the baby powers: x^r, x^(r + s), x^(r + 2s), ..
    Babies,
}

#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// 1, or 2 when all polynomials are odd or even, or 4 when all have order 4.
    pub(super) stride: usize,
    /// Coefficients in a block.
    pub(super) block: usize,
    /// Giants x^(stride * block * 2^j) for j below this.
    pub(super) giants: u32,
    pub(super) outer: OuterFactor,
}

/// Horner's rule over the largest giant is used for at most this many blocks: more only costs
/// depth.
const LONGEST_CHAIN: usize = 16;

/// The block sizes, sets of giants and places of the outer factor to be tried.
pub(super) fn shapes(polynomials: &[Polynomial]) -> impl Iterator<Item = Shape> + use<> {
    let mixed = polynomials.iter().any(|f| f.parity() == Parity::Mixed);
    let factored = !mixed && polynomials.iter().any(|f| f.parity() == Parity::Odd);
    let quartered =
        !polynomials.is_empty() && polynomials.iter().all(|f| f.degree() > 3 && f.has_order_four());
    let strides: &[usize] = if mixed {
        &[1]
    } else if quartered {
        &[2, 4]
    } else {
        &[2]
    };
    let ways: &[OuterFactor] = if factored {
        &[OuterFactor::Last, OuterFactor::Giants, OuterFactor::Babies]
    } else {
        &[OuterFactor::Last]
    };
    let highest = polynomials.iter().map(Polynomial::degree).max().unwrap_or(0);
    strides.iter().flat_map(move |&stride| {
        let degree = highest / stride;
        // Around the square root, and not each of very many, but powers of two, which are needed
        // for least depth where the degree is just below one.
        let root = degree.isqrt();
        let sizes = (root / 8).max(1)..=(2 * root + 4).min(degree.max(1));
        let step = (root / 16).max(1);
        let first = *sizes.start();
        let tried =
            move |size: &usize| (size - first).is_multiple_of(step) || size.is_power_of_two();
        sizes.filter(tried).flat_map(move |block| {
            let blocks = (degree + 1).div_ceil(block);
            let most = log2_ceil(blocks).max(1);
            let least = log2_ceil(blocks.div_ceil(LONGEST_CHAIN)).max(1);
            (least..=most).flat_map(move |giants| {
                ways.iter().map(move |&outer| Shape { stride, block, giants, outer })
            })
        })
    })
}
