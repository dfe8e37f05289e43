//! The plaintext ring (Z/p^e)\[X\]/Φ_m(X) and its slots.

use std::sync::OnceLock;

use everlevel_arith::kernels::{self, Kernels};
use everlevel_arith::{Backend, NttTable, gather_natural};
use zeroize::Zeroizing;

use crate::axis_transform::SlotTransform;
use crate::columns::ColumnTransform;
use crate::error::RingError;
use crate::exponents::{constant, embed_last, map_exponents};
use crate::galois::GaloisElement;
use crate::galois_ring::GaloisRing;
use crate::gaussian::GaussianRing;
use crate::prime_power::PrimePower;
use crate::product::{ExactProduct, forward, sum_split};
use crate::slot_shape::SlotShape;

/// Plaintext arithmetic and slot encoding modulo p^e, for every e up to the shape's largest
/// exponent.
///
/// Plaintexts are vectors of n coefficients, reduced to 0..p^e, in natural order if the index is a
/// power of two and in the coefficient order of its [axes](everlevel_arith::axes) if it has those.
/// Slot values are:
///
/// * *thin* values, one residue a slot, row by row ([`PlaintextRing::encode`],
///   [`PlaintextRing::decode`]);
/// * whole *elements* of GR(p^e, d), d residues a slot ([`PlaintextRing::encode_elements`],
///   [`PlaintextRing::decode_elements`]);
/// * powers of two only: *base* values in GR(p^e, f), always `2 * columns` residues: two rows of
///   residues where f = 1, all real parts and then all imaginary parts where f = 2
///   ([`PlaintextRing::encode_base`], [`PlaintextRing::decode_base`]);
/// * indices with axes only: elements that are the same in all rows, or at all places of the first
///   dimensions ([`PlaintextRing::encode_last`], [`PlaintextRing::embed_last`]).
///
/// For a power of two these are n/(2 columns) transforms of the columns at most, O(n log n). For an
/// index with axes they take n φ(N) word products, N the product of the carrier, the largest
/// prime-power factor where that carries Frobenius, and fewer for the other axes; the last kind
/// takes φ(N)^2.
///
/// Encoding and decoding wipe what they compute with, and take the same time for all values in
/// range.
#[derive(Debug)]
pub struct PlaintextRing {
    shape: SlotShape,
    powers: Vec<Power>,
    product: ExactProduct,
    kernels: &'static Kernels,
}

/// What belongs to one exponent; tables are computed at their first use.
#[derive(Debug)]
struct Power {
    modulus: PrimePower,
    elements: OnceLock<Result<GaloisRing, RingError>>,
    columns: OnceLock<Result<ColumnTransform, RingError>>,
    /// The transform of all columns in vector code, where p^e and their number allow it.
    fast: OnceLock<Option<NttTable>>,
    /// The transform of all axes.
    axes: OnceLock<Result<SlotTransform, RingError>>,
}

/// A plaintext for several products: values at the points of a transform where there is one of all
/// coefficients, and coefficients elsewhere.
#[derive(Clone, Debug)]
pub struct Factor(Vec<u64>);

impl PlaintextRing {
    /// For all exponents of the shape, with the kernels and transforms of a backend.
    ///
    /// # Errors
    /// A backend that this processor lacks.
    pub fn new(shape: SlotShape, backend: Backend) -> Result<Self, RingError> {
        let kernels = kernels::on(backend)?;
        let powers = (1..=shape.max_exponent())
            .map(|e| {
                let modulus = PrimePower::new(shape.plain_prime(), e)?;
                let (elements, columns, fast, axes) =
                    (OnceLock::new(), OnceLock::new(), OnceLock::new(), OnceLock::new());
                Ok(Power { modulus, elements, columns, fast, axes })
            })
            .collect::<Result<_, RingError>>()?;
        let product = ExactProduct::new(&shape, kernels);
        Ok(PlaintextRing { shape, powers, product, kernels })
    }

    /// The shape of the slots.
    pub fn shape(&self) -> &SlotShape {
        &self.shape
    }

    /// Arithmetic modulo p^e.
    ///
    /// # Panics
    /// If e is 0 or above the shape's largest exponent, as all methods do that return no error.
    pub fn modulus(&self, e: u32) -> PrimePower {
        self.powers[e as usize - 1].modulus
    }

    /// Arithmetic in a column of the base ring modulo p^e.
    ///
    /// # Errors
    /// An index with axes, or an exponent that the shape does not have.
    pub fn base_ring(&self, e: u32) -> Result<GaussianRing, RingError> {
        if self.shape.odd().is_some() {
            return Err(self.wrong_family("the base ring", "a power of two"));
        }
        GaussianRing::new(self.power(e)?.modulus)
    }

    /// GR(p^e, d), what a slot holds.
    ///
    /// # Errors
    /// An exponent that the shape does not have.
    pub fn galois_ring(&self, e: u32) -> Result<&GaloisRing, RingError> {
        self.power(e)?
            .elements
            .get_or_init(|| self.shape.galois_ring(e))
            .as_ref()
            .map_err(RingError::clone)
    }

    /// The degree n of the ring.
    pub fn degree(&self) -> usize {
        self.shape.slots() * self.shape.degree_of_slot()
    }

    /// The degree n/(2 columns) of W over X.
    pub(crate) fn stride(&self) -> usize {
        self.degree() / (2 * self.shape.columns())
    }

    /// Thin values to coefficients modulo p^e. Missing values are 0.
    ///
    /// # Errors
    /// More values than slots, a value of p^e or more, or an exponent that the shape does not have.
    pub fn encode(&self, values: &[u64], e: u32) -> Result<Vec<u64>, RingError> {
        if values.len() > self.shape.slots() {
            return Err(RingError::TooManyValues {
                found: values.len(),
                slots: self.shape.slots(),
            });
        }
        if self.shape.odd().is_some() {
            let d = self.shape.degree_of_slot();
            let mut elements = Zeroizing::new(vec![0; self.degree()]);
            elements.iter_mut().step_by(d).zip(values).for_each(|(x, &value)| *x = value);
            return self.encode_elements(&elements, e);
        }
        // The imaginary parts, if any, are 0.
        let mut padded = Zeroizing::new(vec![0; 2 * self.shape.columns()]);
        padded.iter_mut().zip(values).for_each(|(x, &value)| *x = value);
        self.encode_base(&padded, e)
    }

    /// Coefficients modulo p^e to thin values.
    ///
    /// # Errors
    /// A plaintext with slots outside of Z/p^e, of another degree, or an exponent that the shape
    /// does not have.
    pub fn decode(&self, coefficients: &[u64], e: u32) -> Result<Vec<u64>, RingError> {
        self.check(coefficients, self.degree(), e)?;
        // What is refused takes as long as what is not: all coefficients are looked at and decoded.
        let mut wider = None;
        if self.shape.degree_of_slot() > 1 {
            let conjugate = Zeroizing::new(self.galois(coefficients, self.shape.frobenius(), e));
            wider = first(coefficients.iter().zip(conjugate.iter()).map(|(a, b)| a != b));
        }
        let values = if self.shape.odd().is_some() {
            let elements = Zeroizing::new(self.decode_elements(coefficients, e)?);
            elements.iter().copied().step_by(self.shape.degree_of_slot()).collect()
        } else {
            let (mut values, outside) = self.base_values(coefficients, e)?;
            wider = wider.or(outside);
            values.truncate(self.shape.slots());
            values
        };
        match wider {
            Some(coefficient) => Err(RingError::NotThin { coefficient }),
            None => Ok(values),
        }
    }

    /// `2 * columns` residues, an element of GR(p^e, f) for each slot, to coefficients modulo p^e.
    ///
    /// # Errors
    /// An index with axes, another number of values, a value of p^e or more, or an exponent that
    /// the shape does not have.
    pub fn encode_base(&self, values: &[u64], e: u32) -> Result<Vec<u64>, RingError> {
        let inner = Zeroizing::new(self.encode_periodic(values, self.shape.columns(), e)?);
        let mut out = vec![0; self.degree()];
        out.iter_mut().step_by(self.stride()).zip(inner.iter()).for_each(|(x, &c)| *x = c);
        Ok(out)
    }

    /// The inverse of [`PlaintextRing::encode_base`].
    ///
    /// # Errors
    /// An index with axes, a plaintext outside of the base ring, of another degree, or an exponent
    /// that the shape does not have.
    pub fn decode_base(&self, coefficients: &[u64], e: u32) -> Result<Vec<u64>, RingError> {
        match self.base_values(coefficients, e)? {
            (_, Some(coefficient)) => Err(RingError::NotThin { coefficient }),
            (values, None) => Ok(values),
        }
    }

    /// The values in the base ring, and the first coefficient that is outside of it.
    fn base_values(
        &self,
        coefficients: &[u64],
        e: u32,
    ) -> Result<(Vec<u64>, Option<usize>), RingError> {
        self.base_ring(e)?;
        self.check(coefficients, self.degree(), e)?;
        let stride = self.stride();
        let outside =
            first(coefficients.iter().enumerate().map(|(i, &c)| i % stride != 0 && c != 0));
        let inner =
            Zeroizing::new(coefficients.iter().copied().step_by(stride).collect::<Vec<u64>>());
        Ok((self.evaluate(&inner, e)?, outside))
    }

    /// Base values that repeat with `period` along the columns, `2 * period` residues, to the 2
    /// `period` coefficients of the polynomial in X^(n / (2 period)) that holds them.
    ///
    /// # Errors
    /// An index with axes, a period that does not divide the columns, another number of values, a
    /// value of p^e or more, or an exponent that the shape does not have.
    pub fn encode_periodic(
        &self,
        values: &[u64],
        period: usize,
        e: u32,
    ) -> Result<Vec<u64>, RingError> {
        self.base_ring(e)?;
        if period == 0 || !self.shape.columns().is_multiple_of(period) {
            return Err(RingError::BadPeriod { period, columns: self.shape.columns() });
        }
        self.check(values, 2 * period, e)?;
        self.interpolate(values, e)
    }

    /// Elements of GR(p^e, d) along the dimensions of the carrier, row-major, φ(N) residues, to the
    /// φ(N) coefficients of the polynomial in the X_a of the carrier alone that has them at all
    /// places of the other dimensions. About φ(N)^2 word products.
    ///
    /// In the same way elements along the dimensions of more of the last axes: how many axes these
    /// are, the number of residues says.
    ///
    /// # Errors
    /// A power of two as index, another number of residues, one of p^e or more, or an exponent that
    /// the shape does not have.
    pub fn encode_last(&self, values: &[u64], e: u32) -> Result<Vec<u64>, RingError> {
        let transform = self.axes(e)?;
        self.check(values, self.last_degree(values.len()), e)?;
        Ok(transform.encode(values))
    }

    /// The inverse of [`PlaintextRing::encode_last`].
    ///
    /// # Errors
    /// As [`PlaintextRing::encode_last`].
    pub fn decode_last(&self, coefficients: &[u64], e: u32) -> Result<Vec<u64>, RingError> {
        let transform = self.axes(e)?;
        self.check(coefficients, self.last_degree(coefficients.len()), e)?;
        Ok(transform.decode(coefficients))
    }

    /// The coefficients of a polynomial in the X_a of the last axes alone, φ(N) for the carrier, to
    /// its n coefficients in the ring.
    ///
    /// # Errors
    /// As [`PlaintextRing::encode_last`].
    pub fn embed_last(&self, coefficients: &[u64], e: u32) -> Result<Vec<u64>, RingError> {
        let axes = self
            .shape
            .axes()
            .ok_or_else(|| self.wrong_family("a polynomial in X_c", "no power of two"))?;
        let t = self.check(coefficients, self.last_degree(coefficients.len()), e)?;
        Ok(embed_last(axes, coefficients, t))
    }

    /// `count`, if a polynomial in the X_a of the last axes has that many coefficients, the carrier
    /// among them, else φ(N).
    fn last_degree(&self, count: usize) -> usize {
        let carrier = self.shape.carrier_slots() * self.shape.degree_of_slot();
        let axes = self.shape.axes().filter(|_| count >= carrier);
        if axes.is_some_and(|axes| axes.last_of_degree(count).is_some()) { count } else { carrier }
    }

    /// The product of two plaintexts modulo p^e: 3 transforms of length n where there are n slots
    /// in a power of two, at most 9 elsewhere.
    ///
    /// # Panics
    /// As [`PlaintextRing::modulus`], or if an operand has not n coefficients.
    pub fn mul(&self, a: &[u64], b: &[u64], e: u32) -> Vec<u64> {
        let [a, b] = [a, b].map(|x| self.factor(x, e));
        self.sum_of_products([(&a, &b)].into_iter(), e)
    }

    /// A plaintext for several products modulo p^e: one transform where there are n slots in a
    /// power of two.
    ///
    /// # Panics
    /// As [`PlaintextRing::mul`].
    pub fn factor(&self, a: &[u64], e: u32) -> Factor {
        assert_eq!(a.len(), self.degree(), "expected a coefficient for each power");
        Factor(self.split(e).map_or_else(|| a.to_vec(), |table| forward(table, a)))
    }

    /// Σ a b modulo p^e, of factors for that exponent: one transform where there are n slots in a
    /// power of two, at most 9 a product elsewhere.
    ///
    /// # Panics
    /// As [`PlaintextRing::modulus`].
    pub fn sum_of_products<'a>(
        &self,
        terms: impl Iterator<Item = (&'a Factor, &'a Factor)>,
        e: u32,
    ) -> Vec<u64> {
        let (t, terms) = (self.modulus(e), terms.map(|(a, b)| (&a.0[..], &b.0[..])));
        if let Some(table) = self.split(e) {
            return sum_split(table, self.kernels, terms);
        }
        let products = terms.map(|(a, b)| self.product.mul(a, b, t));
        products.fold(vec![0; self.degree()], |mut sum, product| {
            sum.iter_mut().zip(product).for_each(|(x, y)| *x = t.add(*x, y));
            sum
        })
    }

    /// The product with X^k, for any integer k: coefficients moved, with their signs. O(n), where
    /// there are axes for each of them.
    ///
    /// # Panics
    /// As [`PlaintextRing::modulus`].
    pub fn mul_monomial(&self, a: &[u64], k: i64, e: u32) -> Vec<u64> {
        let (n, q) = (a.len(), self.modulus(e));
        if let Some(axes) = self.shape.axes() {
            let k = k.rem_euclid(axes.index() as i64) as u64;
            return map_exponents(axes, a, q, |_, exponent| exponent + k);
        }
        let mut out = vec![0; n];
        for (c, &x) in a.iter().enumerate() {
            let target = (c as i64 + k.rem_euclid(2 * n as i64)) as usize % (2 * n);
            out[target % n] = if target >= n { q.neg(x) } else { x };
        }
        out
    }

    /// X -> X^g on n coefficients modulo p^e. O(n), where there are axes for each of them.
    ///
    /// # Panics
    /// As [`PlaintextRing::modulus`].
    pub fn galois(&self, a: &[u64], g: GaloisElement, e: u32) -> Vec<u64> {
        let (n, m, q) = (a.len(), self.shape.ring_index() as usize, self.modulus(e));
        if let Some(axes) = self.shape.axes() {
            return map_exponents(axes, a, q, |_, exponent| exponent * g.exponent());
        }
        let mut out = vec![0; n];
        let mut target = 0;
        for &x in a {
            out[target % n] = if target >= n { q.neg(x) } else { x };
            target = (target + g.exponent() as usize) % m;
        }
        out
    }

    /// The coefficients of the constant `c`, reduced modulo p^e.
    ///
    /// # Panics
    /// As [`PlaintextRing::modulus`].
    pub fn constant(&self, c: u64, e: u32) -> Vec<u64> {
        let t = self.modulus(e);
        match self.shape.axes() {
            Some(axes) => constant(axes, t.reduce_u64(c), t),
            None => std::iter::once(t.reduce_u64(c))
                .chain(std::iter::repeat_n(0, self.degree() - 1))
                .collect(),
        }
    }

    /// The coefficients as centered integers, in their order.
    ///
    /// # Panics
    /// As [`PlaintextRing::modulus`].
    pub fn centered(&self, a: &[u64], e: u32) -> Vec<i64> {
        let q = self.modulus(e);
        a.iter().map(|&x| q.centered(x)).collect()
    }

    fn power(&self, e: u32) -> Result<&Power, RingError> {
        let unknown =
            RingError::UnknownExponent { exponent: e, highest: self.shape.max_exponent() };
        (e as usize).checked_sub(1).and_then(|i| self.powers.get(i)).ok_or(unknown)
    }

    fn wrong_family(&self, operation: &'static str, expected: &'static str) -> RingError {
        RingError::WrongIndexKind { operation, expected, index: self.shape.ring_index() }
    }

    /// Refuses exponents that are not at hand, and residues of the wrong number or size.
    pub(crate) fn check(
        &self,
        residues: &[u64],
        expected: usize,
        e: u32,
    ) -> Result<PrimePower, RingError> {
        let t = self.power(e)?.modulus;
        if residues.len() != expected {
            return Err(RingError::ResidueCount { found: residues.len(), expected });
        }
        if let Some(position) = residues.iter().position(|&v| v >= t.value()) {
            return Err(RingError::ValueOutOfRange {
                value: residues[position],
                position,
                modulus: t.value(),
            });
        }
        Ok(t)
    }

    /// A polynomial in W to its values in all columns.
    pub(crate) fn evaluate(&self, inner: &[u64], e: u32) -> Result<Vec<u64>, RingError> {
        if let Some(table) = self.fast(e) {
            return Ok(forward(table, inner));
        }
        Ok(self.columns(e)?.evaluate(inner))
    }

    /// Periodic values to a polynomial in a power of W.
    pub(crate) fn interpolate(&self, values: &[u64], e: u32) -> Result<Vec<u64>, RingError> {
        let whole = values.len() == 2 * self.shape.columns();
        if let Some(table) = self.fast(e).filter(|_| whole) {
            let mut stored = Zeroizing::new(values.to_vec());
            table.inverse(&mut stored);
            return Ok(gather_natural(values.len().trailing_zeros(), &stored));
        }
        Ok(self.columns(e)?.interpolate(values))
    }

    fn columns(&self, e: u32) -> Result<&ColumnTransform, RingError> {
        let table =
            || ColumnTransform::new(self.base_ring(e)?, self.shape.columns(), self.shape.root(e));
        self.power(e)?.columns.get_or_init(table).as_ref().map_err(RingError::clone)
    }

    /// The transform of all coefficients, where there are n slots in a power of two.
    fn split(&self, e: u32) -> Option<&NttTable> {
        self.fast(e).filter(|table| table.degree() == self.degree())
    }

    fn fast(&self, e: u32) -> Option<&NttTable> {
        let table = || {
            let ring = self.base_ring(e).ok().filter(GaussianRing::is_split)?;
            NttTable::new(
                ring.modulus().word()?,
                (2 * self.shape.columns()).trailing_zeros(),
                self.shape.root(e)[0],
                self.kernels.backend(),
            )
            .ok()
        };
        self.power(e).ok()?.fast.get_or_init(table).as_ref()
    }

    /// The transform along axes.
    pub(crate) fn axes(&self, e: u32) -> Result<&SlotTransform, RingError> {
        let odd = self
            .shape
            .odd()
            .ok_or_else(|| self.wrong_family("a transform along axes", "no power of two"))?;
        let table = || {
            let (n, units) = (odd.carrier_index(), self.shape.representatives());
            let slots = units.into_iter().take(self.shape.carrier_slots());
            let units = slots.map(|u| (u % n) as usize).collect();
            SlotTransform::new(odd, self.galois_ring(e)?.clone(), units, self.kernels)
        };
        self.power(e)?.axes.get_or_init(table).as_ref().map_err(RingError::clone)
    }
}

/// The place of the first one that is true, all of them being looked at.
fn first(found: impl Iterator<Item = bool>) -> Option<usize> {
    found.enumerate().fold(None, |first, (i, found)| first.or(found.then_some(i)))
}
