//! The files of the three roles, and which parameter set they are of.

use std::path::Path;

use everlevel::files::{Bounds, ENCRYPTION, KeyFiles, OpenOptions, state_ranges};
use everlevel::lab::{EvaluationError, ModularInputs, SchemeError};
use everlevel::{
    Ciphertext, Error, Level, Params, Plaintext, PublicKey, SecretKey, Server, Value, ValueRange,
};
use everlevel_wire as wire;
use everlevel_wire::arrays::Array;
use everlevel_wire::file::read_file;
use everlevel_wire::{FileKeys, Metadata, ObjectKind, ParamsId, ReadOptions, WireError};
use rand_core::CryptoRng;

use super::args::{KeyMemoryArg, OutArg, ServerArgs, SetOfFile};
use super::writer::ResultWriter;
use crate::columns;
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{is_standard, of_file, read_bytes};
use crate::console::params::{find_params, refused_set};

/// Metadata of ciphertexts: the name of the column that they come from.
pub const NAME: &str = "name";
/// Metadata of ciphertexts: that residues above half of the modulus stand for negative integers,
/// for readers that do not know ranges.
const SIGNED: &str = "signed";
/// Metadata of ciphertexts: the type of that column ([`columns::Kind`]).
pub const KIND: &str = "type";
/// The largest file of ciphertexts or of a single key, in bytes.
const MAX_BYTES: u64 = 8 << 30;

/// The bytes of a file of this program, and what its header says.
pub fn read_object(path: &Path) -> Result<(zeroize::Zeroizing<Vec<u8>>, wire::Summary), CliError> {
    let bytes = match is_standard(path) {
        true => read_bytes(path, MAX_BYTES, "the object of")?.into(),
        false => read_file(path, MAX_BYTES).map_err(of_file(path))?,
    };
    let any = ReadOptions::default().limited_to(MAX_BYTES);
    let summary = wire::inspect(&bytes, &any).map_err(of_file(path))?;
    Ok((bytes, summary))
}

impl SetOfFile {
    /// What is read of files, trusting no noise bound.
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
    let params = asked.params.as_ref().map(|name| find_params(name, common)).transpose()?;
    let options = OpenOptions::default().with_params(params).accepting(common.opt_in());
    options.set_of(path, id).map_err(|e| match &e {
        Error::Wire(WireError::Malformed { .. }) => {
            CliError::usage(format!("{}: {e} (--params NAME|FILE.json)", path.display()))
                .with_code(e.code())
        }
        Error::Wire(other) => of_file(path)(other.clone()),
        Error::Scheme(e) => refused_set(e.clone()),
        _ => CliError::usage(e),
    })
}

/// The bytes of a key of one of these kinds, and what its header says, once what an interrupted run
/// left beside it is taken care of. What is of another kind may be large: its header is enough to
/// refuse it.
fn read_key(
    path: &Path,
    kinds: &[ObjectKind],
) -> Result<(zeroize::Zeroizing<Vec<u8>>, wire::Summary), CliError> {
    KeyFiles::recover_beside(path).map_err(of_file(path))?;
    let check = |found: ObjectKind| match kinds.contains(&found) {
        true => Ok(()),
        false => Err(of_file(path)(WireError::WrongKind { expected: kinds[0], found })),
    };
    // A pipe has one beginning.
    if !is_standard(path) && path.is_file() {
        check(wire::inspect_file(path).map_err(of_file(path))?.kind)?;
    }
    let (bytes, summary) = read_object(path)?;
    check(summary.kind)?;
    Ok((bytes, summary))
}

/// Reads a secret key, and its parameter set.
pub fn secret_key(path: &Path, set: &SetOfFile, common: &Common) -> Result<SecretKey, CliError> {
    let (bytes, summary) = read_key(path, &[ObjectKind::SECRET_KEY])?;
    let params = set_of(path, summary.params, set, common)?;
    Ok(wire::secret_key::from_bytes(&params, &bytes, &set.options()).map_err(of_file(path))?.0)
}

/// Why the contents of a file are not decrypted, with its name where another file is what it takes.
pub fn of_decrypted(path: &Path) -> impl Fn(SchemeError) -> CliError + '_ {
    move |e| {
        let way = match &e {
            SchemeError::WrongKey { .. } | SchemeError::NotDecryptable => "",
            SchemeError::UnknownOwner { .. } => " (--bounds stated)",
            _ => return e.into(),
        };
        CliError::usage(format!("{}: {e}{way}", path.display())).with_code(e.code())
    }
}

/// An error with the file that it is about.
pub fn of_input(path: &Path) -> impl Fn(EvaluationError) -> CliError + '_ {
    move |e| match e {
        EvaluationError::Library(Error::Wire(e)) => of_file(path)(e),
        EvaluationError::Library(e) => {
            CliError::usage(format!("{}: {e}", path.display())).with_code(e.code())
        }
        e => CliError::usage(format!("{}: {e}", path.display())),
    }
}

/// A server on the keys of a file.
pub fn server(args: &ServerArgs, common: &Common) -> Result<Server, CliError> {
    Ok(Server::with_keys(keys(args, common)?)?)
}

/// The keys of a server.
pub fn keys(args: &ServerArgs, common: &Common) -> Result<FileKeys, CliError> {
    server_keys(&args.server_keys, args.memory, &args.set, common)
}

/// The keys of a file, with this memory for them.
pub fn server_keys(
    path: &Path,
    memory: KeyMemoryArg,
    set: &SetOfFile,
    common: &Common,
) -> Result<FileKeys, CliError> {
    KeyFiles::recover_beside(path).map_err(of_file(path))?;
    let id = FileKeys::params_id(path).map_err(of_file(path))?;
    let params = set_of(path, id, set, common)?;
    let options = set.options().with_seeded_keys(memory.seeded_keys);
    FileKeys::open_with(&params, path, memory.cache << 20, &options).map_err(of_file(path))
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
        let (bytes, summary) = read_key(path, &[ObjectKind::PUBLIC_KEY, ObjectKind::SECRET_KEY])?;
        let params = set_of(path, summary.params, set, common)?;
        match summary.kind {
            ObjectKind::PUBLIC_KEY => wire::public_key::from_bytes(&params, &bytes, &set.options())
                .map(|(key, _)| Self::Public(key)),
            _ => wire::secret_key::from_bytes(&params, &bytes, &set.options())
                .map(|(key, _)| Self::Secret(key)),
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

    /// Encrypts a plaintext.
    pub fn encrypt(
        &self,
        plain: &Plaintext,
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertext, SchemeError> {
        match self {
            Self::Public(key) => key.encrypt(plain, rng),
            Self::Secret(key) => key.encrypt(plain, rng),
        }
    }

    /// The same at a level.
    pub fn encrypt_at(
        &self,
        plain: &Plaintext,
        level: Level,
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertext, SchemeError> {
        match self {
            Self::Public(key) => key.encrypt_at(plain, level, rng),
            Self::Secret(key) => key.encrypt_at(plain, level, rng),
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
        Self::parse(path, &read_object(path)?, params, bounds, set)
    }

    /// The same of the bytes of a file.
    pub fn parse(
        path: &Path,
        (bytes, summary): &(zeroize::Zeroizing<Vec<u8>>, wire::Summary),
        params: &Params,
        bounds: &Bounds,
        set: &SetOfFile,
    ) -> Result<Self, CliError> {
        let options = set.options().believing(bounds.policy(&summary.metadata));
        let (ciphertexts, metadata) =
            wire::ciphertexts::from_bytes(params, bytes, &options).map_err(of_file(path))?;
        Ok(Column { ciphertexts, metadata })
    }

    /// What the ciphertexts hold together, if the file says it.
    pub fn array(&self, path: &Path, params: &Params) -> Result<Option<Array>, CliError> {
        Array::of(&self.metadata, params.slots(), self.ciphertexts.len()).map_err(of_file(path))
    }

    /// The ciphertexts with their ranges, to be computed on: integers, in one at least.
    pub fn values(self, path: &Path, params: &Params) -> Result<Vec<Value>, CliError> {
        let Column { ciphertexts, metadata } = self;
        ModularInputs::integers(params, ciphertexts, &metadata).map_err(of_input(path))
    }

    /// Writes ciphertexts and their metadata.
    pub fn write(
        out: &OutArg,
        params: &Params,
        ciphertexts: &[Ciphertext],
        metadata: &Metadata,
    ) -> Result<u64, CliError> {
        let mut writer = ResultWriter::default();
        let bytes = Self::add_to(&mut writer, &out.out, out.force, params, ciphertexts, metadata)?;
        writer.finish()?;
        Ok(bytes)
    }

    /// Writes them together with others.
    pub fn add_to<X: std::borrow::Borrow<Ciphertext> + Sync>(
        writer: &mut ResultWriter,
        out: &Path,
        force: bool,
        params: &Params,
        ciphertexts: &[X],
        metadata: &Metadata,
    ) -> Result<u64, CliError> {
        let bytes =
            wire::ciphertexts::to_bytes(params, ciphertexts, metadata).map_err(of_file(out))?;
        writer.add(out, &bytes, force)
    }
}

/// Metadata of a fresh column: its name, its type, the key.
pub fn fresh_metadata(column: &columns::Column, key: &EncryptionKey) -> Metadata {
    let mut out = key.metadata();
    out.extend(column.name.iter().map(|name| (NAME.into(), name.clone())));
    out.extend(column.kind.iter().map(|kind| (KIND.into(), kind.to_string())));
    out
}

/// States the range of the integers in each ciphertext.
pub fn state_range(out: &mut Metadata, ranges: &[Option<ValueRange>], params: &Params) {
    state_ranges(out, ranges);
    let signed = columns::stated(true, false, params.wide_modulus());
    let within = |range: &Option<ValueRange>| range.zip(signed).is_some_and(|(r, s)| s.holds(r));
    let negative = |range: &ValueRange| range.low() < 0;
    if ranges.iter().flatten().any(negative) && ranges.iter().all(within) {
        out.insert(SIGNED.into(), "true".into());
    }
}

/// The same metadata for the same values in other ciphertexts, which are not fresh ones.
pub fn kept_metadata(mut metadata: Metadata, array: Option<&Array>) -> Metadata {
    if let Some(array) = array {
        // That a fresh encryption has zeros after its values goes without saying.
        array.state(&mut metadata);
    }
    metadata.remove(ENCRYPTION);
    metadata
}
