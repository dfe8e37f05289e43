//! A scheme without cryptography for the unit tests: base values in the clear, with counters and
//! multiplicative depths.

use std::borrow::Borrow;
use std::sync::Mutex;

use everlevel_ring::{GaloisElement, GaussianRing, SlotShape};
use everlevel_scheme::{
    Arithmetic, Automorphisms, Bootstrappable, DiagonalValues, Level, LinearMaps, NextUse,
    PeriodicSlots, PlainModulus, Plaintext, Scheme, SchemeError,
};

use crate::modular::PrimePower;
use crate::slots::{SlotMove, moved, periodic, product};
use crate::transform::SlotTransform;

/// splitmix64: the tests' source of numbers.
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Value {
    pub(crate) t: PrimePower,
    pub(crate) depth: u32,
    pub(crate) slots: Vec<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Counts {
    pub(crate) products: usize,
    pub(crate) relinearizations: usize,
    pub(crate) galois: usize,
}

pub(crate) struct Clear {
    pub(crate) shape: SlotShape,
    prime: u64,
    pub(crate) counts: Mutex<Counts>,
    /// The automorphisms of the slots, to find a move by its element.
    moves: Vec<(GaloisElement, SlotMove)>,
}

impl Clear {
    pub(crate) fn new(index: u64, p: u64) -> Self {
        let shape = SlotShape::new(index, p, 2).unwrap();
        let mut moves = Vec::new();
        for shift in 0..shape.columns() {
            let mut g = shape.rotation(shift as i64);
            // All representatives modulo the powers of Frobenius that fix the base ring.
            for power in 0..shape.degree_of_slot() {
                let conjugated = power % shape.base_degree() == 1;
                moves.push((g, SlotMove { shift, swap: conjugated }));
                moves.push((
                    shape.compose(g, shape.conjugation()),
                    SlotMove { shift, swap: !conjugated },
                ));
                g = shape.compose(g, shape.frobenius());
            }
        }
        Clear { prime: p, shape, counts: Mutex::new(Counts::default()), moves }
    }

    /// Values modulo powers of any p; the slots are never moved.
    pub(crate) fn with_prime(p: u64) -> Self {
        Clear { prime: p, ..Clear::new(128, 257) }
    }

    /// Any number of values may stand in the place of the slots, as long as they are not moved.
    /// Thin values of one row get imaginary parts.
    pub(crate) fn encrypt(&self, mut slots: Vec<u64>, e: u32) -> Value {
        if slots.len() == self.shape.slots() {
            slots.resize(2 * self.shape.columns(), 0);
        }
        Value { t: PrimePower::new(self.prime, e).unwrap(), depth: 0, slots }
    }

    pub(crate) fn take_counts(&self) -> Counts {
        std::mem::take(&mut self.counts.lock().unwrap())
    }

    fn zip(
        &self,
        a: &Value,
        b: &Value,
        f: impl Fn(&PrimePower, u64, u64) -> u64,
    ) -> Result<Value, SchemeError> {
        assert_eq!(a.t, b.t, "plaintext moduli");
        let slots = a.slots.iter().zip(&b.slots).map(|(x, y)| f(&a.t, *x, *y)).collect();
        Ok(Value { t: a.t, depth: a.depth.max(b.depth), slots })
    }

    fn map(&self, a: &Value, f: impl Fn(u64) -> u64) -> Result<Value, SchemeError> {
        Ok(Value { slots: a.slots.iter().map(|x| f(*x)).collect(), ..a.clone() })
    }

    fn moved(&self, a: &Value, g: GaloisElement) -> Value {
        let by = self.moves.iter().find(|m| m.0 == g).unwrap().1;
        let v = PeriodicSlots { period: self.shape.columns(), values: a.slots.clone() };
        Value { slots: moved(&v, by, &GaussianRing::new(a.t).unwrap()).values, ..a.clone() }
    }

    /// The product column by column, or value by value where values are independent of each other.
    fn times(&self, a: &Value, b: &[u64]) -> Result<Value, SchemeError> {
        if self.shape.base_degree() == 1 {
            let slots = a.slots.iter().zip(b).map(|(x, y)| a.t.mul(*x, *y)).collect();
            return Ok(Value { slots, ..a.clone() });
        }
        let column = |values: &[u64]| PeriodicSlots {
            period: self.shape.columns(),
            values: values.to_vec(),
        };
        let slots = product(&column(&a.slots), &column(b), &GaussianRing::new(a.t).unwrap()).values;
        Ok(Value { slots, ..a.clone() })
    }

    fn count_galois(&self, gs: impl Iterator<Item = GaloisElement>) {
        self.counts.lock().unwrap().galois += gs.filter(|g| !g.is_identity()).count();
    }
}

impl Scheme for Clear {
    type Ciphertext = Value;

    fn slot_shape(&self) -> &SlotShape {
        &self.shape
    }

    fn plain_prime(&self) -> u64 {
        self.prime
    }

    fn plain_exponent(&self, x: &Value) -> u32 {
        x.t.exponent()
    }

    fn level(&self, _: &Value) -> Level {
        any_level()
    }

    fn noise_bound_bits(&self, _: &Value) -> f64 {
        0.0
    }

    fn capacity_bits(&self, _: &Value) -> f64 {
        f64::INFINITY
    }

    fn encode_elements(&self, _: &[u64]) -> Result<Plaintext, SchemeError> {
        unimplemented!("no circuit under test encodes a plaintext")
    }

    /// In the base ring: powers of X that are powers of W.
    fn check_params(&self, _: &Value) -> Result<(), SchemeError> {
        Ok(())
    }

    fn form(&self, _: &Value) -> everlevel_scheme::Form {
        everlevel_scheme::Form::Bgv
    }
}

impl Arithmetic for Clear {
    type Product = Value;

    fn add(&self, a: &Value, b: &Value) -> Result<Value, SchemeError> {
        self.zip(a, b, PrimePower::add)
    }

    fn sub(&self, a: &Value, b: &Value) -> Result<Value, SchemeError> {
        self.zip(a, b, PrimePower::sub)
    }

    fn neg(&self, a: &Value) -> Result<Value, SchemeError> {
        self.map(a, |x| a.t.sub(0, x))
    }

    fn add_plain(&self, _: &Value, _: &Plaintext) -> Result<Value, SchemeError> {
        unimplemented!("no circuit under test adds a plaintext")
    }

    fn mul_plain(&self, _: &Value, _: &Plaintext) -> Result<Value, SchemeError> {
        unimplemented!("no circuit under test multiplies by a plaintext")
    }

    fn add_scalar(&self, a: &Value, k: i64) -> Result<Value, SchemeError> {
        let mut sum = a.clone();
        // Imaginary parts stay.
        let real = if self.shape.base_degree() == 1 { a.slots.len() } else { self.shape.columns() };
        sum.slots[..real].iter_mut().for_each(|x| *x = a.t.add(*x, a.t.reduce_i64(k)));
        Ok(sum)
    }

    fn mul_scalar(&self, a: &Value, k: i64) -> Result<Value, SchemeError> {
        self.map(a, |x| a.t.mul(x, a.t.reduce_i64(k)))
    }

    fn linear_combination(
        &self,
        terms: &[(&Value, i64)],
        constant: i64,
    ) -> Result<Value, SchemeError> {
        let mut sum = self.map(terms[0].0, |_| 0)?;
        for (x, k) in terms {
            sum = self.add(&sum, &self.mul_scalar(x, *k)?)?;
        }
        self.add_scalar(&sum, constant)
    }

    fn mul_lazy(&self, a: &Value, b: &Value) -> Result<Value, SchemeError> {
        self.counts.lock().unwrap().products += 1;
        assert_eq!(a.t, b.t, "plaintext moduli");
        Ok(Value { depth: a.depth.max(b.depth) + 1, ..self.times(a, &b.slots)? })
    }

    fn add_products(&self, a: &Value, b: &Value) -> Result<Value, SchemeError> {
        self.add(a, b)
    }

    fn relinearize(&self, a: &Value, _: NextUse) -> Result<Value, SchemeError> {
        self.counts.lock().unwrap().relinearizations += 1;
        Ok(a.clone())
    }

    fn prepare(&self, a: &Value, _: NextUse) -> Result<Value, SchemeError> {
        Ok(a.clone())
    }

    fn mod_switch_to(&self, a: &Value, _: Level) -> Result<Value, SchemeError> {
        Ok(a.clone())
    }

    fn mul_monomial(&self, a: &Value, k: i64) -> Result<Value, SchemeError> {
        let (columns, ring) = (self.shape.columns(), GaussianRing::new(a.t).unwrap());
        let stride = (self.shape.ring_index() / 4) as usize / columns;
        assert!(k.rem_euclid(stride as i64) == 0, "a power of W = X^{stride}");
        let order = 4 * columns as i64;
        let first = ring
            .pow(self.shape.root(a.t.exponent()), (k / stride as i64).rem_euclid(order) as u128);
        let powers: Vec<[u64; 2]> =
            std::iter::successors(Some(first), |w| Some(ring.pow(*w, 5))).take(columns).collect();
        self.times(a, &periodic(columns, |j| powers[j]).values)
    }
}

impl PlainModulus for Clear {
    fn reduce_plain_modulus(&self, a: &Value, k: u32) -> Result<Value, SchemeError> {
        let t = a.t.reduced(k).unwrap();
        Ok(Value { t, ..self.map(a, |x| x % t.value())? })
    }

    fn extend_plain_modulus(&self, a: &Value, e: u32) -> Result<Value, SchemeError> {
        let (t, step) = (PrimePower::new(a.t.prime(), e).unwrap(), a.t.value());
        let mut rng = Rng(a.slots.iter().sum());
        let slots = a.slots.iter().map(|x| x + step * rng.below(t.value() / step)).collect();
        Ok(Value { t, slots, ..a.clone() })
    }

    fn multiply_by_p(&self, a: &Value) -> Result<Value, SchemeError> {
        let t = PrimePower::new(a.t.prime(), a.t.exponent() + 1).unwrap();
        Ok(Value { t, ..self.map(a, |x| x * t.prime())? })
    }

    fn divide_by_p(&self, a: &Value) -> Result<Value, SchemeError> {
        assert!(a.slots.iter().all(|x| x % a.t.prime() == 0), "multiples of p");
        let t = a.t.reduced(a.t.exponent() - 1).unwrap();
        Ok(Value { t, ..self.map(a, |x| x / t.prime())? })
    }

    fn convert(&self, a: &Value, _: everlevel_scheme::Form) -> Value {
        a.clone()
    }
}

impl Automorphisms for Clear {
    fn apply_galois_many(
        &self,
        a: &Value,
        gs: &[GaloisElement],
    ) -> Result<Vec<Value>, SchemeError> {
        gs.iter().map(|g| self.apply_galois(a, *g)).collect()
    }

    fn apply_galois(&self, a: &Value, g: GaloisElement) -> Result<Value, SchemeError> {
        self.count_galois([g].into_iter());
        Ok(self.moved(a, g))
    }
}

impl LinearMaps for Clear {
    type Extended = Value;
    type Diagonal = Vec<u64>;

    fn diagonal(&self, d: &DiagonalValues, _: u32, _: Level) -> Result<Vec<u64>, SchemeError> {
        let DiagonalValues::Periodic(d) = d else { panic!("the index is a power of two") };
        let columns = self.shape.columns();
        Ok((0..2)
            .flat_map(|r| (0..columns).map(move |i| d.values[r * d.period + i % d.period]))
            .collect())
    }

    fn hoist(&self, x: &Value, gs: &[GaloisElement]) -> Result<Vec<Value>, SchemeError> {
        self.count_galois(gs.iter().copied());
        Ok(gs.iter().map(|g| self.moved(x, *g)).collect())
    }

    fn combine(
        &self,
        inputs: &[impl Borrow<Value> + Sync],
        rows: &[Vec<Option<&Vec<u64>>>],
    ) -> Result<Vec<Value>, SchemeError> {
        let inputs: Vec<&Value> = inputs.iter().map(Borrow::borrow).collect();
        let row = |row: &Vec<Option<&Vec<u64>>>| {
            let mut sum = self.map(inputs[0], |_| 0)?;
            for (x, d) in inputs.iter().zip(row).filter_map(|(x, d)| Some((x, (*d)?))) {
                sum = self.add(&sum, &self.times(x, d)?)?;
            }
            Ok(sum)
        };
        rows.iter().map(row).collect()
    }

    fn galois_sum(
        &self,
        parts: Vec<(GaloisElement, Value)>,
        _: NextUse,
    ) -> Result<Value, SchemeError> {
        self.count_galois(parts.iter().map(|p| p.0));
        let mut moved = parts.iter().map(|(g, x)| self.moved(x, *g));
        let first = moved.next().unwrap();
        moved.try_fold(first, |sum, x| self.add(&sum, &x))
    }

    fn galois_chain(
        &self,
        parts: impl Iterator<Item = Result<(GaloisElement, Value), SchemeError>>,
        _: NextUse,
    ) -> Result<Value, SchemeError> {
        let mut sum: Option<Value> = None;
        for part in parts {
            let (g, x) = part?;
            self.count_galois(std::iter::once(g));
            let x = match &sum {
                None => x,
                Some(inner) => self.add(&x, inner)?,
            };
            sum = Some(self.moved(&x, g));
        }
        Ok(sum.unwrap())
    }
}

/// The clear scheme has no levels, but the trait wants one.
fn any_level() -> Level {
    Level(0)
}

/// An exhausted ciphertext: its message and made-up overflows, coefficient by coefficient in
/// butterfly order.
pub(crate) struct Base {
    message: Vec<u64>,
    overflow: Vec<(i64, i64)>,
}

const BOUND: i64 = 5;
/// A unit that raised messages are multiplied by.
const UNIT: u64 = 5;
const BASE: i64 = 3;

impl Clear {
    /// Of a polynomial in X^d: with two rows, of any thin plaintext.
    fn coefficients_of_slots(&self, slots: &[u64], e: u32) -> Vec<u64> {
        let transform = SlotTransform::new(&self.shape, e).unwrap();
        let splits: Vec<usize> = (1..transform.stages()).collect();
        let maps = transform.coeff_to_slot(&splits, 1).unwrap();
        let mut coefficients = maps.iter().fold(slots.to_vec(), |v, m| m.apply_plain(&v).unwrap());
        coefficients.truncate(self.shape.slots());
        coefficients
    }

    fn slots_of_coefficients(&self, coefficients: &[u64], e: u32) -> Value {
        let transform = SlotTransform::new(&self.shape, e).unwrap();
        let splits: Vec<usize> = (1..transform.stages()).collect();
        let maps = transform.slot_to_coeff(&splits).unwrap();
        let thin = self.encrypt(coefficients.to_vec(), e);
        Value { slots: maps.iter().fold(thin.slots, |v, m| m.apply_plain(&v).unwrap()), ..thin }
    }
}

impl Bootstrappable for Clear {
    type Base = Base;

    fn overflow_bound(&self) -> u64 {
        BOUND as u64
    }

    fn minimum_capacity(&self) -> f64 {
        0.0
    }

    fn to_base_modulus(&self, x: &Value) -> Result<Base, SchemeError> {
        let mut rng = Rng(x.slots[0]);
        let mut digit = || rng.below(2 * BOUND as u64 + 1) as i64 - BOUND;
        let message = self.coefficients_of_slots(&x.slots, 1);
        Ok(Base { overflow: message.iter().map(|_| (digit(), digit())).collect(), message })
    }

    fn mod_raise_overflow(&self, r: &Base, delta: u64) -> Result<Value, SchemeError> {
        let exponent = if delta == self.prime { 2 } else { 1 };
        let t = PrimePower::new(self.prime, exponent).unwrap();
        let u: Vec<u64> =
            r.overflow.iter().map(|(i, j)| t.reduce_i64(j - delta as i64 * i)).collect();
        Ok(self.slots_of_coefficients(&u, exponent))
    }

    fn mod_raise_message(&self, r: &Base, like: &Value) -> Result<Value, SchemeError> {
        assert_eq!(like.t.exponent(), 1);
        let t = like.t;
        let m: Vec<u64> = r
            .overflow
            .iter()
            .zip(&r.message)
            .map(|((i, _), m)| t.add(*m, t.reduce_i64(BASE * i)))
            .collect();
        Ok(self.slots_of_coefficients(&m, 1))
    }

    fn base_modulus_mod_t(&self, _: &Base) -> i64 {
        BASE
    }

    fn message_exponent(&self) -> u32 {
        1
    }

    fn overflow_digits(&self) -> u32 {
        1
    }

    fn mod_raise_scaled(&self, r: &Base) -> Result<Value, SchemeError> {
        let t = PrimePower::new(self.prime, 2).unwrap();
        let u: Vec<u64> = r
            .overflow
            .iter()
            .zip(&r.message)
            .map(|((i, _), m)| t.add(t.mul(self.prime, t.mul(UNIT, *m)), t.reduce_i64(*i)))
            .collect();
        Ok(self.slots_of_coefficients(&u, 2))
    }

    fn encrypt_zero_at(&self, _: f64) -> Result<Value, SchemeError> {
        Ok(self.encrypt(vec![0; self.shape.slots()], 1))
    }

    fn transparent(&self, _: &Plaintext) -> Result<Value, SchemeError> {
        unimplemented!("no circuit under test takes a plaintext")
    }

    fn prepare_thin_input(&self, x: &Value, _: f64) -> Result<Value, SchemeError> {
        Ok(x.clone())
    }

    fn set_correction_factor(&self, _: &Base, x: Value) -> Value {
        let inverse = x.t.inv(UNIT).unwrap();
        Value { slots: x.slots.iter().map(|v| x.t.mul(*v, inverse)).collect(), ..x }
    }
}
