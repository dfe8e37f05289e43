//! What vectors consist of: a record for each.

use std::ops::Range;

use everlevel_ring::cpu::SharedBytes;
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

    /// The same of a part of bytes that the object may keep.
    fn read_shared(
        params: &Params,
        layout: &Layout,
        place: (usize, &[u8]),
        (bytes, record): (&SharedBytes, Range<usize>),
        belief: Belief<'_>,
    ) -> Result<Self, WireError> {
        Self::read_one(params, layout, place, &all_of(bytes)[record], belief)
    }
}

/// Bytes that are shared.
pub(crate) fn all_of(bytes: &SharedBytes) -> &[u8] {
    AsRef::<[u8]>::as_ref(&**bytes)
}
