//! Intervals hold every result of their operations, and no end is without one.

use everlevel_integers::{IntegersError, Interval, Type};
use proptest::prelude::*;

fn interval() -> impl Strategy<Value = Interval> {
    (-40i128..40, 0i128..9).prop_map(|(low, more)| Interval::new(low, low + more).unwrap())
}

fn check(a: Interval, b: Interval, found: Interval, f: impl Fn(i128, i128) -> i128) {
    let values: Vec<i128> = (a.low()..=a.high())
        .flat_map(|x| (b.low()..=b.high()).map(move |y| (x, y)))
        .map(|(x, y)| f(x, y))
        .collect();
    assert_eq!(values.iter().min(), Some(&found.low()));
    assert_eq!(values.iter().max(), Some(&found.high()));
}

proptest! {
    #[test]
    fn ends_are_met(a in interval(), b in interval()) {
        check(a, b, a.checked_add(b).unwrap(), |x, y| x + y);
        check(a, b, a.checked_sub(b).unwrap(), |x, y| x - y);
        check(a, b, a.checked_mul(b).unwrap(), |x, y| x * y);
        check(a, b, a.min(b), |x, y| x.min(y));
        check(a, b, a.max(b), |x, y| x.max(y));
        check(a, a, a.negated(), |x, _| -x);
        check(a, a, a.abs(), |x, _| x.abs());
        let both = a.union(b);
        prop_assert!(both.holds(a) && both.holds(b));
        prop_assert_eq!(a.points(), (a.high() - a.low() + 1) as u128);
    }
}

#[test]
fn what_is_too_wide_is_refused() {
    let widest = Interval::WIDEST;
    let one = Interval::point(1).unwrap();
    let range = |found: Result<Interval, IntegersError>| {
        let error = found.unwrap_err();
        assert_eq!(error.code(), "integers.range");
        assert!(error.to_string().contains("bounds"), "{error}");
    };
    range(widest.checked_add(one));
    range(widest.checked_sub(one));
    range(widest.checked_add(widest));
    range(widest.checked_sub(widest));
    range(widest.checked_mul(Interval::point(2).unwrap()));
    range(widest.checked_mul(widest));
    range(Interval::new(2, 1));
    range(Interval::point(i128::MIN));
    assert_eq!(widest.negated(), widest);
}

#[test]
fn types_have_names() {
    for name in ["bool", "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"] {
        let kind: Type = name.parse().unwrap();
        assert_eq!(kind.to_string(), name);
        assert_eq!(Type::smallest(kind.interval()), Some(kind));
    }
    assert_eq!("-3..12".parse(), Type::ranged(-3, 12));
    for name in ["u7", "3..", "", "5..2x"] {
        assert_eq!(name.parse::<Type>().unwrap_err().code(), "integers.name");
    }
    assert_eq!("7..3".parse::<Type>().unwrap_err().code(), "integers.range");
    assert_eq!(Type::smallest(Type::ranged(-1, 255).unwrap().interval()), Some(Type::I16));
    assert_eq!(Type::smallest(Interval::WIDEST), None);
}
