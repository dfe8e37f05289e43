//! The public encryption key.

use everlevel_ring::{Constant, Eval, Poly, sample};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::secret::{MainSecret, SecretKey, error};
use crate::ciphertext::Ciphertext;
use crate::message::{carried_coefficients, noisy_message};
use everlevel_scheme::KeyId;
use everlevel_scheme::Params;
use everlevel_scheme::Plaintext;
use everlevel_scheme::SchemeError;
use everlevel_scheme::noise::Meta;
use everlevel_scheme::spec::{Assumption, Level};

/// The public encryption key, modulo the modulus of the top level: (b, a) with b + a s = e and
/// uniform a, or over NTRU g / f. It does not contain the plaintext modulus.
#[derive(Clone)]
pub struct PublicKey {
    params: Params,
    components: Vec<Poly<Eval>>,
    /// The seed from which a is expanded; none over NTRU.
    seed: Option<sample::Seed>,
    owner: Option<KeyId>,
}

impl PublicKey {
    /// Generates a public key. Over NTRU it is determined by the secret key.
    pub fn generate(secret: &SecretKey, rng: &mut impl CryptoRng) -> Self {
        Self::drawn(secret, rng)
    }

    /// [`PublicKey::generate`], compiled once for all generators.
    fn drawn(secret: &SecretKey, rng: &mut dyn CryptoRng) -> Self {
        let params = secret.params();
        let basis = params.chain().basis(params.chain().top());
        let (components, seed) = match secret.main() {
            MainSecret::Rlwe(_) => {
                let seed = sample::seed(rng);
                (secret.main().zero(params, basis, (&seed, 0), rng), Some(seed))
            }
            MainSecret::Ntru { quotient, .. } => (vec![quotient.restricted(basis)], None),
        };
        PublicKey { params: params.clone(), components, seed, owner: Some(secret.id()) }
    }

    /// A public key from b and the seed of a, or from g / f and no seed. Residues must be
    /// canonical.
    ///
    /// # Errors
    /// A polynomial that is not over the primes of the top level, a seed over NTRU, or none over
    /// ring-LWE.
    pub fn from_parts(
        params: &Params,
        first: Poly<Eval>,
        seed: Option<sample::Seed>,
    ) -> Result<Self, SchemeError> {
        let basis = params.chain().basis(params.chain().top());
        let fits = first.basis() == basis && first.degree() == params.degree();
        if !fits || seed.is_some() != (params.components() > 1) {
            return Err(SchemeError::WrongParams {
                object: "the public key",
                name: params.name().into(),
            });
        }
        let expanded = seed.iter().map(|seed| sample::expand(params.cpu(), seed, 0, basis));
        let components = std::iter::once(first).chain(expanded).collect();
        Ok(PublicKey { params: params.clone(), components, seed, owner: None })
    }

    /// The same key with this secret key as its owner, or without a known owner, as in
    /// [`PublicKey::from_parts`].
    #[must_use]
    pub fn owned_by(mut self, owner: Option<KeyId>) -> Self {
        self.owner = owner;
        self
    }

    /// The id of the secret key that it belongs to, if it is known.
    pub fn owner(&self) -> Option<KeyId> {
        self.owner
    }

    /// b, or g / f.
    pub fn first(&self) -> &Poly<Eval> {
        &self.components[0]
    }

    /// The seed of a; NTRU has none.
    pub fn seed(&self) -> Option<&sample::Seed> {
        self.seed.as_ref()
    }

    /// The parameter set.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Encrypts a plaintext at the top level: (t (v b + e0) + κ m, t (v a + e1)) with random
    /// ternary v and small errors e0, e1, or over NTRU t (v g / f + e) + κ m; in BFV form times
    /// 1/t.
    ///
    /// # Errors
    /// A plaintext of another parameter set.
    pub fn encrypt(
        &self,
        plaintext: &Plaintext,
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertext, SchemeError> {
        self.encrypt_at(plaintext, self.params.chain().top(), rng)
    }

    /// Encrypts a plaintext at a level: a smaller ciphertext with less capacity. The absolute noise
    /// is that of [`PublicKey::encrypt`], and the time is proportional to the primes of the level.
    ///
    /// # Errors
    /// A plaintext of another parameter set, or a level above the top.
    pub fn encrypt_at(
        &self,
        plaintext: &Plaintext,
        level: Level,
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertext, SchemeError> {
        let highest = self.params.chain().top();
        if level > highest {
            return Err(SchemeError::BadLevel { found: level, highest });
        }
        encrypt_under(&self.params, self.owner, &self.components, plaintext, level, rng)
    }
}

/// The encryption of a plaintext at a level under the components of a public key that covers it.
pub(crate) fn encrypt_under(
    params: &Params,
    owner: Option<KeyId>,
    key: &[Poly<Eval>],
    plaintext: &Plaintext,
    level: Level,
    rng: &mut dyn CryptoRng,
) -> Result<Ciphertext, SchemeError> {
    plaintext.check(params)?;
    let (ring, cpu) = (params.ring(), params.cpu());
    let basis = params.chain().basis(level);
    let t = params.plaintext_ring().modulus(plaintext.exponent()).wide();
    let fresh = params.noise().modeled(level, plaintext.exponent(), |model| model.fresh_public(t));
    let meta = Meta { owner, ..fresh };
    let message = carried_coefficients(params, plaintext, &meta)?;
    let small = |message: Option<&[i64]>, x: Vec<i64>| {
        let mut c = noisy_message(cpu, basis, message, &Zeroizing::new(x), t);
        c.scale_assign(cpu, Constant::inverse(meta.form.scale(t)));
        c
    };
    let v = match params.spec().assumption {
        Assumption::Rlwe => sample::ternary(ring.degree(), rng),
        Assumption::Ntru => error(params, rng),
    };
    let v = small(None, v);
    let component = |(i, k): (usize, &Poly<Eval>)| {
        let mut c = small((i == 0).then_some(&message), error(params, rng));
        c.mul_add_assign(cpu, &k.restricted(basis), &v);
        c
    };
    let components = key.iter().enumerate().map(component).collect();
    Ok(Ciphertext::new(params.noise().checked(meta, "encryption")?, components))
}
