//! Digits, sums and their division with rounding.

use std::sync::Arc;

use everlevel_ring::cpu::limb;
use everlevel_ring::{
    Basis, Coeff, Constant, Engine, Eval, Gadget, GaloisElement, KeyDigit, KeyPoly, Poly, Rest,
    RoundingScale, Source, Sum, Use,
};

use super::{Known, Laws, Words};

/// Two groups of two primes, and two special primes.
pub(super) fn gadget() -> Gadget {
    Gadget::new(special(), vec![Basis::of([0, 1]), Basis::of([2, 3])])
}

pub(super) fn special() -> Basis {
    Basis::of([4, 5])
}

/// What digits are cut from: all of the first group, and one prime of the second.
pub(super) fn level() -> Basis {
    Basis::of([0, 1, 2])
}

/// The digits of a polynomial as values modulo the primes of the level and the special ones.
pub(super) type Digits = Vec<(usize, Words)>;

/// What a rest holds, in values; nothing modulo special primes.
type Plain = Option<Vec<(usize, Vec<u64>)>>;

impl<E: Engine> Laws<'_, E> {
    pub(super) fn extended(&self) -> Basis {
        level().union(special())
    }

    /// An automorphism that is not the identity.
    pub(super) fn automorphism(&self) -> GaloisElement {
        let m = self.definitions.ring.index();
        let unit = |g| GaloisElement::new(m, g).ok();
        (m / 3..m).find_map(unit).expect("-1 is a unit")
    }

    /// A key of two components with digits for all groups, over all primes: every other one has a
    /// polynomial that is not expanded before it is used.
    pub(super) fn random_key(&self) -> Arc<[KeyDigit]> {
        let all = Basis::of(0..6);
        // In all forms.
        let packed = || KeyPoly::packed(&self.host, &self.drawn(all));
        let words = || KeyPoly::new(&self.host, self.drawn(all));
        let seeded = self.seeded.replace(!self.seeded.get());
        let seeded = if seeded { KeyPoly::seeded(&self.host, &[11; 32], 5, all) } else { words() };
        let digit = |group, components| KeyDigit { group, components };
        [digit(0, vec![packed(), words()]), digit(1, vec![packed(), seeded])].into()
    }

    /// The digits of a polynomial that is given by coefficients over the level.
    pub(super) fn digits(&self, coefficients: &Words, divisor: u128) -> Digits {
        let (ring, wide) = (&self.definitions.ring, self.extended());
        let digit = |(group, primes): (usize, Basis)| {
            let quotient = self.words(primes, |i, k| {
                let c = self.constant(Constant::inverse(divisor), i);
                ring.modulus(i).mul(c, coefficients[level().limb_of(i).expect("a prime")][k])
            });
            (group, self.evaluated(wide, &self.lifted(primes, &quotient, wide)))
        };
        gadget().digits(level()).map(digit).collect()
    }

    /// Component k of a sum, in values.
    pub(super) fn component(
        &self,
        switched: Option<(&Digits, &[KeyDigit], usize)>,
        rest: &Plain,
        raise: Basis,
        factor: Constant,
        g: GaloisElement,
    ) -> Words {
        let (ring, wide) = (&self.definitions.ring, self.extended());
        let limb = |i: usize| {
            let q = ring.modulus(i);
            let mut sum = vec![0; ring.degree()];
            if let Some((digits, key, k)) = switched {
                for (group, values) in digits {
                    let digit = &values[wide.limb_of(i).expect("a prime")];
                    let own = key.iter().find(|own| own.group == *group).expect("every group");
                    let key = own.components[k].expanded(&self.host);
                    let products = digit.iter().zip(&limb(&key, i)[..]);
                    sum.iter_mut().zip(products).for_each(|(s, (&x, &y))| *s = q.mul_add(x, y, *s));
                }
            }
            let found = rest.iter().flatten().find(|(position, _)| *position == i);
            if let Some((_, values)) = found.filter(|_| !raise.contains(i)) {
                let product = raise.iter().fold(self.constant(factor, i), |c, j| {
                    q.mul(c, q.reduce_u64(ring.modulus(j).value()))
                });
                sum.iter_mut().zip(values).for_each(|(s, &x)| *s = q.mul_add(x, product, *s));
            }
            self.definitions.moved(&sum, g.exponent())
        };
        wide.iter().map(limb).collect()
    }

    pub(super) fn plain(&self, x: &Known) -> Plain {
        Some(x.basis.iter().map(|i| (i, x.values(i).to_vec())).collect())
    }

    /// Digits from every source, with the digits that they are.
    pub(super) fn every_source(&self) -> Vec<(E::Digits, Digits)> {
        let (engine, gadget) = (self.engine, gadget());
        let x = self.random(level());
        let wide = self.random(self.extended());
        let quotient =
            self.quotient(self.extended(), &wide.coefficients, level(), RoundingScale::PLAIN);
        let (eval, coeff) = (self.eval(&x), self.coeff(&x));
        vec![
            (engine.decompose(&gadget, Source::Eval(&eval, 1)), self.digits(&x.coefficients, 1)),
            (engine.decompose(&gadget, Source::Eval(&eval, 9)), self.digits(&x.coefficients, 9)),
            (engine.decompose(&gadget, Source::Coeff(&coeff, 9)), self.digits(&x.coefficients, 9)),
            (
                engine.decompose(&gadget, Source::Eval(&eval, 1 << 64)),
                self.digits(&x.coefficients, 1 << 64),
            ),
            (
                engine.decompose(&gadget, Source::Quotient(self.eval(&wide), level())),
                self.digits(&quotient, 1),
            ),
        ]
    }

    pub(super) fn accumulated_sums(&self) {
        let (engine, wide) = (self.engine, self.extended());
        for (digits, expected) in self.every_source() {
            let host = self.random_key();
            let key = engine.key(&host);
            let (x, y, z) = (self.random(wide), self.random(wide), self.random(wide));
            let (a, b, c) = (self.eval(&x), self.eval(&y), self.eval(&z));
            // First as digits that are still needed, then as those that are not.
            let first = Use::Shared(&digits);
            self.accumulated(first, &key, [Rest::Poly(&a), Rest::None], |k| {
                let rest = if k == 0 { self.plain(&x) } else { None };
                (Some((&expected, &host[..], k)), rest)
            });
            let products = || Rest::Products(vec![(&a, &b), (&b, &c)]);
            self.accumulated(Use::Once(digits), &key, [Rest::None, products()], |k| {
                let rest = if k == 1 { self.sum_of_products(&[(&x, &y), (&y, &z)]) } else { None };
                (Some((&expected, &host[..], k)), rest)
            });
        }
        let x = self.random(wide);
        let a = self.eval(&x);
        let mut acc = [self.engine.zero(wide)];
        let sum = Sum { automorphism: self.automorphism(), ..Sum::of(&a) };
        engine.accumulate(vec![(&mut acc, sum)]);
        let none = Basis::EMPTY;
        let values =
            self.component(None, &self.plain(&x), none, Constant::ONE, self.automorphism());
        self.assert_is(&acc[0], wide, &values, "accumulate without digits");
    }

    /// Two components of a sum without a raise, added to others; `expected` has what component k is
    /// made of.
    fn accumulated<'k>(
        &self,
        digits: Use<'_, E::Digits>,
        key: &E::Key,
        rest: [Rest<'_, E>; 2],
        expected: impl Fn(usize) -> (Option<(&'k Digits, &'k [KeyDigit], usize)>, Plain),
    ) {
        let (wide, g, ring) = (self.extended(), self.automorphism(), &self.definitions.ring);
        let before = [0; 2].map(|_| self.random(wide));
        let mut acc = before.each_ref().map(|x| self.eval(x));
        let sum = Sum {
            switched: Some((digits, key)),
            automorphism: g,
            ..Sum::of_rests(wide, rest.into())
        };
        self.engine.accumulate(vec![(&mut acc, sum)]);
        for (k, (before, after)) in before.iter().zip(&acc).enumerate() {
            let (switched, rest) = expected(k);
            let added = self.component(switched, &rest, Basis::EMPTY, Constant::ONE, g);
            let values = self.words(wide, |i, j| {
                let added = added[wide.limb_of(i).expect("a prime")][j];
                ring.modulus(i).add(before.values(i)[j], added)
            });
            self.assert_is(after, wide, &values, "accumulate");
        }
    }

    fn sum_of_products(&self, pairs: &[(&Known, &Known)]) -> Plain {
        let limb = |i: usize| {
            let q = self.definitions.ring.modulus(i);
            let word =
                |k| pairs.iter().fold(0, |s, (x, y)| q.mul_add(x.values(i)[k], y.values(i)[k], s));
            (i, (0..self.definitions.ring.degree()).map(word).collect())
        };
        Some(pairs[0].0.basis.iter().map(limb).collect())
    }

    /// (gamma A x - beta v) / D of coefficients over `from`, over `to`.
    fn quotient(&self, from: Basis, x: &Words, to: Basis, scale: RoundingScale) -> Words {
        let ring = &self.definitions.ring;
        let (added, dropped) = (to.minus(from), from.minus(to));
        let product = |basis: Basis, i: usize| {
            let q = ring.modulus(i);
            basis.iter().fold(1, |c, j| q.mul(c, q.reduce_u64(ring.modulus(j).value())))
        };
        let at = |i| &x[from.limb_of(i).expect("a prime")];
        let entering = self.words(dropped, |i, k| {
            let (q, alpha) = (ring.modulus(i), self.constant(scale.alpha, i));
            q.mul(q.mul(alpha, product(added, i)), at(i)[k])
        });
        let v = self.lifted(dropped, &entering, to);
        self.words(to, |i, k| {
            let q = ring.modulus(i);
            let whole = if from.contains(i) { q.mul(product(added, i), at(i)[k]) } else { 0 };
            let v = v[to.limb_of(i).expect("a prime")][k];
            let difference = q
                .sub(q.mul(q.reduce_u128(scale.gamma), whole), q.mul(q.reduce_u128(scale.beta), v));
            q.mul(difference, q.pow(product(dropped, i), q.value() - 2))
        })
    }

    fn scales(&self) -> [RoundingScale; 7] {
        [
            RoundingScale::PLAIN,
            RoundingScale::plain_multiple(257),
            RoundingScale::times_plain(257),
            RoundingScale::scaled(257),
            RoundingScale::plain_multiple(1 << 64),
            RoundingScale::times_plain(1 << 64),
            RoundingScale::scaled(1 << 64),
        ]
    }

    /// Where sums over the level and the special primes are divided to: fewer primes, and others.
    fn targets(&self) -> [Basis; 3] {
        [level(), Basis::of([0, 1, 2, 5]), Basis::of([0, 1, 3, 5])]
    }

    /// Asserts what the quotients of a sum of these values are.
    fn assert_divided(&self, made: &[Poly<Eval, E>], to: Basis, s: RoundingScale, sums: &[Words]) {
        for (made, sum) in made.iter().zip(sums) {
            let expected = self.evaluated(to, &self.quotient_of_values(sum, to, s));
            self.assert_is(made, to, &expected, "divide");
        }
        assert_eq!(made.len(), sums.len(), "divide: a quotient for each rest");
    }

    fn quotient_of_values(&self, values: &Words, to: Basis, s: RoundingScale) -> Words {
        // That the transforms are right was checked before.
        let coefficients = self.engine.intt(self.upload(self.extended(), values));
        let host = self.engine.download(&coefficients).expect("no fault");
        let words = self.extended().iter().map(|i| limb(&host, i).to_vec()).collect();
        self.quotient(self.extended(), &words, to, s)
    }

    pub(super) fn divided_sums(&self) {
        let (engine, wide, g) = (self.engine, self.extended(), self.automorphism());
        let factor = Constant { numerator: 7, denominator: 257 };
        for (((digits, expected), to), scale) in self
            .every_source()
            .into_iter()
            .zip(self.targets().into_iter().cycle())
            .zip(self.scales())
        {
            let host = self.random_key();
            let (key, x) = (engine.key(&host), self.random(level()));
            let (a, coefficients) = (self.eval(&x), self.coeff(&x));
            let sum = |rest, automorphism| Sum {
                basis: wide,
                switched: Some((Use::Shared(&digits), &key)),
                rest,
                raise: special(),
                factor,
                automorphism,
            };
            let component = |k, rest: &Plain, g| {
                self.component(Some((&expected, &host[..], k)), rest, special(), factor, g)
            };
            let sums = [component(0, &self.plain(&x), g), component(1, &None, g)];
            let made = engine.divide(sum(vec![Rest::Poly(&a), Rest::None], g), to, scale);
            self.assert_divided(&made, to, scale, &sums);
            let made = engine.divide_to_coeff(sum(vec![Rest::None, Rest::Poly(&a)], g), to, scale);
            let sums = [component(0, &None, g), component(1, &self.plain(&x), g)];
            for (made, sum) in made.iter().zip(&sums) {
                let expected = self.quotient_of_values(sum, to, scale);
                self.assert_is(made, to, &expected, "divide_to_coeff");
            }
            let one = GaloisElement::IDENTITY;
            let rest = vec![Rest::Coefficients(&coefficients), Rest::None];
            let sums = [component(0, &self.plain(&x), one), component(1, &None, one)];
            let made = engine.divide(sum(rest, one), to, scale);
            self.assert_divided(&made, to, scale, &sums);
        }
        // Tensors, as they are and moved.
        let known = [0; 3].map(|_| self.random(wide));
        let [a, b, c] = known.each_ref().map(|x| self.eval(x));
        let [x, y, z] = &known;
        for (to, automorphism) in self.targets().into_iter().zip([GaloisElement::IDENTITY, g, g]) {
            let rest =
                vec![Rest::Products(vec![(&a, &b), (&c, &c)]), Rest::Products(vec![(&a, &a)])];
            let plain = [self.sum_of_products(&[(x, y), (z, z)]), self.sum_of_products(&[(x, x)])];
            let sums = plain
                .each_ref()
                .map(|rest| self.component(None, rest, Basis::EMPTY, Constant::ONE, automorphism));
            let sum = Sum { automorphism, ..Sum::of_rests(wide, rest) };
            let made = engine.divide(sum, to, RoundingScale::scaled(257));
            self.assert_divided(&made, to, RoundingScale::scaled(257), &sums);
        }
    }

    pub(super) fn divided_coefficients(&self) {
        let x = self.random(self.extended());
        let a: Poly<Coeff, E> = self.coeff(&x);
        for (to, scale) in self.targets().into_iter().flat_map(|to| self.scales().map(|s| (to, s)))
        {
            let expected = self.quotient(x.basis, &x.coefficients, to, scale);
            let made = self.engine.divide_coeff(&a, to, scale);
            self.assert_is(&made, to, &expected, "divide_coeff");
        }
    }
}
