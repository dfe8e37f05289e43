//! Encryption under the secret key, decryption, and the measurement of noise.

use everlevel_ring::sample::{self, Seed};
use everlevel_ring::{Basis, Coeff, Constant, Poly};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::ciphertext::Ciphertext;
use crate::evaluator::product::Product;
use crate::keys::{MainSecret, SecretKey, encrypt_under};
use crate::message::{carried_coefficients, noisy_message};
use everlevel_scheme::KeyId;
use everlevel_scheme::Params;
use everlevel_scheme::Plaintext;
use everlevel_scheme::SchemeError;
use everlevel_scheme::noise::Meta;
use everlevel_scheme::same_owner;
use everlevel_scheme::spec::Level;

/// The number of bits by which the primes used in decryption exceed the noise bound, so that the
/// floating-point quotient is exact.
pub(super) const DECRYPTION_SLACK: f64 = 12.0;

impl SecretKey {
    /// Encrypts a plaintext at the top level, in the form of the parameter set: (m + t e - a s, a)
    /// in BGV form or ((κ m + t e) / t - a s, a) in BFV form, with uniform a and a small error e;
    /// over NTRU as [`PublicKey::encrypt`](crate::PublicKey::encrypt).
    ///
    /// # Errors
    /// A plaintext of another parameter set.
    pub fn encrypt(
        &self,
        plaintext: &Plaintext,
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertext, SchemeError> {
        self.encrypt_at(plaintext, self.params().chain().top(), rng)
    }

    /// Encrypts a plaintext at a level, as [`SecretKey::encrypt`] does at the top: for operands
    /// that meet others at a level that is known beforehand.
    ///
    /// Both components have only the primes of that level. Over ring-LWE c1 is the expansion of a
    /// seed of 32 bytes, which the ciphertext keeps
    /// ([`SeededCiphertext`](crate::SeededCiphertext)), and the time is a transform, a product and
    /// an expansion of n residues for each prime, n being the degree. The absolute noise is that of
    /// a fresh encryption at any level, so the capacity is smaller by the bits of the primes that
    /// are left out; switching down from the top takes longer and adds the noise of a rounding.
    ///
    /// # Errors
    /// A plaintext of another parameter set, or a level above the top ([`SchemeError::BadLevel`]).
    pub fn encrypt_at(
        &self,
        plaintext: &Plaintext,
        level: Level,
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertext, SchemeError> {
        self.encrypt_drawing(plaintext, level, rng, None)
    }

    /// [`SecretKey::encrypt_at`] with a given seed of c1, for formats that derive seeds from what a
    /// ciphertext belongs to. The seed is public.
    ///
    /// **No two encryptions under one key may have the same seed**: their difference shows that of
    /// their plaintexts up to small errors.
    ///
    /// # Errors
    /// As [`SecretKey::encrypt_at`]; a key over NTRU, whose encryptions have no seed.
    pub fn encrypt_with_seed(
        &self,
        plaintext: &Plaintext,
        level: Level,
        seed: Seed,
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertext, SchemeError> {
        if let MainSecret::Ntru { .. } = self.main() {
            return Err(SchemeError::BadArgument {
                what: "secret key of an encryption with a given seed",
                expected: "one over ring-LWE".into(),
                found: "one over NTRU".into(),
            });
        }
        self.encrypt_drawing(plaintext, level, rng, Some(seed))
    }

    /// An encryption whose seed is drawn after its errors if none is given; compiled once for all
    /// generators.
    fn encrypt_drawing(
        &self,
        plaintext: &Plaintext,
        level: Level,
        rng: &mut dyn CryptoRng,
        seed: Option<Seed>,
    ) -> Result<Ciphertext, SchemeError> {
        let params = self.params();
        let (ring, cpu) = (params.ring(), params.cpu());
        if level > params.chain().top() {
            return Err(SchemeError::BadLevel { found: level, highest: params.chain().top() });
        }
        plaintext.check(params)?;
        let s = match self.main() {
            MainSecret::Rlwe(s) => s,
            MainSecret::Ntru { quotient, .. } => {
                return encrypt_under(
                    params,
                    Some(self.id()),
                    std::slice::from_ref(quotient),
                    plaintext,
                    level,
                    rng,
                );
            }
        };
        let basis = params.chain().basis(level);
        let t = params.plaintext_ring().modulus(plaintext.exponent()).wide();
        let fresh =
            params.noise().modeled(level, plaintext.exponent(), |model| model.fresh_secret(t));
        let meta = Meta { owner: Some(self.id()), ..fresh };
        let message = carried_coefficients(params, plaintext, &meta)?;
        let errors = Zeroizing::new(sample::error(ring.degree(), rng));
        let mut c0 = noisy_message(cpu, basis, Some(&message), &errors, t);
        c0.scale_assign(cpu, Constant::inverse(meta.form.scale(t)));
        let seed = seed.unwrap_or_else(|| sample::seed(rng));
        let c1 = sample::expand(cpu, &seed, 0, basis);
        // The product a s determines s, because a is published.
        let mut product = c1.mul(cpu, &s.restricted(basis));
        product.wipe_on_drop();
        c0.sub_assign(cpu, &product);
        Ok(Ciphertext::seeded(params.noise().checked(meta, "encryption")?, vec![c0, c1], seed))
    }

    /// Decrypts a ciphertext. The plaintext is exact; a ciphertext that could decrypt wrongly is
    /// refused.
    ///
    /// It uses only as many primes as the noise bound needs, since the coefficients of the phase
    /// are integers below the bound.
    ///
    /// # Errors
    /// A noise bound that does not fit the modulus, a ciphertext of another parameter set or of
    /// another key ([`SchemeError::WrongKey`]); one whose phase is above the bound that it states
    /// ([`SchemeError::NotDecryptable`]), which is checked after decoding, in a time that does not
    /// depend on the phase. With c bits of capacity the phase of a ciphertext of another key passes
    /// this check with probability 2^-(c n) (docs/noise.md); if the owner is not known, so that no
    /// other check detects a wrong key, this probability must be below 2^-40
    /// ([`SchemeError::UnknownOwner`]).
    pub fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Plaintext, SchemeError> {
        self.params().noise().check_origin(&ciphertext.meta, "the ciphertext")?;
        let meta = self.params().noise().checked(ciphertext.meta, "decryption")?;
        let largest = meta.noise + self.params().ring().coefficient_bits();
        plaintext_of(self.params(), &meta, self.phase(ciphertext, meta.noise)?, largest)
    }

    /// Checks that an object belongs to this key, or has no known owner.
    pub(super) fn check_owner(
        &self,
        owner: Option<KeyId>,
        operation: &'static str,
    ) -> Result<(), SchemeError> {
        same_owner(owner, Some(self.id()), operation)
    }

    /// Decrypts a product, or a sum of products, that was not relinearized. The plaintext is exact;
    /// a product that could decrypt wrongly is refused. For servers without keys, whose results are
    /// not used in further computation.
    ///
    /// The phase is (d2 s + d1) s + d0: two products with the key and one inverse transform for
    /// each of the primes that the noise bound needs; products that BFV scaled take three
    /// transforms more for each. Decryption adds no noise: the bound that counts is the one of the
    /// product.
    ///
    /// # Errors
    /// As [`SecretKey::decrypt`].
    pub fn decrypt_product(&self, product: &Product) -> Result<Plaintext, SchemeError> {
        let (params, meta) = (self.params(), &product.meta);
        let phase = self.product_phase(product)?;
        let largest = meta.noise + params.ring().coefficient_bits();
        plaintext_of(params, meta, phase, largest)
    }

    /// The coefficients of the phase of a product under this key that its bound lets decrypt.
    fn product_phase(&self, product: &Product) -> Result<Poly<Coeff>, SchemeError> {
        let params = self.params();
        let cpu = params.cpu();
        product.check(params)?;
        self.check_owner(product.meta.owner, "decryption")?;
        let meta = params.noise().checked(product.meta, "decryption")?;
        let basis = sufficient(params, meta.level, meta.noise);
        let secret = self.main().poly().restricted(basis);
        // (d2 s + d1) s + d0, or (d f) f.
        let mut parts = product.tensor.evaluations(cpu, basis).into_iter().rev();
        let mut phase = parts.next().expect("a product has a component");
        for next in [parts.next(), parts.next()] {
            phase = phase.mul(cpu, &secret);
            phase.wipe_on_drop();
            if let Some(next) = next {
                phase.add_assign(cpu, &next);
            }
        }
        let t = params.plaintext_ring().modulus(meta.exponent).wide();
        phase.scale_assign(cpu, meta.form.scale(t) as i128);
        Ok(phase.into_coeff(cpu))
    }

    /// Decrypts a product, not relinearized, of a ciphertext under this key and one under the key
    /// of `other`: the multi-key evaluation of López-Alt, Tromer and Vaikuntanathan, over NTRU,
    /// where c c' has the phase (c f)(c' f').
    ///
    /// This demonstration is limited to one product, or a sum of products under the same two keys
    /// ([`everlevel_scheme::Arithmetic::add_products`]). Further computation would need evaluation
    /// keys that both owners generate jointly, and decryption without bringing f and f' together
    /// would need a protocol. The evaluator refuses a product of ciphertexts of two owners unless
    /// the owner of one factor was removed ([`Ciphertext::without_owner`]).
    ///
    /// # Errors
    /// As [`SecretKey::decrypt`]; a product of neither key; a product or a key of another parameter
    /// set, or not over NTRU.
    pub fn decrypt_jointly(
        &self,
        other: &SecretKey,
        product: &Product,
    ) -> Result<Plaintext, SchemeError> {
        let params = self.params();
        let cpu = params.cpu();
        params.noise().check_origin(&product.meta, "the product")?;
        let meta = params.noise().checked(product.meta, "decryption")?;
        let full = params.chain().basis(meta.level);
        let two = matches!(
            (self.main(), other.main()),
            (MainSecret::Ntru { .. }, MainSecret::Ntru { .. })
        );
        if !two
            || !params.same(other.params())
            || product.tensor.len() != 1
            || product.tensor.basis() != full
        {
            return Err(SchemeError::WrongParams {
                object: "the product or the other key",
                name: params.name().into(),
            });
        }
        if meta.owner != Some(other.id()) {
            self.check_owner(meta.owner, "joint decryption")?;
        }
        let basis = sufficient(params, meta.level, meta.noise);
        let mut joint =
            self.main().poly().restricted(basis).mul(cpu, &other.main().poly().restricted(basis));
        joint.wipe_on_drop();
        let tensor = product.tensor.evaluations(cpu, basis);
        let mut phase = tensor[tensor.len() - 1].mul(cpu, &joint);
        phase.wipe_on_drop();
        let t = params.plaintext_ring().modulus(meta.exponent).wide();
        phase.scale_assign(cpu, meta.form.scale(t) as i128);
        let largest = meta.noise + params.ring().coefficient_bits();
        plaintext_of(params, &meta, phase.into_coeff(cpu), largest)
    }

    /// log2 of the measured canonical norm of the phase. It reveals information about the key: it
    /// is for diagnostics only and must never be shared (see SECURITY.md).
    ///
    /// # Errors
    /// As [`SecretKey::decrypt`].
    #[cfg(feature = "diagnostics")]
    pub fn measure_noise(&self, ciphertext: &Ciphertext) -> Result<f64, SchemeError> {
        let params = self.params();
        params.noise().checked(ciphertext.meta, "decryption")?;
        let phase = self.phase(ciphertext, ciphertext.meta.noise)?;
        Ok(params.ring().norm().max(&params.cpu().to_real(&phase)).max(1.0).log2())
    }

    /// [`SecretKey::measure_noise`] of a product, or a sum of products, that was not relinearized:
    /// for diagnostics only, too.
    ///
    /// # Errors
    /// As [`SecretKey::decrypt_product`].
    #[cfg(feature = "diagnostics")]
    pub fn measure_product_noise(&self, product: &Product) -> Result<f64, SchemeError> {
        let (params, phase) = (self.params(), self.product_phase(product)?);
        Ok(params.ring().norm().max(&params.cpu().to_real(&phase)).max(1.0).log2())
    }

    /// The coefficients of the phase w = κ m + t ε, modulo enough primes for a phase below
    /// 2^`bits`.
    pub(super) fn phase(
        &self,
        ciphertext: &Ciphertext,
        bits: f64,
    ) -> Result<Poly<Coeff>, SchemeError> {
        let params = self.params();
        let cpu = params.cpu();
        ciphertext.check(params)?;
        self.check_owner(ciphertext.meta.owner, "decryption")?;
        let basis = sufficient(params, ciphertext.meta.level, bits);
        let mut phase =
            ciphertext.last().restricted(basis).mul(cpu, &self.main().poly().restricted(basis));
        phase.wipe_on_drop();
        if let Some(c0) = ciphertext.constant() {
            phase.add_assign(cpu, &c0.restricted(basis));
        }
        let t = params.plaintext_ring().modulus(ciphertext.meta.exponent).wide();
        phase.scale_assign(cpu, ciphertext.meta.form.scale(t) as i128);
        Ok(phase.into_coeff(cpu))
    }
}

/// The primes of the level that suffice for a phase below 2^`bits`: one at least, with which a
/// phase is seen not to be 0 that a bound below 1 says to be.
fn sufficient(params: &Params, level: Level, bits: f64) -> Basis {
    let need = bits.max(0.0) + 1.0 + DECRYPTION_SLACK;
    let add = |basis: Basis, i| {
        if params.ring().log2(basis) < need { basis.union(Basis::of([i])) } else { basis }
    };
    params.chain().basis(level).iter().fold(Basis::EMPTY, add)
}

/// The margin, in bits, by which the largest coefficient of a phase may exceed its bound, as bounds
/// are computed in floating point on different machines.
const PHASE_MARGIN: f64 = 1e-6;

/// Accepts a ciphertext with a known owner, and one that another key would reject except with
/// probability 2^-40: there each of the n coefficients passes with probability 2^-`room`. All of
/// this is public.
pub(super) fn check_noticed(
    params: &Params,
    owner: Option<KeyId>,
    room: f64,
) -> Result<(), SchemeError> {
    match owner {
        None if room * (params.degree() as f64) < 40.0 => Err(SchemeError::UnknownOwner {
            operation: "decryption",
            problem: "its noise bound is so large that a wrong key would not be noticed; read it \
                      with the bound that it states, and instead of a compact result decrypt the \
                      ciphertext that it was made from",
        }),
        _ => Ok(()),
    }
}

/// The plaintext of a phase over sufficiently many primes, whose coefficients have to be at most
/// 2^`largest` in absolute value. There is one branch, at the end: the time depends on the phase
/// only by whether it is refused.
pub(super) fn plaintext_of(
    params: &Params,
    meta: &Meta,
    phase: Poly<Coeff>,
    largest: f64,
) -> Result<Plaintext, SchemeError> {
    let modulus_bits = params.ring().log2(phase.basis());
    check_noticed(params, meta.owner, modulus_bits - 1.0 - largest)?;
    // In units of 2^-64 of the modulus, of which no coefficient has more than 2^63.
    let allowed = (largest + PHASE_MARGIN - modulus_bits + 64.0).exp2() as u64;
    let t = params.plaintext_ring().modulus(meta.exponent);
    let unit = t.inv(meta.factor).expect("factors are units");
    let (coefficients, found) = params.cpu().reduce_measured(phase, t, unit);
    let plaintext = Plaintext::from_reduced(params.spec().index, coefficients.into(), t);
    if found > allowed { Err(SchemeError::NotDecryptable) } else { Ok(plaintext) }
}
