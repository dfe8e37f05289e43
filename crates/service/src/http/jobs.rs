//! The routes of estimates and jobs.

use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::IntoResponse;
use axum::{Extension, Json};
use everlevel_remote::api::{JobInfo, JobRequest, Page};
use everlevel_remote::{IdempotencyKey, JobId, RemoteError, Tenant};
use serde::Deserialize;

use super::extract::{
    Answer, App, Asked, Body, By, Id, Removed, answer, asked, blocking, json, name,
};
use crate::error::ServiceError;
use crate::service::Shared;
use crate::shares::Share;
use crate::store::LIST_BYTES;

/// The longest that a request waits for the end of a job, in seconds.
const LONGEST_WAIT: u64 = 30;
/// The least time between two reads of the job for such a request.
const PACE: Duration = Duration::from_millis(20);

/// The query `wait`: for how many seconds a request waits for the end of a job.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wait {
    #[serde(default)]
    wait: u64,
}

/// The query of a list of jobs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Part {
    /// The job before the first one; empty for the beginning.
    after: Option<String>,
    limit: Option<usize>,
}

/// Waits for the one place for estimates. Estimates compute, and requests that wait for the place
/// must not occupy the threads that answer other requests.
async fn estimating(app: &Shared, tenant: &Tenant) -> Result<Share, ServiceError> {
    let place = app.estimating.take(tenant, 1).await;
    place.ok_or_else(|| ServiceError::internal("an estimate")(&"there is no place for it"))
}

pub(super) async fn estimate(
    State(app): App,
    Extension(tenant): By,
    body: Body,
) -> impl IntoResponse {
    // The place is given back when the work has ended, even if the client has gone. A parsed
    // request takes many times the memory of its text, so it waits as text.
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

pub(super) async fn add(
    State(app): App,
    Extension(tenant): By,
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
        // A parsed request takes up to a hundred times the memory of its text: at most as many are
        // parsed at a time as there are threads for this.
        let request: JobRequest = json(body)?;
        // A repetition is answered even if what the job needed has been deleted.
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
pub(super) async fn list(
    State(app): App,
    Extension(tenant): By,
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

/// The state of a job, at once, or when it has ended if the request waits for that.
pub(super) async fn info(
    State(app): App,
    Extension(tenant): By,
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
        // Every step of every job is a change; the job is not read again for each of them.
        tokio::time::sleep(PACE).await;
    }
}

pub(super) async fn cancel(
    State(app): App,
    Extension(tenant): By,
    Id(id): Id,
) -> impl IntoResponse {
    let id = name(&id, "job")?;
    answer(app, move |s| s.jobs.cancel(&tenant, &id)).await
}

pub(super) async fn delete(State(app): App, Extension(tenant): By, Id(id): Id) -> Removed {
    let id = name(&id, "job")?;
    blocking(app, move |s| s.jobs.delete(&tenant, &id)).await
}
