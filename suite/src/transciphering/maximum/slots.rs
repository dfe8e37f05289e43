//! The slots of packed states as rows of blocks, lines of bytes, and columns.

use everlevel_aes::Layout;
use everlevel_ring::SlotShape;
use everlevel_scheme::{DiagonalValues, Params, Plaintext, SchemeError};

use crate::error::SuiteError;

/// The outermost dimension.
pub(super) const ROW: usize = 0;
/// That along which the bytes of a block lie.
pub(super) const LINE: usize = 1;
/// The innermost one, which carries Frobenius: what passes its end arrives in other rows and other
/// places of lines.
pub(super) const COLUMN: usize = 2;
/// The slots of a line, and the values of a digit: each value has a place.
pub(super) const VALUES: usize = 16;

/// Lines of slots with what they hold.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    pub rows: usize,
    pub columns: usize,
    /// The degree of a slot.
    pub degree: usize,
    /// The index of the ring.
    pub index: u64,
}

impl Slots {
    /// For the slots of packed states.
    ///
    /// # Errors
    /// Slots without lines; other dimensions than rows, lines and columns; an odd degree.
    pub fn new(shape: &SlotShape) -> Result<Self, SuiteError> {
        let line = Layout::packed(shape)?.line();
        let sizes: Vec<usize> = shape.dimensions().iter().map(|found| found.size).collect();
        let degree = shape.degree_of_slot();
        match sizes[..] {
            [rows, VALUES, columns]
                if line == Some(LINE)
                    && shape.carrier_dimensions() == (COLUMN..COLUMN + 1)
                    && degree.is_multiple_of(2) =>
            {
                Ok(Slots { rows, columns, degree, index: shape.ring_index() })
            }
            _ => Err(SchemeError::BadArgument {
                what: "slots",
                expected: "rows, lines of 16 and one dimension of columns, of an even degree"
                    .into(),
                found: format!("{sizes:?} of degree {degree}"),
            }
            .into()),
        }
    }

    /// How many there are.
    pub fn slots(&self) -> usize {
        self.rows * VALUES * self.columns
    }

    /// The element for a bit.
    fn bit(&self, bit: bool) -> Vec<u64> {
        (0..self.degree).map(|i| u64::from(i == 0 && bit)).collect()
    }

    /// The elements of all slots by row, place of the line and column.
    pub fn elements(&self, mut element: impl FnMut(usize, usize, usize) -> Vec<u64>) -> Vec<u64> {
        let mut out = Vec::with_capacity(self.slots() * self.degree);
        for row in 0..self.rows {
            for place in 0..VALUES {
                for column in 0..self.columns {
                    out.extend(element(row, place, column));
                }
            }
        }
        out
    }

    /// The elements of bits that depend on the place of the line and the column.
    fn lines(&self, bit: impl Fn(usize, usize) -> bool) -> Vec<u64> {
        let places = (0..VALUES).flat_map(|place| (0..self.columns).map(move |c| (place, c)));
        places.flat_map(|(place, column)| self.bit(bit(place, column))).collect()
    }

    /// A plaintext of bits that depend on the place of the line, encoded along the last two axes.
    ///
    /// # Errors
    /// None for the slots of the parameters.
    pub fn bits(
        &self,
        params: &Params,
        bit: impl Fn(usize) -> bool,
    ) -> Result<Plaintext, SuiteError> {
        let ring = params.plaintext_ring();
        let coefficients = ring.encode_last(&self.lines(|place, _| bit(place)), 1)?;
        let whole = ring.embed_last(&coefficients, 1)?;
        Ok(Plaintext::from_reduced(self.index, whole.into(), ring.modulus(1)))
    }

    /// A mask by place of the line and column.
    pub fn mask(&self, keep: impl Fn(usize, usize) -> bool) -> DiagonalValues {
        DiagonalValues::LastDimensions(self.lines(keep))
    }
}
