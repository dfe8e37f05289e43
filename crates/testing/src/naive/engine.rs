//! The methods of the trait.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use everlevel_ring::cpu::{from_limbs, limbs};
use everlevel_ring::{
    Accumulation, Basis, Coeff, Constant, Engine, Eval, Gadget, Hoist, Hoisted, KeyDigit, Poly,
    Representation, Rest, Ring, RingError, RoundingScale, Source, Sum, Use,
};

use super::{Diagonal, Digits, Key, Naive, Residues, limb};

impl Engine for Naive {
    const RESIDENT: bool = true;
    type Digits = Digits;
    type Key = Key;
    type Diagonal = Diagonal;

    fn ring(&self) -> &Arc<Ring> {
        &self.definitions.ring
    }

    fn name(&self) -> &str {
        "naive"
    }

    fn status(&self) -> Result<(), RingError> {
        Ok(())
    }

    fn transform_count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    fn upload<R: Representation>(&self, x: &Poly<R>) -> Poly<R, Self> {
        let words = limbs(x).iter().map(|limb| limb.to_vec()).collect();
        Poly::new(x.basis(), x.degree(), Residues(words))
    }

    fn download<R: Representation>(&self, x: &Poly<R, Self>) -> Result<Poly<R>, RingError> {
        let copy = |words: &Vec<u64>| {
            let mut limb = self.host.limb();
            limb.copy_from_slice(words);
            limb
        };
        Ok(from_limbs(&self.host, x.basis(), x.limbs().0.iter().map(copy).collect()))
    }

    fn zero<R: Representation>(&self, basis: Basis) -> Poly<R, Self> {
        self.poly(basis, |_| vec![0; self.definitions.ring.degree()])
    }

    fn reduce_signed(&self, basis: Basis, natural: &[i64]) -> Poly<Coeff, Self> {
        let ring = &self.definitions.ring;
        let mut stored = vec![0; ring.degree()];
        ring.storage_order(natural, &mut stored);
        self.poly(basis, |i| stored.iter().map(|&x| ring.modulus(i).reduce_i64(x)).collect())
    }

    fn to_signed(&self, x: &Poly<Coeff, Self>) -> Result<Vec<i128>, RingError> {
        let stored = self.definitions.centered(x.basis(), &x.limbs().0);
        Ok(self.definitions.ring.natural_order(&stored))
    }

    fn key(&self, digits: &Arc<[KeyDigit]>) -> Key {
        let digit = |digit: &KeyDigit| {
            let expanded = digit.components.iter().map(|c| c.expanded(&self.host));
            (digit.group, expanded.map(|c| self.upload(&c)).collect())
        };
        Key(digits.iter().map(digit).collect())
    }

    fn diagonal(&self, coefficients: &[i64], basis: Basis) -> Result<Diagonal, RingError> {
        let ring = &self.definitions.ring;
        let powers = self.definitions.repeating(coefficients.len());
        let powers = powers.ok_or(RingError::ResidueCount {
            found: coefficients.len(),
            expected: ring.degree(),
        })?;
        Ok(Diagonal(self.poly(basis, |i| {
            let reduced = coefficients.iter().map(|&x| ring.modulus(i).reduce_i64(x));
            let terms: Vec<(u64, u64)> = powers.iter().copied().zip(reduced).collect();
            self.definitions.values(i, &terms)
        })))
    }

    fn diagonal_bytes(diagonal: &Diagonal) -> u64 {
        diagonal.0.memory_bytes()
    }

    fn ntt(&self, x: Poly<Coeff, Self>) -> Poly<Eval, Self> {
        self.count.fetch_add(x.basis().len() as u64, Ordering::Relaxed);
        self.poly(x.basis(), |i| self.transforms[i].forward(limb(&x, i)))
    }

    fn intt(&self, x: Poly<Eval, Self>) -> Poly<Coeff, Self> {
        self.count.fetch_add(x.basis().len() as u64, Ordering::Relaxed);
        self.poly(x.basis(), |i| self.transforms[i].inverse(limb(&x, i)))
    }

    fn add<R: Representation>(&self, x: &mut Poly<R, Self>, y: &Poly<R, Self>) {
        self.each(x, y, |i, x, y| self.definitions.ring.modulus(i).add(x, y));
    }

    fn sub<R: Representation>(&self, x: &mut Poly<R, Self>, y: &Poly<R, Self>) {
        self.each(x, y, |i, x, y| self.definitions.ring.modulus(i).sub(x, y));
    }

    fn neg<R: Representation>(&self, x: &mut Poly<R, Self>) {
        self.each(x, &x.clone(), |i, x, _| self.definitions.ring.modulus(i).neg(x));
    }

    fn scale<R: Representation>(&self, x: &mut Poly<R, Self>, c: Constant) {
        let ring = &self.definitions.ring;
        self.each(x, &x.clone(), |i, x, _| ring.modulus(i).mul(x, c.modulo(ring, i)));
    }

    fn scale_add<R: Representation>(&self, x: &mut Poly<R, Self>, y: &Poly<R, Self>, c: Constant) {
        let ring = &self.definitions.ring;
        self.each(x, y, |i, x, y| ring.modulus(i).mul_add(y, c.modulo(ring, i), x));
    }

    fn add_constant(&self, x: &mut Poly<Eval, Self>, c: Constant) {
        let ring = &self.definitions.ring;
        self.each(x, &x.clone(), |i, x, _| ring.modulus(i).add(x, c.modulo(ring, i)));
    }

    fn mul(&self, x: &Poly<Eval, Self>, y: &Poly<Eval, Self>) -> Poly<Eval, Self> {
        let mut out = x.clone();
        self.each(&mut out, y, |i, x, y| self.definitions.ring.modulus(i).mul(x, y));
        out
    }

    fn mul_add(&self, acc: &mut Poly<Eval, Self>, x: &Poly<Eval, Self>, y: &Poly<Eval, Self>) {
        let product = self.mul(x, y);
        self.add(acc, &product);
    }

    fn monomial(&self, basis: Basis, k: i64) -> Poly<Eval, Self> {
        let power = k.rem_euclid(self.definitions.ring.index() as i64) as u64;
        self.poly(basis, |i| self.definitions.values(i, &[(power, 1)]))
    }

    fn convert(&self, xs: Vec<Poly<Coeff, Self>>, to: Basis) -> Vec<Poly<Coeff, Self>> {
        xs.iter().map(|x| self.lifted(x.basis(), x, |_| 1, to)).collect()
    }

    fn extend(&self, xs: &[Poly<Eval, Self>], to: Basis) -> Vec<Poly<Eval, Self>> {
        let extended = |x: &Poly<Eval, Self>| {
            let lifted = self.lifted(x.basis(), &self.intt(x.clone()), |_| 1, to);
            let lifted = self.ntt(lifted);
            self.poly(x.basis().union(to), |i| {
                limb(if to.contains(i) { &lifted } else { x }, i).to_vec()
            })
        };
        xs.iter().map(extended).collect()
    }

    fn decompose(&self, gadget: &Gadget, source: Source<'_, Self>) -> Digits {
        let special = gadget.special();
        let x = match source {
            Source::Eval(x, divisor) => {
                let mut x = self.intt(x.clone());
                self.scale(&mut x, Constant::inverse(divisor));
                x
            }
            Source::Coeff(x, divisor) => {
                let mut x = x.clone();
                self.scale(&mut x, Constant::inverse(divisor));
                x
            }
            Source::Quotient(x, basis) => {
                self.divide_coeff(&self.intt(x), basis, RoundingScale::PLAIN)
            }
        };
        let extended = x.basis().union(special);
        let digit = |(group, primes)| (group, self.ntt(self.lifted(primes, &x, |_| 1, extended)));
        Digits(gadget.digits(x.basis()).map(digit).collect())
    }

    fn hoist(&self, hoist: Hoist<'_, Self>) -> Vec<Vec<Vec<Poly<Eval, Self>>>> {
        let image = |source: &Hoisted<'_, Self>, automorphism, key: Option<&Key>| {
            let mut rest: Vec<Rest<'_, Self>> = source.components.iter().map(Rest::Poly).collect();
            if let (Some(last), Some(_)) = (rest.last_mut(), key) {
                *last = Rest::None;
            }
            let (basis, raise, factor) = (hoist.basis, hoist.raise, hoist.factor);
            let digits = source.digits.as_ref().map(Use::Shared);
            let switched = digits.and_then(|digits| key.map(|key| (digits, key)));
            self.total(&Sum { basis, switched, rest, raise, factor, automorphism })
        };
        let images = |source| hoist.images.iter().map(|&(g, key)| image(source, g, key)).collect();
        hoist.sources.iter().map(images).collect()
    }

    fn accumulate(&self, sums: Vec<Accumulation<'_, Self>>) {
        for (acc, sum) in sums {
            acc.iter_mut().zip(self.total(&sum)).for_each(|(acc, x)| self.add(acc, &x));
        }
    }

    fn divide(&self, sum: Sum<'_, Self>, to: Basis, scale: RoundingScale) -> Vec<Poly<Eval, Self>> {
        self.divide_to_coeff(sum, to, scale).into_iter().map(|x| self.ntt(x)).collect()
    }

    fn divide_to_coeff(
        &self,
        sum: Sum<'_, Self>,
        to: Basis,
        scale: RoundingScale,
    ) -> Vec<Poly<Coeff, Self>> {
        let divided = |x| self.divide_coeff(&self.intt(x), to, scale);
        self.total(&sum).into_iter().map(divided).collect()
    }

    fn divide_coeff(
        &self,
        x: &Poly<Coeff, Self>,
        to: Basis,
        scale: RoundingScale,
    ) -> Poly<Coeff, Self> {
        let ring = &self.definitions.ring;
        let (added, dropped) = (to.minus(x.basis()), x.basis().minus(to));
        let entering = |i: usize| {
            let q = ring.modulus(i);
            q.mul(scale.alpha.modulo(ring, i), ring.product_mod(added, q))
        };
        let v = self.lifted(dropped, x, entering, to);
        self.poly(to, |i| {
            let q = ring.modulus(i);
            let inverse = ring.inverse_product(dropped, i);
            let gamma = q.mul(q.reduce_u128(scale.gamma), ring.product_mod(added, q));
            let (gamma, beta) = (q.mul(gamma, inverse), q.mul(q.reduce_u128(scale.beta), inverse));
            let known = x.basis().contains(i).then(|| limb(x, i));
            let quotient = |(k, &v): (usize, &u64)| {
                let whole = known.map_or(0, |x| q.mul(x[k], gamma));
                q.sub(whole, q.mul(v, beta))
            };
            limb(&v, i).iter().enumerate().map(quotient).collect()
        })
    }

    fn combine(
        &self,
        inputs: &[&[Poly<Eval, Self>]],
        rows: &[Vec<Option<&Diagonal>>],
    ) -> Vec<Vec<Poly<Eval, Self>>> {
        let sum = |row: &Vec<Option<&Diagonal>>, k: usize| {
            let basis = inputs[0][k].basis();
            let mut out = self.zero(basis);
            for (x, d) in inputs.iter().zip(row) {
                if let Some(d) = d {
                    self.mul_add(&mut out, &x[k], &d.0.restricted(basis));
                }
            }
            out
        };
        let components = inputs.first().map_or(0, |x| x.len());
        rows.iter().map(|row| (0..components).map(|k| sum(row, k)).collect()).collect()
    }
}
