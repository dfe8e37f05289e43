//! Many short arrays in one column against plain computations on each.

use everlevel_integers::{ArrayOperation, Integers, IntegersError, Operation, Order, Type};

use crate::common::Bench;
use crate::wide::values;

const SET: &str = "insecure_bgv-65537-n11";
const ORDERS: [Order; 2] = [Order::Ascending, Order::Descending];

/// The places of the entries in order, equal ones as they stand.
fn places(xs: &[i128], order: Order) -> Vec<usize> {
    let mut out: Vec<usize> = (0..xs.len()).collect();
    match order {
        Order::Ascending => out.sort_by_key(|i| xs[*i]),
        Order::Descending => out.sort_by_key(|i| -xs[*i]),
    }
    out
}

/// What an operation gives for one array.
fn plain(xs: &[i128], operation: ArrayOperation) -> Vec<i128> {
    match operation {
        ArrayOperation::Nth(order, rank) => vec![xs[places(xs, order)[rank]]],
        ArrayOperation::ArgNth(order, rank) => vec![places(xs, order)[rank] as i128],
        ArrayOperation::Sort(order) => places(xs, order).into_iter().map(|i| xs[i]).collect(),
        ArrayOperation::ArgSort(order) => {
            places(xs, order).into_iter().map(|i| i as i128).collect()
        }
        ArrayOperation::CumulativeSum => (1..=xs.len()).map(|i| xs[..i].iter().sum()).collect(),
        _ => vec![xs.iter().sum()],
    }
}

fn check_one(bench: &Bench, kind: Type, xs: &[i128], n: usize, operation: ArrayOperation) {
    let (ints, x) = (bench.integers(), bench.encrypt(xs, kind));
    let expected: Vec<i128> = xs.chunks(n).flat_map(|xs| plain(xs, operation)).collect();
    let found = ints.of_arrays(&x, n, operation).unwrap();
    let case = format!("{operation:?} of {} of {n} {kind}", xs.len() / n);
    assert_eq!(found.length(), Some(expected.len()), "{case}");
    assert_eq!(bench.decrypt(&found), expected, "{case}");
    // It is a column like others, also behind its entries.
    let middle = (found.interval().low() + found.interval().high()) / 2;
    let above = bench.decrypt(&ints.gt(&found, middle).unwrap());
    let wanted: Vec<i128> = expected.iter().map(|v| i128::from(*v > middle)).collect();
    assert_eq!(above, wanted, "{case}");
    let sum = ints.sum(&found).unwrap();
    let open = |c: &_| Ok::<_, IntegersError>(bench.scheme.decrypt(c)?.decode(&bench.params)?);
    let total = sum.decrypt(bench.modulus(), open).unwrap();
    assert_eq!(total, expected.iter().sum::<i128>(), "{case}");
}

/// All operations, with these ranks.
fn check(bench: &Bench, kind: Type, xs: &[i128], n: usize, ranks: &[usize]) {
    check_one(bench, kind, xs, n, ArrayOperation::Sum);
    check_one(bench, kind, xs, n, ArrayOperation::CumulativeSum);
    for order in ORDERS {
        for rank in ranks {
            check_one(bench, kind, xs, n, ArrayOperation::Nth(order, *rank));
            check_one(bench, kind, xs, n, ArrayOperation::ArgNth(order, *rank));
        }
        check_one(bench, kind, xs, n, ArrayOperation::Sort(order));
        check_one(bench, kind, xs, n, ArrayOperation::ArgSort(order));
    }
}

/// All arrays of n entries with these numbers of values, one after the other.
fn all_arrays(values: usize, n: usize) -> Vec<i128> {
    let entry = |code: usize, i: usize| (code / values.pow(i as u32) % values) as i128;
    (0..values.pow(n as u32)).flat_map(|code| (0..n).map(move |i| entry(code, i))).collect()
}

/// All arrays of two to four entries, with every order and every tie.
#[test]
fn all_short_arrays() {
    let bench = Bench::new(SET);
    for n in 2..=4usize {
        let kind = Type::ranged(0, n as i128 - 1).unwrap();
        check(&bench, kind, &all_arrays(n, n), n, &(0..n).collect::<Vec<_>>());
    }
    // By the zero-one principle a network sorts all arrays; full rows, and both of them.
    for n in [5usize, 8] {
        check_one(&bench, Type::Bool, &all_arrays(2, n), n, ArrayOperation::Sort(ORDERS[0]));
        check_one(&bench, Type::Bool, &all_arrays(2, n), n, ArrayOperation::ArgSort(ORDERS[1]));
        check_one(&bench, Type::Bool, &all_arrays(2, n), n, ArrayOperation::Sum);
    }
}

/// Of 1,024 slots in a row: several digits, values below 0, one array, arrays in both rows, and as
/// many as there is room for.
#[test]
fn arrays_of_some_types() {
    let bench = Bench::new(SET);
    for (kind, n, count) in [
        (Type::U8, 8, 3),
        (Type::I16, 5, 9),
        (Type::I8, 6, 1),
        (Type::ranged(1000, 1005).unwrap(), 7, 20),
        (Type::ranged(-5, 2).unwrap(), 16, 70),
        (Type::I8, 2, 20),
        (Type::ranged(-3, -2).unwrap(), 4, 9),
    ] {
        check(&bench, kind, &values(kind, n * count, n as u64), n, &[0, n / 2, n - 1]);
    }
    for (n, count) in [(20, 40), (4, 512), (2, 1024), (512, 3), (1000, 1)] {
        let xs = values(Type::U8, n * count, 7);
        check_one(&bench, Type::U8, &xs, n, ArrayOperation::Sum);
        check_one(&bench, Type::U8, &xs, n, ArrayOperation::CumulativeSum);
        check_one(&bench, Type::U8, &xs, n, ArrayOperation::Nth(Order::Descending, 0));
        check_one(&bench, Type::U8, &xs, n, ArrayOperation::ArgNth(Order::Descending, 0));
    }
}

/// Public integers, arrays of one entry, and columns that are computed.
#[test]
fn other_columns() {
    let bench = Bench::new(SET);
    let ints = bench.integers();
    check(&bench, Type::ranged(7, 7).unwrap(), &[7; 12], 4, &[0, 2]);
    check(&bench, Type::U8, &[9, 200, 0], 1, &[0]);
    let xs = values(Type::I8, 30, 4);
    let x = bench.encrypt(&xs, Type::I8);
    let computed = ints.add(&ints.mul_public(&x, 3).unwrap(), 1000).unwrap();
    let entries: Vec<i128> = xs.iter().map(|v| 3 * v + 1000).collect();
    for operation in [
        ArrayOperation::Sum,
        ArrayOperation::CumulativeSum,
        ArrayOperation::Nth(Order::Descending, 0),
        ArrayOperation::Nth(Order::Ascending, 2),
        ArrayOperation::ArgSort(Order::Ascending),
    ] {
        let expected: Vec<i128> = entries.chunks(6).flat_map(|xs| plain(xs, operation)).collect();
        let whole = Operation::OfArrays(6, operation);
        assert!(whole.takes_whole_columns() && !whole.is_order());
        let found = ints.operate(&whole, &[(&computed).into()]);
        assert_eq!(bench.decrypt(&found.unwrap()), expected, "{operation:?}");
    }
}

/// Without bootstrapping what fits is computed, such as sums, and what does not is refused.
#[test]
fn without_bootstrapping() {
    let bench = Bench::leveled(SET);
    let ints = bench.integers();
    let xs = values(Type::Bool, 24, 2);
    let x = bench.encrypt(&xs, Type::Bool);
    let mut computed = Vec::new();
    for (n, operation) in [
        (2, ArrayOperation::Sum),
        (2, ArrayOperation::Nth(Order::Descending, 0)),
        (3, ArrayOperation::Nth(Order::Descending, 1)),
        (8, ArrayOperation::Sort(Order::Ascending)),
    ] {
        match ints.of_arrays(&x, n, operation) {
            Ok(found) => {
                let expected = xs.chunks(n).flat_map(|xs| plain(xs, operation));
                assert_eq!(bench.decrypt(&found), expected.collect::<Vec<_>>(), "{operation:?}");
                computed.push(operation);
            }
            Err(error) => assert_eq!(error.code(), "integers.depth", "{operation:?}"),
        }
    }
    assert!(computed.contains(&ArrayOperation::Sum), "{computed:?}");
}

/// What digits of a range are public, and so n times them, takes nothing.
#[test]
fn public_digits_of_sums_stay_public() {
    let taken = |low: i128| {
        let bench = Bench::blank("bgv-65537-n15");
        let ints = Integers::new(&bench.session, &bench.params).unwrap();
        let x = bench.encrypt(&[low; 40], Type::ranged(low, low + 5).unwrap());
        let before = bench.scheme.cost();
        let sums = ints.of_arrays(&x, 8, ArrayOperation::Sum).unwrap();
        assert_eq!(sums.interval().low(), 8 * low);
        assert_eq!(sums.interval().high(), 8 * (low + 5));
        let cost = bench.scheme.cost() - before;
        (cost.products, cost.key_switches, sums.ciphertexts())
    };
    // 0x3e8 to 0x3ed, of which only the lowest digit is encrypted.
    assert_eq!(taken(0x3e8), taken(8));
}

/// Comparisons are of all arrays at the same time; only to move the results takes rotations by the
/// number of arrays.
#[test]
fn many_arrays_take_little_more_than_one() {
    let taken = |count: usize, operation: ArrayOperation| {
        let bench = Bench::blank("bgv-65537-n15");
        let ints = Integers::new(&bench.session, &bench.params).unwrap();
        let x = bench.encrypt(&vec![7; 8 * count], Type::U8);
        let before = bench.scheme.cost();
        ints.of_arrays(&x, 8, operation).unwrap();
        let cost = bench.scheme.cost() - before;
        (cost.products, cost.key_switches)
    };
    for order in ORDERS {
        let sort = ArrayOperation::Sort(order);
        let (few, many) = (taken(2, sort), taken(1024, sort));
        assert!(many.1.abs_diff(few.1) < 400, "{order:?}: {many:?} for {few:?}");
    }
    for operation in [
        ArrayOperation::Sum,
        ArrayOperation::Nth(Order::Descending, 0),
        ArrayOperation::Nth(Order::Ascending, 4),
    ] {
        let (few, many) = (taken(16, operation), taken(1024, operation));
        assert!(many.0 < 2 * few.0 + 500, "{operation:?}: {many:?} for {few:?}");
        assert!(many.1 < 2 * few.1 + 1000, "{operation:?}: {many:?} for {few:?}");
    }
}

#[test]
fn arrays_that_do_not_fit_are_refused() {
    let bench = Bench::new(SET);
    let ints = bench.integers();
    let refused = |count: usize, n: usize, operation: ArrayOperation| {
        let x = bench.encrypt(&vec![1; count], Type::U8);
        ints.of_arrays(&x, n, operation).map(|_| ()).unwrap_err().to_string()
    };
    for (count, n, says) in [
        (7, 2, "whole"),
        (7, 0, "whole"),
        (7, 8, "whole"),
        // One array would be in two rows of 1,024 slots.
        (1200, 10, "at most 1020"),
        (2000, 2000, "at most 1024"),
        (2000, 2000, "x.ravel()"),
    ] {
        assert!(refused(count, n, ArrayOperation::Sum).contains(says), "{count} by {n}");
    }
    // What would fill them up is an entry like others.
    let said = refused(1200, 10, ArrayOperation::Nth(Order::Ascending, 0));
    assert!(said.contains("rows=True") && !said.contains("fill"), "{said}");
    for operation in
        [ArrayOperation::Nth(Order::Ascending, 2), ArrayOperation::ArgNth(Order::Descending, 9)]
    {
        assert!(refused(6, 2, operation).contains("rank"), "{operation:?}");
        let x = bench.encrypt(&[1; 6], Type::U8);
        let code = ints.of_arrays(&x, 2, operation).map(|_| ()).unwrap_err().code();
        assert_eq!(code, "integers.length");
    }
}
