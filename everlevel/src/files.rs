//! Names and metadata of the files that the command line reads and writes, for other programs that
//! use them.

pub use everlevel_wire::file::{Existing, read_file, write_file};
pub use everlevel_wire::{
    BoundPolicy, Encryption, Manifest, ManifestKey, Metadata, Outcome, ReadOptions, Recovered,
    generate_to_file, on_recovery,
};

pub use crate::bytes::Bytes;
pub use crate::key_files::{KeyFiles, KeysWritten};
pub use crate::open::{OpenOptions, open_public_key};
pub use crate::stored::{Bounds, PARAMS_FILE, params_from_bytes, params_to_bytes, parse_spec};

#[cfg(feature = "unstable")]
pub use crate::client::integers_within;
#[cfg(feature = "unstable")]
pub use crate::stored::{
    AES_KEY, CONTENT, ENCRYPTION, RANGES, UNCHECKED, VALUES, aes_key_of, ranges_of, state_ranges,
};
