//! Sets for servers without keys.

use everlevel_arith::primes::is_prime;
use everlevel_bgv::{Evaluator, Product, SecretKey, ServerKeys};
use everlevel_ring::Ring;
use everlevel_ring::sample::system_rng;
use everlevel_scheme::noise::Events;
use everlevel_scheme::params::largest_modulus;
use everlevel_scheme::{Arithmetic, OptIn, Params, ParamsSpec, SchemeError};
use everlevel_wire::{Metadata, ciphertexts, product_results, products};

use super::made::MARGIN_BITS;
use super::places::{MODULUS, few_slots, places, prime_power};
use crate::error::Error;
use crate::planner::zero;

/// log2 of the largest probability with which any ciphertext of a sum may exceed its bound.
const FAILURE_LOG2: f64 = -128.0;
/// log2 of the degrees that are tried for values.
const LOG_DEGREES: std::ops::RangeInclusive<u32> = 10..=17;
/// Plaintext primes are below 2 to this.
const PRIME_BITS: u32 = 50;

/// What a server without keys computes: a sum of products of fresh encryptions under the secret
/// key. It returns the sum without relinearization, and the owner of the key decrypts it; nothing
/// else can be done with it. Begin with [`SumOfProducts::new`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SumOfProducts {
    /// The least number of slots.
    pub slots: usize,
    /// The most products of two fresh ciphertexts that are added up. A product of two sums counts
    /// as the products of all of their terms.
    pub terms: u64,
    /// The largest absolute value of the public constant by which such a product is multiplied,
    /// those of its factors included.
    pub weight: u64,
}

/// A parameter set for a server without keys: it has no special primes, so that all of its modulus
/// is there for noise, and no switching keys can be made for it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KeylessSet {
    /// The set; `params.spec()` is its specification.
    pub params: Params,
    /// log2 of the probability that any of the ciphertexts of a sum, two for each product, exceeds
    /// its noise bound: at most -128.
    pub failure_log2: f64,
    /// What the noise bound of the largest sum leaves, in bits.
    pub capacity_bits: f64,
    /// The bytes of a file of one fresh ciphertext, with its seed.
    pub fresh_bytes: usize,
    /// The bytes of a file of one sum.
    pub result_bytes: usize,
    /// The same cut to what decryption needs; none if it cannot be cut, for plaintext moduli above
    /// some 2^40, and for small ones, whose Q is too short for decryption to compute it.
    pub compact_bytes: Option<usize>,
}

impl SumOfProducts {
    /// At most `terms` products, without constants, in at least one slot.
    pub fn new(terms: u64) -> Self {
        SumOfProducts { slots: 1, terms, weight: 1 }
    }

    /// Sets the least number of slots.
    #[must_use]
    pub fn slots(self, slots: usize) -> Self {
        SumOfProducts { slots, ..self }
    }

    /// Sets the largest absolute value of public constants.
    #[must_use]
    pub fn weight(self, weight: u64) -> Self {
        SumOfProducts { weight, ..self }
    }

    /// The smallest set for sums modulo `plain_modulus` = p^r: the ring of least degree, of those
    /// over which [`Requirements`](crate::Requirements) makes sets, whose modulus has a bit more
    /// than 128 bits of security and holds the proved noise bound of every such sum; the fewest
    /// primes, or one more, and of those the shortest. It is [`ParamsSpec::for_products`] for any
    /// prime power and number of slots.
    ///
    /// Takes up to seconds. To know the sizes of files it draws a key, and encrypts and multiplies
    /// once.
    ///
    /// # Errors
    /// A plaintext modulus that is not a power of a prime; no slots, products or weight; sums that
    /// no ring holds, or of more ciphertexts than together stay within their bounds but for a
    /// probability of 2^-128.
    pub fn modulo(&self, plain_modulus: u128) -> Result<KeylessSet, Error> {
        self.count()?;
        let power = prime_power(plain_modulus);
        let (p, r) = power.ok_or_else(|| self.refused(MODULUS.into()))?;
        let found = places(p, self.slots)?;
        if found.is_empty() {
            return Err(self.refused(few_slots(p)));
        }
        self.first(found.into_iter().map(|place| (place.index, (p, r))))
    }

    /// The smallest set for sums of values from 0 to `largest`, or from `-largest` to `largest` if
    /// values, constants or results may be negative: as [`SumOfProducts::modulo`], with a slot for
    /// each coefficient of a ring of power-of-two index, and the least prime with which no sum
    /// wraps around.
    ///
    /// # Errors
    /// As [`SumOfProducts::modulo`]; results that do not fit a prime below 2^50.
    pub fn of_values(&self, largest: u64, signed: bool) -> Result<KeylessSet, Error> {
        let count = u128::from(self.count()?) << u32::from(signed);
        let results = u128::from(largest).pow(2).checked_mul(count);
        let Some(results) = results.filter(|results| results >> PRIME_BITS == 0) else {
            return Err(self.refused(format!(
                "with values of up to {largest} its results do not fit a prime below \
                 2^{PRIME_BITS}: split values into digits, or add up fewer products"
            )));
        };
        let fitting = LOG_DEGREES.filter(|&log_degree| 1usize << log_degree >= self.slots);
        // p is 1 modulo the index, which gives all slots.
        self.first(fitting.filter_map(|log_degree| {
            let index = 2 << log_degree;
            Some((index, (prime_above(results as u64, index)?, 1)))
        }))
    }

    /// How many times the noise of a product the largest sum has.
    fn count(&self) -> Result<u64, Error> {
        if self.slots == 0 || self.terms == 0 || self.weight == 0 {
            return Err(self.refused("expected at least one of each".into()));
        }
        self.terms.checked_mul(self.weight).ok_or_else(|| {
            self.refused("its products times their weight do not stay below 2^64".into())
        })
    }

    /// The set over the first of these rings that has one.
    fn first(&self, rings: impl Iterator<Item = (u64, (u64, u32))>) -> Result<KeylessSet, Error> {
        let count = self.count()?;
        for (index, modulus) in rings {
            let degree = Ring::degree_of(index)?;
            let Some(limit) = largest_modulus(degree, 128.0 + MARGIN_BITS) else { continue };
            if let Some(spec) = ParamsSpec::for_products_over(index, modulus, count, limit)? {
                return self.tried(Params::new(spec, OptIn::SecureOnly)?, count);
            }
        }
        Err(self.refused(
            "no ring up to degree 2^17 has as many slots and room for its noise at 128 bits: ask \
             for fewer slots, a smaller plaintext modulus or fewer products"
                .into(),
        ))
    }

    /// A set with the sizes of what is exchanged.
    fn tried(&self, params: Params, count: u64) -> Result<KeylessSet, Error> {
        let noise = params.noise();
        let failure_log2 = noise.failure_of_events(Events::fresh(self.terms.saturating_mul(2)));
        if failure_log2 > FAILURE_LOG2 {
            return Err(self.refused(format!(
                "with probability 2^{failure_log2:.0}, above 2^-128, one of the ciphertexts of \
                 these products exceeds its noise bound: add up fewer products, and state public \
                 constants as their weight"
            )));
        }
        let mut rng = system_rng()?;
        let secret = SecretKey::generate(&params, &mut rng);
        // Sizes do not depend on the message, and to encode others takes long over odd indices.
        let x = secret.encrypt(&zero(&params)?, &mut rng)?;
        let server = Evaluator::new(ServerKeys::empty(&params));
        let product = server.mul_lazy_aligned(&x, &x)?;
        // What a result is cut to depends on its bound.
        let meta = noise.scale(product.meta(), count)?;
        let sum = Product::from_parts(&params, meta, product.components(params.cpu()))?;
        let none = Metadata::new();
        let compact_bytes = match sum.compact_for_decryption(&params) {
            Ok(compact) => Some(product_results::to_bytes(&params, &[compact], &none)?.len()),
            Err(_) => None,
        };
        Ok(KeylessSet {
            failure_log2,
            capacity_bits: noise.capacity(&meta),
            fresh_bytes: ciphertexts::to_bytes(&params, &[x], &none)?.len(),
            result_bytes: products::to_bytes(&params, &[sum], &none)?.len(),
            compact_bytes,
            params,
        })
    }

    fn refused(&self, problem: String) -> Error {
        let SumOfProducts { slots, terms, weight } = self;
        let name = format!("for a sum of {terms} products of weight {weight} in {slots} slots");
        Error::from(SchemeError::BadParams { name, problem })
    }
}

/// The least prime above a number, and below 2^50, that is 1 modulo `step`.
fn prime_above(number: u64, step: u64) -> Option<u64> {
    (number.div_ceil(step).max(1)..)
        .map(|k| k * step + 1)
        .take_while(|p| p >> PRIME_BITS == 0)
        .find(|p| is_prime(*p))
}
