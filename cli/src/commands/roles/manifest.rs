//! Manifests of noise bounds: their key, reading those of others, and writing new ones.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use everlevel::Params;
use everlevel::files;
use everlevel_circuit::expression::Program;
use everlevel_wire::file::{read_file, write_secret_file};
use everlevel_wire::{Manifest, ManifestKey, ReadOptions, WireError};

use super::args::{
    Bounds, BoundsArg, EvalArgs, ManifestKeyArg, ManifestsArg, OutArg, WriteManifestArg,
};
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{Outputs, check_apart, check_file, existing, of_file, of_output};
use crate::console::output::{emit, emit_json};

/// The largest manifest, in bytes.
const MAX_BYTES: u64 = 1 << 27;

/// Runs `keys manifest-key`.
pub fn make_key(out: &OutArg, common: &Common) -> Result<(), CliError> {
    let path = &out.out;
    check_file(path, out.force)?;
    let key = ManifestKey::generate(&mut everlevel::system_rng().map_err(CliError::failure)?);
    write_secret_file(path, key.expose_bytes(), existing(out.force)).map_err(of_output(path))?;
    if common.json {
        return emit_json(&serde_json::json!({ "out": path.display().to_string() }));
    }
    emit(&format!(
        "{}: its holders are trusted on noise bounds; share it only with parties whose \
         computations you trust",
        path.display()
    ))
}

impl ManifestKeyArg {
    fn read(&self) -> Result<ManifestKey, CliError> {
        let missing = || {
            CliError::usage(
                "expected --manifest-key KEYFILE: `everlevel keys manifest-key` makes one",
            )
        };
        let path = self.manifest_key.as_ref().ok_or_else(missing)?;
        // Whatever else the file may be, its length tells.
        let bytes = read_file(path, 1 << 10).map_err(of_file(path))?;
        ManifestKey::from_bytes(&bytes).map_err(of_file(path))
    }
}

impl BoundsArg {
    /// What is trusted.
    pub fn believed(&self) -> Result<files::Bounds, CliError> {
        self.manifests.read(self.bounds)
    }
}

impl ManifestsArg {
    /// The files that are read.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.manifests.iter().chain(&self.key.manifest_key)
    }

    /// What is trusted, if anything is asked for.
    pub fn believed(&self, bounds: Option<Bounds>) -> Result<Option<files::Bounds>, CliError> {
        match bounds {
            None if self.manifests.is_empty() => Ok(None),
            None => Err(unused()),
            Some(bounds) => self.read(bounds).map(Some),
        }
    }

    fn read(&self, bounds: Bounds) -> Result<files::Bounds, CliError> {
        match bounds {
            Bounds::Manifest => self.merged(),
            // What is not used must not look as if it were.
            _ if !self.manifests.is_empty() => Err(unused()),
            Bounds::Stated => Ok(files::Bounds::Stated),
            Bounds::Fresh => Ok(files::Bounds::Fresh),
            Bounds::Untrusted => Ok(files::Bounds::Untrusted),
        }
    }

    /// All manifests as one.
    fn merged(&self) -> Result<files::Bounds, CliError> {
        let Some((first, others)) = self.manifests.split_first() else {
            return Err(CliError::usage(
                "--bounds manifest: expected --manifest FILE, which --write-manifest writes",
            ));
        };
        let key = self.key.read()?;
        let read = |path: &Path| {
            let bytes = read_file(path, MAX_BYTES).map_err(of_file(path))?;
            Manifest::from_bytes(&bytes, &key, &ReadOptions::default()).map_err(of_file(path))
        };
        let mut manifest = read(first)?;
        for path in others {
            manifest.merge(&read(path)?).map_err(of_file(path))?;
        }
        Ok(files::Bounds::Manifest(Arc::new(manifest)))
    }
}

fn unused() -> CliError {
    CliError::usage(
        "--manifest: expected --bounds manifest with it, as nothing else reads a manifest",
    )
}

/// Where a file is or will be, by whatever name: what is not there yet has a directory that is.
fn place(path: &Path) -> PathBuf {
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new(".")).canonicalize();
    let found = directory.ok().zip(path.file_name());
    found.map_or_else(|| path.to_path_buf(), |(directory, name)| directory.join(name))
}

/// A manifest of what a command writes.
pub struct ManifestWriter {
    manifest: Manifest,
    key: ManifestKey,
    path: PathBuf,
    force: bool,
}

impl ManifestWriter {
    /// Begins one if it is asked for: reads the key and refuses a file that is there, or that is
    /// one of the `others` that the command reads or writes, before any work.
    pub fn begin(
        out: &WriteManifestArg,
        key: &ManifestKeyArg,
        params: &Params,
        force: bool,
        others: &[&Path],
    ) -> Result<Option<Self>, CliError> {
        let Some(path) = &out.write_manifest else { return Ok(None) };
        check_file(path, force)?;
        check_apart(path, others.iter().copied().chain(key.manifest_key.as_deref()))?;
        let here = place(path);
        if others.iter().any(|other| place(other) == here) {
            let told = format!("--write-manifest: {} is another output", path.display());
            return Err(CliError::usage(told));
        }
        Ok(Some(ManifestWriter {
            manifest: Manifest::new(params),
            key: key.read()?,
            path: path.clone(),
            force,
        }))
    }

    /// Lists a file of ciphertexts with the bounds that this program computed.
    pub fn list(&mut self, object: &[u8]) -> Result<(), WireError> {
        self.manifest.add(object)
    }

    /// Writes the manifest, as one of the files of the command.
    pub fn write(self, files: &mut Outputs) -> Result<(), CliError> {
        let bytes = self.manifest.to_bytes(&self.key).map_err(of_file(&self.path))?;
        files.add(&self.path, &bytes, self.force)
    }
}

/// The files that `eval` reads beside its keys: an argument with a name before it, and whatever has
/// an equals sign in its own name, too.
pub(super) fn files_read(args: &EvalArgs) -> Vec<&Path> {
    fn named(text: &String) -> [Option<&Path>; 2] {
        let file = text.split_once('=').map(|(_, file)| Path::new(file));
        [Some(Path::new(text)), file]
    }
    let manifests = &args.server.bounds.manifests;
    let named = args.inputs.iter().chain(&args.tables).flat_map(named).flatten();
    let manifests = manifests.manifests.iter().chain(&manifests.key.manifest_key);
    named.chain(manifests.map(PathBuf::as_path)).collect()
}

/// The manifest of the results, if there is to be one.
pub(super) fn of_results(
    args: &EvalArgs,
    program: &Program,
    params: &Params,
) -> Result<Option<ManifestWriter>, CliError> {
    let out = |name: &str| args.out.join(format!("{name}.ct"));
    let outputs: Vec<PathBuf> = program.outputs().map(out).collect();
    let files: Vec<&Path> =
        files_read(args).into_iter().chain(outputs.iter().map(PathBuf::as_path)).collect();
    let key = &args.server.bounds.manifests.key;
    ManifestWriter::begin(&args.manifest, key, params, args.force, &files)
}
