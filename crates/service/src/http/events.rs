//! The progress of a job as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::header;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use everlevel_remote::api::{JobInfo, Refusal};
use everlevel_remote::{JobId, Tenant};
use futures_util::stream::unfold;
use tokio::sync::watch;

use super::extract::{App, By, Id, blocking, name};
use crate::error::ServiceError;
use crate::service::Shared;

/// The time after which something is sent although nothing has changed, so that proxies keep the
/// connection open.
const SILENCE: Duration = Duration::from_secs(15);
/// The least time between two events.
const PACE: Duration = Duration::from_millis(200);

/// One reader of the events of a job.
struct Reader {
    app: Arc<Shared>,
    tenant: Tenant,
    id: JobId,
    changes: watch::Receiver<()>,
    /// The state that was sent last.
    told: Option<JobInfo>,
    ended: bool,
}

/// Sends the job at once, and again whenever it has changed, as events `job`; the last event is
/// that of its end.
pub(super) async fn events(
    State(app): App,
    Extension(tenant): By,
    Id(id): Id,
) -> Result<Response, ServiceError> {
    let id = name::<JobId>(&id, "job")?;
    let changes = app.jobs.changes();
    let reader = Reader { app, tenant, id, changes, told: None, ended: false };
    // Whether it is there is said by the status.
    reader.info().await?;
    let events = unfold(reader, Reader::next);
    // Proxies that collect an answer before they pass it on are asked not to.
    let head = [(header::HeaderName::from_static("x-accel-buffering"), "no")];
    Ok((head, Sse::new(events)).into_response())
}

impl Reader {
    async fn info(&self) -> Result<JobInfo, ServiceError> {
        let (tenant, id) = (self.tenant.clone(), self.id.clone());
        blocking(self.app.clone(), move |s| s.jobs.info(&tenant, &id)).await
    }

    async fn next(mut self) -> Option<(Result<Event, Infallible>, Self)> {
        if self.ended {
            return None;
        }
        if self.told.is_some() {
            tokio::time::sleep(PACE).await;
        }
        let silent = tokio::time::Instant::now() + SILENCE;
        let event = loop {
            // What changes from here on is a reason to look again.
            self.changes.borrow_and_update();
            match self.info().await {
                Ok(info) if self.told.as_ref() != Some(&info) => {
                    self.ended = info.state.is_final();
                    let event = Event::default().event("job").json_data(&info);
                    self.told = Some(info);
                    break event.ok()?;
                }
                Ok(_) => {}
                // Such as a job that was removed meanwhile.
                Err(e) => {
                    self.ended = true;
                    let refusal = Refusal { error: e.told() };
                    break Event::default().event("error").json_data(refusal).ok()?;
                }
            }
            if tokio::time::timeout_at(silent, self.changes.changed()).await.is_err() {
                break Event::default().comment("it goes on");
            }
        };
        Some((Ok(event), self))
    }
}
