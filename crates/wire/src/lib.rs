//! The wire format of everlevel: parameters, keys, plaintexts and ciphertexts as bytes and files.
//! docs/format.md specifies it byte by byte.
//!
//! One module for each kind of object, with the same functions: `to_bytes`, `from_bytes` (in
//! [`secret_key`] the first has a more explicit name). An object is one container: a header (magic
//! bytes, version, kind, the id of the parameter set, a checksum), an index with free-form
//! [`Metadata`], and records with a checksum each. Residues are packed to the width of their
//! primes, uniformly random polynomials are stored as seeds, and equal objects are equal bytes.
//!
//! Bytes are untrusted: parsing checks lengths before it allocates, then checksums, parameters, the
//! range of every residue, and that nothing follows; it returns a [`WireError`] and does not panic.
//! Checksums detect accidents, not forgeries: only a [`Manifest`] is authenticated, so bytes that
//! cross a network need an authenticated channel. [`Places`] bind the ciphertexts of an upload to
//! their order. A [`BoundPolicy`] states which noise bounds are trusted; by default none are.
//!
//! ```
//! use everlevel_bgv::SecretKey;
//! use everlevel_scheme::{OptIn, Params, Plaintext};
//! use everlevel_wire::{BoundPolicy, Encryption, Metadata, ReadOptions, ciphertexts};
//! use rand_chacha::ChaCha20Rng;
//! use rand_core::SeedableRng;
//!
//! let params = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch)?;
//! let mut rng = ChaCha20Rng::seed_from_u64(1);
//! let secret = SecretKey::generate(&params, &mut rng);
//! let message = Plaintext::encode(&params, &[1, 2, 3])?;
//!
//! let fresh = secret.encrypt(&message, &mut rng)?;
//! let sent = ciphertexts::to_bytes(&params, &[fresh], &Metadata::new())?;
//! let options = ReadOptions::with_bounds(BoundPolicy::Fresh(Encryption::Secret));
//! let (received, _) = ciphertexts::from_bytes(&params, &sent, &options)?;
//! assert_eq!(secret.decrypt(&received[0])?, message);
//! # Ok::<(), everlevel_wire::WireError>(())
//! ```
#![forbid(unsafe_code)]

pub mod arrays;
mod buffer;
mod cache;
pub mod ciphertexts;
pub mod columns;
pub mod container;
mod error;
pub mod file;
mod file_keys;
mod file_set;
mod format;
mod id;
mod inspected;
mod key_record;
mod kind;
mod manifest;
mod options;
mod pack;
mod packed;
pub mod params;
mod parts;
mod placed;
mod places;
pub mod plaintexts;
mod poly;
pub mod product_results;
pub mod products;
pub mod public_key;
mod read_ahead;
mod reader;
mod record;
mod recovery;
pub mod results;
pub mod secret_key;
pub mod server_keys;
mod stop;
mod summary;
pub mod uploads;
mod vector;
mod vector_file;

pub use error::WireError;
pub use file_keys::{FileKeys, generate_to_file, try_generate_into, try_generate_to_file};
pub use file_set::{FileSet, PendingSet};
pub use format::{FORMAT_VERSION, HEADER_BYTES, MAGIC};
pub use id::{ParamsId, canonical_json};
pub use inspected::inspect_file;
pub use kind::ObjectKind;
pub use manifest::{MANIFEST_LIMIT, Manifest, ManifestKey};
pub use options::{BoundPolicy, Encryption, ReadOptions};
pub use packed::Packed;
pub use placed::PlacedWriter;
pub use places::{PLACES, Places};
pub use read_ahead::ReadAhead;
pub use recovery::{Outcome, Recovered, on_recovery};
pub use summary::{Metadata, Summary};
pub use vector_file::{
    CiphertextReader, CiphertextWriter, ProductReader, ProductResultReader, ProductResultWriter,
    ProductWriter, SeededReader, StoredReader, VectorReader, VectorWriter,
};

/// The kind, version, parameter set, owner and metadata of an object. Checks header and index, not
/// the records.
///
/// # Errors
/// Bytes that are not an object of a known version, truncated, damaged, or larger than `options`
/// allows.
pub fn inspect(bytes: &[u8], options: &ReadOptions) -> Result<Summary, WireError> {
    Ok(format::Layout::parse(bytes, options)?.summary())
}
