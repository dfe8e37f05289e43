//! A session on the no-op scheme, and an observer that looks into every slot.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper};
use everlevel_circuit::{PrimePower, Session};
use everlevel_integers::{Column, Encoded, Integers, IntegersError, TablePlans, Type};
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::{Level, NoOp, OptIn, Params, Plaintext};

/// What all tests have in common, each made when it is first asked for.
struct Shared<K, T>(Mutex<BTreeMap<K, Arc<OnceLock<T>>>>);

impl<K: Ord, T: Clone> Shared<K, T> {
    const fn new() -> Self {
        Shared(Mutex::new(BTreeMap::new()))
    }

    /// It is not locked meanwhile: others wait only for the same.
    fn get(&self, key: K, make: impl FnOnce() -> T) -> T {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let held = lock().entry(key).or_default().clone();
        held.get_or_init(make).clone()
    }
}

static SETS: Shared<String, Params> = Shared::new();
/// By the name of the set, and whether there are values: without them diagonals hold none either.
static BOOTSTRAPPERS: Shared<(String, bool), Arc<Bootstrapper<NoOp>>> = Shared::new();
static PLANS: LazyLock<TablePlans> = LazyLock::new(TablePlans::default);

fn set(name: &str) -> Params {
    SETS.get(name.into(), || Params::named(name, OptIn::InsecureResearch).unwrap())
}

/// Session and parameters.
pub struct Bench {
    pub params: Params,
    pub scheme: Arc<NoOp>,
    pub session: Session<NoOp>,
}

impl Bench {
    /// With bootstrapping.
    pub fn new(name: &str) -> Self {
        Self::bootstrapping(name, true)
    }

    /// With bootstrapping, on the set that uses `slots` slots.
    pub fn with_used_slots(name: &str, slots: usize) -> Self {
        Self::bootstrapping(&format!("{name}-s{slots}"), true)
    }

    /// Without.
    pub fn leveled(name: &str) -> Self {
        let params = set(name);
        let scheme = Arc::new(NoOp::new(&params, 1));
        Bench { session: Session::leveled(scheme.clone()), params, scheme }
    }

    /// With bootstrapping, and without values: what it costs, and whether it fits.
    pub fn blank(name: &str) -> Self {
        Self::bootstrapping(name, false)
    }

    /// Without bootstrapping and without values.
    pub fn blank_leveled(name: &str) -> Self {
        let params = set(name);
        let scheme = Arc::new(NoOp::blank(&params));
        Bench { session: Session::leveled(scheme.clone()), params, scheme }
    }

    /// Counters, and what stands for overflows, are those of a scheme of its own.
    fn bootstrapping(name: &str, values: bool) -> Self {
        let params = set(name);
        let scheme = || match values {
            true => NoOp::new(&params, 1),
            false => NoOp::blank(&params),
        };
        let bootstrapper = BOOTSTRAPPERS.get((name.into(), values), || {
            let plan = BootstrapPlan::for_set(&params).unwrap();
            Arc::new(Bootstrapper::new(&scheme(), plan).unwrap())
        });
        let scheme = Arc::new(scheme());
        Bench { session: Session::new(scheme.clone(), bootstrapper), params, scheme }
    }

    /// Every slot that enters a table is checked against its window.
    pub fn integers(&self) -> Integers<'_, NoOp> {
        let params = self.params.clone();
        let modulus = self.modulus();
        let ints = Integers::new(&self.session, &self.params).unwrap();
        ints.with_plans(PLANS.clone()).observed(Box::new(
            move |scheme, x: &NoOpCiphertext, (low, high)| {
                let slots = scheme.decrypt(x).unwrap().decode(&params).unwrap();
                for slot in slots {
                    let v = low + modulus.sub(slot, modulus.reduce_i64(low)) as i64;
                    assert!(v <= high, "a slot holds {slot}, outside of [{low}, {high}]");
                }
            },
        ))
    }

    pub fn modulus(&self) -> PrimePower {
        PrimePower::new(self.params.plain_modulus(), 1).unwrap()
    }

    pub fn encrypt(&self, values: &[i128], kind: Type) -> Column<NoOpCiphertext> {
        self.encrypt_modulo(values, kind, 1)
    }

    /// With an index at a level, or without one.
    pub fn encrypt_with_index(
        &self,
        values: &[i128],
        kind: Type,
        index: Option<Level>,
    ) -> Column<NoOpCiphertext> {
        let Some(index) = index else { return self.encrypt(values, kind) };
        let encoded = Encoded::new(values, kind, self.params.slots()).unwrap();
        let column = encoded.encrypt_indexed(index, |slots, own| {
            let plain = Plaintext::encode(&self.params, slots)?;
            let level = own.unwrap_or(self.params.chain().top());
            Ok::<_, IntegersError>(self.scheme.encrypt_at(&plain, level)?)
        });
        column.unwrap()
    }

    /// Modulo p^exponent: 2 for columns that are added up.
    pub fn encrypt_modulo(
        &self,
        values: &[i128],
        kind: Type,
        exponent: u32,
    ) -> Column<NoOpCiphertext> {
        let encoded = Encoded::new(values, kind, self.params.slots()).unwrap();
        encoded
            .encrypt(|slots| {
                self.scheme.encrypt(&Plaintext::encode_modulo(&self.params, slots, exponent)?)
            })
            .unwrap_or_else(|e: everlevel_scheme::SchemeError| panic!("{e}"))
    }

    pub fn decrypt(&self, x: &Column<NoOpCiphertext>) -> Vec<i128> {
        let open = |c: &NoOpCiphertext| {
            Ok::<_, IntegersError>(self.scheme.decrypt(c)?.decode(&self.params)?)
        };
        x.decrypt(self.modulus(), open).unwrap().to_vec()
    }
}
