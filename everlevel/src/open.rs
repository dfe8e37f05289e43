//! Opening what is in files: of which parameter set it is, and what is believed of it.

use std::path::Path;

use everlevel_bgv::{Ciphertext, PublicKey, SecretKey};
use everlevel_scheme::{OptIn, Params, ParamsSpec};
use everlevel_wire::file::read_file;
use everlevel_wire::{self as wire, FileKeys, ObjectKind, ParamsId, ReadOptions, WireError};
use zeroize::Zeroizing;

use crate::error::Error;
use crate::stored::{Bounds, PARAMS_FILE, parse_spec};

/// The largest file of ciphertexts or of a single key, in bytes.
const MAX_BYTES: u64 = 8 << 30;
/// The largest file of parameters, in bytes.
const MAX_SPEC_BYTES: u64 = 1 << 20;

/// How files are opened. `Default`: the set that the file names, 128 bits at least, a gibibyte of
/// server keys kept in memory.
#[derive(Clone)]
pub struct OpenOptions {
    /// The parameter set. None: the one with the id that is in the file, by name, or from
    /// `params.json` beside it.
    pub params: Option<Params>,
    /// Whether sets below 128 bits are accepted.
    pub opt_in: OptIn,
    /// How many bytes of the server keys of a file stay in memory once they were read.
    pub cache_bytes: u64,
    /// Whether files of the format's version 1 are accepted, which do not say whose they are.
    pub allow_unknown_owner: bool,
}

impl Default for OpenOptions {
    fn default() -> Self {
        OpenOptions {
            params: None,
            opt_in: OptIn::SecureOnly,
            cache_bytes: 1 << 30,
            allow_unknown_owner: false,
        }
    }
}

impl OpenOptions {
    /// The parameter set of a file whose header has this id.
    fn set_of(&self, path: &Path, id: ParamsId) -> Result<Params, Error> {
        let params = match &self.params {
            Some(params) => params.clone(),
            None => Params::new(self.spec_of(path, id)?, self.opt_in)?,
        };
        let expected = ParamsId::of(&params);
        if expected != id {
            let name = params.name().to_string();
            return Err(WireError::OtherParams { found: id, expected, name }.into());
        }
        Ok(params)
    }

    fn spec_of(&self, path: &Path, id: ParamsId) -> Result<ParamsSpec, Error> {
        if let Some(spec) = wire::params::named_spec(id) {
            return Ok(spec);
        }
        let text = read_file(&path.with_file_name(PARAMS_FILE), MAX_SPEC_BYTES)?;
        let text = std::str::from_utf8(&text).map_err(|e| WireError::Malformed {
            what: "parameters",
            expected: "JSON in UTF-8".into(),
            found: e.to_string(),
        })?;
        parse_spec(text)
    }

    pub(crate) fn reading(&self) -> ReadOptions {
        ReadOptions::default()
            .limited_to(MAX_BYTES)
            .allowing_unknown_owner(self.allow_unknown_owner)
    }

    /// The parameter set of a file of server keys.
    pub(crate) fn set_of_server_keys(&self, path: &Path) -> Result<Params, Error> {
        self.set_of(path, FileKeys::params_id(path)?)
    }

    fn read(&self, path: &Path, kind: ObjectKind) -> Result<(Params, Zeroizing<Vec<u8>>), Error> {
        let bytes = read_file(path, MAX_BYTES)?;
        let summary = wire::inspect(&bytes, &self.reading())?;
        if summary.kind != kind {
            return Err(WireError::WrongKind { expected: kind, found: summary.kind }.into());
        }
        Ok((self.set_of(path, summary.params)?, bytes))
    }
}

/// The secret key of a file.
pub(crate) fn secret_key(path: &Path, options: &OpenOptions) -> Result<SecretKey, Error> {
    let (params, bytes) = options.read(path, ObjectKind::SECRET_KEY)?;
    Ok(wire::secret_key::from_bytes(&params, &bytes, &options.reading())?.0)
}

/// The public key of a file, for whoever encrypts.
///
/// # Errors
/// A file that cannot be read, is damaged or holds something else; a set below 128 bits without
/// [`OpenOptions::opt_in`].
pub fn open_public_key(path: &Path, options: &OpenOptions) -> Result<PublicKey, Error> {
    let (params, bytes) = options.read(path, ObjectKind::PUBLIC_KEY)?;
    Ok(wire::public_key::from_bytes(&params, &bytes, &options.reading())?.0)
}

/// The ciphertexts of a file, with the noise bounds that are believed.
pub(crate) fn ciphertexts(
    params: &Params,
    path: &Path,
    bounds: &Bounds,
) -> Result<Vec<Ciphertext>, Error> {
    ciphertexts_from(params, &read_file(path, MAX_BYTES)?, bounds)
}

/// The ciphertexts that bytes hold, with the noise bounds that are believed.
pub(crate) fn ciphertexts_from(
    params: &Params,
    bytes: &[u8],
    bounds: &Bounds,
) -> Result<Vec<Ciphertext>, Error> {
    let summary = wire::inspect(bytes, &ReadOptions::default().limited_to(MAX_BYTES))?;
    let reading = ReadOptions::with_bounds(bounds.policy(&summary.metadata)).limited_to(MAX_BYTES);
    Ok(wire::ciphertexts::from_bytes(params, bytes, &reading)?.0)
}
