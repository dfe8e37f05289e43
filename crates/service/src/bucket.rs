//! The object store of a service that consists of several processes without a shared directory.

use std::fmt;
use std::path::{Path, PathBuf};

use everlevel_wire::file::read_file;
use serde::Deserialize;
use zeroize::Zeroizing;

use crate::error::ServiceError;

/// The largest file that describes a bucket, in bytes.
const TEXT_BYTES: u64 = 16 << 10;
/// The default limit for copies, in GiB.
const CACHE_GIB: u64 = 32;

/// A bucket of an object store with the protocol of S3, which stores the bytes of several
/// processes.
#[derive(Clone)]
#[cfg_attr(not(feature = "cluster"), expect(dead_code, reason = "nothing opens it"))]
pub struct Bucket {
    pub(crate) path: PathBuf,
    pub(crate) endpoint: String,
    pub(crate) bucket: String,
    pub(crate) prefix: String,
    pub(crate) region: String,
    pub(crate) access_key_id: String,
    pub(crate) secret_access_key: Zeroizing<String>,
    pub(crate) authority: Option<PathBuf>,
    pub(crate) insecure_http: bool,
    pub(crate) cache_bytes: u64,
}

/// The file that describes a bucket.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Described {
    endpoint: String,
    bucket: String,
    #[serde(default)]
    prefix: String,
    #[serde(default = "anywhere")]
    region: String,
    access_key_id: String,
    secret_access_key: String,
    authority: Option<PathBuf>,
    #[serde(default)]
    insecure_http: bool,
    #[serde(default = "cache_gib")]
    cache_gib: u64,
}

/// The region that most stores other than Amazon's expect.
fn anywhere() -> String {
    "us-east-1".into()
}

fn cache_gib() -> u64 {
    CACHE_GIB
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bucket(..)")
    }
}

impl Bucket {
    /// The bucket that a JSON file describes, with `endpoint` (`https://HOST`), `bucket`,
    /// `access_key_id` and `secret_access_key`, and if needed `prefix`, `region`, `authority` (a
    /// PEM file with the certificate authority of the endpoint), `insecure_http` (true for an
    /// endpoint on another machine without TLS) and `cache_gib` (the limit for copies on the disk
    /// of this machine, except for those in use). A service connects when it starts.
    ///
    /// # Errors
    /// A file that cannot be read or holds something else.
    pub fn from_file(path: &Path) -> Result<Self, ServiceError> {
        let bytes = Zeroizing::new(read_file(path, TEXT_BYTES)?);
        let refused = |problem: String| ServiceError::State {
            path: path.display().to_string(),
            problem: format!(
                "expected JSON with endpoint, bucket, access_key_id and secret_access_key, found \
                 {problem}"
            ),
        };
        // The parser's message may quote a part of a secret.
        let found: Described = serde_json::from_slice(&bytes).map_err(|e| {
            refused(format!("something else at line {}, column {}", e.line(), e.column()))
        })?;
        let plain = |text: &str| {
            let word = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
            text.split('/').all(|part| !["", ".", ".."].contains(&part) && part.bytes().all(word))
        };
        let prefix = found.prefix.trim_matches('/').to_string();
        if !plain(&found.bucket) || !(prefix.is_empty() || plain(&prefix)) {
            return Err(refused("a name that is none".into()));
        }
        Ok(Bucket {
            path: path.into(),
            endpoint: found.endpoint.trim_end_matches('/').into(),
            bucket: found.bucket,
            prefix,
            region: found.region,
            access_key_id: found.access_key_id,
            secret_access_key: Zeroizing::new(found.secret_access_key),
            authority: found.authority,
            insecure_http: found.insecure_http,
            cache_bytes: found.cache_gib.saturating_mul(1 << 30),
        })
    }

    /// The error for a bucket that cannot be used.
    #[cfg(feature = "cluster")]
    pub(crate) fn refused(&self, problem: String) -> ServiceError {
        ServiceError::State { path: self.path.display().to_string(), problem }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_describe_no_bucket() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("bucket.json");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Bucket::from_file(&path)
        };
        let text = r#"{"endpoint": "https://s3.example.org/", "bucket": "b", "prefix": "/a/b/",
            "access_key_id": "id", "secret_access_key": "do-not-tell"}"#;
        let found = read(text).unwrap();
        assert_eq!((&*found.endpoint, &*found.prefix), ("https://s3.example.org", "a/b"));
        assert_eq!((found.cache_bytes, format!("{found:?}")), (32 << 30, "Bucket(..)".into()));
        for (what, instead) in [
            ("\"b\"", "\"../b\""),
            ("\"b\"", "\"\""),
            ("/a/b/", "a//b"),
            ("/a/b/", "a/../b"),
            ("\"do-not-tell\"", "7"),
            ("prefix", "other"),
            ("}", ""),
            ("}", &" ".repeat(20_000)),
        ] {
            let refused = read(&text.replace(what, instead)).unwrap_err();
            let shown = format!("{refused} {refused:?}");
            assert!(!shown.contains("do-not-tell"), "{shown}");
        }
        assert!(Bucket::from_file(&directory.path().join("none")).is_err());
    }
}
