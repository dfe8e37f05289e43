//! Data under AES: uploads that say what they are, and raw data.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

use everlevel::files::Bytes;
use everlevel::{
    AesKeyId, AesUpload, EncryptedAesKey, Error, KeyId, Mode, ModeKind, Params, mode_of,
};
use everlevel_scheme::same_owner;
use everlevel_wire::{MAGIC, WireError};

use super::args::{AesTranscipherArgs, ModeArg};
use super::key::hex;
use crate::commands::roles::files::read_object;
use crate::console::errors::CliError;
use crate::console::files::of_file;

/// What is taken from AES.
pub(super) enum Data {
    /// Data that say what they are.
    Upload(AesUpload),
    /// Data of which only the options say anything.
    Raw { file: File, kind: ModeKind, mode: Mode, length: u64 },
}

impl Data {
    pub(super) fn open(args: &AesTranscipherArgs, params: &Params) -> Result<Self, CliError> {
        let (path, set) = (&args.input, &args.server.set);
        let shown = path.display();
        let cannot = |e: std::io::Error| CliError::usage(format!("cannot read {shown}: {e}"));
        let iv = args.iv.as_deref().map(|digits| hex("--iv", digits)).transpose()?;
        let mut file = File::open(path).map_err(cannot)?;
        let mut magic = Vec::new();
        (&mut file).take(MAGIC.len() as u64).read_to_end(&mut magic).map_err(cannot)?;
        if args.raw {
            if magic == MAGIC {
                return Err(CliError::usage(format!(
                    "{shown}: expected raw data under AES, found a file of this program: leave out \
                     --raw"
                )));
            }
            file.rewind().map_err(cannot)?;
            return Self::raw(args, iv.as_deref().map(Vec::as_slice), file);
        }
        if magic != MAGIC {
            let told = format!(
                "{shown}: expected what `aes upload` wrote, found other data: make an upload of \
                 them, or pass --raw if nothing is to be checked"
            );
            return Err(CliError::usage(told).with_code(WireError::NotOurs.code()));
        }
        let (bytes, _) = read_object(path)?;
        let (upload, _) = AesUpload::from_bytes_with(params, &bytes, &set.options())
            .map_err(|e| of_data(path, e))?;
        let iv = iv.as_deref().map(Vec::as_slice);
        upload.expect(args.mode.map(ModeArg::kind), iv).map_err(|e| of_data(path, e))?;
        Ok(Data::Upload(upload))
    }

    fn raw(args: &AesTranscipherArgs, iv: Option<&[u8]>, file: File) -> Result<Self, CliError> {
        let shown = args.input.display();
        let kind = args.mode.unwrap_or(ModeArg::Ctr).kind();
        let mode = stated_mode(kind, iv)?;
        let cannot = |e: std::io::Error| CliError::usage(format!("cannot read {shown}: {e}"));
        let length = file.metadata().map_err(cannot)?.len();
        if length == 0 {
            return Err(CliError::usage(format!("{shown}: expected data, found none")));
        }
        // The whole data have to suit the mode before hours are spent on the first of them.
        mode.check_length(length)
            .map_err(|e| CliError::usage(format!("{shown}: {e}")).with_code(e.code()))?;
        Ok(Data::Raw { file, kind, mode, length })
    }

    /// Refuses what does not belong together.
    pub(super) fn check(&self, key: &EncryptedAesKey, server: Option<KeyId>) -> Result<(), Error> {
        if let Data::Upload(upload) = self {
            upload.check(key)?;
            same_owner(upload.owner(), server, "transciphering")?;
        }
        Ok(())
    }

    pub(super) fn kind(&self) -> ModeKind {
        match self {
            Data::Upload(upload) => upload.mode(),
            Data::Raw { kind, .. } => *kind,
        }
    }

    pub(super) fn mode(&self) -> Result<Mode, Error> {
        match self {
            Data::Upload(upload) => upload.start(),
            Data::Raw { mode, .. } => Ok(mode.clone()),
        }
    }

    pub(super) fn length(&self) -> u64 {
        match self {
            Data::Upload(upload) => upload.data().len() as u64,
            Data::Raw { length, .. } => *length,
        }
    }

    pub(super) fn reader(&self) -> Box<dyn Read + '_> {
        match self {
            Data::Upload(upload) => Box::new(upload.data()),
            Data::Raw { file, .. } => Box::new(file),
        }
    }

    /// The AES key, if it was checked.
    pub(super) fn key(&self) -> Option<AesKeyId> {
        match self {
            Data::Upload(upload) => Some(upload.aes_key_id()),
            Data::Raw { .. } => None,
        }
    }
}

/// The mode that options state, with its initialization vector.
pub(super) fn stated_mode(kind: ModeKind, iv: Option<&[u8]>) -> Result<Mode, CliError> {
    match (kind, iv) {
        (ModeKind::Ecb, Some(_)) => Err(CliError::usage("--mode ecb: expected no --iv")),
        (ModeKind::Ecb, None) => mode_of(kind, &[]).map_err(CliError::usage),
        (_, None) => Err(CliError::usage(format!("--mode {}: expected --iv", kind.name()))),
        (_, Some(iv)) => mode_of(kind, iv).map_err(CliError::usage),
    }
}

/// An error of the data, with their file.
pub(super) fn of_data(path: &Path, e: Error) -> CliError {
    match e {
        Error::Wire(e) => of_file(path)(e),
        e => CliError::usage(format!("{}: {e}", path.display())).with_code(e.code()),
    }
}
