//! Normal bases of Galois rings, and their duals.

use everlevel_ring::GaloisRing;

use crate::error::CircuitError;
use crate::modular::PrimePower;

/// ν and ν* in GR(p^e, d) with Tr(φ^i(ν) φ^j(ν*)) = 1 for i = j and 0 else, φ being Frobenius: z =
/// Σ a_f φ^f(ν) has the coordinates a_f = Tr(z φ^f(ν*)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NormalBasis {
    pub(crate) element: Vec<u64>,
    pub(crate) dual: Vec<u64>,
}

impl NormalBasis {
    /// The first one that is found among simple elements. O(d^3) a try; most elements are normal.
    ///
    /// # Errors
    /// [`CircuitError::Empty`] if none is found among p d + 1000 elements.
    pub(crate) fn new(ring: &GaloisRing) -> Result<Self, CircuitError> {
        let (d, t) = (ring.degree(), ring.modulus());
        // Pseudo-random coefficients: a multiplicative congruence.
        let mut state = 1u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            t.reduce_u64(state >> 32)
        };
        for _ in 0..1000 {
            let element: Vec<u64> = (0..d).map(|_| next()).collect();
            let images: Vec<Vec<u64>> = (0..d).map(|k| ring.frobenius(&element, k)).collect();
            let traces: Vec<u64> =
                images.iter().map(|image| ring.trace(&ring.mul(&element, image))).collect();
            // The dual is Σ h_k φ^k(ν) with Σ_k h_k Tr(ν φ^(k - i)(ν)) = 1 for i = 0 and 0 else.
            let rows = (0..d).map(|i| {
                let row = (0..d).map(|k| traces[(k + d - i) % d]);
                row.chain([u64::from(i == 0)]).collect()
            });
            if let Some(solution) = solved(t, rows.collect()) {
                let dual = solution
                    .iter()
                    .zip(&images)
                    .fold(vec![0; d], |sum, (h, image)| ring.add(&sum, &ring.scale(*h, image)));
                return Ok(NormalBasis { element, dual });
            }
        }
        Err(CircuitError::Empty { what: "the set of normal elements found" })
    }
}

/// The solution of a square system, its right-hand side being the last column; None if its
/// determinant is no unit.
fn solved(t: PrimePower, mut rows: Vec<Vec<u64>>) -> Option<Vec<u64>> {
    let n = rows.len();
    for column in 0..n {
        let pivot = (column..n).find(|&i| !rows[i][column].is_multiple_of(t.prime()))?;
        rows.swap(column, pivot);
        let inverse = t.inv(rows[column][column]).ok()?;
        rows[column].iter_mut().for_each(|x| *x = t.mul(*x, inverse));
        let pivot = rows[column].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(i, _)| *i != column) {
            let factor = row[column];
            row.iter_mut().zip(&pivot).for_each(|(x, y)| *x = t.sub(*x, t.mul(factor, *y)));
        }
    }
    Some(rows.iter().map(|row| row[n]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use everlevel_ring::SlotShape;

    #[test]
    fn the_dual_takes_coordinates() {
        for (index, p, e) in
            [(7, 2, 5), (31, 2, 1), (7 * 13, 17, 3), (17, 2, 9), (31, 5, 2), (11, 23, 1)]
        {
            let ring = SlotShape::new(index, p, e).unwrap().galois_ring(e).unwrap();
            let basis = NormalBasis::new(&ring).unwrap();
            for i in 0..ring.degree() {
                for j in 0..ring.degree() {
                    let product = ring
                        .mul(&ring.frobenius(&basis.element, i), &ring.frobenius(&basis.dual, j));
                    assert_eq!(ring.trace(&product), u64::from(i == j), "m = {index}, p = {p}");
                }
            }
        }
    }
}
