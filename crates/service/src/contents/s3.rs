//! The protocol of S3, with the HTTP client and the cryptography that this crate uses anyway, which
//! are built without C.

use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use everlevel_remote::Exposure;
use everlevel_remote::tls::{hmac256, sha256};
use everlevel_remote::{Connecting, RemoteError};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::client::{
    CryptoProvider, DigestAlgorithm, DigestContext, HmacContext, HttpClient, HttpConnector,
    HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService, Signer, SigningAlgorithm,
};
use object_store::{BackoffConfig, ClientOptions, RetryConfig};
use ureq::Agent;
use ureq::http::{Method, Request, Response};
use zeroize::Zeroizing;

use crate::bucket::Bucket;
use crate::error::ServiceError;

/// The largest answer in bytes: a piece of an object, with a margin.
const ANSWER_BYTES: u64 = 64 << 20;
/// The time for which a request is retried.
const RETRY_TIME: Duration = Duration::from_secs(20);

/// A client for a bucket; nothing is sent yet.
pub(super) fn client(bucket: &Bucket) -> Result<AmazonS3, ServiceError> {
    let wrong = |e: &dyn fmt::Display| bucket.refused(e.to_string());
    // What signs requests needs the same instructions as TLS.
    sha256(b"")?;
    let exposure = match bucket.insecure_http {
        true => Exposure::Anywhere,
        false => Exposure::Loopback,
    };
    let authority = bucket.authority.clone();
    let connecting = Connecting::default().exposed(exposure).believing(authority);
    let agent = connecting.agent(&bucket.endpoint).map_err(|e| match e {
        RemoteError::Malformed { problem, .. } => {
            let way = "; or state insecure_http where nobody else listens on the way";
            bucket.refused(format!("the endpoint: {problem}{way}"))
        }
        e => e.into(),
    })?;
    let retry = RetryConfig {
        backoff: BackoffConfig::default(),
        max_retries: 5,
        retry_timeout: RETRY_TIME,
    };
    AmazonS3Builder::new()
        .with_endpoint(&bucket.endpoint)
        .with_allow_http(bucket.endpoint.starts_with("http:"))
        .with_bucket_name(&bucket.bucket)
        .with_region(&bucket.region)
        .with_access_key_id(&bucket.access_key_id)
        .with_secret_access_key(&*bucket.secret_access_key)
        .with_retry(retry)
        // Not every store has it, and there are few to remove at a time.
        .with_disable_bulk_delete(true)
        .with_crypto_provider(std::sync::Arc::new(Cryptography))
        .with_http_connector(Http(agent))
        .build()
        .map_err(|e| wrong(&e))
}

/// Requests through the HTTP client that the client of a service uses.
struct Http(Agent);

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Http(..)")
    }
}

impl HttpConnector for Http {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(Http(self.0.clone())))
    }
}

type Answer<'a> = Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'a>>;

impl HttpService for Http {
    fn call<'life0, 'async_trait>(&'life0 self, request: HttpRequest) -> Answer<'async_trait>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        let agent = self.0.clone();
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let body = axum::body::to_bytes(axum::body::Body::new(body), usize::MAX).await;
            let body = body.map_err(|e| HttpError::new(HttpErrorKind::Request, e))?;
            let answered = move || answered(&agent, Request::from_parts(head, body));
            let answered = tokio::task::spawn_blocking(answered).await;
            answered.map_err(|e| HttpError::new(HttpErrorKind::Unknown, e))?
        })
    }
}

/// Sends a request, and reads all of its answer.
fn answered(agent: &Agent, request: Request<axum::body::Bytes>) -> Result<HttpResponse, HttpError> {
    let (head, body) = request.into_parts();
    let has_none = [Method::GET, Method::HEAD, Method::DELETE].contains(&head.method);
    let sent = match has_none && body.is_empty() {
        true => agent.run(Request::from_parts(head, ())),
        false => agent.run(Request::from_parts(head, &body[..])),
    };
    let mut reply = sent.map_err(|e| HttpError::new(kind(&e), e))?;
    let read = reply.body_mut().with_config().limit(ANSWER_BYTES).read_to_vec();
    let read = read.map_err(|e| HttpError::new(HttpErrorKind::Interrupted, e))?;
    let (head, _) = reply.into_parts();
    Ok(Response::from_parts(head, read.into()))
}

/// Classifies errors by whether a retry may succeed.
fn kind(e: &ureq::Error) -> HttpErrorKind {
    match e {
        ureq::Error::Timeout(_) => HttpErrorKind::Timeout,
        ureq::Error::ConnectionFailed | ureq::Error::HostNotFound => HttpErrorKind::Connect,
        ureq::Error::Io(e) if e.kind() == std::io::ErrorKind::ConnectionRefused => {
            HttpErrorKind::Connect
        }
        ureq::Error::Io(_) => HttpErrorKind::Interrupted,
        _ => HttpErrorKind::Unknown,
    }
}

/// The hashes by which requests are signed.
#[derive(Debug)]
struct Cryptography;

fn none<T>(what: &str) -> object_store::Result<T> {
    Err(object_store::Error::NotSupported { source: what.into() })
}

impl CryptoProvider for Cryptography {
    fn digest(&self, algorithm: DigestAlgorithm) -> object_store::Result<Box<dyn DigestContext>> {
        match algorithm {
            DigestAlgorithm::Sha256 => Ok(Box::new(Hashed::default())),
            _ => none("another hash than SHA-256"),
        }
    }

    fn hmac(
        &self,
        algorithm: DigestAlgorithm,
        secret: &[u8],
    ) -> object_store::Result<Box<dyn HmacContext>> {
        match algorithm {
            DigestAlgorithm::Sha256 => {
                let key = Some(Zeroizing::new(secret.to_vec()));
                Ok(Box::new(Hashed { key, ..Hashed::default() }))
            }
            _ => none("another hash than SHA-256"),
        }
    }

    fn sign(&self, _: SigningAlgorithm, _: &[u8]) -> object_store::Result<Box<dyn Signer>> {
        none("signatures with a private key")
    }
}

/// Collects the bytes and hashes them at the end; they are in memory anyway, at most a piece of an
/// object.
#[derive(Default)]
struct Hashed {
    /// The key; `None` for a hash without one.
    key: Option<Zeroizing<Vec<u8>>>,
    bytes: Vec<u8>,
    found: Vec<u8>,
}

impl Hashed {
    fn found(&mut self) -> object_store::Result<&[u8]> {
        let found = match &self.key {
            Some(key) => hmac256(key, &self.bytes),
            None => sha256(&self.bytes),
        };
        self.found = found.or_else(|e| none(&e.to_string()))?;
        Ok(&self.found)
    }
}

impl DigestContext for Hashed {
    fn update(&mut self, data: &[u8]) {
        self.bytes.extend_from_slice(data);
    }

    fn finish(&mut self) -> object_store::Result<&[u8]> {
        self.found()
    }
}

impl HmacContext for Hashed {
    fn update(&mut self, data: &[u8]) {
        self.bytes.extend_from_slice(data);
    }

    fn finish(&mut self) -> object_store::Result<&[u8]> {
        self.found()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// RFC 4231, cases 1 and 6; FIPS 180-2.
    #[test]
    fn hashes_are_those_of_the_standards() {
        for (key, data, expected) in [
            (
                vec![0x0b; 20],
                "Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            ),
            (
                vec![0xaa; 131],
                "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            ),
        ] {
            let mut code = Cryptography.hmac(DigestAlgorithm::Sha256, &key).unwrap();
            let (first, rest) = data.split_at(3);
            code.update(first.as_bytes());
            code.update(rest.as_bytes());
            assert_eq!(hex(code.finish().unwrap()), expected);
        }
        let mut digest = Cryptography.digest(DigestAlgorithm::Sha256).unwrap();
        digest.update(b"a");
        digest.update(b"bc");
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hex(digest.finish().unwrap()), expected);
    }
}
