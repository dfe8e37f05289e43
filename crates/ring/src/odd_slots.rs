//! The slots of rings with axes, of an index that is odd or 2^k times an odd number: orders,
//! dimensions, and the roots of unity of every axis.

use everlevel_arith::{Axes, Axis, primes};

use crate::error::RingError;
use crate::factor::{element_of_order, irreducible, lift_factor, lift_root, minimal_polynomial};
use crate::galois::GaloisElement;
use crate::galois_ring::GaloisRing;
use crate::prime_power::PrimePower;
use crate::slot_dimension::SlotDimension;

/// The largest degree of a slot of a ring with axes.
pub(crate) const MAX_DEGREE: usize = 256;

/// What a shape with axes has besides its dimensions, modulo the highest power of p.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OddSlots {
    pub(crate) axes: Axes,
    /// For each axis the minimal polynomial of its root over Z/p^e; the last one is F.
    pub(crate) factors: Vec<Vec<u64>>,
    /// For each axis ζ_a in (Z/p^e)\[x\]/F; the last one is x.
    pub(crate) roots: Vec<Vec<u64>>,
}

impl OddSlots {
    /// The roots and their minimal polynomials, first over the field of p^d elements, then lifted;
    /// d = `degree` is the order of p modulo the index.
    ///
    /// # Errors
    /// [`RingError::NoCarrier`] if p has another order modulo the largest factor,
    /// [`RingError::BadPlainModulus`] if d is above 256.
    pub(crate) fn new(axes: Axes, degree: usize, modulus: PrimePower) -> Result<Self, RingError> {
        let (p, index, last) = (modulus.prime(), axes.index(), axes.last().index);
        let carried = order(p, last);
        if degree != carried {
            return Err(RingError::NoCarrier { p, index, degree, last, carried });
        }
        if degree > MAX_DEGREE {
            let reason = "the degree of a slot, the order of p modulo the index, is above 256";
            return Err(RingError::BadPlainModulus {
                p,
                exponent: modulus.exponent(),
                index,
                reason,
            });
        }
        let prime = modulus.reduced(1)?;
        let any = irreducible(prime, degree)?;
        let low = minimal_polynomial(&any, &element_of_order(&any, last), degree)?;
        let (field, factor) = (GaloisRing::new(prime, &low)?, lift_factor(modulus, &low, last)?);
        let ring = GaloisRing::new(modulus, &factor)?;
        let (mut factors, mut roots) = (Vec::new(), Vec::new());
        for axis in &axes.all()[..axes.all().len() - 1] {
            let root = element_of_order(&field, axis.index);
            let low = minimal_polynomial(&field, &root, order(p, axis.index))?;
            factors.push(lift_factor(modulus, &low, axis.index)?);
            roots.push(lift_root(&ring, &root, axis.index)?);
        }
        roots.push(ring.x());
        factors.push(factor);
        Ok(OddSlots { axes, factors, roots })
    }

    /// One dimension for each cycle of the axes.
    pub(crate) fn dimensions(&self, degree: usize) -> Vec<SlotDimension> {
        let (axes, last) = (self.axes.all(), self.axes.last());
        // g modulo N_a, 1 modulo the other factors.
        let unit =
            |axis: &Axis, g: u64| GaloisElement((1 + (g - 1) * axis.exponent) % self.axes.index());
        let size = last.degree / degree;
        let good = primes::gcd(size as u64, degree as u64) == 1;
        let step =
            (0..if good { degree } else { 1 }).fold(1, |h, _| h * last.generator % last.index);
        axes[..axes.len() - 1]
            .iter()
            .flat_map(|axis| axis.cycles().into_iter().map(move |cycle| (axis, cycle)))
            .map(|(axis, cycle)| SlotDimension {
                size: cycle.length,
                generator: unit(axis, cycle.generator),
                good: true,
            })
            .chain([SlotDimension { size, generator: unit(last, step), good }])
            .collect()
    }
}

/// The order of the unit p modulo m.
pub(crate) fn order(p: u64, m: u64) -> usize {
    let mut power = p % m;
    let mut order = 1;
    while power != 1 {
        power = (u128::from(power) * u128::from(p) % u128::from(m)) as u64;
        order += 1;
    }
    order
}
