//! The processor as an engine.

use std::sync::Arc;

use super::combine::Diagonal;
use super::decompose::Digits;
use super::processor::Cpu;
use crate::basis::Basis;
use crate::engine::{Accumulation, Constant, Engine, Hoist, Pair, RoundingScale, Source, Sum};
use crate::error::RingError;
use crate::gadget::{Gadget, KeyDigit};
use crate::poly::{Coeff, Eval, Poly, Representation};
use crate::ring::Ring;

impl Engine for Cpu {
    const RESIDENT: bool = false;
    type Digits = Digits;
    type Key = Arc<[KeyDigit]>;
    type Diagonal = Diagonal;

    fn ring(&self) -> &Arc<Ring> {
        Cpu::ring(self)
    }

    fn name(&self) -> &str {
        self.backend().name()
    }

    fn status(&self) -> Result<(), RingError> {
        Ok(())
    }

    fn transform_count(&self) -> u64 {
        Cpu::transform_count(self)
    }

    fn upload<R: Representation>(&self, x: &Poly<R>) -> Poly<R> {
        x.clone()
    }

    fn download<R: Representation>(&self, x: &Poly<R>) -> Result<Poly<R>, RingError> {
        Ok(x.clone())
    }

    fn zero<R: Representation>(&self, basis: Basis) -> Poly<R> {
        self.zeros(basis)
    }

    fn reduce_signed(&self, basis: Basis, natural: &[i64]) -> Poly<Coeff> {
        self.signed(basis, natural)
    }

    fn to_signed(&self, x: &Poly<Coeff>) -> Result<Vec<i128>, RingError> {
        Ok(self.lifted(x))
    }

    fn key(&self, digits: &Arc<[KeyDigit]>) -> Self::Key {
        digits.clone()
    }

    fn diagonal(&self, coefficients: &[i64], basis: Basis) -> Result<Diagonal, RingError> {
        self.repeated(coefficients, basis)
    }

    fn diagonal_bytes(diagonal: &Diagonal) -> u64 {
        diagonal.memory_bytes()
    }

    fn ntt(&self, mut x: Poly<Coeff>) -> Poly<Eval> {
        self.each(&mut x, |i, limb| self.forward_limb(i, limb));
        Poly::new(x.basis(), x.degree(), x.into_limbs())
    }

    fn intt(&self, mut x: Poly<Eval>) -> Poly<Coeff> {
        self.each(&mut x, |i, limb| self.inverse_limb(i, limb));
        Poly::new(x.basis(), x.degree(), x.into_limbs())
    }

    fn add<R: Representation>(&self, x: &mut Poly<R>, y: &Poly<R>) {
        self.add_limbs(x, y);
    }

    fn sub<R: Representation>(&self, x: &mut Poly<R>, y: &Poly<R>) {
        self.sub_limbs(x, y);
    }

    fn neg<R: Representation>(&self, x: &mut Poly<R>) {
        self.neg_limbs(x);
    }

    fn scale<R: Representation>(&self, x: &mut Poly<R>, c: Constant) {
        self.scale_limbs(x, c);
    }

    fn scale_add<R: Representation>(&self, x: &mut Poly<R>, y: &Poly<R>, c: Constant) {
        self.scale_add_limbs(x, y, c);
    }

    fn add_constant(&self, x: &mut Poly<Eval>, c: Constant) {
        self.add_constant_to_limbs(x, c);
    }

    fn mul(&self, x: &Poly<Eval>, y: &Poly<Eval>) -> Poly<Eval> {
        self.product(x, y)
    }

    fn mul_add(&self, acc: &mut Poly<Eval>, x: &Poly<Eval>, y: &Poly<Eval>) {
        self.add_product(acc, x, y);
    }

    fn sums_of_products(&self, basis: Basis, sums: &[Vec<Pair<'_, Self>>]) -> Vec<Poly<Eval>> {
        self.summed_products(basis, sums)
    }

    fn linear_combinations(
        &self,
        inputs: &[&[Poly<Eval>]],
        rows: &[&[i64]],
    ) -> Vec<Vec<Poly<Eval>>> {
        self.multiplied_by_matrix(inputs, rows)
    }

    fn monomial(&self, basis: Basis, k: i64) -> Poly<Eval> {
        self.power_of_x(basis, k)
    }

    fn convert(&self, xs: Vec<Poly<Coeff>>, to: Basis) -> Vec<Poly<Coeff>> {
        self.converted(xs, to)
    }

    fn extend(&self, xs: &[Poly<Eval>], to: Basis) -> Vec<Poly<Eval>> {
        self.extended(xs, to)
    }

    fn decompose(&self, gadget: &Gadget, source: Source<'_, Self>) -> Digits {
        self.decomposed(gadget, source)
    }

    fn hoist(&self, hoist: Hoist<'_, Self>) -> Vec<Vec<Vec<Poly<Eval>>>> {
        self.hoisted(&hoist)
    }

    fn accumulate(&self, sums: Vec<Accumulation<'_, Self>>) {
        self.accumulated(sums);
    }

    fn divide(&self, sum: Sum<'_, Self>, to: Basis, scale: RoundingScale) -> Vec<Poly<Eval>> {
        self.divided_sum(&sum, to, scale)
    }

    fn divide_to_coeff(
        &self,
        sum: Sum<'_, Self>,
        to: Basis,
        scale: RoundingScale,
    ) -> Vec<Poly<Coeff>> {
        self.divided_sum_to_coeff(&sum, to, scale)
    }

    fn divide_coeff(&self, x: &Poly<Coeff>, to: Basis, scale: RoundingScale) -> Poly<Coeff> {
        self.divided_coeff(x, to, scale)
    }

    fn combine(
        &self,
        inputs: &[&[Poly<Eval>]],
        rows: &[Vec<Option<&Diagonal>>],
    ) -> Vec<Vec<Poly<Eval>>> {
        self.combined(inputs, rows)
    }
}
