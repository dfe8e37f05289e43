//! Options for reading: accepted objects and trusted noise bounds.

use std::sync::Arc;

use everlevel_scheme::{KeyId, Meta, Params};

use crate::error::WireError;
use crate::manifest::bounds::Manifest;

/// The key that a fresh ciphertext was encrypted with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encryption {
    /// The secret key.
    Secret,
    /// The public key.
    Public,
}

impl Encryption {
    /// Whether a ciphertext with these public data is read as a fresh encryption of this kind.
    pub fn made(self, params: &Params, meta: &Meta) -> bool {
        Belief::Fresh(self).meta(params, 0, Meta { owner: None, ..*meta }).is_ok()
    }
}

/// The policy for the noise bound that a ciphertext states.
///
/// Every operation relies on the bound: a sender who states too small a bound can cause a wrong
/// result, and if the owner of the key decrypts and discloses wrong results, the sender may learn
/// about the key. So a stated bound is not trusted unless the reader requests it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum BoundPolicy {
    /// The largest bound that its level allows: the ciphertext can be decrypted, but not used in
    /// computation.
    #[default]
    Untrusted,
    /// The bound of a fresh encryption at its level. A ciphertext that cannot be one (by its depth,
    /// correction factor or form, or by a larger bound) is refused. For a server that reads inputs
    /// from the owner of the key, who can only harm its own results by sending others.
    Fresh(Encryption),
    /// The bound that the sender states, but not below the least that the scheme reaches at the
    /// level (the floor of modulus switching, or a fresh encryption if that is less) and not above
    /// the largest that the level allows. For your own files, and results from a server whose
    /// computation is trusted in any case.
    Stated,
    /// The bound in an authenticated manifest, within the same limits; the bound that the object
    /// states is ignored. An object that the manifest does not list by its hash is refused. For
    /// results of parties that share a key with the reader. The hash of the whole object is
    /// verified before anything in it is trusted.
    Manifest(Arc<Manifest>),
}

/// Options for reading. By default, objects of up to 4 GiB are accepted, no noise bound is trusted,
/// an unknown owner is refused, and keys are expanded in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The largest size of an object in bytes. Allocated memory is at most a small multiple of the
    /// bytes present.
    pub max_bytes: u64,
    /// The policy for noise bounds.
    pub bounds: BoundPolicy,
    /// Whether keys, ciphertexts and results are accepted that do not state the secret key that
    /// they belong to: those in files of version 1, and results computed from them. They can be
    /// combined with objects of any owner, and only the check of the phase at decryption detects a
    /// mix-up.
    pub allow_unknown_owner: bool,
    /// Whether the uniform halves of server keys stay seeds in memory
    /// ([`SwitchingKey::seeded`](everlevel_bgv::keys::SwitchingKey::seeded)): half of the memory,
    /// and operations take longer. Their results have the same bits.
    pub seeded_keys: bool,
}

/// What logarithms may differ by between machines: a bound computed on one is the same on another.
pub const HAIR: f64 = 1e-9;

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            max_bytes: 1 << 32,
            bounds: BoundPolicy::Untrusted,
            allow_unknown_owner: false,
            seeded_keys: false,
        }
    }
}

impl ReadOptions {
    /// The default with another policy for noise bounds.
    pub fn with_bounds(bounds: BoundPolicy) -> Self {
        ReadOptions { bounds, ..Self::default() }
    }

    /// The same options with another limit for the size of an object.
    pub fn limited_to(self, max_bytes: u64) -> Self {
        ReadOptions { max_bytes, ..self }
    }

    /// The same options with another policy for noise bounds.
    pub fn believing(self, bounds: BoundPolicy) -> Self {
        ReadOptions { bounds, ..self }
    }

    /// The same options, but objects with an unknown owner are accepted.
    pub fn allowing_unknown_owner(self, allow: bool) -> Self {
        ReadOptions { allow_unknown_owner: allow, ..self }
    }

    /// The same options, with the uniform halves of server keys as seeds or not
    /// ([`ReadOptions::seeded_keys`]).
    pub fn with_seeded_keys(self, seeded_keys: bool) -> Self {
        ReadOptions { seeded_keys, ..self }
    }

    /// How far the noise bounds of an object of `count` ciphertexts of this owner are trusted,
    /// whose digest is asked for if it counts.
    ///
    /// # Errors
    /// An object that the manifest does not list, or with another number of ciphertexts or owner;
    /// those of `digest`.
    pub fn belief(
        &self,
        count: usize,
        owner: Option<KeyId>,
        digest: impl FnOnce() -> Result<[u8; 32], WireError>,
    ) -> Result<Belief<'_>, WireError> {
        Ok(match &self.bounds {
            BoundPolicy::Untrusted => Belief::Largest,
            BoundPolicy::Fresh(encryption) => Belief::Fresh(*encryption),
            BoundPolicy::Stated => Belief::Stated,
            BoundPolicy::Manifest(manifest) => {
                Belief::Listed(manifest.listed(&digest()?, count, owner)?)
            }
        })
    }
}

/// A [`BoundPolicy`] for one object.
#[derive(Clone, Copy)]
pub enum Belief<'m> {
    /// [`BoundPolicy::Untrusted`].
    Largest,
    /// [`BoundPolicy::Fresh`].
    Fresh(Encryption),
    /// [`BoundPolicy::Stated`].
    Stated,
    /// [`BoundPolicy::Manifest`]: a bound for each ciphertext.
    Listed(&'m [f64]),
}

impl Belief<'_> {
    /// The public data that ciphertext i gets, from what it states.
    pub(crate) fn meta(self, params: &Params, i: usize, stated: Meta) -> Result<Meta, WireError> {
        let tracker = params.noise();
        let largest = tracker.largest_noise(stated.level);
        // All but the noise bound has to hold whatever is trusted.
        if !stated.noise.is_finite() {
            return Err(WireError::malformed("noise bound", "a finite number", stated.noise));
        }
        tracker.check_meta(&Meta { noise: largest, ..stated })?;
        let t = params.plaintext_ring().modulus(stated.exponent).wide();
        let within = |bound: f64| {
            let model = tracker.bound();
            let reached = model.floor(t).min(model.fresh_secret(t));
            bound.max(reached - HAIR).min(largest)
        };
        let noise = match self {
            Belief::Largest => largest,
            Belief::Fresh(encryption) => {
                let fresh =
                    tracker.modeled(stated.level, stated.exponent, |model| match encryption {
                        Encryption::Secret => model.fresh_secret(t),
                        Encryption::Public => model.fresh_public(t),
                    });
                // What states a larger bound, as a sum does, is none either.
                let more = stated.noise > fresh.noise + HAIR;
                if more || (Meta { noise: fresh.noise, ..stated }) != fresh {
                    return Err(WireError::malformed(
                        "ciphertext",
                        "a fresh encryption",
                        "what operations were done on",
                    ));
                }
                tracker.check_meta(&fresh)?;
                return Ok(fresh);
            }
            Belief::Stated => within(stated.noise),
            Belief::Listed(bounds) => within(bounds[i]),
        };
        let meta = Meta { noise, estimate: noise, ..stated };
        tracker.check_meta(&meta)?;
        Ok(meta)
    }
}
