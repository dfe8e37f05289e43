//! An engine that computes by the definitions, with plain vectors and no sharing.

mod engine;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use everlevel_ring::{
    Backend, Basis, Coeff, Constant, Cpu, Engine, Eval, GaloisElement, Memory, Poly,
    Representation, Rest, Ring, RingError, Sum,
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
