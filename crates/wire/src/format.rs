//! The container that every object is in: a header, an index, records. Byte by byte in
//! docs/format.md.

use std::borrow::Cow;
use std::ops::Range;

use everlevel_scheme::{KeyId, Params, same_owner};
use rayon::prelude::*;

use crate::error::WireError;
use crate::id::{ParamsId, digest};
use crate::kind::ObjectKind;
use crate::options::ReadOptions;
use crate::reader::Reader;
use crate::summary::{Metadata, Summary};

/// The version of the format that is written, and the latest that is read; earlier ones are read,
/// too. It has nothing to do with the version of the crate.
pub const FORMAT_VERSION: u16 = 2;
/// The first version whose objects name their owners.
const OWNERS_SINCE: u16 = 2;
/// What every object begins with. The first byte and the line ends show a transfer that changed
/// bytes.
pub const MAGIC: [u8; 8] = *b"\x89EVL\r\n\x1a\n";
/// Bytes of the header.
pub const HEADER_BYTES: usize = 64;
/// The part of the header that the checksum covers.
const CHECKED_HEADER: usize = 48;

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

/// Header and index of an object, checked: what it is and where its records are.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The kind of the object.
    pub kind: ObjectKind,
    /// The version of the format that it is written in.
    pub version: u16,
    /// The id of its parameter set.
    pub id: ParamsId,
    /// Whose it is.
    pub owners: Owners,
    /// Its metadata.
    pub metadata: Metadata,
    /// Its records, and which bytes of the object they are.
    pub entries: Vec<(Entry, Range<u64>)>,
    /// Where the records begin.
    start: u64,
}

/// The secret keys that an object belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Owners {
    /// The one that it decrypts under or is of; none if it has no owner or an unknown one.
    pub owner: Option<KeyId>,
    /// Of server keys that change ciphertexts from one secret key to another: the former.
    pub change_from: Option<KeyId>,
}

impl Owners {
    /// What belongs to one key.
    pub(crate) fn one(owner: Option<KeyId>) -> Self {
        Owners { owner, change_from: None }
    }

    /// What belongs to the only key that these objects belong to.
    pub(crate) fn common(all: impl Iterator<Item = Option<KeyId>>) -> Result<Self, WireError> {
        let mut owner = None;
        for next in all {
            same_owner(owner, next, "writing into one file")?;
            owner = owner.or(next);
        }
        Ok(Self::one(owner))
    }

    /// As in the index: for each a byte, 0 for none and 1 for a single key, and the id. Groups of
    /// keys will have a number of their own.
    fn encode(&self) -> Vec<u8> {
        let each = |id: Option<KeyId>| {
            let bits = id.map_or([0; 16], |id| *id.bits());
            [u8::from(id.is_some())].into_iter().chain(bits)
        };
        each(self.owner).chain(each(self.change_from)).collect()
    }
}

/// One id, as [`Owners::encode`] writes it.
pub(crate) fn encode_owner(owner: Option<KeyId>) -> Vec<u8> {
    Owners::one(owner).encode()[..OWNER_BYTES].to_vec()
}

/// Bytes of an id with what it is an id of.
pub(crate) const OWNER_BYTES: usize = 17;

/// Reads what [`encode_owner`] wrote.
pub(crate) fn decode_owner(fields: &mut Reader<'_>) -> Result<Option<KeyId>, WireError> {
    match fields.u8()? {
        0 => fields.zeros(16).map(|()| None),
        1 => Ok(Some(KeyId::of_key(fields.array()?))),
        other => Err(WireError::malformed("kind of an owner", "0 or 1", other)),
    }
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

/// The first half of the header: what an object is, whatever it has.
pub(crate) fn preamble(version: u16, kind: ObjectKind, id: ParamsId) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend(version.to_le_bytes());
    out.extend(kind.number().to_le_bytes());
    out.extend([0; 4]);
    out.extend(id.0);
    out
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

impl Layout {
    /// Parses and checks header and index; records are looked at by [`Layout::record`]. Allocates
    /// at most a small multiple of the bytes of the index.
    ///
    /// # Errors
    /// Bytes that are no object of a version that is known, truncated, damaged, or larger than
    /// `options` allows.
    pub fn parse(bytes: &[u8], options: &ReadOptions) -> Result<Self, WireError> {
        let found = bytes.len() as u64;
        if found > options.max_bytes {
            return Err(WireError::Limit {
                what: "bytes of the object",
                found,
                limit: options.max_bytes,
            });
        }
        // The length has been checked against the bytes when this is called.
        let index =
            |length: u64| Ok(Cow::Borrowed(&bytes[HEADER_BYTES..HEADER_BYTES + length as usize]));
        Self::parse_parts(&bytes[..bytes.len().min(HEADER_BYTES)], found, index, options)
    }

    /// The same for an object of `found` bytes whose first [`HEADER_BYTES`] (or as many as there
    /// are) are `head`. `index` gives the bytes of the index, whose length then fits the object.
    pub(crate) fn parse_parts<'b>(
        head: &[u8],
        found: u64,
        index: impl FnOnce(u64) -> Result<Cow<'b, [u8]>, WireError>,
        options: &ReadOptions,
    ) -> Result<Self, WireError> {
        let known = head.len().min(MAGIC.len());
        if head[..known] != MAGIC[..known] {
            return Err(WireError::NotOurs);
        }
        let mut header = Reader::new(head);
        header.take(MAGIC.len())?;
        let version = header.u16()?;
        if version > FORMAT_VERSION {
            return Err(WireError::NewerVersion { found: version, supported: FORMAT_VERSION });
        }
        let (kind, reserved) = (header.u16()?, header.u32()?);
        let id = ParamsId(header.array()?);
        let (index_length, body_length) = (header.u64()?, header.u64()?);
        let checksum: [u8; 16] = header.array()?;
        let needed = (HEADER_BYTES as u64).saturating_add(index_length).saturating_add(body_length);
        match found.cmp(&needed) {
            std::cmp::Ordering::Less => return Err(WireError::Truncated { needed, found }),
            std::cmp::Ordering::Greater => {
                return Err(WireError::Trailing { extra: found - needed });
            }
            std::cmp::Ordering::Equal => {}
        }
        // Both lengths are at most what is there.
        let index = index(index_length)?;
        if options.checked && digest(&[&head[..CHECKED_HEADER], &index]) != checksum {
            return Err(WireError::Checksum { part: "the header".into() });
        }
        if version == 0 {
            return Err(WireError::malformed(
                "format version",
                format!("1 to {FORMAT_VERSION}"),
                version,
            ));
        }
        if reserved != 0 {
            return Err(WireError::malformed("reserved bytes of the header", 0, reserved));
        }
        let kind = ObjectKind::new(kind)
            .ok_or_else(|| WireError::malformed("object type", "1 to 16", kind))?;
        let mut index = Reader::new(&index);
        let owners = Self::owners(version, kind, &mut index)?;
        let metadata = Self::metadata(&mut index)?;
        let mut entries = Vec::new();
        let mut start = HEADER_BYTES as u64 + index_length;
        for _ in 0..index.u32()? {
            let (length, checksum) = (index.u64()?, index.array()?);
            let size = index.u32()? as usize;
            let descriptor = index.take(size)?.to_vec();
            let end = start.saturating_add(length);
            if end > found {
                return Err(WireError::malformed(
                    "lengths of the records",
                    format!("{body_length} bytes in all"),
                    "more",
                ));
            }
            entries.push((Entry { descriptor, length, checksum }, start..end));
            start = end;
        }
        index.finish()?;
        if start != found {
            return Err(WireError::malformed(
                "lengths of the records",
                format!("{body_length} bytes in all"),
                "fewer",
            ));
        }
        let start = HEADER_BYTES as u64 + index_length;
        Ok(Layout { kind, version, id, owners, metadata, entries, start })
    }

    fn owners(version: u16, kind: ObjectKind, index: &mut Reader<'_>) -> Result<Owners, WireError> {
        if version < OWNERS_SINCE {
            return Ok(Owners::default());
        }
        let (owner, change_from) = (decode_owner(index)?, decode_owner(index)?);
        let (owned, changes) = (kind.has_owner(), kind == ObjectKind::SERVER_KEYS);
        if owner.is_some() && !owned || change_from.is_some() && (!changes || owner.is_none()) {
            return Err(WireError::malformed(
                "owners",
                "an owner where the kind has one, and the key before a change for server keys",
                kind,
            ));
        }
        Ok(Owners { owner, change_from })
    }

    fn metadata(index: &mut Reader<'_>) -> Result<Metadata, WireError> {
        let mut out = Metadata::new();
        for _ in 0..index.u32()? {
            let mut text = || {
                let length = index.u32()? as usize;
                let text = std::str::from_utf8(index.take(length)?);
                text.map(String::from)
                    .map_err(|_| WireError::malformed("metadata", "UTF-8", "other bytes"))
            };
            let (name, value) = (text()?, text()?);
            if out.last_key_value().is_some_and(|(last, _)| *last >= name) {
                return Err(WireError::malformed(
                    "names of the metadata",
                    "strictly ascending ones",
                    name,
                ));
            }
            out.insert(name, value);
        }
        Ok(out)
    }

    /// What it says, without its records.
    pub(crate) fn summary(self) -> Summary {
        let bytes = self.entries.last().map_or(self.start, |(_, range)| range.end);
        let records = self.entries.len();
        let Owners { owner, change_from } = self.owners;
        let (kind, params, version) = (self.kind, self.id, self.version);
        let metadata = self.metadata;
        Summary { kind, params, version, owner, change_from, metadata, records, bytes }
    }

    /// [`Layout::parse`] of an object that has to be of this kind.
    ///
    /// # Errors
    /// As [`Layout::parse`], and an object of another kind.
    pub fn of_kind(
        bytes: &[u8],
        kind: ObjectKind,
        options: &ReadOptions,
    ) -> Result<Self, WireError> {
        let layout = Self::parse(bytes, options)?;
        if layout.kind != kind {
            return Err(WireError::WrongKind { expected: kind, found: layout.kind });
        }
        Ok(layout)
    }

    /// [`Layout::of_kind`] of an object that has to be of these parameters.
    pub(crate) fn of(
        bytes: &[u8],
        kind: ObjectKind,
        params: &Params,
        options: &ReadOptions,
    ) -> Result<Self, WireError> {
        Self::parse(bytes, options)?.expect(kind, params, options)
    }

    /// Passes an object of this kind and these parameters that names its owner, if it has one or
    /// `options` ask for one. A secret key has its id, whatever its file says.
    pub(crate) fn expect(
        self,
        kind: ObjectKind,
        params: &Params,
        options: &ReadOptions,
    ) -> Result<Self, WireError> {
        let named = self.owners.owner.is_some() || !kind.has_owner();
        let layout = self.expect_id(kind, ParamsId::of(params), params.name())?;
        if !named && kind != ObjectKind::SECRET_KEY && !options.allow_unknown_owner {
            return Err(WireError::UnknownOwner { found: kind, version: layout.version });
        }
        Ok(layout)
    }

    /// Passes an object of this kind and of the parameters with this id; the name is for the error.
    ///
    /// # Errors
    /// An object of another kind or of other parameters.
    pub fn expect_id(
        self,
        kind: ObjectKind,
        expected: ParamsId,
        name: &str,
    ) -> Result<Self, WireError> {
        if self.kind != kind {
            return Err(WireError::WrongKind { expected: kind, found: self.kind });
        }
        if self.id != expected {
            return Err(WireError::OtherParams { found: self.id, expected, name: name.into() });
        }
        Ok(self)
    }

    /// The bytes of a record of the object that was parsed, its checksum verified.
    ///
    /// # Errors
    /// A checksum that does not match.
    ///
    /// # Panics
    /// If there is no record i, or if the object is another one and shorter.
    pub fn record<'b>(
        &self,
        bytes: &'b [u8],
        i: usize,
        options: &ReadOptions,
    ) -> Result<&'b [u8], WireError> {
        let range = &self.entries[i].1;
        // Within the object, so the positions fit a usize.
        let record = &bytes[range.start as usize..range.end as usize];
        self.verify(i, record, options)?;
        Ok(record)
    }

    /// Passes the bytes of a record if its checksum matches.
    pub(crate) fn verify(
        &self,
        i: usize,
        record: &[u8],
        options: &ReadOptions,
    ) -> Result<(), WireError> {
        if options.checked && digest(&[record]) != self.entries[i].0.checksum {
            return Err(WireError::Checksum { part: format!("record {i}") });
        }
        Ok(())
    }
}
