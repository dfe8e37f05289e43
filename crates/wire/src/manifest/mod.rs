//! Manifests: who made ciphertexts says under a shared key what their noise bounds are, and readers
//! with that key trust it.
//!
//! A manifest has, for each object of ciphertexts, the BLAKE3 digest of all its bytes and a noise
//! bound for every ciphertext in it, and a tag over all of that under a [`ManifestKey`]. A reader
//! that is given it ([`BoundPolicy::Manifest`](crate::BoundPolicy::Manifest)) takes the bounds from
//! there, and refuses objects that are not listed, which their carrier may have changed or
//! made.
//!
//! The key is shared: who can check a manifest can make one, so it proves nothing to third parties.
//! A manifest does not expire, and an old one stays as good as it was.

pub(crate) mod bounds;
pub(crate) mod bytes;

pub use bounds::{MANIFEST_LIMIT, Manifest};
pub use bytes::ManifestKey;
