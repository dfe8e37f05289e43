//! What one stage of the transform along axes is made of: the coefficients, slots and roots of the
//! carrier, or of one axis ahead of it.

use std::ops::Range;

use everlevel_ring::{Axes, Axis, GaloisRing, SlotShape};

use crate::error::CircuitError;

/// Some neighboring axes, N the product of their prime powers, with root of unity x of order N.
///
/// Their coefficients have *places* (j, f): j a slot of their dimensions, f a power of Frobenius
/// below d for the carrier, f = 0 ahead of it. The place of the coefficient of X^k is given by k
/// modulo N:
///
/// * *normal*, where N has no square factor: k = h^-j p^f, h^-j being the product of the powers of
///   the generators of the dimensions to the coordinates of -j;
/// * else k is number j d + f of the exponents in coefficient order.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) dimensions: Range<usize>,
    index: u64,
    axes: Vec<Axis>,
    /// For every place its exponent, f varying fastest.
    exponents: Vec<u64>,
    /// The representatives of slots modulo N.
    units: Vec<u64>,
    /// The powers of Frobenius.
    frobenius: Vec<u64>,
    /// How many slots lie between neighbors.
    inner: usize,
    normal: bool,
}

impl Block {
    /// The blocks of a ring with axes, in the order of its dimensions: the carrier is the last one.
    pub(super) fn all(shape: &SlotShape) -> Result<Vec<Self>, CircuitError> {
        let none = CircuitError::UnsupportedIndex { index: shape.ring_index() };
        let (Some(axes), Some(carrier)) = (shape.axes(), shape.carrier()) else {
            return Err(none);
        };
        let ahead = axes.all().len() - carrier.len();
        let mut start = 0;
        let mut blocks: Vec<Block> = (0..ahead)
            .map(|a| {
                let end = start + axes.all()[a].cycles().len();
                let dimensions = start..end;
                start = end;
                Self::new(shape, axes, dimensions, a..a + 1)
            })
            .collect();
        blocks.push(Self::new(shape, axes, shape.carrier_dimensions(), ahead..axes.all().len()));
        Ok(blocks)
    }

    fn new(shape: &SlotShape, all: &Axes, dimensions: Range<usize>, axes: Range<usize>) -> Self {
        let own = &all.all()[axes.clone()];
        let index: u64 = own.iter().map(|axis| axis.index).product();
        let units = along(shape, &dimensions, index, 1);
        let coefficients: usize = own.iter().map(|axis| axis.degree).product();
        let p = shape.plain_prime() % index;
        let frobenius: Vec<u64> = std::iter::successors(Some(1), |x| Some(x * p % index))
            .take(coefficients / units.len())
            .collect();
        let normal = own.iter().all(|axis| axis.index == axis.prime);
        let exponents = if normal {
            let back = along(shape, &dimensions, index, -1);
            back.iter().flat_map(|u| frobenius.iter().map(move |f| u * f % index)).collect()
        } else {
            axes.zip(own).fold(vec![0], |exponents: Vec<u64>, (a, axis)| {
                let lift = axis.exponent % index;
                let own = (0..axis.degree).map(|i| all.coefficient_exponent(a, i) * lift);
                let own: Vec<u64> = own.collect();
                exponents.iter().flat_map(|x| own.iter().map(move |y| (x + y) % index)).collect()
            })
        };
        let after = &shape.dimensions()[dimensions.end..];
        let inner = after.iter().map(|dimension| dimension.size).product();
        let axes = own.to_vec();
        Block { dimensions, index, axes, exponents, units, frobenius, inner, normal }
    }

    /// N.
    pub(super) fn index(&self) -> u64 {
        self.index
    }

    /// The exponent of X whose power is the product of the X_a.
    pub(super) fn lift(&self) -> u64 {
        self.axes.iter().map(|axis| axis.exponent).sum()
    }

    /// The slots along the dimensions of the block.
    pub(super) fn slots(&self) -> usize {
        self.units.len()
    }

    /// Whether coefficients are a normal basis, and maps of the block convolutions.
    pub(super) fn is_normal(&self) -> bool {
        self.normal
    }

    /// The exponent of a place.
    pub(super) fn exponent(&self, slot: usize, f: usize) -> u64 {
        self.exponents[slot * self.frobenius.len() + f]
    }

    /// The representative of a slot modulo N.
    pub(super) fn unit(&self, slot: usize) -> u64 {
        self.units[slot]
    }

    /// p^f modulo N.
    pub(super) fn frobenius(&self, f: usize) -> u64 {
        self.frobenius[f]
    }

    /// The unit modulo N that moves slots of the block to the left by `shift`, its powers along the
    /// dimensions.
    pub(super) fn mover(&self, shape: &SlotShape, shift: &[i64]) -> u64 {
        self.dimensions.clone().zip(shift).fold(1, |u, (a, k)| {
            u * (shape.rotation_along(a, *k).exponent() % self.index) % self.index
        })
    }

    /// The slot that is `shift` further along the dimensions, which must not pass the end of a bad
    /// one.
    pub(super) fn source(&self, shape: &SlotShape, slot: usize, shift: &[i64]) -> usize {
        let (mut rest, mut inner, mut from) = (slot, 1, 0);
        for (a, k) in self.dimensions.clone().zip(shift).rev() {
            let size = shape.dimensions()[a].size;
            from += (((rest % size) as i64 + k).rem_euclid(size as i64)) as usize * inner;
            rest /= size;
            inner *= size;
        }
        from
    }

    /// Elements for the slots of the block, each at all places of the dimensions after it.
    pub(super) fn spread(&self, element: impl Fn(usize) -> Vec<u64>) -> Vec<u64> {
        (0..self.slots()).flat_map(|slot| element(slot).repeat(self.inner)).collect()
    }

    /// The exponent k with the signs and exponents of the dual of X^k: N times the coefficient of
    /// X^k is the sum of ± a(η) η^-f over all roots η of order N, f being k reduced modulo N_a / l
    /// on every set of axes, with the sign of the number of these.
    fn reductions(&self, k: u64) -> Vec<(bool, u64)> {
        self.axes.iter().fold(vec![(false, k)], |terms, axis| {
            let own = k % axis.index;
            let less = own - own % (axis.index / axis.prime);
            // Nothing of k but its remainder on the axis changes.
            let step = less * (axis.exponent % self.index) % self.index;
            let reduced = terms.iter().map(|(odd, f)| (!odd, (f + self.index - step) % self.index));
            terms.iter().copied().chain(reduced).collect()
        })
    }
}

/// The products of the powers of the generators of dimensions to `sign` times the coordinates of a
/// slot, modulo N.
fn along(shape: &SlotShape, dimensions: &Range<usize>, index: u64, sign: i64) -> Vec<u64> {
    dimensions.clone().fold(vec![1], |units, a| {
        let powers: Vec<u64> = (0..shape.dimensions()[a].size as i64)
            .map(|k| shape.rotation_along(a, sign * k).exponent() % index)
            .collect();
        units.iter().flat_map(|u| powers.iter().map(move |v| u * v % index)).collect()
    })
}

/// The powers of the root of a block in GR(p^e, d).
pub(super) struct Powers<'a> {
    block: &'a Block,
    ring: &'a GaloisRing,
    powers: Vec<Vec<u64>>,
    /// 1/N.
    scale: u64,
}

impl<'a> Powers<'a> {
    /// The product of the roots of the axes, and its powers below N.
    pub(super) fn new(
        shape: &SlotShape,
        block: &'a Block,
        ring: &'a GaloisRing,
    ) -> Result<Self, CircuitError> {
        let e = ring.modulus().exponent();
        let all = shape.axes().map_or(&[][..], |axes| axes.all());
        let mut root = ring.one();
        for (a, _) in all.iter().enumerate().filter(|(_, axis)| block.axes.contains(axis)) {
            root = ring.mul(&root, &shape.axis_root(a, e)?);
        }
        let powers = std::iter::successors(Some(ring.one()), |x| Some(ring.mul(x, &root)))
            .take(block.index as usize)
            .collect();
        Ok(Powers { block, ring, powers, scale: ring.modulus().inv(block.index)? })
    }

    /// x^(u k): what X^k is worth at x^u.
    pub(super) fn value(&self, u: u64, k: u64) -> &[u64] {
        &self.powers[(u * k % self.block.index) as usize]
    }

    /// What the value at x^u contributes to the coefficient of X^k.
    pub(super) fn dual(&self, u: u64, k: u64) -> Vec<u64> {
        let n = self.block.index;
        let terms = self.block.reductions(k).into_iter();
        let sum = terms.fold(self.ring.scalar(0), |sum, (odd, f)| {
            let power = &self.powers[((n - u * f % n) % n) as usize];
            if odd { self.ring.sub(&sum, power) } else { self.ring.add(&sum, power) }
        });
        self.ring.scale(self.scale, &sum)
    }
}
