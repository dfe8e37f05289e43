//! Every kernel on every backend at the ends of its documented ranges, against wide integers: all
//! pairs of extreme operands in all lanes, for the smallest and the largest moduli and every length
//! of the rest after whole vectors. Lazy steps inside of the kernels are tested where they are, in
//! `src/arch/edges.rs`.

use everlevel_arith::kernels::{self, Kernels, MAX_DIGITS, MAX_TERMS};
use everlevel_arith::{Axes, Backend, Modulus, NttTable, TensorTable, primes};

/// The smallest and the largest moduli and primes, and both sides of powers of two.
fn moduli() -> Vec<Modulus> {
    let all: &[u64] = if cfg!(miri) {
        &[3, (1 << 50) - 1]
    } else {
        &[
            3,
            5,
            7,
            (1 << 32) - 5,
            (1 << 32) + 15,
            (1 << 49) - 1,
            (1 << 49) + 1,
            (1 << 50) - 27,
            (1 << 50) - 1,
        ]
    };
    all.iter().map(|&q| Modulus::new(q).unwrap()).collect()
}

/// Residues at the ends and in the middle of their range.
fn residues(q: Modulus) -> Vec<u64> {
    let q = q.value();
    let mut all = vec![0, 1, q / 2, q / 2 + 1, q - 2, q - 1];
    all.dedup();
    all
}

/// All lengths up to two vectors of eight words and a rest of seven.
fn lengths() -> Vec<usize> {
    if cfg!(miri) { vec![3, 9] } else { (1..=23).collect() }
}

/// Every pair of values, from every place of the list on, so that each meets every lane.
fn pairs<A: Copy, B: Copy>(a: &[A], b: &[B], mut check: impl FnMut(&[A], &[B])) {
    let all: Vec<(A, B)> = a.iter().flat_map(|&x| b.iter().map(move |&y| (x, y))).collect();
    for length in lengths() {
        // As many vectors as it takes to have every pair in every lane.
        let starts = if length < 16 { 0..1 } else { 0..all.len() };
        for start in starts {
            let at = |i: usize| all[(start + i) % all.len()];
            let x: Vec<A> = (0..length).map(|i| at(i).0).collect();
            let y: Vec<B> = (0..length).map(|i| at(i).1).collect();
            check(&x, &y);
        }
    }
}

/// Runs a check for every backend and modulus.
fn everywhere(check: impl Fn(&Kernels, Modulus)) {
    for backend in Backend::available() {
        moduli().into_iter().for_each(|q| check(kernels::on(backend).unwrap(), q));
    }
}

/// What a kernel of two operands should give.
fn want(q: Modulus, a: &[u64], b: &[u64], f: impl Fn(u128, u128, u128) -> u128) -> Vec<u64> {
    let m = u128::from(q.value());
    a.iter().zip(b).map(|(&x, &y)| (f(x.into(), y.into(), m) % m) as u64).collect()
}

#[test]
fn two_operands() {
    everywhere(|k, q| {
        let all = residues(q);
        pairs(&all, &all, |a, b| {
            let (sum, product) = (want(q, a, b, |x, y, _| x + y), want(q, a, b, |x, y, _| x * y));
            let difference = want(q, a, b, |x, y, m| x + m - y);
            let mut out = vec![9; a.len()];
            k.add(q, &mut out, a, b);
            assert_eq!(out, sum);
            k.sub(q, &mut out, a, b);
            assert_eq!(out, difference);
            k.mul(q, &mut out, a, b);
            assert_eq!(out, product);
            let on_a = |f: &dyn Fn(&mut [u64])| {
                let mut out = a.to_vec();
                f(&mut out);
                out
            };
            assert_eq!(on_a(&|out| k.add_assign(q, out, b)), sum);
            assert_eq!(on_a(&|out| k.sub_assign(q, out, b)), difference);
            assert_eq!(on_a(&|out| k.mul_assign(q, out, b)), product);
            assert_eq!(on_a(&|out| k.neg_assign(q, out)), want(q, a, b, |x, _, m| m - x));
            let square = want(q, a, b, |x, y, _| x * y + x);
            assert_eq!(on_a(&|out| k.mul_add_assign(q, out, a, b)), square);
            for &c in &all {
                let c_wide = u128::from(c);
                let scaled = want(q, a, b, |x, _, _| c_wide * x);
                k.scalar_mul(q, &mut out, a, c);
                assert_eq!(out, scaled);
                assert_eq!(on_a(&|out| k.scalar_mul_assign(q, out, c)), scaled);
                let added = want(q, a, b, |x, y, _| c_wide * y + x);
                assert_eq!(on_a(&|out| k.scalar_mul_add_assign(q, out, b, c)), added);
                let less = want(q, a, b, |x, y, m| (x + m - y) * c_wide);
                assert_eq!(on_a(&|out| k.sub_scale(q, out, b, c)), less);
                for d in [0, 1, q.value() / 2, q.value() - 1] {
                    k.scale_sub(q, &mut out, a, c, b, d);
                    let d = u128::from(d);
                    assert_eq!(out, want(q, a, b, |x, y, m| c_wide * x + d * (m - y)));
                }
            }
        });
    });
}

/// Products whose remainders are 0, 1, q - 1 and both halves: where quotients round hardest.
#[test]
fn products_with_extreme_remainders() {
    everywhere(|k, q| {
        let factors: Vec<u64> =
            [2, 3, q.value() / 2, q.value() / 2 + 1, q.value() - 1, q.value() - 2]
                .into_iter()
                .filter(|&w| q.inv(w % q.value()).is_some())
                .map(|w| w % q.value())
                .collect();
        for &w in &factors {
            let inverse = q.inv(w).unwrap();
            let xs: Vec<u64> = residues(q).into_iter().map(|r| q.mul(inverse, r)).collect();
            pairs(&xs, &[w], |a, b| {
                let mut out = vec![9; a.len()];
                k.mul(q, &mut out, a, b);
                assert_eq!(out, want(q, a, b, |x, y, _| x * y));
                k.scalar_mul(q, &mut out, a, w);
                assert_eq!(out, want(q, a, b, |x, y, _| x * y));
            });
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "thousands of terms, and the same accesses as with few")]
fn sums_of_products() {
    let top = (1u64 << 50) - 1;
    everywhere(|k, q| {
        let all = residues(q);
        for terms in [1, 6, 7, 8, 15, 16, 17, MAX_TERMS] {
            // Each operand by itself, for all terms and for every other one.
            for (every, length) in [(1, 16), (1, 19), (2, 9), (3, 7)] {
                for &w in &all {
                    let x: Vec<u64> = (0..length).map(|i| all[i % all.len()]).collect();
                    let (y, zero) = (vec![w; length], vec![0; length]);
                    let ys: Vec<&[u64]> =
                        (0..terms).map(|t| if t % every == 0 { &y[..] } else { &zero }).collect();
                    let xs = vec![&x[..]; terms];
                    let count = terms.div_ceil(every) as u128;
                    let sums = want(q, &x, &y, |x, y, m| count * x % m * y);
                    let (mut out, mut other) = (vec![9; length], vec![9; length]);
                    k.inner_product(q, &mut out, &xs, &ys);
                    assert_eq!(out, sums, "{terms} terms");
                    k.inner_product2(q, &mut out, &mut other, &xs, &ys, &ys);
                    assert_eq!((&out, &other), (&sums, &sums), "{terms} terms");
                    out.clone_from(&x);
                    k.inner_product_scale_add(q, &mut out, &xs, &ys, q.value() - 1);
                    assert_eq!(out, want(q, &x, &sums, |x, s, m| x + (m - 1) * s));
                    // Words that are no residues.
                    let x: Vec<u64> =
                        (0..length).map(|i| [top, 0, top - 1, 1 << 49, 1][i % 5]).collect();
                    let weights: Vec<u64> =
                        (0..terms).map(|t| if t % every == 0 { w } else { 0 }).collect();
                    k.weighted_sum(q, &mut out, &vec![&x[..]; terms], &weights);
                    assert_eq!(out, want(q, &x, &y, |x, y, m| count * (x % m) % m * y));
                }
            }
        }
    });
}

#[test]
fn reductions() {
    everywhere(|k, q| {
        let m = q.value();
        let words = [0, m - 1, m, m + 1, 2 * m - 1, (1 << 51) - 1, 1 << 51, (1 << 52) - 1];
        pairs(&words, &[0], |a, zero| {
            let mut out = a.to_vec();
            k.reduce_assign(q, &mut out);
            assert_eq!(out, want(q, a, zero, |x, _, _| x));
        });
        let half = 1i64 << 32;
        let (m, wide) = (m as i64, [i64::MIN, i64::MIN + 1, i64::MAX, -1, 0, 1]);
        let more = [m, -m, m - 1, 1 - m, m / 2, -m / 2, half, -half, half - 1, 1 - half];
        pairs(&[&wide[..], &more].concat(), &[0], |a, _: &[u8]| {
            let mut out = vec![9; a.len()];
            k.from_signed(q, &mut out, a);
            let want = a.iter().map(|&x| i128::from(x).rem_euclid(m.into()) as u64);
            assert!(out.iter().copied().eq(want), "{a:?} modulo {m}");
        });
    });
}

#[test]
fn digits() {
    everywhere(|k, q| {
        for terms in [1, MAX_DIGITS] {
            for &w in &residues(q) {
                pairs(&[0, 1, u32::MAX, u32::MAX - 1], &[0], |row, _: &[u8]| {
                    let mut out = vec![9; row.len()];
                    let constant = q.value() - 1;
                    k.digit_residues(q, &mut out, &vec![row; terms], &vec![w; terms], constant);
                    for (found, &x) in out.into_iter().zip(row) {
                        let sum = u128::from(x) * u128::from(w) * terms as u128;
                        let want = (sum + u128::from(constant)) % u128::from(q.value());
                        assert_eq!(u128::from(found), want);
                    }
                });
            }
        }
    });
    for backend in Backend::available() {
        let k = kernels::on(backend).unwrap();
        // The largest base that 2^63 admits, and the smallest.
        for base in [3, 4, 257, 65537, (1 << 31) - 1] {
            let p = u64::from(base);
            let most = (u64::from(u32::MAX) * p).min((1 << 63) - 1);
            let (last, carries) = (most - 2 * p, [0, 1, p - 1]);
            let sums = [0, 1, p - 1, p, p + 1, last / p * p - 1, last / p * p, last - 1, last];
            for constant in [0, 1, base - 1] {
                pairs(&sums, &carries, |acc, before| {
                    let mut carry = before.to_vec();
                    let mut out = vec![9; acc.len()];
                    k.carry_digits(base, &mut out, acc, &mut carry, constant);
                    for i in 0..acc.len() {
                        let sum = acc[i] + before[i] + u64::from(constant);
                        assert_eq!((u64::from(out[i]), carry[i]), (sum % p, sum / p), "{base}");
                    }
                });
            }
        }
        let words = [0, 1, u64::MAX, u64::MAX << 32, u64::from(u32::MAX)];
        pairs(&words, &words, |acc, x| {
            // More than the block of vectors that shares a weight.
            let (acc, x) = (acc.repeat(3), x.repeat(3));
            for w in [0, 1, u32::MAX] {
                let mut out = acc.clone();
                k.multiply_add_halves(&mut out, &[&x, &x], &[w, w]);
                for i in 0..x.len() {
                    let product = u64::from(x[i] as u32) * u64::from(w);
                    assert_eq!(out[i], acc[i].wrapping_add(product).wrapping_add(product));
                }
            }
        });
    }
}

/// The results near 2^51, and ties.
#[test]
fn rounded_quotients() {
    for backend in Backend::available() {
        let k = kernels::on(backend).unwrap();
        let top = (1u64 << 50) - 1;
        pairs(&[0, 1, 3, top, top - 1], &[0, 1, top, top - 1], |a, b| {
            for inverses in [[0.5, 0.5], [1.0, 0.5], [1.0, 1.0], [1.0 / 3.0, 0.25], [1e-15, 0.0]] {
                let mut out = vec![9; a.len()];
                k.rounded_quotient(&mut out, &[a, b], &inverses);
                for i in 0..a.len() {
                    let sum = a[i] as f64 * inverses[0] + b[i] as f64 * inverses[1];
                    assert!(sum < 2f64.powi(51));
                    assert_eq!(out[i], sum.round_ties_even() as u64, "{sum}");
                }
            }
        });
    }
}

/// Extreme words, by turns and in blocks, which no butterfly may let out of its range. The largest
/// and a small prime, every pattern against the portable code.
#[test]
fn transforms() {
    let patterns = |q: u64, n: usize, most: u64| -> Vec<Vec<u64>> {
        let two = [[0, most], [most, q - 1], [q / 2, q / 2 + 1], [1, most], [q - 1, 0]];
        let strides = (0..n.ilog2().min(12)).map(|s| 1usize << s);
        strides
            .flat_map(|s| two.map(|v| (0..n).map(|i| v[i / s % 2].min(most)).collect()))
            .chain([vec![most; n]])
            .collect()
    };
    let lengths: &[u32] = if cfg!(miri) { &[7] } else { &[4, 7, 8, 9, 10, 13, 16] };
    for &log_n in lengths {
        let order = 2u64 << log_n;
        let largest = primes::primes_congruent_one(order, 1 << 50).next().unwrap();
        let smallest = primes::primes_congruent_one(order, 64 * order).last().unwrap();
        for q in [largest, smallest] {
            let portable = NttTable::for_prime(q, log_n, Backend::Portable).unwrap();
            for backend in Backend::available() {
                let table = NttTable::for_prime(q, log_n, backend).unwrap();
                for input in patterns(q, portable.degree(), 4 * q - 1)
                    .iter()
                    .step_by(if cfg!(miri) { 7 } else { 1 })
                {
                    let (mut a, mut b) = (input.clone(), input.clone());
                    table.forward(&mut a);
                    portable.forward(&mut b);
                    assert!(a == b, "forward, {backend}, {table:?}");
                    table.inverse(&mut a);
                    assert!(a.iter().zip(input).all(|(a, x)| *a == x % q), "{backend}, {table:?}");
                    let mut values: Vec<u64> = input.iter().map(|x| x % q).collect();
                    let mut expected = values.clone();
                    table.inverse(&mut values);
                    portable.inverse(&mut expected);
                    assert!(values == expected, "inverse, {backend}, {table:?}");
                }
            }
        }
    }
    if cfg!(miri) {
        return;
    }
    for index in [5, 17, 23, 27, 37, 53, 97, 105, 257, 341, 12, 2063, 7 * 11 * 13] {
        let axes = Axes::new(index).unwrap();
        let q = primes::primes_congruent_one(axes.transform_order(), 1 << 50).next().unwrap();
        let root = primes::primitive_root_of_unity(q, index).unwrap();
        let new =
            |backend| TensorTable::new(Modulus::new(q).unwrap(), &axes, root, backend).unwrap();
        let portable = new(Backend::Portable);
        for (backend, table) in Backend::available().into_iter().map(|b| (b, new(b))) {
            for input in patterns(q, axes.degree(), 4 * q - 1) {
                let (mut a, mut b) = (input.clone(), input.clone());
                table.forward(&mut a);
                portable.forward(&mut b);
                assert!(a == b, "forward, {backend}, index {index}");
                table.inverse(&mut a);
                assert!(a.iter().zip(&input).all(|(a, x)| *a == x % q), "{backend}, {index}");
            }
        }
    }
}
