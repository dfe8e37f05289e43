//! Random programs against plain integers, with every slot that enters a table checked.

use everlevel_integers::{Column, Integers, IntegersError, Type};
use everlevel_scheme::NoOp;
use everlevel_scheme::noop::NoOpCiphertext;
use proptest::prelude::*;

use crate::common::Bench;
use crate::wide::values;

type Encrypted = Column<NoOpCiphertext>;

/// An operation, the places of its operands among the results so far, and a public integer.
type Step = (u8, usize, usize, usize, i64);

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
        _ => return None,
    };
    Some(found.map(|found| (found, expected)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 40, ..Default::default() })]
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
            (0u8..19, 0usize..100, 0usize..100, 0usize..100, -40i64..300),
            1..14,
        ),
        unused in 0usize..50,
    ) {
        let bench = Bench::new("insecure_bgv-65537-n11");
        let ints = bench.integers();
        let mut known: Vec<(Encrypted, Vec<i128>)> = Vec::new();
        for (seed, kind) in (1..).zip(kinds) {
            let values = values(kind, bench.params.slots() - unused, seed);
            known.push((bench.encrypt(&values, kind), values));
        }
        for one in steps {
            match step(&ints, one, &known) {
                None => {}
                Some(Ok((found, expected))) => {
                    let mut opened = bench.decrypt(&found);
                    if found.length().is_none() {
                        opened = vec![opened[0]; expected.len()];
                    }
                    prop_assert_eq!(&opened, &expected, "{:?}", one);
                    // Other columns than the inputs have a length only if they are encrypted.
                    if found.length().is_some() {
                        known.push((found, expected));
                    }
                }
                // 18 digits, or past 2^126.
                Some(Err(IntegersError::Width { .. } | IntegersError::Range { .. })) => {}
                Some(Err(error)) => prop_assert!(false, "{error}"),
            }
        }
    }
}
