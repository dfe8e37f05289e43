//! Columns that are padded, extended, stacked and read by a shape, on the no-op scheme.

use everlevel_integers::{ChosenShape, Encrypted, Order, Type};

use crate::common::Bench;

const SET: &str = "insecure_bgv-65537-n11";

#[test]
fn entries_are_added_behind_a_column() {
    let bench = Bench::new(SET);
    let ints = bench.integers();
    for (kind, xs, values) in [
        (Type::U8, vec![3i128, 0, 255, 17], vec![0i128, 255, 9, 256, -1]),
        (Type::I16, vec![-32_768, 32_767, 5], vec![-32_768, 0, 40_000, -40_000]),
        (Type::ranged(1000, 1005).unwrap(), vec![1000, 1005], vec![1000, 1001, 999, 70_000]),
        (Type::ranged(7, 7).unwrap(), vec![7, 7], vec![7, 8]),
        (Type::Bool, vec![1, 0, 1], vec![0, 1]),
    ] {
        let x = bench.encrypt(&xs, kind);
        for value in values {
            for n in [xs.len(), xs.len() + 3, 2048] {
                let found = ints.extended(&x, n, value).unwrap();
                let mut expected = xs.clone();
                expected.resize(n, value);
                assert_eq!(bench.decrypt(&found), expected, "{kind} {value} {n}");
            }
            // What is computed of it knows what is behind it.
            let sum = ints.add(&ints.padded(&x, value).unwrap(), 3).unwrap();
            let sum = ints.extended(&sum, xs.len() + 1, value + 3).unwrap();
            let expected: Vec<i128> = xs.iter().chain([&value]).map(|x| x + 3).collect();
            assert_eq!(bench.decrypt(&sum), expected, "{kind} {value}");
        }
    }
    let x = bench.encrypt(&[1, 2, 3], Type::U8);
    for n in [0, 2, 2049] {
        let code = ints.extended(&x, n, 0).map(|_| ()).unwrap_err().code();
        assert_eq!(code, "integers.length");
    }
}

#[test]
fn first_entries_are_stacked_and_read() {
    let bench = Bench::new(SET);
    let ints = bench.integers();
    for (kind, rows) in [
        (Type::U8, vec![vec![3i128, 9], vec![255, 0], vec![0, 1]]),
        (Type::I32, vec![vec![-2_147_483_648, 0], vec![2_147_483_647, 5]]),
        (Type::ranged(-3, 500).unwrap(), (0..9).map(|i| vec![i * 60 - 3, 1]).collect()),
        (Type::ranged(0, 1 << 40).unwrap(), vec![vec![1 << 40]]),
    ] {
        let columns: Vec<_> = rows.iter().map(|xs| bench.encrypt(xs, kind)).collect();
        let found = ints.stacked(&columns).unwrap();
        let expected: Vec<i128> = rows.iter().map(|xs| xs[0]).collect();
        assert_eq!(bench.decrypt(&found), expected, "{kind}");
        // Of a wider type, too, and after arithmetic.
        let least = Type::ranged(kind.interval().low() - 1, kind.interval().high() + 1).unwrap();
        for (kind, by) in [(kind, 0), (least, 1)] {
            let shape = ChosenShape::of(kind, bench.modulus());
            let x = ints.add(&found, by).unwrap();
            let pieces = ints.entries(&x, &shape).unwrap();
            assert_eq!(pieces.len(), shape.ciphertexts());
            let open = |x| bench.scheme.decrypt(x).unwrap().decode(&bench.params).unwrap();
            let slots: Vec<Vec<u64>> = pieces.iter().map(open).collect();
            for (i, x) in expected.iter().enumerate() {
                let here: Vec<u64> = slots.iter().map(|s| s[i]).collect();
                assert_eq!(shape.entry(&here).unwrap(), x + by, "{kind} {i}");
            }
        }
        let narrow = ChosenShape::of(Type::Bool, bench.modulus());
        assert_eq!(ints.entries(&found, &narrow).unwrap_err().code(), "integers.parts");
    }
    assert_eq!(ints.stacked(&[]).map(|_| ()).unwrap_err().code(), "integers.length");
    // Behind it is a value of its bounds, of which functions are computed, too.
    for (low, high) in [(5i128, 9i128), (-1, 0), (40, 300)] {
        let kind = Type::ranged(low, high).unwrap();
        let columns = [high, low, low].map(|v| bench.encrypt(&[v], kind));
        let found = ints.stacked(&columns).unwrap();
        let table: Vec<i128> = (low..=high).map(|v| v * v).collect();
        let squares = ints.lookup(&found, &table).unwrap();
        assert_eq!(bench.decrypt(&squares), [high * high, low * low, low * low], "{low}..{high}");
        let parts = Encrypted::from(found).to_parts(2048, bench.modulus());
        assert_eq!(parts.map(|parts| parts.interval), Ok(kind.interval()), "{low}..{high}");
    }
    // What has one possible value is a ciphertext among others, and alone as well.
    let one = bench.encrypt(&[7, 7], Type::ranged(7, 7).unwrap());
    let both = ints.stacked(&[one.clone(), bench.encrypt(&[9], Type::U8)]).unwrap();
    assert_eq!(bench.decrypt(&both), [7, 9]);
    let sevens = ints.stacked(&[one.clone(), one]).unwrap();
    assert_eq!(bench.decrypt(&sevens), [7, 7]);
    // Once carries are computed it is an integer, with the digits that operations look at.
    let negative = ints.neg(&sevens).unwrap();
    let masks = bench.encrypt(&[12, 5], Type::U8);
    assert_eq!(bench.decrypt(&ints.bit_and(&negative, &masks).unwrap()), [8, 1]);
    assert_eq!(bench.decrypt(&ints.stacked(&[negative]).unwrap()), [-7]);
}

/// A ciphertext that is bootstrapped in place is another one than that of a copy.
#[test]
fn copies_stay_as_they_are() {
    let bench = Bench::new(SET);
    let ints = bench.integers();
    let x = bench.encrypt_modulo(&[5, 4, 200], Type::U8, 2);
    let kept = x.detached();
    for value in x.values() {
        bench.session.reduce_in_place(value).unwrap();
        bench.session.refresh_in_place(value).unwrap();
    }
    use everlevel_scheme::Scheme;
    let exponents = |x: &everlevel_integers::Column<_>| {
        x.values().map(|v| bench.scheme.plain_exponent(&v.get())).collect::<Vec<_>>()
    };
    assert_eq!((exponents(&x), exponents(&kept)), (vec![1, 1], vec![2, 2]));
    assert_eq!(bench.decrypt(&ints.nth(&x, Order::Ascending, 0).unwrap()), [4]);
}
