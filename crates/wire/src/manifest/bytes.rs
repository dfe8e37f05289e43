//! Manifests as bytes, with their tags.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use everlevel_scheme::KeyId;
use rand_core::CryptoRng;
use zeroize::{Zeroize, Zeroizing};

use super::bounds::{Listed, Manifest, check_limit, digest_of, hexadecimal};
use crate::ciphertexts::decode_meta;
use crate::columns::ciphertext_part;
use crate::error::WireError;
use crate::file::io_error;
use crate::format::{
    Entry, FORMAT_VERSION, Layout, Planned, decode_owner, encode, encode_head_as, encode_owner,
    preamble,
};
use crate::id::ParamsId;
use crate::inspected::open_layout;
use crate::kind::ObjectKind;
use crate::options::ReadOptions;
use crate::reader::Reader;
use crate::summary::Metadata;

/// What separates the tag from everything else that the key may be used for.
const CONTEXT: &str = "everlevel 2026-11-22 tag of manifests of noise bounds, format version 1";

/// Bytes of digests, tags and keys.
const BYTES: usize = 32;

/// What those share who trust each other's noise bounds: 32 random bytes, wiped when dropped.
pub struct ManifestKey(Zeroizing<[u8; BYTES]>);

impl ManifestKey {
    /// A new key.
    pub fn generate(rng: &mut impl CryptoRng) -> Self {
        let mut key = Zeroizing::new([0; BYTES]);
        rng.fill_bytes(&mut *key);
        ManifestKey(key)
    }

    /// A key from its bytes, which is what its file has ([`read_file`](crate::file::read_file)).
    ///
    /// # Errors
    /// Other than 32 bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, WireError> {
        if bytes.len() != BYTES {
            return Err(WireError::malformed("key of manifests", "32 bytes", bytes.len()));
        }
        let mut key = Zeroizing::new([0; BYTES]);
        key.copy_from_slice(bytes);
        Ok(ManifestKey(key))
    }

    /// Its bytes, for [`write_secret_file`](crate::file::write_secret_file): **whoever reads them
    /// can make manifests**.
    pub fn expose_bytes(&self) -> &[u8; BYTES] {
        &self.0
    }

    /// The tag of the payload of a manifest in a version of the format, for these parameters.
    /// Comparing hashes takes the same time wherever they differ.
    fn tag(&self, version: u16, id: ParamsId, payload: &[u8]) -> blake3::Hash {
        let mut derived = blake3::Hasher::new_derive_key(CONTEXT);
        derived.update(&*self.0);
        let mut key = derived.finalize();
        let mut hasher = blake3::Hasher::new_keyed(key.as_bytes());
        hasher.update(&preamble(version, ObjectKind::MANIFEST, id)).update(payload);
        let tag = hasher.finalize();
        derived.zeroize();
        key.zeroize();
        hasher.zeroize();
        tag
    }
}

impl Manifest {
    /// Lists the bytes of an object of ciphertexts with the bounds that it states. Those who
    /// trust the manifest trust these: list only objects that you have made.
    ///
    /// # Errors
    /// Bytes that are no ciphertexts of the parameter set, more than
    /// [`MANIFEST_LIMIT`](crate::manifest::bounds::MANIFEST_LIMIT) objects or bounds.
    pub fn add(&mut self, object: &[u8]) -> Result<(), WireError> {
        let options = ReadOptions::default().limited_to(u64::MAX);
        let layout = Layout::parse(object, &options)?;
        let listed = self.stated(&layout)?;
        self.insert(digest_of(object), listed)
    }

    /// [`Manifest::add`] of a file of any size, such as a
    /// [`CiphertextWriter`](crate::CiphertextWriter) makes. It is read once, in small pieces.
    ///
    /// # Errors
    /// As [`Manifest::add`], and what the system refuses.
    pub fn add_file(&mut self, path: &Path) -> Result<(), WireError> {
        let (mut file, layout) = open_layout(path)?;
        let listed = self.stated(&layout)?;
        self.insert(digest_of_file(&mut file, path, &layout)?, listed)
    }

    /// What an object of ciphertexts of the parameter set states.
    fn stated(&self, layout: &Layout) -> Result<Listed, WireError> {
        if !layout.kind.has_bounds() {
            return Err(WireError::WrongKind {
                expected: ObjectKind::CIPHERTEXTS,
                found: layout.kind,
            });
        }
        if layout.id != self.id {
            return Err(WireError::malformed(
                "parameter set of the ciphertexts",
                self.id,
                layout.id,
            ));
        }
        let bound = |(entry, _): &(Entry, _)| {
            let descriptor = match layout.kind {
                ObjectKind::COLUMNS => ciphertext_part(&entry.descriptor)?.0,
                _ => &entry.descriptor,
            };
            Ok(decode_meta(descriptor)?.0.noise)
        };
        let bounds = layout.entries.iter().map(bound).collect::<Result<_, WireError>>()?;
        Ok(Listed { owner: layout.owners.owner, bounds })
    }

    /// The manifest as bytes, with its tag.
    ///
    /// # Errors
    /// None for what can be built: those of the container.
    pub fn to_bytes(&self, key: &ManifestKey) -> Result<Vec<u8>, WireError> {
        // Both numbers are below the limit.
        let number = |n: usize| (n as u32).to_le_bytes();
        let mut payload = number(self.objects.len()).to_vec();
        for (digest, Listed { owner, bounds }) in &self.objects {
            payload.extend(digest);
            payload.extend(encode_owner(*owner));
            payload.extend(number(bounds.len()));
            bounds.iter().for_each(|bound| payload.extend(bound.to_bits().to_le_bytes()));
        }
        let tag = key.tag(FORMAT_VERSION, self.id, &payload).as_bytes().to_vec();
        let record = Planned { descriptor: tag, length: payload.len() };
        encode(ObjectKind::MANIFEST, self.id, &Metadata::new(), &[record], |_, out| {
            out.copy_from_slice(&payload)
        })
    }

    /// A manifest from bytes. The tag is checked first, in a time that does not depend on it; what
    /// a wrong one covers is not looked at.
    ///
    /// # Errors
    /// Another key or changed bytes ([`WireError::NotAuthentic`]), and whatever is not as the
    /// format says.
    pub fn from_bytes(
        bytes: &[u8],
        key: &ManifestKey,
        options: &ReadOptions,
    ) -> Result<Self, WireError> {
        let (layout, tag) = Self::laid_out(bytes, options)?;
        let payload = layout.record(bytes, 0)?;
        if key.tag(layout.version, layout.id, payload) != tag {
            return Err(WireError::NotAuthentic);
        }
        Self::parse(layout.version, layout.id, payload)
    }

    /// [`Manifest::owners`] of bytes whose tag is not checked: what somebody says, as header and
    /// index of other objects are.
    ///
    /// # Errors
    /// Whatever is not as the format says.
    pub fn stated_owners(
        bytes: &[u8],
        options: &ReadOptions,
    ) -> Result<BTreeSet<KeyId>, WireError> {
        let (layout, _) = Self::laid_out(bytes, options)?;
        let payload = layout.record(bytes, 0)?;
        Ok(Self::parse(layout.version, layout.id, payload)?.owners())
    }

    /// Header and index of a manifest, and its tag.
    fn laid_out(bytes: &[u8], options: &ReadOptions) -> Result<(Layout, blake3::Hash), WireError> {
        let layout = Layout::of_kind(bytes, ObjectKind::MANIFEST, options)?;
        if !layout.metadata.is_empty() {
            return Err(WireError::malformed(
                "metadata of a manifest",
                "none",
                layout.metadata.len(),
            ));
        }
        let [(entry, _)] = &layout.entries[..] else {
            return Err(WireError::malformed("records of a manifest", 1, layout.entries.len()));
        };
        let mut descriptor = Reader::new(&entry.descriptor);
        let tag = blake3::Hash::from_bytes(descriptor.array()?);
        descriptor.finish()?;
        Ok((layout, tag))
    }

    /// What the tag covers.
    fn parse(version: u16, id: ParamsId, payload: &[u8]) -> Result<Self, WireError> {
        let mut out = Self::of_id(id);
        let mut fields = Reader::new(payload);
        for _ in 0..fields.u32()? {
            let digest: [u8; BYTES] = fields.array()?;
            if out.objects.last_key_value().is_some_and(|(last, _)| *last >= digest) {
                return Err(WireError::malformed(
                    "digests of a manifest",
                    "strictly ascending ones",
                    hexadecimal(&digest),
                ));
            }
            let owner = if version > 1 { decode_owner(&mut fields)? } else { None };
            let count = check_limit("noise bounds of a manifest", fields.u32()? as usize)?;
            let bounds = fields.take(count * 8)?.as_chunks::<8>().0;
            let bounds =
                bounds.iter().map(|bits| f64::from_bits(u64::from_le_bytes(*bits))).collect();
            out.insert(digest, Listed { owner, bounds })?;
        }
        fields.finish()?;
        Ok(out)
    }
}

/// The digest of the object with this layout in a file. Header and index are taken from the layout,
/// not read again, so what was parsed is what is digested, whoever writes to the file meanwhile;
/// records are checked against it whenever they are read.
pub(crate) fn digest_of_file(
    file: &mut File,
    path: &Path,
    layout: &Layout,
) -> Result<[u8; BYTES], WireError> {
    let entries: Vec<_> = layout.entries.iter().map(|(entry, _)| entry.clone()).collect();
    let (version, kind, id) = (layout.version, layout.kind, layout.id);
    let head = encode_head_as(version, kind, id, &layout.owners, &layout.metadata, &entries)?;
    let failed = |e: std::io::Error| io_error(path, &e);
    file.seek(SeekFrom::Start(head.len() as u64)).map_err(failed)?;
    let mut hasher = blake3::Hasher::new();
    hasher.update(&head);
    let body = layout.entries.iter().map(|(entry, _)| entry.length).sum();
    hasher.update_reader(file.take(body)).map_err(failed)?;
    Ok(*hasher.finalize().as_bytes())
}
