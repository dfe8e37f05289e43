//! Rehearsals: work is counted on the no-op scheme before it is done.

use std::sync::Arc;

use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper, TimeModel};
use everlevel_circuit::{Session, Value};
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::{
    Arithmetic, Cost, KeyPlan, Level, Meta, NoOp, Params, Plaintext, SchemeError,
};

use crate::alone::alone;
use crate::column::Column;
use crate::context::{IntegerScheme, Integers, TablePlans};
use crate::counted::Counted;
use crate::encode::Encoded;
use crate::error::IntegersError;
use crate::types::Type;

/// The size in bytes of a ciphertext at a level, with both of its components stored.
pub fn ciphertext_bytes(params: &Params, level: Level) -> u64 {
    let bits = params.modulus_bits(level).ceil() as u64;
    params.components() as u64 * params.degree() as u64 * bits / 8
}

/// A session on the no-op scheme of a set, which represents a server that bootstraps by the plan of
/// the set, or one that does not bootstrap.
///
/// # Errors
/// [`IntegersError::Set`] if the session is to bootstrap and the set does not support it.
pub fn no_op_session(
    params: &Params,
    scheme: Arc<NoOp>,
    bootstraps: bool,
) -> Result<Session<NoOp>, IntegersError> {
    if !bootstraps {
        return Ok(Session::leveled(scheme));
    }
    if params.spec().bootstrap.is_none() {
        let problem = "the set has no bootstrapping section";
        return Err(IntegersError::Set { name: params.name().into(), problem });
    }
    let bootstrapper = Bootstrapper::new(&*scheme, BootstrapPlan::for_set(params)?)?;
    Ok(Session::new(scheme, Arc::new(bootstrapper)))
}

/// A column of a session on the no-op scheme of a set that represents an existing one, with the
/// same digits, levels, noise bounds and factors, those of its index included.
///
/// # Errors
/// A ciphertext that does not belong to this set.
pub fn no_op_column<C>(
    session: &Session<NoOp>,
    x: &Column<C>,
    meta: impl Fn(&C) -> Meta,
) -> Result<Column<NoOpCiphertext>, IntegersError> {
    x.try_map(|x: &Value<C>| {
        let pretended = session.scheme().like(&meta(&x.get()))?;
        Ok::<_, IntegersError>(session.share(pretended))
    })
}

/// What made the digits of an argument of a program, for [`Rehearsal::argument`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Encryption under the secret key.
    Secret,
    /// Encryption under the public key, which has more noise.
    Public,
    /// Encryption under the secret key at the top, and a switch from there.
    Above,
}

/// Typed integers on the no-op scheme, without values. An operation takes the same number of
/// products, keys and bootstrappings as with cryptography, and is refused if it would be refused
/// there.
pub struct Rehearsal {
    params: Params,
    session: Session<NoOp>,
    /// The keys with which the bootstrapper was prepared: the thin mode rehearses its beginning.
    prepared: KeyPlan,
    /// The ciphertexts that the bootstrapper keeps, in bytes.
    resident: u64,
    plans: TablePlans,
    side_by_side: bool,
    in_blocks: bool,
}

impl Rehearsal {
    /// A rehearsal of a server that bootstraps by the plan of the set, or of one that does not
    /// bootstrap.
    ///
    /// # Errors
    /// [`IntegersError::Set`] if the session is to bootstrap and the set does not support it.
    pub fn new(params: &Params, bootstraps: bool) -> Result<Self, IntegersError> {
        let session = no_op_session(params, Arc::new(NoOp::blank(params)), bootstraps)?;
        Ok(Self::of(params, session))
    }

    fn of(params: &Params, session: Session<NoOp>) -> Self {
        let (plans, prepared) = (TablePlans::default(), session.scheme().key_plan());
        let resident = session.scheme().live_bytes();
        session.scheme().forget_peak();
        Rehearsal {
            params: params.clone(),
            session,
            prepared,
            resident,
            plans,
            side_by_side: false,
            in_blocks: false,
        }
    }

    /// A rehearsal on a no-op scheme, for example one that has some keys and no others
    /// ([`NoOp::holding`]): of a server that bootstraps by this plan, or not at all.
    ///
    /// # Errors
    /// A plan that does not fit the set.
    pub fn on(scheme: NoOp, plan: Option<BootstrapPlan>) -> Result<Self, IntegersError> {
        let (params, scheme) = (scheme.params().clone(), Arc::new(scheme));
        let session = match plan {
            None => Session::leveled(scheme),
            Some(plan) => {
                let bootstrapper = Bootstrapper::new(&*scheme, plan)?;
                Session::new(scheme, Arc::new(bootstrapper))
            }
        };
        Ok(Self::of(&params, session))
    }

    /// A rehearsal of the same computation, with the same plans: of a server that bootstraps as
    /// that one does, or not at all.
    pub(crate) fn alike<S: IntegerScheme>(ints: &Integers<'_, S>) -> Result<Self, IntegersError> {
        let plan = ints.session().bootstrapper().map(|found| found.plan().clone());
        let (plans, side_by_side) = (ints.plans(), ints.is_side_by_side());
        let (in_blocks, new) = (ints.is_in_blocks(), Self::on(NoOp::blank(ints.params()), plan)?);
        Ok(Rehearsal { plans, side_by_side, in_blocks, ..new })
    }

    /// Another rehearsal of the same kind, with all keys, whose counts begin at 0. It bootstraps
    /// with the tables of this one, which take longer than the rehearsal of a short program.
    #[must_use]
    pub fn again(&self) -> Self {
        let scheme = Arc::new(NoOp::blank(&self.params));
        let session = match self.session.shared_bootstrapper() {
            Some(bootstrapper) => Session::new(scheme, bootstrapper),
            None => Session::leveled(scheme),
        };
        Rehearsal {
            params: self.params.clone(),
            session,
            prepared: self.prepared.clone(),
            resident: 0,
            plans: self.plans.clone(),
            side_by_side: self.side_by_side,
            in_blocks: self.in_blocks,
        }
    }

    /// Sets whether short columns are compared as by [`Integers::side_by_side`].
    #[must_use]
    pub fn with_side_by_side(self, side_by_side: bool) -> Self {
        Rehearsal { side_by_side, ..self }
    }

    /// Sets whether products and large tables are computed as by [`Integers::in_blocks`].
    #[must_use]
    pub fn with_blocks(self, in_blocks: bool) -> Self {
        Rehearsal { in_blocks, ..self }
    }

    /// Plans tables with this cache, which rehearsals on any parameter sets may share.
    #[must_use]
    pub fn with_plans(self, plans: TablePlans) -> Self {
        Rehearsal { plans, ..self }
    }

    pub(crate) fn is_side_by_side(&self) -> bool {
        self.side_by_side
    }

    pub(crate) fn is_in_blocks(&self) -> bool {
        self.in_blocks
    }

    /// The parameter set.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The session that counts.
    pub fn session(&self) -> &Session<NoOp> {
        &self.session
    }

    /// The operations on columns of this rehearsal.
    ///
    /// # Errors
    /// [`IntegersError::Set`] for a set whose plaintext modulus is not a prime of at least 257.
    pub fn integers(&self) -> Result<Integers<'_, NoOp>, IntegersError> {
        let ints = Integers::new(&self.session, &self.params)?.with_plans(self.plans.clone());
        Ok(ints.side_by_side(self.side_by_side).in_blocks(self.in_blocks))
    }

    /// A column as it is when it was just encrypted by `encrypt`.
    ///
    /// # Errors
    /// [`IntegersError::Length`] for no entry or more than slots; those of `encrypt`.
    pub fn column(
        &self,
        kind: Type,
        length: usize,
        encrypt: impl Fn(&NoOp, &Plaintext) -> Result<NoOpCiphertext, SchemeError>,
    ) -> Result<Column<NoOpCiphertext>, IntegersError> {
        self.column_with_index(kind, length, None, |s, zero, _| encrypt(s, zero))
    }

    /// The same with an index at a level ([`Encoded::encrypt_indexed`]), or without one. `encrypt`
    /// is given the level for a truth value of the index, and none for a digit.
    ///
    /// # Errors
    /// [`IntegersError::Type`] for a type without an index; as [`Rehearsal::column`].
    pub fn column_with_index(
        &self,
        kind: Type,
        length: usize,
        index: Option<Level>,
        encrypt: impl Fn(&NoOp, &Plaintext, Option<Level>) -> Result<NoOpCiphertext, SchemeError>,
    ) -> Result<Column<NoOpCiphertext>, IntegersError> {
        // Before entries are made that would not fit.
        let most = self.params.slots();
        if length > most {
            let expected = format!("at most {most}, which share a ciphertext of this set");
            return Err(IntegersError::Length { found: length, expected });
        }
        let encoded = Encoded::new(&vec![kind.interval().low(); length], kind, most)?;
        let zero = Plaintext::encode(&self.params, &[])?;
        let encrypt = |level| -> Result<NoOpCiphertext, IntegersError> {
            Ok(encrypt(self.session.scheme(), &zero, level)?)
        };
        match index {
            Some(index) => encoded.encrypt_indexed(index, |_, level| encrypt(level)),
            None => encoded.encrypt(|_| encrypt(None)),
        }
    }

    /// An argument of a program: a column with digits of an origin at a level, and with an index at
    /// a level of its own, or without one.
    ///
    /// # Errors
    /// As [`Rehearsal::column_with_index`]; a level that the set does not have.
    pub fn argument(
        &self,
        kind: Type,
        length: usize,
        (origin, level): (Origin, Level),
        index: Option<Level>,
    ) -> Result<Column<NoOpCiphertext>, IntegersError> {
        self.column_with_index(kind, length, index, |s, zero, own| match (origin, own) {
            (Origin::Public, own) => s.encrypt_publicly_at(zero, own.unwrap_or(level)),
            (Origin::Above, None) => s.mod_switch_to(&s.encrypt(zero)?, level),
            (_, own) => s.encrypt_at(zero, own.unwrap_or(level)),
        })
    }

    /// A column whose ciphertexts have no more capacity than bootstrapping needs.
    ///
    /// # Errors
    /// As [`Rehearsal::column`].
    pub fn exhausted(
        &self,
        kind: Type,
        length: usize,
    ) -> Result<Column<NoOpCiphertext>, IntegersError> {
        let (params, needed) = (&self.params, self.session.minimum_capacity());
        // No noise is below that of a modulus switch.
        let floor = params.noise().bound().floor(params.wide_modulus());
        let top = params.chain().top();
        let enough = |level: &Level| params.noise().noise_at(*level, needed) >= floor;
        let level = (1..top.0).map(Level).find(enough).unwrap_or(top);
        self.column(kind, length, |s, zero| s.encrypt_exhausted(zero, level, needed))
    }

    /// A column that represents an existing one, with the same digits, levels, noise bounds and
    /// factors, those of its index included.
    ///
    /// # Errors
    /// A ciphertext that does not belong to this set.
    pub fn like<C>(
        &self,
        x: &Column<C>,
        meta: impl Fn(&C) -> Meta,
    ) -> Result<Column<NoOpCiphertext>, IntegersError> {
        no_op_column(&self.session, x, meta)
    }

    /// The cost of the work so far, with seconds that leave out linear combinations: that of
    /// choices between ways of computing something.
    pub fn so_far(&self) -> Counted {
        self.counts(TimeModel::seconds)
    }

    /// The cost of the work so far, with the seconds of linear combinations: that of estimates. By
    /// an index these combinations are most of the work.
    pub fn spent(&self) -> Counted {
        self.counts(TimeModel::seconds_with_combinations)
    }

    fn counts(&self, seconds: fn(&TimeModel, &Cost) -> f64) -> Counted {
        let cost = self.session.scheme().cost();
        Counted {
            products: cost.products,
            key_switches: cost.key_switches,
            refreshes: self.session.bootstraps() as u64,
            seconds: seconds(&TimeModel::typical(self.params.degree()), &cost),
        }
    }

    /// The result of `work`, and its cost.
    ///
    /// # Errors
    /// Those of `work`.
    pub fn counted<T, E>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<(T, Counted), E> {
        let before = self.so_far();
        let found = work()?;
        Ok((found, self.so_far() - before))
    }

    /// The result of `work`, done on one thread, so that [`Rehearsal::working_bytes`] does not
    /// depend on the number of threads.
    pub fn alone<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        alone(work)
    }

    /// The most memory in bytes that ciphertexts of this rehearsal took at a time, those of
    /// arguments and results included: in the real scheme, with a word for each residue
    /// ([`NoOp::live_bytes`] says what is not counted). For work that is not done
    /// [`alone`](Rehearsal::alone) it is that of as many threads as there are.
    pub fn working_bytes(&self) -> u64 {
        self.session.scheme().peak_bytes().saturating_sub(self.resident)
    }

    /// Lets [`Rehearsal::working_bytes`] begin with the ciphertexts that are there now.
    pub fn forget_working_bytes(&self) {
        self.session.scheme().forget_peak();
    }

    /// The keys that all the work needed.
    pub fn keys(&self) -> KeyPlan {
        self.session.scheme().key_plan().merge(&self.prepared)
    }
}
