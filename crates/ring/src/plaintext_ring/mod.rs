//! The plaintext ring (Z/p^e)\[X\]/Φ_m(X) and its slots.

mod coefficients;
mod slots;

use std::sync::OnceLock;

use everlevel_arith::kernels::{self, Kernels};
use everlevel_arith::{Backend, NttTable};

use crate::axis_transform::SlotTransform;
use crate::columns::ColumnTransform;
use crate::error::RingError;
use crate::galois_ring::GaloisRing;
use crate::gaussian::GaussianRing;
use crate::prime_power::PrimePower;
use crate::product::ExactProduct;
use crate::slot_shape::SlotShape;

/// Plaintext arithmetic and slot encoding modulo p^e, for every e up to the shape's largest
/// exponent.
///
/// Plaintexts are vectors of n coefficients, reduced to 0..p^e, in natural order if the index is a
/// power of two and in the coefficient order of its [axes](everlevel_arith::axes) if it has those.
/// Slot values are:
///
/// * *thin* values, one residue for each slot, row by row ([`PlaintextRing::encode`],
///   [`PlaintextRing::decode`]);
/// * whole *elements* of GR(p^e, d), d residues for each slot ([`PlaintextRing::encode_elements`],
///   [`PlaintextRing::decode_elements`]);
/// * powers of two only: *base* values in GR(p^e, f), always `2 * columns` residues: two rows of
///   residues where f = 1, all real parts and then all imaginary parts where f = 2
///   ([`PlaintextRing::encode_base`], [`PlaintextRing::decode_base`]);
/// * indices with axes only: elements that are the same in all rows, or at all places of the first
///   dimensions ([`PlaintextRing::encode_last`], [`PlaintextRing::embed_last`]).
///
/// For a power of two, encoding takes at most n/(2 columns) transforms of the columns, O(n log n).
/// For an index with axes it takes n φ(N) word products, where N is the product of the carrier (the
/// largest prime-power factor, if that carries Frobenius), and fewer for the other axes; the last
/// kind takes φ(N)^2.
///
/// Encoding and decoding wipe their temporary data, and take the same time for all values in range.
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

    /// GR(p^e, d), the ring of the elements of a slot.
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

    fn power(&self, e: u32) -> Result<&Power, RingError> {
        let unknown =
            RingError::UnknownExponent { exponent: e, highest: self.shape.max_exponent() };
        (e as usize).checked_sub(1).and_then(|i| self.powers.get(i)).ok_or(unknown)
    }

    fn wrong_family(&self, operation: &'static str, expected: &'static str) -> RingError {
        RingError::WrongIndexKind { operation, expected, index: self.shape.ring_index() }
    }

    /// Refuses unavailable exponents, and residues of the wrong number or size.
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
        if let Some(position) = residues.iter().position(|&v| v > t.last()) {
            return Err(RingError::ValueOutOfRange {
                value: residues[position],
                position,
                modulus: t.wide(),
            });
        }
        Ok(t)
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
