//! Products modulo 2^64 that can be computed on: a number is a whole number, by its residues.
//!
//! A number below 2^64 is an integer modulo eight primes, a ciphertext for each, and slot i belongs
//! to pair i. Products and sums are those of integers, which never reach the product of the primes,
//! 2^258; the client reduces modulo 2^64 after decryption. A product is relinearized and has the
//! encoding of its factors, with 128 bits instead of 64. One level is left for it, so that products
//! of four numbers are computed, and sums of two products times sums of two others.
//!
//! Two limits are kept, the one of the integers' bits ([`Server::multiply`] and [`Server::add`]
//! refuse what could wrap) and that of the noise, by the bounds of the library.

mod client;
mod protocol;
mod residues;
mod server;
mod vector;

pub use client::{Client, decrypt, encrypt, generate_keys};
pub use protocol::{INPUT_BITS, LARGEST_BITS, MODULI, spec};
pub use server::{Server, compute};
pub use vector::{WholeNumbers, WholeReader, WholeWriter};
