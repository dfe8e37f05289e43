//! The storage order of rings of odd index: the group of units modulo m, axis by axis.
//!
//! For m = Π N_a, the N_a powers of distinct odd primes, Z\[X\]/Φ_m(X) is the tensor product of the rings Z\[X_a\]/Φ_{N_a}(X_a), with X = Π X_a
//! and X_a = X^(e_a), e_a being 1 modulo N_a and 0 modulo the other factors. A buffer of φ(m) words is a row-major array with one
//! axis a of length φ(N_a) for each factor, the largest factor last.
//!
//! **Evaluation order.** Place i on axis a stands for the unit γ_a^i modulo N_a, γ_a the least generator; a place of the array stands for
//! the unit u modulo m with these remainders, and holds the value at ζ^u. The automorphism X -> X^g is a cyclic left shift along every axis.
//!
//! **Coefficient order.** Place i on an axis of prime N_a holds the coefficient of X_a^(γ_a^i): the powers by units are a basis, a normal one, so
//! that an automorphism shifts coefficients cyclically, too (to the right). On an axis N_a = l^k, k > 1, it holds the coefficient of X_a^(N_a / l + i). Either is
//! X_a^(N_a / l) times the powerful basis of Lyubashevsky, Peikert and Regev, up to order.

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
    /// γ, the least generator of the units modulo N.
    pub generator: u64,
    /// e: X_a = X^e.
    pub exponent: u64,
}

/// The axes of an odd index, see the [module](self).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axes {
    index: u64,
    degree: usize,
    axes: Vec<Axis>,
    /// The powers of the generators, axis by axis.
    powers: Vec<Vec<u64>>,
    /// The discrete logarithm of every residue, axis by axis; `u32::MAX` for those that are no units.
    logarithms: Vec<Vec<u32>>,
}

impl Axes {
    /// The largest index.
    pub const MAX_INDEX: u64 = 1 << 18;

    /// The axes of an odd index from 3 to 2^18. O(m).
    ///
    /// # Errors
    /// [`ArithError::InvalidIndex`].
    pub fn new(index: u64) -> Result<Self, ArithError> {
        if index.is_multiple_of(2) || !(3..=Self::MAX_INDEX).contains(&index) {
            return Err(ArithError::InvalidIndex { found: index });
        }
        let mut axes: Vec<Axis> = primes::factor(index)
            .into_iter()
            .map(|(prime, k)| {
                let n = prime.pow(k);
                let degree = n / prime * (prime - 1);
                let generator = (1..n).find(|&g| g % prime != 0 && order(g, n, degree) == degree).unwrap_or(1);
                let rest = index / n;
                let exponent = (0..n).map(|k| k * rest).find(|e| e % n == 1 % n).unwrap_or(1);
                Axis { index: n, prime, degree: degree as usize, generator, exponent }
            })
            .collect();
        axes.sort_by_key(|axis| axis.index);
        let next = |axis: &Axis, u: u64| Some(u * axis.generator % axis.index);
        let powers: Vec<Vec<u64>> =
            axes.iter().map(|axis| std::iter::successors(Some(1), |&u| next(axis, u)).take(axis.degree).collect()).collect();
        let logarithms = axes
            .iter()
            .zip(&powers)
            .map(|(axis, powers)| {
                let mut table = vec![u32::MAX; axis.index as usize];
                powers.iter().enumerate().for_each(|(i, &unit)| table[unit as usize] = i as u32);
                table
            })
            .collect();
        Ok(Axes { index, degree: axes.iter().map(|a| a.degree).product(), axes, powers, logarithms })
    }
    /// m.
    pub fn index(&self) -> u64 {
        self.index
    }
    /// φ(m): the number of words of a buffer.
    pub fn degree(&self) -> usize {
        self.degree
    }
    /// The axes, the largest factor last.
    pub fn all(&self) -> &[Axis] {
        &self.axes
    }
    /// The last axis, along which neighbours are neighbours in memory.
    pub fn last(&self) -> &Axis {
        &self.axes[self.axes.len() - 1]
    }
    /// Whether the index has no square factor: coefficients and evaluations are ordered alike then.
    pub fn is_squarefree(&self) -> bool {
        self.axes.iter().all(|axis| axis.index == axis.prime)
    }
    /// The number that primes must be 1 modulo for the transform: the least common multiple of m and of l - 1 for all axes l.
    pub fn transform_order(&self) -> u64 {
        self.axes.iter().filter(|a| a.index == a.prime).fold(self.index, |s, axis| s / gcd(s, axis.prime - 1) * (axis.prime - 1))
    }
    /// The discrete logarithm of `unit` along axis `axis`; `None` if it is no unit there.
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
        for (axis, powers) in self.axes.iter().zip(&self.powers).rev() {
            unit = (unit + powers[rest % axis.degree] * axis.exponent) % self.index;
            rest /= axis.degree;
        }
        unit
    }
    /// All units in evaluation order.
    pub fn units(&self) -> Vec<u64> {
        let mut units = vec![0];
        for (axis, powers) in self.axes.iter().zip(&self.powers) {
            units = units.iter().flat_map(|u| powers.iter().map(move |p| (u + p * axis.exponent) % self.index)).collect();
        }
        units
    }
    /// The exponent of X_a at place `i` of axis `axis` in coefficient order.
    pub fn coefficient_exponent(&self, axis: usize, i: usize) -> u64 {
        let a = &self.axes[axis];
        if a.index == a.prime { self.powers[axis][i] } else { a.index / a.prime + i as u64 }
    }
}

fn order(g: u64, n: u64, group: u64) -> u64 {
    let power = |e: u64| primes::pow_mod(g, e, n);
    primes::factor(group).into_iter().fold(group, |mut order, (p, _)| {
        while order.is_multiple_of(p) && power(order / p) == 1 {
            order /= p;
        }
        order
    })
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_units_are_inverse() {
        for index in [3, 9, 45, 105, 255, 343, 1155, 3 * 25 * 7] {
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
        assert!(Axes::new(38309).unwrap().is_squarefree() && !Axes::new(45).unwrap().is_squarefree());
        for bad in [0, 1, 2, 64, (1 << 18) + 1] {
            assert_eq!(Axes::new(bad), Err(ArithError::InvalidIndex { found: bad }));
        }
    }
}
