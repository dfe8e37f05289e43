//! What every object begins with.

use crate::id::ParamsId;
use crate::kind::ObjectKind;

/// The version of the format that is written, and the latest that is read; earlier ones are read,
/// too. It has nothing to do with the version of the crate.
pub const FORMAT_VERSION: u16 = 2;

/// What every object begins with. The first byte and the line ends show a transfer that changed
/// bytes.
pub const MAGIC: [u8; 8] = *b"\x89EVL\r\n\x1a\n";

/// Bytes of the header.
pub const HEADER_BYTES: usize = 64;

/// The part of the header that the checksum covers.
pub(super) const CHECKED_HEADER: usize = 48;

/// The first half of the header: what an object is, whatever it has.
pub(crate) fn preamble(version: u16, kind: ObjectKind, id: ParamsId) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend(version.to_le_bytes());
    out.extend(kind.number().to_le_bytes());
    out.extend([0; 4]);
    out.extend(id.0);
    out
}
