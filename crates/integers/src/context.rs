//! The context of operations on typed integers: the session, the parameters, the plans of tables
//! and the scheme of rehearsals.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use everlevel_circuit::{PrimePower, Session, Value};
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::{Bootstrappable, NoOp, Params, Plaintext, Scheme, SchemeError};

use crate::error::IntegersError;
use crate::plan::TablePlan;

/// The requirements of typed integers on a scheme.
pub trait IntegerScheme: Bootstrappable {}

impl<S: Bootstrappable> IntegerScheme for S {}

/// An observer, which receives every input ciphertext of a table with the window of its slots.
pub type WindowObserver<S> = Box<dyn Fn(&S, &<S as Scheme>::Ciphertext, (i64, i64)) + Send + Sync>;

/// The prime, the least and the greatest value of a window, a table of values for each output, and
/// whether it may be evaluated by squares.
type Tables = (u64, i64, i64, Vec<Vec<i64>>, bool);

/// The most entries of tables whose plans are kept, of eight bytes each.
const KEPT: usize = 1 << 22;

/// A cache of plans of tables, for any sets. Clones share it, so that a new [`Integers`] for each
/// operation does not plan again. Its size is bounded, however many tables there are.
#[derive(Clone, Default)]
pub struct TablePlans(Arc<Mutex<Plans>>);

/// Plans, and the number of entries of their tables.
#[derive(Default)]
struct Plans {
    known: BTreeMap<Tables, Arc<TablePlan>>,
    entries: usize,
}

impl Plans {
    /// Keeps a plan. Where there are more than `most` entries with it, the others are given up:
    /// those that are used again are made again.
    fn keep(&mut self, tables: Tables, plan: Arc<TablePlan>, most: usize) {
        let entries: usize = tables.3.iter().map(Vec::len).sum();
        if self.entries + entries > most {
            *self = Plans::default();
        }
        if self.known.insert(tables, plan).is_none() {
            self.entries += entries;
        }
    }
}

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
    pub(crate) refreshed: Mutex<Option<NoOpCiphertext>>,
    pub(crate) observer: Option<WindowObserver<S>>,
    /// Whether the digits of short columns are compared side by side, in one ciphertext.
    side_by_side: bool,
    /// Whether products and large tables take less memory, and more products of ciphertexts.
    in_blocks: bool,
}

impl<'a, S: IntegerScheme> Integers<'a, S> {
    /// Typed integers over a session with a scheme of these parameters.
    ///
    /// # Errors
    /// [`IntegersError::Set`] if the plaintext modulus is not a prime of at least 257;
    /// [`SchemeError::WrongParams`] for a session of other slots.
    pub fn new(session: &'a Session<S>, params: &Params) -> Result<Self, IntegersError> {
        if session.scheme().slot_shape() != params.slot_shape() {
            let name = params.name().into();
            return Err(SchemeError::WrongParams { object: "the session", name }.into());
        }
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
            in_blocks: false,
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

    /// Sets whether products of two columns, squares and tables of more than 256 entries are
    /// computed in blocks, for less memory. Results are the same.
    ///
    /// Of products the powers of half of the digits of one factor are in memory, and those of one
    /// digit of the other factor at a time. For factors of k digits this takes at most 14 k
    /// products more, and for 32 bits less than half of the memory.
    ///
    /// Of tables a quarter of the products of the truth values of two digits is in memory at a
    /// time. This takes for each digit of the results 48 products and 3 relinearizations more for
    /// up to 4,096 entries, and 816 products and 51 relinearizations more for up to 65,536.
    #[must_use]
    pub fn in_blocks(self, in_blocks: bool) -> Self {
        Integers { in_blocks, ..self }
    }

    pub(crate) fn is_in_blocks(&self) -> bool {
        self.in_blocks
    }

    /// Uses an existing cache of plans.
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
                problem: "its plaintext modulus is smaller than the range of a digit of these \
                          values: take bgv-65537-n15, or state narrower bounds when the values \
                          are encrypted",
            });
        }
        Ok(())
    }

    /// The plan of these tables over the window from `low` to `high`, made once.
    pub(crate) fn plan(
        &self,
        low: i64,
        high: i64,
        tables: Vec<Vec<i64>>,
    ) -> Result<Arc<TablePlan>, IntegersError> {
        self.planned((self.modulus.prime(), low, high, tables, false), |tables| {
            TablePlan::new(self.modulus, low, high, tables)
        })
    }

    /// The plan of one table that may be evaluated by squares, made once.
    pub(crate) fn plan_by_squares(
        &self,
        low: i64,
        high: i64,
        entries: Vec<i64>,
    ) -> Result<Arc<TablePlan>, IntegersError> {
        self.planned((self.modulus.prime(), low, high, vec![entries], true), |tables| {
            TablePlan::by_squares(self.modulus, low, high, &tables[0])
        })
    }

    fn planned(
        &self,
        key: Tables,
        make: impl FnOnce(&[Vec<i64>]) -> Result<TablePlan, IntegersError>,
    ) -> Result<Arc<TablePlan>, IntegersError> {
        self.check_window(key.1, key.2)?;
        let lock = || self.plans.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(plan) = lock().known.get(&key) {
            return Ok(plan.clone());
        }
        let plan = Arc::new(make(&key.3)?);
        lock().keep(key, plan.clone(), KEPT);
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

    /// A plaintext of zeros.
    pub(crate) fn blank(&self) -> &Plaintext {
        &self.zero
    }

    /// The scheme of rehearsals.
    pub(crate) fn rehearsal(&self) -> &NoOp {
        &self.rehearsal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_kept_up_to_a_number_of_entries() {
        let modulus = PrimePower::new(65_537, 1).unwrap();
        let tables = |low: i64| -> Tables { (65_537, low, low + 1, vec![vec![0, 1]], false) };
        let plan = Arc::new(TablePlan::new(modulus, 0, 1, &[vec![0, 1]]).unwrap());
        let mut plans = Plans::default();
        for (low, kept) in [(0, 1), (1, 2), (1, 2), (2, 3), (3, 1), (4, 2)] {
            plans.keep(tables(low), plan.clone(), 6);
            assert_eq!((plans.known.len(), plans.entries), (kept, 2 * kept), "{low}");
            assert!(plans.known.contains_key(&tables(low)));
        }
        // Larger than all that is kept otherwise: it is the only one.
        plans.keep((65_537, 0, 6, vec![vec![0; 7]], false), plan.clone(), 6);
        assert_eq!((plans.known.len(), plans.entries), (1, 7));
        plans.keep(tables(0), plan, 6);
        assert_eq!((plans.known.len(), plans.entries), (1, 2));
    }
}
