//! Uploads: data under AES, and what a server has to know of them and cannot see.

use everlevel_scheme::{KeyId, Params};

use crate::error::WireError;
use crate::format::{Layout, Owners, Planned, encode_owned};
use crate::id::ParamsId;
use crate::kind::ObjectKind;
use crate::options::ReadOptions;
use crate::reader::Reader;
use crate::summary::Metadata;

/// The place of an initialization vector, which shorter ones do not fill.
const IV_BYTES: usize = 16;

/// Which mode of operation of AES.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ModeKind {
    /// Counter mode; the first counter block has 16 bytes.
    Ctr,
    /// The counters of GCM, without a tag; its initialization vector has 12 bytes.
    Gcm,
    /// CBC; its initialization vector has 16 bytes.
    Cbc,
    /// ECB, which has none.
    Ecb,
}

impl ModeKind {
    /// All of them, in the order of their numbers, which begin with 1.
    pub const ALL: &'static [Self] = &[ModeKind::Ctr, ModeKind::Gcm, ModeKind::Cbc, ModeKind::Ecb];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ModeKind::Ctr => "ctr",
            ModeKind::Gcm => "gcm",
            ModeKind::Cbc => "cbc",
            ModeKind::Ecb => "ecb",
        }
    }

    /// The mode of this name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|mode| mode.name() == name)
    }

    /// Bytes of the initialization vector, or of the first counter block.
    pub fn iv_bytes(self) -> usize {
        match self {
            ModeKind::Ctr | ModeKind::Cbc => 16,
            ModeKind::Gcm => 12,
            ModeKind::Ecb => 0,
        }
    }

    /// What the length of data is a multiple of.
    fn unit(self) -> usize {
        match self {
            ModeKind::Ctr | ModeKind::Gcm => 1,
            ModeKind::Cbc | ModeKind::Ecb => 16,
        }
    }

    fn number(self) -> u8 {
        1 + self as u8
    }

    fn of_number(number: u8) -> Result<Self, WireError> {
        let found = Self::ALL.iter().copied().find(|mode| mode.number() == number);
        found.ok_or_else(|| WireError::malformed("mode of an upload", "1 to 4", number))
    }
}

/// Data under AES as they are stored. What the fields mean docs/format.md says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredUpload {
    /// The mode.
    pub mode: ModeKind,
    /// The initialization vector or the first counter block, as long as the mode has it.
    pub iv: Vec<u8>,
    /// The id of the AES key.
    pub aes_key: [u8; 16],
    /// Whose the ciphertexts will be that a server makes of the data.
    pub owner: Option<KeyId>,
    /// The data: at least a byte, whole blocks in CBC and ECB.
    pub data: Vec<u8>,
}

/// What a descriptor says.
struct Label {
    mode: ModeKind,
    iv: Vec<u8>,
    aes_key: [u8; 16],
}

impl Label {
    fn decode(descriptor: &[u8]) -> Result<Self, WireError> {
        let mut fields = Reader::new(descriptor);
        let mode = ModeKind::of_number(fields.u8()?)?;
        fields.zeros(7)?;
        let iv = fields.take(mode.iv_bytes())?.to_vec();
        fields.zeros(IV_BYTES - iv.len())?;
        let aes_key = fields.array()?;
        fields.finish()?;
        Ok(Label { mode, iv, aes_key })
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = vec![self.mode.number(), 0, 0, 0, 0, 0, 0, 0];
        out.extend(&self.iv);
        out.resize(8 + IV_BYTES, 0);
        out.extend(self.aes_key);
        out
    }

    fn check_length(&self, found: u64) -> Result<(), WireError> {
        let unit = self.mode.unit();
        if found == 0 || !found.is_multiple_of(unit as u64) {
            let expected = format!("a multiple of {unit}, at least {unit}");
            return Err(WireError::malformed("bytes of data in an upload", expected, found));
        }
        Ok(())
    }
}

/// An upload as bytes.
///
/// # Errors
/// An initialization vector of another length than the mode has, no data, part of a block in CBC or
/// ECB, metadata of 4 GiB or more.
pub fn to_bytes(
    params: &Params,
    upload: &StoredUpload,
    metadata: &Metadata,
) -> Result<Vec<u8>, WireError> {
    let StoredUpload { mode, iv, aes_key, owner, data } = upload;
    if iv.len() != mode.iv_bytes() {
        let expected = format!("{} bytes for {}", mode.iv_bytes(), mode.name());
        return Err(WireError::malformed("initialization vector", expected, iv.len()));
    }
    let label = Label { mode: *mode, iv: iv.clone(), aes_key: *aes_key };
    label.check_length(data.len() as u64)?;
    let records = [Planned { descriptor: label.encode(), length: data.len() }];
    let (id, owners) = (ParamsId::of(params), Owners::one(*owner));
    encode_owned(ObjectKind::UPLOAD, id, &owners, metadata, &records, |_, out| {
        out.copy_from_slice(data);
    })
}

/// An upload from bytes, with the metadata.
///
/// # Errors
/// Whatever is not as the format says, an upload for other parameters, or for an unknown owner
/// unless `options` allow it.
pub fn from_bytes(
    params: &Params,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<(StoredUpload, Metadata), WireError> {
    let layout = Layout::of(bytes, ObjectKind::UPLOAD, params, options)?;
    let [(entry, _)] = &layout.entries[..] else {
        return Err(WireError::malformed("records of an upload", 1, layout.entries.len()));
    };
    let label = Label::decode(&entry.descriptor)?;
    label.check_length(entry.length)?;
    let data = layout.record(bytes, 0)?.to_vec();
    let (owner, Label { mode, iv, aes_key }) = (layout.owners.owner, label);
    Ok((StoredUpload { mode, iv, aes_key, owner, data }, layout.metadata))
}
