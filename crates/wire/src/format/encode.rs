//! Writing an object.

use rayon::prelude::*;

use super::header::{FORMAT_VERSION, HEADER_BYTES, preamble};
use super::owners::{OWNERS_SINCE, Owners};
use crate::error::WireError;
use crate::id::{ParamsId, digest};
use crate::kind::ObjectKind;
use crate::summary::Metadata;

/// A record as the index names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it is; the layout depends on the kind of the object.
    pub descriptor: Vec<u8>,
    /// Its bytes.
    pub length: u64,
    /// The first 16 bytes of its BLAKE3 digest.
    pub checksum: [u8; 16],
}

/// Owners, metadata, records and what is behind them.
fn encode_index(
    version: u16,
    owners: &Owners,
    metadata: &Metadata,
    entries: &[Entry],
) -> Result<Vec<u8>, WireError> {
    let mut out = if version < OWNERS_SINCE { Vec::new() } else { owners.encode() };
    let count = |what, n: usize| {
        u32::try_from(n).map_err(|_| WireError::Limit {
            what,
            found: n as u64,
            limit: u32::MAX.into(),
        })
    };
    out.extend(count("metadata entries", metadata.len())?.to_le_bytes());
    for (name, value) in metadata {
        for text in [name, value] {
            out.extend(count("bytes of metadata", text.len())?.to_le_bytes());
            out.extend(text.as_bytes());
        }
    }
    out.extend(count("records", entries.len())?.to_le_bytes());
    for entry in entries {
        out.extend(entry.length.to_le_bytes());
        out.extend(entry.checksum);
        out.extend(count("bytes of a descriptor", entry.descriptor.len())?.to_le_bytes());
        out.extend(&entry.descriptor);
    }
    Ok(out)
}

/// Header and index of an object.
pub(crate) fn encode_head(
    kind: ObjectKind,
    id: ParamsId,
    owners: &Owners,
    metadata: &Metadata,
    entries: &[Entry],
) -> Result<Vec<u8>, WireError> {
    encode_head_as(FORMAT_VERSION, kind, id, owners, metadata, entries)
}

/// The same in a version of the format.
pub(crate) fn encode_head_as(
    version: u16,
    kind: ObjectKind,
    id: ParamsId,
    owners: &Owners,
    metadata: &Metadata,
    entries: &[Entry],
) -> Result<Vec<u8>, WireError> {
    let index = encode_index(version, owners, metadata, entries)?;
    let body: u64 = entries.iter().map(|entry| entry.length).sum();
    let mut out = preamble(version, kind, id);
    out.reserve(HEADER_BYTES + index.len());
    out.extend((index.len() as u64).to_le_bytes());
    out.extend(body.to_le_bytes());
    let checksum = digest(&[&out, &index]);
    out.extend(checksum);
    out.extend(index);
    Ok(out)
}

/// A record to be written.
pub struct Planned {
    /// Its descriptor; the layout depends on the kind of the object.
    pub descriptor: Vec<u8>,
    /// Its bytes.
    pub length: usize,
}

impl Planned {
    /// Its entry with a checksum.
    pub(crate) fn entry(&self, checksum: [u8; 16]) -> Entry {
        Entry { descriptor: self.descriptor.clone(), length: self.length as u64, checksum }
    }
}

/// An object without an owner: `fill(i, bytes)` writes record i, in parallel. Allocates its size
/// once.
///
/// # Errors
/// Metadata or a descriptor of 4 GiB or more, 2^32 records or more.
pub fn encode(
    kind: ObjectKind,
    id: ParamsId,
    metadata: &Metadata,
    records: &[Planned],
    fill: impl Fn(usize, &mut [u8]) + Sync,
) -> Result<Vec<u8>, WireError> {
    encode_owned(kind, id, &Owners::default(), metadata, records, fill)
}

/// The same for an object of these owners.
pub(crate) fn encode_owned(
    kind: ObjectKind,
    id: ParamsId,
    owners: &Owners,
    metadata: &Metadata,
    records: &[Planned],
    fill: impl Fn(usize, &mut [u8]) + Sync,
) -> Result<Vec<u8>, WireError> {
    let blank: Vec<Entry> = records.iter().map(|record| record.entry([0; 16])).collect();
    let head = encode_head(kind, id, owners, metadata, &blank)?.len();
    let mut out = vec![0; head + records.iter().map(|record| record.length).sum::<usize>()];
    let mut rest = &mut out[head..];
    let mut slices = Vec::with_capacity(records.len());
    for record in records {
        let (slice, after) = rest.split_at_mut(record.length);
        slices.push(slice);
        rest = after;
    }
    let entries: Vec<Entry> = slices
        .into_par_iter()
        .zip(records)
        .enumerate()
        .map(|(i, (slice, record))| {
            fill(i, slice);
            record.entry(digest(&[slice]))
        })
        .collect();
    out[..head].copy_from_slice(&encode_head(kind, id, owners, metadata, &entries)?);
    Ok(out)
}
