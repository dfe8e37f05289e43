//! Products and large tables in blocks: the same values for less memory.

use everlevel_integers::{Counted, Rehearsal, Type};
use everlevel_scheme::{OptIn, Params};

use crate::common::Bench;
use crate::wide::values;

/// Integers of a type, with both ends.
fn spread(kind: Type, n: usize, step: i128) -> Vec<i128> {
    let interval = kind.interval();
    let points = interval.points() as i128;
    let mut values: Vec<i128> =
        (0..n as i128).map(|i| interval.low() + (i * i * step + i * 7919) % points).collect();
    values[..4].copy_from_slice(&[
        interval.low(),
        interval.low(),
        interval.high(),
        interval.high(),
    ]);
    values
}

#[test]
fn values_are_those_of_products() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let (usual, blocks) = (bench.integers(), bench.integers().in_blocks(true));
    let n = bench.params.slots() - 3;
    let ranged = |low, high| Type::ranged(low, high).unwrap();
    for (left, right) in [
        (Type::U8, Type::U16),
        (Type::I16, Type::I16),
        (Type::U32, Type::U32),
        (ranged(-7, 9), ranged(1000, 1300)),
        (Type::U16, ranged(0, 9)),
    ] {
        let (mut xs, ys) = (spread(left, n, 31), spread(right, n, 17));
        xs.swap(1, 2);
        let (x, y) = (bench.encrypt(&xs, left), bench.encrypt(&ys, right));
        let expected: Vec<i128> = xs.iter().zip(&ys).map(|(x, y)| x * y).collect();
        let product = blocks.mul(&x, &y).unwrap();
        assert_eq!(product.interval(), usual.mul(&x, &y).unwrap().interval());
        assert_eq!(bench.decrypt(&product), expected, "{left:?} {right:?}");
        let square = bench.decrypt(&blocks.square(&y).unwrap());
        assert!(square.iter().zip(&ys).all(|(found, y)| *found == y * y), "{right:?}");
        let found = bench.decrypt(&blocks.mul_wrapped(&x, &y, Type::I16).unwrap());
        let wrapped: Vec<i128> = expected.iter().map(|v| i128::from(*v as i16)).collect();
        assert_eq!(found, wrapped, "{left:?} {right:?} wrapped");
        let factor = bench.decrypt(&blocks.mul(&x, 1_000_003).unwrap());
        assert!(found.len() == factor.len() && factor[3] == xs[3] * 1_000_003);
    }
}

/// The memory and the cost of a product, or of a square.
fn cost(kind: Type, square: bool, in_blocks: bool) -> (u64, Counted) {
    let params = Params::named("bgv-65537-n15", OptIn::SecureOnly).unwrap();
    let rehearsal = Rehearsal::new(&params, false).unwrap().with_blocks(in_blocks);
    let ints = rehearsal.integers().unwrap();
    let [x, y] = [0, 1].map(|_| rehearsal.column(kind, 40, |s, zero| s.encrypt(zero)).unwrap());
    let work = || match square {
        true => ints.square(&x),
        false => ints.mul(&x, &y),
    };
    let (_, counted) = rehearsal.counted(|| rehearsal.alone(work)).unwrap();
    (rehearsal.working_bytes(), counted)
}

/// The powers of one factor are computed twice, and there are no more relinearizations of sums.
#[test]
fn blocks_take_less_memory_and_some_products_more() {
    for (kind, digits, square) in
        [(Type::U16, 4, false), (Type::U32, 8, false), (Type::U32, 8, true)]
    {
        let (usual, blocks) = (cost(kind, square, false), cost(kind, square, true));
        let (most, least) = (usual.0, blocks.0);
        assert!(least < most, "{kind:?}: {least} of {most}");
        assert!(digits < 8 || square || 2 * least < most, "{kind:?}: {least} of {most}");
        let (usual, blocks) = (usual.1, blocks.1);
        let more = blocks.products - usual.products;
        assert!(0 < more && more <= 14 * digits, "{kind:?}: {more}");
        assert_eq!(blocks.key_switches - usual.key_switches, more, "{kind:?}");
        assert_eq!((blocks.refreshes, usual.refreshes), (0, 0));
    }
}

/// Values of two digits.
fn f(v: i128) -> i128 {
    (v * v * 7919 + 11 * v).rem_euclid(251) - 90
}

fn table(low: i128, high: i128) -> Vec<i128> {
    (low..=high).map(f).collect()
}

/// Every entry of tables of 10 and 12 bits, every 32nd of one of 16 bits; of columns that were
/// bootstrapped, whose truth values may have to be bootstrapped in between, and of fresh ones.
#[test]
fn every_entry_is_that_of_the_table() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let blocks = bench.integers().in_blocks(true);
    for (low, high) in [(0, 1023), (-2000, 2095), (-32_768, 32_767)] {
        let kind = Type::ranged(low, high).unwrap();
        let entries = table(low, high);
        let step = if high - low > 1 << 12 { 32 } else { 1 };
        let all: Vec<i128> =
            (low..=high).step_by(step).map(|v| (v + v / 32 % step as i128).min(high)).collect();
        for (run, xs) in all.chunks(bench.params.slots()).enumerate() {
            let x = bench.encrypt(xs, kind);
            if run == 0 {
                x.values().for_each(|v| bench.session.refresh_in_place(v).unwrap());
            }
            let found = blocks.lookup(&x, &entries).unwrap();
            let expected: Vec<i128> = xs.iter().map(|x| f(*x)).collect();
            assert_eq!(bench.decrypt(&found), expected, "{kind}");
        }
    }
}

/// Where the second digit is public there is one block, and where the lowest one is, what is held
/// are truth values and no products of them.
#[test]
fn tables_of_columns_with_public_digits() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let (usual, blocks) = (bench.integers(), bench.integers().in_blocks(true));
    let xs = values(Type::U16, bench.params.slots() - 5, 8);
    let x = bench.encrypt(&xs, Type::U16);
    for mask in [0x0f0f, 0x0ff0, 0x01f3, 0xf0f0] {
        let masked = usual.bit_and(&x, mask).unwrap();
        let entries = table(masked.interval().low(), masked.interval().high());
        let found = blocks.lookup(&masked, &entries).unwrap();
        let expected: Vec<i128> = xs.iter().map(|x| f(x & mask)).collect();
        assert_eq!(bench.decrypt(&found), expected, "{mask:#x}");
    }
}

/// The memory, the cost and the depth of some tables of one digit each.
fn cost_of_tables(high: i128, count: i128, in_blocks: bool) -> (u64, Counted, u32) {
    let params = Params::named("bgv-65537-n15", OptIn::SecureOnly).unwrap();
    let rehearsal = Rehearsal::new(&params, false).unwrap().with_blocks(in_blocks);
    let ints = rehearsal.integers().unwrap();
    let kind = Type::ranged(0, high).unwrap();
    let x = rehearsal.column(kind, 40, |s, zero| s.encrypt(zero)).unwrap();
    let tables: Vec<Vec<i128>> =
        (1..=count).map(|k| (0..=high).map(|v| (v * v * k + v) % 11).collect()).collect();
    let tables: Vec<&[i128]> = tables.iter().map(Vec::as_slice).collect();
    let work = || ints.lookup_all(&x, &tables);
    let (found, counted) = rehearsal.counted(|| rehearsal.alone(work)).unwrap();
    let depth = found.iter().flat_map(|y| y.values()).map(|v| v.get().meta().depth).max();
    (rehearsal.working_bytes(), counted, depth.unwrap())
}

/// Three further blocks take what follows the products of truth values three times more, and each
/// of these products once.
#[test]
fn tables_in_blocks_hold_fewer_products() {
    for (high, count, products, switches) in
        [(4095, 1, 16, 1), (4095, 3, 16, 1), (65_535, 1, 272, 17), (65_535, 3, 272, 17)]
    {
        let (usual, blocks) =
            (cost_of_tables(high, count, false), cost_of_tables(high, count, true));
        let (most, least) = (usual.0, blocks.0);
        assert!(4 * least < 3 * most, "{high}, {count}: {least} of {most}");
        let more = |of: fn(&Counted) -> u64| of(&blocks.1) - of(&usual.1);
        assert_eq!(more(|x| x.products), 3 * products * count as u64, "{high}, {count}");
        assert_eq!(more(|x| x.key_switches), 3 * switches * count as u64, "{high}, {count}");
        assert_eq!((blocks.1.refreshes, usual.1.refreshes), (0, 0));
        assert_eq!(blocks.2, usual.2);
    }
}
