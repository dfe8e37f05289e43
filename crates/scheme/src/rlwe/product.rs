//! The products of BGV and BFV, before relinearization.

use everlevel_arith::kernels;
use everlevel_ring::{
    Basis, Coeff, Eval, Poly, Ring,
    convert::{CenteredLift, Constant, RoundingScale, divide_round, divide_round_coeff, divide_round_to_coeff},
};

use super::Evaluator;
use super::keyswitch::{chunks, within};
use crate::error::SchemeError;
use crate::keys::EvalKeys;
use crate::params::Level;

/// d0, d1, d2 of a product: evaluations from BGV's product, coefficients from BFV's, whose relinearization starts from those and
/// transforms d0 and d1 together with its own remainder.
#[derive(Clone)]
pub(crate) enum Tensor {
    /// From BGV's product.
    Eval([Poly<Eval>; 3]),
    /// From BFV's.
    Coeff([Poly<Coeff>; 3]),
}

impl Tensor {
    /// The primes.
    pub(super) fn basis(&self) -> Basis {
        match self {
            Tensor::Eval([d0, ..]) => d0.basis(),
            Tensor::Coeff([d0, ..]) => d0.basis(),
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
            (Tensor::Eval(x), Tensor::Eval(y)) => x.iter_mut().zip(y).for_each(|(x, y)| x.add_assign(ring, y)),
            (Tensor::Coeff(x), Tensor::Coeff(y)) => x.iter_mut().zip(y).for_each(|(x, y)| x.add_assign(ring, y)),
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
            Tensor::Eval(d) => Tensor::Eval(d.each_ref().map(|d| divide_round(ring, d, to, scale))),
            Tensor::Coeff(d) => Tensor::Coeff(d.each_ref().map(|d| divide_round_coeff(ring, d, to, scale))),
        }
    }
}

impl<K: EvalKeys> Evaluator<K> {
    /// (x0 y0, x0 y1 + x1 y0, x1 y1): the coefficients of (x0 + x1 s)(y0 + y1 s), y = x if absent.
    pub(super) fn tensor(&self, x: [&Poly<Eval>; 2], y: Option<[&Poly<Eval>; 2]>) -> [Poly<Eval>; 3] {
        let ring = self.params().ring();
        self.counters.limbs(7 * x[0].basis().len(), ring.degree());
        let [y0, y1] = y.unwrap_or(x);
        let mut cross = x[0].mul(ring, y1);
        if y.is_some() {
            cross.mul_add_assign(ring, x[1], y0);
        } else {
            let twice = cross.clone();
            cross.add_assign(ring, &twice);
        }
        [x[0].mul(ring, y0), cross, x[1].mul(ring, y1)]
    }

    /// round(t/q (x0 + x1 s)(y0 + y1 s)) modulo q, the product being taken over the integers: BFV's product.
    ///
    /// Exact, in the manner of Halevi–Polyakov–Shoup 2019: centered lifts to auxiliary primes that hold the product over q, the tensor over both,
    /// division by q with rounding to the auxiliary primes, and a centered lift back. The tensor is made a few words at a time where it is divided,
    /// and what follows are coefficients. For k primes in q and about as many auxiliary ones: 14 k transforms, 10 k for a square.
    pub(super) fn scaled_tensor(
        &self,
        x: [&Poly<Eval>; 2],
        y: Option<[&Poly<Eval>; 2]>,
        t: u64,
        level: Level,
    ) -> [Poly<Coeff>; 3] {
        let (params, ring) = (self.params(), self.params().ring());
        let basis = params.chain().basis(level);
        let auxiliary = params.chain().auxiliary(level);
        let wide = |pair: [&Poly<Eval>; 2]| {
            let [l0, l1] = pair.map(|c| CenteredLift::from_eval(ring, basis, c, |_| 1));
            let lifted = CenteredLift::spread_coeff([&l0, &l1], ring, auxiliary);
            let [c0, c1] = lifted.map(|c| c.into_eval(ring));
            [c0.joined(pair[0]), c1.joined(pair[1])]
        };
        let (x, y) = (wide(x), y.map(wide));
        let y = y.as_ref().unwrap_or(&x);
        let both = basis.union(auxiliary);
        self.counters.limbs(7 * both.len(), ring.degree());
        self.counters.rounding(3, both, auxiliary, ring.degree());
        let scale = RoundingScale { alpha: Constant::Integer(t), beta: 1, gamma: t };
        let quotients = divide_round_to_coeff(ring, both, auxiliary, scale, |i, factor, [d0, d1, d2]| {
            let q = ring.modulus(i);
            let factors = [x[0].limb(i), x[1].limb(i), y[1].limb(i), y[0].limb(i)].map(|limb| &limb[..]);
            for places in chunks(ring) {
                let f = within(&factors, &places);
                kernels::inner_product_scale_add(q, &mut d0[places.clone()], &f[..1], &f[3..], factor);
                kernels::inner_product_scale_add(q, &mut d1[places.clone()], &f[..2], &f[2..], factor);
                kernels::inner_product_scale_add(q, &mut d2[places], &f[1..2], &f[2..3], factor);
            }
        });
        let lifts = quotients.map(|d| CenteredLift::from_coeff(ring, auxiliary, d.into_limbs(), |_| 1));
        CenteredLift::spread_coeff(lifts.each_ref(), ring, basis)
    }
}
