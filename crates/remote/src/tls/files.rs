//! Certificates and private keys, as files in PEM.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use zeroize::Zeroizing;

use super::processor::provider;
use crate::error::RemoteError;

/// The most bytes of a file: all authorities of a system take a quarter.
const FILE_BYTES: u64 = 1 << 20;

pub(super) fn wrong(path: &Path, problem: impl ToString) -> RemoteError {
    RemoteError::Tls { place: path.display().to_string(), problem: problem.to_string() }
}

fn contents(path: &Path, secret: bool) -> Result<Zeroizing<Vec<u8>>, RemoteError> {
    let failed = |e: std::io::Error| wrong(path, format!("it cannot be read: {e}"));
    let file = File::open(path).map_err(failed)?;
    if secret && others_may_read(&file).map_err(failed)? {
        return Err(wrong(path, "other users of the machine can read this private key: chmod o="));
    }
    // Of the largest size at once, so that no copy is left behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(if secret { 64 << 10 } else { 0 }));
    file.take(FILE_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > FILE_BYTES {
        let told = format!("expected at most {FILE_BYTES} bytes: leave out what is not needed");
        return Err(wrong(path, told));
    }
    Ok(bytes)
}

#[cfg(unix)]
fn others_may_read(file: &File) -> std::io::Result<bool> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = file.metadata()?;
    Ok(metadata.is_file() && metadata.permissions().mode() & 0o007 != 0)
}

#[cfg(not(unix))]
fn others_may_read(_: &File) -> std::io::Result<bool> {
    Ok(false)
}

/// The certificates of a file, in their order; at least one.
pub fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, RemoteError> {
    let text = contents(path, false)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(wrong(path, "expected certificates in PEM, found none")),
        Err(_) => Err(wrong(path, "expected certificates in PEM, found others that are damaged")),
    }
}

/// The authorities of a file, each of which can be read.
///
/// # Errors
/// [`RemoteError::Tls`].
pub fn authorities(path: &Path) -> Result<RootCertStore, RemoteError> {
    let mut store = RootCertStore::empty();
    for certificate in certificates(path)? {
        store
            .add(certificate)
            .map_err(|e| wrong(path, format!("a certificate cannot be read: {e}")))?;
    }
    Ok(store)
}

/// A certificate with those between it and its authority, and its private key.
pub struct Identity {
    /// The certificate, and those between it and its authority.
    pub chain: Vec<CertificateDer<'static>>,
    /// Its private key.
    pub key: PrivateKeyDer<'static>,
    /// What the key was read from.
    pub(super) text: Zeroizing<Vec<u8>>,
}

impl Identity {
    /// Reads two files, which have to go together.
    ///
    /// # Errors
    /// [`RemoteError::Tls`] for files that cannot be read, are something else, or do not go
    /// together, and for a key that other users can read; as [`provider`].
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, RemoteError> {
        let chain = certificates(certificate)?;
        let text = contents(key, true)?;
        // What the parser says would show a part of a damaged key.
        let found = PrivateKeyDer::from_pem_slice(&text).map_err(|_| {
            wrong(key, "expected a private key in PEM without a passphrase, found none")
        })?;
        let pair = CertifiedKey::from_der(chain.clone(), found.clone_key(), &*provider()?);
        match pair {
            Ok(_) => Ok(Identity { chain, key: found, text }),
            Err(rustls::Error::InconsistentKeys(_)) => {
                Err(wrong(key, format!("it is not the key of {}", certificate.display())))
            }
            Err(rustls::Error::InvalidCertificate(e)) => {
                Err(wrong(certificate, format!("the certificate cannot be read: {e}")))
            }
            Err(_) => Err(wrong(
                key,
                "expected a key of RSA, of Ed25519, or of ECDSA on P-256 or P-384, found another",
            )),
        }
    }
}
