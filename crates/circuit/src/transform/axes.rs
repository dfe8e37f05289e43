//! Slot-to-coefficient and coefficient-to-slot of rings of odd index: the transform of the slots,
//! axis by axis.
//!
//! m is a product of distinct primes l_a, the last of which, N, carries Frobenius. The coefficients
//! of a polynomial belong to the powers X^e by units e: on an axis a, e is a power of γ_a; on the
//! last one it is h^(-j) p^f with 0 <= j < D, 0 <= f < d, h being the generator of the last
//! dimension. The *place* of a coefficient is (j_1, .., j_c, f), where e is γ_a^(-j_a) on the other
//! axes. With the exponents of places running against those of slots, every axis is a convolution
//! (rot^k moves slots by k to the left, φ is Frobenius, θ_k = ζ_c^(h^k), κ_k = (1/θ_k - 1)/N):
//!
//! * along an axis that is not the last, value(i) = Σ_k ζ_a^(γ^-k) rot^k(B)(i), and B = Σ_k
//!   (ζ_a^(-γ^k) - 1)/l_a rot^k(value), B being the polynomials in X_c that the coefficients along
//!   the other axes are;
//! * along the last one value(i) = Σ_f Σ_k φ^f(θ_(-k)) a_(i+k,f), and a_(j,f) = Tr(Σ_k φ^f(κ_k)
//!   value(j+k)).
//!
//! Where the last dimension is bad, k runs over -D < k < D, and rot^k is the automorphism for those
//! places only that do not pass an end.
//!
//! *Thin*: places with f = 0 hold what thin slots hold, the others 0; the way back gives the
//! trace's argument. *Whole*: there are d thin slot vectors, one for each f. The way back gives
//! z(j) = Σ_f φ^f(ν) a_(j,f), ν being a normal element, whose terms are Tr(ν φ^g(κ_k)) rot^k
//! φ^g(value), with constants in Z/p^e; with the dual ν*, a_(j,f) = Σ_g φ^(f+g)(ν*) φ^g(z).
//!
//! Sources: Halevi–Shoup 2021 (ia.cr/2014/873, section 4: one dimension of the hypercube after the
//! other); Chen–Han 2018, section 5, for the thin form. The normal basis of the coefficients is
//! what makes the maps convolutions.

use everlevel_ring::{GaloisRing, SlotShape};

use crate::error::CircuitError;
use crate::linear::{AxisMap, Direction, LastDimension, Span};
use crate::modular::PrimePower;
use crate::normal_basis::NormalBasis;

/// What becomes of the coefficients in the slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Packing {
    /// One coefficient for each slot, those with f = 0.
    Thin,
    /// All n coefficients: d thin vectors, or one vector of elements with d coordinates.
    Whole,
    /// The first of the d vectors, this many of them, those with the least f, the others being 0 on
    /// the way to coefficients. If Frobenius to the power k, a divisor of d, fixes a polynomial,
    /// that is if its slots lie in GR(p^e, k), the first k vectors determine it: it is the sum of
    /// the d/k images of what they give under the powers of that automorphism.
    First(usize),
}

impl Packing {
    /// How many thin vectors the coefficients are in slots of degree d.
    pub fn vectors(self, degree: usize) -> usize {
        match self {
            Packing::Thin => 1,
            Packing::Whole => degree,
            Packing::First(count) => count.min(degree),
        }
    }
}

/// The transform between slots and coefficients modulo p^e over an odd index without square
/// factors.
#[derive(Clone, Debug)]
pub struct AxisTransform {
    shape: SlotShape,
    last: LastDimension,
}

impl AxisTransform {
    /// The transform for the slots of `shape` modulo p^exponent.
    ///
    /// # Errors
    /// [`CircuitError::UnsupportedIndex`] for other indices; [`CircuitError::Ring`] if the shape
    /// does not know p^exponent.
    pub fn new(shape: &SlotShape, exponent: u32) -> Result<Self, CircuitError> {
        // Elsewhere coefficients are no normal basis, and the maps are no convolutions.
        if !shape.axes().is_some_and(|axes| axes.is_squarefree()) {
            return Err(CircuitError::UnsupportedIndex { index: shape.ring_index() });
        }
        Ok(AxisTransform { shape: shape.clone(), last: LastDimension::new(shape, exponent)? })
    }

    /// The plaintext modulus.
    pub fn modulus(&self) -> PrimePower {
        self.last.ring().modulus()
    }

    /// The number of stages: one for each axis.
    pub fn stages(&self) -> usize {
        self.shape.dimensions().len()
    }

    /// The unit e modulo m whose power X^e has its coefficient at slot `slot` and power `f` of
    /// Frobenius.
    pub fn exponent_of_place(&self, slot: usize, f: usize) -> u64 {
        let (mut e, mut rest) = (self.shape.identity(), slot);
        for (a, dimension) in self.shape.dimensions().iter().enumerate().rev() {
            e = self
                .shape
                .compose(e, self.shape.rotation_along(a, -((rest % dimension.size) as i64)));
            rest /= dimension.size;
        }
        // p on the last axis, 1 on the others.
        let (m, p) = (u128::from(self.shape.ring_index()), u128::from(self.shape.plain_prime()));
        let frobenius = (1
            + (p - 1) * self.shape.axes().map_or(1, |axes| u128::from(axes.last().exponent)))
            % m;
        (0..f).fold(e.exponent(), |e, _| (u128::from(e) * frobenius % m) as u64)
    }

    /// The maps from slots to coefficients, in the order of application, the first `sizes[0]`
    /// stages merged into one, and so on: the last axis comes first. [`Packing::Whole`] takes d
    /// inputs into its first map, [`Packing::First`] fewer. The result is the polynomial whose
    /// coefficients are what the (thin) slots hold.
    ///
    /// # Errors
    /// [`CircuitError::BadSplits`] unless the sizes are positive and add up to the number of
    /// stages; [`CircuitError::Ring`].
    pub fn slot_to_coeff(
        &self,
        sizes: &[usize],
        packing: Packing,
    ) -> Result<Vec<AxisMap>, CircuitError> {
        let (e, axis) = (self.modulus().exponent(), self.stages() - 1);
        let span = AxisMap::around(&self.shape, axis)?;
        let inputs = packing.vectors(self.shape.degree_of_slot());
        let powers = Powers::new(&self.shape, &self.last, axis)?;
        let mut stages = vec![AxisMap::new(&self.shape, e, inputs, vec![span], |f, k| {
            let term = self.last.ring().frobenius(powers.at(-k[0]), f);
            self.last.masked(&term, AxisMap::within(&self.shape, span, k[0]))
        })?];
        for a in (0..axis).rev() {
            let powers = Powers::new(&self.shape, &self.last, a)?;
            stages.push(AxisMap::convolution(&self.shape, e, a, |k| powers.at(-k).to_vec())?);
        }
        merged(stages, sizes)
    }

    /// The maps from coefficients to slots, in the order of application, merged as above: the last
    /// axis comes last. The result is, with φ being Frobenius, an element whose trace is the
    /// coefficient with f = 0 ([`Packing::Thin`]), or the sum of φ^f(ν) a_f ([`Packing::Whole`],
    /// see [`AxisTransform::dual_basis`]).
    ///
    /// # Errors
    /// As [`AxisTransform::slot_to_coeff`].
    pub fn coeff_to_slot(
        &self,
        sizes: &[usize],
        packing: Packing,
    ) -> Result<Vec<AxisMap>, CircuitError> {
        let (e, axis) = (self.modulus().exponent(), self.stages() - 1);
        let mut stages = Vec::with_capacity(self.stages());
        for a in 0..axis {
            let powers = Powers::new(&self.shape, &self.last, a)?;
            stages.push(AxisMap::convolution(&self.shape, e, a, |k| {
                powers.dual(self.last.ring(), k)
            })?);
        }
        let powers = Powers::new(&self.shape, &self.last, axis)?;
        stages.push(match packing {
            Packing::Thin => {
                AxisMap::convolution(&self.shape, e, axis, |k| powers.dual(self.last.ring(), k))?
            }
            Packing::Whole | Packing::First(_) => {
                let ring = self.last.ring();
                let (span, basis) = (AxisMap::around(&self.shape, axis)?, NormalBasis::new(ring)?);
                let frobenius = Span {
                    direction: Direction::Frobenius,
                    from: 0,
                    step: 1,
                    count: ring.degree(),
                };
                AxisMap::new(&self.shape, e, 1, vec![span, frobenius], |_, point| {
                    let kappa = ring.frobenius(&powers.dual(ring, point[0]), point[1] as usize);
                    let constant = ring.scalar(ring.trace(&ring.mul(&basis.element, &kappa)));
                    self.last.masked(&constant, AxisMap::within(&self.shape, span, point[0]))
                })?
            }
        });
        merged(stages, sizes)
    }

    /// φ^g(ν*) for g = 0, .., d - 1, constant along the last dimension: a_f = Σ_g φ^(f+g)(ν*)
    /// φ^g(z).
    ///
    /// # Errors
    /// As [`AxisTransform::coeff_to_slot`].
    pub fn dual_basis(&self) -> Result<Vec<Vec<u64>>, CircuitError> {
        let (ring, basis) = (self.last.ring(), NormalBasis::new(self.last.ring())?);
        Ok((0..ring.degree())
            .map(|g| self.last.masked(&ring.frobenius(&basis.dual, g), |_| true))
            .collect())
    }
}

/// Groups of stages.
fn merged(stages: Vec<AxisMap>, sizes: &[usize]) -> Result<Vec<AxisMap>, CircuitError> {
    let total = stages.len();
    if sizes.contains(&0)
        || sizes.iter().try_fold(0usize, |sum, s| sum.checked_add(*s)) != Some(total)
    {
        return Err(CircuitError::BadSizes { sizes: sizes.to_vec(), stages: total });
    }
    let mut stages = stages.into_iter();
    let group = |size: &usize| {
        let mut members = stages.by_ref().take(*size);
        let first = members.next().ok_or(CircuitError::Empty { what: "a group of stages" })?;
        members.try_fold(first, |group, stage| group.then(&stage))
    };
    sizes.iter().map(group).collect()
}

/// The powers of the root of unity of an axis of prime length l.
struct Powers {
    /// ζ_a^i for i below l.
    powers: Vec<Vec<u64>>,
    /// The powers of the generator of the dimension modulo l.
    units: Vec<usize>,
    /// 1/l.
    scale: u64,
}

impl Powers {
    fn new(shape: &SlotShape, last: &LastDimension, axis: usize) -> Result<Self, CircuitError> {
        let ring = last.ring();
        let root = shape.axis_root(axis, ring.modulus().exponent())?;
        let axes =
            shape.axes().ok_or(CircuitError::UnsupportedIndex { index: shape.ring_index() })?;
        let l = axes.all()[axis].index;
        let powers = std::iter::successors(Some(ring.one()), |x| Some(ring.mul(x, &root)))
            .take(l as usize)
            .collect();
        let generator = shape.dimensions()[axis].generator.exponent() % l;
        let units = std::iter::successors(Some(1), |u| Some(u * generator % l))
            .take(l as usize - 1)
            .map(|u| u as usize)
            .collect();
        Ok(Powers { powers, units, scale: ring.modulus().inv(l)? })
    }

    /// g^k modulo l; the order of g divides l - 1.
    fn unit(&self, k: i64) -> usize {
        self.units[k.rem_euclid(self.units.len() as i64) as usize]
    }

    /// ζ_a^(g^k).
    fn at(&self, k: i64) -> &[u64] {
        &self.powers[self.unit(k)]
    }

    /// (ζ_a^(-g^k) - 1)/l.
    fn dual(&self, ring: &GaloisRing, k: i64) -> Vec<u64> {
        ring.scale(
            self.scale,
            &ring.sub(&self.powers[self.powers.len() - self.unit(k)], &ring.one()),
        )
    }
}
