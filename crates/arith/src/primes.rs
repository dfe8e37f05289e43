//! Primes and roots of unity. These functions are for set-up: they work on public data, in variable
//! time.

use crate::modulus::Modulus;

/// a b mod m, for any m > 0.
fn mul_mod(a: u64, b: u64, m: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(m)) as u64
}

/// base^exponent with products by `mul`, whose neutral element is `one`.
fn power(base: u64, mut exponent: u64, one: u64, mul: impl Fn(u64, u64) -> u64) -> u64 {
    let (mut result, mut square) = (one, base);
    while exponent != 0 {
        if exponent & 1 == 1 {
            result = mul(result, square);
        }
        square = mul(square, square);
        exponent >>= 1;
    }
    result
}

/// base^exponent mod m, for any m > 0.
pub(crate) fn pow_mod(base: u64, exponent: u64, m: u64) -> u64 {
    // Its constants take as long as a few products by division.
    if let Ok(modulus) = Modulus::new(m) {
        return modulus.pow(base % m, exponent);
    }
    power(base % m, exponent, 1 % m, |a, b| mul_mod(a, b, m))
}

/// The greatest common divisor; that of 0 and b is b.
pub fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The order of g in the group of units modulo n, for g coprime to n. `group` is a multiple of the
/// order, such as the size of the group. O(log² group) products besides the factorization of
/// `group`.
///
/// ```
/// assert_eq!(everlevel_arith::primes::order(2, 7, 6), 3);
/// ```
pub fn order(g: u64, n: u64, group: u64) -> u64 {
    factor(group).into_iter().fold(group, |mut order, (p, _)| {
        while order.is_multiple_of(p) && pow_mod(g, order / p, n) == 1 % n {
            order /= p;
        }
        order
    })
}

/// The first twelve primes: Miller-Rabin to these bases is a proof below 3.3 * 10^24.
const SMALL_PRIMES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];

/// Whether n is prime. Deterministic for every `u64`.
pub fn is_prime(n: u64) -> bool {
    if n < 2 {
        return false;
    }
    for p in SMALL_PRIMES {
        if n.is_multiple_of(p) {
            return n == p;
        }
    }
    // What is left has no factor below 41, so that the bases are residues.
    match Modulus::new(n) {
        Ok(modulus) => passes_all(n, |a, b| modulus.mul(a, b)),
        Err(_) => passes_all(n, |a, b| mul_mod(a, b, n)),
    }
}

/// Whether the odd n above all bases passes Miller and Rabin's test to each of them, with its
/// products by `mul`.
fn passes_all(n: u64, mul: impl Fn(u64, u64) -> u64) -> bool {
    let twos = (n - 1).trailing_zeros();
    let odd = (n - 1) >> twos;
    SMALL_PRIMES.iter().all(|&base| {
        let mut x = power(base, odd, 1, &mul);
        if x == 1 || x == n - 1 {
            return true;
        }
        (1..twos).any(|_| {
            x = mul(x, x);
            x == n - 1
        })
    })
}

/// The primes that are 1 modulo `step` and less than `below`, largest first. A step of 0 gives
/// none.
///
/// ```
/// use everlevel_arith::primes::primes_congruent_one;
/// assert_eq!(primes_congruent_one(32, 200).collect::<Vec<_>>(), [193, 97]);
/// ```
pub fn primes_congruent_one(step: u64, below: u64) -> impl Iterator<Item = u64> {
    // The largest m with m step + 1 < below; candidates are m step + 1 with m going down to 1.
    let most = below.saturating_sub(2).checked_div(step).unwrap_or(0);
    (1..=most).rev().map(move |m| m * step + 1).filter(|&candidate| is_prime(candidate))
}

/// The least primitive root of unity of the given order modulo the prime q, or `None` if q is not
/// prime or the order does not divide q - 1. O(order) multiplications, a quarter of the order for a
/// power of two.
pub fn primitive_root_of_unity(q: u64, order: u64) -> Option<u64> {
    if order == 0 || !is_prime(q) || !(q - 1).is_multiple_of(order) {
        return None;
    }
    let divisors: Vec<u64> = factor(order).into_iter().map(|(p, _)| p).collect();
    let root = (1..q)
        .map(|x| pow_mod(x, (q - 1) / order, q))
        .find(|&r| divisors.iter().all(|p| pow_mod(r, order / p, q) != 1))?;
    let modulus = Modulus::new(q).ok();
    let mul = |a: u64, b: u64| match modulus {
        Some(modulus) => modulus.mul(a, b),
        None => mul_mod(a, b, q),
    };
    // The primitive roots are the powers with exponents prime to the order.
    let mut least = q;
    if order.is_power_of_two() && order >= 4 {
        // The odd exponents; those from half of the order on belong to the negatives.
        let square = mul(root, root);
        let mut power = root;
        for _ in 0..order / 4 {
            least = least.min(power).min(q - power);
            power = mul(power, square);
        }
        return Some(least);
    }
    let mut power = 1;
    for exponent in 1..=order {
        power = mul(power, root);
        if divisors.iter().all(|p| !exponent.is_multiple_of(*p)) {
            least = least.min(power);
        }
    }
    Some(least)
}

/// A primitive root of unity modulo p^e: the one that is [`primitive_root_of_unity`]`(p, order)`
/// modulo p.
///
/// `None` if there is no such root, or if p^e does not fit in a word. Among the lifts r + p x of a
/// root r modulo p exactly one has the same order modulo p^e (Hensel), and it is r^(p^(e - 1)).
pub fn root_mod_prime_power(p: u64, e: u32, order: u64) -> Option<u64> {
    let below = p.checked_pow(e.checked_sub(1)?)?;
    let modulus = below.checked_mul(p)?;
    let root = primitive_root_of_unity(p, order)?;
    Some(pow_mod(root, below, modulus))
}

/// The factorization of n as pairs of prime and exponent, ascending; empty for 0 and 1.
///
/// Trial division and Pollard's rho with Brent's bound: about n^(1/4) steps at worst.
pub fn factor(n: u64) -> Vec<(u64, u32)> {
    let mut found = Vec::new();
    let mut rest = n;
    if n != 0 {
        // Nothing that is composite divides what its own factors were taken from.
        for p in 2..256 {
            if p * p > rest {
                break;
            }
            while rest.is_multiple_of(p) {
                found.push(p);
                rest /= p;
            }
        }
        split(rest, &mut found);
    }
    found.sort_unstable();
    let mut pairs: Vec<(u64, u32)> = Vec::new();
    for p in found {
        match pairs.last_mut() {
            Some((last, count)) if *last == p => *count += 1,
            _ => pairs.push((p, 1)),
        }
    }
    pairs
}

/// Appends the prime factors, with repetition, of a number without factors below 256.
fn split(n: u64, found: &mut Vec<u64>) {
    if n == 1 {
        return;
    }
    if is_prime(n) {
        found.push(n);
        return;
    }
    let divisor = (1..).find_map(|c| pollard_rho(n, c)).unwrap_or(n);
    split(divisor, found);
    split(n / divisor, found);
}

/// A proper divisor of the composite odd n, from the cycle of x -> x^2 + c; `None` if this c fails.
fn pollard_rho(n: u64, c: u64) -> Option<u64> {
    let step = |x: u64| ((u128::from(x) * u128::from(x) + u128::from(c)) % u128::from(n)) as u64;
    let (mut slow, mut fast) = (2, 2);
    loop {
        slow = step(slow);
        fast = step(step(fast));
        let divisor = gcd(slow.abs_diff(fast), n);
        if divisor == n {
            return None;
        }
        if divisor != 1 {
            return Some(divisor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "no memory is touched, and interpreted it takes hours")]
    fn primality_agrees_with_a_sieve_and_known_cases() {
        let mut composite = vec![false; 10_000];
        for i in 2..100 {
            (i * i..10_000).step_by(i).for_each(|j| composite[j] = true);
        }
        for (n, &is_composite) in composite.iter().enumerate().skip(2) {
            assert_eq!(is_prime(n as u64), !is_composite, "{n}");
        }
        assert!(!is_prime(0) && !is_prime(1));
        assert!(is_prime(u64::MAX - 58) && !is_prime(u64::MAX));
        // Strong pseudoprimes to the bases 2, 3, 5, 7 and to the first nine primes.
        assert!(!is_prime(3_215_031_751) && !is_prime(3_825_123_056_546_413_051));
    }

    #[test]
    #[cfg_attr(miri, ignore = "no memory is touched, and interpreted it takes hours")]
    fn listed_primes_are_complete_and_descending() {
        let listed: Vec<u64> = primes_congruent_one(64, 5000).collect();
        let expected: Vec<u64> = (0..5000).rev().filter(|n| n % 64 == 1 && is_prime(*n)).collect();
        assert_eq!(listed, expected);
        assert_eq!(primes_congruent_one(64, 193).next(), None);
        assert_eq!(primes_congruent_one(64, 194).next(), Some(193));
        assert_eq!(primes_congruent_one(0, 100).next(), None);
        assert_eq!(primes_congruent_one(7, 0).next(), None);
    }

    #[test]
    #[cfg_attr(miri, ignore = "no memory is touched, and interpreted it takes hours")]
    fn roots_have_exact_order_and_are_least() {
        let orders = [(97, 32), (97, 96), (65537, 1 << 12), (786_433, 12), (13, 1), (13, 2)];
        let powers_of_two = [(13, 4), (97, 2), (97, 4), (97, 8), (17, 16), (257, 256)];
        for (q, order) in orders.into_iter().chain(powers_of_two) {
            let root = primitive_root_of_unity(q, order).unwrap();
            let is_primitive = |r: u64| (1..=order).find(|&k| pow_mod(r, k, q) == 1) == Some(order);
            assert!(is_primitive(root));
            assert!((1..root.min(3000)).all(|r| !is_primitive(r)));
        }
        assert_eq!(primitive_root_of_unity(97, 5), None);
        assert_eq!(primitive_root_of_unity(91, 2), None);
        assert_eq!(primitive_root_of_unity(97, 0), None);
    }

    #[test]
    #[cfg_attr(miri, ignore = "no memory is touched, and interpreted it takes hours")]
    fn lifted_roots_reduce_to_the_root_and_keep_their_order() {
        for (p, e, order) in
            [(17u64, 4, 16u64), (65537, 3, 1 << 16), (786_433, 2, 1 << 17), (97, 1, 32)]
        {
            let modulus = p.pow(e);
            let root = root_mod_prime_power(p, e, order).unwrap();
            assert_eq!(Some(root % p), primitive_root_of_unity(p, order));
            assert_eq!(pow_mod(root, order / 2, modulus), modulus - 1);
        }
        assert_eq!(root_mod_prime_power(65537, 5, 4), None);
        assert_eq!(root_mod_prime_power(65537, 0, 4), None);
    }

    #[test]
    #[cfg_attr(miri, ignore = "no memory is touched, and interpreted it takes hours")]
    fn factorization_multiplies_back() {
        for n in (1..2000).chain([
            u64::MAX,
            1 << 40,
            65537 * 65537,
            1_125_899_906_826_241,
            999_983 * 1_000_003,
        ]) {
            let pairs = factor(n);
            assert_eq!(pairs.iter().map(|&(p, e)| p.pow(e)).product::<u64>(), n);
            assert!(pairs.iter().all(|&(p, _)| is_prime(p)) && pairs.is_sorted());
        }
        assert_eq!(factor(0), []);
    }
}
