//! The execution of stages and the refresh of ciphertexts.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use everlevel_circuit::bootstrap::Bootstrapper;
use everlevel_circuit::{CircuitError, PrimePower, Session, Value};
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::{
    Arithmetic, Bootstrappable, NextUse, NoOp, Params, Plaintext, Scheme, SchemeError,
};

use crate::column::Digit;
use crate::error::IntegersError;
use crate::plan::TablePlan;
use crate::stage::Stage;

/// The requirements of typed integers on a scheme.
pub trait IntegerScheme: Bootstrappable {}

impl<S: Bootstrappable> IntegerScheme for S {}

/// Bits of capacity that results of tables keep above what bootstrapping needs, for the sums of a
/// few of them that come next.
const MARGIN: f64 = 6.0;

/// An observer, which receives every input ciphertext of a table with the window of its slots.
pub type WindowObserver<S> = Box<dyn Fn(&S, &<S as Scheme>::Ciphertext, (i64, i64)) + Send + Sync>;

type Tables = (i64, i64, Vec<Vec<i64>>);

/// A cache of plans of tables. Clones share it, so that a new [`Integers`] for each operation does
/// not plan again.
#[derive(Clone, Default)]
pub struct TablePlans(Arc<Mutex<BTreeMap<Tables, Arc<TablePlan>>>>);

/// Computes on typed integers over a [`Session`].
///
/// Operations are computed immediately. Before a table is evaluated, it is rehearsed on the no-op
/// scheme, at the level and the noise bound of its inputs; if the capacity does not suffice, the
/// inputs (digits, differences and sums of signs, never powers) are bootstrapped in place.
pub struct Integers<'a, S: IntegerScheme> {
    session: &'a Session<S>,
    params: Params,
    rehearsal: NoOp,
    zero: Plaintext,
    modulus: PrimePower,
    slots: usize,
    plans: TablePlans,
    /// A ciphertext as bootstrapping leaves it; computed when it is first needed.
    refreshed: Mutex<Option<NoOpCiphertext>>,
    observer: Option<WindowObserver<S>>,
    /// Whether comparisons of short columns have their digits in one ciphertext.
    side_by_side: bool,
}

impl<'a, S: IntegerScheme> Integers<'a, S> {
    /// Typed integers over a session with a scheme of these parameters.
    ///
    /// # Errors
    /// [`IntegersError::Set`] if the plaintext modulus is not a prime of at least 257.
    pub fn new(session: &'a Session<S>, params: &Params) -> Result<Self, IntegersError> {
        let (p, r) = (params.spec().plain_prime, params.plain_exponent());
        if r != 1 || p < 257 {
            return Err(IntegersError::Set {
                name: params.name().into(),
                problem: "typed integers need a plaintext modulus that is a prime of at least 257: \
                          use bgv-65537-n15",
            });
        }
        Ok(Integers {
            session,
            params: params.clone(),
            rehearsal: NoOp::blank(params),
            zero: Plaintext::encode(params, &[])?,
            modulus: PrimePower::new(p, 1)?,
            slots: params.slots(),
            plans: TablePlans::default(),
            refreshed: Mutex::default(),
            observer: None,
            side_by_side: false,
        })
    }

    /// Sets an observer of the inputs of all tables, for tests with the secret key.
    #[must_use]
    pub fn observed(self, observer: WindowObserver<S>) -> Self {
        Integers { observer: Some(observer), ..self }
    }

    /// Sets whether the digits of short columns are compared side by side, in one ciphertext. This
    /// takes one table and one bootstrapping for all digits instead of one for each, but it needs
    /// rotations, for which the server must have keys. A column is short if, with its length and
    /// its number of digits each rounded up to a power of two, their product is at most the length
    /// of a row of slots.
    #[must_use]
    pub fn side_by_side(self, side_by_side: bool) -> Self {
        Integers { side_by_side, ..self }
    }

    pub(crate) fn is_side_by_side(&self) -> bool {
        self.side_by_side
    }

    /// Uses an existing cache of plans, over the same plaintext modulus.
    #[must_use]
    pub fn with_plans(self, plans: TablePlans) -> Self {
        Integers { plans, ..self }
    }

    /// The cache of plans, for others over the same plaintext modulus.
    pub fn plans(&self) -> TablePlans {
        self.plans.clone()
    }

    /// The session.
    pub fn session(&self) -> &'a Session<S> {
        self.session
    }

    /// The number of slots: the longest column.
    pub fn slots(&self) -> usize {
        self.slots
    }

    pub(crate) fn params(&self) -> &Params {
        &self.params
    }

    pub(crate) fn modulus(&self) -> PrimePower {
        self.modulus
    }

    /// Refuses a window with more integers than there are residues: two of them would agree
    /// modulo p, and no table could tell them apart.
    pub(crate) fn check_window(&self, low: i64, high: i64) -> Result<(), IntegersError> {
        if u64::try_from(high - low).is_ok_and(|most| most >= self.modulus.prime()) {
            return Err(IntegersError::Set {
                name: self.params.name().into(),
                problem: "its plaintext modulus is too small for values of so many digits: take \
                          bgv-65537-n15, or state narrower bounds when the values are encrypted",
            });
        }
        Ok(())
    }

    /// The plan of these tables, made once.
    pub(crate) fn plan(
        &self,
        low: i64,
        high: i64,
        tables: Vec<Vec<i64>>,
    ) -> Result<Arc<TablePlan>, IntegersError> {
        self.check_window(low, high)?;
        let lock = || self.plans.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (low, high, tables);
        if let Some(plan) = lock().get(&key) {
            return Ok(plan.clone());
        }
        let plan = Arc::new(TablePlan::new(self.modulus, low, high, &key.2)?);
        lock().insert(key, plan.clone());
        Ok(plan)
    }

    /// A ciphertext modulo p; that of a column encrypted modulo p^2, for sums, is reduced modulo p.
    pub(crate) fn operand(
        &self,
        x: &Value<S::Ciphertext>,
    ) -> Result<Arc<S::Ciphertext>, IntegersError> {
        let (scheme, now) = (self.session.scheme(), x.get());
        Ok(match scheme.plain_exponent(&now) {
            1 => now,
            _ => Arc::new(scheme.reduce_plain_modulus(&now, 1)?),
        })
    }

    /// Bootstraps in place.
    pub(crate) fn refresh(&self, x: &Value<S::Ciphertext>) -> Result<(), IntegersError> {
        self.session.reduce_in_place(x)?;
        Ok(self.session.refresh_in_place(x)?)
    }

    /// Bootstraps a digit, in place, of which no product fits, however fresh the other operand is:
    /// before several products of it are done in parallel, so that this is done once.
    pub(crate) fn readied_factor(&self, digit: &Digit<S::Ciphertext>) -> Result<(), IntegersError> {
        let Some(x) = digit.cipher.as_ref().filter(|_| self.session.can_bootstrap()) else {
            return Ok(());
        };
        let product = |own: NoOpCiphertext| {
            let fresh = self.rehearsal.encrypt(&self.zero)?;
            self.rehearsal.mul(&own, &fresh, NextUse::Keep)
        };
        let product = self.pretended(&*self.operand(x)?).map(product);
        let needed = self.session.minimum_capacity();
        match product {
            Some(Ok(product)) if self.rehearsal.capacity_bits(&product) >= needed => Ok(()),
            _ => self.refresh(x),
        }
    }

    /// What stands for a ciphertext of this level and capacity in rehearsals.
    pub(crate) fn pretended(&self, x: &S::Ciphertext) -> Option<NoOpCiphertext> {
        let scheme = self.session.scheme();
        let (level, capacity) = (scheme.level(x), scheme.capacity_bits(x));
        self.rehearsal.encrypt_exhausted(&self.zero, level, capacity).ok()
    }

    /// A plaintext of zeros.
    pub(crate) fn blank(&self) -> &Plaintext {
        &self.zero
    }

    /// The scheme of rehearsals.
    pub(crate) fn rehearsal(&self) -> &NoOp {
        &self.rehearsal
    }

    /// The cheapest way that leaves enough capacity, or the one that leaves most if none does, and
    /// the capacity that it leaves, for ciphertexts with the public data of `inputs` on the no-op
    /// scheme.
    fn way(&self, stage: &Stage<'_>, inputs: &[&S::Ciphertext]) -> (usize, f64) {
        let pretended = inputs.iter().map(|x| self.pretended(x));
        let Some(pretended) = pretended.collect::<Option<Vec<_>>>() else {
            return (0, f64::NEG_INFINITY);
        };
        let pretended: Vec<_> = pretended.iter().collect();
        let enough = self.session.minimum_capacity() + MARGIN;
        let mut best = (0, f64::NEG_INFINITY);
        for way in 0..stage.ways() {
            let Ok(results) = stage.run(&self.rehearsal, &pretended, way) else { continue };
            let capacities = results.iter().flatten().map(|y| self.rehearsal.capacity_bits(y));
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
        self.way(stage, inputs).1 >= self.session.minimum_capacity() + MARGIN
    }

    /// Whether a stage fits if all inputs were bootstrapped. The capacity after bootstrapping is
    /// determined once, on the no-op scheme.
    pub(crate) fn fits_refreshed(
        &self,
        stage: &Stage<'_>,
        inputs: usize,
    ) -> Result<bool, IntegersError> {
        let Some(bootstrapper) = self.session.bootstrapper() else {
            // Where bootstrapping is refused, so is what would follow it.
            return match self.session.can_bootstrap() {
                true => Err(CircuitError::NoBootstrapping.into()),
                false => Ok(false),
            };
        };
        let needed = self.session.minimum_capacity();
        // Not locked while it is found: threads that wait there take up other digits.
        let lock = || self.refreshed.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().clone();
        let fresh = match known {
            Some(fresh) => fresh,
            None => {
                let dry = Bootstrapper::new(&self.rehearsal, bootstrapper.plan().clone())?;
                let any = self.rehearsal.encrypt(&self.zero)?;
                let fresh = dry.bootstrap(&self.rehearsal, &any)?;
                lock().insert(fresh).clone()
            }
        };
        let fits = |way| match stage.run(&self.rehearsal, &vec![&fresh; inputs], way) {
            Ok(found) => found.iter().flatten().all(|y| self.rehearsal.capacity_bits(y) >= needed),
            Err(_) => false,
        };
        Ok((0..stage.ways()).any(fits))
    }

    /// Evaluates functions of a digit, all at once.
    pub(crate) fn look_up(
        &self,
        digit: &Digit<S::Ciphertext>,
        plan: &TablePlan,
    ) -> Result<Vec<Digit<S::Ciphertext>>, IntegersError> {
        let outside = || CircuitError::Empty { what: "the window of a digit" };
        if plan.is_identity() {
            return Ok(vec![digit.clone()]);
        }
        let found = match &digit.cipher {
            Some(value) if plan.ways() > 0 => {
                self.staged(&[value], &Stage::Table(plan), &[plan.points()])?
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
            Ok(Digit { cipher: cipher.map(|c| self.session.share(c)), low, high, pad })
        });
        named.collect()
    }

    /// Runs a stage, and bootstraps as many of its inputs as necessary, those with the least
    /// capacity first.
    pub(crate) fn staged(
        &self,
        inputs: &[&Value<S::Ciphertext>],
        stage: &Stage<'_>,
        windows: &[(i64, i64)],
    ) -> Result<Vec<Option<S::Ciphertext>>, IntegersError> {
        let needed = self.session.minimum_capacity();
        let scheme = self.session.scheme();
        let mut stale: Vec<usize> = match self.session.can_bootstrap() {
            true => (0..inputs.len()).collect(),
            false => Vec::new(),
        };
        loop {
            let now = inputs.iter().map(|v| self.operand(v)).collect::<Result<Vec<_>, _>>()?;
            let x: Vec<&S::Ciphertext> = now.iter().map(AsRef::as_ref).collect();
            let (way, left) = self.way(stage, &x);
            let enough = if stale.is_empty() { needed } else { needed + MARGIN };
            if left >= enough {
                if let Some(observer) = &self.observer {
                    x.iter().zip(windows).for_each(|(x, window)| observer(scheme, x, *window));
                }
                // What the rehearsal says is what comes; the bound itself is checked all the same.
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
            stale.sort_by(|i, j| capacity(j).total_cmp(&capacity(i)));
            let Some(worst) = stale.pop() else {
                let left = (0..x.len()).map(|i| capacity(&i)).fold(f64::INFINITY, f64::min);
                return Err(IntegersError::Depth { depth: stage.depth(), left, needed });
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
        let scheme = self.session.scheme();
        let needed = self.session.minimum_capacity();
        let mut stale: Vec<usize> = (0..values.len()).collect();
        loop {
            let now = values.iter().map(|v| self.operand(v)).collect::<Result<Vec<_>, _>>()?;
            let operands: Vec<&S::Ciphertext> = now.iter().map(AsRef::as_ref).collect();
            match operation(scheme, &operands) {
                Ok(result) if scheme.capacity_bits(&result) >= needed => {
                    return Ok(self.session.share(result));
                }
                Ok(_) | Err(CircuitError::Scheme(SchemeError::NoiseOverflow { .. })) => {}
                Err(error) => return Err(error.into()),
            }
            let capacity = |i: &usize| scheme.capacity_bits(operands[*i]);
            stale.sort_by(|i, j| capacity(j).total_cmp(&capacity(i)));
            let Some(worst) = stale.pop().filter(|_| self.session.can_bootstrap()) else {
                // Sums, products by plaintexts and single products: a level at most.
                let left = (0..operands.len()).map(|i| capacity(&i)).fold(f64::INFINITY, f64::min);
                return Err(IntegersError::Depth { depth: 1, left, needed });
            };
            self.refresh(values[worst])?;
        }
    }

    /// Σ k_i d_i + `constant`.
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
        Ok(Digit { cipher, low, high, pad })
    }
}
