//! Secret and public key, encryption and decryption.

use everlevel_ring::{Eval, GaloisElement, Poly, sample};
use everlevel_scheme::{Form, Level, Meta, Plaintext, SchemeError};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::adic::AdicPoly;
use crate::ciphertext::LtvCiphertext;
use crate::spec::{LtvParams, rows};

/// How many bits a phase may lie above the bound that a ciphertext carries: 16 times the margin of
/// 8 deviations, as that is an average, and products of dependent operands have heavier tails.
const SLACK: f64 = 4.0;

/// The phase of another key is taken with probability 2^-40 at most, whatever the bound says: each
/// of the n coefficients has to leave 40/n bits of the modulus free.
const NOTICED: f64 = 40.0;

/// A polynomial from χ whose norm is within the noise model's limit, in natural order.
pub(crate) fn key_polynomial(params: &LtvParams, rng: &mut impl CryptoRng) -> Zeroizing<Vec<i64>> {
    loop {
        let drawn = Zeroizing::new(sample::truncated_gaussian(params.degree(), rng));
        if within_limit(params, &drawn) {
            return drawn;
        }
    }
}

/// Whether the norm of a polynomial in natural order is within the noise model's limit.
pub(crate) fn within_limit(params: &LtvParams, x: &[i64]) -> bool {
    let norm = params.ring().ring().norm();
    let real = Zeroizing::new(x.iter().map(|&x| x as f64).collect::<Vec<f64>>());
    let embeddings = Zeroizing::new(norm.embeddings(&real));
    let square = embeddings.iter().map(|x| x * x).sum::<f64>() / params.degree() as f64;
    square.sqrt() <= params.noise().key_limit()
}

/// h in evaluations, modulo p to the power of all rows of keys.
#[derive(Clone)]
pub struct LtvPublicKey {
    params: LtvParams,
    h: Vec<Poly<Eval>>,
}

impl LtvPublicKey {
    pub(crate) fn new(params: &LtvParams, h: Vec<Poly<Eval>>) -> Self {
        LtvPublicKey { params: params.clone(), h }
    }

    /// The blocks of h, in evaluations.
    pub(crate) fn blocks(&self) -> &[Poly<Eval>] {
        &self.h
    }

    /// h s + 2 e modulo p^`rows`.
    pub(crate) fn mask(&self, s: &[i64], e: &[i64], rows: usize) -> AdicPoly {
        let ring = self.params.ring();
        let s = ring.evaluate_signed(s);
        let mut masked = ring.inner_products(ring.blocks(rows), |o| vec![(&self.h[o], &s)]);
        masked.iter_mut().for_each(Poly::wipe_on_drop);
        let mut masked = ring.digits(masked, rows);
        let twice = Zeroizing::new(e.iter().map(|x| 2 * x).collect::<Vec<i64>>());
        let mut error = ring.from_signed(&twice, rows);
        let sum = ring.sum(&[&masked, &error]);
        masked.wipe();
        error.wipe();
        sum
    }

    /// The parameter set.
    pub fn params(&self) -> &LtvParams {
        &self.params
    }

    /// Encrypts at the highest level.
    ///
    /// # Errors
    /// As [`LtvPublicKey::encrypt_at`].
    pub fn encrypt(
        &self,
        plaintext: &Plaintext,
        rng: &mut impl CryptoRng,
    ) -> Result<LtvCiphertext, SchemeError> {
        self.encrypt_at(plaintext, self.params.top(), rng)
    }

    /// Encrypts at `level`: c = h s + 2 e + m.
    ///
    /// # Errors
    /// A plaintext of another set, or a level above the highest.
    pub fn encrypt_at(
        &self,
        plaintext: &Plaintext,
        level: Level,
        rng: &mut impl CryptoRng,
    ) -> Result<LtvCiphertext, SchemeError> {
        let (params, n) = (&self.params, self.params.degree());
        params.check_level(level)?;
        let message = Zeroizing::new(params.message(plaintext)?);
        let s = Zeroizing::new(sample::truncated_gaussian(n, rng));
        let e = Zeroizing::new(sample::truncated_gaussian(n, rng));
        let ring = params.ring();
        let (mut mask, mut message) =
            (self.mask(&s, &e, rows(level)), ring.from_signed(&message, rows(level)));
        let poly = ring.sum(&[&mask, &message]);
        mask.wipe();
        message.wipe();
        let meta = Meta {
            level,
            exponent: 1,
            form: Form::Bgv,
            factor: 1,
            depth: 0,
            noise: params.noise().fresh(),
            estimate: params.noise().fresh(),
            owner: None,
            // The id of the set is beside it in the ciphertext.
            set: None,
        };
        Ok(LtvCiphertext::new(params, meta, poly))
    }
}

/// The secret f = 2u + 1, with the public key. No `Debug`, no comparison; wiped when dropped.
/// Generated in constant time, but for the number of polynomials drawn again.
pub struct LtvSecretKey {
    public: LtvPublicKey,
    f: Zeroizing<Vec<i64>>,
    inverse: AdicPoly,
}

impl Drop for LtvSecretKey {
    fn drop(&mut self) {
        self.inverse.wipe();
    }
}

impl LtvSecretKey {
    /// The paper's modified KeyGen: u, g ← χ, f = 2u + 1 drawn again until it is invertible modulo
    /// p, h = 2 g/f modulo p to the power of all rows of keys.
    pub fn generate(params: &LtvParams, rng: &mut impl CryptoRng) -> Self {
        let unit = loop {
            if let Some(unit) = Self::unit(params, &key_polynomial(params, rng)) {
                break unit;
            }
        };
        Self::with_unit(params, unit, &key_polynomial(params, rng))
    }

    /// The key of these u and g; none if f is not invertible.
    pub(crate) fn of(params: &LtvParams, u: &[i64], g: &[i64]) -> Option<Self> {
        Some(Self::with_unit(params, Self::unit(params, u)?, g))
    }

    /// f = 2u + 1 and its inverse, if there is one.
    fn unit(params: &LtvParams, u: &[i64]) -> Option<(Zeroizing<Vec<i64>>, AdicPoly)> {
        let ring = params.ring();
        let f = Zeroizing::new(
            u.iter().zip(ring.constant(1)).map(|(x, one)| 2 * x + one).collect::<Vec<i64>>(),
        );
        let inverse = ring.inverse(&f, params.key_rows())?;
        Some((f, inverse))
    }

    fn with_unit(
        params: &LtvParams,
        (f, inverse): (Zeroizing<Vec<i64>>, AdicPoly),
        g: &[i64],
    ) -> Self {
        let ring = params.ring();
        let twice = Zeroizing::new(g.iter().map(|x| 2 * x).collect::<Vec<i64>>());
        // With h it tells f.
        let mut numerator = ring.from_signed(&twice, 1);
        let h = ring.mul(&inverse, &numerator, params.key_rows());
        numerator.wipe();
        LtvSecretKey { public: LtvPublicKey::new(params, ring.evaluate(&h)), f, inverse }
    }

    /// f in natural order.
    pub(crate) fn f(&self) -> &[i64] {
        &self.f
    }

    /// The parameter set.
    pub fn params(&self) -> &LtvParams {
        &self.public.params
    }

    /// The public key.
    pub fn public(&self) -> &LtvPublicKey {
        &self.public
    }

    /// Encrypts at the highest level, with the public key.
    ///
    /// # Errors
    /// As [`LtvPublicKey::encrypt_at`].
    pub fn encrypt(
        &self,
        plaintext: &Plaintext,
        rng: &mut impl CryptoRng,
    ) -> Result<LtvCiphertext, SchemeError> {
        self.public.encrypt(plaintext, rng)
    }

    /// Encrypts at `level`, with the public key.
    ///
    /// # Errors
    /// As [`LtvPublicKey::encrypt_at`].
    pub fn encrypt_at(
        &self,
        plaintext: &Plaintext,
        level: Level,
        rng: &mut impl CryptoRng,
    ) -> Result<LtvCiphertext, SchemeError> {
        self.public.encrypt_at(plaintext, level, rng)
    }

    /// f modulo p^`rows`.
    pub(crate) fn secret(&self, rows: usize) -> AdicPoly {
        self.params().ring().from_signed(&self.f, rows)
    }

    /// g(f)/f modulo p^`rows`.
    pub(crate) fn image(&self, g: GaloisElement, rows: usize) -> AdicPoly {
        let ring = self.params().ring();
        let mut image = ring.evaluate_signed(&self.f).galois(ring.cpu(), g);
        image.wipe_on_drop();
        let inverse = ring.evaluate_secret(&self.inverse);
        let mut quotient = ring.multiply(&inverse, &[image], ring.blocks(rows));
        quotient.iter_mut().for_each(Poly::wipe_on_drop);
        ring.digits(quotient, rows)
    }

    fn phase(&self, ciphertext: &LtvCiphertext) -> Result<AdicPoly, SchemeError> {
        let (ring, count) = (self.params().ring(), rows(ciphertext.level()));
        if !ciphertext.fits(self.params()) {
            return Err(self.params().wrong("the ciphertext"));
        }
        let f = ring.evaluate_signed(&self.f);
        let blocks = ciphertext.evaluations(ring);
        let mut phase = ring.inner_products(blocks.len(), |o| vec![(&blocks[o], &f)]);
        // With the ciphertext it tells f.
        phase.iter_mut().for_each(Poly::wipe_on_drop);
        Ok(ring.digits(phase, count))
    }

    /// (c f modulo q) modulo 2.
    ///
    /// # Errors
    /// A ciphertext of another set. [`SchemeError::NotDecryptable`] for a phase far above the bound
    /// of the ciphertext, such as one of another key, or computed with evaluation keys of another
    /// one: this is found after decoding, in a time that does not depend on the phase. With c bits
    /// of capacity the phase of another key is taken with probability 2^-((c - 4) n) at most. It is
    /// taken with probability 2^-40 at most whatever the bound: where it was not trusted when the
    /// ciphertext was read, or is false, a phase that does not leave 40/n bits of the modulus free
    /// is refused, as one is that was reduced modulo q.
    pub fn decrypt(&self, ciphertext: &LtvCiphertext) -> Result<Plaintext, SchemeError> {
        let mut phase = self.phase(ciphertext)?;
        let (ring, noise) = (self.params().ring(), self.params().noise());
        let coefficients = ring.parities(&phase);
        let (largest, places) = ring.largest(&phase);
        phase.wipe();
        let plaintext = self.params().plaintext(coefficients)?;
        let most = self.params().modulus_bits(ciphertext.level())
            - 1.0
            - NOTICED / self.params().degree() as f64;
        let stated = noise.bound(ciphertext.meta.noise) + SLACK;
        let bits = stated.min(most) - places as f64 * noise.prime_bits();
        // Half a unit for what lies below.
        if largest as f64 > bits.exp2() + 0.5 {
            return Err(SchemeError::NotDecryptable);
        }
        Ok(plaintext)
    }

    /// log2 of the largest coefficient of the phase, to be compared with
    /// [`everlevel_scheme::Scheme::noise_bound_bits`]. Depends on the secret: never to be shared.
    ///
    /// # Errors
    /// A ciphertext of another set.
    pub fn measure_noise(&self, ciphertext: &LtvCiphertext) -> Result<f64, SchemeError> {
        let (coefficients, scale) = self.approximate_phase(ciphertext)?;
        let largest = coefficients.iter().fold(0f64, |largest, x| largest.max(x.abs()));
        Ok(if largest == 0.0 { 0.0 } else { largest.log2() + scale })
    }

    /// log2 of the root mean square of the embeddings of the phase, which `meta().noise` estimates.
    /// Depends on the secret: never to be shared.
    ///
    /// # Errors
    /// A ciphertext of another set.
    pub fn measure_embeddings(&self, ciphertext: &LtvCiphertext) -> Result<f64, SchemeError> {
        let (coefficients, scale) = self.approximate_phase(ciphertext)?;
        let embeddings =
            Zeroizing::new(self.params().ring().ring().norm().embeddings(&coefficients));
        let square = embeddings.iter().map(|x| x * x).sum::<f64>() / embeddings.len() as f64;
        Ok(square.log2() / 2.0 + scale)
    }

    fn approximate_phase(
        &self,
        ciphertext: &LtvCiphertext,
    ) -> Result<(Zeroizing<Vec<f64>>, f64), SchemeError> {
        let mut phase = self.phase(ciphertext)?;
        let (coefficients, scale) = self.params().ring().approximate(&phase);
        phase.wipe();
        Ok((Zeroizing::new(coefficients), scale))
    }
}
