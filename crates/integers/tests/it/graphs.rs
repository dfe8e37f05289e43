//! Random programs against plain integers, with every slot that enters a table checked.

use everlevel_integers::{Column, Counted, Integers, IntegersError, Rehearsal, Type, index_level};
use everlevel_scheme::NoOp;
use everlevel_scheme::noop::NoOpCiphertext;
use proptest::prelude::*;

use crate::common::Bench;
use crate::wide::values;

type Encrypted = Column<NoOpCiphertext>;

/// An operation, the places of its operands among the results so far, and a public integer.
type Step = (u8, usize, usize, usize, i64);

fn points(x: &Encrypted) -> u128 {
    x.interval().points()
}

/// As Python rounds it; 0 for the divisor 0.
fn floored(a: i128, b: i128) -> i128 {
    let quotient = a.checked_div(b).unwrap_or(0);
    quotient - i128::from(b != 0 && quotient * b != a && (a < 0) != (b < 0))
}

/// The operations of steps.
const OPERATIONS: u8 = 42;

/// What a step gives, encrypted and in the clear; none if the operands are not for it.
fn step(
    ints: &Integers<'_, NoOp>,
    (op, i, j, k, constant): Step,
    known: &[(Encrypted, Vec<i128>)],
) -> Option<Result<(Encrypted, Vec<i128>), IntegersError>> {
    let at = |n: usize| &known[n % known.len()];
    let ((a, x), (b, y), (c, z)) = (at(i), at(j), at(k));
    let constant = i128::from(constant);
    let zip = |f: &dyn Fn(i128, i128) -> i128| -> Vec<i128> {
        x.iter().zip(y).map(|(x, y)| f(*x, *y)).collect()
    };
    let map = |f: &dyn Fn(i128) -> i128| -> Vec<i128> { x.iter().map(|x| f(*x)).collect() };
    let truth = |c: &Encrypted| c.interval().low() >= 0 && c.interval().high() <= 1;
    let amount = |c: &Encrypted| c.interval().low() >= 0 && c.interval().high() <= 15;
    let (found, expected) = match op {
        0 => (ints.add(a, b), zip(&|x, y| x + y)),
        1 => (ints.sub(a, b), zip(&|x, y| x - y)),
        2 => (ints.neg(a), map(&|x| -x)),
        3 => (ints.lt(a, b), zip(&|x, y| i128::from(x < y))),
        4 => (ints.ge(a, b), zip(&|x, y| i128::from(x >= y))),
        5 => (ints.eq(a, b), zip(&|x, y| i128::from(x == y))),
        6 => (ints.min(a, b), zip(&|x, y| x.min(y))),
        7 => (ints.max(a, b), zip(&|x, y| x.max(y))),
        8 => (ints.gt(a, constant), map(&|x| i128::from(x > constant))),
        9 => (ints.min(a, constant), map(&|x| x.min(constant))),
        10 => (ints.add(a, constant), map(&|x| x + constant)),
        11 => (ints.mul_public(a, constant), map(&|x| x * constant)),
        12 => (ints.abs(a), map(&|x| x.abs())),
        13 => (ints.normalized(a), x.clone()),
        14 if truth(c) => {
            let chosen = z.iter().zip(zip(&|x, _| x)).zip(y);
            let expected = chosen.map(|((z, x), y)| if *z == 1 { x } else { *y }).collect();
            (ints.select(c, a, b), expected)
        }
        15 if truth(a) => (ints.not(a), map(&|x| 1 - x)),
        16 if truth(a) && truth(b) => (ints.xor(a, b), zip(&|x, y| x ^ y)),
        17 if truth(a) && truth(b) => (ints.and(a, b), zip(&|x, y| x & y)),
        18 if a.interval().points() <= 256 => {
            let f = |v: i128| (v * v + constant * v) % 1001;
            let table: Vec<i128> = (a.interval().low()..=a.interval().high()).map(f).collect();
            (ints.lookup(a, &table), map(&f))
        }
        19 if points(a) <= 1 << 16 && points(b) <= 1 << 16 => (ints.mul(a, b), zip(&|x, y| x * y)),
        20 if points(a) <= 1 << 16 => (ints.square(a), map(&|x| x * x)),
        21 if constant != 0 => (ints.div_public(a, constant), map(&|x| floored(x, constant))),
        22 if constant != 0 => {
            (ints.rem_public(a, constant), map(&|x| x - constant * floored(x, constant)))
        }
        23 if points(a) <= 1 << 12 && points(b) <= 256 => {
            (ints.div(a, b), zip(&|x, y| floored(x, y)))
        }
        24 if points(a) <= 1 << 12 && points(b) <= 256 => {
            let rest = |x: i128, y: i128| if y == 0 { 0 } else { x - y * floored(x, y) };
            (ints.rem(a, b), zip(&rest))
        }
        25 => (ints.bit_and(a, b), zip(&|x, y| x & y)),
        26 => (ints.bit_xor(a, constant), map(&|x| x ^ constant)),
        27 => (ints.shift_right(a, constant.unsigned_abs() as u32 % 9), {
            map(&|x| x >> (constant.unsigned_abs() % 9))
        }),
        28 => (ints.sign(a), map(&|x| x.signum())),
        29 => (ints.clip(a, constant - 50, constant + 50), {
            map(&|x| x.clamp(constant - 50, constant + 50))
        }),
        30 => (ints.wrapped(a, Type::I8), map(&|x| i128::from(x as i8))),
        31 if a.interval().low() >= 0 => (ints.popcount(a), map(&|x| i128::from(x.count_ones()))),
        32 if points(a) <= 1 << 16 => {
            let f = |v: i128| (v * v + constant * v) % 1001;
            let table: Vec<i128> = (a.interval().low()..=a.interval().high()).map(f).collect();
            (ints.lookup(a, &table), map(&f))
        }
        33 => (ints.ne(a, constant), map(&|x| i128::from(x != constant))),
        34 => (ints.isin(a, &[0, constant, -7]), {
            map(&|x| i128::from([0, constant, -7].contains(&x)))
        }),
        35 if a.length().is_some() => (ints.sum_of_each(a), vec![x.iter().sum(); x.len()]),
        36 => (ints.bit_or(a, b), zip(&|x, y| x | y)),
        37 => (ints.shift_left(a, constant.unsigned_abs() as u32 % 9), {
            map(&|x| x << (constant.unsigned_abs() % 9))
        }),
        38 if points(a) <= 1 << 16 && points(b) <= 1 << 16 => {
            let wrapped = |x: i128, y: i128| i128::from(x.wrapping_mul(y) as i16);
            (ints.mul_wrapped(a, b, Type::I16), zip(&wrapped))
        }
        39 => {
            let list = [-7, 0, constant.abs() + 1];
            let below = |x: i128| list.iter().filter(|v| **v < x).count() as i128;
            (ints.searchsorted(&list, a, false), map(&below))
        }
        40 if points(a) <= 1 << 32 && amount(b) => (ints.shift_right_by(a, b), zip(&|x, y| x >> y)),
        41 if points(a) <= 1 << 32 && amount(b) => (ints.shift_left_by(a, b), zip(&|x, y| x << y)),
        _ => return None,
    };
    Some(found.map(|found| (found, expected)))
}

/// More of them for a search: `PROPTEST_CASES=500`. `.ci/nightly properties` asks for 256.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(6)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(),
        max_shrink_iters: 40,
        ..Default::default()
    })]
    #[test]
    fn random_programs(
        kinds in prop::collection::vec(
            prop::sample::select(vec![
                Type::U8, Type::I8, Type::Bool, Type::U16, Type::I16,
                Type::ranged(-9, 4).unwrap(), Type::ranged(1000, 1300).unwrap(),
            ]),
            2..4,
        ),
        steps in prop::collection::vec(
            (0u8..OPERATIONS, 0usize..100, 0usize..100, 0usize..100, -40i64..300),
            1..20,
        ),
        unused in 0usize..50,
        // Which of the inputs have an index, if columns of their type may have one.
        indexed in 0u32..16,
    ) {
        let bench = Bench::new("insecure_bgv-65537-n11");
        let ints = bench.integers();
        // The same without values: what an estimate counts has to be what is done.
        let rehearsal = Rehearsal::new(&bench.params, true).unwrap();
        let dry = rehearsal.integers().unwrap();
        let (mut known, mut pretended) = (Vec::new(), Vec::new());
        for (seed, kind) in (1..).zip(kinds) {
            let values = values(kind, bench.params.slots() - unused, seed);
            let has = indexed >> seed & 1 == 1;
            let index = has.then(|| index_level(&bench.params, kind).ok()).flatten();
            let x = rehearsal.column_with_index(kind, values.len(), index, |s, zero, own| {
                s.encrypt_at(zero, own.unwrap_or(bench.params.chain().top()))
            });
            pretended.push((x.unwrap(), values.clone()));
            known.push((bench.encrypt_with_index(&values, kind, index), values));
        }
        for one in steps {
            let expected = step(&dry, one, &pretended);
            match step(&ints, one, &known) {
                None => prop_assert!(expected.is_none()),
                Some(Ok((found, values))) => {
                    let mut opened = bench.decrypt(&found);
                    if found.length().is_none() {
                        opened = vec![opened[0]; values.len()];
                    }
                    prop_assert_eq!(&opened, &values, "{:?}", one);
                    let x = expected.unwrap().unwrap().0;
                    prop_assert_eq!(x.interval(), found.interval());
                    // Other columns than the inputs have a length only if they are encrypted.
                    if found.length().is_some() {
                        pretended.push((x, values.clone()));
                        known.push((found, values));
                    }
                }
                // Too many digits, or past 2^126.
                Some(Err(e @ (IntegersError::Width { .. } | IntegersError::Range { .. }))) => {
                    prop_assert_eq!(expected.unwrap().err().unwrap(), e);
                }
                // By a column of which everybody knows that it is 0.
                Some(Err(
                    e @ IntegersError::Type { expected: "a public divisor other than 0", .. },
                )) => {
                    prop_assert_eq!(expected.unwrap().err().unwrap(), e);
                }
                Some(Err(error)) => prop_assert!(false, "{:?}: {}", one, error),
            }
        }
        let Counted { products, key_switches, refreshes, .. } = rehearsal.so_far();
        let cost = bench.scheme.cost();
        prop_assert_eq!(
            (products, key_switches, refreshes),
            (cost.products, cost.key_switches, bench.session.bootstraps() as u64)
        );
    }
}
