//! Sets for servers without keys.

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
        let bad = |what, expected: String, found: u64| {
            Err(SchemeError::BadArgument { what, expected, found: found.to_string() })
        };
        if terms == 0 {
            return bad("terms of a sum of products", "at least one".into(), terms);
        }
        for log_degree in LOG_DEGREES {
            let degree = 1usize << log_degree;
            let Some(limit) = largest_modulus(degree, 128.0) else { continue };
            // An approximation of the bits that the noise needs; the set determines them exactly.
            let n = degree as f64;
            let fresh = (plain_prime as f64).log2() + (n / 2.0 + 30.0 * n.sqrt()).log2();
            let wanted = 2.0 * fresh + (terms as f64).log2();
            let primes = (wanted / f64::from(WIDEST)).ceil().max(1.0);
            let narrowest = (wanted / primes).ceil().max(20.0) as u32;
            for bits in narrowest..=WIDEST {
                if f64::from(bits) * primes > limit {
                    break;
                }
                let spec = keyless(plain_prime, log_degree, bits, primes as usize);
                if holds(&Params::new(spec.clone(), OptIn::SecureOnly)?, terms) {
                    return Ok(spec);
                }
            }
        }
        bad(
            "sum of products",
            "one that a ring of degree 2^15 holds without special primes".into(),
            plain_prime,
        )
    }
}

/// A set of `primes` primes of `bits` bits and no others.
fn keyless(plain_prime: u64, log_degree: u32, bits: u32, primes: usize) -> ParamsSpec {
    ParamsSpec {
        base_bits: bits,
        word_bits: bits,
        words: primes - 1,
        special: 0,
        ..ParamsSpec::new(
            format!("bgv-{plain_prime}-n{log_degree}-keyless"),
            2 << log_degree,
            plain_prime,
        )
    }
}

/// Whether a sum of `terms` products of fresh ciphertexts decrypts.
fn holds(params: &Params, terms: u64) -> bool {
    let (noise, t) = (params.noise(), params.wide_modulus());
    let fresh = noise.modeled(params.chain().top(), 1, |model| model.fresh_secret(t));
    let product = noise.product(&fresh, &fresh);
    product.and_then(|product| noise.scale(&product, terms)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_they_are_for_and_not_much_more() {
        for (p, terms) in [(65537, 1), (65537, 1000), (257, 1), (17_179_926_529, 4)] {
            let spec = ParamsSpec::for_products(p, terms).unwrap();
            let params = Params::new(spec, OptIn::SecureOnly).unwrap();
            assert!(params.security().bits() >= 128.0 && params.chain().special().is_empty());
            assert!(holds(&params, terms) && !holds(&params, 64 * terms), "{p}, {terms}");
            assert!(params.check_switching().is_err());
        }
        assert_eq!(ParamsSpec::for_products(65537, 0).unwrap_err().code(), "scheme.bad-argument");
        assert_eq!(ParamsSpec::for_products(65536, 1).unwrap_err().code(), "scheme.bad-params");
        let large = ParamsSpec::for_products((1 << 50) - 27, u64::MAX);
        assert!(large.is_ok() || large.unwrap_err().code() == "scheme.bad-argument");
    }
}
