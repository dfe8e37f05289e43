//! Products in blocks: the same values for less memory.

use everlevel_integers::{Counted, Rehearsal, Type};
use everlevel_scheme::{OptIn, Params};

use crate::common::Bench;

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
