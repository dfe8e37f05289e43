//! All operations except bootstrapping.

use super::arithmetic::Arithmetic;
use super::linear_maps::LinearMaps;
use super::plain_modulus::PlainModulus;

/// All operations of a scheme except bootstrapping; most circuits require this trait.
///
/// It is implemented for every type that implements the three traits.
pub trait ExactScheme: Arithmetic + PlainModulus + LinearMaps {}

impl<S: Arithmetic + PlainModulus + LinearMaps> ExactScheme for S {}
