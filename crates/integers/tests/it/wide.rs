//! Wide types, unary operations, constants, refreshes.

use everlevel_integers::{IntegersError, Interval, Type};

use crate::common::Bench;

/// A generator of test values with many carries.
pub fn values(kind: Type, count: usize, seed: u64) -> Vec<i128> {
    let interval = kind.interval();
    let (low, high) = (interval.low(), interval.high());
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        u128::from(state >> 11)
    };
    (0..count)
        .map(|_| {
            let random = (next() << 53 | next()) % interval.points();
            let any = low + random as i128;
            let small = (next() % 5) as i128;
            match next() % 8 {
                0 => (low + small).min(high),
                1 => (high - small).max(low),
                2 => (small - 2).clamp(low, high),
                // Runs of f and of 0.
                3 => (any | 0xffff).clamp(low, high),
                4 => (any & !0xfff_ffff).clamp(low, high),
                _ => any,
            }
        })
        .collect()
}

fn all_operations(bench: &Bench, kinds: &[Type]) {
    let ints = bench.integers();
    let slots = bench.params.slots();
    for &kind in kinds {
        // Not all slots are used.
        let n = slots - 5;
        let (xs, ys) = (values(kind, n, 1), values(kind, n, 2));
        let ys: Vec<i128> =
            ys.into_iter().enumerate().map(|(i, y)| if i % 4 == 0 { xs[i] } else { y }).collect();
        let (a, b) = (bench.encrypt(&xs, kind), bench.encrypt(&ys, kind));
        let check =
            |name: &str, found: Result<_, IntegersError>, f: &dyn Fn(i128, i128) -> i128| {
                let found = bench.decrypt(&found.unwrap());
                let found = if found.len() == 1 { vec![found[0]; n] } else { found };
                for (i, v) in found.iter().enumerate() {
                    assert_eq!(*v, f(xs[i], ys[i]), "{kind} {name}({}, {})", xs[i], ys[i]);
                }
            };
        check("lt", ints.lt(&a, &b), &|x, y| i128::from(x < y));
        check("ge", ints.ge(&a, &b), &|x, y| i128::from(x >= y));
        check("eq", ints.eq(&a, &b), &|x, y| i128::from(x == y));
        check("min", ints.min(&a, &b), &|x, y| x.min(y));
        check("max", ints.max(&a, &b), &|x, y| x.max(y));
        let sum = ints.add(&a, &b).unwrap();
        check("normalized", ints.normalized(&sum), &|x, y| x + y);
        check("sum < first", ints.lt(&sum, &a), &|x, y| i128::from(x + y < x));
        let three = ints.add(&sum, &a);
        check("three", three, &|x, y| 2 * x + y);
        let difference = ints.sub(&a, &b).unwrap();
        check("normalized difference", ints.normalized(&difference), &|x, y| x - y);
        check("abs", ints.abs(&difference), &|x, y| (x - y).abs());
        check("sign", ints.sign(&difference), &|x, y| (x - y).signum());
        check("neg", ints.normalized(&ints.neg(&a).unwrap()), &|x, _| -x);
        for c in [kind.interval().low(), -1, 0, 1, 7, 100, kind.interval().high(), 1 << 70] {
            check("lt public", ints.lt(&a, c), &|x, _| i128::from(x < c));
            check("gt public", ints.gt(&a, c), &|x, _| i128::from(x > c));
            check("public le", ints.le(c, &a), &|x, _| i128::from(c <= x));
            check("eq public", ints.eq(&a, c), &|x, _| i128::from(x == c));
            check("min public", ints.min(&a, c), &|x, _| x.min(c));
            check("add public", ints.add(&a, c), &|x, _| x + c);
        }
        check("clip", ints.clip(&a, 3, 90), &|x, _| x.clamp(3, 90));
        let less = ints.lt(&a, &b).unwrap();
        check("select", ints.select(&less, &sum, 12), &|x, y| if x < y { x + y } else { 12 });
        check("select public", ints.select(&less, 50_000, -3), &|x, y| {
            if x < y { 50_000 } else { -3 }
        });
        check("select two", ints.select(&less, &difference, &b), &|x, y| {
            if x < y { x - y } else { y }
        });
        for factor in [0, 1, 2, 3, 16, 20, -5, 1000] {
            let found = ints.mul_public(&a, factor);
            if factor.abs() > 16 && kind.interval().points() > 1 << 40 {
                // 18 digits with carries.
                assert!(matches!(found, Ok(_) | Err(IntegersError::Width { .. })));
                continue;
            }
            check("times", found, &|x, _| x * factor);
        }
        check("bits", ints.bit_xor(&sum, &b), &|x, y| (x + y) ^ y);
        check("bits or", ints.bit_or(&a, 77), &|x, _| x | 77);
        check("shift", ints.shift_right(&difference, 5), &|x, y| (x - y) >> 5);
        check("wrapped", ints.wrapped(&difference, Type::U16), &|x, y| (x - y) as u16 as i128);
        check("wrapped sign", ints.wrapped(&sum, Type::I8), &|x, y| (x + y) as i8 as i128);
        let equal = ints.eq(&a, &b).unwrap();
        check("and", ints.and(&less, &equal), &|_, _| 0);
        check("or", ints.or(&less, &equal), &|x, y| i128::from(x <= y));
        check("xor", ints.xor(&less, &equal), &|x, y| i128::from(x <= y));
        check("not", ints.not(&less), &|x, y| i128::from(x >= y));
    }
}

#[test]
fn refreshed() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let kinds = [Type::U8, Type::I8, Type::U16, Type::I16, Type::U32, Type::I64, Type::U64];
    all_operations(&bench, &kinds);
    let ranged = [(18, 120), (-7, 9), (2000, 2020), (-1000, 5), (5, 5), (0, 1)];
    let ranged = ranged.map(|(low, high)| Type::ranged(low, high).unwrap());
    all_operations(&bench, &ranged);
}

#[test]
fn lookups() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    for (low, high) in
        [(0i128, 255), (18, 120), (-128, 127), (0, 15), (-3, 27), (1000, 1200), (0, 1)]
    {
        let kind = Type::ranged(low, high).unwrap();
        let xs = values(kind, bench.params.slots() - 1, 3);
        let f = |x: i128| (x * x * 7919 + 11 * x) % 5003 - 900;
        let table: Vec<i128> = (low..=high).map(f).collect();
        let x = bench.encrypt(&xs, kind);
        let y = ints.lookup(&x, &table).unwrap();
        assert_eq!(bench.decrypt(&y), xs.iter().map(|x| f(*x)).collect::<Vec<_>>());
        // Of a sum, and of a result.
        let doubled = ints.clip(&ints.add(&x, &x).unwrap(), low, high).unwrap();
        let reachable = (doubled.interval().low() - low) as usize;
        let last = (doubled.interval().high() - low) as usize;
        let y = ints.lookup(&doubled, &table[reachable..=last]).unwrap();
        let expected: Vec<i128> = xs.iter().map(|x| f((2 * x).clamp(low, high))).collect();
        assert_eq!(bench.decrypt(&y), expected);
        let short = ints.lookup(&x, &table[1..]);
        assert!(matches!(short, Err(IntegersError::Table { .. })));
    }
    // A digit that is public, above or below the other one.
    let xs = values(Type::U8, bench.params.slots(), 4);
    let x = bench.encrypt(&xs, Type::U8);
    let squares: Vec<i128> = (0..256).map(|v| v * v).collect();
    for mask in [0x0f, 0xf0] {
        let masked = ints.bit_and(&x, mask).unwrap();
        assert_eq!((masked.interval().low(), masked.interval().high()), (0, mask));
        let found = ints.lookup(&masked, &squares[..=mask as usize]).unwrap();
        let expected: Vec<i128> = xs.iter().map(|x| (x & mask) * (x & mask)).collect();
        assert_eq!(bench.decrypt(&found), expected);
    }
    let wide = bench.encrypt(&[1], Type::U16);
    assert!(matches!(ints.lookup(&wide, &[0; 256]), Err(IntegersError::Table { .. })));
    assert_eq!(Interval::new(3, 4).unwrap().points(), 2);
}
