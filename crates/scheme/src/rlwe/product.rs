//! The products of BGV and BFV, before relinearization.

use everlevel_ring::{
    Basis, Eval, Poly,
    convert::{CenteredLift, Constant, RoundingScale, divide_round},
};

use super::Evaluator;
use crate::keys::EvalKeys;
use crate::params::Level;

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
    /// division by q with rounding to the auxiliary primes, and a centered lift back. For k primes in q and about as many auxiliary ones: 20 k
    /// transforms.
    pub(super) fn scaled_tensor(
        &self,
        x: [&Poly<Eval>; 2],
        y: Option<[&Poly<Eval>; 2]>,
        t: u64,
        level: Level,
    ) -> [Poly<Eval>; 3] {
        let (params, ring) = (self.params(), self.params().ring());
        let basis = params.chain().basis(level);
        let auxiliary = params.chain().auxiliary(level);
        let lift = |c: &Poly<Eval>, from: Basis, to: Basis| -> Poly<Eval> {
            let targets: Vec<(usize, u64)> = to.iter().map(|i| (i, 1)).collect();
            Poly::from_limbs(to, CenteredLift::from_eval(ring, from, c, |_| 1).spread(ring, &targets, true))
        };
        let wide = |pair: [&Poly<Eval>; 2]| pair.map(|c| lift(c, basis, auxiliary).joined(c));
        let (x, y) = (wide(x), y.map(wide));
        let products = self.tensor([&x[0], &x[1]], y.as_ref().map(|y| [&y[0], &y[1]]));
        self.counters.rounding(3, basis.union(auxiliary), auxiliary, ring.degree());
        let scale = RoundingScale { alpha: Constant::Integer(t), beta: 1, gamma: t };
        products.map(|d| lift(&divide_round(ring, &d, auxiliary, scale), auxiliary, basis))
    }
}
