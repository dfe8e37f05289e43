//! An object store for the tests, at a loopback address: as much of the protocol of S3 as a service
//! speaks. Signatures are computed anew and compared; lists come in pages of three.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, Method, Response, Uri};
use graviola::hashing::hmac::Hmac;
use graviola::hashing::{Hash, Sha256};
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

pub const BUCKET: &str = "everlevel";
pub const KEY_ID: &str = "AKIATEST";
pub const SECRET: &str = "a-secret/of+tests";
pub const REGION: &str = "eu-test-1";
const PAGE: usize = 3;

#[derive(Default)]
struct Stored {
    objects: Mutex<BTreeMap<String, Vec<u8>>>,
    /// Parts of uploads that are not complete.
    uploads: Mutex<BTreeMap<String, BTreeMap<u32, Vec<u8>>>>,
    numbers: AtomicU64,
    away: AtomicBool,
}

pub struct ObjectStore {
    stored: Arc<Stored>,
    pub endpoint: String,
    _runtime: Runtime,
}

impl ObjectStore {
    pub fn start() -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"));
        let listener = listener.expect("a free port");
        let endpoint = format!("http://{}", listener.local_addr().expect("an address"));
        let stored = Arc::<Stored>::default();
        let router = Router::new().fallback(answer).layer(DefaultBodyLimit::disable());
        let router = router.with_state(stored.clone());
        runtime.spawn(accept(listener, TowerToHyperService::new(router)));
        ObjectStore { stored, endpoint, _runtime: runtime }
    }

    /// All names and bytes.
    pub fn objects(&self) -> MutexGuard<'_, BTreeMap<String, Vec<u8>>> {
        self.stored.objects.lock().expect("no thread panicked")
    }

    /// From now on every request fails, or none.
    pub fn is_away(&self, away: bool) {
        self.stored.away.store(away, Ordering::Relaxed);
    }

    /// How many uploads were begun and neither completed nor given up.
    pub fn incomplete(&self) -> usize {
        self.stored.uploads.lock().expect("no thread panicked").len()
    }
}

async fn accept(listener: TcpListener, service: TowerToHyperService<Router>) {
    while let Ok((stream, _)) = listener.accept().await {
        let connection = http1::Builder::new();
        let connection = connection.serve_connection(TokioIo::new(stream), service.clone());
        tokio::spawn(async move {
            let _ = connection.await;
        });
    }
}

type Answer = Response<Body>;

fn status(status: u16, body: impl Into<Body>) -> Answer {
    Response::builder().status(status).body(body.into()).expect("a response")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn hmac(key: &[u8], text: &str) -> Vec<u8> {
    let mut code = Hmac::<Sha256>::new(key);
    code.update(text.as_bytes());
    code.finish().as_ref().to_vec()
}

fn query(uri: &Uri) -> BTreeMap<String, String> {
    let pairs = uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}

/// Passes a request that is signed as AWS Signature Version 4 has it, with the hash of its body.
fn is_signed(method: &Method, uri: &Uri, headers: &HeaderMap, body: &[u8]) -> Option<()> {
    let header = |name: &str| headers.get(name)?.to_str().ok();
    let given = header("authorization")?.strip_prefix("AWS4-HMAC-SHA256 ")?;
    let fields: BTreeMap<&str, &str> =
        given.split(", ").filter_map(|field| field.split_once('=')).collect();
    let scope = fields.get("Credential")?.strip_prefix(&format!("{KEY_ID}/"))?;
    let (day, date) = (scope.split('/').next()?, header("x-amz-date")?);
    let names: Vec<&str> = fields.get("SignedHeaders")?.split(';').collect();
    let needed = ["host", "x-amz-content-sha256", "x-amz-date"];
    let whole = needed.iter().all(|name| names.contains(name)) && date.starts_with(day);
    let hash = header("x-amz-content-sha256")?;
    if !whole || scope != format!("{day}/{REGION}/s3/aws4_request") {
        return None;
    }
    if hash != hex(Sha256::hash(body).as_ref()) {
        return None;
    }
    let canonical: String = names
        .iter()
        .map(|name| Some(format!("{name}:{}\n", header(name)?.trim())))
        .collect::<Option<_>>()?;
    let pairs = query(uri).into_iter().map(|(name, value)| format!("{name}={value}"));
    let request = format!(
        "{method}\n{}\n{}\n{canonical}\n{}\n{hash}",
        uri.path(),
        pairs.collect::<Vec<_>>().join("&"),
        names.join(";")
    );
    let digest = hex(Sha256::hash(request.as_bytes()).as_ref());
    let mut key = format!("AWS4{SECRET}").into_bytes();
    for text in [day, REGION, "s3", "aws4_request"] {
        key = hmac(&key, text);
    }
    let signed = hmac(&key, &format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{digest}"));
    (*fields.get("Signature")? == hex(&signed)).then_some(())
}

async fn answer(
    State(stored): State<Arc<Stored>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Answer {
    if stored.away.load(Ordering::Relaxed) {
        return status(503, "");
    }
    if is_signed(&method, &uri, &headers, &body).is_none() {
        return status(403, "<Error><Code>SignatureDoesNotMatch</Code></Error>");
    }
    let Some(rest) = uri.path().strip_prefix(&format!("/{BUCKET}")) else {
        return status(404, "<Error><Code>NoSuchBucket</Code></Error>");
    };
    let (key, asked) = (rest.trim_start_matches('/').to_string(), query(&uri));
    let mut objects = stored.objects.lock().expect("no thread panicked");
    let mut uploads = stored.uploads.lock().expect("no thread panicked");
    match (method.as_str(), asked.get("uploadId")) {
        ("GET", _) if key.is_empty() => listed(&objects, &asked),
        ("POST", None) if asked.contains_key("uploads") => {
            let id = stored.numbers.fetch_add(1, Ordering::Relaxed).to_string();
            uploads.insert(id.clone(), BTreeMap::new());
            let text = format!(
                "<InitiateMultipartUploadResult><UploadId>{id}</UploadId>\
                 </InitiateMultipartUploadResult>"
            );
            status(200, text)
        }
        ("PUT", Some(id)) => {
            let number: u32 = asked["partNumber"].parse().expect("a number");
            let Some(upload) = uploads.get_mut(id) else { return status(404, "") };
            upload.insert(number, body.to_vec());
            let etag = format!("\"part-{number}\"");
            Response::builder().header("etag", etag).body(Body::empty()).expect("a response")
        }
        ("POST", Some(id)) => {
            let Some(upload) = uploads.remove(id) else { return status(404, "") };
            objects.insert(key, upload.into_values().flatten().collect());
            let text = "<CompleteMultipartUploadResult><ETag>\"whole\"</ETag>\
                        </CompleteMultipartUploadResult>";
            status(200, text)
        }
        ("DELETE", Some(id)) => {
            uploads.remove(id);
            status(204, "")
        }
        ("PUT", None) => {
            objects.insert(key, body.to_vec());
            Response::builder().header("etag", "\"whole\"").body(Body::empty()).expect("answer")
        }
        ("DELETE", None) => {
            objects.remove(&key);
            status(204, "")
        }
        ("GET" | "HEAD", None) => match objects.get(&key) {
            Some(bytes) => read(&method, &headers, bytes),
            None => status(404, "<Error><Code>NoSuchKey</Code></Error>"),
        },
        _ => status(400, ""),
    }
}

fn read(method: &Method, headers: &HeaderMap, bytes: &[u8]) -> Answer {
    let range = headers.get("range").and_then(|range| range.to_str().ok());
    let range = range.and_then(|range| range.strip_prefix("bytes=")?.split_once('-'));
    let answer = Response::builder()
        .header("etag", "\"whole\"")
        .header("last-modified", "Wed, 25 Nov 2026 12:00:00 GMT");
    let built = match range {
        Some((from, to)) => {
            let from: usize = from.parse().expect("a number");
            let to = to.parse::<usize>().expect("a number").min(bytes.len() - 1);
            let said = format!("bytes {from}-{to}/{}", bytes.len());
            let part = bytes[from..=to].to_vec();
            answer.status(206).header("content-range", said).body(part.into())
        }
        None if method == Method::HEAD => {
            answer.header("content-length", bytes.len()).body(Body::empty())
        }
        None => answer.body(bytes.to_vec().into()),
    };
    built.expect("a response")
}

fn listed(objects: &BTreeMap<String, Vec<u8>>, asked: &BTreeMap<String, String>) -> Answer {
    let text = |name: &str| asked.get(name).map(|text| text.replace("%2F", "/"));
    let (prefix, after) = (text("prefix").unwrap_or_default(), text("continuation-token"));
    let mut entries: BTreeMap<String, Option<usize>> = BTreeMap::new();
    for (key, bytes) in objects.iter().filter(|(key, _)| key.starts_with(&prefix)) {
        let slash = key[prefix.len()..].find('/').filter(|_| asked.contains_key("delimiter"));
        match slash {
            Some(at) => entries.insert(key[..prefix.len() + at + 1].into(), None),
            None => entries.insert(key.clone(), Some(bytes.len())),
        };
    }
    let left: Vec<_> = entries.into_iter().filter(|(key, _)| Some(key) > after.as_ref()).collect();
    let truncated = left.len() > PAGE;
    let mut found = format!("<ListBucketResult><IsTruncated>{truncated}</IsTruncated>");
    if truncated {
        let token = &left[PAGE - 1].0;
        found += &format!("<NextContinuationToken>{token}</NextContinuationToken>");
    }
    for (key, size) in left.iter().take(PAGE) {
        found += &match size {
            Some(size) => format!(
                "<Contents><Key>{key}</Key><LastModified>2026-11-25T12:00:00.000Z</LastModified>\
                 <ETag>\"whole\"</ETag><Size>{size}</Size></Contents>"
            ),
            None => format!("<CommonPrefixes><Prefix>{key}</Prefix></CommonPrefixes>"),
        };
    }
    status(200, found + "</ListBucketResult>")
}
