//! Sums, products, key switches and modulus switching.

use everlevel_ring::Gadget;

use super::meta::Meta;
use super::model::NoiseModel;
use super::tracker::NoiseTracker;
use crate::error::SchemeError;
use crate::spec::{Form, Level, NextUse};

impl NoiseTracker {
    /// Modulus switching to a lower level.
    pub fn mod_switch(&self, m: &Meta, to: Level) -> Meta {
        if to == m.level {
            return *m;
        }
        let drop = self.chain.bits(m.level) - self.chain.bits(to);
        let ratio = self.switch_factor(self.chain.basis(m.level), self.chain.basis(to), m.exponent);
        let factor = self.arithmetic(m).mul(m.factor, ratio);
        Meta {
            level: to,
            factor,
            ..self.changed(m, |model, noise| model.sum(noise - drop, model.floor(self.t(m))))
        }
    }

    /// What the rounding of a product that was not relinearized adds to
    /// [`NoiseTracker::mod_switch`]: the term in s² is rounded too, which adds ‖s‖ times the floor.
    pub fn round_square(&self, m: &Meta) -> Meta {
        self.changed(m, |model, noise| {
            model.sum(noise, model.floor(self.t(m)) + model.key_norm_limit().log2())
        })
    }

    /// A key switch at the same level: what it adds before the division by P.
    pub fn key_switch(&self, m: &Meta) -> Meta {
        self.key_switch_by(m, self.chain.gadget(m.level))
    }

    /// The same by any gadget that has no special prime among those of the level.
    pub fn key_switch_by(&self, m: &Meta, gadget: &Gadget) -> Meta {
        let basis = self.chain.basis(m.level);
        self.changed(m, |model, noise| {
            model.sum(noise, model.key_switch_by(gadget, basis, self.t(m)))
        })
    }

    /// The division by P and the switch for `next`, in one rounding.
    pub fn reduce(&self, m: &Meta, next: NextUse) -> Meta {
        let to = self.target(m, next);
        let Meta { level, factor, .. } = self.mod_switch(m, to);
        let drop = self.chain.bits(m.level) - self.chain.bits(to);
        Meta {
            level,
            factor,
            ..self.changed(m, |model, noise| model.sum(noise - drop, model.floor(self.t(m))))
        }
    }

    /// The sum of two aligned ciphertexts.
    pub fn add(&self, a: &Meta, b: &Meta) -> Result<Meta, SchemeError> {
        self.checked(self.merged(a, b, NoiseModel::sum), "addition")
    }

    /// The sum with a plaintext polynomial whose norm, its factor included, is 2^`bits` by each
    /// model.
    pub fn add_plain(
        &self,
        m: &Meta,
        bits: impl Fn(&NoiseModel) -> f64,
    ) -> Result<Meta, SchemeError> {
        self.checked(
            self.changed(m, |model, noise| model.sum(noise, model.added(bits(model)))),
            "addition of a plaintext",
        )
    }

    /// A plaintext as a ciphertext that can be added to those like `m`, which adds to their noise
    /// what [`NoiseTracker::add_plain`] does for any message.
    pub fn addend(&self, m: &Meta) -> Result<Meta, SchemeError> {
        let t = self.t(m);
        let meta = self.changed(m, |model, _| model.added(model.message(t)));
        self.checked(Meta { depth: 0, ..meta }, "addition of a plaintext")
    }

    /// The product with a plaintext polynomial whose norm is 2^`norm` and whose embeddings have
    /// 2^`average` as the root of their mean square.
    pub fn mul_plain(&self, m: &Meta, norm: f64, average: f64) -> Result<Meta, SchemeError> {
        let (noise, estimate) = (m.noise + norm, m.estimate + average);
        self.checked(Meta { noise, estimate, ..*m }, "multiplication by a plaintext")
    }

    /// The product of two ciphertexts at one level, before relinearization.
    pub fn product(&self, a: &Meta, b: &Meta) -> Result<Meta, SchemeError> {
        let t = self.arithmetic(a);
        let factor = t.mul(a.factor, b.factor);
        let factor = match self.product_form(a.form) {
            Form::Bgv => factor,
            Form::Bfv => {
                let q = self.ring.product_mod(self.chain.basis(a.level), t);
                t.neg(t.mul(factor, t.inv(q).expect("the primes of the ring are coprime to p")))
            }
        };
        let product = self.merged(a, b, |model, x, y| {
            self.product_noise(model, (a.form, t.wide(), a.level), x, y)
        });
        self.checked(Meta { factor, depth: product.depth + 1, ..product }, "multiplication")
    }

    /// The product with a constant that is `magnitude` in absolute value.
    pub fn scale(&self, m: &Meta, magnitude: u64) -> Result<Meta, SchemeError> {
        let scaled = |noise| if magnitude == 0 { 0.0 } else { noise + (magnitude as f64).log2() };
        self.checked(self.changed(m, |_, noise| scaled(noise)), "multiplication by a constant")
    }
}
