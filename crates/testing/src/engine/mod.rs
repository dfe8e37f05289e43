//! What must hold for every engine.

mod combinations;
mod sums;
mod together;

use std::cell::Cell;

use everlevel_ring::cpu::{from_limbs, limbs};
use everlevel_ring::{
    Backend, Basis, Coeff, Constant, Cpu, Engine, Eval, Poly, Representation, sample,
};

use crate::definitions::Definitions;

/// The residues of a polynomial, prime by prime in the order of its basis.
type Words = Vec<Vec<u64>>;

/// Checks every method of the trait [`Engine`] against plain integers, on random polynomials of the
/// engine's ring, whose residues are compared one by one.
///
/// The ring needs six primes, of which the first two are multiplied with to 2^100 at most; n² steps
/// for each transform that is checked, so the degree should be some hundreds.
///
/// # Panics
/// If a law does not hold, with its name.
pub fn engine_laws<E: Engine>(engine: &E) {
    let ring = engine.ring().clone();
    assert!(ring.prime_count() >= 6, "a ring of six primes");
    let laws = Laws {
        engine,
        host: Cpu::new(ring.clone(), Backend::Portable).expect("every processor is portable"),
        definitions: Definitions::new(ring),
        drawn: Cell::new(0),
        seeded: Cell::new(true),
    };
    laws.memory();
    laws.signed_coefficients();
    laws.transforms();
    laws.element_wise::<Coeff>();
    laws.element_wise::<Eval>();
    laws.products();
    laws.conversions();
    laws.hoisted_sums();
    laws.accumulated_sums();
    laws.accumulated_together();
    laws.divided_sums();
    laws.divided_coefficients();
    laws.combinations();
    laws.combinations_of_many_terms();
    laws.combinations_with_constants();
    assert_eq!(engine.status(), Ok(()), "no fault after all this");
}

struct Laws<'e, E: Engine> {
    engine: &'e E,
    definitions: Definitions,
    /// What polynomials are made in that the engine gets.
    host: Cpu,
    /// How many polynomials were drawn so far.
    drawn: Cell<u32>,
    /// Whether the next key has a polynomial that stays a seed.
    seeded: Cell<bool>,
}

/// What an operation does to its first operand.
type Change<'a, R, E> = dyn Fn(&mut Poly<R, E>, &Poly<R, E>) + 'a;

/// A polynomial that is known by its residues.
struct Known {
    basis: Basis,
    coefficients: Words,
    values: Words,
}

impl Known {
    fn values(&self, position: usize) -> &[u64] {
        &self.values[self.basis.limb_of(position).expect("the basis holds the prime")]
    }
}

impl<E: Engine> Laws<'_, E> {
    /// Residues modulo the primes of `basis`: f of their position and place.
    fn words(&self, basis: Basis, f: impl Fn(usize, usize) -> u64) -> Words {
        let limb = |i| (0..self.definitions.ring.degree()).map(|k| f(i, k)).collect();
        basis.iter().map(limb).collect()
    }

    /// The values of the polynomial with these coefficients.
    fn evaluated(&self, basis: Basis, coefficients: &Words) -> Words {
        let limbs = basis.iter().zip(coefficients);
        limbs.map(|(i, limb)| self.definitions.evaluated(i, limb)).collect()
    }

    /// A uniform polynomial of the host, another one each time.
    fn drawn(&self, basis: Basis) -> Poly<Eval> {
        self.drawn.set(self.drawn.get() + 1);
        sample::expand(&self.host, &[7; 32], self.drawn.get(), basis)
    }

    fn random(&self, basis: Basis) -> Known {
        let coefficients: Words = limbs(&self.drawn(basis)).iter().map(|x| x.to_vec()).collect();
        let values = self.evaluated(basis, &coefficients);
        Known { basis, coefficients, values }
    }

    /// A polynomial of the engine with these residues.
    fn upload<R: Representation>(&self, basis: Basis, words: &Words) -> Poly<R, E> {
        let copy = |words: &Vec<u64>| {
            let mut limb = self.host.limb();
            limb.copy_from_slice(words);
            limb
        };
        let host = from_limbs(&self.host, basis, words.iter().map(copy).collect());
        self.engine.upload(&host)
    }

    fn eval(&self, x: &Known) -> Poly<Eval, E> {
        self.upload(x.basis, &x.values)
    }

    fn coeff(&self, x: &Known) -> Poly<Coeff, E> {
        self.upload(x.basis, &x.coefficients)
    }

    /// Asserts that a polynomial of the engine has these residues.
    fn assert_is<R: Representation>(
        &self,
        x: &Poly<R, E>,
        basis: Basis,
        expected: &Words,
        law: &str,
    ) {
        assert_eq!(x.basis(), basis, "{}: {law}: the primes", self.engine.name());
        assert_eq!(x.degree(), self.definitions.ring.degree(), "{law}: the degree");
        let found = self.engine.download(x).expect("no fault");
        for (i, (found, expected)) in basis.iter().zip(limbs(&found).iter().zip(expected)) {
            assert!(found[..] == expected[..], "{}: {law}, prime {i}", self.engine.name());
        }
    }

    fn memory(&self) {
        let basis = Basis::of([0, 2, 3, 5]);
        let x = self.random(basis);
        self.assert_is(&self.eval(&x), basis, &x.values, "upload and download");
        self.assert_is(&self.coeff(&x), basis, &x.coefficients, "upload and download");
        let zero = self.words(basis, |_, _| 0);
        self.assert_is(&self.engine.zero::<Eval>(basis), basis, &zero, "zero");
        let (some, whole) = (Basis::of([2, 5]), self.eval(&x));
        let part = whole.restricted(some);
        let kept = vec![x.values(2).to_vec(), x.values(5).to_vec()];
        self.assert_is(&part, some, &kept, "restriction");
        // Whoever shares memory copies it before writing.
        for mut copy in [whole.clone(), part] {
            self.engine.neg(&mut copy);
        }
        self.assert_is(&whole, basis, &x.values, "writing to a copy");
    }

    fn signed_coefficients(&self) {
        let ring = &self.definitions.ring;
        let q = ring.modulus(1);
        let natural: Vec<i64> = {
            let x = self.random(Basis::of([1]));
            x.coefficients[0].iter().map(|&x| q.centered(x)).collect()
        };
        let basis = Basis::of([0, 1, 4]);
        let x = self.engine.reduce_signed(basis, &natural);
        let mut stored = vec![0; ring.degree()];
        ring.storage_order(&natural, &mut stored);
        let expected = self.words(basis, |i, k| ring.modulus(i).reduce_i64(stored[k]));
        self.assert_is(&x, basis, &expected, "reduce_signed");
        let one = x.restricted(Basis::of([1]));
        let natural: Vec<i128> = natural.into_iter().map(i128::from).collect();
        assert_eq!(self.engine.to_signed(&one), Ok(natural), "to_signed, one prime");
        let two = Basis::of([0, 1]);
        if ring.log2(two) < 125.9 {
            let x = self.random(two);
            let integers = self.definitions.centered(two, &x.coefficients);
            let expected = ring.natural_order(&integers);
            assert_eq!(self.engine.to_signed(&self.coeff(&x)), Ok(expected), "to_signed");
        }
    }

    fn transforms(&self) {
        let (engine, basis) = (self.engine, Basis::of([0, 1, 3, 5]));
        let x = self.random(basis);
        let before = engine.transform_count();
        let values = engine.ntt(self.coeff(&x));
        assert_eq!(engine.transform_count(), before + 4, "a transform for each prime");
        self.assert_is(&values, basis, &x.values, "ntt");
        self.assert_is(&engine.intt(values), basis, &x.coefficients, "intt");
        let m = self.definitions.ring.index();
        for k in [0, 1, -1, 5, -17, m as i64 / 2, m as i64 - 1, 3 * m as i64 + 2, i64::MIN] {
            let power = k.rem_euclid(m as i64) as u64;
            let values = |i| self.definitions.values(i, &[(power, 1)]);
            let expected = basis.iter().map(values).collect();
            self.assert_is(&engine.monomial(basis, k), basis, &expected, "monomial");
        }
    }

    fn element_wise<R: Representation>(&self) {
        let (engine, ring) = (self.engine, &self.definitions.ring);
        let basis = Basis::of([0, 1, 2, 4]);
        let [x, y] = [0; 2].map(|_| self.random(basis).values);
        let word = |words: &Words, i, k: usize| words[basis.limb_of(i).expect("a prime")][k];
        let check = |law, change: &Change<R, E>, f: &dyn Fn(usize, u64, u64) -> u64| {
            let mut out = self.upload(basis, &x);
            change(&mut out, &self.upload(basis, &y));
            let expected = self.words(basis, |i, k| f(i, word(&x, i, k), word(&y, i, k)));
            self.assert_is(&out, basis, &expected, law);
        };
        check("add", &|x, y| engine.add(x, y), &|i, x, y| ring.modulus(i).add(x, y));
        check("sub", &|x, y| engine.sub(x, y), &|i, x, y| ring.modulus(i).sub(x, y));
        check("neg", &|x, _| engine.neg(x), &|i, x, _| ring.modulus(i).neg(x));
        for c in self.constants() {
            let times = |i, x| ring.modulus(i).mul(x, self.constant(c, i));
            check("scale", &|x, _| engine.scale(x, c), &|i, x, _| times(i, x));
            check("scale_add", &|x, y| engine.scale_add(x, y, c), &|i, x, y| {
                ring.modulus(i).add(x, times(i, y))
            });
        }
    }

    fn products(&self) {
        let (engine, ring, basis) = (self.engine, &self.definitions.ring, Basis::of([0, 3, 4]));
        let [x, y, z] = [0; 3].map(|_| self.random(basis));
        let product = |i, k: usize| ring.modulus(i).mul(x.values(i)[k], y.values(i)[k]);
        let expected = self.words(basis, product);
        self.assert_is(&engine.mul(&self.eval(&x), &self.eval(&y)), basis, &expected, "mul");
        let mut sum = self.eval(&z);
        engine.mul_add(&mut sum, &self.eval(&x), &self.eval(&y));
        let expected = self.words(basis, |i, k| ring.modulus(i).add(z.values(i)[k], product(i, k)));
        self.assert_is(&sum, basis, &expected, "mul_add");
        self.sums_of_products();
        for c in self.constants() {
            let mut sum = self.eval(&x);
            engine.add_constant(&mut sum, c);
            let expected =
                self.words(basis, |i, k| ring.modulus(i).add(x.values(i)[k], self.constant(c, i)));
            self.assert_is(&sum, basis, &expected, "add_constant");
        }
    }

    /// Sums that share factors, one without any, and one of more terms than a kernel takes.
    fn sums_of_products(&self) {
        let (engine, ring, basis) = (self.engine, &self.definitions.ring, Basis::of([1, 2, 5]));
        let known: Vec<Known> = (0..4).map(|_| self.random(basis)).collect();
        let polys: Vec<_> = known.iter().map(|x| self.eval(x)).collect();
        let many: Vec<(usize, usize)> = (0..2500).map(|k| (k % 4, k / 4 % 4)).collect();
        let wanted = [vec![(0, 1)], Vec::new(), vec![(0, 2), (1, 1), (2, 0), (3, 1)], many];
        let pairs = |terms: &Vec<(usize, usize)>| {
            terms.iter().map(|&(x, y)| (&polys[x], &polys[y])).collect::<Vec<_>>()
        };
        let sums = engine.sums_of_products(basis, &wanted.iter().map(pairs).collect::<Vec<_>>());
        assert_eq!(sums.len(), wanted.len());
        for (sum, terms) in sums.iter().zip(&wanted) {
            let expected = self.words(basis, |i, k| {
                let q = ring.modulus(i);
                let product =
                    |x: usize, y: usize| q.mul(known[x].values(i)[k], known[y].values(i)[k]);
                terms.iter().fold(0, |sum, &(x, y)| q.add(sum, product(x, y)))
            });
            self.assert_is(sum, basis, &expected, "sums_of_products");
        }
    }

    fn constants(&self) -> [Constant; 6] {
        let fraction = |numerator, denominator| Constant { numerator, denominator };
        [
            fraction(1, 1),
            fraction(0, 1),
            fraction(-3, 1),
            fraction(1, 257),
            fraction(1 << 70, 9),
            fraction(1, 1 << 64),
        ]
    }

    /// A constant modulo the prime at `position`: what gives the numerator times the denominator.
    fn constant(&self, c: Constant, position: usize) -> u64 {
        let q = self.definitions.ring.modulus(position);
        let inverse = q.pow(q.reduce_u128(c.denominator), q.value() - 2);
        q.mul(q.reduce_i128(c.numerator), inverse)
    }

    /// Centered integers modulo the primes of another basis.
    fn lifted(&self, from: Basis, coefficients: &Words, to: Basis) -> Words {
        let integers = self.definitions.centered(from, coefficients);
        self.words(to, |i, k| self.definitions.ring.modulus(i).reduce_i128(integers[k]))
    }

    fn conversions(&self) {
        let (from, to) = (Basis::of([0, 1]), Basis::of([1, 2, 3, 5]));
        let known = [0; 3].map(|_| self.random(from));
        let xs = known.iter().map(|x| self.coeff(x)).collect();
        for (x, y) in known.iter().zip(self.engine.convert(xs, to)) {
            self.assert_is(&y, to, &self.lifted(from, &x.coefficients, to), "convert");
        }
        let (to, xs) = (Basis::of([2, 4, 5]), known.each_ref().map(|x| self.eval(x)));
        for (x, y) in known.iter().zip(self.engine.extend(&xs, to)) {
            let lifted = self.evaluated(to, &self.lifted(from, &x.coefficients, to));
            let expected = x.values.iter().cloned().chain(lifted).collect();
            self.assert_is(&y, from.union(to), &expected, "extend");
        }
    }
}
