//! Sums of digits times keys and of rests, and automorphisms of them.

use everlevel_arith::evaluation_index;
use everlevel_ring::{
    Accumulation, Basis, Eval, Gadget, GaloisElement, Hoist, KeyDigit, Poly, Rest, Source, Sum,
};

use crate::arguments::{
    COMPONENTS, DIGITS, HOISTED_DIGITS, HoistOf, IMAGES_A_LAUNCH, ImageArguments, KeyArguments,
    Operand, Operation, PRIMES, REST_PAIRS, RestArguments, SumOf, for_each, mask, positions,
};
use crate::gpu::Gpu;
use crate::library::Address;
use crate::memory::Limbs;
use crate::plan::{Factor, Job, Jobs, term_factor};
use crate::tables::twice_montgomery;
use crate::transform::Line;

/// A polynomial decomposed: for each digit, limbs of all primes of the extended basis.
pub struct Digits {
    limbs: Limbs,
    groups: Vec<usize>,
    extended: Basis,
}

/// A switching key: for each digit, for each component, limbs of the primes.
#[derive(Clone)]
pub struct Key {
    limbs: Limbs,
    groups: Vec<usize>,
    components: usize,
}

impl Key {
    /// The key for these digits.
    fn arguments(&self, digits: &Digits) -> KeyArguments {
        let mut arguments = KeyArguments {
            words: self.limbs.address(),
            mask: mask(self.limbs.whole),
            limbs: self.limbs.whole.len() as u32,
            components: self.components as u32,
            digit: [0; DIGITS],
        };
        for (to, group) in arguments.digit.iter_mut().zip(&digits.groups) {
            let place = self.groups.iter().position(|g| g == group);
            *to = place.expect("the key was checked to cover the basis") as u8;
        }
        arguments
    }
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
        let n = self.ring.degree();
        let slab = self.slab(polys().count() * basis.len() * n);
        for (k, poly) in polys().enumerate() {
            let words = poly.expanded(&self.host);
            let at = slab.address() + (k * basis.len() * n * 8) as u64;
            self.copy_limbs(at, &words.restricted(basis));
        }
        let groups = digits.iter().map(|digit| digit.group).collect();
        Key { limbs: Limbs { slab, offset: 0, whole: basis }, groups, components }
    }

    /// Rows exchanged, and columns shifted to the left.
    fn automorphism(&self, g: GaloisElement) -> (u32, u32) {
        let n = self.ring.degree();
        let place = evaluation_index(n.trailing_zeros(), g.exponent());
        ((place / (n / 2)) as u32, (place % (n / 2)) as u32)
    }

    /// What the rests of a sum are multiplied by modulo a prime; 0 where they vanish.
    fn rest_factor(&self, raise: Basis, factor: everlevel_ring::Constant, i: usize) -> u64 {
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
        // Longer lists are added up before.
        let mut made: Vec<Poly<Eval, Gpu>> = Vec::new();
        let long = |pairs: &Vec<_>| pairs.len() > REST_PAIRS;
        for rest in &sum.rest {
            if let Rest::Products(pairs) = rest
                && long(pairs)
            {
                made.push(self.sum_products(sum.basis.minus(sum.raise), pairs));
            }
        }
        let mut made_next = made.iter();
        let mut rest = [RestArguments::default(); COMPONENTS];
        for (to, rest) in rest.iter_mut().zip(&sum.rest) {
            match rest {
                Rest::None | Rest::Coefficients(_) => {}
                Rest::Poly(x) => (to.count, to.plain, to.pairs[0][0]) = (1, 1, x.limbs().operand()),
                Rest::Products(pairs) if long(pairs) => {
                    let x = made_next.next().expect("it was made");
                    (to.count, to.plain, to.pairs[0][0]) = (1, 1, x.limbs().operand());
                }
                Rest::Products(pairs) => {
                    to.count = pairs.len() as u32;
                    let pairs = to.pairs.iter_mut().zip(pairs);
                    pairs.for_each(|(to, (x, y))| {
                        *to = [x.limbs().operand(), y.limbs().operand()];
                    });
                }
            }
        }
        assert!(sum.rest.len() <= COMPONENTS, "at most {COMPONENTS} components");
        let mut outputs = [0; COMPONENTS];
        outputs.iter_mut().zip(target.outputs).for_each(|(to, &output)| *to = output);
        let digits = switched.map(|(digits, _)| digits);
        assert!(digits.is_none_or(|d| d.groups.len() <= DIGITS), "at most {DIGITS} digits");
        let arguments = SumOf {
            outputs,
            primes: self.primes,
            output_mask: mask(target.whole),
            digits: digits.map(|digits| digits.limbs.operand()).unwrap_or_default(),
            digit_stride: digits.map_or(0, |digits| digits.extended.len() * n) as u64,
            key: switched.map(|(digits, key)| key.arguments(digits)).unwrap_or_default(),
            n: n as u32,
            count: digits.map_or(0, |digits| digits.groups.len()) as u32,
            components: sum.rest.len() as u32,
            accumulate: u32::from(target.accumulate),
            flip,
            shift,
            rest,
            prime: positions(basis),
            factor: for_each(basis, |i| twice_montgomery(self.ring.modulus(i), factor(i))),
            rest_factor: for_each(basis, |i| self.rest_factor_of(sum, i)),
        };
        self.over(&arguments, basis);
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

    /// Automorphisms of ciphertexts.
    pub(crate) fn hoisted(&self, hoist: &Hoist<'_, Gpu>) -> Vec<Vec<Vec<Poly<Eval, Gpu>>>> {
        hoist.sources.iter().map(|source| self.images(hoist, source)).collect()
    }

    fn images(
        &self,
        hoist: &Hoist<'_, Gpu>,
        source: &everlevel_ring::Hoisted<'_, Gpu>,
    ) -> Vec<Vec<Poly<Eval, Gpu>>> {
        let (n, basis) = (self.ring.degree(), hoist.basis);
        let (components, stride) = (source.components.len(), basis.len() * n);
        let slabs: Vec<_> = hoist.images.iter().map(|_| self.slab(components * stride)).collect();
        let rest_factor = |i| self.rest_factor(hoist.raise, hoist.factor, i);
        let at = |k: usize, slab: &std::sync::Arc<crate::memory::Slab>| {
            slab.address() + (k * stride * 8) as u64
        };
        let mut launched = Vec::new();
        for ((g, key), slab) in hoist.images.iter().zip(&slabs) {
            let Some(key) = key else {
                let vanishing = basis.intersection(hoist.raise);
                for (k, component) in source.components.iter().enumerate() {
                    let operands =
                        [component.limbs().operand(), Operand::default(), Operand::default()];
                    let out = (at(k, slab), basis);
                    let factor = |i| self.constant_of(i, rest_factor(i));
                    let kept = basis.minus(hoist.raise);
                    self.elements(Operation::Scale, out, kept, operands, factor);
                    self.clear_limbs(out, vanishing);
                }
                continue;
            };
            let digits = source.digits.as_ref().expect("digits for every key");
            let (flip, shift) = self.automorphism(*g);
            launched.push(ImageArguments {
                key: key.arguments(digits),
                output: slab.address(),
                flip,
                shift,
            });
        }
        if let Some(digits) = &source.digits {
            assert!(components <= COMPONENTS, "at most {COMPONENTS} components");
            assert!(digits.groups.len() <= HOISTED_DIGITS, "at most {HOISTED_DIGITS} digits");
            let mut rest = [Operand::default(); COMPONENTS - 1];
            let constants = source.components.split_last().map_or(&[][..], |(_, rest)| rest);
            rest.iter_mut().zip(constants).for_each(|(to, x)| *to = x.limbs().operand());
            for images in launched.chunks(IMAGES_A_LAUNCH) {
                let mut image = [ImageArguments::default(); IMAGES_A_LAUNCH];
                image[..images.len()].copy_from_slice(images);
                let arguments = HoistOf {
                    primes: self.primes,
                    digits: digits.limbs.operand(),
                    digit_stride: (digits.extended.len() * n) as u64,
                    output_stride: stride as u64,
                    rest,
                    n: n as u32,
                    count: digits.groups.len() as u32,
                    components: components as u32,
                    images: images.len() as u32,
                    prime: positions(basis),
                    rest_factor: for_each(basis, rest_factor),
                    image,
                };
                self.over(&arguments, basis);
            }
        }
        let poly = |slab: &std::sync::Arc<crate::memory::Slab>, k: usize| {
            let limbs = Limbs { slab: slab.clone(), offset: k * stride, whole: basis };
            self.poly(basis, limbs)
        };
        slabs.iter().map(|slab| (0..components).map(|k| poly(slab, k)).collect()).collect()
    }
}

const _: () = assert!(everlevel_ring::MAX_PRIMES == PRIMES);
