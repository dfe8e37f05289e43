//! Fresh encryptions as files have them.

use everlevel_ring::cpu::{Body, SharedBytes, StoredPoly};
use everlevel_ring::sample::Seed;
use everlevel_scheme::noise::Meta;
use everlevel_scheme::{Params, SchemeError};

use crate::ciphertext::{Ciphertext, check_parts, meta_of};
use crate::seeded::{SeededCiphertext, misfit};

/// A [`SeededCiphertext`] whose c0 stays as a file has it, with as many bits for each residue as
/// its prime has: for databases that are read once and multiplied once. Products unpack it where
/// they need it
/// ([`Evaluator::sums_of_stored_products`](crate::Evaluator::sums_of_stored_products)).
#[derive(Clone)]
pub struct StoredCiphertext {
    meta: Meta,
    body: StoredPoly,
    seed: Seed,
}

impl StoredCiphertext {
    /// From the public data, the bytes of which c0 are those from `start` on
    /// ([`StoredPoly::new`]), and the seed. Residues must be canonical.
    ///
    /// # Errors
    /// As [`SeededCiphertext::from_parts`]; fewer bytes.
    pub fn from_parts(
        params: &Params,
        meta: Meta,
        (bytes, start): (SharedBytes, usize),
        seed: Seed,
    ) -> Result<Self, SchemeError> {
        let meta = meta_of(params, meta)?;
        let basis = params.chain().basis(meta.level);
        let body = match params.components() {
            2 => StoredPoly::new(params.ring(), basis, bytes, start),
            _ => None,
        };
        let body = body.ok_or_else(|| misfit(params, &meta))?;
        Ok(StoredCiphertext { meta, body, seed })
    }

    /// The same with a word for each residue of c0.
    ///
    /// # Errors
    /// A ciphertext of other parameters.
    pub fn unpacked(&self, params: &Params) -> Result<SeededCiphertext, SchemeError> {
        self.check_params(params)?;
        let body = self.body.expanded(params.cpu());
        SeededCiphertext::from_parts(params, self.meta, body, self.seed)
    }

    /// Level, plaintext modulus, factor, noise bound and owner.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// c0.
    pub fn body(&self) -> &StoredPoly {
        &self.body
    }

    /// The seed that c1 is the expansion of, as component 0.
    pub fn seed(&self) -> &Seed {
        &self.seed
    }

    /// Passes a ciphertext of these parameters.
    ///
    /// # Errors
    /// [`SchemeError::WrongParams`], and public data that no ciphertext of these parameters has.
    pub fn check_params(&self, params: &Params) -> Result<(), SchemeError> {
        check_parts(params, &self.meta, "the ciphertext", || {
            params.components() == 2
                && self.body.basis() == params.chain().basis(self.meta.level)
                && self.body.degree() == params.degree()
        })
    }
}

/// A right factor of a product whose second component is expanded from its seed.
pub(crate) trait RightFactor {
    fn meta(&self) -> &Meta;

    /// Refuses what is not of these parameters.
    fn check(&self, params: &Params) -> Result<(), SchemeError>;

    /// As left factors are multiplied by it.
    fn parts(&self) -> (Body<'_>, &Seed);

    /// The ciphertext.
    fn whole(&self, params: &Params) -> Result<Ciphertext, SchemeError>;
}

impl RightFactor for SeededCiphertext {
    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn check(&self, params: &Params) -> Result<(), SchemeError> {
        SeededCiphertext::check(self, params)
    }

    fn parts(&self) -> (Body<'_>, &Seed) {
        (Body::Words(&self.body), &self.seed)
    }

    fn whole(&self, params: &Params) -> Result<Ciphertext, SchemeError> {
        self.expanded(params)
    }
}

impl RightFactor for StoredCiphertext {
    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn check(&self, params: &Params) -> Result<(), SchemeError> {
        self.check_params(params)
    }

    fn parts(&self) -> (Body<'_>, &Seed) {
        (Body::Stored(&self.body), &self.seed)
    }

    fn whole(&self, params: &Params) -> Result<Ciphertext, SchemeError> {
        self.unpacked(params)?.expanded(params)
    }
}
