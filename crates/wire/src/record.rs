//! What vectors consist of: a record for each.

use everlevel_ring::sample::Seed;
use everlevel_scheme::{KeyId, Params};

use crate::error::WireError;
use crate::format::{Layout, Planned};
use crate::kind::ObjectKind;
use crate::options::Belief;

/// An object of which files hold many.
pub trait Record: Sized + Send + Sync {
    /// The kind of a vector of them.
    const KIND: ObjectKind;
    /// Bytes of a descriptor.
    const DESCRIPTOR_BYTES: usize;

    /// The secret key that it belongs to, if that is known.
    fn record_owner(&self) -> Option<KeyId>;

    /// The seed of its uniform component, if it has one.
    fn record_seed(&self) -> Option<&Seed> {
        None
    }

    /// The record, after the checks that a reader makes.
    fn planned(&self, params: &Params) -> Result<Planned, WireError>;

    /// Writes the record that was [`Record::planned`].
    fn fill(&self, params: &Params, out: &mut [u8]);

    /// Record i of a vector, which has this descriptor and these bytes.
    fn read_one(
        params: &Params,
        layout: &Layout,
        place: (usize, &[u8]),
        record: &[u8],
        belief: Belief<'_>,
    ) -> Result<Self, WireError>;
}
