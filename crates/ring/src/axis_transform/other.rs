//! Along an axis ahead of the carrier.

use zeroize::Zeroizing;

use crate::error::RingError;
use crate::exponents::exponents;
use crate::galois_ring::GaloisRing;
use crate::odd_slots::OddSlots;

use super::sums::Sums;

/// Between coefficients and values, both in GR(p^e, d), along any other axis: matrices of powers of
/// its root ζ, which are combinations of the first d_a of them over Z/p^e.
#[derive(Debug)]
pub(super) struct OtherAxis {
    degree: usize,
    /// Row j: the coefficients of x^j in ζ, ζ x, .., ζ x^(d-1).
    root: Vec<u64>,
    pub(super) forward: Vec<u64>,
    pub(super) inverse: Vec<u64>,
}

impl OtherAxis {
    pub(super) fn new(odd: &OddSlots, place: usize, ring: &GaloisRing) -> Result<Self, RingError> {
        let (t, d) = (ring.modulus(), ring.degree());
        let axis = &odd.axes.all()[place];
        let reduced = |a: &[u64]| -> Vec<u64> { a.iter().map(|&x| t.reduce_u64(x)).collect() };
        let subring = GaloisRing::new(t, &reduced(&odd.factors[place]))?;
        let next = |power: &Vec<u64>| Some(subring.times_x(power));
        let powers: Vec<Vec<u64>> =
            std::iter::successors(Some(subring.one()), next).take(axis.index as usize).collect();
        let (index, low) = (axis.index as usize, (axis.index / axis.prime) as usize);
        let units: Vec<usize> = odd.axes.units_along(place).iter().map(|&u| u as usize).collect();
        let exponents = exponents(&odd.axes, place);
        let scale = t.inv(axis.index)?;
        let forward = matrix(&units, &exponents, &subring, |u, k| powers[u * k % index].clone());
        let inverse = matrix(&exponents, &units, &subring, |k, u| {
            let at = |k: usize| &powers[(index - u * k % index) % index];
            subring.scale(scale, &subring.sub(at(k), at(k % low)))
        });
        let multiples = |power: &Vec<u64>| Some(ring.times_x(power));
        let multiples: Vec<Vec<u64>> =
            std::iter::successors(Some(reduced(&odd.roots[place])), multiples).take(d).collect();
        let root = (0..d).flat_map(|j| multiples.iter().map(move |power| power[j])).collect();
        Ok(OtherAxis { degree: axis.degree, root, forward, inverse })
    }

    /// Applies a matrix along the axis, neighbors `inner` elements apart, in place.
    ///
    /// The sums for each power of ζ are taken element by element; those of all elements are then
    /// added up by Horner's rule, coefficient by coefficient, so that all of it is sums of long
    /// vectors. Only the matrices, which are public, decide which terms there are.
    pub(super) fn apply(&self, sums: &Sums, elements: &mut [u64], inner: usize, matrix: &[u64]) {
        let parts = matrix.len() / self.degree / self.degree;
        let d = self.root.len().isqrt();
        let (words, length) = (inner * d, self.degree * inner);
        let zeros = || Zeroizing::new(vec![0; length * d]);
        let [mut part, mut planes, mut all, mut next] = [zeros(), zeros(), zeros(), zeros()];
        for block in elements.chunks_exact_mut(length * d) {
            for r in (0..parts).rev() {
                let rows: Vec<&[u64]> = block.chunks_exact(words).collect();
                for (i, out) in part.chunks_exact_mut(words).enumerate() {
                    let row = &matrix[(i * parts + r) * self.degree..][..self.degree];
                    combined(sums, out, &rows, row, None);
                }
                transposed(&part, &mut planes, d);
                if r + 1 == parts {
                    std::mem::swap(&mut all, &mut planes);
                    continue;
                }
                let sources: Vec<&[u64]> = all.chunks_exact(length).collect();
                let weights = self.root.chunks_exact(d);
                let targets = next.chunks_exact_mut(length).zip(planes.chunks_exact(length));
                for ((out, plane), row) in targets.zip(weights) {
                    combined(sums, out, &sources, row, Some(plane));
                }
                std::mem::swap(&mut all, &mut next);
            }
            transposed(&all, block, length);
        }
    }
}

/// out = Σ_j weights_j terms_j, and one more term, without the terms whose weight is 0.
fn combined(
    sums: &Sums,
    out: &mut [u64],
    terms: &[&[u64]],
    weights: &[u64],
    added: Option<&[u64]>,
) {
    let present = terms.iter().copied().zip(weights.iter().copied()).filter(|&(_, w)| w != 0);
    let (terms, weights): (Vec<&[u64]>, Vec<u64>) =
        present.chain(added.map(|term| (term, 1))).unzip();
    sums.weighted(out, &terms, &weights);
}

/// Lines of `columns` words, column by column.
fn transposed(lines: &[u64], out: &mut [u64], columns: usize) {
    let rows = lines.len() / columns;
    for (r, line) in lines.chunks_exact(columns).enumerate() {
        out.iter_mut().skip(r).step_by(rows).zip(line).for_each(|(x, &y)| *x = y);
    }
}

/// The entries of a matrix over `ring`, one row of residues for each output and coefficient of an
/// entry.
fn matrix(
    outputs: &[usize],
    inputs: &[usize],
    ring: &GaloisRing,
    entry: impl Fn(usize, usize) -> Vec<u64>,
) -> Vec<u64> {
    let row = |&o: &usize| {
        let entries: Vec<Vec<u64>> = inputs.iter().map(|&i| entry(o, i)).collect();
        (0..ring.degree())
            .flat_map(move |r| entries.iter().map(|entry| entry[r]).collect::<Vec<_>>())
    };
    outputs.iter().flat_map(row).collect()
}
