//! Typed integers: computed on by a server, or traced on the no-op scheme.

use std::sync::Arc;

use everlevel::files::{Bytes, ENCRYPTION, Encryption};
use everlevel::lab::{NoOp, ServerEvaluator};
use everlevel::{
    IntegerColumn, IntegerTotal, IntegerValue, Integers, Interval, NamedIntegers, Params,
    Plaintext, Type,
};
use everlevel_circuit::{PrimePower, Value};
use everlevel_integers::{
    Column as Digits, Counted, Encoded, IntegerScheme, IntegersError, Operand, Order, Rehearsal,
    TablePlans, Total as Parts, ciphertext_bytes,
};
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::{Meta, Scheme};
use everlevel_wire::{Metadata, ReadOptions};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zeroize::Zeroizing;

use crate::ciphertext::{MAX_BYTES, believed};
use crate::errors::{Result, refusal};
use crate::keys::{Plan, PublicKey, SecretKey, same};
use crate::manifest::Manifest;
use crate::runtime::{detached, rng};
use crate::server::Server;
use crate::values::{octets, shown};

/// A column of ciphertexts, or of pretended ones.
#[derive(Clone)]
pub enum Held {
    Real(IntegerColumn),
    Traced(Digits<NoOpCiphertext>),
}

/// The sum of a column, likewise.
enum HeldTotal {
    Real(IntegerTotal),
    Traced(Parts<NoOpCiphertext>),
}

/// A column of typed integers: as many as fit the slots.
#[pyclass(frozen, module = "everlevel._everlevel")]
pub struct Column {
    pub params: Params,
    pub held: Held,
}

/// What is asked of either kind.
macro_rules! either {
    ($held:expr, $kind:ident, $x:ident => $found:expr) => {
        match $held {
            $kind::Real($x) => $found,
            $kind::Traced($x) => $found,
        }
    };
}

#[pymethods]
impl Column {
    #[getter]
    fn params(&self) -> crate::params::Params {
        crate::params::Params(self.params.clone())
    }

    #[getter]
    fn interval(&self) -> (i128, i128) {
        let interval = either!(&self.held, Held, x => x.interval());
        (interval.low(), interval.high())
    }

    /// How many entries there are; none if all are public.
    #[getter]
    fn length(&self) -> Option<usize> {
        either!(&self.held, Held, x => x.length())
    }

    #[getter]
    fn ciphertexts(&self) -> usize {
        either!(&self.held, Held, x => x.ciphertexts())
    }

    /// The value of all entries, if it is public.
    #[getter]
    fn public_value(&self) -> Option<i128> {
        either!(&self.held, Held, x => x.public_value())
    }

    /// The least capacity of its ciphertexts; none without any.
    #[getter]
    fn capacity_bits(&self) -> Option<f64> {
        let capacity = |meta: &Meta| self.params.noise().capacity(meta);
        match &self.held {
            Held::Real(x) => x.values().map(|v| capacity(v.get().meta())).reduce(f64::min),
            Held::Traced(x) => x.values().map(|v| capacity(v.get().meta())).reduce(f64::min),
        }
    }

    #[getter]
    fn key_id(&self) -> Option<String> {
        match &self.held {
            Held::Real(x) => x.values().find_map(|v| shown(v.get().owner())),
            Held::Traced(_) => None,
        }
    }
}

/// An encrypted sum.
#[pyclass(frozen, module = "everlevel._everlevel")]
pub struct Total {
    params: Params,
    held: HeldTotal,
}

#[pymethods]
impl Total {
    #[getter]
    fn params(&self) -> crate::params::Params {
        crate::params::Params(self.params.clone())
    }

    #[getter]
    fn interval(&self) -> (i128, i128) {
        let interval = either!(&self.held, HeldTotal, x => x.interval());
        (interval.low(), interval.high())
    }

    #[getter]
    fn ciphertexts(&self) -> usize {
        either!(&self.held, HeldTotal, x => x.values().count())
    }
}

/// A scheme whose columns Python holds.
trait Home: IntegerScheme + Sized {
    fn of(held: &Held) -> Option<&Digits<Self::Ciphertext>>;
    fn held(x: Digits<Self::Ciphertext>) -> Held;
    fn total(x: Parts<Self::Ciphertext>) -> HeldTotal;
}

impl Home for ServerEvaluator {
    fn of(held: &Held) -> Option<&IntegerColumn> {
        if let Held::Real(x) = held { Some(x) } else { None }
    }

    fn held(x: IntegerColumn) -> Held {
        Held::Real(x)
    }

    fn total(x: IntegerTotal) -> HeldTotal {
        HeldTotal::Real(x)
    }
}

impl Home for NoOp {
    fn of(held: &Held) -> Option<&Digits<NoOpCiphertext>> {
        if let Held::Traced(x) = held { Some(x) } else { None }
    }

    fn held(x: Digits<NoOpCiphertext>) -> Held {
        Held::Traced(x)
    }

    fn total(x: Parts<NoOpCiphertext>) -> HeldTotal {
        HeldTotal::Traced(x)
    }
}

/// An operand from Python.
#[derive(FromPyObject)]
enum Given<'py> {
    Column(Bound<'py, Column>),
    Public(i128),
}

/// The same without the interpreter's lock.
enum Entry {
    Column(Held),
    Public(i128),
}

impl Entry {
    fn of(given: &Given<'_>) -> Self {
        match given {
            Given::Column(x) => Entry::Column(x.get().held.clone()),
            Given::Public(k) => Entry::Public(*k),
        }
    }
}

/// The operands of an operation.
struct Operands<'a>(&'a [Entry], &'a [i128]);

impl<'a> Operands<'a> {
    /// A column or a public integer.
    fn at<S: Home>(&self, i: usize) -> Result<Operand<'a, S::Ciphertext>> {
        match self.0.get(i) {
            Some(Entry::Public(k)) => Ok(Operand::Public(*k)),
            _ => Ok(Operand::Column(self.column::<S>(i)?)),
        }
    }

    /// A column.
    fn column<S: Home>(&self, i: usize) -> Result<&'a Digits<S::Ciphertext>> {
        let found = match self.0.get(i) {
            Some(Entry::Column(held)) => S::of(held),
            _ => None,
        };
        found.ok_or_else(|| {
            let problem = "an array of a plan is not one of a server: give both from one of them";
            refusal("ParameterError", "python.traced", problem)
        })
    }

    fn number(&self, i: usize) -> i128 {
        self.1.get(i).copied().unwrap_or_default()
    }

    /// In which order the first entries are taken.
    fn order(&self) -> Order {
        if self.number(1) == 0 { Order::Ascending } else { Order::Descending }
    }

    /// The type that has just these values.
    fn kind(&self) -> Result<Type> {
        let interval = Interval::new(self.number(0), self.number(1))?;
        Ok(Type::smallest(interval)
            .filter(|kind| kind.interval() == interval)
            .unwrap_or(Type::Ranged(interval)))
    }
}

/// An operation of the library by its name: a line for each.
fn operate<S: Home>(
    s: &Integers<'_, S>,
    name: &str,
    x: &Operands<'_>,
) -> Result<Vec<Digits<S::Ciphertext>>> {
    Ok(vec![match name {
        "add" => s.add(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "sub" => s.sub(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "neg" => s.neg(x.column::<S>(0)?)?,
        "mul_public" => s.mul_public(x.column::<S>(0)?, x.number(0))?,
        "mul" => s.mul(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "square" => s.square(x.column::<S>(0)?)?,
        "mul_wrapped" => s.mul_wrapped(x.at::<S>(0)?, x.at::<S>(1)?, x.kind()?)?,
        "weighted_sum" => {
            let columns = (0..x.0.len()).map(|i| x.column::<S>(i));
            let terms = columns.zip(x.1).map(|(column, k)| Ok((column?, *k)));
            s.weighted_sum(&terms.collect::<Result<Vec<_>>>()?)?
        }
        "sum_of_each" => s.sum_of_each(x.column::<S>(0)?)?,
        "cumsum" => s.cumsum(x.column::<S>(0)?)?,
        "sort" => s.sorted(x.column::<S>(0)?, x.order(), x.number(0) as usize)?,
        "argsort" => s.argsorted(x.column::<S>(0)?, x.order(), x.number(0) as usize)?,
        "maximum" => s.maximum(x.column::<S>(0)?)?,
        "minimum" => s.minimum(x.column::<S>(0)?)?,
        "argmax" => s.argmax(x.column::<S>(0)?)?,
        "argmin" => s.argmin(x.column::<S>(0)?)?,
        "nth" => s.nth(x.column::<S>(0)?, Order::Ascending, x.number(0) as usize)?,
        "searchsorted" => s.searchsorted(&x.1[1..], x.column::<S>(0)?, x.number(0) == 1)?,
        "isin" => s.isin(x.column::<S>(0)?, x.1)?,
        "div" => s.div(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "rem" => s.rem(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "divmod" => {
            let (quotient, remainder) = s.div_rem(x.at::<S>(0)?, x.at::<S>(1)?)?;
            return Ok(vec![quotient, remainder]);
        }
        "div_public" => s.div_public(x.column::<S>(0)?, x.number(0))?,
        "rem_public" => s.rem_public(x.column::<S>(0)?, x.number(0))?,
        "shift_left_by" => s.shift_left_by(x.column::<S>(0)?, x.column::<S>(1)?)?,
        "shift_right_by" => s.shift_right_by(x.column::<S>(0)?, x.column::<S>(1)?)?,
        "popcount" => s.popcount(x.column::<S>(0)?)?,
        "lt" => s.lt(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "le" => s.le(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "gt" => s.gt(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "ge" => s.ge(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "eq" => s.eq(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "ne" => s.ne(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "min" => s.min(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "max" => s.max(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "clip" => s.clip(x.column::<S>(0)?, x.number(0), x.number(1))?,
        "abs" => s.abs(x.column::<S>(0)?)?,
        "sign" => s.sign(x.column::<S>(0)?)?,
        "select" => s.select(x.column::<S>(0)?, x.at::<S>(1)?, x.at::<S>(2)?)?,
        "not" => s.not(x.column::<S>(0)?)?,
        "and" => s.and(x.column::<S>(0)?, x.column::<S>(1)?)?,
        "or" => s.or(x.column::<S>(0)?, x.column::<S>(1)?)?,
        "xor" => s.xor(x.column::<S>(0)?, x.column::<S>(1)?)?,
        "bit_and" => s.bit_and(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "bit_or" => s.bit_or(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "bit_xor" => s.bit_xor(x.at::<S>(0)?, x.at::<S>(1)?)?,
        "shift_right" => s.shift_right(x.column::<S>(0)?, x.number(0) as u32)?,
        "wrapped" => s.wrapped(x.column::<S>(0)?, x.kind()?)?,
        "lookup" => s.lookup(x.column::<S>(0)?, x.1)?,
        "lookup_all" => {
            // The number of tables, then their entries.
            let entries = x.1.get(1..).unwrap_or_default();
            let length = entries.len() / (x.number(0).max(1) as usize);
            let tables: Vec<&[i128]> = entries.chunks(length.max(1)).collect();
            return Ok(s.lookup_all(x.column::<S>(0)?, &tables)?);
        }
        "normalized" => s.normalized(x.column::<S>(0)?)?,
        "shortened" => s.shortened(x.column::<S>(0)?, x.number(0) as usize)?,
        _ => {
            let problem = format!("no operation is named {name:?}");
            return Err(refusal("ParameterError", "python.operation", &problem));
        }
    }])
}

/// What is decrypted only, by its name.
fn totals<S: Home>(
    s: &Integers<'_, S>,
    name: &str,
    x: &Operands<'_>,
) -> Result<Vec<Parts<S::Ciphertext>>> {
    Ok(match name {
        "sum" => vec![s.sum(x.column::<S>(0)?)?],
        "mean" => vec![s.mean(x.column::<S>(0)?)?],
        "dot" => vec![s.dot(x.column::<S>(0)?, x.1)?],
        "average" => vec![s.average(x.column::<S>(0)?, x.1)?],
        "bincount" => s.bincount(x.column::<S>(0)?)?,
        _ => {
            let problem = format!("no total is named {name:?}");
            return Err(refusal("ParameterError", "python.operation", &problem));
        }
    })
}

/// A column of public integers, one for each entry, beside an encrypted one: its ciphertexts are
/// without noise, and anybody can read them.
fn constant<S: Home>(
    s: &Integers<'_, S>,
    params: &Params,
    like: &Digits<S::Ciphertext>,
    values: &[i128],
) -> Result<Digits<S::Ciphertext>> {
    let scheme = s.session().scheme();
    let capacity = |v: &&Value<S::Ciphertext>| scheme.capacity_bits(&v.get());
    let freshest = like.values().max_by(|a, b| capacity(a).total_cmp(&capacity(b)));
    let Some(freshest) = freshest else {
        let problem = "all entries of the array are public: decrypt it and compute in NumPy";
        return Err(refusal("DtypeError", "python.public", problem));
    };
    let zero = scheme.mul_scalar(&freshest.get(), 0)?;
    let low = values.iter().copied().min().unwrap_or(0);
    let high = values.iter().copied().max().unwrap_or(0);
    let encoded = Encoded::new(values, Type::ranged(low, high)?, s.slots())?;
    encoded.encrypt(|slots| Ok(scheme.add_plain(&zero, &Plaintext::encode(params, slots)?)?))
}

/// Where operations are done.
enum Place {
    Server(Arc<everlevel::Server>),
    Trace(Arc<Rehearsal>),
}

/// Computes on columns.
#[pyclass(frozen, module = "everlevel._everlevel")]
pub struct IntegerServer {
    place: Place,
    plans: TablePlans,
    /// Whether comparisons of short columns have their digits side by side.
    side_by_side: bool,
}

impl IntegerServer {
    fn params(&self) -> &Params {
        match &self.place {
            Place::Server(server) => server.params(),
            Place::Trace(trace) => trace.params(),
        }
    }

    fn own(&self, held: Held) -> Column {
        Column { params: self.params().clone(), held }
    }
}

/// Work for either place.
macro_rules! on {
    ($self:ident, $ints:ident => $work:expr) => {
        match &$self.place {
            Place::Server(server) => {
                let $ints = server.integers()?.with_plans($self.plans.clone());
                let $ints = $ints.side_by_side($self.side_by_side);
                $work
            }
            Place::Trace(trace) => {
                let $ints = trace.integers()?.with_plans($self.plans.clone());
                let $ints = $ints.side_by_side($self.side_by_side);
                $work
            }
        }
    };
}

#[pymethods]
impl IntegerServer {
    #[new]
    #[pyo3(signature = (server, side_by_side = false))]
    fn new(server: &Server, side_by_side: bool) -> Result<Self> {
        server.inner.integers()?;
        let place = Place::Server(server.inner.clone());
        Ok(IntegerServer { place, plans: TablePlans::default(), side_by_side })
    }

    /// Refuses a column of another owner, or of other parameters.
    fn check(&self, x: &Column) -> Result<()> {
        match (&self.place, &x.held) {
            (Place::Server(server), Held::Real(column)) => {
                Ok(column.values().try_for_each(|v| server.evaluator().check_params(&v.get()))?)
            }
            _ => Ok(()),
        }
    }

    /// The operation of a name on columns and public integers, with further integers.
    #[pyo3(signature = (name, operands, numbers = Vec::new()))]
    fn apply(
        &self,
        py: Python<'_>,
        name: &str,
        operands: Vec<Given<'_>>,
        numbers: Vec<i128>,
    ) -> Result<Vec<Column>> {
        fn done<S: Home>(s: &Integers<'_, S>, name: &str, x: &Operands<'_>) -> Result<Vec<Held>> {
            Ok(operate(s, name, x)?.into_iter().map(S::held).collect())
        }
        let entries: Vec<Entry> = operands.iter().map(Entry::of).collect();
        let found = detached(py, || on!(self, s => done(&s, name, &Operands(&entries, &numbers))))?;
        Ok(found.into_iter().map(|held| self.own(held)).collect())
    }

    /// Public integers, one for each entry, beside a column.
    fn constant(&self, py: Python<'_>, like: &Column, values: Vec<i128>) -> Result<Column> {
        fn done<S: Home>(
            s: &Integers<'_, S>,
            params: &Params,
            like: &[Entry],
            values: &[i128],
        ) -> Result<Held> {
            let like = Operands(like, &[]).column::<S>(0)?;
            Ok(S::held(constant(s, params, like, values)?))
        }
        let like = [Entry::Column(like.held.clone())];
        let held = detached(py, || on!(self, s => done(&s, self.params(), &like, &values)))?;
        Ok(self.own(held))
    }

    /// The totals of a name, of a column, with further integers.
    #[pyo3(signature = (name, x, numbers = Vec::new()))]
    fn totals(
        &self,
        py: Python<'_>,
        name: &str,
        x: &Column,
        numbers: Vec<i128>,
    ) -> Result<Vec<Total>> {
        fn done<S: Home>(
            s: &Integers<'_, S>,
            name: &str,
            x: &Operands<'_>,
        ) -> Result<Vec<HeldTotal>> {
            Ok(totals(s, name, x)?.into_iter().map(S::total).collect())
        }
        let x = [Entry::Column(x.held.clone())];
        let found = detached(py, || on!(self, s => done(&s, name, &Operands(&x, &numbers))))?;
        let own = |held| Total { params: self.params().clone(), held };
        Ok(found.into_iter().map(own).collect())
    }
}

/// What a program would cost on a parameter set.
#[pyclass(frozen, module = "everlevel._everlevel")]
pub struct Trace(Arc<Rehearsal>);

#[pymethods]
impl Trace {
    /// On a server that bootstraps, or on one that does not.
    #[new]
    fn new(py: Python<'_>, params: &crate::params::Params, bootstraps: bool) -> Result<Self> {
        detached(py, || Ok(Trace(Arc::new(Rehearsal::new(&params.0, bootstraps)?))))
    }

    /// Where its operations are done.
    #[pyo3(signature = (side_by_side = false))]
    fn server(&self, side_by_side: bool) -> Result<IntegerServer> {
        self.0.integers()?;
        let place = Place::Trace(self.0.clone());
        Ok(IntegerServer { place, plans: TablePlans::default(), side_by_side })
    }

    /// A column of a number of integers from `low` to `high`.
    fn input(&self, py: Python<'_>, low: i128, high: i128, length: usize) -> Result<Column> {
        let rehearsal = &*self.0;
        let column = detached(py, || {
            let kind = Type::ranged(low, high)?;
            Ok(rehearsal.column(kind, length, |s, zero| s.encrypt(zero))?)
        })?;
        Ok(Column { params: rehearsal.params().clone(), held: Held::Traced(column) })
    }

    /// What was done so far: products, key switches, bootstrappings, and the seconds that these
    /// take by the model of a typical core.
    #[getter]
    fn cost(&self) -> (u64, u64, usize, f64) {
        let Counted { products, key_switches, refreshes, seconds } = self.0.so_far();
        (products, key_switches, refreshes as usize, seconds)
    }

    /// The keys that it took.
    #[getter]
    fn keys(&self) -> Plan {
        Plan(self.0.keys())
    }

    /// The bytes of a ciphertext as it is encrypted, by the size of its modulus.
    #[getter]
    fn ciphertext_bytes(&self) -> u64 {
        let params = self.0.params();
        ciphertext_bytes(params, params.chain().top())
    }
}

/// Encrypts integers from `low` to `high`, under a secret key or a public one.
#[pyfunction]
#[pyo3(signature = (values, low, high, secret = None, public = None))]
pub fn encrypt_column(
    py: Python<'_>,
    values: Vec<i128>,
    low: i128,
    high: i128,
    secret: Option<&SecretKey>,
    public: Option<&PublicKey>,
) -> Result<Column> {
    let values = Zeroizing::new(values);
    let params = match (secret, public) {
        (Some(key), None) => key.0.params(),
        (None, Some(key)) => key.0.params(),
        _ => return Err(refusal("ParameterError", "python.one-key", "expected one key")),
    };
    let column = detached(py, || {
        let encoded = Encoded::new(&values, Type::ranged(low, high)?, params.slots())?;
        let mut rng = rng()?;
        encoded.encrypt(|slots| {
            let plain = Plaintext::encode(params, slots)?;
            Ok(match (secret, public) {
                (Some(key), _) => key.0.encrypt(&plain, &mut rng)?,
                (_, Some(key)) => key.0.encrypt(&plain, &mut rng)?,
                _ => return Err(refusal("ParameterError", "python.one-key", "expected one key")),
            })
        })
    })?;
    Ok(Column { params: params.clone(), held: Held::Real(column) })
}

/// What a file of columns holds.
#[derive(FromPyObject, IntoPyObject)]
pub enum Piece<'py> {
    Column(Bound<'py, Column>),
    Total(Bound<'py, Total>),
}

/// Columns and totals with their names as one object of the wire format. They are marked as
/// encrypted by the secret key if all of their bounds are within that.
#[pyfunction]
pub fn columns_to_bytes<'py>(
    py: Python<'py>,
    params: &crate::params::Params,
    columns: Vec<(String, Piece<'py>)>,
    mut metadata: Metadata,
) -> Result<Bound<'py, PyBytes>> {
    let params = &params.0;
    let named = columns.into_iter().map(|(name, piece)| {
        let value = match &piece {
            Piece::Column(x) => match &x.get().held {
                Held::Real(column) => IntegerValue::from(column.clone()),
                Held::Traced(_) => return Err(traced()),
            },
            Piece::Total(x) => match &x.get().held {
                HeldTotal::Real(total) => IntegerValue::from(total.clone()),
                HeldTotal::Traced(_) => return Err(traced()),
            },
        };
        Ok((name, value))
    });
    let named = named.collect::<Result<Vec<NamedIntegers>>>()?;
    let bytes = detached(py, || {
        let mut values = named.iter().flat_map(|(_, x)| x.values());
        if values.all(|v| Encryption::Secret.made(params, v.get().meta())) {
            metadata.insert(ENCRYPTION.into(), "secret".into());
        }
        Ok(named.to_bytes_with(params, &metadata)?)
    })?;
    Ok(PyBytes::new(py, &bytes))
}

/// Columns and totals from bytes, with their names, and the metadata. A manifest takes the place of
/// `bounds`.
#[pyfunction]
#[pyo3(signature = (params, data, bounds, manifest = None, allow_unknown_owner = false))]
pub fn columns_from_bytes<'py>(
    py: Python<'py>,
    params: &crate::params::Params,
    data: PyReadonlyArray1<'py, u8>,
    bounds: &str,
    manifest: Option<&Manifest>,
    allow_unknown_owner: bool,
) -> Result<(Vec<(String, Piece<'py>)>, Metadata)> {
    let data = octets(&data)?;
    let bounds = believed(bounds, manifest)?;
    let params = &params.0;
    let (found, metadata) = detached(py, || {
        let limit = ReadOptions::default()
            .limited_to(MAX_BYTES)
            .allowing_unknown_owner(allow_unknown_owner);
        let policy = bounds.policy(&everlevel_wire::inspect(data, &limit)?.metadata);
        Ok(Vec::<NamedIntegers>::from_bytes_with(params, data, &limit.believing(policy))?)
    })?;
    let own = |(name, value): NamedIntegers| {
        let params = params.clone();
        let piece = match value {
            IntegerValue::Column(x) => {
                Piece::Column(Bound::new(py, Column { params, held: Held::Real(x) })?)
            }
            IntegerValue::Total(x) => {
                Piece::Total(Bound::new(py, Total { params, held: HeldTotal::Real(x) })?)
            }
        };
        Ok((name, piece))
    };
    Ok((found.into_iter().map(own).collect::<Result<_>>()?, metadata))
}

/// What refuses to decrypt what is only traced.
fn traced() -> crate::errors::Failure {
    let problem = "a plan computes nothing: give its arrays to plan.run on a server";
    refusal("ParameterError", "python.traced", problem)
}

fn modulus(params: &Params) -> Result<PrimePower> {
    Ok(PrimePower::new(params.spec().plain_prime, 1).map_err(IntegersError::from)?)
}

/// The entries of a column; one if all are the same public integer.
#[pyfunction]
pub fn decrypt_column(py: Python<'_>, key: &SecretKey, x: &Column) -> Result<Vec<i128>> {
    let Held::Real(column) = &x.held else { return Err(traced()) };
    same(key.0.params(), &x.params)?;
    detached(py, || {
        let found = column.decrypt(modulus(&x.params)?, |c| {
            Ok::<_, crate::errors::Failure>(key.0.decrypt(c)?.decode_decrypted(&x.params)?)
        })?;
        Ok(found.to_vec())
    })
}

/// An encrypted sum.
#[pyfunction]
pub fn decrypt_total(py: Python<'_>, key: &SecretKey, x: &Total) -> Result<i128> {
    let HeldTotal::Real(total) = &x.held else { return Err(traced()) };
    same(key.0.params(), &x.params)?;
    detached(py, || {
        total.decrypt(modulus(&x.params)?, |c| Ok(key.0.decrypt(c)?.decode_decrypted(&x.params)?))
    })
}
