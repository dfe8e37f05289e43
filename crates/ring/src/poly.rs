//! Polynomials modulo the product of a basis.

use std::marker::PhantomData;
use std::sync::Arc;

use everlevel_arith::{coefficient_position, kernels};
use rayon::prelude::*;

use crate::basis::Basis;
use crate::galois::GaloisElement;
use crate::limb::Limb;
use crate::ring::Ring;

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

/// A polynomial of degree below n modulo the product of the primes of its basis; one canonical limb
/// a prime.
///
/// Operations take the [`Ring`] as an argument. Binary ones require equal bases and panic
/// otherwise: schemes align levels before they compute, so a mismatch is a bug, not an input.
///
/// Limbs are shared between copies and copied when one of them is written, so cloning and
/// restricting cost nothing.
#[derive(Clone, Debug)]
pub struct Poly<R: Representation> {
    basis: Basis,
    limbs: Vec<Arc<Limb>>,
    representation: PhantomData<R>,
}

/// The words of a limb, to be written.
fn words(limb: &mut Arc<Limb>) -> &mut [u64] {
    let limb: &mut Limb = Arc::make_mut(limb);
    limb
}

impl<R: Representation> Poly<R> {
    /// The zero polynomial.
    pub fn zero(ring: &Ring, basis: Basis) -> Self {
        Self::from_limbs(basis, basis.iter().map(|_| ring.zero_limb()).collect())
    }

    /// A polynomial of unspecified content, to be overwritten.
    pub fn uninit(ring: &Ring, basis: Basis) -> Self {
        Self::from_limbs(basis, basis.iter().map(|_| ring.limb()).collect())
    }

    /// From limbs in the order of the basis.
    ///
    /// # Panics
    /// If the number of limbs differs from the size of the basis.
    pub fn from_limbs(basis: Basis, limbs: Vec<Limb>) -> Self {
        assert_eq!(basis.len(), limbs.len(), "one limb a prime");
        Self::from_shared(basis, limbs.into_iter().map(Arc::new).collect())
    }

    fn from_shared(basis: Basis, limbs: Vec<Arc<Limb>>) -> Self {
        Poly { basis, limbs, representation: PhantomData }
    }

    /// The basis.
    pub fn basis(&self) -> Basis {
        self.basis
    }

    /// The limbs, in the order of the basis.
    pub fn limbs(&self) -> &[Arc<Limb>] {
        &self.limbs
    }

    /// The limbs, to be written; shared ones are copied first.
    pub fn limbs_mut(&mut self) -> Vec<&mut Limb> {
        self.limbs.iter_mut().map(Arc::make_mut).collect()
    }

    /// Takes the limbs out; shared ones are copied.
    pub fn into_limbs(self) -> Vec<Limb> {
        self.limbs.into_iter().map(Arc::unwrap_or_clone).collect()
    }

    /// The limb of the prime at `position`.
    ///
    /// # Panics
    /// If the basis lacks the prime.
    pub fn limb(&self, position: usize) -> &Limb {
        &self.limbs[self.basis.limb_of(position).expect("the basis holds the prime")]
    }

    /// Pairs of prime position and limb.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Limb)> {
        self.basis.iter().zip(self.limbs.iter().map(|limb| &**limb))
    }

    /// Overwrites the limbs when they are dropped.
    pub fn wipe_on_drop(&mut self) {
        self.limbs_mut().into_iter().for_each(Limb::wipe_on_drop);
    }

    /// Runs `f(prime position, limb)` over all limbs, in parallel.
    pub fn for_each(&mut self, f: impl Fn(usize, &mut [u64]) + Sync + Send) {
        let positions: Vec<usize> = self.basis.iter().collect();
        self.limbs.par_iter_mut().zip(positions).for_each(|(limb, i)| f(i, words(limb)));
    }

    fn zip(&mut self, other: &Self, f: impl Fn(usize, &mut [u64], &[u64]) + Sync + Send) {
        assert_eq!(self.basis, other.basis, "operands of equal basis");
        let positions: Vec<usize> = self.basis.iter().collect();
        self.limbs
            .par_iter_mut()
            .zip(&other.limbs)
            .zip(positions)
            .for_each(|((a, b), i)| f(i, words(a), b));
    }

    /// self += other.
    pub fn add_assign(&mut self, ring: &Ring, other: &Self) {
        self.zip(other, |i, a, b| kernels::add_assign(ring.modulus(i), a, b));
    }

    /// self -= other.
    pub fn sub_assign(&mut self, ring: &Ring, other: &Self) {
        self.zip(other, |i, a, b| kernels::sub_assign(ring.modulus(i), a, b));
    }

    /// self = -self.
    pub fn neg_assign(&mut self, ring: &Ring) {
        self.for_each(|i, a| kernels::neg_assign(ring.modulus(i), a));
    }

    /// self *= c, for a signed integer constant.
    pub fn scale_assign(&mut self, ring: &Ring, c: i128) {
        if c == 1 {
            return;
        }
        self.for_each(|i, a| {
            let q = ring.modulus(i);
            kernels::scalar_mul_assign(q, a, q.reduce_i128(c));
        });
    }

    /// self += c * other, for a signed integer constant.
    pub fn scale_add_assign(&mut self, ring: &Ring, other: &Self, c: i128) {
        if c == 1 {
            return self.add_assign(ring, other);
        }
        self.zip(other, |i, a, b| {
            let q = ring.modulus(i);
            kernels::scalar_mul_add_assign(q, a, b, q.reduce_i128(c));
        });
    }

    /// This polynomial modulo its primes and `other` modulo its own; the limbs are shared, not
    /// copied.
    ///
    /// # Panics
    /// If the bases overlap.
    pub fn joined(&self, other: &Self) -> Self {
        assert!(self.basis.intersection(other.basis).is_empty(), "bases must not overlap");
        let basis = self.basis.union(other.basis);
        let limb = |i: usize| {
            let from = if self.basis.contains(i) { self } else { other };
            from.limbs[from.basis.limb_of(i).expect("one of the two holds it")].clone()
        };
        Poly { basis, limbs: basis.iter().map(limb).collect(), ..*self }
    }

    /// Forgets the primes outside of `basis`: the residues of the same integers.
    ///
    /// # Panics
    /// If `basis` is no subset of the polynomial's basis.
    pub fn restrict(mut self, basis: Basis) -> Self {
        assert!(basis.is_subset(self.basis), "restriction to a subset");
        let mut positions = self.basis.iter();
        self.limbs.retain(|_| positions.next().is_some_and(|i| basis.contains(i)));
        self.basis = basis;
        self
    }

    /// A copy with the primes of `basis` only.
    pub fn restricted(&self, basis: Basis) -> Self {
        assert!(basis.is_subset(self.basis), "restriction to a subset");
        let shared = |i| self.limbs[self.basis.limb_of(i).expect("checked to be a subset")].clone();
        Self::from_shared(basis, basis.iter().map(shared).collect())
    }
}

impl Poly<Coeff> {
    /// From signed coefficients in natural order. Branch-free in the values.
    pub fn from_signed(ring: &Ring, basis: Basis, natural: &[i64]) -> Self {
        let mut stored = vec![0i64; ring.degree()];
        ring.storage_order(natural, &mut stored);
        let out = Self::from_stored_signed(ring, basis, &stored);
        zeroize::Zeroize::zeroize(&mut stored);
        out
    }

    /// From signed coefficients in storage order. Branch-free in the values.
    pub fn from_stored_signed(ring: &Ring, basis: Basis, stored: &[i64]) -> Self {
        let mut out = Self::uninit(ring, basis);
        out.for_each(|i, limb| kernels::from_signed(ring.modulus(i), limb, stored));
        out
    }

    /// To evaluations: one transform a limb.
    pub fn into_eval(mut self, ring: &Ring) -> Poly<Eval> {
        self.for_each(|i, limb| ring.forward_limb(i, limb));
        Poly::from_shared(self.basis, self.limbs)
    }
}

impl Poly<Eval> {
    /// X^k, for any integer k: one transform a limb for a power of two, n products for an index
    /// with axes.
    pub fn monomial(ring: &Ring, basis: Basis, k: i64) -> Self {
        let (n, m, k) = (ring.degree(), ring.index(), k.rem_euclid(ring.index() as i64) as u64);
        let Some(axes) = ring.axes() else {
            let place = coefficient_position(n.trailing_zeros(), k as usize % n);
            let mut out = Poly::<Coeff>::zero(ring, basis);
            out.for_each(|i, limb| {
                limb[place] = if (k as usize) < n { 1 } else { ring.modulus(i).neg(1) }
            });
            return out.into_eval(ring);
        };
        let exponents: Vec<usize> = axes.units().iter().map(|u| (u * k % m) as usize).collect();
        let mut out = Self::uninit(ring, basis);
        out.for_each(|i, limb| {
            let (q, root) = (ring.modulus(i), ring.root(i));
            let powers: Vec<u64> = std::iter::successors(Some(1), |x| Some(q.mul(*x, root)))
                .take(m as usize)
                .collect();
            limb.iter_mut().zip(&exponents).for_each(|(x, &e)| *x = powers[e]);
        });
        out
    }

    /// To coefficients: one transform a limb.
    pub fn into_coeff(mut self, ring: &Ring) -> Poly<Coeff> {
        self.for_each(|i, limb| ring.inverse_limb(i, limb));
        Poly::from_shared(self.basis, self.limbs)
    }

    /// self *= other.
    pub fn mul_assign(&mut self, ring: &Ring, other: &Self) {
        self.zip(other, |i, a, b| kernels::mul_assign(ring.modulus(i), a, b));
    }

    /// The product.
    pub fn mul(&self, ring: &Ring, other: &Self) -> Self {
        assert_eq!(self.basis, other.basis, "operands of equal basis");
        let mut out = Self::uninit(ring, self.basis);
        let positions: Vec<usize> = self.basis.iter().collect();
        out.limbs_mut()
            .into_par_iter()
            .zip(self.limbs.par_iter().zip(&other.limbs))
            .zip(positions)
            .for_each(|((o, (a, b)), i)| kernels::mul(ring.modulus(i), o, a, b));
        out
    }

    /// self += a * b.
    pub fn mul_add_assign(&mut self, ring: &Ring, a: &Self, b: &Self) {
        assert!(self.basis == a.basis && a.basis == b.basis, "operands of equal basis");
        let positions: Vec<usize> = self.basis.iter().collect();
        self.limbs_mut()
            .into_par_iter()
            .zip(a.limbs.par_iter().zip(&b.limbs))
            .zip(positions)
            .for_each(|((o, (a, b)), i)| kernels::mul_add_assign(ring.modulus(i), o, a, b));
    }

    /// 1 / self; none if an evaluation is 0, as the polynomial is not invertible modulo that prime.
    /// Three products an evaluation and one power a limb (Montgomery's trick); time depends on the
    /// values only by the prime at which it gives up.
    pub fn inverse(&self, ring: &Ring) -> Option<Self> {
        let mut out = Self::uninit(ring, self.basis);
        let positions: Vec<usize> = self.basis.iter().collect();
        let invertible =
            out.limbs_mut().into_par_iter().zip(&self.limbs).zip(positions).map(|((out, x), i)| {
                let q = ring.modulus(i);
                out.wipe_on_drop();
                // out holds the products of all that come before.
                let product = x.iter().zip(out.iter_mut()).fold(1, |product, (&x, out)| {
                    *out = product;
                    q.mul(product, x)
                });
                let inverse = q.pow(product, q.value() - 2);
                x.iter().zip(out.iter_mut()).rev().fold(inverse, |inverse, (&x, out)| {
                    *out = q.mul(*out, inverse);
                    q.mul(inverse, x)
                });
                product != 0
            });
        invertible.reduce(|| true, |a, b| a && b).then_some(out)
    }

    /// self += c, for a signed integer constant.
    pub fn add_constant(&mut self, ring: &Ring, c: i128) {
        self.for_each(|i, limb| {
            let q = ring.modulus(i);
            let c = q.reduce_i128(c);
            limb.iter_mut().for_each(|x| *x = q.add(*x, c));
        });
    }

    /// Applies X -> X^g: cyclic shifts along the axes of the evaluations.
    pub fn galois(&self, ring: &Ring, g: GaloisElement) -> Self {
        let mut out = Self::uninit(ring, self.basis);
        let shift = g.evaluation_shift(ring);
        out.limbs_mut()
            .into_par_iter()
            .zip(&self.limbs)
            .for_each(|(to, from)| shift.apply(to, from));
        out
    }
}
