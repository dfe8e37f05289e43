//! Digits of more than 31 values, which sums of many leave: brought back without a chain of
//! carries.

use std::collections::BTreeMap;

use everlevel_circuit::CircuitError;
use everlevel_circuit::poly::Polynomial;
use everlevel_circuit::straight_line::{Circuit, CircuitBuilder, NodeId};
use rayon::prelude::*;

use crate::bilinear::{Sum, Variable};
use crate::column::{BASE, Digit, POINTS};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::plan::symmetric_form;
use crate::stage::Stage;

/// Giant steps y^m, y^(2m), .. of depth 4, from a ciphertext y^m that was bootstrapped.
const GIANTS: usize = 16;

impl<S: IntegerScheme> Integers<'_, S> {
    /// Digits of at most 31 values with the same Σ 16^i d_i: where a digit has more, or would with
    /// what it gets from below, q = ⌊d / 16⌋ is taken to the next digit, all at once. Twice if
    /// digits have more than 255 values.
    ///
    /// Cost: a polynomial on the points of each such digit, odd about its middle.
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

    /// A function of a digit of up to 512 values: in one piece as long as that fits, else with
    /// bootstrapped powers, so that no piece is deeper than 5.
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
        let pieces = Pieces::new(&form.polynomial, form.shift, form.offset)?;
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
        Ok(Digit { cipher, low, high, pad })
    }
}

/// A polynomial of degree up to 511 in pieces of depth at most 5: powers, to be bootstrapped, and
/// what is left given these.
struct Pieces {
    /// y^m from x, and y^(16 m) from that, y being x plus a constant.
    giants: Vec<Circuit>,
    /// The value from x and those.
    last: Circuit,
}

impl Pieces {
    fn new(f: &Polynomial, shift: i64, offset: i64) -> Result<Self, CircuitError> {
        let t = f.modulus();
        // Babies below m take 5 or 10 products if f is odd, giants a product for each m.
        let m = if f.degree() < 80 { 8 } else { 16 };
        let mut giants = vec![Self::power(shift, m)?];
        if f.degree() / m > GIANTS {
            giants.push(Self::power(0, GIANTS)?);
        }
        let mut builder = CircuitBuilder::new();
        let x = builder.input(1);
        let z = (0..giants.len()).map(|_| builder.input(1)).collect::<Vec<_>>();
        let mut y = Variable::new(builder.add_scalar(x, shift)?);
        let mut z: Vec<Variable> = z.into_iter().map(Variable::new).collect();
        let (mut sum, mut known) = (Sum::default(), BTreeMap::new());
        for (block, coefficients) in f.coefficients().chunks(m).enumerate() {
            let (terms, constant) = crate::bilinear::terms(t, coefficients);
            if block == 0 {
                sum.add(&mut builder, &mut y, (&terms, constant))?;
                continue;
            }
            let giant = Self::giant(&mut builder, &mut z, &mut known, block)?;
            match (terms.is_empty(), constant) {
                (true, 0) => {}
                (true, constant) => sum.add_multiple(giant, constant),
                (false, constant) => {
                    let mut factor = Sum::default();
                    factor.add(&mut builder, &mut y, (&terms, constant))?;
                    let factor = factor.finish(&mut builder, t)?;
                    sum.pairs.push((giant, factor));
                }
            }
        }
        sum.add_constant(offset);
        let value = sum.finish(&mut builder, t)?;
        Ok(Pieces { giants, last: builder.finish(&[value])? })
    }

    /// (x + shift)^n.
    fn power(shift: i64, n: usize) -> Result<Circuit, CircuitError> {
        let mut builder = CircuitBuilder::new();
        let x = builder.input(1);
        let y = builder.add_scalar(x, shift)?;
        let power = Variable::new(y).power(&mut builder, n)?;
        builder.finish(&[power])
    }

    /// z^n, from w = z^16 and z where there is one, at depth 4 for n up to 31.
    fn giant(
        builder: &mut CircuitBuilder,
        inputs: &mut [Variable],
        known: &mut BTreeMap<usize, NodeId>,
        n: usize,
    ) -> Result<NodeId, CircuitError> {
        let [z, w] = inputs else {
            let z = inputs.first_mut().ok_or(CircuitError::Empty { what: "a power" })?;
            return z.power(builder, n);
        };
        if let Some(x) = known.get(&n) {
            return Ok(*x);
        }
        let (whole, rest) = (n / GIANTS, n % GIANTS);
        let node = match (whole, rest) {
            (0, _) => z.power(builder, n)?,
            (_, 0) => w.power(builder, whole)?,
            // A product of as many inputs as whole + rest, half of them last.
            _ => {
                let count = whole + rest;
                let last = (count - count.next_power_of_two() / 2).min(rest);
                let low = z.power(builder, last)?;
                let high = Self::giant(builder, inputs, known, n - last)?;
                builder.mul(high, low)?
            }
        };
        known.insert(n, node);
        Ok(node)
    }
}
