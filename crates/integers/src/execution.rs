//! The evaluation of stages, each after the bootstrappings that it needs.
//!
//! Before a stage is evaluated, it is rehearsed on the no-op scheme, at the level and the noise
//! bound of its inputs. If the capacity does not suffice, inputs are bootstrapped in place, those
//! with the least capacity first.

use std::sync::PoisonError;

use everlevel_circuit::bootstrap::Bootstrapper;
use everlevel_circuit::{CircuitError, Value, take_least};
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::{Arithmetic, NextUse, Scheme, SchemeError};

use crate::column::Digit;
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::plan::TablePlan;
use crate::stage::Stage;

/// Bits of capacity that results of tables keep above what bootstrapping needs, for the sums of a
/// few of them that come next.
const MARGIN: f64 = 6.0;

/// An operation on ciphertexts of a scheme.
type Operation<'a, S, C> = dyn Fn(&S, &[&C]) -> Result<C, CircuitError> + 'a;

impl<S: IntegerScheme> Integers<'_, S> {
    /// The error for a step that does not fit: `left` bits of capacity, of which `needed` have to
    /// remain.
    pub(crate) fn too_deep(&self, depth: u32, left: f64, needed: f64) -> IntegersError {
        let bootstraps = self.session().can_bootstrap();
        IntegersError::Depth { depth, left, needed, bootstraps }
    }

    /// Bootstraps a ciphertext in place, modulo p.
    pub(crate) fn refresh(&self, x: &Value<S::Ciphertext>) -> Result<(), IntegersError> {
        self.session().reduce_in_place(x)?;
        Ok(self.session().refresh_in_place(x)?)
    }

    /// Bootstraps several ciphertexts in place, modulo p, some of them together.
    pub(crate) fn refresh_all(&self, xs: &[&Value<S::Ciphertext>]) -> Result<(), IntegersError> {
        xs.iter().try_for_each(|x| self.session().reduce_in_place(x))?;
        Ok(self.session().refresh_all(xs)?)
    }

    /// Bootstraps a digit in place if no product of it fits, not even with a fresh operand. This
    /// comes before several products of the digit are computed in parallel, so that it is
    /// bootstrapped once.
    pub(crate) fn readied_factor(&self, digit: &Digit<S::Ciphertext>) -> Result<(), IntegersError> {
        let Some(x) = digit.cipher.as_ref().filter(|_| self.session().can_bootstrap()) else {
            return Ok(());
        };
        let product = |own: NoOpCiphertext| {
            let fresh = self.rehearsal().encrypt(self.blank())?;
            self.rehearsal().mul(&own, &fresh, NextUse::Keep)
        };
        let product = self.pretended(&*self.operand(x)?).map(product);
        let needed = self.session().minimum_capacity();
        match product {
            Some(Ok(product)) if self.rehearsal().capacity_bits(&product) >= needed => Ok(()),
            _ => self.refresh(x),
        }
    }

    /// The ciphertext of the no-op scheme that stands for this one in rehearsals, with the same
    /// level and capacity; `None` if there is no such ciphertext.
    pub(crate) fn pretended(&self, x: &S::Ciphertext) -> Option<NoOpCiphertext> {
        let scheme = self.session().scheme();
        let (level, capacity) = (scheme.level(x), scheme.capacity_bits(x));
        self.rehearsal().encrypt_exhausted(self.blank(), level, capacity).ok()
    }

    /// The cheapest way to evaluate a stage that leaves enough capacity, or the way that leaves
    /// most if none does, and the capacity that it leaves. This is rehearsed at the levels and
    /// noise bounds of `inputs`.
    fn way(&self, stage: &Stage<'_>, inputs: &[&S::Ciphertext]) -> (usize, f64) {
        let pretended = inputs.iter().map(|x| self.pretended(x));
        let Some(pretended) = pretended.collect::<Option<Vec<_>>>() else {
            return (0, f64::NEG_INFINITY);
        };
        let pretended: Vec<_> = pretended.iter().collect();
        let rehearsal = self.rehearsal();
        let enough = self.session().minimum_capacity() + MARGIN;
        let mut best = (0, f64::NEG_INFINITY);
        for way in 0..stage.ways() {
            let Ok(results) = stage.run(rehearsal, &pretended, way) else { continue };
            let capacities = results.iter().flatten().map(|y| rehearsal.capacity_bits(y));
            let left = capacities.fold(f64::INFINITY, f64::min);
            if left >= enough {
                return (way, left);
            }
            if left > best.1 {
                best = (way, left);
            }
        }
        best
    }

    /// Whether a stage fits without bootstrapping its inputs, and leaves the capacity that further
    /// steps need.
    pub(crate) fn fits(&self, stage: &Stage<'_>, inputs: &[&S::Ciphertext]) -> bool {
        self.way(stage, inputs).1 >= self.session().minimum_capacity() + MARGIN
    }

    /// Whether a stage fits if all inputs were bootstrapped. The capacity after bootstrapping is
    /// determined once, on the no-op scheme.
    pub(crate) fn fits_refreshed(
        &self,
        stage: &Stage<'_>,
        inputs: usize,
    ) -> Result<bool, IntegersError> {
        let Some(bootstrapper) = self.session().bootstrapper() else {
            // Where bootstrapping is refused, so is what would follow it.
            return match self.session().can_bootstrap() {
                true => Err(CircuitError::NoBootstrapping.into()),
                false => Ok(false),
            };
        };
        let (rehearsal, needed) = (self.rehearsal(), self.session().minimum_capacity());
        // Not locked during the bootstrapping: a thread that waits in it may take up another digit,
        // which comes here, too.
        let lock = || self.refreshed.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().clone();
        let fresh = match known {
            Some(fresh) => fresh,
            None => {
                let dry = Bootstrapper::new(rehearsal, bootstrapper.plan().clone())?;
                let any = rehearsal.encrypt(self.blank())?;
                let fresh = dry.bootstrap(rehearsal, &any)?;
                lock().insert(fresh).clone()
            }
        };
        let fits = |way| match stage.run(rehearsal, &vec![&fresh; inputs], way) {
            Ok(found) => found.iter().flatten().all(|y| rehearsal.capacity_bits(y) >= needed),
            Err(_) => false,
        };
        Ok((0..stage.ways()).any(fits))
    }

    /// Evaluates the functions of a plan on a digit, all at once. `renew` says whether the digit is
    /// bootstrapped if they do not fit.
    pub(crate) fn look_up(
        &self,
        digit: &Digit<S::Ciphertext>,
        plan: &TablePlan,
        renew: bool,
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let outside = || CircuitError::Empty { what: "the window of a digit" };
        if plan.is_identity() {
            return Ok(vec![digit.clone()]);
        }
        let found = match &digit.cipher {
            Some(value) if plan.ways() > 0 => {
                let stale = if renew { vec![0] } else { Vec::new() };
                self.staged_after(&[value], &Stage::Table(plan), &[plan.points()], stale)?
            }
            Some(_) => vec![None; plan.outputs()],
            None => {
                let entry = |i| plan.entry(i, digit.low).map(Digit::public);
                let entries: Option<Vec<_>> = (0..plan.outputs()).map(entry).collect();
                return Ok(entries.ok_or_else(outside)?);
            }
        };
        let named = found.into_iter().enumerate().map(|(i, cipher)| {
            let (low, high) = plan.window(i);
            let pad = plan.entry(i, digit.pad).ok_or_else(outside)?;
            let cipher = cipher.map(|c| self.session().share(c));
            Ok(Digit { cipher, low, high, pad, steps: None })
        });
        named.collect()
    }

    /// Evaluates a stage after bootstrapping as many of its inputs as necessary, those with the
    /// least capacity first. `windows` are the ranges of the slots of the inputs, for the observer.
    pub(crate) fn staged(
        &self,
        inputs: &[&Value<S::Ciphertext>],
        stage: &Stage<'_>,
        windows: &[(i64, i64)],
    ) -> Result<Vec<Option<S::Ciphertext>>, IntegersError> {
        self.staged_after(inputs, stage, windows, (0..inputs.len()).collect())
    }

    /// [`Integers::staged`] where only the inputs at the places `stale` are bootstrapped.
    fn staged_after(
        &self,
        inputs: &[&Value<S::Ciphertext>],
        stage: &Stage<'_>,
        windows: &[(i64, i64)],
        mut stale: Vec<usize>,
    ) -> Result<Vec<Option<S::Ciphertext>>, IntegersError> {
        let needed = self.session().minimum_capacity();
        let scheme = self.session().scheme();
        if !self.session().can_bootstrap() {
            stale.clear();
        }
        loop {
            let now = inputs.iter().map(|v| self.operand(v)).collect::<Result<Vec<_>, _>>()?;
            let x: Vec<&S::Ciphertext> = now.iter().map(AsRef::as_ref).collect();
            let (way, left) = self.way(stage, &x);
            let enough = if stale.is_empty() { needed } else { needed + MARGIN };
            if left >= enough {
                if let Some(observer) = &self.observer {
                    x.iter().zip(windows).for_each(|(x, window)| observer(scheme, x, *window));
                }
                // The rehearsal predicts the bound of the result, which is checked all the same.
                match stage.run(scheme, &x, way) {
                    Ok(found) => {
                        let mut capacities =
                            found.iter().flatten().map(|y| scheme.capacity_bits(y));
                        if capacities.all(|left| left >= needed) {
                            return Ok(found);
                        }
                    }
                    Err(CircuitError::Scheme(SchemeError::NoiseOverflow { .. })) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            let capacity = |i: &usize| scheme.capacity_bits(x[*i]);
            let Some(worst) = take_least(&mut stale, capacity) else {
                let left = (0..x.len()).map(|i| capacity(&i)).fold(f64::INFINITY, f64::min);
                return Err(self.too_deep(stage.depth(), left, needed));
            };
            self.refresh(inputs[worst])?;
        }
    }

    /// Runs an operation on several ciphertexts. If its results have too little capacity, the
    /// operand with the least capacity is bootstrapped, and the operation is tried again.
    pub(crate) fn apply(
        &self,
        values: &[&Value<S::Ciphertext>],
        operation: impl Fn(&S, &[&S::Ciphertext]) -> Result<S::Ciphertext, CircuitError>,
    ) -> Result<Value<S::Ciphertext>, IntegersError> {
        self.applied(values, &operation)
    }

    /// [`Integers::apply`], compiled once for all operations.
    fn applied(
        &self,
        values: &[&Value<S::Ciphertext>],
        operation: &Operation<'_, S, S::Ciphertext>,
    ) -> Result<Value<S::Ciphertext>, IntegersError> {
        let scheme = self.session().scheme();
        let needed = self.session().minimum_capacity();
        let mut stale: Vec<usize> = (0..values.len()).collect();
        loop {
            let now = values.iter().map(|v| self.operand(v)).collect::<Result<Vec<_>, _>>()?;
            let operands: Vec<&S::Ciphertext> = now.iter().map(AsRef::as_ref).collect();
            match operation(scheme, &operands) {
                Ok(result) if scheme.capacity_bits(&result) >= needed => {
                    return Ok(self.session().share(result));
                }
                Ok(_) | Err(CircuitError::Scheme(SchemeError::NoiseOverflow { .. })) => {}
                Err(error) => return Err(error.into()),
            }
            let capacity = |i: &usize| scheme.capacity_bits(operands[*i]);
            let worst = take_least(&mut stale, capacity);
            let Some(worst) = worst.filter(|_| self.session().can_bootstrap()) else {
                // Sums, products by plaintexts and single products: a level at most.
                let left = (0..operands.len()).map(|i| capacity(&i)).fold(f64::INFINITY, f64::min);
                return Err(self.too_deep(1, left, needed));
            };
            self.refresh(values[worst])?;
        }
    }

    /// Σ k_i d_i + `constant` for pairs (d_i, k_i), slot by slot.
    pub(crate) fn combine(
        &self,
        terms: &[(&Digit<S::Ciphertext>, i64)],
        constant: i64,
    ) -> Result<Digit<S::Ciphertext>, IntegersError> {
        let (mut low, mut high, mut pad, mut added) = (constant, constant, constant, constant);
        let mut values = Vec::with_capacity(terms.len());
        let mut factors = Vec::with_capacity(terms.len());
        for (digit, k) in terms.iter().filter(|(_, k)| *k != 0) {
            let (a, b) = (k * digit.low, k * digit.high);
            (low, high, pad) = (low + a.min(b), high + a.max(b), pad + k * digit.pad);
            match &digit.cipher {
                None => added += a,
                Some(value) => {
                    values.push(value);
                    factors.push(*k);
                }
            }
        }
        let cipher = match (&values[..], &factors[..]) {
            ([], _) => None,
            ([value], [1]) if added == 0 => Some((*value).clone()),
            ([_], [1]) => Some(self.apply(&values, |s, x| Ok(s.add_scalar(x[0], added)?))?),
            _ => Some(self.apply(&values, |s, x| {
                let terms: Vec<_> = x.iter().copied().zip(factors.iter().copied()).collect();
                Ok(s.linear_combination(&terms, added)?)
            })?),
        };
        Ok(Digit { cipher, low, high, pad, steps: None })
    }
}
