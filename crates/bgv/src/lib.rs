//! BGV (Brakerski–Gentry–Vaikuntanathan) and BFV (Brakerski, Fan–Vercauteren) over RNS, over
//! ring-LWE and NTRU.
//!
//! A BGV ciphertext (c0, c1) at level l has phase c0 + c1 s = κ m + t ε modulo Q_l, with the unit κ
//! and the bound on the phase in its [`Meta`](everlevel_scheme::Meta); a BFV ciphertext is that
//! times 1/t modulo Q_l ([`everlevel_scheme::Form`]). Key switching and modulus switching are the
//! same for both forms and all plaintext moduli: BGV ciphertexts are multiplied by 1/t before and
//! by t afterwards.
//!
//! An NTRU ciphertext is one polynomial c with phase c f, f = t u + 1: it is treated as a ring-LWE
//! ciphertext without c0, under the secret f. BGV over NTRU is LTV (López-Alt–Tromer–Vaikuntanathan
//! 2012, Doröz–Hu–Sunar 2014), BFV over NTRU is YASHE′ (Bos et al. 2013). So all code is written
//! for a number of *components*, two or one, of which the last is multiplied by the secret; a
//! product has three or one (docs/adr/0014).
//!
//! The owner of the key holds a [`SecretKey`]; a server holds [`ServerKeys`], which cannot contain
//! a secret, and computes with an [`Evaluator`], which implements the traits of `everlevel-scheme`
//! in one module for each group of operations. Polynomials are those of `everlevel-ring`, and
//! computation on them goes through its [`Engine`](everlevel_ring::Engine), not limb by limb.
//! Circuits and the file format are in other crates.

mod ciphertext;
mod compact;
mod encryption;
mod evaluator;
mod flooding;
pub mod keys;
mod message;
mod seeded;
mod stored;

pub use ciphertext::Ciphertext;
pub use compact::CompactCiphertext;
pub use evaluator::Evaluator;
pub use evaluator::diagonal::Diagonal;
pub use evaluator::linear_maps::Extended;
pub use evaluator::mod_raise::Base;
pub use evaluator::prepared::PreparedPlaintext;
pub use evaluator::product::Product;
pub use flooding::FloodingPolicy;
pub use keys::{EvalKeys, PublicKey, SecretKey, ServerKeys};
pub use seeded::SeededCiphertext;
pub use stored::StoredCiphertext;
