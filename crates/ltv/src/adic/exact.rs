//! Exact products of blocks, and the way back to digits.

use everlevel_ring::cpu::{from_limbs, into_limbs, limb};
use everlevel_ring::{Basis, Coeff, Eval, Limb, Poly, sample};
use rayon::prelude::*;

use super::integer;
use super::ring::{AdicPoly, AdicRing};

impl AdicRing {
    /// The evaluations of the blocks of `x`, centered, lowest first: one transform for each block
    /// and transform prime.
    pub fn evaluate(&self, x: &AdicPoly) -> Vec<Poly<Eval>> {
        self.evaluate_over(x, self.block, self.transform_primes())
    }

    /// As [`AdicRing::evaluate`], for products with small factors: in
    /// [blocks](AdicRing::narrow_blocks) of their own, modulo the
    /// [narrow primes](AdicRing::narrow_primes) only.
    pub fn evaluate_narrow(&self, x: &AdicPoly) -> Vec<Poly<Eval>> {
        self.evaluate_over(x, self.narrow_block(), self.narrow_primes())
    }

    fn evaluate_over(&self, x: &AdicPoly, block: usize, basis: Basis) -> Vec<Poly<Eval>> {
        let blocks: Vec<Vec<&[u32]>> =
            x.rows.chunks(block).map(|rows| rows.iter().map(|row| &row[..]).collect()).collect();
        let jobs: Vec<(usize, usize)> =
            (0..blocks.len()).flat_map(|b| basis.iter().map(move |i| (b, i))).collect();
        let limb = |(b, i): (usize, usize)| {
            let (digits, (powers, offsets)) = (&blocks[b], &self.powers[i]);
            let mut limb = self.cpu.limb();
            self.cpu.kernels().digit_residues(
                self.ring().modulus(i),
                &mut limb,
                digits,
                &powers[..digits.len()],
                offsets[digits.len()],
            );
            self.cpu.forward_limb(i, &mut limb);
            limb
        };
        let limbs: Vec<Limb> = jobs.into_par_iter().map(limb).collect();
        self.polynomials(limbs, basis)
    }

    /// The evaluations of a polynomial of small signed coefficients in natural order.
    pub fn evaluate_signed(&self, natural: &[i64]) -> Poly<Eval> {
        sample::secret_poly(&self.cpu, self.transform_primes(), natural)
    }

    /// The evaluations of a polynomial with coefficients below 2^31, in storage order, modulo the
    /// [narrow primes](AdicRing::narrow_primes).
    pub fn evaluate_words(&self, stored: &[u64]) -> Poly<Eval> {
        let limb = |i: usize| {
            let mut limb = self.cpu.limb();
            limb.copy_from_slice(stored);
            self.cpu.kernels().reduce_assign(self.ring().modulus(i), &mut limb);
            limb
        };
        let basis = self.narrow_primes();
        let positions: Vec<usize> = basis.iter().collect();
        let limbs = positions.into_par_iter().map(limb).collect();
        let out: Poly<Coeff> = from_limbs(&self.cpu, basis, limbs);
        out.into_eval(&self.cpu)
    }

    /// Limbs, polynomial by polynomial and prime by prime.
    fn polynomials(&self, limbs: Vec<Limb>, basis: Basis) -> Vec<Poly<Eval>> {
        let mut limbs = limbs.into_iter();
        std::iter::from_fn(|| {
            let own: Vec<Limb> = limbs.by_ref().take(basis.len()).collect();
            (!own.is_empty()).then(|| from_limbs(&self.cpu, basis, own))
        })
        .collect()
    }

    /// For each of `count` blocks the sum of the products of `pairs(block)`, in evaluations modulo
    /// the same primes, all or the narrow ones.
    pub fn inner_products<'a>(
        &self,
        count: usize,
        pairs: impl Fn(usize) -> Vec<(&'a Poly<Eval>, &'a Poly<Eval>)>,
    ) -> Vec<Poly<Eval>> {
        let pairs: Vec<_> = (0..count).map(pairs).collect();
        let basis = pairs.iter().flatten().next();
        let basis = basis.map_or_else(|| self.transform_primes(), |(x, _)| x.basis());
        let jobs: Vec<(usize, usize)> =
            (0..count).flat_map(|b| basis.iter().map(move |i| (b, i))).collect();
        let sum = |(b, i): (usize, usize)| {
            let (left, right): (Vec<&[u64]>, Vec<&[u64]>) =
                pairs[b].iter().map(|(x, y)| (&limb(x, i)[..], &limb(y, i)[..])).unzip();
            let mut out = self.cpu.limb();
            self.cpu.kernels().inner_product(self.ring().modulus(i), &mut out, &left, &right);
            out
        };
        let limbs: Vec<Limb> = jobs.into_par_iter().map(sum).collect();
        self.polynomials(limbs, basis)
    }

    /// The lowest `count` blocks of a product, in evaluations: block o is the sum of the a_i
    /// b_(o-i).
    pub fn multiply(&self, a: &[Poly<Eval>], b: &[Poly<Eval>], count: usize) -> Vec<Poly<Eval>> {
        self.inner_products(count, |o| {
            (0..=o).filter_map(|i| Some((a.get(i)?, b.get(o - i)?))).collect()
        })
    }

    /// Σ p^(block o) v_o modulo p^`rows`, from the evaluations of the v_o, sums of at most
    /// [`AdicRing::max_terms`] products of blocks, or, modulo the narrow primes, of as many of
    /// narrow blocks with small factors as the ring was [narrowed](AdicRing::narrowed) for. One
    /// inverse transform for each block and transform prime.
    pub fn digits(&self, blocks: Vec<Poly<Eval>>, rows: usize) -> AdicPoly {
        let basis = blocks.first().map_or_else(|| self.transform_primes(), Poly::basis);
        let made = self.reconstruction_from(basis);
        let (count, primes, block) = (blocks.len(), made.basis().len(), made.block);
        let mut limbs: Vec<Limb> = blocks.into_iter().flat_map(into_limbs).collect();
        limbs.par_iter_mut().enumerate().for_each(|(k, limb)| {
            let i = k % primes;
            self.cpu.inverse_limb(i, limb);
            self.cpu.kernels().scalar_mul_assign(self.ring().modulus(i), limb, made.factors[i]);
        });
        let mut limbs = limbs.into_iter();
        let terms: Vec<Vec<Limb>> =
            (0..count).map(|_| limbs.by_ref().take(primes).collect()).collect();
        // The offset of the digits, less (number of primes) M for every block.
        let own = |row: usize, o: usize| {
            let weights = row.checked_sub(block * o).and_then(|l| made.weights.get(l));
            weights.map_or(0, |w| i128::from(w[2 * primes]) * primes as i128)
        };
        let offset =
            |row: usize| i128::from(self.half()) - (0..count).map(|o| own(row, o)).sum::<i128>();
        let constants = integer::carried(self.prime(), (0..rows).map(offset));
        self.carried(
            &constants,
            |tile, _| made.terms(self.cpu.kernels(), &terms, tile),
            |terms, row, _, sum| {
                let first = (row + 1).saturating_sub(made.weights.len()).div_ceil(block);
                for (o, xs) in terms.iter().enumerate().take(row / block + 1).skip(first) {
                    let xs: Vec<&[u64]> = xs.iter().map(|x| &x[..]).collect();
                    self.cpu.kernels().multiply_add_halves(
                        sum,
                        &xs,
                        &made.weights[row - block * o],
                    );
                }
            },
        )
    }

    /// As [`AdicRing::evaluate`], for a secret polynomial: wiped when dropped.
    pub fn evaluate_secret(&self, x: &AdicPoly) -> Vec<Poly<Eval>> {
        let mut blocks = self.evaluate(x);
        blocks.iter_mut().for_each(Poly::wipe_on_drop);
        blocks
    }

    /// The product modulo p^`rows` of polynomials of any numbers of rows. What it computes with is
    /// wiped.
    pub fn mul(&self, a: &AdicPoly, b: &AdicPoly, rows: usize) -> AdicPoly {
        let blocks = self.blocks(a.rows()) + self.blocks(b.rows()) - 1;
        let mut product = self.multiply(
            &self.evaluate_secret(a),
            &self.evaluate_secret(b),
            blocks.min(self.blocks(rows)),
        );
        product.iter_mut().for_each(Poly::wipe_on_drop);
        self.digits(product, rows)
    }
}
