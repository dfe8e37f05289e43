//! The storage order of rings whose index is odd or 2^k times an odd number: the group of units
//! modulo m, axis by axis.
//!
//! For m = Π N_a, the N_a powers of distinct primes, Z\[X\]/Φ_m(X) is the tensor product of the
//! rings Z\[X_a\]/Φ_{N_a}(X_a), with X = Π X_a and X_a = X^(e_a), e_a being 1 modulo N_a and 0
//! modulo the other factors. A buffer of φ(m) words is a row-major array with one axis a of length
//! φ(N_a) for each factor: a power of two first, the odd ones ascending, the largest last.
//!
//! **Evaluation order.** Place i on an odd axis a stands for the unit γ_a^i modulo N_a, γ_a the
//! least generator. The units modulo 2^k, k > 2, are the product of two cycles, the powers of -1
//! and of 5: there place i 2^(k-2) + j stands for (-1)^i 5^j. A place of the array stands for the
//! unit u modulo m with these remainders, and holds the value at ζ^u. The automorphism X -> X^g is
//! a cyclic left shift along every cycle.
//!
//! **Coefficient order.** Place i on an axis of prime N_a holds the coefficient of X_a^(γ_a^i): the
//! powers by units are a basis, a normal one, so that an automorphism shifts coefficients
//! cyclically, too (to the right). On an axis N_a = l^k, k > 1, l = 2 included, it holds the
//! coefficient of X_a^(N_a / l + i). Either is X_a^(N_a / l) times the powerful basis of
//! Lyubashevsky, Peikert and Regev, up to order.

use crate::error::ArithError;
use crate::primes;

/// One prime-power factor of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The factor N = l^k.
    pub index: u64,
    /// The prime l.
    pub prime: u64,
    /// φ(N).
    pub degree: usize,
    /// γ, the least generator of the units modulo N; 5 for N = 2^k, k > 2, where it generates the
    /// last cycle.
    pub generator: u64,
    /// e: X_a = X^e.
    pub exponent: u64,
}

/// A cyclic factor of the units modulo N.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// Its generator modulo N.
    pub generator: u64,
    /// Its order.
    pub length: usize,
}

impl Axis {
    /// The cyclic factors of the group of units modulo N, the one of neighboring places last: that
    /// of γ, preceded by that of -1 for N = 2^k, k > 2.
    pub fn cycles(&self) -> Vec<Cycle> {
        let signs = (self.prime == 2 && self.index > 4)
            .then_some(Cycle { generator: self.index - 1, length: 2 });
        let length = self.degree / signs.map_or(1, |cycle| cycle.length);
        signs.into_iter().chain([Cycle { generator: self.generator, length }]).collect()
    }

    /// max |Σ ζ^(2e)| / φ(N) over the primitive N-th roots ζ, e the exponents of the basis, which
    /// are φ(N) consecutive ones up to order: sin(π/l) / (φ(N) sin(π/N)) for odd l, reached where
    /// ζ² is next to 1; 0 for l = 2, where ζ^(2 φ(N)) = 1.
    fn noncircularity(&self) -> f64 {
        let sine = |order: u64| (std::f64::consts::PI / order as f64).sin();
        if self.prime == 2 {
            0.0
        } else {
            sine(self.prime) / (self.degree as f64 * sine(self.index))
        }
    }

    /// The units modulo N in evaluation order.
    fn units(&self) -> Vec<u64> {
        self.cycles().into_iter().fold(vec![1], |units, cycle| {
            let next = |u: &u64| Some(u * cycle.generator % self.index);
            units
                .into_iter()
                .flat_map(|u| std::iter::successors(Some(u), next).take(cycle.length))
                .collect()
        })
    }
}

/// The axes of an index that is no power of two, see the [module](self).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axes {
    index: u64,
    degree: usize,
    axes: Vec<Axis>,
    /// The units modulo the factors in evaluation order, axis by axis.
    units: Vec<Vec<u64>>,
    /// The place of every residue, axis by axis; `u32::MAX` for those that are no units.
    logarithms: Vec<Vec<u32>>,
}

impl Axes {
    /// The largest index.
    pub const MAX_INDEX: u64 = 1 << 18;
    /// The largest prime power with an exponent above 1 in an index: its transform and the way back
    /// are matrices, 2 φ(N)² words for each prime of the modulus, here up to 256 MiB.
    pub const MAX_PRIME_POWER: u64 = 1 << 12;

    /// The largest prime factor that l - 1 may have for a prime l of the index: transforms take as
    /// many products a word.
    pub const MAX_RADIX: u64 = 1 << 12;

    /// The axes of an index from 3 to 2^18 that is odd, or the product of a power of two from 4 and
    /// an odd number from 3 (2 modulo 4 has the ring of half the index), within the two limits
    /// above. O(m).
    ///
    /// # Errors
    /// [`ArithError::InvalidIndex`].
    pub fn new(index: u64) -> Result<Self, ArithError> {
        if !Self::admits(index) {
            return Err(ArithError::InvalidIndex { found: index });
        }
        let factors = primes::factor(index);
        let mut axes: Vec<Axis> = factors
            .into_iter()
            .map(|(prime, k)| {
                let n = prime.pow(k);
                let degree = n / prime * (prime - 1);
                let generates = |&g: &u64| g % prime != 0 && primes::order(g, n, degree) == degree;
                // The units modulo 2^k, k > 2, have no generator.
                let generator = (1..n).find(generates).unwrap_or(5);
                let rest = index / n;
                let exponent = (0..n).map(|k| k * rest).find(|e| e % n == 1 % n).unwrap_or(1);
                Axis { index: n, prime, degree: degree as usize, generator, exponent }
            })
            .collect();
        axes.sort_by_key(|axis| (axis.prime != 2, axis.index));
        let units: Vec<Vec<u64>> = axes.iter().map(Axis::units).collect();
        let logarithms = axes
            .iter()
            .zip(&units)
            .map(|(axis, units)| {
                let mut table = vec![u32::MAX; axis.index as usize];
                units.iter().enumerate().for_each(|(i, &unit)| table[unit as usize] = i as u32);
                table
            })
            .collect();
        Ok(Axes { index, degree: axes.iter().map(|a| a.degree).product(), axes, units, logarithms })
    }

    /// Whether there are axes for this index: what [`Axes::new`] checks, without its tables.
    pub fn admits(index: u64) -> bool {
        let even = index & index.wrapping_neg();
        if index.is_power_of_two() || even == 2 || !(3..=Self::MAX_INDEX).contains(&index) {
            return false;
        }
        let rough = |l: u64| primes::factor(l - 1).into_iter().any(|(q, _)| q > Self::MAX_RADIX);
        primes::factor(index).iter().all(|&(prime, k)| {
            if k > 1 { prime.pow(k) <= Self::MAX_PRIME_POWER } else { !rough(prime) }
        })
    }

    /// m.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// φ(m): the number of words of a buffer.
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// The axes: a power of two first, the largest odd factor last.
    pub fn all(&self) -> &[Axis] {
        &self.axes
    }

    /// The last axis, of the largest odd factor, along which neighbors are neighbors in memory.
    pub fn last(&self) -> &Axis {
        &self.axes[self.axes.len() - 1]
    }

    /// The last axes, those whose degrees have this product, in their order; `None` if there are
    /// none.
    pub fn last_of_degree(&self, degree: usize) -> Option<&[Axis]> {
        let starts = (0..self.axes.len()).rev();
        starts
            .map(|start| &self.axes[start..])
            .find(|axes| axes.iter().map(|a| a.degree).product::<usize>() == degree)
    }

    /// max |Σ ζ^(2e)| / φ(m) over the primitive m-th roots ζ, e the exponents of the basis: by how
    /// much the value at ζ of a polynomial with independent coefficients of equal variance can miss
    /// circular symmetry. Its variance in a direction of the plane is (1 + this) / 2 of the whole
    /// at most. The sum is a product over the axes, and so is its maximum: 1/φ(m) for an index
    /// without square factor, 1/2 for m = 3 and about 0.41 for higher powers of 3, 0 if 4 divides
    /// the index.
    pub fn noncircularity(&self) -> f64 {
        self.axes.iter().map(Axis::noncircularity).product()
    }

    /// Whether the index has no square factor: coefficients and evaluations are ordered alike then.
    pub fn is_squarefree(&self) -> bool {
        self.axes.iter().all(|axis| axis.index == axis.prime)
    }

    /// The number that primes must be 1 modulo for the transform: the least common multiple of m
    /// and of l - 1 for all axes of a prime l.
    pub fn transform_order(&self) -> u64 {
        self.axes
            .iter()
            .filter(|a| a.index == a.prime)
            .fold(self.index, |s, axis| s / primes::gcd(s, axis.prime - 1) * (axis.prime - 1))
    }

    /// The place of `unit` on axis `axis`, its discrete logarithm if that has one cycle; `None` if
    /// it is no unit there.
    pub fn logarithm(&self, axis: usize, unit: u64) -> Option<usize> {
        let log = self.logarithms[axis][(unit % self.axes[axis].index) as usize];
        (log != u32::MAX).then_some(log as usize)
    }

    /// The place of a unit modulo m in evaluation order; `None` if it is no unit.
    pub fn position(&self, unit: u64) -> Option<usize> {
        let mut place = 0;
        for (a, axis) in self.axes.iter().enumerate() {
            place = place * axis.degree + self.logarithm(a, unit)?;
        }
        Some(place)
    }

    /// The unit modulo m at a place in evaluation order.
    pub fn unit(&self, position: usize) -> u64 {
        let mut rest = position;
        let mut unit = 0;
        for (axis, units) in self.axes.iter().zip(&self.units).rev() {
            unit = (unit + units[rest % axis.degree] * axis.exponent) % self.index;
            rest /= axis.degree;
        }
        unit
    }

    /// All units in evaluation order.
    pub fn units(&self) -> Vec<u64> {
        let mut units = vec![0];
        for (axis, own) in self.axes.iter().zip(&self.units) {
            units = units
                .iter()
                .flat_map(|u| own.iter().map(move |v| (u + v * axis.exponent) % self.index))
                .collect();
        }
        units
    }

    /// The units modulo N_a in evaluation order.
    pub fn units_along(&self, axis: usize) -> &[u64] {
        &self.units[axis]
    }

    /// The exponent of X_a at place `i` of axis `axis` in coefficient order.
    pub fn coefficient_exponent(&self, axis: usize, i: usize) -> u64 {
        let a = &self.axes[axis];
        if a.index == a.prime { self.units[axis][i] } else { a.index / a.prime + i as u64 }
    }
}

#[cfg(test)]
// No memory is touched, and interpreted it takes hours.
#[cfg(not(miri))]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    /// The N-th roots of unity.
    fn roots(index: u64) -> Vec<(f64, f64)> {
        (0..index).map(|e| (TAU * e as f64 / index as f64).sin_cos()).collect()
    }

    /// |Σ ζ^(2e)| / φ over the exponents, for ζ = exp(2πi j/N): term by term.
    fn direct(roots: &[(f64, f64)], exponents: &[u64], j: u64) -> f64 {
        let at = |e: &u64| roots[(2 * j * e % roots.len() as u64) as usize];
        let (sin, cos) =
            exponents.iter().map(at).fold((0.0, 0.0), |sum, root| (sum.0 + root.0, sum.1 + root.1));
        f64::hypot(sin, cos) / exponents.len() as f64
    }

    /// The largest of them along one axis: over all ζ if N is small or no prime, where a sum over
    /// all units but 0 is -1 whatever ζ.
    fn largest(axes: &Axes, place: usize) -> f64 {
        let axis = &axes.all()[place];
        let exponents: Vec<u64> =
            (0..axis.degree).map(|i| axes.coefficient_exponent(place, i)).collect();
        let step = if axis.index == axis.prime { 1 + axis.degree / 16 } else { 1 };
        let roots = roots(axis.index);
        let units = axes.units_along(place).iter().step_by(step);
        units.map(|&j| direct(&roots, &exponents, j)).fold(0.0, f64::max)
    }

    #[test]
    fn noncircularity_is_that_of_the_basis_for_every_index_up_to_10000() {
        let mut by_axis = std::collections::HashMap::new();
        let mut worst = (0.0, 0);
        for axes in (3..=10_000).filter_map(|index| Axes::new(index).ok()) {
            let exact: f64 = (0..axes.all().len())
                .map(|place| {
                    let index = axes.all()[place].index;
                    *by_axis.entry(index).or_insert_with(|| largest(&axes, place))
                })
                .product();
            let formula = axes.noncircularity();
            assert!((exact - formula).abs() < 1e-9, "index {}: {exact} {formula}", axes.index());
            worst = if formula > worst.0 { (formula, axes.index()) } else { worst };
        }
        // 1/2 modulo 3, where there are two coefficients.
        assert_eq!(worst.1, 3);
        let at = |index| Axes::new(index).unwrap().noncircularity();
        assert!((at(729) - 0.4135).abs() < 1e-4 && at(2187) < at(729) && at(9 * 8) == 0.0);
    }

    /// The maximum of a product over axes is the product of the maxima, since the remainders of ζ's
    /// exponent are independent; and the largest eigenvalue of the covariance is (1 + it) / 2.
    #[test]
    fn noncircularity_is_that_of_the_whole_ring() {
        for index in [9, 15, 27, 45, 63, 105, 225, 12, 360] {
            let axes = Axes::new(index).unwrap();
            let exponents = (0..axes.all().len()).fold(vec![0], |all: Vec<u64>, place| {
                let axis = &axes.all()[place];
                let own = (0..axis.degree)
                    .map(|i| axes.coefficient_exponent(place, i) * axis.exponent % index);
                own.flat_map(|e| all.iter().map(move |f| (e + f) % index)).collect()
            });
            let units = axes.units();
            let roots = roots(index);
            let exact = units.iter().map(|&j| direct(&roots, &exponents, j)).fold(0.0, f64::max);
            assert!((exact - axes.noncircularity()).abs() < 1e-9, "index {index}");
            let variance = |j: u64, direction: f64| {
                let part =
                    |e: &u64| (TAU * (j * e % index) as f64 / index as f64 - direction).cos();
                exponents.iter().map(|e| part(e).powi(2)).sum::<f64>() / exponents.len() as f64
            };
            let directions = (0..720).map(|k| TAU * f64::from(k) / 720.0);
            let largest = directions
                .flat_map(|d| units.iter().map(move |&j| (j, d)))
                .map(|(j, d)| variance(j, d))
                .fold(0.0, f64::max);
            assert!((largest - (1.0 + exact) / 2.0).abs() < 1e-4, "index {index}: {largest}");
        }
    }

    #[test]
    fn places_and_units_are_inverse() {
        for index in [3, 9, 45, 105, 255, 343, 1155, 3 * 25 * 7, 12, 24, 16 * 15, 32 * 9, 1024 * 3]
        {
            let axes = Axes::new(index).unwrap();
            let units = axes.units();
            assert_eq!(units.len(), axes.degree());
            for (place, &u) in units.iter().enumerate() {
                assert_eq!((axes.position(u), axes.unit(place)), (Some(place), u));
            }
            assert_eq!((0..index).filter(|&u| axes.position(u).is_some()).count(), axes.degree());
        }
        assert_eq!(Axes::new(38309).unwrap().transform_order(), 38309 * 9240);
        assert_eq!(Axes::new(65535).unwrap().transform_order(), 65535 * 256);
        assert!(
            Axes::new(38309).unwrap().is_squarefree() && !Axes::new(45).unwrap().is_squarefree()
        );
        assert!(!Axes::new(60).unwrap().is_squarefree());
        assert_eq!(Axes::new(8 * 37).unwrap().transform_order(), 8 * 37 * 9);
        for bad in [0, 1, 2, 6, 30, 64, 3 << 13, 177147, 200087, (1 << 18) + 1, (1 << 18) + 4] {
            assert_eq!(Axes::new(bad), Err(ArithError::InvalidIndex { found: bad }));
        }
    }

    #[test]
    fn products_with_a_unit_shift_every_cycle() {
        for index in [12, 24, 16 * 15, 32 * 9, 105] {
            let axes = Axes::new(index).unwrap();
            let cycles: Vec<(u64, usize)> =
                axes.all().iter().flat_map(Axis::cycles).map(|c| (c.generator, c.length)).collect();
            let first = axes.all()[0];
            match first.index {
                4 => assert_eq!(cycles[0], (3, 2)),
                n if first.prime == 2 => assert_eq!(cycles[..2], [(n - 1, 2), (5, n as usize / 4)]),
                _ => assert_eq!(cycles.len(), axes.all().len()),
            }
            let coordinates = |place: usize| {
                let mut rest = place;
                cycles.iter().rev().map(|&(_, n)| (rest % n, rest /= n).0).collect::<Vec<_>>()
            };
            let units = axes.units();
            for &g in &units {
                let shift = coordinates(axes.position(g).unwrap());
                for (place, u) in units.iter().enumerate() {
                    let moved = coordinates(axes.position(u * g % index).unwrap());
                    let lengths = cycles.iter().rev().map(|cycle| cycle.1);
                    let want = coordinates(place)
                        .into_iter()
                        .zip(&shift)
                        .zip(lengths)
                        .map(|((x, s), n)| (x + s) % n);
                    assert!(moved.into_iter().eq(want), "index {index}, {u} by {g}");
                }
            }
        }
    }
}
