//! Monomials of rings with axes: what permutes the powers of every X_a.

use everlevel_arith::{Axes, Axis};

use crate::prime_power::PrimePower;

/// Replaces X_a^k by X_a^(f(a, k)) on every axis, f(a, .) injective modulo N_a: automorphisms and
/// products with monomials. Coefficients in the order of the [`Axes`], O(n) for each axis.
///
/// A power that is not in the basis is X_a^k = -Σ X_a^(k + i N / l), i = 1, .., l - 1, k reduced
/// modulo N / l.
pub(crate) fn map_exponents(
    axes: &Axes,
    a: &[u64],
    t: PrimePower,
    f: impl Fn(&Axis, u64) -> u64,
) -> Vec<u64> {
    let mut out = a.to_vec();
    let mut inner = axes.degree();
    for (place, axis) in axes.all().iter().enumerate() {
        inner /= axis.degree;
        let from = exponents(axes, place);
        let to: Vec<usize> =
            from.iter().map(|&k| (f(axis, k as u64) % axis.index) as usize).collect();
        let low = (axis.index / axis.prime) as usize;
        let stays = to.iter().all(|&k| k >= low);
        // All powers of X_a, `inner` words each.
        let mut powers = vec![0; axis.index as usize * inner];
        for block in out.chunks_exact_mut(axis.degree * inner) {
            powers.fill(0);
            for (line, &k) in block.chunks_exact(inner).zip(&to) {
                powers[k * inner..][..inner].copy_from_slice(line);
            }
            for (line, &k) in block.chunks_exact_mut(inner).zip(&from) {
                let (left, kept) =
                    (&powers[k % low * inner..][..inner], &powers[k * inner..][..inner]);
                if stays {
                    line.copy_from_slice(kept);
                    continue;
                }
                line.iter_mut()
                    .zip(kept)
                    .zip(left)
                    .for_each(|((x, &kept), &left)| *x = t.sub(kept, left));
            }
        }
    }
    out
}

/// A polynomial in the X_a of the last axes alone, by its coefficients, as one of the ring: times 1
/// in all other X_a.
pub(crate) fn embed_last(axes: &Axes, last: &[u64], t: PrimePower) -> Vec<u64> {
    let own = axes.last_of_degree(last.len()).map_or(0, <[_]>::len);
    embed(axes, axes.all().len() - own, last, t)
}

/// The coefficients of a constant.
pub(crate) fn constant(axes: &Axes, c: u64, t: PrimePower) -> Vec<u64> {
    embed(axes, axes.all().len(), &[c], t)
}

/// Coefficients on the axes from `count` on as those of a polynomial that is constant in the X_a of
/// the others.
fn embed(axes: &Axes, count: usize, inner: &[u64], t: PrimePower) -> Vec<u64> {
    (0..count).rev().fold(inner.to_vec(), |inner, place| {
        let low = (axes.all()[place].index / axes.all()[place].prime) as usize;
        let negative: Vec<u64> = inner.iter().map(|&x| t.neg(x)).collect();
        let zero = vec![0; inner.len()];
        exponents(axes, place)
            .into_iter()
            .flat_map(|k| if k % low == 0 { negative.clone() } else { zero.clone() })
            .collect()
    })
}

/// The exponents of the basis along an axis, in coefficient order.
pub(crate) fn exponents(axes: &Axes, axis: usize) -> Vec<usize> {
    (0..axes.all()[axis].degree).map(|i| axes.coefficient_exponent(axis, i) as usize).collect()
}
