//! Bootstrappings of several values by several threads.

use std::sync::{Arc, Barrier};
use std::thread;

use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::spec::BootstrapSpec;
use everlevel_scheme::{Level, NoOp, OptIn, Params, ParamsSpec, Plaintext};
use everlevel_testing::toy_spec;

use super::{Session, TOGETHER, Value};
use crate::bootstrap::{BootstrapPlan, Bootstrapper};

struct Fixture {
    params: Params,
    session: Session<NoOp>,
}

fn fixture() -> Fixture {
    let bootstrap = Some(BootstrapSpec::encapsulated(8));
    let spec = ParamsSpec { words: 8, bootstrap, ..toy_spec(128, 257, 1) };
    let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
    let scheme = Arc::new(NoOp::new(&params, 3));
    let plan = BootstrapPlan::balanced(params.slots());
    let bootstrapper = Arc::new(Bootstrapper::new(&*scheme, plan).unwrap());
    Fixture { session: Session::new(scheme, bootstrapper), params }
}

impl Fixture {
    /// Exhausted encryptions of 0, 1, ...
    fn values(&self, count: usize) -> Vec<Value<NoOpCiphertext>> {
        let value = |k: usize| {
            let plain = Plaintext::encode(&self.params, &vec![k as u64; self.params.slots()]);
            let scheme = self.session.scheme();
            self.session.share(scheme.encrypt_at(&plain.unwrap(), Level(1)).unwrap())
        };
        (0..count).map(value).collect()
    }

    /// What [`Fixture::values`] encrypted is in the values.
    fn check(&self, values: &[Value<NoOpCiphertext>]) {
        for (k, x) in values.iter().enumerate() {
            let found = self.session.scheme().decrypt(&x.get()).unwrap();
            assert_eq!(found.decode(&self.params).unwrap()[0], k as u64);
        }
    }

    /// Products of all bootstrappings so far.
    fn products(&self) -> usize {
        self.session.scheme().cost().products as usize
    }
}

/// While a thread waits for a value that another one bootstraps, that one bootstraps a value that
/// is not yet its turn, too.
#[test]
fn values_that_another_thread_bootstraps_are_waited_for() {
    let f = fixture();
    let (session, values) = (&f.session, f.values(TOGETHER + 2));
    let mut ordered: Vec<_> = values[..TOGETHER].iter().collect();
    ordered.sort_by_key(|x| x.address());
    let (first, last) = (ordered[0], ordered[TOGETHER - 1]);
    let before = f.products();
    thread::scope(|scope| {
        let guard = last.refreshing();
        let waiting = scope.spawn(|| session.refresh_all(&values.iter().collect::<Vec<_>>()));
        // Until it has the first one; it gets no further than to the last one.
        while first.cell.refreshing.try_lock().is_ok() {
            thread::yield_now();
        }
        session.set_if_better(last, session.bootstrapped(&last.get()).unwrap());
        session.refresh_in_place(&values[TOGETHER]).unwrap();
        drop(guard);
        waiting.join().unwrap().unwrap();
    });
    assert_eq!(session.bootstraps(), values.len());
    let alone = session.bootstrapper().unwrap().costs().products;
    assert_eq!(f.products() - before, values.len() * alone);
    f.check(&values);
}

#[test]
fn threads_take_the_same_values_in_any_order() {
    let f = fixture();
    for round in 0..8 {
        let (session, values, barrier) = (&f.session, f.values(TOGETHER), Barrier::new(2));
        let before = session.bootstraps();
        thread::scope(|scope| {
            for reversed in [false, true] {
                let mut all: Vec<_> = values.iter().collect();
                if reversed {
                    all.reverse();
                }
                let barrier = &barrier;
                scope.spawn(move || {
                    barrier.wait();
                    session.refresh_all(&all).unwrap();
                });
            }
        });
        // A thread that begins after the other one has ended does it again.
        let made = session.bootstraps() - before;
        assert!((TOGETHER..=2 * TOGETHER).contains(&made), "round {round}: {made}");
        f.check(&values);
    }
}

/// A thread of a pool could wait for what is further down on its own stack.
#[test]
fn threads_of_a_pool_do_not_wait() {
    let f = fixture();
    let values = f.values(2);
    let guard = values[1].refreshing();
    assert!(guard.is_some());
    let all: Vec<_> = values.iter().collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| f.session.refresh_all(&all)).unwrap();
    drop(guard);
    assert_eq!(f.session.bootstraps(), 2);
    f.check(&values);
}

/// A thread that reduces the plaintext modulus does not undo what another one did meanwhile.
#[test]
fn a_ciphertext_that_is_no_longer_there_is_not_replaced() {
    let f = fixture();
    let values = f.values(2);
    let x = &values[0];
    let (seen, fresh) = (x.get(), values[1].get());
    x.set(fresh.clone());
    x.replace(&seen, NoOpCiphertext::clone(&seen));
    assert!(Arc::ptr_eq(&x.get(), &fresh));
    x.replace(&fresh, NoOpCiphertext::clone(&seen));
    assert!(!Arc::ptr_eq(&x.get(), &fresh));
    f.check(&values[..1]);
}

/// A value that was replaced since it was seen is left alone only if it was bootstrapped.
#[test]
fn a_value_that_was_reduced_meanwhile_is_bootstrapped() {
    let f = fixture();
    let values = f.values(1);
    let (x, seen) = (&values[0], values[0].get());
    x.replace(&seen, NoOpCiphertext::clone(&seen));
    for _ in 0..2 {
        f.session.refresh_together(&[(x, seen.clone())]).unwrap();
        assert_eq!(f.session.bootstraps(), 1);
    }
    f.check(&values);
}
