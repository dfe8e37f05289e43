//! The limbs of polynomials, for code that stores them or has arithmetic of its own. Schemes
//! compute by the methods of [`Poly`] and of engines.

use std::ops::Range;
use std::sync::Arc;

use super::limb::{Limb, Limbs};
use super::processor::Cpu;
use crate::basis::Basis;
use crate::poly::{Poly, Representation};

/// The limbs of a polynomial, in the order of its basis.
pub fn limbs<R: Representation>(x: &Poly<R>) -> &[Arc<Limb>] {
    &x.limbs().0
}

/// The limbs of a polynomial, to be written; shared ones are copied first.
pub fn limbs_mut<R: Representation>(x: &mut Poly<R>) -> Vec<&mut Limb> {
    x.limbs_mut().0.iter_mut().map(Arc::make_mut).collect()
}

/// Takes the limbs out of a polynomial; shared ones are copied.
pub fn into_limbs<R: Representation>(x: Poly<R>) -> Vec<Limb> {
    x.into_limbs().0.into_iter().map(Arc::unwrap_or_clone).collect()
}

/// The limb of the prime at `position`.
///
/// # Panics
/// If the basis lacks the prime.
pub fn limb<R: Representation>(x: &Poly<R>, position: usize) -> &Limb {
    &limbs(x)[x.basis().limb_of(position).expect("the basis holds the prime")]
}

/// A polynomial from its limbs, in the order of the basis.
///
/// # Panics
/// If the number of limbs differs from the size of the basis.
pub fn from_limbs<R: Representation>(cpu: &Cpu, basis: Basis, limbs: Vec<Limb>) -> Poly<R> {
    assert_eq!(basis.len(), limbs.len(), "one limb a prime");
    let limbs = Limbs(limbs.into_iter().map(Arc::new).collect());
    Poly::new(basis, cpu.ring().degree(), limbs)
}

/// The same places of every limb.
pub(super) fn within<'a>(limbs: &[&'a [u64]], places: &Range<usize>) -> Vec<&'a [u64]> {
    limbs.iter().map(|limb| &limb[places.clone()]).collect()
}
