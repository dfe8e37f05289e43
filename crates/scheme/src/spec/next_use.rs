//! What becomes of a result.

/// What a result will be used for next: decides how far its modulus is switched down.
///
/// A product squares noise that lies above the modulus-switching floor, so a factor should arrive
/// just above the floor; a rotation adds key-switching noise that lies a few bits above it, so an
/// operand of a linear map should stay there. Switching further than the next use asks for loses
/// capacity for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextUse {
    /// The result is a factor of a product.
    Product,
    /// The result is rotated, or put through a linear map.
    LinearMap,
    /// Leave the modulus as it is.
    Keep,
}
