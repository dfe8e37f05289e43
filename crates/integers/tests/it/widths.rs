//! Shifts by every public number of bits, and casts between all types.

use everlevel_integers::Type;

use crate::common::Bench;
use crate::wide::values;

/// The types with a number of bits.
const TYPES: [Type; 8] =
    [Type::U8, Type::I8, Type::U16, Type::I16, Type::U32, Type::I32, Type::U64, Type::I64];
/// Entries of each column.
const COUNT: usize = 100;

#[test]
fn shifts_by_all_numbers_of_bits() {
    let bench = Bench::leveled("insecure_bgv-65537-n11");
    let ints = bench.integers();
    for kind in TYPES {
        let xs = values(kind, COUNT, 5);
        let x = bench.encrypt(&xs, kind);
        // Of 64 bits to the left by fewer, as results have 124 at most where carries follow.
        let most = kind.interval().points().trailing_zeros();
        for bits in 0..=most {
            let found = bench.decrypt(&ints.shift_right(&x, bits).unwrap());
            // Nothing may be left but a public integer.
            let found = if found.len() == 1 { vec![found[0]; COUNT] } else { found };
            assert_eq!(found, xs.iter().map(|x| x >> bits).collect::<Vec<_>>(), "{kind} >> {bits}");
        }
        for bits in 0..=most.min(40) {
            let found = bench.decrypt(&ints.shift_left(&x, bits).unwrap());
            assert_eq!(found, xs.iter().map(|x| x << bits).collect::<Vec<_>>(), "{kind} << {bits}");
        }
    }
}

#[test]
fn casts_between_all_types() {
    let bench = Bench::leveled("insecure_bgv-65537-n11");
    let ints = bench.integers();
    for from in TYPES.into_iter().chain([Type::Bool]) {
        let xs = values(from, COUNT, 6);
        let x = bench.encrypt(&xs, from);
        for to in TYPES {
            let interval = to.interval();
            match ints.cast(&x, to) {
                Ok(found) => {
                    assert!(interval.holds(from.interval()), "{from} to {to}");
                    assert_eq!(bench.decrypt(&found), xs, "{from} to {to}");
                }
                Err(error) => {
                    assert!(!interval.holds(from.interval()), "{from} to {to}");
                    assert_eq!(error.code(), "integers.type");
                }
            }
            let wrap = |x: &i128| {
                (x - interval.low()).rem_euclid(interval.points() as i128) + interval.low()
            };
            let found = ints.wrapped(&x, to).unwrap();
            assert!(interval.holds(found.interval()), "{from} to {to}");
            let expected: Vec<i128> = xs.iter().map(wrap).collect();
            assert_eq!(bench.decrypt(&found), expected, "{from} to {to}, wrapped");
        }
    }
}
