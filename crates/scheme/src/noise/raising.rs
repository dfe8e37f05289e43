//! Between plaintext moduli, and through bootstrapping.

use super::Meta;
use crate::error::SchemeError;
use crate::params::{BootstrapSpec, Level, Params};

/// Transitions between plaintext moduli, and those of bootstrapping.
impl Params {
    /// x mod p^e to x mod p^k.
    pub fn after_reducing_plain(&self, m: &Meta, k: u32) -> Result<Meta, SchemeError> {
        if k == 0 || k > m.exponent {
            return Err(SchemeError::BadArgument {
                what: "plaintext exponent",
                expected: format!("1 to {}", m.exponent),
                found: k.to_string(),
            });
        }
        Ok(Meta { exponent: k, factor: self.plain().modulus(k).reduce_u64(m.factor), ..*m })
    }

    /// x mod p^k to some y mod p^e with y = x mod p^k: nothing changes but what the phase is read
    /// modulo. The factor may be any lift of the one before: the usual one of the level, if that is
    /// one.
    pub fn after_extending_plain(&self, m: &Meta, e: u32) -> Result<Meta, SchemeError> {
        let highest = self.slot_shape().max_exponent();
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
        if self.plain_arithmetic(m).reduce_u64(usual) == m.factor { usual } else { m.factor }
    }

    /// p x mod p^e to x mod p^(e-1): the phase is divided by p.
    pub fn after_dividing_plain(&self, m: &Meta) -> Result<Meta, SchemeError> {
        let reduced = self.after_reducing_plain(m, m.exponent.saturating_sub(1))?;
        Ok(self.changed(&reduced, |_, noise| noise - (self.spec().plain_prime as f64).log2()))
    }

    /// x mod p^(e-1) to p x mod p^e: the phase is multiplied by p. The factor may be any lift of
    /// the one before; for BFV it is that of other ciphertexts of the level, if that is one.
    pub fn after_multiplying_plain(&self, m: &Meta) -> Result<Meta, SchemeError> {
        let (highest, exponent) = (self.slot_shape().max_exponent(), m.exponent + 1);
        if exponent > highest {
            return Err(SchemeError::BadArgument {
                what: "plaintext exponent",
                expected: format!("at most {highest} after a multiplication by p"),
                found: exponent.to_string(),
            });
        }
        let scaled = self.changed(m, |_, noise| noise + (self.spec().plain_prime as f64).log2());
        self.checked(
            Meta { exponent, factor: self.lifted_factor(m, exponent), ..scaled },
            "multiplication by p",
        )
    }

    /// v: how many digits bootstrapping puts below the message and removes.
    pub fn overflow_digits(&self) -> u32 {
        self.raised_exponent() - self.plain_exponent()
    }

    /// B: the largest overflow in absolute value, h/2 (the sum of h + 1 roundings of uniforms in
    /// a ring of power-of-two index, the phase being small) or what the set says.
    pub fn overflow_bound(&self) -> u64 {
        self.spec().bootstrap.as_ref().map_or(0, BootstrapSpec::bound)
    }

    /// Passes a ciphertext that can be bootstrapped exactly.
    pub fn check_raise(&self, m: &Meta) -> Result<(), SchemeError> {
        if self.spec().bootstrap.is_none() {
            return Err(SchemeError::BadParams {
                name: self.name().into(),
                problem: "the set has no bootstrapping section".into(),
            });
        }
        if m.exponent != self.plain_exponent() {
            return Err(SchemeError::PlainModulusMismatch {
                operation: "bootstrapping",
                left: m.exponent,
                right: self.plain_exponent(),
            });
        }
        let prior = m.noise - (self.modulus_bits(m.level) - self.modulus_bits(Level(0)))
            + self.ring().coefficient_bits();
        if prior > self.noise().encapsulation_limit(self.plain_modulus()) {
            return Err(self.too_noisy(m, "bootstrapping"));
        }
        Ok(())
    }

    /// What the product of the sparse encryptions with integer polynomials of coefficients in
    /// ±range/2 gives, at the top, modulo p^(r+v).
    pub(crate) fn raised(&self, range: u64) -> Meta {
        let exponent = self.raised_exponent();
        let t = self.slot_shape().plain_modulus(exponent);
        let (form, p) = (self.spec().form, self.spec().plain_prime);
        self.modelled(self.chain().top(), exponent, |model| model.raised(form, p, t, range))
    }

    /// What [`crate::Raise::enter`] leaves of a ciphertext.
    pub(crate) fn entrance(&self, capacity: f64) -> Meta {
        let level =
            self.chain().at_least(self.noise().floor(self.plain_modulus()) + 2.0 + capacity);
        self.fresh(level, self.plain_exponent(), self.noise_at(level, capacity))
    }

    /// `m` at the level and with the noise bound of [`Params::entrance`].
    pub(crate) fn entered(&self, m: &Meta, capacity: f64) -> Result<Meta, SchemeError> {
        let entrance = self.entrance(capacity);
        if m.level < entrance.level {
            return Err(self.too_noisy(m, "bootstrapping"));
        }
        let switched = self.after_switch(m, entrance.level);
        if switched.noise > entrance.noise {
            return Err(self.too_noisy(m, "bootstrapping"));
        }
        Ok(Meta { noise: entrance.noise, ..switched })
    }

    /// u = I' - Δ I at the top: modulo p^(r+v) for Δ = p^v, modulo p^r otherwise.
    pub fn raised_overflow(&self, delta: u64) -> Result<Meta, SchemeError> {
        let p = self.spec().plain_prime.pow(self.overflow_digits());
        if delta == 0 || delta > p {
            return Err(SchemeError::BadArgument {
                what: "overflow multiplier",
                expected: format!("1 to p^v = {p}"),
                found: delta.to_string(),
            });
        }
        let raised = self.raised(delta);
        if delta == p {
            Ok(raised)
        } else {
            self.after_reducing_plain(&raised, self.plain_exponent())
        }
    }

    /// p^v m + I at the top, modulo p^(r+v).
    pub fn raised_scaled(&self) -> Meta {
        self.raised(self.slot_shape().plain_modulus(self.raised_exponent()))
    }

    /// The factor of what came through the digit removal as u m, u = κ/q0 being the unit of a
    /// message that was raised with factor κ: it is put into the factor.
    pub fn raised_unit(&self, raised: u64, m: &Meta) -> u64 {
        let t = self.plain_arithmetic(m);
        let q0 = t.inv(t.reduce_i128(self.base_modulus())).expect("q0 is coprime to p");
        t.mul(m.factor, t.mul(t.reduce_u64(raised), q0))
    }

    /// m + q0 I modulo p^r, at a level from which the switch to `like`'s level hides its noise.
    pub fn raised_message(&self, like: &Meta) -> Result<Meta, SchemeError> {
        let raised =
            self.after_reducing_plain(&self.raised(self.plain_modulus()), self.plain_exponent())?;
        let floor = self.noise().floor(self.plain_modulus());
        let level =
            self.chain().at_least(self.modulus_bits(like.level) + (raised.noise - floor).max(0.0));
        Ok(Meta { level, ..raised })
    }
}
