//! The files of results, and the manifest that lists them.

use std::path::Path;

use super::manifest::ManifestWriter;
use crate::console::errors::CliError;
use crate::console::files::{Outputs, of_file};

/// Writes the files of results, and the manifest that lists them if there is to be one: together,
/// so that none of them is replaced if another one cannot be written.
#[derive(Default)]
pub struct ResultWriter {
    files: Outputs,
    manifest: Option<ManifestWriter>,
}

impl ResultWriter {
    /// With a manifest, or without one.
    pub fn new(manifest: Option<ManifestWriter>) -> Self {
        ResultWriter { files: Outputs::default(), manifest }
    }

    /// Writes one more file, and returns its size.
    pub fn add(&mut self, out: &Path, bytes: &[u8], force: bool) -> Result<u64, CliError> {
        if let Some(manifest) = &mut self.manifest {
            manifest.list(bytes).map_err(of_file(out))?;
        }
        self.files.add(out, bytes, force)?;
        Ok(bytes.len() as u64)
    }

    /// Gives all files their names.
    pub fn finish(self) -> Result<(), CliError> {
        let ResultWriter { mut files, manifest } = self;
        if let Some(manifest) = manifest {
            manifest.write(&mut files)?;
        }
        files.finish()
    }
}
