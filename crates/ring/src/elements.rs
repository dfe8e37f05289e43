//! Whole slots: elements of the Galois ring GR(p^e, d). Indices with axes have them from their
//! axes, powers of two from the columns.

use zeroize::Zeroizing;

use crate::error::RingError;
use crate::gaussian::GaussianRing;
use crate::plaintext_ring::PlaintextRing;
use crate::prime_power::PrimePower;

/// Of a power of two: elements of GR(p^e, d) = (Z/p^e)\[ξ\]/F are d residues, the coefficients of
/// 1, ξ, .., ξ^(d-1).
///
/// ξ is a primitive m-th root of unity with ξ^D = ζ or ω, the root of the base ring (D = d/f), so F
/// has two or three terms: x^d - ζ where f = 1, x^d - (ω + ω') x^(d/2) + ω ω' where f = 2, ω' the
/// conjugate of ω. Slot (r, j) of a holds a(ξ^g), g its representative
/// ([`SlotShape`](crate::SlotShape)).
///
/// With a = Σ X^i a_i(W) over i < D, a(ξ^g) = Σ ξ^(g i) a_i(ω^g); as g is prime to D, ξ^(g i) is a
/// power of ω times another power of ξ below D, so that a slot consists of D scaled and permuted
/// values in GR(p^e, f), one from each transform.
impl PlaintextRing {
    /// Elements, slot by slot, to coefficients modulo p^e.
    ///
    /// # Errors
    /// Another number of residues than n, one of p^e or more, or an exponent that the shape does
    /// not have.
    pub fn encode_elements(&self, values: &[u64], e: u32) -> Result<Vec<u64>, RingError> {
        self.check(values, self.degree(), e)?;
        if self.shape().odd().is_some() {
            return Ok(self.axes(e)?.encode(values));
        }
        let slots = SlotCoordinates::new(self, e)?;
        let (degree, stride, columns) =
            (self.shape().degree_of_slot(), self.stride(), self.shape().columns());
        let mut out = vec![0; self.degree()];
        for part in 0..stride {
            let mut inner = Zeroizing::new(vec![0; 2 * columns]);
            for (s, element) in values.chunks_exact(degree).enumerate() {
                let (turns, place) = slots.split(s, part);
                let block = [element[place], element.get(place + stride).copied().unwrap_or(0)];
                slots.store(
                    &mut inner,
                    s,
                    slots.turned(slots.omega_to_gaussian(block), slots.order - turns),
                );
            }
            let inner = Zeroizing::new(self.interpolate(&inner, e)?);
            out.iter_mut().skip(part).step_by(stride).zip(inner.iter()).for_each(|(x, &c)| *x = c);
        }
        Ok(out)
    }

    /// Coefficients modulo p^e to elements, slot by slot.
    ///
    /// # Errors
    /// A plaintext of another degree, or an exponent that the shape does not have.
    pub fn decode_elements(&self, coefficients: &[u64], e: u32) -> Result<Vec<u64>, RingError> {
        self.check(coefficients, self.degree(), e)?;
        if self.shape().odd().is_some() {
            return Ok(self.axes(e)?.decode(coefficients));
        }
        let slots = SlotCoordinates::new(self, e)?;
        let (degree, stride) = (self.shape().degree_of_slot(), self.stride());
        let mut out = vec![0; self.degree()];
        for part in 0..stride {
            let inner = Zeroizing::new(
                coefficients.iter().copied().skip(part).step_by(stride).collect::<Vec<u64>>(),
            );
            let values = Zeroizing::new(self.evaluate(&inner, e)?);
            for (s, element) in out.chunks_exact_mut(degree).enumerate() {
                let (turns, place) = slots.split(s, part);
                let block = slots.gaussian_to_omega(slots.turned(slots.load(&values, s), turns));
                element[place] = block[0];
                if let Some(high) = element.get_mut(place + stride) {
                    *high = block[1];
                }
            }
        }
        Ok(out)
    }

    /// F modulo p^e: d + 1 coefficients, the lowest first, the last one 1.
    ///
    /// # Panics
    /// As [`PlaintextRing::modulus`].
    pub fn modulus_polynomial(&self, e: u32) -> Vec<u64> {
        self.galois_ring(e).expect("an exponent of the shape").polynomial().to_vec()
    }

    /// The product of two elements of GR(p^e, d), by the schoolbook: for checks and small tables.
    ///
    /// # Errors
    /// Operands without d residues below p^e, or an exponent that the shape does not have.
    pub fn element_mul(&self, a: &[u64], b: &[u64], e: u32) -> Result<Vec<u64>, RingError> {
        let degree = self.shape().degree_of_slot();
        self.check(a, degree, e)?;
        self.check(b, degree, e)?;
        Ok(self.galois_ring(e)?.mul(a, b))
    }
}

/// What takes a value of one transform to its place in a slot.
struct SlotCoordinates {
    t: PrimePower,
    ring: GaussianRing,
    columns: usize,
    stride: usize,
    representatives: Vec<u64>,
    /// The powers of the root of the base ring: scalars where the Gaussian integers split.
    powers: Vec<[u64; 2]>,
    order: usize,
    /// ω = u + v i, as u and 1/v.
    omega: [u64; 2],
    inverse_v: u64,
}

impl SlotCoordinates {
    fn new(plain: &PlaintextRing, e: u32) -> Result<Self, RingError> {
        let (shape, ring, t) = (plain.shape(), plain.base_ring(e)?, plain.modulus(e));
        let root = shape.root(e);
        let order = 4 * shape.columns();
        let powers = std::iter::successors(Some(ring.one()), |x| Some(ring.mul(*x, root)))
            .take(order)
            .collect();
        let inverse_v = if ring.is_split() { 1 } else { t.inv(root[1])? };
        let (columns, stride, representatives) =
            (shape.columns(), plain.stride(), shape.representatives());
        Ok(SlotCoordinates {
            t,
            ring,
            columns,
            stride,
            representatives,
            powers,
            order,
            omega: root,
            inverse_v,
        })
    }

    /// ξ^(g part) as a power of ω and one of ξ below D, g the representative of slot `s`.
    fn split(&self, s: usize, part: usize) -> (usize, usize) {
        let exponent = self.representatives[s] as usize * part;
        (exponent / self.stride % self.order, exponent % self.stride)
    }

    /// x times ω^turns: the same root in all slots, whatever their row.
    fn turned(&self, x: [u64; 2], turns: usize) -> [u64; 2] {
        let power = self.powers[turns % self.order];
        if self.ring.is_split() { [self.t.mul(x[0], power[0]), 0] } else { self.ring.mul(x, power) }
    }

    /// x + y i in the basis 1, ω.
    fn gaussian_to_omega(&self, x: [u64; 2]) -> [u64; 2] {
        if self.ring.is_split() {
            return x;
        }
        let high = self.t.mul(x[1], self.inverse_v);
        [self.t.sub(x[0], self.t.mul(high, self.omega[0])), high]
    }

    /// x + y ω in the basis 1, i.
    fn omega_to_gaussian(&self, x: [u64; 2]) -> [u64; 2] {
        if self.ring.is_split() {
            return x;
        }
        [self.t.add(x[0], self.t.mul(x[1], self.omega[0])), self.t.mul(x[1], self.omega[1])]
    }

    /// The value of slot `s` among `2 * columns` residues, the second one 0 where slots are
    /// residues.
    fn load(&self, values: &[u64], s: usize) -> [u64; 2] {
        [values[s], if self.ring.is_split() { 0 } else { values[self.columns + s] }]
    }

    fn store(&self, values: &mut [u64], s: usize, x: [u64; 2]) {
        values[s] = x[0];
        if !self.ring.is_split() {
            values[self.columns + s] = x[1];
        }
    }
}
