//! What header and index of an object say.

use std::collections::BTreeMap;

use everlevel_scheme::KeyId;

use crate::id::ParamsId;
use crate::kind::ObjectKind;

/// Free-form names and values in the index of an object, for those who read it: what the slots
/// hold, the rows of a table. Covered by the checksum, never interpreted here.
pub type Metadata = BTreeMap<String, String>;

/// What header and index of an object say, without its records being read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The kind of the object.
    pub kind: ObjectKind,
    /// The id of its parameter set ([`params::named_spec`](crate::params::named_spec) finds those
    /// that have a name).
    pub params: ParamsId,
    /// The version of the format that it is written in.
    pub version: u16,
    /// The secret key that it belongs to, if its kind has an owner and its version names it.
    pub owner: Option<KeyId>,
    /// Of server keys that change ciphertexts from one secret key to another: the former.
    pub change_from: Option<KeyId>,
    /// Its metadata.
    pub metadata: Metadata,
    /// How many records it has.
    pub records: usize,
    /// Its bytes.
    pub bytes: u64,
}
