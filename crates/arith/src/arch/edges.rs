//! Every lazy step at the ends of the range that it is documented for, on the instruction sets of
//! this processor, against exact integers: the operands that make it largest, and those whose
//! quotient is hardest to round.

use super::avx2::Avx2;
use super::avx512::Avx512;
use super::avx512::ifma::{IfmaModulus, LOG_SUM};
use super::butterfly::Butterflies;
use super::float::FloatModulus;
use super::lanes::Lanes;
use super::residues::Residues;
use super::vector::SMALL;
use crate::backend::Backend;
use crate::kernels::MAX_TERMS;
use crate::modulus::Modulus;

/// The smallest and the largest moduli, the largest prime, both sides of 2^49, and a plain one.
const MODULI: [u64; 8] =
    [3, 5, 65537, (1 << 49) - 1, (1 << 49) + 1, (1 << 50) - 27, (1 << 50) - 3, (1 << 50) - 1];

fn avx2() -> Option<Avx2> {
    // SAFETY: the processor has it.
    Backend::Avx2.is_available().then(|| unsafe { Avx2::new() })
}

fn avx512() -> Option<Avx512> {
    // SAFETY: the processor has it.
    Backend::Avx512.is_available().then(|| unsafe { Avx512::new() })
}

fn moduli() -> impl Iterator<Item = Modulus> {
    MODULI.into_iter().map(|q| Modulus::new(q).unwrap())
}

/// A vector of doubles that holds eight numbers, or as many as there are lanes.
fn doubles<L: Lanes>(l: L, values: &[f64; 8]) -> L::F {
    // SAFETY: there are eight doubles.
    unsafe { l.load_f(values.as_ptr()) }
}

fn of_doubles<L: Lanes>(l: L, x: L::F) -> Vec<i128> {
    let mut values = [0.0; 8];
    // SAFETY: there are eight doubles.
    unsafe { l.store_f(values.as_mut_ptr(), x) };
    values[..L::WIDTH].iter().map(|&x| x as i128).collect()
}

fn words<L: Lanes>(l: L, values: &[u64; 8]) -> L::U {
    // SAFETY: there are eight words.
    unsafe { l.load(values.as_ptr()) }
}

fn of_words<L: Lanes>(l: L, x: L::U) -> Vec<u64> {
    let mut values = [0; 8];
    // SAFETY: there are eight words.
    unsafe { l.store(values.as_mut_ptr(), x) };
    values[..L::WIDTH].to_vec()
}

/// Integers from -`most` to `most`: the ends, and those nearest to halves of multiples of q.
fn around(q: u64, most: i128) -> Vec<i128> {
    let q = i128::from(q);
    let mut all = vec![0, 1, most, most - 1];
    for k in [1, 2, 3, 4, 5, 6, 7, most / q - 1, most / q] {
        all.extend([k * q - 1, k * q, k * q + 1, k * q - q / 2 - 1, k * q - q / 2, k * q + q / 2]);
    }
    all.retain(|x| (0..=most).contains(x));
    all.sort_unstable();
    all.dedup();
    all.iter().flat_map(|&x| [x, -x]).collect()
}

/// Runs over the operands, every one in every lane.
fn in_lanes<T: Copy>(operands: &[T], mut check: impl FnMut([T; 8])) {
    for start in 0..operands.len() {
        check(std::array::from_fn(|lane| operands[(start + lane) % operands.len()]));
    }
}

/// The factor whose product has the remainder `r`, added to multiples of q up to `most`.
fn cofactors(q: Modulus, w: i128, r: u64, most: i128) -> Vec<i128> {
    let (m, w) = (i128::from(q.value()), q.reduce_i128(w));
    let Some(inverse) = q.inv(w) else { return Vec::new() };
    let x = i128::from(q.mul(inverse, r));
    let last = (most - x) / m;
    [0, last - 1, last].map(|k| x + k * m).into_iter().flat_map(|x| [x, x - m, -x]).collect()
}

fn products_in_doubles<L: Lanes>(l: L) {
    for q in moduli() {
        let (m, value) = (FloatModulus::new(l, q), i128::from(q.value()));
        let half = value / 2;
        // Factors: centered constants, and residues that are not centered.
        for w in [0, 1, 2, half - 1, half, -half, 1 - half, value - 1, value - 2] {
            // |x w| < 2^51 q, and both factors exact.
            let most = ((value << 51) / w.abs().max(1) - 1).min(1 << 52);
            let mut xs = around(q.value(), most);
            for r in [0, 1, q.value() - 1, q.value() / 2, q.value() / 2 + 1] {
                xs.extend(cofactors(q, w, r, most));
            }
            xs.retain(|x| x.abs() <= most && x * w != value << 51);
            in_lanes(&xs, |x| {
                let product = m.mul(doubles(l, &x.map(|x| x as f64)), l.splat_f(w as f64));
                for (found, x) in of_doubles(l, product).into_iter().zip(x) {
                    assert_eq!((found - x * w).rem_euclid(value), 0, "{x} {w} modulo {value}");
                    // At most (1/2 + |x w / q| / 2^52) q.
                    let bound = value as f64 / 2.0 + (x * w).abs() as f64 / 2f64.powi(52);
                    assert!(found.abs() as f64 <= bound, "{x} {w} modulo {value}: {found}");
                }
            });
        }
        let most = ((1i128 << 53) - 1).min((value << 51) - 1);
        in_lanes(&around(q.value(), most), |x| {
            let reduced = m.reduce(doubles(l, &x.map(|x| x as f64)));
            for (found, x) in of_doubles(l, reduced).into_iter().zip(x) {
                assert_eq!((found - x).rem_euclid(value), 0, "{x} modulo {value}");
                let bound = value as f64 / 2.0 + x.abs() as f64 / 2f64.powi(53);
                assert!(found.abs() as f64 <= bound, "{x} modulo {value}: {found}");
            }
        });
        in_lanes(&around(q.value(), value - 1), |x| {
            let found = of_words(l, m.canonical(doubles(l, &x.map(|x| x as f64))));
            assert!(found.iter().zip(x).all(|(&f, x)| i128::from(f) == x.rem_euclid(value)));
        });
    }
}

/// Butterflies at the bounds that the comment of the implementation gives, in units of q.
fn butterflies_in_doubles<L: Lanes>(l: L) {
    for q in moduli().filter(|q| q.value() > 5) {
        let (m, value) = (FloatModulus::new(l, q), q.value());
        let scaled = |units: f64| (units * value as f64) as i128;
        let ws = [0, 1, value / 2, value / 2 + 1, value - 1];
        for (w, (reduce, most)) in
            ws.iter().flat_map(|&w| [(true, 4.0), (false, 1.5), (false, 2.97)].map(|r| (w, r)))
        {
            let encoded = <FloatModulus<L> as Residues>::encode(q, w);
            let factor = m.everywhere(encoded);
            let centered = i128::from(q.centered(w));
            let xs = around(value, scaled(most) - 1);
            in_lanes(&xs, |x| {
                for y in [xs[0], xs[2], xs[3], xs[xs.len() - 2], xs[xs.len() - 1]] {
                    let (vx, vy) = (doubles(l, &x.map(|x| x as f64)), l.splat_f(y as f64));
                    let (sum, difference) = m.forward(reduce, vx, vy, factor);
                    // What the model in `ranges` says.
                    let kept = if reduce { 0.5 } else { most };
                    let bound = (kept + 0.5 + most / 8.0) * value as f64 + 1.0;
                    for (found, sign) in [(sum, 1), (difference, -1)] {
                        for (found, x) in of_doubles(l, found).into_iter().zip(x) {
                            let want = x + sign * y * centered;
                            assert_eq!((found - want).rem_euclid(i128::from(value)), 0);
                            assert!(found.abs() as f64 <= bound, "{found} modulo {value}");
                        }
                    }
                    if most > 2.0 {
                        continue;
                    }
                    let (sum, product) = m.inverse(true, vx, vy, factor);
                    let pairs = of_doubles(l, sum).into_iter().zip(of_doubles(l, product)).zip(x);
                    for ((sum, product), x) in pairs {
                        let m = i128::from(value);
                        assert_eq!((sum - x - y).rem_euclid(m), 0);
                        assert_eq!((product - (x - y) * centered).rem_euclid(m), 0);
                        assert!(sum.abs() <= m / 2 + 1);
                        assert!(product.abs() as f64 <= (0.5 + most / 4.0) * value as f64 + 1.0);
                    }
                }
            });
        }
    }
}

/// Sums of as many and as large products as there may be, and of none.
fn sums_of_products<L: Lanes>(l: L) {
    let top = (1u64 << 50) - 1;
    for q in moduli() {
        let reducer = l.reducer(q);
        let largest = q.value() - 1;
        let few = [0, 1, 2, 4, 5, 8, 9, SMALL - 1, SMALL];
        for terms in few.into_iter().chain([MAX_TERMS - 1, MAX_TERMS]) {
            // Factors by lane: the largest everywhere, by turns, and such whose rests are extreme.
            let xs = [top, top - 1, 0, 1, top, 1 << 49, largest, q.value() / 2];
            for w in [largest, 1, q.value() / 2, 0] {
                for turns in [1, 2, 3] {
                    let taken = |term: usize| if term.is_multiple_of(turns) { w } else { 0 };
                    let (mut sum, mut room) = (l.sum_zero(), L::ROOM);
                    for term in 0..terms {
                        if room == 0 {
                            (sum, room) = (l.sum_settle(sum, reducer), L::ROOM - 1);
                        }
                        room -= 1;
                        sum =
                            l.sum_add(sum, l.factor(words(l, &xs)), l.factor(l.splat(taken(term))));
                    }
                    let small = terms < SMALL;
                    let found = of_words(l, l.sum_reduce(sum, terms, small, reducer));
                    let weight: u128 = (0..terms).map(|term| u128::from(taken(term))).sum();
                    for (found, x) in found.into_iter().zip(xs) {
                        let want = u128::from(x) * weight % u128::from(q.value());
                        assert_eq!(u128::from(found), want, "{terms} of {x} {w} modulo {q:?}");
                    }
                }
            }
        }
    }
}

/// The low 52 bits of each lane, which a lane of [`IfmaModulus`] stands for.
fn low(l: Avx512, x: <Avx512 as Lanes>::U) -> Vec<u64> {
    of_words(l, x).into_iter().map(|x| x & ((1 << 52) - 1)).collect()
}

/// Words up to a bound: its end, and around all multiples of q.
fn up_to(q: u64, most: u64) -> Vec<u64> {
    let end = most / q;
    let multiples = (0..8).chain([end - 1, end, end + 1]);
    let mut all: Vec<u64> = multiples
        .flat_map(|k| [(k * q).saturating_sub(1), k * q, k * q + 1, k * q + q / 2])
        .chain([most - 1, most])
        .filter(|&x| x <= most)
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn lazy_words(l: Avx512) {
    for q in moduli() {
        let (m, value) = (IfmaModulus::new(l, q), q.value());
        let wide = up_to(value, 4 * value - 1);
        // What carries leave above bit 52 does not matter.
        for above in [0, 1 << 52, 0xFFF << 52] {
            in_lanes(&wide, |x| {
                let found = low(l, m.reduce(words(l, &x.map(|x| x | above))));
                for (found, x) in found.into_iter().zip(x) {
                    assert!(found < 2 * value && found % value == x % value, "{x} modulo {value}");
                }
            });
        }
        // Any factor below 2^52; the quotients of the first constant lose most, and so do the
        // products with the second.
        let hardest = q.neg(q.inv(q.reduce_u64(1 << 52)).unwrap());
        let any = up_to(value, (1 << 52) - 1);
        for w in [hardest, value - 1, 0, 1, value / 2, value / 2 + 1] {
            let factor = m.everywhere(<IfmaModulus as Residues>::encode(q, w));
            let mut xs = any.clone();
            if let Some(inverse) = q.inv(w) {
                // The largest x whose product leaves q - 1.
                let x = q.mul(inverse, value - 1);
                xs.push(x + ((1 << 52) - 1 - x) / value * value);
            }
            in_lanes(&xs, |x| {
                let found = low(l, m.mul(words(l, &x), factor));
                for (found, x) in found.into_iter().zip(x) {
                    let want = u128::from(x) * u128::from(w) % u128::from(value);
                    assert!(found < 2 * value && u128::from(found % value) == want);
                }
            });
        }
        in_lanes(&up_to(value, (value << LOG_SUM) - 1), |x| {
            let found = low(l, m.reduce_sum(words(l, &x)));
            for (found, x) in found.into_iter().zip(x) {
                assert!(found < 2 * value && found % value == x % value, "{x} modulo {value}");
            }
        });
        in_lanes(&up_to(value, 2 * value - 1), |x| {
            let found = of_words(l, m.canonical(words(l, &x)));
            assert!(found.into_iter().zip(x).all(|(found, x)| found == x % value));
            let y = x[7];
            let (sum, difference) = m.plus_minus(words(l, &x), l.splat(y));
            for ((sum, difference), x) in low(l, sum).into_iter().zip(low(l, difference)).zip(x) {
                assert!(sum < 4 * value && sum % value == (x + y) % value);
                let want = (x + 2 * value - y) % value;
                assert!(difference < 4 * value && difference % value == want);
            }
        });
    }
}

fn lazy_sums(l: Avx512) {
    const TERMS: usize = <IfmaModulus as Residues>::TERMS;
    for q in moduli() {
        let (m, value) = (IfmaModulus::new(l, q), q.value());
        for weight in [value - 1, 1, 0, value / 2] {
            let word = <IfmaModulus as Residues>::encode_weight(q, weight);
            for (terms, first) in
                [0, 1, TERMS - 1, TERMS].into_iter().flat_map(|t| [(t, 0), (t, 2 * value - 1)])
            {
                in_lanes(&up_to(value, 4 * value - 1), |x| {
                    let v = words(l, &x);
                    let (mut even, mut odd) = (m.sum_from(l.splat(first)), m.sum_zero());
                    for _ in 0..terms {
                        (even, odd) = (m.sum_add(even, v, word), m.sum_add(odd, v, word));
                    }
                    let (settled, rest) = m.sum_settle(even, odd);
                    let ends = [m.sum_end(even), m.sum_end(settled)].map(|x| low(l, x));
                    let (sum, difference) = m.sum_plus_minus(even, odd);
                    let again = m.sum_plus_minus(settled, rest);
                    let pairs = [(sum, difference), again].map(|(a, b)| (low(l, a), low(l, b)));
                    for lane in 0..8 {
                        let product = u128::from(x[lane]) * u128::from(weight) * terms as u128;
                        let (first, product) =
                            (first % value, (product % u128::from(value)) as u64);
                        let one = q.add(first, product);
                        let check = |found: u64, want: u64| {
                            assert!(found < 2 * value && found % value == want, "modulo {value}");
                        };
                        ends.iter().for_each(|end| check(end[lane], one));
                        for (sum, difference) in &pairs {
                            check(sum[lane], q.add(one, product));
                            check(difference[lane], first);
                        }
                    }
                });
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "no memory but arrays is touched")]
fn products_in_doubles_are_exact_and_small() {
    avx2().into_iter().for_each(products_in_doubles);
    avx512().into_iter().for_each(products_in_doubles);
}

#[test]
#[cfg_attr(miri, ignore = "no memory but arrays is touched")]
fn butterflies_in_doubles_stay_below_their_bounds() {
    avx2().into_iter().for_each(butterflies_in_doubles);
    avx512().into_iter().for_each(butterflies_in_doubles);
}

#[test]
#[cfg_attr(miri, ignore = "no memory but arrays is touched")]
fn sums_of_the_largest_products_are_exact() {
    avx2().into_iter().for_each(sums_of_products);
    avx512().into_iter().for_each(sums_of_products);
}

#[test]
#[cfg_attr(miri, ignore = "no memory but arrays is touched")]
fn lazy_words_stay_below_their_bounds() {
    avx512().into_iter().for_each(lazy_words);
}

#[test]
#[cfg_attr(miri, ignore = "no memory but arrays is touched")]
fn lazy_sums_stay_below_their_bounds() {
    avx512().into_iter().for_each(lazy_sums);
}
