//! An engine that computes by the definitions, with plain vectors and no sharing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use everlevel_ring::cpu::{from_limbs, limbs};
use everlevel_ring::{
    Backend, Basis, Coeff, Constant, Cpu, Engine, Eval, Gadget, GaloisElement, Hoist, KeyDigit,
    Memory, Poly, Representation, Rest, Ring, RingError, RoundingScale, Source, Sum, Use,
};

use crate::definitions::Definitions;
use crate::matrices::Transform;

/// The slowest engine: every method as the trait defines it, one polynomial after the other, with a
/// matrix for a transform, nothing fused and nothing shared between copies. It has memory of its
/// own, so what a scheme passes around its `upload` and `download` does not even compile.
///
/// It proves that a scheme asks nothing of an engine but what the trait says, and its results are
/// what those of faster engines are compared with.
pub struct Naive {
    definitions: Definitions,
    transforms: Vec<Transform>,
    count: AtomicU64,
    /// Where polynomials are put that leave.
    host: Cpu,
}

/// The residues of one polynomial, prime by prime.
#[derive(Clone)]
pub struct Residues(Vec<Vec<u64>>);

/// Digits, each with its group, as evaluations.
pub struct Digits(Vec<(usize, Poly<Eval, Naive>)>);

/// A switching key: the components for each group of primes.
#[derive(Clone)]
pub struct Key(Vec<(usize, Vec<Poly<Eval, Naive>>)>);

/// All evaluations of a plaintext.
pub struct Diagonal(Poly<Eval, Naive>);

impl Memory for Naive {
    type Limbs = Residues;

    fn restrict(limbs: &Residues, from: Basis, to: Basis) -> Residues {
        let kept = from.iter().zip(&limbs.0).filter(|(i, _)| to.contains(*i));
        Residues(kept.map(|(_, limb)| limb.clone()).collect())
    }
}

/// The limb of the prime at `position`.
fn limb<R: Representation>(x: &Poly<R, Naive>, position: usize) -> &[u64] {
    &x.limbs().0[x.basis().limb_of(position).expect("the basis holds the prime")]
}

impl Naive {
    /// The naive engine of a ring; a matrix with n² entries for each prime of a power of two.
    ///
    /// # Errors
    /// None for a ring of the library.
    pub fn new(ring: Arc<Ring>) -> Result<Self, RingError> {
        let host = Cpu::new(ring.clone(), Backend::Portable)?;
        let definitions = Definitions::new(ring);
        let transform = |i| Transform::new(&definitions, i);
        let transforms = (0..definitions.ring.prime_count()).map(transform).collect();
        Ok(Naive { definitions, transforms, count: AtomicU64::new(0), host })
    }

    fn poly<R: Representation>(
        &self,
        basis: Basis,
        limb: impl FnMut(usize) -> Vec<u64>,
    ) -> Poly<R, Self> {
        Poly::new(basis, self.definitions.ring.degree(), Residues(basis.iter().map(limb).collect()))
    }

    /// x = f(position, x, y), word by word.
    fn each<R: Representation>(
        &self,
        x: &mut Poly<R, Self>,
        y: &Poly<R, Self>,
        f: impl Fn(usize, u64, u64) -> u64,
    ) {
        let basis = x.basis();
        for (i, words) in basis.iter().zip(&mut x.limbs_mut().0) {
            words.iter_mut().zip(limb(y, i)).for_each(|(x, &y)| *x = f(i, *x, y));
        }
    }

    /// [`Engine::convert`] of `scale(i)` times what the limbs over `from` hold.
    fn lifted(
        &self,
        from: Basis,
        x: &Poly<Coeff, Self>,
        scale: impl Fn(usize) -> u64,
        to: Basis,
    ) -> Poly<Coeff, Self> {
        let ring = &self.definitions.ring;
        let others = |i: usize| from.minus(Basis::of([i]));
        let terms: Vec<Vec<u64>> = from
            .iter()
            .map(|i| {
                let q = ring.modulus(i);
                let factor = q.mul(scale(i), ring.inverse_product(others(i), i));
                limb(x, i).iter().map(|&x| q.mul(x, factor)).collect()
            })
            .collect();
        let inverses: Vec<f64> =
            from.iter().map(|i| 1.0 / ring.modulus(i).value() as f64).collect();
        let quotient = |k: usize| {
            let sum = terms.iter().zip(&inverses).fold(0.0, |sum, (term, inverse)| {
                let product = term[k] as f64 * inverse;
                sum + product
            });
            sum.round_ties_even() as u64
        };
        let quotients: Vec<u64> = (0..ring.degree()).map(quotient).collect();
        self.poly(to, |i| {
            let q = ring.modulus(i);
            let whole = ring.product_mod(from, q);
            let weights: Vec<u64> = from.iter().map(|j| ring.product_mod(others(j), q)).collect();
            let value = |k: usize| {
                let sum = terms
                    .iter()
                    .zip(&weights)
                    .fold(0, |sum, (term, &weight)| q.mul_add(q.reduce_u64(term[k]), weight, sum));
                q.sub(sum, q.mul(quotients[k], whole))
            };
            (0..ring.degree()).map(value).collect()
        })
    }

    /// The components of a sum, in evaluations.
    fn total(&self, sum: &Sum<'_, Self>) -> Vec<Poly<Eval, Self>> {
        let component = |(k, rest): (usize, &Rest<'_, Self>)| {
            let mut out = self.zero(sum.basis);
            if let Some((digits, key)) = &sum.switched {
                self.add_switched(&mut out, digits.get(), key, k);
            }
            if let Some(rest) = self.rest(rest) {
                self.add_raised(&mut out, &rest, sum.raise, sum.factor);
            }
            self.moved(&out, sum.automorphism)
        };
        sum.rest.iter().enumerate().map(component).collect()
    }

    fn rest(&self, rest: &Rest<'_, Self>) -> Option<Poly<Eval, Self>> {
        match rest {
            Rest::None => None,
            Rest::Poly(x) => Some((*x).clone()),
            Rest::Coefficients(x) => Some(self.ntt((*x).clone())),
            Rest::Products(pairs) => {
                let (x, y) = pairs.first()?;
                let mut sum = self.mul(x, y);
                pairs[1..].iter().for_each(|(x, y)| self.mul_add(&mut sum, x, y));
                Some(sum)
            }
        }
    }

    fn moved(&self, x: &Poly<Eval, Self>, g: GaloisElement) -> Poly<Eval, Self> {
        self.poly(x.basis(), |i| self.definitions.moved(limb(x, i), g.exponent()))
    }

    /// out += Σ digit_j key_jk.
    fn add_switched(&self, out: &mut Poly<Eval, Self>, digits: &Digits, key: &Key, k: usize) {
        for (group, digit) in &digits.0 {
            let found = key.0.iter().find(|(other, _)| other == group);
            let (_, components) = found.expect("a key with every digit");
            self.mul_add(
                out,
                &digit.restricted(out.basis()),
                &components[k].restricted(out.basis()),
            );
        }
    }

    /// out += P c x, P the product of the primes of `raise`, modulo which this vanishes.
    fn add_raised(
        &self,
        out: &mut Poly<Eval, Self>,
        x: &Poly<Eval, Self>,
        raise: Basis,
        c: Constant,
    ) {
        let ring = &self.definitions.ring;
        let product = self.poly(out.basis(), |i| {
            let (q, n) = (ring.modulus(i), ring.degree());
            let factor = || q.mul(ring.product_mod(raise, q), c.modulo(ring, i));
            match raise.contains(i) {
                true => vec![0; n],
                false => limb(x, i).iter().map(|&x| q.mul(x, factor())).collect(),
            }
        });
        self.add(out, &product);
    }
}

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

    fn to_signed(&self, x: &Poly<Coeff, Self>) -> Result<Vec<i64>, RingError> {
        let integers = self.definitions.centered(x.basis(), &x.limbs().0);
        let stored: Vec<i64> = integers.into_iter().map(|x| x as i64).collect();
        Ok(self.definitions.ring.natural_order(&stored))
    }

    fn key(&self, digits: &Arc<[KeyDigit]>) -> Key {
        let digit = |digit: &KeyDigit| {
            (digit.group, digit.components.iter().map(|c| self.upload(c)).collect())
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

    fn hoist(&self, hoist: Hoist<'_, Self>) -> Vec<Vec<Poly<Eval, Self>>> {
        let image = |&(automorphism, key): &(GaloisElement, Option<&Key>)| {
            let mut rest: Vec<Rest<'_, Self>> = hoist.components.iter().map(Rest::Poly).collect();
            if let (Some(last), Some(_)) = (rest.last_mut(), key) {
                *last = Rest::None;
            }
            let (basis, raise, factor) = (hoist.basis, hoist.raise, hoist.factor);
            let digits = hoist.digits.as_ref().map(Use::Shared);
            let switched = digits.and_then(|digits| key.map(|key| (digits, key)));
            self.total(&Sum { basis, switched, rest, raise, factor, automorphism })
        };
        hoist.images.iter().map(image).collect()
    }

    fn accumulate(&self, acc: &mut [Poly<Eval, Self>], sum: Sum<'_, Self>) {
        acc.iter_mut().zip(self.total(&sum)).for_each(|(acc, x)| self.add(acc, &x));
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
            let gamma = q.mul(q.reduce_u64(scale.gamma), ring.product_mod(added, q));
            let (gamma, beta) = (q.mul(gamma, inverse), q.mul(q.reduce_u64(scale.beta), inverse));
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
