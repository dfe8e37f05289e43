//! The cryptography of TLS. It is built without C, and needs certain instructions of the processor.

use std::sync::Arc;

use rustls::crypto::CryptoProvider;

use crate::error::RemoteError;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod algorithms {
    use graviola::hashing::{Hash, Sha256};
    use graviola::signing::ecdsa::{P256, SigningKey};
    use rustls::crypto::CryptoProvider;

    pub fn provider() -> Option<CryptoProvider> {
        // Without these instructions it would end the process.
        graviola::util::is_cpu_supported().then(rustls_graviola::default_provider)
    }

    pub fn new_key(room: &mut [u8]) -> Option<&[u8]> {
        SigningKey::<P256>::generate().ok()?.to_pkcs8_der(room).ok()
    }

    pub fn sha256(bytes: &[u8]) -> Vec<u8> {
        Sha256::hash(bytes).as_ref().to_vec()
    }

    pub fn hmac256(key: &[u8], bytes: &[u8]) -> Vec<u8> {
        let mut code = graviola::hashing::hmac::Hmac::<Sha256>::new(key);
        code.update(bytes);
        code.finish().as_ref().to_vec()
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod algorithms {
    use rustls::crypto::CryptoProvider;

    pub fn provider() -> Option<CryptoProvider> {
        None
    }

    pub fn new_key(_: &mut [u8]) -> Option<&[u8]> {
        None
    }

    pub fn sha256(_: &[u8]) -> Vec<u8> {
        Vec::new()
    }

    pub fn hmac256(_: &[u8], _: &[u8]) -> Vec<u8> {
        Vec::new()
    }
}

/// The algorithms of this machine.
///
/// # Errors
/// A processor without the instructions that they take.
pub fn provider() -> Result<Arc<CryptoProvider>, RemoteError> {
    algorithms::provider().map(Arc::new).ok_or(RemoteError::NoTls)
}

/// A new private key of ECDSA on the curve P-256, in PKCS #8, written into `room`.
///
/// # Errors
/// As [`provider`]; a system without randomness.
pub fn new_key(room: &mut [u8; 256]) -> Result<&[u8], RemoteError> {
    provider()?;
    algorithms::new_key(room).ok_or_else(|| RemoteError::Tls {
        place: "a new private key".into(),
        problem: "the system has no randomness".into(),
    })
}

/// The SHA-256 of bytes.
///
/// # Errors
/// As [`provider`].
pub fn sha256(bytes: &[u8]) -> Result<Vec<u8>, RemoteError> {
    provider()?;
    Ok(algorithms::sha256(bytes))
}

/// The HMAC-SHA-256 of bytes.
///
/// # Errors
/// As [`provider`].
pub fn hmac256(key: &[u8], bytes: &[u8]) -> Result<Vec<u8>, RemoteError> {
    provider()?;
    Ok(algorithms::hmac256(key, bytes))
}
