//! The service as its clients see it, over HTTP on this machine: what it computes, what it refuses,
//! and what becomes of it when the process ends.

mod arrays;
mod described;
mod events;
#[path = "../../../../everlevel/examples/19_remote.rs"]
mod example;
mod garbage;
mod in_use;
mod lists;
mod page;
mod restarts;
mod round_trip;
mod support;
mod tenants;
mod tls;
mod uploads;
