//! The routes of encrypted tables.

use axum::Extension;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use everlevel_remote::api::Page;

use super::extract::{App, Body, By, Id, Removed, answer, blocking, json, name};
use crate::error::ServiceError;
use crate::service::Shared;

pub(super) async fn add(State(app): App, Extension(tenant): By, body: Body) -> impl IntoResponse {
    let new = json(body)?;
    answer(app, move |s| s.data.tables.add(&tenant, &new)).await
}

pub(super) async fn list(State(app): App, Extension(tenant): By) -> impl IntoResponse {
    answer(app, move |s| Ok(Page::whole(s.data.tables.list(&tenant)?))).await
}

pub(super) async fn info(State(app): App, Extension(tenant): By, Id(id): Id) -> impl IntoResponse {
    let id = name(&id, "table")?;
    answer(app, move |s| s.data.tables.info(&tenant, &id)).await
}

/// The schema of a table, as its owner has stated it. Queries are bound to it.
pub(super) async fn schema(
    State(app): App,
    Extension(tenant): By,
    Id(id): Id,
) -> Result<Response, ServiceError> {
    let id = name(&id, "table")?;
    let read = move |s: &Shared| Ok(s.data.tables.open(&tenant, &id, false)?.schema().to_json()?);
    let text = blocking(app, read).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}

pub(super) async fn delete(State(app): App, Extension(tenant): By, Id(id): Id) -> Removed {
    let id = name(&id, "table")?;
    blocking(app, move |s| s.data.tables.delete(&tenant, &id)).await
}
