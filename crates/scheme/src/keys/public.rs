//! The public encryption key.

use everlevel_ring::{Eval, Poly, sample};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::secret::SecretKey;
use crate::error::SchemeError;
use crate::params::Params;
use crate::plaintext::Plaintext;
use crate::rlwe::Ciphertext;
use crate::rlwe::{divide, noisy_message};

/// An encryption key that may be published: (b, a) with b + a s = e at the top modulus.
#[derive(Clone)]
pub struct PublicKey {
    params: Params,
    b: Poly<Eval>,
    a: Poly<Eval>,
}

impl PublicKey {
    /// Derives a public key.
    pub fn generate(secret: &SecretKey, rng: &mut impl CryptoRng) -> Self {
        let params = secret.params();
        let ring = params.ring();
        let basis = params.chain().basis(params.chain().top());
        let a = sample::expand(ring, &sample::seed(rng), 0, basis);
        let mut b = sample::secret_poly(ring, basis, &SecretKey::key_error(params, rng));
        b.sub_assign(ring, &a.mul(ring, &secret.eval().restricted(basis)));
        PublicKey { params: params.clone(), b, a }
    }
    /// The parameter set.
    pub fn params(&self) -> &Params {
        &self.params
    }
    /// Encrypts a plaintext at the top level: (t (v b + e0) + κ m, t (v a + e1)), divided by t in BFV form.
    ///
    /// # Errors
    /// A plaintext of another parameter set.
    pub fn encrypt(&self, plaintext: &Plaintext, rng: &mut impl CryptoRng) -> Result<Ciphertext, SchemeError> {
        let params = &self.params;
        let ring = params.ring();
        let top = params.chain().top();
        let basis = params.chain().basis(top);
        let t = params.slot_shape().plain_modulus(plaintext.exponent);
        let meta = params.fresh(top, plaintext.exponent, params.noise().fresh_public(t));
        let message = crate::rlwe::carried_coefficients(params, plaintext, &meta)?;
        let small = |message: Option<&[i64]>, x: Vec<i64>| {
            let mut c = noisy_message(ring, basis, message, &Zeroizing::new(x), t);
            divide(ring, &mut c, meta.form.scale(t));
            c
        };
        let v = small(None, sample::ternary(ring.degree(), rng));
        let mut c0 = small(Some(&message), sample::error(ring.degree(), rng));
        let mut c1 = small(None, sample::error(ring.degree(), rng));
        c0.mul_add_assign(ring, &self.b, &v);
        c1.mul_add_assign(ring, &self.a, &v);
        Ok(Ciphertext::new(params.checked(meta, "encryption")?, c0, c1))
    }
}
