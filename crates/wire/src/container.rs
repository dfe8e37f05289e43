//! The container and its parts, for crates that have objects of their own to write: a scheme whose
//! parameters are no [`Params`](everlevel_scheme::Params), such as LTV over prime powers. Its kinds
//! are reserved in [`ObjectKind`](crate::ObjectKind).
//!
//! An object is written by [`encode`] from records that are planned first, and read by way of its
//! [`Layout`]: header and index checked, records by [`Layout::record`].

pub use crate::ciphertexts::{FULL, decode_meta, encode_meta};
pub use crate::format::{Entry, Layout, Owners, Planned, encode};
pub use crate::manifest::bounds::digest_of;
pub use crate::options::{Belief, HAIR};
pub use crate::pack::{pack, packed_len, unpack, width_below};
pub use crate::reader::Reader;
pub use crate::secret_key::{read_small, small_len, write_small};
