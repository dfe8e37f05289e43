//! The memory that holds the residues of polynomials.

use crate::basis::Basis;

/// What holds the residues of polynomials: the part of an [`Engine`](crate::Engine) that
/// [`Poly`](crate::Poly) needs to be one.
pub trait Memory: 'static {
    /// The residues of one polynomial. Copies may share memory; writing to one changes no other.
    type Limbs: Clone + Send + Sync;

    /// The residues modulo the primes of `to`, a subset of `from`.
    fn restrict(limbs: &Self::Limbs, from: Basis, to: Basis) -> Self::Limbs;
}
