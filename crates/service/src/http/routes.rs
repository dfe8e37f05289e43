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
use super::{handlers as h, page};
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
        ("get", "/metrics", Some(Metrics), get(h::metrics)),
        ("get", "/v1/openapi.json", None, get(openapi)),
        ("get", "/v1/params", Some(Read), get(h::all_params)),
        ("get", "/v1/params/{name}", Some(Read), get(h::params)),
        ("get", "/v1/usage", Some(Read), get(h::usage)),
        ("get", "/v1/uploads", Some(Read), get(h::uploads)),
        ("post", "/v1/uploads", Some(Write), post(h::begin_upload)),
        ("get", "/v1/uploads/{id}", Some(Read), get(h::upload)),
        ("put", "/v1/uploads/{id}", Some(Write), put(h::append)),
        ("delete", "/v1/uploads/{id}", Some(Write), delete(h::abandon)),
        ("get", "/v1/objects", Some(Read), get(h::objects)),
        ("get", "/v1/objects/{id}", Some(Read), get(h::object)),
        ("get", "/v1/objects/{id}/content", Some(Read), get(h::content)),
        ("delete", "/v1/objects/{id}", Some(Write), delete(h::delete_object)),
        ("get", "/v1/tables", Some(Read), get(h::tables)),
        ("post", "/v1/tables", Some(Write), post(h::add_table)),
        ("get", "/v1/tables/{id}", Some(Read), get(h::table)),
        ("delete", "/v1/tables/{id}", Some(Write), delete(h::delete_table)),
        ("get", "/v1/tables/{id}/schema", Some(Read), get(h::table_schema)),
        ("post", "/v1/estimates", Some(Run), post(h::estimate)),
        ("get", "/v1/jobs", Some(Read), get(h::jobs)),
        ("post", "/v1/jobs", Some(Run), post(h::add_job)),
        ("get", "/v1/jobs/{id}", Some(Read), get(h::job)),
        ("delete", "/v1/jobs/{id}", Some(Write), delete(h::delete_job)),
        ("get", "/v1/jobs/{id}/events", Some(Read), get(events)),
        ("post", "/v1/jobs/{id}/cancel", Some(Run), post(h::cancel)),
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
