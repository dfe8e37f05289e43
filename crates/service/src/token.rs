//! Tokens, the credentials of tenants, stored as hashes with one file each.
//!
//! A token has 256 random bits, so that a single hash without salt is sufficient: exhaustive search
//! is infeasible, and no two tokens are equal. The file of a token is found by the hash and exists
//! as long as the token is valid, whether the service runs or not.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use everlevel_remote::{Tenant, Token};
use everlevel_wire::file::{Existing, read_file, write_secret_file};
use serde::{Deserialize, Serialize};

use crate::error::ServiceError;
use crate::files::private_directory;

const FILE_BYTES: u64 = 4096;
/// The number of digits of the hash that identify a token for administrators.
const SHOWN: usize = 16;

/// A scope: the requests that a token allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// To list and fetch the objects and jobs of the tenant.
    Read,
    /// To send and to delete.
    Write,
    /// To estimate, start and cancel jobs.
    Run,
    /// To read counts over all tenants.
    Metrics,
}

impl Scope {
    /// The name of the scope.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Read => "read",
            Scope::Write => "write",
            Scope::Run => "run",
            Scope::Metrics => "metrics",
        }
    }
}

impl FromStr for Scope {
    type Err = ServiceError;

    fn from_str(text: &str) -> Result<Self, ServiceError> {
        let all = [Scope::Read, Scope::Write, Scope::Run, Scope::Metrics];
        all.into_iter().find(|scope| scope.name() == text).ok_or_else(|| {
            ServiceError::malformed(
                "a scope",
                format!("expected read, write, run or metrics, found {text:?}"),
            )
        })
    }
}

/// The permissions of the bearer of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// The tenant whose objects and jobs it grants access to.
    pub tenant: Tenant,
    /// The allowed scopes.
    pub scopes: Vec<Scope>,
}

/// The tokens in the directory of a service.
#[derive(Clone)]
pub struct Tokens {
    directory: PathBuf,
}

fn hash(text: &str) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("everlevel 2026 token of the service");
    hasher.update(text.as_bytes());
    hasher.finalize().to_hex().to_string()
}

impl Tokens {
    /// The tokens of the service in a directory.
    pub fn in_directory(directory: &Path) -> Self {
        Tokens { directory: directory.join("tokens") }
    }

    fn path(&self, hash: &str) -> PathBuf {
        self.directory.join(format!("{hash}.json"))
    }

    /// Generates a random token.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn add(&self, grant: &Grant) -> Result<Token, ServiceError> {
        let failed = ServiceError::internal("storing a token");
        private_directory(&self.directory).map_err(|e| {
            let problem = format!("the directory of tokens cannot be made: {e}: give another one");
            ServiceError::State { path: self.directory.display().to_string(), problem }
        })?;
        let token = Token::random()?;
        let text = serde_json::to_string(grant).map_err(|e| failed(&e))?;
        write_secret_file(&self.path(&hash(token.reveal())), text.as_bytes(), Existing::Keep)?;
        Ok(token)
    }

    /// All valid tokens, by the first digits of their hashes.
    ///
    /// # Errors
    /// Errors of the file system, and files that are not tokens.
    pub fn list(&self) -> Result<Vec<(String, Grant)>, ServiceError> {
        let failed = ServiceError::internal("reading the tokens");
        if !self.directory.exists() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.directory).map_err(|e| failed(&e))? {
            let path = entry.map_err(|e| failed(&e))?.path();
            let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            if name.len() == 64 && name.bytes().all(|b| b.is_ascii_hexdigit()) {
                let text = read_file(&path, FILE_BYTES)?;
                let grant = serde_json::from_slice(&text).map_err(|e| {
                    let problem = format!("expected what a token allows, found {e}: remove it");
                    ServiceError::State { path: path.display().to_string(), problem }
                })?;
                found.push((name[..SHOWN].to_string(), grant));
            }
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(found)
    }

    /// Revokes a token, by the first digits of its hash as in [`Tokens::list`]. From then on every
    /// request with it is refused.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub fn revoke(&self, shown: &str) -> Result<(), ServiceError> {
        let failed = ServiceError::internal("removing a token");
        let not_found = ServiceError::NotFound { what: "token" };
        if shown.len() != SHOWN
            || !shown.bytes().all(|b| b.is_ascii_hexdigit())
            || !self.directory.exists()
        {
            return Err(not_found);
        }
        for entry in fs::read_dir(&self.directory).map_err(|e| failed(&e))? {
            let entry = entry.map_err(|e| failed(&e))?;
            if entry.file_name().to_string_lossy().starts_with(shown) {
                return fs::remove_file(entry.path()).map_err(|e| failed(&e));
            }
        }
        Err(not_found)
    }

    /// The permissions of the bearer of this text; none if it is not a valid token.
    pub(crate) fn find(&self, text: &str) -> Option<Grant> {
        // The file is looked up by the hash: whoever measures the time learns nothing of a token.
        let stored = read_file(&self.path(&hash(text)), FILE_BYTES).ok()?;
        serde_json::from_slice(&stored).ok()
    }
}
