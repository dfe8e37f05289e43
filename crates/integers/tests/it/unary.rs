//! Membership in public ranges from digits in unary.

use std::cell::RefCell;

use everlevel_circuit::CircuitError;
use everlevel_integers::{Column, IntegersError, Step, Type, Unary, UnaryBits, UnaryPair};
use everlevel_scheme::noop::NoOpCiphertext;

use crate::common::Bench;

type Bits = UnaryBits<NoOpCiphertext>;

/// The truth values on which ranges depend.
fn bits(bench: &Bench, unary: &Unary, xs: &[i128], ranges: &[(i128, i128)]) -> Bits {
    steps(bench, unary, xs, unary.needed(ranges))
}

/// Some truth values.
fn steps(bench: &Bench, unary: &Unary, xs: &[i128], needed: Vec<Step>) -> Bits {
    let needed = needed.into_iter();
    let column = |step: Step| {
        let values: Vec<i128> = xs.iter().map(|x| unary.holds(*x, step).into()).collect();
        (step, bench.encrypt(&values, Type::Bool))
    };
    needed.map(column).collect()
}

/// Those of a digit.
fn of(bits: &[(Step, Column<NoOpCiphertext>)], digit: usize) -> Result<Bits, IntegersError> {
    Ok(bits.iter().filter(|((of, _), _)| *of == digit).cloned().collect())
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
            let found =
                ints.in_ranges_of(&unary, Some(xs.len()), |i| of(&bits, i), ranges).unwrap();
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
        ints.in_ranges_of(&unary, Some(2), |i| of(&bits, i), ranges).unwrap();
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

/// A list whose diagram would have 254 nodes in a layer, with 17 relinearizations of 272 products,
/// is decided in parts of which each has 128 at most, so that memory does not grow with the list.
#[test]
fn long_lists_are_decided_in_parts() {
    let bench = Bench::new("bgv-65537-n15");
    let unary = Unary::new(0, 4095).unwrap();
    let xs: Vec<i128> = (0..4096).collect();
    let listed = |x: &i128| x.pow(3) % 4093 % 2 == 1;
    let list: Vec<(i128, i128)> = xs.iter().copied().filter(listed).map(|x| (x, x)).collect();
    let bits = bits(&bench, &unary, &xs, &list);
    assert!(bits.len() <= unary.steps().len());
    let before = bench.scheme.cost();
    let (ints, length) = (bench.integers(), Some(xs.len()));
    let found = ints.in_ranges_of(&unary, length, |i| of(&bits, i), &list).unwrap();
    let taken = bench.scheme.cost() - before;
    let expected: Vec<i128> = xs.iter().map(|x| listed(x).into()).collect();
    assert_eq!(bench.decrypt(&found), expected);
    let (products, switches) = (taken.products, taken.key_switches);
    assert!(products <= 280 && (18..=24).contains(&switches), "{products}, {switches}");
    let depth = found.values().map(|value| value.get().meta().depth).max();
    assert_eq!(depth, Some(2));
}

/// Whether differences of integers are in ranges, and what that takes.
struct Taken {
    found: Vec<i128>,
    products: u64,
    key_switches: u64,
    depth: u32,
}

fn differences(
    bench: &Bench,
    [a, b]: [&Unary; 2],
    [xs, ys]: [&[i128]; 2],
    ranges: &[(i128, i128)],
) -> Taken {
    let pair = UnaryPair::new(a.clone(), b.clone());
    let [x, y] = pair.needed(ranges);
    let (x, y) = (steps(bench, a, xs, x), steps(bench, b, ys, y));
    let before = bench.scheme.cost();
    let bits = |which: usize, digit: usize| of([&x, &y][which], digit);
    let length = Some(xs.len());
    let found = bench.integers().differences_in_ranges_of(&pair, length, bits, ranges).unwrap();
    let taken = bench.scheme.cost() - before;
    assert_eq!(found.length(), Some(xs.len()));
    Taken {
        products: taken.products,
        key_switches: taken.key_switches,
        depth: found.values().map(|value| value.get().meta().depth).max().unwrap_or(0),
        found: bench.decrypt(&found),
    }
}

/// Comparisons of columns of equal intervals and of others.
#[test]
fn differences_are_those_of_the_values() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let intervals = [(0, 10), (1, 50), (-300, 500), (0, 2556), (-9, 65_000)];
    for (i, a) in intervals.into_iter().enumerate() {
        for b in [a, intervals[(i + 1) % intervals.len()], (a.0, a.1 + 20)] {
            let spread = |(low, high): (i128, i128), step: i128| {
                let ends = [low, low + 1, high - 1, high, high, low];
                let others = (0..700).map(move |i| low + step * i * i % (high - low + 1));
                ends.into_iter().chain(others).collect::<Vec<i128>>()
            };
            let (xs, mut ys) = (spread(a, 7919), spread(b, 104_729));
            // Equal ones and neighbors, too.
            for (place, y) in ys.iter_mut().enumerate().skip(400) {
                *y = (xs[place] + place as i128 % 5 - 2).clamp(b.0, b.1);
            }
            let [x, y] = [a, b].map(|(low, high)| Unary::new(low, high).unwrap());
            let cases: [&[(i128, i128)]; 6] = [
                &[(i128::MIN, -1)],
                &[(i128::MIN, 0)],
                &[(0, 0)],
                &[(1, i128::MAX)],
                &[(2, 2)],
                &[(-31, -2), (1, 17)],
            ];
            for ranges in cases {
                let found = differences(&bench, [&x, &y], [&xs, &ys], ranges).found;
                for ((x, y), held) in xs.iter().zip(&ys).zip(found) {
                    let expected = ranges.iter().any(|(a, b)| (*a..=*b).contains(&(x - y)));
                    let expected = i128::from(expected);
                    assert_eq!(held, expected, "{x} - {y} of {a:?}, {b:?} in {ranges:?}");
                }
            }
        }
    }
}

/// Single differences of integers with one digit and with three: about the digits that only one of
/// both has, its truth values alone decide.
#[test]
fn single_differences_of_unequal_digits() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let (one, three) = (Unary::new(0, 15).unwrap(), Unary::new(0, 300).unwrap());
    let upper = |x: i128| (0..19).flat_map(move |k| [(x, 16 * k + x), (x, 16 * k + (x + 1) % 16)]);
    let pairs = (0..16).flat_map(upper).filter(|(_, y)| *y <= 300);
    let (xs, ys): (Vec<i128>, Vec<i128>) = pairs.unzip();
    for difference in [0, -1, -16, -80, -240, -256, -272, -300] {
        let less = differences(&bench, [&one, &three], [&xs, &ys], &[(difference, difference)]);
        let more = differences(&bench, [&three, &one], [&ys, &xs], &[(-difference, -difference)]);
        for ((x, y), held) in xs.iter().zip(&ys).zip(less.found.iter().zip(&more.found)) {
            let expected = i128::from(x - y == difference);
            assert_eq!(held, (&expected, &expected), "{x} - {y} = {difference}");
        }
    }
}

/// Two relinearizations for each digit but one, and one more, of many products, at a depth of as
/// many products as there are digits.
#[test]
fn comparisons_take_few_relinearizations() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let cost = |(low, high): (i128, i128), ranges: &[(i128, i128)]| {
        let unary = Unary::new(low, high).unwrap();
        let (xs, ys) = ([low, high, low], [low, low + 1, high]);
        let taken = differences(&bench, [&unary, &unary], [&xs, &ys], ranges);
        (taken.products, taken.key_switches, taken.depth)
    };
    // Dates of seven years: three tables of 15 products, two of 9, and two nodes.
    let (dates, less) = ((8036, 10_592), [(i128::MIN, -1)]);
    assert_eq!(cost(dates, &less), (3 * 15 + 2 * 9 + 2, 5, 3));
    assert_eq!(cost(dates, &[(i128::MIN, 0)]), (3 * 15 + 2 * 9 + 2, 5, 3));
    assert_eq!(cost(dates, &[(0, 0)]), (2 * 15 + 9 + 2, 5, 3));
    assert_eq!(cost((1, 50), &less), (15 + 2 * 3 + 1, 3, 2));
    assert_eq!(cost((0, 10), &less), (10, 1, 1));
}

/// Each digit that decides is asked for once, from the lowest one on, and no other.
#[test]
fn digits_are_asked_for_one_after_the_other() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let unary = Unary::new(0, 0xfff).unwrap();
    let asked = |ranges: &[(i128, i128)]| {
        let bits = bits(&bench, &unary, &[0, 0x345], ranges);
        let asked: RefCell<Vec<usize>> = RefCell::default();
        let digit = |i: usize| {
            asked.borrow_mut().push(i);
            of(&bits, i)
        };
        let found = ints.in_ranges_of(&unary, Some(2), digit, ranges).unwrap();
        let expected = ranges.iter().any(|(a, b)| (*a..=*b).contains(&0x345));
        assert_eq!(bench.decrypt(&found), [0, i128::from(expected)]);
        asked.into_inner()
    };
    assert_eq!(asked(&[(0x123, 0x456)]), [0, 1, 2]);
    assert_eq!(asked(&[(0x345, 0x345)]), [0, 1, 2]);
    assert_eq!(asked(&[(0x120, 0x457)]), [0, 1, 2]);
    assert_eq!(asked(&[(0x340, 0x3ff)]), [1, 2]);
    assert_eq!(asked(&[(0x100, 0x3ff)]), [2]);
    // An error of what gives them ends the work.
    let none = |_: usize| Err(IntegersError::from(CircuitError::Empty { what: "a file" }));
    let found = ints.in_ranges_of(&unary, Some(2), none, &[(3, 9)]).map(|_| ());
    assert_eq!(found.map_err(|e| e.code()), Err("circuit.empty"));
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
        ints.in_ranges_of(&unary, Some(3), |i| of(bits, i), &ranges).err().map(|e| e.code())
    };
    assert_eq!(code(&found), Some("circuit.empty"));
    found.push((step, bench.encrypt(&[0, 1, 2], Type::U8)));
    assert_eq!(code(&found), Some("integers.type"));
    found.pop();
    found.push((step, bench.encrypt(&[0, 1], Type::Bool)));
    assert_eq!(code(&found), Some("integers.length"));
}
