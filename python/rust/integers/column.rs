//! Columns and sums: of ciphertexts, or of pretended ones.

use everlevel::lab::{NoOp, ServerEvaluator};
use everlevel::{Ciphertext, IntegerColumn, IntegerTotal, Params};
use everlevel_integers::{
    Column as Digits, IntegerScheme, Orders, Total as Parts, ciphertext_bytes,
};
use everlevel_scheme::Meta;
use everlevel_scheme::noop::{NoOpCiphertext, memory_of_ciphertext};
use pyo3::prelude::*;

use crate::errors::{Failure, refusal};
use crate::values::shown;

/// A column of ciphertexts, or of pretended ones.
#[derive(Clone)]
pub enum Held {
    Real(IntegerColumn),
    Traced(Digits<NoOpCiphertext>),
}

/// The sum of a column, likewise.
pub(super) enum HeldTotal {
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

    /// The same column; public integers of any length as this many entries.
    fn of_length(&self, length: usize) -> Self {
        let held = match &self.held {
            Held::Real(x) => Held::Real(x.of_length(length)),
            Held::Traced(x) => Held::Traced(x.of_length(length)),
        };
        Column { params: self.params.clone(), held }
    }

    /// With those of an index.
    #[getter]
    fn ciphertexts(&self) -> usize {
        either!(&self.held, Held, x => x.ciphertexts() + x.index_values().count())
    }

    /// Whether its digits are encrypted in unary, too.
    #[getter]
    fn has_index(&self) -> bool {
        either!(&self.held, Held, x => x.has_index())
    }

    /// The bytes of its ciphertexts, by the sizes of their moduli.
    #[getter]
    fn bytes(&self) -> u64 {
        let size = |meta: &Meta| ciphertext_bytes(&self.params, meta.level);
        either!(&self.held, Held, x => {
            x.values().chain(x.index_values()).map(|v| size(v.get().meta())).sum()
        })
    }

    /// Their bytes in memory, with a word for each residue.
    #[getter]
    fn memory_bytes(&self) -> u64 {
        let size = |meta: &Meta| memory_of_ciphertext(&self.params, meta.level);
        either!(&self.held, Held, x => {
            x.values().chain(x.index_values()).map(|v| size(v.get().meta())).sum()
        })
    }

    /// The highest level of the ciphertexts of its digits; none without any.
    #[getter]
    fn level(&self) -> Option<usize> {
        either!(&self.held, Held, x => x.values().map(|v| v.get().meta().level.0).max())
    }

    /// Whether it has the digits of another one, and its ciphertexts have the levels, noise bounds
    /// and factors of those of the other one.
    fn is_like(&self, other: &Column) -> bool {
        either!(&self.held, Held, x => either!(&other.held, Held, y => {
            x.is_like(y, |x, y| x.meta() == y.meta())
        }))
    }

    /// The same column, which stays as it is where the other one is bootstrapped.
    fn detached(&self) -> Self {
        let held = match &self.held {
            Held::Real(x) => Held::Real(x.detached()),
            Held::Traced(x) => Held::Traced(x.detached()),
        };
        Column { params: self.params.clone(), held }
    }

    /// The same column without its index.
    fn without_index(&self) -> Self {
        let held = match &self.held {
            Held::Real(x) => Held::Real(x.clone().without_index()),
            Held::Traced(x) => Held::Traced(x.clone().without_index()),
        };
        Column { params: self.params.clone(), held }
    }

    /// The least capacity of the ciphertexts of its digits; none without any.
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
    pub(super) params: Params,
    pub(super) held: HeldTotal,
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

    /// As for a column.
    #[getter]
    fn bytes(&self) -> u64 {
        let size = |meta: &Meta| ciphertext_bytes(&self.params, meta.level);
        either!(&self.held, HeldTotal, x => x.values().map(|v| size(v.get().meta())).sum())
    }

    /// As for a column.
    #[getter]
    fn memory_bytes(&self) -> u64 {
        let size = |meta: &Meta| memory_of_ciphertext(&self.params, meta.level);
        either!(&self.held, HeldTotal, x => x.values().map(|v| size(v.get().meta())).sum())
    }
}

/// A scheme whose columns Python holds.
pub(super) trait Home: IntegerScheme + Sized {
    fn orders(shared: &Shared) -> &Orders<Self::Ciphertext>;
    fn of(held: &Held) -> Option<&Digits<Self::Ciphertext>>;
    fn held(x: Digits<Self::Ciphertext>) -> Held;
    fn total(x: Parts<Self::Ciphertext>) -> HeldTotal;
}

/// What operations of one run of a program share that put the same column in order.
pub(super) struct Shared {
    real: Orders<Ciphertext>,
    traced: Orders<NoOpCiphertext>,
}

impl Shared {
    pub(super) fn new() -> Self {
        Shared { real: Orders::as_called(), traced: Orders::as_called() }
    }
}

impl Home for ServerEvaluator {
    fn orders(shared: &Shared) -> &Orders<Ciphertext> {
        &shared.real
    }

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
    fn orders(shared: &Shared) -> &Orders<NoOpCiphertext> {
        &shared.traced
    }

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

/// What refuses to decrypt what is only traced.
pub(super) fn traced() -> Failure {
    let problem = "a plan computes nothing: give its arrays to plan.run on a server";
    refusal("ParameterError", "python.traced", problem)
}
