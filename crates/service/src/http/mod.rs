//! The service over HTTP.

mod connections;
mod events;
mod guard;
mod handlers;
mod page;
mod refusals;
mod routes;

pub use connections::interrupted;
pub use routes::{OPENAPI, routes_and_scopes};
