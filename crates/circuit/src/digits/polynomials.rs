//! Polynomials that extract the lowest digit of a number.
//!
//! Digits to an odd base are balanced, |z| <= (p - 1)/2; bits are 0 and 1. A number is written z +
//! p^w y: its lowest digit is z, the next w - 1 are zero. There are three families, from the papers
//! cited below:
//!
//! | | | degree |
//! |---|---|---|
//! | [`lifting_polynomial`] | z + p^w y to z modulo p^(w+1), for every w | p |
//! | [`lowest_digit_retain`] | z + p y to z modulo p^e | (e - 1)(p - 1) + 1 |
//! | [`digit_polynomial`] | z + p^w y to z modulo p^e for abs(z) <= B only | below (2B + 1) ceil(e/w) |

use super::problem::DigitProblem;
use crate::error::CircuitError;
use crate::modular::PrimePower;
use crate::poly::{Polynomial, p_part};

/// More points than this are not interpolated: that takes time quadratic in their number, and at a
/// quarter of it a minute.
const MOST_POINTS: u128 = 1 << 17;

fn check_points(t: PrimePower, points: u128) -> Result<(), CircuitError> {
    if points <= MOST_POINTS {
        return Ok(());
    }
    let problem = DigitProblem::all_digits(t.prime(), t.exponent(), 1);
    Err(problem.refused("polynomials of such a degree have no sensible circuit"))
}

/// F of degree p with F(z + p^w y) = z modulo p^(w+1), for every digit z, every y and every 1 <= w
/// < e, modulo p^e: O(p^2) operations.
///
/// x^p removes p^w y but maps z to z^p; F = x^p + p k(x), where k interpolates (z - z^p)/p, has the
/// same derivative modulo p and maps z to z. F is odd (x^2 for p = 2), and x^p itself for p <= 3.
/// Source: Halevi–Shoup 2015 (ia.cr/2014/873), corollary 5.5.
///
/// # Errors
/// [`CircuitError::Ring`] if p is no prime, [`CircuitError::DigitProblem`] if p is above 2^18.
pub fn lifting_polynomial(t: PrimePower) -> Result<Polynomial, CircuitError> {
    let p = t.prime();
    check_points(t, u128::from(p / 2))?;
    let mut coefficients = vec![0; p as usize];
    if t.exponent() > 1 && p > 2 {
        // k modulo p^(e-1) is odd because its values are: x h(x^2).
        let rest = t.reduced(t.exponent() - 1)?;
        let mut points = Vec::new();
        let mut values = Vec::new();
        for z in 1..=p / 2 {
            points.push(rest.mul(z, z));
            values.push(rest.mul(t.sub(z, t.pow(z, p)) / p, rest.inv(z)?));
        }
        let in_squares = Polynomial::interpolate(rest, &points, &values)?;
        for (i, c) in in_squares.coefficients().iter().enumerate() {
            coefficients[2 * i + 1] = c * p;
        }
    }
    coefficients.push(1);
    Ok(Polynomial::new(t, coefficients))
}

/// G of degree (e - 1)(p - 1) + 1 with G(z + p y) = z modulo p^e, for every digit z and every y:
/// O(e^2 p^2) operations.
///
/// Chen–Han 2018 (ia.cr/2018/067), lemma 3: x - (x mod p) = Σ_{m=p} a(m) binom(x, m) modulo p^e,
/// cut off at the degree, where a(m) is the coefficient of X^m in p X^p / ((1 + X)^p - X^p); the
/// shift by (p - 1)/2 balances the digits.
///
/// # Errors
/// [`CircuitError::Ring`] if p is no prime, [`CircuitError::DigitProblem`] for degrees above 2^17.
pub fn lowest_digit_retain(t: PrimePower) -> Result<Polynomial, CircuitError> {
    // For e = 1, too, a row of p numbers is made.
    check_points(t, u128::from((t.exponent() - 1).max(1)) * u128::from(t.prime() - 1) + 1)?;
    let (p, e) = (t.prime() as usize, t.exponent() as usize);
    let degree = (e - 1) * (p - 1) + 1;
    // (1 + X)^p - X^p = 1 + p Σ β_j X^j, so a(m) = p [m = p] - Σ_j p β_j a(m - j). Kept as a(m) =
    // p^s(m) α(m), with s(m) = ceil((m - 1)/(p - 1)), so that no digit is lost when m! is divided
    // out.
    let shift = |m: usize| (m - 1).div_ceil(p - 1);
    let mut beta = vec![0, 1]; // binom(p, j)/p = binom(p - 1, j - 1)/j
    let mut row = 1;
    for j in 2..p {
        row = t.mul(t.mul(row, (p - j + 1) as u64), t.inv((j - 1) as u64)?);
        beta.push(t.mul(row, t.inv(j as u64)?));
    }
    let mut alpha = vec![0u64; degree + 1];
    let mut coefficients = vec![0u64; degree + 1];
    // m! = p^valuation * unit
    let (mut valuation, mut unit) = (0, 1u64);
    for m in 1..=degree {
        let mut factor = m;
        while factor.is_multiple_of(p) {
            factor /= p;
            valuation += 1;
        }
        unit = t.mul(unit, factor as u64);
        if m < p {
            continue;
        }
        let mut sum = u64::from(m == p);
        for j in 1..p.min(m - p + 1) {
            let term = t.mul(beta[j], alpha[m - j]);
            let term = if shift(m - j) == shift(m) { t.mul(term, t.prime()) } else { term };
            sum = t.sub(sum, term);
        }
        alpha[m] = sum;
        coefficients[m] =
            t.mul(t.mul(sum, t.pow(t.prime(), (shift(m) - valuation) as u64)), t.inv(unit)?);
    }
    let half = ((p - 1) / 2) as i64;
    let nodes: Vec<u64> = (0..degree as i64).map(|j| t.reduce_i64(j - half)).collect();
    let removed = Polynomial::from_newton(t, &nodes, &coefficients);
    let mut retained: Vec<u64> = removed.coefficients().iter().map(|c| t.sub(0, *c)).collect();
    retained.resize(retained.len().max(2), 0);
    retained[1] = t.add(retained[1], 1);
    Ok(Polynomial::new(t, retained))
}

/// The polynomial of least degree with f(z + p^w y) = z modulo p^e for |z| <= B and every y, odd
/// (for p = 2, where B plays no part and z is a bit, the even one of least degree). O(n^2)
/// operations for n = (2B + 1) ceil(e/w).
///
/// Null polynomials modulo p^e make the choice free: reduced modulo those that vanish on all
/// integers, this is the digit polynomial of Geelen–Iliashenko–Kang–Vercauteren 2023
/// (ia.cr/2022/1364); for B < (p - 1)/2 modulo those that vanish on the reachable set, the local
/// one of Ma–Huang–Wang–Wang 2024 (ia.cr/2024/115), of degree below (2B + 1) k for the least k with
/// e <= k w + v_p(k!); for w > 1 the second step of an extraction in two.
///
/// The degree found is often lower by a whole block of 2B + 1: for w = 1 it was at most max(p,
/// (2B + 1)(e - 1)) in all cases tried, e.g. 127 for p = 127, e = 3 and B = 22, where the local
/// null polynomial alone gives 133. (For e = 3 this is so because x^p is right modulo p^2 but for
/// terms of degree 4B + 1.)
///
/// # Errors
/// [`CircuitError::Ring`] if p is no prime, [`CircuitError::DigitProblem`] unless 1 <= w < e and
/// 2B + 1 <= p, and for more than 2^17 points n.
pub fn digit_polynomial(
    t: PrimePower,
    precision: u32,
    bound: u64,
) -> Result<Polynomial, CircuitError> {
    let (p, e) = (t.prime(), t.exponent());
    if precision == 0 || precision >= e || bound > p / 2 {
        let reason = "the digit needs 2B + 1 <= p, and 1 <= v < e";
        return Err(CircuitError::DigitProblem { p, e, v: precision, bound, reason });
    }
    check_points(t, (2 * u128::from(bound) + 1) * u128::from(e.div_ceil(precision)))?;
    let step = PrimePower::new(p, precision)?.value();
    let point = move |z: i64, y: u64| t.add(t.reduce_i64(z), t.mul(step, y));
    if p == 2 {
        // As a polynomial in x^2, which tells the bits apart modulo 4 as well as x does. Squares of
        // even numbers, and of odd ones, are p-orderings of what they are; merged by valuation.
        let squares = merged(&t, [0, 1].map(|z| move |y| t.pow(point(z, y), 2)));
        let in_squares =
            Polynomial::interpolate_ordering(t, squares.into_iter().map(|y| (y, y % 2)))?;
        return Ok(Polynomial::new(t, in_squares.coefficients().iter().flat_map(|c| [*c, 0])));
    }
    // Numbers with different digits differ by units: one of each digit in turn, for y = 0, 1, 2,
    // .., is a p-ordering.
    let pairs = (0..).flat_map(|y| digits(p, bound).map(move |z| (point(z, y), t.reduce_i64(z))));
    let f = Polynomial::interpolate_ordering(t, pairs)?;
    // (f(x) - f(-x))/2 has the same values.
    Ok(Polynomial::new(
        t,
        f.coefficients().iter().enumerate().map(|(i, c)| if i % 2 == 1 { *c } else { 0 }),
    ))
}

/// The digits up to B: balanced, or bits.
pub(super) fn digits(p: u64, bound: u64) -> impl Iterator<Item = i64> {
    let bound = bound as i64;
    if p == 2 { 0..=1 } else { -bound..=bound }
}

/// Sequences whose members differ by units from those of the other, joined so that the valuation of
/// Π (a_k - a_j) grows as slowly as can be, until it reaches e.
fn merged<const N: usize>(t: &PrimePower, sequences: [impl Fn(u64) -> u64; N]) -> Vec<u64> {
    let mut taken = [0u64; N];
    let mut points = Vec::new();
    loop {
        // p^ν of the next member of each sequence, unless p^e divides it.
        let next = (0..N).filter_map(|i| {
            let point = sequences[i](taken[i]);
            let product =
                (0..taken[i]).fold(1, |product, y| t.mul(product, t.sub(point, sequences[i](y))));
            (product != 0).then(|| (p_part(t, product), i, point))
        });
        let Some((_, i, point)) = next.min() else {
            return points;
        };
        points.push(point);
        taken[i] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::poly::Parity;

    /// The lowest digit, balanced, or the bit.
    fn lowest(t: &PrimePower, x: u64) -> u64 {
        let p = t.prime();
        let z = (x % p) as i64;
        t.reduce_i64(if p > 2 && z > p as i64 / 2 { z - p as i64 } else { z })
    }

    const MODULI: [(u64, u32); 13] = [
        (2, 1),
        (2, 2),
        (2, 5),
        (2, 13),
        (3, 2),
        (3, 7),
        (5, 3),
        (5, 6),
        (7, 4),
        (17, 4),
        (31, 3),
        (127, 2),
        (257, 2),
    ];

    #[test]
    fn lifts_gain_a_digit_at_every_step() {
        for (p, e) in MODULI {
            let t = PrimePower::new(p, e).unwrap();
            let f = lifting_polynomial(t).unwrap();
            assert_eq!(
                (f.degree() as u64, f.parity()),
                (p, if p == 2 { Parity::Even } else { Parity::Odd })
            );
            assert_eq!(
                p <= 3,
                f.coefficients().iter().filter(|c| **c != 0).count() == 1,
                "x^p for p <= 3"
            );
            for x in 0..t.value() {
                // x = z + p^w y for the largest w below e
                let z = lowest(&t, x);
                let rest = t.sub(x, z);
                let known = if rest == 0 { t.value() } else { p_part(&t, rest) };
                let error = t.sub(f.evaluate(x), z);
                assert!(
                    error.is_multiple_of((known * p).min(t.value())),
                    "p = {p}, e = {e}, x = {x}"
                );
            }
        }
    }

    #[test]
    fn the_lowest_digit_is_retained() {
        for (p, e) in MODULI {
            let t = PrimePower::new(p, e).unwrap();
            let g = lowest_digit_retain(t).unwrap();
            assert!((0..t.value()).all(|x| g.evaluate(x) == lowest(&t, x)), "p = {p}, e = {e}");
            assert_eq!(g.degree(), (e as usize - 1) * (p as usize - 1) + 1);
            if e > 1 {
                let f = digit_polynomial(t, 1, p / 2).unwrap();
                assert!((0..t.value()).all(|x| f.evaluate(x) == lowest(&t, x)), "p = {p}, e = {e}");
                assert_eq!(f.parity(), if p == 2 { Parity::Even } else { Parity::Odd });
                assert!(
                    f.degree() <= g.degree() + usize::from(p == 2),
                    "p = {p}, e = {e}: {}",
                    f.degree()
                );
            }
        }
    }

    #[test]
    fn chen_han_example_4() {
        // e = 2: for y = x + (p - 1)/2 what is removed is -y (y - 1) .. (y - p + 1), up to null
        // polynomials.
        for p in [3u64, 5, 17, 127] {
            let t = PrimePower::new(p, 2).unwrap();
            let half = (p as i64 - 1) / 2;
            let product = Polynomial::from_roots(t, (-half..=half).map(|a| t.reduce_i64(a)));
            let g = lowest_digit_retain(t).unwrap();
            assert!(
                (0..t.value()).all(|x| t.add(product.evaluate(x), t.sub(x, g.evaluate(x))) == 0),
                "p = {p}"
            );
        }
    }

    #[test]
    fn local_polynomials_have_the_degrees_of_the_paper() {
        // (p, e, B, degree): sets III, IV, V of Ma et al., odd; the digits of set I. For set II 133
        // is met by x^127 and is not least.
        for (p, e, bound, degree) in [
            (127, 3, 22, 127),
            (257, 3, 22, 133),
            (8191, 2, 23, 93),
            (65537, 2, 23, 93),
            (17, 5, 1, 13),
            (17, 6, 8, 81),
        ] {
            let t = PrimePower::new(p, e).unwrap();
            let f = digit_polynomial(t, 1, bound).unwrap();
            assert_eq!((f.degree(), f.parity()), (degree, Parity::Odd), "p = {p}");
            let mut y = 1;
            for z in (-(bound as i64)..=bound as i64).cycle().take(2000) {
                y = t.mul(y + 1, 0x9e37_79b9_7f4a);
                assert_eq!(
                    f.evaluate(t.add(t.reduce_i64(z), t.mul(p, y))),
                    t.reduce_i64(z),
                    "p = {p}, z = {z}"
                );
            }
        }
    }

    #[test]
    fn null_polynomials_take_the_degree_down() {
        // Below (2B + 1) k for the least k with e <= k w + v_p(k!), and for many digits of small p
        // well below ceil(e/w).
        for (p, e, w, bound) in [
            (5u64, 12, 1, 2),
            (5, 12, 1, 1),
            (3, 20, 1, 1),
            (3, 20, 4, 1),
            (7, 9, 2, 3),
            (127, 5, 2, 20),
            (257, 4, 1, 5),
        ] {
            let t = PrimePower::new(p, e).unwrap();
            let factorial = |k: u64| (1..=k).map(|j| p_part(&t, j).ilog(p)).sum::<u32>();
            let k = (1..).find(|k| e <= *k as u32 * w + factorial(*k)).unwrap();
            let f = digit_polynomial(t, w, bound).unwrap();
            assert!(
                (f.degree() as u64) < (2 * bound + 1) * k,
                "p = {p}, e = {e}, w = {w}: {}",
                f.degree()
            );
            let b = bound as i64;
            let points = (0..5000u64).map(|y| (y as i64 % (2 * b + 1) - b, y * y));
            for (z, y) in points {
                let x = t.add(t.reduce_i64(z), t.mul(p.pow(w), y));
                assert_eq!(f.evaluate(x), t.reduce_i64(z), "p = {p}, e = {e}, w = {w}");
            }
        }
        // x^p saves a block where p is below the degree.
        for (e, bound) in (2..6).flat_map(|e| (1..=15).map(move |bound| (e, bound))) {
            let f = digit_polynomial(PrimePower::new(31, e).unwrap(), 1, bound).unwrap();
            let blocks = (2 * bound + 1) * u64::from(e);
            assert!(
                (f.degree() as u64) <= blocks.min(31.max(blocks - 2 * bound - 1)),
                "e = {e}, B = {bound}"
            );
        }
        assert!(matches!(
            digit_polynomial(PrimePower::new(5, 3).unwrap(), 3, 1),
            Err(CircuitError::DigitProblem { .. })
        ));
        assert!(matches!(
            digit_polynomial(PrimePower::new(5, 3).unwrap(), 1, 3),
            Err(CircuitError::DigitProblem { .. })
        ));
        assert!(matches!(
            digit_polynomial(PrimePower::new(15, 2).unwrap(), 1, 5),
            Err(CircuitError::Ring(everlevel_ring::RingError::NotInvertible { .. }))
        ));
    }

    #[test]
    fn no_polynomial_finds_two_digits() {
        for (p, e, v, bound) in
            [(3u64, 4u32, 2u32, 4i64), (3, 5, 2, 2), (5, 4, 2, 3), (17, 6, 2, 9)]
        {
            let t = PrimePower::new(p, e).unwrap();
            // What decides: i, i - p and i + p^v.
            let values = [(bound, 0), (bound - p as i64, 0), (bound, 1)];
            let pairs =
                values.map(|(i, m)| (t.add(t.reduce_i64(i), t.mul(m, p.pow(v))), t.reduce_i64(i)));
            let refused = Polynomial::interpolate_ordering(t, pairs);
            assert!(
                matches!(
                    refused,
                    Err(CircuitError::Ring(everlevel_ring::RingError::NotInvertible { .. }))
                ),
                "p = {p}, e = {e}"
            );
        }
    }

    #[test]
    fn squares_tell_bits_apart_at_every_precision() {
        for (e, w) in [(2, 1), (8, 1), (8, 3), (13, 5), (16, 2), (16, 15)] {
            let t = PrimePower::new(2, e).unwrap();
            let f = digit_polynomial(t, w, 1).unwrap();
            assert_eq!(f.parity(), Parity::Even);
            for x in (0..t.value()).filter(|x| (x >> 1) % (1 << (w - 1)) == 0) {
                assert_eq!(f.evaluate(x), x % 2, "e = {e}, w = {w}, x = {x}");
            }
        }
    }
}
