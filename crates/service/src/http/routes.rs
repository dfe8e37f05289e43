//! The routes, and the scope that each requires.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, delete, get, post, put};
use everlevel_remote::api::PART_BYTES;

use super::events::events;
use super::guard::guard;
use super::{about, jobs, objects, page, tables};
use crate::error::ServiceError;
use crate::service::Shared;
use crate::token::Scope;

/// The description of all routes, which the service returns.
pub const OPENAPI: &str = include_str!("../../openapi.json");

type Route = (&'static str, &'static str, Option<Scope>, MethodRouter<Arc<Shared>>);

fn routes() -> Vec<Route> {
    use Scope::{Metrics, Read, Run, Write};
    vec![
        ("get", "/", None, get(page::index)),
        ("get", "/page/{name}", None, get(page::file)),
        ("get", "/healthz", None, get(async || "ok\n")),
        ("get", "/metrics", Some(Metrics), get(about::metrics)),
        ("get", "/v1/openapi.json", None, get(openapi)),
        ("get", "/v1/params", Some(Read), get(about::all_params)),
        ("get", "/v1/params/{name}", Some(Read), get(about::params)),
        ("get", "/v1/usage", Some(Read), get(about::usage)),
        ("get", "/v1/uploads", Some(Read), get(objects::uploads)),
        ("post", "/v1/uploads", Some(Write), post(objects::begin_upload)),
        ("get", "/v1/uploads/{id}", Some(Read), get(objects::upload)),
        ("put", "/v1/uploads/{id}", Some(Write), put(objects::append)),
        ("delete", "/v1/uploads/{id}", Some(Write), delete(objects::abandon)),
        ("get", "/v1/objects", Some(Read), get(objects::list)),
        ("get", "/v1/objects/{id}", Some(Read), get(objects::info)),
        ("get", "/v1/objects/{id}/content", Some(Read), get(objects::content)),
        ("delete", "/v1/objects/{id}", Some(Write), delete(objects::delete)),
        ("get", "/v1/tables", Some(Read), get(tables::list)),
        ("post", "/v1/tables", Some(Write), post(tables::add)),
        ("get", "/v1/tables/{id}", Some(Read), get(tables::info)),
        ("delete", "/v1/tables/{id}", Some(Write), delete(tables::delete)),
        ("get", "/v1/tables/{id}/schema", Some(Read), get(tables::schema)),
        ("post", "/v1/estimates", Some(Run), post(jobs::estimate)),
        ("get", "/v1/jobs", Some(Read), get(jobs::list)),
        ("post", "/v1/jobs", Some(Run), post(jobs::add)),
        ("get", "/v1/jobs/{id}", Some(Read), get(jobs::info)),
        ("delete", "/v1/jobs/{id}", Some(Write), delete(jobs::delete)),
        ("get", "/v1/jobs/{id}/events", Some(Read), get(events)),
        ("post", "/v1/jobs/{id}/cancel", Some(Run), post(jobs::cancel)),
    ]
}

/// The method, path and scope of every route, for a comparison with [`OPENAPI`].
pub fn routes_and_scopes() -> Vec<(&'static str, &'static str, Option<Scope>)> {
    routes().into_iter().map(|(method, path, scope, _)| (method, path, scope)).collect()
}

async fn openapi() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI)
}

async fn no_route() -> ServiceError {
    ServiceError::NotFound { what: "route" }
}

async fn no_method() -> impl IntoResponse {
    let refused = ServiceError::malformed("the method", "the route has another one");
    (StatusCode::METHOD_NOT_ALLOWED, refused)
}

pub(super) fn router(shared: Arc<Shared>) -> Router {
    let mut router = Router::new();
    for (_, path, scope, handler) in routes() {
        let guarded = from_fn_with_state((shared.clone(), path, scope), guard);
        router = router.route(path, handler.layer(guarded));
    }
    router
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .layer(DefaultBodyLimit::max(PART_BYTES as usize))
        .with_state(shared)
}
