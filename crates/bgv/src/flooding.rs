//! Decryption for disclosure to others: noise flooding before the rounding (IND-CPA-D).
//!
//! **Purpose.** An exact decryption reveals nothing but the message, as long as the noise is within
//! the bound that the ciphertext carries. If the noise is larger (because a file states a wrong
//! bound, or by an event of probability 2^-170), it depends on the noise, hence on the key, whether
//! a coefficient is wrong, and enough such values reveal the key: these are the attacks on exact
//! schemes of Cheon et al. and of Checri et al. (2024, ia.cr/2024/127 and 2024/116). Noise flooding
//! as in Li, Micciancio, Schultz and Sorrell (*Securing approximate homomorphic encryption using
//! differential privacy*, 2022) limits this leakage, here in statistical distance, a stronger
//! notion than theirs.
//!
//! **Claim.** Let W = κ m + t ε be the phase, n the degree, and U uniform on the integers -2^f to
//! 2^f - 1 in each coefficient. The value that is decrypted is a function of W + t U modulo Q
//! alone, so its distribution is within Σ |ε_i| / 2^(f+1) of the one for ε = 0 (a shift of U, then
//! data processing), which depends on m and public data only. If |ε_i| <= A, with A from the bound
//! on W, and 2^(f+1) >= 2^s τ n A, then τ values together are within 2^-s of values that do not
//! depend on the noise, and within 2^(k-s) if the noise exceeds its bound by a factor 2^k. If it
//! does not, W + t U is less than Q/2 in every coefficient, so that the message is exact.
//!
//! The price is capacity: about s + log2(τ n) bits.

use everlevel_ring::sample;
use rand_core::CryptoRng;

use crate::ciphertext::Ciphertext;
use crate::encryption::plaintext_of;
use crate::keys::SecretKey;
use everlevel_scheme::Params;
use everlevel_scheme::Plaintext;
use everlevel_scheme::SchemeError;
use everlevel_scheme::noise::{Meta, log_add};

/// The amount of noise that [`SecretKey::decrypt_for_sharing`] adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FloodingPolicy {
    /// s: all values together are within statistical distance 2^-s of values that do not depend on
    /// the noise.
    pub statistical_bits: u32,
    /// log2 τ, where τ is the number of values that are shared under one key.
    pub decryptions_log2: u32,
}

impl Default for FloodingPolicy {
    /// 2^-64 for 2^20 values.
    fn default() -> Self {
        FloodingPolicy { statistical_bits: 64, decryptions_log2: 20 }
    }
}

/// The most bits of a flood.
const LARGEST_FLOOD: u32 = 1 << 12;

impl FloodingPolicy {
    /// 2^-`statistical_bits` for 2^`decryptions_log2` values.
    pub fn new(statistical_bits: u32, decryptions_log2: u32) -> Self {
        FloodingPolicy { statistical_bits, decryptions_log2 }
    }

    /// f: the flood is uniform on -2^f .. 2^f - 1 in units of t; and log2 of the bound on a
    /// coefficient of the flooded phase.
    fn flood(&self, params: &Params, meta: &Meta) -> Result<(u32, f64), SchemeError> {
        let t = (params.plaintext_ring().modulus(meta.exponent).wide() as f64).log2();
        let phase = meta.noise + params.ring().coefficient_bits();
        // |t ε| <= |W| + t / 2.
        let error = log_add(phase - t, 0.0);
        let wanted = error + (params.degree() as f64).log2();
        let f = wanted + f64::from(self.statistical_bits) + f64::from(self.decryptions_log2) - 1.0;
        let bad = |found: String| SchemeError::BadArgument {
            what: "sharing policy",
            expected: format!("a flood of at most {LARGEST_FLOOD} bits"),
            found,
        };
        if !(f.is_finite() && f <= f64::from(LARGEST_FLOOD)) {
            return Err(bad(format!("one of {f:.0}")));
        }
        let f = f.max(0.0).ceil() as u32;
        Ok((f, log_add(phase, t + f64::from(f))))
    }

    /// The capacity, in bits, that a ciphertext of these parameters must have to be decrypted under
    /// this policy, if it has the plaintext modulus p^r and its bound is well above p^r.
    pub fn capacity_needed(&self, params: &Params) -> f64 {
        (params.degree() as f64).log2()
            + f64::from(self.statistical_bits)
            + f64::from(self.decryptions_log2)
            + 1.0
    }
}

impl SecretKey {
    /// Decrypts a message that will be shared with others: as [`SecretKey::decrypt`], with noise
    /// flooding first. Even if a noise bound is wrong by a factor of 2^k, all values together are
    /// within statistical distance 2^(k-s) of values that do not depend on the noise: see the claim
    /// in `crates/bgv/src/flooding.rs` and docs/adr/0022. It does not make it safe to decrypt
    /// ciphertexts that an attacker made.
    ///
    /// # Errors
    /// [`SchemeError::NoiseOverflow`] without enough capacity for the flooding noise: decrypt at a
    /// higher level, or bootstrap first. A plaintext modulus above p^r, whose upper digits may hold
    /// noise
    /// ([`PlainModulus::extend_plain_modulus`](everlevel_scheme::PlainModulus::extend_plain_modulus)):
    /// reduce it. As [`SecretKey::decrypt`]; the phase is compared with its bound after flooding,
    /// so that a refusal depends on the noise no more than a value does.
    pub fn decrypt_for_sharing(
        &self,
        ciphertext: &Ciphertext,
        policy: &FloodingPolicy,
        rng: &mut impl CryptoRng,
    ) -> Result<Plaintext, SchemeError> {
        let params = self.params();
        params.noise().check_origin(&ciphertext.meta, "the ciphertext")?;
        let meta = params.noise().checked(ciphertext.meta, "decryption for sharing")?;
        if meta.exponent > params.plain_exponent() {
            return Err(SchemeError::BadArgument {
                what: "plaintext exponent of a value to be shared",
                expected: format!(
                    "at most {}: above, digits may hold noise; reduce_plain_modulus drops them",
                    params.plain_exponent()
                ),
                found: meta.exponent.to_string(),
            });
        }
        let (f, flooded) = policy.flood(params, &meta)?;
        let modulus_bits = params.modulus_bits(meta.level);
        if modulus_bits - 1.0 - flooded < 1e-6 {
            let (operation, noise_bits) = ("decryption for sharing, its noise flooded,", flooded);
            return Err(SchemeError::NoiseOverflow {
                operation,
                noise_bits,
                modulus_bits,
                level: meta.level,
            });
        }
        let mut phase = self.phase(ciphertext, flooded)?;
        let t = params.plaintext_ring().modulus(meta.exponent).wide();
        sample::add_flood(params.cpu(), &mut phase, t, f, rng);
        plaintext_of(params, &meta, phase, flooded)
    }
}
