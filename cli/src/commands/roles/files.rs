//! The files of the three roles, and which parameter set they are of.

use std::path::Path;

use everlevel::files::{Bounds, ENCRYPTION, PARAMS_FILE, VALUES};
use everlevel::{Ciphertext, Params, PublicKey, SecretKey};
use everlevel_wire as wire;
use everlevel_wire::file::{read_file, write_file};
use everlevel_wire::{Metadata, ObjectKind, ParamsId, ReadOptions, WireError};

use super::args::{OutArg, SetOfFile};
use super::manifest::ManifestWriter;
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{existing, of_file};
use crate::console::params::find_params;

/// The largest file of ciphertexts or of a single key, in bytes.
const MAX_BYTES: u64 = 8 << 30;

/// The bytes of a file of this program, and what its header says.
pub fn read_object(path: &Path) -> Result<(zeroize::Zeroizing<Vec<u8>>, wire::Summary), CliError> {
    let bytes = read_file(path, MAX_BYTES).map_err(of_file(path))?;
    let any = ReadOptions::default().limited_to(MAX_BYTES);
    let summary = wire::inspect(&bytes, &any).map_err(of_file(path))?;
    Ok((bytes, summary))
}

impl SetOfFile {
    /// What is read of files, believing no noise bound.
    pub fn options(&self) -> ReadOptions {
        ReadOptions::default()
            .limited_to(MAX_BYTES)
            .allowing_unknown_owner(self.allow_unknown_owner)
    }
}

/// The parameter set of the file at `path`, whose header has `id`: the one that was asked for, that
/// has a name, or that params.json beside it describes.
pub fn set_of(
    path: &Path,
    id: ParamsId,
    asked: &SetOfFile,
    common: &Common,
) -> Result<Params, CliError> {
    let beside = path.with_file_name(PARAMS_FILE);
    let name = match (&asked.params, wire::params::named_spec(id)) {
        (Some(name), _) => name.clone(),
        (None, Some(spec)) => spec.name,
        (None, None) if beside.exists() => beside.display().to_string(),
        (None, None) => {
            let problem =
                "its parameter set has no name that is known here: give it with --params FILE.json";
            return Err(CliError::usage(format!("{}: {problem}", path.display())));
        }
    };
    let params = find_params(&name, common)?;
    let expected = ParamsId::of(&params);
    if expected != id {
        let name = params.name().to_string();
        return Err(of_file(path)(WireError::OtherParams { found: id, expected, name }));
    }
    Ok(params)
}

/// Reads a secret key, and its parameter set.
pub fn secret_key(path: &Path, set: &SetOfFile, common: &Common) -> Result<SecretKey, CliError> {
    let (bytes, summary) = read_object(path)?;
    if summary.kind != ObjectKind::SECRET_KEY {
        return Err(of_file(path)(WireError::WrongKind {
            expected: ObjectKind::SECRET_KEY,
            found: summary.kind,
        }));
    }
    let params = set_of(path, summary.params, set, common)?;
    Ok(wire::secret_key::from_bytes(&params, &bytes, &set.options()).map_err(of_file(path))?.0)
}

/// What encrypts: a public key, or the secret one, whose ciphertexts have half the size.
pub enum EncryptionKey {
    /// Anybody's.
    Public(PublicKey),
    /// The owner's.
    Secret(SecretKey),
}

impl EncryptionKey {
    /// Reads a key of either kind.
    pub fn read(path: &Path, set: &SetOfFile, common: &Common) -> Result<Self, CliError> {
        let (bytes, summary) = read_object(path)?;
        let params = set_of(path, summary.params, set, common)?;
        match summary.kind {
            ObjectKind::PUBLIC_KEY => wire::public_key::from_bytes(&params, &bytes, &set.options())
                .map(|(key, _)| Self::Public(key)),
            ObjectKind::SECRET_KEY => wire::secret_key::from_bytes(&params, &bytes, &set.options())
                .map(|(key, _)| Self::Secret(key)),
            found => Err(WireError::WrongKind { expected: ObjectKind::PUBLIC_KEY, found }),
        }
        .map_err(of_file(path))
    }

    /// The parameter set.
    pub fn params(&self) -> &Params {
        match self {
            Self::Public(key) => key.params(),
            Self::Secret(key) => key.params(),
        }
    }

    /// Metadata of what it encrypts.
    pub fn metadata(&self) -> Metadata {
        let encryption = match self {
            Self::Public(_) => "public",
            Self::Secret(_) => "secret",
        };
        Metadata::from([(ENCRYPTION.into(), encryption.into())])
    }
}

/// Ciphertexts of a file with what it says about them.
pub struct Column {
    /// The ciphertexts.
    pub ciphertexts: Vec<Ciphertext>,
    /// The metadata.
    pub metadata: Metadata,
}

impl Column {
    /// Reads a file of ciphertexts of these parameters.
    pub fn read(
        path: &Path,
        params: &Params,
        bounds: &Bounds,
        set: &SetOfFile,
    ) -> Result<Self, CliError> {
        let (bytes, summary) = read_object(path)?;
        let options = set.options().believing(bounds.policy(&summary.metadata));
        let (ciphertexts, metadata) =
            wire::ciphertexts::from_bytes(params, &bytes, &options).map_err(of_file(path))?;
        Ok(Column { ciphertexts, metadata })
    }

    /// The only ciphertext.
    pub fn single(self, path: &Path) -> Result<(Ciphertext, Metadata), CliError> {
        let found = self.ciphertexts.len();
        match <[Ciphertext; 1]>::try_from(self.ciphertexts) {
            Ok([x]) => Ok((x, self.metadata)),
            Err(_) => Err(CliError::usage(format!(
                "{}: expected one ciphertext, found {found}",
                path.display()
            ))),
        }
    }

    /// Writes ciphertexts and their metadata.
    pub fn write(
        out: &OutArg,
        params: &Params,
        ciphertexts: &[Ciphertext],
        metadata: &Metadata,
    ) -> Result<u64, CliError> {
        Self::write_listed(out, params, ciphertexts, metadata, &mut None)
    }

    /// The same, and lists the file in the manifest if there is to be one.
    pub fn write_listed(
        out: &OutArg,
        params: &Params,
        ciphertexts: &[Ciphertext],
        metadata: &Metadata,
        manifest: &mut Option<ManifestWriter>,
    ) -> Result<u64, CliError> {
        let bytes = wire::ciphertexts::to_bytes(params, ciphertexts, metadata)
            .map_err(of_file(&out.out))?;
        if let Some(manifest) = manifest {
            manifest.list(&bytes).map_err(of_file(&out.out))?;
        }
        write_file(&out.out, &bytes, existing(out.force)).map_err(of_file(&out.out))?;
        Ok(bytes.len() as u64)
    }
}

/// Metadata of a fresh column of so many values.
pub fn fresh_metadata(values: usize, key: &EncryptionKey) -> Metadata {
    let mut out = key.metadata();
    out.insert(VALUES.into(), values.to_string());
    out
}

/// Metadata of what was computed from columns of at most so many values.
pub fn computed_metadata(values: Option<usize>) -> Metadata {
    values.map(|values| (VALUES.into(), values.to_string())).into_iter().collect()
}

/// How many values a column has, if its file says so.
pub fn values_of(metadata: &Metadata) -> Option<usize> {
    metadata.get(VALUES).and_then(|values| values.parse().ok())
}
