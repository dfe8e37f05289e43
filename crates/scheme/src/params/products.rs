//! Sets for servers without keys.

use everlevel_ring::Ring;

use super::security::MIN_SECURITY_BITS;
use super::{OptIn, Params, largest_modulus};
use crate::error::SchemeError;
use crate::spec::ParamsSpec;

/// log2 of the degrees that are tried.
const LOG_DEGREES: std::ops::RangeInclusive<u32> = 11..=15;
/// The widest primes.
const WIDEST: u32 = 50;

impl ParamsSpec {
    /// A set for servers without keys, which multiply fresh encryptions under the secret key,
    /// modulo a prime, add up to `terms` such products and return the sum without relinearization.
    /// It uses the smallest power-of-two degree from 2^11 to 2^15 at which the sum decrypts and the
    /// modulus, without special primes, has 128 bits of security. There is a slot for each
    /// coefficient if the prime is 1 modulo twice the degree.
    ///
    /// Tries sets, at a tenth of a second for each: compute it once and store it.
    ///
    /// ```
    /// use everlevel_scheme::{OptIn, Params, ParamsSpec};
    ///
    /// let spec = ParamsSpec::for_products(65537, 100)?;
    /// let params = Params::new(spec, OptIn::SecureOnly)?;
    /// assert_eq!((params.degree(), params.slots()), (1 << 12, 1 << 12));
    /// # Ok::<(), everlevel_scheme::SchemeError>(())
    /// ```
    ///
    /// # Errors
    /// No terms, a number that is not a prime below 2^50, or sums that no such ring supports.
    pub fn for_products(plain_prime: u64, terms: u64) -> Result<Self, SchemeError> {
        for log_degree in LOG_DEGREES {
            let Some(limit) = largest_modulus(1 << log_degree, MIN_SECURITY_BITS) else { continue };
            let found = Self::for_products_over(2 << log_degree, (plain_prime, 1), terms, limit)?;
            if let Some(spec) = found {
                return Ok(spec);
            }
        }
        Err(SchemeError::BadArgument {
            what: "sum of products",
            expected: "one that a ring of degree 2^15 holds without special primes".into(),
            found: plain_prime.to_string(),
        })
    }

    /// A set as [`ParamsSpec::for_products`] finds it, over the ring of an index, for products
    /// modulo p^r and a modulus of at most `log_q` bits: one of the fewest primes, or one more, and
    /// of those the shortest with which the sum decrypts. None if no such set has 128 bits of
    /// security.
    ///
    /// # Errors
    /// No terms, a p^r that is no plaintext modulus of the ring, an index without a ring.
    pub fn for_products_over(
        index: u64,
        (p, r): (u64, u32),
        terms: u64,
        log_q: f64,
    ) -> Result<Option<Self>, SchemeError> {
        if terms == 0 {
            return Err(SchemeError::BadArgument {
                what: "terms of a sum of products",
                expected: "at least one".into(),
                found: terms.to_string(),
            });
        }
        keyless(index, (p, r), WIDEST, 1).check()?;
        let n = Ring::degree_of(index)? as f64;
        // An approximation of the bits that the noise needs; the set determines them exactly.
        let message = (p as f64).log2() * f64::from(r);
        let fresh = message + (n / 2.0 + 30.0 * n.sqrt()).log2();
        let wanted = 2.0 * fresh + (terms as f64).log2();
        let fewest = (wanted / f64::from(WIDEST)).ceil().max(1.0) as u32;
        for primes in [fewest, fewest + 1] {
            let narrowest = (wanted / f64::from(primes)).ceil().max(20.0) as u32;
            for bits in narrowest..=WIDEST {
                if f64::from(bits * primes) > log_q {
                    break;
                }
                let spec = keyless(index, (p, r), bits, primes as usize);
                // There may be too few primes of this size for the ring.
                let Ok(params) = Params::new(spec, OptIn::SecureOnly) else { continue };
                if holds(&params, terms) {
                    return Ok(Some(params.spec().clone()));
                }
            }
        }
        Ok(None)
    }
}

/// A set of `primes` primes of `bits` bits and no others, which its name states: sets for different
/// sums over one ring have different names.
fn keyless(index: u64, (p, r): (u64, u32), bits: u32, primes: usize) -> ParamsSpec {
    let power = if r == 1 { String::new() } else { format!("e{r}") };
    let ring = match index.is_power_of_two() {
        true => format!("n{}", (index / 2).max(1).ilog2()),
        false => format!("m{index}"),
    };
    ParamsSpec {
        plain_exponent: r,
        base_bits: bits,
        word_bits: bits,
        words: primes - 1,
        special: 0,
        ..ParamsSpec::new(format!("bgv-{p}{power}-{ring}-keyless-{primes}x{bits}"), index, p)
    }
}

/// Whether a sum of `terms` products of fresh ciphertexts decrypts.
fn holds(params: &Params, terms: u64) -> bool {
    let (noise, t, r) = (params.noise(), params.wide_modulus(), params.plain_exponent());
    let fresh = noise.modeled(params.chain().top(), r, |model| model.fresh_secret(t));
    let product = noise.product(&fresh, &fresh);
    product.and_then(|product| noise.scale(&product, terms)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_sets_have_one_name() {
        let sets = [1, 30, 1000].map(|terms| ParamsSpec::for_products(65537, terms).unwrap());
        assert_ne!(sets[0], sets[2]);
        for (a, b) in sets.iter().zip(sets.iter().cycle().skip(1)) {
            assert_eq!(a == b, a.name == b.name, "{} {}", a.name, b.name);
        }
    }

    #[test]
    fn sets_hold_what_they_are_for_and_not_much_more() {
        for (p, terms) in [(65537, 1), (65537, 1000), (257, 1), (17_179_926_529, 4)] {
            let spec = ParamsSpec::for_products(p, terms).unwrap();
            let params = Params::new(spec, OptIn::SecureOnly).unwrap();
            assert!(params.security().bits() >= 128.0 && params.chain().special().is_empty());
            assert!(holds(&params, terms) && !holds(&params, 64 * terms), "{p}, {terms}");
            assert!(params.check_switching().is_err());
        }
        // Bytes, over an odd index.
        let limit = largest_modulus(8190, 129.0).unwrap();
        let found = ParamsSpec::for_products_over(8191, (2, 8), 1000, limit).unwrap().unwrap();
        let params = Params::new(found, OptIn::SecureOnly).unwrap();
        let spec = params.spec();
        let name = format!("bgv-2e8-m8191-keyless-{}x{}", spec.words + 1, spec.base_bits);
        assert_eq!((params.name(), params.slots()), (name.as_str(), 630));
        assert!(params.chain().special().is_empty() && holds(&params, 1000));
        let none = ParamsSpec::for_products_over(8191, (2, 8), 1000, 20.0);
        assert_eq!(none, Ok(None));
        assert_eq!(ParamsSpec::for_products(65537, 0).unwrap_err().code(), "scheme.bad-argument");
        assert_eq!(ParamsSpec::for_products(65536, 1).unwrap_err().code(), "scheme.bad-params");
        let large = ParamsSpec::for_products((1 << 50) - 27, u64::MAX);
        assert!(large.is_ok() || large.unwrap_err().code() == "scheme.bad-argument");
    }
}
