//! The next use of a result.

/// The next use of a result, which determines how far its modulus is switched down.
///
/// A product squares noise that lies above the modulus-switching floor, so a factor should arrive
/// just above the floor; a rotation adds key-switching noise that lies a few bits above it, so an
/// operand of a linear map should stay there. Switching further than the next use requires loses
/// capacity without benefit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NextUse {
    /// The result is a factor of a product.
    Product,
    /// The result is rotated, or the input of a linear map.
    LinearMap,
    /// Leave the modulus as it is.
    Keep,
}
