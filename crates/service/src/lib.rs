//! The service of everlevel: one process that computes on encrypted data of many tenants, over
//! HTTP, without access to any plaintext value.
//!
//! * [`Service`], [`Config`]: the process. Objects are files whose names are hashes of their bytes,
//!   all other state is in an embedded transactional store, and jobs are computed by worker
//!   threads, with tenants taking turns. With a [`Database`], several processes are one service;
//!   with a [`Bucket`] they need no directory in common.
//! * [`Tokens`]: the credentials of tenants.
//! * [`api`]: the messages of the protocol; [`OPENAPI`] describes it.
//! * [`Client`]: sends files, runs jobs and fetches results. It is that of `everlevel-remote`,
//!   which programs use as `everlevel::remote`.
//!
//! HTTP alone protects nothing: without TLS ([`TlsFiles`]) a service listens on its own machine
//! only, unless it is told that something else protects the connection ([`Exposure`]).
//! docs/service.md states what the service learns and what it does not.
#![forbid(unsafe_code)]

mod bodies;
mod bucket;
mod config;
mod contents;
mod database;
mod device;
mod error;
mod estimate;
mod evaluate;
mod files;
mod http;
mod jobs;
mod keys;
mod logs;
mod metrics;
mod objects;
mod outcomes;
mod page;
mod ready;
mod recover;
mod request;
mod residents;
mod service;
mod shares;
mod stop;
mod store;
mod tables;
mod tls;
mod token;
mod turns;
mod uploads;
mod usage;

pub use bucket::Bucket;
pub use config::{Config, Device, Quota};
pub use database::Database;
pub use error::ServiceError;
pub use http::{OPENAPI, interrupted, routes_and_scopes};
pub use logs::log_to_stderr;
pub use service::Service;
pub use tls::{Issued, TlsFiles};
pub use token::{Grant, Scope, Tokens};

pub use everlevel_remote::{
    Client, Connecting, Exposure, IdempotencyKey, JobId, ObjectId, RemoteError, Tenant, Token,
    Told, api,
};
