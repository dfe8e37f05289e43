//! Names and metadata of the files that the command line reads and writes, for other programs that
//! use them.

pub use everlevel_wire::file::Existing;
pub use everlevel_wire::{
    BoundPolicy, Encryption, Manifest, ManifestKey, Metadata, ReadOptions, generate_to_file,
};

pub use crate::bytes::Bytes;
pub use crate::key_files::KeysWritten;
pub use crate::open::{OpenOptions, open_public_key};
pub use crate::stored::{Bounds, params_from_bytes, params_to_bytes};

#[cfg(feature = "unstable")]
pub use crate::client::{integers_within, wide_integers_within};
#[cfg(feature = "unstable")]
pub use crate::columns::compact_columns;
#[cfg(feature = "unstable")]
pub use crate::key_files::KeyFiles;
#[cfg(feature = "unstable")]
pub use crate::stored::{
    AES_KEY, CONTENT, ENCRYPTION, PARAMS_FILE, RANGES, UNCHECKED, VALUES, aes_key_of, parse_spec,
    ranges_of, state_ranges,
};
#[cfg(feature = "unstable")]
pub use everlevel_wire::file::{read_file, write_file};
#[cfg(feature = "unstable")]
pub use everlevel_wire::{Outcome, Recovered, on_recovery};
