//! The secret keys that an object belongs to, in its index.

use everlevel_scheme::{KeyId, SchemeError, same_owner};

use crate::error::WireError;
use crate::kind::ObjectKind;
use crate::reader::Reader;

/// The first version whose objects name their owners.
pub(super) const OWNERS_SINCE: u16 = 2;
/// The operation that refuses objects of several owners.
const WRITING: &str = "writing into one file";
/// Bytes of an id with what it is an id of.
const OWNER_BYTES: usize = 17;

/// The secret keys that an object belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Owners {
    /// The one that it decrypts under or is of; none if it has no owner or an unknown one.
    pub owner: Option<KeyId>,
    /// Of server keys that change ciphertexts from one secret key to another: the former.
    pub change_from: Option<KeyId>,
}

impl Owners {
    /// What belongs to one key.
    pub(crate) fn one(owner: Option<KeyId>) -> Self {
        Owners { owner, change_from: None }
    }

    /// What belongs to the only key that these objects belong to. An object of an unknown owner
    /// does not go together with others: the file would name an owner for it.
    pub(crate) fn common(mut all: impl Iterator<Item = Option<KeyId>>) -> Result<Self, WireError> {
        let owner = all.next().flatten();
        for next in all {
            same_owner(owner, next, WRITING)?;
            if next != owner {
                return Err(WireError::from(SchemeError::UnknownOwner {
                    operation: WRITING,
                    problem: "others of the same file do; write it into a file of its own",
                }));
            }
        }
        Ok(Self::one(owner))
    }

    /// Those of an object of this kind in a version of the format.
    pub(super) fn read(
        version: u16,
        kind: ObjectKind,
        index: &mut Reader<'_>,
    ) -> Result<Self, WireError> {
        if version < OWNERS_SINCE {
            return Ok(Owners::default());
        }
        let (owner, change_from) = (decode_owner(index)?, decode_owner(index)?);
        let (owned, changes) = (kind.has_owner(), kind == ObjectKind::SERVER_KEYS);
        if owner.is_some() && !owned || change_from.is_some() && (!changes || owner.is_none()) {
            return Err(WireError::malformed(
                "owners",
                "an owner where the kind has one, and the key before a change for server keys",
                kind,
            ));
        }
        Ok(Owners { owner, change_from })
    }

    /// As in the index: for each a byte, 0 for none and 1 for a single key, and the id. Groups of
    /// keys will have a number of their own.
    pub(super) fn encode(&self) -> Vec<u8> {
        let each = |id: Option<KeyId>| {
            let bits = id.map_or([0; 16], |id| *id.bits());
            [u8::from(id.is_some())].into_iter().chain(bits)
        };
        each(self.owner).chain(each(self.change_from)).collect()
    }
}

/// One id, as [`Owners::encode`] writes it.
pub(crate) fn encode_owner(owner: Option<KeyId>) -> Vec<u8> {
    Owners::one(owner).encode()[..OWNER_BYTES].to_vec()
}

/// Reads what [`encode_owner`] wrote.
pub(crate) fn decode_owner(fields: &mut Reader<'_>) -> Result<Option<KeyId>, WireError> {
    match fields.u8()? {
        0 => fields.zeros(16).map(|()| None),
        1 => Ok(Some(KeyId::of_key(fields.array()?))),
        other => Err(WireError::malformed("kind of an owner", "0 or 1", other)),
    }
}
