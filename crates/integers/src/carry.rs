//! Carries: digits with up to 31 possible values become canonical.
//!
//! Where digits have the capacity, products join what each of them does with a carry, in log2 k
//! levels for k digits. Otherwise carries ripple: one at a time where digits are exhausted, each
//! added to the next digit before that is bootstrapped, so that k digits take k bootstrappings; and
//! two at a time where they have the capacity for tables, or a mask follows.

use crate::column::{BASE, Column, Digit, POINTS, value};
use crate::context::{IntegerScheme, Integers};
use crate::encode::standard_form;
use crate::error::IntegersError;
use crate::question::Kept;
use crate::split::{digits_of, public_digits, split};

/// The largest number of digits of a value for which carries are computed.
pub(crate) const DIGITS: usize = 31;
/// The values of a carry and a sign, -1 to 2.
const PAIR: i64 = 4;

/// Whether the digits are 0..=15 above this anchor.
pub(crate) fn canonical_form<C>(x: &Column<C>, anchor: i128) -> bool {
    x.anchor == anchor && x.digits.iter().all(|d| 0 <= d.low && d.high < BASE)
}

/// The column; an integer, which may be all that its interval leaves, as digits above this anchor.
fn above<C>(x: Column<C>, anchor: i128, count: usize) -> Column<C> {
    match x.public_value() {
        Some(v) => Column { anchor, digits: public_digits(v - anchor, count), ..x },
        None => x,
    }
}

/// A carry, public or encrypted.
enum Carry<C> {
    /// The same in every slot.
    Public(i64),
    /// 0 or 1.
    Bit(Digit<C>),
}

/// Carries, and sums of digits and carries.
type Carries<C> = (Vec<Carry<C>>, Vec<Option<Digit<C>>>);

/// What is done with digits whose carries are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Anything.
    Any,
    /// Each is multiplied by a plaintext. Carries that ripple one at a time leave too little
    /// capacity for that, so that each digit would be bootstrapped once more.
    Mask,
}

/// How a digit determines its outgoing carry from the incoming one.
enum Step {
    /// The outgoing carry is this one, whatever the incoming carry is.
    Public(i64),
    /// The incoming carry is public: the outgoing one is whether the digit is at least `from`.
    Bit { from: i64 },
    /// The outgoing carry is 1, the incoming one, or 0: given by the sign of the digit minus 15.
    Sign,
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// The column with digits 0..=15 above the standard anchor of its interval. Whoever decrypts
    /// such a column sees only its values, and nothing of how they were computed.
    ///
    /// It costs 10 to 14 products for each digit with carries, for example after a sum of two
    /// columns, at depth 5 to 10; nothing if the column has that form already. Fresh columns begin
    /// at a lower level, as those that are compared do ([`Integers::lt`]). After bootstrapping,
    /// each two digits take a table more.
    ///
    /// # Errors
    /// [`IntegersError::Width`] beyond 124 bits; those of the scheme and of bootstrapping.
    pub fn normalized(
        &self,
        x: &Column<S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        self.normalized_to(x, standard_form(x.interval))
    }

    /// The column with `count` digits 0..=15 above an anchor, modulo 16^count.
    pub(crate) fn normalized_to(
        &self,
        x: &Column<S::Ciphertext>,
        form: (i128, usize),
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        self.normalized_before(x, form, Next::Any)
    }

    /// [`Integers::normalized_to`] before what comes next.
    pub(crate) fn normalized_before(
        &self,
        x: &Column<S::Ciphertext>,
        (anchor, count): (i128, usize),
        next: Next,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        if canonical_form(x, anchor) && x.digits.len() <= count || x.public_value().is_some() {
            return Ok(x.clone());
        }
        if count > DIGITS {
            let interval = x.interval;
            return Err(IntegersError::Width { interval, digits: count, highest: DIGITS });
        }
        let room = |d: &Digit<S::Ciphertext>| (-d.low, POINTS - 1 - d.high);
        let ranges: Vec<_> = (0..count).map(|i| room(&x.digit(i))).collect();
        let k = x.anchor - anchor;
        let within = |v: i128| v >= anchor && (v - anchor) >> (4 * count) == 0;
        let exact = within(x.interval.low()) && within(x.interval.high());
        // Constants that add up exactly leave nothing to be reduced above the top digit.
        let choices = [(0, false), (1, false), (0, true), (1, true)];
        for (carry, modular) in choices {
            let whole = exact && x.digits.len() <= count;
            let found = (modular || whole).then(|| split(k - carry, &ranges, modular));
            let Some(constants) = found.flatten() else { continue };
            let used = &x.digits[..x.digits.len().min(count)];
            let shifted = self.pairwise((used, 1), (&[], 0), &constants)?;
            let digits = self.carried(shifted, carry as i64, !modular, next)?;
            let found = Column { anchor, digits, ..x.clone() };
            // What the interval says of the upper digits is known without a table.
            return Ok(if exact { above(found.narrowed(), anchor, count) } else { found });
        }
        // No choice of constants leaves the digits within 0..=30: canonical above an anchor of
        // their own first.
        let own = x.anchor + value(x.digits.iter().map(|d| d.low));
        let reached = (x.interval.high() - own).unsigned_abs();
        let first = self.normalized_to(x, (own, digits_of(reached)))?;
        Ok(above(self.normalized_before(&first, (anchor, count), next)?, anchor, count))
    }

    /// Digits 0..=15 of Σ 16^i s_i + carry modulo 16^k for k digits s_i of 0..=30; `exact` if it is
    /// below 16^k.
    fn carried(
        &self,
        s: Vec<Digit<S::Ciphertext>>,
        carry: i64,
        exact: bool,
        next: Next,
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let mut known = Some(carry);
        let mut steps = Vec::with_capacity(s.len());
        for digit in s.iter().take(s.len().saturating_sub(1)) {
            let step = match known {
                Some(c) if digit.high + c < BASE => Step::Public(0),
                Some(c) if digit.low + c >= BASE => Step::Public(1),
                Some(c) => Step::Bit { from: BASE - c },
                None if digit.high < BASE - 1 => Step::Public(0),
                None if digit.low >= BASE => Step::Public(1),
                None => Step::Sign,
            };
            known = if let Step::Public(c) = step { Some(c) } else { None };
            steps.push(step);
        }
        let (carries, sums) = self.carries(&s, &steps, carry, next)?;

        let zero = Digit::public(0);
        let part = |i: usize| match carries.get(i) {
            Some(Carry::Public(c)) => (&zero, *c),
            Some(Carry::Bit(bit)) => (bit, 0),
            None => (&zero, 0),
        };
        s.iter()
            .enumerate()
            .map(|(i, digit)| {
                let last = i + 1 == s.len();
                let (next, n) = part(i + 1);
                let (digit, (own, c)) = match sums.get(i) {
                    Some(Some(sum)) => (sum, (&zero, 0)),
                    _ => (digit, part(i)),
                };
                let terms = [(digit, 1), (own, 1), (next, if last { 0 } else { -BASE })];
                let sum = self.combine(&terms, c - if last { 0 } else { BASE * n })?;
                if !last || exact {
                    let (low, high) = (sum.low.max(0), sum.high.min(BASE - 1));
                    return Ok(sum.within(low, high));
                }
                self.reduced(sum)
            })
            .collect()
    }

    /// The top digit modulo 16, whose carry is dropped.
    fn reduced(&self, digit: Digit<S::Ciphertext>) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let block = digit.low.div_euclid(BASE);
        if block == digit.high.div_euclid(BASE) {
            return self.combine(&[(&digit, 1)], -BASE * block);
        }
        self.map_one(digit, |x| x.rem_euclid(BASE))
    }

    /// The carry into the lowest digit and those out of all digits that have a step; and digits to
    /// which the carry from below was added already, and which were bootstrapped with it.
    fn carries(
        &self,
        s: &[Digit<S::Ciphertext>],
        steps: &[Step],
        carry: i64,
        next: Next,
    ) -> Result<Carries<S::Ciphertext>, IntegersError> {
        let table = |place: usize, x: i64| match steps[place] {
            Step::Public(c) => c,
            Step::Bit { from } => i64::from(x >= from),
            Step::Sign => (x - (BASE - 1)).signum(),
        };
        let mut sums = vec![None; s.len()];
        // Runs of digits that a carry may pass, each begun by one that gets a public carry.
        let mut found: Vec<Option<Vec<Digit<S::Ciphertext>>>> = Vec::new();
        let mut tables: Vec<(usize, Digit<S::Ciphertext>)> = Vec::new();
        let mut first = 0;
        for run in steps.chunk_by(|_, next| matches!(next, Step::Sign)) {
            let digits = &s[first..first + run.len()];
            let bits = match run[0] {
                Step::Bit { from } => {
                    let kept = Kept { at: BASE - 1, side: 1 };
                    let lowest = |x: i64| i64::from(x >= from);
                    let pairs = (run.len() - 1).div_ceil(2);
                    let own = |i: usize, x: i64| table(first + i, x);
                    match self.passing(digits, lowest, kept, true)? {
                        Some(parts) => Some(self.passed_each(parts)?),
                        None if next == Next::Any
                            && self.ripple_is_shorter(digits, pairs, own)? =>
                        {
                            self.rippled(digits, lowest, kept)?.map(|found| {
                                // The lowest one has a public carry.
                                let sums = sums[first..].iter_mut().zip(found.sums).skip(1);
                                sums.for_each(|(place, sum)| *place = Some(sum));
                                found.bits
                            })
                        }
                        None => None,
                    }
                }
                Step::Public(_) | Step::Sign => Some(Vec::new()),
            };
            if bits.is_none() {
                tables.extend((first..).zip(digits.iter().cloned()));
            }
            found.push(bits);
            first += run.len();
        }
        // The signs of all others, which are bootstrapped together.
        let (places, digits): (Vec<usize>, Vec<_>) = tables.into_iter().unzip();
        let signs = self.map(&digits, |i, x| table(places[i], x))?;
        let mut signs = signs.as_slice();
        let mut carries = vec![Carry::Public(carry)];
        let runs = steps.chunk_by(|_, next| matches!(next, Step::Sign));
        for (run, bits) in runs.zip(found) {
            if let Step::Public(c) = run[0] {
                carries.push(Carry::Public(c));
                continue;
            }
            let bits = match bits {
                Some(bits) => bits,
                None => {
                    let (own, rest) = signs.split_at(run.len());
                    signs = rest;
                    self.in_pairs(own)?
                }
            };
            carries.extend(bits.into_iter().map(Carry::Bit));
        }
        Ok((carries, sums))
    }

    /// The carries of a run: of a bit, its first carry, and the signs of the digits above. A sum of
    /// a carry and of two signs has 12 values, of which one table makes the next two carries, with
    /// one bootstrapping at most.
    fn in_pairs(
        &self,
        run: &[Digit<S::Ciphertext>],
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let Some((bit, signs)) = run.split_first() else { return Ok(Vec::new()) };
        let mut found = vec![bit.clone()];
        for pair in signs.chunks(2) {
            let last = found[found.len() - 1].clone();
            let mut terms = vec![(&last, 1)];
            terms.extend(pair.iter().zip([1, PAIR]));
            let sum = self.combine(&terms, 0)?;
            let carries = |x: i64| {
                let (upper, lower) = ((x + 1).div_euclid(PAIR), (x + 1).rem_euclid(PAIR) - 1);
                let carry = i64::from(lower > 0);
                [carry, if upper == 0 { carry } else { i64::from(upper > 0) }]
            };
            let table =
                |i: usize| -> Vec<i64> { (sum.low..=sum.high).map(|x| carries(x)[i]).collect() };
            let plan = self.plan(sum.low, sum.high, (0..pair.len()).map(table).collect())?;
            found.extend(self.tables(vec![(sum, plan)])?.into_iter().flatten());
        }
        Ok(found)
    }

    /// Σ 2^i t_i.
    pub(crate) fn weighted(
        &self,
        signs: &[Digit<S::Ciphertext>],
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let terms: Vec<_> = signs.iter().enumerate().map(|(i, t)| (t, 1i64 << i)).collect();
        self.combine(&terms, 0)
    }
}
