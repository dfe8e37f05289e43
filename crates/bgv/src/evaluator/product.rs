//! The products of BGV and BFV, before relinearization.

use everlevel_arith::kernels;
use everlevel_ring::{
    Basis, Coeff, Eval, Poly, Ring,
    convert::{
        CenteredLift, Constant, RoundingScale, divide_round, divide_round_coeff,
        divide_round_to_coeff,
    },
};

use crate::evaluator::Evaluator;
use crate::evaluator::key_switch::{chunks, within};
use crate::keys::EvalKeys;
use everlevel_scheme::SchemeError;
use everlevel_scheme::noise::Meta;
use everlevel_scheme::spec::Level;

/// A product before relinearization: phase d0 + d1 s + d2 s², or d f².
#[derive(Clone)]
pub struct Product {
    pub(crate) meta: Meta,
    pub(crate) tensor: Tensor,
}

/// d0, d1, d2 of a product, or d: evaluations from BGV's product, coefficients from BFV's, whose
/// relinearization starts from those and transforms all but the last together with its own
/// remainder.
#[derive(Clone)]
pub(crate) enum Tensor {
    /// From BGV's product.
    Eval(Vec<Poly<Eval>>),
    /// From BFV's.
    Coeff(Vec<Poly<Coeff>>),
}

impl Tensor {
    /// The primes.
    pub(crate) fn basis(&self) -> Basis {
        match self {
            Tensor::Eval(d) => d[0].basis(),
            Tensor::Coeff(d) => d[0].basis(),
        }
    }

    /// How many polynomials.
    pub(crate) fn len(&self) -> usize {
        match self {
            Tensor::Eval(d) => d.len(),
            Tensor::Coeff(d) => d.len(),
        }
    }

    /// The last polynomial over some of the primes.
    pub(crate) fn last_evaluations(&self, ring: &Ring, basis: Basis) -> Poly<Eval> {
        match self {
            Tensor::Eval(d) => d[d.len() - 1].restricted(basis),
            Tensor::Coeff(d) => d[d.len() - 1].restricted(basis).into_eval(ring),
        }
    }

    /// Multiplies by a constant.
    pub(super) fn scale_assign(&mut self, ring: &Ring, k: i128) {
        match self {
            Tensor::Eval(d) => d.iter_mut().for_each(|d| d.scale_assign(ring, k)),
            Tensor::Coeff(d) => d.iter_mut().for_each(|d| d.scale_assign(ring, k)),
        }
    }

    /// Adds a product over the same primes that was made by the same scheme.
    pub(super) fn add_assign(&mut self, ring: &Ring, other: &Self) -> Result<(), SchemeError> {
        match (self, other) {
            (Tensor::Eval(x), Tensor::Eval(y)) => {
                x.iter_mut().zip(y).for_each(|(x, y)| x.add_assign(ring, y))
            }
            (Tensor::Coeff(x), Tensor::Coeff(y)) => {
                x.iter_mut().zip(y).for_each(|(x, y)| x.add_assign(ring, y))
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
    pub(super) fn divided(&self, ring: &Ring, to: Basis, scale: RoundingScale) -> Self {
        match self {
            Tensor::Eval(d) => {
                Tensor::Eval(d.iter().map(|d| divide_round(ring, d, to, scale)).collect())
            }
            Tensor::Coeff(d) => {
                Tensor::Coeff(d.iter().map(|d| divide_round_coeff(ring, d, to, scale)).collect())
            }
        }
    }
}

impl<K: EvalKeys> Evaluator<K> {
    /// (x0 y0, x0 y1 + x1 y0, x1 y1): the coefficients of (x0 + x1 s)(y0 + y1 s), or x y alone; y =
    /// x if absent.
    pub(super) fn tensor(&self, x: &[Poly<Eval>], y: Option<&[Poly<Eval>]>) -> Vec<Poly<Eval>> {
        let ring = self.params().ring();
        self.counters.limbs(self.params().tensor_streams() * x[0].basis().len(), ring.degree());
        let ([x0, x1], [y0, y1]) = (x, y.unwrap_or(x)) else {
            return vec![x[0].mul(ring, &y.unwrap_or(x)[0])];
        };
        let mut cross = x0.mul(ring, y1);
        if y.is_some() {
            cross.mul_add_assign(ring, x1, y0);
        } else {
            let twice = cross.clone();
            cross.add_assign(ring, &twice);
        }
        vec![x0.mul(ring, y0), cross, x1.mul(ring, y1)]
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
        x: &[Poly<Eval>],
        y: Option<&[Poly<Eval>]>,
        t: u64,
        level: Level,
    ) -> Vec<Poly<Coeff>> {
        let (params, ring) = (self.params(), self.params().ring());
        let basis = params.chain().basis(level);
        let auxiliary = params.chain().auxiliary(level);
        let wide = |components: &[Poly<Eval>]| -> Vec<Poly<Eval>> {
            let lifts: Vec<_> =
                components.iter().map(|c| CenteredLift::from_eval(ring, basis, c, |_| 1)).collect();
            let lifted = CenteredLift::spread_coeff(&lifts, ring, auxiliary);
            lifted
                .into_iter()
                .zip(components)
                .map(|(wide, c)| wide.into_eval(ring).joined(c))
                .collect()
        };
        let (x, y) = (wide(x), y.map(wide));
        let y = y.as_ref().unwrap_or(&x);
        let both = basis.union(auxiliary);
        let (last, count) = (x.len() - 1, 2 * x.len() - 1);
        self.counters.limbs(params.tensor_streams() * both.len(), ring.degree());
        self.counters.rounding(count, both, auxiliary, ring.degree());
        let scale = RoundingScale { alpha: Constant::Integer(t), beta: 1, gamma: t };
        let quotients =
            divide_round_to_coeff(ring, count, both, auxiliary, scale, |i, factor, outs| {
                let q = ring.modulus(i);
                let x: Vec<&[u64]> = x.iter().map(|c| &c.limb(i)[..]).collect();
                let reversed: Vec<&[u64]> = y.iter().rev().map(|c| &c.limb(i)[..]).collect();
                for places in chunks(ring) {
                    let (x, reversed) = (within(&x, &places), within(&reversed, &places));
                    for (k, out) in outs.iter_mut().enumerate() {
                        // Σ x_j y_(k-j), and y_(k-j) is the reversed one at last - k + j.
                        let (low, high) = (k.saturating_sub(last), k.min(last));
                        let y = &reversed[last + low - k..=last + high - k];
                        kernels::inner_product_scale_add(
                            q,
                            &mut out[places.clone()],
                            &x[low..=high],
                            y,
                            factor,
                        );
                    }
                }
            });
        let lift =
            |d: Poly<Coeff>| CenteredLift::from_coeff(ring, auxiliary, d.into_limbs(), |_| 1);
        let lifts: Vec<_> = quotients.into_iter().map(lift).collect();
        CenteredLift::spread_coeff(&lifts, ring, basis)
    }
}
