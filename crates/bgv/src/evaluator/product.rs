//! The products of BGV and BFV, before relinearization.

use std::fmt;

use everlevel_ring::{Basis, Coeff, Cpu, Engine, Eval, Poly, Rest, RoundingScale, Sum};

use crate::ciphertext::{check_parts, meta_of};
use crate::evaluator::Evaluator;
use crate::keys::EvalKeys;
use everlevel_scheme::KeyId;
use everlevel_scheme::Params;
use everlevel_scheme::SchemeError;
use everlevel_scheme::noise::Meta;
use everlevel_scheme::spec::Level;

/// A product before relinearization: phase d0 + d1 s + d2 s², or d f².
///
/// It has three polynomials of n residues for each prime of its level, over NTRU one, and the noise
/// bound of the product, without that of a key switch. It can be added to others of one form and
/// owner, relinearized ([`relinearize`](everlevel_scheme::Arithmetic::relinearize)), cut
/// ([`Product::compact_for_decryption`]) and decrypted
/// ([`SecretKey::decrypt_product`](crate::SecretKey::decrypt_product)), but not multiplied.
/// Source: Brakerski, Gentry and Vaikuntanathan (ia.cr/2011/277).
pub struct Product<E: Engine = Cpu> {
    pub(crate) meta: Meta,
    pub(crate) tensor: Tensor<E>,
}

impl<E: Engine> Product<E> {
    /// A product from its public data and its polynomials, as [`Product::meta`] and
    /// [`Product::components`] give them. Residues must be canonical.
    ///
    /// # Errors
    /// As [`Ciphertext::from_parts`](crate::Ciphertext::from_parts), for 3 polynomials over
    /// ring-LWE and 1 over NTRU.
    pub fn from_parts(
        params: &Params,
        meta: Meta,
        components: Vec<Poly<Eval, E>>,
    ) -> Result<Self, SchemeError> {
        let meta = meta_of(params, meta)?;
        let out = Product { meta, tensor: Tensor::Eval(components) };
        if !out.fits(params) {
            let found = format!("{} polynomials, or others", out.tensor.len());
            return Err(SchemeError::BadArgument {
                what: "components of a product",
                expected: format!(
                    "{} polynomials of degree {} over the {} primes of level {}",
                    product_components(params),
                    params.degree(),
                    params.chain().basis(meta.level).len(),
                    meta.level
                ),
                found,
            });
        }
        Ok(out)
    }

    /// Whether there are as many polynomials as these parameters give, of their degree and over the
    /// primes of the level, which must be one of theirs.
    fn fits(&self, params: &Params) -> bool {
        let (basis, degree) = (params.chain().basis(self.meta.level), params.degree());
        self.tensor.len() == product_components(params) && self.tensor.all(basis, degree)
    }

    /// Refuses what is not a product of these parameters.
    ///
    /// # Errors
    /// Public data, or polynomials, that no product of these parameters has.
    pub fn check(&self, params: &Params) -> Result<(), SchemeError> {
        check_parts(params, &self.meta, "the product", || self.fits(params))
    }

    /// d0, d1, d2, or d, as evaluations: a transform a limb for products that BFV scaled.
    pub fn components(&self, engine: &E) -> Vec<Poly<Eval, E>> {
        self.tensor.evaluations(engine, self.tensor.basis())
    }

    /// Level, plaintext modulus, factor, noise bound and owner.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// The secret key that it decrypts under, if it has an owner that is known.
    pub fn owner(&self) -> Option<KeyId> {
        self.meta.owner
    }
}

/// How many polynomials a product has: 3, over NTRU 1.
fn product_components(params: &Params) -> usize {
    2 * params.components() - 1
}

impl<E: Engine> fmt::Debug for Product<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Product(level {}, noise bound 2^{:.1})", self.meta.level, self.meta.noise)
    }
}

impl<E: Engine> Clone for Product<E> {
    fn clone(&self) -> Self {
        Product { meta: self.meta, tensor: self.tensor.clone() }
    }
}

/// d0, d1, d2 of a product, or d: evaluations from BGV's product, coefficients from BFV's, whose
/// relinearization starts from those and transforms all but the last together with its own
/// remainder.
pub(crate) enum Tensor<E: Engine = Cpu> {
    /// From BGV's product.
    Eval(Vec<Poly<Eval, E>>),
    /// From BFV's.
    Coeff(Vec<Poly<Coeff, E>>),
}

impl<E: Engine> Clone for Tensor<E> {
    fn clone(&self) -> Self {
        match self {
            Tensor::Eval(d) => Tensor::Eval(d.clone()),
            Tensor::Coeff(d) => Tensor::Coeff(d.clone()),
        }
    }
}

impl<E: Engine> Tensor<E> {
    /// The primes.
    pub(crate) fn basis(&self) -> Basis {
        match self {
            Tensor::Eval(d) => d[0].basis(),
            Tensor::Coeff(d) => d[0].basis(),
        }
    }

    /// Whether all polynomials are over these primes and of this degree.
    fn all(&self, basis: Basis, degree: usize) -> bool {
        match self {
            Tensor::Eval(d) => d.iter().all(|d| d.basis() == basis && d.degree() == degree),
            Tensor::Coeff(d) => d.iter().all(|d| d.basis() == basis && d.degree() == degree),
        }
    }

    /// How many polynomials.
    pub(crate) fn len(&self) -> usize {
        match self {
            Tensor::Eval(d) => d.len(),
            Tensor::Coeff(d) => d.len(),
        }
    }

    /// The polynomials over some of the primes, as evaluations.
    pub(crate) fn evaluations(&self, engine: &E, basis: Basis) -> Vec<Poly<Eval, E>> {
        match self {
            Tensor::Eval(d) => d.iter().map(|d| d.restricted(basis)).collect(),
            Tensor::Coeff(d) => d.iter().map(|d| d.restricted(basis).into_eval(engine)).collect(),
        }
    }

    /// The polynomials as coefficients.
    pub(crate) fn into_coefficients(self, engine: &E) -> Vec<Poly<Coeff, E>> {
        match self {
            Tensor::Eval(d) => d.into_iter().map(|d| d.into_coeff(engine)).collect(),
            Tensor::Coeff(d) => d,
        }
    }

    /// Multiplies by a constant.
    pub(super) fn scale_assign(&mut self, engine: &E, k: i128) {
        match self {
            Tensor::Eval(d) => d.iter_mut().for_each(|d| d.scale_assign(engine, k)),
            Tensor::Coeff(d) => d.iter_mut().for_each(|d| d.scale_assign(engine, k)),
        }
    }

    /// Adds a product over the same primes that was made by the same scheme.
    pub(super) fn add_assign(&mut self, engine: &E, other: &Self) -> Result<(), SchemeError> {
        match (self, other) {
            (Tensor::Eval(x), Tensor::Eval(y)) => {
                x.iter_mut().zip(y).for_each(|(x, y)| x.add_assign(engine, y))
            }
            (Tensor::Coeff(x), Tensor::Coeff(y)) => {
                x.iter_mut().zip(y).for_each(|(x, y)| x.add_assign(engine, y))
            }
            _ => {
                return Err(SchemeError::FormMismatch {
                    operation: "addition of products",
                    left: "evaluations",
                    right: "coefficients",
                });
            }
        }
        Ok(())
    }

    /// Divides with rounding to the primes of `to`.
    pub(super) fn divided(&self, engine: &E, to: Basis, scale: RoundingScale) -> Self {
        match self {
            Tensor::Eval(d) => {
                Tensor::Eval(d.iter().map(|d| d.divided(engine, to, scale)).collect())
            }
            Tensor::Coeff(d) => {
                Tensor::Coeff(d.iter().map(|d| d.divided(engine, to, scale)).collect())
            }
        }
    }
}

impl<E: Engine, K: EvalKeys> Evaluator<E, K> {
    /// (x0 y0, x0 y1 + x1 y0, x1 y1): the coefficients of (x0 + x1 s)(y0 + y1 s), or x y alone; y =
    /// x if absent.
    pub(super) fn tensor(
        &self,
        x: &[Poly<Eval, E>],
        y: Option<&[Poly<Eval, E>]>,
    ) -> Vec<Poly<Eval, E>> {
        let (params, engine) = (self.params(), self.engine());
        self.counters.limbs(params.tensor_streams() * x[0].basis().len(), params.degree());
        let ([x0, x1], [y0, y1]) = (x, y.unwrap_or(x)) else {
            return vec![x[0].mul(engine, &y.unwrap_or(x)[0])];
        };
        let mut cross = x0.mul(engine, y1);
        if y.is_some() {
            cross.mul_add_assign(engine, x1, y0);
        } else {
            let twice = cross.clone();
            cross.add_assign(engine, &twice);
        }
        vec![x0.mul(engine, y0), cross, x1.mul(engine, y1)]
    }

    /// round(t/q (x0 + x1 s)(y0 + y1 s)) modulo q, or round(t/q x y), the product being taken over
    /// the integers: BFV's product.
    ///
    /// Exact, in the manner of Halevi–Polyakov–Shoup 2019: centered lifts to auxiliary primes that
    /// hold the product over q, the tensor over both, division by q with rounding to the auxiliary
    /// primes, and a centered lift back. The tensor is made a few words at a time where it is
    /// divided, and what follows are coefficients. For k primes in q and about as many auxiliary
    /// ones: 14 k transforms, 10 k for a square; 6 k and 4 k for single components.
    pub(super) fn scaled_tensor(
        &self,
        x: &[Poly<Eval, E>],
        y: Option<&[Poly<Eval, E>]>,
        t: u128,
        level: Level,
    ) -> Vec<Poly<Coeff, E>> {
        let (params, engine) = (self.params(), self.engine());
        let basis = params.chain().basis(level);
        let auxiliary = params.chain().auxiliary(level);
        let (x, y) = (engine.extend(x, auxiliary), y.map(|y| engine.extend(y, auxiliary)));
        let y = y.as_ref().unwrap_or(&x);
        let both = basis.union(auxiliary);
        let (last, count) = (x.len() - 1, 2 * x.len() - 1);
        self.counters.limbs(params.tensor_streams() * both.len(), params.degree());
        self.counters.rounding(count, both, auxiliary, params.degree());
        // Σ x_j y_(k-j).
        let pairs = |k: usize| {
            let both_there = k.saturating_sub(last)..=k.min(last);
            Rest::Products(both_there.map(|j| (&x[j], &y[k - j])).collect())
        };
        let tensor = Sum::of_rests(both, (0..count).map(pairs).collect());
        let quotients = engine.divide_to_coeff(tensor, auxiliary, RoundingScale::scaled(t));
        engine.convert(quotients, basis)
    }
}
