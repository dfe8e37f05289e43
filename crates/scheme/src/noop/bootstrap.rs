//! The first and the last steps of bootstrapping in the no-op scheme.

use std::sync::Arc;

use super::held::Held;
use super::{NoOp, NoOpCiphertext};
use crate::checks::same_modulus;
use crate::error::SchemeError;
use crate::noise::{Meta, raise_digit_ranges};
use crate::ops::{Bootstrappable, Scheme};
use crate::plaintext::Plaintext;
use crate::spec::{Level, SetId};

/// What the no-op scheme keeps between the steps of raising: message and pretended overflow.
pub struct NoOpBase {
    message: Vec<u64>,
    factor: u64,
    overflow: Vec<i64>,
    other: Vec<i64>,
    set: SetId,
    /// The memory of two polynomials.
    _held: Arc<Held>,
}

impl NoOp {
    /// Refuses what was made by the scheme of another set.
    fn check_base(&self, r: &NoOpBase) -> Result<(), SchemeError> {
        self.params.noise().check_origin_of(Some(r.set), "the exhausted ciphertext")
    }

    /// As many plaintext products as digits: a transform a limb for each and one for the constant
    /// part.
    fn count_raising(&self, meta: &Meta, range: u128) {
        let digits =
            raise_digit_ranges(self.plain_prime(), range).len().min(self.params.raise_digits());
        self.counters.transforms((1 + digits) * self.params.chain().basis(meta.level).len());
    }
}

impl Bootstrappable for NoOp {
    type Base = NoOpBase;

    fn message_exponent(&self) -> u32 {
        self.params.plain_exponent()
    }

    fn overflow_digits(&self) -> u32 {
        self.params.spec().overflow_digits()
    }

    fn overflow_bound(&self) -> u64 {
        self.params.spec().overflow_bound()
    }

    fn minimum_capacity(&self) -> f64 {
        self.params.noise().bound().minimum_capacity(self.params.wide_modulus())
    }

    fn to_base_modulus(&self, x: &NoOpCiphertext) -> Result<NoOpBase, SchemeError> {
        self.still_wanted()?;
        self.check_set([&x.meta])?;
        let params = &self.params;
        params.noise().check_raise(&x.meta)?;
        if self.held.as_ref().is_some_and(|held| !held.bootstrap) {
            let key = "bootstrapping key".into();
            return Err(SchemeError::MissingKey { operation: "bootstrapping", key });
        }
        self.use_key(|plan| plan.bootstrap = true);
        let low = params.chain().basis(Level(0));
        if x.meta.level > Level(0) {
            self.count_division(params.chain().basis(x.meta.level), low, 2);
        }
        let b = low.len();
        self.counters.transforms(2 * b);
        if !params.raises_under_main_key() {
            // A digit for each prime of q0 over those and one special prime, two divisions by the
            // latter.
            self.counters.transforms(b + b * b + 2 * (1 + b));
            self.counters.key_switch(2, 1, b, b, 1, params.degree());
            self.counters.rounding(
                2,
                low.union(params.chain().encapsulation().special()),
                low,
                params.degree(),
            );
        }
        let bound = params.spec().overflow_bound();
        let factor = params.noise().mod_switch(&x.meta, Level(0)).factor;
        let (overflow, other) = (self.pretend_overflow(bound), self.pretend_overflow(bound));
        let (message, set) = (x.value.clone(), params.set_id());
        Ok(NoOpBase { message, factor, overflow, other, set, _held: self.taken(2, low) })
    }

    fn mod_raise_overflow(&self, r: &NoOpBase, delta: u64) -> Result<NoOpCiphertext, SchemeError> {
        self.check_base(r)?;
        let params = &self.params;
        let meta =
            params.noise().checked(params.noise().raised_overflow(delta)?, "bootstrapping")?;
        let (delta, t) = (delta as i64, params.plaintext_ring().modulus(meta.exponent));
        self.count_raising(&meta, delta as u128);
        let value = r
            .overflow
            .iter()
            .zip(&r.other)
            .map(|(&i, &other)| t.reduce_i64(other - delta * i))
            .collect();
        Ok(self.made(meta, value))
    }

    fn mod_raise_message(
        &self,
        r: &NoOpBase,
        like: &NoOpCiphertext,
    ) -> Result<NoOpCiphertext, SchemeError> {
        self.check_base(r)?;
        self.check_set([&like.meta])?;
        let params = &self.params;
        let meta =
            params.noise().checked(params.noise().raised_message(&like.meta)?, "bootstrapping")?;
        let t = params.plaintext_ring().modulus(meta.exponent);
        let q0 = t.reduce_i64(self.base_modulus_mod_t(r));
        self.count_raising(&meta, self.params.wide_modulus());
        let value = r
            .message
            .iter()
            .zip(&r.overflow)
            .map(|(&m, &i)| t.add(m, t.mul(q0, t.reduce_i64(i))))
            .collect();
        Ok(self.kept(self.switch(&NoOpCiphertext::passing(meta, value), like.meta.level)?))
    }

    fn base_modulus_mod_t(&self, r: &NoOpBase) -> i64 {
        let t = self.params.plaintext_ring().modulus(self.params.plain_exponent());
        let unit = t.inv(r.factor).expect("factors are units");
        t.centered(t.mul(t.reduce_i128(self.params.base_modulus()), unit))
    }

    fn mod_raise_scaled(&self, r: &NoOpBase) -> Result<NoOpCiphertext, SchemeError> {
        self.check_base(r)?;
        let params = &self.params;
        let meta = params.noise().checked(params.noise().raised_scaled(), "bootstrapping")?;
        let t = params.plaintext_ring().modulus(meta.exponent);
        self.count_raising(&meta, t.wide());
        let shift = t.reduce_u64(self.plain_prime().pow(self.overflow_digits()));
        let unit = params.noise().raised_unit(r.factor, &Meta { factor: 1, ..meta });
        let scale = t.mul(shift, unit);
        let value = r
            .message
            .iter()
            .zip(&r.overflow)
            .map(|(&m, &i)| t.add(t.mul(m, scale), t.reduce_i64(i)))
            .collect();
        Ok(self.made(meta, value))
    }

    fn encrypt_zero_at(&self, capacity: f64) -> Result<NoOpCiphertext, SchemeError> {
        let meta =
            self.params.noise().checked(self.params.noise().entrance(capacity), "bootstrapping")?;
        Ok(self.made(meta, self.zero()))
    }

    fn transparent(&self, x: &Plaintext) -> Result<NoOpCiphertext, SchemeError> {
        self.encrypt(x)
    }

    fn addend(&self, x: &Plaintext, like: &NoOpCiphertext) -> Result<NoOpCiphertext, SchemeError> {
        self.check_set([&like.meta])?;
        same_modulus(like.meta.exponent, x.exponent, "addition of a plaintext")?;
        x.check(&self.params)?;
        let meta = self.params.noise().addend(&like.meta)?;
        let value = if self.values { x.coefficients.to_vec() } else { Vec::new() };
        Ok(self.made(meta, value))
    }

    fn prepare_thin_input(
        &self,
        x: &NoOpCiphertext,
        capacity: f64,
    ) -> Result<NoOpCiphertext, SchemeError> {
        self.check_set([&x.meta])?;
        let meta = self.params.noise().entered(&x.meta, capacity)?;
        let switched = self.kept(self.switch(x, meta.level)?);
        Ok(NoOpCiphertext { meta, ..switched })
    }

    fn set_correction_factor(&self, r: &NoOpBase, x: NoOpCiphertext) -> NoOpCiphertext {
        let t = self.params.plaintext_ring().modulus(x.meta.exponent);
        let unit = self.params.noise().raised_unit(r.factor, &Meta { factor: 1, ..x.meta });
        let inverse = t.inv(unit).expect("a unit");
        let meta = Meta { factor: t.mul(x.meta.factor, unit), ..x.meta };
        let value = x.value.iter().map(|&v| t.mul(v, inverse)).collect();
        NoOpCiphertext { meta, value, held: x.held }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key_plan::KeyPlan;
    use crate::params::{OptIn, Params};

    /// As the real scheme does.
    #[test]
    fn bootstrapping_without_its_key_is_refused() {
        let params = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap();
        let zero = Plaintext::encode(&params, &[]).unwrap();
        let begun = |keys: KeyPlan| {
            let scheme = NoOp::blank(&params).holding(keys);
            scheme.to_base_modulus(&scheme.encrypt(&zero).unwrap()).map(|_| ())
        };
        let error = begun(KeyPlan::default()).unwrap_err();
        assert_eq!(error.code(), "scheme.missing-key");
        begun(KeyPlan { bootstrap: true, ..KeyPlan::default() }).unwrap();
    }
}
