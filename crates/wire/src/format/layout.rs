//! Reading header and index of an object.

use std::borrow::Cow;
use std::ops::Range;

use everlevel_scheme::Params;

use super::encode::Entry;
use super::header::{CHECKED_HEADER, FORMAT_VERSION, HEADER_BYTES, MAGIC};
use super::owners::Owners;
use crate::error::WireError;
use crate::id::{ParamsId, digest};
use crate::kind::ObjectKind;
use crate::options::ReadOptions;
use crate::reader::Reader;
use crate::summary::{Metadata, Summary};

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
        Self::parse_parts(&bytes[..bytes.len().min(HEADER_BYTES)], found, index)
    }

    /// The same for an object of `found` bytes whose first [`HEADER_BYTES`] (or as many as there
    /// are) are `head`. `index` gives the bytes of the index, whose length then fits the object.
    pub(crate) fn parse_parts<'b>(
        head: &[u8],
        found: u64,
        index: impl FnOnce(u64) -> Result<Cow<'b, [u8]>, WireError>,
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
        if digest(&[&head[..CHECKED_HEADER], &index]) != checksum {
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
            .ok_or_else(|| WireError::malformed("object type", "1 to 18", kind))?;
        let mut index = Reader::new(&index);
        let owners = Owners::read(version, kind, &mut index)?;
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
    pub fn record<'b>(&self, bytes: &'b [u8], i: usize) -> Result<&'b [u8], WireError> {
        let range = &self.entries[i].1;
        // Within the object, so the positions fit a usize.
        let record = &bytes[range.start as usize..range.end as usize];
        self.verify(i, record)?;
        Ok(record)
    }

    /// Passes the bytes of a record if its checksum matches.
    pub(crate) fn verify(&self, i: usize, record: &[u8]) -> Result<(), WireError> {
        self.expect_checksum(i, digest(&[record]))
    }

    /// Passes the checksum that a record has.
    pub(crate) fn expect_checksum(&self, i: usize, found: [u8; 16]) -> Result<(), WireError> {
        if found != self.entries[i].0.checksum {
            return Err(WireError::Checksum { part: format!("record {i}") });
        }
        Ok(())
    }
}
