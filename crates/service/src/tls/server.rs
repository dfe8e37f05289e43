//! The server side of TLS: the certificate of the service, and those of its clients if it requires
//! them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use everlevel_remote::RemoteError;
use everlevel_remote::tls::{Identity, authorities, provider};
use rustls::ServerConfig;
use rustls::server::WebPkiClientVerifier;
use rustls::version::TLS13;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::error::ServiceError;

/// The time between two checks of the files.
const RENEWAL_TIME: Duration = Duration::from_secs(60);
/// The time that the peer of a failed handshake has to read the reason.
const PARTING_TIME: Duration = Duration::from_secs(1);
/// The largest number of bytes that are read from the peer in that time.
const PARTING_BYTES: u64 = 64 << 10;

/// The files of a service that uses TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// Its certificate in PEM, followed by the intermediate certificates.
    pub certificate: PathBuf,
    /// The private key of the certificate in PEM, which other users cannot read.
    pub key: PathBuf,
    /// Authorities in PEM; every client needs a certificate of one of them. Without authorities
    /// clients need none. A token is needed in any case.
    pub client_authority: Option<PathBuf>,
    /// The time between two checks of the files; new files apply to later connections.
    pub renewal: Duration,
}

/// The time of the last change and the length of each file; `None` for a missing file.
type Stamps = [Option<(SystemTime, u64)>; 3];

impl TlsFiles {
    /// The files of a certificate and its private key, which are checked every minute; clients need
    /// no certificate.
    pub fn new(certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        let (certificate, key) = (certificate.into(), key.into());
        TlsFiles { certificate, key, client_authority: None, renewal: RENEWAL_TIME }
    }

    fn stamps(&self) -> Stamps {
        let stamp = |path: &Path| {
            let metadata = path.metadata().ok()?;
            Some((metadata.modified().ok()?, metadata.len()))
        };
        let authority = self.client_authority.as_deref().and_then(stamp);
        [stamp(&self.certificate), stamp(&self.key), authority]
    }

    fn read(&self) -> Result<ServerConfig, ServiceError> {
        let provider = provider()?;
        let failed = |e: &dyn std::fmt::Display| RemoteError::Tls {
            place: self.certificate.display().to_string(),
            problem: e.to_string(),
        };
        let own = Identity::read(&self.certificate, &self.key)?;
        let config = ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&[&TLS13])
            .map_err(|e| failed(&e))?;
        let config = match &self.client_authority {
            None => config.with_no_client_auth(),
            Some(path) => {
                let known = Arc::new(authorities(path)?);
                let verifier = WebPkiClientVerifier::builder_with_provider(known, provider);
                config.with_client_cert_verifier(verifier.build().map_err(|e| failed(&e))?)
            }
        };
        let mut config = config.with_single_cert(own.chain, own.key).map_err(|e| failed(&e))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }
}

/// The TLS configuration for handshakes, until the files change.
pub struct ServerTls {
    files: TlsFiles,
    current: RwLock<(Arc<ServerConfig>, Stamps)>,
}

impl ServerTls {
    /// Reads the files.
    ///
    /// # Errors
    /// A processor that does not support the cryptography; files that cannot be used.
    pub fn open(files: &TlsFiles) -> Result<Self, ServiceError> {
        // Before they are read, so that a change meanwhile is one.
        let stamps = files.stamps();
        let current = RwLock::new((Arc::new(files.read()?), stamps));
        Ok(ServerTls { files: files.clone(), current })
    }

    /// Waits until it is time to check the files.
    pub async fn aged(&self) {
        tokio::time::sleep(self.files.renewal).await;
    }

    /// Reads the files again if they have changed, and returns whether they have. Files that cannot
    /// be used change nothing.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn renew(&self) -> Result<bool, ServiceError> {
        let stamps = self.files.stamps();
        if self.current.read().unwrap_or_else(PoisonError::into_inner).1 == stamps {
            return Ok(false);
        }
        let found = (Arc::new(self.files.read()?), stamps);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = found;
        Ok(true)
    }

    /// A connection after its handshake; `None` if this fails or takes longer.
    pub async fn greeted(&self, stream: TcpStream, most: Duration) -> Option<TlsStream<TcpStream>> {
        let config = self.current.read().unwrap_or_else(PoisonError::into_inner).0.clone();
        let accepting = TlsAcceptor::from(config).accept(stream).into_fallible();
        match timeout(most, accepting).await.ok()? {
            Ok(stream) => Some(stream),
            Err((e, stream)) => {
                tracing::debug!(error = %e, "a handshake failed");
                let _ = timeout(PARTING_TIME, parted(stream)).await;
                None
            }
        }
    }
}

/// Ends a connection such that the peer can read the reason: unread data at the end would make it
/// lose the reason.
async fn parted(mut stream: TcpStream) {
    if stream.shutdown().await.is_ok() {
        let mut rest = stream.take(PARTING_BYTES);
        let _ = tokio::io::copy(&mut rest, &mut tokio::io::sink()).await;
    }
}
