//! A certificate that is issued at once, by an authority that issues no other.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use everlevel_remote::tls::{new_key, provider, sha256};
use pem::{EncodeConfig, LineEnding, Pem};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyIdMethod, KeyUsagePurpose, PublicKeyData, SanType, SerialNumber, SignatureAlgorithm,
    SigningKey,
};
use rustls::SignatureScheme;
use rustls::pki_types::PrivatePkcs8KeyDer;
use zeroize::Zeroizing;

use crate::error::ServiceError;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// The number of days for which it is valid.
const DAYS: u32 = 365;
/// The number of bytes of a point of the curve P-256, with which the encoding of a public key ends.
const POINT_BYTES: usize = 65;

/// A certificate of a service or of a client, its private key, and the authority that issued it,
/// for a demonstration. The key of the authority is discarded, so that trust in the authority is
/// trust in this one certificate.
pub struct Issued {
    /// The certificate of the authority, in PEM.
    pub authority: String,
    /// The certificate, in PEM.
    pub certificate: String,
    /// Its private key, in PEM.
    pub key: Zeroizing<String>,
    /// The SHA-256 of the certificate, as browsers show it.
    pub fingerprint: String,
}

impl fmt::Debug for Issued {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Issued({})", self.fingerprint)
    }
}

impl Issued {
    /// Issues a certificate for a machine with these names and addresses.
    ///
    /// # Errors
    /// A processor that does not support the cryptography; an invalid name; a system without
    /// randomness.
    pub fn for_names(names: &[&str], addresses: &[IpAddr]) -> Result<Self, ServiceError> {
        let (issuing, own) = (Key::new()?, Key::new()?);
        let named = |name: &&str| Ok(SanType::DnsName((*name).try_into().map_err(failed)?));
        let mut known: Vec<SanType> =
            names.iter().map(named).collect::<Result<_, ServiceError>>()?;
        known.extend(addresses.iter().map(|address| SanType::IpAddress(*address)));
        let mut authority = params("everlevel: the authority of one certificate", &issuing)?;
        authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let mut leaf = params("everlevel", &own)?;
        leaf.subject_alt_names = known;
        leaf.is_ca = IsCa::ExplicitNoCa;
        leaf.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        leaf.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        leaf.use_authority_key_identifier_extension = true;
        let believed = authority.self_signed(&issuing).map_err(failed)?;
        let issued =
            leaf.signed_by(&own, &Issuer::from_params(&authority, &issuing)).map_err(failed)?;
        let hash = sha256(issued.der())?;
        let pairs: Vec<String> = hash.iter().map(|byte| format!("{byte:02X}")).collect();
        Ok(Issued {
            authority: written("CERTIFICATE", believed.der()),
            certificate: written("CERTIFICATE", issued.der()),
            key: Zeroizing::new(written("PRIVATE KEY", &own.secret)),
            fingerprint: pairs.join(":"),
        })
    }
}

/// In PEM.
fn written(label: &str, bytes: &[u8]) -> String {
    let lines = EncodeConfig::new().set_line_ending(LineEnding::LF);
    pem::encode_config(&Pem::new(label, bytes), lines)
}

fn failed(e: impl fmt::Display) -> ServiceError {
    ServiceError::internal("issuing a certificate")(&e)
}

/// The parameters of both certificates.
fn params(name: &str, key: &Key) -> Result<CertificateParams, ServiceError> {
    let mut params = CertificateParams::default();
    let mut subject = DistinguishedName::new();
    subject.push(DnType::CommonName, name);
    params.distinguished_name = subject;
    let now = SystemTime::now();
    // Clocks differ.
    params.not_before = (now - DAY).into();
    params.not_after = (now + DAY * DAYS).into();
    // Each key is drawn for one certificate, so that its hash is a number and a name for both.
    let hash = sha256(key.der_bytes())?;
    params.serial_number = Some(SerialNumber::from_slice(&hash[..16]));
    params.key_identifier_method = KeyIdMethod::PreSpecified(hash[..20].to_vec());
    Ok(params)
}

/// A private key of ECDSA on the curve P-256.
struct Key {
    secret: Zeroizing<Vec<u8>>,
    public: Vec<u8>,
    signing: Arc<dyn rustls::sign::SigningKey>,
}

impl Key {
    fn new() -> Result<Self, ServiceError> {
        let mut room = Zeroizing::new([0; 256]);
        let secret = Zeroizing::new(new_key(&mut room)?.to_vec());
        let encoded = PrivatePkcs8KeyDer::from(secret.to_vec()).into();
        let signing = provider()?.key_provider.load_private_key(encoded).map_err(failed)?;
        let public = signing.public_key().ok_or_else(|| failed("the key has no public part"))?;
        Ok(Key { secret, public: public.to_vec(), signing })
    }
}

impl PublicKeyData for Key {
    fn der_bytes(&self) -> &[u8] {
        &self.public[self.public.len().saturating_sub(POINT_BYTES)..]
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &rcgen::PKCS_ECDSA_P256_SHA256
    }
}

impl SigningKey for Key {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        let signer = self.signing.choose_scheme(&[SignatureScheme::ECDSA_NISTP256_SHA256]);
        let signed = signer.and_then(|signer| signer.sign(message).ok());
        signed.ok_or(rcgen::Error::RemoteKeyError)
    }
}

#[cfg(test)]
mod tests {
    use super::Issued;

    #[test]
    fn its_key_is_not_shown() {
        let issued = match Issued::for_names(&["localhost"], &[[127, 0, 0, 1].into()]) {
            // The processor lacks instructions that TLS needs.
            Err(e) if e.code() == "service.no-tls" => return,
            issued => issued.unwrap(),
        };
        let secret = issued.key.lines().nth(1).unwrap();
        assert!(!format!("{issued:?}").contains(secret));
        assert!(issued.key.starts_with("-----BEGIN PRIVATE KEY-----\n"));
        assert_eq!(issued.fingerprint.len(), 32 * 3 - 1);
        // A name that is none.
        assert!(Issued::for_names(&["caf\u{e9}"], &[]).is_err());
    }
}
