//! The effect of changes of the plaintext modulus on level and noise.

use super::meta::Meta;
use super::tracker::NoiseTracker;
use crate::error::SchemeError;

impl NoiseTracker {
    /// x mod p^e to x mod p^k.
    pub fn reduce_plain_modulus(&self, m: &Meta, k: u32) -> Result<Meta, SchemeError> {
        if k == 0 || k > m.exponent {
            return Err(SchemeError::BadArgument {
                what: "plaintext exponent",
                expected: format!("1 to {}", m.exponent),
                found: k.to_string(),
            });
        }
        Ok(Meta { exponent: k, factor: self.plain.modulus(k).reduce_u64(m.factor), ..*m })
    }

    /// x mod p^k to some y mod p^e with y = x mod p^k: nothing changes but what the phase is read
    /// modulo. The factor may be any lift of the one before: the usual one of the level, if that is
    /// one.
    pub fn extend_plain_modulus(&self, m: &Meta, e: u32) -> Result<Meta, SchemeError> {
        let highest = self.plain.shape().max_exponent();
        if e < m.exponent || e > highest {
            return Err(SchemeError::BadArgument {
                what: "extended plaintext exponent",
                expected: format!("{} to {highest} (extended_exponent of the set)", m.exponent),
                found: e.to_string(),
            });
        }
        Ok(Meta { exponent: e, factor: self.lifted_factor(m, e), ..*m })
    }

    /// The factor of a ciphertext like `m` modulo p^e for larger e: the usual one of its level, or
    /// else that of `m` as an integer.
    fn lifted_factor(&self, m: &Meta, e: u32) -> u64 {
        let usual = self.fresh_factor(m.form, m.level, e);
        if self.arithmetic(m).reduce_u64(usual) == m.factor { usual } else { m.factor }
    }

    /// p x mod p^e to x mod p^(e-1): the phase is divided by p.
    pub fn divide_by_p(&self, m: &Meta) -> Result<Meta, SchemeError> {
        let reduced = self.reduce_plain_modulus(m, m.exponent.saturating_sub(1))?;
        Ok(self.changed(&reduced, |_, noise| noise - (self.spec.plain_prime as f64).log2()))
    }

    /// x mod p^(e-1) to p x mod p^e: the phase is multiplied by p. The factor may be any lift of
    /// the one before; for BFV it is that of other ciphertexts of the level, if that is one.
    pub fn multiply_by_p(&self, m: &Meta) -> Result<Meta, SchemeError> {
        let (highest, exponent) = (self.plain.shape().max_exponent(), m.exponent + 1);
        if exponent > highest {
            return Err(SchemeError::BadArgument {
                what: "plaintext exponent",
                expected: format!("at most {highest} after a multiplication by p"),
                found: exponent.to_string(),
            });
        }
        let scaled = self.changed(m, |_, noise| noise + (self.spec.plain_prime as f64).log2());
        self.checked(
            Meta { exponent, factor: self.lifted_factor(m, exponent), ..scaled },
            "multiplication by p",
        )
    }
}
