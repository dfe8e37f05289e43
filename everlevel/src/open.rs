//! Opening of files: their parameter set, and which of their statements are trusted.

use std::path::{Path, PathBuf};

use everlevel_bgv::{Ciphertext, PublicKey, SecretKey};
use everlevel_circuit::Value;
use everlevel_scheme::{OptIn, Params, ParamsSpec};
use everlevel_wire::file::read_file;
use everlevel_wire::{self as wire, ObjectKind, ParamsId, ReadOptions, Summary, WireError};
use zeroize::Zeroizing;

use crate::error::Error;
use crate::key_files::KeyFiles;
use crate::stated::PARAMETERS;
use crate::stored::{Bounds, PARAMS_FILE, parse_spec, policy_of, ranges_of};

/// The largest file of ciphertexts or of a single key, in bytes.
const MAX_BYTES: u64 = 8 << 30;
/// The largest file of parameters, in bytes.
const MAX_SPEC_BYTES: u64 = 1 << 20;

/// Options for opening files. By default: the parameter set that the file names, at least 128 bits
/// of security, a gibibyte of server keys kept in memory.
#[derive(Clone)]
#[non_exhaustive]
pub struct OpenOptions {
    /// The parameter set. None: the named set with the id in the file, or that of `params.json`
    /// beside it.
    pub params: Option<Params>,
    /// Whether sets below 128 bits are accepted.
    pub opt_in: OptIn,
    /// The number of bytes of server keys of a file that stay in memory after they were read.
    pub cache_bytes: u64,
    /// Whether files of format version 1 are accepted, which do not state their owner.
    pub allow_unknown_owner: bool,
    /// Whether server keys keep their uniform halves as seeds in memory, which are expanded
    /// wherever they are used: half of the memory, and operations take longer. Results have the
    /// same bits.
    pub seeded_keys: bool,
}

impl Default for OpenOptions {
    fn default() -> Self {
        OpenOptions {
            params: None,
            opt_in: OptIn::SecureOnly,
            cache_bytes: 1 << 30,
            allow_unknown_owner: false,
            seeded_keys: false,
        }
    }
}

impl OpenOptions {
    /// Sets the parameter set. None: the one that the file names.
    #[must_use]
    #[cfg(feature = "unstable")]
    pub fn with_params(self, params: impl Into<Option<Params>>) -> Self {
        OpenOptions { params: params.into(), ..self }
    }

    /// Accepts sets below 128 bits of security, if the opt-in says so.
    #[must_use]
    pub fn accepting(self, opt_in: OptIn) -> Self {
        OpenOptions { opt_in, ..self }
    }

    /// Sets the limit, in bytes, of server keys that stay in memory.
    #[must_use]
    #[cfg(feature = "unstable")]
    pub fn caching(self, cache_bytes: u64) -> Self {
        OpenOptions { cache_bytes, ..self }
    }

    /// Sets whether files are accepted that do not state their owner.
    #[must_use]
    #[cfg(feature = "unstable")]
    pub fn allowing_unknown_owner(self, allow_unknown_owner: bool) -> Self {
        OpenOptions { allow_unknown_owner, ..self }
    }

    /// Sets whether server keys keep their uniform halves as seeds in memory
    /// ([`OpenOptions::seeded_keys`]): twice as many of them fit the limit of
    /// [`OpenOptions::cache_bytes`].
    #[must_use]
    pub fn with_seeded_keys(self, seeded_keys: bool) -> Self {
        OpenOptions { seeded_keys, ..self }
    }

    /// The parameter set of the file at `path`, whose header has this id: the requested one, a
    /// named one, or that of `params.json` beside the file.
    ///
    /// # Errors
    /// No such set, or a requested set with another id; a set below 128 bits without
    /// [`OpenOptions::opt_in`].
    #[cfg(feature = "unstable")]
    pub fn set_of(&self, path: &Path, id: ParamsId) -> Result<Params, Error> {
        self.set_of_file(path, id)
    }

    fn set_of_file(&self, path: &Path, id: ParamsId) -> Result<Params, Error> {
        self.set_with(id, || self.spec_of(path, id))
    }

    fn set_with(
        &self,
        id: ParamsId,
        spec: impl FnOnce() -> Result<ParamsSpec, Error>,
    ) -> Result<Params, Error> {
        let params = match &self.params {
            Some(params) => params.clone(),
            None => Params::new(spec()?, self.opt_in)?,
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
        let beside = path.with_file_name(PARAMS_FILE);
        if !beside.exists() {
            return Err(unknown_set(id));
        }
        let text = read_file(&beside, MAX_SPEC_BYTES)?;
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
            .with_seeded_keys(self.seeded_keys)
    }

    /// The parameter set of a file of server keys, which must belong to the same generation as the
    /// other keys beside it.
    pub(crate) fn set_of_server_keys(&self, path: &Path) -> Result<Params, Error> {
        KeyFiles::recover_beside(path)?;
        let summary = of_kind(wire::inspect_file(path)?, ObjectKind::SERVER_KEYS)?;
        self.set_with(summary.params, || match stated_spec(&summary)? {
            Some(spec) => Ok(spec),
            None => self.spec_of(path, summary.params),
        })
    }

    /// The parameter set of an object in bytes, which has a name or is stated in the metadata.
    pub(crate) fn set_of_bytes(&self, bytes: &[u8], kind: ObjectKind) -> Result<Params, Error> {
        let summary = of_kind(wire::inspect(bytes, &self.reading())?, kind)?;
        self.set_with(summary.params, || {
            stated_spec(&summary)?.ok_or_else(|| unknown_set(summary.params))
        })
    }

    fn read(&self, path: &Path, kind: ObjectKind) -> Result<(Params, Zeroizing<Vec<u8>>), Error> {
        KeyFiles::recover_beside(path)?;
        // What is of another kind may be large: its header is enough to refuse it.
        if path.is_file() {
            of_kind(wire::inspect_file(path)?, kind)?;
        }
        let bytes = read_file(path, MAX_BYTES)?;
        let summary = of_kind(wire::inspect(&bytes, &self.reading())?, kind)?;
        Ok((self.set_of_file(path, summary.params)?, bytes))
    }
}

fn of_kind(summary: Summary, expected: ObjectKind) -> Result<Summary, WireError> {
    match summary.kind {
        found if found == expected => Ok(summary),
        found => Err(WireError::WrongKind { expected, found }),
    }
}

/// The specification of the parameter set of an object, which has a name or is stated in the
/// metadata. Its id is compared with that of the object.
fn stated_spec(summary: &Summary) -> Result<Option<ParamsSpec>, Error> {
    if let Some(spec) = wire::params::named_spec(summary.params) {
        return Ok(Some(spec));
    }
    summary.metadata.get(PARAMETERS).map(|text| parse_spec(text)).transpose()
}

fn unknown_set(id: ParamsId) -> Error {
    WireError::Malformed {
        what: "parameter set of the file",
        expected: format!("one whose name is known here, or {PARAMS_FILE} beside the file"),
        found: format!("the id {id} alone: state the set"),
    }
    .into()
}

/// The path of a file, or of the file with this name in a directory.
pub(crate) fn in_directory(path: &Path, name: &str) -> PathBuf {
    if path.is_dir() { path.join(name) } else { path.into() }
}

/// The secret key of a file.
pub(crate) fn secret_key(path: &Path, options: &OpenOptions) -> Result<SecretKey, Error> {
    let (params, bytes) = options.read(path, ObjectKind::SECRET_KEY)?;
    Ok(wire::secret_key::from_bytes(&params, &bytes, &options.reading())?.0)
}

/// Reads the public key of a file, for encryption without the secret key.
///
/// # Errors
/// A file that cannot be read, is damaged or holds something else; a set below 128 bits without
/// [`OpenOptions::opt_in`].
pub fn open_public_key(path: &Path, options: &OpenOptions) -> Result<PublicKey, Error> {
    let (params, bytes) = options.read(path, ObjectKind::PUBLIC_KEY)?;
    Ok(wire::public_key::from_bytes(&params, &bytes, &options.reading())?.0)
}

/// The bytes of a file of ciphertexts.
#[cfg(feature = "unstable")]
pub(crate) fn bytes_of(path: &Path) -> Result<Zeroizing<Vec<u8>>, Error> {
    Ok(read_file(path, MAX_BYTES)?)
}

/// The options for reading bytes with these metadata, given which bounds are trusted.
pub(crate) fn reading(
    bytes: &[u8],
    bounds: &Bounds,
    allow_unknown_owner: bool,
) -> Result<ReadOptions, Error> {
    let summary = wire::inspect(bytes, &ReadOptions::default().limited_to(MAX_BYTES))?;
    Ok(ReadOptions::with_bounds(policy_of(bounds, &summary.metadata))
        .limited_to(MAX_BYTES)
        .allowing_unknown_owner(allow_unknown_owner))
}

/// The ciphertexts of a file, with noise bounds according to what is trusted, and the ranges that
/// the file states.
#[cfg(feature = "unstable")]
pub(crate) fn ciphertexts(
    params: &Params,
    path: &Path,
    bounds: &Bounds,
    allow_unknown_owner: bool,
) -> Result<Vec<Value<Ciphertext>>, Error> {
    ciphertexts_from(params, &bytes_of(path)?, bounds, allow_unknown_owner)
}

/// The ciphertexts in bytes, with noise bounds according to what is trusted, and the ranges that
/// the bytes state.
pub(crate) fn ciphertexts_from(
    params: &Params,
    bytes: &[u8],
    bounds: &Bounds,
    allow_unknown_owner: bool,
) -> Result<Vec<Value<Ciphertext>>, Error> {
    let reading = reading(bytes, bounds, allow_unknown_owner)?;
    let (found, metadata) = wire::ciphertexts::from_bytes(params, bytes, &reading)?;
    let ranges = ranges_of(&metadata, found.len())?;
    Ok(found.into_iter().zip(ranges).map(|(x, range)| Value::from(x).within(range)).collect())
}
