//! The kernel of a line and its transforms, and the matrices of dense axes.

use super::cyclic::Cyclic;
use super::factors::is_cyclic;
use crate::arch::residues::Residues;
use crate::axes::{Axes, Axis};
use crate::modulus::Modulus;

/// Where the places of a line are stored, and its kernel K in that order: first with all indices
/// reversed, then as it is.
pub(super) fn kernels(
    q: Modulus,
    root: u64,
    own: &[Axis],
    place: impl Fn(&[usize]) -> usize,
) -> (Vec<u32>, [Vec<u64>; 2]) {
    let length = own.iter().map(|a| a.degree).product();
    let mut positions = vec![0; length];
    let mut kernels = [vec![0; length], vec![0; length]];
    let roots: Vec<Vec<u64>> = own.iter().map(|a| kernel(q, root, a)).collect();
    for (i, position) in positions.iter_mut().enumerate() {
        let mut rest = i;
        let mut indices = vec![0; own.len()];
        for (index, axis) in indices.iter_mut().zip(own).rev() {
            *index = rest % axis.degree;
            rest /= axis.degree;
        }
        let reversed: Vec<usize> = indices
            .iter()
            .zip(own)
            .map(|(i, a)| if is_cyclic(a) { (a.degree - i) % a.degree } else { *i })
            .collect();
        let value = indices.iter().zip(&roots).fold(1, |x, (&i, powers)| q.mul(x, powers[i]));
        *position = place(&indices) as u32;
        kernels[0][place(&reversed)] = value;
        kernels[1][*position as usize] = value;
    }
    (positions, kernels)
}

/// D' and E' in the words of the arithmetic A; `direct` if the last group is correlated directly.
pub(super) fn spectra<A: Residues>(
    q: Modulus,
    own: &[Axis],
    kernels: [Vec<u64>; 2],
    cyclic: &[Cyclic],
    direct: bool,
) -> [Vec<[u64; 2]>; 2] {
    let group: usize = own.iter().filter(|a| is_cyclic(a)).map(|a| a.degree).product();
    let scale = q.inv(q.reduce_u64(group as u64)).unwrap_or(0);
    let [mut forward, mut inverse] = kernels;
    cyclic
        .iter()
        .for_each(|stage| [&mut forward, &mut inverse].into_iter().for_each(|x| stage.apply(q, x)));
    inverse.iter_mut().for_each(|x| *x = q.inv(*x).unwrap_or(0));
    [forward, inverse].map(|mut d| {
        d.iter_mut().for_each(|x| *x = q.mul(*x, scale));
        match cyclic.last() {
            Some(leaf) if direct => {
                // (F D F)(i, j) = (F D)(i + j) for the last group by itself.
                leaf.apply(q, &mut d);
                let weights: Vec<u64> = d.into_iter().map(|x| A::encode_weight(q, x)).collect();
                let twice =
                    weights.chunks_exact(leaf.radix).flat_map(|w| w.iter().chain(w).copied());
                twice.collect::<Vec<u64>>().chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect()
            }
            _ => d.into_iter().map(|x| A::encode(q, x)).collect(),
        }
    })
}

/// The powers ζ_a^(γ^i) of an axis, or ones if it is dense.
fn kernel(q: Modulus, root: u64, axis: &Axis) -> Vec<u64> {
    if !is_cyclic(axis) {
        return vec![1; axis.degree];
    }
    let zeta = q.pow(root, axis.exponent);
    let mut unit = 1;
    (0..axis.degree)
        .map(|_| {
            let power = q.pow(zeta, unit);
            unit = unit * axis.generator % axis.index;
            power
        })
        .collect()
}

/// The matrix of a dense axis and its inverse, row-major: value at place i, coefficient at place j.
pub(super) fn matrices(modulus: Modulus, root: u64, axes: &Axes, a: usize) -> [Vec<u64>; 2] {
    let axis = &axes.all()[a];
    let zeta = modulus.pow(root, axis.exponent);
    let powers: Vec<u64> = std::iter::successors(Some(1), |x| Some(modulus.mul(*x, zeta)))
        .take(axis.index as usize)
        .collect();
    let units = axes.units_along(a);
    let exponents: Vec<u64> = (0..axis.degree).map(|j| axes.coefficient_exponent(a, j)).collect();
    let at = |e: u64| powers[(e % axis.index) as usize];
    let forward = units.iter().flat_map(|u| exponents.iter().map(move |e| at(u * e))).collect();
    // The coefficient of X^e is the sum of a(ζ^u) (ζ^(-u e) - ζ^(-u f)) over all u, divided by N, f
    // being e reduced modulo N / l: a power that is not in the basis.
    let scale = modulus.inv(modulus.reduce_u64(axis.index)).unwrap_or(0);
    let low = axis.index / axis.prime;
    let inverse = exponents
        .iter()
        .flat_map(|e| {
            units.iter().map(move |u| {
                let x = modulus.sub(
                    at(axis.index - u * e % axis.index),
                    at(axis.index - u * (e % low) % axis.index),
                );
                modulus.mul(scale, x)
            })
        })
        .collect();
    [forward, inverse]
}
