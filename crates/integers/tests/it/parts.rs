//! Columns taken apart and put together again.

use everlevel_integers::{DigitPart, Encrypted, IntegersError, Interval, Parts, Type};
use everlevel_scheme::noop::NoOpCiphertext;

use crate::common::Bench;
use crate::wide::values;

const SET: &str = "insecure_bgv-65537-n11";

type Value = Encrypted<NoOpCiphertext>;

#[test]
fn results_survive_storage() {
    let bench = Bench::leveled(SET);
    let ints = bench.integers();
    let (slots, modulus) = (bench.params.slots(), bench.modulus());
    let again = |x: &Value| {
        let parts = x.to_parts(slots, modulus).unwrap();
        let y = Encrypted::from_parts(parts, slots, modulus).unwrap();
        assert!(x.interval().holds(y.interval()));
        y
    };
    let mut kinds = vec![Type::Bool, Type::U8, Type::I16, Type::U32, Type::I64];
    kinds.extend([(1000, 1010), (-7, 9), (5, 5)].map(|(l, h)| Type::ranged(l, h).unwrap()));
    for kind in kinds {
        let (xs, ys) = (values(kind, slots - 9, 1), values(kind, slots - 9, 2));
        let (a, b) = (bench.encrypt(&xs, kind), bench.encrypt(&ys, kind));
        let sum = ints.add(&a, &b).unwrap();
        let masked = ints.bit_and(&a, 0x5a).unwrap();
        let halves = ints.sub(7, &ints.shift_right(&a, 1).unwrap()).unwrap();
        for (column, f) in [
            (&a, (|x, _| x) as fn(i128, i128) -> i128),
            (&sum, |x, y| x + y),
            (&masked, |x, _| x & 0x5a),
            (&halves, |x, _| 7 - (x >> 1)),
        ] {
            let Encrypted::Column(found) = again(&column.clone().into()) else { panic!() };
            let expected: Vec<i128> = xs.iter().zip(&ys).map(|(x, y)| f(*x, *y)).collect();
            assert_eq!(bench.decrypt(&found), expected, "{kind}");
            // It can be computed on.
            let found = ints.add(&found, &column.clone()).unwrap();
            let doubled: Vec<i128> = expected.iter().map(|x| 2 * x).collect();
            assert_eq!(bench.decrypt(&found), doubled);
        }
        let Encrypted::Total(total) = again(&ints.sum(&sum).unwrap().into()) else { panic!() };
        let open = |c: &_| Ok::<_, IntegersError>(bench.scheme.decrypt(c)?.decode(&bench.params)?);
        let expected = xs.iter().chain(&ys).sum::<i128>();
        assert_eq!(total.decrypt(modulus, open).unwrap(), expected, "{kind}");
    }
    // A result of public integers alone has no length.
    let Encrypted::Column(found) = again(&ints.lt(3, 4).unwrap().into()) else { panic!() };
    assert_eq!((bench.decrypt(&found), found.length()), (vec![1], None));
}

#[test]
fn contradictions_are_refused() {
    let bench = Bench::leveled(SET);
    let (slots, modulus) = (bench.params.slots(), bench.modulus());
    let x = bench.encrypt(&[200, 13], Type::U8);
    // Of two limbs.
    let wide = bench.encrypt(&[60_000, 13], Type::U16);
    let total = bench.integers().sum(&wide).unwrap();
    let parts = |x: Value| x.to_parts(slots, modulus).unwrap();
    let refused = |parts: Parts<NoOpCiphertext>, expected: &str| {
        let error = Encrypted::from_parts(parts, slots, modulus).map(|_| ()).unwrap_err();
        assert_eq!(error.code(), "integers.parts");
        assert!(error.to_string().contains(expected), "{error}");
    };
    let column = |change: &dyn Fn(&mut Parts<NoOpCiphertext>), expected: &str| {
        let mut changed = parts(x.clone().into());
        change(&mut changed);
        refused(changed, expected);
    };
    column(&|x| drop(x.digits.remove(0)), "digit 0 is missing");
    column(&|x| x.digits[1].power = 0, "double");
    column(&|x| x.digits[1].power = 2, "digit 1 is missing");
    column(&|x| x.digits[0].high = 31, "window");
    column(&|x| x.digits[0].low = 16, "window");
    column(&|x| (x.digits[0].low, x.digits[0].high) = (i64::MIN, i64::MIN + 3), "window");
    column(&|x| x.digits[0].pad = 16, "padding");
    column(&|x| x.digits[0].pad = -1, "padding");
    column(&|x| x.digits[0].stride = 1, "stride");
    column(&|x| x.digits[0].value = None, "window");
    column(&|x| x.length = Some(0), "length");
    column(&|x| x.length = Some(slots + 1), "length");
    column(&|x| x.anchor = i128::MIN, "anchor");
    column(&|x| x.anchor = 1 << 126, "2^126");
    column(&|x| x.anchor = 1, "not within");
    column(&|x| x.interval = Interval::new(0, 256).unwrap(), "not within");
    column(&|x| x.interval = Interval::new(3, 255).unwrap(), "slots behind");
    let digit = |power| DigitPart { power, low: 0, high: 0, pad: 0, stride: 0, value: None };
    column(&|x| x.digits.extend((2..40).map(digit)), "32 is the most");
    let of_total = |change: &dyn Fn(&mut Parts<NoOpCiphertext>), expected: &str| {
        let mut changed = parts(total.clone().into());
        change(&mut changed);
        refused(changed, expected);
    };
    of_total(&|x| x.divisor = Some(0), "divisor");
    of_total(&|x| x.length = Some(1), "no length");
    of_total(&|x| x.digits[0].stride = 3, "stride");
    of_total(&|x| x.digits[0].stride = 0, "stride");
    of_total(&|x| x.digits[0].high = x.digits[0].low + 65537, "window");
    of_total(&|x| x.digits[1].power = 0, "double");
    of_total(&|x| x.digits[1].power = 200, "missing");
}
