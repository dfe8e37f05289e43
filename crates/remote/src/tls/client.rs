//! The client's side: which services it believes, and how it shows who it is.

use std::path::{Path, PathBuf};

use rustls::{AlertDescription, RootCertStore};
use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig};

use super::files::{Identity, authorities, certificates, wrong};
use super::processor::provider;
use crate::error::RemoteError;

/// Certificates of authorities, all of which are believed.
fn roots(authority: Option<&Path>) -> Result<RootCerts, RemoteError> {
    let found = match authority {
        Some(path) => {
            // Each has to be one: the client would pass over others.
            authorities(path)?;
            certificates(path)?
        }
        None => {
            let found = rustls_native_certs::load_native_certs().certs;
            let (usable, _) = RootCertStore::empty().add_parsable_certificates(found.clone());
            if usable == 0 {
                return Err(RemoteError::Tls {
                    place: "the certificates of the system".into(),
                    problem: "there are none: name a file with the authority of the service".into(),
                });
            }
            found
        }
    };
    Ok(found.iter().map(|found| Certificate::from_der(found).to_owned()).into())
}

fn shown(certificate: &Path, key: &Path) -> Result<ClientCert, RemoteError> {
    let own = Identity::read(certificate, key)?;
    let chain = own.chain.iter().map(|found| Certificate::from_der(found).to_owned());
    let secret = PrivateKey::from_pem(&own.text)
        .map_err(|_| wrong(key, "the private key cannot be read"))?;
    Ok(ClientCert::new_with_certs(&chain.collect::<Vec<_>>(), secret))
}

/// How a client makes connections: it believes the authorities of a file, or those of the system,
/// and shows its own certificate if it has one.
///
/// # Errors
/// A processor without the cryptography; files that cannot be used; a system without authorities.
pub fn configured(
    authority: Option<&Path>,
    own: Option<&(PathBuf, PathBuf)>,
) -> Result<TlsConfig, RemoteError> {
    let own = own.map(|(certificate, key)| shown(certificate, key)).transpose()?;
    Ok(TlsConfig::builder()
        .unversioned_rustls_crypto_provider(provider()?)
        .root_certs(roots(authority)?)
        .client_cert(own)
        .build())
}

/// What TLS has refused, which would be the same if it were tried again; none for another error.
pub fn unproved(e: &ureq::Error) -> Option<RemoteError> {
    let refused = match e {
        ureq::Error::Rustls(refused) => refused,
        ureq::Error::Io(e) => e.get_ref()?.downcast_ref::<rustls::Error>()?,
        _ => return None,
    };
    Some(match refused {
        rustls::Error::InvalidCertificate(e) => RemoteError::Certificate {
            problem: format!(
                "expected a certificate for the address of the service, from an authority that is \
                 trusted, found another ({e}): check the address, and name the file of the \
                 service's authority if it has one of its own"
            ),
        },
        rustls::Error::AlertReceived(
            AlertDescription::CertificateRequired
            | AlertDescription::BadCertificate
            | AlertDescription::UnknownCA
            | AlertDescription::DecryptError
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::AccessDenied,
        ) => RemoteError::Certificate {
            problem: format!(
                "the service expects a certificate of its clients, and found none that it accepts \
                 ({refused}): ask its operator for one"
            ),
        },
        rustls::Error::InvalidMessage(_) => RemoteError::Unreachable {
            problem: "it does not answer by TLS: one without a certificate has an address with \
                      http://"
                .into(),
        },
        refused => RemoteError::Unreachable { problem: format!("TLS: {refused}") },
    })
}
