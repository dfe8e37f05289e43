//! The transform of rings of odd index: one small transform for each axis.

use crate::axes::Axes;
use crate::{ArithError, Modulus, primes};

/// The transform of Z\[X\]/Φ_m(X), m odd, modulo one prime, in the orders of [`crate::axes`].
pub struct TensorTable {
    modulus: Modulus,
    axes: Axes,
    root: u64,
    /// For each axis its matrix and the inverse, row-major: value at place i, coefficient at place j.
    matrices: Vec<[Vec<u64>; 2]>,
}

impl TensorTable {
    /// Prepares transforms modulo the prime q with ζ = `root`, a primitive m-th root of unity.
    ///
    /// # Errors
    /// [`ArithError::NoGroupRoot`] unless q is a prime that is 1 modulo [`Axes::transform_order`] and `root` is a primitive m-th root of unity.
    pub fn new(modulus: Modulus, axes: &Axes, root: u64) -> Result<Self, ArithError> {
        let (q, order) = (modulus.value(), axes.transform_order());
        let primitive =
            modulus.pow(root, axes.index()) == 1 && axes.all().iter().all(|a| modulus.pow(root, axes.index() / a.prime) != 1);
        if q % order != 1 || !primes::is_prime(q) || root >= q || !primitive {
            return Err(ArithError::NoGroupRoot { modulus: q, order });
        }
        let matrices = axes
            .all()
            .iter()
            .enumerate()
            .map(|(a, axis)| {
                let zeta = modulus.pow(root, axis.exponent);
                let powers: Vec<u64> =
                    std::iter::successors(Some(1), |x| Some(modulus.mul(*x, zeta))).take(axis.index as usize).collect();
                let unit = |i: usize| (0..i).fold(1, |u, _| u * axis.generator % axis.index);
                let units: Vec<u64> = (0..axis.degree).map(unit).collect();
                let exponents: Vec<u64> = (0..axis.degree).map(|j| axes.coefficient_exponent(a, j)).collect();
                let at = |e: u64| powers[(e % axis.index) as usize];
                let forward = units.iter().flat_map(|u| exponents.iter().map(move |e| at(u * e))).collect();
                // The coefficient of X^e is the sum of a(ζ^u) (ζ^(-u e) - ζ^(-u f)) over all u, divided by N, f being e reduced modulo N / l: a power
                // that is not in the basis.
                let scale = modulus.inv(modulus.reduce_u64(axis.index)).unwrap_or(0);
                let low = axis.index / axis.prime;
                let inverse = exponents
                    .iter()
                    .flat_map(|e| {
                        units.iter().map(move |u| {
                            let x = modulus.sub(at(axis.index - u * e % axis.index), at(axis.index - u * (e % low) % axis.index));
                            modulus.mul(scale, x)
                        })
                    })
                    .collect();
                [forward, inverse]
            })
            .collect();
        Ok(TensorTable { modulus, axes: axes.clone(), root, matrices })
    }
    /// The modulus q.
    pub fn modulus(&self) -> Modulus {
        self.modulus
    }
    /// ζ.
    pub fn root(&self) -> u64 {
        self.root
    }
    /// From coefficients (any words below 4q) to values (below q), in place.
    ///
    /// # Panics
    /// If the slice does not have φ(m) words.
    pub fn forward(&self, a: &mut [u64]) {
        self.apply(a, 0);
    }
    /// From values (below q) to coefficients (below q), in place.
    ///
    /// # Panics
    /// If the slice does not have φ(m) words.
    pub fn inverse(&self, a: &mut [u64]) {
        self.apply(a, 1);
    }
    fn apply(&self, a: &mut [u64], direction: usize) {
        assert_eq!(a.len(), self.axes.degree(), "one word for each unit");
        let q = self.modulus;
        a.iter_mut().for_each(|x| *x = q.reduce_u64(*x));
        let mut inner = a.len();
        for (axis, matrices) in self.axes.all().iter().zip(&self.matrices) {
            inner /= axis.degree;
            let mut line = vec![0; axis.degree];
            for start in (0..a.len()).filter(|x| x / inner % axis.degree == 0) {
                for (x, row) in line.iter_mut().zip(matrices[direction].chunks_exact(axis.degree)) {
                    *x = row.iter().enumerate().fold(0, |s, (j, w)| q.add(s, q.mul(*w, a[start + j * inner])));
                }
                line.iter().enumerate().for_each(|(j, x)| a[start + j * inner] = *x);
            }
        }
    }
}
