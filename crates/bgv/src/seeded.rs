//! Fresh encryptions that keep their seed.

use everlevel_ring::sample::Seed;
use everlevel_ring::{Eval, Poly};
use everlevel_scheme::noise::Meta;
use everlevel_scheme::{Params, SchemeError};

use crate::ciphertext::{Ciphertext, check_parts, meta_of};

/// An encryption by [`SecretKey::encrypt`](crate::SecretKey::encrypt) over ring-LWE as it is
/// stored: c0, and the seed that c1 is the expansion of. It takes half of the memory of a
/// [`Ciphertext`], and products expand it where they need it
/// ([`Evaluator::sums_of_seeded_products`](crate::Evaluator::sums_of_seeded_products)).
///
/// Both are evaluations: c0 has n residues for each prime of the level, and the seed has 32 bytes.
/// What it expands to is uniform among evaluations as well as among coefficients, so that it is
/// taken as evaluations, by ChaCha20 and without a transform
/// ([`sample::expand`](everlevel_ring::sample::expand)); the noise is that of the ciphertext.
/// Source: NewHope, Alkim, Ducas, Pöppelmann and Schwabe 2015 (ia.cr/2015/1092).
#[derive(Clone)]
pub struct SeededCiphertext {
    pub(crate) meta: Meta,
    pub(crate) body: Poly<Eval>,
    pub(crate) seed: Seed,
}

impl SeededCiphertext {
    /// From the public data, c0 and the seed. Residues must be canonical.
    ///
    /// # Errors
    /// As [`Ciphertext::from_seeded`].
    pub fn from_parts(
        params: &Params,
        meta: Meta,
        body: Poly<Eval>,
        seed: Seed,
    ) -> Result<Self, SchemeError> {
        let meta = meta_of(params, meta)?;
        let out = SeededCiphertext { meta, body, seed };
        if out.fits(params) { Ok(out) } else { Err(misfit(params, &meta)) }
    }

    /// A ciphertext that still has its seed; none without one, such as what was computed.
    pub fn of(x: &Ciphertext) -> Option<Self> {
        let (body, seed) = (x.constant()?.clone(), *x.seed()?);
        Some(SeededCiphertext { meta: *x.meta(), body, seed })
    }

    /// The ciphertext: an expansion of n residues for each prime of the level, and a copy of c0.
    ///
    /// # Errors
    /// A seeded ciphertext of other parameters.
    pub fn expanded(&self, params: &Params) -> Result<Ciphertext, SchemeError> {
        Ciphertext::from_seeded(params, self.meta, self.body.clone(), self.seed)
    }

    /// Level, plaintext modulus, factor, noise bound and owner.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// c0.
    pub fn body(&self) -> &Poly<Eval> {
        &self.body
    }

    /// The seed that c1 is the expansion of, as component 0.
    pub fn seed(&self) -> &Seed {
        &self.seed
    }

    fn fits(&self, params: &Params) -> bool {
        let basis = params.chain().basis(self.meta.level);
        params.components() == 2
            && self.body.basis() == basis
            && self.body.degree() == params.degree()
    }

    /// Refuses what is not of these parameters.
    pub(crate) fn check(&self, params: &Params) -> Result<(), SchemeError> {
        check_parts(params, &self.meta, "the ciphertext", || self.fits(params))
    }
}

/// The refusal of another c0 than one of these parameters has.
pub(crate) fn misfit(params: &Params, meta: &Meta) -> SchemeError {
    SchemeError::BadArgument {
        what: "components of a seeded ciphertext",
        expected: format!(
            "over ring-LWE a polynomial of degree {} over the {} primes of level {}",
            params.degree(),
            params.chain().basis(meta.level).len(),
            meta.level
        ),
        found: "another".into(),
    }
}
