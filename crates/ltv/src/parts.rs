//! What ciphertexts and keys are made of, for those who store them.

use std::collections::BTreeMap;

use everlevel_ring::{GaloisElement, Poly};
use everlevel_scheme::{Form, Level, Meta, SchemeError};
use zeroize::Zeroizing;

use crate::adic::AdicPoly;
use crate::ciphertext::LtvCiphertext;
use crate::gadget::KeyForm;
use crate::keys::{LtvPublicKey, LtvSecretKey};
use crate::spec::{LtvParams, rows};
use crate::switching::{LtvEvalKeys, SwitchingKey};

/// Depths from outside stay below, so that counting on cannot overflow.
const DEPTH_LIMIT: u32 = 1 << 30;

impl LtvParams {
    /// Whether a polynomial has that many rows of this ring's digits.
    fn fits(&self, poly: &AdicPoly, rows: usize) -> bool {
        poly.rows() == rows && poly.digits().all(|row| row.len() == self.degree())
    }

    /// The largest noise at which a ciphertext at `level` decrypts.
    pub fn largest_noise(&self, level: Level) -> f64 {
        self.modulus_bits(level) - 1.0 - self.noise().bound(0.0) - 1e-5
    }

    /// Passes public data that a ciphertext of these parameters can have, wherever it came from.
    ///
    /// # Errors
    /// A level above the highest, an exponent, form or factor other than 1, BGV and 1, a depth of
    /// 2^30 or more, a noise that is not finite or does not allow decryption.
    pub fn check_meta(&self, m: &Meta) -> Result<(), SchemeError> {
        self.check_level(m.level)?;
        if (m.exponent, m.form, m.factor) != (1, Form::Bgv, 1)
            || m.depth >= DEPTH_LIMIT
            || !m.noise.is_finite()
        {
            return Err(SchemeError::BadArgument {
                what: "public data of a ciphertext",
                expected: format!(
                    "exponent 1, BGV form, factor 1, a depth below {DEPTH_LIMIT}, finite noise"
                ),
                found: format!("{m:?}"),
            });
        }
        if m.noise > self.largest_noise(m.level) {
            let (noise_bits, modulus_bits) =
                (self.noise().bound(m.noise), self.modulus_bits(m.level));
            return Err(SchemeError::NoiseOverflow {
                operation: "reading a ciphertext",
                noise_bits,
                modulus_bits,
                level: m.level,
            });
        }
        Ok(())
    }
}

impl LtvCiphertext {
    /// A ciphertext from its public data and its polynomial, whose digits must be below p.
    ///
    /// # Errors
    /// As [`LtvParams::check_meta`]; a polynomial of another ring or modulus than the level's.
    pub fn from_parts(params: &LtvParams, meta: Meta, poly: AdicPoly) -> Result<Self, SchemeError> {
        params.check_meta(&meta)?;
        if !params.fits(&poly, rows(meta.level)) {
            return Err(params.wrong("the ciphertext"));
        }
        Ok(LtvCiphertext::new(params, meta, poly))
    }
}

impl LtvPublicKey {
    /// h modulo p to the power of all rows of keys.
    pub fn digits(&self) -> AdicPoly {
        self.params().ring().digits(self.blocks().to_vec(), self.params().key_rows())
    }

    /// The public key h, whose digits must be below p.
    ///
    /// # Errors
    /// A polynomial of another ring or modulus than that of keys.
    pub fn from_parts(params: &LtvParams, h: &AdicPoly) -> Result<Self, SchemeError> {
        if !params.fits(h, params.key_rows()) {
            return Err(params.wrong("the public key"));
        }
        Ok(LtvPublicKey::new(params, params.ring().evaluate(h)))
    }
}

impl LtvSecretKey {
    /// u, of f = 2u + 1, and g, of h = 2 g/f, in natural order: they are the key.
    pub fn expose_secret_coefficients(&self) -> [Zeroizing<Vec<i64>>; 2] {
        let ring = self.params().ring();
        let one = ring.constant(1);
        let u = self.f().iter().zip(&one).map(|(f, one)| (f - one) / 2).collect();
        // 2 g = h f is small: one digit tells it.
        let f = ring.evaluate_signed(self.f());
        let mut product = ring.inner_products(1, |_| vec![(&self.public().blocks()[0], &f)]);
        product.iter_mut().for_each(Poly::wipe_on_drop);
        let mut twice = ring.digits(product, 1);
        let half = ring.prime() as i64 / 2;
        let stored: Zeroizing<Vec<i64>> = Zeroizing::new(
            twice.digits().flatten().map(|&digit| (i64::from(digit) - half) / 2).collect(),
        );
        twice.wipe();
        [Zeroizing::new(u), Zeroizing::new(ring.ring().natural_order(&stored))]
    }

    /// A secret key from u and g, checked against what [`LtvSecretKey::generate`] could have drawn.
    /// Computes 1/f and h: as long as key generation.
    ///
    /// # Errors
    /// Polynomials of another length, coefficients outside of -2..=2, norms that the set does not
    /// allow, an f that is not invertible.
    pub fn from_secret_coefficients(
        params: &LtvParams,
        [u, g]: [&[i64]; 2],
    ) -> Result<Self, SchemeError> {
        let bad = |expected: String| SchemeError::BadArgument {
            what: "LTV secret key",
            expected,
            found: "something else".into(),
        };
        for x in [u, g] {
            let outside = x.iter().fold(0, |count, x| count + (x.unsigned_abs() > 2) as usize);
            if x.len() != params.degree() || outside > 0 {
                return Err(bad(format!("{} coefficients from -2 to 2", params.degree())));
            }
            if !crate::keys::within_limit(params, x) {
                return Err(bad("a norm within the limit of the noise model".into()));
            }
        }
        LtvSecretKey::of(params, u, g).ok_or_else(|| bad("an invertible f".into()))
    }
}

impl SwitchingKey {
    /// The digits of the key as polynomials.
    pub fn polynomials(&self, params: &LtvParams) -> Vec<AdicPoly> {
        self.key_digits()
            .map(|digit| digit.polynomial(params.ring(), self.automorphism(), params.key_rows()))
            .collect()
    }
}

impl LtvEvalKeys {
    /// The keys that are there by automorphism, relinearization under the identity: ascending.
    pub fn switch_keys(&self) -> impl Iterator<Item = (GaloisElement, &SwitchingKey)> {
        self.all().map(|key| (key.automorphism(), key))
    }

    /// Keys from the digits of each, as [`SwitchingKey::polynomials`] gives them and below p,
    /// relinearization under the identity.
    ///
    /// # Errors
    /// No relinearization, another number of digits than the highest level has, polynomials of
    /// another ring or modulus than that of keys.
    pub fn from_parts(
        params: &LtvParams,
        form: KeyForm,
        keys: impl IntoIterator<Item = (GaloisElement, Vec<AdicPoly>)>,
    ) -> Result<Self, SchemeError> {
        let wrong = || params.wrong("the evaluation key");
        let mut made = BTreeMap::new();
        for (g, digits) in keys {
            let count = params.digit_count(params.top());
            if digits.len() != count
                || !digits.iter().all(|digit| params.fits(digit, params.key_rows()))
            {
                return Err(wrong());
            }
            made.insert(g, SwitchingKey::of(params.ring(), g, form, digits));
        }
        let relinearization = made.remove(&GaloisElement::IDENTITY).ok_or_else(wrong)?;
        Ok(LtvEvalKeys::new(params, relinearization, made))
    }
}
