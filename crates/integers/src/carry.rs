//! Carries: digits with up to 31 possible values become canonical, by carry lookahead.

use crate::column::{BASE, Column, Digit, POINTS, value};
use crate::context::{IntegerScheme, Integers};
use crate::encode::standard_form;
use crate::error::IntegersError;
use crate::split::{digits_of, public_digits, split};

/// The largest number of digits of a value for which carries are computed.
pub(crate) const DIGITS: usize = 31;
/// Digits whose signs are joined in one table.
const GROUP: usize = 4;

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
    /// It costs 10 to 18 products for each digit with carries, for example after a sum of two
    /// columns, at depth 5 to 15; nothing if the column has that form already.
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
        (anchor, count): (i128, usize),
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
            let digits = self.carried(shifted, carry as i64, !modular)?;
            let found = Column { anchor, digits, ..x.clone() };
            // What the interval says of the upper digits is known without a table.
            return Ok(if exact { above(found.narrowed(), anchor, count) } else { found });
        }
        // No choice of constants leaves the digits within 0..=30: canonical above an anchor of
        // their own first.
        let own = x.anchor + value(x.digits.iter().map(|d| d.low));
        let reached = (x.interval.high() - own).unsigned_abs();
        let first = self.normalized_to(x, (own, digits_of(reached)))?;
        Ok(above(self.normalized_to(&first, (anchor, count))?, anchor, count))
    }

    /// Digits 0..=15 of Σ 16^i s_i + carry modulo 16^k for k digits s_i of 0..=30; `exact` if it is
    /// below 16^k.
    fn carried(
        &self,
        s: Vec<Digit<S::Ciphertext>>,
        carry: i64,
        exact: bool,
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
        let signs = self.map(&s[..steps.len()], |i, x| match steps[i] {
            Step::Public(c) => c,
            Step::Bit { from } => i64::from(x >= from),
            Step::Sign => (x - (BASE - 1)).signum(),
        })?;
        // Runs of digits that a carry may pass, each begun by one that gets a public carry.
        let mut carries = vec![Carry::Public(carry)];
        let mut run: Vec<Digit<S::Ciphertext>> = Vec::new();
        for (step, sign) in steps.iter().zip(&signs) {
            if !matches!(step, Step::Sign) {
                carries.extend(self.prefixes(&run)?.into_iter().map(Carry::Bit));
                run.clear();
            }
            match step {
                Step::Public(c) => carries.push(Carry::Public(*c)),
                Step::Bit { .. } | Step::Sign => run.push(sign.clone()),
            }
        }
        carries.extend(self.prefixes(&run)?.into_iter().map(Carry::Bit));

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
                let ((own, c), (next, n)) = (part(i), part(i + 1));
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

    /// The carries of a run: of a bit b, its first carry, and signs t_1, t_2, .. of the digits
    /// above whether 2b - 1 + Σ_{1 <= m <= i} 2^m t_m is positive, for each i.
    fn prefixes(
        &self,
        run: &[Digit<S::Ciphertext>],
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let positive = |_, x: i64| i64::from(x > 0);
        let Some(bit) = run.first() else { return Ok(Vec::new()) };
        if run.len() > GROUP * GROUP {
            // Four groups first, whose last carry the others begin with.
            let (lower, upper) = run.split_at(GROUP * GROUP);
            let mut found = self.prefixes(lower)?;
            let rest: Vec<_> = found.last().into_iter().chain(upper).cloned().collect();
            found.extend(self.prefixes(&rest)?.into_iter().skip(1));
            return Ok(found);
        }
        let mut sums = Vec::with_capacity(run.len());
        for i in 1..run.len().min(GROUP) {
            sums.push(self.headed(bit, &run[1..=i])?);
        }
        for group in run.chunks(GROUP).skip(1) {
            for i in 0..group.len() {
                sums.push(self.weighted(&group[..=i])?);
            }
        }
        // The first group has its carries, the others their signs.
        let first = |i: usize, x: i64| if i + 1 < GROUP { i64::from(x > 0) } else { x.signum() };
        let mut found = vec![bit.clone()];
        found.extend(self.map(&sums, first)?);
        if run.len() <= GROUP {
            return Ok(found);
        }
        let upper = found.split_off(GROUP);
        let (whole, mut below) = (found[GROUP - 1].clone(), Vec::new());
        let mut sums = Vec::with_capacity(upper.len());
        for group in upper.chunks(GROUP) {
            for sign in group {
                let parts: Vec<_> = below.iter().chain([sign]).cloned().collect();
                sums.push(self.headed(&whole, &parts)?);
            }
            below.extend(group.last().cloned());
        }
        found.extend(self.map(&sums, positive)?);
        Ok(found)
    }

    /// 2b - 1 + Σ_{i >= 1} 2^i t_i.
    fn headed(
        &self,
        bit: &Digit<S::Ciphertext>,
        signs: &[Digit<S::Ciphertext>],
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let signs = signs.iter().enumerate().map(|(i, t)| (t, 2i64 << i));
        let terms: Vec<_> = [(bit, 2)].into_iter().chain(signs).collect();
        self.combine(&terms, -1)
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
