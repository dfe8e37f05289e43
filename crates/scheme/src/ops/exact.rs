//! All operations short of bootstrapping.

use super::arithmetic::Arithmetic;
use super::linear_maps::LinearMaps;
use super::plain_modulus::PlainModulus;

/// All that a scheme does short of bootstrapping: what most circuits ask for.
///
/// Implemented for every type that has the parts.
pub trait ExactScheme: Arithmetic + PlainModulus + LinearMaps {}

impl<S: Arithmetic + PlainModulus + LinearMaps> ExactScheme for S {}
