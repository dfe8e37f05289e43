//! The slots of rings with axes, of an index that is odd or 2^k times an odd number: orders,
//! dimensions, and the roots of unity of every axis.

use everlevel_arith::{Axes, Axis, primes};

use crate::error::RingError;
use crate::factor::{element_of_order, irreducible, lift_factor, lift_root, minimal_polynomial};
use crate::galois::GaloisElement;
use crate::galois_ring::GaloisRing;
use crate::prime_power::PrimePower;
use crate::quotient::{self, QuotientCycle};
use crate::slot_dimension::SlotDimension;

/// The largest degree of a slot of a ring with axes.
pub(crate) const MAX_DEGREE: usize = 256;

/// What a shape with axes has besides its dimensions, modulo the highest power of p.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OddSlots {
    pub(crate) axes: Axes,
    /// The first axis of the carrier.
    pub(crate) first: usize,
    /// For each axis ahead of the carrier the minimal polynomial of its root over Z/p^e; the last
    /// one is F.
    pub(crate) factors: Vec<Vec<u64>>,
    /// For each axis ζ_a in (Z/p^e)\[x\]/F; those of the carrier are powers of x.
    pub(crate) roots: Vec<Vec<u64>>,
}

impl OddSlots {
    /// The roots and their minimal polynomials, first over the field of p^d elements, then lifted;
    /// d = `degree` is the order of p modulo the index.
    ///
    /// # Errors
    /// [`RingError::BadPlainModulus`] if d is above 256.
    pub(crate) fn new(axes: Axes, degree: usize, modulus: PrimePower) -> Result<Self, RingError> {
        check_degree(axes.index(), degree, modulus)?;
        let p = modulus.prime();
        let first = first_of_carrier(&axes, p, degree);
        let (others, carrier) = axes.all().split_at(first);
        let whole = product(carrier);
        let prime = modulus.reduced(1)?;
        let any = irreducible(prime, degree)?;
        let low = minimal_polynomial(&any, &element_of_order(&any, whole), degree)?;
        let (field, factor) = (GaloisRing::new(prime, &low)?, lift_factor(modulus, &low, whole)?);
        let ring = GaloisRing::new(modulus, &factor)?;
        let (mut factors, mut roots) = (Vec::new(), Vec::new());
        for axis in others {
            let root = element_of_order(&field, axis.index);
            let low = minimal_polynomial(&field, &root, order(p, axis.index))?;
            factors.push(lift_factor(modulus, &low, axis.index)?);
            roots.push(lift_root(&ring, &root, axis.index)?);
        }
        // The product of the roots of the carrier is x.
        let power = |axis: &Axis| ring.pow(&ring.x(), u128::from(axis.exponent % whole));
        roots.extend(carrier.iter().map(power));
        factors.push(factor);
        Ok(OddSlots { axes, first, factors, roots })
    }

    /// The axes that carry Frobenius.
    pub(crate) fn carrier(&self) -> &[Axis] {
        &self.axes.all()[self.first..]
    }

    /// The order of x: the product of the prime powers of the carrier.
    pub(crate) fn carrier_index(&self) -> u64 {
        product(self.carrier())
    }

    /// [`dimensions`] of these slots.
    pub(crate) fn dimensions(&self, p: u64, degree: usize) -> Vec<SlotDimension> {
        dimensions(&self.axes, self.first, p, degree)
    }
}

/// # Errors
/// [`RingError::BadPlainModulus`] if d is above 256.
pub(crate) fn check_degree(
    index: u64,
    degree: usize,
    modulus: PrimePower,
) -> Result<(), RingError> {
    if degree <= MAX_DEGREE {
        return Ok(());
    }
    let (p, exponent) = (modulus.prime(), modulus.exponent());
    let reason = "the degree of a slot, the order of p modulo the index, is above 256";
    Err(RingError::BadPlainModulus { p, exponent, index, reason })
}

/// The first axis of the carrier, for p of order `degree` modulo the index.
pub(crate) fn first_of_carrier(axes: &Axes, p: u64, degree: usize) -> usize {
    let carries = |first: &usize| order(p, product(&axes.all()[*first..])) == degree;
    (0..axes.all().len()).rev().find(carries).unwrap_or(0)
}

/// One dimension for each cycle of the axes ahead of the carrier, whose first axis is `first`, and
/// those of the carrier.
pub(crate) fn dimensions(axes: &Axes, first: usize, p: u64, degree: usize) -> Vec<SlotDimension> {
    let (ahead, carrier) = axes.all().split_at(first);
    // g modulo the product of `factors`, 1 modulo the other ones.
    let unit = |factors: &[Axis], g: u64| {
        let exponent: u64 = factors.iter().map(|axis| axis.exponent).sum();
        GaloisElement((1 + (g - 1) * (exponent % axes.index())) % axes.index())
    };
    let others = ahead.iter().flat_map(|axis| {
        axis.cycles().into_iter().map(move |cycle| SlotDimension {
            size: cycle.length,
            generator: unit(std::slice::from_ref(axis), cycle.generator),
            good: true,
        })
    });
    let mut own = match carrier {
        [axis] => vec![divided(axis, degree)],
        axes => quotient::cycles(product(axes), p, degree),
    };
    if own.is_empty() {
        // Frobenius reaches every unit of the carrier.
        own.push(QuotientCycle { generator: 1, length: 1, good: true });
    }
    let own = own.into_iter().map(|cycle| SlotDimension {
        size: cycle.length,
        generator: unit(carrier, cycle.generator),
        good: cycle.good,
    });
    others.chain(own).collect()
}

/// The units of an axis of an odd prime by a subgroup of order `degree`.
fn divided(axis: &Axis, degree: usize) -> QuotientCycle {
    let length = axis.degree / degree;
    let good = primes::gcd(length as u64, degree as u64) == 1;
    let steps = if good { degree } else { 1 };
    let generator = (0..steps).fold(1, |h, _| h * axis.generator % axis.index);
    QuotientCycle { generator, length, good }
}

/// The product of the prime powers of axes.
fn product(axes: &[Axis]) -> u64 {
    axes.iter().map(|axis| axis.index).product()
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
