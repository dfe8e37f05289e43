//! Where operations are done: on a server, or on a scheme that only counts.

use std::sync::Arc;

use everlevel::{Ciphertext, Integers, Level, Params, Type, bootstrap_plan};
use everlevel_integers::{Counted, Origin, Rehearsal, TablePlans, index_level};
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::{NoOp, Scheme};
use pyo3::prelude::*;

use super::column::{Column, Held, HeldTotal, Home, Shared, Total};
use super::operations::{Entry, Given, Operands, constant, operate, totals};
use crate::errors::Result;
use crate::keys::Plan;
use crate::runtime::detached;
use crate::server::Server;

/// Where operations are done.
#[derive(Clone)]
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
    /// Whether products and large tables are computed in blocks, for less memory.
    in_blocks: bool,
    /// What operations of one run of a program share; none outside of a program.
    shared: Option<Shared>,
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
                let $ints = $ints.side_by_side($self.side_by_side).in_blocks($self.in_blocks);
                $work
            }
            // On one thread: the memory that it takes is not to depend on how many there are.
            Place::Trace(trace) => trace.alone(|| {
                let $ints = trace.integers()?.with_plans($self.plans.clone());
                let $ints = $ints.side_by_side($self.side_by_side).in_blocks($self.in_blocks);
                $work
            }),
        }
    };
}

#[pymethods]
impl IntegerServer {
    #[new]
    fn new(server: &Server) -> Result<Self> {
        server.inner.integers()?;
        let (place, plans) = (Place::Server(server.inner.clone()), TablePlans::default());
        Ok(IntegerServer { place, plans, side_by_side: false, in_blocks: false, shared: None })
    }

    /// The same for one run of a program, whose operations on the same column share what puts it in
    /// order; with comparisons of short columns side by side, or not, and products in blocks, or
    /// not.
    #[pyo3(signature = (side_by_side, in_blocks = false))]
    fn of_a_run(&self, side_by_side: bool, in_blocks: bool) -> Self {
        let (place, plans) = (self.place.clone(), self.plans.clone());
        IntegerServer { place, plans, side_by_side, in_blocks, shared: Some(Shared::new()) }
    }

    /// Refuses a column of another owner, or of other parameters.
    fn check(&self, x: &Column) -> Result<()> {
        match (&self.place, &x.held) {
            (Place::Server(server), Held::Real(column)) => {
                let mut values = column.values().chain(column.index_values());
                Ok(values.try_for_each(|v| server.evaluator().check_params(&v.get()))?)
            }
            _ => Ok(()),
        }
    }

    /// The column with its digits at a level, or at the lower one where they are.
    fn lowered(&self, py: Python<'_>, x: &Column, level: usize) -> Result<Column> {
        fn done<S: Home>(s: &Integers<'_, S>, x: &[Entry], level: Level) -> Result<Held> {
            let x = Operands(x, &[]).column::<S>(0)?;
            Ok(S::held(s.lowered(x, level)?))
        }
        let x = [Entry::Column(x.held.clone())];
        let held = detached(py, || on!(self, s => done(&s, &x, Level(level))))?;
        Ok(self.own(held))
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
        fn done<S: Home>(
            s: &Integers<'_, S>,
            shared: Option<&Shared>,
            name: &str,
            x: &Operands<'_>,
        ) -> Result<Vec<Held>> {
            Ok(operate(s, shared, name, x)?.into_iter().map(S::held).collect())
        }
        let entries: Vec<Entry> = operands.iter().map(Entry::of).collect();
        let (x, shared) = (Operands(&entries, &numbers), self.shared.as_ref());
        let found = detached(py, || on!(self, s => done(&s, shared, name, &x)))?;
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

    /// The totals of a name, of a column or two, with further integers.
    #[pyo3(signature = (name, x, numbers = Vec::new(), other = None))]
    fn totals(
        &self,
        py: Python<'_>,
        name: &str,
        x: &Column,
        numbers: Vec<i128>,
        other: Option<&Column>,
    ) -> Result<Vec<Total>> {
        fn done<S: Home>(
            s: &Integers<'_, S>,
            name: &str,
            x: &Operands<'_>,
        ) -> Result<Vec<HeldTotal>> {
            Ok(totals(s, name, x)?.into_iter().map(S::total).collect())
        }
        let x: Vec<Entry> =
            [Some(x), other].into_iter().flatten().map(|x| Entry::Column(x.held.clone())).collect();
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

    /// On a server with the keys that it has, and no others; none if it bootstraps and has the keys
    /// for any program.
    #[staticmethod]
    fn of_server(py: Python<'_>, server: &Server) -> Result<Option<Self>> {
        let inner = &server.inner;
        detached(py, || Ok(inner.rehearsal()?.map(|found| Trace(Arc::new(found)))))
    }

    /// On a server with these keys and no others, which bootstraps or does not.
    #[staticmethod]
    fn holding(
        py: Python<'_>,
        params: &crate::params::Params,
        keys: &Plan,
        bootstraps: bool,
    ) -> Result<Self> {
        let (params, keys) = (&params.0, &keys.0);
        detached(py, || {
            let plan = if bootstraps { Some(bootstrap_plan(params)?) } else { None };
            let scheme = NoOp::blank(params).holding(keys.clone());
            Ok(Trace(Arc::new(Rehearsal::on(scheme, plan)?)))
        })
    }

    /// The same once more, with what is known of tables, and with counts that begin at 0.
    fn again(&self, py: Python<'_>) -> Result<Self> {
        detached(py, || Ok(Trace(Arc::new(self.0.again()))))
    }

    /// Where its operations are done, those of one run of a program.
    #[pyo3(signature = (side_by_side = false, in_blocks = false))]
    fn server(&self, side_by_side: bool, in_blocks: bool) -> Result<IntegerServer> {
        let plans = self.0.integers()?.plans();
        let place = Place::Trace(self.0.clone());
        Ok(IntegerServer { place, plans, side_by_side, in_blocks, shared: Some(Shared::new()) })
    }

    /// A column of a number of integers of an interval, with digits at a level, at the top if there
    /// is none, and with an index or without: encrypted with the `secret` key, or with the `public`
    /// one, or with the secret one at the top, and switched down from `above`.
    #[pyo3(signature = (interval, length, origin = "secret", index = false, level = None))]
    fn input(
        &self,
        py: Python<'_>,
        interval: (i128, i128),
        length: usize,
        origin: &str,
        index: bool,
        level: Option<usize>,
    ) -> Result<Column> {
        let rehearsal = &*self.0;
        let params = rehearsal.params();
        let origin = match origin {
            "public" => Origin::Public,
            "above" => Origin::Above,
            _ => Origin::Secret,
        };
        let level = level.map_or(params.chain().top(), Level);
        let column = detached(py, || {
            let kind = Type::ranged(interval.0, interval.1)?;
            let index = index.then(|| index_level(params, kind)).transpose()?;
            Ok(rehearsal.argument(kind, length, (origin, level), index)?)
        })?;
        Ok(Column { params: params.clone(), held: Held::Traced(column) })
    }

    /// A column like one of ciphertexts, or of another trace, with the same digits and the same
    /// index.
    fn like(&self, py: Python<'_>, x: &Column) -> Result<Column> {
        let (rehearsal, held) = (&*self.0, &x.held);
        let column = detached(py, || match held {
            Held::Real(column) => Ok(rehearsal.like(column, |c: &Ciphertext| *c.meta())?),
            Held::Traced(column) => Ok(rehearsal.like(column, |c: &NoOpCiphertext| *c.meta())?),
        })?;
        Ok(Column { params: rehearsal.params().clone(), held: Held::Traced(column) })
    }

    /// What was done so far: products, key switches, bootstrappings, and the seconds that these
    /// take by the model of a typical core.
    #[getter]
    fn cost(&self) -> (u64, u64, usize, f64) {
        let Counted { products, key_switches, refreshes, seconds, .. } = self.0.spent();
        (products, key_switches, refreshes as usize, seconds)
    }

    /// The most bytes that ciphertexts took in memory at a time.
    #[getter]
    fn working_bytes(&self) -> u64 {
        self.0.working_bytes()
    }

    /// The keys that it took.
    #[getter]
    fn keys(&self) -> Plan {
        Plan(self.0.keys())
    }
}
