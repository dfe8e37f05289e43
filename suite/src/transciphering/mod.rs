//! Data under AES that become ciphertexts, and the maximum or the inner product of their numbers:
//! the workload `transciphering`.
//!
//! The client sends its round keys, one ciphertext each. The server evaluates AES on public
//! counters or blocks, packed: a ciphertext holds many blocks, each along a line of 16 slots.
//!
//! For the inner product, pairs of bytes become integers modulo 2^16. Numbers that are to be
//! multiplied lie half a state apart, so that one rotation brings all of them together; places
//! without data hold keystream, arranged so that what it adds to the sum is known.
//!
//! For the maximum, bytes become bits, and the maximum is found by four digits of four bits: which
//! values a digit has is told by random sums over all numbers, which are few enough to be refreshed
//! together. Places without data repeat blocks.

mod circuit;
mod client;
mod maximum;
mod placement;
mod protocol;
mod rehearsal;
mod repeating;
mod server;

pub use client::{
    decrypt, decrypt_states, encrypt, generate_keys, postprocess, postprocess_states, preprocess,
};
pub use protocol::{INSTANCES, STAND_INS, TASK_VARIABLE};
pub use server::{compute, decrypt as decrypt_aes, preprocess as preprocess_data};
