//! The routes about the service itself: parameter sets, the usage of a tenant, metrics.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use everlevel_remote::api::{Page, UsageInfo};

use super::extract::{App, By, Id, answer, blocking};
use crate::error::ServiceError;

pub(super) async fn usage(State(app): App, Extension(tenant): By) -> impl IntoResponse {
    answer(app, move |s| {
        let (used, quota) = (s.data.objects.store.usage(&tenant)?, s.config.quota);
        Ok(UsageInfo::new(
            (used.bytes, quota.bytes),
            (used.objects, quota.objects),
            (s.jobs.active(&tenant)?, quota.active_jobs),
        ))
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
    let text = blocking(app, |s| {
        let others = s.data.device.as_ref().map(|device| device.metrics()).unwrap_or_default();
        Ok(s.metrics.text(s.jobs.counts()?, s.data.keys.usage(), &others))
    })
    .await?;
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}
