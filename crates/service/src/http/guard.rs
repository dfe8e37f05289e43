//! Checks before every request: authentication, permission and the time limit.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_LENGTH};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use everlevel_remote::api::Refusal;

use crate::error::ServiceError;
use crate::service::Shared;
use crate::token::{Grant, Scope};

impl IntoResponse for ServiceError {
    fn into_response(self) -> Response {
        let mut error = self.told();
        if let ServiceError::Internal { what, problem } = &self {
            // What the system says is for whoever runs the service.
            tracing::error!(what, problem, "failed");
            error.message = format!("the service failed at {what}: its log says why");
        }
        let status = StatusCode::from_u16(self.status());
        let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, Json(Refusal { error })).into_response()
    }
}

/// A route, and the scope that it requires; `None` for public routes.
pub(super) type Guard = (Arc<Shared>, &'static str, Option<Scope>);

/// Passes a request on if its token allows it, with its tenant.
pub(super) async fn guard(
    State((shared, route, scope)): State<Guard>,
    mut request: Request,
    next: Next,
) -> Response {
    let started = std::time::Instant::now();
    let method = request.method().clone();
    let header = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = header.and_then(|value| value.strip_prefix("Bearer ")).map(str::to_string);
    let answered = async {
        let mut reads = None;
        if let Some(scope) = scope {
            let tenant = allowed(&shared, scope, token).await?.tenant;
            request.extensions_mut().insert(tenant.clone());
            // No other method has a body that is read.
            reads = Some(tenant).filter(|_| [Method::POST, Method::PUT].contains(&method));
        }
        let length = request.headers().get(CONTENT_LENGTH);
        let length = length.and_then(|value| value.to_str().ok()?.parse().ok());
        let answer = async {
            let _room = match &reads {
                Some(tenant) => shared.bodies.room(tenant, length).await,
                None => None,
            };
            next.run(request).await
        };
        let answer = tokio::time::timeout(shared.config.request_time, answer).await;
        answer.map_err(|_| ServiceError::Timeout { seconds: shared.config.request_time.as_secs() })
    };
    let response = answered.await.unwrap_or_else(|e: ServiceError| e.into_response());
    let status = response.status().as_u16();
    shared.metrics.response(status);
    // The route, and not the path, which has names of objects.
    let milliseconds = started.elapsed().as_millis() as u64;
    tracing::debug!(%method, route, status, milliseconds, "answered");
    response
}

async fn allowed(
    shared: &Arc<Shared>,
    scope: Scope,
    token: Option<String>,
) -> Result<Grant, ServiceError> {
    let token = token.ok_or(ServiceError::Unauthorized)?;
    let tokens = shared.tokens.clone();
    let found = tokio::task::spawn_blocking(move || tokens.find(&token)).await;
    let grant = found.ok().flatten().ok_or(ServiceError::Unauthorized)?;
    match grant.scopes.contains(&scope) {
        true => Ok(grant),
        false => Err(ServiceError::Forbidden { scope: scope.name() }),
    }
}
