//! The operations on polynomials, on any engine.

use crate::basis::Basis;
use crate::engine::{Constant, Engine, RoundingScale, Sum};
use crate::poly::{Coeff, Eval, Poly, Representation};

impl<R: Representation, E: Engine> Poly<R, E> {
    /// The zero polynomial.
    pub fn zero(engine: &E, basis: Basis) -> Self {
        engine.zero(basis)
    }

    fn check(&self, other: &Self) {
        assert_eq!(self.basis(), other.basis(), "operands of equal basis");
        assert_eq!(self.degree(), other.degree(), "operands of one ring");
    }

    /// self += other.
    pub fn add_assign(&mut self, engine: &E, other: &Self) {
        self.check(other);
        engine.add(self, other);
    }

    /// self -= other.
    pub fn sub_assign(&mut self, engine: &E, other: &Self) {
        self.check(other);
        engine.sub(self, other);
    }

    /// self = -self.
    pub fn neg_assign(&mut self, engine: &E) {
        engine.neg(self);
    }

    /// self *= c.
    pub fn scale_assign(&mut self, engine: &E, c: impl Into<Constant>) {
        let c = c.into();
        if c != Constant::ONE {
            engine.scale(self, c);
        }
    }

    /// self += c * other.
    pub fn scale_add_assign(&mut self, engine: &E, other: &Self, c: impl Into<Constant>) {
        self.check(other);
        match c.into() {
            Constant::ONE => engine.add(self, other),
            c => engine.scale_add(self, other, c),
        }
    }
}

impl<E: Engine> Poly<Coeff, E> {
    /// From signed coefficients in natural order. On [`Cpu`](crate::Cpu) branch-free in the values.
    pub fn from_signed(engine: &E, basis: Basis, natural: &[i64]) -> Self {
        engine.reduce_signed(basis, natural)
    }

    /// To evaluations: one transform a limb.
    pub fn into_eval(self, engine: &E) -> Poly<Eval, E> {
        engine.ntt(self)
    }

    /// Divided with rounding, see [`Engine::divide`]. No transforms.
    pub fn divided(&self, engine: &E, to: Basis, scale: RoundingScale) -> Self {
        engine.divide_coeff(self, to, scale)
    }
}

impl<E: Engine> Poly<Eval, E> {
    /// X^k, for any integer k: one transform a limb for a power of two, n products for an index
    /// with axes.
    pub fn monomial(engine: &E, basis: Basis, k: i64) -> Self {
        engine.monomial(basis, k)
    }

    /// To coefficients: one transform a limb.
    pub fn into_coeff(self, engine: &E) -> Poly<Coeff, E> {
        engine.intt(self)
    }

    /// The product.
    pub fn mul(&self, engine: &E, other: &Self) -> Self {
        self.check(other);
        engine.mul(self, other)
    }

    /// self += a * b.
    pub fn mul_add_assign(&mut self, engine: &E, a: &Self, b: &Self) {
        self.check(a);
        self.check(b);
        engine.mul_add(self, a, b);
    }

    /// self += c.
    pub fn add_constant(&mut self, engine: &E, c: impl Into<Constant>) {
        engine.add_constant(self, c.into());
    }

    /// Divided with rounding, see [`Engine::divide`]: from the basis S to T, |S \ T| inverse
    /// transforms and |T| forward ones.
    pub fn divided(&self, engine: &E, to: Basis, scale: RoundingScale) -> Self {
        engine.divide(Sum::of(self), to, scale).pop().expect("one rest, one quotient")
    }
}
