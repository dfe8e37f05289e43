//! The routes of uploads and objects.

use std::fs::File;
use std::io::Read;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use everlevel_remote::ObjectId;
use everlevel_remote::api::{PART_BYTES, Page};
use futures_util::stream::{Stream, try_unfold};
use serde::Deserialize;

use super::extract::{
    App, Asked, Body, By, Id, Removed, answer, asked, blocking, bytes, json, name,
};
use crate::error::ServiceError;
use crate::service::Shared;

/// How many bytes of a download are in memory at a time.
const CHUNK_BYTES: u64 = 128 << 10;

/// The query `offset`: the number of bytes that the client has sent or received.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Offset {
    #[serde(default)]
    offset: u64,
}

pub(super) async fn begin_upload(
    State(app): App,
    Extension(tenant): By,
    body: Body,
) -> impl IntoResponse {
    let new = json(body)?;
    answer(app, move |s| s.data.objects.begin(&tenant, &new)).await
}

pub(super) async fn uploads(State(app): App, Extension(tenant): By) -> impl IntoResponse {
    answer(app, move |s| Ok(Page::whole(s.data.objects.uploads(&tenant)?))).await
}

pub(super) async fn upload(
    State(app): App,
    Extension(tenant): By,
    Id(id): Id,
) -> impl IntoResponse {
    let id = name(&id, "upload")?;
    answer(app, move |s| s.data.objects.upload(&tenant, &id)).await
}

pub(super) async fn append(
    State(app): App,
    Extension(tenant): By,
    Id(id): Id,
    query: Asked<Offset>,
    body: Body,
) -> impl IntoResponse {
    let (id, Offset { offset }) = (name::<ObjectId>(&id, "upload")?, asked(query)?);
    let bytes = bytes(body, PART_BYTES)?;
    app.metrics.received(bytes.len());
    answer(app, move |s| s.data.objects.append(&tenant, &id, offset, &bytes)).await
}

pub(super) async fn abandon(State(app): App, Extension(tenant): By, Id(id): Id) -> Removed {
    let id = name(&id, "upload")?;
    blocking(app, move |s| s.data.objects.abandon(&tenant, &id)).await
}

pub(super) async fn list(State(app): App, Extension(tenant): By) -> impl IntoResponse {
    answer(app, move |s| Ok(Page::whole(s.data.objects.list(&tenant)?))).await
}

pub(super) async fn info(State(app): App, Extension(tenant): By, Id(id): Id) -> impl IntoResponse {
    let id = name(&id, "object")?;
    answer(app, move |s| s.data.objects.info(&tenant, &id)).await
}

pub(super) async fn content(
    State(app): App,
    Extension(tenant): By,
    Id(id): Id,
    query: Asked<Offset>,
) -> Result<Response, ServiceError> {
    let (id, Offset { offset }) = (name(&id, "object")?, asked(query)?);
    let find = move |s: &Shared| s.data.objects.part_of(&tenant, &id, offset);
    let (file, length) = blocking(app.clone(), find).await?;
    app.metrics.sent(length);
    let head = [
        (header::CONTENT_TYPE, "application/octet-stream".to_string()),
        (header::CONTENT_LENGTH, length.to_string()),
    ];
    Ok((head, axum::body::Body::from_stream(chunks(file, length))).into_response())
}

/// The next `length` bytes of a file, piece by piece, so that a slow client takes little memory.
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

pub(super) async fn delete(State(app): App, Extension(tenant): By, Id(id): Id) -> Removed {
    let id = name(&id, "object")?;
    blocking(app, move |s| {
        s.data.objects.delete(&tenant, &id)?;
        s.data.forget(&tenant, &id);
        Ok(())
    })
    .await
}
