//! The keys of bootstrapping.

use everlevel_ring::{Eval, Poly, sample};
use everlevel_scheme::noise::Meta;
use everlevel_scheme::spec::Level;
use everlevel_scheme::{Params, SchemeError};

use super::switching::SwitchingKey;
use crate::ciphertext::Ciphertext;

/// The keys that bootstrapping needs in addition to rotation and relinearization keys
/// (sparse-secret encapsulation, Bossuat et al. 2022).
pub struct BootstrapKey {
    /// The switching key from s to the sparse s0, at q0 with the first special prime; none if s is
    /// s0.
    pub(crate) encapsulation: Option<SwitchingKey>,
    /// Encryptions of s0, w s0, w² s0, .. modulo p^(r+v) under s at the top level, see
    /// [`raise_digit`](everlevel_scheme::noise::raise_digit).
    pub(crate) sparse: Vec<Ciphertext>,
}

impl BootstrapKey {
    /// From the key to s0 and, for each of s0, w s0, .., the first component and the seed of the
    /// second one. Their public data follow from the parameters. Residues must be canonical.
    ///
    /// # Errors
    /// A set that does not bootstrap, a wrong number of ciphertexts, an encapsulation key that the
    /// set does not have or that is over other primes, or a missing one.
    pub fn from_parts(
        params: &Params,
        encapsulation: Option<SwitchingKey>,
        sparse: Vec<(Poly<Eval>, sample::Seed)>,
    ) -> Result<Self, SchemeError> {
        let wrong = || SchemeError::WrongParams {
            object: "the bootstrapping key",
            name: params.name().into(),
        };
        let low = params.chain().basis(Level(0));
        let fits = |key: &SwitchingKey| key.basis() == low;
        let shape = encapsulation.is_some() != params.raises_under_main_key()
            && encapsulation.iter().all(fits);
        if params.spec().bootstrap.is_none() || !shape || sparse.len() != params.raise_digits() {
            return Err(wrong());
        }
        let meta = params.noise().checked(sparse_meta(params), "reading a key")?;
        let ciphertext = |(first, seed)| Ciphertext::from_seeded(params, meta, first, seed);
        Ok(BootstrapKey {
            encapsulation,
            sparse: sparse.into_iter().map(ciphertext).collect::<Result<_, _>>()?,
        })
    }

    /// The key to s0; none if s is s0.
    pub fn encapsulation(&self) -> Option<&SwitchingKey> {
        self.encapsulation.as_ref()
    }

    /// The encryptions of s0, w s0, .. under s, each with its seed.
    pub fn sparse(&self) -> &[Ciphertext] {
        &self.sparse
    }

    /// The size in memory in bytes.
    pub fn memory_bytes(&self) -> u64 {
        let sparse = self.sparse.iter().flat_map(|c| &c.components).map(Poly::memory_bytes);
        sparse.sum::<u64>() + self.encapsulation.as_ref().map_or(0, SwitchingKey::memory_bytes)
    }
}

/// The public data of the encryptions of s0, w s0, .., modulo p^(r+v).
pub(super) fn sparse_meta(params: &Params) -> Meta {
    let exponent = params.raised_exponent();
    let t = params.slot_shape().wide_modulus(exponent);
    let noise = (t as f64 * params.noise().bound().error_norm_limit()).log2() + 0.1;
    params.noise().fresh(params.chain().top(), exponent, noise)
}
