//! Transforms as matrices.

use everlevel_ring::Modulus;

use crate::definitions::Definitions;

/// The transform modulo one prime: a matrix and its inverse for each axis.
pub(crate) struct Transform {
    q: Modulus,
    axes: Vec<[Matrix; 2]>,
}

/// A square matrix, row by row.
struct Matrix(Vec<Vec<u64>>);

impl Transform {
    /// n² words for a power of two, else φ(N)² for each axis. There elimination inverts them; for a
    /// power of two it would take longer than what an engine is asked for.
    pub(crate) fn new(definitions: &Definitions, position: usize) -> Self {
        let q = definitions.ring.modulus(position);
        let (m, roots) = (definitions.ring.index(), definitions.roots(position));
        let matrices = |(units, powers): (Vec<u64>, Vec<u64>)| {
            let row = |u: &u64| powers.iter().map(|e| roots[(u * e % m) as usize]).collect();
            let forward = Matrix(units.iter().map(row).collect());
            let inverse = match definitions.ring.axes() {
                Some(_) => forward.inverse(q),
                None => orthogonal(q, &roots, &units, &powers),
            };
            [forward, inverse]
        };
        Transform { q, axes: definitions.axes().into_iter().map(matrices).collect() }
    }

    /// Coefficients to values.
    pub(crate) fn forward(&self, coefficients: &[u64]) -> Vec<u64> {
        self.applied(coefficients, 0)
    }

    /// Values to coefficients.
    pub(crate) fn inverse(&self, values: &[u64]) -> Vec<u64> {
        self.applied(values, 1)
    }

    fn applied(&self, x: &[u64], direction: usize) -> Vec<u64> {
        let mut x = x.to_vec();
        let mut stride = x.len();
        for matrices in &self.axes {
            let matrix = &matrices[direction];
            let length = matrix.0.len();
            stride /= length;
            for start in (0..x.len()).filter(|k| (k / stride).is_multiple_of(length)) {
                let line: Vec<u64> = (0..length).map(|i| x[start + i * stride]).collect();
                for (i, value) in matrix.times(self.q, &line).enumerate() {
                    x[start + i * stride] = value;
                }
            }
        }
        x
    }
}

/// The inverse of the values ζ^(u e) of X^e at ζ^u, for the n powers and the n units of a power of
/// two m = 2n: ζ^(-u e) / n, as the sum of ζ^(u (f - e)) over all odd u is n for f = e, and else 0.
fn orthogonal(q: Modulus, roots: &[u64], units: &[u64], powers: &[u64]) -> Matrix {
    let (m, n) = (roots.len() as u64, powers.len() as u64);
    let scale = q.inv(q.reduce_u64(n)).expect("not zero modulo a prime");
    let entry = |u: &u64, e: &u64| q.mul(roots[((m - u * e % m) % m) as usize], scale);
    Matrix(powers.iter().map(|e| units.iter().map(|u| entry(u, e)).collect()).collect())
}

impl Matrix {
    fn times<'a>(&'a self, q: Modulus, x: &'a [u64]) -> impl Iterator<Item = u64> + 'a {
        // At most 2^17 products below 2^100.
        let term = |(a, b): (&u64, &u64)| u128::from(*a) * u128::from(*b);
        self.0.iter().map(move |row| q.reduce_u128(row.iter().zip(x).map(term).sum()))
    }

    /// By elimination (Gauss and Jordan).
    ///
    /// # Panics
    /// If there is no inverse: values at different points determine a polynomial.
    fn inverse(&self, q: Modulus) -> Self {
        let n = self.0.len();
        // Each row with its row of the inverse after it.
        let unit = |i: usize| (0..n).map(move |j| u64::from(i == j));
        let mut rows: Vec<Vec<u64>> = self
            .0
            .iter()
            .enumerate()
            .map(|(i, row)| row.iter().copied().chain(unit(i)).collect())
            .collect();
        for k in 0..n {
            let pivot = (k..n).find(|&i| rows[i][k] != 0).expect("an invertible matrix");
            rows.swap(k, pivot);
            let scale = q.inv(rows[k][k]).expect("not zero modulo a prime");
            rows[k].iter_mut().for_each(|x| *x = q.mul(*x, scale));
            let own = rows[k].clone();
            for (_, row) in rows.iter_mut().enumerate().filter(|(i, _)| *i != k) {
                let factor = q.neg(row[k]);
                row.iter_mut().zip(&own).skip(k).for_each(|(x, y)| *x = q.mul_add(*y, factor, *x));
            }
        }
        Matrix(rows.into_iter().map(|mut row| row.split_off(n)).collect())
    }
}
