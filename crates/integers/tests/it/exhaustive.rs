//! All pairs of bytes, every operation; all values of 16 bits, functions of one column. In many
//! short columns, whose slots stay in the processor's caches.

use everlevel_integers::Type;

use crate::common::Bench;

#[test]
fn all_pairs_of_bytes() {
    let bench = Bench::leveled("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let slots = bench.params.slots();
    for (kind, low) in [(Type::U8, 0i128), (Type::I8, -128)] {
        for part in 0..65536 / slots {
            let pair = |i: usize| {
                let n = (part * slots + i) as i128;
                (low + n / 256, low + n % 256)
            };
            let xs: Vec<i128> = (0..slots).map(|i| pair(i).0).collect();
            let ys: Vec<i128> = (0..slots).map(|i| pair(i).1).collect();
            let (a, b) = (bench.encrypt(&xs, kind), bench.encrypt(&ys, kind));
            let check = |name: &str, found, f: &dyn Fn(i128, i128) -> i128| {
                let found = bench.decrypt(&found);
                let found = if found.len() == 1 { vec![found[0]; slots] } else { found };
                for (i, v) in found.iter().enumerate() {
                    assert_eq!(*v, f(xs[i], ys[i]), "{name}({}, {})", xs[i], ys[i]);
                }
            };
            check("add", ints.add(&a, &b).unwrap(), &|x, y| x + y);
            check("normalized", ints.normalized(&ints.add(&a, &b).unwrap()).unwrap(), &|x, y| {
                x + y
            });
            check("sub", ints.sub(&a, &b).unwrap(), &|x, y| x - y);
            check("lt", ints.lt(&a, &b).unwrap(), &|x, y| i128::from(x < y));
            check("le", ints.le(&a, &b).unwrap(), &|x, y| i128::from(x <= y));
            check("gt", ints.gt(&a, &b).unwrap(), &|x, y| i128::from(x > y));
            check("ge", ints.ge(&a, &b).unwrap(), &|x, y| i128::from(x >= y));
            check("eq", ints.eq(&a, &b).unwrap(), &|x, y| i128::from(x == y));
            check("ne", ints.ne(&a, &b).unwrap(), &|x, y| i128::from(x != y));
            check("min", ints.min(&a, &b).unwrap(), &|x, y| x.min(y));
            check("max", ints.max(&a, &b).unwrap(), &|x, y| x.max(y));
            check("and", ints.bit_and(&a, &b).unwrap(), &|x, y| x & y);
            check("or", ints.bit_or(&a, &b).unwrap(), &|x, y| x | y);
            check("xor", ints.bit_xor(&a, &b).unwrap(), &|x, y| x ^ y);
            check("mask", ints.bit_and(&a, 0x5a).unwrap(), &|x, _| x & 0x5a);
            let sum = ints.add(&a, &b).unwrap();
            check("wrapped", ints.wrapped(&sum, Type::U8).unwrap(), &|x, y| (x + y) as u8 as i128);
            check("signed", ints.wrapped(&sum, Type::I8).unwrap(), &|x, y| (x + y) as i8 as i128);
            for bits in [0, 1, 3, 4, 6, 7, 8, 9, 200] {
                let found = ints.shift_right(&sum, bits).unwrap();
                check("shifted", found, &|x, y| (x + y) >> bits.min(127));
            }
            let difference = ints.normalized(&ints.sub(&a, &b).unwrap()).unwrap();
            check("difference", difference, &|x, y| x - y);
        }
    }
}

#[test]
fn all_values_of_16_bits() {
    let bench = Bench::leveled("insecure_bgv-65537-n11");
    let ints = bench.integers();
    let slots = bench.params.slots() as i128;
    for (kind, low) in [(Type::U16, 0i128), (Type::I16, -32_768)] {
        for part in 0..65_536 / slots {
            let first = low + part * slots;
            let xs: Vec<i128> = (first..first + slots).collect();
            let x = bench.encrypt(&xs, kind);
            let check = |name: &str, found, f: &dyn Fn(i128) -> i128| {
                let found = bench.decrypt(&found);
                let found = if found.len() == 1 { vec![found[0]; xs.len()] } else { found };
                for (x, v) in xs.iter().zip(found) {
                    assert_eq!(v, f(*x), "{name}({x})");
                }
            };
            check("neg", ints.normalized(&ints.neg(&x).unwrap()).unwrap(), &|x| -x);
            check("sign", ints.sign(&x).unwrap(), &|x| x.signum());
            check("min", ints.min(&x, 40_000).unwrap(), &|x| x.min(40_000));
            check("max", ints.max(&x, -20_000).unwrap(), &|x| x.max(-20_000));
            check("bits", ints.bit_xor(&x, 0x5a5a).unwrap(), &|x| x ^ 0x5a5a);
            check("wrapped", ints.wrapped(&x, Type::I8).unwrap(), &|x| x as i8 as i128);
            for c in [-1, 0, 1, 4_095, 4_096, 32_767] {
                check("lt", ints.lt(&x, c).unwrap(), &|x| i128::from(x < c));
                let pairs = [0, c, 0x1234];
                check("isin", ints.isin(&x, &pairs).unwrap(), &|x| pairs.contains(&x).into());
            }
            for bits in [1, 4, 6, 15] {
                check("shifted", ints.shift_right(&x, bits).unwrap(), &|x| x >> bits);
            }
            match kind {
                Type::U16 => {
                    check("popcount", ints.popcount(&x).unwrap(), &|x| x.count_ones().into())
                }
                _ => check("abs", ints.abs(&x).unwrap(), &|x| x.abs()),
            }
        }
    }
}
