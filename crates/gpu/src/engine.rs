//! The trait.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use everlevel_ring::{
    Accumulation, Basis, Coeff, Constant, Engine, Eval, Gadget, Hoist, IntegerDigits, KeyDigit,
    Memory, Pair, Poly, Representation, Ring, RingError, RoundingScale, Source, Sum,
};

use crate::arguments::{Operand, Operation};
use crate::combine::Diagonal;
use crate::gpu::Gpu;
use crate::memory::Limbs;
use crate::plan::{Factor, Job, Jobs, term_factor};
use crate::sums::{Digits, Key};
use crate::tables::montgomery;
use crate::transform::Line;

const NOTHING: Operand = Operand { words: 0, mask: [0; 2] };

impl Memory for Gpu {
    type Limbs = Limbs;

    /// Shares the memory.
    fn restrict(limbs: &Limbs, _from: Basis, _to: Basis) -> Limbs {
        limbs.clone()
    }
}

impl Engine for Gpu {
    const RESIDENT: bool = true;
    type Digits = Digits;
    type Key = Key;
    type Diagonal = Diagonal;

    fn ring(&self) -> &Arc<Ring> {
        &self.ring
    }

    fn name(&self) -> &str {
        self.engine_name()
    }

    fn status(&self) -> Result<(), RingError> {
        self.device.status().map_err(|error| self.failed(error))
    }

    fn transform_count(&self) -> u64 {
        self.transforms.load(Ordering::Relaxed)
    }

    fn upload<R: Representation>(&self, x: &Poly<R>) -> Poly<R, Self> {
        self.uploaded(x)
    }

    fn download<R: Representation>(&self, x: &Poly<R, Self>) -> Result<Poly<R>, RingError> {
        self.downloaded(x)
    }

    fn zero<R: Representation>(&self, basis: Basis) -> Poly<R, Self> {
        let limbs = self.limbs(basis);
        self.clear(&limbs, basis);
        self.poly(basis, limbs)
    }

    fn reduce_signed(&self, basis: Basis, natural: &[i64]) -> Poly<Coeff, Self> {
        self.uploaded(&self.host.reduce_signed(basis, natural))
    }

    fn to_signed(&self, x: &Poly<Coeff, Self>) -> Result<Vec<i128>, RingError> {
        self.host.to_signed(&self.downloaded(x)?)
    }

    fn integer_digits(
        &self,
        x: &Poly<Coeff, Self>,
        digits: &IntegerDigits,
        to: Basis,
    ) -> Result<Vec<Poly<Coeff, Self>>, RingError> {
        self.status()?;
        if let Some(made) = self.integers(x, digits, to) {
            return Ok(made);
        }
        let host = self.host.integer_digits(&self.downloaded(x)?, digits, to)?;
        Ok(host.iter().map(|digit| self.uploaded(digit)).collect())
    }

    fn key(&self, digits: &Arc<[KeyDigit]>) -> Key {
        self.resident_key(digits)
    }

    fn diagonal(&self, coefficients: &[i64], basis: Basis) -> Result<Diagonal, RingError> {
        self.periodic(coefficients, basis)
    }

    fn diagonal_bytes(diagonal: &Diagonal) -> u64 {
        diagonal.memory_bytes()
    }

    fn ntt(&self, x: Poly<Coeff, Self>) -> Poly<Eval, Self> {
        let (basis, limbs) = (x.basis(), x.into_limbs());
        let out = if limbs.own(basis) { limbs.clone() } else { self.limbs(basis) };
        let line = |(k, i): (usize, usize)| {
            let input = limbs.whole.limb_of(i).expect("a prime of the polynomial");
            Line { input, output: k, add: None, prime: i, factor: 0 }
        };
        let lines: Vec<Line> = basis.iter().enumerate().map(line).collect();
        self.forward(limbs.address(), out.address(), 0, &lines);
        self.poly(basis, out)
    }

    fn intt(&self, x: Poly<Eval, Self>) -> Poly<Coeff, Self> {
        let (basis, limbs) = (x.basis(), x.into_limbs());
        let out = if limbs.own(basis) { limbs.clone() } else { self.limbs(basis) };
        self.backward_scaled(&limbs, basis, &out, |_| 1);
        self.poly(basis, out)
    }

    fn add<R: Representation>(&self, x: &mut Poly<R, Self>, y: &Poly<R, Self>) {
        self.change(Operation::Add, x, [y.limbs().operand(), NOTHING], |_| 0);
    }

    fn sub<R: Representation>(&self, x: &mut Poly<R, Self>, y: &Poly<R, Self>) {
        self.change(Operation::Sub, x, [y.limbs().operand(), NOTHING], |_| 0);
    }

    fn neg<R: Representation>(&self, x: &mut Poly<R, Self>) {
        self.change(Operation::Neg, x, [NOTHING; 2], |_| 0);
    }

    fn scale<R: Representation>(&self, x: &mut Poly<R, Self>, c: Constant) {
        let constant = |i| self.constant_of(i, c.modulo(&self.ring, i));
        self.change(Operation::Scale, x, [NOTHING; 2], constant);
    }

    fn scale_add<R: Representation>(&self, x: &mut Poly<R, Self>, y: &Poly<R, Self>, c: Constant) {
        let constant = |i| self.constant_of(i, c.modulo(&self.ring, i));
        self.change(Operation::ScaleAdd, x, [y.limbs().operand(), NOTHING], constant);
    }

    fn add_constant(&self, x: &mut Poly<Eval, Self>, c: Constant) {
        self.change(Operation::AddConstant, x, [NOTHING; 2], |i| c.modulo(&self.ring, i));
    }

    fn mul(&self, x: &Poly<Eval, Self>, y: &Poly<Eval, Self>) -> Poly<Eval, Self> {
        self.product(x, y)
    }

    fn mul_add(&self, acc: &mut Poly<Eval, Self>, x: &Poly<Eval, Self>, y: &Poly<Eval, Self>) {
        let operands = [x.limbs().operand(), y.limbs().operand()];
        self.change(Operation::MulAdd, acc, operands, |_| 0);
    }

    fn sums_of_products(
        &self,
        basis: Basis,
        sums: &[Vec<Pair<'_, Self>>],
    ) -> Vec<Poly<Eval, Self>> {
        sums.iter().map(|pairs| self.sum_products(basis, pairs)).collect()
    }

    fn linear_combinations(
        &self,
        inputs: &[&[Poly<Eval, Self>]],
        rows: &[&[i64]],
    ) -> Vec<Vec<Poly<Eval, Self>>> {
        self.matrix_times(inputs, rows)
    }

    fn monomial(&self, basis: Basis, k: i64) -> Poly<Eval, Self> {
        self.ntt(self.unit(basis, k))
    }

    fn convert(&self, xs: Vec<Poly<Coeff, Self>>, to: Basis) -> Vec<Poly<Coeff, Self>> {
        let convert = |x: Poly<Coeff, Self>| {
            let (from, terms, out) = (x.basis(), self.limbs(x.basis()), self.limbs(to));
            let factor = |i| montgomery(self.ring.modulus(i), term_factor(&self.ring, from, i, 1));
            let operands = [x.limbs().operand(), NOTHING, NOTHING];
            self.elements(Operation::Scale, (terms.address(), from), from, operands, factor);
            let jobs = Jobs {
                source: from,
                target: to,
                factor: Factor::One,
                jobs: vec![Job { from, to, at: 0 }],
            };
            self.convert_limbs(&jobs, (terms.address(), 0), (out.address(), 0), 1);
            self.poly(to, out)
        };
        xs.into_iter().map(convert).collect()
    }

    fn extend(&self, xs: &[Poly<Eval, Self>], to: Basis) -> Vec<Poly<Eval, Self>> {
        let extend = |x: &Poly<Eval, Self>| {
            let from = x.basis();
            assert!(from.intersection(to).is_empty(), "bases must not overlap");
            let all = from.union(to);
            let (terms, out) = (self.limbs(from), self.limbs(all));
            let factor = |i| term_factor(&self.ring, from, i, 1);
            self.backward_scaled(x.limbs(), from, &terms, factor);
            let jobs = Jobs {
                source: from,
                target: all,
                factor: Factor::One,
                jobs: vec![Job { from, to, at: 0 }],
            };
            self.convert_limbs(&jobs, (terms.address(), 0), (out.address(), 0), 1);
            let line = |i: usize| {
                let limb = all.limb_of(i).expect("a prime of the union");
                Line { input: limb, output: limb, add: None, prime: i, factor: 0 }
            };
            let lines: Vec<Line> = to.iter().map(line).collect();
            self.forward(out.address(), out.address(), 0, &lines);
            let operands = [x.limbs().operand(), NOTHING, NOTHING];
            self.elements(Operation::Copy, (out.address(), all), from, operands, |_| 0);
            self.poly(all, out)
        };
        xs.iter().map(extend).collect()
    }

    fn decompose(&self, gadget: &Gadget, source: Source<'_, Self>) -> Digits {
        self.decomposed(gadget, source)
    }

    fn hoist(&self, hoist: Hoist<'_, Self>) -> Vec<Vec<Vec<Poly<Eval, Self>>>> {
        self.hoisted(&hoist)
    }

    fn accumulate(&self, sums: Vec<Accumulation<'_, Self>>) {
        self.accumulated(sums);
    }

    fn divide(&self, sum: Sum<'_, Self>, to: Basis, scale: RoundingScale) -> Vec<Poly<Eval, Self>> {
        self.divided(&sum, to, scale)
    }

    fn divide_to_coeff(
        &self,
        sum: Sum<'_, Self>,
        to: Basis,
        scale: RoundingScale,
    ) -> Vec<Poly<Coeff, Self>> {
        self.divided_to_coeff(&sum, to, scale)
    }

    fn divide_coeff(
        &self,
        x: &Poly<Coeff, Self>,
        to: Basis,
        scale: RoundingScale,
    ) -> Poly<Coeff, Self> {
        self.divided_coeff(x, to, scale)
    }

    fn combine(
        &self,
        inputs: &[&[Poly<Eval, Self>]],
        rows: &[Vec<Option<&Diagonal>>],
    ) -> Vec<Vec<Poly<Eval, Self>>> {
        self.combined(inputs, rows)
    }
}
