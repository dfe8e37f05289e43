//! Sums of digits times keys and of rests.

use std::ops::Range;

use everlevel_arith::evaluation_index;
use everlevel_ring::{
    Accumulation, Basis, Constant, Eval, Gadget, GaloisElement, KeyDigit, Poly, Rest, Source, Sum,
};

use crate::arguments::{
    COMPONENTS, DIGITS, KeyArguments, Operand, Operation, PRIMES, REST_PAIRS, RestArguments, SumOf,
    for_each, mask, positions,
};
use crate::gpu::Gpu;
use crate::library::Address;
use crate::memory::Limbs;
use crate::plan::{Factor, Job, Jobs, term_factor};
use crate::tables::twice_montgomery;
use crate::transform::Line;

/// A polynomial decomposed: for each digit, limbs of all primes of the extended basis.
pub struct Digits {
    pub(crate) limbs: Limbs,
    pub(crate) groups: Vec<usize>,
    pub(crate) extended: Basis,
}

/// A switching key: for each digit, for each component, limbs of the primes.
#[derive(Clone)]
pub struct Key {
    limbs: Limbs,
    groups: Vec<usize>,
    components: usize,
}

impl Key {
    /// The key for some of these digits, at most [`DIGITS`] of them.
    pub(crate) fn arguments(&self, digits: &Digits, part: Range<usize>) -> KeyArguments {
        let mut arguments = KeyArguments {
            words: self.limbs.address(),
            mask: mask(self.limbs.whole),
            limbs: self.limbs.whole.len() as u32,
            components: self.components as u32,
            digit: [0; DIGITS],
        };
        for (to, group) in arguments.digit.iter_mut().zip(&digits.groups[part]) {
            let place = self.groups.iter().position(|g| g == group);
            *to = place.expect("the key was checked to cover the basis") as u8;
        }
        arguments
    }
}

/// The components of a sum, at most [`COMPONENTS`] at a time: a launch that leaves out the first
/// ones has no others than those of the key, or none of these.
fn launched_components(count: usize, of_key: usize) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    let mut start = 0;
    while start < count {
        let end = count.min(start + COMPONENTS);
        let end = if (1..of_key).contains(&start) { end.min(of_key) } else { end };
        all.push(start..end);
        start = end;
    }
    all
}

/// Where a sum is written: a component each, all of them with limbs of the same primes.
pub(crate) struct Target<'a> {
    pub(crate) outputs: &'a [Address],
    pub(crate) whole: Basis,
    pub(crate) accumulate: bool,
}

impl Gpu {
    /// A key in the memory of the device.
    pub(crate) fn resident_key(&self, digits: &[KeyDigit]) -> Key {
        let components = digits.first().map_or(0, |digit| digit.components.len());
        let polys = || digits.iter().flat_map(|digit| &digit.components);
        let common = polys().map(|poly| poly.basis()).reduce(Basis::intersection);
        let basis = common.unwrap_or(Basis::EMPTY);
        let expanded = polys().map(|poly| poly.expanded(&self.host).restricted(basis));
        let limbs = self.resident(basis, polys().count(), expanded);
        let groups = digits.iter().map(|digit| digit.group).collect();
        Key { limbs, groups, components }
    }

    /// Rows exchanged, and columns shifted to the left.
    pub(crate) fn automorphism(&self, g: GaloisElement) -> (u32, u32) {
        let n = self.ring.degree();
        let place = evaluation_index(n.trailing_zeros(), g.exponent());
        ((place / (n / 2)) as u32, (place % (n / 2)) as u32)
    }

    /// What the rests of a sum are multiplied by modulo a prime; 0 where they vanish.
    pub(crate) fn rest_factor(&self, raise: Basis, factor: Constant, i: usize) -> u64 {
        let q = self.ring.modulus(i);
        match raise.contains(i) {
            true => 0,
            false => q.mul(self.ring.product_mod(raise, q), factor.modulo(&self.ring, i)),
        }
    }

    /// [`Gpu::rest_factor`] of a sum.
    pub(crate) fn rest_factor_of(&self, sum: &Sum<'_, Gpu>, i: usize) -> u64 {
        self.rest_factor(sum.raise, sum.factor, i)
    }

    /// Writes `factor` times the evaluations of a sum modulo the primes of `basis`, all but the
    /// coefficients among its rests.
    pub(crate) fn write_sum(
        &self,
        sum: &Sum<'_, Gpu>,
        basis: Basis,
        target: Target<'_>,
        factor: impl Fn(usize) -> u64,
    ) {
        let n = self.ring.degree();
        let (flip, shift) = self.automorphism(sum.automorphism);
        let switched = sum.switched.as_ref().map(|(digits, key)| (digits.get(), *key));
        // Longer lists are added up before, and kept until what reads them is enqueued.
        let mut made: Vec<Poly<Eval, Gpu>> = Vec::new();
        let arguments_of = |rest: &Rest<'_, Gpu>| {
            let mut to = RestArguments::default();
            match rest {
                Rest::None | Rest::Coefficients(_) => {}
                Rest::Poly(x) => (to.count, to.plain, to.pairs[0][0]) = (1, 1, x.limbs().operand()),
                Rest::Products(pairs) if pairs.len() > REST_PAIRS => {
                    let x = self.sum_products(sum.basis.minus(sum.raise), pairs);
                    (to.count, to.plain, to.pairs[0][0]) = (1, 1, x.limbs().operand());
                    made.push(x);
                }
                Rest::Products(pairs) => {
                    to.count = pairs.len() as u32;
                    let pairs = to.pairs.iter_mut().zip(pairs);
                    pairs.for_each(|(to, (x, y))| {
                        *to = [x.limbs().operand(), y.limbs().operand()];
                    });
                }
            }
            to
        };
        let rests: Vec<RestArguments> = sum.rest.iter().map(arguments_of).collect();
        let factor = for_each(basis, |i| twice_montgomery(self.ring.modulus(i), factor(i)));
        let rest_factor = for_each(basis, |i| self.rest_factor_of(sum, i));
        let of_key = switched.map_or(0, |(_, key)| key.components);
        for components in launched_components(rests.len(), of_key) {
            // Components that the key lacks have rests only.
            let switched = switched.filter(|_| components.start < of_key);
            let count = switched.map_or(0, |(digits, _)| digits.groups.len());
            // One launch at least, for the rests.
            for first in (0..count.max(1)).step_by(DIGITS) {
                let part = first..count.min(first + DIGITS);
                let mut arguments = SumOf {
                    outputs: [0; COMPONENTS],
                    primes: self.primes,
                    output_mask: mask(target.whole),
                    digits: Operand::default(),
                    digit_stride: 0,
                    key: KeyArguments::default(),
                    n: n as u32,
                    count: part.len() as u32,
                    components: components.len() as u32,
                    accumulate: u32::from(target.accumulate || first > 0),
                    flip,
                    shift,
                    rest: [RestArguments::default(); COMPONENTS],
                    prime: positions(basis),
                    factor,
                    rest_factor,
                };
                let outputs = arguments.outputs.iter_mut().zip(&target.outputs[components.clone()]);
                outputs.for_each(|(to, &output)| *to = output);
                if first == 0 {
                    let rests = arguments.rest.iter_mut().zip(&rests[components.clone()]);
                    rests.for_each(|(to, &rest)| *to = rest);
                }
                if let Some((digits, key)) = switched {
                    let (stride, of_key) = (digits.extended.len() * n, key.limbs.whole.len() * n);
                    arguments.digits = digits.limbs.operand();
                    arguments.digits.words += (first * stride * 8) as Address;
                    arguments.digit_stride = stride as u64;
                    arguments.key = key.arguments(digits, part);
                    arguments.key.words += (components.start * of_key * 8) as Address;
                }
                self.over(&arguments, basis);
            }
        }
    }

    /// Adds sums to accumulators.
    pub(crate) fn accumulated(&self, sums: Vec<Accumulation<'_, Gpu>>) {
        for (acc, sum) in sums {
            assert_eq!(acc.len(), sum.rest.len(), "a rest for each component");
            for component in acc.iter_mut().filter(|acc| !acc.limbs().own(acc.basis())) {
                self.make_own(component);
            }
            let outputs: Vec<Address> = acc.iter().map(|acc| acc.limbs().address()).collect();
            let target = Target { outputs: &outputs, whole: sum.basis, accumulate: true };
            self.write_sum(&sum, sum.basis, target, |_| 1);
        }
    }

    /// The digits of a polynomial.
    pub(crate) fn decomposed(&self, gadget: &Gadget, source: Source<'_, Gpu>) -> Digits {
        let (ring, n) = (&self.ring, self.ring.degree());
        let basis = match &source {
            Source::Eval(x, _) => x.basis(),
            Source::Coeff(x, _) => x.basis(),
            Source::Quotient(_, basis) => *basis,
        };
        let extended = basis.union(gadget.special());
        let groups: Vec<(usize, Basis)> = gadget.digits(basis).collect();
        let group_of = |i: usize| {
            let found = groups.iter().find(|(_, primes)| primes.contains(i));
            found.expect("every prime is in a group").1
        };
        let terms = self.limbs(basis);
        let own = match &source {
            Source::Eval(x, divisor) => {
                let factor = |i| term_factor(ring, group_of(i), i, ring.inverse_of(*divisor, i));
                self.backward_scaled(x.limbs(), basis, &terms, factor);
                Some((x.limbs().operand(), *divisor))
            }
            Source::Coeff(x, divisor) => {
                let operands = [x.limbs().operand(), Operand::default(), Operand::default()];
                let factor = |i| {
                    let scale = ring.inverse_of(*divisor, i);
                    self.constant_of(i, term_factor(ring, group_of(i), i, scale))
                };
                let out = (terms.address(), basis);
                self.elements(Operation::Scale, out, basis, operands, factor);
                None
            }
            Source::Quotient(x, basis) => {
                self.quotient_terms(gadget.special(), x, *basis, &terms, group_of);
                None
            }
        };
        let slab = self.slab(groups.len() * extended.len() * n);
        let limbs = Limbs { slab, offset: 0, whole: extended };
        let targets = |primes| if own.is_some() { extended.minus(primes) } else { extended };
        let job = |(k, (_, primes)): (usize, &(usize, Basis))| Job {
            from: *primes,
            to: targets(*primes),
            at: k * extended.len(),
        };
        let jobs = groups.iter().enumerate().map(job).collect();
        let jobs = Jobs { source: basis, target: extended, factor: Factor::One, jobs };
        let address = limbs.address();
        self.convert_limbs(&jobs, (terms.address(), 0), (address, 0), 1);
        let mut lines = Vec::new();
        for job in &jobs.jobs {
            for i in job.to.iter() {
                let limb = job.at + extended.limb_of(i).expect("a prime of the extended basis");
                lines.push(Line { input: limb, output: limb, add: None, prime: i, factor: 0 });
            }
        }
        // Limbs of one prime together, as they share its twiddles.
        lines.sort_by_key(|line| line.prime);
        self.forward(address, address, 0, &lines);
        if let Some((x, divisor)) = own {
            for (k, (_, primes)) in groups.iter().enumerate() {
                let out = address + (k * extended.len() * n * 8) as u64;
                let operands = [x, Operand::default(), Operand::default()];
                let (operation, factor): (_, &dyn Fn(usize) -> u64) = match divisor {
                    1 => (Operation::Copy, &|_| 0),
                    _ => (Operation::Scale, &|i| self.constant_of(i, ring.inverse_of(divisor, i))),
                };
                self.elements(operation, (out, extended), *primes, operands, factor);
            }
        }
        Digits { limbs, groups: groups.into_iter().map(|(group, _)| group).collect(), extended }
    }

    /// Coefficients times `factor(i)`, from evaluations.
    pub(crate) fn backward_scaled(
        &self,
        x: &Limbs,
        basis: Basis,
        out: &Limbs,
        factor: impl Fn(usize) -> u64,
    ) {
        let line = |i: usize| Line {
            input: x.whole.limb_of(i).expect("a prime of the polynomial"),
            output: out.whole.limb_of(i).expect("a prime of the result"),
            add: None,
            prime: i,
            factor: factor(i),
        };
        let lines: Vec<Line> = basis.iter().map(line).collect();
        self.backward(x.address(), out.address(), &lines);
    }

    /// The terms of the digits of round(x / P), P the product of the special primes.
    fn quotient_terms(
        &self,
        special: Basis,
        x: &Poly<Eval, Gpu>,
        basis: Basis,
        terms: &Limbs,
        group_of: impl Fn(usize) -> Basis,
    ) {
        let ring = &self.ring;
        let (low, lifted) = (self.limbs(special), self.limbs(basis));
        self.backward_scaled(x.limbs(), special, &low, |i| term_factor(ring, special, i, 1));
        let job = Job { from: special, to: basis, at: 0 };
        let jobs = Jobs { source: special, target: basis, factor: Factor::One, jobs: vec![job] };
        self.convert_limbs(&jobs, (low.address(), 0), (lifted.address(), 0), 1);
        self.backward_scaled(x.limbs(), basis, terms, |_| 1);
        let operands = [terms.operand(), lifted.operand(), Operand::default()];
        let factor = |i| {
            let scale = ring.inverse_product(special, i);
            self.constant_of(i, term_factor(ring, group_of(i), i, scale))
        };
        let out = (terms.address(), basis);
        self.elements(Operation::SubScale, out, basis, operands, factor);
    }
}

const _: () = assert!(everlevel_ring::MAX_PRIMES == PRIMES);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_launched_once_each() {
        let launched = |count, of_key| -> Vec<(usize, usize)> {
            let all = launched_components(count, of_key).into_iter();
            all.map(|components| (components.start, components.end)).collect()
        };
        assert!(launched(0, 2).is_empty());
        assert_eq!(launched(2, 2), [(0, 2)]);
        assert_eq!(launched(3, 2), [(0, 3)]);
        assert_eq!(launched(4, 4), [(0, 3), (3, 4)]);
        assert_eq!(launched(8, 4), [(0, 3), (3, 4), (4, 7), (7, 8)]);
        assert_eq!(launched(5, 0), [(0, 3), (3, 5)]);
    }
}
