//! Tables of more than two digits, and tables that share work.

use everlevel_integers::{Integers, IntegersError, Type};

use crate::common::Bench;
use crate::wide::values;

fn f(v: i128) -> i128 {
    (v * v * 7919 + 11 * v).rem_euclid(251) - 90
}

fn table(low: i128, high: i128) -> Vec<i128> {
    (low..=high).map(f).collect()
}

/// Every entry of tables of 10 and 12 bits, every 32nd of one of 16 bits; fresh, and with a refresh
/// between the truth values and their products.
#[test]
fn every_entry() {
    looked_up(&[(0, 1023), (-2000, 2095), (-32_768, 32_767)]);
}

#[test]
#[ignore = "some seconds: another table of 16 bits"]
fn many_entries_in_full() {
    looked_up(&[(0, 65_535)]);
}

fn looked_up(intervals: &[(i128, i128)]) {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let slots = bench.params.slots();
    for &(low, high) in intervals {
        let kind = Type::ranged(low, high).unwrap();
        let entries = table(low, high);
        let step = if high - low > 1 << 12 { 32 } else { 1 };
        let all: Vec<i128> =
            (low..=high).step_by(step).map(|v| (v + v / 32 % step as i128).min(high)).collect();
        for (run, xs) in all.chunks(slots).enumerate() {
            let x = bench.encrypt(xs, kind);
            if run == 0 {
                // Four or five levels are left.
                x.values().for_each(|v| bench.session.refresh_in_place(v).unwrap());
            }
            let found = ints.lookup(&x, &entries).unwrap();
            assert!(bench.decrypt(&found).iter().zip(xs).all(|(y, x)| *y == f(*x)), "{kind}");
            assert_eq!((found.interval().low(), found.interval().high()), ends(&entries));
        }
    }
}

fn ends(entries: &[i128]) -> (i128, i128) {
    (*entries.iter().min().unwrap(), *entries.iter().max().unwrap())
}

/// Of sums, of results, of a column with unused slots and public digits, and summed afterwards.
#[test]
fn operands_of_all_forms() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let n = bench.params.slots() - 5;
    let xs = values(Type::I16, n, 8);
    let x = bench.encrypt(&xs, Type::I16);
    let sum = ints.clip(&ints.add(&x, &x).unwrap(), -3000, 3000).unwrap();
    let y = ints.lookup(&sum, &table(-3000, 3000)).unwrap();
    let expected: Vec<i128> = xs.iter().map(|x| f((2 * x).clamp(-3000, 3000))).collect();
    assert_eq!(bench.decrypt(&y), expected);
    let open = |c: &_| Ok::<_, IntegersError>(bench.scheme.decrypt(c)?.decode(&bench.params)?);
    let total = ints.sum(&y).unwrap().decrypt(bench.modulus(), open).unwrap();
    assert_eq!(total, expected.iter().sum::<i128>());
    // The middle digit is public.
    let masked = ints.bit_and(&ints.wrapped(&x, Type::U16).unwrap(), 0x0f0f).unwrap();
    let y = ints.lookup(&masked, &table(0, 0x0f0f)).unwrap();
    assert_eq!(bench.decrypt(&y), xs.iter().map(|x| f(x & 0x0f0f)).collect::<Vec<_>>());
    let constant = ints.lookup(&sum, &[4; 6001]).unwrap();
    assert_eq!(constant.public_value(), Some(4));
}

#[test]
fn of_two_columns() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let n = bench.params.slots();
    for (left, right) in [((0i128, 63), (-16i128, 15)), ((0, 255), (0, 255)), ((7, 10), (0, 1000))]
    {
        let kinds = [left, right].map(|(low, high)| Type::ranged(low, high).unwrap());
        let (xs, ys) = (values(kinds[0], n, 1), values(kinds[1], n, 2));
        let (x, y) = (bench.encrypt(&xs, kinds[0]), bench.encrypt(&ys, kinds[1]));
        let f = |x: i128, y: i128| (x * 31 + y * y) % 77;
        let row = |x: i128| (right.0..=right.1).map(|y| f(x, y)).collect();
        let rows: Vec<Vec<i128>> = (left.0..=left.1).map(row).collect();
        let found = bench.decrypt(&ints.lookup_pair(&x, &y, &rows).unwrap());
        assert!(xs.iter().zip(&ys).zip(&found).all(|((x, y), z)| *z == f(*x, *y)), "{left:?}");
    }
}

/// Further tables of one column cost their own products only, not those of powers or truth values;
/// products, relinearizations and depth of one and of three.
#[test]
fn tables_share_their_work() {
    let bench = Bench::blank("bgv-65537-n15");
    let ints = Integers::new(&bench.session, &bench.params).unwrap();
    let mut all = Vec::new();
    for high in [15i128, 255, 1023, 4095, 65_535] {
        let x = bench.encrypt(&[1, 2], Type::ranged(0, high).unwrap());
        // Each of one digit.
        let tables: Vec<Vec<i128>> =
            (1..=3).map(|k| (0..=high).map(|v| (v * v * k + v) % 11).collect()).collect();
        let tables: Vec<&[i128]> = tables.iter().map(Vec::as_slice).collect();
        let cost = |tables: &[&[i128]]| {
            let before = bench.scheme.cost();
            let found = ints.lookup_all(&x, tables).unwrap();
            let cost = bench.scheme.cost() - before;
            let values = found.iter().flat_map(|y| y.values());
            let depth = values.map(|v| v.get().meta().depth).max().unwrap();
            (cost.products, cost.relinearizations, depth)
        };
        all.push((high, cost(&tables[..1]), cost(&tables)));
    }
    assert_eq!(
        all,
        [
            (15, (7, 6, 4), (10, 10, 4)),
            (255, (38, 29, 5), (58, 31, 5)),
            (1023, (308, 305, 6), (316, 307, 6)),
            (4095, (341, 326, 6), (373, 328, 6)),
            (65_535, (620, 365, 7), (1164, 399, 7)),
        ]
    );
}

#[test]
fn refused() {
    let bench = Bench::leveled("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let before = bench.scheme.cost();
    let wide = bench.encrypt(&[1], Type::ranged(0, 65_536).unwrap());
    let x = bench.encrypt(&[1], Type::U16);
    for found in [
        ints.lookup(&wide, &[0; 65_537]),
        ints.lookup(&x, &[0; 65_535]),
        ints.lookup_pair(&x, &bench.encrypt(&[1], Type::Bool), &vec![vec![0; 2]; 65_536]),
    ] {
        let error = found.map(|_| ()).unwrap_err();
        assert_eq!(error.code(), "integers.table");
        assert!(error.to_string().contains("655"), "{error}");
    }
    assert_eq!(bench.scheme.cost(), before, "nothing was computed");
}
