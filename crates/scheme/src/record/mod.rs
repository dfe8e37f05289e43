//! The recorder: a scheme that wraps another one and logs the effect of every operation on level
//! and noise.
//!
//! [`Recorded`] forwards every call to the inner scheme, so that any circuit (a bootstrapping, AES,
//! a program) runs over it unchanged, with the same results. Its ciphertexts carry the number of a
//! row in a log; [`Recorded::explain`] selects the rows that led to one of them. The evaluator
//! itself has no overhead from this.
//!
//! ```
//! use everlevel_scheme::{Arithmetic, NextUse, NoOp, OptIn, Params, Plaintext, Recorded};
//! use std::sync::Arc;
//!
//! let params = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch)?;
//! let scheme = Recorded::new(Arc::new(NoOp::new(&params, 1)), &params);
//! let x = scheme.inner().encrypt(&Plaintext::encode(&params, &[2, 7])?)?;
//! let x = scheme.input(x, "x");
//! let y = scheme.add_scalar(&scheme.mul(&x, &x, NextUse::Product)?, 1)?;
//! let explanation = scheme.explain(&y);
//! let operations: Vec<&str> = explanation.steps.iter().map(|step| step.operation).collect();
//! assert_eq!(operations, ["input", "product", "plus a constant"]);
//! assert!(explanation.failure_log2 < -128.0);
//! println!("{explanation}");
//! # Ok::<(), everlevel_scheme::SchemeError>(())
//! ```

mod bootstrap;
mod explanation;
mod ops;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

pub use explanation::{Explanation, Step};

use crate::noise::Events;
use crate::ops::ExactScheme;
use crate::params::Params;

/// A scheme with a log of its operations: see the [module](self).
///
/// The log grows by about a hundred bytes with every operation, for the lifetime of the scheme. It
/// can be shared between threads; rows are in the order in which operations ended.
pub struct Recorded<S: ExactScheme> {
    inner: Arc<S>,
    params: Params,
    log: Mutex<Vec<Entry>>,
    probe: Option<Probe<S::Ciphertext>>,
}

/// Measures noise with a key; none if it can not.
type Probe<C> = Box<dyn Fn(&C) -> Option<f64> + Send + Sync>;

/// A row of the log; its inputs lie before it.
struct Entry {
    step: Step,
    events: Events,
}

/// A ciphertext with its row in the log.
#[derive(Clone)]
pub struct RecordedCiphertext<C> {
    inner: C,
    row: usize,
}

impl<C> RecordedCiphertext<C> {
    /// The ciphertext.
    pub fn inner(&self) -> &C {
        &self.inner
    }
}

/// An intermediate value between ciphertexts (a product, a part of a linear map, a raised phase),
/// with the rows of its operands and the events since then.
#[derive(Clone)]
pub struct Between<T> {
    inner: T,
    from: BTreeSet<usize>,
    events: Events,
    /// Products or diagonals in it.
    parts: usize,
}

impl<S: ExactScheme> Recorded<S> {
    /// Wraps a scheme of these parameters.
    pub fn new(inner: Arc<S>, params: &Params) -> Self {
        Recorded { inner, params: params.clone(), log: Mutex::default(), probe: None }
    }

    /// The same, with the noise of every result measured by `probe`, such as
    /// `SecretKey::measure_noise` of BGV.
    ///
    /// Measurements depend on the secret key, and enough of them reveal it: for the
    /// owner of the key, never to be shared.
    #[cfg(feature = "diagnostics")]
    #[must_use]
    pub fn with_probe(
        mut self,
        probe: impl Fn(&S::Ciphertext) -> Option<f64> + Send + Sync + 'static,
    ) -> Self {
        self.probe = Some(Box::new(probe));
        self
    }

    /// The inner scheme.
    pub fn inner(&self) -> &Arc<S> {
        &self.inner
    }

    /// Adds an input ciphertext to the log, under a name.
    pub fn input(&self, x: S::Ciphertext, name: &str) -> RecordedCiphertext<S::Ciphertext> {
        self.record(x, "input", name.into(), BTreeSet::new(), Events::NONE)
    }

    /// Names the stage of the circuit for all rows whose stage has not been named yet.
    pub fn end_stage(&self, name: &str) {
        let mut log = self.log();
        log.iter_mut()
            .rev()
            .take_while(|entry| entry.step.stage.is_none())
            .for_each(|entry| entry.step.stage = Some(name.into()));
    }

    /// All rows that led to `x`.
    pub fn explain(&self, x: &RecordedCiphertext<S::Ciphertext>) -> Explanation {
        self.explain_all([x])
    }

    /// All rows that led to any of `xs`, each once.
    pub fn explain_all<'x>(
        &self,
        xs: impl IntoIterator<Item = &'x RecordedCiphertext<S::Ciphertext>>,
    ) -> Explanation
    where
        S::Ciphertext: 'x,
    {
        let log = self.log();
        let results: Vec<usize> = xs.into_iter().map(|x| x.row).collect();
        let (mut wanted, mut open) = (BTreeSet::new(), results.clone());
        while let Some(row) = open.pop() {
            // A row of another log is ignored.
            if let Some(entry) = log.get(row).filter(|_| wanted.insert(row)) {
                open.extend(&entry.step.inputs);
            }
        }
        let rows: Vec<usize> = wanted.into_iter().collect();
        let number = |row: &usize| rows.binary_search(row).map_or(0, |i| i + 1);
        let steps = rows.iter().map(|&row| {
            let step = &log[row].step;
            Step {
                row: number(&row),
                inputs: step.inputs.iter().map(number).collect(),
                ..step.clone()
            }
        });
        let events = rows.iter().map(|&row| log[row].events).sum();
        Explanation::new(
            &self.params,
            steps.collect(),
            results.iter().map(number).collect(),
            self.params.noise().failure_of_events(events),
        )
    }

    fn log(&self) -> std::sync::MutexGuard<'_, Vec<Entry>> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A result, and its row.
    fn record(
        &self,
        x: S::Ciphertext,
        operation: &'static str,
        detail: String,
        inputs: BTreeSet<usize>,
        events: Events,
    ) -> RecordedCiphertext<S::Ciphertext> {
        let s = &*self.inner;
        let (level, capacity_bits) = (s.level(&x), s.capacity_bits(&x));
        let modulus_bits = self.params.modulus_bits(level);
        let measured_bits = self.probe.as_ref().and_then(|probe| probe(&x));
        let (exponent, bound_bits) = (s.plain_exponent(&x), s.noise_bound_bits(&x));
        let failure_log2 = self.params.noise().failure_of_events(events);
        let mut log = self.log();
        let before = |f: fn(&Step) -> f64, own: f64| {
            let least = inputs
                .iter()
                .filter_map(|&row| log.get(row))
                .map(|entry| f(&entry.step))
                .fold(f64::INFINITY, f64::min);
            if least.is_finite() { least - own } else { 0.0 }
        };
        let step = Step {
            row: log.len(),
            operation,
            detail,
            stage: None,
            level: level.0,
            exponent,
            modulus_bits,
            modulus_consumed_bits: before(|step| step.modulus_bits, modulus_bits),
            capacity_bits,
            capacity_consumed_bits: before(|step| step.capacity_bits, capacity_bits),
            bound_bits,
            estimate_bits: s.noise_estimate_bits(&x),
            measured_bits,
            failure_log2,
            inputs: inputs.into_iter().collect(),
        };
        let row = step.row;
        log.push(Entry { step, events });
        RecordedCiphertext { inner: x, row }
    }

    /// A result of ciphertexts; the ciphertext itself, without a row, where nothing was done.
    fn after<const N: usize>(
        &self,
        x: S::Ciphertext,
        operation: &'static str,
        detail: impl Into<String>,
        inputs: [&RecordedCiphertext<S::Ciphertext>; N],
        events: Events,
    ) -> RecordedCiphertext<S::Ciphertext> {
        self.record(x, operation, detail.into(), inputs.iter().map(|x| x.row).collect(), events)
    }

    /// The number of these that have to be switched down to the lowest level among them.
    fn descents(&self, xs: &[&RecordedCiphertext<S::Ciphertext>]) -> u64 {
        let levels = || xs.iter().map(|x| self.inner.level(&x.inner));
        let lowest = levels().min();
        levels().filter(|level| Some(*level) > lowest).count() as u64
    }
}
