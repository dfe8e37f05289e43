//! The files of one generation of keys, of which either all or none are written.

use std::fs;
use std::path::{Path, PathBuf};

use everlevel_bgv::{PublicKey, SecretKey};
use everlevel_circuit::bootstrap::BootstrapPlan;
use everlevel_scheme::{KeyPlan, SchemeError};
use everlevel_wire::file::{Existing, write_file, write_secret_file};
use everlevel_wire::{
    FileSet, Metadata, Recovered, WireError, public_key, secret_key, try_generate_to_file,
};
use rand_core::CryptoRng;

use crate::stated;
use crate::stored::PARAMS_FILE;

/// The name of their directory while they are generated: `.keys.0.part`.
const NAME: &str = "keys";
pub(crate) const SERVER_KEYS: &str = "server.keys";
const PUBLIC_KEY: &str = "public.key";
pub(crate) const SECRET_KEY: &str = "secret.key";

/// The files of one generation of keys.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct KeyFiles {
    /// The server keys.
    pub server: PathBuf,
    /// The public key.
    pub public: PathBuf,
    /// The parameters, as JSON.
    pub params: PathBuf,
    /// The secret key.
    pub secret: PathBuf,
    bootstrap: Option<BootstrapPlan>,
}

/// The files that were written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeysWritten {
    /// The paths of the files and their sizes in bytes.
    pub files: Vec<(PathBuf, u64)>,
    /// The files of an interrupted run that were completed or removed in the directory.
    pub recovered: Vec<Recovered>,
}

impl KeyFiles {
    /// The files under their usual names in a directory.
    pub fn in_directory(directory: &Path) -> Self {
        let at = |name: &str| directory.join(name);
        KeyFiles {
            server: at(SERVER_KEYS),
            public: at(PUBLIC_KEY),
            params: at(PARAMS_FILE),
            secret: at(SECRET_KEY),
            bootstrap: None,
        }
    }

    /// The same files; the server keys will state that a server with them bootstraps by this plan.
    #[must_use]
    #[cfg(feature = "unstable")]
    pub fn bootstrapping_by(self, plan: &BootstrapPlan) -> Self {
        KeyFiles { bootstrap: Some(plan.clone()), ..self }
    }

    fn all(&self) -> [&Path; 4] {
        [&self.server, &self.public, &self.params, &self.secret]
    }

    fn set(directory: &Path) -> FileSet {
        FileSet::new(directory, NAME, [SERVER_KEYS, PUBLIC_KEY, PARAMS_FILE, SECRET_KEY])
    }

    /// Generates the keys of a plan and writes all four files, in a directory that is created if
    /// necessary. Either all files get their names or none, whatever fails and whenever the process
    /// ends; remains of an earlier process are handled first, as by [`KeyFiles::recover`].
    /// `progress(done, total)` is called after each server key; an error that it returns ends the
    /// work.
    ///
    /// # Errors
    /// Existing files, unless they are to be replaced; something other than a file under one of the
    /// names; a plan that does not fit the set; errors of the file system; an error of `progress`.
    pub fn write<E: From<WireError> + From<SchemeError>>(
        &self,
        secret: &SecretKey,
        plan: &KeyPlan,
        existing: Existing,
        rng: &mut impl CryptoRng,
        progress: impl FnMut(usize, usize) -> Result<(), E>,
    ) -> Result<KeysWritten, E> {
        let directory = self.secret.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(directory).map_err(|e| refused(directory, &e))?;
        let recovered = Self::recover(directory)?;
        self.check_places(existing)?;
        let pending = Self::set(directory).begin()?;
        let made = Self::in_directory(pending.path());
        let (none, mut stated) = (Metadata::new(), Metadata::new());
        if let Some(bootstrap) = &self.bootstrap {
            stated::state(&mut stated, secret.params(), Some(bootstrap));
        }
        try_generate_to_file(&made.server, Existing::Keep, secret, plan, &stated, rng, progress)?;
        let public = PublicKey::generate(secret, rng);
        write_file(&made.public, &public_key::to_bytes(&public, &none)?, Existing::Keep)?;
        write_file(&made.params, spec_json(secret).as_bytes(), Existing::Keep)?;
        write_secret_file(
            &made.secret,
            &secret_key::expose_to_bytes(secret, &none)?,
            Existing::Keep,
        )?;
        // Somebody else may have made keys meanwhile.
        self.check_places(existing)?;
        pending.finish(existing)?;
        let size = |path: &Path| path.metadata().map_err(|e| refused(path, &e)).map(|m| m.len());
        let sized = |path: &Path| Ok((path.to_path_buf(), size(path)?));
        let files = self.all().into_iter().map(sized).collect::<Result<_, E>>()?;
        Ok(KeysWritten { files, recovered })
    }

    /// Cleans up a directory in which a process ended while it wrote keys: incomplete files are
    /// removed, and a replacement that had begun is finished, so that all files belong to one
    /// generation. Does nothing if no run was interrupted. Listeners
    /// ([`on_recovery`](everlevel_wire::on_recovery)) are notified of what was done.
    ///
    /// # Errors
    /// [`WireError::Interrupted`] if a replacement cannot be finished. Files that cannot be
    /// removed, as in a read-only directory, stay.
    pub fn recover(directory: &Path) -> Result<Vec<Recovered>, WireError> {
        Self::set(directory).recover()
    }

    /// [`KeyFiles::recover`] in the directory of a file, before it is opened.
    ///
    /// # Errors
    /// As [`KeyFiles::recover`].
    pub fn recover_beside(path: &Path) -> Result<Vec<Recovered>, WireError> {
        Self::recover(path.parent().unwrap_or(Path::new("")))
    }

    /// Checks that files can be written under all four names.
    fn check_places(&self, existing: Existing) -> Result<(), WireError> {
        for path in self.all() {
            let Ok(found) = path.symlink_metadata() else { continue };
            if existing == Existing::Keep {
                return Err(WireError::Exists { path: path.display().to_string() });
            }
            if found.is_dir() {
                let problem = "there is a directory in the place of a file: move it away".into();
                return Err(WireError::Io { path: path.display().to_string(), problem });
            }
        }
        Ok(())
    }
}

fn spec_json(secret: &SecretKey) -> String {
    let spec = serde_json::to_string_pretty(secret.params().spec());
    spec.expect("a specification has string keys and finite numbers only") + "\n"
}

fn refused(path: &Path, error: &std::io::Error) -> WireError {
    WireError::Io { path: path.display().to_string(), problem: error.to_string() }
}
