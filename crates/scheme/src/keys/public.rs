//! The public encryption key.

use everlevel_ring::{Eval, Poly, sample};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::secret::SecretKey;
use crate::bgv::Ciphertext;
use crate::error::SchemeError;
use crate::noise::Meta;
use crate::params::Params;
use crate::plaintext::Plaintext;

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
    /// Encrypts a plaintext at the top level: (t (v b + e0) + m, t (v a + e1)).
    ///
    /// # Errors
    /// A plaintext of another parameter set.
    pub fn encrypt(&self, plaintext: &Plaintext, rng: &mut impl CryptoRng) -> Result<Ciphertext, SchemeError> {
        let params = &self.params;
        let ring = params.ring();
        let top = params.chain().top();
        let basis = params.chain().basis(top);
        let message = crate::bgv::message_coefficients(params, plaintext)?;
        let t = params.slot_shape().plain_modulus(plaintext.exponent) as i64;
        // t v, t e0 + m and t e1 are small polynomials: one transform a limb each.
        let scaled = |x: Vec<i64>| Zeroizing::new(x.into_iter().map(|c| t * c).collect::<Vec<i64>>());
        let v = sample::secret_poly(ring, basis, &scaled(sample::ternary(ring.degree(), rng)));
        let mut e0 = scaled(sample::error(ring.degree(), rng));
        e0.iter_mut().zip(&message).for_each(|(e, m)| *e += m);
        let e1 = scaled(sample::error(ring.degree(), rng));
        let half = |key: &Poly<Eval>, small: &[i64]| {
            let mut c = sample::secret_poly(ring, basis, small);
            c.mul_add_assign(ring, key, &v);
            c
        };
        let (c0, c1) = (half(&self.b, &e0), half(&self.a, &e1));
        let meta = Meta { level: top, exponent: plaintext.exponent, factor: 1, noise: params.noise().fresh_public(t as u64) };
        Ok(Ciphertext::new(params.checked(meta, "encryption")?, c0, c1))
    }
}
