//! What is done for each route.

use std::fs::File;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequestParts, Path, Query, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use everlevel_remote::api::{JSON_BYTES, JobInfo, JobRequest, PART_BYTES, Page, UsageInfo};
use everlevel_remote::{IdempotencyKey, JobId, ObjectId, RemoteError, Tenant};
use futures_util::stream::{Stream, try_unfold};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::ServiceError;
use crate::service::Shared;
use crate::shares::Share;
use crate::store::LIST_BYTES;

pub(super) type App = State<Arc<Shared>>;
type Body = Result<Bytes, BytesRejection>;
type Answer<T> = Result<Json<T>, ServiceError>;
/// What was removed has no body.
type Removed = Result<(), ServiceError>;

/// How many bytes of a download are in memory.
const CHUNK_BYTES: u64 = 128 << 10;
/// The longest that a request waits for the end of a job, in seconds.
const LONGEST_WAIT: u64 = 30;
/// The least time between two looks of such a request.
const PACE: Duration = Duration::from_millis(20);

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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Part {
    /// The job before the first one; empty for the beginning.
    after: Option<String>,
    limit: Option<usize>,
}

/// The name in a path. What is no text names nothing.
pub(super) struct Id(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = ServiceError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ServiceError> {
        let found = Path::<String>::from_request_parts(parts, state).await;
        found.map(|Path(text)| Id(text)).map_err(|_| ServiceError::NotFound { what: "route" })
    }
}

/// A query, or what is wrong with it.
type Asked<T> = Result<Query<T>, axum::extract::rejection::QueryRejection>;

fn asked<T>(query: Asked<T>) -> Result<T, ServiceError> {
    query.map(|Query(query)| query).map_err(|e| ServiceError::malformed("the query", e.body_text()))
}

fn bytes(body: Body, limit: u64) -> Result<Bytes, ServiceError> {
    let too_large: ServiceError =
        RemoteError::TooLarge { what: "bytes of a request", limit }.into();
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
pub(super) fn name<T: std::str::FromStr>(
    text: &str,
    what: &'static str,
) -> Result<T, ServiceError> {
    text.parse().map_err(|_| ServiceError::NotFound { what })
}

/// Work on files and in transactions, beside the threads that answer requests. Messages do not tell
/// where the files are.
pub(super) async fn blocking<T: Send + 'static>(
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
    answer(app, move |s| Ok(Page::whole(s.data.objects.uploads(&tenant)?))).await
}

pub(super) async fn upload(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
    Id(id): Id,
) -> impl IntoResponse {
    let id = name(&id, "upload")?;
    answer(app, move |s| s.data.objects.upload(&tenant, &id)).await
}

pub(super) async fn append(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
    Id(id): Id,
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
    Id(id): Id,
) -> Removed {
    let id = name(&id, "upload")?;
    blocking(app, move |s| s.data.objects.abandon(&tenant, &id)).await
}

pub(super) async fn objects(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
) -> impl IntoResponse {
    answer(app, move |s| Ok(Page::whole(s.data.objects.list(&tenant)?))).await
}

pub(super) async fn object(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
    Id(id): Id,
) -> impl IntoResponse {
    let id = name(&id, "object")?;
    answer(app, move |s| s.data.objects.info(&tenant, &id)).await
}

pub(super) async fn content(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
    Id(id): Id,
    place: Asked<Place>,
) -> Result<Response, ServiceError> {
    let (id, Place { offset }) = (name(&id, "object")?, asked(place)?);
    let find = move |s: &Shared| s.data.objects.part_of(&tenant, &id, offset);
    let (file, length) = blocking(app.clone(), find).await?;
    app.metrics.sent(length);
    let head = [
        (header::CONTENT_TYPE, "application/octet-stream".to_string()),
        (header::CONTENT_LENGTH, length.to_string()),
    ];
    Ok((head, axum::body::Body::from_stream(chunks(file, length))).into_response())
}

/// So many bytes of a file, piece by piece, so that whoever reads slowly takes little memory.
fn chunks(file: File, length: u64) -> impl Stream<Item = std::io::Result<Bytes>> {
    try_unfold((file, length), |(mut file, left)| async move {
        if left == 0 {
            return Ok(None);
        }
        let read = move || {
            let mut chunk = vec![0; left.min(CHUNK_BYTES) as usize];
            file.read_exact(&mut chunk)?;
            Ok::<_, std::io::Error>((file, chunk))
        };
        let (file, chunk) = tokio::task::spawn_blocking(read).await??;
        let left = left - chunk.len() as u64;
        Ok(Some((Bytes::from(chunk), (file, left))))
    })
}

pub(super) async fn delete_object(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
    Id(id): Id,
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
    answer(app, move |s| Ok(Page::whole(s.data.tables.list(&tenant)?))).await
}

pub(super) async fn table(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
    Id(id): Id,
) -> impl IntoResponse {
    let id = name(&id, "table")?;
    answer(app, move |s| s.data.tables.info(&tenant, &id)).await
}

/// The schema of a table, as its owner has stated it: what queries are bound to.
pub(super) async fn table_schema(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
    Id(id): Id,
) -> Result<Response, ServiceError> {
    let id = name(&id, "table")?;
    let read = move |s: &Shared| Ok(s.data.tables.open(&tenant, &id, false)?.schema().to_json()?);
    let text = blocking(app, read).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}

pub(super) async fn delete_table(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
    Id(id): Id,
) -> Removed {
    let id = name(&id, "table")?;
    blocking(app, move |s| s.data.tables.delete(&tenant, &id)).await
}

/// The place of whoever estimates. There is one: it computes, and those who wait for it must not
/// take the threads that answer other requests.
async fn estimating(app: &Shared, tenant: &Tenant) -> Result<Share, ServiceError> {
    let place = app.estimating.take(tenant, 1).await;
    place.ok_or_else(|| ServiceError::internal("an estimate")(&"there is no place for it"))
}

pub(super) async fn estimate(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
    body: Body,
) -> impl IntoResponse {
    // The place is given back when the work has ended, even if nobody waits for it any more. A
    // request that is read takes many times the memory of its text: it waits as that.
    let place = estimating(&app, &tenant).await?;
    let request: JobRequest = json(body)?;
    answer(app, move |s| {
        let stop = s.patience();
        let estimate = s.estimates.install(|| s.data.estimate(&tenant, &request, &stop));
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
) -> Answer<JobInfo> {
    let key = headers.get("idempotency-key").map(|value| {
        let wrong = |e| RemoteError::malformed("the header Idempotency-Key", e);
        value.to_str().map_err(wrong)?.parse::<IdempotencyKey>()
    });
    let key = key.transpose().map_err(ServiceError::from)?;
    let asker = tenant.clone();
    let checked = blocking(app.clone(), move |s| {
        // It takes up to a hundred times the memory of its text: as many as there are threads.
        let request: JobRequest = json(body)?;
        // A repetition is answered even if what it was about is no longer there.
        if let Some(found) = s.jobs.repeated(&asker, &request, key.as_ref())? {
            return Ok((Some(found), false, request, key));
        }
        s.data.check(&asker, &request)?;
        let tight = s.data.is_tight(&asker, &request)?;
        Ok((None, tight, request, key))
    });
    let (found, tight, request, key) = checked.await?;
    if let Some(found) = found {
        return Ok(Json(found));
    }
    let place = match tight {
        true => Some(estimating(&app, &tenant).await?),
        false => None,
    };
    answer(app, move |s| {
        if place.is_some() {
            s.data.check_room(&tenant, &request, &s.estimates, &s.patience())?;
        }
        drop(place);
        s.jobs.add(&tenant, request, key)
    })
    .await
}

/// All jobs, or those after one; a list that is too long for one answer is given in parts alone.
pub(super) async fn jobs(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
    part: Asked<Part>,
) -> Answer<Page<JobInfo>> {
    let Part { after, limit } = asked(part)?;
    let whole = after.is_none() && limit.is_none();
    let after = after.filter(|text| !text.is_empty());
    let after = after.map(|text| text.parse::<JobId>()).transpose()?;
    let most = limit.map_or(usize::MAX, |limit| limit.max(1));
    let page = blocking(app, move |s| s.jobs.list(&tenant, after.as_ref(), most)).await?;
    if whole && page.next.is_some() {
        let what = "bytes of a list, which ?after= asks for in parts";
        return Err(RemoteError::TooLarge { what, limit: LIST_BYTES as u64 }.into());
    }
    Ok(Json(page))
}

/// A job, at once, or when it has ended if the request waits for that.
pub(super) async fn job(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
    Id(id): Id,
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
        // Every step of every job is a change: not each is a reason to look again.
        tokio::time::sleep(PACE).await;
    }
}

pub(super) async fn cancel(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
    Id(id): Id,
) -> impl IntoResponse {
    let id = name(&id, "job")?;
    answer(app, move |s| s.jobs.cancel(&tenant, &id)).await
}

pub(super) async fn delete_job(
    State(app): App,
    Extension(tenant): Extension<Tenant>,
    Id(id): Id,
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
            active_jobs: s.jobs.active(&tenant)?,
            most_active_jobs: quota.active_jobs,
        })
    })
    .await
}

pub(super) async fn all_params() -> impl IntoResponse {
    let items: Vec<&str> = everlevel_scheme::params::names().collect();
    Json(Page::whole(items))
}

pub(super) async fn params(Id(name): Id) -> impl IntoResponse {
    let not_found = |_| ServiceError::NotFound { what: "parameter set" };
    everlevel_scheme::params::spec(&name).map(Json).map_err(not_found)
}

pub(super) async fn metrics(State(app): App) -> Result<Response, ServiceError> {
    let text = blocking(app, |s| Ok(s.metrics.text(s.jobs.counts()?, s.data.keys.usage()))).await?;
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}
