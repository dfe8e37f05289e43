//! Division with rounding.

use everlevel_ring::{Basis, Coeff, Eval, Poly, Rest, RoundingScale, Sum};

use crate::arguments::{Operand, Operation};
use crate::gpu::Gpu;
use crate::library::Address;
use crate::memory::Limbs;
use crate::plan::{Factor, Job, Jobs, term_factor};
use crate::sums::Target;
use crate::tables::montgomery;
use crate::transform::Line;

/// A division from one basis to another.
struct Division {
    source: Basis,
    target: Basis,
    scale: RoundingScale,
}

impl Division {
    fn added(&self) -> Basis {
        self.target.minus(self.source)
    }

    fn dropped(&self) -> Basis {
        self.source.minus(self.target)
    }

    fn kept(&self) -> Basis {
        self.source.intersection(self.target)
    }

    /// What the dividend is multiplied by modulo a prime: for one that stays gamma A / D, for one
    /// that is dropped what makes it a term of v.
    fn factor(&self, gpu: &Gpu, i: usize) -> u64 {
        let (ring, q) = (&gpu.ring, gpu.ring.modulus(i));
        let added = ring.product_mod(self.added(), q);
        if self.target.contains(i) {
            let gamma = q.mul(q.reduce_u128(self.scale.gamma), added);
            return q.mul(ring.inverse_product(self.dropped(), i), gamma);
        }
        let entry = q.mul(self.scale.alpha.modulo(ring, i), added);
        term_factor(ring, self.dropped(), i, entry)
    }

    /// -beta v / D in coefficients, from terms with limbs of the primes of `whole`.
    fn remainders(&self, gpu: &Gpu, terms: Address, whole: Basis, count: usize) -> Limbs {
        let n = gpu.ring.degree();
        let slab = gpu.slab(count * self.target.len() * n);
        let out = Limbs { slab, offset: 0, whole: self.target };
        if self.dropped().is_empty() {
            gpu.clear_words(out.address(), count * self.target.len() * n);
            return out;
        }
        let jobs = Jobs {
            source: whole,
            target: self.target,
            factor: Factor::MinusBeta(self.scale.beta),
            jobs: vec![Job { from: self.dropped(), to: self.target, at: 0 }],
        };
        let strides = (whole.len() * n, self.target.len() * n);
        gpu.convert_limbs(&jobs, (terms, strides.0), (out.address(), strides.1), count);
        out
    }
}

impl Gpu {
    /// `factor` times a sum, in evaluations, component after component.
    fn scaled_sum(&self, sum: &Sum<'_, Gpu>, factor: impl Fn(usize) -> u64) -> Limbs {
        let stride = sum.basis.len() * self.ring.degree();
        let made = Limbs { slab: self.slab(sum.rest.len() * stride), offset: 0, whole: sum.basis };
        let at = |k: usize| made.address() + (k * stride * 8) as u64;
        let outputs: Vec<Address> = (0..sum.rest.len()).map(at).collect();
        let target = Target { outputs: &outputs, whole: sum.basis, accumulate: false };
        self.write_sum(sum, sum.basis, target, factor);
        made
    }

    /// Adds `factor` times the coefficients among the rests of a sum to limbs of some primes, which
    /// lie component after component.
    fn add_coefficients(
        &self,
        sum: &Sum<'_, Gpu>,
        to: &Limbs,
        basis: Basis,
        factor: impl Fn(usize) -> u64,
    ) {
        let basis = basis.minus(sum.raise);
        let stride = to.whole.len() * self.ring.degree();
        for (k, rest) in sum.rest.iter().enumerate() {
            let Rest::Coefficients(x) = rest else { continue };
            let address = to.address() + (k * stride * 8) as u64;
            let own = Operand { words: address, ..to.operand() };
            let operands = [own, x.limbs().operand(), Operand::default()];
            self.elements(Operation::ScaleAdd, (address, to.whole), basis, operands, |i| {
                let q = self.ring.modulus(i);
                montgomery(q, q.mul(factor(i), self.rest_factor_of(sum, i)))
            });
        }
    }

    /// The lines of a transform of `count` polynomials that lie one after the other.
    fn lines(
        &self,
        count: usize,
        whole: Basis,
        basis: Basis,
        add: impl Fn(usize, usize) -> Option<usize>,
    ) -> Vec<Line> {
        let rank = |i| whole.limb_of(i).expect("a prime of the polynomial");
        let line = |k: usize, i: usize| {
            let limb = k * whole.len() + rank(i);
            Line { input: limb, output: limb, add: add(k, i), prime: i, factor: 1 }
        };
        basis
            .iter()
            .flat_map(|i| (0..count).map(move |k| (k, i)))
            .map(|(k, i)| line(k, i))
            .collect()
    }

    /// Polynomials that lie one after the other.
    fn split<R: everlevel_ring::Representation>(
        &self,
        limbs: Limbs,
        count: usize,
    ) -> Vec<Poly<R, Gpu>> {
        let (basis, stride) = (limbs.whole, limbs.whole.len() * self.ring.degree());
        (0..count)
            .map(|k| self.poly(basis, Limbs { offset: k * stride, ..limbs.clone() }))
            .collect()
    }

    pub(crate) fn divided(
        &self,
        sum: &Sum<'_, Gpu>,
        target: Basis,
        scale: RoundingScale,
    ) -> Vec<Poly<Eval, Gpu>> {
        let division = Division { source: sum.basis, target, scale };
        let count = sum.rest.len();
        let factor = |i| division.factor(self, i);
        let made = self.scaled_sum(sum, factor);
        let address = made.address();
        let lines = self.lines(count, sum.basis, division.dropped(), |_, _| None);
        self.backward(address, address, &lines);
        self.add_coefficients(sum, &made, division.dropped(), factor);
        let out = division.remainders(self, address, sum.basis, count);
        self.add_coefficients(sum, &out, division.kept(), factor);
        let add = |k: usize, i: usize| sum.basis.limb_of(i).map(|rank| k * sum.basis.len() + rank);
        let lines = self.lines(count, target, target, add);
        self.forward(out.address(), out.address(), address, &lines);
        self.split(out, count)
    }

    pub(crate) fn divided_to_coeff(
        &self,
        sum: &Sum<'_, Gpu>,
        target: Basis,
        scale: RoundingScale,
    ) -> Vec<Poly<Coeff, Gpu>> {
        let division = Division { source: sum.basis, target, scale };
        let (count, n) = (sum.rest.len(), self.ring.degree());
        let made = self.scaled_sum(sum, |i| division.factor(self, i));
        let address = made.address();
        let lines = self.lines(count, sum.basis, sum.basis, |_, _| None);
        self.backward(address, address, &lines);
        let out = division.remainders(self, address, sum.basis, count);
        for k in 0..count {
            let at = |limbs: &Limbs| limbs.address() + (k * limbs.whole.len() * n * 8) as u64;
            let own = Operand { words: at(&out), ..out.operand() };
            let added = Operand { words: at(&made), ..made.operand() };
            let operands = [own, added, Operand::default()];
            let to = (at(&out), target);
            self.elements(Operation::Add, to, division.kept(), operands, |_| 0);
        }
        self.split(out, count)
    }

    pub(crate) fn divided_coeff(
        &self,
        x: &Poly<Coeff, Gpu>,
        target: Basis,
        scale: RoundingScale,
    ) -> Poly<Coeff, Gpu> {
        let division = Division { source: x.basis(), target, scale };
        let dropped = division.dropped();
        let factor = |i: usize| montgomery(self.ring.modulus(i), division.factor(self, i));
        let terms = self.limbs(dropped);
        let operands = [x.limbs().operand(), Operand::default(), Operand::default()];
        self.elements(Operation::Scale, (terms.address(), dropped), dropped, operands, factor);
        let out = division.remainders(self, terms.address(), dropped, 1);
        let operands = [out.operand(), x.limbs().operand(), Operand::default()];
        let to = (out.address(), target);
        self.elements(Operation::ScaleAdd, to, division.kept(), operands, factor);
        self.poly(target, out)
    }
}
