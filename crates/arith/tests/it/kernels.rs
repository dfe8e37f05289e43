//! Every kernel on every backend against wide integer arithmetic.

use everlevel_arith::kernels::{self, Kernels};
use everlevel_arith::{Backend, Modulus, pack, packed_words};

pub struct Words(u64);

impl Words {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Words below the bound, one in four of them at an edge.
    pub fn below(&mut self, bound: u64, length: usize) -> Vec<u64> {
        (0..length)
            .map(|_| match self.next() % 16 {
                0 => 0,
                1 => 1 % bound,
                2 => bound - 1,
                3 => bound / 2,
                _ => (self.next() >> 3) % bound,
            })
            .collect()
    }
}

pub fn moduli() -> Vec<Modulus> {
    let largest = (1u64 << 50) - 1;
    if cfg!(miri) {
        return [3, 65537, largest].map(|q| Modulus::new(q).unwrap()).to_vec();
    }
    [
        3,
        5,
        97,
        65537,
        65537 * 65537,
        786_433,
        (1 << 30) - 35,
        (1 << 49) + 1,
        0x3_0000_0000_0001,
        largest - 26,
        largest,
    ]
    .map(|q| Modulus::new(q).unwrap())
    .to_vec()
}

/// Whole vectors and every tail; under Miri a few.
fn lengths() -> impl Iterator<Item = usize> {
    let (all, long) = if cfg!(miri) { (1..=9, 19) } else { (1..=70, 4096) };
    all.chain([long])
}

/// Runs a check for every backend, modulus and length.
pub fn everywhere(mut check: impl FnMut(&Kernels, Modulus, usize, &mut Words)) {
    let mut words = Words(0x1234_5678_9ABC_DEF1);
    for backend in Backend::available() {
        let set = kernels::on(backend).unwrap();
        for q in moduli() {
            for length in lengths() {
                check(set, q, length, &mut words);
            }
        }
    }
}

fn map2(a: &[u64], b: &[u64], f: impl Fn(u128, u128) -> u128) -> Vec<u64> {
    a.iter().zip(b).map(|(&x, &y)| f(x.into(), y.into()) as u64).collect()
}

pub fn slices(vectors: &[Vec<u64>]) -> Vec<&[u64]> {
    vectors.iter().map(Vec::as_slice).collect()
}

#[test]
fn additions() {
    everywhere(|k, q, n, words| {
        let m = u128::from(q.value());
        let (a, b) = (words.below(q.value(), n), words.below(q.value(), n));
        let mut out = vec![9; n];
        let sum = map2(&a, &b, |x, y| (x + y) % m);
        k.add(q, &mut out, &a, &b);
        assert_eq!(out, sum);
        out.clone_from(&a);
        k.add_assign(q, &mut out, &b);
        assert_eq!(out, sum);
        let difference = map2(&a, &b, |x, y| (x + m - y) % m);
        k.sub(q, &mut out, &a, &b);
        assert_eq!(out, difference);
        out.clone_from(&a);
        k.sub_assign(q, &mut out, &b);
        assert_eq!(out, difference);
        k.neg_assign(q, &mut out);
        assert_eq!(out, map2(&b, &a, |x, y| (x + m - y) % m));
    });
}

#[test]
fn products() {
    everywhere(|k, q, n, words| {
        let m = u128::from(q.value());
        let (a, b, c) =
            (words.below(q.value(), n), words.below(q.value(), n), words.below(q.value(), n));
        let product = map2(&a, &b, |x, y| x * y % m);
        let mut out = vec![9; n];
        k.mul(q, &mut out, &a, &b);
        assert_eq!(out, product);
        out.clone_from(&a);
        k.mul_assign(q, &mut out, &b);
        assert_eq!(out, product);
        out.clone_from(&c);
        k.mul_add_assign(q, &mut out, &a, &b);
        assert_eq!(out, map2(&product, &c, |x, y| (x + y) % m));
    });
}

#[test]
fn scalings() {
    everywhere(|k, q, n, words| {
        let m = u128::from(q.value());
        let (a, b) = (words.below(q.value(), n), words.below(q.value(), n));
        for pair in words.below(q.value(), 6).chunks(2) {
            let (c, d) = (u128::from(pair[0]), u128::from(pair[1]));
            let mut out = vec![9; n];
            k.scalar_mul(q, &mut out, &a, pair[0]);
            assert_eq!(out, map2(&a, &b, |x, _| x * c % m));
            out.clone_from(&a);
            k.scalar_mul_assign(q, &mut out, pair[0]);
            assert_eq!(out, map2(&a, &b, |x, _| x * c % m));
            out.clone_from(&b);
            k.scalar_mul_add_assign(q, &mut out, &a, pair[0]);
            assert_eq!(out, map2(&a, &b, |x, y| (x * c + y) % m));
            out.clone_from(&a);
            k.sub_scale(q, &mut out, &b, pair[0]);
            assert_eq!(out, map2(&a, &b, |x, y| (x + m - y) * c % m));
            k.scale_sub(q, &mut out, &a, pair[0], &b, pair[1]);
            assert_eq!(out, map2(&a, &b, |x, y| (x * c + (m - y) * d) % m));
        }
    });
}

fn sum_of_products(q: Modulus, i: usize, a: &[Vec<u64>], b: &[Vec<u64>]) -> u64 {
    let m = u128::from(q.value());
    a.iter().zip(b).fold(0, |sum, (x, y)| (sum + u128::from(x[i]) * u128::from(y[i])) % m) as u64
}

#[test]
fn inner_products() {
    everywhere(|k, q, n, words| {
        let pairs = words.next() as usize % 12;
        let mut streams =
            || -> Vec<Vec<u64>> { (0..pairs).map(|_| words.below(q.value(), n)).collect() };
        let (a, b0, b1) = (streams(), streams(), streams());
        let (mut out, mut out0, mut out1) = (vec![9; n], vec![9; n], vec![9; n]);
        k.inner_product(q, &mut out, &slices(&a), &slices(&b0));
        k.inner_product2(q, &mut out0, &mut out1, &slices(&a), &slices(&b0), &slices(&b1));
        for i in 0..n {
            assert_eq!(out[i], sum_of_products(q, i, &a, &b0), "{pairs} pairs modulo {q:?}");
            assert_eq!(out0[i], out[i]);
            assert_eq!(out1[i], sum_of_products(q, i, &a, &b1), "{pairs} pairs modulo {q:?}");
        }
        let (c, before) = (words.below(q.value(), 1)[0], words.below(q.value(), n));
        out.clone_from(&before);
        k.inner_product_scale_add(q, &mut out, &slices(&a), &slices(&b0), c);
        assert_eq!(
            out,
            map2(&before, &out0, |x, y| (x + u128::from(c) * y) % u128::from(q.value()))
        );
    });
}

/// The same residues as words and packed, from every phase.
#[test]
fn packed_products() {
    everywhere(|k, q, n, words| {
        let (pairs, place) = (words.next() as usize % 12, words.next() as usize % 9);
        let mut streams =
            |n: usize| -> Vec<Vec<u64>> { (0..pairs).map(|_| words.below(q.value(), n)).collect() };
        let (a, wide) = (streams(n), [streams(place + n), streams(place + n)]);
        let packed = wide.each_ref().map(|streams| {
            let packed = streams.iter().map(|residues| {
                let mut packed = vec![u64::MAX; packed_words(place + n)];
                pack(residues, &mut packed);
                packed
            });
            packed.collect::<Vec<_>>()
        });
        let b = wide.each_ref().map(|streams| {
            streams.iter().map(|residues| residues[place..].to_vec()).collect::<Vec<_>>()
        });
        let (mut out, mut out0, mut out1) = (vec![9; n], vec![9; n], vec![9; n]);
        let (p0, p1) = (slices(&packed[0]), slices(&packed[1]));
        k.packed_product(q, &mut out, &slices(&a), &p0, place);
        k.packed_product2(q, &mut out0, &mut out1, &slices(&a), &p0, &p1, place);
        let (mut want0, mut want1) = (vec![9; n], vec![9; n]);
        k.inner_product2(q, &mut want0, &mut want1, &slices(&a), &slices(&b[0]), &slices(&b[1]));
        assert_eq!((&out, &out0, &out1), (&want0, &want0, &want1), "{pairs} from {place}, {q:?}");
        let c = words.below(q.value(), 1)[0];
        (out0, want0) = (words.below(q.value(), n), Vec::new());
        want0.clone_from(&out0);
        k.packed_product_scale_add(q, &mut out0, &slices(&a), &p1, place, c);
        k.inner_product_scale_add(q, &mut want0, &slices(&a), &slices(&b[1]), c);
        assert_eq!(out0, want0, "{pairs} from {place}, {q:?}");
    });
}

#[test]
#[cfg_attr(miri, ignore = "thousands of terms, and the same accesses as with few")]
fn inner_products_of_the_greatest_length_do_not_overflow() {
    for backend in Backend::available() {
        let k = kernels::on(backend).unwrap();
        for q in moduli() {
            let n = 19;
            let top = vec![q.value() - 1; n];
            let a = vec![top.as_slice(); kernels::MAX_TERMS];
            let mut out = vec![9; n];
            k.inner_product(q, &mut out, &a, &a);
            assert_eq!(out, vec![q.reduce_u64(kernels::MAX_TERMS as u64); n]);
            let wide = vec![(1 << 50) - 1; n];
            let xs = vec![wide.as_slice(); kernels::MAX_TERMS];
            k.weighted_sum(q, &mut out, &xs, &vec![q.value() - 1; kernels::MAX_TERMS]);
            let expected = q.neg(q.reduce_u128(((1 << 50) - 1) * kernels::MAX_TERMS as u128));
            assert_eq!(out, vec![expected; n]);
        }
    }
}

#[test]
fn weighted_sums() {
    everywhere(|k, q, n, words| {
        let terms = words.next() as usize % 11;
        let weights = words.below(q.value(), terms);
        let xs: Vec<Vec<u64>> = (0..terms).map(|_| words.below(1 << 50, n)).collect();
        let mut out = vec![9; n];
        k.weighted_sum(q, &mut out, &slices(&xs), &weights);
        let m = u128::from(q.value());
        for i in 0..n {
            let terms = xs.iter().zip(&weights);
            let expected =
                terms.fold(0, |sum, (x, &w)| (sum + u128::from(x[i]) * u128::from(w)) % m);
            assert_eq!(u128::from(out[i]), expected);
        }
    });
}

#[test]
fn rounded_quotients_have_the_same_bits_everywhere() {
    everywhere(|k, q, n, words| {
        let terms = 1 + words.next() as usize % 9;
        let ys: Vec<Vec<u64>> = (0..terms).map(|_| words.below(q.value(), n)).collect();
        let scale = words.next() % 3;
        let inverses: Vec<f64> = (0..terms)
            .map(|j| if scale == 0 { 1.0 } else { (j as f64 + 1.0) / q.value() as f64 })
            .collect();
        let (mut out, mut expected) = (vec![9; n], vec![9; n]);
        k.rounded_quotient(&mut out, &slices(&ys), &inverses);
        for i in 0..n {
            let mut sum = 0.0;
            for (y, inverse) in ys.iter().zip(&inverses) {
                sum += y[i] as f64 * inverse;
            }
            assert!(sum < 2f64.powi(54));
            expected[i] = sum.round_ties_even() as u64;
        }
        if ys.iter().flatten().all(|&y| (y as u128) * 9 < 1 << 51) || scale != 0 {
            assert_eq!(out, expected);
        }
    });
}

#[test]
fn reductions() {
    everywhere(|k, q, n, words| {
        let a = words.below(1 << 52, n);
        let mut out = a.clone();
        k.reduce_assign(q, &mut out);
        assert_eq!(out, map2(&a, &a, |x, _| x % u128::from(q.value())));
        let signed: Vec<i64> = (0..n)
            .map(|_| match words.next() % 8 {
                0 => i64::MIN,
                1 => i64::MAX,
                2 => -1,
                3 => -(q.value() as i64),
                4 => (words.next() % 64) as i64 - 32,
                _ => words.next() as i64,
            })
            .collect();
        k.from_signed(q, &mut out, &signed);
        let expected: Vec<u64> =
            signed.iter().map(|&x| i128::from(x).rem_euclid(q.value().into()) as u64).collect();
        assert_eq!(out, expected);
    });
}

#[test]
fn empty_slices_and_empty_sums_are_allowed() {
    let q = Modulus::new(97).unwrap();
    for backend in Backend::available() {
        let k = kernels::on(backend).unwrap();
        k.add_assign(q, &mut [], &[]);
        k.inner_product(q, &mut [], &[&[]], &[&[]]);
        let mut out = [5; 11];
        k.weighted_sum(q, &mut out, &[], &[]);
        assert_eq!(out, [0; 11]);
        out.fill(5);
        k.rounded_quotient(&mut out, &[], &[]);
        assert_eq!(out, [0; 11]);
    }
}

#[test]
#[should_panic(expected = "equal lengths")]
fn unequal_lengths_are_refused() {
    let k = kernels::on(Backend::detect()).unwrap();
    k.add_assign(Modulus::new(97).unwrap(), &mut [1, 2, 3], &[1, 2]);
}

#[test]
fn digits_to_a_base() {
    everywhere(|k, q, n, words| {
        let rows: Vec<Vec<u32>> = (0..7)
            .map(|_| words.below(1 << 32, n).into_iter().map(|x| x as u32).collect())
            .collect();
        let views: Vec<&[u32]> = rows.iter().map(Vec::as_slice).collect();
        let (weights, constant) = (words.below(q.value(), 7), words.below(q.value(), 1)[0]);
        let mut out = vec![9; n];
        k.digit_residues(q, &mut out, &views, &weights, constant);
        for (i, &found) in out.iter().enumerate() {
            let sum: u128 =
                rows.iter().zip(&weights).map(|(r, &w)| u128::from(r[i]) * u128::from(w)).sum();
            assert_eq!(u128::from(found), (sum + u128::from(constant)) % u128::from(q.value()));
        }

        let xs: Vec<Vec<u64>> = (0..5).map(|_| words.below(1 << 61, n)).collect();
        let factors: Vec<u32> = words.below(1 << 32, 5).into_iter().map(|x| x as u32).collect();
        let acc = words.below(1 << 61, n);
        out.clone_from(&acc);
        k.multiply_add_halves(&mut out, &slices(&xs), &factors);
        for (i, &found) in out.iter().enumerate() {
            let sum: u128 = xs
                .iter()
                .zip(&factors)
                .map(|(x, &w)| u128::from(x[i] as u32) * u128::from(w))
                .sum();
            assert_eq!(found, (sum + u128::from(acc[i])) as u64);
        }

        // The base may be anything up to 31 bits.
        let base = (q.value() % (1 << 31)).max(3) as u32;
        let p = u64::from(base);
        let sums = words.below(p * ((1 << 32) - 3), n);
        let (mut carry, constant) = (words.below(p, n), words.below(p, 1)[0] as u32);
        let want: Vec<u64> =
            sums.iter().zip(&carry).map(|(a, c)| a + c + u64::from(constant)).collect();
        let mut digits = vec![0; n];
        k.carry_digits(base, &mut digits, &sums, &mut carry, constant);
        for i in 0..n {
            assert_eq!((u64::from(digits[i]), carry[i]), (want[i] % p, want[i] / p));
        }
    });
}

#[test]
fn streams_of_chacha20() {
    // The key stream of zeros, and blocks on both sides of 2^32 and of 2^64.
    let zeros = [0; 8];
    let known = [0x903d_f1a0_ade0_b876, 0x28bd_8653_e56a_5d40, 0x1aed_8da0_b819_d2bd];
    let key = std::array::from_fn(|k| 0x9E37_79B9u32.wrapping_mul(k as u32 + 1));
    let portable = kernels::on(Backend::Portable).unwrap();
    for backend in Backend::available() {
        let k = kernels::on(backend).unwrap();
        let mut words = vec![9; 300];
        k.chacha20(&zeros, 0, 0, &mut words);
        assert_eq!(words[..3], known, "{backend}");
        for first in [0, (1 << 32) - 9, u64::MAX - 6] {
            for count in [0, 3, 8, 64, 128, 300] {
                let mut want = vec![7; count];
                portable.chacha20(&key, 0x0123_4567_89AB_CDEF, first, &mut want);
                let found = &mut words[..count];
                k.chacha20(&key, 0x0123_4567_89AB_CDEF, first, found);
                assert_eq!(found, want, "{count} from {first} on {backend}");
            }
        }
    }
}
