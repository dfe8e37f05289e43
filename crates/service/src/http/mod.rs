//! The service over HTTP.

mod connections;
mod guard;
mod handlers;
mod page;
mod routes;

pub use connections::{Exposure, interrupted};
pub use routes::{OPENAPI, routes_and_scopes};
