//! Integers that the server knows, compared with encrypted constants.

use everlevel_integers::{EncryptedConstant, IntegersError, Relation, Type};
use everlevel_scheme::noop::NoOpCiphertext;

use crate::common::Bench;

type Holds = fn(i128, i128) -> bool;

const RELATIONS: [(Relation, Holds); 5] = [
    (Relation::Equal, |a, x| a == x),
    (Relation::Less, |a, x| a < x),
    (Relation::LessOrEqual, |a, x| a <= x),
    (Relation::Greater, |a, x| a > x),
    (Relation::GreaterOrEqual, |a, x| a >= x),
];

/// All relations of all integers about an interval with constants in it, of one digit to sixteen,
/// with digits that have one value, and integers outside of the interval. Each place of a constant
/// in its interval meets each sign of what is behind, in another interval.
#[test]
fn related_as_in_the_clear() {
    related(|interval, place| vec![(interval + place) as i64 % 3 - 1]);
}

#[test]
#[ignore = "some seconds: every sign of what is behind, with every constant"]
fn many_related_as_in_the_clear_in_full() {
    related(|_, _| vec![-1, 0, 1]);
}

/// `behind` gives the signs of what is behind for a constant, by the interval and its place there.
fn related(behind: impl Fn(usize, usize) -> Vec<i64>) {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let slots = bench.params.slots();
    let intervals = [
        (0, 1),
        (0, 15),
        (3, 9),
        (5, 5),
        (0, 16),
        (-7, 4),
        (-300, 299),
        (0x1230, 0x123f),
        (0x1200, 0x1fff),
        (0, (1 << 31) - 1),
        (-(1 << 40), 1 << 40),
        (i128::from(i64::MIN), i128::from(i64::MAX)),
    ];
    for (number, (low, high)) in intervals.into_iter().enumerate() {
        let kind = Type::ranged(low, high).unwrap();
        let near = |v: i128| [v - 17, v - 16, v - 1, v, v + 1, v + 15, v + 16];
        let middle = low + (high - low) / 3;
        let known: Vec<i128> = [low, middle, high].into_iter().flat_map(near).collect();
        for (place, x) in [low, middle, high].into_iter().enumerate() {
            // What is made of a constant is kept: for relations, and for what is behind.
            let column = bench.encrypt(&vec![x; slots], kind);
            let constant = EncryptedConstant::new(column);
            assert_eq!(constant.interval(), kind.interval());
            let signs = behind(number, place).into_iter();
            for (behind, (relation, holds)) in
                signs.flat_map(|behind| RELATIONS.map(|one| (behind, one)))
            {
                let found = ints.related(&known, relation, &constant, behind).unwrap();
                let expected: Vec<i128> = known.iter().map(|a| i128::from(holds(*a, x))).collect();
                let shown = format!("{relation:?} {x} in {low}..{high}");
                assert_eq!(bench.decrypt(&found), expected, "{shown}");
                // What is behind the column is what sums take it for.
                let sum = ints.sum(&found).unwrap();
                let open = |c: &NoOpCiphertext| {
                    Ok::<_, IntegersError>(bench.scheme.decrypt(c)?.decode(&bench.params)?)
                };
                let total = sum.decrypt(bench.modulus(), open).unwrap();
                assert_eq!(total, expected.iter().sum::<i128>(), "{shown}, {behind} behind");
            }
        }
    }
}

#[test]
fn as_many_as_slots_and_no_more() {
    let bench = Bench::new("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let slots = bench.params.slots();
    let constant = EncryptedConstant::new(bench.encrypt(&vec![77; slots], Type::U8));
    let known: Vec<i128> = (0..slots as i128).map(|i| i % 256).collect();
    let found = ints.related(&known, Relation::Equal, &constant, 1).unwrap();
    assert_eq!(bench.decrypt(&found).iter().sum::<i128>(), (slots / 256) as i128);
    for count in [0, slots + 1] {
        let found = ints.related(&vec![0; count], Relation::Equal, &constant, 0);
        assert_eq!(found.err().map(|e| e.code()), Some("integers.length"));
    }
    // A constant in fewer slots, and a sum, whose digits are not those of an integer.
    let short = EncryptedConstant::new(bench.encrypt(&[77; 3], Type::U8));
    let found = ints.related(&[77, 5, 77], Relation::Equal, &short, 1).unwrap();
    assert_eq!(bench.decrypt(&found), [1, 0, 1]);
    let found = ints.related(&[77; 4], Relation::Equal, &short, 1);
    assert_eq!(found.err().map(|e| e.code()), Some("integers.length"));
    let half = bench.encrypt(&vec![77; slots], Type::U8);
    let sum = ints.add(&half, &half).unwrap();
    let wide = EncryptedConstant::new(sum.clone());
    let found = ints.related(&[154], Relation::Equal, &wide, 1);
    assert_eq!(found.err().map(|e| e.code()), Some("integers.type"));
    let normal = EncryptedConstant::new(ints.normalized(&sum).unwrap());
    let found = ints.related(&[154, 26], Relation::Equal, &normal, 1).unwrap();
    assert_eq!(bench.decrypt(&found), [1, 0]);
}
