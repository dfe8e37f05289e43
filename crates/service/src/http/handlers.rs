//! What is done for each route.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::api::{JSON_BYTES, JobInfo, JobRequest, PART_BYTES, Page, UsageInfo};
use crate::error::ServiceError;
use crate::name::{IdempotencyKey, JobId, ObjectId, Tenant};
use crate::service::Shared;

pub(super) type App = State<Arc<Shared>>;
type Body = Result<Bytes, BytesRejection>;
type Answer<T> = Result<Json<T>, ServiceError>;
/// What was removed has no body.
type Removed = Result<(), ServiceError>;

/// The longest that a request waits for the end of a job, in seconds.
const LONGEST_WAIT: u64 = 30;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Place {
    #[serde(default)]
    offset: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wait {
    #[serde(default)]
    wait: u64,
}

/// A query, or what is wrong with it.
type Asked<T> = Result<Query<T>, axum::extract::rejection::QueryRejection>;

fn asked<T>(query: Asked<T>) -> Result<T, ServiceError> {
    query.map(|Query(query)| query).map_err(|e| ServiceError::malformed("the query", e.body_text()))
}

fn bytes(body: Body, limit: u64) -> Result<Bytes, ServiceError> {
    let too_large = ServiceError::TooLarge { what: "bytes of a request", limit };
    match body {
        Ok(bytes) if bytes.len() as u64 <= limit => Ok(bytes),
        Ok(_) => Err(too_large),
        Err(e) if e.status() == axum::http::StatusCode::PAYLOAD_TOO_LARGE => Err(too_large),
        Err(e) => Err(ServiceError::malformed("the request", e.body_text())),
    }
}

fn json<T: DeserializeOwned>(body: Body) -> Result<T, ServiceError> {
    let bytes = bytes(body, JSON_BYTES as u64)?;
    serde_json::from_slice(&bytes).map_err(|e| ServiceError::malformed("the request", e))
}

/// The name in a path. What is no name is not there.
fn name<T: std::str::FromStr>(text: &str, what: &'static str) -> Result<T, ServiceError> {
    text.parse().map_err(|_| ServiceError::NotFound { what })
}

/// Work on files and in transactions, beside the threads that answer requests. Messages do not tell
/// where the files are.
async fn blocking<T: Send + 'static>(
    shared: Arc<Shared>,
    work: impl FnOnce(&Shared) -> Result<T, ServiceError> + Send + 'static,
) -> Result<T, ServiceError> {
    let done = tokio::task::spawn_blocking(move || work(&shared).map_err(|e| shared.concealed(e)));
    done.await.map_err(|e| ServiceError::internal("a request")(&e))?
}

async fn answer<T: Serialize + Send + 'static>(
    shared: Arc<Shared>,
    work: impl FnOnce(&Shared) -> Result<T, ServiceError> + Send + 'static,
) -> Answer<T> {
    blocking(shared, work).await.map(Json)
}

pub(super) async fn begin_upload(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
    body: Body,
) -> impl IntoResponse {
    let new = json(body)?;
    answer(app, move |s| s.data.objects.begin(&tenant, &new)).await
}

pub(super) async fn uploads(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
) -> impl IntoResponse {
    answer(app, move |s| Ok(Page { items: s.data.objects.uploads(&tenant)? })).await
}

pub(super) async fn upload(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
    Path(id): Path<String>,
) -> impl IntoResponse {
    let id = name(&id, "upload")?;
    answer(app, move |s| s.data.objects.upload(&tenant, &id)).await
}

pub(super) async fn append(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
    Path(id): Path<String>,
    place: Asked<Place>,
    body: Body,
) -> impl IntoResponse {
    let (id, Place { offset }) = (name::<ObjectId>(&id, "upload")?, asked(place)?);
    let bytes = bytes(body, PART_BYTES)?;
    app.metrics.received(bytes.len());
    answer(app, move |s| s.data.objects.append(&tenant, &id, offset, &bytes)).await
}

pub(super) async fn abandon(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
    Path(id): Path<String>,
) -> Removed {
    let id = name(&id, "upload")?;
    blocking(app, move |s| s.data.objects.abandon(&tenant, &id)).await
}

pub(super) async fn objects(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
) -> impl IntoResponse {
    answer(app, move |s| Ok(Page { items: s.data.objects.list(&tenant)? })).await
}

pub(super) async fn object(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
    Path(id): Path<String>,
) -> impl IntoResponse {
    let id = name(&id, "object")?;
    answer(app, move |s| s.data.objects.info(&tenant, &id)).await
}

pub(super) async fn content(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
    Path(id): Path<String>,
    place: Asked<Place>,
) -> Result<Response, ServiceError> {
    let (id, Place { offset }) = (name(&id, "object")?, asked(place)?);
    let read = move |s: &Shared| s.data.objects.read_part(&tenant, &id, offset);
    let part = blocking(app.clone(), read).await?;
    app.metrics.sent(part.len());
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], part).into_response())
}

pub(super) async fn delete_object(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
    Path(id): Path<String>,
) -> Removed {
    let id = name(&id, "object")?;
    blocking(app, move |s| {
        s.data.objects.delete(&tenant, &id)?;
        s.data.keys.forget(&tenant, &id);
        Ok(())
    })
    .await
}

pub(super) async fn add_table(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
    body: Body,
) -> impl IntoResponse {
    let new = json(body)?;
    answer(app, move |s| s.data.tables.add(&tenant, &new)).await
}

pub(super) async fn tables(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
) -> impl IntoResponse {
    answer(app, move |s| Ok(Page { items: s.data.tables.list(&tenant)? })).await
}

pub(super) async fn table(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
    Path(id): Path<String>,
) -> impl IntoResponse {
    let id = name(&id, "table")?;
    answer(app, move |s| s.data.tables.info(&tenant, &id)).await
}

pub(super) async fn delete_table(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
    Path(id): Path<String>,
) -> Removed {
    let id = name(&id, "table")?;
    blocking(app, move |s| s.data.tables.delete(&tenant, &id)).await
}

pub(super) async fn estimate(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
    body: Body,
) -> impl IntoResponse {
    let request: JobRequest = json(body)?;
    // One after the other: they compute. The place is given back when the work has ended, even if
    // nobody waits for it any more.
    let place = app.estimating.clone().acquire_owned().await;
    let place = place.map_err(|e| ServiceError::internal("an estimate")(&e))?;
    answer(app, move |s| {
        let estimate = s.estimates.install(|| s.data.estimate(&tenant, &request));
        drop(place);
        estimate
    })
    .await
}

pub(super) async fn add_job(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
    headers: HeaderMap,
    body: Body,
) -> impl IntoResponse {
    let key = headers.get("idempotency-key").map(|value| {
        let wrong = |e| ServiceError::malformed("the header Idempotency-Key", e);
        value.to_str().map_err(wrong)?.parse::<IdempotencyKey>()
    });
    let (key, request): (_, JobRequest) = (key.transpose()?, json(body)?);
    answer(app, move |s| {
        // A repetition is answered even if what it was about is no longer there.
        if let Some(found) = s.jobs.repeated(&tenant, &request, key.as_ref())? {
            return Ok(found);
        }
        s.data.check(&tenant, &request)?;
        s.jobs.add(&tenant, request, key)
    })
    .await
}

pub(super) async fn jobs(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
) -> impl IntoResponse {
    answer(app, move |s| Ok(Page { items: s.jobs.list(&tenant)? })).await
}

/// A job, at once, or when it has ended if the request waits for that.
pub(super) async fn job(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
    Path(id): Path<String>,
    wait: Asked<Wait>,
) -> Answer<JobInfo> {
    let (id, Wait { wait }) = (name::<JobId>(&id, "job")?, asked(wait)?);
    let end = tokio::time::Instant::now() + Duration::from_secs(wait.min(LONGEST_WAIT));
    let mut changes = app.jobs.changes();
    loop {
        let (tenant, id) = (tenant.clone(), id.clone());
        let info = blocking(app.clone(), move |s| s.jobs.info(&tenant, &id)).await?;
        if info.state.is_final() || tokio::time::timeout_at(end, changes.changed()).await.is_err() {
            return Ok(Json(info));
        }
    }
}

pub(super) async fn cancel(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
    Path(id): Path<String>,
) -> impl IntoResponse {
    let id = name(&id, "job")?;
    answer(app, move |s| s.jobs.cancel(&tenant, &id)).await
}

pub(super) async fn delete_job(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
    Path(id): Path<String>,
) -> Removed {
    let id = name(&id, "job")?;
    blocking(app, move |s| s.jobs.delete(&tenant, &id)).await
}

pub(super) async fn usage(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
) -> impl IntoResponse {
    answer(app, move |s| {
        let (used, quota) = (s.data.objects.store.usage(&tenant)?, s.config.quota);
        Ok(UsageInfo {
            bytes: used.bytes,
            most_bytes: quota.bytes,
            objects: used.objects,
            most_objects: quota.objects,
            active_jobs: s.jobs.active(&tenant),
            most_active_jobs: quota.active_jobs,
        })
    })
    .await
}

pub(super) async fn all_params() -> impl IntoResponse {
    let items: Vec<&str> = everlevel_scheme::params::names().collect();
    Json(Page { items })
}

pub(super) async fn params(Path(name): Path<String>) -> impl IntoResponse {
    let not_found = |_| ServiceError::NotFound { what: "parameter set" };
    everlevel_scheme::params::spec(&name).map(Json).map_err(not_found)
}

pub(super) async fn metrics(State(app): App) -> impl IntoResponse {
    let text = app.metrics.text(&app.jobs.counts(), app.data.keys.usage());
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text)
}
