//! Products modulo 2^64 of pairs of numbers: the workload `Zn-multiplication`.
//!
//! A number is four digits of 16 bits, each a ciphertext; slot i belongs to pair i. The server
//! computes s_k = Σ a_i b_j over i + j = k for k < 4, ten products without relinearization, and so
//! without keys; the client decrypts the four sums and takes Σ s_k 2^(16 k) modulo 2^64.
//!
//! Decrypted sums are below the plaintext modulus, a prime above 4 (2^16 - 1)^2, and so exact; the
//! noise bound of the library holds for whatever values slots have.
//!
//! For few pairs a number is seven values of the polynomial of its digits instead, in slots beside
//! each other, and the server computes one product of ciphertexts.
//!
//! The variant [`whole`] has other keys and ciphertexts, and results that can be computed on.

mod client;
mod points;
mod protocol;
mod server;
pub mod whole;

pub use client::{decrypt, encrypt, generate_key, postprocess, preprocess};
pub use protocol::{INSTANCES, spec};
pub use server::compute;
