//! The service as its clients see it, over HTTP on this machine: what it computes, what it refuses,
//! and what becomes of it when the process ends.

mod described;
mod garbage;
mod page;
mod restarts;
mod round_trip;
mod support;
mod tenants;
mod uploads;
