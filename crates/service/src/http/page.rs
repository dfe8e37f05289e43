//! The page over HTTP: it uses the routes as every client does.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};

use crate::error::ServiceError;
use crate::page::{INDEX, Page};
use crate::service::Shared;

/// The text that is shown if there is no page.
const NO_PAGE: &str = include_str!("no_page.html");

/// The content security policy: the page may load its own files and connect to its own service. So
/// plaintext data cannot be sent anywhere else, whatever code the page contains.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; worker-src 'self'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";
const HEADERS: [(&str, &str); 6] = [
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cache-control", "no-cache"),
];

fn protected(mut answer: Response) -> Response {
    for (name, value) in HEADERS {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

fn answer(page: &Page, name: &str, asked: &HeaderMap) -> Result<Response, ServiceError> {
    let file = page.file(name).ok_or(ServiceError::NotFound { what: "file of the page" })?;
    let known = asked.get(header::IF_NONE_MATCH).is_some_and(|hash| *hash == file.hash);
    let mut answer = match known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => ([(header::CONTENT_TYPE, file.kind)], file.bytes.clone()).into_response(),
    };
    let hash = HeaderValue::from_str(&file.hash);
    answer.headers_mut().extend(hash.ok().map(|hash| (header::ETAG, hash)));
    Ok(protected(answer))
}

pub(super) async fn index(
    State(app): State<Arc<Shared>>,
    asked: HeaderMap,
) -> Result<Response, ServiceError> {
    match app.page.is_empty() {
        true => Ok(protected(Html(NO_PAGE).into_response())),
        false => answer(&app.page, INDEX, &asked),
    }
}

pub(super) async fn file(
    State(app): State<Arc<Shared>>,
    Path(name): Path<String>,
    asked: HeaderMap,
) -> Result<Response, ServiceError> {
    answer(&app.page, &name, &asked)
}
