//! Polynomials of a ring by their definition: which power of X a coefficient belongs to, at which
//! root of unity a place of evaluations is, and which integer residues stand for.

use std::sync::{Arc, OnceLock};

use everlevel_ring::{Axes, Basis, Ring};

/// What the orders of coefficients and evaluations mean, read off their documentation and not off
/// the transforms.
pub(crate) struct Definitions {
    pub(crate) ring: Arc<Ring>,
    /// The powers of X whose coefficients a limb holds, in storage order.
    powers: Vec<u64>,
    /// Place by place the u for which a limb holds the value at ζ^u.
    units: Vec<u64>,
    /// u e modulo the index for each of the units u and each of the powers e, a row for each unit:
    /// n² entries, made when a polynomial is evaluated.
    exponents: OnceLock<Vec<u32>>,
}

impl Definitions {
    pub(crate) fn new(ring: Arc<Ring>) -> Self {
        let (powers, units) = match ring.axes() {
            None => (stored_powers(&ring), rows(&ring)),
            Some(axes) => (powers_along(axes, 0), axes.units()),
        };
        Definitions { ring, powers, units, exponents: OnceLock::new() }
    }

    /// The units and powers that the places of each axis stand for, the last axis contiguous: a
    /// limb has an entry for each choice of one of each axis, and stands for their product, or
    /// sum. A power of two is one axis.
    pub(crate) fn axes(&self) -> Vec<(Vec<u64>, Vec<u64>)> {
        let Some(axes) = self.ring.axes() else {
            return vec![(self.units.clone(), self.powers.clone())];
        };
        let own = |a: usize| (axes.units_along(a).to_vec(), powers_of_axis(axes, a));
        (0..axes.all().len()).map(own).collect()
    }

    /// 1, ζ, .., ζ^(m - 1) modulo the prime at `position`.
    pub(crate) fn roots(&self, position: usize) -> Vec<u64> {
        let (q, root) = (self.ring.modulus(position), self.ring.root(position));
        let all = std::iter::successors(Some(1), |x| Some(q.mul(*x, root)));
        all.take(self.ring.index() as usize).collect()
    }

    /// The values of Σ c X^e, given as pairs (e, c), modulo the prime at `position`.
    pub(crate) fn values(&self, position: usize, terms: &[(u64, u64)]) -> Vec<u64> {
        let (q, m, roots) = (self.ring.modulus(position), self.ring.index(), self.roots(position));
        let terms: Vec<(u64, u64)> = terms.iter().map(|&(e, c)| (e % m, c)).collect();
        let value = |&u: &u64| {
            // At most 2^18 terms below 2^100.
            let term =
                |&(e, c): &(u64, u64)| u128::from(c) * u128::from(roots[(u * e % m) as usize]);
            q.reduce_u128(terms.iter().map(term).sum())
        };
        self.units.iter().map(value).collect()
    }

    /// The values of the polynomial with these coefficients, in storage order.
    pub(crate) fn evaluated(&self, position: usize, coefficients: &[u64]) -> Vec<u64> {
        let (q, m, roots) = (self.ring.modulus(position), self.ring.index(), self.roots(position));
        // Without the divisions of `values`, which take most of its time.
        let exponents = self.exponents.get_or_init(|| {
            let row = |&u: &u64| self.powers.iter().map(move |e| (u * (e % m) % m) as u32);
            self.units.iter().flat_map(row).collect()
        });
        let value = |row: &[u32]| {
            let terms = row.iter().zip(coefficients);
            let term = |(&e, &c): (&u32, &u64)| u128::from(c) * u128::from(roots[e as usize]);
            q.reduce_u128(terms.map(term).sum())
        };
        exponents.chunks(self.powers.len()).map(value).collect()
    }

    /// The values of x(X^g) from those of x: at ζ^u that of x at ζ^(g u).
    pub(crate) fn moved(&self, values: &[u64], g: u64) -> Vec<u64> {
        let m = self.ring.index();
        let mut places = vec![0; m as usize];
        self.units.iter().enumerate().for_each(|(place, &u)| places[u as usize] = place);
        self.units.iter().map(|u| values[places[(u * g % m) as usize]]).collect()
    }

    /// The powers of X that the coefficients of a plaintext with repeating evaluations belong to,
    /// in natural order; none if no such plaintext has that many.
    pub(crate) fn repeating(&self, coefficients: usize) -> Option<Vec<u64>> {
        let n = self.ring.degree();
        match self.ring.axes() {
            None => {
                let fits = coefficients.is_power_of_two() && (16..=n).contains(&coefficients);
                fits.then(|| (0..n as u64).step_by(n / coefficients).collect())
            }
            Some(axes) => {
                let last = axes.last_of_degree(coefficients)?;
                Some(powers_along(axes, axes.all().len() - last.len()))
            }
        }
    }

    /// The integers of least absolute value with the given residues, prime by prime in the order of
    /// the basis, whose product is below 2^120.
    pub(crate) fn centered(&self, basis: Basis, limbs: &[Vec<u64>]) -> Vec<i128> {
        let moduli: Vec<_> = basis.iter().map(|i| self.ring.modulus(i)).collect();
        let product: i128 = moduli.iter().map(|q| i128::from(q.value())).product();
        let integer = |k: usize| {
            let (mut value, mut weight) = (0i128, 1i128);
            for (q, limb) in moduli.iter().zip(limbs) {
                let inverse = q.inv(q.reduce_i128(weight)).expect("different primes");
                let digit = q.mul(q.sub(limb[k], q.reduce_i128(value)), inverse);
                value += weight * i128::from(digit);
                weight *= i128::from(q.value());
            }
            if 2 * value > product { value - product } else { value }
        };
        (0..self.ring.degree()).map(integer).collect()
    }
}

/// 0, 1, .., n - 1 in storage order.
fn stored_powers(ring: &Ring) -> Vec<u64> {
    let natural: Vec<u64> = (0..ring.degree() as u64).collect();
    let mut stored = vec![0; natural.len()];
    ring.storage_order(&natural, &mut stored);
    stored
}

/// 5^i and then -5^i modulo m, a power of two.
fn rows(ring: &Ring) -> Vec<u64> {
    let m = ring.index();
    let row = std::iter::successors(Some(1), |u| Some(u * 5 % m)).take(ring.degree() / 2);
    row.clone().chain(row.map(|u| m - u)).collect()
}

/// The powers of X that the places of an axis belong to.
fn powers_of_axis(axes: &Axes, a: usize) -> Vec<u64> {
    let axis = &axes.all()[a];
    let power = |i| axis.exponent * axes.coefficient_exponent(a, i) % axes.index();
    (0..axis.degree).map(power).collect()
}

/// The same for all axes from `first` on, row-major.
fn powers_along(axes: &Axes, first: usize) -> Vec<u64> {
    let along = |outer: Vec<u64>, a: usize| {
        let own = powers_of_axis(axes, a);
        let sum = |o: u64, e: &u64| (o + e) % axes.index();
        outer.iter().flat_map(|&o| own.iter().map(move |e| sum(o, e))).collect()
    };
    (first..axes.all().len()).fold(vec![0], along)
}
