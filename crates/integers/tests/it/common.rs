//! A session on the no-op scheme, and an observer that looks into every slot.

use std::sync::Arc;

use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper};
use everlevel_circuit::{PrimePower, Session};
use everlevel_integers::{Column, Encoded, Integers, IntegersError, Type};
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::{Level, NoOp, OptIn, Params, ParamsSpec, Plaintext};

/// Session and parameters.
pub struct Bench {
    pub params: Params,
    pub scheme: Arc<NoOp>,
    pub session: Session<NoOp>,
}

impl Bench {
    /// With bootstrapping.
    pub fn new(name: &str) -> Self {
        Self::of(Params::named(name, OptIn::InsecureResearch).unwrap())
    }

    /// With bootstrapping, on the set that uses `slots` slots.
    pub fn with_used_slots(name: &str, slots: usize) -> Self {
        let spec = ParamsSpec::named(name).unwrap().with_used_slots(slots).unwrap();
        Self::of(Params::new(spec, OptIn::InsecureResearch).unwrap())
    }

    fn of(params: Params) -> Self {
        let scheme = Arc::new(NoOp::new(&params, 1));
        let plan = BootstrapPlan::for_set(&params).unwrap();
        let bootstrapper = Arc::new(Bootstrapper::new(&*scheme, plan).unwrap());
        Bench { session: Session::new(scheme.clone(), bootstrapper), params, scheme }
    }

    /// Without.
    pub fn leveled(name: &str) -> Self {
        let (params, scheme) = Self::scheme(name);
        Bench { session: Session::leveled(scheme.clone()), params, scheme }
    }

    /// With bootstrapping, and without values: what it costs, and whether it fits.
    pub fn blank(name: &str) -> Self {
        let params = Params::named(name, OptIn::InsecureResearch).unwrap();
        let scheme = Arc::new(NoOp::blank(&params));
        let plan = BootstrapPlan::for_set(&params).unwrap();
        let bootstrapper = Arc::new(Bootstrapper::new(&*scheme, plan).unwrap());
        Bench { session: Session::new(scheme.clone(), bootstrapper), params, scheme }
    }

    fn scheme(name: &str) -> (Params, Arc<NoOp>) {
        let params = Params::named(name, OptIn::InsecureResearch).unwrap();
        let scheme = Arc::new(NoOp::new(&params, 1));
        (params, scheme)
    }

    /// Every slot that enters a table is checked against its window.
    pub fn integers(&self) -> Integers<'_, NoOp> {
        let params = self.params.clone();
        let modulus = self.modulus();
        Integers::new(&self.session, &self.params).unwrap().observed(Box::new(
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
