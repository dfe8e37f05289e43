//! The container that every object is in: a header, an index, records. Byte by byte in
//! docs/format.md.

mod encode;
mod header;
mod layout;
mod owners;

pub use encode::{Entry, Planned, encode};
pub(crate) use encode::{encode_head, encode_head_as, encode_owned};
pub(crate) use header::preamble;
pub use header::{FORMAT_VERSION, HEADER_BYTES, MAGIC};
pub use layout::Layout;
pub use owners::Owners;
pub(crate) use owners::{decode_owner, encode_owner};
