//! Digits with more than 31 values, which result from sums of many columns, are reduced without a
//! chain of carries.

use everlevel_circuit::CircuitError;
use rayon::prelude::*;

use crate::column::{BASE, Digit, POINTS};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::pieces::Pieces;
use crate::plan::{Symmetric, symmetric_form};
use crate::stage::Stage;

impl<S: IntegerScheme> Integers<'_, S> {
    /// Digits of at most 31 values with the same Σ 16^i d_i. If a digit has more values, or would
    /// have with the carry that it receives, q = ⌊d / 16⌋ is carried to the next digit, for all
    /// digits at once. This is done twice if digits have more than 255 values.
    ///
    /// It costs a polynomial on the values of each such digit, which is odd about their middle.
    pub(crate) fn settled(
        &self,
        mut digits: Vec<Digit<S::Ciphertext>>,
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        loop {
            // The least and the largest quotient of a digit; none if it can stay.
            let mut quotients: Vec<Option<(i64, i64)>> = Vec::with_capacity(digits.len());
            for digit in &digits {
                let (low, high) = quotients.last().copied().flatten().unwrap_or((0, 0));
                let split = digit.points() + high - low > POINTS;
                let quotient = |x: i64| x.div_euclid(BASE);
                quotients.push(split.then(|| (quotient(digit.low), quotient(digit.high))));
            }
            if quotients.iter().all(Option::is_none) {
                return Ok(digits);
            }
            if quotients.last().is_some_and(Option::is_some) {
                digits.push(Digit::public(0));
                quotients.push(None);
            }
            let taken = digits.par_iter().zip(&quotients).map(|(digit, quotient)| match quotient {
                None => Ok(Digit::public(0)),
                Some(_) => self.quotient(digit),
            });
            let taken = taken.collect::<Result<Vec<_>, IntegersError>>()?;
            let zero = Digit::public(0);
            let next = digits.iter().enumerate().map(|(i, digit)| {
                let below = i.checked_sub(1).map_or(&zero, |i| &taken[i]);
                let sum = self.combine(&[(digit, 1), (&taken[i], -BASE), (below, 1)], 0)?;
                let (low, high) = match quotients[i] {
                    None => (sum.low, sum.high),
                    Some((q, r)) if q == r => (sum.low, sum.high),
                    Some(_) => (below.low, below.high + BASE - 1),
                };
                Ok(sum.within(low, high))
            });
            digits = next.collect::<Result<_, IntegersError>>()?;
        }
    }

    /// ⌊d / 16⌋.
    fn quotient(
        &self,
        digit: &Digit<S::Ciphertext>,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let entries: Vec<i64> = (digit.low..=digit.high).map(|x| x.div_euclid(BASE)).collect();
        self.wide_table(digit, entries)
    }

    /// A function of a digit of up to 512 values: in one piece if that fits, otherwise with
    /// bootstrapped powers, so that no piece is deeper than 5 and each fits.
    pub(crate) fn wide_table(
        &self,
        digit: &Digit<S::Ciphertext>,
        entries: Vec<i64>,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let plan = self.plan(digit.low, digit.high, vec![entries.clone()])?;
        let whole = || {
            let found = self.tables(vec![(digit.clone(), plan.clone())])?;
            let found = found.into_iter().flatten().next();
            found.ok_or_else(|| CircuitError::Empty { what: "a digit" }.into())
        };
        let Some(x) = &digit.cipher else { return whole() };
        let shallow = digit.points() <= POINTS + 1;
        if shallow || plan.ways() == 0 || !self.session().can_bootstrap() {
            return whole();
        }
        if self.fits(&Stage::Table(&plan), &[&x.get()]) {
            return whole();
        }
        let form = symmetric_form(self.modulus(), digit.low, digit.high, &entries)?;
        let pieces = self.pieces(&form)?;
        let window = [(digit.low, digit.high)];
        let mut inputs = vec![x.clone()];
        for power in &pieces.giants {
            let from: Vec<_> = inputs.last().into_iter().collect();
            // Only the digit itself has a window.
            let window = if inputs.len() == 1 { &window[..] } else { &[] };
            let found = self.staged(&from, &Stage::Circuit(power), window)?;
            inputs.extend(found.into_iter().flatten().map(|y| self.session().share(y)));
        }
        let from: Vec<_> = inputs.iter().collect();
        let found = self.staged(&from, &Stage::Circuit(&pieces.last), &window)?;
        let cipher = found.into_iter().flatten().next().map(|y| self.session().share(y));
        let (low, high) = plan.window(0);
        let pad = plan.entry(0, digit.pad);
        let pad = pad.ok_or(CircuitError::Empty { what: "the window of a digit" })?;
        Ok(Digit { cipher, low, high, pad, steps: None })
    }

    /// The cheapest pieces that fit if all their inputs were bootstrapped; the last ones if none
    /// fit.
    fn pieces(&self, form: &Symmetric) -> Result<Pieces, IntegersError> {
        let mut found = None;
        for shape in Pieces::shapes(form.polynomial.degree()) {
            let pieces = Pieces::new(form, shape)?;
            let stage = Stage::Circuit(&pieces.last);
            let fits = self.fits_refreshed(&stage, pieces.giants.len() + 1)?;
            found = Some(pieces);
            if fits {
                break;
            }
        }
        Ok(found.ok_or(CircuitError::Empty { what: "the pieces of a polynomial" })?)
    }
}
