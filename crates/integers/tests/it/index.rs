//! Columns whose digits are encrypted in unary, too.

use std::collections::BTreeMap;

use everlevel_circuit::expression::Program;
use everlevel_integers::{
    Column, Encoded, Encrypted as Whole, IntegersError, Interval, Rehearsal, Step, Type,
    index_level,
};
use everlevel_scheme::Plaintext;
use everlevel_scheme::noop::NoOpCiphertext;

use crate::common::Bench;

const SET: &str = "insecure_bgv-65537-n11";

type Encrypted = Column<NoOpCiphertext>;
type Parts = Vec<(Step, Encrypted)>;

fn encrypt(bench: &Bench, values: &[i128], kind: Type) -> Encrypted {
    bench.encrypt_with_index(values, kind, Some(index_level(&bench.params, kind).unwrap()))
}

/// All values of a type, and the type, in as many bits.
fn all(bits: u32) -> (Vec<i128>, Type) {
    let values: Vec<i128> = (0..1 << bits).collect();
    (values, Type::ranged(0, (1 << bits) - 1).unwrap())
}

fn depth(x: &Encrypted) -> u32 {
    x.values().map(|v| v.get().meta().depth).max().unwrap_or(0)
}

/// Tables of 4 to 9 bits, of signed integers and of ranges, with results of one digit to three.
#[test]
fn tables_of_all_values() {
    let bench = Bench::leveled(SET);
    let ints = bench.integers();
    let mut cases: Vec<_> = (4..=9).map(all).collect();
    cases.push(((-128..128).collect(), Type::I8));
    cases.push(((-3..=100).collect(), Type::ranged(-3, 100).unwrap()));
    cases.push(((7..=11).collect(), Type::ranged(7, 11).unwrap()));
    for (values, kind) in cases {
        let x = encrypt(&bench, &values, kind);
        assert!(x.has_index());
        let functions: [fn(i128) -> i128; 5] = [
            |v| (v * v / 7) % 4096 - 70,
            |v| i128::from(v % 3 == 1),
            |v| v / 10,
            |_| 5,
            |v| v * v % 16,
        ];
        let tables: Vec<Vec<i128>> =
            functions.iter().map(|f| values.iter().map(|v| f(*v)).collect()).collect();
        let tables: Vec<&[i128]> = tables.iter().map(Vec::as_slice).collect();
        let found = ints.lookup_all(&x, &tables).unwrap();
        for (y, table) in found.iter().zip(&tables) {
            assert!(!y.has_index());
            assert_eq!(bench.decrypt(y), **table, "{kind}");
            assert_eq!(y.interval().low(), *table.iter().min().unwrap());
        }
    }
}

/// As many products and levels as documented, where digits alone take 5 levels.
#[test]
fn tables_take_few_products() {
    let bench = Bench::new("bgv-65537-n15");
    let ints = bench.integers();
    let cost = |bits: u32, f: fn(i128) -> i128| {
        let (values, kind) = all(bits);
        let x = encrypt(&bench, &[values[0], values[values.len() - 1]], kind);
        let table: Vec<i128> = values.iter().map(|v| f(*v)).collect();
        let before = bench.scheme.cost();
        let y = ints.lookup(&x, &table).unwrap();
        let taken = bench.scheme.cost() - before;
        assert_eq!(bench.decrypt(&y), [table[0], table[table.len() - 1]]);
        (taken.products, taken.key_switches, depth(&y))
    };
    assert_eq!(cost(4, |v| v * v / 3), (0, 0, 0));
    assert_eq!(cost(5, |v| v * v % 16), (0, 0, 0));
    assert_eq!(cost(8, |v| (v * v / 7) % 256), (30, 2, 1));
    // Only where the rows of upper digits differ.
    let brackets: fn(i128) -> i128 =
        |v| [51, 102, 153, 204].iter().filter(|l| v >= **l).count() as i128;
    assert_eq!(cost(8, brackets), (8, 1, 1));
    let (products, switches, depth) = cost(12, |v| (v * v / 7) % 16);
    assert!(products <= 15 * 17 && switches <= 17 && depth == 2, "{products}, {switches}");
}

/// Every value of 8 bits, compared with every constant.
#[test]
fn comparisons_with_all_constants() {
    let bench = Bench::leveled(SET);
    let ints = bench.integers();
    for (values, kind) in [all(8), ((-128..128).collect(), Type::I8)] {
        let x = encrypt(&bench, &values, kind);
        let bits = |f: &dyn Fn(i128) -> bool| -> Vec<i128> {
            values.iter().map(|v| f(*v).into()).collect()
        };
        let same = |y: &Encrypted, f: &dyn Fn(i128) -> bool| match y.public_value() {
            Some(value) => assert!(bits(f).iter().all(|bit| *bit == value)),
            None => {
                assert!(depth(y) <= 1 && !y.has_index());
                assert_eq!(bench.decrypt(y), bits(f));
            }
        };
        for c in values[0] - 1..=values[255] + 1 {
            same(&ints.lt(&x, c).unwrap(), &|v| v < c);
            same(&ints.ge(c, &x).unwrap(), &|v| c >= v);
            same(&ints.eq(&x, c).unwrap(), &|v| v == c);
        }
        for (a, b) in [(-9, 3), (16, 31), (17, 60), (100, 400), (-400, 400), (5, 4)] {
            same(&ints.in_ranges(&x, &[(a, b), (70, 70)]).unwrap(), &|v| {
                (a..=b).contains(&v) || v == 70
            });
        }
        let list = [3, 5, 16, 17, 33, 100, 127, 999];
        same(&ints.isin(&x, &list).unwrap(), &|v| list.contains(&v));
        let found = ints.searchsorted(&list, &x, true).unwrap();
        let places = |v: &i128| list.iter().filter(|l| *l <= v).count() as i128;
        assert_eq!(bench.decrypt(&found), values.iter().map(places).collect::<Vec<_>>());
        assert!(depth(&found) <= 1);
    }
}

/// A list whose diagram would have 254 nodes in a layer, in 17 sums of 272 products, is decided in
/// parts that have half as many at most, so that memory does not grow with the list.
#[test]
fn long_lists_are_decided_in_parts() {
    let bench = Bench::new("bgv-65537-n15");
    let ints = bench.integers();
    let (values, kind) = all(12);
    let x = encrypt(&bench, &values, kind);
    let listed = |v: &i128| v.pow(3) % 4093 % 2 == 1;
    let list: Vec<i128> = values.iter().copied().filter(listed).collect();
    let before = bench.scheme.cost();
    let y = ints.isin(&x, &list).unwrap();
    let taken = bench.scheme.cost() - before;
    let expected: Vec<i128> = values.iter().map(|v| listed(v).into()).collect();
    assert_eq!(bench.decrypt(&y), expected);
    let (products, switches) = (taken.products, taken.key_switches);
    assert!(products <= 280 && (18..=24).contains(&switches), "{products}, {switches}");
    assert_eq!(depth(&y), 2);
}

/// Four digits: a level for each but one, and half of them for an equality.
#[test]
fn comparisons_take_few_products() {
    let bench = Bench::new("bgv-65537-n15");
    let ints = bench.integers();
    let values = [0, 999, 1000, 1001, 65_535];
    let x = encrypt(&bench, &values, Type::U16);
    let cost = |run: &dyn Fn() -> Result<Encrypted, IntegersError>, expected: &[i128]| {
        let before = bench.scheme.cost();
        let y = run().unwrap();
        let taken = bench.scheme.cost() - before;
        assert_eq!(bench.decrypt(&y), expected);
        (taken.products, taken.key_switches, depth(&y))
    };
    let bit = |f: fn(i128) -> bool| values.map(|v| i128::from(f(v)));
    assert_eq!(cost(&|| ints.ge(&x, 1000), &bit(|v| v >= 1000)), (3, 3, 3));
    assert_eq!(cost(&|| ints.lt(&x, 4096), &bit(|v| v < 4096)), (0, 0, 0));
    assert_eq!(cost(&|| ints.eq(&x, 1000), &bit(|v| v == 1000)), (3, 3, 2));
    assert_eq!(cost(&|| ints.ne(1000, &x), &bit(|v| v != 1000)), (3, 3, 2));
    assert_eq!(bench.session.bootstraps(), 0);
}

/// Arithmetic reads the digits, and its results have no index.
#[test]
fn other_operations_are_those_of_the_digits() {
    let bench = Bench::leveled("bgv-65537-n15");
    let ints = bench.integers();
    let values = [3, 200, 255];
    let (x, y) = (encrypt(&bench, &values, Type::U8), bench.encrypt(&values, Type::U8));
    let cost = |x: &Encrypted| {
        let before = bench.scheme.cost();
        let sum = ints.normalized(&ints.add(x, 9).unwrap()).unwrap();
        assert_eq!(bench.decrypt(&sum), [12, 209, 264]);
        assert!(!sum.has_index());
        let product = ints.mul(x, &y).unwrap();
        assert_eq!(bench.decrypt(&product), [9, 40_000, 65_025]);
        let less = ints.lt(&y, x).unwrap();
        assert_eq!(bench.decrypt(&less), [0, 0, 0]);
        (bench.scheme.cost() - before).products
    };
    let plain = x.clone().without_index();
    assert!(!plain.has_index() && plain.index_values().next().is_none());
    assert_eq!(cost(&x), cost(&plain));
    assert!(depth(&ints.ge(&x, 18).unwrap()) < depth(&ints.ge(&plain, 18).unwrap()));
}

/// An index that has no room is not read: the digits decide.
#[test]
fn an_exhausted_index_is_not_read() {
    let bench = Bench::leveled(SET);
    let ints = bench.integers();
    let (values, kind) = all(8);
    let encoded = Encoded::new(&values, kind, bench.params.slots()).unwrap();
    let top = bench.params.chain().top();
    let x = encoded.encrypt_indexed(top, |slots, level| {
        let plain = Plaintext::encode(&bench.params, slots)?;
        Ok::<_, IntegersError>(match level {
            Some(level) => bench.scheme.encrypt_exhausted(&plain, level, 20.0)?,
            None => bench.scheme.encrypt(&plain)?,
        })
    });
    let x = x.unwrap();
    let table: Vec<i128> = values.iter().map(|v| v * v / 7).collect();
    let found = ints.lookup(&x, &table).unwrap();
    assert_eq!(bench.decrypt(&found), table);
    assert!(depth(&found) > 1);
    let found = ints.ge(&x, 18).unwrap();
    let expected: Vec<i128> = values.iter().map(|v| i128::from(*v >= 18)).collect();
    assert_eq!(bench.decrypt(&found), expected);
    assert!(depth(&found) > 1);
}

/// What takes no product takes time all the same, and estimates state it.
#[test]
fn combinations_take_time() {
    let bench = Bench::leveled(SET);
    let rehearsal = Rehearsal::new(&bench.params, false).unwrap();
    let top = bench.params.chain().top();
    let ((values, kind), length) = (all(4), 16);
    let level = index_level(&bench.params, kind).unwrap();
    let x = rehearsal.column_with_index(kind, length, Some(level), |s, zero, own| {
        s.encrypt_at(zero, own.unwrap_or(top))
    });
    let table: Vec<i128> = values.iter().map(|v| v * v / 3).collect();
    rehearsal.integers().unwrap().lookup(&x.unwrap(), &table).unwrap();
    let (spent, chosen) = (rehearsal.spent(), rehearsal.so_far());
    assert_eq!((spent.products, spent.key_switches), (0, 0));
    assert!(spent.seconds > chosen.seconds, "{spent:?} {chosen:?}");
}

/// What a program reads of a column: its index, or its digits if it says so.
#[test]
fn programs_read_an_index_or_leave_it() {
    let bench = Bench::leveled(SET);
    let ints = bench.integers();
    let values = [3, 17, 18, 255];
    let inputs = BTreeMap::from([("x".to_string(), encrypt(&bench, &values, Type::U8))]);
    let decided = |text: &str| {
        let program = Program::parse(text).unwrap();
        let mut found = ints.run(&program, &inputs, &BTreeMap::new(), &mut |_| ()).unwrap();
        let Some(Whole::Column(y)) = found.remove("y") else { panic!("a column") };
        assert_eq!(bench.decrypt(&y), [0, 0, 1, 1], "{text}");
        depth(&y)
    };
    assert_eq!(decided("y = x >= 18"), 1);
    let digits = depth(&ints.ge(&inputs["x"].clone().without_index(), 18).unwrap());
    assert_eq!(decided("y = without_index(x) >= 18"), digits);
    assert_eq!(decided("_z = without_index(x); y = _z >= without_index(18)"), digits);
    assert!(digits > 1);
}

#[test]
fn an_index_is_taken_apart_and_put_together() {
    let bench = Bench::leveled(SET);
    let ints = bench.integers();
    let (values, kind) = ([5, 18, 99], Type::ranged(0, 120).unwrap());
    let x = encrypt(&bench, &values, kind);
    let parts = || x.index().unwrap();
    assert_eq!(parts().len(), 15 + 7);
    assert_eq!(x.index_values().count(), 15 + 7);
    let plain = || x.clone().without_index();
    assert!(plain().index().is_none());
    let again = plain().with_index(parts()).unwrap();
    let found = ints.ge(&again, 18).unwrap();
    assert_eq!((bench.decrypt(&found), depth(&found)), (vec![0, 1, 1], 1));
    let refused = |change: &dyn Fn(&mut Parts)| {
        let mut changed = parts();
        change(&mut changed);
        let error = plain().with_index(changed).map(|_| ()).unwrap_err();
        assert_eq!(error.code(), "integers.parts");
    };
    refused(&|bits| drop(bits.pop()));
    refused(&|bits| drop(bits.remove(3)));
    refused(&|bits| bits.swap(0, 1));
    refused(&|bits| bits.push(parts().remove(0)));
    refused(&|bits| bits[2].0 = (0, 9));
    refused(&|bits| bits[2].1 = bench.encrypt(&values, kind));
    refused(&|bits| bits[2].1 = bench.encrypt(&[0, 1], Type::Bool));
    refused(&|bits| bits[2].1 = ints.not(&bits[2].1).unwrap());
    refused(&|bits| bits.clear());
    assert!(ints.lt(3, 4).unwrap().with_index(Vec::new()).is_err());
    // Truth values need no index, and more than eight digits would take too many levels.
    for kind in [Type::Bool, Type::U64, Type::ranged(3, 3).unwrap()] {
        let error = index_level(&bench.params, kind).unwrap_err();
        assert_eq!(error.code(), "integers.type", "{kind}");
    }
}

/// A ciphertext whose window allows a single integer, as no encryption has one, but files may.
#[test]
fn a_single_integer_has_no_index() {
    let bench = Bench::leveled(SET);
    let (slots, modulus) = (bench.params.slots(), bench.modulus());
    let truth = Whole::from(bench.encrypt(&[1, 1], Type::Bool));
    let mut parts = truth.to_parts(slots, modulus).unwrap();
    parts.interval = Interval::new(1, 1).unwrap();
    (parts.digits[0].low, parts.digits[0].pad) = (1, 1);
    let found = Whole::from_parts(parts, slots, modulus).unwrap();
    let Whole::Column(x) = found else { panic!("a column") };
    assert_eq!((x.ciphertexts(), x.steps()), (1, Vec::new()));
    assert!(!x.has_index() && x.index().is_none());
}
