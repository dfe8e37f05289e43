//! What is done limb by limb.

use std::ops::Range;
use std::sync::Arc;

use everlevel_arith::{Modulus, coefficient_position};
use rayon::prelude::*;
use zeroize::Zeroize;

use super::access::{from_limbs, limb};
use super::limb::Limb;
use super::places::inside;
use super::processor::Cpu;
use super::timings::Work;
use crate::basis::Basis;
use crate::engine::Constant;
use crate::galois::GaloisElement;
use crate::poly::{Coeff, Eval, Poly, Representation};

/// The words of a limb, to be written; a shared one is copied first.
fn words(limb: &mut Arc<Limb>) -> &mut [u64] {
    let limb: &mut Limb = Arc::make_mut(limb);
    limb
}

impl Cpu {
    /// A polynomial of limbs in the order of the basis.
    pub(crate) fn poly<R: Representation>(&self, basis: Basis, limbs: Vec<Limb>) -> Poly<R> {
        from_limbs(self, basis, limbs)
    }

    /// A polynomial of unspecified content, to be overwritten.
    pub(crate) fn uninit<R: Representation>(&self, basis: Basis) -> Poly<R> {
        self.poly(basis, basis.iter().map(|_| self.limb()).collect())
    }

    /// The zero polynomial.
    pub(super) fn zeros<R: Representation>(&self, basis: Basis) -> Poly<R> {
        self.poly(basis, basis.iter().map(|_| self.zero_limb()).collect())
    }

    /// Runs `f(prime position, limb)` over all limbs, in parallel.
    pub(crate) fn each<R: Representation>(
        &self,
        x: &mut Poly<R>,
        f: impl Fn(usize, &mut [u64]) + Sync + Send,
    ) {
        let positions: Vec<usize> = x.basis().iter().collect();
        x.limbs_mut().0.par_iter_mut().zip(positions).for_each(|(limb, i)| {
            let _timer = self.time(Work::Elementwise);
            f(i, words(limb));
        });
    }

    /// Runs `f(prime position, places, the words there)` over all blocks of all limbs, in parallel.
    pub(super) fn each_block<R: Representation>(
        &self,
        x: &mut Poly<R>,
        work: Work,
        f: impl Fn(usize, Range<usize>, &mut [u64]) + Sync + Send,
    ) {
        let positions: Vec<usize> = x.basis().iter().collect();
        let blocks = self.blocks(positions.len());
        x.limbs_mut().0.par_iter_mut().zip(positions).for_each(|(limb, i)| {
            blocks.each(words(limb), |places, out| {
                let _timer = self.time(work);
                f(i, places, out);
            });
        });
    }

    /// The same with the words of another polynomial over the same basis.
    fn zip<R: Representation>(
        &self,
        x: &mut Poly<R>,
        y: &Poly<R>,
        f: impl Fn(usize, &mut [u64], &[u64]) + Sync + Send,
    ) {
        self.each_block(x, Work::Elementwise, |i, places, a| f(i, a, &limb(y, i)[places]));
    }

    /// x = f(x, y): in place if the limb is not shared, else into a new one, which spares the copy
    /// that writing to a shared limb makes.
    fn merge<R: Representation>(
        &self,
        x: &mut Poly<R>,
        y: &Poly<R>,
        in_place: impl Fn(Modulus, &mut [u64], &[u64]) + Sync + Send,
        out_of_place: impl Fn(Modulus, &mut [u64], &[u64], &[u64]) + Sync + Send,
    ) {
        let positions: Vec<usize> = x.basis().iter().collect();
        let blocks = self.blocks(positions.len());
        let limbs = x.limbs_mut().0.par_iter_mut().zip(&y.limbs().0).zip(positions);
        limbs.for_each(|((a, b), i)| {
            let q = self.ring.modulus(i);
            match Arc::get_mut(a) {
                Some(a) => blocks.each(a, |places, a| {
                    let _timer = self.time(Work::Elementwise);
                    in_place(q, a, &b[places]);
                }),
                None => {
                    let mut out = self.limb();
                    blocks.each(&mut out, |places, out| {
                        let _timer = self.time(Work::Elementwise);
                        out_of_place(q, out, &a[places.clone()], &b[places]);
                    });
                    if a.wipes() {
                        out.wipe_on_drop();
                    }
                    *a = Arc::new(out);
                }
            }
        });
    }

    pub(super) fn add_limbs<R: Representation>(&self, x: &mut Poly<R>, y: &Poly<R>) {
        let kernels = &self.kernels;
        self.merge(
            x,
            y,
            |q, a, b| kernels.add_assign(q, a, b),
            |q, out, a, b| kernels.add(q, out, a, b),
        );
    }

    pub(super) fn sub_limbs<R: Representation>(&self, x: &mut Poly<R>, y: &Poly<R>) {
        let kernels = &self.kernels;
        self.merge(
            x,
            y,
            |q, a, b| kernels.sub_assign(q, a, b),
            |q, out, a, b| kernels.sub(q, out, a, b),
        );
    }

    pub(super) fn neg_limbs<R: Representation>(&self, x: &mut Poly<R>) {
        self.each_block(x, Work::Elementwise, |i, _, a| {
            self.kernels.neg_assign(self.ring.modulus(i), a);
        });
    }

    pub(super) fn scale_limbs<R: Representation>(&self, x: &mut Poly<R>, c: Constant) {
        self.each_block(x, Work::Elementwise, |i, _, a| {
            self.kernels.scalar_mul_assign(self.ring.modulus(i), a, c.modulo(&self.ring, i));
        });
    }

    pub(super) fn scale_add_limbs<R: Representation>(
        &self,
        x: &mut Poly<R>,
        y: &Poly<R>,
        c: Constant,
    ) {
        self.zip(x, y, |i, a, b| {
            let (q, c) = (self.ring.modulus(i), c.modulo(&self.ring, i));
            self.kernels.scalar_mul_add_assign(q, a, b, c);
        });
    }

    pub(super) fn add_constant_to_limbs(&self, x: &mut Poly<Eval>, c: Constant) {
        self.each_block(x, Work::Elementwise, |i, _, a| {
            let (q, c) = (self.ring.modulus(i), c.modulo(&self.ring, i));
            a.iter_mut().for_each(|x| *x = q.add(*x, c));
        });
    }

    pub(super) fn product(&self, x: &Poly<Eval>, y: &Poly<Eval>) -> Poly<Eval> {
        let mut out = self.uninit(x.basis());
        self.each_block(&mut out, Work::Products, |i, places, out| {
            let (a, b) = (&limb(x, i)[places.clone()], &limb(y, i)[places]);
            self.kernels.mul(self.ring.modulus(i), out, a, b);
        });
        out
    }

    pub(super) fn add_product(&self, acc: &mut Poly<Eval>, x: &Poly<Eval>, y: &Poly<Eval>) {
        self.each_block(acc, Work::Products, |i, places, out| {
            let (a, b) = (&limb(x, i)[places.clone()], &limb(y, i)[places]);
            self.kernels.mul_add_assign(self.ring.modulus(i), out, a, b);
        });
    }

    /// From signed coefficients in natural order; what it computes with is wiped.
    pub(super) fn signed(&self, basis: Basis, natural: &[i64]) -> Poly<Coeff> {
        let mut stored = vec![0i64; self.ring.degree()];
        self.ring.storage_order(natural, &mut stored);
        let mut out = self.uninit(basis);
        self.each_block(&mut out, Work::Elementwise, |i, places, out| {
            self.kernels.from_signed(self.ring.modulus(i), out, &stored[places]);
        });
        stored.zeroize();
        out
    }

    pub(super) fn power_of_x(&self, basis: Basis, k: i64) -> Poly<Eval> {
        let ring = &self.ring;
        let (n, m, k) = (ring.degree(), ring.index(), k.rem_euclid(ring.index() as i64) as u64);
        let Some(axes) = ring.axes() else {
            let place = coefficient_position(n.trailing_zeros(), k as usize % n);
            let mut out = self.zeros::<Coeff>(basis);
            self.each(&mut out, |i, limb| {
                limb[place] = if (k as usize) < n { 1 } else { ring.modulus(i).neg(1) }
            });
            return out.into_eval(self);
        };
        let exponents: Vec<usize> = axes.units().iter().map(|u| (u * k % m) as usize).collect();
        let mut out = self.uninit(basis);
        self.each(&mut out, |i, limb| {
            let (q, root) = (ring.modulus(i), ring.root(i));
            let powers: Vec<u64> = std::iter::successors(Some(1), |x| Some(q.mul(*x, root)))
                .take(m as usize)
                .collect();
            limb.iter_mut().zip(&exponents).for_each(|(x, &e)| *x = powers[e]);
        });
        out
    }
}

/// What only the processor does: secrets and the generation of keys stay there.
impl<R: Representation> Poly<R> {
    /// Overwrites the limbs when they are dropped.
    pub fn wipe_on_drop(&mut self) {
        self.limbs_mut().0.iter_mut().for_each(|limb| Arc::make_mut(limb).wipe_on_drop());
    }
}

impl Poly<Eval> {
    /// self *= other, in place.
    pub fn mul_assign(&mut self, cpu: &Cpu, other: &Self) {
        assert_eq!(self.basis(), other.basis(), "operands of equal basis");
        cpu.zip(self, other, |i, a, b| cpu.kernels.mul_assign(cpu.ring.modulus(i), a, b));
    }

    /// self += P * other modulo the primes of `within`, P the product of the primes of `raise`:
    /// what the digit of a switching key holds.
    pub fn add_raised(&mut self, cpu: &Cpu, other: &Self, raise: Basis, within: Basis) {
        cpu.each_block(self, Work::Elementwise, |i, places, a| {
            let q = cpu.ring.modulus(i);
            if within.contains(i) {
                let p = cpu.ring.product_mod(raise, q);
                cpu.kernels.scalar_mul_add_assign(q, a, &limb(other, i)[places], p);
            }
        });
    }

    /// 1 / self; none if an evaluation is 0, as the polynomial is not invertible modulo that prime.
    /// Three products an evaluation and one power a limb (Montgomery's trick); time depends on the
    /// values only by the prime at which it gives up. Wiped when dropped.
    pub fn inverse(&self, cpu: &Cpu) -> Option<Self> {
        let positions: Vec<usize> = self.basis().iter().collect();
        let mut out = cpu.uninit(self.basis());
        out.wipe_on_drop();
        let limbs = out.limbs_mut().0.par_iter_mut().zip(&self.limbs().0).zip(positions);
        let invertible = limbs.map(|((out, x), i)| {
            let (q, out) = (cpu.ring.modulus(i), words(out));
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

    /// Applies X -> X^g: cyclic shifts along the axes of the evaluations.
    pub fn galois(&self, cpu: &Cpu, g: GaloisElement) -> Self {
        let mut out = cpu.uninit(self.basis());
        let shift = g.evaluation_shift(&cpu.ring);
        cpu.each_block(&mut out, Work::Automorphisms, |i, places, out| {
            let limb = limb(self, i);
            for (to, from) in shift.pieces_into(places.clone()) {
                out[inside(&to, &places)].copy_from_slice(&limb[from]);
            }
        });
        out
    }
}
