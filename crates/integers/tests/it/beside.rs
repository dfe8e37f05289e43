//! Comparisons of short columns with their digits side by side.

use everlevel_integers::{Column, Integers, IntegersError, Type};
use everlevel_scheme::NoOp;
use everlevel_scheme::noop::NoOpCiphertext;

use crate::common::Bench;
use crate::exhausted::with_left;
use crate::wide::values;

type Operation = fn(
    &Integers<'_, NoOp>,
    &Column<NoOpCiphertext>,
    &Column<NoOpCiphertext>,
) -> Result<Column<NoOpCiphertext>, IntegersError>;

/// On columns, and on integers.
type Case = (Operation, fn(i128, i128) -> i128);

/// Every slot that enters a table is checked; rows have 1,024 slots, and what is behind the columns
/// is no 0. The longest ones have no room side by side.
#[test]
fn answers_are_the_same() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers().side_by_side(true);
    let wide = Type::ranged(-70_000, -3).unwrap();
    for (kind, n) in [
        (Type::U8, 512),
        (Type::U8, 513),
        (Type::I16, 256),
        (Type::I16, 3),
        (wide, 100),
        (Type::U32, 128),
        (Type::U32, 1),
        (Type::I64, 64),
        (Type::U64, 2000),
    ] {
        let (xs, mut ys) = (values(kind, n, 3), values(kind, n, 4));
        // Some equal ones, and some that differ in the lowest digit alone.
        for i in (0..n).step_by(3) {
            ys[i] = xs[i];
        }
        for i in (1..n).step_by(3) {
            ys[i] = (xs[i] + 1).min(kind.interval().high());
        }
        let (x, y) = (bench.encrypt(&xs, kind), bench.encrypt(&ys, kind));
        let cases: [Case; 5] = [
            (|s, a, b| s.lt(a, b), |a, b| i128::from(a < b)),
            (|s, a, b| s.ge(a, b), |a, b| i128::from(a >= b)),
            (|s, a, _| s.le(a, -5), |a, _| i128::from(a <= -5)),
            (|s, a, b| s.sign(&s.sub(a, b)?), |a, b| (a - b).signum()),
            (|s, a, b| s.max(a, b), |a, b| a.max(b)),
        ];
        for (i, (operation, plain)) in cases.iter().enumerate() {
            let found = operation(&ints, &x, &y).unwrap();
            let expected: Vec<i128> = xs.iter().zip(&ys).map(|(x, y)| plain(*x, *y)).collect();
            assert_eq!(bench.decrypt(&found), expected, "{i} of {n} {kind}");
            // What is behind the column is known still.
            let slots = |c: &NoOpCiphertext| {
                Ok::<_, IntegersError>(bench.scheme.decrypt(c)?.decode(&bench.params)?)
            };
            let total = ints.sum(&found).unwrap().decrypt(bench.modulus(), slots).unwrap();
            assert_eq!(total, expected.iter().sum::<i128>(), "{i} of {n} {kind}");
        }
    }
}

/// Products, key switches and bootstrappings on the set that everything here is for, digits apart
/// and side by side, of fresh columns and of those that have room for some sums only.
#[test]
fn counts() {
    let mut all = Vec::new();
    for worn in [false, true] {
        for side_by_side in [false, true] {
            let bench = Bench::blank("bgv-65537-n15");
            let ints = Integers::new(&bench.session, &bench.params).unwrap();
            let ints = ints.side_by_side(side_by_side);
            let column = || match worn {
                true => with_left(&bench, &[7; 1000], Type::U32, 12.0),
                false => bench.encrypt(&[7; 1000], Type::U32),
            };
            ints.lt(&column(), &column()).unwrap();
            let cost = bench.scheme.cost();
            all.push((cost.products, cost.key_switches, bench.session.bootstraps()));
        }
    }
    assert_eq!(all, [(98, 90, 0), (23, 32, 0), (281, 837, 8), (78, 311, 3)]);
}
