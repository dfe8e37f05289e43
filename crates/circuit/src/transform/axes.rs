//! Slot-to-coefficient and coefficient-to-slot of rings with axes: the transform of the slots, axis
//! by axis.
//!
//! There is a stage for each axis ahead of the carrier, and one for the carrier (of
//! [`SlotShape`]): for each *block*. The coefficients of a block have places (j, f), j a slot along
//! its dimensions, f a power of Frobenius, k(j, f) being the exponent of the place. With u_i the
//! representatives of slots, x the root of the block, rot^k the rotation of slots by k to the left,
//! and φ Frobenius:
//!
//! * along a block ahead of the carrier, value(i) = Σ_j x^(u_i k(j)) B(j), and B(j) = Σ_i
//!   dual(u_i, k(j)) value(i), B being the polynomials in the other X_a that the coefficients are;
//!   on an axis of a prime power N = l^r, dual(u, k) = (x^(-u k) - x^(-u f))/N, f being k reduced
//!   modulo N/l;
//! * along the carrier value(i) = Σ_f Σ_j x^(u_i k(j, f)) a_(j,f), and a_(j,f) = Tr(Σ_i dual(u_i,
//!   k(j, f)) value(i)); on several axes dual is the product of those of each.
//!
//! Where a block has no square factor its coefficients are a normal basis, those of the X^k by
//! units k = h^-j p^f: then u_i k(j, f) = h^(i-j) p^f, every block is a convolution, and the
//! diagonal of rot^k a constant. Else the diagonals vary along the block: they are polynomials in
//! its X_a and all that follow, and hold n words for the first axis.
//!
//! Where a dimension is bad, k runs over -D < k < D, and rot^k is the automorphism for those places
//! only that do not pass an end.
//!
//! *Thin*: places with f = 0 hold what thin slots hold, the others 0; the way back gives the
//! trace's argument. *Whole*: there are d thin slot vectors, one for each f. The way back gives
//! z(j) = Σ_f φ^f(ν) a_(j,f), ν being a normal element, whose terms are c_(k,g) rot^k φ^g(value),
//! c_(k,g)(j) = Σ_f φ^f(ν) φ^g(dual(u_(j+k), k(j, f))): the trace of ν φ^g(dual(h^k, 1)), a
//! constant in Z/p^e, for normal bases. With the dual ν*, a_(j,f) = Σ_g φ^(f+g)(ν*) φ^g(z).
//!
//! Sources: Halevi–Shoup 2021 (ia.cr/2014/873, section 4: one dimension of the hypercube after the
//! other); Chen–Han 2018, section 5, for the thin form.

use everlevel_ring::SlotShape;

use super::block::{Block, Powers};
use crate::error::CircuitError;
use crate::linear::{AxisMap, Direction, LastDimensions, Span};
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
    /// that is if its slots lie in GR(p^e, k), and the carrier has no square factor, the first k
    /// vectors determine it: it is the sum of the d/k images of what they give under the powers of
    /// that automorphism.
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

/// The transform between slots and coefficients modulo p^e over an index with axes.
#[derive(Clone, Debug)]
pub struct AxisTransform {
    shape: SlotShape,
    last: LastDimensions,
    blocks: Vec<Block>,
}

impl AxisTransform {
    /// The transform for the slots of `shape` modulo p^exponent.
    ///
    /// # Errors
    /// [`CircuitError::UnsupportedIndex`] for powers of two; [`CircuitError::Ring`] if the shape
    /// does not know p^exponent.
    pub fn new(shape: &SlotShape, exponent: u32) -> Result<Self, CircuitError> {
        let (last, blocks) = (LastDimensions::new(shape, exponent)?, Block::all(shape)?);
        Ok(AxisTransform { shape: shape.clone(), last, blocks })
    }

    /// The plaintext modulus.
    pub fn modulus(&self) -> PrimePower {
        self.last.ring().modulus()
    }

    /// The number of stages: one for each axis ahead of the carrier, and one for this.
    pub fn stages(&self) -> usize {
        self.blocks.len()
    }

    /// The exponent e modulo m of the X^e whose coefficient is at slot `slot` and power `f` of
    /// Frobenius, both modulo their number.
    pub fn exponent_of_place(&self, slot: usize, f: usize) -> u64 {
        let (m, mut rest, mut e) = (self.shape.ring_index(), slot, 0);
        for (after, block) in self.blocks.iter().rev().enumerate() {
            let f = if after == 0 { f % self.shape.degree_of_slot() } else { 0 };
            e = (e + block.exponent(rest % block.slots(), f) * (block.lift() % m)) % m;
            rest /= block.slots();
        }
        e
    }

    /// The maps from slots to coefficients, in the order of application, the first `sizes[0]`
    /// stages merged into one, and so on: the carrier comes first. [`Packing::Whole`] takes d
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
        let inputs = packing.vectors(self.shape.degree_of_slot());
        let stages = self.blocks.iter().rev().enumerate().map(|(after, block)| {
            let (powers, spans) = (self.powers(block)?, self.around(block)?);
            let inputs = if after == 0 { inputs } else { 1 };
            self.map(inputs, &spans, |f, k| {
                if block.is_normal() {
                    let back: Vec<i64> = k.iter().map(|k| -k).collect();
                    let u = block.mover(&self.shape, &back);
                    return self.constant(powers.value(u, block.frobenius(f)), &spans, k);
                }
                self.varying(block, &spans, k, |i, j| {
                    powers.value(block.unit(i), block.exponent(j, f)).to_vec()
                })
            })
        });
        merged(stages.collect::<Result<_, _>>()?, sizes)
    }

    /// The maps from coefficients to slots, in the order of application, merged as above: the
    /// carrier comes last. The result is, with φ being Frobenius, an element whose trace is the
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
        let carrier = self.stages() - 1;
        let stages = self.blocks.iter().enumerate().map(|(b, block)| match packing {
            Packing::Whole | Packing::First(_) if b == carrier => self.gathering(block),
            _ => self.one_back(block),
        });
        merged(stages.collect::<Result<_, _>>()?, sizes)
    }

    /// From the values along a block to its coefficients with f = 0, or along the carrier to what
    /// has these as its traces.
    fn one_back(&self, block: &Block) -> Result<AxisMap, CircuitError> {
        let (powers, spans) = (self.powers(block)?, self.around(block)?);
        self.map(1, &spans, |_, k| {
            if block.is_normal() {
                return self.constant(&powers.dual(block.mover(&self.shape, k), 1), &spans, k);
            }
            self.varying(block, &spans, k, |j, i| powers.dual(block.unit(i), block.exponent(j, 0)))
        })
    }

    /// From the values along the carrier to Σ_f φ^f(ν) a_(j,f).
    fn gathering(&self, block: &Block) -> Result<AxisMap, CircuitError> {
        let (ring, powers) = (self.last.ring(), self.powers(block)?);
        let (d, basis) = (ring.degree(), NormalBasis::new(ring)?);
        let images: Vec<Vec<u64>> = (0..d).map(|f| ring.frobenius(&basis.element, f)).collect();
        let mut spans = self.around(block)?;
        spans.push(Span { direction: Direction::Frobenius, from: 0, step: 1, count: d });
        self.map(1, &spans, |_, point| {
            let (k, g) = (&point[..point.len() - 1], point[point.len() - 1] as usize);
            if block.is_normal() {
                let dual = ring.frobenius(&powers.dual(block.mover(&self.shape, k), 1), g);
                let constant = ring.scalar(ring.trace(&ring.mul(&basis.element, &dual)));
                return self.constant(&constant, &spans, point);
            }
            self.varying(block, &spans, point, |j, i| {
                let u = block.unit(i) * block.frobenius(g);
                images.iter().enumerate().fold(ring.scalar(0), |sum, (f, image)| {
                    let dual = powers.dual(u % block.index(), block.exponent(j, f));
                    ring.add(&sum, &ring.mul(image, &dual))
                })
            })
        })
    }

    fn powers<'a>(&'a self, block: &'a Block) -> Result<Powers<'a>, CircuitError> {
        Powers::new(&self.shape, block, self.last.ring())
    }

    /// What reaches every slot along a block from every one.
    fn around(&self, block: &Block) -> Result<Vec<Span>, CircuitError> {
        block.dimensions.clone().map(|a| AxisMap::around(&self.shape, a)).collect()
    }

    fn map(
        &self,
        inputs: usize,
        spans: &[Span],
        diagonal: impl FnMut(usize, &[i64]) -> Vec<u64>,
    ) -> Result<AxisMap, CircuitError> {
        let e = self.modulus().exponent();
        AxisMap::new(&self.shape, e, inputs, spans.to_vec(), diagonal)
    }

    /// An element at the places for which a point stays within the ends.
    fn constant(&self, element: &[u64], spans: &[Span], point: &[i64]) -> Vec<u64> {
        self.last.masked(element, AxisMap::within(&self.shape, spans, point))
    }

    /// element(i, j) at slot i of a block, j being the slot that the point brings there; 0 where it
    /// passes an end.
    fn varying(
        &self,
        block: &Block,
        spans: &[Span],
        point: &[i64],
        element: impl Fn(usize, usize) -> Vec<u64>,
    ) -> Vec<u64> {
        let within = AxisMap::within(&self.shape, spans, point);
        block.spread(|i| match within(i) {
            true => element(i, block.source(&self.shape, i, point)),
            false => self.last.ring().scalar(0),
        })
    }

    /// φ^g(ν*) for g = 0, .., d - 1, constant along the carrier: a_f = Σ_g φ^(f+g)(ν*)
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
