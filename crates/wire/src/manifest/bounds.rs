//! What a manifest lists.

use std::collections::{BTreeMap, BTreeSet};

use everlevel_scheme::{KeyId, Params, same_owner};

use crate::error::WireError;
use crate::id::ParamsId;

/// Bytes of digests.
const BYTES: usize = 32;

/// The most objects that a manifest lists, and the most bounds in it.
pub const MANIFEST_LIMIT: usize = 1 << 20;

/// Noise bounds of objects of ciphertexts, by the digests of the objects, for one parameter set.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    pub(super) id: ParamsId,
    pub(super) objects: BTreeMap<[u8; BYTES], Listed>,
    bounds: usize,
}

/// What a manifest says of an object.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Listed {
    /// The secret key that it belongs to, if that is known.
    pub(super) owner: Option<KeyId>,
    /// A noise bound for each of its ciphertexts.
    pub(super) bounds: Vec<f64>,
}

// Bounds are finite.
impl Eq for Manifest {}

impl Manifest {
    /// An empty one for a parameter set.
    pub fn new(params: &Params) -> Self {
        Self::of_id(ParamsId::of(params))
    }

    /// An empty one for the parameter set with this id, which may be one of LTV over prime powers.
    pub fn of_id(id: ParamsId) -> Self {
        Manifest { id, objects: BTreeMap::new(), bounds: 0 }
    }

    /// The id of its parameter set.
    pub fn params_id(&self) -> ParamsId {
        self.id
    }

    /// How many objects it lists.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// The secret keys that the objects which it lists belong to, as far as they are known.
    pub fn owners(&self) -> BTreeSet<KeyId> {
        self.objects.values().filter_map(|listed| listed.owner).collect()
    }

    /// Whether it lists none.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Lists what another one lists, too. Where they differ on a bound the larger one is kept.
    ///
    /// # Errors
    /// A manifest for other parameters, more than [`MANIFEST_LIMIT`] objects or bounds.
    pub fn merge(&mut self, other: &Manifest) -> Result<(), WireError> {
        if other.id != self.id {
            return Err(WireError::malformed("parameter set of the manifest", self.id, other.id));
        }
        other.objects.iter().try_for_each(|(digest, listed)| self.insert(*digest, listed.clone()))
    }

    /// Lists an object by its digest; where it is listed already, the larger bounds are kept.
    pub(super) fn insert(&mut self, digest: [u8; BYTES], listed: Listed) -> Result<(), WireError> {
        let bounds = &listed.bounds;
        if let Some(bound) = bounds.iter().find(|bound| !bound.is_finite()) {
            return Err(WireError::malformed("noise bound", "a finite number", bound));
        }
        if let Some(known) = self.objects.get_mut(&digest) {
            check_count(bounds.len(), known.bounds.len())?;
            same_owner(known.owner, listed.owner, "listing an object twice")?;
            let each = known.bounds.iter_mut().zip(bounds);
            each.for_each(|(known, bound)| *known = known.max(*bound));
            known.owner = known.owner.or(listed.owner);
            return Ok(());
        }
        check_limit("objects of a manifest", self.objects.len() + 1)?;
        check_limit("noise bounds of a manifest", self.bounds + bounds.len())?;
        self.bounds += bounds.len();
        self.objects.insert(digest, listed);
        Ok(())
    }

    /// The bounds of the object with this digest, which has `count` ciphertexts of this owner.
    pub(crate) fn listed(
        &self,
        digest: &[u8; BYTES],
        count: usize,
        owner: Option<KeyId>,
    ) -> Result<&[f64], WireError> {
        let Listed { owner: listed, bounds } = self
            .objects
            .get(digest)
            .ok_or_else(|| WireError::NotInManifest { digest: hexadecimal(digest) })?;
        check_count(bounds.len(), count)?;
        same_owner(*listed, owner, "reading with a manifest")?;
        Ok(bounds)
    }
}

/// Passes a number of objects or bounds that a manifest may have.
pub(super) fn check_limit(what: &'static str, found: usize) -> Result<usize, WireError> {
    if found > MANIFEST_LIMIT {
        return Err(WireError::Limit { what, found: found as u64, limit: MANIFEST_LIMIT as u64 });
    }
    Ok(found)
}

fn check_count(bounds: usize, ciphertexts: usize) -> Result<(), WireError> {
    if bounds != ciphertexts {
        return Err(WireError::malformed(
            "noise bounds that the manifest lists for the object",
            ciphertexts,
            bounds,
        ));
    }
    Ok(())
}

/// The digest of an object in memory.
pub fn digest_of(object: &[u8]) -> [u8; BYTES] {
    *blake3::hash(object).as_bytes()
}

/// A digest as text.
pub(crate) fn hexadecimal(digest: &[u8; BYTES]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
