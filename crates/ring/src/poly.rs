//! Polynomials modulo the product of a basis.

use std::fmt;
use std::marker::PhantomData;

use crate::basis::Basis;
use crate::cpu::processor::Cpu;
use crate::memory::Memory;

/// Marker: coefficients (in the storage order of the transform, see [`everlevel_arith::order`] and
/// [`everlevel_arith::axes`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coeff;

/// Marker: evaluations at the primitive m-th roots of unity, in slot order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eval;

/// A representation of polynomials.
pub trait Representation: Copy + Send + Sync + 'static {}

impl Representation for Coeff {}
impl Representation for Eval {}

/// A polynomial of degree below n modulo the product of the primes of its basis, with canonical
/// residues, in the memory of an [`Engine`](crate::Engine), by default that of the processor.
///
/// Operations take the engine as an argument. Binary ones require equal bases and panic otherwise:
/// schemes align levels before they compute, so a mismatch is a bug, not an input.
///
/// Cloning and restricting share the residues where the engine can, as [`Cpu`] does.
pub struct Poly<R: Representation, E: Memory = Cpu> {
    basis: Basis,
    degree: usize,
    limbs: E::Limbs,
    representation: PhantomData<R>,
}

impl<R: Representation, E: Memory> Poly<R, E> {
    /// A polynomial of `degree` coefficients with the given residues: for engines.
    pub fn new(basis: Basis, degree: usize, limbs: E::Limbs) -> Self {
        Poly { basis, degree, limbs, representation: PhantomData }
    }

    /// The basis.
    pub fn basis(&self) -> Basis {
        self.basis
    }

    /// The number n of coefficients.
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// Bytes of residues.
    pub fn memory_bytes(&self) -> u64 {
        (self.basis.len() * self.degree * size_of::<u64>()) as u64
    }

    /// The residues: for engines.
    pub fn limbs(&self) -> &E::Limbs {
        &self.limbs
    }

    /// The residues, to be written: for engines.
    pub fn limbs_mut(&mut self) -> &mut E::Limbs {
        &mut self.limbs
    }

    /// Takes the residues out: for engines.
    pub fn into_limbs(self) -> E::Limbs {
        self.limbs
    }

    /// A copy with the primes of `basis` only: the residues of the same integers.
    ///
    /// # Panics
    /// If `basis` is not a subset of the basis of the polynomial.
    pub fn restricted(&self, basis: Basis) -> Self {
        assert!(basis.is_subset(self.basis), "restriction to a subset");
        Self::new(basis, self.degree, E::restrict(&self.limbs, self.basis, basis))
    }
}

impl<R: Representation, E: Memory> Clone for Poly<R, E> {
    fn clone(&self) -> Self {
        Self::new(self.basis, self.degree, self.limbs.clone())
    }
}

impl<R: Representation, E: Memory> fmt::Debug for Poly<R, E> {
    /// Prints the shape only, as a polynomial may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Poly({} coefficients, {:?})", self.degree, self.basis)
    }
}
