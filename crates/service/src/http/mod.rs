//! The service over HTTP.

mod about;
mod connections;
mod events;
mod extract;
mod guard;
mod jobs;
mod objects;
mod page;
mod refusals;
mod routes;
mod tables;

pub use connections::interrupted;
pub use routes::{OPENAPI, routes_and_scopes};
