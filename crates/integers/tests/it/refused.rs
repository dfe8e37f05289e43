//! What is refused, with its code and before anything is computed.

use everlevel_circuit::{PrimePower, Session};
use everlevel_integers::{Encoded, Integers, IntegersError, TablePlans, Type};
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::{OptIn, Params, SchemeError};

use crate::common::Bench;

const SET: &str = "insecure_bgv-65537-n11";

#[test]
fn inputs() {
    let slots = 8;
    for (values, kind, code) in [
        (&[1, 256][..], Type::U8, "integers.value"),
        (&[-1], Type::U64, "integers.value"),
        (&[2], Type::Bool, "integers.value"),
        (&[17], Type::ranged(18, 120).unwrap(), "integers.value"),
        (&[], Type::U8, "integers.length"),
        (&[0; 9], Type::U8, "integers.length"),
    ] {
        assert_eq!(Encoded::new(values, kind, slots).map(|_| ()).unwrap_err().code(), code);
    }
    let error = Encoded::new(&[1, 256], Type::U8, slots).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("256 at position 1") && error.contains("u8"), "{error}");
}

#[test]
fn operands() {
    let bench = Bench::leveled(SET);
    let ints = bench.integers();
    let (a, b) = (bench.encrypt(&[1, 2], Type::U8), bench.encrypt(&[1, 2, 3], Type::U8));
    let before = bench.scheme.cost();
    for (found, code) in [
        (ints.add(&a, &b), "integers.length"),
        (ints.lt(&a, &b), "integers.length"),
        (ints.select(&a, &a, &a), "integers.type"),
        (ints.and(&a, &a), "integers.type"),
        (ints.not(&a), "integers.type"),
        (ints.lookup(&a, &[0; 255]), "integers.table"),
        (ints.add(&a, i128::MAX), "integers.range"),
        (ints.mul_public(&a, 1 << 120), "integers.range"),
        (ints.clip(&a, 3, 2), "integers.range"),
        (ints.bit_or(1i128 << 125, 3), "integers.width"),
        (ints.bit_or(&a, 1i128 << 125), "integers.width"),
        (ints.wrapped(&a, Type::Bool), "integers.type"),
    ] {
        assert_eq!(found.map(|_| ()).unwrap_err().code(), code);
    }
    assert_eq!(bench.scheme.cost(), before, "nothing was computed");
}

/// Digits begin up to 16 times lower than values: past 2^126 differences would wrap.
#[test]
fn digits_that_begin_too_low() {
    let bench = Bench::leveled(SET);
    let ints = bench.integers();
    let x = bench.encrypt(&[-1, -9, 0], Type::ranged(-9, 0).unwrap());
    let y = bench.encrypt(&[-5], Type::ranged(-(1 << 125), 0).unwrap());
    for found in [
        ints.mul_public(&x, 1 << 122),
        ints.mul_public(&x, -(1 << 122)),
        ints.weighted_sum(&[(&x, 1 << 122), (&x, 1)]),
        ints.add(&y, &y),
    ] {
        assert_eq!(found.map(|_| ()).unwrap_err().code(), "integers.range");
    }
    let far = ints.mul_public(&x, 1 << 118).unwrap();
    assert_eq!(bench.decrypt(&far), [-1, -9, 0].map(|v: i128| v << 118));
    assert_eq!(bench.decrypt(&ints.lt(&far, 0).unwrap()), [1, 1, 0]);
}

#[test]
fn too_deep_without_bootstrapping() {
    let bench = Bench::leveled(SET);
    let ints = bench.integers();
    let x = bench.encrypt(&[1, 2], Type::U32);
    let mut y = ints.min(&x, 1 << 30).unwrap();
    let error = (0..5).find_map(|_| match ints.max(&y, &x) {
        Ok(next) => {
            y = next;
            None
        }
        Err(error) => Some(error),
    });
    let error = error.expect("the levels end");
    assert_eq!(error.code(), "integers.depth");
    assert!(error.to_string().contains("bootstraps"), "{error}");
}

/// A server that bootstraps is not the way out where it does and has too few levels left.
#[test]
fn too_deep_after_bootstrapping() {
    let bench = Bench::blank("bgv-257-n14");
    let ints = Integers::new(&bench.session, &bench.params).unwrap();
    let x = bench.encrypt(&[1, 2], Type::U32);
    let mut y = bench.encrypt(&[3, 1], Type::U32);
    let error = (0..20).find_map(|_| match ints.max(&y, &x) {
        Ok(next) => {
            y = next;
            None
        }
        Err(error) => Some(error),
    });
    let error = error.expect("a bootstrapping leaves too few levels for a comparison");
    assert_eq!(error.code(), "integers.depth");
    let told = error.to_string();
    assert!(told.contains("after bootstrapping") && told.contains("bgv-65537-n15"), "{told}");
    assert!(!told.contains("a server that bootstraps"), "{told}");
    assert!(bench.session.bootstraps() > 0);
}

#[test]
fn sets_without_a_large_prime() {
    for name in ["insecure_bgv-127-n8", "insecure_bfv-127e2-n8"] {
        let params = Params::named(name, OptIn::InsecureResearch).unwrap();
        let scheme = std::sync::Arc::new(everlevel_scheme::NoOp::new(&params, 1));
        let session = Session::leveled(scheme);
        let error = Integers::new(&session, &params).map(|_| ()).unwrap_err();
        assert_eq!(error.code(), "integers.set");
    }
}

/// Tables are of one prime: those of a set are not evaluated by the scheme or the plans of another.
#[test]
fn sets_are_not_mixed() {
    let [small, large] = ["insecure_bgv-257-n8", SET].map(Bench::new);
    let found = Integers::new(&small.session, &large.params).map(|_| ());
    assert_eq!(found.unwrap_err().code(), "scheme.wrong-params");
    let plans = TablePlans::default();
    for bench in [&small, &large] {
        let ints = bench.integers().with_plans(plans.clone());
        let x = bench.encrypt(&[1, 2, 15], Type::ranged(0, 15).unwrap());
        let table: Vec<i128> = (0..=15).map(|v| v * v).collect();
        assert_eq!(bench.decrypt(&ints.lookup(&x, &table).unwrap()), [1, 4, 225]);
    }
}

/// A digit outside of its window is not decrypted to a value.
#[test]
fn changed_slots_are_refused() {
    let bench = Bench::leveled(SET);
    let x = bench.encrypt(&[200, 13], Type::U8);
    let modulus = PrimePower::new(65537, 1).unwrap();
    let open = |change: u64| {
        x.decrypt(modulus, |c: &NoOpCiphertext| {
            let mut slots = bench.scheme.decrypt(c)?.decode(&bench.params)?;
            slots[1] += change;
            Ok::<_, IntegersError>(slots)
        })
    };
    assert_eq!(open(0).unwrap()[..], [200, 13]);
    assert_eq!(open(4).unwrap_err().code(), "scheme.not-decryptable");
    // A ciphertext that is refused is told first, once all were looked at.
    let mut seen = 0;
    let found = x.decrypt(modulus, |_: &NoOpCiphertext| {
        seen += 1;
        Err::<Vec<u64>, _>(IntegersError::from(SchemeError::Cancelled))
    });
    assert_eq!((found.unwrap_err().code(), seen), ("scheme.cancelled", x.ciphertexts()));
}
