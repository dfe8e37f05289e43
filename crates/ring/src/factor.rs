//! Roots of unity in Galois rings, and the factors of Φ_N that belong to them.

use everlevel_arith::primes;

use crate::error::RingError;
use crate::galois_ring::GaloisRing;
use crate::prime_power::PrimePower;

/// A monic irreducible polynomial of degree `degree` over the field of p elements, the first one of
/// a fixed sequence: about `degree` tests, which most candidates fail at once.
pub(crate) fn irreducible(field: PrimePower, degree: usize) -> Result<GaloisRing, RingError> {
    let mut words = Words(0);
    loop {
        let mut polynomial: Vec<u64> =
            (0..degree).map(|_| field.reduce_u64(words.next())).collect();
        polynomial.push(1);
        let ring = GaloisRing::new(field, &polynomial)?;
        if is_irreducible(&ring)? {
            return Ok(ring);
        }
    }
}

/// Ben-Or's test: no factor of degree i divides x^(p^i) - x, i = 1, .., d/2.
fn is_irreducible(ring: &GaloisRing) -> Result<bool, RingError> {
    let p = u128::from(ring.modulus().prime());
    let mut power = ring.x();
    for _ in 0..ring.degree() / 2 {
        power = ring.pow(&power, p);
        if !is_coprime(ring.modulus(), ring.polynomial().to_vec(), ring.sub(&power, &ring.x()))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Euclid's algorithm over a field.
fn is_coprime(field: PrimePower, mut a: Vec<u64>, mut b: Vec<u64>) -> Result<bool, RingError> {
    loop {
        while b.last() == Some(&0) {
            b.pop();
        }
        let Some(&lead) = b.last() else { return Ok(a.len() == 1) };
        let inverse = field.inv(lead)?;
        while a.len() >= b.len() {
            let factor = field.mul(a[a.len() - 1], inverse);
            let start = a.len() - b.len();
            a[start..]
                .iter_mut()
                .zip(&b)
                .for_each(|(x, &y)| *x = field.sub(*x, field.mul(factor, y)));
            a.pop();
        }
        (a, b) = (b, a);
    }
}

/// An element of order N = l^k in a field of p^d elements, N a divisor of p^d - 1; the first one of
/// a fixed sequence.
pub(crate) fn element_of_order(field: &GaloisRing, order: u64) -> Vec<u64> {
    let (p, d) = (u128::from(field.modulus().prime()), field.degree());
    // (p^d - 1) / N in base p, from the top.
    let mut rest = 0;
    let digits: Vec<u128> = (0..d)
        .map(|_| {
            let value = rest * p + p - 1;
            rest = value % u128::from(order);
            value / u128::from(order)
        })
        .collect();
    let below: Vec<u128> =
        primes::factor(order).into_iter().map(|(prime, _)| u128::from(order / prime)).collect();
    let mut words = Words(0);
    loop {
        let start: Vec<u64> = (0..d).map(|_| field.modulus().reduce_u64(words.next())).collect();
        let root = digits.iter().fold(field.one(), |root, &digit| {
            field.mul(&field.frobenius(&root, 1), &field.pow(&start, digit))
        });
        let is_unit = field.pow(&root, u128::from(order)) == field.one();
        if is_unit && below.iter().all(|&k| field.pow(&root, k) != field.one()) {
            return root;
        }
    }
}

/// The minimal polynomial over the field of p elements of a root: the shortest recurrence of the
/// constant coefficients of its powers, by Berlekamp and Massey. `degree` is its degree.
pub(crate) fn minimal_polynomial(
    field: &GaloisRing,
    root: &[u64],
    degree: usize,
) -> Result<Vec<u64>, RingError> {
    let t = field.modulus();
    let mut power = field.one();
    // The recurrence 1, c1, c2, ..: Σ c_i s_(n - i) = 0; the one before its last change of length,
    // its error and its age.
    let (mut sequence, mut current, mut previous) =
        (Vec::with_capacity(2 * degree), vec![1], vec![1]);
    let (mut length, mut error, mut age) = (0, 1, 1);
    for n in 0..2 * degree {
        sequence.push(power[0]);
        power = field.mul(&power, root);
        let miss = current
            .iter()
            .take(n + 1)
            .enumerate()
            .fold(0, |s, (i, &c)| t.add(s, t.mul(c, sequence[n - i])));
        if miss != 0 {
            let old = current.clone();
            let factor = t.mul(miss, t.inv(error)?);
            current.resize(current.len().max(previous.len() + age), 0);
            current[age..]
                .iter_mut()
                .zip(&previous)
                .for_each(|(x, &y)| *x = t.sub(*x, t.mul(factor, y)));
            if 2 * length <= n {
                (length, previous, error, age) = (n + 1 - length, old, miss, 0);
            }
        }
        age += 1;
    }
    current.resize(degree + 1, 0);
    current.reverse();
    Ok(current)
}

/// The root of unity of order N modulo p^e that is `root` modulo p. Newton's iteration doubles the
/// exponent for which it is one.
pub(crate) fn lift_root(
    ring: &GaloisRing,
    root: &[u64],
    order: u64,
) -> Result<Vec<u64>, RingError> {
    let t = ring.modulus();
    let (one, inverse) = (ring.one(), t.inv(order)?);
    Ok((0..=t.exponent().ilog2()).fold(ring.reduce(root), |root, _| {
        let error = ring.scale(inverse, &ring.sub(&one, &ring.pow(&root, u128::from(order))));
        ring.mul(&root, &ring.add(&one, &error))
    }))
}

/// The factor of Φ_N modulo p^e that is `factor` modulo p (Hensel), `factor` irreducible with roots
/// of order N.
pub(crate) fn lift_factor(
    modulus: PrimePower,
    factor: &[u64],
    order: u64,
) -> Result<Vec<u64>, RingError> {
    let degree = factor.len() - 1;
    let ring = GaloisRing::new(modulus, factor)?;
    let root = lift_root(&ring, &ring.x(), order)?;
    let powers: Vec<Vec<u64>> =
        std::iter::successors(Some(ring.one()), |x| Some(ring.mul(x, &root)))
            .take(degree + 1)
            .collect();
    // root^d = Σ c_i root^i; as root = x modulo p, what is left over is a first correction of c.
    let mut c = vec![0; degree];
    for _ in 0..modulus.exponent() {
        let sum = c
            .iter()
            .zip(&powers)
            .fold(powers[degree].clone(), |sum, (&c, power)| ring.sub(&sum, &ring.scale(c, power)));
        c = ring.add(&c, &sum);
    }
    Ok(c.into_iter().map(|c| modulus.neg(c)).chain([1]).collect())
}

/// A fixed sequence of words that look random (SplitMix64 by Steele, Lea and Flood): choices
/// without consequences for security.
struct Words(u64);

impl Words {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn irreducible_polynomials_are_as_many_as_gauss_counted() {
        // (1/d) Σ μ(d/k) p^k over the divisors k of d.
        for (p, degree, count) in [
            (2, 1, 2),
            (2, 4, 3),
            (2, 6, 9),
            (3, 2, 3),
            (3, 4, 18),
            (3, 5, 48),
            (5, 3, 40),
            (7, 2, 21),
        ] {
            let field = PrimePower::new(p, 1).unwrap();
            let digits = |c: u64| {
                (0..degree).map(move |i| c / p.pow(i) % p).chain([1]).collect::<Vec<u64>>()
            };
            let passes =
                |c: &u64| is_irreducible(&GaloisRing::new(field, &digits(*c)).unwrap()).unwrap();
            assert_eq!(
                (0..p.pow(degree)).filter(passes).count(),
                count,
                "degree {degree} over {p} elements"
            );
        }
    }

    #[test]
    fn minimal_polynomials_vanish_at_their_roots_before_and_after_lifting() {
        for (p, e, degree, order, own) in [
            (2, 61, 12, 13, 12),
            (2, 64, 12, 13, 12),
            (3, 40, 6, 7, 6),
            (2, 10, 12, 5, 4),
            (3, 39, 6, 7, 6),
            (17, 3, 4, 5, 4),
            (127, 8, 3, 9, 1),
            (31, 2, 1, 5, 1),
        ] {
            let t = PrimePower::new(p, e).unwrap();
            let any = irreducible(t.reduced(1).unwrap(), degree).unwrap();
            let root = element_of_order(&any, order);
            let low = minimal_polynomial(&any, &root, own).unwrap();
            let value = |ring: &GaloisRing, f: &[u64], x: &[u64]| {
                f.iter()
                    .rev()
                    .fold(ring.scalar(0), |sum, &c| ring.add(&ring.mul(&sum, x), &ring.scalar(c)))
            };
            assert_eq!((low.len(), value(&any, &low, &root)), (own + 1, any.scalar(0)));
            let lifted = lift_factor(t, &low, order).unwrap();
            let ring = GaloisRing::new(t, &lifted).unwrap();
            assert_eq!(ring.reduced(1).unwrap().polynomial(), low);
            assert_eq!(ring.pow(&ring.x(), u128::from(order)), ring.one());
            let large = GaloisRing::new(t, any.polynomial()).unwrap();
            let root = lift_root(&large, &root, order).unwrap();
            assert_eq!(value(&large, &lifted, &root), large.scalar(0), "order {order}, {p}^{e}");
        }
    }
}
