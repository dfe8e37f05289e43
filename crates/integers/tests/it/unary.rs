//! Membership in public ranges from digits in unary.

use everlevel_integers::{Column, Step, Type, Unary};
use everlevel_scheme::noop::NoOpCiphertext;

use crate::common::Bench;

/// The truth values on which ranges depend.
fn bits(
    bench: &Bench,
    unary: &Unary,
    xs: &[i128],
    ranges: &[(i128, i128)],
) -> Vec<(Step, Column<NoOpCiphertext>)> {
    let needed = unary.needed(ranges).into_iter();
    let column = |step: Step| {
        let values: Vec<i128> = xs.iter().map(|x| unary.holds(*x, step).into()).collect();
        (step, bench.encrypt(&values, Type::Bool))
    };
    needed.map(column).collect()
}

/// Columns of one digit to four, with entries at all ends.
#[test]
fn ranges_are_those_of_the_values() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    for (low, high) in [(0, 10), (1, 50), (-300, 500), (8036, 10_592), (-9, 65_000)] {
        let unary = Unary::new(low, high).unwrap();
        let at = |percent: i128| low + (high - low) * percent / 100;
        let cases: [&[(i128, i128)]; 6] = [
            &[(low, at(40))],
            &[(at(30), at(60))],
            &[(at(70), high + 9)],
            &[(at(50), at(50))],
            &[(low, low), (high, high)],
            &[(at(10), at(20)), (at(33), at(33)), (at(60), at(64)), (at(80), at(95))],
        ];
        for ranges in cases {
            let ends = ranges.iter().flat_map(|(a, b)| [a - 1, *a, *b, b + 1]);
            let spread = (0..400).map(|i| low + 7919 * i * i % (high - low + 1));
            let xs: Vec<i128> = ends.chain(spread).filter(|x| (low..=high).contains(x)).collect();
            let bits = bits(&bench, &unary, &xs, ranges);
            let found = ints.in_ranges_of(&unary, &bits, ranges).unwrap();
            assert!(found.length() == Some(xs.len()), "{ranges:?}");
            for (x, held) in xs.iter().zip(bench.decrypt(&found)) {
                let expected = ranges.iter().any(|(a, b)| (*a..=*b).contains(x));
                assert_eq!(held, i128::from(expected), "{x} in {ranges:?}");
            }
        }
    }
}

/// Fewer relinearizations than two for each digit but one, and none for a single digit.
#[test]
fn few_products_are_taken() {
    let bench = Bench::new("bgv-65537-n15");
    let ints = bench.integers();
    let cost = |(low, high): (i128, i128), ranges: &[(i128, i128)]| {
        let unary = Unary::new(low, high).unwrap();
        let bits = bits(&bench, &unary, &[low, high], ranges);
        let before = bench.scheme.cost();
        ints.in_ranges_of(&unary, &bits, ranges).unwrap();
        let taken = bench.scheme.cost() - before;
        (bits.len(), taken.products, taken.key_switches)
    };
    // A year among dates of seven, an end of one, one day, and numbers from 1 to 50 below 24.
    let dates = (8036, 10_592);
    assert_eq!(cost(dates, &[(8766, 9130)]), (10, 4, 3));
    assert_eq!(cost(dates, &[(8036, 10_471)]), (4, 2, 2));
    assert_eq!(cost(dates, &[(9000, 9000)]), (6, 2, 2));
    assert_eq!(cost((1, 50), &[(1, 23)]), (3, 1, 1));
    assert_eq!(cost((0, 15), &[(2, 3), (5, 5), (9, 12)]), (6, 0, 0));
}

#[test]
fn what_is_refused() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let unary = Unary::new(0, 99).unwrap();
    let ranges = [(20, 40)];
    let mut found = bits(&bench, &unary, &[1, 2, 30], &ranges);
    let (step, _) = found.pop().unwrap();
    let code = |bits: &[(Step, Column<NoOpCiphertext>)]| {
        ints.in_ranges_of(&unary, bits, &ranges).err().map(|e| e.code())
    };
    assert_eq!(code(&found), Some("circuit.empty"));
    found.push((step, bench.encrypt(&[0, 1, 2], Type::U8)));
    assert_eq!(code(&found), Some("integers.type"));
    found.pop();
    found.push((step, bench.encrypt(&[0, 1], Type::Bool)));
    assert_eq!(code(&found), Some("integers.length"));
}
