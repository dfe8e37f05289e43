//! Linear maps on the slots of an index with axes: sums over a box of automorphisms, each with a
//! diagonal along the last dimensions.

use everlevel_ring::{GaloisElement, SlotShape};

use super::last_dimensions::LastDimensions;
use crate::error::CircuitError;
use crate::modular::PrimePower;

/// A generator of the group of automorphisms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// A dimension of the slots.
    Dimension(usize),
    /// Frobenius, slot by slot.
    Frobenius,
}

/// The powers `from`, `from` + `step`, .. of a direction, `count` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The direction.
    pub direction: Direction,
    /// The first power.
    pub from: i64,
    /// From one power to the next, positive.
    pub step: i64,
    /// How many powers.
    pub count: usize,
}

/// A Z-linear map on slots in GR(p^e, d), with any number of inputs x_0, x_1, ..:
///
/// out = Σ over the inputs i and the points k of a box of D_(i,k) * Π_s σ_s^(k_s) (x_i),
///
/// σ_s being the automorphism of a direction. The diagonals D_(i,k) are elements along the
/// dimensions of the carrier, or of more of the last axes, the same at all places of the others:
/// polynomials in the X_a of those axes alone.
#[derive(Clone, Debug)]
pub struct AxisMap {
    shape: SlotShape,
    last: LastDimensions,
    spans: Vec<Span>,
    inputs: usize,
    /// Input by input the points of the box, the last span varying fastest.
    diagonals: Vec<Vec<u64>>,
}

impl AxisMap {
    /// The map with the given diagonal for each input and each point of the box.
    ///
    /// # Errors
    /// [`CircuitError::UnsupportedIndex`] if the index of `shape` is a power of two;
    /// [`CircuitError::Empty`] if there is no point; [`CircuitError::SlotCount`] if a diagonal has
    /// not d residues for each place of some last axes; [`CircuitError::LargeMap`] if all of them
    /// have more than 2^28; [`CircuitError::Ring`].
    pub fn new(
        shape: &SlotShape,
        exponent: u32,
        inputs: usize,
        spans: Vec<Span>,
        mut diagonal: impl FnMut(usize, &[i64]) -> Vec<u64>,
    ) -> Result<Self, CircuitError> {
        let last = LastDimensions::new(shape, exponent)?;
        let count = spans.iter().fold(inputs, |n, span| n.saturating_mul(span.count));
        if count == 0 {
            return Err(CircuitError::Empty { what: "the set of diagonals" });
        }
        check_words(count, last.least())?;
        let points = points(&spans);
        let mut diagonals = Vec::with_capacity(count);
        for i in 0..inputs {
            for k in &points {
                let mut values = diagonal(i, k);
                if !last.has(values.len()) {
                    let (expected, found) = (last.least(), values.len());
                    return Err(CircuitError::SlotCount { expected, found });
                }
                check_words(count, values.len())?;
                values.iter_mut().for_each(|x| *x = last.ring().modulus().reduce_u64(*x));
                diagonals.push(values);
            }
        }
        Ok(AxisMap { shape: shape.clone(), last, spans, inputs, diagonals })
    }

    /// Σ_k c_k rot^k, rot the rotation to the left along `dimension` and c_k a function of |k|
    /// below its size: a group convolution. Along a good dimension k runs from 0, along a bad one
    /// from 1 - size, each term for the places that stay within the ends.
    ///
    /// # Errors
    /// As [`AxisMap::new`], [`CircuitError::UnknownDimension`].
    pub fn convolution(
        shape: &SlotShape,
        exponent: u32,
        dimension: usize,
        constant: impl Fn(i64) -> Vec<u64>,
    ) -> Result<Self, CircuitError> {
        let span = Self::around(shape, dimension)?;
        let last = LastDimensions::new(shape, exponent)?;
        Self::new(shape, exponent, 1, vec![span], |_, k| {
            last.masked(&constant(k[0]), Self::within(shape, &[span], k))
        })
    }

    /// The cyclic rotation to the left by `k` along a dimension. Along a bad one it has two terms:
    /// for the slots that stay within the ends, and for those that pass one.
    ///
    /// # Errors
    /// As [`AxisMap::convolution`].
    pub fn rotation(
        shape: &SlotShape,
        exponent: u32,
        dimension: usize,
        k: i64,
    ) -> Result<Self, CircuitError> {
        let around = Self::around(shape, dimension)?;
        let size = shape.dimensions()[dimension].size as i64;
        let k = k.rem_euclid(size);
        let (from, count) = if around.from == 0 || k == 0 { (k, 1) } else { (k - size, 2) };
        let (span, last) =
            (Span { from, step: size, count, ..around }, LastDimensions::new(shape, exponent)?);
        let one = last.ring().one();
        Self::new(shape, exponent, 1, vec![span], |_, k| {
            last.masked(&one, Self::within(shape, &[span], k))
        })
    }

    /// Any GR(p^e, d)-linear map along the last dimension: out_i = Σ_j entry(i, j) x_j, the same at
    /// all places of the other dimensions.
    ///
    /// # Errors
    /// As [`AxisMap::new`].
    pub fn matrix(
        shape: &SlotShape,
        exponent: u32,
        entry: impl Fn(usize, usize) -> Vec<u64>,
    ) -> Result<Self, CircuitError> {
        let span = Self::around(shape, shape.dimensions().len() - 1)?;
        let size = shape.columns() as i64;
        Self::new(shape, exponent, 1, vec![span], |_, k| {
            let within = Self::within(shape, &[span], k);
            let element = |place: usize| {
                let i = place as i64 % size;
                match within(place) {
                    true => entry(i as usize, (i + k[0]).rem_euclid(size) as usize),
                    false => vec![0; shape.degree_of_slot()],
                }
            };
            (0..shape.carrier_slots()).flat_map(element).collect()
        })
    }

    /// The powers of a direction that reach every place from every place.
    pub(crate) fn around(shape: &SlotShape, dimension: usize) -> Result<Span, CircuitError> {
        let found = shape.dimensions().get(dimension);
        let all = found.ok_or(CircuitError::UnknownDimension {
            dimension,
            dimensions: shape.dimensions().len(),
        })?;
        let (from, count) =
            if all.good { (0, all.size) } else { (1 - all.size as i64, 2 * all.size - 1) };
        Ok(Span { direction: Direction::Dimension(dimension), from, step: 1, count })
    }

    /// The places of the last dimensions for which a point of a box of spans stays within the ends
    /// of bad dimensions.
    pub(crate) fn within(
        shape: &SlotShape,
        spans: &[Span],
        point: &[i64],
    ) -> impl Fn(usize) -> bool + use<> {
        let dimensions = shape.dimensions();
        let bad = |(span, k): (&Span, &i64)| match span.direction {
            Direction::Dimension(a) if !dimensions[a].good => {
                let inner: usize = dimensions[a + 1..].iter().map(|along| along.size).product();
                Some((inner, dimensions[a].size, *k))
            }
            _ => None,
        };
        let ends: Vec<(usize, usize, i64)> = spans.iter().zip(point).filter_map(bad).collect();
        move |place| {
            ends.iter().all(|&(inner, size, k)| {
                (0..size as i64).contains(&((place / inner % size) as i64 + k))
            })
        }
    }

    /// The plaintext modulus.
    pub fn modulus(&self) -> PrimePower {
        self.last.ring().modulus()
    }

    /// The slots.
    pub fn shape(&self) -> &SlotShape {
        &self.shape
    }

    /// The box.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The powers of the spans, the last one varying fastest.
    pub fn points(&self) -> Vec<Vec<i64>> {
        points(&self.spans)
    }

    /// The diagonals of an input, in the order of [`AxisMap::points`].
    pub fn diagonals(&self, input: usize) -> &[Vec<u64>] {
        let count = self.diagonals.len() / self.inputs;
        &self.diagonals[input * count..(input + 1) * count]
    }

    /// The automorphism of a point.
    pub fn galois_element(&self, point: &[i64]) -> GaloisElement {
        galois_element(
            &self.shape,
            self.spans.iter().map(|s| s.direction).zip(point.iter().copied()),
        )
    }

    /// The image of a diagonal under the automorphism of a point.
    pub(super) fn moved(&self, diagonal: &[u64], point: &[i64]) -> Vec<u64> {
        let along = |wanted| {
            self.spans
                .iter()
                .zip(point)
                .filter(|(s, _)| s.direction == wanted)
                .map(|(_, k)| k)
                .sum()
        };
        let powers: Vec<i64> =
            (0..self.shape.dimensions().len()).map(|a| along(Direction::Dimension(a))).collect();
        self.last.moved(diagonal, &powers, along(Direction::Frobenius))
    }

    /// The composition "first this map, then `next`" (of one input): the product of the boxes.
    ///
    /// # Errors
    /// [`CircuitError::PlanMismatch`] if the maps are for different slots, or `next` has several
    /// inputs; [`CircuitError::ModulusMismatch`]; [`CircuitError::LargeMap`].
    pub fn then(&self, next: &AxisMap) -> Result<AxisMap, CircuitError> {
        if self.shape != next.shape || next.inputs != 1 {
            return Err(CircuitError::PlanMismatch {
                reason: "a map of several inputs, or of other slots, follows another one",
            });
        }
        if self.modulus() != next.modulus() {
            return Err(CircuitError::ModulusMismatch {
                expected: self.modulus().wide(),
                found: next.modulus().wide(),
            });
        }
        let longest = self.diagonals.iter().chain(&next.diagonals).map(Vec::len).max();
        let count = next.diagonals.len().saturating_mul(self.diagonals.len());
        check_words(count, longest.unwrap_or(0))?;
        let outer: Vec<(Vec<i64>, &Vec<u64>)> =
            next.points().into_iter().zip(&next.diagonals).collect();
        let mut diagonals = Vec::with_capacity(outer.len() * self.diagonals.len());
        for input in 0..self.inputs {
            for (k, d) in &outer {
                diagonals.extend(
                    self.diagonals(input)
                        .iter()
                        .map(|inner| self.last.product(d, &next.moved(inner, k))),
                );
            }
        }
        let spans = next.spans.iter().chain(&self.spans).copied().collect();
        Ok(AxisMap {
            shape: self.shape.clone(),
            last: self.last.clone(),
            spans,
            inputs: self.inputs,
            diagonals,
        })
    }
}

/// The most words of all diagonals of a map: 2 GiB.
const MOST_WORDS: u64 = 1 << 28;

/// Accepts `count` diagonals of `each` words, unless they exceed the limit.
fn check_words(count: usize, each: usize) -> Result<(), CircuitError> {
    let words = (count as u64).saturating_mul(each as u64);
    if words > MOST_WORDS {
        return Err(CircuitError::LargeMap { words, most: MOST_WORDS });
    }
    Ok(())
}

/// All points of a box.
pub(super) fn points(spans: &[Span]) -> Vec<Vec<i64>> {
    spans.iter().fold(vec![Vec::new()], |points, span| {
        let powers = (0..span.count as i64).map(|i| span.from + span.step * i);
        points
            .iter()
            .flat_map(|point| powers.clone().map(move |k| [&point[..], &[k]].concat()))
            .collect()
    })
}

/// The product of powers of directions.
pub(super) fn galois_element(
    shape: &SlotShape,
    powers: impl Iterator<Item = (Direction, i64)>,
) -> GaloisElement {
    powers.fold(shape.identity(), |g, (direction, k)| {
        let power = match direction {
            Direction::Dimension(a) => shape.rotation_along(a, k),
            Direction::Frobenius => {
                let k = k.rem_euclid(shape.degree_of_slot() as i64);
                (0..k).fold(shape.identity(), |g, _| shape.compose(g, shape.frobenius()))
            }
        };
        shape.compose(g, power)
    })
}
