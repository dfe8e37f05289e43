//! Rows that are similar to a query: the workload `fetch-by-similarity`.
//!
//! The client rotates rows and query, unit vectors, by one secret rotation, and rounds them to
//! small integers, so that a score is an exact sum of products. Rows are in slots, and a chunk of
//! them has as many ciphertexts as rows have coordinates; the query is one ciphertext, in which its
//! coordinates repeat, and the server rotates it. A polynomial makes 1 or 0 of a score. Then the
//! server counts, or adds up payloads times these masks over all chunks, twice, with the slots
//! moved differently: the client takes the sums apart, and refuses them where matches cannot be
//! told apart.
//!
//! The server starts with its stage, or, in the variant [`resident`], before.

mod circuit;
mod client;
mod diagonals;
mod matches;
mod protocol;
mod query;
pub mod resident;
mod rounding;
mod server;

pub use client::{decrypt, encrypt_database, generate_keys, postprocess, preprocess_database};
pub use protocol::{INSTANCES, LARGEST_SCORE, STAND_IN, spec, threshold};
pub use query::{encrypt as encrypt_query, preprocess as preprocess_query};
pub use server::compute;
