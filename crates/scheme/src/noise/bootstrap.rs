//! The effect of bootstrapping on level and noise.

use super::meta::Meta;
use super::tracker::NoiseTracker;
use crate::error::SchemeError;
use crate::spec::Level;

impl NoiseTracker {
    /// p^r: the plaintext modulus of what is bootstrapped.
    fn message_modulus(&self) -> u128 {
        self.plain.modulus(self.spec.plain_exponent).wide()
    }

    /// Passes a set without bootstrapping, or one whose q0 has room for the noise at its entry.
    pub fn check_set(&self) -> Result<(), SchemeError> {
        self.bound.check_base_modulus(&self.spec, self.message_modulus())
    }

    /// Passes a ciphertext that can be bootstrapped exactly.
    pub fn check_raise(&self, m: &Meta) -> Result<(), SchemeError> {
        if self.spec.bootstrap.is_none() {
            return Err(SchemeError::BadParams {
                name: self.spec.name.clone(),
                problem: "the set has no bootstrapping section: use one that has, such as \
                          bgv-65537-n15"
                    .into(),
            });
        }
        if m.exponent != self.spec.plain_exponent {
            return Err(SchemeError::PlainModulusMismatch {
                operation: "bootstrapping",
                left: m.exponent,
                right: self.spec.plain_exponent,
            });
        }
        let prior = m.noise - (self.chain.bits(m.level) - self.chain.bits(Level(0)))
            + self.ring.coefficient_bits();
        if prior > self.bound.encapsulation_limit(self.message_modulus()) {
            return Err(self.too_noisy(m, "bootstrapping"));
        }
        Ok(())
    }

    /// What the product of the sparse encryptions with integer polynomials of coefficients in
    /// ±range/2 gives, at the top, modulo p^(r+v).
    pub fn raised(&self, range: u128) -> Meta {
        let exponent = self.spec.raised_exponent();
        let t = self.plain.modulus(exponent).wide();
        let (form, p) = (self.spec.form, self.spec.plain_prime);
        self.modeled(self.chain.top(), exponent, |model| model.raised(form, p, t, range))
    }

    /// What [`crate::Bootstrappable::prepare_thin_input`] leaves of a ciphertext.
    pub fn entrance(&self, capacity: f64) -> Meta {
        let level = self.chain.at_least(self.bound.floor(self.message_modulus()) + 2.0 + capacity);
        self.fresh(level, self.spec.plain_exponent, self.noise_at(level, capacity))
    }

    /// `m` at the level and with the noise bound of [`NoiseTracker::entrance`].
    pub fn entered(&self, m: &Meta, capacity: f64) -> Result<Meta, SchemeError> {
        let entrance = self.entrance(capacity);
        if m.level < entrance.level {
            return Err(self.too_noisy(m, "bootstrapping"));
        }
        let switched = self.mod_switch(m, entrance.level);
        if switched.noise > entrance.noise {
            return Err(self.too_noisy(m, "bootstrapping"));
        }
        Ok(Meta { noise: entrance.noise, ..switched })
    }

    /// u = I' - Δ I at the top: modulo p^(r+v) for Δ = p^v, modulo p^r otherwise.
    pub fn raised_overflow(&self, delta: u64) -> Result<Meta, SchemeError> {
        let p = self.spec.plain_prime.pow(self.spec.overflow_digits());
        if delta == 0 || delta > p {
            return Err(SchemeError::BadArgument {
                what: "overflow multiplier",
                expected: format!("1 to p^v = {p}"),
                found: delta.to_string(),
            });
        }
        let raised = self.raised(delta.into());
        if delta == p {
            Ok(raised)
        } else {
            self.reduce_plain_modulus(&raised, self.spec.plain_exponent)
        }
    }

    /// p^v m + I at the top, modulo p^(r+v).
    pub fn raised_scaled(&self) -> Meta {
        self.raised(self.plain.modulus(self.spec.raised_exponent()).wide())
    }

    /// The factor of what came through the digit removal as u m, u = κ/q0 being the unit of a
    /// message that was raised with factor κ: it is put into the factor.
    pub fn raised_unit(&self, raised: u64, m: &Meta) -> u64 {
        let t = self.arithmetic(m);
        let q0 = self.ring.product_mod(self.chain.basis(Level(0)), t);
        let q0 = t.inv(q0).expect("q0 is coprime to p");
        t.mul(m.factor, t.mul(t.reduce_u64(raised), q0))
    }

    /// m + q0 I modulo p^r, at a level from which the switch to `like`'s level hides its noise.
    pub fn raised_message(&self, like: &Meta) -> Result<Meta, SchemeError> {
        let raised = self
            .reduce_plain_modulus(&self.raised(self.message_modulus()), self.spec.plain_exponent)?;
        let floor = self.bound.floor(self.message_modulus());
        let level =
            self.chain.at_least(self.chain.bits(like.level) + (raised.noise - floor).max(0.0));
        Ok(Meta { level, ..raised })
    }
}
