//! Ciphertexts.

use std::fmt;

use everlevel_ring::{Basis, Cpu, Engine, Eval, Poly, cpu, sample};

use everlevel_scheme::KeyId;
use everlevel_scheme::Params;
use everlevel_scheme::SchemeError;
use everlevel_scheme::noise::Meta;
use everlevel_scheme::spec::Level;

/// An encrypted vector, in the memory of an [`Engine`], by default that of the processor.
pub struct Ciphertext<E: Engine = Cpu> {
    pub(crate) meta: Meta,
    /// The components: (c0, c1), or c over NTRU.
    pub(crate) components: Vec<Poly<Eval, E>>,
    /// The seed from which c1 is expanded, as component 0. Every operation constructs its result
    /// with [`Ciphertext::new`] or [`Ciphertext::with_meta`], which drop it.
    seed: Option<sample::Seed>,
}

impl<E: Engine> Ciphertext<E> {
    pub(crate) fn new(meta: Meta, components: Vec<Poly<Eval, E>>) -> Self {
        Ciphertext { meta, components, seed: None }
    }

    /// The same ciphertext in other memory, into which its polynomials were copied.
    pub(crate) fn copied<F: Engine>(&self, components: Vec<Poly<Eval, F>>) -> Ciphertext<F> {
        Ciphertext { meta: self.meta, components, seed: self.seed }
    }

    /// The same polynomials, which the caller will change, with other public data.
    pub(crate) fn with_meta(self, meta: Meta) -> Self {
        Ciphertext::new(meta, self.components)
    }

    /// A ciphertext from its public data and its components, as [`Ciphertext::meta`] and
    /// [`Ciphertext::components`] give them. Residues must be canonical, that is below their
    /// primes.
    ///
    /// # Errors
    /// Public data of another set, a level above the top, an invalid plaintext exponent or
    /// correction factor, a noise bound that is not finite or does not allow decryption at the
    /// level, another number of components, or polynomials that are not over the primes of the
    /// level.
    pub fn from_parts(
        params: &Params,
        meta: Meta,
        components: Vec<Poly<Eval, E>>,
    ) -> Result<Self, SchemeError> {
        let out = Ciphertext::new(meta_of(params, meta)?, components);
        if !out.fits(params) {
            return Err(SchemeError::BadArgument {
                what: "components of a ciphertext",
                expected: format!(
                    "{} polynomials of degree {} over the {} primes of level {}",
                    params.components(),
                    params.degree(),
                    params.chain().basis(meta.level).len(),
                    meta.level
                ),
                found: format!("{} polynomials, or others", out.components.len()),
            });
        }
        Ok(out)
    }

    /// Whether the components are as many as these parameters have, of their degree and over the
    /// primes of the level, which must be one of theirs.
    fn fits(&self, params: &Params) -> bool {
        let basis = params.chain().basis(self.meta.level);
        let fits = |c: &Poly<Eval, E>| c.basis() == basis && c.degree() == params.degree();
        self.components.len() == params.components() && self.components.iter().all(fits)
    }

    /// Checks that this is a ciphertext of these parameters.
    pub(crate) fn check(&self, params: &Params) -> Result<(), SchemeError> {
        check_parts(params, &self.meta, "the ciphertext", || self.fits(params))
    }

    /// The components: (c0, c1), or over NTRU c.
    pub fn components(&self) -> &[Poly<Eval, E>] {
        &self.components
    }

    /// The seed from which c1 is expanded, for a fresh encryption under the secret key. Results of
    /// operations have none.
    pub fn seed(&self) -> Option<&sample::Seed> {
        self.seed.as_ref()
    }

    /// Its primes.
    pub(crate) fn basis(&self) -> Basis {
        self.last().basis()
    }

    /// The component that the secret multiplies: c1, or c.
    pub(crate) fn last(&self) -> &Poly<Eval, E> {
        self.components.last().expect("a ciphertext has a component")
    }

    /// The component that the secret does not multiply: c0, if there is one.
    pub(crate) fn constant(&self) -> Option<&Poly<Eval, E>> {
        self.components.split_last().and_then(|(_, rest)| rest.first())
    }

    /// Applies one change to every component.
    pub(crate) fn each(&mut self, change: impl Fn(&mut Poly<Eval, E>)) {
        self.components.iter_mut().for_each(change);
    }

    /// The id of the secret key that it decrypts under, if it is known.
    pub fn owner(&self) -> Option<KeyId> {
        self.meta.owner
    }

    /// The same ciphertext, its owner unknown: for products across keys
    /// ([`SecretKey::decrypt_jointly`](crate::SecretKey::decrypt_jointly)), which are refused
    /// otherwise. Then only the check of the phase at decryption detects a mix-up.
    #[must_use]
    pub fn without_owner(mut self) -> Self {
        self.meta.owner = None;
        self
    }

    /// Level, plaintext modulus, factor, noise bound and owner.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// The level.
    pub fn level(&self) -> Level {
        self.meta.level
    }

    /// log2 of the noise bound.
    pub fn noise_bound_bits(&self) -> f64 {
        self.meta.noise
    }
}

impl Ciphertext {
    /// (c0, c1), c1 being the expansion of `seed`.
    pub(crate) fn seeded(meta: Meta, components: Vec<Poly<Eval>>, seed: sample::Seed) -> Self {
        Ciphertext { meta, components, seed: Some(seed) }
    }

    /// [`Ciphertext::from_parts`] with c1 expanded from a seed, as in encryptions by
    /// [`SecretKey::encrypt`](crate::SecretKey::encrypt) over ring-LWE.
    ///
    /// # Errors
    /// As [`Ciphertext::from_parts`]; a set over NTRU, whose ciphertexts have no uniformly random
    /// polynomial.
    pub fn from_seeded(
        params: &Params,
        meta: Meta,
        c0: Poly<Eval>,
        seed: sample::Seed,
    ) -> Result<Self, SchemeError> {
        params.noise().check_meta(&meta)?;
        let c1 = sample::expand(params.cpu(), &seed, 0, params.chain().basis(meta.level));
        Ok(Ciphertext { seed: Some(seed), ..Self::from_parts(params, meta, vec![c0, c1])? })
    }

    /// A fingerprint of all residues: equal ciphertexts have equal ones on every machine, backend
    /// and thread count. For the comparison of runs; it is not collision-resistant against an
    /// adversary.
    pub fn fingerprint(&self) -> u64 {
        cpu::fingerprint(&self.components)
    }
}

/// The public data of an object that is made of its parts: those of these parameters, whose set
/// they state from now on.
pub(crate) fn meta_of(params: &Params, meta: Meta) -> Result<Meta, SchemeError> {
    params.noise().check_meta(&meta)?;
    Ok(Meta { set: Some(params.set_id()), ..meta })
}

/// Refuses an object of another set, or whose public data no object of these parameters has, or
/// whose polynomials do not fit them.
pub(crate) fn check_parts(
    params: &Params,
    meta: &Meta,
    object: &'static str,
    fit: impl FnOnce() -> bool,
) -> Result<(), SchemeError> {
    params.noise().check_origin(meta, object)?;
    params.noise().check_meta(meta)?;
    let wrong = || SchemeError::WrongParams { object, name: params.name().into() };
    fit().then_some(()).ok_or_else(wrong)
}

impl<E: Engine> Clone for Ciphertext<E> {
    fn clone(&self) -> Self {
        Ciphertext { meta: self.meta, components: self.components.clone(), seed: self.seed }
    }
}

impl<E: Engine> fmt::Debug for Ciphertext<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ciphertext(level {}, noise bound 2^{:.1})", self.meta.level, self.meta.noise)
    }
}
