//! Comparisons of integers that the server knows, a different one in each slot, with an encrypted
//! constant.
//!
//! For a known digit a and an encrypted digit x, every function of a and x is Σ_j c_j(a) x^j, which
//! is linear in powers of x. These are computed once for a constant, and a product by a plaintext
//! for each of them replaces the polynomial of a difference. Equality costs even less: the number
//! of bits in which two integers differ is Σ_i a_i + Σ_i (1 - 2 a_i) x_i.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use everlevel_circuit::Value;
use everlevel_circuit::poly::Polynomial;
use everlevel_scheme::NextUse;
use rayon::prelude::*;

use crate::carry::canonical_form;
use crate::column::{BASE, Column, Digit};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::passing::GROUP;
use crate::question::Question;
use crate::slots::digit_of;

/// Bits of a digit.
const BITS: usize = 4;

/// A relation between a known integer a and an encrypted constant x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// a = x.
    Equal,
    /// a < x.
    Less,
    /// a <= x.
    LessOrEqual,
    /// a > x.
    Greater,
    /// a >= x.
    GreaterOrEqual,
}

impl Relation {
    /// The answer for a difference of this sign.
    fn holds(self, sign: i64) -> bool {
        match self {
            Relation::Equal => sign == 0,
            Relation::Less => sign < 0,
            Relation::LessOrEqual => sign <= 0,
            Relation::Greater => sign > 0,
            Relation::GreaterOrEqual => sign >= 0,
        }
    }

    fn question(self) -> Option<Question> {
        match self {
            Relation::Equal => None,
            Relation::Less => Some(Question::Less),
            Relation::LessOrEqual => Some(Question::LessOrEqual),
            Relation::Greater => Some(Question::Greater),
            Relation::GreaterOrEqual => Some(Question::GreaterOrEqual),
        }
    }
}

/// x, x^2, .. of a digit x.
type Powers<C> = Vec<Value<C>>;

/// An encrypted integer, the same in every slot, with its bits and powers, which comparisons
/// compute once.
pub struct EncryptedConstant<C> {
    x: Column<C>,
    /// The bits of all digits.
    bits: Mutex<Option<Vec<Digit<C>>>>,
    /// The powers of each digit, from the first to as many as its polynomials have.
    powers: Mutex<Option<Vec<Powers<C>>>>,
}

impl<C> EncryptedConstant<C> {
    /// The constant of a freshly encrypted column that holds it in every slot.
    pub fn new(x: Column<C>) -> Self {
        EncryptedConstant { x, bits: Mutex::default(), powers: Mutex::default() }
    }

    /// The interval of the values that it can have.
    pub fn interval(&self) -> Interval {
        self.x.interval
    }
}

/// The public knowledge about a slot.
#[derive(Clone, Copy)]
enum Known {
    /// a, above the anchor of the constant.
    Integer(i128),
    /// The sign of a - x, whatever x is.
    Sign(i64),
}

impl Known {
    /// Digit k of a; none where the sign is known.
    fn digit(self, k: usize) -> Option<i64> {
        match self {
            Known::Integer(a) => Some(digit_of(a, k)),
            Known::Sign(_) => None,
        }
    }

    /// The class of digit k of a - x: one of as many as there are known answers.
    fn class(self, k: usize) -> usize {
        match self {
            Known::Integer(a) => digit_of(a, k) as usize,
            Known::Sign(sign) => (BASE + 1 + sign) as usize,
        }
    }

    /// The sign of a digit of a class less a digit v; of known signs `sign` of it.
    fn sign(class: usize, v: i64, sign: impl Fn(i64) -> i64) -> i64 {
        match class as i64 {
            a if a < BASE => (a - v).signum(),
            known => sign(known - BASE - 1),
        }
    }
}

/// How many classes there are: digits, and signs.
const CLASSES: usize = BASE as usize + 3;

/// Σ_i w_i y_i + c, where w_i and c are plaintexts.
struct Affine<C> {
    terms: Vec<(Value<C>, Vec<i64>)>,
    constant: Vec<i64>,
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// Whether `relation` holds between each integer of `known` and a constant, as 0 or 1. The
    /// slots behind the column hold the answer for two integers whose difference has the sign
    /// `behind`.
    ///
    /// For k digits it costs up to 14 products for each digit, once for a constant. For each
    /// column, equality costs 4 k products by plaintexts and a table of 4 k + 1 values; the other
    /// relations cost up to 15 k products by plaintexts and a table for each four digits.
    ///
    /// # Errors
    /// [`IntegersError::Length`] for no integers, or more than slots or entries of the constant;
    /// [`IntegersError::Type`] for a constant with carries; [`IntegersError::Depth`] without
    /// bootstrapping; those of the scheme.
    pub fn related(
        &self,
        known: &[i128],
        relation: Relation,
        constant: &EncryptedConstant<S::Ciphertext>,
        behind: i64,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        if known.is_empty() || known.len() > self.slots() {
            let expected = format!("1 to {}, the number of slots", self.slots());
            return Err(IntegersError::Length { found: known.len(), expected });
        }
        let x = &constant.x;
        if let Some(found) = x.length.filter(|n| *n < known.len()) {
            let expected = format!("a constant in {} slots, one for each integer", known.len());
            return Err(IntegersError::Length { found, expected });
        }
        if !canonical_form(x, x.anchor) {
            return Err(IntegersError::Type {
                operation: "a comparison with known integers",
                found: x.interval,
                expected: "a constant as it was encrypted, or normalized",
            });
        }
        let of = |a: &i128| match (*a < x.interval.low(), *a > x.interval.high()) {
            (true, _) => Known::Sign(-1),
            (_, true) => Known::Sign(1),
            _ => Known::Integer(*a - x.anchor),
        };
        let behind_all = std::iter::repeat_n(Known::Sign(behind), self.slots() - known.len());
        let slots: Vec<Known> = known.iter().map(of).chain(behind_all).collect();
        let pad = i64::from(relation.holds(behind));
        let answer = match (x.digits.len(), relation.question()) {
            (0, _) => {
                let sign = |s: &Known| match s {
                    Known::Integer(a) => a.signum() as i64,
                    Known::Sign(sign) => *sign,
                };
                let constant = slots.iter().map(|s| relation.holds(sign(s)).into()).collect();
                self.affine(Affine { terms: Vec::new(), constant }, (0, 1), pad)?
            }
            (1, _) => {
                let holds = |_, class, v| relation.holds(Known::sign(class, v, |s| s)).into();
                let powers = self.constant_powers(constant)?;
                self.affine(self.bilinear(constant, &powers, 0..1, &slots, holds)?, (0, 1), pad)?
            }
            (_, Some(question)) => self.ordered(constant, &slots, question, behind)?,
            (_, None) => {
                let differing = self.differing_bits(constant, &slots, behind)?;
                self.map(&[differing], |_, h| i64::from(h == 0))?
                    .pop()
                    .unwrap_or_else(|| Digit::public(0))
            }
        };
        let digits = vec![Digit { pad, ..answer }];
        Ok(Column { interval: Interval::BOOL, anchor: 0, digits, length: Some(known.len()) })
    }

    /// The powers of the digits of a constant.
    fn constant_powers(
        &self,
        constant: &EncryptedConstant<S::Ciphertext>,
    ) -> Result<Vec<Powers<S::Ciphertext>>, IntegersError> {
        // Not locked while they are made: threads that wait there take up other comparisons.
        let lock = || constant.powers.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().clone();
        if let Some(known) = known {
            return Ok(known);
        }
        let of = |d: &Digit<S::Ciphertext>| {
            let mut powers: Vec<Value<S::Ciphertext>> = d.cipher.iter().cloned().collect();
            for j in 2..d.points() as usize {
                let (a, b) = (&powers[j / 2 - 1], &powers[j - j / 2 - 1]);
                let product = self.apply(&[a, b], |s, x| Ok(s.mul(x[0], x[1], NextUse::Keep)?));
                powers.push(product?);
            }
            Ok(powers)
        };
        let found = constant.x.digits.par_iter().map(of).collect::<Result<_, IntegersError>>()?;
        Ok(lock().get_or_insert(found).clone())
    }

    /// The bits of a constant, four for each digit.
    fn constant_bits(
        &self,
        constant: &EncryptedConstant<S::Ciphertext>,
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let lock = || constant.bits.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().clone();
        if let Some(known) = known {
            return Ok(known);
        }
        let found = self.bits_of(&constant.x.digits)?;
        Ok(lock().get_or_insert(found).clone())
    }

    /// Σ_i 2^i f(k, class of a_k, x_k) over the digits k of `range`, i counted from its start.
    fn bilinear(
        &self,
        constant: &EncryptedConstant<S::Ciphertext>,
        powers: &[Powers<S::Ciphertext>],
        range: Range<usize>,
        slots: &[Known],
        f: impl Fn(usize, usize, i64) -> i64,
    ) -> Result<Affine<S::Ciphertext>, IntegersError> {
        let modulus = self.modulus();
        let residues = |values: Vec<i64>| -> Vec<u64> {
            values.into_iter().map(|v| modulus.reduce_i64(v)).collect()
        };
        let (mut terms, mut sum) = (Vec::new(), vec![0; slots.len()]);
        for (i, k) in range.enumerate() {
            let (digit, powers) = (&constant.x.digits[k], &powers[k]);
            // For each class the coefficients of a polynomial in the digit of the constant.
            let points: Vec<i64> = (digit.low..=digit.high).collect();
            let of_class = |class| {
                let values = points.iter().map(|v| f(k, class, *v)).collect();
                let (points, values) = (residues(points.clone()), residues(values));
                let polynomial = Polynomial::interpolate(modulus, &points, &values)?;
                Ok(polynomial.coefficients().iter().map(|c| modulus.centered(*c)).collect())
            };
            let classes = (0..CLASSES).map(of_class).collect::<Result<_, IntegersError>>()?;
            let classes: Vec<Vec<i64>> = classes;
            let known: Vec<usize> = slots.iter().map(|s| s.class(k)).collect();
            let weights = |j: usize| {
                let weight = |class: &Vec<i64>| class.get(j).map_or(0, |c| c << i);
                let weights: Vec<i64> = classes.iter().map(weight).collect();
                known.iter().map(|class| weights[*class]).collect::<Vec<_>>()
            };
            sum.iter_mut().zip(weights(0)).for_each(|(c, w)| *c += w);
            let products = powers.iter().enumerate().map(|(j, x)| (x.clone(), weights(j + 1)));
            terms.extend(products.filter(|(_, weights)| weights.iter().any(|w| *w != 0)));
        }
        Ok(Affine { terms, constant: sum })
    }

    /// The sign of a - x by its digits, signs of four digits joined as in comparisons of columns,
    /// and what is asked of it.
    fn ordered(
        &self,
        constant: &EncryptedConstant<S::Ciphertext>,
        slots: &[Known],
        question: Question,
        behind: i64,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let powers = self.constant_powers(constant)?;
        let digits = constant.x.digits.len();
        let top = digits - 1;
        let sign = |k, class, v| Known::sign(class, v, |sign| if k == top { sign } else { 0 });
        let groups = (0..digits).step_by(GROUP).map(|first| {
            let end = digits.min(first + GROUP);
            let sum = self.bilinear(constant, &powers, first..end, slots, sign)?;
            let most = (1 << (end - first)) - 1;
            let pad = if end == digits { behind << (top - first) } else { 0 };
            self.affine(sum, (-most, most), pad)
        });
        self.tree(groups.collect::<Result<Vec<_>, _>>()?, question)
    }

    /// In how many bits a and x differ; 0 or 1 where it is known whether they do.
    fn differing_bits(
        &self,
        constant: &EncryptedConstant<S::Ciphertext>,
        slots: &[Known],
        behind: i64,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let bits = self.constant_bits(constant)?;
        let mut terms = Vec::new();
        let mut sum: Vec<i64> = slots
            .iter()
            .map(|s| match s {
                Known::Integer(_) => 0,
                Known::Sign(sign) => sign.abs(),
            })
            .collect();
        for (i, bit) in bits.iter().enumerate() {
            let known = |s: &Known| s.digit(i / BITS).map(|a| a >> (i % BITS) & 1);
            // Where the bit of x is public, it may differ all the same.
            let public = if bit.cipher.is_none() { bit.low } else { 0 };
            sum.iter_mut().zip(slots).for_each(|(h, s)| *h += known(s).map_or(0, |a| a ^ public));
            if let Some(cipher) = &bit.cipher {
                let weight = |s: &Known| known(s).map_or(0, |a| 1 - 2 * a);
                terms.push((cipher.clone(), slots.iter().map(weight).collect()));
            }
        }
        let most = bits.len() as i64;
        self.affine(Affine { terms, constant: sum }, (0, most), behind.abs())
    }

    /// A sum of products by plaintexts and a plaintext, whose values are in `window`.
    fn affine(
        &self,
        sum: Affine<S::Ciphertext>,
        (low, high): (i64, i64),
        pad: i64,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let constant = self.encoded(&sum.constant)?;
        let product = |(x, weights): &(Value<S::Ciphertext>, Vec<i64>)| {
            let weights = self.encoded(weights)?;
            self.apply(&[x], |s, x| Ok(s.mul_plain(x[0], &weights)?))
        };
        let products = sum.terms.par_iter().map(product);
        let products = products.collect::<Result<Vec<_>, IntegersError>>()?;
        let products: Vec<_> = products.iter().collect();
        let cipher = match &products[..] {
            [] => self.session().share(self.session().scheme().transparent(&constant)?),
            _ => self.apply(&products, |s, x| {
                let terms: Vec<_> = x.iter().map(|x| (*x, 1)).collect();
                Ok(s.add_plain(&s.linear_combination(&terms, 0)?, &constant)?)
            })?,
        };
        Ok(Digit { cipher: Some(cipher), low, high, pad, steps: None })
    }
}
