//! Comparisons of integers that the server knows, another one in each slot, with an encrypted
//! constant.
//!
//! With a digit a that is known and a digit x that is encrypted, every function of a - x is
//! Σ_v [x = v] f(a - v): linear in the truth values [x = v], which are made once for a constant,
//! and a product by a plaintext for each of them takes the place of the polynomial of a
//! difference. Whether two integers are equal takes less still: the number of bits in which they
//! differ is Σ_i a_i + Σ_i (1 - 2 a_i) x_i.

use std::sync::{Mutex, PoisonError};

use everlevel_circuit::Value;
use rayon::prelude::*;

use crate::column::{Column, Digit};
use crate::compare::Question;
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::interval::Interval;
use crate::slots::digit_of;

/// Signs that one table joins.
const GROUP: usize = 4;
/// Bits of a digit.
const BITS: usize = 4;

/// What is asked of an integer a that is known and an encrypted constant x.
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

/// An encrypted integer, the same in every slot, with what comparisons make of it once.
pub struct EncryptedConstant<C> {
    x: Column<C>,
    /// The bits of all digits.
    bits: Mutex<Option<Vec<Digit<C>>>>,
    /// For each digit [x = v] for each v of its window but the least.
    values: Mutex<Option<Vec<Vec<Digit<C>>>>>,
}

impl<C> EncryptedConstant<C> {
    /// Of a column that holds it in every slot, as it was encrypted.
    pub fn new(x: Column<C>) -> Self {
        EncryptedConstant { x, bits: Mutex::default(), values: Mutex::default() }
    }

    /// All values that it can have.
    pub fn interval(&self) -> Interval {
        self.x.interval
    }
}

/// What is known of a slot.
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
}

/// Σ_i w_i y_i + c, where w_i and c are plaintexts.
struct Affine<C> {
    terms: Vec<(Value<C>, Vec<i64>)>,
    constant: Vec<i64>,
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// Whether `relation` holds between each of `known` and a constant, as 0 or 1. Behind the
    /// column it is the answer for two integers whose difference has the sign `behind`.
    ///
    /// Cost for k digits: products of the constant once, 3 to 8 a digit; for each column 4 k
    /// products by plaintexts and a table of 4 k + 1 values for equality, up to 15 k of them and
    /// tables of a fourth as many signs for order.
    ///
    /// # Errors
    /// [`IntegersError::Length`] for no integers, or more than slots; [`IntegersError::Depth`]
    /// without bootstrapping; those of the scheme.
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
                let values = self.constant_values(constant)?;
                let holds = |s: Known, v: i64| {
                    let sign = match s {
                        Known::Integer(a) => (digit_of(a, 0) - v).signum(),
                        Known::Sign(sign) => sign,
                    };
                    i64::from(relation.holds(sign))
                };
                let sum = self.bilinear(&x.digits, &values, &slots, |_, s, v| holds(s, v));
                self.affine(sum, (0, 1), pad)?
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

    /// [x = v] for each digit of a constant and each v of its window but the least.
    fn constant_values(
        &self,
        constant: &EncryptedConstant<S::Ciphertext>,
    ) -> Result<Vec<Vec<Digit<S::Ciphertext>>>, IntegersError> {
        let mut made = constant.values.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = &*made {
            return Ok(made.clone());
        }
        let requests = constant.x.digits.iter().map(|d| {
            let is = |v: i64| (d.low..=d.high).map(|y| i64::from(y == v)).collect();
            Ok((d.clone(), self.plan(d.low, d.high, (d.low + 1..=d.high).map(is).collect())?))
        });
        let requests = requests.collect::<Result<Vec<_>, IntegersError>>()?;
        Ok(made.insert(self.tables(requests)?).clone())
    }

    /// The bits of a constant, four for each digit.
    fn constant_bits(
        &self,
        constant: &EncryptedConstant<S::Ciphertext>,
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let mut made = constant.bits.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = &*made {
            return Ok(made.clone());
        }
        Ok(made.insert(self.bits_of(&constant.x.digits)?).clone())
    }

    /// Σ_i 2^i f(i, a_i, x_i) over digits x_i, each with its truth values.
    fn bilinear(
        &self,
        digits: &[Digit<S::Ciphertext>],
        values: &[Vec<Digit<S::Ciphertext>>],
        slots: &[Known],
        f: impl Fn(usize, Known, i64) -> i64,
    ) -> Affine<S::Ciphertext> {
        let mut terms = Vec::new();
        let mut constant = vec![0; slots.len()];
        for (i, (digit, values)) in digits.iter().zip(values).enumerate() {
            let least: Vec<i64> = slots.iter().map(|s| f(i, *s, digit.low)).collect();
            for (v, value) in (digit.low + 1..=digit.high).zip(values) {
                if let Some(cipher) = &value.cipher {
                    let above = slots.iter().zip(&least).map(|(s, l)| (f(i, *s, v) - l) << i);
                    terms.push((cipher.clone(), above.collect()));
                }
            }
            constant.iter_mut().zip(least).for_each(|(c, l)| *c += l << i);
        }
        Affine { terms, constant }
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
        let values = self.constant_values(constant)?;
        let digits = &constant.x.digits;
        let last = digits.len() - 1;
        let sign = |k: usize, s: Known, v: i64| match s {
            Known::Integer(a) => (digit_of(a, k) - v).signum(),
            Known::Sign(sign) if k == last => sign,
            Known::Sign(_) => 0,
        };
        let groups = (0..digits.len()).step_by(GROUP).map(|first| {
            let end = digits.len().min(first + GROUP);
            let (group, values) = (&digits[first..end], &values[first..end]);
            let sum = self.bilinear(group, values, slots, |i, s, v| sign(first + i, s, v));
            let most = (1 << (end - first)) - 1;
            let pad = if end > last { behind << (last - first) } else { 0 };
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
        Ok(Digit { cipher: Some(cipher), low, high, pad })
    }
}
