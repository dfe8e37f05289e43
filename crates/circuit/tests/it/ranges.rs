//! Ranges of values through the operations of a session, and what is refused by them.

use std::sync::Arc;

use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper};
use everlevel_circuit::digits::{DigitKind, DigitMethod};
use everlevel_circuit::{CircuitError, Comparison, Session, Truncation, Value, ValueRange};
use everlevel_scheme::spec::BootstrapMode;
use everlevel_scheme::{NoOp, OptIn, Params, ParamsSpec, Plaintext, Scheme};

type NoOpCiphertext = <NoOp as Scheme>::Ciphertext;

/// The same on integers.
type Plain<'a> = &'a dyn Fn(i64, i64) -> i64;

const METHOD: DigitMethod = DigitMethod::new(DigitKind::Geelen);

fn range(low: i128, high: i128) -> ValueRange {
    ValueRange::new(low, high).unwrap()
}

/// A session that bootstraps, modulo 257.
fn session() -> (Params, Session<NoOp>) {
    let params = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap();
    let scheme = Arc::new(NoOp::new(&params, 1));
    let plan = BootstrapPlan::balanced(params.slots());
    let bootstrapper = Arc::new(Bootstrapper::new(&*scheme, plan).unwrap());
    (params, Session::new(scheme, bootstrapper))
}

/// A session modulo 17^4 that does not.
fn fixed_point() -> (Params, Session<NoOp>) {
    let mut spec = ParamsSpec::named("bgv-17e4-m38309").unwrap();
    (spec.name, spec.index, spec.bootstrap) = ("insecure_bgv-17e4-m435".into(), 435, None);
    let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
    let session = Session::leveled(Arc::new(NoOp::new(&params, 1)));
    (params, session)
}

/// Integers, the other slots being 0.
fn encrypt(params: &Params, auto: &Session<NoOp>, values: &[i64]) -> Value<NoOpCiphertext> {
    let t = params.plain_modulus() as i64;
    let residues: Vec<u64> = values.iter().map(|v| v.rem_euclid(t) as u64).collect();
    let x = auto.scheme().encrypt(&Plaintext::encode(params, &residues).unwrap()).unwrap();
    auto.share(x)
}

/// The integers of a value, by its range.
fn integers(
    params: &Params,
    auto: &Session<NoOp>,
    x: &Value<NoOpCiphertext>,
) -> Result<Vec<i64>, CircuitError> {
    let plain = auto.scheme().decrypt(&x.get()).unwrap();
    let modulus = params.slot_shape().plain_modulus(plain.exponent());
    x.range().unwrap().integers(&plain.decode(params).unwrap(), modulus)
}

fn refused<T>(result: Result<T, CircuitError>) -> bool {
    result.is_err_and(|e| e.code() == "circuit.range")
}

#[test]
fn results_are_the_integers_of_their_ranges() {
    let (params, auto) = session();
    let xs: Vec<i64> = (0..params.slots() as i64).map(|i| i % 6 - 3).collect();
    let ys: Vec<i64> = (0..params.slots() as i64).map(|i| i * i % 5 + 1).collect();
    let (x, y) = (encrypt(&params, &auto, &xs), encrypt(&params, &auto, &ys));
    assert_eq!(auto.add(&x, &y).unwrap().range(), None, "unknown stays unknown");
    let (x, y) = (x.within(range(-3, 2)), y.within(range(1, 5)));
    let three = std::num::NonZeroU64::new(3).unwrap();
    let pairs: [(Value<_>, Plain, (i128, i128)); 9] = [
        (auto.add(&x, &y).unwrap(), &|x, y| x + y, (-2, 7)),
        (auto.sub(&x, &y).unwrap(), &|x, y| x - y, (-8, 1)),
        (auto.mul(&x, &y).unwrap(), &|x, y| x * y, (-15, 10)),
        (auto.mul(&x, &x).unwrap(), &|x, _| x * x, (0, 9)),
        (auto.pow(&x, three).unwrap(), &|x, _| x * x * x, (-27, 8)),
        (auto.neg(&x).unwrap(), &|x, _| -x, (-2, 3)),
        (auto.add_scalar(&x, 250).unwrap(), &|x, _| x + 250, (247, 252)),
        (auto.mul_scalar(&x, -40).unwrap(), &|x, _| -40 * x, (-80, 120)),
        (auto.polynomial(&x, &[5, 0, -2]).unwrap(), &|x, _| 5 - 2 * x * x, (-13, 5)),
    ];
    for (i, (value, plain, (low, high))) in pairs.into_iter().enumerate() {
        assert_eq!(value.range(), Some(range(low, high)), "operation {i}");
        let expected: Vec<i64> = xs.iter().zip(&ys).map(|(x, y)| plain(*x, *y)).collect();
        assert_eq!(integers(&params, &auto, &value).unwrap(), expected, "operation {i}");
    }
    for moved in [auto.swap_rows(&x).unwrap(), auto.refresh(&x).unwrap()] {
        assert_eq!(moved.range(), x.range());
    }
    assert_eq!(auto.sum(&x).unwrap().range(), Some(range(-3 * 128, 2 * 128)));
    let mask = Plaintext::encode(&params, &[1]).unwrap();
    assert_eq!(auto.mul_plain(&x, &mask).unwrap().range(), None);
    assert_eq!(auto.apply(&x, |_, x| Ok(x.clone())).unwrap().range(), None);
    // A range that is not true shows where a residue does not fit.
    let found = integers(&params, &auto, &x.clone().within(range(-3, 1)));
    assert_eq!(found.unwrap_err().code(), "scheme.not-decryptable");
}

#[test]
fn comparisons_outside_of_their_range_are_refused() {
    let (params, auto) = session();
    let comparison = Comparison::new(257, 1, METHOD).unwrap();
    assert_eq!(comparison.range(), 128);
    let x = encrypt(&params, &auto, &[5, 100, 200, 250]);
    let limit = encrypt(&params, &auto, &vec![150; params.slots()]).within(range(150, 150));
    // With residues alone the answer was wrong.
    assert!(refused(auto.less_than(&x, &limit, &comparison)));
    assert!(refused(auto.less_than(&x.within(range(0, 256)), &limit, &comparison)));
    let values = [5, 100, 120, 127, 0];
    let x = encrypt(&params, &auto, &values).within(range(0, 127));
    let y = encrypt(&params, &auto, &[6, 100, 7, 0, 127]).within(range(0, 127));
    let less = auto.less_than(&x, &y, &comparison).unwrap();
    assert_eq!(integers(&params, &auto, &less).unwrap()[..5], [1, 0, 0, 0, 1]);
    let sign = auto.sign(&auto.sub(&x, &y).unwrap(), &comparison).unwrap();
    assert_eq!(integers(&params, &auto, &sign).unwrap()[..5], [-1, 0, 1, 1, -1]);
    // x = -128 is negative, but of no sign.
    let edge = encrypt(&params, &auto, &[-128, 127]).within(range(-128, 127));
    let negative = auto.is_negative(&edge, &comparison).unwrap();
    assert_eq!(integers(&params, &auto, &negative).unwrap()[..2], [1, 0]);
    assert!(refused(auto.sign(&edge, &comparison)));
    assert!(refused(auto.is_negative(&edge.within(range(-128, 128)), &comparison)));

    let (params, auto) = fixed_point();
    let comparison = Comparison::new(17, 4, METHOD).unwrap();
    assert_eq!(comparison.range(), 39304);
    let [x, y] = [39804, 500].map(|v| encrypt(&params, &auto, &[v]));
    assert!(refused(auto.less_than(&x, &y, &comparison)));
    let (x, y) = (x.within(range(0, 39804)), y.within(range(0, 500)));
    assert!(refused(auto.less_than(&x, &y, &comparison)));
    let difference = range(0, 39803).plus(range(-500, 0)).unwrap();
    assert!(refused(comparison.check(Some(difference))));
    assert!(comparison.check(Some(range(-39304, 39303))).is_ok());
}

#[test]
fn truncations_of_what_may_have_wrapped_are_refused() {
    let (params, auto) = fixed_point();
    let truncation = Truncation::new(17, 4, 1, METHOD).unwrap();
    let values = [-1000, -17, -9, -8, 0, 8, 9, 16, 17, 40000];
    let x = encrypt(&params, &auto, &values);
    assert!(refused(auto.round(&x, &truncation)));
    assert!(refused(auto.floor(&x.clone().within(range(-1000, 83521 - 1000)), &truncation)));
    let x = x.within(range(-1000, 40000));
    let rounded = auto.round(&x, &truncation).unwrap();
    assert_eq!(rounded.range(), Some(range(-59, 2353)));
    let nearest = values.map(|v: i64| (v + 8).div_euclid(17));
    assert_eq!(integers(&params, &auto, &rounded).unwrap()[..10], nearest);
    let floor = auto.floor(&x, &truncation).unwrap();
    assert_eq!(integers(&params, &auto, &floor).unwrap()[..10], values.map(|v| v.div_euclid(17)));
}

/// Bootstrapping is for numbers modulo 127^2: after a truncation there is what is left.
#[test]
fn what_was_truncated_is_computed_on_without_bootstrapping() {
    let params = Params::named("insecure_bfv-127e2-n8", OptIn::InsecureResearch).unwrap();
    let scheme = Arc::new(NoOp::new(&params, 1));
    let plan = BootstrapPlan::balanced(params.slots()).in_mode(BootstrapMode::Thin);
    let bootstrapper = Arc::new(Bootstrapper::new(&*scheme, plan).unwrap());
    let auto = Session::new(scheme, bootstrapper);
    let truncation = Truncation::new(127, 2, 1, METHOD).unwrap();
    let x = encrypt(&params, &auto, &[-300, 254, 640]).within(range(-300, 640));
    let mut value = auto.floor(&x, &truncation).unwrap();
    let mut expected = [-3i64, 2, 5];
    let refusal = loop {
        let left = auto.scheme().capacity_bits(&value.get());
        match auto.mul(&value, &value) {
            Ok(square) => value = square,
            Err(error) => {
                // Below what bootstrapping would have needed.
                assert!(left < auto.minimum_capacity(), "{left}");
                break error;
            }
        }
        expected = expected.map(|v| (v * v).rem_euclid(127));
        let found = auto.scheme().decrypt(&value.get()).unwrap().decode(&params).unwrap();
        assert_eq!(found[..3], expected.map(|v| v as u64));
    };
    let code = refusal.code();
    assert!(["circuit.not-enough-capacity", "scheme.noise-overflow"].contains(&code), "{code}");
}
