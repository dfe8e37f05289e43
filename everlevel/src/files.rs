//! What the program's files are called and what their metadata mean, for whatever reads and writes
//! them beside it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use everlevel_bgv::{PublicKey, SecretKey};
use everlevel_scheme::{KeyPlan, OptIn, Params, SchemeError};
use everlevel_wire::file::write_secret_file;
use everlevel_wire::{WireError, public_key, secret_key, try_generate_to_file};
use rand_core::CryptoRng;

pub use everlevel_wire::file::{Existing, read_file, write_file};
pub use everlevel_wire::{
    BoundPolicy, Encryption, Manifest, ManifestKey, Metadata, ReadOptions, generate_to_file,
};

pub use crate::bytes::Bytes;
use crate::error::Error;
pub use crate::open::{OpenOptions, open_public_key};

/// Metadata of ciphertexts: how many values the column had that they come from.
pub const VALUES: &str = "values";
/// Metadata of ciphertexts: which key made them, `secret` or `public`; absent once something was
/// computed on them.
pub const ENCRYPTION: &str = "encryption";
/// The name of the parameters beside keys.
pub const PARAMS_FILE: &str = "params.json";

/// Which noise bounds of a file of ciphertexts are believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bounds {
    /// Fresh encryptions get the bound of one; what was computed on keeps the bound it states,
    /// within what its level allows.
    Stated,
    /// Everything must be a fresh encryption.
    Fresh,
    /// The largest bound that the level allows: enough to decrypt, not to compute.
    Untrusted,
    /// What a manifest lists; files that it does not list are refused.
    Manifest(Arc<Manifest>),
}

impl Bounds {
    /// The policy for a file with these metadata.
    pub fn policy(&self, metadata: &Metadata) -> BoundPolicy {
        let made_with = match metadata.get(ENCRYPTION).map(String::as_str) {
            Some("secret") => Some(Encryption::Secret),
            Some("public") => Some(Encryption::Public),
            _ => None,
        };
        match (self, made_with) {
            (Bounds::Untrusted, _) => BoundPolicy::Untrusted,
            (Bounds::Manifest(manifest), _) => BoundPolicy::Manifest(manifest.clone()),
            (Bounds::Stated, None) => BoundPolicy::Stated,
            (Bounds::Stated | Bounds::Fresh, encryption) => {
                BoundPolicy::Fresh(encryption.unwrap_or(Encryption::Public))
            }
        }
    }
}

/// The files of one generation of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFiles {
    /// The server keys.
    pub server: PathBuf,
    /// The public key.
    pub public: PathBuf,
    /// The parameters, as JSON.
    pub params: PathBuf,
    /// The secret key.
    pub secret: PathBuf,
}

impl KeyFiles {
    /// Their names in a directory.
    pub fn in_directory(directory: &Path) -> Self {
        let at = |name: &str| directory.join(name);
        KeyFiles {
            server: at("server.keys"),
            public: at("public.key"),
            params: at(PARAMS_FILE),
            secret: at("secret.key"),
        }
    }

    fn all(&self) -> [&Path; 4] {
        [&self.server, &self.public, &self.params, &self.secret]
    }

    /// Makes the keys of a plan and writes all four files, and returns what they are called and how
    /// many bytes they have. The directory is created. All files are made before the first one gets
    /// its name: keys of two generations never lie side by side after a failure. `progress(done,
    /// total)` is called after each server key; an error that it returns ends the work.
    ///
    /// # Errors
    /// Files that are there already, unless they are to be replaced; a plan that does not suit the
    /// set; what the system refuses; what `progress` returns.
    pub fn write<E: From<WireError> + From<SchemeError>>(
        &self,
        secret: &SecretKey,
        plan: &KeyPlan,
        existing: Existing,
        rng: &mut impl CryptoRng,
        progress: impl FnMut(usize, usize) -> Result<(), E>,
    ) -> Result<Vec<(PathBuf, u64)>, E> {
        let directory = self.secret.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(directory).map_err(|e| refused(directory, &e))?;
        for path in self.all() {
            if existing == Existing::Keep && path.symlink_metadata().is_ok() {
                return Err(WireError::Exists { path: path.display().to_string() }.into());
            }
        }
        let pending = Pending::create(directory)?;
        let made = Self::in_directory(&pending.0);
        let none = Metadata::new();
        try_generate_to_file(&made.server, Existing::Keep, secret, plan, &none, rng, progress)?;
        let public = PublicKey::generate(secret, rng);
        write_file(&made.public, &public_key::to_bytes(&public, &none)?, Existing::Keep)?;
        write_file(&made.params, spec_json(secret).as_bytes(), Existing::Keep)?;
        write_secret_file(
            &made.secret,
            &secret_key::expose_to_bytes(secret, &none)?,
            Existing::Keep,
        )?;
        let mut written = Vec::new();
        for (from, to) in made.all().into_iter().zip(self.all()) {
            std::fs::rename(from, to).map_err(|e| refused(to, &e))?;
            written.push((to.to_path_buf(), to.metadata().map_err(|e| refused(to, &e))?.len()));
        }
        Ok(written)
    }
}

fn spec_json(secret: &SecretKey) -> String {
    let spec = serde_json::to_string_pretty(secret.params().spec());
    spec.expect("a specification has string keys and finite numbers only") + "\n"
}

fn refused(path: &Path, error: &std::io::Error) -> WireError {
    WireError::Io { path: path.display().to_string(), problem: error.to_string() }
}

/// A directory for files under construction; removed with what is left in it.
struct Pending(PathBuf);

impl Pending {
    fn create(out: &Path) -> Result<Self, WireError> {
        let path = out.join(format!(".keys-{}.part", std::process::id()));
        std::fs::create_dir(&path).map_err(|e| refused(&path, &e))?;
        Ok(Pending(path))
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        // Nothing can be done if it stays.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A parameter set as bytes.
///
/// # Errors
/// None for a set that was validated.
pub fn params_to_bytes(params: &Params) -> Result<Vec<u8>, Error> {
    Ok(everlevel_wire::params::to_bytes(params, &Metadata::new())?)
}

/// A parameter set from bytes, validated.
///
/// # Errors
/// Bytes that are damaged or hold something else; a set that does not hold together, or one below
/// 128 bits without `opt_in`.
pub fn params_from_bytes(bytes: &[u8], opt_in: OptIn) -> Result<Params, Error> {
    Ok(everlevel_wire::params::from_bytes(bytes, opt_in, &ReadOptions::default())?.0)
}

/// A parameter file: JSON of a [`ParamsSpec`](everlevel_scheme::ParamsSpec). The specification is
/// not validated yet.
///
/// # Errors
/// Text that is no specification; an index outside of 4 to 2^20, above which tables would take more
/// memory than any set needs.
pub fn parse_spec(text: &str) -> Result<everlevel_scheme::ParamsSpec, Error> {
    const LARGEST_INDEX: u64 = 1 << 20;
    let wrong = |what, expected: String, found: String| {
        Error::from(WireError::Malformed { what, expected, found })
    };
    let spec: everlevel_scheme::ParamsSpec = serde_json::from_str(text).map_err(|e| {
        wrong(
            "parameters",
            "JSON as `everlevel params show bgv-65537-n15 --json` prints it".into(),
            e.to_string(),
        )
    })?;
    if !(4..=LARGEST_INDEX).contains(&spec.index) {
        return Err(wrong(
            "index of a parameter set",
            format!("4 to {LARGEST_INDEX}"),
            spec.index.to_string(),
        ));
    }
    Ok(spec)
}
