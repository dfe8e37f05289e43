//! The server's side.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU64;
use std::sync::{Arc, OnceLock};

use everlevel::lab::{CircuitError, DigitKind, DigitMethod, Scheme, StageObserver, StageReport};
use everlevel::{
    BootstrapMode, BootstrapPlan, Ciphertext as Inner, ClearLowestDigit, Comparison, KeyPlanner,
    Params, Plaintext, SlotCopy, Truncation, Value, ValueRange,
};
use everlevel_circuit::expression::Program;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::ciphertext::Ciphertext;
use crate::errors::{Failure, Result, refusal};
use crate::keys::{Keys, plaintext, plan_for};
use crate::runtime::{Progress, detached};
use crate::values::{range_of, range_of_products, slice};

/// How digits are removed: of least depth.
const METHOD: DigitMethod = DigitMethod::new(DigitKind::Geelen);

/// Computes with server keys, bootstrapping by itself.
#[pyclass(frozen, module = "everlevel._everlevel")]
pub struct Server {
    pub inner: Arc<everlevel::Server>,
    keys: Keys,
    /// How it bootstraps, if it does.
    plan: Option<BootstrapPlan>,
    /// How many stages a bootstrapping has.
    stages: OnceLock<usize>,
}

impl Server {
    fn params(&self) -> &Params {
        self.inner.params()
    }

    /// Work on the ciphertexts of the set, whose result is one.
    fn compute(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&everlevel::Server) -> Result<Value> + Send,
    ) -> Result<Ciphertext> {
        let value = detached(py, || work(&self.inner))?;
        Ok(Ciphertext { params: self.params().clone(), value })
    }

    /// Prime and exponent of what a ciphertext holds.
    fn modulus(&self, a: &Ciphertext) -> (u64, u32) {
        (self.params().spec().plain_prime, a.value.get().meta().exponent)
    }

    fn plain(&self, a: &Ciphertext, values: &[i64], elements: bool) -> Result<Plaintext> {
        plaintext(self.params(), values, a.value.get().meta().exponent, elements)
    }

    /// The range of public integers in slots, of which those that are not given are 0; elements
    /// have none.
    fn range(&self, values: &[i64], elements: bool) -> Option<ValueRange> {
        let padding = (values.len() < self.params().slots()).then_some(0);
        let range = range_of(values.iter().copied().chain(padding))?;
        (!elements).then_some(range)
    }

    fn comparison(&self, a: &Ciphertext) -> Result<Comparison> {
        let (p, e) = self.modulus(a);
        Ok(Comparison::new(p, e, METHOD)?)
    }
}

/// Tells how far a bootstrapping is.
struct Watch<'a> {
    progress: &'a mut Progress,
    done: usize,
    total: usize,
}

impl StageObserver for Watch<'_> {
    fn stage_done(&mut self, _: &StageReport) {
        self.done += 1;
        self.progress.note(self.done, self.total);
    }
}

#[pymethods]
impl Server {
    #[new]
    fn new(py: Python<'_>, keys: &Keys, elements: bool) -> Result<Self> {
        let params = keys.0.params();
        let plan = keys.0.plan().bootstrap.then(|| plan_for(params, elements)).transpose()?;
        let inner = detached(py, || match &plan {
            Some(plan) => Ok(everlevel::Server::new(keys.0.clone(), plan.clone())?),
            None => Ok(everlevel::Server::leveled(keys.0.clone())),
        })?;
        Ok(Server { inner: Arc::new(inner), keys: keys.clone(), plan, stages: OnceLock::new() })
    }

    /// Whether slots may hold whole elements: bootstrapping in other modes than the full one would
    /// lose them without notice.
    #[getter]
    fn elements(&self) -> bool {
        self.plan.as_ref().is_none_or(|plan| plan.mode == BootstrapMode::Full)
    }

    /// Refuses a ciphertext of another owner, or of other parameters.
    fn check(&self, a: &Ciphertext) -> Result<()> {
        Ok(self.inner.evaluator().check_params(&a.value.get())?)
    }

    /// Whether it bootstraps and has the keys for any program on typed integers.
    #[getter]
    fn is_general(&self) -> bool {
        self.inner.is_general()
    }

    #[getter]
    fn keys(&self) -> Keys {
        self.keys.clone()
    }

    #[getter]
    fn bootstraps(&self) -> usize {
        self.inner.bootstraps()
    }

    fn add(&self, py: Python<'_>, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.compute(py, |s| Ok(s.add(&a.value, &b.value)?))
    }

    fn sub(&self, py: Python<'_>, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.compute(py, |s| Ok(s.sub(&a.value, &b.value)?))
    }

    fn mul(&self, py: Python<'_>, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.compute(py, |s| Ok(s.mul(&a.value, &b.value)?))
    }

    fn neg(&self, py: Python<'_>, a: &Ciphertext) -> Result<Ciphertext> {
        self.compute(py, |s| Ok(s.neg(&a.value)?))
    }

    fn pow(&self, py: Python<'_>, a: &Ciphertext, exponent: u64) -> Result<Ciphertext> {
        let exponent = NonZeroU64::new(exponent);
        let exponent = exponent.ok_or_else(|| {
            refusal("RangeError", "python.exponent", "exponent 0: expected at least 1")
        })?;
        self.compute(py, |s| Ok(s.pow(&a.value, exponent)?))
    }

    fn add_scalar(&self, py: Python<'_>, a: &Ciphertext, k: i64) -> Result<Ciphertext> {
        self.compute(py, |s| Ok(s.add_scalar(&a.value, k)?))
    }

    fn mul_scalar(&self, py: Python<'_>, a: &Ciphertext, k: i64) -> Result<Ciphertext> {
        self.compute(py, |s| Ok(s.mul_scalar(&a.value, k)?))
    }

    /// The values are those of slots, or the coefficients of elements of all slots; also of
    /// [`Server::mul_plain`].
    fn add_plain(
        &self,
        py: Python<'_>,
        a: &Ciphertext,
        values: PyReadonlyArray1<'_, i64>,
        elements: bool,
    ) -> Result<Ciphertext> {
        let values = slice(&values)?;
        let range = || a.value.range()?.plus(self.range(values, elements)?);
        self.compute(py, |s| {
            let sum = s.add_plain(&a.value, &self.plain(a, values, elements)?)?;
            Ok(sum.within(range()))
        })
    }

    fn mul_plain(
        &self,
        py: Python<'_>,
        a: &Ciphertext,
        values: PyReadonlyArray1<'_, i64>,
        elements: bool,
    ) -> Result<Ciphertext> {
        let values = slice(&values)?;
        let range = || a.value.range()?.times(self.range(values, elements)?);
        self.compute(py, |s| {
            let product = s.mul_plain(&a.value, &self.plain(a, values, elements)?)?;
            Ok(product.within(range()))
        })
    }

    fn rotate_columns(&self, py: Python<'_>, a: &Ciphertext, k: i64) -> Result<Ciphertext> {
        self.compute(py, |s| Ok(s.rotate_columns(&a.value, k)?))
    }

    fn swap_rows(&self, py: Python<'_>, a: &Ciphertext) -> Result<Ciphertext> {
        self.compute(py, |s| Ok(s.swap_rows(&a.value)?))
    }

    fn sum(&self, py: Python<'_>, a: &Ciphertext) -> Result<Ciphertext> {
        self.compute(py, |s| Ok(s.sum(&a.value)?))
    }

    /// Copies (step, begin, end) of slots, see `everlevel::Server::copy_slots`.
    fn copy_slots(
        &self,
        py: Python<'_>,
        a: &Ciphertext,
        copies: Vec<(i64, usize, usize)>,
    ) -> Result<Ciphertext> {
        let copies: Vec<SlotCopy> = copies
            .into_iter()
            .map(|(step, begin, end)| SlotCopy { step, slots: begin..end })
            .collect();
        let range = a.value.range().map(|range| range.with(0));
        self.compute(py, |s| Ok(s.copy_slots(&a.value, &copies)?.within(range)))
    }

    fn mul_matrix(
        &self,
        py: Python<'_>,
        a: &Ciphertext,
        matrix: PyReadonlyArray2<'_, i64>,
    ) -> Result<Ciphertext> {
        let rows: Vec<Vec<i64>> =
            matrix.as_array().rows().into_iter().map(|row| row.to_vec()).collect();
        let range = a.value.range().and_then(|range| range_of_products(range, &rows));
        self.compute(py, |s| Ok(s.mul_matrix(&a.value, &rows)?.within(range)))
    }

    /// Bootstraps now. The progress is told of stages.
    fn refresh(
        &self,
        py: Python<'_>,
        a: &Ciphertext,
        progress: Option<Py<PyAny>>,
    ) -> Result<Ciphertext> {
        self.compute(py, |s| {
            let Some(bootstrapper) = s.bootstrapper() else {
                return Err(CircuitError::NoBootstrapping.into());
            };
            if progress.is_none() {
                return Ok(s.session().refresh(&a.value)?);
            }
            let total = *self.stages.get_or_init(|| {
                self.plan.as_ref().map_or(0, |plan| count_stages(s.params(), plan))
            });
            let mut progress = Progress::new(progress);
            let mut watch = Watch { progress: &mut progress, done: 0, total };
            let fresh = bootstrapper
                .bootstrap_observed(s.evaluator(), &a.value.get(), &mut watch)
                .map_err(Failure::from)?;
            progress.finish()?;
            Ok(s.load(fresh).within(a.value.range()))
        })
    }

    /// Runs a program on named ciphertexts.
    fn run(
        &self,
        py: Python<'_>,
        program: &str,
        inputs: BTreeMap<String, Py<Ciphertext>>,
        progress: Option<Py<PyAny>>,
    ) -> Result<BTreeMap<String, Ciphertext>> {
        let program = Program::parse(program)?;
        let inputs: BTreeMap<String, Value> =
            inputs.into_iter().map(|(name, x)| (name, x.get().value.clone())).collect();
        let found = detached(py, || {
            let mut progress = Progress::new(progress);
            let found = self
                .inner
                .run(&program, &inputs, &mut |done| progress.note(done, program.len()))?;
            progress.finish()?;
            Ok(found)
        })?;
        let own = |value: Value| Ciphertext { params: self.params().clone(), value };
        Ok(found.into_iter().map(|(name, value)| (name, own(value))).collect())
    }

    /// What a program does to level and noise, operation by operation: as text, and as JSON.
    fn explain(
        &self,
        py: Python<'_>,
        program: &str,
        inputs: BTreeMap<String, Py<Ciphertext>>,
    ) -> Result<(String, String)> {
        let program = Program::parse(program)?;
        let inputs: Vec<(String, Arc<Inner>)> =
            inputs.into_iter().map(|(name, x)| (name, x.get().value.get())).collect();
        detached(py, || {
            let explainer = self.inner.explainer()?;
            let load = |(name, x): (String, Arc<Inner>)| {
                let value = explainer.load(Inner::clone(&x), &name);
                (name, value)
            };
            let inputs = inputs.into_iter().map(load).collect();
            let found = explainer.run(&program, &inputs, &mut |_| ())?;
            let told = explainer.explain_all(found.values());
            let json = serde_json::to_string(&told)
                .map_err(|e| refusal("Error", "python.json", &e.to_string()))?;
            Ok((told.to_string(), json))
        })
    }

    /// x / p^digits, to the nearest or down, modulo p^(e - digits).
    fn truncate(
        &self,
        py: Python<'_>,
        a: &Ciphertext,
        digits: u32,
        down: bool,
    ) -> Result<Ciphertext> {
        let (p, e) = self.modulus(a);
        let truncation = Truncation::new(p, e, digits, METHOD)?;
        self.compute(py, |s| match down {
            true => Ok(s.session().floor(&a.value, &truncation)?),
            false => Ok(s.session().round(&a.value, &truncation)?),
        })
    }

    fn clear_lowest_digit(&self, py: Python<'_>, a: &Ciphertext) -> Result<Ciphertext> {
        let (p, e) = self.modulus(a);
        let clear = ClearLowestDigit::new(p, e)?;
        let half = i128::from(p / 2);
        let range = a.value.range().and_then(|x| x.plus(ValueRange::new(-half, half)?));
        self.compute(py, |s| Ok(s.apply(&a.value, |s, x| clear.apply(s, x))?.within(range)))
    }

    fn is_negative(&self, py: Python<'_>, a: &Ciphertext) -> Result<Ciphertext> {
        let comparison = self.comparison(a)?;
        self.compute(py, |s| Ok(s.session().is_negative(&a.value, &comparison)?))
    }

    fn sign(&self, py: Python<'_>, a: &Ciphertext) -> Result<Ciphertext> {
        let comparison = self.comparison(a)?;
        self.compute(py, |s| Ok(s.session().sign(&a.value, &comparison)?))
    }

    /// T: comparisons are of integers x with -T <= x < T.
    fn comparison_range(&self, a: &Ciphertext) -> Result<i64> {
        Ok(self.comparison(a)?.range())
    }
}

/// The stages of a bootstrapping, by a dry run; 0 if that is refused, as the real one will say why.
fn count_stages(params: &Params, plan: &BootstrapPlan) -> usize {
    KeyPlanner::with_plan(params, plan.clone()).map_or(0, |planner| planner.stages().len())
}

/// What a program reads, how many statements it has, whether it moves values between slots, and
/// whether, if slots without an entry hold 0, it moves no entry and adds up nothing else.
#[pyfunction]
pub fn program_facts(program: &str) -> Result<(Vec<String>, usize, bool, bool)> {
    let program = Program::parse(program)?;
    let stays = program.rows(|_| Some(0)).is_ok_and(|rows| !rows.values().any(|rows| rows.moved));
    Ok((program.inputs().map(String::from).collect(), program.len(), program.moves_slots(), stays))
}

/// The names, of inputs and of what a program defines, whose values depend on one of these inputs.
#[pyfunction]
pub fn program_made_of(program: &str, inputs: Vec<String>) -> Result<Vec<String>> {
    let program = Program::parse(program)?;
    let inputs: BTreeSet<&str> = inputs.iter().map(String::as_str).collect();
    let found = program.made_of(|name| inputs.contains(name));
    Ok(found.into_iter().map(String::from).collect())
}

/// Many bootstrappings of one ciphertext without a return to Python in between, and the seconds
/// that each took: what `everlevel.bench` compares with.
#[pyfunction]
pub fn time_bootstraps(
    py: Python<'_>,
    server: &Server,
    a: &Ciphertext,
    runs: usize,
) -> Result<Vec<f64>> {
    detached(py, || {
        let x = a.value.get();
        let once = |_| {
            let started = std::time::Instant::now();
            server.inner.bootstrap(&x)?;
            Ok(started.elapsed().as_secs_f64())
        };
        (0..runs).map(once).collect()
    })
}
