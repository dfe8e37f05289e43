//! What all handlers share: the parts of a request that they read, and the threads on which they
//! work.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, QueryRejection};
use axum::extract::{FromRequestParts, Path, Query, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::{Extension, Json};
use everlevel_remote::api::JSON_BYTES;
use everlevel_remote::{RemoteError, Tenant};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::ServiceError;
use crate::service::Shared;

pub(super) type App = State<Arc<Shared>>;
/// The tenant whose token the request has.
pub(super) type By = Extension<Tenant>;
pub(super) type Body = Result<Bytes, BytesRejection>;
pub(super) type Answer<T> = Result<Json<T>, ServiceError>;
/// The answer to a removal, which has no body.
pub(super) type Removed = Result<(), ServiceError>;

/// The name in a path, as text. A path that is not UTF-8 has no route.
pub(super) struct Id(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = ServiceError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ServiceError> {
        let found = Path::<String>::from_request_parts(parts, state).await;
        found.map(|Path(text)| Id(text)).map_err(|_| ServiceError::NotFound { what: "route" })
    }
}

/// The query of a request, or what is wrong with it.
pub(super) type Asked<T> = Result<Query<T>, QueryRejection>;

/// The query, if nothing is wrong with it.
pub(super) fn asked<T>(query: Asked<T>) -> Result<T, ServiceError> {
    query.map(|Query(query)| query).map_err(|e| ServiceError::malformed("the query", e.body_text()))
}

/// The body of a request, of at most `limit` bytes.
pub(super) fn bytes(body: Body, limit: u64) -> Result<Bytes, ServiceError> {
    let too_large: ServiceError =
        RemoteError::TooLarge { what: "bytes of a request", limit }.into();
    match body {
        Ok(bytes) if bytes.len() as u64 <= limit => Ok(bytes),
        Ok(_) => Err(too_large),
        Err(e) if e.status() == StatusCode::PAYLOAD_TOO_LARGE => Err(too_large),
        Err(e) => Err(ServiceError::malformed("the request", e.body_text())),
    }
}

/// The body of a request as a message of the protocol.
pub(super) fn json<T: DeserializeOwned>(body: Body) -> Result<T, ServiceError> {
    let bytes = bytes(body, JSON_BYTES as u64)?;
    serde_json::from_slice(&bytes).map_err(|e| ServiceError::malformed("the request", e))
}

/// The name in a path, parsed. Nothing exists under a text that is no name.
pub(super) fn name<T: std::str::FromStr>(
    text: &str,
    what: &'static str,
) -> Result<T, ServiceError> {
    text.parse().map_err(|_| ServiceError::NotFound { what })
}

/// Works on files and in transactions, on other threads than those that answer requests. Errors do
/// not tell where the files are.
pub(super) async fn blocking<T: Send + 'static>(
    shared: Arc<Shared>,
    work: impl FnOnce(&Shared) -> Result<T, ServiceError> + Send + 'static,
) -> Result<T, ServiceError> {
    let done = tokio::task::spawn_blocking(move || work(&shared).map_err(|e| shared.concealed(e)));
    done.await.map_err(|e| ServiceError::internal("a request")(&e))?
}

/// Works like [`blocking`], and answers with the result as a message of the protocol.
pub(super) async fn answer<T: Serialize + Send + 'static>(
    shared: Arc<Shared>,
    work: impl FnOnce(&Shared) -> Result<T, ServiceError> + Send + 'static,
) -> Answer<T> {
    blocking(shared, work).await.map(Json)
}
