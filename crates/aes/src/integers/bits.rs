//! The bits of encrypted bytes.

use everlevel_circuit::CircuitError;
use everlevel_circuit::sums::PowerSum;
use everlevel_ring::{Backend, GaloisElement, GaloisRing, PlaintextRing, SlotShape};
use everlevel_scheme::{DiagonalValues, ExactScheme, Level, NextUse};

use crate::embedding::ByteEmbedding;
use crate::error::AesError;

/// A byte in GF(2^8), inside of slots GF(2^d), as eight ciphertexts of integers modulo 2^e with its
/// bits for lowest bits.
///
/// Bit i of x is Tr(β_i x), β being the dual of the basis of AES and Tr the trace of GF(2^8). The
/// ciphertext is extended first ([`extend_plain_modulus`](everlevel_scheme::PlainModulus::extend_plain_modulus)): slots hold x + 2 g then,
/// g anything in GR(2^e, d). The trace of that to Z/2^e, the sum over *all* d conjugates, is an
/// integer b_i + 2 g_i whatever g is, which is what [`lowest_bit`] wants.
///
/// For odd d/8, first the trace to GR(2^e, 8), which multiplies bytes by an odd number (two key
/// switches for d = 24), then seven hoisted automorphisms and a combination of 8 x 8 constants. For
/// even d/8 that would lose the bytes: there all d conjugates are combined.
///
/// Which lift to modulo 2^e of β_i mod 2 is taken makes a difference to g_i only, if after the
/// trace it is one in GR(2^e, 8). The constants are polynomials in the variables of the carrier
/// with coefficients 0 and 1. If Frobenius permutes these, as those of a normal basis, they are in
/// that ring. If the carrier has a square factor, it does not, and all d conjugates are combined:
/// on an axis of l^k a power of the variable that is not in the basis is minus the sum of l - 1
/// others. So the noise grows by the few bits of the constants and not by e.
///
/// [`lowest_bit`]: everlevel_circuit::digits::lowest_bit
pub struct ByteBits<S: ExactScheme> {
    exponent: u32,
    trace: Option<PowerSum>,
    /// σ^0, σ^1, .., as many as are combined.
    images: Vec<GaloisElement>,
    /// For each bit σ^j(β_i), by j.
    rows: Vec<Vec<S::Diagonal>>,
}

impl<S: ExactScheme> ByteBits<S> {
    /// Prepares 8 plaintexts for each image, for ciphertexts at `level` or below, which are
    /// extended to modulus 2^exponent.
    ///
    /// # Errors
    /// Those of [`ByteEmbedding::new`]; [`AesError::Ring`] for an exponent that the parameters do
    /// not have; those of the scheme.
    pub fn new(scheme: &S, exponent: u32, level: Level) -> Result<Self, AesError> {
        let shape = scheme.slot_shape();
        let embedding = ByteEmbedding::new(shape)?;
        // Of the eight plaintexts only the last dimensions are encoded: no work for vectors.
        let plain = PlaintextRing::new(shape.clone(), Backend::Portable)?;
        let (field, ring) = (shape.galois_ring(1)?, shape.galois_ring(exponent)?);
        let images = Self::images(shape);
        let twist = if Self::folds(shape) { field.one() } else { with_unit_trace(&field)? };
        let row = |beta: &Vec<u64>| {
            let coefficients =
                plain.encode_last(&field.mul(beta, &twist).repeat(shape.carrier_slots()), 1)?;
            let lift = plain.decode_last(&coefficients, exponent)?;
            let conjugate = |j: usize| {
                let values =
                    lift.chunks(ring.degree()).flat_map(|x| ring.frobenius(x, j)).collect();
                Ok(scheme.diagonal(&DiagonalValues::LastDimensions(values), exponent, level)?)
            };
            (0..images.len()).map(conjugate).collect::<Result<Vec<_>, AesError>>()
        };
        let rows = dual_basis(&embedding, &field).iter().map(row).collect::<Result<_, _>>()?;
        Ok(ByteBits { exponent, trace: Self::folding(shape), images, rows })
    }

    /// The automorphisms that need keys, each once.
    pub fn automorphisms(shape: &SlotShape) -> Vec<GaloisElement> {
        let trace = Self::folding(shape).map(|trace| trace.galois_elements()).unwrap_or_default();
        let mut all: Vec<_> = Self::images(shape).into_iter().skip(1).chain(trace).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether the trace to the ring of bytes comes first.
    fn folds(shape: &SlotShape) -> bool {
        shape.degree_of_slot() / 8 % 2 == 1 && shape.has_normal_carrier()
    }

    fn folding(shape: &SlotShape) -> Option<PowerSum> {
        (Self::folds(shape) && shape.degree_of_slot() > 8)
            .then(|| PowerSum::relative_trace(shape, 8))
    }

    fn images(shape: &SlotShape) -> Vec<GaloisElement> {
        let count = if Self::folds(shape) { 8 } else { shape.degree_of_slot() };
        let next = |g: &GaloisElement| Some(shape.compose(*g, shape.frobenius()));
        std::iter::successors(Some(shape.identity()), next).take(count).collect()
    }

    /// b_i + 2 g_i modulo 2^e for i = 0, .., 7, the lowest bit first. One level, of the constants'
    /// few bits above the floor; 7 + 2 key switches for d = 24.
    ///
    /// # Errors
    /// Those of the scheme. Slots that hold no bytes give unspecified integers.
    pub fn split(&self, scheme: &S, byte: &S::Ciphertext) -> Result<Vec<S::Ciphertext>, AesError> {
        let mut x = scheme.extend_plain_modulus(byte, self.exponent)?;
        if let Some(trace) = &self.trace {
            x = trace.apply(scheme, &scheme.prepare(&x, NextUse::LinearMap)?)?;
        }
        let parts = scheme.hoist(&scheme.prepare(&x, NextUse::LinearMap)?, &self.images)?;
        let rows: Vec<Vec<_>> =
            self.rows.iter().map(|row| row.iter().map(Some).collect()).collect();
        let sums = scheme.combine(&parts, &rows)?;
        sums.into_iter()
            .map(|sum| Ok(scheme.galois_sum(vec![(self.images[0], sum)], NextUse::LinearMap)?))
            .collect()
    }
}

/// β_i with Tr(β_i α^j) = 1 for i = j and 0 else, Tr being the trace of the bytes' field, α^j the
/// byte 2^j: found by trying all bytes.
fn dual_basis(embedding: &ByteEmbedding, field: &GaloisRing) -> Vec<Vec<u64>> {
    let trace = |x: &[u64]| {
        (0..8).fold(field.scalar(0), |sum, j| field.add(&sum, &field.frobenius(x, j)))[0]
    };
    let mut dual = vec![field.scalar(0); 8];
    for byte in 0..=255 {
        let beta = embedding.element(byte);
        let bits = (0..8).map(|j| trace(&field.mul(&beta, &embedding.element(1 << j))));
        // The functional of a single bit.
        let row = bits.enumerate().fold(0, |row, (j, bit)| row | (bit as usize) << j);
        if row.is_power_of_two() {
            dual[row.trailing_zeros() as usize] = beta;
        }
    }
    dual
}

/// An element whose trace to the bytes' field is 1.
fn with_unit_trace(field: &GaloisRing) -> Result<Vec<u64>, AesError> {
    let trace = |x: &[u64]| {
        (0..field.degree())
            .step_by(8)
            .fold(field.scalar(0), |sum, j| field.add(&sum, &field.frobenius(x, j)))
    };
    let powers = std::iter::successors(Some(field.one()), |power| Some(field.times_x(power)));
    for power in powers.take(field.degree()) {
        if let Ok(inverse) = field.inv(&trace(&power)) {
            return Ok(field.mul(&power, &inverse));
        }
    }
    // The trace is onto, and the powers are a basis.
    Err(CircuitError::Empty { what: "the set of elements with a trace" }.into())
}
